from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_mergelist cimport ctok_pairmap
from ctok._native.c_vocab cimport (
    CTOK_LISTED_NO, CTOK_LISTED_YES, CTOK_NO_ID, ctok_id, ctok_listed, ctok_status, ctok_vocab, ctok_vocab_find)

cdef enum:
    AFFIXES = 255               # bytes of prefix and suffix together

# What becomes of a character that is no token and has no byte tokens.
cdef enum Unknown:
    UNKNOWN_DROPPED
    UNKNOWN_TOKEN
    UNKNOWN_REFUSED             # the unknown token is not in the vocabulary

# The parts of a model that the nogil code needs, without Python objects. Read-only, but for `known`.
cdef struct Merges:
    const ctok_vocab *vocab     # tokens by what pretokens hold: bytes themselves if byte_level, else UTF-8
    ctok_pairmap pairs          # of a ranked list only when merges are to be left out
    ctok_id unit[4][256]        # symbol of a byte (or ASCII character), by place: + 1 the last, + 2 not the first
    uint64_t *first_pairs       # what two symbols of one byte each join to: rank + 1 and id, 0 where they do not; by first << 8 | second
    uint32_t *crossing          # NULL, or by the same two: no merge across the border between them has a lower rank
    ctok_id byte_token[256]     # <0xNN>
    ctok_id unk
    Unknown unknown
    bint byte_level
    bint plain                  # neither prefix nor suffix
    bint fuse_unk
    bint byte_fallback
    bint shares_end             # the byte tokens of a character all end where it ends, not one byte behind the other
    bint ignore_merges
    bint wide                   # are there ranks too large for a lane?
    uint32_t room               # symbols that a byte of a pretoken can give
    float dropout
    uint8_t prefix[AFFIXES + 1]
    uint8_t suffix[AFFIXES + 1]
    size_t n_prefix
    size_t n_suffix
    uint8_t *known              # by id: does merging its own text give the token? (csrc/ctok_listed.h)
    uint32_t n_known
    const ctok_vocab *ranked    # `vocab`, if the list is a rule by rank; else NULL
    ctok_listed listed          # what that one needs besides, unless all tokens are their own encodings
    bint streams                # can ids of an open pretoken leave before it ends? (mergeopen.pyx)
    uint64_t *neighbours        # do two tokens stand side by side in an encoding? (csrc/ctok_pairmap.h)

# A queued merge of a slow run.
cdef struct Queued:
    uint32_t rank
    uint32_t place
    ctok_id joined

cdef struct Queue:
    Queued *at
    size_t n
    size_t cap

# Scratch memory. Zeroed = empty; belongs to one thread at a time.
cdef struct ListScratch:
    size_t cap
    int32_t *ranks              # the tree of minima
    ctok_id *joined             # by symbol: what it and the one behind it join to, if they have a rank
    ctok_id *ids
    uint32_t *next              # symbol -> place of the one behind it
    uint32_t *prev
    size_t last                 # the right symbol of the last merge of a window
    ctok_ids symbols            # of the whole pretoken,
    ctok_ids stops              # and the byte where each ends
    Queue queue                 # a heap
    Queue skipped
    uint64_t random             # state of the generator, for dropout

cdef void *list_scratch_new(const void *model) noexcept nogil       # NULL: no memory
cdef void list_scratch_free(void *scratch) noexcept nogil
cdef void list_scratch_trim(ListScratch *s) noexcept nogil

# The ids of the pretoken p[0..n), appended to `ids`; `ends` NULL, or receives the byte where each token ends, as the reference counts.
# CTOK_ERR_BYTE: an unknown character, and the unknown token is not in the vocabulary. `model` is a Merges, `scratch` a ListScratch.
cdef ctok_status merges_encode(const void *model, void *scratch, const uint8_t *p, size_t n, ctok_ids *ids, ctok_ids *ends) noexcept nogil

# The same without looking the whole pretoken up, which `ignore_merges` asks for.
cdef ctok_status merges_merge(const Merges *m, ListScratch *s, const uint8_t *p, size_t n, ctok_ids *ids, ctok_ids *ends) noexcept nogil

# Where the bytes of p[0..n) stand that the reference counts: of a model that drops unknown characters all but those.
cdef ctok_status merges_counted(const Merges *m, const uint8_t *p, size_t n, ctok_ids *places) noexcept nogil

# Where the last of the merges that make one token of p[0..n) joins, in bytes; 0 if they do not make one, or n is one character.
cdef ctok_status merges_last(const Merges *m, ListScratch *s, const uint8_t *p, size_t n, size_t *place) noexcept nogil

# Symbols on their way out, and the unknown characters before them that may still become one token.
cdef struct Sink:
    ctok_id *ids
    uint32_t *stops             # or NULL
    size_t n
    uint32_t at                 # bytes so far, as the reference counts them
    uint32_t unknown            # bytes of unknown characters that wait
    bint waiting

# The symbols of a whole pretoken. The sink has room for n * m.room of them.
cdef ctok_status read_symbols(const Merges *m, const uint8_t *p, size_t n, Sink *k) noexcept nogil
# Append what an unknown character gives; it may wait in the sink.
cdef ctok_status put_unknown(const Merges *m, Sink *k, const uint8_t *p, size_t size, int place) noexcept nogil
# A character as the vocabulary spells it at its place in the pretoken (as in Merges.unit); at most AFFIXES + 4 bytes. Returns their number.
cdef size_t spelled(const Merges *m, const uint8_t *p, size_t size, int place, uint8_t *text) noexcept nogil

cdef inline size_t char_size(uint8_t lead) noexcept nogil:
    return 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


# The symbol of a character (or byte) of a model without prefix and suffix.
cdef inline ctok_id plain_unit(const Merges *m, const uint8_t *p, size_t size) noexcept nogil:
    return m.unit[0][p[0]] if size == 1 else ctok_vocab_find(m.vocab, p, size)


cdef inline ctok_id whole(const Merges *m, const uint8_t *p, size_t n) noexcept nogil:
    """The token of the whole pretoken, if it is one, whatever merging says."""
    return ctok_vocab_find(m.vocab, p, n) if n <= m.vocab.longest else CTOK_NO_ID


cdef inline bint settles(const Merges *m, ctok_id found) noexcept nogil:
    """Is a pretoken that is this token known to be it?"""
    return found != CTOK_NO_ID and (m.ignore_merges or m.known[found] >= CTOK_LISTED_YES)


cdef inline void learn(const Merges *m, ctok_id found, const ctok_id *ids, size_t n) noexcept nogil:
    """The pretoken that is the token `found` merges to these ids. Threads may write the same byte: it is the same value."""
    if found != CTOK_NO_ID and m.known[found] < CTOK_LISTED_YES:
        m.known[found] = CTOK_LISTED_YES if n == 1 and ids[0] == found else CTOK_LISTED_NO
