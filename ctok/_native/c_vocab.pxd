from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef extern from "ctok_base.h" nogil:
    ctypedef uint32_t ctok_id
    const ctok_id CTOK_NO_ID
    ctypedef enum ctok_status:
        CTOK_OK
        CTOK_ERR_MEMORY
        CTOK_ERR_UTF8
        CTOK_ERR_BYTE
        CTOK_ERR_ID
        CTOK_ERR_FORMAT
        CTOK_ERR_STOPPED

    void CTOK_PREFETCH(const void *p)

cdef extern from "ctok_mem.h" nogil:
    void *ctok_mem_alloc(size_t n, size_t size)
    void *ctok_mem_zeroed(size_t n, size_t size)
    void *ctok_mem_resize(void *p, size_t n, size_t size)
    void ctok_mem_free(void *p)
    void *ctok_mem_block(size_t bytes)
    void ctok_mem_unblock(void *p, size_t bytes)
    long ctok_mem_fail_after(long n)

cdef extern from "ctok_joins.h" nogil:
    ctypedef struct ctok_joins:
        uint64_t *slots
    const uint64_t CTOK_JOINS_NEVER
    uint64_t ctok_joins_key(ctok_id left, ctok_id right)
    ctok_id ctok_joins_get(const ctok_joins *j, uint64_t key)
    const uint64_t *ctok_joins_fetch(const ctok_joins *j, uint64_t key)

cdef extern from "ctok_key.h" nogil:
    uint64_t ctok_mix(uint64_t key)

cdef extern from "ctok_vocab.h" nogil:
    const uint32_t CTOK_TOKEN_KNOWN
    const uint32_t CTOK_TOKEN_ASCII
    const uint32_t CTOK_TOKEN_UTF8
    const uint32_t CTOK_TOKEN_SPECIAL
    ctypedef struct ctok_token:
        uint32_t begin
        uint32_t len
        uint32_t flags
    ctypedef struct ctok_listed
    ctypedef struct ctok_byte_pair:
        ctok_id id
        ctok_id crossing
    ctypedef struct ctok_vocab:
        uint8_t *bytes
        size_t n_bytes
        uint32_t *begin
        ctok_id *id_of
        uint32_t n_tokens
        uint32_t n_ids
        uint32_t longest
        uint32_t first[257]
        ctok_token *by_id
        uint32_t *slots
        ctok_id byte_id[256]
        ctok_joins joins
        ctok_byte_pair *pairs
        const ctok_listed *listed
    ctok_status ctok_vocab_init(ctok_vocab *v, const uint8_t *data, const uint32_t *ends, const ctok_id *ids, uint32_t n_tokens,
                                const uint8_t *extra, const uint32_t *extra_ends, const ctok_id *extra_ids, uint32_t n_extra,
                                uint32_t *bad)
    ctok_status ctok_vocab_join(ctok_vocab *v, const uint8_t *splits)
    ctok_status ctok_vocab_join_listed(ctok_vocab *v, const uint32_t *pairs, const ctok_id *joined, size_t n, const uint8_t *used)
    void ctok_vocab_free(ctok_vocab *v)
    ctok_id ctok_vocab_find(const ctok_vocab *v, const uint8_t *p, size_t n)
    const unsigned int CTOK_SPLIT_UNKNOWN
    const unsigned int CTOK_SPLIT_IRREGULAR
    unsigned int ctok_vocab_split(const ctok_vocab *v, ctok_id id)
    void ctok_vocab_set_split(const ctok_vocab *v, ctok_id id, unsigned int left)
    ctok_byte_pair ctok_vocab_byte_pair(const ctok_vocab *v, const uint8_t *p)
    ctok_id ctok_vocab_pair(const ctok_vocab *v, const uint8_t *p)
    uint64_t ctok_vocab_hash(const uint8_t *p, size_t n, const uint64_t *key)
    size_t ctok_vocab_place(const ctok_vocab *v, uint64_t h)
    ctok_id ctok_vocab_candidate(const ctok_vocab *v, uint64_t h, size_t *at)
    bint ctok_vocab_is(const ctok_vocab *v, ctok_id id, const uint8_t *p, size_t n, const uint64_t *key)
    ctok_id ctok_vocab_find_key(const ctok_vocab *v, const uint8_t *p, size_t n, const uint64_t *key)
    ctok_id ctok_vocab_find_roomy(const ctok_vocab *v, const uint8_t *p, size_t n)
    ctypedef struct ctok_range:
        uint32_t lo
        uint32_t hi
        uint32_t depth
    ctok_range ctok_range_root(const ctok_vocab *v)
    ctok_range ctok_range_step(const ctok_vocab *v, ctok_range r, uint8_t b)
    bint ctok_vocab_begins(const ctok_vocab *v, const uint8_t *p, size_t n)
    ctok_id ctok_range_token(const ctok_vocab *v, ctok_range r)
    bint ctok_range_goes_on(const ctok_vocab *v, ctok_range r)

cdef extern from "ctok_listed.h" nogil:
    ctypedef struct ctok_listed:
        uint64_t *halves
        uint8_t *known
    const unsigned int CTOK_LISTED_NO
    const unsigned int CTOK_LISTED_YES
    ctok_status ctok_listed_init(ctok_listed *l, const ctok_vocab *v, const uint32_t *pairs, const ctok_id *joined, size_t n,
                                 uint8_t *known)
    void ctok_listed_free(ctok_listed *l)
    void ctok_listed_fetch(const ctok_vocab *v, ctok_id id)
    bint ctok_listed_fetch_halves(const ctok_vocab *v, ctok_id id)
    void ctok_listed_fetch_border(const ctok_vocab *v, ctok_id id)
    bint ctok_listed_gives(const ctok_vocab *v, ctok_id id)
    void ctok_listed_gave(const ctok_vocab *v, ctok_id id)
