/* ctok_scan_mask.h - a window of 64 bytes as bit masks, by SSE2, AVX2 or AVX-512. Internal to ctok_scan_*.c.
 *
 * Bit i of a class mask says that byte i belongs to a character of that class; every byte of a longer character carries its class.
 */
#ifndef CTOK_SCAN_MASK_H
#define CTOK_SCAN_MASK_H

#include "ctok_scan_step.h"

#ifdef CTOK_SCAN_X86
#include <immintrin.h>
#include <string.h>

#define CTOK_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define CTOK_AVX512 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi2")))

typedef struct ctok_masks {
    uint64_t upper, lower, uncased, mark, number; /* letters by case, marks, numbers */
    uint64_t space;    /* U+0020 */
    uint64_t newline;  /* \r \n */
    uint64_t white;    /* white space, the two above included */
    uint64_t quote;    /* apostrophes */
    uint64_t high;     /* bytes >= 0x80 */
    uint64_t tail;     /* bytes of a character after its first */
    uint64_t valid;    /* the n low bits; no class has others */
    unsigned n;        /* bytes of whole characters that the family handles; if less than 61, a character it does not handle follows */
} ctok_masks;

CTOK_SCAN_INLINE uint64_t ctok_bits_below(unsigned i) { return i < 64 ? ((uint64_t)1 << i) - 1 : UINT64_MAX; }
CTOK_SCAN_INLINE unsigned ctok_bits_first(uint64_t bits) { return (unsigned)__builtin_ctzll(bits); }
CTOK_SCAN_INLINE unsigned ctok_bits_last(uint64_t bits) { return 63 - (unsigned)__builtin_clzll(bits); }

/* ctok_bits_after - where the next character starts, for each character whose first byte is in chars. */
CTOK_SCAN_INLINE uint64_t ctok_bits_after(uint64_t chars, uint64_t tail) { return ((chars << 1) + tail) & ~tail; }

/* ctok_masks_cut - forget everything from byte n on. */
CTOK_SCAN_INLINE void ctok_masks_cut(ctok_masks *m, unsigned n) {
    const uint64_t keep = ctok_bits_below(n);
    m->n = n;
    m->upper &= keep;
    m->lower &= keep;
    m->uncased &= keep;
    m->mark &= keep;
    m->number &= keep;
    m->space &= keep;
    m->newline &= keep;
    m->white &= keep;
    m->quote &= keep;
    m->high &= keep;
    m->tail &= keep;
    m->valid = keep;
}

/* What a window looks like to ctok_masks_widen: its bytes, and the kind of every byte >= 0x80; both may be overshot. */
typedef struct ctok_wide {
    uint8_t bytes[64 + 8];
    uint8_t kinds[64 + 8];
    uint64_t by_kind[7]; /* bit i of by_kind[k]: kinds[i] has bit k */
} ctok_wide;

/* ctok_wide_kinds - fill kinds; leads = first bytes of the longer characters that end in the window. */
CTOK_SCAN_INLINE void ctok_wide_kinds(ctok_wide *w, uint64_t leads) {
    memset(w->bytes + 64, 0, 8);
    memset(w->kinds, CTOK_KIND_OTHER, sizeof w->kinds);
    while (leads) {
        for (int k = 0; k < 4; k++) { /* four at a time: the count is then easier to predict; those too many go behind the window */
            const unsigned i = leads ? ctok_bits_first(leads) : 64;
            const uint8_t *at = w->bytes + i;
            uint32_t kind = ctok_scan_by_bytes(at[0], at[1], at[2]);
            if (CTOK_UNLIKELY(at[0] >= 0xF0)) kind = ctok_scan_four(at);
            kind *= UINT32_C(0x01010101);
            memcpy(w->kinds + i, &kind, 4); /* what is too much is overwritten by the next character, or not looked at */
            leads &= leads - 1;
        }
    }
}

/* The first bytes of the longer characters that end in the window; m->n loses the one that does not. */
CTOK_SCAN_INLINE uint64_t ctok_wide_leads(ctok_masks *m, const uint8_t *at) {
    const uint64_t leads = m->high & ~m->tail;
    if (!leads) return 0;
    const unsigned last = ctok_bits_last(leads);
    if (last + (at[last] < 0xE0 ? 2 : at[last] < 0xF0 ? 3 : 4) <= 64) return leads;
    m->n = last;
    return leads & ~((uint64_t)1 << last);
}

/* Add the longer characters to the masks of the window, up to the first whose kind is in `stop_at`. */
CTOK_SCAN_INLINE void ctok_wide_add(const ctok_wide *w, ctok_masks *m, unsigned stop_at) {
    const uint64_t number = w->by_kind[4] & m->high;
    const uint64_t white = w->by_kind[6] & m->high;
    const uint64_t stops = (stop_at & CTOK_KIND_NUMBER ? number : 0) | (stop_at & CTOK_KIND_WHITE ? white : 0);
    m->upper |= w->by_kind[0] & m->high;
    m->lower |= w->by_kind[1] & m->high;
    m->uncased = w->by_kind[2] & m->high;
    m->mark = w->by_kind[3] & m->high;
    m->number |= number;
    m->white |= white;
    if (stops & ctok_bits_below(m->n)) m->n = ctok_bits_first(stops);
    if (m->n < 64) ctok_masks_cut(m, m->n);
}

/* ---- the three vector widths ---- */

/* Bytes of v from `first` on, `count` of them: all ones. */
#define CTOK_RANGE(PREFIX, KIND, v, first, count)                                                             \
    PREFIX##_cmpeq_epi8(PREFIX##_min_epu8(PREFIX##_sub_epi8(v, PREFIX##_set1_epi8(first)),                     \
                                          PREFIX##_set1_epi8((count) - 1)),                                    \
                        PREFIX##_sub_epi8(v, PREFIX##_set1_epi8(first)))

/* One vector's share of every mask, at byte `shift` of the window. */
#define CTOK_CLASSIFY(PREFIX, SUFFIX, VECTOR, BITS, m, at, shift)                                              \
    do {                                                                                                      \
        const VECTOR v = PREFIX##_loadu_##SUFFIX((const VECTOR *)(const void *)((at) + (shift)));              \
        const VECTOR eol = PREFIX##_or_##SUFFIX(PREFIX##_cmpeq_epi8(v, PREFIX##_set1_epi8('\n')),              \
                                                PREFIX##_cmpeq_epi8(v, PREFIX##_set1_epi8('\r')));             \
        const VECTOR blank = PREFIX##_cmpeq_epi8(v, PREFIX##_set1_epi8(' '));                                  \
        const VECTOR control = CTOK_RANGE(PREFIX, SUFFIX, v, '\t', 5);                                        \
        (m)->upper |= (uint64_t)(BITS)PREFIX##_movemask_epi8(CTOK_RANGE(PREFIX, SUFFIX, v, 'A', 26)) << (shift); \
        (m)->lower |= (uint64_t)(BITS)PREFIX##_movemask_epi8(CTOK_RANGE(PREFIX, SUFFIX, v, 'a', 26)) << (shift); \
        (m)->number |= (uint64_t)(BITS)PREFIX##_movemask_epi8(CTOK_RANGE(PREFIX, SUFFIX, v, '0', 10)) << (shift); \
        (m)->space |= (uint64_t)(BITS)PREFIX##_movemask_epi8(blank) << (shift);                                \
        (m)->newline |= (uint64_t)(BITS)PREFIX##_movemask_epi8(eol) << (shift);                                \
        (m)->white |= (uint64_t)(BITS)PREFIX##_movemask_epi8(PREFIX##_or_##SUFFIX(blank, control)) << (shift); \
        (m)->quote |= (uint64_t)(BITS)PREFIX##_movemask_epi8(PREFIX##_cmpeq_epi8(v, PREFIX##_set1_epi8('\''))) << (shift); \
        (m)->high |= (uint64_t)(BITS)PREFIX##_movemask_epi8(v) << (shift);                                     \
        (m)->tail |= (uint64_t)(BITS)PREFIX##_movemask_epi8(PREFIX##_cmpgt_epi8(PREFIX##_set1_epi8(-64), v)) << (shift); \
    } while (0)

CTOK_SCAN_INLINE void ctok_masks_sse2(ctok_masks *m, const uint8_t *at) {
    *m = (ctok_masks){.valid = UINT64_MAX, .n = 64};
    CTOK_CLASSIFY(_mm, si128, __m128i, uint16_t, m, at, 0);
    CTOK_CLASSIFY(_mm, si128, __m128i, uint16_t, m, at, 16);
    CTOK_CLASSIFY(_mm, si128, __m128i, uint16_t, m, at, 32);
    CTOK_CLASSIFY(_mm, si128, __m128i, uint16_t, m, at, 48);
}

CTOK_AVX2 CTOK_SCAN_INLINE void ctok_masks_avx2(ctok_masks *m, const uint8_t *at) {
    *m = (ctok_masks){.valid = UINT64_MAX, .n = 64};
    CTOK_CLASSIFY(_mm256, si256, __m256i, uint32_t, m, at, 0);
    CTOK_CLASSIFY(_mm256, si256, __m256i, uint32_t, m, at, 32);
}

/* ctok_widen_* - let the longer characters of the window take part, up to the first whose kind is in `stop_at`. */
CTOK_NOINLINE static void ctok_widen_sse2(ctok_masks *m, const uint8_t *at, unsigned stop_at) {
    ctok_wide w = {.by_kind = {0}};
    memcpy(w.bytes, at, 64);
    ctok_wide_kinds(&w, ctok_wide_leads(m, at));
    for (int i = 0; i < 64; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(w.kinds + i));
        for (int k = 6; k >= 0; k--) {
            v = _mm_add_epi8(v, v);
            w.by_kind[k] |= (uint64_t)(uint16_t)_mm_movemask_epi8(v) << i;
        }
    }
    ctok_wide_add(&w, m, stop_at);
}

CTOK_AVX2 CTOK_NOINLINE static void ctok_widen_avx2(ctok_masks *m, const uint8_t *at, unsigned stop_at) {
    ctok_wide w;
    memcpy(w.bytes, at, 64);
    ctok_wide_kinds(&w, ctok_wide_leads(m, at));
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)w.kinds);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(w.kinds + 32));
    for (int k = 6; k >= 0; k--) {
        low = _mm256_add_epi8(low, low);
        high = _mm256_add_epi8(high, high);
        w.by_kind[k] = (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
    }
    ctok_wide_add(&w, m, stop_at);
}

CTOK_AVX512 CTOK_NOINLINE static void ctok_widen_avx512(ctok_masks *m, const uint8_t *at, unsigned stop_at) {
    ctok_wide w;
    memcpy(w.bytes, at, 64);
    ctok_wide_kinds(&w, ctok_wide_leads(m, at));
    const __m512i v = _mm512_loadu_si512(w.kinds);
    for (int k = 6; k >= 0; k--) w.by_kind[k] = _mm512_test_epi8_mask(v, _mm512_set1_epi8((char)(1 << k)));
    ctok_wide_add(&w, m, stop_at);
}

#define CTOK_RANGE_AVX512(v, first, count) _mm512_cmplt_epu8_mask(_mm512_sub_epi8(v, _mm512_set1_epi8(first)), _mm512_set1_epi8(count))
#define CTOK_EQUAL_AVX512(v, byte) _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(byte))

CTOK_AVX512 CTOK_SCAN_INLINE void ctok_masks_avx512(ctok_masks *m, const uint8_t *at) {
    const __m512i v = _mm512_loadu_si512(at);
    *m = (ctok_masks){.valid = UINT64_MAX, .n = 64};
    m->upper = CTOK_RANGE_AVX512(v, 'A', 26);
    m->lower = CTOK_RANGE_AVX512(v, 'a', 26);
    m->number = CTOK_RANGE_AVX512(v, '0', 10);
    m->space = CTOK_EQUAL_AVX512(v, ' ');
    m->newline = CTOK_EQUAL_AVX512(v, '\n') | CTOK_EQUAL_AVX512(v, '\r');
    m->white = m->space | CTOK_RANGE_AVX512(v, '\t', 5);
    m->quote = CTOK_EQUAL_AVX512(v, '\'');
    m->high = _mm512_movepi8_mask(v);
    m->tail = _mm512_cmplt_epi8_mask(v, _mm512_set1_epi8(-64));
}

/* Write base + i for every set bit i, in order; up to 64 places are written. Return how many count. */
CTOK_SCAN_INLINE size_t ctok_flatten_plain(uint64_t bits, uint32_t base, uint32_t *stops) {
    const size_t n = (size_t)__builtin_popcountll(bits);
    for (size_t k = 0; k < n; k += 8) {
        for (size_t j = 0; j < 8; j++) {
            stops[k + j] = base + (bits ? ctok_bits_first(bits) : 0);
            bits &= bits - 1;
        }
    }
    return n;
}

CTOK_AVX2 CTOK_SCAN_INLINE size_t ctok_flatten_avx2(uint64_t bits, uint32_t base, uint32_t *stops) {
    const size_t n = (size_t)_mm_popcnt_u64(bits);
    for (size_t k = 0; k < n; k += 8) {
        for (size_t j = 0; j < 8; j++) {
            stops[k + j] = base + (uint32_t)_tzcnt_u64(bits);
            bits = _blsr_u64(bits);
        }
    }
    return n;
}

CTOK_AVX512 CTOK_SCAN_INLINE size_t ctok_flatten_avx512(uint64_t bits, uint32_t base, uint32_t *stops) {
    const size_t n = (size_t)_mm_popcnt_u64(bits);
    const __m512i places = _mm512_set_epi8(
        63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32,
        31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i packed = _mm512_maskz_compress_epi8(bits, places);
    const __m512i first = _mm512_set1_epi32((int)base);
    _mm512_storeu_si512(stops, _mm512_add_epi32(first, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(packed))));
    if (n > 16) _mm512_storeu_si512(stops + 16, _mm512_add_epi32(first, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(packed, 1))));
    if (n > 32) _mm512_storeu_si512(stops + 32, _mm512_add_epi32(first, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(packed, 2))));
    if (n > 48) _mm512_storeu_si512(stops + 48, _mm512_add_epi32(first, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(packed, 3))));
    return n;
}
#endif

#endif
