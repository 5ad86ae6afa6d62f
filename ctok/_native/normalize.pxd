from libc.stdint cimport uint8_t

from ctok._native.c_bytes cimport ctok_bytes
from ctok._native.c_normal cimport ctok_align, ctok_normal, ctok_normal_state, ctok_origins
from ctok._native.c_vocab cimport ctok_status


cdef class Normalizer:
    cdef ctok_normal n
    cdef list kept                # machines and functions that the chain points to
    cdef readonly tuple steps
    cdef readonly bint streams    # text leaves before the end


cdef class NormalizerStream:
    cdef Normalizer normalizer
    cdef ctok_normal_state s


# The functions of csrc/ctok_normal.h for other modules, so that the tables are linked once. `c` is the `n` of a Normalizer that lives.
cdef ctok_status normal_begin(const ctok_normal *c, ctok_normal_state *s) noexcept nogil
cdef void normal_end(ctok_normal_state *s) noexcept nogil
cdef void normal_reset(ctok_normal_state *s) noexcept nogil
cdef ctok_status normal_feed(const ctok_normal *c, ctok_normal_state *s, const uint8_t *data, size_t n, bint final,
                             ctok_bytes *out) noexcept nogil
cdef ctok_status normal_copy(ctok_normal_state *dst, const ctok_normal_state *src) noexcept nogil
cdef ctok_status normal_save(const ctok_normal_state *s, ctok_bytes *out) noexcept nogil
cdef ctok_status normal_load(const ctok_normal *c, ctok_normal_state *s, const uint8_t *p, size_t n, size_t *used) noexcept nogil
cdef ctok_status normal_map(const ctok_normal *c, const uint8_t *data, size_t n, ctok_origins origins, ctok_bytes *out,
                            ctok_align **map) noexcept nogil
