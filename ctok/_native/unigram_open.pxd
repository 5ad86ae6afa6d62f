from libc.stdint cimport uint8_t, uint64_t

from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_bytes cimport ctok_bytes
from ctok._native.c_vocab cimport ctok_status
from ctok._native.viterbi cimport Node, Reaches, UnigramModel

cdef enum Run:
    RUN_NONE                    # the last token that left was a known one
    RUN_OPEN                    # unknown characters of which no id has left yet: `run` holds them
    RUN_UNKNOWN                 # they are one unknown token, and its id has left
    RUN_BYTES                   # they are given as bytes, and those have left

# A pretoken that arrives. `text` is what came after the last token that left; the nodes are its places, the first of them the border.
cdef struct UnigramOpen:
    const UnigramModel *model
    ctok_bytes text
    Node *nodes                 # text.n + 1
    size_t cap
    size_t next                 # the first place that has not been gone on from: the end, or the start of a character not yet complete
    size_t patience             # how long the text must be before the next search for a border
    Reaches reaches             # where a longer piece may be in the making
    int run                     # Run
    ctok_bytes run_text
    uint64_t run_unit           # where in the tree run_text stands
    bint run_is_piece_start     # is it the beginning of a piece, or one?
    bint run_has_gap            # has one of its bytes no piece?
    bint is_loading
    size_t lineage              # of those of one lineage the shorter is the beginning of the longer; 0: of none
    bint is_copy                # then it may not go on with the lineage of what it was copied from

# As csrc/ctok_model.h says.
cdef void *unigram_open_new(const void *model) noexcept nogil
cdef ctok_status unigram_open_feed(void *state, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil
cdef ctok_status unigram_open_end(void *state, ctok_ids *ids) noexcept nogil
cdef void *unigram_open_copy(const void *state) noexcept nogil
cdef ctok_status unigram_open_catch_up(void *state, const void *source) noexcept nogil
cdef void unigram_open_free(void *state) noexcept nogil
cdef ctok_status unigram_open_save(const void *state, ctok_bytes *out) noexcept nogil
cdef ctok_status unigram_open_load(void *state, const uint8_t *p, size_t n) noexcept nogil
# Let all go that is held, as if the pretoken ended, but keep the sum (of the first node) and the run.
cdef ctok_status unigram_open_rest(UnigramOpen *o, ctok_ids *ids) noexcept nogil
# How many ids what is held gives at least, however it goes on: the fewest on the best path to an alive place.
cdef uint64_t unigram_open_least(const void *state) noexcept nogil
