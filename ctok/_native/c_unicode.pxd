from libc.stdint cimport uint8_t, uint32_t

cdef extern from "ctok_unicode.h" nogil:
    const uint8_t CTOK_UNICODE_CATEGORY_MASK
    const uint8_t CTOK_UNICODE_SPACE
    uint8_t ctok_unicode_get(uint32_t code)
    bint ctok_unicode_is_space(uint32_t code)
    bint ctok_unicode_in(uint32_t code, uint32_t set)
