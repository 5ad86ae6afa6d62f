"""BPE-dropout of SentencePiece's BPE models: merges are left out at random.

Always the pair that would join next is asked for; with a probability of alpha it is left out, and stays apart until one of the two has
become another symbol. How an unused piece is taken apart then depends on chance, too: it is the pair that gave it and came in sight last,
wherever in the text (resegment.pyx).

Where nothing stands around the model and no piece reaches from one word into the next, chance decides word by word, which is the same: what
one word becomes does not depend on another. A word that is known to be a token has one merge less than characters. So before it is merged
that many numbers are drawn; if none of them leaves a merge out, it is that token, and if one does, they are drawn again while it is merged.
"""

from libc.math cimport ceil
from libc.stdint cimport UINT32_MAX, int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from ctok._native.c_merge cimport (
    CTOK_MINTREE_NONE, ctok_ids, ctok_ids_free, ctok_ids_push, ctok_mintree, ctok_mintree_build, ctok_mintree_first, ctok_mintree_room,
    ctok_mintree_set, ctok_mintree_shape)
from ctok._native.c_mergelist cimport ctok_pair, ctok_pairmap_find, ctok_pairmap_prefetch
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_id, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed,
    ctok_status, ctok_vocab)
from ctok._native.c_words cimport CTOK_WORDS_BLOCK, ctok_is_mark, ctok_words_cut
from ctok._native.ids cimport ids_to_list
from ctok._native.mergelist cimport Merges, Sink, char_size, learn, plain_unit, read_symbols, settles, whole
from ctok._native.model cimport failure
from ctok._native.piecebpe cimport NORMAL, UNUSED, WORDS_APART, WORDS_JOINED, WORDS_UNKNOWN, PieceBPE
from ctok._native.resegment cimport Outlet, Resegment, Resegmenting, find_frozen, give_known, give_unknown, is_symbol

cdef enum:
    OWN = 64                    # symbols that need no memory but the stack's: one level of the tree
    ALONE = 4096                # bytes from which the GIL is released
    MANY = 0x100                # no byte: a symbol of several

cdef const uint8_t *MARK = <const uint8_t *>b"\xe2\x96\x81"

# A text, or a word of it, being merged. `note` is NULL where no piece is unused.
cdef struct Dropping:
    const Merges *m
    const Resegmenting *around  # or NULL
    const uint8_t *types        # by id
    uint32_t n_pieces
    uint64_t below              # a merge is left out when 53 bits drawn are below this
    uint64_t random
    bint left_out               # has one been?
    ctok_id mark                # the symbol of a mark, which is three bytes
    size_t cap                  # room for so many symbols
    size_t n                    # symbols
    int32_t *ranks
    ctok_id *joined             # by symbol: what it and the one behind it join to
    ctok_id *ids
    uint32_t *next              # before merging: the byte that a symbol is, or MANY
    uint32_t *prev
    ctok_id *note               # two by symbol, 1 more than the ids: what an unused piece was joined from
    void *block
    int32_t own_ranks[OWN]
    uint32_t own[4 * OWN]


cdef void drop_begin(Dropping *d) noexcept nogil:
    d.cap = OWN
    d.ranks = d.own_ranks
    d.joined = d.own
    d.ids = d.own + OWN
    d.next = d.own + 2 * OWN
    d.prev = d.own + 3 * OWN
    d.block = NULL
    d.note = NULL


cdef void drop_free(Dropping *d) noexcept nogil:
    ctok_mem_free(d.block)
    ctok_mem_free(d.note)


cdef ctok_status drop_reserve(Dropping *d, size_t n) noexcept nogil:
    """Room for a text of n bytes. What the room held is lost."""
    cdef size_t tree = ctok_mintree_room(n)
    if n <= d.cap:
        return CTOK_OK
    ctok_mem_free(d.block)
    d.block = NULL
    d.cap = 0
    if n < UINT32_MAX:
        d.block = ctok_mem_alloc(tree + 4 * n, sizeof(uint32_t))
    if d.block == NULL:
        return CTOK_ERR_MEMORY
    d.ranks = <int32_t *>d.block
    d.joined = <uint32_t *>d.block + tree
    d.ids = d.joined + n
    d.next = d.ids + n
    d.prev = d.next + n
    d.cap = n
    return CTOK_OK


cdef ctok_status read_all(Dropping *d, const uint8_t *p, size_t n) noexcept nogil:
    """The symbols of a text, user-defined pieces among them: they join with nothing."""
    cdef size_t at = 0, start, length = 0
    cdef ctok_id id = CTOK_NO_ID
    cdef size_t i
    cdef Sink k
    cdef ctok_status status = CTOK_OK
    d.n = 0
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
    for i in range(d.n):
        d.next[i] = MANY
    return status


cdef bint read_known(Dropping *d, const uint8_t *p, size_t n) noexcept nogil:
    """The symbols of a text, if it has no unknown character, and nothing stands around the model."""
    cdef size_t i = 0, size, k = 0
    cdef ctok_id symbol
    while i < n:
        size = min(char_size(p[i]), n - i)
        symbol = d.mark if size == 3 and ctok_is_mark(p + i) else plain_unit(d.m, p + i, size)
        if symbol == CTOK_NO_ID:
            return False
        d.ids[k] = symbol
        d.next[k] = <uint32_t>p[i] if size == 1 else <uint32_t>MANY
        k += 1
        i += size
    d.n = k
    return True


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


cdef inline int32_t first_rank_of(Dropping *d, size_t left) noexcept nogil:
    """The same of a symbol and the one behind it, before merging."""
    cdef uint64_t found
    if (d.next[left] | d.next[left + 1]) >= MANY:
        return rank_of(d, left, left + 1)
    found = d.m.first_pairs[d.next[left] << 8 | d.next[left + 1]]
    d.joined[left] = <ctok_id>found
    return <int32_t>((found >> 32) - 1) if found else CTOK_MINTREE_NONE


cdef inline bint is_dropped(Dropping *d) noexcept nogil:
    cdef uint64_t z
    d.random += <uint64_t>0x9E3779B97F4A7C15
    z = d.random
    z = (z ^ z >> 30) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ z >> 27) * <uint64_t>0x94D049BB133111EB
    z ^= z >> 31
    return z >> 11 < d.below


cdef void merge_dropping(Dropping *d) noexcept nogil:
    """Merge all symbols. Afterwards those that are left are 0, next[0], ... while < n, with their ids."""
    cdef ctok_mintree t
    cdef size_t i, j, k, h, n = d.n
    ctok_mintree_shape(&t, d.ranks, n)
    for i in range(n - 1):
        t.level[0][i] = first_rank_of(d, i)
    for i in range(n):
        d.next[i] = <uint32_t>(i + 1)
        d.prev[i] = <uint32_t>(i - 1)
    ctok_mintree_build(&t, n)
    while ctok_mintree_first(&t, &i) != CTOK_MINTREE_NONE:
        if is_dropped(d):
            d.left_out = True
            ctok_mintree_set(&t, i, CTOK_MINTREE_NONE)
            continue
        j = d.next[i]
        k = d.next[j]
        h = d.prev[i]
        d.ids[i] = d.joined[i]
        d.next[i] = <uint32_t>k
        if k < n:
            ctok_pairmap_prefetch(&d.m.pairs, d.ids[i], d.ids[k])
        ctok_mintree_set(&t, j, CTOK_MINTREE_NONE)
        if i > 0:
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


cdef ctok_status drop_text(Dropping *d, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil:
    """Append the ids of a text, or of a word."""
    cdef ctok_status status = drop_reserve(d, n)
    if status == CTOK_OK and (d.around != NULL or not read_known(d, p, n)):
        status = read_all(d, p, n)
    if status == CTOK_OK and d.n:
        merge_dropping(d)
        status = give_rest(d, ids)
    return status


cdef ctok_status drop_all(Dropping *d, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil:
    """The same with a note of what unused pieces are joined from."""
    if d.around != NULL:
        d.note = <ctok_id *>ctok_mem_zeroed(2 * <size_t>d.m.vocab.n_ids + 1, sizeof(ctok_id))
        if d.note == NULL:
            return CTOK_ERR_MEMORY
    return drop_text(d, p, n, ids)


cdef bint leaves_none_out(Dropping *d, size_t n) noexcept nogil:
    """Do the next n merges all take place? If not, nothing has been drawn."""
    cdef uint64_t random = d.random
    cdef size_t _
    for _ in range(n):
        if is_dropped(d):
            d.random = random
            return False
    return True


cdef ctok_status drop_word(Dropping *d, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil:
    cdef ctok_id found = whole(d.m, p, n)
    cdef size_t i, chars = 0, before = ids.n
    cdef ctok_status status
    if settles(d.m, found):
        for i in range(n):
            chars += p[i] & 0xC0 != 0x80
        if leaves_none_out(d, chars - 1):
            return ctok_ids_push(ids, found)
    d.left_out = False
    status = drop_text(d, p, n, ids)
    if status == CTOK_OK and not d.left_out:
        learn(d.m, found, ids.at + before, ids.n - before)
    return status


cdef ctok_status drop_words(Dropping *d, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil:
    cdef uint32_t stops[CTOK_WORDS_BLOCK + 64]
    cdef size_t start = 0, k, n_stops
    cdef ctok_status status = CTOK_OK if n < UINT32_MAX else CTOK_ERR_MEMORY
    while start < n and status == CTOK_OK:
        n_stops = ctok_words_cut(p, start, n, stops)
        for k in range(n_stops):
            if status == CTOK_OK:
                status = drop_word(d, p + start, stops[k] - start, ids)
            start = stops[k]
    return status


cdef ctok_status run(Dropping *d, bint by_words, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil:
    return drop_words(d, p, n, ids) if by_words else drop_all(d, p, n, ids)


cdef bint keeps_to_words(const Merges *m) noexcept nogil:
    """Is a mark a symbol, and does every token have marks at its beginning only?"""
    cdef const ctok_vocab *v = m.vocab
    cdef const uint8_t *p
    cdef uint32_t k, i, n
    if plain_unit(m, MARK, 3) == CTOK_NO_ID:
        return False
    for k in range(v.n_tokens):
        p = v.bytes + v.begin[k]
        n = v.begin[k + 1] - v.begin[k]
        for i in range(1, n - 2 if n > 2 else 0):
            if ctok_is_mark(p + i) and (i < 3 or not ctok_is_mark(p + i - 3)):
                return False
    return True


def sample(PieceBPE model not None, Resegment around, bytes text not None, double alpha, uint64_t seed):
    """Return the ids of a text of which merges are left out; `around` is what stands around the model, or None."""
    cdef Dropping d
    cdef ctok_ids ids
    cdef ctok_status status
    cdef bint by_words
    cdef const uint8_t *p = text
    cdef size_t n = len(text)
    memset(&ids, 0, sizeof(ids))
    d.m = &model.m
    d.around = &around.m if around is not None else NULL
    d.types = &model.types[0]
    d.n_pieces = <uint32_t>model.types.shape[0]
    d.below = <uint64_t>ceil(alpha * 9007199254740992.0)
    d.random = seed
    d.mark = plain_unit(d.m, MARK, 3)
    drop_begin(&d)
    if around is None and model.words == WORDS_UNKNOWN:
        model.words = WORDS_APART if keeps_to_words(d.m) else WORDS_JOINED
    by_words = around is None and model.words == WORDS_APART
    try:
        if n < ALONE:
            status = run(&d, by_words, p, n, &ids)
        else:
            with nogil:
                status = run(&d, by_words, p, n, &ids)
        if status != CTOK_OK:
            raise failure(status)
        return ids_to_list(ids.at, ids.n)
    finally:
        drop_free(&d)
        ctok_ids_free(&ids)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
