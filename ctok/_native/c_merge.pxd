from libc.stdint cimport int32_t, uint64_t

from ctok._native.c_vocab cimport ctok_id, ctok_status

cdef extern from "ctok_ids.h" nogil:
    ctypedef struct ctok_ids:
        ctok_id *at
        size_t n
        size_t cap
    ctok_status ctok_ids_reserve(ctok_ids *ids, size_t more)
    ctok_status ctok_ids_push(ctok_ids *ids, ctok_id id)
    void ctok_ids_free(ctok_ids *ids)

cdef extern from "ctok_mintree.h" nogil:
    const int32_t CTOK_MINTREE_NONE
    ctypedef struct ctok_mintree:
        int32_t *level[8]
        int top
    int32_t ctok_min16(const int32_t *a, unsigned int *at)
    size_t ctok_mintree_room(size_t n)
    void ctok_mintree_shape(ctok_mintree *t, int32_t *room, size_t n)
    void ctok_mintree_build(ctok_mintree *t, size_t n)
    int32_t ctok_mintree_first(const ctok_mintree *t, size_t *place)
    void ctok_mintree_set(ctok_mintree *t, size_t i, int32_t value)

cdef extern from "ctok_lane.h" nogil:
    enum:
        CTOK_LANE_PLACES
    const int32_t CTOK_LANE_NONE
    int32_t ctok_lane_rank(ctok_id joined, unsigned int place)
    int32_t ctok_lane_unless(uint64_t taken, int32_t rank)
    unsigned int ctok_lane_place(int32_t rank)
    ctok_id ctok_lane_token(int32_t rank)
    int32_t ctok_lane_least(const int32_t *ranks, size_t blocks)
    unsigned int ctok_lane_first(uint64_t places)
    unsigned int ctok_lane_next(uint64_t places, unsigned int place)
    unsigned int ctok_lane_before(uint64_t places, unsigned int place)
