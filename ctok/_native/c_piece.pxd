from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_vocab cimport ctok_vocab

cdef extern from "ctok_piece.h" nogil:
    const uint32_t CTOK_PIECE_SIZE
    const uint32_t CTOK_PIECE_LENGTH
    const uint32_t CTOK_PIECE_FLAGS
    ctypedef struct ctok_piece:
        uint8_t bytes[15]
        uint8_t info
    void ctok_pieces_fill(const ctok_vocab *v, ctok_piece *pieces)
