"""The unigram model: the path of highest score through all pieces that may stand in a pretoken (viterbi.pyx), whole or open."""

from libc.math cimport INFINITY
from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_finepath cimport (
    ctok_finepath_find, ctok_finepath_free, ctok_finepath_init, ctok_fineplaces, ctok_finestep)
from ctok._native.c_merge cimport ctok_ids, ctok_ids_reserve
from ctok._native.c_trie cimport ctok_trie_free, ctok_trie_init
from ctok._native.c_vocab cimport (
    CTOK_ERR_BYTE, CTOK_ERR_MEMORY, CTOK_ERR_UTF8, CTOK_NO_ID, CTOK_OK, ctok_id, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free,
    ctok_mem_zeroed, ctok_status)
from ctok._native.model cimport Model, Table, give_one, table_failed, table_find, table_ids
from ctok._native.unigram_open cimport (
    unigram_open_catch_up, unigram_open_copy, unigram_open_end, unigram_open_feed, unigram_open_free, unigram_open_load, unigram_open_new,
    unigram_open_save)
from ctok._native.viterbi cimport Node, UnigramModel, viterbi_give_run, viterbi_go_on

from ..errors import SpecError

cdef enum:
    LONG = 1 << 14              # bytes from which on a whole pretoken is encoded as an open one
    SHORT = 63                  # bytes of the longest that is searched at once, as csrc/ctok_finepath.h says

# What the encoding of whole pretokens needs.
cdef struct Scratch:
    UnigramScratch room
    ctok_fineplaces places

cdef double PENALTY = 10.0      # what an unknown character costs beyond the least probable piece


cdef class ScoredPieces(Model):
    """What the unigram models of all formats share."""

    def __dealloc__(self):
        ctok_finepath_free(&self.m.fine)
        ctok_trie_free(&self.m.trie)
        ctok_mem_free(self.m.score_of)
        ctok_mem_free(self.m.id_of)

    def sample_distinct(self, parts, k, alpha, include_best=False, seed=None):
        """Return `k` different paths drawn without replacement, or all if there are fewer.

        Parameters
        ----------
        parts
            What `encode` takes, or a list of that and of ids between, which every path has.
        k
            How many.
        alpha
            As for `sample`.
        include_best
            The best path is always among them, and comes first.
        seed
            As for `sample`.

        Returns
        -------
        list
            (ids, log of the probability to be drawn), in the order in which they were drawn. These are the inclusion probabilities of
            Gumbel-top-k sampling given the (k + 1)-th path: dividing by them makes sums over the paths unbiased.

        Raises
        ------
        EncodeError, ValueError
            As `sample`.
        """
        return lattice().sample_distinct(self, parts, alpha, k, include_best, seed)

    def entropy(self, pretoken, alpha=1.0):
        """Return the entropy, in nats, of the paths as `sample` draws them from all."""
        return lattice().entropy(self, pretoken, alpha)


cdef class Unigram(ScoredPieces):
    """The unigram model of a tokenizer.json.

    Parameters
    ----------
    tokens
        A `spec.TokenTable` of pieces in UTF-8. Of equal pieces the last counts; an empty one is never found.
    scores
        Logarithms of probabilities by id, little-endian float64.
    unk_id
        The id for characters that no piece covers, or None: then `encode` refuses them.
    byte_fallback
        Unknown characters become the pieces ``<0x00>`` to ``<0xFF>`` of their bytes where the table has all that are needed.

    Raises
    ------
    SpecError
        The table is out of byte order, an id has no score, or `unk_id` is not one of those that have.

    Notes
    -----
    Encoding costs a walk through the tree for each character: linear in the bytes for pieces of bounded length.
    """

    def __cinit__(self, tokens, scores, unk_id=None, byte_fallback=False):
        cdef Table table = Table(tokens)
        cdef ctok_status status
        cdef const double[::1] score_of = memoryview(scores).cast("B").cast("d") if len(scores) else memoryview(bytes(8)).cast("d")
        cdef size_t n_scores = len(memoryview(scores).cast("B")) // 8
        if unk_id is not None and not 0 <= unk_id < n_scores:
            raise SpecError(f"unk_id is {unk_id}, but there are {n_scores} scores")
        plant(&self.m, table)
        status = keep_scores(&self.m, table, &score_of[0], n_scores)
        if status == CTOK_ERR_BYTE:
            raise SpecError("token table: an id has no score")
        if status != CTOK_OK:
            raise table_failed(status, 0)
        self.unk_id = unk_id
        self.m.unk = CTOK_NO_ID if unk_id is None else unk_id
        self.m.byte_fallback = byte_fallback
        for b in range(256):
            self.m.byte_ids[b] = table_find(&self.m.trie, self.m.id_of, b"<0x%02X>" % b)
        set_unigram(self)
        if unk_id is not None and ctok_finepath_init(&self.m.fine, &self.m.trie, self.m.score_of, table.n) == CTOK_ERR_MEMORY:
            raise MemoryError("no memory for the model")

    def nbest(self, pretoken, k):
        """Return the `k` best paths of a pretoken, or all if there are fewer, as (ids, score), best first.

        Parameters
        ----------
        pretoken
            A str, or bytes holding UTF-8.
        k
            How many; at least 0.

        Raises
        ------
        EncodeError
            No path covers it, and there is no unknown token.

        Notes
        -----
        The first is the one that `encode` gives. Different paths may have the same ids where unknown characters join. Time and memory are
        O(tokens that may stand in it * k).
        """
        return lattice().nbest(self, pretoken, k)

    def sample(self, pretoken, alpha, nbest_size=None, seed=None):
        """Return the ids of a path of a pretoken drawn at random.

        Parameters
        ----------
        pretoken
            A str, or bytes holding UTF-8.
        alpha
            Smoothing: near 0 all paths are alike, large values prefer the best. 0 itself gives the best path.
        nbest_size
            Draw from this many best paths, with probabilities proportional to exp(alpha * score); None or 0: from all paths.
        seed
            An int: the same seed draws the same path. None: unpredictable.

        Raises
        ------
        EncodeError
            As `nbest`.
        ValueError
            `alpha` is negative or not finite.
        """
        return lattice().sample(self, pretoken, alpha, nbest_size, 1, seed)[0][0]


cdef object other_paths = None


cdef object lattice():
    """The module for other paths than the best one, which most tokenizers never need."""
    global other_paths
    if other_paths is None:
        from . import lattice as found

        other_paths = found
    return other_paths


cdef ctok_status keep_scores(UnigramModel *m, Table table, const double *scores, size_t n_scores) noexcept:
    cdef size_t i
    cdef double least = INFINITY
    m.score_of = <double *>ctok_mem_alloc(<size_t>table.n + 1, sizeof(double))
    if m.score_of == NULL:
        return CTOK_ERR_MEMORY
    for i in range(n_scores):
        if scores[i] < least:
            least = scores[i]
    m.score_of[0] = least - PENALTY
    for i in range(table.n):
        if table.ids[i] >= n_scores:
            return CTOK_ERR_BYTE
        m.score_of[i + 1] = scores[table.ids[i]]
    return CTOK_OK


cdef object plant(UnigramModel *m, Table table):
    cdef uint32_t bad = 0
    cdef ctok_status status = ctok_trie_init(&m.trie, table.data, table.ends, table.n, NULL, 0, NULL, &bad)
    if status == CTOK_OK:
        status = table_ids(table, &m.id_of)
    if status != CTOK_OK:
        raise table_failed(status, bad)


cdef void set_unigram(ScoredPieces model):
    cdef int b
    model.model = &model.m
    model.path_score_of = model.m.score_of
    model.m.id_of[0] = model.m.unk
    model.m.all_bytes = True
    for b in range(256):
        model.m.all_bytes = model.m.all_bytes and model.m.byte_ids[b] != CTOK_NO_ID
    model.ops.encode = unigram_encode
    model.ops.scratch_new = unigram_scratch_new
    model.ops.scratch_free = unigram_scratch_free
    model.ops.open_new = unigram_open_new
    model.ops.open_feed = unigram_open_feed
    model.ops.open_end = unigram_open_end
    model.ops.open_copy = unigram_open_copy
    model.ops.open_catch_up = unigram_open_catch_up
    model.ops.open_free = unigram_open_free
    model.ops.open_save = unigram_open_save
    model.ops.open_load = unigram_open_load


# ---- a whole pretoken ----

cdef void *unigram_scratch_new(const void *model) noexcept nogil:
    return ctok_mem_zeroed(1, sizeof(Scratch))


cdef void unigram_scratch_free(void *scratch) noexcept nogil:
    if scratch != NULL:
        unigram_unreserve(&(<Scratch *>scratch).room)
        ctok_mem_free(scratch)


cdef void unigram_unreserve(UnigramScratch *s) noexcept nogil:
    ctok_mem_free(s.nodes)
    ctok_mem_free(s.stops)
    s.nodes = NULL
    s.stops = NULL
    s.cap = 0


cdef ctok_status unigram_reserve(UnigramScratch *s, size_t n) noexcept nogil:
    if s.cap >= n:
        return CTOK_OK
    unigram_unreserve(s)
    n = max(n + n // 2, 256)
    s.nodes = <Node *>ctok_mem_alloc(n, sizeof(Node))
    s.stops = <uint32_t *>ctok_mem_alloc(n, sizeof(uint32_t))
    if s.nodes == NULL or s.stops == NULL:
        unigram_unreserve(s)
        return CTOK_ERR_MEMORY
    s.cap = n
    return CTOK_OK


cdef ctok_status unigram_encode(const void *model, void *scratch, const uint8_t *p, size_t n, ctok_ids *ids,
                                ctok_ids *ends) noexcept nogil:
    cdef const UnigramModel *m = <const UnigramModel *>model
    cdef UnigramScratch *s = &(<Scratch *>scratch).room
    cdef size_t i, next = 0, first = ids.n, first_end = ends.n if ends != NULL else 0
    cdef ctok_status status
    if ends == NULL and (n > LONG or (0 < n <= SHORT and m.fine.scores != NULL)):
        status = encode_long(m, p, n, ids) if n > LONG else encode_short(m, <Scratch *>scratch, p, n, ids)
        if status != CTOK_OK:
            ids.n = first
        return status
    status = unigram_reserve(s, n + 1)
    if status != CTOK_OK:
        return status
    for i in range(n + 1):
        s.nodes[i].size = 0
    s.nodes[0].score = 0
    status = viterbi_go_on(m, s.nodes, p, n, &next, NULL, False)
    if status == CTOK_OK and next != n:
        status = CTOK_ERR_UTF8
    if status == CTOK_OK:
        status = unigram_give_path(m, s, p, n, ids, ends)
    if status != CTOK_OK:
        ids.n = first
        if ends != NULL:
            ends.n = first_end
    return status


cdef ctok_status encode_short(const UnigramModel *m, Scratch *s, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil:
    cdef ctok_finestep steps[SHORT]
    cdef const ctok_finestep *first
    cdef ctok_id *to
    cdef size_t i, start = 0, count = ctok_finepath_find(&m.fine, &s.places, p, n, steps + SHORT)
    cdef bint some_unknown = False
    cdef ctok_status status = ctok_ids_reserve(ids, count) if count else CTOK_ERR_UTF8
    if status != CTOK_OK:
        return status
    to = ids.at + ids.n
    first = steps + (SHORT - count)
    for i in range(count):
        to[i] = m.id_of[first[i].piece]
        some_unknown |= to[i] == m.unk
    if not some_unknown:
        ids.n += count
        return CTOK_OK
    status = unigram_reserve(&s.room, n + 1)
    for i in range(count if status == CTOK_OK else 0):
        s.room.nodes[first[i].end].size = first[i].end - <uint32_t>start
        s.room.nodes[first[i].end].piece = first[i].piece
        start = first[i].end
    return unigram_give_path(m, &s.room, p, n, ids, NULL) if status == CTOK_OK else status


cdef ctok_status unigram_give_path(const UnigramModel *m, UnigramScratch *s, const uint8_t *p, size_t n, ctok_ids *ids,
                                   ctok_ids *ends) noexcept nogil:
    cdef size_t e = n, k = 0, i
    cdef bint some_unknown = False
    while e:
        s.stops[k] = <uint32_t>e
        some_unknown |= m.id_of[s.nodes[e].piece] == m.unk
        k += 1
        e -= s.nodes[e].size
    if some_unknown and m.unk != CTOK_NO_ID:
        return give_path_with_runs(m, s, p, k, ids, ends)
    if ctok_ids_reserve(ids, k) != CTOK_OK:
        return CTOK_ERR_MEMORY
    if ends != NULL:
        if ctok_ids_reserve(ends, k) != CTOK_OK:
            return CTOK_ERR_MEMORY
        for i in range(k):
            ends.at[ends.n + i] = s.stops[k - 1 - i]
        ends.n += k
    for i in range(k):
        ids.at[ids.n + i] = m.id_of[s.nodes[s.stops[k - 1 - i]].piece]
    ids.n += k
    return CTOK_OK


cdef ctok_status give_path_with_runs(const UnigramModel *m, const UnigramScratch *s, const uint8_t *p, size_t k, ctok_ids *ids,
                                     ctok_ids *ends) noexcept nogil:
    """The same for the k tokens whose ends are in s.stops, last first, where some are unknown."""
    cdef size_t start = 0, end = 0
    cdef ctok_id found
    cdef ctok_status status = CTOK_OK
    while k and status == CTOK_OK:
        k -= 1
        end = s.stops[k]
        found = m.id_of[s.nodes[end].piece]
        if found != m.unk:
            status = give_one(found, end, ids, ends)
        elif k == 0 or m.id_of[s.nodes[s.stops[k - 1]].piece] != m.unk:
            status = viterbi_give_run(m, p + start, end - start, end, ids, ends)
        else:
            continue
        start = end
    return status


cdef ctok_status encode_long(const UnigramModel *m, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil:
    """With room for what is not certain only, instead of for all places."""
    cdef void *open = unigram_open_new(m)
    cdef ctok_status status = CTOK_ERR_MEMORY if open == NULL else unigram_open_feed(open, p, n, ids)
    if status == CTOK_OK:
        status = unigram_open_end(open, ids)
    unigram_open_free(open)
    return status


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
