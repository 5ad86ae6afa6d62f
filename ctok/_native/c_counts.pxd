from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_dfa cimport ctok_dfa
from ctok._native.c_vocab cimport ctok_status

cdef extern from "ctok_counts.h" nogil:
    const uint64_t CTOK_COUNTS_MOST
    ctypedef struct ctok_counts:
        uint32_t n_short
        uint32_t n_long
        uint64_t total
        size_t limit
    ctypedef struct ctok_count_list:
        uint8_t *data
        uint32_t *ends
        uint64_t *counts
        uint64_t *firsts
    void ctok_counts_init(ctok_counts *c, size_t limit)
    void ctok_counts_free(ctok_counts *c)
    size_t ctok_counts_memory(const ctok_counts *c)
    ctok_status ctok_counts_add(ctok_counts *c, const uint8_t *p, size_t n, uint64_t count, uint64_t first)
    ctok_status ctok_counts_add_block(ctok_counts *c, const uint8_t *buf, size_t begin, const uint32_t *stops, size_t n, size_t end,
                                      uint64_t weight, uint64_t base)
    ctok_status ctok_counts_merge(ctok_counts *c, const ctok_counts *other)
    ctok_status ctok_counts_list(const ctok_counts *c, const ctok_count_list *to)
    size_t ctok_counts_size(const ctok_counts *c)
    uint64_t ctok_counts_bytes(const ctok_counts *c)

cdef extern from "ctok_borders.h" nogil:
    ctypedef struct ctok_borders:
        pass
    void ctok_borders_find(const ctok_dfa *d, ctok_borders *b)
    size_t ctok_borders_last(const ctok_borders *b, const uint8_t *buf, size_t n)
