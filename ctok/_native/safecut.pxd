from ctok._native.c_mergelist cimport ctok_safecut


# Where a text may be cut (csrc/ctok_safecut.h); kernels call ctok_safecut_next(&cut.c, ...).
cdef class SafeCut:
    cdef ctok_safecut c
