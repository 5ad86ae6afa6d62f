"""Many pretokens by a list of merges, several side by side.

The look-ups of one pretoken wait for each other and for memory; those of several overlap.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from ctok._native.bpe cimport MergeTask
from ctok._native.c_engine cimport ctok_key_exact
from ctok._native.c_merge cimport CTOK_MINTREE_NONE, ctok_ids, ctok_ids_reserve, ctok_min16
from ctok._native.c_mergelist cimport ctok_pair, ctok_pairmap_find, ctok_pairmap_prefetch
from ctok._native.c_vocab cimport (
    CTOK_ERR_BYTE, CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, CTOK_PREFETCH, ctok_id, ctok_mem_fail_after, ctok_status,
    ctok_vocab_hash, ctok_vocab_place)
from ctok._native.mergelist cimport (
    ListScratch, Merges, Sink, char_size, learn, merges_encode, plain_unit, read_symbols, settles, whole)

cdef enum:
    AHEAD = 4        # pretokens between the beginning of a look-up and the look-up


cdef bint read_plain(const Merges *m, ListLane *lane, const uint8_t *p, size_t n) noexcept nogil:
    """The symbols of a pretoken where all characters are tokens, with the ranks of what stands in the table of first pairs; else False."""
    cdef size_t i = 0, size = 1
    cdef uint32_t count = 0, before = 0x100
    cdef uint64_t entry
    while i < n:
        if p[i] >= 0x80 and not m.byte_level:
            size = min(char_size(p[i]), n - i)
        lane.ids[count] = plain_unit(m, p + i, size)
        if lane.ids[count] == CTOK_NO_ID:
            return False
        if count and size == 1 and before < 0x100:
            entry = m.first_pairs[before << 8 | p[i]]
            lane.ranks[count - 1] = <int32_t>(entry >> 32) - 1 if entry else CTOK_MINTREE_NONE
            lane.joined[count - 1] = <ctok_id>entry
        elif count:
            lane.fresh |= <uint64_t>1 << (count - 1)
            ctok_pairmap_prefetch(&m.pairs, lane.ids[count - 1], lane.ids[count])
        before = p[i] if size == 1 else 0x100
        count += 1
        i += size
        size = 1
    lane.n = count
    return True


cdef ctok_status lane_start(const Merges *m, ListLane *lane, const uint8_t *p, size_t n) noexcept nogil:
    """Begin with a pretoken. The ranks of pairs that are not at hand are read at the first step."""
    cdef uint32_t i
    cdef Sink k
    cdef ctok_status status
    lane.left = lane.right = -1
    lane.fresh = 0
    if not m.plain or not read_plain(m, lane, p, n):
        memset(&k, 0, sizeof(k))
        k.ids = lane.ids
        status = read_symbols(m, p, n, &k)
        if status != CTOK_OK:
            return status
        lane.n = <uint32_t>k.n
        lane.fresh = (<uint64_t>1 << (lane.n - 1)) - 1 if lane.n else 0
    for i in range(lane.n):
        lane.next[i] = <uint8_t>(i + 1)
        lane.prev[i] = <uint8_t>(i - 1)
    for i in range(lane.n - 1 if lane.n else 0, (lane.n + 15) & ~<uint32_t>15):
        lane.ranks[i] = CTOK_MINTREE_NONE
    return CTOK_OK


cdef inline void lane_rank(const Merges *m, ListLane *lane, int i) noexcept nogil:
    cdef const ctok_pair *found = ctok_pairmap_find(&m.pairs, lane.ids[i], lane.ids[lane.next[i]])
    if found == NULL:
        lane.ranks[i] = CTOK_MINTREE_NONE
    else:
        lane.ranks[i] = <int32_t>found.rank
        lane.joined[i] = found.joined


cdef bint lane_step(const Merges *m, ListLane *lane) noexcept nogil:
    """Do one merge, and begin to fetch the ranks it changes; they are read at the next step. True when nothing is left to merge."""
    cdef unsigned int at = 0
    cdef uint32_t i, j, k, block
    cdef int32_t best, other
    if lane.fresh:
        for i in range(lane.n - 1):
            if lane.fresh >> i & 1:
                lane_rank(m, lane, <int>i)
        lane.fresh = 0
    if lane.right >= 0:
        lane_rank(m, lane, lane.right)
    if lane.left >= 0:
        lane_rank(m, lane, lane.left)
    if lane.n < 2:
        return True
    best = ctok_min16(lane.ranks, &at)
    i = at
    for block in range(16, lane.n, 16):
        other = ctok_min16(lane.ranks + block, &at)
        if other < best:
            best = other
            i = block + at
    if best == CTOK_MINTREE_NONE:
        return True
    j = lane.next[i]
    k = lane.next[j]
    lane.ids[i] = lane.joined[i]
    lane.next[i] = <uint8_t>k
    lane.ranks[j] = CTOK_MINTREE_NONE
    lane.right = lane.left = -1
    if k < lane.n:
        lane.prev[k] = <uint8_t>i
        lane.right = <int>i
        ctok_pairmap_prefetch(&m.pairs, lane.ids[i], lane.ids[k])
    else:
        lane.ranks[i] = CTOK_MINTREE_NONE
    if i > 0:
        lane.left = lane.prev[i]
        ctok_pairmap_prefetch(&m.pairs, lane.ids[lane.left], lane.ids[i])
    return False


cdef ctok_status lane_finish(const Merges *m, const ListLane *lane, MergeTask *task, ctok_ids *ids) noexcept nogil:
    cdef size_t i = 0
    if ctok_ids_reserve(ids, lane.n) != CTOK_OK:
        return CTOK_ERR_MEMORY
    task.begin = ids.n
    while i < lane.n:
        ids.at[ids.n] = lane.ids[i]
        ids.n += 1
        i = lane.next[i]
    task.count = ids.n - task.begin
    learn(m, lane.found, ids.at + task.begin, task.count)
    return CTOK_OK


# Pretokens being merged side by side.
cdef struct Batch:
    MergeTask *tasks
    size_t n
    size_t started
    ListScratch *s
    ctok_ids *ids
    ctok_status status          # of the first task that cannot be encoded,
    size_t which                # and its number


cdef inline void fetch_ahead(const Merges *m, const Batch *b) noexcept nogil:
    """Begin to fetch what the look-up of a whole pretoken that comes soon will need."""
    cdef const MergeTask *task
    cdef uint64_t[2] key
    if b.started + AHEAD >= b.n or not (m.plain or m.ignore_merges):
        return
    task = &b.tasks[b.started + AHEAD]
    if task.n and task.n <= m.vocab.longest:
        ctok_key_exact(task.p, task.n, key)
        CTOK_PREFETCH(&m.vocab.slots[ctok_vocab_place(m.vocab, ctok_vocab_hash(task.p, task.n, key))])


cdef ctok_status start_one(const Merges *m, Batch *b, ListLane *lane, bint *running) noexcept nogil:
    """Take tasks until one is in the lane: those that need no merging, or no lane would hold, are done at once."""
    cdef MergeTask *task
    cdef ctok_status status
    running[0] = False
    while b.started < b.n and not running[0]:
        fetch_ahead(m, b)
        task = &b.tasks[b.started]
        lane.task = b.started
        b.started += 1
        lane.found = whole(m, task.p, task.n) if (m.plain or m.ignore_merges) and task.n else CTOK_NO_ID
        if task.n == 0 or task.n * m.room > LIST_LANE or m.dropout > 0 or m.pairs.hollow or settles(m, lane.found):
            task.begin = b.ids.n
            status = merges_encode(m, b.s, task.p, task.n, b.ids, NULL)
            task.count = b.ids.n - task.begin
        else:
            status = lane_start(m, lane, task.p, task.n)
            running[0] = status == CTOK_OK
        if status == CTOK_ERR_BYTE and (b.status == CTOK_OK or lane.task < b.which):
            b.status = status
            b.which = lane.task
        elif status == CTOK_ERR_MEMORY:
            return status
    return CTOK_OK


cdef ctok_status merges_encode_many(const Merges *m, MergeTask *tasks, size_t n, ListLane *lanes, ListScratch *s, ctok_ids *ids,
                                    size_t *which) noexcept nogil:
    cdef Batch b
    cdef size_t active = 0, a
    cdef size_t order[LIST_LANES]
    cdef ListLane *lane
    cdef bint running = True
    memset(&b, 0, sizeof(b))
    b.tasks = tasks
    b.n = n
    b.s = s
    b.ids = ids
    while active < LIST_LANES and running:
        if start_one(m, &b, &lanes[active], &running) != CTOK_OK:
            return CTOK_ERR_MEMORY
        order[active] = active
        active += running
    while active:
        a = 0
        while a < active:
            lane = &lanes[order[a]]
            if not lane_step(m, lane):
                a += 1
                continue
            if lane_finish(m, lane, &tasks[lane.task], ids) != CTOK_OK or start_one(m, &b, lane, &running) != CTOK_OK:
                return CTOK_ERR_MEMORY
            if not running:
                active -= 1
                order[a] = order[active]
    which[0] = b.which
    return b.status


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
