"""The search for the path of highest score through all pieces that may stand in a text.

From each character, in order, the tree of pieces is walked, and each piece found offers the place where it ends a path. What decides is
part of the format: scores are added up from the start of the pretoken in double precision, one addition for each token, and the first of
equal sums stays. Many different paths have sums that differ in the last bit only, so no other order of addition would do.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_trie cimport (
    CTOK_TRIE_ROOT, ctok_trie_find, ctok_trie_goes_on, ctok_trie_piece, ctok_trie_step, ctok_trie_unit)
from ctok._native.c_vocab cimport (
    CTOK_ERR_BYTE, CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_mem_fail_after, ctok_mem_resize, ctok_status)
from ctok._native.model cimport give_one


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
                viterbi_offer(&nodes[e], m.score_of[piece] + here, e - s, piece)
                alone |= e - s == size
        if not alone and (nodes[s + size].size == 0 or m.score_of[0] + here > nodes[s + size].score):
            if m.unk != CTOK_NO_ID:
                viterbi_offer(&nodes[s + size], m.score_of[0] + here, size, 0)
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
    cdef uint32_t piece = ctok_trie_find(&m.trie, p, n)
    cdef size_t i
    cdef ctok_status status = CTOK_OK
    if piece:
        return give_one(m.id_of[piece], end, ids, ends)
    if not m.byte_fallback or not all_have_pieces(m, p, n):
        return give_one(m.unk, end, ids, ends)
    for i in range(n):
        if status == CTOK_OK:
            status = give_one(m.byte_ids[p[i]], end, ids, ends)
    return status


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
