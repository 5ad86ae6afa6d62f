from libc.stdint cimport uint8_t

from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_model cimport ctok_bytes
from ctok._native.c_vocab cimport ctok_status
from ctok._native.mergelist cimport ListScratch, Merges

# A pretoken that arrives.
cdef struct MergesOpen:
    const Merges *model
    ListScratch *scratch
    ctok_bytes text             # what is held

# The open form of csrc/ctok_model.h.
cdef void *merges_open_new(const void *model) noexcept nogil
cdef ctok_status merges_open_feed(void *state, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil
cdef ctok_status merges_open_end(void *state, ctok_ids *ids) noexcept nogil
cdef void *merges_open_copy(const void *state) noexcept nogil
cdef void merges_open_free(void *state) noexcept nogil
cdef ctok_status merges_open_save(const void *state, ctok_bytes *out) noexcept nogil
cdef ctok_status merges_open_load(void *state, const uint8_t *p, size_t n) noexcept nogil
