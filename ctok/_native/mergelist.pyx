"""Byte pair encoding of one pretoken, by a list of merges.

The rule: a pretoken becomes symbols (its characters, or its bytes), each a token; join the neighbours whose pair stands earliest in the
list, leftmost first, until no two neighbours are in it. In contrast to `ctok._native.bpe` the list names pairs: that two tokens spell a
third says nothing.

Symbols of a pretoken that is long are merged in windows that are stitched; those of many short ones in lanes. Both work as in bpe.pyx, and
for the same reasons: which pair joins next depends on nothing but ranks and places, so up to the first merge across a border the run on
the whole is, on either side of it, the run on that side alone.

Two kinds of models take the slow way, a queue of pairs that is the reference's to the letter: those that drop merges at random, and those
in which a merge adds nothing to its left part, where an outdated entry of that queue can count (csrc/ctok_pairmap.h, `hollow`).
"""

from libc.stdint cimport UINT32_MAX, int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from ctok._native.bpe cimport symbol_before
from ctok._native.c_merge cimport (
    CTOK_MINTREE_NONE, ctok_ids, ctok_ids_free, ctok_ids_reserve, ctok_mintree, ctok_mintree_build,
    ctok_mintree_first, ctok_mintree_room, ctok_mintree_set, ctok_mintree_shape)
from ctok._native.c_mergelist cimport ctok_bytelevel_char, ctok_pair, ctok_pairmap_find
from ctok._native.c_vocab cimport (
    CTOK_ERR_BYTE, CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_id, ctok_joins_get, ctok_joins_key, ctok_mem_alloc, ctok_mem_fail_after,
    ctok_mem_free, ctok_mem_zeroed, ctok_status, ctok_vocab_find)
from ctok._native.mergequeue cimport merge_queued
from ctok._native.model cimport give_one

cdef enum:
    WINDOW = 256     # two levels of the tree
    REACH = 32       # how far before a window's end the first stitch is tried


# ---- memory ----

cdef void *list_scratch_new(const void *model) noexcept nogil:
    return ctok_mem_zeroed(1, sizeof(ListScratch))


cdef void list_scratch_free(void *scratch) noexcept nogil:
    if scratch != NULL:
        list_scratch_trim(<ListScratch *>scratch)
        ctok_mem_free(scratch)


cdef void list_scratch_trim(ListScratch *s) noexcept nogil:
    cdef uint64_t random = s.random
    ctok_mem_free(s.ranks)
    ctok_mem_free(s.joined)
    ctok_mem_free(s.ids)
    ctok_mem_free(s.next)
    ctok_mem_free(s.prev)
    ctok_mem_free(s.queue.at)
    ctok_mem_free(s.skipped.at)
    ctok_ids_free(&s.symbols)
    ctok_ids_free(&s.stops)
    memset(s, 0, sizeof(ListScratch))
    s.random = random


cdef ctok_status reserve(ListScratch *s, size_t n) noexcept nogil:
    """Room for a window of n symbols."""
    if s.cap >= n:
        return CTOK_OK
    ctok_mem_free(s.ranks)
    ctok_mem_free(s.joined)
    ctok_mem_free(s.ids)
    ctok_mem_free(s.next)
    ctok_mem_free(s.prev)
    s.cap = 0
    n = max(n, <size_t>WINDOW)
    s.ranks = <int32_t *>ctok_mem_alloc(ctok_mintree_room(n), sizeof(int32_t))
    s.joined = <ctok_id *>ctok_mem_alloc(n, sizeof(ctok_id))
    s.ids = <ctok_id *>ctok_mem_alloc(n, sizeof(ctok_id))
    s.next = <uint32_t *>ctok_mem_alloc(n + 1, sizeof(uint32_t))
    s.prev = <uint32_t *>ctok_mem_alloc(n + 1, sizeof(uint32_t))
    if s.ranks == NULL or s.joined == NULL or s.ids == NULL or s.next == NULL or s.prev == NULL:
        return CTOK_ERR_MEMORY
    s.cap = n
    return CTOK_OK


# ---- pretoken to symbols ----

cdef inline void put(Sink *k, ctok_id symbol, uint32_t size) noexcept nogil:
    k.ids[k.n] = symbol
    k.at += size
    if k.stops != NULL:
        k.stops[k.n] = k.at
    k.n += 1


cdef inline void put_waiting(const Merges *m, Sink *k) noexcept nogil:
    if k.waiting:
        put(k, m.unk, k.unknown)
        k.waiting = False


cdef bint has_bytes(const Merges *m, const uint8_t *text, size_t n) noexcept nogil:
    """Is there a token for each byte?"""
    cdef size_t i
    for i in range(n):
        if m.byte_token[text[i]] == CTOK_NO_ID:
            return False
    return True


cdef bint put_bytes(const Merges *m, Sink *k, const uint8_t *text, size_t n) noexcept nogil:
    """Unknown text as byte tokens, if there is one for each byte. What waits keeps waiting: that is the reference's order."""
    cdef size_t i
    if not has_bytes(m, text, n):
        return False
    for i in range(n):
        put(k, m.byte_token[text[i]], 1 if not m.shares_end else 0 if i else <uint32_t>n)
    return True


cdef size_t spelled(const Merges *m, const uint8_t *p, size_t size, int place, uint8_t *text) noexcept nogil:
    """A character as the vocabulary spells it at its place in the pretoken."""
    cdef size_t n = 0
    cdef uint32_t c
    if place & 2:
        memcpy(text, m.prefix, m.n_prefix)
        n = m.n_prefix
    if not m.byte_level:
        memcpy(text + n, p, size)
        n += size
    else:
        c = ctok_bytelevel_char(p[0])
        if c >= 0x80:
            text[n] = <uint8_t>(0xC0 | c >> 6)
            text[n + 1] = <uint8_t>(0x80 | (c & 0x3F))
            n += 2
        else:
            text[n] = <uint8_t>c
            n += 1
    if place & 1:
        memcpy(text + n, m.suffix, m.n_suffix)
        n += m.n_suffix
    return n


cdef ctok_status put_unknown(const Merges *m, Sink *k, const uint8_t *p, size_t size, int place) noexcept nogil:
    cdef uint8_t text[AFFIXES + 8]
    if m.byte_fallback and put_bytes(m, k, text, spelled(m, p, size, place, text)):
        return CTOK_OK
    if m.unknown == UNKNOWN_DROPPED:
        return CTOK_OK
    if m.unknown == UNKNOWN_REFUSED:
        return CTOK_ERR_BYTE
    if k.waiting and m.fuse_unk:
        k.unknown += <uint32_t>size
        return CTOK_OK
    put_waiting(m, k)
    k.waiting = True
    k.unknown = <uint32_t>size
    return CTOK_OK


cdef inline ctok_id unit_of(const Merges *m, const uint8_t *p, size_t size, int place) noexcept nogil:
    cdef uint8_t text[AFFIXES + 8]
    if size == 1:
        return m.unit[place][p[0]]
    if place == 0 or m.plain:
        return ctok_vocab_find(m.vocab, p, size)
    return ctok_vocab_find(m.vocab, text, spelled(m, p, size, place, text))


cdef ctok_status read_symbols(const Merges *m, const uint8_t *p, size_t n, Sink *k) noexcept nogil:
    """The symbols of a whole pretoken. The sink has room for n * m.room of them."""
    cdef size_t i = 0, size = 1
    cdef int place
    cdef ctok_id symbol
    cdef ctok_status status
    while i < n:
        if not m.byte_level:
            size = min(char_size(p[i]), n - i)
        place = (2 if i else 0) | (1 if i + size == n else 0)
        symbol = unit_of(m, p + i, size, place)
        if symbol != CTOK_NO_ID:
            put_waiting(m, k)
            put(k, symbol, <uint32_t>size)
        else:
            status = put_unknown(m, k, p + i, size, place)
            if status != CTOK_OK:
                return status
        i += size
    put_waiting(m, k)
    return CTOK_OK


cdef ctok_status merges_counted(const Merges *m, const uint8_t *p, size_t n, ctok_ids *places) noexcept nogil:
    cdef uint8_t text[AFFIXES + 8]
    cdef size_t i = 0, size = 1, k
    cdef int place
    places.n = 0
    if ctok_ids_reserve(places, n) != CTOK_OK:
        return CTOK_ERR_MEMORY
    while i < n:
        if not m.byte_level:
            size = min(char_size(p[i]), n - i)
        place = (2 if i else 0) | (1 if i + size == n else 0)
        if unit_of(m, p + i, size, place) != CTOK_NO_ID or (m.byte_fallback and has_bytes(m, text, spelled(m, p + i, size, place, text))):
            for k in range(size):
                places.at[places.n + k] = <uint32_t>(i + k)
            places.n += size
        i += size
    return CTOK_OK


# ---- one window ----

cdef inline int32_t pair_rank(const Merges *m, ListScratch *s, size_t left, size_t right) noexcept nogil:
    """Rank of the symbols at left and right, NONE if they do not join; what they join to is noted."""
    cdef const ctok_pair *found
    if m.ranked != NULL:
        s.joined[left] = ctok_joins_get(&m.ranked.joins, ctok_joins_key(s.ids[left], s.ids[right]))
        return CTOK_MINTREE_NONE if s.joined[left] == CTOK_NO_ID else <int32_t>s.joined[left]
    found = ctok_pairmap_find(&m.pairs, s.ids[left], s.ids[right])
    if found == NULL:
        return CTOK_MINTREE_NONE
    s.joined[left] = found.joined
    return <int32_t>found.rank


cdef void merge_window(const Merges *m, const ctok_id *symbols, size_t n, ListScratch *s) noexcept nogil:
    """Merge 1 <= n <= s.cap symbols. Afterwards those that are left are 0, next[0], ... while < n, with their ids."""
    cdef ctok_mintree t
    cdef size_t i, j, k, h
    memcpy(s.ids, symbols, n * sizeof(ctok_id))
    ctok_mintree_shape(&t, s.ranks, n)
    for i in range(n):
        s.next[i] = <uint32_t>(i + 1)
        s.prev[i] = <uint32_t>(i - 1)
    for i in range(n - 1):
        t.level[0][i] = pair_rank(m, s, i, i + 1)
    ctok_mintree_build(&t, n)
    while ctok_mintree_first(&t, &i) != CTOK_MINTREE_NONE:
        j = s.next[i]
        k = s.next[j]
        s.last = j
        s.ids[i] = s.joined[i]
        s.next[i] = <uint32_t>k
        ctok_mintree_set(&t, j, CTOK_MINTREE_NONE)
        if k < n:
            s.prev[k] = <uint32_t>i
            ctok_mintree_set(&t, i, pair_rank(m, s, i, k))
        else:
            ctok_mintree_set(&t, i, CTOK_MINTREE_NONE)
        if i > 0:
            h = s.prev[i]
            ctok_mintree_set(&t, h, pair_rank(m, s, h, i))


cdef ctok_status take(const ListScratch *s, size_t start, size_t upto, ctok_ids *ids, ctok_ids *ends) noexcept nogil:
    """Append the symbols before `upto` of a window that begins at symbol `start` of the pretoken."""
    cdef size_t i = 0
    if ctok_ids_reserve(ids, upto) != CTOK_OK or (ends != NULL and ctok_ids_reserve(ends, upto) != CTOK_OK):
        return CTOK_ERR_MEMORY
    while i < upto:
        ids.at[ids.n] = s.ids[i]
        ids.n += 1
        i = s.next[i]
        if ends != NULL:
            ends.at[ends.n] = s.stops.at[start + i - 1]
            ends.n += 1
    return CTOK_OK


# ---- many windows ----

cdef ctok_status merge_windows(const Merges *m, const ctok_id *p, size_t n, size_t size, ListScratch *s, ctok_ids *ids, ctok_ids *ends,
                               bint *met) noexcept nogil:
    """Merge in windows of `size` symbols; *met becomes False when two of them have no token in common, and what was appended is void."""
    cdef size_t start = 0, end = min(n, size), reach = REACH, meet, length, room, room_ends
    cdef ctok_status status
    met[0] = True
    merge_window(m, p, end, s)
    while end < n:
        meet = symbol_before(s.next, end - start, end - start - reach) if reach < end - start else 0
        if meet == 0:                                       # no token left to try
            met[0] = False
            return CTOK_OK
        length = s.next[meet] - meet
        room = ids.n
        room_ends = ends.n if ends != NULL else 0
        status = take(s, start, meet, ids, ends)
        if status != CTOK_OK:
            return status
        end = min(n, start + meet + size)
        merge_window(m, p + start + meet, end - start - meet, s)
        if s.next[0] == length:
            start += meet
            reach = REACH
        else:                                               # they do not meet here: the same window again, an earlier token
            ids.n = room
            if ends != NULL:
                ends.n = room_ends
            reach *= 2
            end = min(n, start + size)
            merge_window(m, p + start, end - start, s)
    return take(s, start, end - start, ids, ends)


cdef ctok_status merge_long(const Merges *m, const ctok_id *p, size_t n, ListScratch *s, ctok_ids *ids, ctok_ids *ends) noexcept nogil:
    """All windows are of one size: a window that was stitched at its first token holds only for the end it was merged with."""
    cdef size_t size = WINDOW, room = ids.n, room_ends = ends.n if ends != NULL else 0
    cdef bint met = False
    cdef ctok_status status
    while True:
        status = reserve(s, min(n, size))
        if status == CTOK_OK:
            status = merge_windows(m, p, n, size, s, ids, ends, &met)
        if status != CTOK_OK or met:
            return status
        ids.n = room
        if ends != NULL:
            ends.n = room_ends
        size *= 16


# ---- one pretoken ----

cdef ctok_status merge_symbols(const Merges *m, ListScratch *s, size_t n, ctok_ids *ids, ctok_ids *ends) noexcept nogil:
    """Merge the n symbols in s.symbols."""
    cdef ctok_status status
    if n == 0:
        return CTOK_OK
    if m.dropout > 0 or m.pairs.hollow:
        status = reserve(s, n)
        if status == CTOK_OK:
            status = merge_queued(m, s.symbols.at, n, s)
    elif n > WINDOW:
        return merge_long(m, s.symbols.at, n, s, ids, ends)
    else:
        status = reserve(s, WINDOW)
        if status == CTOK_OK:
            merge_window(m, s.symbols.at, n, s)
    return take(s, 0, n, ids, ends) if status == CTOK_OK else status


cdef ctok_status merges_merge(const Merges *m, ListScratch *s, const uint8_t *p, size_t n, ctok_ids *ids, ctok_ids *ends) noexcept nogil:
    cdef Sink k
    cdef ctok_status status
    memset(&k, 0, sizeof(k))
    s.symbols.n = s.stops.n = 0
    if n > UINT32_MAX // m.room or ctok_ids_reserve(&s.symbols, n * m.room) != CTOK_OK:
        return CTOK_ERR_MEMORY
    if ends != NULL:
        if ctok_ids_reserve(&s.stops, n * m.room) != CTOK_OK:
            return CTOK_ERR_MEMORY
        k.stops = s.stops.at
    k.ids = s.symbols.at
    status = read_symbols(m, p, n, &k)
    return merge_symbols(m, s, k.n, ids, ends) if status == CTOK_OK else status


cdef ctok_status merges_last(const Merges *m, ListScratch *s, const uint8_t *p, size_t n, size_t *place) noexcept nogil:
    cdef Sink k
    cdef ctok_status status
    memset(&k, 0, sizeof(k))
    place[0] = 0
    s.symbols.n = s.stops.n = 0
    if ctok_ids_reserve(&s.symbols, n * m.room) != CTOK_OK or ctok_ids_reserve(&s.stops, n * m.room) != CTOK_OK:
        return CTOK_ERR_MEMORY
    k.ids = s.symbols.at
    k.stops = s.stops.at
    status = read_symbols(m, p, n, &k)
    if status == CTOK_OK:
        status = reserve(s, k.n)
    if status != CTOK_OK or k.n < 2:
        return status
    merge_window(m, s.symbols.at, k.n, s)
    if s.next[0] == k.n:
        place[0] = s.stops.at[s.last - 1]
    return CTOK_OK


cdef ctok_status merges_encode(const void *model, void *scratch, const uint8_t *p, size_t n, ctok_ids *ids, ctok_ids *ends) noexcept nogil:
    cdef const Merges *m = <const Merges *>model
    cdef ctok_id found = CTOK_NO_ID
    cdef size_t before = ids.n, before_ends = ends.n if ends != NULL else 0
    cdef ctok_status status
    if n == 0:
        return CTOK_OK
    if m.dropout <= 0 and (m.plain or m.ignore_merges):
        found = whole(m, p, n)
        if settles(m, found):
            return give_one(found, n, ids, ends)
    status = merges_merge(m, <ListScratch *>scratch, p, n, ids, ends)
    if status == CTOK_OK:
        learn(m, found, ids.at + before, ids.n - before)
    else:
        ids.n = before
        if ends != NULL:
            ends.n = before_ends
    return status


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
