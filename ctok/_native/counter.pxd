from libc.stdint cimport uint64_t

from ctok._native.engine cimport Context
from ctok._native.state cimport TextState


cdef class IncrementalCounter(TextState):
    cdef readonly object limit
    cdef uint64_t n_stable
    cdef uint64_t n_now         # count, when is_counted
    cdef bint is_counted
    cdef bint is_finished
    cdef bytearray text         # all of it in UTF-8, for rewinding; else None
    cdef list marks             # states to go back to, ascending: (bytes, characters, UTF-16 units, counter)
    cdef object advance(self, chunk, bint final)
    cdef object mark(self)
    cdef object mark_if_due(self)
    cdef IncrementalCounter anew(self)
