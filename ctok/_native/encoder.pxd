from ctok._native.state cimport TextState

cdef class IncrementalEncoder(TextState):
    pass
