from libc.stdint cimport uint8_t

from ctok._native.c_mergelist cimport ctok_safecut
from ctok._native.model cimport Table


# Where a text may be cut (csrc/ctok_safecut.h); kernels call ctok_safecut_next(&cut.c, ...).
cdef class SafeCut:
    cdef ctok_safecut c

# One for pieces of which any two may join that together are a third (ctok_safecut_pieces).
cdef SafeCut cut_beside_pieces(Table table, const uint8_t *firm)
