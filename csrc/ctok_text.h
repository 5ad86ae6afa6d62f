/* ctok_text.h - text on its way out: a growing buffer of bytes, and the rules by which ill-formed bytes become text.
 *
 * Knows UTF-8 (ctok_utf8.h) and memory (ctok_mem.h), nothing of tokens or Python. A buffer belongs to one thread at a time.
 */
#ifndef CTOK_TEXT_H
#define CTOK_TEXT_H

#include "ctok_utf8.h"

#define CTOK_TEXT_SPARE 64 /* bytes that may be scribbled on behind what was reserved, so that copies may overshoot */

typedef struct ctok_text {
    uint8_t *p;   /* n bytes of text, cap allocated */
    size_t n;
    size_t cap;
    int owned;    /* 0: p is the caller's own first buffer */
} ctok_text;

/* What becomes of ill-formed bytes. */
typedef enum ctok_on_error {
    CTOK_ERRORS_REPLACE = 0, /* U+FFFD */
    CTOK_ERRORS_STRICT = 1,  /* refused */
    CTOK_ERRORS_IGNORE = 2   /* nothing */
} ctok_on_error;

/* What one U+FFFD stands for: the UTF-8 policy. */
typedef enum ctok_per {
    CTOK_PER_SUBPART = 0, /* a maximal subpart */
    CTOK_PER_BYTE = 1,    /* a byte of one */
    CTOK_PER_RUN = 2      /* each byte of a run of tokens that are no text by themselves, when the run is not well formed */
} ctok_per;

/* ctok_text_init - start with a buffer of the caller (cap >= CTOK_TEXT_SPARE bytes, often on the stack), which must outlive t.
 * Memory is allocated only when that is too small. */
static inline void ctok_text_init(ctok_text *t, uint8_t *first, size_t cap) {
    t->p = first;
    t->n = 0;
    t->cap = cap;
    t->owned = 0;
}

/* ctok_text_free - give back what was allocated. t is then unusable until ctok_text_init. */
void ctok_text_free(ctok_text *t);

/* ctok_text_grow - the slow half of ctok_text_reserve. */
ctok_status ctok_text_grow(ctok_text *t, size_t more);

/* ctok_text_reserve - make t->p[t->n .. t->n + more + CTOK_TEXT_SPARE) writable. CTOK_OK or CTOK_ERR_MEMORY (t is then unchanged). */
static inline ctok_status ctok_text_reserve(ctok_text *t, size_t more) {
    if (CTOK_LIKELY(t->cap - t->n >= CTOK_TEXT_SPARE && more <= t->cap - t->n - CTOK_TEXT_SPARE)) return CTOK_OK;
    return ctok_text_grow(t, more);
}

/* ctok_text_append - copy n bytes behind the text. p must not point into t. CTOK_OK or CTOK_ERR_MEMORY (t is then unchanged). */
ctok_status ctok_text_append(ctok_text *t, const uint8_t *p, size_t n);

/* ctok_text_mend - append n bytes, well formed or not, as well-formed text.
 *
 * errors    what an ill-formed subpart becomes; an unfinished character at the end counts as one.
 * per_byte  0: a maximal subpart is replaced as a whole; 1: each of its bytes is replaced.
 * bad       with CTOK_ERRORS_STRICT: set to the first byte of the first ill-formed subpart.
 *
 * Returns CTOK_OK, CTOK_ERR_UTF8 (only STRICT) or CTOK_ERR_MEMORY; after an error t->n is as before. p must not point into t.
 * Cost: linear.
 */
ctok_status ctok_text_mend(ctok_text *t, const uint8_t *p, size_t n, ctok_on_error errors, int per_byte, size_t *bad);

#endif
