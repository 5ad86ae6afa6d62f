from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_vocab cimport ctok_id
from ctok._native.mergemodel cimport MergeModel
from ctok._native.model cimport Table
from ctok._native.vocab cimport Vocab

# What a piece is, as the files number it.
cdef enum PieceType:
    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


cdef class PieceBPE(MergeModel):
    cdef Table table                # all pieces, in byte order
    cdef const uint8_t[::1] types   # by id
    cdef readonly Vocab symbols
    cdef readonly object unk_id
    cdef readonly bint plain
    cdef object tree                # of a plain model; made when it is first asked for (piecedrop.pyx)
    cdef _set_symbols(self, bint joins)
    cdef uint32_t _take_symbols(self, bint joins, uint8_t *data, uint32_t *ends, uint32_t *ids, uint8_t *single) noexcept
    cdef _set_units(self)
    cdef _set_pairs(self, const float[::1] scores)
    cdef _set_first_pairs(self, const uint32_t[::1] ranks)

# The ids of a text of which merges are left out; `around`: a Resegment or None.
cdef list draw(PieceBPE model, around, pretoken, alpha, seed)
# SpecError: there is not one type a piece, or an id is none of 0, 1, ...
cdef check_pieces(Table t, const uint8_t[::1] types)
# The pieces of bytes, by byte; CTOK_NO_ID where there is none, which is refused where they are `needed`.
cdef set_byte_tokens(Table t, const uint8_t[::1] types, bint needed, ctok_id *byte_token)
