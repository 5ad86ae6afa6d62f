/* ctok_vocab.h - a vocabulary in memory: bytes -> id, id -> bytes, and "how does this text go on".
 *
 * Read-only after ctok_vocab_init, so any number of threads may use it. All look-ups are static inline: kernels include this header.
 *
 * Three views of the same tokens:
 *   byte order  token k of 0..n_tokens-1 is bytes[begin[k] .. begin[k+1]), ascending; id_of[k] is its id. The vocabulary *is* a trie
 *               in this order: the tokens with one prefix stand side by side (ctok_range).
 *   by id       by_id[id] says where the bytes stand and what kind of token it is; gaps in the numbering have no CTOK_TOKEN_KNOWN.
 *   by bytes    two hash tables: up to 8 bytes the key is the bytes themselves, longer ones are compared with the token.
 *
 * Special tokens are in the by-id view only; they are matched before the model (ctok_literals.h).
 */
#ifndef CTOK_VOCAB_H
#define CTOK_VOCAB_H

#include <string.h>

#include "ctok_base.h"

#define CTOK_TOKEN_KNOWN 1u    /* the id exists */
#define CTOK_TOKEN_ASCII 2u    /* all bytes < 0x80 */
#define CTOK_TOKEN_UTF8 4u     /* valid UTF-8 by itself (ASCII included) */
#define CTOK_TOKEN_SPECIAL 8u  /* a special token: its bytes are its text */

typedef struct ctok_token {
    uint32_t begin;      /* first byte in ctok_vocab.bytes */
    uint32_t len : 24;   /* bytes */
    uint32_t flags : 8;  /* CTOK_TOKEN_* */
} ctok_token;

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
    uint16_t *short_tag;     /* 1 << short_bits slots: some bits of the hash, 0 = empty. Small, so that it stays in fast memory: */
    uint64_t *short_key;     /* most look-ups end there, and only where the tags agree the key is compared */
    ctok_id *short_id;
    uint16_t *long_tag;      /* the same for tokens that are compared byte by byte */
    uint32_t *long_k;        /* the token's place in byte order */
    void *room;              /* what all the arrays stand in */
    size_t room_bytes;
    uint32_t short_bits;
    uint32_t long_bits;
    uint32_t first[257];     /* first[b] = first k whose token starts with a byte >= b */
    uint32_t *first2;        /* 65537, or NULL in a small vocabulary: the same for the first two bytes b << 8 | c, among the tokens that start with b */
    uint16_t *split;         /* n_ids, filled by the kernels as they go: how a token comes about by merging (ctok_vocab_split) */
    ctok_id byte_id[256];    /* id of the one-byte token, or CTOK_NO_ID */
    ctok_id *pair_id;        /* 65536, or NULL in a small vocabulary: id of the token of two bytes, by b | c << 8, or CTOK_NO_ID */
} ctok_vocab;

/* ctok_vocab_init - build all views from tokens in byte order.
 *
 * v         uninitialised; on success owned by the caller and given back with ctok_vocab_free.
 * data      the ordinary tokens' bytes one behind the other, tokens strictly ascending in byte order. Copied. The first may be
 *               empty: its id decodes to nothing, and no look-up finds it.
 * ends      n_tokens cumulative end offsets into data.
 * ids       n_tokens ids, all different, below INT32_MAX: that one is no rank (ctok_mintree.h).
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

/* ctok_vocab_free - give everything back. */
void ctok_vocab_free(ctok_vocab *v);

/* ---- bytes -> id ---- */

/* ctok_load_le - the first n (1..8) bytes at p as a little-endian number. Reads exactly those n bytes. */
static inline uint64_t ctok_load_le(const uint8_t *p, size_t n) {
    uint64_t w = 0;
    if (n >= 8) {
        memcpy(&w, p, 8);
        return w;
    }
    if (n >= 4) {
        uint32_t a, b;
        memcpy(&a, p, 4);
        memcpy(&b, p + n - 4, 4);
        return a | (uint64_t)b << (8 * (n - 4));
    }
    w = p[0];
    w |= (uint64_t)p[n >> 1] << (8 * (n >> 1));
    w |= (uint64_t)p[n - 1] << (8 * (n - 1));
    return w;
}

/* ctok_short_key - the key of a text of n (1..8) bytes given as a number, or 0 when it must go to the table of long tokens:
 * up to 7 bytes carry their length in the top byte, so an 8-byte text whose last byte looks like a length is set aside. */
static inline uint64_t ctok_short_key(uint64_t word, size_t n) {
    if (n < 8) return word | (uint64_t)n << 56;
    return word >> 56 < 8 ? 0 : word;
}

static inline uint64_t ctok_mix(uint64_t key) {
    return (key ^ key >> 32) * UINT64_C(0x9E3779B97F4A7C15);
}

/* ctok_long_hash - hash of a text of n >= 8 bytes. */
static inline uint64_t ctok_long_hash(const uint8_t *p, size_t n) {
    uint64_t h = n;
    for (size_t i = 0; i + 8 < n; i += 8) h = ctok_mix(h ^ ctok_load_le(p + i, 8));
    h = ctok_mix(h ^ ctok_load_le(p + n - 8, 8));
    return h ^ h >> 29;
}

/* Where the search for a hash begins, and its tag: bits next to those of the place, never 0. */
static inline size_t ctok_hash_place(uint64_t h, uint32_t bits) {
    return (size_t)(h >> (64 - bits));
}

static inline uint16_t ctok_hash_tag(uint64_t h, uint32_t bits) {
    return (uint16_t)(h >> (48 - bits) | 1);
}

static inline ctok_id ctok_vocab_find_short(const ctok_vocab *v, uint64_t key) {
    const uint64_t h = ctok_mix(key);
    const uint16_t tag = ctok_hash_tag(h, v->short_bits);
    const size_t mask = ((size_t)1 << v->short_bits) - 1;
    for (size_t at = ctok_hash_place(h, v->short_bits);; at = (at + 1) & mask) {
        if (v->short_tag[at] == tag && v->short_key[at] == key) return v->short_id[at];
        if (v->short_tag[at] == 0) return CTOK_NO_ID;
    }
}

static inline ctok_id ctok_vocab_find_long(const ctok_vocab *v, const uint8_t *p, size_t n) {
    const uint64_t h = ctok_long_hash(p, n);
    const uint16_t tag = ctok_hash_tag(h, v->long_bits);
    const size_t mask = ((size_t)1 << v->long_bits) - 1;
    for (size_t at = ctok_hash_place(h, v->long_bits);; at = (at + 1) & mask) {
        if (v->long_tag[at] == tag) {
            const uint32_t k = v->long_k[at];
            const uint32_t begin = v->begin[k];
            if (v->begin[k + 1] - begin == n && memcmp(v->bytes + begin, p, n) == 0) return v->id_of[k];
        } else if (v->long_tag[at] == 0) {
            return CTOK_NO_ID;
        }
    }
}

/* ctok_vocab_find - the id of the ordinary token with these n >= 1 bytes, or CTOK_NO_ID. Reads exactly n bytes. */
static inline ctok_id ctok_vocab_find(const ctok_vocab *v, const uint8_t *p, size_t n) {
    if (n <= 8) {
        const uint64_t key = ctok_short_key(ctok_load_le(p, n), n);
        if (CTOK_LIKELY(key != 0)) return ctok_vocab_find_short(v, key);
    }
    if (n > v->longest) return CTOK_NO_ID;
    return ctok_vocab_find_long(v, p, n);
}

/* ctok_vocab_find_roomy - the same where 8 bytes may be read at p, whatever n is. */
static inline ctok_id ctok_vocab_find_roomy(const ctok_vocab *v, const uint8_t *p, size_t n) {
    if (n <= 8) {
        const uint64_t key = ctok_short_key(ctok_load_le(p, 8) & ~UINT64_C(0) >> (64 - 8 * n), n);
        if (CTOK_LIKELY(key != 0)) return ctok_vocab_find_short(v, key);
    }
    if (n > v->longest) return CTOK_NO_ID;
    return ctok_vocab_find_long(v, p, n);
}

/* ctok_vocab_pair - the id of the token of the two bytes at p, or CTOK_NO_ID. */
static inline ctok_id ctok_vocab_pair(const ctok_vocab *v, const uint8_t *p) {
    return v->pair_id ? v->pair_id[p[0] | (uint32_t)p[1] << 8] : ctok_vocab_find(v, p, 2);
}

/* ctok_vocab_prefetch - begin to fetch what ctok_vocab_find_roomy of the same text will look at first. */
static inline void ctok_vocab_prefetch(const ctok_vocab *v, const uint8_t *p, size_t n) {
    if (n <= 8) {
        const uint64_t key = ctok_short_key(ctok_load_le(p, 8) & ~UINT64_C(0) >> (64 - 8 * n), n);
        const size_t at = ctok_hash_place(ctok_mix(key), v->short_bits);
        CTOK_PREFETCH(&v->short_tag[at]);
        CTOK_PREFETCH(&v->short_key[at]);
        CTOK_PREFETCH(&v->short_id[at]);
    } else if (n <= v->longest) {
        const size_t at = ctok_hash_place(ctok_long_hash(p, n), v->long_bits);
        CTOK_PREFETCH(&v->long_tag[at]);
        CTOK_PREFETCH(&v->long_k[at]);
    }
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
