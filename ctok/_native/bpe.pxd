from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_vocab cimport ctok_id, ctok_status, ctok_vocab

# Scratch memory of a merge: room for `cap` symbols. Zeroed = empty; belongs to one thread at a time.
cdef struct MergeScratch:
    size_t cap
    int32_t *ranks       # the tree of minima
    uint32_t *next       # symbol -> place of the one behind it
    uint32_t *prev
    ctok_id *ids
    uint8_t *text        # a copy of the window, with room to read beyond
    bint ascending       # about the last window: did its merges come in ascending rank,
    uint32_t last_left   # and where does the symbol stand that its last merge joined to the one before

cdef void merge_scratch_free(MergeScratch *s) noexcept nogil
cdef ctok_status scratch_reserve(MergeScratch *s, size_t n) noexcept nogil

# Merge text[0..n), 1 <= n <= s.cap. Afterwards the symbols are 0, next[0], ... while < n, with their ids.
cdef void merge_window(const ctok_vocab *v, const uint8_t *text, size_t n, MergeScratch *s) noexcept nogil

# The last symbol of a window of n that starts at or before `limit`; 0 is the first one.
cdef inline size_t symbol_before(const uint32_t *next, size_t n, size_t limit) noexcept nogil:
    cdef size_t i = 0
    while next[i] < n and next[i] <= limit:
        i = next[i]
    return i

# The ids of p[0..n) by merging bytes, appended to out; *bad is the place of a byte that has no token (CTOK_ERR_BYTE).
cdef ctok_status bpe_merge(const ctok_vocab *v, const uint8_t *p, size_t n, MergeScratch *s, ctok_ids *out, size_t *bad) noexcept nogil

# Do the tokens left and right stand side by side in the encoding of their joined bytes? left CTOK_NO_ID: is right its own encoding?
cdef bint bpe_neighbours(const ctok_vocab *v, ctok_id left, ctok_id right, MergeScratch *s, ctok_status *status) noexcept nogil
