from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_trie cimport ctok_trie
from ctok._native.c_vocab cimport ctok_id, ctok_status
from ctok._native.model cimport Model

# What to do at a node of the tree that has no child for the next byte.
cdef struct Failure:
    uint32_t link               # the node where to go on; NO_LINK: no pieces cover what was read
    uint32_t pops               # where in the pool the pieces stand that are certain then: their number, and they

cdef struct WordPieceModel:
    ctok_trie trie
    Failure *failures           # by unit of the tree
    ctok_ids pool
    ctok_id *id_of              # by 1 + place in byte order, as the tree gives pieces
    uint32_t *len_of            # bytes, likewise
    uint32_t n_pieces
    uint32_t n_prefix           # bytes of the prefix of continuing pieces
    uint64_t most_chars         # longer words are unknown
    ctok_id unk                 # or NO_ID

# A word that arrives: where in the tree it stands, and the ids so far, which an unknown rest would make void.
cdef struct WordPieceOpen:
    const WordPieceModel *model
    uint32_t at
    bint unknown                # is all of it unknown for certain? Then its one id has left
    uint64_t n_chars
    ctok_ids ids

cdef class WordPiece(Model):
    cdef WordPieceModel m
    cdef readonly object unk_id

cdef ctok_status wordpiece_encode(const void *model, void *scratch, const uint8_t *p, size_t n, ctok_ids *ids,
                                  ctok_ids *ends) noexcept nogil
