"""Which ids of a short open pretoken are certain: the same that its tree would tell (stream.pyx), found by merging it.

The path to the end is what merging gives. Let `p` be another alive prefix, and `b` a border of that path before `p`. The encoding of `p`
passes through `b` iff the text up to `p` from the start of the token that stops at `b`, merged alone, has a border at `b`: a row of tokens
is an encoding iff each two neighbours are (docs/streaming.md, section 4). So the two paths part at the last such border, and no encoding of
any other prefix is needed. A place that is itself a border lies on the path.
"""

from libc.stdint cimport uint8_t, uint32_t

from ctok._native.bpe cimport merge_window, scratch_reserve, symbol_before
from ctok._native.bpelanes cimport LANE, Lane, bpe_merge_lane
from ctok._native.c_engine cimport ctok_beginmemo_ask, ctok_beginmemo_new
from ctok._native.c_merge cimport ctok_lane_next
from ctok._native.c_vocab cimport CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_mem_fail_after, ctok_status, ctok_vocab
from ctok._native.engine cimport Context

cdef bint begins_token(Context *c, const ctok_vocab *v, const uint8_t *p, size_t n, ctok_status *status) noexcept nogil:
    status[0] = CTOK_OK
    if c.beginnings == NULL:
        c.beginnings = ctok_beginmemo_new()
        if c.beginnings == NULL:
            status[0] = CTOK_ERR_MEMORY
            return False
    return n < v.longest and ctok_beginmemo_ask(v, c.beginnings, p, n)


cdef ctok_status merge_symbols(Context *c, const ctok_vocab *v, const uint8_t *p, size_t n, Symbols *out) noexcept nogil:
    cdef Lane *lane = &c.lanes[0]
    cdef size_t i = 0
    cdef unsigned int place = 1
    cdef ctok_status status
    out.n = 0
    if n <= LANE:
        bpe_merge_lane(v, p, <uint32_t>n, lane)
        while place <= n:
            out.ids[out.n] = lane.ids[place]
            place = ctok_lane_next(lane.places, place)
            out.stops[out.n] = <uint8_t>(place - 1)
            out.n += 1
        return CTOK_OK
    status = scratch_reserve(&c.merge, n)
    if status != CTOK_OK:
        return status
    merge_window(v, p, n, &c.merge)
    while i < n:
        out.ids[out.n] = c.merge.ids[i]
        i = c.merge.next[i]
        out.stops[out.n] = <uint8_t>i
        out.n += 1
    return CTOK_OK


cdef bint has_border(Context *c, const ctok_vocab *v, const uint8_t *p, size_t n, size_t place, ctok_status *status) noexcept nogil:
    """Is `place` a border of the encoding of p[0..n)?"""
    if n <= LANE:
        bpe_merge_lane(v, p, <uint32_t>n, &c.lanes[0])
        return c.lanes[0].places >> (place + 1) & 1
    status[0] = scratch_reserve(&c.merge, n)
    if status[0] != CTOK_OK:
        return False
    merge_window(v, p, n, &c.merge)
    return symbol_before(c.merge.next, n, place) == place


cdef ctok_status part_at(Context *c, const ctok_vocab *v, const uint8_t *p, size_t place, const Symbols *path,
                         size_t *shared) noexcept nogil:
    """Make *shared no more than the number of symbols that the path to `place` shares with the path to the end."""
    cdef size_t k = path.n, before
    cdef ctok_status status = CTOK_OK
    while k and path.stops[k - 1] > place:
        k -= 1
    while k and path.stops[k - 1] != place and status == CTOK_OK:
        before = path.stops[k - 2] if k > 1 else 0
        if has_border(c, v, p + before, place - before, path.stops[k - 1] - before, &status):
            break
        k -= 1
    shared[0] = min(shared[0], k)
    return status


cdef ctok_status surviving(Context *c, const ctok_vocab *v, const uint8_t *p, size_t n, size_t accept, Symbols *out,
                           size_t *certain) noexcept nogil:
    cdef size_t i, shared
    cdef ctok_status status = merge_symbols(c, v, p, n, out)
    certain[0] = 0
    if status != CTOK_OK:
        return status
    for i in range(out.n):
        if out.ids[i] == CTOK_NO_ID:
            return CTOK_OK
    shared = out.n
    if accept:
        status = part_at(c, v, p, accept, out, &shared)
    for i in range(n - 1, 0, -1):
        if shared == 0 or status != CTOK_OK:
            return status
        if begins_token(c, v, p + i, n - i, &status):
            status = part_at(c, v, p, i, out, &shared)
    certain[0] = shared
    return status


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
