from libc.stdint cimport uint8_t, uint32_t

from ctok._native.model cimport Table
from ctok._native.unigram cimport ScoredPieces
from ctok._native.words cimport WordsModel

cdef class SpmUnigram(ScoredPieces):
    cdef WordsModel words
    cdef readonly uint32_t n_pieces
    cdef Table found_in_texts(self, Table table, const uint8_t[::1] type_of, size_t n)
    cdef set_path_scores(self, Table kept, const uint8_t[::1] type_of)
