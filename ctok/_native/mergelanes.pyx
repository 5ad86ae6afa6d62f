"""Many pretokens by a list of merges, several side by side.

The look-ups of one pretoken wait for each other and for memory; those of several overlap. As in bpe.pyx the lanes go in rounds: what a
round reads was written in the one before, and nothing branches on what joins.
"""

from libc.stdint cimport UINT32_MAX, int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from ctok._native.bpelanes cimport MergeTask
from ctok._native.c_engine cimport ctok_key_exact
from ctok._native.c_lane cimport CTOK_PAIR_NEVER, ctok_lane_pair
from ctok._native.c_merge cimport (
    CTOK_LANE_NONE, ctok_ids, ctok_ids_push, ctok_ids_reserve, ctok_lane_before, ctok_lane_first, ctok_lane_least, ctok_lane_next,
    ctok_lane_place, ctok_lane_rank)
from ctok._native.c_mergelist cimport ctok_pair_key, ctok_pairmap_prefetch
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, CTOK_PREFETCH, ctok_id, ctok_mem_fail_after, ctok_status, ctok_vocab_hash, ctok_vocab_place)
from ctok._native.mergelist cimport (
    ListScratch, Merges, Sink, char_size, learn, merges_encode, plain_unit, read_symbols, settles, whole)

cdef enum:
    AHEAD = 4        # pretokens between the beginning of a look-up and the look-up


# ---- one lane ----

cdef inline void lane_fetch(const Merges *m, ListLane *lane, uint32_t number, unsigned int i, unsigned int k) noexcept nogil:
    """Begin to fetch the rank of the symbols at i and k, which stand side by side."""
    lane.keys[number] = ctok_pair_key(lane.ids[i], lane.ids[k])
    lane.waiting[number] = <uint8_t>i
    ctok_pairmap_prefetch(&m.pairs, lane.ids[i], lane.ids[k])


cdef inline void fetch_all(const Merges *m, ListLane *lane, uint64_t places) noexcept nogil:
    cdef unsigned int i
    while places:
        i = ctok_lane_first(places)
        places &= places - 1
        lane_fetch(m, lane, lane.n_waiting, i, ctok_lane_next(lane.places, i))
        lane.n_waiting += 1


cdef bint read_bytes(const Merges *m, ListLane *lane, const uint8_t *p, uint32_t n) noexcept nogil:
    """The symbols of a byte-level pretoken; pairs of which nothing can come in the way are joined at once. False: a byte is no token.

    A pair of lower rank than any merge across the borders on its left and right is there, undisturbed, until its turn comes.
    """
    cdef uint64_t pairs = 0, joins = 0, entry
    cdef uint32_t i, pair, rank, behind, before = UINT32_MAX
    cdef bint known = m.unit[0][p[n - 1]] != CTOK_NO_ID
    for i in range(1, n):
        pair = <uint32_t>p[i - 1] << 8 | p[i]
        entry = m.first_pairs[pair]
        rank = <uint32_t>(entry >> 32) - 1              # none: UINT32_MAX
        behind = m.crossing[<uint32_t>p[i] << 8 | p[i + 1]] if i + 1 < n else UINT32_MAX
        lane.ranks[i] = CTOK_LANE_NONE if joins else ctok_lane_rank(rank, i)        # the pair before has taken the byte at i
        lane.joined[i] = <ctok_id>entry
        joins = <uint64_t>(rank < before) & <uint64_t>(rank < behind)
        known &= m.unit[0][p[i - 1]] != CTOK_NO_ID
        lane.ids[i] = <ctok_id>entry if joins else m.unit[0][p[i - 1]]
        pairs |= joins << i
        before = m.crossing[pair]
    lane.ids[n] = m.unit[0][p[n - 1]]
    lane.n = n
    lane.places = (~<uint64_t>0 >> (62 - n)) & ~(pairs << 1)
    lane.ids[n + 1] = CTOK_NO_ID
    fetch_all(m, lane, (pairs | pairs >> 1) & lane.places & ~<uint64_t>1)
    return known


cdef bint read_chars(const Merges *m, ListLane *lane, const uint8_t *p, size_t n) noexcept nogil:
    """The symbols of a pretoken where all characters are tokens, with the ranks of what stands in the table of first pairs; else False."""
    cdef size_t i = 0, size
    cdef uint32_t count = 0, before = 0x100
    cdef uint64_t entry, fresh = 0
    while i < n:
        size = 1 if p[i] < 0x80 or m.byte_level else min(char_size(p[i]), n - i)
        count += 1
        lane.ids[count] = plain_unit(m, p + i, size)
        if lane.ids[count] == CTOK_NO_ID:
            return False
        if count > 1 and size == 1 and before < 0x100:
            entry = m.first_pairs[before << 8 | p[i]]
            lane.ranks[count - 1] = ctok_lane_rank(<uint32_t>(entry >> 32) - 1, count - 1)
            lane.joined[count - 1] = <ctok_id>entry
        elif count > 1:
            fresh |= <uint64_t>1 << (count - 1)
        before = p[i] if size == 1 else 0x100
        i += size
    lane.n = count
    lane.places = ~<uint64_t>0 >> (62 - count)
    lane.ids[count + 1] = CTOK_NO_ID
    fetch_all(m, lane, fresh)
    return True


cdef void lane_begin(ListLane *lane, uint32_t n) noexcept nogil:
    """An empty lane for at most n symbols, which will stand at places 1 and up, with one before them that joins with nothing."""
    cdef uint32_t i
    lane.blocks = (n + 16) // 16
    for i in range(16 * lane.blocks):
        lane.ranks[i] = CTOK_LANE_NONE
    lane.ids[0] = CTOK_NO_ID
    lane.keys[0] = lane.keys[1] = CTOK_PAIR_NEVER
    lane.waiting[0] = lane.waiting[1] = 0
    lane.n_waiting = 0


cdef ctok_status lane_start(const Merges *m, ListLane *lane, const uint8_t *p, uint32_t n) noexcept nogil:
    """Begin with a pretoken. The ranks of pairs that are not at hand are read in the first round."""
    cdef Sink k
    cdef ctok_status status
    lane_begin(lane, n * m.room)
    if m.plain and (read_bytes(m, lane, p, n) if m.byte_level and m.crossing != NULL else read_chars(m, lane, p, n)):
        return CTOK_OK
    lane_begin(lane, n * m.room)
    memset(&k, 0, sizeof(k))
    k.ids = lane.ids + 1
    status = read_symbols(m, p, n, &k)
    if status != CTOK_OK:
        return status
    lane.n = <uint32_t>k.n
    lane.places = ~<uint64_t>0 >> (62 - lane.n)
    lane.ids[lane.n + 1] = CTOK_NO_ID
    fetch_all(m, lane, lane.places & ~<uint64_t>1 & ~(<uint64_t>3 << lane.n) if lane.n else 0)
    return CTOK_OK


cdef inline void lane_take(const Merges *m, ListLane *lane) noexcept nogil:
    """Read the ranks that were being fetched: two, as a rule; place 0 never joins, so that it may stand for none."""
    cdef unsigned int i = lane.waiting[0], k = lane.waiting[1]
    cdef uint32_t number = 2
    cdef int32_t first = ctok_lane_pair(&m.pairs, lane.keys[0], i, &lane.joined[i])
    lane.ranks[k] = ctok_lane_pair(&m.pairs, lane.keys[1], k, &lane.joined[k])
    lane.ranks[i] = first
    while number < lane.n_waiting:
        i = lane.waiting[number]
        lane.ranks[i] = ctok_lane_pair(&m.pairs, lane.keys[number], i, &lane.joined[i])
        number += 1


cdef inline bint lane_step(const Merges *m, ListLane *lane) noexcept nogil:
    """Do one merge, and begin to fetch the ranks it changes. False when nothing is left to merge."""
    cdef int32_t least = ctok_lane_least(lane.ranks, lane.blocks)
    cdef unsigned int i, j, h
    if least >= CTOK_LANE_NONE:
        return False
    i = ctok_lane_place(least)
    j = ctok_lane_next(lane.places, i)
    h = ctok_lane_before(lane.places, i)
    lane.places ^= <uint64_t>1 << j
    lane.ids[i] = lane.joined[i]
    lane.ranks[j] = CTOK_LANE_NONE
    lane.n_waiting = 2
    lane_fetch(m, lane, 0, h, i)
    lane_fetch(m, lane, 1, i, ctok_lane_next(lane.places, i))
    return True


cdef ctok_status lane_finish(const Merges *m, const ListLane *lane, MergeTask *task, ctok_ids *ids) noexcept nogil:
    cdef unsigned int i = 1
    if ctok_ids_reserve(ids, lane.n) != CTOK_OK:
        return CTOK_ERR_MEMORY
    task.begin = ids.n
    while i <= lane.n:
        ids.at[ids.n] = lane.ids[i]
        ids.n += 1
        i = ctok_lane_next(lane.places, i)
    task.count = ids.n - task.begin
    learn(m, lane.found, ids.at + task.begin, task.count)
    return CTOK_OK


# ---- side by side ----

cdef inline void fetch_ahead(const Merges *m, const MergeTask *tasks, size_t n, size_t i) noexcept nogil:
    """Begin to fetch what the look-up of a whole pretoken that comes soon will need."""
    cdef const MergeTask *task = tasks + i + AHEAD
    cdef uint64_t[2] key
    if i + AHEAD < n and (m.plain or m.ignore_merges) and 0 < task.n <= m.vocab.longest:
        ctok_key_exact(task.p, task.n, key)
        CTOK_PREFETCH(&m.vocab.slots[ctok_vocab_place(m.vocab, ctok_vocab_hash(task.p, task.n, key))])


cdef ctok_status start_one(const Merges *m, MergeTask *task, ListLane *lane, ListScratch *s, ctok_ids *ids, bint *running) noexcept nogil:
    """Take a task into the lane; one that needs no merging, or that no lane would hold, is done at once."""
    cdef ctok_status status
    running[0] = False
    lane.found = whole(m, task.p, task.n) if (m.plain or m.ignore_merges) and task.n else CTOK_NO_ID
    task.begin = ids.n
    if settles(m, lane.found):
        task.count = 1
        return ctok_ids_push(ids, lane.found)
    if task.n == 0 or task.n * m.room > LIST_LANE or m.wide or m.dropout > 0 or m.pairs.hollow or m.ranked != NULL:
        status = merges_encode(m, s, task.p, task.n, ids, NULL)
        task.count = ids.n - task.begin
        return status
    running[0] = True
    return lane_start(m, lane, task.p, task.n)


cdef void merge_lanes(const Merges *m, ListLane *lanes, size_t active) noexcept nogil:
    """Do all merges of the lanes, one of each in turn."""
    cdef uint32_t order[LIST_LANES]
    cdef size_t a, kept
    for a in range(active):
        order[a] = <uint32_t>a
    while active:
        for a in range(active):
            lane_take(m, &lanes[order[a]])
        kept = 0
        for a in range(active):
            order[kept] = order[a]
            kept += lane_step(m, &lanes[order[a]])
        active = kept


cdef ctok_status merges_encode_many(const Merges *m, MergeTask *tasks, size_t n, ListLane *lanes, ListScratch *s, ctok_ids *ids,
                                    size_t *which) noexcept nogil:
    cdef size_t started = 0, active, a
    cdef bint running = False
    cdef ctok_status status
    while started < n:
        active = 0
        while started < n and active < LIST_LANES:
            fetch_ahead(m, tasks, n, started)
            lanes[active].task = which[0] = started
            status = start_one(m, &tasks[started], &lanes[active], s, ids, &running)
            if status != CTOK_OK:
                return status
            started += 1
            active += running
        merge_lanes(m, lanes, active)
        for a in range(active):
            if lane_finish(m, &lanes[a], &tasks[lanes[a].task], ids) != CTOK_OK:
                return CTOK_ERR_MEMORY
    return CTOK_OK


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
