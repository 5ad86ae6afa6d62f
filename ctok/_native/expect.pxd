from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from ctok._native.c_trie cimport ctok_trie
from ctok._native.stretches cimport Stretches

# The pieces, in ascending byte order. What a piece weighs is its probability, times a constant for each byte, which cancels out and keeps
# the sums in the range of numbers.
cdef struct PieceTable:
    uint8_t *data
    uint32_t *ends
    double *scores
    double *weights
    uint32_t n
    size_t longest              # bytes
    ctok_trie trie

cdef struct Edge:               # a piece that may stand in the stretch
    double weight
    uint32_t piece
    uint32_t start
    uint32_t end

cdef struct Worker:
    const PieceTable *m
    int64_t *sums               # by piece, in units of 1 / scale
    int64_t gain                # sum of the logarithms of the stretches' probabilities, likewise
    double *ahead               # by place: the sum over all ways to it
    double *back                # and from it; for the best path: the score of the best way to it
    int *shifts                 # how often `ahead` was shifted up to there
    uint32_t *last              # the last piece of the best way
    Edge *edges
    size_t cap_edges

cdef class PieceModel:
    cdef PieceTable m
    cdef Stretches stretches
    cdef double scale
    cdef readonly double gain
    cdef list totals(self, void (*work)(void *, size_t) noexcept nogil, int num_threads)
    cdef int run(self, void (*work)(void *, size_t) noexcept nogil, int64_t *sums, int num_threads, double *losses=*,
                 double token_cost=*) except -1
    cdef int changed(self) except -1
