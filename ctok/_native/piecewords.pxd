from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_bytes cimport ctok_bytes
from ctok._native.c_trie cimport ctok_trie
from ctok._native.c_vocab cimport ctok_id
from ctok._native.model cimport Model

# The parts of a model that the nogil code needs, without Python objects. Read-only.
cdef struct Words:
    ctok_trie trie              # pieces that a text can give
    ctok_id *id_of              # by 1 + place in byte order
    ctok_id unk
    bint byte_fallback
    ctok_id byte_token[256]

# A text that arrives.
cdef struct WordsOpen:
    const Words *model
    ctok_bytes word             # the word in the making, as long as it is the beginning of a piece
    uint32_t at                 # where it stands in the tree
    bint is_word                # it has bytes
    bint is_unknown             # it is no piece for certain; what that gives has left
    bint unknown                # the last id that left is the unknown token, and takes in what is unknown behind it
    uint32_t n_blank            # bytes of what may be U+2581, the beginning of the next word


cdef class PieceWords(Model):
    cdef Words m
    cdef readonly object unk_id
