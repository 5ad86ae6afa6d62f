from libc.stdint cimport uint8_t, uint32_t

cdef extern from "ctok_beside.h" nogil:
    ctypedef struct ctok_beside_char:
        uint32_t row
        uint32_t node
    ctypedef struct ctok_beside:
        ctok_beside_char *chars
    bint ctok_beside_cuts(const ctok_beside *b, const ctok_beside_char *one, uint8_t last)
    ctypedef struct ctok_parting:
        const uint8_t *p
        size_t at
        size_t end
        const ctok_beside_char *one
        size_t size
    void ctok_beside_look(const ctok_beside *b, ctok_parting *c)
    size_t ctok_beside_part(const ctok_beside *b, ctok_parting *c, size_t most)
