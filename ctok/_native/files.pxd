from libc.stdint cimport uint8_t


# Room for what a file says: filled once, then read. A large one has large pages, where there are any.
cdef class Block:
    cdef uint8_t *at
    cdef readonly size_t size


# A block that ctok_mem_block gave; nothing is allocated for its content. NULL: an empty one.
cdef Block kept(uint8_t *at, size_t size)

cdef object filled(Block block, size_t begin, size_t size)
