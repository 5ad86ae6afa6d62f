"""Other paths of the unigram models than the best one: the best few, drawn at random, drawn without replacement; entropy.

The searches are those of csrc/ctok_lattice.h; here texts become lattices, and ways through them ids.
"""

cimport cython
from libc.math cimport INFINITY, exp, expm1, log
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_lattice cimport (
    ctok_lattice, ctok_lattice_best, ctok_lattice_best_forward, ctok_lattice_build, ctok_lattice_count, ctok_lattice_draw,
    ctok_lattice_draw_best, ctok_lattice_draw_distinct, ctok_lattice_entropy, ctok_lattice_free, ctok_lattice_random, ctok_lattice_share,
    ctok_lattice_weigh, ctok_ways, ctok_ways_free)
from ctok._native.c_merge cimport ctok_ids, ctok_ids_free, ctok_ids_push, ctok_ids_reserve
from ctok._native.c_vocab cimport CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_id, ctok_mem_fail_after, ctok_status
from ctok._native.ids cimport ids_to_list
from ctok._native.model cimport failure, give_one, seed_of
from ctok._native.unigram cimport ScoredPieces
from ctok._native.viterbi cimport UnigramModel, viterbi_give_run

cdef enum:
    ALONE = 4096                # bytes from which the GIL is released

cdef uint64_t LONGEST = 0xFFFFFFFF


@cython.final
@cython.no_gc
cdef class Lattice:
    """A text, whole or in stretches with ids between them, and all tokens that may stand in it. Belongs to one call."""

    cdef ScoredPieces model
    cdef bytes text
    cdef const UnigramModel *m
    cdef const double *scores
    cdef const uint8_t *p
    cdef ctok_lattice l
    cdef ctok_ways found
    cdef ctok_ids stops         # where stretches end,
    cdef ctok_ids behind        # and the ids that come then, or CTOK_NO_ID
    cdef ctok_ids way
    cdef ctok_ids ids           # of a way,
    cdef ctok_ids ends          # and where their tokens end

    def __cinit__(self, ScoredPieces model not None, parts):
        cdef ctok_status status = self.put_together(parts if isinstance(parts, list) else [parts])
        self.model = model
        self.m = &model.m
        self.scores = model.path_score_of
        self.p = self.text
        if status == CTOK_OK and len(self.text) < ALONE:
            status = build(self)
        elif status == CTOK_OK:
            with nogil:
                status = build(self)
        if status != CTOK_OK:
            raise failure(status)

    cdef ctok_status put_together(self, list parts) except *:
        cdef ctok_status status = CTOK_OK
        cdef uint64_t n = 0
        cdef bytes text
        cdef list texts = []
        for part in parts:
            if isinstance(part, int):
                status = add(self, n, part) if status == CTOK_OK else status
                continue
            text = part.encode() if isinstance(part, str) else bytes(part)
            texts.append(text)
            n += len(text)
            if n >= LONGEST:
                raise ValueError(f"a text of {n} bytes is too long for its paths")
            status = add(self, n, CTOK_NO_ID) if status == CTOK_OK else status
        self.text = texts[0] if len(texts) == 1 else b"".join(texts)
        return status

    def __dealloc__(self):
        ctok_lattice_free(&self.l)
        ctok_ways_free(&self.found)
        ctok_ids_free(&self.stops)
        ctok_ids_free(&self.behind)
        ctok_ids_free(&self.way)
        ctok_ids_free(&self.ids)
        ctok_ids_free(&self.ends)


cdef ctok_status build(Lattice x) noexcept nogil:
    return ctok_lattice_build(&x.l, &x.m.trie, x.scores, x.m.unk != CTOK_NO_ID, x.p, x.stops.at, x.stops.n)


cdef ctok_status add(Lattice x, uint64_t stop, ctok_id behind) noexcept nogil:
    cdef ctok_status status = ctok_ids_push(&x.stops, <uint32_t>stop)
    return ctok_ids_push(&x.behind, behind) if status == CTOK_OK else status


# ---- ways to ids ----

cdef ctok_status give(Lattice x, const ctok_id *way, size_t n) noexcept nogil:
    """Write the ids of a way, and their ends."""
    cdef const UnigramModel *m = x.m
    cdef size_t i, k = 0, end
    cdef ctok_id found = CTOK_NO_ID, last
    cdef bint joins = m.single and not m.byte_fallback      # unknown characters that stand together are one unknown token
    x.ids.n = x.ends.n = 0
    if x.stops.n != 1 or x.behind.at[0] != CTOK_NO_ID:
        return give_in_turn(x, way, n)
    if ctok_ids_reserve(&x.ids, n) != CTOK_OK or ctok_ids_reserve(&x.ends, n) != CTOK_OK:
        return CTOK_ERR_MEMORY
    for i in range(n):
        end = x.l.tokens[way[i + 1]].start if i + 1 < n else x.l.n
        last = found
        found = m.id_of[x.l.tokens[way[i]].piece]
        if found == m.unk:
            if not joins:
                return give_in_turn(x, way, n)
            k -= last == found
        x.ids.at[k] = found
        x.ends.at[k] = <ctok_id>end
        k += 1
    x.ids.n = x.ends.n = k
    return CTOK_OK


cdef ctok_status give_in_turn(Lattice x, const ctok_id *way, size_t n) noexcept nogil:
    """The same from the first token on: unknown characters are joined, ids between stretches put in."""
    cdef const UnigramModel *m = x.m
    cdef size_t i, start = 0, end, stop = 0
    cdef ctok_id found
    cdef ctok_status status = give_between(x, 0, &stop)
    for i in range(n):
        if status != CTOK_OK:
            break
        end = x.l.tokens[way[i + 1]].start if i + 1 < n else x.l.n
        found = m.id_of[x.l.tokens[way[i]].piece]
        if found != m.unk:
            status = give_one(found, end, &x.ids, &x.ends)
        elif end != x.stops.at[stop] and m.id_of[x.l.tokens[way[i + 1]].piece] == m.unk:
            continue
        else:
            status = viterbi_give_run(m, x.p + start, end - start, end, &x.ids, &x.ends)
        start = end
        if status == CTOK_OK:
            status = give_between(x, end, &stop)
    return status


cdef ctok_status give_between(Lattice x, size_t end, size_t *stop) noexcept nogil:
    """Go past all stops at a place."""
    cdef ctok_status status = CTOK_OK
    while stop[0] < x.stops.n and x.stops.at[stop[0]] <= end and status == CTOK_OK:
        if x.behind.at[stop[0]] != CTOK_NO_ID:
            status = give_one(x.behind.at[stop[0]], end, &x.ids, &x.ends)
        stop[0] += 1
    return status


cdef tuple path(Lattice x, const ctok_id *way, size_t n, bint with_ends, double score):
    """(ids, ends, score), or without ends (ids, score)."""
    cdef ctok_status status = give(x, way, n)
    if status != CTOK_OK:
        raise failure(status)
    ids = ids_to_list(x.ids.at, x.ids.n)
    return (ids, ids_to_list(x.ends.at, x.ends.n), score) if with_ends else (ids, score)


cdef list paths(Lattice x, bint with_ends):
    """What a search found."""
    cdef size_t k, begin = 0
    found = []
    for k in range(x.found.ends.n):
        found.append(path(x, x.found.tokens.at + begin, x.found.ends.at[k] - begin, with_ends, x.found.scores[k]))
        begin = x.found.ends.at[k]
    return found


# ---- the face ----

cdef double checked(double alpha) except? -1:
    if not 0 <= alpha < INFINITY:
        raise ValueError(f"alpha is {alpha!r}; it must be finite and at least 0")
    return alpha


cdef bint is_certain(Lattice x, double alpha) noexcept:
    """Is only the best path drawn?"""
    return alpha == 0 and not x.m.single


cdef ctok_status weigh_ways(Lattice x, double alpha, bint for_draws) noexcept nogil:
    return ctok_lattice_share(&x.l, alpha) if for_draws and x.m.single else ctok_lattice_weigh(&x.l, alpha, not x.m.single)


cdef object weigh(Lattice x, double alpha, bint for_draws=False):
    cdef ctok_status status
    if x.l.n < ALONE:
        status = weigh_ways(x, alpha, for_draws)
    else:
        with nogil:
            status = weigh_ways(x, alpha, for_draws)
    if status != CTOK_OK:
        raise failure(status)


cdef object find_best(Lattice x, size_t k):
    cdef ctok_status status
    if x.l.n < ALONE:
        status = best_ways(x, k)
    else:
        with nogil:
            status = best_ways(x, k)
    if status != CTOK_OK:
        raise failure(status)


cdef ctok_status best_ways(Lattice x, size_t k) noexcept nogil:
    return ctok_lattice_best(&x.l, k, &x.found) if x.m.single else ctok_lattice_best_forward(&x.l, k, &x.found)


cdef object draw_from_best(Lattice x, size_t k, double alpha, size_t n, uint64_t *random):
    cdef ctok_status status
    if x.l.n < ALONE:
        status = ctok_lattice_draw_best(&x.l, k, alpha, n, random, &x.found)
    else:
        with nogil:
            status = ctok_lattice_draw_best(&x.l, k, alpha, n, random, &x.found)
    if status != CTOK_OK:
        raise failure(status)


def nbest(model, text, k, with_ends=False):
    """Return the `k` best paths of a text, or all if there are fewer, as (ids, score), or (ids, ends, score), best first.

    Parameters
    ----------
    model
        A `ScoredPieces`.
    text
        A str, or bytes holding UTF-8, as the model gets it.
    """
    cdef Lattice x
    if k == 0:
        return []
    x = Lattice(model, text)
    find_best(x, k)
    return paths(x, with_ends)


def sample(model, text, alpha, nbest_size, k, seed, with_ends=False):
    """Return `k` paths drawn from the `nbest_size` best, or from all if that is None or 0, in the form of `nbest`.

    A score is the log of the path's probability. With 0 for `alpha` all paths are alike, but in a model of a tokenizer.json only the best
    one is drawn then, as the reference has it.
    """
    cdef double smoothing = checked(alpha), share = 0
    cdef uint64_t random = seed_of(seed)
    cdef ctok_status status
    cdef Lattice x = Lattice(model, text)
    cdef list found = []
    if is_certain(x, smoothing):
        ids, ends = best_of(x)
        return [(ids, ends, 0.0) if with_ends else (ids, 0.0)] * k
    if nbest_size and not x.m.single:
        find_best(x, nbest_size)
        return [draw_one(x, smoothing, &random, with_ends) for _ in range(k)]
    if nbest_size and not has_no_more(x, nbest_size):
        draw_from_best(x, nbest_size, smoothing, k, &random)
        return paths(x, with_ends)
    weigh(x, smoothing, for_draws=True)
    for _ in range(k):
        x.way.n = 0
        status = ctok_lattice_draw(&x.l, &random, &x.way, &share)
        if status != CTOK_OK:
            raise failure(status)
        found.append(path(x, x.way.at, x.way.n, with_ends, share))
    return found


cdef bint has_no_more(Lattice x, size_t k) except -1:
    """Are there at most k paths? Then they are drawn as from all, which is the same and sooner done than listing them."""
    cdef size_t n = 0
    cdef ctok_status status = ctok_lattice_count(&x.l, k + 1, &n)
    if status != CTOK_OK:
        raise failure(status)
    return n <= k


cdef tuple draw_one(Lattice x, double alpha, uint64_t *random, bint with_ends):
    """One of the paths that were found."""
    cdef size_t k = 0, n = x.found.ends.n, begin
    cdef double high = -INFINITY, total = 0, at, share = 0
    for k in range(n):
        high = max(high, x.found.scores[k])
    for k in range(n):
        total += exp(alpha * (x.found.scores[k] - high))
    at = ctok_lattice_random(random) * total
    for k in range(n):
        share = exp(alpha * (x.found.scores[k] - high))
        at -= share
        if at < 0:
            break
    begin = x.found.ends.at[k - 1] if k else 0
    return path(x, x.found.tokens.at + begin, x.found.ends.at[k] - begin, with_ends, log(share / total))


def sample_distinct(model, parts, alpha, size_t k, include_best, seed):
    """Return `k` different paths, or all if there are fewer, as (ids, log of the probability to be among them).

    `parts` is a text, or a list of texts, between which no token reaches across, and of ids that stand between them.
    """
    cdef double smoothing = checked(alpha), threshold = -INFINITY
    cdef uint64_t random = seed_of(seed)
    cdef ctok_status status
    cdef Lattice x
    cdef size_t wanted = min(k, <size_t>LONGEST) + 1
    if k == 0:
        return []
    x = Lattice(model, parts)
    if is_certain(x, smoothing):
        return [(best_of(x)[0], 0.0)]
    weigh(x, smoothing)
    with nogil:
        status = ctok_lattice_draw_distinct(&x.l, wanted, &random, &x.found)
    if status != CTOK_OK:
        raise failure(status)
    drawn = [(*way, x.found.perturbed[i]) for i, way in enumerate(paths(x, True))]
    found = []
    if include_best:
        best = best_of(x)
        found.append((best[0], 0.0))
        others = [way for way in drawn if way[:2] != best]
        drawn = others[:k] if len(others) == len(drawn) else others
    if <size_t>len(drawn) + <size_t>len(found) > k:
        threshold = drawn.pop()[3]
    return found + [(ids, inclusion(score - threshold)) for ids, _, score, _ in drawn]


cdef tuple best_of(Lattice x):
    """(ids, ends) of the path that `encode` takes, stretch by stretch."""
    cdef size_t i, begin = 0
    cdef list ids = [], ends = []
    for i in range(x.stops.n):
        if x.behind.at[i] != CTOK_NO_ID:
            ids.append(x.behind.at[i])
            ends.append(begin)
            continue
        own, places = x.model.encode_with_ends(x.text[begin:x.stops.at[i]])
        ids += own
        ends += [begin + place for place in places]
        begin = x.stops.at[i]
    return ids, ends


cdef double inclusion(double lead) noexcept:
    """log(1 - exp(-exp(lead)))"""
    if lead > 700:
        return 0
    return log(-expm1(-exp(lead))) if lead > -30 else lead


def entropy(model, text, alpha):
    """Return the entropy of the paths, in nats, as `sample` draws them from all."""
    cdef double found = 0, smoothing = checked(alpha)
    cdef ctok_status status
    cdef Lattice x = Lattice(model, text)
    if is_certain(x, smoothing):
        return 0.0
    weigh(x, smoothing)
    with nogil:
        status = ctok_lattice_entropy(&x.l, &found)
    if status != CTOK_OK:
        raise failure(status)
    return found


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
