"""Byte pair encoding of one pretoken, by rank of the joined bytes.

The rule: start from single bytes; join the neighbours whose joined bytes are the token of lowest rank, leftmost first, until no two
neighbours join. Rank is the id.

* Up to `WINDOW` bytes: a tree of minima over the pair ranks (csrc/ctok_mintree.h); every merge changes three of them. O(n log n).
* Longer pretokens: windows that are stitched. Let X..Z be the encoding of one window and Z..Y that of a window that starts where the token
  Z starts. If the second one begins with Z, then X..Z..Y is the encoding of both together: up to the first merge that would cross a
  border of Z the run on the whole is, on either side, the run on that window alone, and neither of those crosses. So a window is taken
  up to a token some way before its end, the next one starts at that token, and if it does not begin with that token an earlier one is
  tried, at last with a larger window. Time is linear with windows of `WINDOW` bytes in cache; a vocabulary that never lets windows meet
  costs O(n log n).

Nothing here assumes that every token can be reached by merging.
"""

from libc.stdint cimport INT32_MAX, int32_t, uint8_t, uint32_t
from libc.string cimport memcpy

from ctok._native.c_merge cimport (
    CTOK_MINTREE_NONE, ctok_ids, ctok_ids_reserve, ctok_mintree, ctok_mintree_build, ctok_mintree_first, ctok_mintree_room,
    ctok_mintree_set, ctok_mintree_shape)
from ctok._native.c_vocab cimport (
    CTOK_ERR_BYTE, CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_id, ctok_mem_alloc, ctok_mem_free, ctok_status, ctok_token, ctok_vocab,
    ctok_vocab_find)

cdef enum:
    WINDOW = 256     # two levels of the tree
    REACH = 32       # how far before a window's end the first stitch is tried


cdef void merge_scratch_free(MergeScratch *s) noexcept nogil:
    ctok_mem_free(s.ranks)
    ctok_mem_free(s.next)
    ctok_mem_free(s.prev)
    ctok_mem_free(s.ids)
    s.ranks = NULL
    s.next = s.prev = NULL
    s.ids = NULL
    s.cap = 0


cdef ctok_status scratch_reserve(MergeScratch *s, size_t n) noexcept nogil:
    if s.cap >= n:
        return CTOK_OK
    merge_scratch_free(s)
    if n < WINDOW:
        n = WINDOW
    s.ranks = <int32_t *>ctok_mem_alloc(ctok_mintree_room(n), sizeof(int32_t))
    s.next = <uint32_t *>ctok_mem_alloc(n + 1, sizeof(uint32_t))
    s.prev = <uint32_t *>ctok_mem_alloc(n + 1, sizeof(uint32_t))
    s.ids = <ctok_id *>ctok_mem_alloc(n, sizeof(ctok_id))
    if s.ranks == NULL or s.next == NULL or s.prev == NULL or s.ids == NULL:
        merge_scratch_free(s)
        return CTOK_ERR_MEMORY
    s.cap = n
    return CTOK_OK


cdef inline int32_t pair_rank(const ctok_vocab *v, const uint8_t *p, size_t n) noexcept nogil:
    cdef ctok_id joined = ctok_vocab_find(v, p, n)
    return CTOK_MINTREE_NONE if joined == CTOK_NO_ID else <int32_t>joined


cdef void merge_window(const ctok_vocab *v, const uint8_t *p, size_t n, MergeScratch *s) noexcept nogil:
    """Merge p[0..n), 1 <= n <= s.cap. Afterwards the symbols are 0, next[0], ... while < n, with their ids."""
    cdef ctok_mintree t
    cdef size_t i, j, k, h
    cdef int32_t best
    ctok_mintree_shape(&t, s.ranks, n)
    for i in range(n):
        s.ids[i] = v.byte_id[p[i]]
        s.next[i] = <uint32_t>(i + 1)
        s.prev[i] = <uint32_t>(i - 1)
    for i in range(n - 1):
        t.level[0][i] = pair_rank(v, p + i, 2)
    ctok_mintree_build(&t, n)
    while True:
        best = ctok_mintree_first(&t, &i)
        if best == CTOK_MINTREE_NONE:
            return
        j = s.next[i]
        k = s.next[j]
        s.ids[i] = <ctok_id>best
        s.next[i] = <uint32_t>k
        ctok_mintree_set(&t, j, CTOK_MINTREE_NONE)
        if k < n:
            s.prev[k] = <uint32_t>i
            ctok_mintree_set(&t, i, pair_rank(v, p + i, s.next[k] - i))
        else:
            ctok_mintree_set(&t, i, CTOK_MINTREE_NONE)
        if i > 0:
            h = s.prev[i]
            ctok_mintree_set(&t, h, pair_rank(v, p + h, k - h))


cdef ctok_status take(MergeScratch *s, size_t upto, ctok_ids *out, size_t *bad) noexcept nogil:
    """Append the symbols that start before `upto`."""
    cdef size_t i = 0
    if ctok_ids_reserve(out, upto) != CTOK_OK:
        return CTOK_ERR_MEMORY
    while i < upto:
        if s.ids[i] == CTOK_NO_ID:
            bad[0] = i
            return CTOK_ERR_BYTE
        out.at[out.n] = s.ids[i]
        out.n += 1
        i = s.next[i]
    return CTOK_OK


cdef size_t symbol_before(const MergeScratch *s, size_t n, size_t limit) noexcept nogil:
    """The last symbol of a window of n bytes that starts at or before `limit`; 0 is the first one."""
    cdef size_t i = 0
    while s.next[i] < n and s.next[i] <= limit:
        i = s.next[i]
    return i


cdef ctok_status merge_long(const ctok_vocab *v, const uint8_t *p, size_t n, MergeScratch *s, ctok_ids *out, size_t *bad) noexcept nogil:
    cdef size_t start = 0, size = WINDOW, reach = REACH, end, meet, length, room
    cdef ctok_status status
    end = size
    merge_window(v, p, end, s)
    while end < n:
        meet = symbol_before(s, end - start, end - start - reach) if reach < end - start else 0
        if meet == 0:                                       # no token left to try: a larger window
            size *= 16
            reach = REACH
            end = min(n, start + size)
            status = scratch_reserve(s, end - start)
            if status != CTOK_OK:
                return status
            merge_window(v, p + start, end - start, s)
            continue
        length = s.next[meet] - meet
        room = out.n
        status = take(s, meet, out, bad)
        if status != CTOK_OK:
            bad[0] += start
            return status
        end = min(n, start + meet + size)
        merge_window(v, p + start + meet, end - start - meet, s)
        if s.next[0] == length:
            start += meet
            reach = REACH
            size = WINDOW
        else:                                               # they do not meet here: the same window again, an earlier token
            out.n = room
            reach *= 2
            end = min(n, start + size)
            merge_window(v, p + start, end - start, s)
    status = take(s, end - start, out, bad)
    bad[0] += start
    return status


cdef ctok_status bpe_merge(const ctok_vocab *v, const uint8_t *p, size_t n, MergeScratch *s, ctok_ids *out, size_t *bad) noexcept nogil:
    cdef ctok_status status = scratch_reserve(s, min(n, <size_t>WINDOW))
    bad[0] = 0
    if status != CTOK_OK or n == 0:
        return status
    if n > WINDOW:
        return merge_long(v, p, n, s, out, bad)
    merge_window(v, p, n, s)
    return take(s, n, out, bad)


cdef bint bpe_neighbours(const ctok_vocab *v, ctok_id left, ctok_id right, MergeScratch *s, ctok_status *status) noexcept nogil:
    cdef ctok_token a, b
    cdef uint8_t small[2 * WINDOW]
    cdef uint8_t *joined = small
    cdef size_t n
    cdef bint answer
    b = v.by_id[right]
    a.len = 0
    a.begin = 0
    if left != CTOK_NO_ID:
        a = v.by_id[left]
    n = a.len + b.len
    if n > sizeof(small):
        joined = <uint8_t *>ctok_mem_alloc(n, 1)
    status[0] = scratch_reserve(s, n) if joined != NULL else CTOK_ERR_MEMORY
    if status[0] == CTOK_OK:
        memcpy(joined, v.bytes + a.begin, a.len)
        memcpy(joined + a.len, v.bytes + b.begin, b.len)
        merge_window(v, joined, n, s)
        if left == CTOK_NO_ID:
            answer = s.next[0] == n
        else:
            answer = s.next[0] == a.len and s.next[a.len] == n
    else:
        answer = False
    if joined != small:
        ctok_mem_free(joined)
    return answer
