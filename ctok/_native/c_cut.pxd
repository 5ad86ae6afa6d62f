from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_bytes cimport ctok_bytes
from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_split cimport ctok_splitter
from ctok._native.c_vocab cimport ctok_status

cdef extern from "ctok_pieces.h" nogil:
    ctypedef struct ctok_pieces:
        ctok_bytes text
        uint32_t *stops
        size_t n_stops
        size_t cap_stops
    ctypedef struct ctok_origin:
        uint32_t start
        uint32_t stop
    void ctok_pieces_clear(ctok_pieces *p)
    void ctok_pieces_free(ctok_pieces *p)

cdef extern from "ctok_cut.h" nogil:
    ctypedef enum ctok_cut_behavior:
        CTOK_CUT_BEHAVIORS
    ctypedef enum ctok_cut_prepend:
        CTOK_CUT_FIRST
    ctypedef enum ctok_cut_rule:
        CTOK_CUT_RULES
    ctypedef ctok_status (*ctok_cut_call)(void *with_, const uint8_t *p, size_t n, ctok_ids *found) noexcept nogil
    ctypedef struct ctok_cut_step:
        pass
    ctypedef struct ctok_cutter:
        ctok_cut_step *steps
        size_t n
        bint needs_zero
    ctypedef struct ctok_cut_state:
        pass
    void ctok_cut_as_classes(ctok_cut_step *s, ctok_cut_rule rule, uint32_t character, ctok_cut_behavior behavior, bint invert)
    void ctok_cut_as_scripts(ctok_cut_step *s)
    void ctok_cut_as_split(ctok_cut_step *s, const ctok_splitter *split, ctok_cut_behavior behavior, bint invert)
    void ctok_cut_as_call(ctok_cut_step *s, ctok_cut_call call, void *with_, ctok_cut_behavior behavior, bint invert)
    void ctok_cut_as_metaspace(ctok_cut_step *s, uint32_t character, ctok_cut_prepend prepend, bint cuts)
    void ctok_cut_as_prefix(ctok_cut_step *s)
    void ctok_cut_as_fixed(ctok_cut_step *s, uint64_t length)
    void ctok_cut_as_spell(ctok_cut_step *s)
    void ctok_cut_finish(ctok_cutter *c)
    bint ctok_cut_asks_start(const ctok_cutter *c)
    const ctok_splitter *ctok_cut_plain_split(const ctok_cutter *c)
    unsigned int ctok_cut_properties(uint32_t code)
    unsigned int ctok_cut_script(uint32_t code)
    ctok_status ctok_cut_new(const ctok_cutter *c, ctok_cut_state *s, bint first)
    void ctok_cut_free(ctok_cut_state *s)
    void ctok_cut_begin(ctok_cut_state *s, bint first)
    void ctok_cut_zero(ctok_cut_state *s, size_t bytes)
    ctok_status ctok_cut_feed(const ctok_cutter *c, ctok_cut_state *s, const uint8_t *in_, size_t n, bint final, ctok_pieces *out)
    ctok_status ctok_cut_map(const ctok_cutter *c, ctok_cut_state *s, const uint8_t *in_, size_t n, ctok_pieces *out, ctok_bytes *map)
    ctok_status ctok_cut_copy(ctok_cut_state *dst, const ctok_cut_state *src)
    size_t ctok_cut_held(const ctok_cut_state *s)
    ctok_status ctok_cut_save(const ctok_cut_state *s, ctok_bytes *to)
    ctok_status ctok_cut_load(const ctok_cutter *c, ctok_cut_state *s, const uint8_t *from_, size_t n)
