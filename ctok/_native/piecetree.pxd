cimport cython
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_trie cimport CTOK_TRIE_ROOT, ctok_trie, ctok_trie_step, ctok_trie_unit
from ctok._native.c_vocab cimport ctok_id
from ctok._native.piecebpe cimport PieceBPE

cdef enum:
    STRETCH = 60                # symbols of the longest piece

# By piece, as the tree gives it; [0] is none.
cdef struct Joined:
    uint32_t rank               # CTOK_NO_ID: no merge gives it
    ctok_id id

cdef struct PieceTree:
    ctok_trie pieces
    Joined *joined
    uint64_t *begins            # by the number of a character of at most three bytes: the unit of the tree after it
    bint keeps_to_words         # have all pieces marks at their beginning only?


@cython.final
@cython.no_gc
cdef class Tree:
    cdef PieceTree t

# The `Tree` of a model, made when it is first asked for; False: a piece is too long for it, or there are too many.
cdef object tree_of(PieceBPE model)


cdef inline uint64_t begin_of(const PieceTree *t, const uint8_t *p) noexcept nogil:
    """The unit of the tree after the character at p, all of it; 0 if no piece begins with it."""
    cdef uint64_t unit
    cdef size_t i
    if p[0] < 0x80:
        return t.begins[p[0]]
    if p[0] < 0xE0:
        return t.begins[<size_t>(p[0] & 0x1F) << 6 | (p[1] & 0x3F)]
    if p[0] < 0xF0:
        return t.begins[<size_t>(p[0] & 0xF) << 12 | <size_t>(p[1] & 0x3F) << 6 | (p[2] & 0x3F)]
    unit = ctok_trie_unit(&t.pieces, CTOK_TRIE_ROOT)
    for i in range(4):
        if not ctok_trie_step(&t.pieces, &unit, p[i]):
            return 0
    return unit
