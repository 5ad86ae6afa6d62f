from libc.stdint cimport uint8_t

from ctok._native.c_bytes cimport ctok_bytes
from ctok._native.c_cut cimport ctok_cut_state, ctok_cutter, ctok_pieces
from ctok._native.c_vocab cimport ctok_status


cdef class Cutter:
    cdef ctok_cutter c
    cdef readonly tuple steps     # what it was made from; keeps alive what the steps point to


cdef class CutStream:
    cdef Cutter cutter
    cdef ctok_cut_state state
    cdef ctok_pieces out


# The functions of csrc/ctok_cut.h for other modules, so that the tables are linked once. `c` is the `c` of a Cutter that lives.
cdef ctok_status cut_new(const ctok_cutter *c, ctok_cut_state *s, bint first) noexcept nogil
cdef void cut_free(ctok_cut_state *s) noexcept nogil
cdef void cut_begin(ctok_cut_state *s, bint first) noexcept nogil
cdef ctok_status cut_feed(const ctok_cutter *c, ctok_cut_state *s, const uint8_t *data, size_t n, bint final,
                          ctok_pieces *out) noexcept nogil
cdef ctok_status cut_map(const ctok_cutter *c, ctok_cut_state *s, const uint8_t *data, size_t n, ctok_pieces *out,
                         ctok_bytes *map) noexcept nogil
cdef ctok_status cut_copy(ctok_cut_state *dst, const ctok_cut_state *src) noexcept nogil
cdef ctok_status cut_save(const ctok_cut_state *s, ctok_bytes *to) noexcept nogil
cdef ctok_status cut_load(const ctok_cutter *c, ctok_cut_state *s, const uint8_t *p, size_t n) noexcept nogil
