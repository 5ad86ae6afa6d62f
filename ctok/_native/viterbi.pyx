"""The search for the path of highest score through all pieces that may stand in a text.

From each character, in order, the tree of pieces is walked, and each piece found offers the place where it ends a path. What decides is
part of the format: scores are added up from the start of the pretoken, one addition for each token, in double precision (a tokenizer.json)
or in single precision (SentencePiece), and the first of equal sums stays. Many different paths have sums that differ in the last bit only,
so no other order of addition would do.

In single precision much would be lost far behind in a long text. So sums begin anew there: when it is the turn of a place whose sum is
more than 100,000 from 0, that sum is taken off it and off all later places.
"""

from libc.math cimport fabs
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_trie cimport (
    CTOK_TRIE_ROOT, ctok_trie_find, ctok_trie_goes_on, ctok_trie_piece, ctok_trie_step, ctok_trie_unit)
from ctok._native.c_vocab cimport (
    CTOK_ERR_BYTE, CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_mem_fail_after, ctok_mem_resize, ctok_status)
from ctok._native.model cimport give_one

cdef double RESTART = 100000.0


cdef ctok_status add_reach(Reaches *r, uint64_t unit, size_t start) noexcept nogil:
    cdef Reach *more
    if r.n == r.cap:
        more = <Reach *>ctok_mem_resize(r.at, r.cap * 2 + 8, sizeof(Reach))
        if more == NULL:
            return CTOK_ERR_MEMORY
        r.at = more
        r.cap = r.cap * 2 + 8
    r.at[r.n].unit = unit
    r.at[r.n].start = start
    r.n += 1
    return CTOK_OK


cdef ctok_status add_restart(Reaches *r, size_t place, double sum) noexcept nogil:
    cdef Restart *more
    if r.n_restarts == r.cap_restarts:
        more = <Restart *>ctok_mem_resize(r.restarts, r.cap_restarts * 2 + 4, sizeof(Restart))
        if more == NULL:
            return CTOK_ERR_MEMORY
        r.restarts = more
        r.cap_restarts = r.cap_restarts * 2 + 4
    r.restarts[r.n_restarts].place = place
    r.restarts[r.n_restarts].sum = sum
    r.n_restarts += 1
    return CTOK_OK


cdef void viterbi_take_off(Node *nodes, size_t first, size_t n, double sum) noexcept nogil:
    cdef size_t i
    for i in range(first, n + 1):
        if nodes[i].size:
            nodes[i].score = <float>nodes[i].score - <float>sum


cdef ctok_status begin_anew(const UnigramModel *m, Node *nodes, size_t s, size_t n, Reaches *reaches, bint is_loading) noexcept nogil:
    """Before going on from place s: take its sum off where that is due, or, loading, where it was."""
    cdef double sum = nodes[s].score
    cdef size_t i
    cdef bint is_due = not is_loading
    if is_loading:
        for i in range(reaches.n_restarts):
            if reaches.restarts[i].place == s:
                sum = reaches.restarts[i].sum
                is_due = True
    elif not fabs(sum) > RESTART:
        return CTOK_OK
    elif s and reaches != NULL and add_restart(reaches, s, sum) != CTOK_OK:     # all that is alive comes after one at the first
        return CTOK_ERR_MEMORY
    if is_due:
        nodes[s].score = <float>nodes[s].score - <float>sum
        viterbi_take_off(nodes, s + 1, min(n, s + m.longest), sum)
    return CTOK_OK


cdef ctok_status viterbi_go_on(const UnigramModel *m, Node *nodes, const uint8_t *p, size_t n, size_t *next, Reaches *reaches,
                               bint is_loading) noexcept nogil:
    cdef size_t s = next[0], e, size
    cdef double here
    cdef uint64_t unit, root = ctok_trie_unit(&m.trie, CTOK_TRIE_ROOT)
    cdef uint32_t piece
    cdef bint alone
    while s < n:
        size = char_size(p[s])
        if s + size > n:
            break
        if m.single and (is_loading or fabs(nodes[s].score) > RESTART):
            if begin_anew(m, nodes, s, n, reaches, is_loading) != CTOK_OK:
                return CTOK_ERR_MEMORY
        if nodes[s].size == 0 and s:                        # only in a state that was loaded: nothing alive comes this way
            s += size
            continue
        here = nodes[s].score
        unit = root
        alone = False
        e = s
        while e < n and ctok_trie_step(&m.trie, &unit, p[e]):
            e += 1
            piece = ctok_trie_piece(unit)
            if piece:
                viterbi_offer(&nodes[e], viterbi_sum(m, piece, here), e - s, piece)
                alone |= e - s == size
        if not alone and (nodes[s + size].size == 0 or viterbi_sum(m, 0, here) > nodes[s + size].score):
            if m.unk != CTOK_NO_ID:
                viterbi_offer(&nodes[s + size], viterbi_sum(m, 0, here), size, 0)
            elif not is_loading:
                return CTOK_ERR_BYTE
        if reaches != NULL and e == n and ctok_trie_goes_on(unit):
            if add_reach(reaches, unit, s) != CTOK_OK:
                return CTOK_ERR_MEMORY
        s += size
    next[0] = s
    return CTOK_OK


# ---- unknown characters ----

cdef bint all_have_pieces(const UnigramModel *m, const uint8_t *p, size_t n) noexcept nogil:
    cdef size_t i
    for i in range(n):
        if m.byte_ids[p[i]] == CTOK_NO_ID:
            return False
    return True


cdef ctok_status viterbi_give_run(const UnigramModel *m, const uint8_t *p, size_t n, size_t end, ctok_ids *ids,
                                  ctok_ids *ends) noexcept nogil:
    cdef uint32_t piece = 0 if m.single else ctok_trie_find(&m.trie, p, n)
    cdef size_t i, stop = end
    cdef ctok_status status = CTOK_OK
    if piece:
        return give_one(m.id_of[piece], end, ids, ends)
    if not m.byte_fallback or not all_have_pieces(m, p, n):
        return give_one(m.unk, end, ids, ends)
    for i in range(n):
        if m.single and (p[i] & 0xC0) != 0x80:              # each character has a place of its own
            stop = end - n + i + char_size(p[i])
        if status == CTOK_OK:
            status = give_one(m.byte_ids[p[i]], stop, ids, ends)
    return status


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
