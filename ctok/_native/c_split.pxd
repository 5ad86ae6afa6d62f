from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_dfa cimport ctok_dfa
from ctok._native.c_scan cimport ctok_block, ctok_block_fn

cdef extern from "ctok_split.h" nogil:
    ctypedef struct ctok_splitter:
        const ctok_dfa *dfa
        ctok_block_fn fast
    void ctok_split_block(const ctok_splitter *s, const uint8_t *buf, size_t pos, size_t end, int at_eof, uint32_t *stops, size_t cap,
                          ctok_block *out)
    ctypedef struct ctok_known_pattern:
        const char *text
        const char *family
        const ctok_dfa *dfa
        int scan
    const ctok_known_pattern *ctok_split_known(size_t i)
