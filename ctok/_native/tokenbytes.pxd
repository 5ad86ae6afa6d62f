from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_piece cimport ctok_piece
from ctok._native.c_text cimport ctok_text
from ctok._native.c_vocab cimport ctok_status, ctok_vocab

# No Python objects, no GIL.

# A run is a row of tokens that are no text by themselves; what stands before and behind it is. So the text is well formed if every run is.
cdef struct Runs:
    size_t begin           # of the open run, in the output
    bint open
    bint bad               # some run was ill formed

# The index of the first of n ids that is not in the vocabulary, or n.
cdef size_t first_unknown(const ctok_vocab *v, const uint32_t *ids, size_t n) noexcept nogil

# Append the bytes of n ids; of a chain's table: as they are when not at the start of the text. `pieces` may be NULL. `flags` is and-ed
# with the flags of all that contribute. CTOK_OK, CTOK_ERR_MEMORY or CTOK_ERR_ID (*bad is then the index of the first id that is not in
# the vocabulary); after an error out.n is as before.
cdef ctok_status append_tokens(const ctok_vocab *v, const ctok_piece *pieces, const uint32_t *ids, size_t n, bint skip_special,
                               ctok_text *out, uint32_t *flags, size_t *bad) noexcept nogil

# The same, and whether the runs of these tokens are well formed: `runs` is zero bytes before.
cdef ctok_status append_runs(const ctok_vocab *v, const ctok_piece *pieces, const uint32_t *ids, size_t n, bint skip_special,
                             ctok_text *out, uint32_t *flags, Runs *runs, size_t *bad) noexcept nogil

# The index of the id that holds the byte at `position` of the decoded bytes.
cdef size_t index_at(const ctok_vocab *v, const uint32_t *ids, size_t n, bint skip_special, size_t position) noexcept nogil

# Policy "hf_run": where a run of tokens that are no text by themselves is not well formed as a whole, make each of its bytes ill formed by
# itself. `raw` holds the bytes of these ids.
cdef void spoil_bad_runs(const ctok_vocab *v, const uint32_t *ids, size_t n, bint skip_special, uint8_t *raw) noexcept nogil

# Where ill-formed runs would join, because what stands between them has no bytes, make the beginning of the later one ill formed by itself.
cdef void spoil_joints(const ctok_vocab *v, const uint32_t *ids, size_t n, bint skip_special, uint8_t *raw) noexcept nogil
