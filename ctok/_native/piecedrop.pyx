"""BPE-dropout of SentencePiece's BPE models: merges are left out at random.

Always the pair that would join next is asked for; with a probability of alpha it is left out, and stays apart until one of the two has
become another symbol. How an unused piece is taken apart then depends on chance, too: it is the pair that gave it and came in sight last,
wherever in the text (resegment.pyx).

What is drawn is how many merges take place before the next one that is left out, a geometrically distributed number.

Where nothing stands around the model, a text is taken in stretches, at whose ends no piece reaches from one side to the other: what one
becomes does not depend on another. Pieces that may be joined in a stretch are found beforehand, in a tree. A stretch has less merges than
characters. If that many take place, and it is known to be a token, it is that token.
"""

from libc.math cimport log, log1p
from libc.stdint cimport UINT32_MAX, int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from ctok._native.c_merge cimport (
    CTOK_LANE_NONE, CTOK_MINTREE_NONE, ctok_ids, ctok_ids_free, ctok_ids_push, ctok_ids_reserve, ctok_lane_before, ctok_lane_least,
    ctok_lane_next, ctok_lane_place, ctok_lane_rank, ctok_mintree, ctok_mintree_build, ctok_mintree_first, ctok_mintree_room,
    ctok_mintree_set, ctok_mintree_shape)
from ctok._native.c_mergelist cimport ctok_pair, ctok_pairmap_find, ctok_pairmap_prefetch
from ctok._native.c_trie cimport CTOK_TRIE_NO_BYTE, ctok_trie_base, ctok_trie_goes_on, ctok_trie_piece
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_id, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed, ctok_status)
from ctok._native.c_words cimport ctok_is_mark
from ctok._native.ids cimport ids_to_list
from ctok._native.mergelist cimport Merges, Sink, char_size, learn, plain_unit, read_symbols, settles
from ctok._native.model cimport failure
from ctok._native.piecebpe cimport NORMAL, UNUSED, PieceBPE
from ctok._native.piecetree cimport STRETCH, Joined, PieceTree, Tree, begin_of, tree_of
from ctok._native.resegment cimport Outlet, Resegment, Resegmenting, find_frozen, give_known, give_unknown, is_symbol

cdef enum:
    OWN = 64                    # symbols that need no memory but the stack's: one level of the tree
    ALONE = 4096                # bytes from which the GIL is released

cdef uint64_t FOREVER = <uint64_t>1 << 62

# The pieces that stand in a stretch, by the place of their first symbol, from 1 on, and the number of their symbols.
cdef struct Stretch:
    size_t n                    # symbols
    size_t longest              # symbols of the longest piece that was found last
    uint64_t sizes[STRETCH + 4]             # bit k: there is a piece of k symbols
    Joined pieces[STRETCH + 4][64]
    int32_t ranks[64]           # csrc/ctok_lane.h: of the symbol here and the next one

# A text, or a stretch of it, being merged. `note` is NULL where no piece is unused.
cdef struct Dropping:
    const Merges *m
    const Resegmenting *around  # or NULL
    const uint8_t *types        # by id
    uint32_t n_pieces
    const PieceTree *tree       # or NULL
    double log_kept             # of the probability that a merge takes place
    uint64_t random
    uint64_t n_kept             # merges that take place before the next one that is left out
    size_t cap                  # room for so many symbols
    size_t n                    # symbols
    int32_t *ranks
    ctok_id *joined             # by symbol: what it and the one behind it join to
    ctok_id *ids
    uint32_t *next
    uint32_t *prev
    ctok_id *note               # two by symbol, 1 more than the ids: what an unused piece was joined from
    void *block
    int32_t own_ranks[OWN]
    uint32_t own[4 * OWN]


cdef void drop_begin(Dropping *d) noexcept nogil:
    d.tree = NULL
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


cdef uint64_t draw_kept(Dropping *d) noexcept nogil:
    """How many merges take place before the next one that is left out."""
    cdef uint64_t z
    cdef double kept
    d.random += <uint64_t>0x9E3779B97F4A7C15
    z = d.random
    z = (z ^ z >> 30) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ z >> 27) * <uint64_t>0x94D049BB133111EB
    z ^= z >> 31
    if d.log_kept == 0:
        return FOREVER
    kept = log(<double>((z >> 11) + 1) * (1.0 / 9007199254740992.0)) / d.log_kept
    return <uint64_t>kept if kept < <double>FOREVER else FOREVER


cdef void merge_dropping(Dropping *d) noexcept nogil:
    """Merge all symbols. Afterwards those that are left are 0, next[0], ... while < n, with their ids."""
    cdef ctok_mintree t
    cdef size_t i, j, k, h, n = d.n
    ctok_mintree_shape(&t, d.ranks, n)
    for i in range(n - 1):
        t.level[0][i] = rank_of(d, i, i + 1)
    for i in range(n):
        d.next[i] = <uint32_t>(i + 1)
        d.prev[i] = <uint32_t>(i - 1)
    ctok_mintree_build(&t, n)
    while ctok_mintree_first(&t, &i) != CTOK_MINTREE_NONE:
        if d.n_kept == 0:
            d.n_kept = draw_kept(d)
            ctok_mintree_set(&t, i, CTOK_MINTREE_NONE)
            continue
        d.n_kept -= 1
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
    """Append the ids of a text, or of a stretch."""
    cdef ctok_status status = drop_reserve(d, n)
    if status == CTOK_OK:
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


# ---- stretch by stretch ----

cdef inline size_t find_pieces(const PieceTree *t, Stretch *x, size_t at, const uint8_t *p, size_t n) noexcept nogil:
    """The pieces that p[0..n), the text from the symbol `at` on, begins with. Returns how many bytes the longest one has."""
    cdef const uint64_t *units = t.pieces.units
    cdef uint64_t unit, is_piece, sizes
    cdef size_t i = char_size(p[0]), stop = 0, longest, size = 1
    cdef uint32_t piece
    unit = begin_of(t, p) if i <= n else 0
    piece = ctok_trie_piece(unit)
    longest = piece != 0
    x.pieces[at][1] = t.joined[piece]
    sizes = <uint64_t>longest << 1
    stop = i if piece else 0
    while i < n and ctok_trie_goes_on(unit):
        unit = units[ctok_trie_base(unit) + p[i]]
        if (unit & CTOK_TRIE_NO_BYTE) != p[i]:
            break
        size += p[i] & 0xC0 != 0x80
        i += 1
        piece = ctok_trie_piece(unit)
        is_piece = piece != 0
        x.pieces[at][size] = t.joined[piece]
        sizes |= is_piece << size
        stop = i if is_piece else stop
        longest = size if is_piece else longest
    x.sizes[at] = sizes
    x.longest = longest
    return stop


cdef inline int32_t rank_at(const Stretch *x, unsigned int i, unsigned int size) noexcept nogil:
    """The rank of the piece of so many symbols at i."""
    return ctok_lane_rank(x.pieces[i][size].rank if x.sizes[i] >> size & 1 else CTOK_NO_ID, i)


cdef inline int32_t least_of(const int32_t *ranks, size_t blocks, bint few) noexcept nogil:
    """The least rank. Of few each is read as it was written, which is sooner there than 16 bytes of which some were written last."""
    if not few:
        return ctok_lane_least(ranks, blocks)
    return min(min(min(ranks[1], ranks[2]), min(ranks[3], ranks[4])), min(min(ranks[5], ranks[6]), ranks[7]))


cdef uint64_t merge_stretch(Dropping *d, Stretch *x) noexcept nogil:
    """Return where symbols are left, as a set of places; one stands behind the last."""
    cdef uint64_t places = <uint64_t>1 << 63 | ~<uint64_t>0 >> (62 - x.n)
    cdef size_t i, blocks = (x.n + 16) // 16
    cdef unsigned int at, before, right, stop
    cdef int32_t least
    x.sizes[0] = 0                                          # nothing joins with what stands before the stretch
    for i in range(16 * blocks):
        x.ranks[i] = CTOK_LANE_NONE
    for i in range(1, x.n):
        x.ranks[i] = rank_at(x, <unsigned int>i, 2)
    while True:
        least = least_of(x.ranks, blocks, x.n <= 8)
        if least >= CTOK_LANE_NONE:
            return places
        at = ctok_lane_place(least)
        if d.n_kept == 0:
            d.n_kept = draw_kept(d)
            x.ranks[at] = CTOK_LANE_NONE
            continue
        d.n_kept -= 1
        right = ctok_lane_next(places, at)
        places ^= <uint64_t>1 << right
        stop = ctok_lane_next(places, at)
        x.ranks[right] = CTOK_LANE_NONE
        x.ranks[at] = rank_at(x, at, ctok_lane_next(places, stop) - at)     # behind the stretch is 63: no piece has so many symbols
        before = ctok_lane_before(places, at)
        x.ranks[before] = rank_at(x, before, stop - before)


cdef inline bint is_kept(Dropping *d, const Stretch *x) noexcept nogil:
    """Is the longest piece the token that its text becomes, and are all merges for it kept? Then they have taken place."""
    cdef size_t most = x.longest - 1
    if d.n_kept < most or not settles(d.m, x.pieces[1][x.longest].id):
        return False
    d.n_kept -= most
    return True


cdef ctok_status give_stretch(Dropping *d, Stretch *x, ctok_ids *ids) noexcept nogil:
    """Merge a stretch, and append its ids."""
    cdef ctok_id found = x.pieces[1][x.n].id if x.sizes[1] >> x.n & 1 else CTOK_NO_ID
    cdef bint keeps = d.n_kept >= x.n - 1
    cdef size_t before = ids.n
    cdef uint64_t places
    cdef unsigned int at = 1, stop
    if keeps and settles(d.m, found):
        d.n_kept -= x.n - 1
        return ctok_ids_push(ids, found)
    if ctok_ids_reserve(ids, x.n) != CTOK_OK:
        return CTOK_ERR_MEMORY
    places = merge_stretch(d, x)
    while at <= x.n:
        stop = ctok_lane_next(places, at)
        ids.at[ids.n] = x.pieces[at][stop - at].id
        ids.n += 1
        at = stop
    if keeps:
        learn(d.m, found, ids.at + before, ids.n - before)
    return CTOK_OK


cdef inline bint is_border(const Dropping *d, const uint8_t *p, size_t at, size_t n) noexcept nogil:
    """Is it certain that no piece reaches across this place?"""
    if at + 3 > n or not d.tree.keeps_to_words:
        return at == n
    return ctok_is_mark(p + at) and (at < 3 or not ctok_is_mark(p + at - 3))


cdef ctok_status give_strange(Dropping *d, const uint8_t *p, size_t n, size_t *start, ctok_ids *ids) noexcept nogil:
    """Append what the unknown character at *start gives, with all unknown ones behind it."""
    cdef size_t begin = start[0], at = begin + min(char_size(p[begin]), n - begin)
    cdef Sink k
    cdef ctok_status status
    memset(&k, 0, sizeof(k))
    while at < n and plain_unit(d.m, p + at, min(char_size(p[at]), n - at)) == CTOK_NO_ID:
        at += min(char_size(p[at]), n - at)
    if ctok_ids_reserve(ids, at - begin) != CTOK_OK:
        return CTOK_ERR_MEMORY
    k.ids = ids.at + ids.n
    status = read_symbols(d.m, p + begin, at - begin, &k)
    ids.n += k.n
    start[0] = at
    return status


cdef ctok_status drop_stretches(Dropping *d, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil:
    cdef Stretch x
    cdef size_t start = 0, at, reach
    cdef ctok_status status = CTOK_OK
    while start < n and status == CTOK_OK:
        reach = start + find_pieces(d.tree, &x, 1, p + start, n - start)
        at = start + char_size(p[start])
        if reach == start:
            status = give_strange(d, p, n, &start, ids)
            continue
        if reach == at or (is_border(d, p, reach, n) and is_kept(d, &x)):
            status = ctok_ids_push(ids, x.pieces[1][x.longest].id)
            start = reach
            continue
        x.n = 1
        while at < reach:
            x.n += 1
            reach = max(reach, at + find_pieces(d.tree, &x, min(x.n, <size_t>STRETCH + 1), p + at, n - at))
            at += char_size(p[at])
        status = give_stretch(d, &x, ids) if x.n <= STRETCH else drop_text(d, p + start, reach - start, ids)
        start = reach
    return status


cdef ctok_status run(Dropping *d, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil:
    return drop_all(d, p, n, ids) if d.tree == NULL else drop_stretches(d, p, n, ids)


def sample(PieceBPE model not None, Resegment around, bytes text not None, double alpha, uint64_t seed):
    """Return the ids of a text of which merges are left out; `around` is what stands around the model, or None."""
    cdef Dropping d
    cdef ctok_ids ids
    cdef ctok_status status
    cdef Tree tree = (tree_of(model) or None) if around is None and model.plain else None
    cdef const uint8_t *p = text
    cdef size_t n = len(text)
    memset(&ids, 0, sizeof(ids))
    drop_begin(&d)
    d.m = &model.m
    d.around = &around.m if around is not None else NULL
    d.types = &model.types[0]
    d.n_pieces = <uint32_t>model.types.shape[0]
    if tree is not None:
        d.tree = &tree.t
    d.log_kept = log1p(-alpha)
    d.random = seed
    d.n_kept = draw_kept(&d)
    try:
        if n < ALONE:
            status = run(&d, p, n, &ids)
        else:
            with nogil:
                status = run(&d, p, n, &ids)
        if status != CTOK_OK:
            raise failure(status)
        return ids_to_list(ids.at, ids.n)
    finally:
        drop_free(&d)
        ctok_ids_free(&ids)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
