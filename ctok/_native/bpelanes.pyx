"""Byte pair encoding by rank (bpe.pyx) of many short pretokens, several at a time.

The look-ups of one pretoken wait for each other and for memory; those of several overlap. Each stands in a lane (csrc/ctok_lane.h), and the
lanes go in rounds, a merge of each in turn: what a round reads was being fetched since the one before. A symbol that a merge made waits for
two ranks, of the pairs on its left and right.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from ctok._native.c_lane cimport ctok_lane_find
from ctok._native.c_merge cimport (
    CTOK_LANE_NONE, ctok_ids, ctok_ids_reserve, ctok_lane_before, ctok_lane_first, ctok_lane_least, ctok_lane_next, ctok_lane_place,
    ctok_lane_rank, ctok_lane_token, ctok_lane_unless)
from ctok._native.c_vocab cimport (
    CTOK_ERR_BYTE, CTOK_ERR_MEMORY, CTOK_JOINS_NEVER, CTOK_NO_ID, CTOK_OK, ctok_byte_pair, ctok_id, ctok_joins, ctok_joins_fetch,
    ctok_joins_key, ctok_mem_fail_after, ctok_status, ctok_vocab, ctok_vocab_byte_pair)


cdef inline void lane_fetch(const ctok_joins *joins, Lane *lane, uint32_t number, unsigned int i, unsigned int k) noexcept nogil:
    """Begin to fetch the rank of the symbols at i and k, which stand side by side."""
    lane.keys[number] = ctok_joins_key(lane.ids[i], lane.ids[k])
    lane.waiting[number] = <uint8_t>i
    lane.buckets[number] = ctok_joins_fetch(joins, lane.keys[number])


cdef inline uint64_t lane_first_merges(const ctok_vocab *v, Lane *lane, const uint8_t *text) noexcept nogil:
    """Join pairs of bytes of which nothing can come in the way; return the places that now wait for their ranks.

    A pair of lower rank than any merge across the borders on its left and right is there, undisturbed, until its turn comes.
    """
    cdef uint64_t pairs = 0, joins = 0
    cdef uint32_t i
    cdef ctok_id before = CTOK_NO_ID, single
    cdef ctok_byte_pair here, behind = ctok_vocab_byte_pair(v, text)
    for i in range(1, lane.n):
        # Whether they join cannot be guessed, so no branch asks.
        here = behind
        behind.crossing = CTOK_NO_ID
        if i + 1 < lane.n:
            behind = ctok_vocab_byte_pair(v, text + i)
        lane.ranks[i] = ctok_lane_unless(joins, ctok_lane_rank(here.id, i))     # the pair before has taken the byte at i
        joins = <uint64_t>(here.id < before) & <uint64_t>(here.id < behind.crossing)
        single = v.byte_id[text[i - 1]]
        lane.ids[i] = single ^ ((single ^ here.id) & (0 - <uint32_t>joins))
        pairs = pairs >> 1 | joins << 63
        before = here.crossing
    pairs >>= 64 - lane.n
    lane.places &= ~(pairs << 1)
    return pairs | pairs >> 1


cdef inline void lane_start(const ctok_vocab *v, Lane *lane, const uint8_t *text, uint32_t n) noexcept nogil:
    """Places 1..n are the bytes; on both sides of them stands a symbol that joins with nothing, so that no place is special."""
    cdef uint32_t i
    cdef uint64_t left = ~<uint64_t>0 >> (64 - n)
    lane.n = n
    lane.blocks = (n + 16) // 16
    lane.places = ~<uint64_t>0 >> (62 - n)
    for i in range(16 * lane.blocks):
        lane.ranks[i] = CTOK_LANE_NONE
    lane.ids[0] = lane.ids[n + 1] = CTOK_NO_ID
    lane.ids[n] = v.byte_id[text[n - 1]]
    lane.keys[0] = lane.keys[1] = CTOK_JOINS_NEVER
    lane.buckets[0] = lane.buckets[1] = v.joins.slots
    lane.waiting[0] = lane.waiting[1] = 0
    lane.n_waiting = 0
    if n > 1 and v.pairs != NULL:
        left = lane_first_merges(v, lane, text)
    else:
        for i in range(1, n):
            lane.ids[i] = v.byte_id[text[i - 1]]
    left &= lane.places & ~<uint64_t>1
    while left:
        i = ctok_lane_first(left)
        left &= left - 1
        lane_fetch(&v.joins, lane, lane.n_waiting, i, ctok_lane_next(lane.places, i))
        lane.n_waiting += 1


cdef inline void lane_take(const ctok_joins *joins, Lane *lane) noexcept nogil:
    """Read the ranks that were being fetched: two, as a rule; place 0 never joins, so that it may stand for none."""
    cdef unsigned int i = lane.waiting[0], k = lane.waiting[1]
    cdef uint32_t number = 2
    cdef int32_t first = ctok_lane_find(joins, lane.buckets[0], lane.keys[0], i)
    lane.ranks[k] = ctok_lane_find(joins, lane.buckets[1], lane.keys[1], k)
    lane.ranks[i] = first
    while number < lane.n_waiting:
        i = lane.waiting[number]
        lane.ranks[i] = ctok_lane_find(joins, lane.buckets[number], lane.keys[number], i)
        number += 1


cdef inline bint lane_step(const ctok_joins *joins, Lane *lane) noexcept nogil:
    """Do one merge, and begin to fetch the ranks it changes. False when nothing is left to merge."""
    cdef int32_t least = ctok_lane_least(lane.ranks, lane.blocks)
    cdef unsigned int i, j, h
    if least >= CTOK_LANE_NONE:
        return False
    i = ctok_lane_place(least)
    j = ctok_lane_next(lane.places, i)
    h = ctok_lane_before(lane.places, i)
    lane.places ^= <uint64_t>1 << j
    lane.ids[i] = ctok_lane_token(least)
    lane.ranks[j] = CTOK_LANE_NONE
    lane.n_waiting = 2
    lane_fetch(joins, lane, 0, h, i)
    lane_fetch(joins, lane, 1, i, ctok_lane_next(lane.places, i))
    return True


cdef ctok_status bpe_lane_push(const Lane *lane, ctok_ids *out, size_t *bad) noexcept nogil:
    cdef unsigned int i = 1
    cdef ctok_id *at
    if ctok_ids_reserve(out, lane.n) != CTOK_OK:
        return CTOK_ERR_MEMORY
    at = out.at + out.n
    while i <= lane.n:
        if lane.ids[i] == CTOK_NO_ID:
            bad[0] = i - 1
            return CTOK_ERR_BYTE
        at[0] = lane.ids[i]
        at += 1
        i = ctok_lane_next(lane.places, i)
    out.n = at - out.at
    return CTOK_OK


cdef void bpe_merge_lane(const ctok_vocab *v, const uint8_t *p, uint32_t n, Lane *lane) noexcept nogil:
    lane_start(v, lane, p, n)
    lane_take(&v.joins, lane)
    while lane_step(&v.joins, lane):
        lane_take(&v.joins, lane)


cdef void merge_lanes(const ctok_vocab *v, Lane *lanes, size_t active) noexcept nogil:
    """Do all merges of the lanes, one of each in turn.

    The look-ups of one pretoken wait for each other and for memory; those of several overlap. What is read was written a round ago.
    """
    cdef uint32_t order[LANES]
    cdef ctok_joins joins = v.joins         # a copy, which no write to a lane can touch
    cdef size_t a, kept
    for a in range(active):
        order[a] = <uint32_t>a
    while active:
        for a in range(active):
            lane_take(&joins, &lanes[order[a]])
        kept = 0
        for a in range(active):
            order[kept] = order[a]
            kept += lane_step(&joins, &lanes[order[a]])
        active = kept


cdef ctok_status bpe_merge_many(const ctok_vocab *v, MergeTask *tasks, size_t n, Lane *lanes, ctok_ids *out, size_t *which,
                                size_t *bad) noexcept nogil:
    cdef size_t start = 0, many, a
    cdef ctok_status status
    while start < n:
        many = min(n - start, <size_t>LANES)
        for a in range(many):
            lane_start(v, &lanes[a], tasks[start + a].p, tasks[start + a].n)
        merge_lanes(v, lanes, many)
        for a in range(many):
            tasks[start + a].begin = out.n
            status = bpe_lane_push(&lanes[a], out, bad)
            if status != CTOK_OK:
                which[0] = start + a
                return status
            tasks[start + a].count = out.n - tasks[start + a].begin
        start += many
    return CTOK_OK


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
