from libc.stdint cimport uint32_t, uint64_t

cdef enum:
    CELL_EDGE = 0x7FFFFFFF      # between words
    CELL_REST = 0x80000000      # flag: not the first cell of its token; the low bits of the first and last such cell are the token's length
    CELL_BITS = 0x7FFFFFFF


# All words as cells, one a symbol, edges between them and at both ends. A token that was merged covers as many cells as it has symbols.
cdef class Cells:
    cdef uint32_t *at
    cdef uint32_t n
    cdef uint32_t *begin        # of each block, and behind the last; a block is a word or a part of a long one
    cdef uint64_t *count        # how often the word of a block counts
    cdef uint32_t n_blocks
    cdef readonly uint64_t dropped   # symbols outside the alphabet, each time they occur


# The first cell of the token behind the one that starts at p.
cdef inline uint32_t behind(const uint32_t *cells, uint32_t p) noexcept nogil:
    cdef uint32_t next = cells[p + 1]
    return p + (next & CELL_BITS) if next & CELL_REST else p + 1
