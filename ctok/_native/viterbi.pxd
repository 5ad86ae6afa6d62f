from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_finepath cimport ctok_finepath
from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_trie cimport ctok_trie
from ctok._native.c_vocab cimport ctok_id, ctok_status

cdef struct UnigramModel:
    ctok_trie trie
    double *score_of            # by 1 + place in byte order, as the tree gives pieces; [0]: an unknown character
    ctok_id *id_of              # likewise; [0]: the unknown id
    ctok_id unk                 # or NO_ID
    bint byte_fallback
    bint all_bytes              # has every byte a piece?
    ctok_id byte_ids[256]       # pieces of bytes, or NO_ID
    bint single                 # as SentencePiece: scores are added up in single precision, and unknown characters are never a piece
    size_t longest              # bytes of the longest piece
    ctok_finepath fine          # for short pretokens; without scores if there is none

# A place in the text, and the best path to it.
cdef struct Node:
    double score                # of the path, added up from the start of the pretoken
    uint32_t size               # bytes of its last token; 0: no path yet
    uint32_t piece              # that token, as the tree gives it; 0: an unknown character

# A place from which some piece may still be in the making.
cdef struct Reach:
    uint64_t unit               # where in the tree the text from there to the end stands
    size_t start

# Where sums began anew, and what was taken off.
cdef struct Restart:
    size_t place
    double sum

# All such places, in ascending order.
cdef struct Reaches:
    Reach *at
    size_t n
    size_t cap
    Restart *restarts           # behind the first node
    size_t n_restarts
    size_t cap_restarts

# Go on from all places from *next on whose character is complete, and advance *next to the first that is not. nodes[0..n] are those of
# p[0..n); of those after *next only `size` counts. Where a longer piece may be in the making is added to `reaches`, unless that is NULL.
# CTOK_ERR_BYTE: an unknown character would be the best way to a place, and there is no unknown token; with is_loading that place gets no
# path instead, and sums begin anew where `reaches` says.
cdef ctok_status viterbi_go_on(const UnigramModel *m, Node *nodes, const uint8_t *p, size_t n, size_t *next, Reaches *reaches,
                               bint is_loading) noexcept nogil
# What a restart takes off, from all paths to nodes after the first that come from places before it.
cdef void viterbi_take_off(Node *nodes, size_t first, size_t n, double sum) noexcept nogil
cdef ctok_status add_restart(Reaches *r, size_t place, double sum) noexcept nogil
# Append the ids of unknown characters p[0..n) that stand together and end at `end`.
cdef ctok_status viterbi_give_run(const UnigramModel *m, const uint8_t *p, size_t n, size_t end, ctok_ids *ids,
                                  ctok_ids *ends) noexcept nogil

cdef inline double viterbi_sum(const UnigramModel *m, uint32_t piece, double here) noexcept nogil:
    """The score of a path with one more token.

    Where single precision is meant the operands are made so, not a sum in double: a cast of a sum of doubles that becomes a double again is
    left out by GCC 12 where it finds two side by side.
    """
    if m.single:
        return <float>m.score_of[piece] + <float>here
    return m.score_of[piece] + here


cdef inline void viterbi_offer(Node *node, double score, size_t size, uint32_t piece) noexcept nogil:
    """A path to a place, with its last token: the better one stays, and the earlier of equal ones."""
    if node.size == 0 or score > node.score:
        node.score = score
        node.size = <uint32_t>size
        node.piece = piece


cdef inline size_t char_size(uint8_t lead) noexcept nogil:
    return 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
