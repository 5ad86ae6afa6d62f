/* ctok_lane.h - one short pretoken being merged: the places of its symbols as a bit set, and the ranks of their pairs.
 *
 * A rank is kept as a number that says at once how low it is and where it stands, so that the least one is found without a comparison that
 * a processor could guess wrong: rank << 6 | place, moved to where it is also an ordinary float of the same order. (SSE2, which every x86-64
 * has, finds the smaller of floats, but not of 32-bit integers.)
 */
#ifndef CTOK_LANE_H
#define CTOK_LANE_H

#include "ctok_joins.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define CTOK_LANE_PLACES 64
#define CTOK_LANE_LEAST 0x10000000
#define CTOK_LANE_NONE 0x18000000 /* and all above: no pair */

/* ctok_lane_rank - the rank of the token that joins a pair at a place; of CTOK_NO_ID: none. Ids are below CTOK_JOINS_IDS. */
static inline int32_t ctok_lane_rank(ctok_id joined, unsigned place) {
    const uint32_t found = joined < CTOK_JOINS_IDS + 1 ? joined : CTOK_JOINS_IDS + 1;
    return (int32_t)(CTOK_LANE_LEAST + (found << 6 | place));
}

/* ctok_lane_unless - the same rank, or none if the pair's first symbol is taken (1). */
static inline int32_t ctok_lane_unless(uint64_t taken, int32_t rank) { return rank + (int32_t)(taken << 29); }

static inline unsigned ctok_lane_place(int32_t rank) { return (unsigned)rank & 63; }
static inline ctok_id ctok_lane_token(int32_t rank) { return (ctok_id)(rank - CTOK_LANE_LEAST) >> 6; }

/* ctok_lane_least - the least of 16 * blocks ranks. */
static inline int32_t ctok_lane_least(const int32_t *ranks, size_t blocks) {
#ifdef __SSE2__
    const float *p = (const float *)(const void *)ranks;
    __m128 m = _mm_min_ps(_mm_min_ps(_mm_loadu_ps(p), _mm_loadu_ps(p + 4)), _mm_min_ps(_mm_loadu_ps(p + 8), _mm_loadu_ps(p + 12)));
    for (size_t b = 1; CTOK_UNLIKELY(b < blocks); b++) {
        p += 16;
        m = _mm_min_ps(m, _mm_min_ps(_mm_min_ps(_mm_loadu_ps(p), _mm_loadu_ps(p + 4)), _mm_min_ps(_mm_loadu_ps(p + 8), _mm_loadu_ps(p + 12))));
    }
    m = _mm_min_ps(m, _mm_movehl_ps(m, m));
    m = _mm_min_ss(m, _mm_shuffle_ps(m, m, 1));
    return _mm_cvtsi128_si32(_mm_castps_si128(m));
#else
    int32_t least = ranks[0];
    for (size_t i = 1; i < 16 * blocks; i++) least = ranks[i] < least ? ranks[i] : least;
    return least;
#endif
}

/* ctok_lane_first - the first place of a set that is not empty. */
static inline unsigned ctok_lane_first(uint64_t places) { return ctok_lowest_bit(places); }

/* ctok_lane_next - the first place behind `place` that is in the set; there must be one. */
static inline unsigned ctok_lane_next(uint64_t places, unsigned place) {
    return ctok_lane_first(places & ~UINT64_C(1) << place);
}

/* ctok_lane_before - the last place before `place` that is in the set; there must be one. */
static inline unsigned ctok_lane_before(uint64_t places, unsigned place) {
    const uint64_t before = places & ((UINT64_C(1) << place) - 1);
#if defined(__GNUC__) || defined(__clang__)
    return 63u ^ (unsigned)__builtin_clzll(before);
#else
    unsigned i = place - 1;
    while (!(before >> i & 1)) i--;
    return i;
#endif
}

#endif
