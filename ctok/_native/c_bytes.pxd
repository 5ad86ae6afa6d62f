from libc.stdint cimport uint8_t

from ctok._native.c_vocab cimport ctok_status

cdef extern from "ctok_bytes.h" nogil:
    ctypedef struct ctok_bytes:
        uint8_t *at
        size_t n
        size_t cap
    ctok_status ctok_bytes_reserve(ctok_bytes *b, size_t more)
    ctok_status ctok_bytes_append(ctok_bytes *b, const uint8_t *p, size_t n)
    ctok_status ctok_bytes_push(ctok_bytes *b, uint8_t c)
    void ctok_bytes_drop(ctok_bytes *b, size_t k)
    ctok_status ctok_bytes_set(ctok_bytes *dst, const ctok_bytes *src)
    void ctok_bytes_free(ctok_bytes *b)
