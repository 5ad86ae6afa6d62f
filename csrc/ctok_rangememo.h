/* ctok_rangememo.h - steps through the vocabulary as a trie, remembered; one thread's own.
 *
 * ctok_range_step searches; the same few thousand steps come again and again. A range is known by its first token and depth, so those two
 * and the byte are the key, compared in full. A new step takes the place of an old one.
 */
#ifndef CTOK_RANGEMEMO_H
#define CTOK_RANGEMEMO_H

#include "ctok_key.h"
#include "ctok_mem.h"
#include "ctok_vocab.h"

#define CTOK_RANGEMEMO_BITS 14

typedef struct ctok_step {
    uint32_t lo, tag;     /* first token of the range; depth << 8 | byte, never 0 because the root is not kept here */
    uint32_t to_lo, to_hi;
    ctok_id token;        /* ctok_range_token and */
    uint32_t goes_on;     /* ctok_range_goes_on of the range to_lo..to_hi */
} ctok_step;

/* ctok_rangememo_new - an empty memo (384 KiB), or NULL. Give back with ctok_mem_free. */
static inline ctok_step *ctok_rangememo_new(void) {
    return (ctok_step *)ctok_mem_zeroed((size_t)1 << CTOK_RANGEMEMO_BITS, sizeof(ctok_step));
}

/* ctok_rangememo_step - what ctok_range_step gives for the byte b behind the tokens lo..hi-1 that begin with a text of depth >= 1 bytes, and
 * what there is to know of it. Good until the next call. */
static inline const ctok_step *ctok_rangememo_step(const ctok_vocab *v, ctok_step *memo, uint32_t lo, uint32_t hi, uint32_t depth, uint8_t b) {
    const uint32_t tag = depth << 8 | b;
    ctok_step *s = memo + (((uint64_t)lo << 32 | tag) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - CTOK_RANGEMEMO_BITS));
    if (CTOK_UNLIKELY(s->lo != lo || s->tag != tag)) {
        const ctok_range from = {lo, hi, depth}, to = ctok_range_step(v, from, b);
        s->lo = lo;
        s->tag = tag;
        s->to_lo = to.lo;
        s->to_hi = to.hi;
        s->token = ctok_range_token(v, to);
        s->goes_on = (uint32_t)ctok_range_goes_on(v, to);
    }
    return s;
}

/* A whole short text: is it a proper prefix of some token? What is open at the end of a chunk is asked this, and is mostly
 * the beginning of a common word. */
#define CTOK_PREFIXMEMO_BITS 13
#define CTOK_PREFIXMEMO_YES (UINT64_C(1) << 63)

/* ctok_prefixmemo_new - an empty memo (128 KiB), or NULL. Give back with ctok_mem_free. */
static inline uint64_t *ctok_prefixmemo_new(void) {
    return (uint64_t *)ctok_mem_zeroed((size_t)2 << CTOK_PREFIXMEMO_BITS, sizeof(uint64_t));
}

/* ctok_prefixmemo_slot - where the answer for a key (ctok_key.h) stands; it is there iff *known is set, and is the top bit of slot[1]. */
static inline uint64_t *ctok_prefixmemo_slot(uint64_t *memo, const uint64_t key[2], int *known) {
    uint64_t *slot = memo + (ctok_mix(key[0] ^ key[1] * UINT64_C(0xA0761D6478BD642F)) >> (64 - CTOK_PREFIXMEMO_BITS)) * 2;
    *known = slot[0] == key[0] && (slot[1] & ~CTOK_PREFIXMEMO_YES) == key[1];
    return slot;
}

/* How long are the tokens that begin with a text? Asked for its first four bytes, so that a few thousand answers do. */
#define CTOK_REACHMEMO_BITS 13
#define CTOK_REACHMEMO_BYTES 4u
#define CTOK_REACHMEMO_MANY 1024u /* tokens that nobody looks through */
#define CTOK_REACHMEMO_FAR 0xFFFFu

/* ctok_reachmemo_new - an empty memo (64 KiB), or NULL. Give back with ctok_mem_free. */
static inline uint64_t *ctok_reachmemo_new(void) {
    return (uint64_t *)ctok_mem_zeroed((size_t)1 << CTOK_REACHMEMO_BITS, sizeof(uint64_t));
}

/* The longest of the tokens that begin with p[0..n), n <= 4, if one does that is longer than n; else 0. */
static inline uint64_t ctok_reach(const ctok_vocab *v, const uint8_t *p, size_t n) {
    ctok_range r = ctok_range_root(v);
    uint32_t longest = 0;
    for (size_t i = 0; i < n; i++) r = ctok_range_step(v, r, p[i]);
    if (!ctok_range_goes_on(v, r)) return 0;
    if (n < CTOK_REACHMEMO_BYTES || r.hi - r.lo > CTOK_REACHMEMO_MANY) return CTOK_REACHMEMO_FAR;
    for (uint32_t k = r.lo; k < r.hi; k++) longest = v->begin[k + 1] - v->begin[k] > longest ? v->begin[k + 1] - v->begin[k] : longest;
    return longest < CTOK_REACHMEMO_FAR ? longest : CTOK_REACHMEMO_FAR;
}

/* ctok_reachmemo_get - a number of bytes such that no token that begins with p[0..n), n >= 1, is longer. For n <= 4 it is greater than n iff
 * there is such a token. CTOK_REACHMEMO_FAR may stand for any more. */
static inline size_t ctok_reachmemo_get(const ctok_vocab *v, uint64_t *memo, const uint8_t *p, size_t n) {
    const size_t asked = n < CTOK_REACHMEMO_BYTES ? n : CTOK_REACHMEMO_BYTES;
    const uint64_t key = ctok_load_le(p, asked) | (uint64_t)asked << 32;
    uint64_t *slot = memo + (key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - CTOK_REACHMEMO_BITS));
    if (CTOK_UNLIKELY((*slot & UINT64_C(0xFFFFFFFFFF)) != key)) *slot = key | ctok_reach(v, p, asked) << 40;
    return (size_t)(*slot >> 40);
}

#endif
