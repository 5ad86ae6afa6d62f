from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_vocab cimport ctok_id, ctok_status

cdef extern from "ctok_words.h" nogil:
    const unsigned int CTOK_WORDS_BLOCK
    const unsigned int CTOK_WORD_GROUP
    const unsigned int CTOK_WORD_HERE
    const unsigned int CTOK_WORDS_ROOMY
    const uint32_t CTOK_WORD_IDS
    const uint32_t CTOK_WORD_APART
    const uint32_t CTOK_WORD_RUN
    const uint32_t CTOK_WORD_STORED
    ctypedef struct ctok_answer:
        ctok_id ids[3]
        uint32_t n
    ctypedef struct ctok_word:
        pass
    ctypedef struct ctok_words:
        ctok_word *lines
        ctok_id *store
    ctok_status ctok_words_init(ctok_words *w, uint64_t seed)
    void ctok_words_free(ctok_words *w)
    bint ctok_is_mark(const uint8_t *p)
    size_t ctok_words_cut(const uint8_t *p, size_t pos, size_t n, uint32_t *stops)
    void ctok_words_make_room(ctok_words *w, size_t n)
    ctok_word *ctok_words_ask(const ctok_words *w, const uint8_t *p, size_t start, size_t stop, size_t end, uint64_t *key)
    ctok_word *ctok_words_ask_short(const ctok_words *w, const uint8_t *p, size_t n, uint64_t *key)
    bint ctok_words_spelled(const uint8_t *p, size_t n)
    size_t ctok_words_look_up(const uint64_t (*keys)[2], ctok_word *const *lines, const uint32_t *numbers, size_t n, ctok_answer *found,
                              uint32_t *misses)
    const ctok_answer *ctok_words_recall(const ctok_words *w, const ctok_word *line, const uint64_t *key, const uint8_t *p, size_t n)
    const ctok_id *ctok_words_ids(const ctok_words *w, const ctok_answer *a)
    float ctok_word_limit(uint32_t n)
    uint32_t ctok_word_n(size_t count, uint32_t apart, float limit)
    const ctok_answer *ctok_words_put(ctok_words *w, ctok_word *line, const uint64_t *key, const uint8_t *p, size_t n, const ctok_id *ids,
                                      size_t count, bint has_unknown, float limit, ctok_id none)
