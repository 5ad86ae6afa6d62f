/* ctok_lane_step.h - what a step of a merge in a lane (ctok_lane.h) asks for. */
#ifndef CTOK_LANE_STEP_H
#define CTOK_LANE_STEP_H

#include "ctok_lane.h"
#include "ctok_pairmap.h"

/* ctok_lane_find - the rank of the pair that a key (ctok_joins.h) stands for, at a place; `at` is the key's bucket. Whether it joins cannot be
 * guessed, so no branch asks; one does only where more entries of the bucket stand elsewhere. */
static inline int32_t ctok_lane_find(const ctok_joins *j, const uint64_t *at, uint64_t key, unsigned place) {
    const uint64_t first = (at[0] & ~CTOK_JOINS_MORE) ^ key, second = at[1] ^ key;
    const uint64_t least = first < second ? first : second;
    /* As a number with a sign the difference is negative iff nothing is found. */
    if (CTOK_UNLIKELY(at[0] & (CTOK_JOINS_IDS - least) & CTOK_JOINS_MORE)) return ctok_lane_rank(ctok_joins_get(j, key), place);
    return ctok_lane_rank((ctok_id)(least <= CTOK_JOINS_IDS ? least : CTOK_JOINS_IDS + 1), place);
}

#define CTOK_LANE_RANKS CTOK_JOINS_IDS /* ranks of a list of merges must be below */
#define CTOK_PAIR_NEVER (UINT64_C(0xFFFFFFFF) << 32 | 1) /* the key (ctok_pair_key) of a pair that never joins */

/* ctok_lane_pair - the same from a list of merges; *joined is what the pair joins to, or anything. */
static inline int32_t ctok_lane_pair(const ctok_pairmap *m, uint64_t key, unsigned place, ctok_id *joined) {
    const size_t mask = ((size_t)1 << m->bits) - 1;
    for (size_t at = ctok_pairmap_place(m, key);; at = (at + 2) & mask) {
        const ctok_pair *a = &m->slots[at], *b = &m->slots[(at + 1) & mask];
        const uint32_t first = 0 - (uint32_t)(a->key == key), second = 0 - (uint32_t)(b->key == key), joins = first | second;
        const uint32_t rank = CTOK_LANE_LEAST + (((a->rank & first) | (b->rank & second)) << 6 | place);
        *joined = (a->joined & first) | (b->joined & second);
        if (CTOK_LIKELY(joins | (uint32_t)(a->key == 0) | (uint32_t)(b->key == 0)))
            return (int32_t)((rank & joins) | (CTOK_LANE_NONE & ~joins));
    }
}

#endif
