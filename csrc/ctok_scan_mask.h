/* ctok_scan_mask.h - windows of 64 bytes as bit masks, and the block functions made of them. Internal to ctok_scan_*.c.
 *
 * A window starts at a border, so nothing before it matters and no state is carried from window to window. Bit i of a class mask
 * says that byte i belongs to a character of that class; every byte of a longer character carries the class. A family turns masks
 * into the borders that the window decides (its `starts` function: bit i set = a pretoken starts at byte i); the last of them is
 * where the next window starts. Long pretokens, characters that a family does not handle in masks, and the last 63 bytes of the
 * text go through the scalar step, so a window never reaches past end and only steps decide what is still open.
 */
#ifndef CTOK_SCAN_MASK_H
#define CTOK_SCAN_MASK_H

#include "ctok_scan_step.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define CTOK_SCAN_X86 1
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

/* ---- what the rules of cl100k and o200k share ---- */

/* ctok_starts_of_threes - every third of a run of numbers (all of one byte). */
CTOK_SCAN_INLINE uint64_t ctok_starts_of_threes(uint64_t number) {
    const uint64_t after_three = number & number << 1 & number << 2 & number << 3;
    uint64_t starts = number & ~(number << 1);
    for (uint64_t more = starts << 3 & after_three; more; more = more << 3 & after_three) starts |= more;
    return starts;
}

/* ctok_starts_of_lines - the starts inside white space under `[^\s..]+[\r\n]* | \s*[\r\n]+ | \s+(?!\S) | \s+`; other = what the
 * first of these is made of. Newlines right after other belong to it. What remains of a run starts; so does what follows its last
 * newline, and its last character if that is no newline. */
CTOK_SCAN_INLINE uint64_t ctok_starts_of_lines(const ctok_masks *m, uint64_t other) {
    const uint64_t blank = m->white & ~m->newline;
    const uint64_t taken = m->newline & other << 1;
    uint64_t starts = m->white & ~(m->white << 1) & ~taken;
    starts |= blank & ~(m->white >> 1);
    if (!m->newline) return starts;
    const uint64_t indent = blank & m->newline << 1;
    uint64_t follows = indent;
    for (uint64_t ends = (indent + blank) & ~blank & m->newline; ends; ends &= ends - 1) /* a newline later: not the last one */
        follows &= ~((uint64_t)1 << ctok_bits_last(indent & ctok_bits_below(ctok_bits_first(ends))));
    return starts | follows | (((taken + m->newline) & ~m->newline) & blank);
}

/* ctok_bits_decided - the places whose start does not depend on what follows the window: three bytes hold a contraction, and the
 * white space that reaches the end may turn out to hold a newline, which its first character does not mind. */
CTOK_SCAN_INLINE uint64_t ctok_bits_decided(const ctok_masks *m) {
    const uint64_t solid = m->valid & ~m->white;
    const unsigned run = solid ? ctok_bits_last(solid) + 2 : 1;
    return ctok_bits_below(run < m->n - 3 ? run : m->n - 3) & ~(uint64_t)1;
}

/* ---- the block function ---- */

typedef void ctok_masks_fn(ctok_masks *m, const uint8_t *at);
typedef void ctok_widen_fn(ctok_masks *m, const uint8_t *at, unsigned stop_at);
typedef size_t ctok_flatten_fn(uint64_t bits, uint32_t base, uint32_t *stops);
typedef uint64_t ctok_starts_fn(ctok_masks *m, const uint8_t *at); /* may cut m; bit 0 is never set */

/* A window that gives little (a long pretoken, a character that the masks do not handle) is followed by steps: past that character,
 * and over ever longer stretches while windows keep giving little, so that no text costs much more than steps alone.
 *
 * All arguments after out are known where this is inlined: one loop per family and level, without calls. */
CTOK_SCAN_INLINE void ctok_scan_windows(CTOK_BLOCK_PARAMS, ctok_masks_fn masks, ctok_widen_fn widen, ctok_flatten_fn flatten,
                                        ctok_starts_fn starts, ctok_scan_step step, unsigned stop_at) {
    size_t n = 0, skip = 0;
    out->first = pos;
    out->hit_end = 0;
    while (pos < end && n < cap) {
        size_t goal = pos + 1;
        if (end - pos >= 64) {
            if (cap - n >= 64) {
                ctok_masks m;
                const size_t at = pos;
                masks(&m, buf + at);
                if (m.high) widen(&m, buf + at, stop_at);
                const uint64_t bits = starts(&m, buf + at);
                if (bits) {
                    n += flatten(bits, (uint32_t)at, stops + n);
                    pos = at + ctok_bits_last(bits);
                }
                if (pos - at >= 24 && m.n > 60) {
                    skip = 0;
                    continue;
                }
                skip = pos - at >= 24 ? 0 : skip < 256 ? 2 * skip + 16 : skip;
                goal = (m.n > 60 ? pos : at + m.n) + 1 + skip;
            } else if (n > 0) {
                break; /* no room for what a window may give: the caller comes again */
            }
        }
        while (pos < goal && pos < end && n < cap) {
            const size_t stop = step(buf, pos, end, at_eof);
            if (stop == 0) {
                out->hit_end = 1;
                goto done;
            }
            stops[n++] = (uint32_t)stop;
            pos = stop;
        }
    }
done:
    out->n = n;
    out->next = pos;
}

#define CTOK_SCAN_LEVELS_OF(name, starts, step, stop_at)                                                           \
    static void name##_sse2(CTOK_BLOCK_PARAMS) {                                                                   \
        ctok_scan_windows(CTOK_BLOCK_ARGS, ctok_masks_sse2, ctok_widen_sse2, ctok_flatten_plain, starts, step, stop_at);            \
    }                                                                                                              \
    CTOK_AVX2 static void name##_avx2(CTOK_BLOCK_PARAMS) {                                                         \
        ctok_scan_windows(CTOK_BLOCK_ARGS, ctok_masks_avx2, ctok_widen_avx2, ctok_flatten_avx2, starts, step, stop_at);             \
    }                                                                                                              \
    CTOK_AVX512 static void name##_avx512(CTOK_BLOCK_PARAMS) {                                                     \
        ctok_scan_windows(CTOK_BLOCK_ARGS, ctok_masks_avx512, ctok_widen_avx512, ctok_flatten_avx512, starts, step, stop_at);         \
    }                                                                                                              \
    const ctok_block_fn ctok_scan_##name##_levels[CTOK_SCAN_LEVELS] = {name##_scalar, name##_sse2, name##_avx2, name##_avx512};
#else
#define CTOK_SCAN_LEVELS_OF(name, starts, step, stop_at) \
    const ctok_block_fn ctok_scan_##name##_levels[CTOK_SCAN_LEVELS] = {name##_scalar};
#endif

#endif
