from libc.stdint cimport uint8_t, uint32_t

cdef extern from "ctok_beside.h" nogil:
    ctypedef struct ctok_beside_char:
        uint32_t row
        uint32_t node
    ctypedef struct ctok_beside:
        ctok_beside_char *chars
    bint ctok_beside_cuts(const ctok_beside *b, const ctok_beside_char *one, uint8_t last)
    size_t ctok_beside_strangers(const ctok_beside *b, const uint8_t *p, size_t pos, size_t n, size_t most, size_t *count)
    size_t ctok_beside_next(const ctok_beside *b, const uint8_t *p, size_t pos, size_t n, const ctok_beside_char **first, size_t *size)
