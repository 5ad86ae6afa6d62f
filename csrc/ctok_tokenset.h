/* ctok_tokenset.h - the tokens of a vocabulary that grows: texts by number, numbers by text. */
#ifndef CTOK_TOKENSET_H
#define CTOK_TOKENSET_H

#include "ctok_bytes.h"

typedef struct ctok_tokenset {
    ctok_bytes text;
    uint64_t *ends;      /* n + 1, the first is 0 */
    uint32_t n, cap;
    uint32_t *slots;     /* number + 1; 0: free */
    uint32_t mask;
} ctok_tokenset;

ctok_status ctok_tokenset_init(ctok_tokenset *t);
void ctok_tokenset_free(ctok_tokenset *t);

static inline const uint8_t *ctok_tokenset_at(const ctok_tokenset *t, uint32_t number) { return t->text.at + t->ends[number]; }

static inline size_t ctok_tokenset_len(const ctok_tokenset *t, uint32_t number) {
    return (size_t)(t->ends[number + 1] - t->ends[number]);
}

/* ctok_tokenset_find - the first token with the text p[0..n), or CTOK_NO_ID. */
uint32_t ctok_tokenset_find(const ctok_tokenset *t, const uint8_t *p, size_t n);

/* ctok_tokenset_push - one more token, number t->n; the same text may be there already. p may not lie in the set. */
ctok_status ctok_tokenset_push(ctok_tokenset *t, const uint8_t *p, size_t n);

#endif
