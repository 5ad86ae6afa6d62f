from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_bytes cimport ctok_bytes
from ctok._native.c_text cimport ctok_text
from ctok._native.c_vocab cimport ctok_id, ctok_status, ctok_token, ctok_vocab

cdef extern from "ctok_chain.h" nogil:
    ctypedef struct ctok_op_spec:
        uint32_t kind
        uint32_t flag
        uint32_t find
        uint32_t n_find
        uint32_t put
        uint32_t n_put
        uint32_t left
        uint32_t right
    ctypedef ctok_status (*ctok_rewrite_fn)(const void *rules, uint32_t number, const uint8_t *p, size_t n, ctok_text *out) noexcept nogil
    ctypedef struct ctok_chain:
        uint32_t n_ops
        uint32_t n_head
        ctok_rewrite_fn rewrite
        const void *rules
        uint8_t plain
        uint8_t has_bytes
        uint8_t any_bytes
        uint8_t has_raw
        uint8_t first_differs
        uint8_t lead
        uint8_t n_lead_char
        const uint8_t *lead_char
    ctok_status ctok_chain_init(ctok_chain *c, const ctok_op_spec *specs, uint32_t n, const uint8_t *bytes, size_t n_bytes)
    void ctok_chain_free(ctok_chain *c)
    const uint32_t CTOK_PIECE_BYTE
    const uint32_t CTOK_TOKEN_BEFORE_FIRST
    ctypedef struct ctok_piece_texts:
        const uint8_t *types
        const uint8_t *surface
        uint32_t n_surface
        bint keeps_first
    ctypedef struct ctok_view:
        const ctok_chain *chain
        const ctok_vocab *source
        const ctok_piece_texts *pieces
        bint spelled
    ctok_status ctok_view_token(const ctok_view *view, ctok_id id, bint first, ctok_text *out, uint32_t *flags)
    ctok_status ctok_view_fill(const ctok_view *view, ctok_token *by_id, ctok_bytes *bytes)
    ctok_status ctok_unspell(ctok_text *out, const uint8_t *p, size_t n)
