from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from ctok._native.c_bytes cimport ctok_bytes
from ctok._native.c_vocab cimport ctok_status

cdef extern from "ctok_pairs.h" nogil:
    const uint32_t CTOK_NO_PAIR
    ctypedef struct ctok_pair:
        uint32_t left
        uint32_t right
        int64_t count
        uint32_t *at
        uint32_t n
        uint32_t spent
    ctypedef struct ctok_pairs:
        ctok_pair *pairs
        uint32_t n
        uint32_t cap
        uint32_t n_free
        uint32_t used
    uint32_t ctok_pairs_hash(uint32_t left, uint32_t right)
    void ctok_pairs_fetch(const ctok_pairs *t, uint32_t hash)
    uint32_t ctok_pairs_find(const ctok_pairs *t, uint32_t left, uint32_t right)
    ctok_status ctok_pairs_init(ctok_pairs *t)
    void ctok_pairs_free(ctok_pairs *t)
    uint32_t ctok_pairs_add(ctok_pairs *t, uint32_t left, uint32_t right)
    ctok_status ctok_pairs_drop(ctok_pairs *t, uint32_t number)
    uint32_t *ctok_pairs_list(ctok_pairs *t, size_t n)
    size_t ctok_pairs_memory(const ctok_pairs *t)

cdef extern from "ctok_tokenset.h" nogil:
    ctypedef struct ctok_tokenset:
        ctok_bytes text
        uint64_t *ends
        uint32_t n
    ctok_status ctok_tokenset_init(ctok_tokenset *t)
    void ctok_tokenset_free(ctok_tokenset *t)
    const uint8_t *ctok_tokenset_at(const ctok_tokenset *t, uint32_t number)
    size_t ctok_tokenset_len(const ctok_tokenset *t, uint32_t number)
    uint32_t ctok_tokenset_find(const ctok_tokenset *t, const uint8_t *p, size_t n)
    ctok_status ctok_tokenset_push(ctok_tokenset *t, const uint8_t *p, size_t n)
