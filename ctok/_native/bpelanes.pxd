from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from ctok._native.c_merge cimport CTOK_LANE_PLACES, ctok_ids
from ctok._native.c_vocab cimport ctok_id, ctok_status, ctok_vocab

cdef enum:
    LANE = 62                   # bytes of the longest pretoken that is merged in a lane
    LANES = 32

# One pretoken being merged beside others.
cdef struct Lane:
    int32_t ranks[CTOK_LANE_PLACES]     # csrc/ctok_lane.h: of the symbol here and the next one
    ctok_id ids[CTOK_LANE_PLACES]
    uint64_t keys[CTOK_LANE_PLACES]     # csrc/ctok_joins.h: of the pairs whose ranks are being fetched,
    const uint64_t *buckets[CTOK_LANE_PLACES]
    uint8_t waiting[CTOK_LANE_PLACES]   # and their places
    uint64_t places             # where symbols start
    uint32_t n
    uint32_t blocks             # of 16 ranks that are in use
    uint32_t n_waiting

# Merge p[0..n), 1 <= n <= LANE (v->joins must be there). Afterwards symbols start at the places, byte i at place i + 1, with their ids.
cdef void bpe_merge_lane(const ctok_vocab *v, const uint8_t *p, uint32_t n, Lane *lane) noexcept nogil

# Append the ids of a lane in which nothing is left to merge; *bad is the place of a byte that has no token (CTOK_ERR_BYTE).
cdef ctok_status bpe_lane_push(const Lane *lane, ctok_ids *out, size_t *bad) noexcept nogil

# A pretoken to merge, and where its ids are in the end.
cdef struct MergeTask:
    const uint8_t *p
    uint32_t n
    uint32_t number             # the caller's
    size_t begin
    size_t count

# Merge each of n pretokens of at most LANE bytes (v->joins must be there) and append their ids. After CTOK_ERR_BYTE,
# tasks[*which] is the first one with a byte that has no token, at *bad.
cdef ctok_status bpe_merge_many(const ctok_vocab *v, MergeTask *tasks, size_t n, Lane *lanes, ctok_ids *out, size_t *which,
                                size_t *bad) noexcept nogil
