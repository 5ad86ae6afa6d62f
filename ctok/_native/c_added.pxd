from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_vocab cimport ctok_id, ctok_status

cdef extern from "ctok_added.h" nogil:
    const uint32_t CTOK_ADDED_NONE
    const uint8_t CTOK_ADDED_WORD
    const uint8_t CTOK_ADDED_LEFT
    const uint8_t CTOK_ADDED_RIGHT
    const uint8_t CTOK_ADDED_SPECIAL
    enum: CTOK_ADDED_SAVED
    ctypedef struct ctok_added:
        const uint32_t *lens
        const ctok_id *ids
        const uint8_t *flags
        uint32_t n_nodes
        uint32_t n_tokens
        uint8_t any
    ctypedef struct ctok_added_state:
        pass
    ctypedef struct ctok_added_event:
        size_t text
        size_t text_end
        size_t start
        size_t end
        size_t keep
        uint32_t token
        ctok_id id
    ctypedef enum ctok_added_result:
        CTOK_ADDED_MORE
        CTOK_ADDED_FOUND
    ctok_status ctok_added_init(ctok_added *a, const uint8_t *bytes, const uint32_t *ends, const ctok_id *ids, const uint8_t *flags,
                                uint32_t n, uint32_t *bad)
    void ctok_added_free(ctok_added *a)
    void ctok_added_begin(ctok_added_state *s)
    ctok_added_result ctok_added_next(const ctok_added *a, ctok_added_state *s, const uint8_t *buf, size_t end, bint at_eof,
                                      const uint8_t *skip, ctok_added_event *event)
    void ctok_added_drop(const ctok_added *a, ctok_added_state *s, const uint8_t *buf, size_t n)
    void ctok_added_save(const ctok_added *a, const ctok_added_state *s, uint8_t *out)
    ctok_status ctok_added_load(ctok_added_state *s, const uint8_t *saved, size_t n)
    bint ctok_added_is_word(uint32_t code)
