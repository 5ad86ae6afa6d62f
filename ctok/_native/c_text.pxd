from libc.stdint cimport uint8_t

from ctok._native.c_vocab cimport ctok_status

cdef extern from "ctok_text.h" nogil:
    ctypedef struct ctok_text:
        uint8_t *p
        size_t n
        size_t cap
    ctypedef enum ctok_on_error:
        CTOK_ERRORS_REPLACE
        CTOK_ERRORS_STRICT
        CTOK_ERRORS_IGNORE
    ctypedef enum ctok_per:
        CTOK_PER_SUBPART
        CTOK_PER_BYTE
        CTOK_PER_RUN
    void ctok_text_init(ctok_text *t, uint8_t *first, size_t cap)
    void ctok_text_free(ctok_text *t)
    ctok_status ctok_text_reserve(ctok_text *t, size_t more)
    ctok_status ctok_text_append(ctok_text *t, const uint8_t *p, size_t n)
    ctok_status ctok_text_mend(ctok_text *t, const uint8_t *p, size_t n, ctok_on_error errors, bint per_byte, size_t *bad)
