/* ctok_vocab.h - a vocabulary in memory: bytes -> id, id -> bytes, and "how does this text go on".
 *
 * Read-only after ctok_vocab_init, so any number of threads may use it. All look-ups are static inline: kernels include this header.
 *
 * Three views of the same tokens:
 *   byte order  token k of 0..n_tokens-1 is bytes[begin[k] .. begin[k+1]), ascending; id_of[k] is its id. The vocabulary *is* a trie
 *               in this order: the tokens with one prefix stand side by side (ctok_range).
 *   by id       by_id[id] says where the bytes stand and what kind of token it is; gaps in the numbering have no CTOK_TOKEN_KNOWN.
 *   by bytes    a hash table of ids, four bytes a slot, so that it is small; the bytes are compared with the token's.
 *
 * Special tokens are in the by-id view only; they are matched before the model (ctok_literals.h).
 */
#ifndef CTOK_VOCAB_H
#define CTOK_VOCAB_H

#include "ctok_joins.h"
#include "ctok_key.h"

#define CTOK_TOKEN_KNOWN 1u    /* the id exists */
#define CTOK_TOKEN_ASCII 2u    /* all bytes < 0x80 */
#define CTOK_TOKEN_UTF8 4u     /* valid UTF-8 by itself (ASCII included) */
#define CTOK_TOKEN_SPECIAL 8u  /* a special token: its bytes are its text */

typedef struct ctok_token {
    uint32_t begin;      /* first byte in ctok_vocab.bytes */
    uint32_t len : 24;   /* bytes */
    uint32_t flags : 8;  /* CTOK_TOKEN_* */
} ctok_token;

/* Two bytes side by side. */
typedef struct ctok_byte_pair {
    ctok_id id;          /* of the token of these two, or CTOK_NO_ID */
    ctok_id crossing;    /* no merge across the border between them gives a token of a lower id than this; 0 where nothing is known */
} ctok_byte_pair;

#define CTOK_VOCAB_PAD 64 /* readable bytes behind the last token, so that copies may overshoot */

typedef struct ctok_vocab {
    uint8_t *bytes;          /* ordinary tokens in byte order, then special tokens, then CTOK_VOCAB_PAD zeros */
    size_t n_bytes;          /* without the padding */
    uint32_t *begin;         /* n_tokens + 1 */
    ctok_id *id_of;          /* n_tokens */
    uint32_t n_tokens;       /* ordinary tokens */
    uint32_t n_ids;          /* one more than the largest id, special tokens included */
    uint32_t longest;        /* bytes of the longest ordinary token */
    ctok_token *by_id;       /* n_ids */
    uint32_t *slots;         /* 1 << slot_bits: by hash of the bytes, 0 = empty (ctok_vocab_tag) */
    uint32_t slot_bits;
    uint32_t id_bits;
    uint32_t n_ordinary;     /* bytes of the ordinary tokens */
    int has_hidden;          /* does the by-id view show another token where there is one of that id? (ctok_vocab_shown.h has more) */
    void *room;              /* what all the arrays stand in */
    size_t room_bytes;
    uint32_t first[257];     /* first[b] = first k whose token starts with a byte >= b */
    uint32_t *first2;        /* 65537, or NULL in a small vocabulary: the same for the first two bytes b << 8 | c, among the tokens that start with b */
    uint16_t *split;         /* n_ids, filled by the kernels as they go: how a token comes about by merging (ctok_vocab_split) */
    ctok_id byte_id[256];    /* id of the one-byte token, or CTOK_NO_ID */
    ctok_joins joins;        /* filled by ctok_vocab_join */
    ctok_byte_pair *pairs;        /* 65536, or NULL in a small vocabulary: by b | c << 8 */
    const struct ctok_listed *listed; /* NULL, or of a list of merges that may not give every token (ctok_listed.h); the caller's */
} ctok_vocab;

/* ctok_vocab_init - build all views from tokens in byte order.
 *
 * v         uninitialised; on success owned by the caller and given back with ctok_vocab_free.
 * data      the ordinary tokens' bytes one behind the other, tokens strictly ascending in byte order. Copied. The first may be
 *               empty: its id decodes to nothing, and no look-up finds it.
 * ends      n_tokens cumulative end offsets into data.
 * ids       n_tokens ids below INT32_MAX, which is no rank (ctok_mintree.h). Of tokens with one id the by-id view shows the last.
 * extra, extra_ends, extra_ids, n_extra   the same for special tokens, in declaration order (any byte order). An id may repeat or
 *           be that of an ordinary token: the first declared text is what the id decodes to, and an ordinary token of that id loses
 *           its by-id entry only if a special one declares it.
 *
 * Returns CTOK_OK, CTOK_ERR_MEMORY, or CTOK_ERR_FORMAT when the order, an offset or an id breaks the rules (*bad is then the index
 * of the token, counted through the special ones); v then owns nothing.
 *
 * Cost: linear in bytes; about 3 ms for 200 000 tokens.
 */
ctok_status ctok_vocab_init(ctok_vocab *v, const uint8_t *data, const uint32_t *ends, const ctok_id *ids, uint32_t n_tokens,
                            const uint8_t *extra, const uint32_t *extra_ends, const ctok_id *extra_ids, uint32_t n_extra,
                            uint32_t *bad);

/* ctok_vocab_join - fill v->joins, once, before others see v.
 *
 * splits   for each token in byte order how many bytes the left part of its last merge has, 0 where merging does not give the token; or NULL,
 *          then every way to cut a token in two tokens is entered, which takes about four times as long.
 *
 * Returns CTOK_OK, also where v->joins stays empty: ids too large for it, tokens too long, or a byte inside a token that is none itself.
 * CTOK_ERR_FORMAT when a split lies outside its token. CTOK_ERR_MEMORY.
 */
ctok_status ctok_vocab_join(ctok_vocab *v, const uint8_t *splits);

/* ctok_vocab_join_listed - fill v->joins, and v->pairs to match, from a list of merges that is a rule by rank: the order of what merges give
 * is that of their ids. Then the list and the rule, with these pairs and no others, merge alike: of several pairs that join to one token only
 * that of its own last merge is ever there.
 *
 * pairs, joined   left and right id of each merge in turn, earliest first, and what they give.
 * used            a bit for each merge, lowest bits first: whether it is the last one of its token, so that those that never join anything
 *                 need not be looked at; or NULL: not known.
 *
 * Returns CTOK_OK, also where v->joins stays empty: a list of another order, one pair given twice, texts that are not as long together as what
 * they give, ids too large for the table, a byte that is no token, or a small vocabulary. CTOK_ERR_MEMORY. Cost: about 10 ns a merge.
 */
ctok_status ctok_vocab_join_listed(ctok_vocab *v, const uint32_t *pairs, const ctok_id *joined, size_t n, const uint8_t *used);

/* ctok_vocab_free - give everything back. */
void ctok_vocab_free(ctok_vocab *v);

/* ---- bytes -> id ---- */

/* ctok_vocab_hash - hash of a text of n >= 1 bytes; up to 15 by its key (p is not read), more by all its bytes. */
static inline uint64_t ctok_vocab_hash(const uint8_t *p, size_t n, const uint64_t key[2]) {
    uint64_t h = n;
    if (CTOK_LIKELY(n <= CTOK_KEY_BYTES)) {
        h = key[0] * UINT64_C(0xA0761D6478BD642F);
        return ctok_mix(h ^ h >> 29 ^ key[1]);
    }
    for (size_t i = 0; i + 8 < n; i += 8) h = ctok_mix(h ^ ctok_load_le(p + i, 8));
    return ctok_mix(h ^ h >> 29 ^ ctok_load_le(p + n - 8, 8));
}

/* A slot is the low bits of an id and above them some bits of the hash, never 0. Where the search begins, and what an entry with this hash
 * looks like above its id. */
static inline size_t ctok_vocab_place(const ctok_vocab *v, uint64_t h) {
    return (size_t)(h >> (64 - v->slot_bits));
}

static inline uint32_t ctok_vocab_tag(const ctok_vocab *v, uint64_t h) {
    return ((uint32_t)(h >> (32 - v->slot_bits)) | 1) << v->id_bits;
}

/* ctok_vocab_is - is id, in the by-id view, the ordinary token with these bytes? */
static inline int ctok_vocab_is(const ctok_vocab *v, ctok_id id, const uint8_t *p, size_t n, const uint64_t key[2]) {
    const ctok_token t = v->by_id[id];
    uint64_t own[2];
    if (t.len != n || CTOK_UNLIKELY(t.begin >= v->n_ordinary)) return 0;
    if (n > CTOK_KEY_BYTES) return memcmp(v->bytes + t.begin, p, n) == 0;
    ctok_key_roomy(v->bytes + t.begin, n, own);
    return own[0] == key[0] && own[1] == key[1];
}

/* ctok_vocab_candidate - the first id whose entry looks like this hash, from *at on, which is where the search may go on; CTOK_NO_ID: the
 * token is not there. */
static inline ctok_id ctok_vocab_candidate(const ctok_vocab *v, uint64_t h, size_t *at) {
    const uint32_t tag = ctok_vocab_tag(v, h), ids = ((uint32_t)1 << v->id_bits) - 1;
    const size_t mask = ((size_t)1 << v->slot_bits) - 1;
    for (size_t i = *at;; i = (i + 1) & mask) {
        const uint32_t slot = v->slots[i];
        if ((slot & ~ids) == tag) {
            *at = (i + 1) & mask;
            return slot & ids;
        }
        if (slot == 0) return CTOK_NO_ID;
    }
}

/* ctok_vocab_search - find by byte order: slower, and sees the tokens whose id another one took over, too. */
static inline ctok_id ctok_vocab_search(const ctok_vocab *v, const uint8_t *p, size_t n) {
    uint32_t lo = 0, hi = v->n_tokens;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2, len = v->begin[mid + 1] - v->begin[mid];
        const int order = memcmp(v->bytes + v->begin[mid], p, len < n ? len : n);
        if (order == 0 && len == n) return v->id_of[mid];
        if (order < 0 || (order == 0 && len < n)) lo = mid + 1;
        else hi = mid;
    }
    return CTOK_NO_ID;
}

/* ctok_vocab_find_key - ctok_vocab_find where the key is known; p is read only when n > 15. */
static inline ctok_id ctok_vocab_find_key(const ctok_vocab *v, const uint8_t *p, size_t n, const uint64_t key[2]) {
    if (n > v->longest) return CTOK_NO_ID;
    const uint64_t h = ctok_vocab_hash(p, n, key);
    size_t at = ctok_vocab_place(v, h);
    ctok_id id;
    do id = ctok_vocab_candidate(v, h, &at);
    while (id != CTOK_NO_ID && !ctok_vocab_is(v, id, p, n, key));
    return CTOK_UNLIKELY(v->has_hidden) && id == CTOK_NO_ID ? ctok_vocab_search(v, p, n) : id;
}

/* ctok_vocab_find - the id of the ordinary token with these n >= 1 bytes, or CTOK_NO_ID. Reads exactly n bytes. */
static inline ctok_id ctok_vocab_find(const ctok_vocab *v, const uint8_t *p, size_t n) {
    uint64_t key[2];
    ctok_key_exact(p, n, key);
    return ctok_vocab_find_key(v, p, n, key);
}

/* ctok_vocab_find_roomy - the same where 16 bytes may be read at p, whatever n is. */
static inline ctok_id ctok_vocab_find_roomy(const ctok_vocab *v, const uint8_t *p, size_t n) {
    uint64_t key[2];
    ctok_key_roomy(p, n, key);
    return ctok_vocab_find_key(v, p, n, key);
}

/* ctok_vocab_pair - the id of the token of the two bytes at p, or CTOK_NO_ID. */
static inline ctok_id ctok_vocab_pair(const ctok_vocab *v, const uint8_t *p) {
    return v->pairs ? v->pairs[p[0] | (uint32_t)p[1] << 8].id : ctok_vocab_find(v, p, 2);
}

/* ctok_vocab_byte_pair - what is known of the two bytes at p; v->pairs must not be NULL. */
static inline ctok_byte_pair ctok_vocab_byte_pair(const ctok_vocab *v, const uint8_t *p) {
    return v->pairs[p[0] | (uint32_t)p[1] << 8];
}

/* ---- how a token comes about ---- */

#define CTOK_SPLIT_UNKNOWN 0u
#define CTOK_SPLIT_IRREGULAR 0xFFFFu

/* ctok_vocab_split / ctok_vocab_set_split - a memo of the kernels: bytes of the left part of the last merge that makes the token,
 * CTOK_SPLIT_UNKNOWN where nobody asked yet, CTOK_SPLIT_IRREGULAR where merging does not give the token, or not in ascending rank.
 * Every writer writes the same value, so threads need no lock. */
static inline unsigned ctok_vocab_split(const ctok_vocab *v, ctok_id id) {
#if defined(__GNUC__) || defined(__clang__)
    return __atomic_load_n(&v->split[id], __ATOMIC_RELAXED);
#else
    return *(volatile uint16_t *)&v->split[id];
#endif
}

static inline void ctok_vocab_set_split(const ctok_vocab *v, ctok_id id, unsigned left) {
#if defined(__GNUC__) || defined(__clang__)
    __atomic_store_n(&v->split[id], (uint16_t)left, __ATOMIC_RELAXED);
#else
    *(volatile uint16_t *)&v->split[id] = (uint16_t)left;
#endif
}

/* ---- how a text goes on: the vocabulary as a trie ---- */

/* The tokens that begin with one text of depth bytes: lo..hi-1 in byte order. Empty when lo == hi. The token that *is* the text,
 * if there is one, stands first. */
typedef struct ctok_range {
    uint32_t lo, hi, depth;
} ctok_range;

static inline ctok_range ctok_range_root(const ctok_vocab *v) {
    ctok_range r = {0, v->n_tokens, 0};
    return r;
}

/* ctok_range_step - the tokens of r whose next byte is b. Cost: a binary search in r. */
ctok_range ctok_range_step(const ctok_vocab *v, ctok_range r, uint8_t b);

/* ctok_vocab_begins - is p[0..n), n >= 1, a proper prefix of some token? Cost: one binary search. */
int ctok_vocab_begins(const ctok_vocab *v, const uint8_t *p, size_t n);

/* ctok_vocab_begins_among - the same where lo..hi-1 are known to hold, in byte order, all tokens that begin with it. */
int ctok_vocab_begins_among(const ctok_vocab *v, uint32_t lo, uint32_t hi, const uint8_t *p, size_t n);

/* ctok_range_token - the id of the token that is exactly the text of r, or CTOK_NO_ID. */
static inline ctok_id ctok_range_token(const ctok_vocab *v, ctok_range r) {
    if (r.lo < r.hi && v->begin[r.lo + 1] - v->begin[r.lo] == r.depth) return v->id_of[r.lo];
    return CTOK_NO_ID;
}

/* ctok_range_goes_on - is the text of r a proper prefix of some token? */
static inline int ctok_range_goes_on(const ctok_vocab *v, ctok_range r) {
    return r.lo < r.hi && v->begin[r.hi] - v->begin[r.hi - 1] > r.depth;
}

#endif
