from libc.stdint cimport uint32_t

from ctok._native.c_vocab cimport ctok_status

cdef extern from "ctok_suffix.h" nogil:
    const size_t CTOK_SUFFIX_MAX
    ctok_status ctok_suffix_sort(const uint32_t *text, size_t n, uint32_t n_symbols, uint32_t *starts)
    ctok_status ctok_suffix_common(const uint32_t *text, size_t n, const uint32_t *starts, uint32_t *common)
