"""Merging by a queue of pairs: the reference's way to the letter, for the models that need it (mergelist.pyx)."""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy

from ctok._native.c_mergelist cimport ctok_pair, ctok_pairmap_find
from ctok._native.c_vocab cimport CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_id, ctok_mem_fail_after, ctok_mem_resize, ctok_status
from ctok._native.mergelist cimport ListScratch, Merges, Queue, Queued


cdef inline bint goes_first(const Queued *a, const Queued *b) noexcept nogil:
    return a.rank < b.rank or (a.rank == b.rank and a.place < b.place)


cdef ctok_status queue_reserve(Queue *q) noexcept nogil:
    cdef Queued *room
    if q.n < q.cap:
        return CTOK_OK
    room = <Queued *>ctok_mem_resize(q.at, 2 * q.cap + 64, sizeof(Queued))
    if room == NULL:
        return CTOK_ERR_MEMORY
    q.at = room
    q.cap = 2 * q.cap + 64
    return CTOK_OK


cdef ctok_status queue_push(Queue *q, Queued entry) noexcept nogil:
    cdef size_t i = q.n, up
    if queue_reserve(q) != CTOK_OK:
        return CTOK_ERR_MEMORY
    q.n += 1
    while i:
        up = (i - 1) // 2
        if not goes_first(&entry, &q.at[up]):
            break
        q.at[i] = q.at[up]
        i = up
    q.at[i] = entry
    return CTOK_OK


cdef Queued queue_pop(Queue *q) noexcept nogil:
    cdef Queued first = q.at[0], last
    cdef size_t i = 0, child
    q.n -= 1
    last = q.at[q.n]
    while True:
        child = 2 * i + 1
        if child >= q.n:
            break
        if child + 1 < q.n and goes_first(&q.at[child + 1], &q.at[child]):
            child += 1
        if not goes_first(&q.at[child], &last):
            break
        q.at[i] = q.at[child]
        i = child
    q.at[i] = last
    return first


cdef ctok_status enqueue(const Merges *m, ListScratch *s, size_t left, size_t right) noexcept nogil:
    cdef const ctok_pair *found = ctok_pairmap_find(&m.pairs, s.ids[left], s.ids[right])
    cdef Queued entry
    if found == NULL:
        return CTOK_OK
    entry.rank = found.rank
    entry.place = <uint32_t>left
    entry.joined = found.joined
    return queue_push(&s.queue, entry)


cdef inline bint is_dropped(const Merges *m, ListScratch *s) noexcept nogil:
    cdef uint64_t z
    if m.dropout <= 0:
        return False
    s.random += <uint64_t>0x9E3779B97F4A7C15
    z = s.random
    z = (z ^ z >> 30) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ z >> 27) * <uint64_t>0x94D049BB133111EB
    z ^= z >> 31
    return <float>(z >> 40) * <float>(1.0 / 16777216) < m.dropout


cdef ctok_status queue_all(const Merges *m, ListScratch *s, const ctok_id *symbols, size_t n) noexcept nogil:
    cdef size_t i
    cdef ctok_status status = CTOK_OK
    s.queue.n = s.skipped.n = 0
    memcpy(s.ids, symbols, n * sizeof(ctok_id))
    for i in range(n):
        s.next[i] = <uint32_t>(i + 1)
        s.prev[i] = <uint32_t>(i - 1)
    for i in range(n - 1):
        if status == CTOK_OK:
            status = enqueue(m, s, i, i + 1)
    return status


cdef ctok_status merge_queued(const Merges *m, const ctok_id *symbols, size_t n, ListScratch *s) noexcept nogil:
    """As merge_window, by a queue of pairs. What chance drops waits until another entry is taken."""
    cdef size_t i, j, k
    cdef Queued top
    cdef const ctok_pair *found
    cdef ctok_status status = queue_all(m, s, symbols, n)
    while status == CTOK_OK and s.queue.n:
        top = queue_pop(&s.queue)
        if is_dropped(m, s):
            status = queue_reserve(&s.skipped)
            if status == CTOK_OK:
                s.skipped.at[s.skipped.n] = top
                s.skipped.n += 1
            continue
        while s.skipped.n and status == CTOK_OK:
            s.skipped.n -= 1
            status = queue_push(&s.queue, s.skipped.at[s.skipped.n])
        i = top.place
        j = s.next[i]
        if status != CTOK_OK or s.ids[i] == CTOK_NO_ID or j >= n:
            continue
        found = ctok_pairmap_find(&m.pairs, s.ids[i], s.ids[j])
        if found == NULL or found.joined != top.joined:     # an entry that was outdated meanwhile
            continue
        k = s.next[j]
        s.ids[i] = top.joined
        s.ids[j] = CTOK_NO_ID
        s.next[i] = <uint32_t>k
        if k < n:
            s.prev[k] = <uint32_t>i
        if i > 0:
            status = enqueue(m, s, s.prev[i], i)
        if k < n and status == CTOK_OK:
            status = enqueue(m, s, i, k)
    return status


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
