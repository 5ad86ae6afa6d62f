from libc.stdint cimport uint8_t, uint32_t

cdef extern from "ctok_spn.h" nogil:
    ctypedef struct ctok_spn_options:
        const uint8_t *charsmap
        size_t n_charsmap
        const uint8_t *symbols
        const uint32_t *ends
        uint32_t n_symbols
        uint8_t dummy, extra, escape, suffix
