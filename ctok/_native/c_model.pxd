from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_bytes cimport ctok_bytes
from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_vocab cimport ctok_status

ctypedef ctok_status (*encode_fn)(const void *model, void *scratch, const uint8_t *p, size_t n, ctok_ids *ids,
                                  ctok_ids *ends) noexcept nogil
ctypedef void *(*scratch_new_fn)(const void *model) noexcept nogil
ctypedef void (*scratch_free_fn)(void *scratch) noexcept nogil
ctypedef void *(*open_new_fn)(const void *model) noexcept nogil
ctypedef ctok_status (*open_feed_fn)(void *open, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil
ctypedef ctok_status (*open_end_fn)(void *open, ctok_ids *ids) noexcept nogil
ctypedef void *(*open_copy_fn)(const void *open) noexcept nogil
ctypedef ctok_status (*open_catch_up_fn)(void *open, const void *source) noexcept nogil
ctypedef void (*open_free_fn)(void *open) noexcept nogil
ctypedef ctok_status (*open_save_fn)(const void *open, ctok_bytes *out) noexcept nogil
ctypedef ctok_status (*open_load_fn)(void *open, const uint8_t *p, size_t n) noexcept nogil
ctypedef bint (*open_waits_fn)(const void *model, const uint8_t *p, size_t n) noexcept nogil

cdef extern from "ctok_model.h" nogil:
    ctypedef struct ctok_model_ops:
        encode_fn encode
        scratch_new_fn scratch_new
        scratch_free_fn scratch_free
        open_new_fn open_new
        open_feed_fn open_feed
        open_end_fn open_end
        open_copy_fn open_copy
        open_catch_up_fn open_catch_up
        open_free_fn open_free
        open_save_fn open_save
        open_load_fn open_load
        open_waits_fn open_waits

cdef extern from "ctok_le.h" nogil:
    uint32_t ctok_le32_get(const uint8_t *p)
    uint64_t ctok_le64_get(const uint8_t *p)
    void ctok_le32_put(uint8_t *p, uint32_t x)
    void ctok_le64_put(uint8_t *p, uint64_t x)
