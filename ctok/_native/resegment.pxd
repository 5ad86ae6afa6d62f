from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_bytes cimport ctok_bytes
from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_trie cimport ctok_trie
from ctok._native.c_vocab cimport ctok_id, ctok_status
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
    ctok_ids part               # symbols that are ids; with UNKNOWN_PART, symbols that are none
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

# Append an id; what an unknown character gives, whose bytes are counted in `at`.
cdef ctok_status give_known(Outlet *o, ctok_id id) noexcept nogil
cdef ctok_status give_unknown(const Resegmenting *r, Outlet *o, const uint8_t *p, size_t n) noexcept nogil
# Where the first user-defined piece begins, and how long it is; with *length 0, from where on more text could change the answer.
cdef size_t find_frozen(const Resegmenting *r, const uint8_t *p, size_t n, bint final, size_t *length, ctok_id *id) noexcept nogil

cdef inline bint is_symbol(const Resegmenting *r, ctok_id id) noexcept nogil:
    """Not the unknown token, nor that of a byte."""
    return id < r.n_symbols and r.parts[id] != r.parts[id + 1]
