from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_chain cimport ctok_chain, ctok_view
from ctok._native.c_piece cimport ctok_piece
from ctok._native.c_text cimport ctok_text
from ctok._native.c_vocab cimport ctok_status, ctok_vocab
from ctok._native.readids cimport Ids, free_ids, read_ids
from ctok._native.vocab cimport Vocab

cdef struct DecodeHow:
    const ctok_view *view      # of vocab
    const ctok_piece *pieces   # pieces_of(vocab), or NULL: slower
    bint skip_special
    int errors             # ctok_on_error
    int policy             # ctok_per

# Where it went wrong: which id, and (ill-formed text) which byte.
cdef struct DecodeFault:
    size_t index
    size_t position

# ---- for threads: no Python objects, no GIL ----

# Append n ids as well-formed text. `out` must be empty. CTOK_ERR_UTF8 only with errors="strict"; `fault` says where.
# *ascii is set when all of the text is known to be ASCII.
cdef ctok_status decode_text(const ctok_vocab *v, const uint32_t *ids, size_t n, const DecodeHow *how, ctok_text *out, bint *ascii,
                             DecodeFault *fault) noexcept nogil

# Whether ids must be decoded one by one as a stream, because more than the start is not as in the table of tokens.
cdef bint is_by_decoder(const ctok_view *view) noexcept nogil

# Append the text of the tokens at the start of a text that are not as in the table; *used: how many; `lens` (or NULL) gets the bytes of
# each. CTOK_OK or CTOK_ERR_MEMORY.
cdef ctok_status first_tokens(const ctok_vocab *v, const ctok_view *view, const uint32_t *ids, size_t n, bint skip_special, ctok_text *out,
                              uint32_t *flags, size_t *used, uint32_t *lens) noexcept nogil

# ---- with the GIL ----

# The table that makes decoding of n ids of this vocabulary fast, if that is worth making it; for how.pieces.
cdef const ctok_piece *pieces_for(Vocab vocab, size_t n)

# Fills `how`; its pieces are then NULL. `policy` None: as the vocabulary's decoders do.
cdef int parse_how(DecodeHow *how, Vocab vocab, bint skip_special, errors, policy) except -1

# Drop what the chain drops at the start of the text; returns how many bytes that is.
cdef size_t drop_lead(const ctok_chain *chain, ctok_text *out) noexcept nogil

# Take out the ids that are not in the vocabulary.
cdef void drop_unknown(const ctok_vocab *v, Ids *a) noexcept nogil

# Raise what `status` means; does nothing for CTOK_OK. `looked_up` comes from read_ids.
cdef int check_decoded(ctok_status status, const DecodeFault *fault, object looked_up) except -1
cdef str str_of(const uint8_t *p, size_t n, bint ascii)

cpdef bytes decode_bytes(Vocab vocab, ids, bint skip_special)
cpdef str decode_str(Vocab vocab, ids, bint skip_special, str errors, policy, bint skip_unknown=*)
