from libc.stdint cimport int32_t, uint32_t, uint64_t

from ctok._native.c_mergelist cimport ctok_pairmap
from ctok._native.c_vocab cimport ctok_id, ctok_joins

cdef extern from "ctok_lane_step.h" nogil:
    const uint32_t CTOK_LANE_RANKS
    const uint64_t CTOK_PAIR_NEVER
    int32_t ctok_lane_find(const ctok_joins *j, const uint64_t *at, uint64_t key, unsigned int place)
    int32_t ctok_lane_pair(const ctok_pairmap *m, uint64_t key, unsigned int place, ctok_id *joined)
