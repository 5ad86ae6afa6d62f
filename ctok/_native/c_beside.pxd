from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_vocab cimport ctok_status

cdef extern from "ctok_beside.h" nogil:
    ctypedef struct ctok_beside_char:
        uint32_t piece
    ctypedef struct ctok_beside:
        ctok_beside_char *chars
    ctok_status ctok_beside_init(ctok_beside *b, const uint8_t *data, const uint32_t *ends, uint32_t n)
    void ctok_beside_free(ctok_beside *b)
    size_t ctok_beside_next(const ctok_beside *b, const uint8_t *p, size_t pos, size_t n, const ctok_beside_char **first, size_t *size)
