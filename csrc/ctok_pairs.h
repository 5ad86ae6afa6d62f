/* ctok_pairs.h - what training knows of pairs of neighbouring tokens: how often each stands in the corpus, and where.
 *
 * A hash table of pairs; the pairs themselves lie in an array, so a pair has a number as long as it lives. Where it stands is a list of numbers of
 * blocks, which may name blocks in which it no longer stands.
 */
#ifndef CTOK_PAIRS_H
#define CTOK_PAIRS_H

#include "ctok_mem.h"

typedef struct ctok_pair {
    uint32_t left, right;
    int64_t count;      /* 0: the number is free, or the pair is spent and nothing is left */
    uint32_t *at;       /* blocks, ascending */
    uint32_t n;
    uint32_t spent;     /* it was merged; it is kept because its count goes on */
} ctok_pair;

/* Memory for lists, given back all together. */
typedef struct ctok_pair_chunk {
    struct ctok_pair_chunk *next;
    size_t n, cap;
    uint32_t at[1];
} ctok_pair_chunk;

typedef struct ctok_pairs {
    ctok_pair *pairs;
    uint32_t n, cap;         /* numbers given out so far, room */
    uint32_t *free;          /* numbers that are free again */
    uint32_t n_free, cap_free;
    uint64_t *slots;         /* hash << 32 | number + 1; 0: free */
    uint32_t mask, used;
    ctok_pair_chunk *chunks;
    size_t list_bytes;
} ctok_pairs;

#define CTOK_NO_PAIR UINT32_MAX

static inline uint32_t ctok_pairs_hash(uint32_t left, uint32_t right) {
    uint64_t h = ((uint64_t)left << 32 | right) * UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ h >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return (uint32_t)(h >> 32);
}

static inline void ctok_pairs_fetch(const ctok_pairs *t, uint32_t hash) { CTOK_PREFETCH(&t->slots[hash & t->mask]); }

/* ctok_pairs_find - the number of a pair, or CTOK_NO_PAIR. */
static inline uint32_t ctok_pairs_find(const ctok_pairs *t, uint32_t left, uint32_t right) {
    const uint32_t hash = ctok_pairs_hash(left, right);
    for (uint32_t slot = hash & t->mask;; slot = (slot + 1) & t->mask) {
        const uint64_t s = t->slots[slot];
        if (s == 0) return CTOK_NO_PAIR;
        if (s >> 32 == hash) {
            const ctok_pair *p = &t->pairs[(uint32_t)s - 1];
            if (p->left == left && p->right == right) return (uint32_t)s - 1;
        }
    }
}

/* ctok_pairs_init - an empty table. ctok_pairs_free gives its memory back. */
ctok_status ctok_pairs_init(ctok_pairs *t);
void ctok_pairs_free(ctok_pairs *t);

/* ctok_pairs_add - the number of a pair, which is put in with count 0 and no list if it is not there; or CTOK_NO_PAIR: no memory. */
uint32_t ctok_pairs_add(ctok_pairs *t, uint32_t left, uint32_t right);

/* ctok_pairs_drop - take a pair out; its number may be given to another. */
ctok_status ctok_pairs_drop(ctok_pairs *t, uint32_t number);

/* ctok_pairs_list - room for a list of n blocks, or NULL. */
uint32_t *ctok_pairs_list(ctok_pairs *t, size_t n);

/* ctok_pairs_memory - bytes that the table holds. */
size_t ctok_pairs_memory(const ctok_pairs *t);

#endif
