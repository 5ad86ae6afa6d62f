/* ctok_wordcut.h - the words of a text that spells blanks as U+2581: where they begin, and which are plain letters.
 *
 * A word begins at a U+2581 that does not follow another one: it is a run of them and what stands up to the next run.
 */
#ifndef CTOK_WORDCUT_H
#define CTOK_WORDCUT_H

#include <string.h>

#include "ctok_base.h"

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define CTOK_WORDS_SSE2 1
#endif

#define CTOK_WORDS_BLOCK 256u
#define CTOK_WORDS_SHORT 18u         /* bytes of a U+2581 and of a key (csrc/ctok_key.h) */

static inline int ctok_is_mark(const uint8_t *p) {
    return p[0] == 0xE2 && p[1] == 0x96 && p[2] == 0x81;
}

/* ctok_words_marks - bit i: a U+2581 starts at p[i]; p[0..66) is readable. */
static inline uint64_t ctok_words_marks(const uint8_t *p) {
    uint64_t marks = 0;
#ifdef CTOK_WORDS_SSE2
    const __m128i a = _mm_set1_epi8((char)0xE2), b = _mm_set1_epi8((char)0x96), c = _mm_set1_epi8((char)0x81);
    for (unsigned i = 0; i < 64; i += 16) {
        const __m128i first = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + i)), a);
        const __m128i second = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + i + 1)), b);
        const __m128i third = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + i + 2)), c);
        marks |= (uint64_t)(uint16_t)_mm_movemask_epi8(_mm_and_si128(_mm_and_si128(first, second), third)) << i;
    }
#else
    for (unsigned i = 0; i < 64; i++) marks |= (uint64_t)(ctok_is_mark(p + i) != 0) << i;
#endif
    return marks;
}

/* ctok_words_cut - where words of p[0..n) stop, from the one that starts at pos on: at most CTOK_WORDS_BLOCK + 64 places, ascending; the last
 * may be n. Returns how many, at least one if pos < n; n < 2^32. */
static inline size_t ctok_words_cut(const uint8_t *p, size_t pos, size_t n, uint32_t *stops) {
    uint8_t rest[80];
    size_t found = 0, at = pos;
    uint64_t before = pos >= 3 && ctok_is_mark(p + pos - 3); /* the low bits: a U+2581 starts 3, 2, 1 bytes before `at` */
    while (at < n && found < CTOK_WORDS_BLOCK) {
        const uint8_t *window = p + at;
        if (n - at < 66) {
            memset(rest, 0, sizeof rest);
            memcpy(rest, window, n - at);
            window = rest;
        }
        const uint64_t marks = ctok_words_marks(window);
        uint64_t borders = marks & ~(marks << 3 | before);
        if (at == pos) borders &= ~UINT64_C(1);
        before = marks >> 61;
        for (; borders; borders &= borders - 1) stops[found++] = (uint32_t)(at + ctok_lowest_bit(borders));
        at += 64;
    }
    if (at >= n) stops[found++] = (uint32_t)n;
    return found;
}

/* ctok_words_spelled - is p[0..n), n >= 4, a word of at most CTOK_WORDS_SHORT bytes: a U+2581, any sign, and letters from a to z?
 * 20 bytes can be read. */
static inline int ctok_words_spelled(const uint8_t *p, size_t n) {
    if (n > CTOK_WORDS_SHORT || !ctok_is_mark(p)) return 0;
#ifdef CTOK_WORDS_SSE2
    const __m128i above = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + 4)), _mm_set1_epi8('a'));
    const unsigned letters = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8('z' - 'a')), above));
    return (~letters & ((1u << (n - 4)) - 1)) == 0;
#else
    size_t i = 4;
    while (i < n && p[i] >= 'a' && p[i] <= 'z') i++;
    return i == n;
#endif
}

#endif
