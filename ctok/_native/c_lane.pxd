from libc.stdint cimport int32_t, uint64_t

from ctok._native.c_vocab cimport ctok_joins

cdef extern from "ctok_lane_step.h" nogil:
    int32_t ctok_lane_find(const ctok_joins *j, uint64_t key, unsigned int place)
