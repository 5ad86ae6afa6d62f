from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_vocab cimport ctok_status
from ctok._native.viterbi cimport UnigramModel

# A token that may stand in the text; where it ends says its group.
cdef struct Token:
    uint32_t start
    uint32_t piece

cdef struct Lattice:
    const UnigramModel *m
    const double *score_of      # as m.score_of, or other scores
    const uint8_t *p
    size_t n
    size_t *first               # n + 2: the tokens that end at e are first[e] .. first[e + 1] - 1, in ascending order of start
    Token *tokens

# Find all tokens of p[0..n); `first` and `tokens` are NULL before, and to be freed in any case.
cdef ctok_status lattice_build(Lattice *l) noexcept nogil
cdef void lattice_free(Lattice *l) noexcept nogil

cdef inline double lattice_random(uint64_t *state) noexcept nogil:
    """A number in [0, 1). (SplitMix64.)"""
    cdef uint64_t z
    state[0] += <uint64_t>0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ z >> 30) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ z >> 27) * <uint64_t>0x94D049BB133111EB
    return <double>((z ^ z >> 31) >> 11) * (1.0 / 9007199254740992.0)
