from libc.stdint cimport uint8_t, uint32_t

from ctok._native.added cimport AddedTokens
from ctok._native.c_added cimport ctok_added
from ctok._native.c_cut cimport ctok_cutter
from ctok._native.c_mergelist cimport ctok_safecut
from ctok._native.c_model cimport ctok_model_ops
from ctok._native.c_normal cimport ctok_normal
from ctok._native.cut cimport Cutter
from ctok._native.mergelist cimport Merges
from ctok._native.model cimport Model
from ctok._native.normalize cimport Normalizer
from ctok._native.safecut cimport SafeCut

# What a tokenizer's stages are, for kernels. A missing stage is NULL.
cdef struct Stages:
    const ctok_normal *normal
    const ctok_cutter *cutter
    const ctok_model_ops *ops
    const void *model
    const Merges *merges        # the same, if that is what it is
    const ctok_safecut *safe    # where a pretoken may be cut before it is merged

# The added tokens that one special-token policy matches on one side of the normaliser. added is NULL where there are none.
cdef struct Side:
    const ctok_added *added
    const uint8_t *skip         # a byte for each: 1 = is plain text; NULL = none is
    const uint8_t *forbidden    # a byte for each: 1 = must not occur; NULL = none
    uint32_t base               # number of the first of them among all

cdef struct Policy:
    Side raw                    # searched in the text as it came,
    Side normal                 # and in what the normaliser made of it

# A special-token policy over a tokenizer's added tokens.
cdef class FlowPolicy:
    cdef Policy sought
    cdef list kept              # what `sought` points into
    cdef readonly tuple names   # number -> text
    cdef side(self, Side *side, list tokens, AddedTokens automaton, matched, refused)

# The stages of a tokenizer, built.
cdef class Flow:
    cdef Stages stages
    cdef Policy none            # matches nothing
    cdef readonly Normalizer normalizer
    cdef readonly Cutter cutter
    cdef readonly Model model
    cdef readonly SafeCut safe
    cdef readonly tuple added   # ((text, id, flags, what is searched in the normalised text or None), ...)
    cdef list raw               # those that are searched in the text as it comes, and the others
    cdef list normed
    cdef AddedTokens raw_automaton      # of all of them; built by the first policy that matches one
    cdef AddedTokens normed_automaton
    cdef AddedTokens automaton(self, bint normed)
    cdef readonly bint streams
    cdef readonly object shown_unk      # the id of what has no token, if encodings call that what it is; or None
    cdef object _signature      # a str, or what gives it
