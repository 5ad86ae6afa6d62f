from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from ctok._native.bpelanes cimport MergeTask
from ctok._native.c_merge cimport CTOK_LANE_PLACES, ctok_ids
from ctok._native.c_vocab cimport ctok_id, ctok_status
from ctok._native.mergelist cimport ListScratch, Merges

cdef enum:
    LIST_LANE = 62              # symbols of the longest pretoken that is merged in a lane
    LIST_LANES = 32

# One pretoken being merged beside others.
cdef struct ListLane:
    int32_t ranks[CTOK_LANE_PLACES]     # csrc/ctok_lane.h: of the symbol here and the next one,
    ctok_id joined[CTOK_LANE_PLACES]    # and what they join to
    ctok_id ids[CTOK_LANE_PLACES]
    uint64_t keys[CTOK_LANE_PLACES]     # csrc/ctok_pairmap.h: of the pairs whose ranks are being fetched,
    uint8_t waiting[CTOK_LANE_PLACES]   # and their places
    uint64_t places             # where symbols start
    uint32_t n                  # place of the last one
    uint32_t blocks             # of 16 ranks that are in use
    uint32_t n_waiting
    ctok_id found               # the token that is the whole pretoken
    size_t task

# Encode each of n pretokens and append their ids, in any order: tasks[i].begin and .count say where. After CTOK_ERR_BYTE,
# tasks[*which] is the first one that cannot be encoded.
cdef ctok_status merges_encode_many(const Merges *m, MergeTask *tasks, size_t n, ListLane *lanes, ListScratch *s, ctok_ids *ids,
                                    size_t *which) noexcept nogil
