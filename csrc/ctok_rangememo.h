/* ctok_rangememo.h - steps through the vocabulary as a trie, remembered; one thread's own.
 *
 * ctok_range_step searches; the same few thousand steps come again and again. A range is known by its first token and depth, so those two
 * and the byte are the key, compared in full. A new step takes the place of an old one.
 */
#ifndef CTOK_RANGEMEMO_H
#define CTOK_RANGEMEMO_H

#include "ctok_mem.h"
#include "ctok_vocab.h"

#define CTOK_RANGEMEMO_BITS 14

typedef struct ctok_step {
    uint32_t lo, tag;   /* first token of the range; depth << 8 | byte, never 0 because depth 0 and 1 are not kept here */
    uint32_t to_lo, to_hi;
} ctok_step;

/* ctok_rangememo_new - an empty memo (256 KiB), or NULL. Give back with ctok_mem_free. */
static inline ctok_step *ctok_rangememo_new(void) {
    return (ctok_step *)ctok_mem_zeroed((size_t)1 << CTOK_RANGEMEMO_BITS, sizeof(ctok_step));
}

/* ctok_rangememo_step - what ctok_range_step gives. */
static inline ctok_range ctok_rangememo_step(const ctok_vocab *v, ctok_step *memo, ctok_range r, uint8_t b) {
    if (r.depth < 2 || r.lo == r.hi) return ctok_range_step(v, r, b);
    const uint32_t tag = r.depth << 8 | b;
    ctok_step *s = memo + (((uint64_t)r.lo << 32 | tag) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - CTOK_RANGEMEMO_BITS));
    if (s->lo != r.lo || s->tag != tag) {
        const ctok_range to = ctok_range_step(v, r, b);
        s->lo = r.lo;
        s->tag = tag;
        s->to_lo = to.lo;
        s->to_hi = to.hi;
    }
    const ctok_range out = {s->to_lo, s->to_hi, r.depth + 1};
    return out;
}

#endif
