/* ctok_pairmemo.h - which token two neighbouring tokens join to: answers remembered, one thread's own.
 *
 * A merge asks the same questions again and again, and the vocabulary's tables are larger than a core's fast memory. Here an answer, "none"
 * included, is one 8-byte word: both ids and the joined one, so that a look-up is one load and never wrong. A new answer takes the
 * place of an old one. Vocabularies with ids of 2^21 - 1 and more do without.
 */
#ifndef CTOK_PAIRMEMO_H
#define CTOK_PAIRMEMO_H

#include "ctok_base.h"
#include "ctok_mem.h"

#define CTOK_PAIRMEMO_BITS 14
#define CTOK_PAIRMEMO_IDS ((1u << 21) - 1) /* ids must be below */
#define CTOK_PAIRMEMO_NONE ((1u << 22) - 1)

/* ctok_pairmemo_new - an empty memo (128 KiB), or NULL. Give back with ctok_mem_free. A word of 0 says that 0 and 0 join to 0, which no
 * vocabulary says. */
static inline uint64_t *ctok_pairmemo_new(void) {
    return (uint64_t *)ctok_mem_zeroed((size_t)1 << CTOK_PAIRMEMO_BITS, sizeof(uint64_t));
}

/* ctok_pairmemo_slot - where the answer for left and right stands, if it is known; *key identifies it. */
static inline uint64_t *ctok_pairmemo_slot(uint64_t *memo, ctok_id left, ctok_id right, uint64_t *key) {
    *key = (uint64_t)left << 21 | right;
    return memo + ((*key * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - CTOK_PAIRMEMO_BITS));
}

/* ctok_pairmemo_get - 1 and *joined (CTOK_NO_ID: they do not join) if the slot knows the answer, else 0. */
static inline int ctok_pairmemo_get(const uint64_t *slot, uint64_t key, ctok_id *joined) {
    const uint64_t word = *slot;
    const uint32_t value = (uint32_t)word & CTOK_PAIRMEMO_NONE;
    *joined = value == CTOK_PAIRMEMO_NONE ? CTOK_NO_ID : value;
    return word >> 22 == key && word != 0;
}

static inline void ctok_pairmemo_put(uint64_t *slot, uint64_t key, ctok_id joined) {
    *slot = key << 22 | (joined == CTOK_NO_ID ? CTOK_PAIRMEMO_NONE : joined);
}

#endif
