from libc.stdint cimport int64_t, uint32_t, uint64_t

from ctok._native.c_bytes cimport ctok_bytes
from ctok._native.c_pairs cimport ctok_pairs
from ctok._native.c_vocab cimport ctok_status
from ctok._native.cells cimport Cells
from ctok._native.growing cimport Growing

cdef struct Event:
    uint32_t token              # the neighbour
    uint32_t block

cdef struct Merge:
    uint32_t left, right, id, pad
    uint64_t count


cdef class Joining(Growing):
    cdef Cells words
    cdef ctok_pairs pairs
    cdef ctok_bytes merged          # Merge structs
    cdef Event *events[2]
    cdef size_t n_events[2]
    cdef size_t cap_events[2]
    cdef uint32_t n_touched[2]
    cdef int64_t joined             # how often the pair of the last merge was joined
    cdef bint keeps_spent, skips_known
    cdef readonly bint is_done      # no pair is left that may be merged
    cdef readonly bint is_counted   # the pairs of the words are counted
    cdef ctok_status step(self, int64_t min_count) noexcept nogil
    cdef ctok_status came(self, uint32_t number) noexcept nogil
    cdef void goes(self, uint32_t number) noexcept nogil
    cdef ctok_status count_all(self) noexcept nogil
    cdef ctok_status merge(self, uint32_t a, uint32_t b) noexcept nogil
    cdef ctok_status drop(self, uint32_t number) noexcept nogil
    cdef ctok_status visit(self, uint32_t block, uint32_t a, uint32_t b, uint32_t c) noexcept nogil
    cdef ctok_status note(self, int side, uint32_t token, uint32_t block, int64_t count) noexcept nogil
    cdef ctok_status gain(self, int side, uint32_t c) noexcept nogil
    cdef ctok_status lose(self, int side, uint32_t a, uint32_t b) noexcept nogil
    cdef ctok_status settle(self, int side, uint32_t c) noexcept nogil
