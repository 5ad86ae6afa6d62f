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

/* Is a text a proper prefix of some token? What is known of its first four bytes decides mostly, and leaves few tokens to look through. */
#define CTOK_BEGINMEMO_BITS 13
#define CTOK_BEGINMEMO_BYTES 4u
#define CTOK_BEGINMEMO_MANY 1024u /* tokens whose lengths nobody looks through */
#define CTOK_BEGINMEMO_FAR 0xFFFFu

typedef struct ctok_beginning {
    uint32_t text;      /* its bytes, */
    uint16_t n;         /* three or four; 0 = empty */
    uint16_t longest;   /* no token that begins with it is longer, if it is four; 0 if none goes on behind it */
    uint32_t lo, hi;    /* the tokens that begin with it */
} ctok_beginning;

/* ctok_beginmemo_new - an empty memo (128 KiB), or NULL. Give back with ctok_mem_free. */
static inline ctok_beginning *ctok_beginmemo_new(void) {
    return (ctok_beginning *)ctok_mem_zeroed((size_t)1 << CTOK_BEGINMEMO_BITS, sizeof(ctok_beginning));
}

static inline void ctok_beginmemo_fill(const ctok_vocab *v, ctok_beginning *b, ctok_range r) {
    uint32_t longest = 0;
    if (ctok_range_goes_on(v, r)) {
        longest = r.depth < CTOK_BEGINMEMO_BYTES || r.hi - r.lo > CTOK_BEGINMEMO_MANY ? CTOK_BEGINMEMO_FAR : 0;
        for (uint32_t k = r.lo; k < r.hi && longest < CTOK_BEGINMEMO_FAR; k++) {
            const uint32_t len = v->begin[k + 1] - v->begin[k];
            longest = len < longest ? longest : len < CTOK_BEGINMEMO_FAR ? len : CTOK_BEGINMEMO_FAR;
        }
    }
    b->longest = (uint16_t)longest;
    b->lo = r.lo;
    b->hi = r.hi;
}

/* What is known of p[0..n), n = 3 or 4. */
static inline ctok_beginning ctok_beginmemo_get(const ctok_vocab *v, ctok_beginning *memo, const uint8_t *p, size_t n) {
    const uint32_t text = (uint32_t)ctok_load_le(p, n);
    ctok_beginning *b = memo + (((uint64_t)text << 3 | n) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - CTOK_BEGINMEMO_BITS));
    if (CTOK_UNLIKELY(b->text != text || b->n != n)) {
        ctok_range r = {v->first[p[0]], v->first[p[0] + 1], 1};
        if (n == CTOK_BEGINMEMO_BYTES) { /* more is known of three */
            const ctok_beginning three = ctok_beginmemo_get(v, memo, p, 3);
            r.lo = three.lo;
            r.hi = three.hi;
            r.depth = 3;
        }
        while (r.depth < n) r = ctok_range_step(v, r, p[r.depth]);
        b->text = text;
        b->n = (uint16_t)n;
        ctok_beginmemo_fill(v, b, r);
    }
    return *b;
}

/* ctok_beginmemo_ask - ctok_vocab_begins, remembered. */
static inline int ctok_beginmemo_ask(const ctok_vocab *v, ctok_beginning *memo, const uint8_t *p, size_t n) {
    if (n < 3) return ctok_vocab_begins(v, p, n);
    const ctok_beginning b = ctok_beginmemo_get(v, memo, p, n < CTOK_BEGINMEMO_BYTES ? n : CTOK_BEGINMEMO_BYTES);
    if (b.longest <= n && b.longest < CTOK_BEGINMEMO_FAR) return 0;
    return n <= CTOK_BEGINMEMO_BYTES || ctok_vocab_begins_among(v, b.lo, b.hi, p, n);
}

#endif
