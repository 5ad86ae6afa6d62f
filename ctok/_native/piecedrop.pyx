"""BPE-dropout of SentencePiece's BPE models: merges are left out at random.

Always the pair that would join next is asked for; with a probability of alpha it is left out, and stays apart until one of the two has
become another symbol. How an unused piece is taken apart then depends on chance, too: it is the pair that gave it and came in sight last,
wherever in the text (resegment.pyx).
"""

from libc.stdint cimport UINT32_MAX, int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from ctok._native.c_merge cimport (
    CTOK_MINTREE_NONE, ctok_ids, ctok_ids_free, ctok_ids_push, ctok_mintree, ctok_mintree_build, ctok_mintree_first, ctok_mintree_room,
    ctok_mintree_set, ctok_mintree_shape)
from ctok._native.c_mergelist cimport ctok_pair, ctok_pairmap_find
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_id, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed, ctok_status)
from ctok._native.mergelist cimport Merges, Sink, read_symbols
from ctok._native.model cimport failure, numbers
from ctok._native.piecebpe cimport NORMAL, UNUSED, PieceBPE
from ctok._native.resegment cimport Outlet, Resegment, Resegmenting, find_frozen, give_known, give_unknown, is_symbol

# A text being merged. `note` is NULL where no piece is unused.
cdef struct Dropping:
    const Merges *m
    const Resegmenting *around  # or NULL
    const uint8_t *types        # by id
    uint32_t n_pieces
    double alpha
    uint64_t random
    size_t n                    # symbols
    int32_t *ranks
    ctok_id *joined             # by symbol: what it and the one behind it join to
    ctok_id *ids
    uint32_t *next
    uint32_t *prev
    ctok_id *note               # two by symbol, 1 more than the ids: what an unused piece was joined from


cdef void drop_free(Dropping *d) noexcept nogil:
    ctok_mem_free(d.ranks)
    ctok_mem_free(d.joined)
    ctok_mem_free(d.ids)
    ctok_mem_free(d.next)
    ctok_mem_free(d.prev)
    ctok_mem_free(d.note)


cdef ctok_status drop_new(Dropping *d, size_t n) noexcept nogil:
    """Room for a text of n bytes."""
    if n >= UINT32_MAX:
        return CTOK_ERR_MEMORY
    d.ranks = <int32_t *>ctok_mem_alloc(ctok_mintree_room(n), sizeof(int32_t))
    d.joined = <ctok_id *>ctok_mem_alloc(n, sizeof(ctok_id))
    d.ids = <ctok_id *>ctok_mem_alloc(n, sizeof(ctok_id))
    d.next = <uint32_t *>ctok_mem_alloc(n + 1, sizeof(uint32_t))
    d.prev = <uint32_t *>ctok_mem_alloc(n + 1, sizeof(uint32_t))
    if d.around != NULL:
        d.note = <ctok_id *>ctok_mem_zeroed(2 * <size_t>d.m.vocab.n_ids + 1, sizeof(ctok_id))
        if d.note == NULL:
            return CTOK_ERR_MEMORY
    if d.ranks == NULL or d.joined == NULL or d.ids == NULL or d.next == NULL or d.prev == NULL:
        return CTOK_ERR_MEMORY
    return CTOK_OK


cdef ctok_status read_all(Dropping *d, const uint8_t *p, size_t n) noexcept nogil:
    """The symbols of a text, user-defined pieces among them: they join with nothing."""
    cdef size_t at = 0, start, length = 0
    cdef ctok_id id = CTOK_NO_ID
    cdef Sink k
    cdef ctok_status status = CTOK_OK
    while at < n and status == CTOK_OK:
        start = n
        if d.around != NULL:
            start = at + find_frozen(d.around, p + at, n - at, True, &length, &id)
        memset(&k, 0, sizeof(k))
        k.ids = d.ids + d.n
        status = read_symbols(d.m, p + at, start - at, &k)
        d.n += k.n
        if length:
            d.ids[d.n] = id
            d.n += 1
        at = start + length
        length = 0
    return status


cdef inline bint is_unused(const Dropping *d, ctok_id id) noexcept nogil:
    return id < d.n_pieces and d.types[id] == UNUSED


cdef int32_t rank_of(Dropping *d, size_t left, size_t right) noexcept nogil:
    cdef const ctok_pair *found = ctok_pairmap_find(&d.m.pairs, d.ids[left], d.ids[right])
    if found == NULL:
        return CTOK_MINTREE_NONE
    d.joined[left] = found.joined
    if d.note != NULL and is_unused(d, found.joined):
        d.note[2 * found.joined] = d.ids[left] + 1
        d.note[2 * found.joined + 1] = d.ids[right] + 1
    return <int32_t>found.rank


cdef inline bint is_dropped(Dropping *d) noexcept nogil:
    cdef uint64_t z
    d.random += <uint64_t>0x9E3779B97F4A7C15
    z = d.random
    z = (z ^ z >> 30) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ z >> 27) * <uint64_t>0x94D049BB133111EB
    z ^= z >> 31
    return <double>(z >> 11) * (1.0 / 9007199254740992.0) < d.alpha


cdef void merge_dropping(Dropping *d) noexcept nogil:
    """Merge all symbols. Afterwards those that are left are 0, next[0], ... while < n, with their ids."""
    cdef ctok_mintree t
    cdef size_t i, j, k, h, n = d.n
    ctok_mintree_shape(&t, d.ranks, n)
    for i in range(n):
        d.next[i] = <uint32_t>(i + 1)
        d.prev[i] = <uint32_t>(i - 1)
    for i in range(n - 1):
        t.level[0][i] = rank_of(d, i, i + 1)
    ctok_mintree_build(&t, n)
    while ctok_mintree_first(&t, &i) != CTOK_MINTREE_NONE:
        if is_dropped(d):
            ctok_mintree_set(&t, i, CTOK_MINTREE_NONE)
            continue
        j = d.next[i]
        k = d.next[j]
        d.ids[i] = d.joined[i]
        d.next[i] = <uint32_t>k
        ctok_mintree_set(&t, j, CTOK_MINTREE_NONE)
        if i > 0:
            h = d.prev[i]
            ctok_mintree_set(&t, h, rank_of(d, h, i))
        if k < n:
            d.prev[k] = <uint32_t>i
            ctok_mintree_set(&t, i, rank_of(d, i, k))
        else:
            ctok_mintree_set(&t, i, CTOK_MINTREE_NONE)


cdef ctok_status give_taken_apart(Dropping *d, Outlet *o, ctok_id symbol, ctok_ids *todo) noexcept nogil:
    """Append what a symbol is taken apart into, by what was noted."""
    cdef const Merges *m = d.m
    cdef ctok_status status
    todo.n = 0
    status = ctok_ids_push(todo, symbol)
    while todo.n and status == CTOK_OK:
        todo.n -= 1
        symbol = todo.at[todo.n]
        if is_unused(d, symbol) and d.note[2 * symbol]:
            status = ctok_ids_push(todo, d.note[2 * symbol + 1] - 1)
            if status == CTOK_OK:
                status = ctok_ids_push(todo, d.note[2 * symbol] - 1)
        elif symbol < d.n_pieces and d.types[symbol] == NORMAL:
            status = give_known(o, symbol)
        else:
            status = give_unknown(d.around, o, m.vocab.bytes + m.vocab.by_id[symbol].begin, m.vocab.by_id[symbol].len)
    return status


cdef ctok_status give_rest(Dropping *d, ctok_ids *ids) noexcept nogil:
    """Append the ids of what is left."""
    cdef size_t i = 0
    cdef ctok_id symbol
    cdef ctok_ids todo
    cdef Outlet o
    cdef ctok_status status = CTOK_OK
    memset(&todo, 0, sizeof(todo))
    memset(&o, 0, sizeof(o))
    o.ids = ids
    while i < d.n and status == CTOK_OK:
        symbol = d.ids[i]
        i = d.next[i]
        if d.around == NULL:
            status = ctok_ids_push(ids, symbol)
        elif is_symbol(d.around, symbol):
            status = give_taken_apart(d, &o, symbol, &todo)
        elif symbol == d.around.unk and not d.m.byte_fallback:
            status = give_unknown(d.around, &o, NULL, 0)
        else:
            status = give_known(&o, symbol)
    ctok_ids_free(&todo)
    return status


cdef ctok_status run(Dropping *d, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil:
    cdef ctok_status status = drop_new(d, n)
    if status == CTOK_OK:
        status = read_all(d, p, n)
    if status == CTOK_OK and d.n:
        merge_dropping(d)
        status = give_rest(d, ids)
    return status


def sample(PieceBPE model not None, Resegment around, const uint8_t[::1] text, double alpha, uint64_t seed):
    """Return the ids of a text of which merges are left out; `around` is what stands around the model, or None."""
    cdef Dropping d
    cdef ctok_ids ids
    cdef ctok_status status
    memset(&d, 0, sizeof(d))
    memset(&ids, 0, sizeof(ids))
    if text.shape[0] == 0:
        return []
    d.m = &model.m
    d.around = &around.m if around is not None else NULL
    d.types = &model.types[0]
    d.n_pieces = <uint32_t>model.types.shape[0]
    d.alpha = alpha
    d.random = seed
    try:
        with nogil:
            status = run(&d, &text[0], text.shape[0], &ids)
        if status != CTOK_OK:
            raise failure(status)
        return numbers(&ids)
    finally:
        drop_free(&d)
        ctok_ids_free(&ids)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
