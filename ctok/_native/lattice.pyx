"""Other paths of the unigram model than the best one: the k best, and drawing one at random.

The lattice of a pretoken holds every token that may stand in it, grouped by where they end, in ascending order of where they start.

* The k best: each place keeps its k best ways from the start, merged from those of the places where its tokens start. Scores are added up
  from the start, and the token that starts first wins a tie, so the first path is the one that `encode` takes. O(tokens * k).
* Drawing from the whole lattice: forward, each place learns the sum over all ways to it; backward, a token is drawn with its share in
  the sum. `alpha` below 1 makes paths more alike. It multiplies the inner sums again at each token, as the reference does.
* Drawing from the k best: with probabilities proportional to exp(alpha * score).
"""

from libc.math cimport exp, log
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from ctok._native.c_merge cimport ctok_ids, ctok_ids_free
from ctok._native.c_trie cimport CTOK_TRIE_ROOT, ctok_trie_piece, ctok_trie_step, ctok_trie_unit
from ctok._native.c_vocab cimport (
    CTOK_ERR_BYTE, CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_mem_fail_after, ctok_mem_free, ctok_mem_resize, ctok_mem_zeroed, ctok_status)
from ctok._native.model cimport failure, numbers
from ctok._native.unigram cimport Unigram, UnigramScratch, unigram_give_path
from ctok._native.viterbi cimport Node, UnigramModel, char_size

# A way from the start to a place: its last token, and which of the ways to that token's start comes before it.
cdef struct Way:
    double score
    size_t token
    size_t before

cdef struct Ways:
    Way *at
    size_t n
    size_t cap
    size_t *first               # n + 2: the ways to place e are first[e] .. first[e + 1] - 1, best first


# ---- the lattice ----

cdef void walk(Lattice *l, bint fill) noexcept nogil:
    """Meet all tokens: count them in first[end + 1], or write them to where first[end] points and advance it."""
    cdef const UnigramModel *m = l.m
    cdef size_t s = 0, e, size
    cdef uint64_t unit
    cdef uint32_t piece
    cdef bint alone
    while s < l.n:
        size = min(char_size(l.p[s]), l.n - s)
        # All tokens that end here have been met. Where there is none, no way leads on.
        if s and (l.first[s] == l.first[s - 1] if fill else l.first[s + 1] == 0):
            s += size
            continue
        unit = ctok_trie_unit(&m.trie, CTOK_TRIE_ROOT)
        alone = False
        e = s
        while e < l.n and ctok_trie_step(&m.trie, &unit, l.p[e]):
            e += 1
            piece = ctok_trie_piece(unit)
            if piece:
                meet(l, s, e, piece, fill)
                alone |= e - s == size
        if not alone and m.unk != CTOK_NO_ID:
            meet(l, s, s + size, 0, fill)
        s += size


cdef inline void meet(Lattice *l, size_t start, size_t end, uint32_t piece, bint fill) noexcept nogil:
    if not fill:
        l.first[end + 1] += 1
        return
    l.tokens[l.first[end]].start = <uint32_t>start
    l.tokens[l.first[end]].piece = piece
    l.first[end] += 1


cdef ctok_status lattice_build(Lattice *l) noexcept nogil:
    cdef size_t e
    l.first = <size_t *>ctok_mem_zeroed(l.n + 2, sizeof(size_t))
    if l.first == NULL:
        return CTOK_ERR_MEMORY
    walk(l, False)
    for e in range(l.n + 1):
        l.first[e + 1] += l.first[e]
    l.tokens = <Token *>ctok_mem_zeroed(l.first[l.n + 1], sizeof(Token))
    if l.tokens == NULL:
        return CTOK_ERR_MEMORY
    walk(l, True)
    for e in range(l.n + 1, 0, -1):                         # filling moved each one to the next
        l.first[e] = l.first[e - 1]
    l.first[0] = 0
    return CTOK_OK


# ---- the k best ----

cdef ctok_status reserve_ways(Ways *w, size_t more) noexcept nogil:
    cdef size_t cap = max(w.cap + w.cap // 2, w.n + more)
    cdef Way *at
    if w.cap - w.n >= more:
        return CTOK_OK
    at = <Way *>ctok_mem_resize(w.at, cap, sizeof(Way))
    if at == NULL:
        return CTOK_ERR_MEMORY
    w.at = at
    w.cap = cap
    return CTOK_OK


cdef ctok_status merge_ways(const Lattice *l, Ways *w, size_t e, size_t k, size_t *taken) noexcept nogil:
    """The k best ways to a place, from the sorted ways to where its tokens start; taken[i] of those have been used for the i-th token."""
    cdef size_t i, lo = l.first[e], hi = l.first[e + 1], start, best = 0
    cdef double score, high = 0
    memset(taken, 0, (hi - lo) * sizeof(size_t))
    while k:
        k -= 1
        best = hi
        for i in range(lo, hi):
            start = l.tokens[i].start
            if w.first[start] + taken[i - lo] < w.first[start + 1]:
                score = l.score_of[l.tokens[i].piece] + w.at[w.first[start] + taken[i - lo]].score
                if best == hi or score > high:
                    best = i
                    high = score
        if best == hi:
            return CTOK_OK
        if reserve_ways(w, 1) != CTOK_OK:
            return CTOK_ERR_MEMORY
        w.at[w.n].score = high
        w.at[w.n].token = best
        w.at[w.n].before = w.first[l.tokens[best].start] + taken[best - lo]
        taken[best - lo] += 1
        w.n += 1
    return CTOK_OK


cdef ctok_status find_ways(const Lattice *l, Ways *w, size_t k) noexcept nogil:
    cdef size_t e, most = 0
    cdef size_t *taken
    cdef ctok_status status = CTOK_OK
    for e in range(l.n + 1):
        most = max(most, l.first[e + 1] - l.first[e])
    taken = <size_t *>ctok_mem_zeroed(most, sizeof(size_t))
    w.first = <size_t *>ctok_mem_zeroed(l.n + 2, sizeof(size_t))
    if taken == NULL or w.first == NULL or reserve_ways(w, 1) != CTOK_OK:
        ctok_mem_free(taken)
        return CTOK_ERR_MEMORY
    memset(&w.at[0], 0, sizeof(Way))                        # the empty way to the start
    w.n = w.first[1] = 1
    for e in range(1, l.n + 1):
        if status == CTOK_OK:
            status = merge_ways(l, w, e, k, taken)
        w.first[e + 1] = w.n
    ctok_mem_free(taken)
    return status


cdef void mark_way(const Lattice *l, const Ways *w, size_t way, Node *nodes) noexcept nogil:
    """Write a way to the end into the nodes, as the search for the best one would have left it."""
    cdef size_t e = l.n
    cdef Token t
    while e:
        t = l.tokens[w.at[way].token]
        nodes[e].size = <uint32_t>(e - t.start)
        nodes[e].piece = t.piece
        e = t.start
        way = w.at[way].before


# ---- drawing ----

cdef void sum_ways(const Lattice *l, double alpha, double *sums) noexcept nogil:
    """sums[e] = log of the sum over the tokens that end at e of exp(alpha * (score + sum at their start))."""
    cdef size_t e, i
    cdef double high, total, term
    cdef Token t
    sums[0] = 0
    for e in range(1, l.n + 1):
        high = total = 0
        for i in range(l.first[e], l.first[e + 1]):
            t = l.tokens[i]
            term = alpha * (l.score_of[t.piece] + sums[t.start])
            if total == 0 or term > high:
                total = total * exp(high - term) + 1 if total else 1
                high = term
            else:
                total += exp(term - high)
        sums[e] = high + log(total) if total else 0


cdef void draw(const Lattice *l, double alpha, const double *sums, uint64_t *state, Node *nodes) noexcept nogil:
    """Draw a path, last token first."""
    cdef size_t e = l.n, i, chosen
    cdef double total, high, at
    cdef Token t
    while e:
        high = total = 0
        for i in range(l.first[e], l.first[e + 1]):
            at = sums[l.tokens[i].start] + alpha * l.score_of[l.tokens[i].piece]
            high = at if i == l.first[e] or at > high else high
        for i in range(l.first[e], l.first[e + 1]):
            total += exp(sums[l.tokens[i].start] + alpha * l.score_of[l.tokens[i].piece] - high)
        at = lattice_random(state) * total
        chosen = l.first[e]
        for i in range(l.first[e], l.first[e + 1]):
            chosen = i
            at -= exp(sums[l.tokens[i].start] + alpha * l.score_of[l.tokens[i].piece] - high)
            if at < 0:
                break
        t = l.tokens[chosen]
        nodes[e].size = <uint32_t>(e - t.start)
        nodes[e].piece = t.piece
        e = t.start


cdef size_t draw_way(const Ways *w, size_t lo, size_t hi, double alpha, uint64_t *state) noexcept nogil:
    """One of the ways lo..hi-1, which come best first."""
    cdef size_t i
    cdef double total = 0, at
    for i in range(lo, hi):
        total += exp(alpha * (w.at[i].score - w.at[lo].score))
    at = lattice_random(state) * total
    for i in range(lo, hi):
        at -= exp(alpha * (w.at[i].score - w.at[lo].score))
        if at < 0:
            return i
    return hi - 1


# ---- the face ----

cdef list ids_of(const Lattice *l, UnigramScratch *s):
    """The ids of the path that is written into s.nodes."""
    cdef ctok_ids ids
    cdef ctok_status status
    memset(&ids, 0, sizeof(ids))
    try:
        status = unigram_give_path(l.m, s, l.p, l.n, &ids, NULL)
        if status != CTOK_OK:
            raise failure(status)
        return numbers(&ids)
    finally:
        ctok_ids_free(&ids)


cdef ctok_status prepare(Lattice *l, UnigramScratch *s, Ways *w, size_t k) noexcept nogil:
    """The lattice, room for a path, and, with k > 0, the k best ways."""
    cdef ctok_status status = lattice_build(l)
    if status == CTOK_OK and l.n and l.first[l.n] == l.first[l.n + 1]:
        return CTOK_ERR_BYTE
    s.nodes = <Node *>ctok_mem_zeroed(l.n + 1, sizeof(Node))
    s.stops = <uint32_t *>ctok_mem_zeroed(l.n + 1, sizeof(uint32_t))
    if s.nodes == NULL or s.stops == NULL:
        return CTOK_ERR_MEMORY
    return find_ways(l, w, k) if status == CTOK_OK and k else status


cdef void lattice_free(Lattice *l) noexcept nogil:
    ctok_mem_free(l.first)
    ctok_mem_free(l.tokens)


cdef void clear(Lattice *l, UnigramScratch *s, Ways *w) noexcept nogil:
    lattice_free(l)
    ctok_mem_free(s.nodes)
    ctok_mem_free(s.stops)
    ctok_mem_free(w.at)
    ctok_mem_free(w.first)


def nbest(Unigram model not None, const uint8_t[::1] pretoken, size_t k):
    """Return the k best paths, or all if there are fewer, as (ids, score), best first."""
    cdef Lattice l
    cdef UnigramScratch s
    cdef Ways w
    cdef ctok_status status
    cdef size_t i
    memset(&l, 0, sizeof(l))
    memset(&s, 0, sizeof(s))
    memset(&w, 0, sizeof(w))
    if pretoken.shape[0] == 0 or k == 0:
        return [([], 0.0)][:k]
    l.m, l.score_of, l.p, l.n = &model.m, model.m.score_of, &pretoken[0], pretoken.shape[0]
    found = []
    try:
        with nogil:
            status = prepare(&l, &s, &w, k)
        if status != CTOK_OK:
            raise failure(status)
        for i in range(w.first[l.n], w.first[l.n + 1]):
            mark_way(&l, &w, i, s.nodes)
            found.append((ids_of(&l, &s), w.at[i].score))
        return found
    finally:
        clear(&l, &s, &w)


def sample(Unigram model not None, const uint8_t[::1] pretoken, double alpha, size_t nbest_size, uint64_t seed):
    """Return the ids of a path drawn at random: from the `nbest_size` best, or from the whole lattice if that is 0."""
    cdef Lattice l
    cdef UnigramScratch s
    cdef Ways w
    cdef ctok_status status
    cdef double *sums = NULL
    memset(&l, 0, sizeof(l))
    memset(&s, 0, sizeof(s))
    memset(&w, 0, sizeof(w))
    if pretoken.shape[0] == 0:
        return []
    l.m, l.score_of, l.p, l.n = &model.m, model.m.score_of, &pretoken[0], pretoken.shape[0]
    try:
        with nogil:
            status = prepare(&l, &s, &w, nbest_size)
            if status == CTOK_OK and nbest_size == 0:
                sums = <double *>ctok_mem_zeroed(l.n + 1, sizeof(double))
                status = CTOK_ERR_MEMORY if sums == NULL else CTOK_OK
        if status != CTOK_OK:
            raise failure(status)
        if nbest_size:
            mark_way(&l, &w, draw_way(&w, w.first[l.n], w.first[l.n + 1], alpha, &seed), s.nodes)
        else:
            sum_ways(&l, alpha, sums)
            draw(&l, alpha, sums, &seed, s.nodes)
        return ids_of(&l, &s)
    finally:
        ctok_mem_free(sums)
        clear(&l, &s, &w)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
