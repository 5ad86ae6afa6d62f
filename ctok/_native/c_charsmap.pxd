from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_vocab cimport ctok_status

cdef extern from "ctok_charsmap_build.h" nogil:
    ctok_status ctok_charsmap_build(const uint8_t *keys, const uint32_t *ends, const uint32_t *values, size_t n, uint32_t **units,
                                    uint32_t *n_units)
