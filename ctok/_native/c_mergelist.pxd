from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_vocab cimport ctok_id, ctok_status, ctok_vocab

cdef extern from "ctok_pairmap.h" nogil:
    ctypedef struct ctok_pair:
        uint64_t key
        uint32_t rank
        ctok_id joined
    ctypedef struct ctok_pairmap:
        ctok_pair *slots
        size_t bytes
        uint32_t bits
        bint hollow
    ctok_status ctok_pairmap_init(ctok_pairmap *m, const ctok_vocab *v, const uint32_t *pairs, const ctok_id *joined, size_t n,
                                  size_t prefix, size_t *bad)
    void ctok_pairmap_free(ctok_pairmap *m)
    uint64_t ctok_pair_key(ctok_id left, ctok_id right)
    const ctok_pair *ctok_pairmap_find(const ctok_pairmap *m, ctok_id left, ctok_id right)
    void ctok_pairmap_prefetch(const ctok_pairmap *m, ctok_id left, ctok_id right)
    const unsigned int CTOK_PAIR_ANSWERS
    int ctok_pair_answer(const uint64_t *answers, ctok_id left, ctok_id right)
    void ctok_pair_remember(uint64_t *answers, ctok_id left, ctok_id right, int answer)

cdef extern from "ctok_bytelevel.h" nogil:
    uint32_t ctok_bytelevel_char(uint8_t b)
    ctok_status ctok_bytelevel_table(const uint8_t *data, const uint32_t *ends, const ctok_id *ids, uint32_t n, uint8_t *to_data,
                                     uint32_t *to_ends, ctok_id *to_ids, uint32_t *to_n)

cdef extern from "ctok_safecut.h" nogil:
    ctypedef struct ctok_safecut:
        uint32_t n_rows
    ctok_status ctok_safecut_init(ctok_safecut *c, const ctok_vocab *v, const uint32_t *pairs, size_t n, bint byte_level)
    ctok_status ctok_safecut_pieces(ctok_safecut *c, const uint8_t *data, const uint32_t *ends, uint32_t n, const uint8_t *firm)
    void ctok_safecut_free(ctok_safecut *c)
    size_t ctok_safecut_next(const ctok_safecut *c, const uint8_t *buf, size_t pos, size_t end)

cdef extern from "ctok_piecepairs.h" nogil:
    ctok_status ctok_piece_ranks(const float *scores, uint32_t n, uint32_t *ranks)
    ctok_status ctok_pairmap_pieces(ctok_pairmap *m, const ctok_vocab *v, const uint32_t *ranks)
