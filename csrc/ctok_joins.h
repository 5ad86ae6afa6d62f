/* ctok_joins.h - which token two neighbouring symbols of a merge join to, by their ids.
 *
 * The rule of a merge speaks of joined bytes. But whenever a merge makes a token, what happened between its two ends is what happens when
 * its bytes alone are merged: so of the ways to cut a token in two, only that of its own last merge is ever used. A table of those pairs
 * answers every question of a merge with one look at one place, and without touching the bytes. Holding more pairs than needed does no
 * harm, as long as their bytes give the token: the rule would join them, and never gets to.
 *
 * Open addressing in buckets of two slots. A slot is both ids, the left one first and the right one plus 1, and the joined one, 21 bits
 * each; 0 is empty. The top bit of a bucket's first slot says that more entries of this bucket stand in the next one.
 */
#ifndef CTOK_JOINS_H
#define CTOK_JOINS_H

#include "ctok_base.h"

#define CTOK_JOINS_ID_BITS 21
#define CTOK_JOINS_IDS ((1u << CTOK_JOINS_ID_BITS) - 1) /* ids must be below: the last number stands for CTOK_NO_ID */
#define CTOK_JOINS_MORE (UINT64_C(1) << 63)
#define CTOK_JOINS_NEVER (UINT64_C(1) << 63) /* the key of a pair that never joins */

typedef struct ctok_joins {
    uint64_t *slots;     /* 2 << bits, or NULL: the vocabulary has no such table, pairs are looked up by their bytes */
    uint32_t bits;
} ctok_joins;

static inline size_t ctok_joins_bytes(const ctok_joins *j) {
    return j->slots == NULL ? 0 : ((size_t)2 << j->bits) * sizeof *j->slots;
}

/* ctok_joins_key - a pair as a slot without the joined id, never 0. CTOK_NO_ID on either side gives a key that is in no table: on the left
 * one with the top bit, on the right one without a right id. */
static inline uint64_t ctok_joins_key(ctok_id left, ctok_id right) {
    return ((uint64_t)left << (2 * CTOK_JOINS_ID_BITS)) + (((uint64_t)right + 1) << CTOK_JOINS_ID_BITS);
}

static inline size_t ctok_joins_bucket(const ctok_joins *j, uint64_t key) {
    return (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - j->bits)) << 1;
}

/* ctok_joins_get - the token that the pair joins to, or CTOK_NO_ID. j->slots must not be NULL. */
static inline ctok_id ctok_joins_get(const ctok_joins *j, uint64_t key) {
    const size_t mask = ((size_t)2 << j->bits) - 1;
    for (size_t at = ctok_joins_bucket(j, key);; at = (at + 2) & mask) {
        /* What differs from the key: only the id, or more. Without a branch: which it is cannot be guessed. */
        const uint64_t first = (j->slots[at] & ~CTOK_JOINS_MORE) ^ key, second = j->slots[at + 1] ^ key;
        const uint64_t least = first < second ? first : second;
        const ctok_id found = least > CTOK_JOINS_IDS ? CTOK_NO_ID : (ctok_id)least;
        if (CTOK_LIKELY(!(j->slots[at] & CTOK_JOINS_MORE)) || found != CTOK_NO_ID) return found;
    }
}

/* ctok_joins_fetch - begin to fetch what ctok_joins_get will look at; returns the bucket. */
static inline const uint64_t *ctok_joins_fetch(const ctok_joins *j, uint64_t key) {
    const uint64_t *at = &j->slots[ctok_joins_bucket(j, key)];
    CTOK_PREFETCH(at);
    return at;
}

#endif
