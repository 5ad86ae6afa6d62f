/* ctok_pairmap.h - a list of merges: which pair of tokens joins, how early, and to what.
 *
 * One open-addressing table whose slots hold all there is to say about a pair, so that a look-up is one cache line whatever its answer.
 * Read-only after ctok_pairmap_init: any number of threads may use it.
 */
#ifndef CTOK_PAIRMAP_H
#define CTOK_PAIRMAP_H

#include "ctok_base.h"
#include "ctok_vocab.h"

typedef struct ctok_pair {
    uint64_t key; /* ctok_pair_key; 0 = empty slot */
    uint32_t rank;
    ctok_id joined;
} ctok_pair;

typedef struct ctok_pairmap {
    ctok_pair *slots;
    size_t bytes;   /* of the block they stand in */
    uint32_t bits;  /* 1 << bits slots */
    int hollow;     /* some merge adds nothing to its left part: see ctok_pairmap_init */
} ctok_pairmap;

/* ctok_pairmap_init - build the table of n merges.
 *
 * m       uninitialised; on success owned by the caller and given back with ctok_pairmap_free.
 * v       the tokens' texts by id. Not kept.
 * pairs   left id and right id of each merge in turn, earliest first; the place is the rank. Of two merges of one pair the later counts.
 * joined  the id that each merge gives, if that is known; it is believed as long as the lengths of the three texts agree. Else NULL.
 * prefix  bytes that the right part of a merge loses when the two are joined: continuing_subword_prefix.
 *
 * Returns CTOK_OK, CTOK_ERR_MEMORY, or CTOK_ERR_FORMAT with *bad the number of a merge that names an id without a token, whose right part is
 * shorter than the prefix, or whose joined text is no token, or not that long. m then owns nothing.
 *
 * `hollow` is set when the right part of some merge is the prefix and no more. Then a token's text does not say how long it is, and an
 * entry of a queue of pairs can be outdated and look valid all the same.
 *
 * Cost: about 10 ns a merge with `joined`; without it 20 ns where results stand in the order of their ids, as in files that training made,
 * else 60 ns.
 */
ctok_status ctok_pairmap_init(ctok_pairmap *m, const ctok_vocab *v, const uint32_t *pairs, const ctok_id *joined, size_t n, size_t prefix,
                              size_t *bad);

/* ctok_pairmap_free - give everything back. */
void ctok_pairmap_free(ctok_pairmap *m);

/* Never 0: ids are below INT32_MAX. */
static inline uint64_t ctok_pair_key(ctok_id left, ctok_id right) {
    return ((uint64_t)left << 32 | right) + 1;
}

static inline size_t ctok_pairmap_place(const ctok_pairmap *m, uint64_t key) {
    return (size_t)(ctok_mix(key) >> (64 - m->bits));
}

/* ctok_pairmap_find - the merge of left and right, or NULL when they do not join. Any ids. */
static inline const ctok_pair *ctok_pairmap_find(const ctok_pairmap *m, ctok_id left, ctok_id right) {
    const uint64_t key = ctok_pair_key(left, right);
    const size_t mask = ((size_t)1 << m->bits) - 1;
    for (size_t at = ctok_pairmap_place(m, key);; at = (at + 1) & mask) {
        if (m->slots[at].key == key) return &m->slots[at];
        if (m->slots[at].key == 0) return NULL;
    }
}

/* ctok_pairmap_prefetch - begin to fetch what ctok_pairmap_find will look at first. */
static inline void ctok_pairmap_prefetch(const ctok_pairmap *m, ctok_id left, ctok_id right) {
    CTOK_PREFETCH(&m->slots[ctok_pairmap_place(m, ctok_pair_key(left, right))]);
}

/* ---- answers about pairs, remembered: a table that threads share ---- */

#define CTOK_PAIR_ANSWERS 15 /* 1 << this many words */

/* ctok_pair_answer - what is remembered about a pair: 1 yes, 0 no, -1 nothing. CTOK_NO_ID is a left one, too. */
static inline int ctok_pair_answer(const uint64_t *answers, ctok_id left, ctok_id right) {
    const uint64_t key = (uint64_t)(left & INT32_MAX) << 31 | (right & INT32_MAX);
    const uint64_t *slot = answers + ((key + 1) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - CTOK_PAIR_ANSWERS));
#if defined(__GNUC__) || defined(__clang__)
    const uint64_t word = __atomic_load_n(slot, __ATOMIC_RELAXED);
#else
    const uint64_t word = *(const volatile uint64_t *)slot;
#endif
    return word >> 63 && (word & ~(UINT64_C(3) << 62)) == key ? (int)(word >> 62 & 1) : -1;
}

static inline void ctok_pair_remember(uint64_t *answers, ctok_id left, ctok_id right, int answer) {
    const uint64_t key = (uint64_t)(left & INT32_MAX) << 31 | (right & INT32_MAX);
    uint64_t *slot = answers + ((key + 1) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - CTOK_PAIR_ANSWERS));
    const uint64_t word = UINT64_C(1) << 63 | (uint64_t)(answer != 0) << 62 | key;
#if defined(__GNUC__) || defined(__clang__)
    __atomic_store_n(slot, word, __ATOMIC_RELAXED);
#else
    *(volatile uint64_t *)slot = word;
#endif
}

#endif
