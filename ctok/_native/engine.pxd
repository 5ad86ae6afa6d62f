from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from ctok._native.bpe cimport MergeScratch
from ctok._native.bpelanes cimport LANES, Lane, MergeTask
from ctok._native.c_engine cimport (
    CTOK_CACHE_LONG, CTOK_CACHE_SHORT_IDS, ctok_beginning, ctok_cache, ctok_cache_long_key, ctok_cache_long_line, ctok_outcome, ctok_step)
from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_utf8 cimport ctok_on_surrogate
from ctok._native.c_vocab cimport CTOK_PREFETCH, ctok_id, ctok_status, ctok_vocab
from ctok._native.c_split cimport ctok_splitter

cdef enum:
    BLOCK = 512                 # pretokens scanned at a time
    PAIR_BITS = 15

# What one thread needs to encode with one tokenizer: its cache, scratch memory and output. Zeroed = not initialised.
cdef struct Context:
    ctok_cache cache
    MergeScratch merge
    ctok_ids ids                # output
    uint64_t counted            # ids counted and dropped, when `counting`
    bint counting
    size_t bad                  # where the trouble is, after an error status
    size_t bad_chars            # flow.pyx: how many characters before the end that is
    uint8_t *text               # UTF-8 made from a str, a part at a time
    size_t text_cap
    uint32_t stops[BLOCK]       # a block of pretokens: where they stop,
    uint64_t keys[BLOCK][2]     # their keys,
    ctok_outcome found[BLOCK]   # what they give,
    uint32_t misses[BLOCK]      # which ones the cache does not hold,
    uint32_t repeats[BLOCK]     # and which of those are there before,
    uint64_t hashes[BLOCK]      # the hashes of the others,
    MergeTask tasks[BLOCK]      # and which of them are to be merged;
    ctok_ids side               # ids of those that give more than 3
    Lane lanes[LANES]
    ctok_step *steps            # csrc/ctok_rangememo.h, made when first needed
    uint64_t *prefixes          # of the same, of `remembered`
    ctok_beginning *beginnings  # and of what begins tokens, made when first needed
    uint64_t *pairs             # memo of known_neighbours, made when first needed: set bit, left, right, answer
    void *extra                 # what flow.pyx needs besides, made when first needed,
    void (*extra_free)(void *extra) noexcept nogil      # and how it is given back
    Context *next               # in the free list

# The parts that the nogil code needs, without Python objects.
cdef struct Engine:
    const ctok_vocab *vocab
    const ctok_splitter *splitter
    const ctok_vocab *literals  # NULL: none
    const ctok_id *targets
    int only
    const void *stages          # flow.pxd: not NULL when the text goes through the general line, which uses nothing of the above
    const void *policy
    const ctok_id *before       # ids that a template puts before a text and behind it
    size_t n_before
    const ctok_id *after
    size_t n_after

# While counting, ids are dropped as soon as they are counted.
cdef inline void settle(Context *c) noexcept nogil:
    if c.counting:
        c.counted += c.ids.n
        c.ids.n = 0

# Where pretoken i of c.stops begins, the first of which begins at start.
cdef inline size_t begin_of(const Context *c, size_t start, size_t i) noexcept nogil:
    return c.stops[i - 1] if i else start

# The ids of a task stand in c.side: they are what its pretoken gives.
cdef inline void settle_task(Context *c, const MergeTask *task) noexcept nogil:
    c.found[task.number].n = <uint32_t>task.count
    if task.count <= CTOK_CACHE_SHORT_IDS:
        memcpy(c.found[task.number].ids, c.side.at + task.begin, task.count * sizeof(ctok_id))
    else:
        c.found[task.number].ids[0] = <ctok_id>task.begin

cdef Context *context_new(uint64_t seed) noexcept nogil       # NULL: no memory
cdef void context_free(Context *c) noexcept nogil
cdef void context_trim(Context *c) noexcept nogil

# Begin to fetch what `recall` will look at.
cdef inline void fetch_memory(Context *c, size_t i, const uint8_t *p, size_t n) noexcept nogil:
    cdef uint64_t key[4]
    if n <= CTOK_CACHE_LONG:
        ctok_cache_long_key(p, n, c.keys[i], key)
        CTOK_PREFETCH(ctok_cache_long_line(&c.cache, key))

# Settle pretoken i of the block, p[0..n), from the table of long ones; False: it is not there.
cdef bint recall(Context *c, size_t i, const uint8_t *p, size_t n) noexcept nogil
# Remember its ids; `many`: a short one with many ids among the long ones.
cdef void remember(Context *c, size_t i, const uint8_t *p, size_t n, const ctok_id *ids, size_t n_ids, bint many) noexcept nogil
cdef ctok_status encode_pretoken(Context *c, const ctok_vocab *v, const uint8_t *p, size_t n) noexcept nogil
# Append the ids of the n pretokens of c.stops, the first of which begins at start; buf is readable up to end.
cdef ctok_status encode_block(Context *c, const ctok_vocab *v, const uint8_t *buf, size_t start, size_t n, size_t end) noexcept nogil
cdef ctok_status encode_run(Context *c, const Engine *e, const uint8_t *buf, size_t pos, size_t end, bint at_eof,
                            size_t *stopped) noexcept nogil
# Append the id of the literal that was found at `start`, by its number; CTOK_ERR_STOPPED as in encode_text when it is forbidden.
cdef ctok_status encode_literal(Context *c, const Engine *e, ctok_id found, size_t start) noexcept nogil
cdef ctok_status encode_text(Context *c, const Engine *e, const uint8_t *buf, size_t end, bint at_eof, size_t *done) noexcept nogil
cdef ctok_status encode_utf8(Context *c, const Engine *e, const uint8_t *buf, size_t n) noexcept nogil
cdef ctok_status encode_wide(Context *c, const Engine *e, int kind, const void *src, size_t n, ctok_on_surrogate how) noexcept nogil

# The place in a str that lies `chars` characters before `at`; a surrogate pair is one character in two places.
cdef size_t place_before(int kind, const void *src, size_t at, size_t chars) noexcept nogil

# What `ask` answers for a text of n >= 1 bytes, remembered for short ones; with one context it is always the same function and `what`.
ctypedef bint (*prefix_fn)(const void *what, const uint8_t *p, size_t n) noexcept nogil
cdef bint remembered(Context *c, prefix_fn ask, const void *what, const uint8_t *p, size_t n) noexcept nogil

# bpe_neighbours (bpe.pxd), remembered.
cdef bint known_neighbours(Context *c, const ctok_vocab *v, ctok_id left, ctok_id right, ctok_status *status) noexcept nogil
