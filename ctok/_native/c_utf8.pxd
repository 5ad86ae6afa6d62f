from libc.stdint cimport uint8_t, uint16_t, uint32_t

from ctok._native.c_vocab cimport ctok_status

cdef extern from "ctok_utf8.h" nogil:
    const uint32_t CTOK_UTF8_BAD
    const uint32_t CTOK_UTF8_OPEN
    ctypedef enum ctok_utf8_class:
        CTOK_UTF8_ASCII
        CTOK_UTF8_LATIN1
        CTOK_UTF8_BMP
        CTOK_UTF8_ASTRAL
    ctypedef enum ctok_on_surrogate:
        CTOK_SURROGATE_STRICT
        CTOK_SURROGATE_REPLACE
    size_t ctok_utf8_range(uint8_t b, uint8_t *low, uint8_t *high)
    size_t ctok_utf8_step(const uint8_t *p, size_t n, uint32_t *cp)
    size_t ctok_utf8_put(uint8_t *dst, uint32_t c)
    size_t ctok_utf8_ascii(const uint8_t *p, size_t n)
    ctok_status ctok_utf8_validate(const uint8_t *p, size_t n, size_t *bad)
    size_t ctok_utf8_tail(const uint8_t *p, size_t n)
    size_t ctok_utf8_count(const uint8_t *p, size_t n)
    size_t ctok_utf8_count_utf16(const uint8_t *p, size_t n)
    ctok_utf8_class ctok_utf8_measure(const uint8_t *p, size_t n, size_t *n_chars)
    size_t ctok_utf8_to_ucs1(const uint8_t *p, size_t n, uint8_t *dst)
    size_t ctok_utf8_to_ucs2(const uint8_t *p, size_t n, uint16_t *dst)
    size_t ctok_utf8_to_ucs4(const uint8_t *p, size_t n, uint32_t *dst)
    ctok_status ctok_utf8_from(int kind, const void *src, size_t n, size_t *pos, uint8_t *dst, size_t cap, size_t *written,
                               ctok_on_surrogate on_surrogate)
    ctok_status ctok_utf8_from_ucs1(const void *src, size_t n, size_t *pos, uint8_t *dst, size_t cap, size_t *written,
                                    ctok_on_surrogate on_surrogate)
    ctok_status ctok_utf8_from_ucs2(const void *src, size_t n, size_t *pos, uint8_t *dst, size_t cap, size_t *written,
                                    ctok_on_surrogate on_surrogate)
    ctok_status ctok_utf8_from_ucs4(const void *src, size_t n, size_t *pos, uint8_t *dst, size_t cap, size_t *written,
                                    ctok_on_surrogate on_surrogate)
