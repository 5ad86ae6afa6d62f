from cpython.object cimport PyObject
from libc.stdint cimport uint32_t

from ctok._native.c_decoder cimport ctok_stops
from ctok._native.c_piece cimport ctok_piece
from ctok._native.c_vocab cimport ctok_vocab
from ctok._native.vocab cimport Vocab


# What decoding keeps beside a vocabulary.
cdef class TokenTexts:
    cdef PyObject **of             # the tokens that are text by themselves, as str objects, each made when first asked for
    cdef ctok_piece *pieces        # NULL until somebody decodes much
    cdef uint32_t n


cdef class Stops:
    cdef ctok_stops s
    cdef readonly tuple texts
    cdef int _compile(self, list coded) except -1
    cdef bint _is_first(self, bytes text) noexcept


# The table of vocab.texts, made when first asked for; it lives as long as the vocabulary.
cdef PyObject **texts_of(Vocab vocab) except NULL

# The table of short tokens: the one that there is, or a new one when `make`. NULL: none, or no memory for it.
cdef const ctok_piece *pieces_of(Vocab vocab, bint make)

# Make the str of a token that is text by itself and not special; NULL for all others. Borrowed from the table.
cdef PyObject *fill_text(const ctok_vocab *v, PyObject **texts, uint32_t id) except? NULL
