"""Other paths of SentencePiece's unigram model than the best one: the best few, drawn at random, drawn without replacement; entropy.

* The best few: from the end backward, the most promising beginning is extended first, where what it may still become is known exactly from
  the best paths to all tokens. Sums are made in single precision in the order of the reference, and what waits is kept in a heap of the
  same shape, so that equal ones come in the same order, too. When 10,000 wait, the best 512 (at most ten times as many as are wanted) stay.
* Drawing: forward, each place learns the sum over all ways to it; backward, a token is drawn with its share. A path has a probability
  proportional to exp(alpha * score).
* Drawing without replacement: the same search, by scores perturbed with Gumbel noise, each beginning's being the highest of all paths that
  it may become. The first k that come out are a sample, and the next one's score says with what probability each was to be in it.
"""

from libc.math cimport INFINITY, exp, expm1, fabs, log, log1p
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from ctok._native.c_merge cimport ctok_ids, ctok_ids_free
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_OK, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free, ctok_mem_resize, ctok_mem_zeroed, ctok_status)
from ctok._native.lattice cimport Lattice, Token, lattice_build, lattice_free, lattice_random
from ctok._native.model cimport failure, numbers
from ctok._native.spmunigram cimport SpmUnigram
from ctok._native.unigram cimport UnigramScratch, unigram_give_path
from ctok._native.viterbi cimport Node

cdef enum:
    CROWD = 10000               # so many may wait
    CHOSEN = 512                # and so many stay then
    PAST = 0xFFFFFFFF           # behind the end; the token that is none

# The end of a path, from `token` on.
cdef struct Tail:
    double promise              # the best that it may become
    double sum                  # of its scores
    uint32_t token
    uint32_t next               # the tail without the token
    bint is_whole               # it begins where the text begins

cdef struct Waiting:
    double promise
    uint32_t tail

# A text with its lattice, and what a search needs.
cdef struct Search:
    Lattice l
    UnigramScratch s
    double *best                # by token: the best path that ends with it, in single precision; or
    double *sums                # by place: log of the sum over all ways to it
    double alpha
    uint64_t random
    Tail *tails
    size_t n_tails
    size_t cap_tails
    Waiting *heap
    size_t n_heap
    size_t cap_heap


# ---- what waits ----

cdef void rise(Waiting *heap, size_t i, Waiting what) noexcept nogil:
    """Put `what` at place i or above it."""
    cdef size_t above
    while i:
        above = (i - 1) // 2
        if not heap[above].promise < what.promise:
            break
        heap[i] = heap[above]
        i = above
    heap[i] = what


cdef ctok_status wait(Search *x, double promise, uint32_t tail) noexcept nogil:
    cdef Waiting what
    cdef Waiting *more
    if x.n_heap == x.cap_heap:
        more = <Waiting *>ctok_mem_resize(x.heap, x.cap_heap * 2 + 64, sizeof(Waiting))
        if more == NULL:
            return CTOK_ERR_MEMORY
        x.heap = more
        x.cap_heap = x.cap_heap * 2 + 64
    what.promise = promise
    what.tail = tail
    x.n_heap += 1
    rise(x.heap, x.n_heap - 1, what)
    return CTOK_OK


cdef Waiting next_one(Search *x) noexcept nogil:
    """Take the first out: the gap sinks to the bottom, the last one takes its place and rises."""
    cdef Waiting *heap = x.heap
    cdef Waiting first = heap[0], last
    cdef size_t i = 0, below, n = x.n_heap - 1
    last = heap[n]
    x.n_heap = n
    while 2 * i + 2 < n:
        below = 2 * i + 2
        if heap[below].promise < heap[below - 1].promise:
            below -= 1
        heap[i] = heap[below]
        i = below
    if 2 * i + 2 == n:
        heap[i] = heap[2 * i + 1]
        i = 2 * i + 1
    if n:
        rise(heap, i, last)
    return first


cdef ctok_status keep_tail(Search *x, double promise, double sum, uint32_t token, uint32_t next, bint is_whole) noexcept nogil:
    cdef Tail *more
    if x.n_tails == x.cap_tails:
        more = <Tail *>ctok_mem_resize(x.tails, x.cap_tails * 2 + 64, sizeof(Tail))
        if more == NULL:
            return CTOK_ERR_MEMORY
        x.tails = more
        x.cap_tails = x.cap_tails * 2 + 64
    x.tails[x.n_tails].promise = promise
    x.tails[x.n_tails].sum = sum
    x.tails[x.n_tails].token = token
    x.tails[x.n_tails].next = next
    x.tails[x.n_tails].is_whole = is_whole
    x.n_tails += 1
    return CTOK_OK


cdef ctok_status add_tail(Search *x, double promise, double sum, uint32_t token, uint32_t next, bint is_whole) noexcept nogil:
    cdef ctok_status status = keep_tail(x, promise, sum, token, next, is_whole)
    return wait(x, promise, <uint32_t>(x.n_tails - 1)) if status == CTOK_OK else status


cdef ctok_status thin_out(Search *x, size_t most) noexcept nogil:
    """Let the best `most` stay, and of the tails those that they go on from."""
    cdef size_t i, kept = 0, n
    cdef uint32_t at
    cdef Waiting *stay = <Waiting *>ctok_mem_alloc(most, sizeof(Waiting))
    cdef uint32_t *moved = <uint32_t *>ctok_mem_zeroed(x.n_tails, sizeof(uint32_t))
    n = min(most, x.n_heap)
    if stay == NULL or moved == NULL:
        ctok_mem_free(stay)
        ctok_mem_free(moved)
        return CTOK_ERR_MEMORY
    for i in range(n):
        stay[i] = next_one(x)
        at = stay[i].tail
        while at != PAST and moved[at] == 0:
            moved[at] = 1
            at = x.tails[at].next
    for i in range(x.n_tails):                              # a tail comes after the one that it goes on from
        if moved[i]:
            x.tails[kept] = x.tails[i]
            if x.tails[kept].next != PAST:
                x.tails[kept].next = moved[x.tails[kept].next]
            moved[i] = <uint32_t>kept
            kept += 1
    x.n_tails = kept
    x.n_heap = 0
    for i in range(n):
        stay[i].tail = moved[stay[i].tail]
        x.n_heap += 1
        rise(x.heap, x.n_heap - 1, stay[i])
    ctok_mem_free(stay)
    ctok_mem_free(moved)
    return CTOK_OK


# ---- the best ----

cdef double best_to(const Search *x, size_t place, double score) noexcept nogil:
    """The best sum of a way to a place and one more score."""
    cdef size_t i
    cdef float sum, best = -INFINITY
    if place == 0:
        return score
    for i in range(x.l.first[place], x.l.first[place + 1]):
        sum = <float>x.best[i] + <float>score
        if sum > best or i == x.l.first[place]:
            best = sum
    return best


cdef ctok_status begin_best(Search *x) noexcept nogil:
    cdef size_t i, n_tokens = x.l.first[x.l.n + 1]
    x.best = <double *>ctok_mem_alloc(n_tokens, sizeof(double))
    if x.best == NULL:
        return CTOK_ERR_MEMORY
    for i in range(n_tokens):                               # by their ends, so what they go on from is there
        x.best[i] = best_to(x, x.l.tokens[i].start, x.l.score_of[x.l.tokens[i].piece])
    return add_tail(x, best_to(x, x.l.n, 0), 0, PAST, PAST, False)


cdef ctok_status extend_best(Search *x, uint32_t tail) noexcept nogil:
    cdef Tail t = x.tails[tail]
    cdef size_t i, place = x.l.n if t.token == PAST else x.l.tokens[t.token].start
    cdef float promise, sum
    cdef ctok_status status = CTOK_OK
    if place == 0:
        return add_tail(x, t.sum, t.sum, PAST, tail, True)
    for i in range(x.l.first[place], x.l.first[place + 1]):
        promise = <float>x.best[i] + <float>t.sum           # as viterbi_sum says
        sum = <float>x.l.score_of[x.l.tokens[i].piece] + <float>t.sum
        if status == CTOK_OK:
            status = add_tail(x, promise, sum, <uint32_t>i, tail, False)
    return status


# ---- drawing ----

cdef ctok_status sum_ways(Search *x) noexcept nogil:
    """sums[e] = log of the sum over the tokens that end at e of exp(alpha * score + sum at their start)."""
    cdef size_t e, i
    cdef double high, total
    cdef Token t
    x.sums = <double *>ctok_mem_zeroed(x.l.n + 1, sizeof(double))
    if x.sums == NULL:
        return CTOK_ERR_MEMORY
    for e in range(1, x.l.n + 1):
        high = -INFINITY
        total = 0
        for i in range(x.l.first[e], x.l.first[e + 1]):
            t = x.l.tokens[i]
            high = max(high, x.alpha * x.l.score_of[t.piece] + x.sums[t.start])
        for i in range(x.l.first[e], x.l.first[e + 1]):
            t = x.l.tokens[i]
            total += exp(x.alpha * x.l.score_of[t.piece] + x.sums[t.start] - high)
        x.sums[e] = high + log(total) if x.l.first[e] < x.l.first[e + 1] else 0
    return CTOK_OK


cdef double draw(Search *x) noexcept nogil:
    """Draw a path into the nodes, last token first; returns the log of its probability."""
    cdef size_t e = x.l.n, i, chosen
    cdef double at, share = 0, all_of_it = 0
    cdef Token t
    while e:
        at = lattice_random(&x.random)
        chosen = x.l.first[e]
        for i in range(x.l.first[e], x.l.first[e + 1]):
            t = x.l.tokens[i]
            share = x.alpha * x.l.score_of[t.piece] + x.sums[t.start] - x.sums[e]
            chosen = i
            at -= exp(share)
            if at < 0:
                break
        t = x.l.tokens[chosen]
        all_of_it += share
        x.s.nodes[e].size = <uint32_t>(e - t.start)
        x.s.nodes[e].piece = t.piece
        e = t.start
    return all_of_it


cdef double gumbel(uint64_t *random) noexcept nogil:
    return -log(-log(lattice_random(random) + 1.0 / 18014398509481984.0))


cdef ctok_status extend_drawn(Search *x, uint32_t tail) noexcept nogil:
    """Perturbed scores of all ways to go on, on condition that the highest is that of the tail (Kool et al. 2019, appendix B.3)."""
    cdef Tail t = x.tails[tail]
    cdef size_t i, place = x.l.n if t.token == PAST else x.l.tokens[t.token].start, first = x.n_tails
    cdef double high = -INFINITY, sum, v, promise
    cdef Token token
    cdef ctok_status status = CTOK_OK
    if place == 0:
        return add_tail(x, t.promise, t.sum, PAST, tail, True)
    for i in range(x.l.first[place], x.l.first[place + 1]):
        token = x.l.tokens[i]
        sum = t.sum + x.alpha * x.l.score_of[token.piece] + x.sums[token.start] - x.sums[place]
        if status == CTOK_OK:
            status = keep_tail(x, sum + gumbel(&x.random), sum, <uint32_t>i, tail, False)
    for i in range(first, x.n_tails):
        high = max(high, x.tails[i].promise)
    for i in range(first, x.n_tails):
        v = t.promise - x.tails[i].promise + log1p(-exp(x.tails[i].promise - high))
        promise = t.promise - max(0.0, v) - log1p(exp(-fabs(v)))
        x.tails[i].promise = promise
        if status == CTOK_OK:
            status = wait(x, promise, <uint32_t>i)
    return status


# ---- the face ----

cdef object begin(Search *x, SpmUnigram model, const uint8_t[::1] text, double alpha, uint64_t seed):
    cdef ctok_status status
    memset(x, 0, sizeof(Search))
    x.l.m, x.l.score_of, x.l.p, x.l.n = &model.m, model.path_score_of, &text[0], text.shape[0]
    x.alpha = alpha
    x.random = seed
    x.s.nodes = <Node *>ctok_mem_zeroed(x.l.n + 1, sizeof(Node))
    x.s.stops = <uint32_t *>ctok_mem_zeroed(x.l.n + 1, sizeof(uint32_t))
    if x.s.nodes == NULL or x.s.stops == NULL:
        raise failure(CTOK_ERR_MEMORY)
    with nogil:
        status = lattice_build(&x.l)
    if status != CTOK_OK:
        raise failure(status)


cdef void clear(Search *x) noexcept:
    lattice_free(&x.l)
    ctok_mem_free(x.s.nodes)
    ctok_mem_free(x.s.stops)
    ctok_mem_free(x.best)
    ctok_mem_free(x.sums)
    ctok_mem_free(x.tails)
    ctok_mem_free(x.heap)


cdef tuple tokens_of(Search *x):
    """(ids, ends) of the path that is written into the nodes."""
    cdef ctok_ids ids, ends
    cdef ctok_status status
    memset(&ids, 0, sizeof(ids))
    memset(&ends, 0, sizeof(ends))
    try:
        status = unigram_give_path(x.l.m, &x.s, x.l.p, x.l.n, &ids, &ends)
        if status != CTOK_OK:
            raise failure(status)
        return numbers(&ids), numbers(&ends)
    finally:
        ctok_ids_free(&ids)
        ctok_ids_free(&ends)


cdef void mark(Search *x, uint32_t tail) noexcept:
    """Write a whole tail into the nodes."""
    cdef uint32_t at = x.tails[tail].next
    cdef Token t
    cdef size_t e
    while x.tails[at].token != PAST:
        t = x.l.tokens[x.tails[at].token]
        at = x.tails[at].next
        e = x.l.n if x.tails[at].token == PAST else x.l.tokens[x.tails[at].token].start
        x.s.nodes[e].size = <uint32_t>(e - t.start)
        x.s.nodes[e].piece = t.piece


cdef ctok_status go_on(Search *x, size_t k, bint drawn, uint32_t *tail) noexcept nogil:
    """Search for the next whole path; *tail is PAST if there is none. k: how many are wanted in all."""
    cdef ctok_status status = CTOK_OK
    tail[0] = PAST
    while status == CTOK_OK and x.n_heap:
        tail[0] = next_one(x).tail
        if x.tails[tail[0]].is_whole:
            return CTOK_OK
        status = extend_drawn(x, tail[0]) if drawn else extend_best(x, tail[0])
        tail[0] = PAST
        if status == CTOK_OK and x.n_heap >= CROWD:
            status = thin_out(x, min(<size_t>CHOSEN, 10 * k))
    return status


cdef list search(Search *x, size_t k, bint drawn):
    """Up to k paths as (ids, ends, promise, sum)."""
    cdef uint32_t tail = 0
    cdef ctok_status status
    found = []
    while <size_t>len(found) < k:
        with nogil:
            status = go_on(x, k, drawn, &tail)
        if status != CTOK_OK:
            raise failure(status)
        if tail == PAST:
            break
        mark(x, tail)
        found.append((*tokens_of(x), x.tails[tail].promise, x.tails[tail].sum))
    return found


def nbest(SpmUnigram model not None, const uint8_t[::1] text, size_t k):
    """Return the k best paths, or all if there are fewer, as (ids, ends, score), best first."""
    cdef Search x
    cdef ctok_status status
    if text.shape[0] == 0 or k == 0:
        return [([], [], 0.0)][:k]
    memset(&x, 0, sizeof(x))
    try:
        begin(&x, model, text, 0, 0)
        with nogil:
            status = begin_best(&x)
        if status != CTOK_OK:
            raise failure(status)
        return [(ids, ends, score) for ids, ends, score, _ in search(&x, k, False)]
    finally:
        clear(&x)


def sample(SpmUnigram model not None, const uint8_t[::1] text, double alpha, size_t nbest_size, size_t k, uint64_t seed):
    """Return k paths drawn from the `nbest_size` best, or from all if that is 0, as (ids, ends, log of the probability)."""
    cdef Search x
    cdef ctok_status status
    if text.shape[0] == 0:
        return [([], [], 0.0)] * k
    if nbest_size:
        best = nbest(model, text, nbest_size)
        return [draw_one(best, alpha, &seed) for _ in range(k)]
    memset(&x, 0, sizeof(x))
    found = []
    try:
        begin(&x, model, text, alpha, seed)
        with nogil:
            status = sum_ways(&x)
        if status != CTOK_OK:
            raise failure(status)
        for _ in range(k):
            score = draw(&x)
            found.append((*tokens_of(&x), score))
        return found
    finally:
        clear(&x)


cdef tuple draw_one(list best, double alpha, uint64_t *random):
    """One of the paths of a list, which come best first."""
    cdef double high = max([score for _, _, score in best])
    shares = [exp(alpha * (<double>score - high)) for _, _, score in best]
    total = sum(shares)
    at = lattice_random(random) * total
    for (ids, ends, _), share in zip(best, shares):
        at -= share
        if at < 0:
            break
    return ids, ends, log(<double>share / <double>total)


def sample_distinct(SpmUnigram model not None, const uint8_t[::1] text, double alpha, size_t k, bint include_best, uint64_t seed):
    """Return k different paths as (ids, log of the probability to be among them)."""
    cdef Search x
    cdef ctok_status status
    if text.shape[0] == 0 or k == 0:
        return [([], 0.0)][:k]
    memset(&x, 0, sizeof(x))
    try:
        begin(&x, model, text, alpha, seed)
        with nogil:
            status = sum_ways(&x)
            if status == CTOK_OK:
                status = add_tail(&x, gumbel(&x.random), 0, PAST, PAST, False)
        if status != CTOK_OK:
            raise failure(status)
        drawn = search(&x, k + 1, True)
    finally:
        clear(&x)
    found = []
    if include_best:
        ids, ends, _ = nbest(model, text, 1)[0]
        found.append((ids, 0.0))
        others = [path for path in drawn if (path[0], path[1]) != (ids, ends)]
        drawn = others[:k] if len(others) == len(drawn) else others
    threshold = drawn.pop()[2] if len(drawn) + len(found) > k else -INFINITY
    return found + [(ids, inclusion(score - threshold)) for ids, _, _, score in drawn]


cdef double inclusion(double lead) noexcept:
    """log(1 - exp(-exp(lead)))"""
    if lead > 700:
        return 0
    return log(-expm1(-exp(lead))) if lead > -30 else lead


def entropy(SpmUnigram model not None, const uint8_t[::1] text, double alpha):
    """Return the entropy of the paths, in nats."""
    cdef Search x
    cdef ctok_status status
    cdef size_t e, i
    cdef double share
    cdef Token t
    cdef double *of = NULL
    if text.shape[0] == 0:
        return 0.0
    memset(&x, 0, sizeof(x))
    try:
        begin(&x, model, text, alpha, 0)
        with nogil:
            status = sum_ways(&x)
            of = <double *>ctok_mem_zeroed(x.l.n + 1, sizeof(double))
            if of == NULL:
                status = CTOK_ERR_MEMORY
            if status == CTOK_OK:
                for e in range(1, x.l.n + 1):
                    for i in range(x.l.first[e], x.l.first[e + 1]):
                        t = x.l.tokens[i]
                        share = alpha * x.l.score_of[t.piece] + x.sums[t.start] - x.sums[e]
                        of[e] += exp(share) * (of[t.start] - share)
        if status != CTOK_OK:
            raise failure(status)
        return of[x.l.n]
    finally:
        ctok_mem_free(of)
        clear(&x)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
