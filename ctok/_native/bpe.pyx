"""Byte pair encoding of one pretoken, by rank of the joined bytes.

The rule: start from single bytes; join the neighbours whose joined bytes are the token of lowest rank, leftmost first, until no two
neighbours join. Rank is the id.

* Up to `WINDOW` bytes: a tree of minima over the pair ranks (csrc/ctok_mintree.h); every merge changes three of them. O(n log n).
* Up to `LANE` bytes, and where pairs are looked up by ids: in a lane (bpelanes.pyx), where many wait for memory together.
* Longer pretokens: windows that are stitched. Let X..Z be the encoding of one window and Z..Y that of a window that starts where the token
  Z starts. If the second one begins with Z, then X..Z..Y is the encoding of both together: up to the first merge that would cross a
  border of Z the run on the whole is, on either side, the run on that window alone, and neither of those crosses. So a window is taken
  up to a token some way before its end, the next one starts at that token, and if it does not begin with that token an earlier one is
  tried. If none is left, all is merged again in larger windows. Time is linear with windows of `WINDOW` bytes in cache; a vocabulary that
  never lets windows meet costs O(n log n).

Nothing here assumes that every token can be reached by merging.
"""

from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from ctok._native.bpelanes cimport LANE, Lane, bpe_lane_push, bpe_merge_lane
from ctok._native.c_merge cimport (
    CTOK_MINTREE_NONE, ctok_ids, ctok_ids_free, ctok_ids_reserve, ctok_mintree, ctok_mintree_build, ctok_mintree_first, ctok_mintree_room,
    ctok_mintree_set, ctok_mintree_shape)
from ctok._native.c_vocab cimport (
    CTOK_ERR_BYTE, CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, CTOK_SPLIT_IRREGULAR, CTOK_SPLIT_UNKNOWN, ctok_id, ctok_joins_get,
    ctok_joins_key, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed, ctok_status, ctok_token, ctok_vocab,
    ctok_vocab_find, ctok_vocab_find_roomy, ctok_vocab_pair, ctok_vocab_set_split, ctok_vocab_split)
from ctok._native.vocab cimport Vocab

cdef enum:
    WINDOW = 256     # two levels of the tree
    ROOM = 16        # bytes that look-ups may read beyond a window
    REACH = 32       # how far before a window's end the first stitch is tried


cdef void merge_scratch_free(MergeScratch *s) noexcept nogil:
    ctok_mem_free(s.ranks)
    ctok_mem_free(s.next)
    ctok_mem_free(s.prev)
    ctok_mem_free(s.ids)
    ctok_mem_free(s.text)
    s.text = NULL
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
    s.text = <uint8_t *>ctok_mem_zeroed(n + ROOM, 1)
    if s.ranks == NULL or s.next == NULL or s.prev == NULL or s.ids == NULL or s.text == NULL:
        merge_scratch_free(s)
        return CTOK_ERR_MEMORY
    s.cap = n
    return CTOK_OK


cdef inline int32_t pair_rank(const ctok_vocab *v, const MergeScratch *s, size_t left, size_t right, const uint8_t *p,
                              size_t n) noexcept nogil:
    """Rank of the token that the symbols at left and right join to, whose bytes are p[0..n); NONE if they do not."""
    cdef ctok_id joined
    if v.joins.slots != NULL:
        joined = ctok_joins_get(&v.joins, ctok_joins_key(s.ids[left], s.ids[right]))
    else:
        joined = ctok_vocab_find_roomy(v, p, n)
    return CTOK_MINTREE_NONE if joined == CTOK_NO_ID else <int32_t>joined


cdef void merge_window(const ctok_vocab *v, const uint8_t *text, size_t n, MergeScratch *s) noexcept nogil:
    """Merge text[0..n), 1 <= n <= s.cap. Afterwards the symbols are 0, next[0], ... while < n, with their ids."""
    cdef ctok_mintree t
    cdef const uint8_t *p = s.text
    cdef ctok_id joined
    cdef size_t i, j, k, h
    cdef int32_t best, before = -1
    s.ascending = True
    memcpy(s.text, text, n)
    ctok_mintree_shape(&t, s.ranks, n)
    for i in range(n):
        s.ids[i] = v.byte_id[p[i]]
        s.next[i] = <uint32_t>(i + 1)
        s.prev[i] = <uint32_t>(i - 1)
    for i in range(n - 1):
        joined = ctok_vocab_pair(v, p + i)
        if joined != CTOK_NO_ID:
            t.level[0][i] = <int32_t>joined
    ctok_mintree_build(&t, n)
    while True:
        best = ctok_mintree_first(&t, &i)
        if best == CTOK_MINTREE_NONE:
            return
        s.ascending &= best >= before
        before = best
        j = s.next[i]
        k = s.next[j]
        s.last_left = <uint32_t>j
        s.ids[i] = <ctok_id>best
        s.next[i] = <uint32_t>k
        ctok_mintree_set(&t, j, CTOK_MINTREE_NONE)
        if k < n:
            s.prev[k] = <uint32_t>i
            ctok_mintree_set(&t, i, pair_rank(v, s, i, k, p + i, s.next[k] - i))
        else:
            ctok_mintree_set(&t, i, CTOK_MINTREE_NONE)
        if i > 0:
            h = s.prev[i]
            ctok_mintree_set(&t, h, pair_rank(v, s, h, i, p + h, k - h))


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


cdef ctok_status merge_windows(const ctok_vocab *v, const uint8_t *p, size_t n, size_t size, MergeScratch *s, ctok_ids *out, size_t *bad,
                               bint *met) noexcept nogil:
    """Merge in windows of `size` bytes; *met becomes False when two of them have no token in common, and what was appended is void."""
    cdef size_t start = 0, end = min(n, size), reach = REACH, meet, length, room
    cdef ctok_status status
    met[0] = True
    merge_window(v, p, end, s)
    while end < n:
        meet = symbol_before(s.next, end - start, end - start - reach) if reach < end - start else 0
        if meet == 0:                                       # no token left to try
            met[0] = False
            return CTOK_OK
        length = s.next[meet] - meet
        room = out.n
        status = take(s, meet, out, bad)                    # a byte without a token counts only if the windows meet
        end = min(n, start + meet + size)
        merge_window(v, p + start + meet, end - start - meet, s)
        if status == CTOK_ERR_MEMORY or (status != CTOK_OK and s.next[0] == length):
            bad[0] += start
            return status
        if s.next[0] == length:
            start += meet
            reach = REACH
        else:                                               # they do not meet here: the same window again, an earlier token
            out.n = room
            reach *= 2
            end = min(n, start + size)
            merge_window(v, p + start, end - start, s)
    status = take(s, end - start, out, bad)
    bad[0] += start
    return status


cdef ctok_status merge_long(const ctok_vocab *v, const uint8_t *p, size_t n, MergeScratch *s, ctok_ids *out, size_t *bad) noexcept nogil:
    """All windows are of one size: a window that was stitched at its first token holds only for the end it was merged with."""
    cdef size_t size = WINDOW, room = out.n
    cdef bint met = False
    cdef ctok_status status
    while True:
        status = scratch_reserve(s, min(n, size))
        if status == CTOK_OK:
            status = merge_windows(v, p, n, size, s, out, bad, &met)
        if status != CTOK_OK or met:
            return status
        out.n = room
        size *= 16


cdef ctok_status bpe_merge(const ctok_vocab *v, const uint8_t *p, size_t n, MergeScratch *s, ctok_ids *out, size_t *bad) noexcept nogil:
    cdef ctok_status status
    cdef Lane lane
    bad[0] = 0
    if n == 0:
        return CTOK_OK
    if n <= LANE and v.joins.slots != NULL:
        bpe_merge_lane(v, p, <uint32_t>n, &lane)
        return bpe_lane_push(&lane, out, bad)
    status = scratch_reserve(s, min(n, <size_t>WINDOW))
    if status != CTOK_OK:
        return status
    if n > WINDOW:
        return merge_long(v, p, n, s, out, bad)
    merge_window(v, p, n, s)
    return take(s, n, out, bad)


# ---- neighbours ----

cdef ctok_status learn_split(const ctok_vocab *v, ctok_id token, MergeScratch *s) noexcept nogil:
    """Find out how a token of at least two bytes comes about, and remember it in the vocabulary."""
    cdef ctok_token t = v.by_id[token]
    cdef bint regular = False
    cdef ctok_status status
    if t.len < CTOK_SPLIT_IRREGULAR:
        status = scratch_reserve(s, t.len)
        if status != CTOK_OK:
            return status
        merge_window(v, v.bytes + t.begin, t.len, s)
        regular = s.ascending and s.next[0] == t.len
    ctok_vocab_set_split(v, token, s.last_left if regular else CTOK_SPLIT_IRREGULAR)
    return CTOK_OK


cdef inline bint is_regular(const ctok_vocab *v, ctok_id token, MergeScratch *s, ctok_status *status) noexcept nogil:
    """Does merging its bytes give the token, by merges of ascending rank?"""
    if v.by_id[token].len == 1:
        return True
    if ctok_vocab_split(v, token) == CTOK_SPLIT_UNKNOWN:
        status[0] = learn_split(v, token, s)
    return ctok_vocab_split(v, token) != CTOK_SPLIT_IRREGULAR


cdef bint neighbours_by_merging(const ctok_vocab *v, const uint8_t *joined, size_t left, size_t right, MergeScratch *s,
                                ctok_status *status) noexcept nogil:
    """The question itself: merge all bytes and look. left == 0: is the right one a single token?"""
    status[0] = scratch_reserve(s, left + right)
    if status[0] != CTOK_OK:
        return False
    merge_window(v, joined, left + right, s)
    return s.next[0] == right if left == 0 else s.next[0] == left and s.next[left] == left + right


cdef uint32_t left_part(const ctok_vocab *v, ctok_id token, MergeScratch *s, ctok_status *status) noexcept nogil:
    """Bytes of the left part of a regular token's last merge. (Its parts are regular, too: each runs undisturbed until that merge.)"""
    is_regular(v, token, s, status)
    return ctok_vocab_split(v, token)


cdef inline ctok_id joined_at(const ctok_vocab *v, const uint8_t *border, int64_t left, int64_t right, uint32_t n_left,
                              uint32_t n_right) noexcept nogil:
    """The token that the symbols on both sides of a border join to; their ids, -1 for single bytes, and sizes."""
    if v.joins.slots == NULL:
        return ctok_vocab_find(v, border - n_left, n_left + n_right)
    return ctok_joins_get(&v.joins, ctok_joins_key(v.byte_id[(border - 1)[0]] if left < 0 else <ctok_id>left,
                                                   v.byte_id[border[0]] if right < 0 else <ctok_id>right))


cdef bint neighbours_by_history(const ctok_vocab *v, const uint8_t *border, ctok_id left, ctok_id right, MergeScratch *s,
                                ctok_status *status) noexcept nogil:
    """The same for two regular tokens, from how they come about.

    Each of them is made by merges of ascending rank, so what stands on either side of the border changes at known ranks: the last symbol of
    the left token is born by the merge of its own rank and dies by that of the next larger one, and likewise the first symbol of the right
    token. Walking back through the pairs that are there at the same time, the border holds iff none of them joins before one of the two
    dies. At equal rank the merge further left comes first.
    """
    cdef int64_t born_left = left, born_right = right, dies_left = INT64_MAX, dies_right = INT64_MAX
    cdef uint32_t n_left = v.by_id[left].len, n_right = v.by_id[right].len
    cdef ctok_id joined
    if n_left == 1:
        born_left = -1
    if n_right == 1:
        born_right = -1
    while status[0] == CTOK_OK:
        joined = joined_at(v, border, born_left, born_right, n_left, n_right)
        if joined != CTOK_NO_ID and <int64_t>joined < dies_left and <int64_t>joined <= dies_right:
            return False
        if born_left > born_right:
            dies_left = born_left
            n_left -= left_part(v, <ctok_id>born_left, s, status)
            born_left = ctok_vocab_find(v, border - n_left, n_left) if n_left > 1 else -1
        elif born_right >= 0:
            dies_right = born_right
            n_right = left_part(v, <ctok_id>born_right, s, status)
            born_right = ctok_vocab_find(v, border, n_right) if n_right > 1 else -1
        else:
            return True
    return False


cdef bint bpe_neighbours(const ctok_vocab *v, ctok_id left, ctok_id right, MergeScratch *s, ctok_status *status) noexcept nogil:
    cdef ctok_token a, b = v.by_id[right]
    cdef uint8_t small[2 * WINDOW]
    cdef uint8_t *joined = small
    cdef bint answer = False
    status[0] = CTOK_OK
    if left == CTOK_NO_ID:
        return is_regular(v, right, s, status) or neighbours_by_merging(v, v.bytes + b.begin, 0, b.len, s, status)
    a = v.by_id[left]
    if a.len + b.len > sizeof(small):
        joined = <uint8_t *>ctok_mem_alloc(a.len + b.len, 1)
        if joined == NULL:
            status[0] = CTOK_ERR_MEMORY
            return False
    memcpy(joined, v.bytes + a.begin, a.len)
    memcpy(joined + a.len, v.bytes + b.begin, b.len)
    if is_regular(v, left, s, status) and is_regular(v, right, s, status):
        answer = neighbours_by_history(v, joined + a.len, left, right, s, status)
    elif status[0] == CTOK_OK:
        answer = neighbours_by_merging(v, joined, a.len, b.len, s, status)
    if joined != small:
        ctok_mem_free(joined)
    return answer


# ---- for tests ----

def merge(Vocab vocab not None, const uint8_t[::1] pretoken):
    """Return the ids of a pretoken by merging alone, or the place of a byte that has no token, as ``(ids, None)`` or ``(None, place)``."""
    cdef MergeScratch s
    cdef ctok_ids out
    cdef size_t bad = 0, i
    cdef ctok_status status
    memset(&s, 0, sizeof(s))
    memset(&out, 0, sizeof(out))
    try:
        status = bpe_merge(&vocab.v, &pretoken[0] if pretoken.shape[0] else NULL, pretoken.shape[0], &s, &out, &bad)
        if status == CTOK_ERR_MEMORY:
            raise MemoryError("no memory to merge")
        if status == CTOK_ERR_BYTE:
            return None, bad
        return [out.at[i] for i in range(out.n)], None
    finally:
        merge_scratch_free(&s)
        ctok_ids_free(&out)


def neighbours(Vocab vocab not None, left, ctok_id right):
    """Return whether two tokens are the encoding of their joined bytes; left None: whether the right one encodes to itself."""
    cdef MergeScratch s
    cdef ctok_status status = CTOK_OK
    memset(&s, 0, sizeof(s))
    try:
        answer = bpe_neighbours(&vocab.v, CTOK_NO_ID if left is None else left, right, &s, &status)
        if status != CTOK_OK:
            raise MemoryError("no memory to merge")
        return answer
    finally:
        merge_scratch_free(&s)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
