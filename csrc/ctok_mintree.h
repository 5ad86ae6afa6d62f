/* ctok_mintree.h - the leftmost smallest of n numbers, changed one at a time.
 *
 * A tree of minima with 16 children a node: level 0 holds the numbers, each level above one minimum for every 16 below, and the topmost
 * at most 64. Reading the minimum costs a scan of the topmost level and of 16 in each one below, changing a number at most a scan of 16
 * a level. Up to 64 numbers there is a single level: a change is one store. Compared with a heap: no stale entries, ties resolve to the left by themselves, and the memory is the
 * numbers plus a fifteenth.
 *
 * Values are int32; CTOK_MINTREE_NONE (the largest) means "not there".
 */
#ifndef CTOK_MINTREE_H
#define CTOK_MINTREE_H

#include "ctok_base.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define CTOK_MINTREE_NONE INT32_MAX
#define CTOK_MINTREE_LEVELS 8 /* more than 16^8 numbers */
#define CTOK_MINTREE_TOP 4    /* blocks of 16 in the topmost level, at most */

typedef struct ctok_mintree {
    int32_t *level[CTOK_MINTREE_LEVELS];
    int top;
    size_t top_blocks; /* of 16, in the topmost level */
} ctok_mintree;

/* ctok_mintree_room - how many int32 a tree of n numbers needs. */
static inline size_t ctok_mintree_room(size_t n) {
    size_t total = 0;
    for (;;) {
        const size_t blocks = (n + 15) / 16;
        total += blocks * 16;
        if (blocks <= CTOK_MINTREE_TOP) return total;
        n = blocks;
    }
}

/* ctok_mintree_shape - lay a tree of n >= 1 numbers into room (ctok_mintree_room(n) items, 16-byte aligned) and set all to NONE. */
static inline void ctok_mintree_shape(ctok_mintree *t, int32_t *room, size_t n) {
    t->top = -1;
    for (;;) {
        const size_t blocks = (n + 15) / 16;
        t->level[++t->top] = room;
        for (size_t i = 0; i < blocks * 16; i++) room[i] = CTOK_MINTREE_NONE;
        room += blocks * 16;
        if (blocks <= CTOK_MINTREE_TOP) break;
        n = blocks;
    }
    t->top_blocks = (n + 15) / 16;
}

/* ctok_min16 - the smallest of 16 numbers; *at is the place of the first one. */
static inline int32_t ctok_min16(const int32_t *a, unsigned *at) {
#ifdef __SSE2__
#define CTOK_MIN4(x, y) _mm_or_si128(_mm_and_si128(_mm_cmpgt_epi32(x, y), y), _mm_andnot_si128(_mm_cmpgt_epi32(x, y), x))
    const __m128i v0 = _mm_loadu_si128((const __m128i *)(const void *)a), v1 = _mm_loadu_si128((const __m128i *)(const void *)(a + 4));
    const __m128i v2 = _mm_loadu_si128((const __m128i *)(const void *)(a + 8)), v3 = _mm_loadu_si128((const __m128i *)(const void *)(a + 12));
    const __m128i m01 = CTOK_MIN4(v0, v1), m23 = CTOK_MIN4(v2, v3);
    __m128i m = CTOK_MIN4(m01, m23);
    const __m128i half = _mm_shuffle_epi32(m, 0x4E);
    m = CTOK_MIN4(m, half);
    const __m128i quarter = _mm_shuffle_epi32(m, 0xB1);
    m = CTOK_MIN4(m, quarter);
    const __m128i e01 = _mm_packs_epi32(_mm_cmpeq_epi32(v0, m), _mm_cmpeq_epi32(v1, m));
    const __m128i e23 = _mm_packs_epi32(_mm_cmpeq_epi32(v2, m), _mm_cmpeq_epi32(v3, m));
    *at = (unsigned)__builtin_ctz((unsigned)_mm_movemask_epi8(_mm_packs_epi16(e01, e23)));
    return _mm_cvtsi128_si32(m);
#undef CTOK_MIN4
#else
    int32_t best = a[0];
    *at = 0;
    for (unsigned i = 1; i < 16; i++)
        if (a[i] < best) best = a[i], *at = i;
    return best;
#endif
}

/* ctok_mintree_build - compute the levels above after the numbers were written straight into level[0]. */
static inline void ctok_mintree_build(ctok_mintree *t, size_t n) {
    unsigned at;
    for (int l = 0; l < t->top; l++) {
        n = (n + 15) / 16;
        for (size_t i = 0; i < n; i++) t->level[l + 1][i] = ctok_min16(t->level[l] + 16 * i, &at);
    }
}

/* ctok_mintree_first - the smallest number; *place is where its leftmost copy stands. */
static inline int32_t ctok_mintree_first(const ctok_mintree *t, size_t *place) {
    unsigned at;
    int32_t best = ctok_min16(t->level[t->top], &at);
    size_t i = at;
    for (size_t b = 1; b < t->top_blocks; b++) {
        const int32_t other = ctok_min16(t->level[t->top] + 16 * b, &at);
        if (other < best) {
            best = other;
            i = 16 * b + at;
        }
    }
    for (int l = t->top - 1; l >= 0; l--) {
        best = ctok_min16(t->level[l] + 16 * i, &at);
        i = 16 * i + at;
    }
    *place = i;
    return best;
}

/* ctok_mintree_set - change number i. */
static inline void ctok_mintree_set(ctok_mintree *t, size_t i, int32_t value) {
    unsigned at;
    t->level[0][i] = value;
    for (int l = 0; l < t->top; l++) {
        const int32_t best = ctok_min16(t->level[l] + (i & ~(size_t)15), &at);
        i >>= 4;
        if (t->level[l + 1][i] == best) return;
        t->level[l + 1][i] = best;
    }
}

#endif
