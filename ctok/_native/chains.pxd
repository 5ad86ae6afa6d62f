from ctok._native.c_bytes cimport ctok_bytes
from ctok._native.c_chain cimport ctok_chain, ctok_piece_texts, ctok_view
from ctok._native.c_vocab cimport ctok_token
from ctok._native.vocab cimport Vocab


# Decoders as ops, compiled; see csrc/ctok_chain.h.
cdef class Chain:
    cdef ctok_chain c
    cdef readonly tuple ops
    cdef list rules                # callables of the REGEX ops


# What the decoders of a SentencePiece model know of its tokens.
cdef class PieceTexts:
    cdef ctok_piece_texts p
    cdef readonly bytes types
    cdef readonly bytes surface


# The texts that a chain makes of the tokens of a vocabulary: a table of tokens by id, without the other views.
cdef class DecodedVocab(Vocab):
    cdef Vocab source
    cdef Chain chain
    cdef PieceTexts pieces
    cdef ctok_view w
    cdef ctok_token *tokens
    cdef ctok_bytes texts_of_tokens


# What a tokenizer decodes with: a chain and its vocabulary, put together when first asked for.
cdef class Decoding:
    cdef readonly Vocab source
    cdef readonly Chain chain
    cdef readonly PieceTexts pieces
    cdef readonly bint byte_level
    cdef Vocab made
    cdef Vocab get(self)
    cdef Vocab _make(self)
