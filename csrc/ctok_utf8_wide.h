/* ctok_utf8_wide.h - UTF-8 to and from fixed-width characters with AVX-512: a part of ctok_utf8.c, for processors that have it.
 *
 * CTOK_UTF8_WIDE says whether this build has the kernels. With CTOK_NO_AVX512 (tests of the other ways) it has not.
 */
#ifndef CTOK_UTF8_WIDE_H
#define CTOK_UTF8_WIDE_H

#include "ctok_base.h"

#define CTOK_UTF8_WIDE_LEAST 160 /* bytes that must be left for a step of 32: 39 or more characters begin in them, whatever they are */

#if defined(__SSE2__) && defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__)) && !defined(CTOK_NO_AVX512)
#define CTOK_UTF8_WIDE 1

#include <immintrin.h>

#include "ctok_cpu.h"

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt")))

/* The byte of a character's end that holds its six bits from `low` on. */
AVX512 static inline __m512i end_byte(__m512i c, unsigned low) {
    return _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi32(c, low), _mm512_set1_epi32(0x3F)), _mm512_set1_epi32(0x80));
}

/* Bytes from the first to the last, each in the low bits of a word of its own, as one word. */
AVX512 static inline __m512i joined3(__m512i first, __m512i second, __m512i third) {
    return _mm512_or_si512(_mm512_or_si512(first, _mm512_slli_epi32(second, 8)), _mm512_slli_epi32(third, 16));
}

/* move16 of characters in words: each word is made its bytes, and those that count are moved together. */
AVX512 static inline size_t move16_avx512(uint8_t *dst, __m512i c) {
    const __mmask16 two = _mm512_cmpgt_epu32_mask(c, _mm512_set1_epi32(0x7F)), three = _mm512_cmpgt_epu32_mask(c, _mm512_set1_epi32(0x7FF));
    if (two == 0) {
        _mm_storeu_si128((__m128i *)(void *)dst, _mm512_cvtepi32_epi8(c));
        return 16;
    }
    if (_mm512_cmpeq_epi32_mask(_mm512_and_si512(c, _mm512_set1_epi32((int)0xFFFFF800)), _mm512_set1_epi32(0xD800))) return 0;
    const __mmask16 four = _mm512_cmpgt_epu32_mask(c, _mm512_set1_epi32(0xFFFF));
    const __m512i last = end_byte(c, 0), middle = end_byte(c, 6), zero = _mm512_setzero_si512();
    __m512i bytes = _mm512_mask_mov_epi32(c, two, joined3(_mm512_or_si512(_mm512_srli_epi32(c, 6), _mm512_set1_epi32(0xC0)), last, zero));
    __m512i count = _mm512_mask_mov_epi32(_mm512_set1_epi32(0xFF), two, _mm512_set1_epi32(0xFFFF));
    bytes = _mm512_mask_mov_epi32(bytes, three, joined3(_mm512_or_si512(_mm512_srli_epi32(c, 12), _mm512_set1_epi32(0xE0)), middle, last));
    count = _mm512_mask_mov_epi32(count, three, _mm512_set1_epi32(0xFFFFFF));
    if (four) {
        const __m512i first = _mm512_or_si512(_mm512_srli_epi32(c, 18), _mm512_set1_epi32(0xF0));
        bytes = _mm512_mask_mov_epi32(bytes, four, _mm512_or_si512(joined3(first, end_byte(c, 12), middle), _mm512_slli_epi32(last, 24)));
        count = _mm512_mask_mov_epi32(count, four, _mm512_set1_epi32(-1));
    }
    const __mmask64 counts = _mm512_movepi8_mask(count);
    _mm512_storeu_si512(dst, _mm512_maskz_compress_epi8(counts, bytes));
    return (size_t)__builtin_popcountll(counts);
}

AVX512 static inline size_t move16_ucs2_avx512(uint8_t *dst, const uint16_t *s) {
    return move16_avx512(dst, _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)s)));
}

AVX512 static inline size_t move16_ucs4_avx512(uint8_t *dst, const uint32_t *s) { return move16_avx512(dst, _mm512_loadu_si512(s)); }

/* ---- to fixed width ---- */

AVX512 static inline __m512i wider32(const uint8_t *p) {
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(const void *)p));
}

/* The characters of at most three bytes that start among 32 bytes of well-formed text, side by side; *n of them. Reads 34 bytes. */
AVX512 static inline __m512i characters32(const uint8_t *p, unsigned *n) {
    const __m512i six = _mm512_set1_epi16(0x3F), b0 = wider32(p), b1 = _mm512_and_si512(wider32(p + 1), six);
    const __m512i two = _mm512_or_si512(_mm512_slli_epi16(_mm512_and_si512(b0, _mm512_set1_epi16(0x1F)), 6), b1);
    const __m512i b2 = _mm512_and_si512(wider32(p + 2), six);
    const __m512i three = _mm512_or_si512(_mm512_or_si512(_mm512_slli_epi16(b0, 12), _mm512_slli_epi16(b1, 6)), b2);
    const __m512i more = _mm512_mask_mov_epi16(two, _mm512_cmpgt_epu16_mask(b0, _mm512_set1_epi16(0xDF)), three);
    const __m512i all = _mm512_mask_mov_epi16(more, _mm512_cmplt_epu16_mask(b0, _mm512_set1_epi16(0x80)), b0);
    const __mmask32 starts = _mm256_cmpgt_epi8_mask(_mm256_loadu_si256((const __m256i *)(const void *)p), _mm256_set1_epi8(-65));
    *n = (unsigned)__builtin_popcount(starts);
    return _mm512_maskz_compress_epi16(starts, all);
}

AVX512 static inline __m512i wider16(const uint8_t *p) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
}

/* As characters32 for 16 bytes and characters of any length. Reads 19 bytes. */
AVX512 static inline __m512i characters16_any(const uint8_t *p, unsigned *n) {
    const __m512i six = _mm512_set1_epi32(0x3F), b0 = wider16(p), b1 = _mm512_and_si512(wider16(p + 1), six);
    const __m512i b2 = _mm512_and_si512(wider16(p + 2), six), b3 = _mm512_and_si512(wider16(p + 3), six);
    const __m512i two = _mm512_or_si512(_mm512_slli_epi32(_mm512_and_si512(b0, _mm512_set1_epi32(0x1F)), 6), b1);
    const __m512i tail = _mm512_or_si512(_mm512_slli_epi32(b1, 6), b2);
    const __m512i three = _mm512_or_si512(_mm512_slli_epi32(_mm512_and_si512(b0, _mm512_set1_epi32(0xF)), 12), tail);
    const __m512i four = _mm512_or_si512(
        _mm512_or_si512(_mm512_slli_epi32(_mm512_and_si512(b0, _mm512_set1_epi32(7)), 18), _mm512_slli_epi32(tail, 6)), b3);
    __m512i all = _mm512_mask_mov_epi32(two, _mm512_cmpgt_epu32_mask(b0, _mm512_set1_epi32(0xDF)), three);
    all = _mm512_mask_mov_epi32(all, _mm512_cmpgt_epu32_mask(b0, _mm512_set1_epi32(0xEF)), four);
    all = _mm512_mask_mov_epi32(all, _mm512_cmplt_epu32_mask(b0, _mm512_set1_epi32(0x80)), b0);
    const __mmask16 starts = _mm512_cmpneq_epi32_mask(_mm512_and_si512(b0, _mm512_set1_epi32(0xC0)), _mm512_set1_epi32(0x80));
    *n = (unsigned)__builtin_popcount(starts);
    return _mm512_maskz_compress_epi32(starts, all);
}

AVX512 static inline void store32_ucs1(uint8_t *dst, __m512i c) {
    _mm256_storeu_si256((__m256i *)(void *)dst, _mm512_cvtepi16_epi8(c));
}

AVX512 static inline void store32_ucs2(uint16_t *dst, __m512i c) { _mm512_storeu_si512(dst, c); }

AVX512 static inline void store32_ucs4(uint32_t *dst, __m512i c) {
    _mm512_storeu_si512(dst, _mm512_cvtepu16_epi32(_mm512_castsi512_si256(c)));
    _mm512_storeu_si512(dst + 16, _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(c, 1)));
}

/* 32 bytes with a character above U+FFFF: only fixed-width characters of four bytes hold one. */
AVX512 static inline unsigned put32_any_ucs4(const uint8_t *p, uint32_t *dst) {
    unsigned first, second;
    _mm512_storeu_si512(dst, characters16_any(p, &first));
    _mm512_storeu_si512(dst + first, characters16_any(p + 16, &second));
    return first + second;
}

/* Bytes in steps of 32 while so many are left that writing whole vectors stays inside dst. Returns the bytes done; *n_chars characters
 * started among them. */
#define DEFINE_WIDE(name, wide, store32, astral32)                                                              \
    AVX512 static size_t name(const uint8_t *p, size_t n, wide *dst, size_t *n_chars) {                         \
        size_t i = 0;                                                                                           \
        wide *out = dst;                                                                                        \
        for (; n - i >= CTOK_UTF8_WIDE_LEAST; i += 32) {                                                        \
            unsigned count = 32;                                                                                \
            const __m256i w = _mm256_loadu_si256((const __m256i *)(const void *)(p + i));                       \
            if (_mm256_movepi8_mask(w) == 0) {                                                                  \
                store32(out, _mm512_cvtepu8_epi16(w));                                                          \
            } else if (astral32 && _mm256_cmpge_epu8_mask(w, _mm256_set1_epi8((char)0xF0))) {                   \
                count = put32_any_ucs4(p + i, (uint32_t *)(void *)out);                                         \
            } else {                                                                                            \
                store32(out, characters32(p + i, &count));                                                      \
            }                                                                                                   \
            out += count;                                                                                       \
        }                                                                                                       \
        *n_chars = (size_t)(out - dst);                                                                         \
        return i;                                                                                               \
    }

DEFINE_WIDE(wide_ucs1, uint8_t, store32_ucs1, 0)
DEFINE_WIDE(wide_ucs2, uint16_t, store32_ucs2, 0)
DEFINE_WIDE(wide_ucs4, uint32_t, store32_ucs4, 1)
#undef DEFINE_WIDE

static inline int has_avx512(void) { return ctok_cpu_avx512(); }
#else
#define CTOK_UTF8_WIDE 0
static inline int has_avx512(void) { return 0; }

static inline size_t not_wide(const uint8_t *p, size_t n, const void *dst, size_t *n_chars) {
    (void)p, (void)n, (void)dst, (void)n_chars;
    return 0;
}
#define wide_ucs1 not_wide
#define wide_ucs2 not_wide
#define wide_ucs4 not_wide
#endif

#endif
