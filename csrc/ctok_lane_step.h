/* ctok_lane_step.h - what a step of a merge in a lane (ctok_lane.h) asks for. */
#ifndef CTOK_LANE_STEP_H
#define CTOK_LANE_STEP_H

#include "ctok_lane.h"
#include "ctok_pairmap.h"

/* ctok_lane_find - the rank of the pair that a key (ctok_joins.h) stands for, at a place. Whether it joins cannot be guessed, so no branch
 * asks; one does only where more entries of the bucket stand elsewhere. j->slots must not be NULL. */
static inline int32_t ctok_lane_find(const ctok_joins *j, uint64_t key, unsigned place) {
    const size_t mask = ((size_t)2 << j->bits) - 1;
    for (size_t at = ctok_joins_bucket(j, key);; at = (at + 2) & mask) {
        const uint64_t first = (j->slots[at] & ~CTOK_JOINS_MORE) ^ key, second = j->slots[at + 1] ^ key;
        const uint64_t least = first < second ? first : second;
        const uint32_t joins = 0 - (uint32_t)(least <= CTOK_JOINS_IDS);
        const uint32_t rank = CTOK_LANE_LEAST + ((uint32_t)least << 6 | place);
        if (CTOK_LIKELY(!((uint32_t)(j->slots[at] >> 32) & ~joins & 0x80000000u)))
            return (int32_t)((rank & joins) | (CTOK_LANE_NONE & ~joins));
    }
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
