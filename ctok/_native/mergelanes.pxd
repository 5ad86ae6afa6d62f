from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from ctok._native.bpe cimport MergeTask
from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_vocab cimport ctok_id, ctok_status
from ctok._native.mergelist cimport ListScratch, Merges

cdef enum:
    LIST_LANE = 64              # symbols of the longest pretoken that is merged in a lane
    LIST_LANES = 12

# One pretoken being merged beside others.
cdef struct ListLane:
    int32_t ranks[LIST_LANE]    # of the symbol here and the next one,
    ctok_id joined[LIST_LANE]   # and what they join to
    ctok_id ids[LIST_LANE]
    uint8_t next[LIST_LANE + 1]
    uint8_t prev[LIST_LANE + 1]
    uint32_t n
    int left                    # symbols whose ranks are being fetched, or -1
    int right
    uint64_t fresh              # a bit for each other symbol of which the same is true
    ctok_id found               # the token that is the whole pretoken
    size_t task

# Encode each of n pretokens and append their ids, in any order: tasks[i].begin and .count say where. After CTOK_ERR_BYTE,
# tasks[*which] is the first one that cannot be encoded.
cdef ctok_status merges_encode_many(const Merges *m, MergeTask *tasks, size_t n, ListLane *lanes, ListScratch *s, ctok_ids *ids,
                                    size_t *which) noexcept nogil
