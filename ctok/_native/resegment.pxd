from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_bytes cimport ctok_bytes
from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_trie cimport ctok_trie
from ctok._native.c_vocab cimport ctok_id
from ctok._native.mergelist cimport ListScratch, Merges
from ctok._native.model cimport Model
from ctok._native.piecebpe cimport PieceBPE

cdef enum:
    UNKNOWN_PART = 1 << 31      # a part of a symbol that is a character without a piece

# What stands around merging, without Python objects. Read-only.
cdef struct Resegmenting:
    const Merges *merges
    ctok_trie frozen            # user-defined pieces
    ctok_id *frozen_id          # by place, as the tree gives them
    bint has_frozen
    uint8_t begins[256]         # does a user-defined piece begin with this byte?
    uint32_t *parts             # by symbol: where its parts begin in `part`; those of the last symbol end at parts[n_symbols]
    ctok_id *part               # symbols that are ids; with UNKNOWN_PART, symbols that are none
    uint32_t n_symbols
    ctok_id unk

# Ids on their way out.
cdef struct Outlet:
    ctok_ids *ids
    ctok_ids *ends              # or NULL
    uint32_t at                 # bytes so far
    bint unknown                # the last id is the unknown one, and takes in what is unknown behind it

cdef struct ResegmentScratch:
    ListScratch *merging
    ctok_ids ids
    ctok_ids ends

# A text that arrives.
cdef struct ResegmentOpen:
    const Resegmenting *model
    void *inner                 # of merging: what came since the last user-defined piece
    ctok_bytes text             # what may be the beginning of one
    ctok_ids work
    bint unknown                # as in Outlet


cdef class Resegment(Model):
    cdef Resegmenting m
    cdef readonly PieceBPE inner
    cdef readonly object unk_id
    cdef _set_frozen(self)
    cdef _set_parts(self)
