from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from ctok._native.c_vocab cimport ctok_id, ctok_status, ctok_vocab

cdef extern from "ctok_key.h" nogil:
    const uint32_t CTOK_KEY_BYTES
    void ctok_key_exact(const uint8_t *p, size_t n, uint64_t *key)

cdef extern from "ctok_cache.h" nogil:
    const uint32_t CTOK_CACHE_SHORT
    const uint32_t CTOK_CACHE_LONG
    const uint32_t CTOK_CACHE_SHORT_IDS
    const uint32_t CTOK_CACHE_LONG_IDS
    ctypedef struct ctok_short_entry:
        uint64_t key[2]
        ctok_id ids[3]
        uint32_t n
    ctypedef struct ctok_long_entry:
        uint64_t key[4]
        ctok_id ids[7]
        uint16_t n
    ctypedef struct ctok_cache:
        void *room
    ctok_status ctok_cache_init(ctok_cache *c, uint64_t seed)
    void ctok_cache_free(ctok_cache *c)
    ctok_short_entry *ctok_cache_line(const ctok_cache *c, const uint64_t *key)
    const ctok_short_entry *ctok_cache_find(const ctok_short_entry *line, const uint64_t *key)
    ctypedef struct ctok_outcome:
        ctok_id ids[3]
        uint32_t n
    size_t ctok_cache_probe(const ctok_cache *c, const uint8_t *buf, size_t start, const uint32_t *stops, size_t n, size_t end,
                            uint64_t (*keys)[2], ctok_outcome *found, uint32_t *misses)
    size_t ctok_cache_distinct(const ctok_cache *c, const uint8_t *buf, size_t start, const uint32_t *stops, uint64_t (*keys)[2],
                               ctok_outcome *found, uint32_t *misses, size_t n_misses, uint32_t *repeats, size_t *n_repeats)
    void ctok_cache_repeat(ctok_outcome *found, const uint32_t *repeats, size_t n_repeats)
    size_t ctok_cache_emit(const ctok_outcome *found, size_t n, const ctok_id *side, ctok_id *out)
    void ctok_cache_put(ctok_short_entry *line, const uint64_t *key, const ctok_id *ids, size_t n)
    bint ctok_cache_many(const uint64_t *key)
    void ctok_cache_long_key(const uint8_t *p, size_t n, const uint64_t *own, uint64_t *key)
    ctok_long_entry *ctok_cache_long_line(const ctok_cache *c, const uint64_t *key)
    bint ctok_cache_long_is(const ctok_long_entry *e, size_t n, const uint64_t *key)
    void ctok_cache_long_put(ctok_long_entry *entry, size_t n, const uint64_t *key, const ctok_id *ids, size_t n_ids)

cdef extern from "ctok_literals.h" nogil:
    ctypedef enum ctok_literal_result:
        CTOK_LITERAL_NONE
        CTOK_LITERAL_FOUND
        CTOK_LITERAL_HOLD
    ctok_literal_result ctok_literals_find(const ctok_vocab *literals, int only, const uint8_t *buf, size_t pos, size_t end, bint at_eof,
                                           size_t *start, size_t *length, ctok_id *id)

cdef extern from "ctok_rangememo.h" nogil:
    ctypedef struct ctok_step:
        uint32_t to_lo
        uint32_t to_hi
        ctok_id token
        bint goes_on
    ctok_step *ctok_rangememo_new()
    const uint64_t CTOK_PREFIXMEMO_YES
    uint64_t *ctok_prefixmemo_new()
    uint64_t *ctok_prefixmemo_slot(uint64_t *memo, const uint64_t *key, int *known)
    ctypedef struct ctok_beginning:
        uint32_t lo
    ctok_beginning *ctok_beginmemo_new()
    bint ctok_beginmemo_ask(const ctok_vocab *v, ctok_beginning *memo, const uint8_t *p, size_t n)
    const ctok_step *ctok_rangememo_step(const ctok_vocab *v, ctok_step *memo, uint32_t lo, uint32_t hi, uint32_t depth, uint8_t b)
