from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_trie cimport ctok_trie
from ctok._native.c_vocab cimport ctok_id, ctok_status
from ctok._native.model cimport Model

cdef struct WordLevelModel:
    ctok_trie trie
    ctok_id *id_of
    ctok_id unk
    ctok_id empty               # id of the empty pretoken: that of an empty token, or unk

cdef struct WordLevelOpen:
    const WordLevelModel *model
    uint32_t at
    bint unknown

cdef class WordLevel(Model):
    cdef WordLevelModel m
    cdef readonly object unk_id

cdef ctok_status wordlevel_encode(const void *model, void *scratch, const uint8_t *p, size_t n, ctok_ids *ids,
                                  ctok_ids *ends) noexcept nogil
