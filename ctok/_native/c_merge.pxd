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

cdef extern from "ctok_pairmemo.h" nogil:
    const unsigned int CTOK_PAIRMEMO_IDS
    uint64_t *ctok_pairmemo_new()
    uint64_t *ctok_pairmemo_slot(uint64_t *memo, ctok_id left, ctok_id right, uint64_t *key)
    bint ctok_pairmemo_get(const uint64_t *slot, uint64_t key, ctok_id *joined)
    void ctok_pairmemo_put(uint64_t *slot, uint64_t key, ctok_id joined)
