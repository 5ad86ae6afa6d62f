/* ctok_jsonrun.h - tables in JSON whose entries are written like the one before: short plain strings with the same bytes in between.
 *
 * Such are the files that programs write. What is not alike is left to ctok_json.h, which also says what is wrong with it. Nothing here is
 * looked for on machines without SSE2.
 */
#ifndef CTOK_JSONRUN_H
#define CTOK_JSONRUN_H

#include "ctok_base.h"

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define CTOK_JSONRUN_SSE2
#define CTOK_JSONRUN_HERE 1 /* whether it is worth while to look for what is alike */
#else
#define CTOK_JSONRUN_HERE 0
#endif

#define CTOK_JSONRUN_BYTES 32u /* a string with its quote, or what stands between two, must fit in; as many are read wherever one may begin */
#define CTOK_JSONRUN_ODD UINT32_MAX

/* What stands between two strings: from the closing quote of one to the opening quote of the next, both included. n = 0: not known. */
typedef struct ctok_jsonrun_gap {
    const uint8_t *at;
    size_t n;
} ctok_jsonrun_gap;

#ifdef CTOK_JSONRUN_SSE2
/* A bit for each byte of two halves for which a comparison holds. */
static inline uint32_t ctok_jsonrun_bits(__m128i first, __m128i second) {
    return (uint32_t)_mm_movemask_epi8(first) | (uint32_t)_mm_movemask_epi8(second) << 16;
}

static inline __m128i ctok_jsonrun_ends(__m128i x) {
    const __m128i quote = _mm_cmpeq_epi8(x, _mm_set1_epi8('"')), slash = _mm_cmpeq_epi8(x, _mm_set1_epi8('\\'));
    return _mm_or_si128(_mm_or_si128(quote, slash), _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(0x1F)), x));
}

static inline __m128i ctok_jsonrun_leads(__m128i x) { /* C2..DF */
    return _mm_and_si128(_mm_cmpgt_epi8(x, _mm_set1_epi8(-63)), _mm_cmplt_epi8(x, _mm_set1_epi8(-32)));
}
#endif

/* ctok_jsonrun_text - the length of the string whose text begins at p, behind its opening quote, or CTOK_JSONRUN_ODD: it does not end within
 * CTOK_JSONRUN_BYTES, holds an escape or a control character, or not only whole characters of one and two bytes.
 *
 * blanks   where in it blanks stand, a bit for each byte.
 */
static inline uint32_t ctok_jsonrun_text(const uint8_t *p, uint32_t *blanks) {
#ifdef CTOK_JSONRUN_SSE2
    const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p), y = _mm_loadu_si128((const __m128i *)(const void *)(p + 16));
    const __m128i blank = _mm_set1_epi8(' '), behind = _mm_set1_epi8(-64); /* 80..BF are below */
    const uint32_t ends = ctok_jsonrun_bits(ctok_jsonrun_ends(x), ctok_jsonrun_ends(y));
    if (CTOK_UNLIKELY(ends == 0)) return CTOK_JSONRUN_ODD;
    const uint32_t n = ctok_lowest_bit(ends), upto = ends ^ (ends - 1); /* the end included: it is no part of a character */
    const uint32_t wide = ctok_jsonrun_bits(x, y) & upto, lead = ctok_jsonrun_bits(ctok_jsonrun_leads(x), ctok_jsonrun_leads(y)) & upto;
    const uint32_t rest = ctok_jsonrun_bits(_mm_cmplt_epi8(x, behind), _mm_cmplt_epi8(y, behind)) & upto;
    *blanks = ctok_jsonrun_bits(_mm_cmpeq_epi8(x, blank), _mm_cmpeq_epi8(y, blank)) & upto;
    if (CTOK_UNLIKELY(p[n] != '"' || wide != (rest | lead) || rest != lead << 1)) return CTOK_JSONRUN_ODD;
    return n;
#else
    (void)p;
    *blanks = 0;
    return CTOK_JSONRUN_ODD;
#endif
}

/* ctok_jsonrun_is - whether what stands at p is such a gap. */
static inline int ctok_jsonrun_is(const uint8_t *p, ctok_jsonrun_gap gap) {
#ifdef CTOK_JSONRUN_SSE2
    const __m128i *a = (const __m128i *)(const void *)p, *b = (const __m128i *)(const void *)gap.at;
    if (CTOK_UNLIKELY(gap.n == 0)) return 0;
    const __m128i first = _mm_cmpeq_epi8(_mm_loadu_si128(a), _mm_loadu_si128(b));
    const __m128i second = _mm_cmpeq_epi8(_mm_loadu_si128(a + 1), _mm_loadu_si128(b + 1));
    return (~ctok_jsonrun_bits(first, second) & UINT32_MAX >> (32 - gap.n)) == 0;
#else
    (void)p, (void)gap;
    return 0;
#endif
}

#endif
