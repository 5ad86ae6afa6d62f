from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_bytes cimport ctok_bytes
from ctok._native.c_dfa cimport ctok_dfa, ctok_scan
from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_spn cimport ctok_spn_options
from ctok._native.c_vocab cimport ctok_id, ctok_status

cdef extern from "ctok_normal.h" nogil:
    ctypedef enum ctok_normal_op:
        CTOK_NORMAL_NFC
        CTOK_NORMAL_NFD
        CTOK_NORMAL_NFKC
        CTOK_NORMAL_NFKD
        CTOK_NORMAL_LOWER
        CTOK_NORMAL_DROP_MARKS
        CTOK_NORMAL_NMT
        CTOK_NORMAL_BERT_CLEAN
        CTOK_NORMAL_BERT_CJK
        CTOK_NORMAL_DROP_MN
    ctypedef ctok_status (*ctok_normal_hook)(void *ctx, const uint8_t *data, size_t n, ctok_ids *matches) noexcept nogil
    ctypedef struct ctok_align:
        uint32_t start
        uint32_t end
    ctypedef struct ctok_normal:
        size_t n
    ctypedef struct ctok_room_state:
        ctok_bytes held
        uint64_t seen
        uint32_t flags
        ctok_scan scan
    ctypedef struct ctok_normal_state:
        ctok_room_state *rooms
        size_t n
    void ctok_normal_init(ctok_normal *c)
    void ctok_normal_free(ctok_normal *c)
    ctok_status ctok_normal_add_op(ctok_normal *c, ctok_normal_op op)
    ctok_status ctok_normal_add_bytes(ctok_normal *c)
    ctok_status ctok_normal_add_strip(ctok_normal *c, bint left, bint right)
    ctok_status ctok_normal_add_prepend(ctok_normal *c, const uint8_t *content, size_t n)
    ctok_status ctok_normal_add_literal(ctok_normal *c, const uint8_t *pattern, size_t n_pattern, const uint8_t *content, size_t n)
    ctok_status ctok_normal_add_run(ctok_normal *c, uint8_t ascii, size_t least, const uint8_t *content, size_t n)
    ctok_status ctok_normal_add_pattern(ctok_normal *c, const ctok_dfa *dfa, const uint8_t *content, size_t n)
    ctok_status ctok_normal_add_hook(ctok_normal *c, ctok_normal_hook hook, void *ctx, const uint8_t *content, size_t n)
    ctok_status ctok_normal_add_charsmap(ctok_normal *c, const uint8_t *data, size_t n)
    ctok_status ctok_normal_add_spn(ctok_normal *c, const ctok_spn_options *options)
    ctok_status ctok_normal_seal(ctok_normal *c)
    bint ctok_normal_streams(const ctok_normal *c)
    ctok_status ctok_normal_begin(const ctok_normal *c, ctok_normal_state *s)
    void ctok_normal_end(ctok_normal_state *s)
    void ctok_normal_reset(ctok_normal_state *s)
    ctok_status ctok_normal_feed(const ctok_normal *c, ctok_normal_state *s, const uint8_t *data, size_t n, bint final, ctok_bytes *out)
    ctok_status ctok_normal_copy(ctok_normal_state *dst, const ctok_normal_state *src)
    ctok_status ctok_normal_save(const ctok_normal_state *s, ctok_bytes *out)
    ctok_status ctok_normal_load(const ctok_normal *c, ctok_normal_state *s, const uint8_t *p, size_t n, size_t *used)
    ctypedef enum ctok_origins:
        CTOK_ORIGINS_WHOLE
        CTOK_ORIGINS_REFERENCE

    ctok_status ctok_normal_map(const ctok_normal *c, const uint8_t *data, size_t n, ctok_origins origins, ctok_bytes *out,
                                ctok_align **map)
    ctok_status ctok_normal_offsets(const ctok_normal *c, const uint8_t *data, size_t n, ctok_bytes *out, uint32_t **offsets)
