from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_bestpath cimport ctok_bestpath
from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_vocab cimport ctok_id, ctok_status
from ctok._native.c_words cimport ctok_answer
from ctok._native.viterbi cimport Node, UnigramModel

# What is known of a model besides its pieces.
cdef struct WordsModel:
    const UnigramModel *m
    float *score_by_id          # up to that of `none`
    ctok_id none                # no piece; its score is 0
    ctok_bestpath paths         # where parts of a word can be searched alone, and how
    bint by_words               # does no piece reach across the start of a word?
    bint remembers              # are the scores such that words can be remembered?
    double widest               # no score is farther from 0
    double limit                # as long as no sum in a word can be so far from 0, none begins anew
    float limit_of_one          # of the sum before a single character
    uint64_t seed
    uint8_t is_tail[256]        # ASCII signs that no piece has behind a letter,
    ctok_answer tails[128]      # and what is found for them
    bint spells                 # are letters from a to z hardly ever strangers to each other?

# What is found for a character that has this id alone.
cdef ctok_answer words_one(const WordsModel *w, ctok_id id) noexcept nogil

# As csrc/ctok_model.h says; `model` is a WordsModel.
cdef void *words_scratch_new(const void *model) noexcept nogil
cdef void words_scratch_free(void *scratch) noexcept nogil
cdef ctok_status words_encode(const void *model, void *scratch, const uint8_t *p, size_t n, ctok_ids *ids, ctok_ids *ends) noexcept nogil
