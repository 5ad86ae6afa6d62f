from libc.stdint cimport uint8_t


# Room for what a file says: filled once, then read. A large one has large pages, where there are any.
cdef class Block:
    cdef uint8_t *at
    cdef readonly size_t size


cdef object filled(Block block, size_t begin, size_t size)
