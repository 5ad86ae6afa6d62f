from ctok._native.c_dfa cimport ctok_dfa, ctok_scan
from ctok._native.c_split cimport ctok_splitter


cdef class Splitter:
    cdef ctok_splitter s
    cdef ctok_dfa own             # the machine, when it was compiled for this splitter
    cdef void *memory             # what `own` points into, or NULL
    cdef readonly str pattern
    cdef readonly str family      # name of the known family, or None
    cdef readonly bint streams    # pretokens leave before the text ends (always, here)


cdef class Scan:
    cdef Splitter splitter
    cdef ctok_scan scan
