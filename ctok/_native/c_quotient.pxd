from libc.stdint cimport uint64_t

cdef extern from "ctok_quotient.h" nogil:
    ctypedef struct ctok_quotient:
        uint64_t n
        uint64_t a
        uint64_t b
    double ctok_quotient_value(ctok_quotient q)
    int ctok_quotient_order(ctok_quotient p, ctok_quotient q)
