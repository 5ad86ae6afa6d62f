from libc.stdint cimport uint8_t

from ctok._native.c_vocab cimport ctok_id, ctok_status, ctok_vocab
from ctok._native.engine cimport Context

cdef enum:
    MERGED = 128                # bytes of the longest open pretoken that is merged anew with each call

# What merging gives for an open pretoken.
cdef struct Symbols:
    size_t n
    ctok_id ids[MERGED]
    uint8_t stops[MERGED]       # where each stops

# Merge p[0..n), 1 <= n <= MERGED (v->joins must be there), and find how many of the symbols, *certain, every continuation has, if the
# pretoken is open. accept: the one place before n where it may still stop, or 0. None is certain where a byte has no token.
cdef ctok_status surviving(Context *c, const ctok_vocab *v, const uint8_t *p, size_t n, size_t accept, Symbols *out,
                           size_t *certain) noexcept nogil

# Is p[0..n), n >= 1, a proper prefix of some token?
cdef bint begins_token(Context *c, const ctok_vocab *v, const uint8_t *p, size_t n, ctok_status *status) noexcept nogil
