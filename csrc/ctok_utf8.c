/* ctok_utf8.c - see ctok_utf8.h.
 *
 * Speed comes from two ideas. ASCII is moved and tested 16 bytes at a time. Everything else is handled without branches that
 * depend on the text: multilingual text changes between one-, two- and three-byte characters at every word border, and a wrong
 * guess costs more than computing all three forms and choosing by masks.
 */
#include "ctok_utf8.h"

#include <string.h>

#include "ctok_utf8_wide.h"

#if defined(__SSE2__)
#include <tmmintrin.h> /* up to SSSE3: the functions that use it say so and are called only where the processor has it */
#endif

#define HIGH_BITS UINT64_C(0x8080808080808080)

static inline uint64_t load8(const uint8_t *p) {
    uint64_t w;
    memcpy(&w, p, 8);
    return w;
}

static inline uint32_t choose(uint32_t mask, uint32_t yes, uint32_t no) {
    return (yes & mask) | (no & ~mask);
}

static inline uint32_t mask_if(int condition) {
    return 0u - (uint32_t)(condition != 0);
}

static inline uint32_t load4(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline int is_ascii16(const uint8_t *p) {
    return ((load8(p) | load8(p + 8)) & HIGH_BITS) == 0;
}

size_t ctok_utf8_ascii(const uint8_t *p, size_t n) {
    size_t i = 0;
    while (n - i >= 16 && is_ascii16(p + i)) i += 16;
    while (i < n && p[i] < 0x80) i++;
    return i;
}

/* ---- validate ---- */

/* How many bytes at p are well-formed two- and three-byte characters (the bulk of multilingual text). E0 and ED have a second
 * byte of their own and are left to ctok_utf8_step. */
static size_t valid_run(const uint8_t *p, size_t n) {
    size_t i = 0;
    while (n - i >= 4) {
        const uint32_t w = load4(p + i);
        const uint32_t lead = w & 0xFF;
        if ((w & 0xC0C0F0u) == 0x8080E0u && lead != 0xE0 && lead != 0xED) {
            i += 3;
        } else if ((w & 0xC0E0u) == 0x80C0u && lead >= 0xC2) {
            i += 2;
        } else {
            break;
        }
    }
    return i;
}

ctok_status ctok_utf8_validate(const uint8_t *p, size_t n, size_t *bad) {
    size_t i = 0;
    while (i < n) {
        if (p[i] < 0x80) {
            i += ctok_utf8_ascii(p + i, n - i);
            continue;
        }
        i += valid_run(p + i, n - i);
        if (i < n) {
            uint32_t c;
            const size_t step = ctok_utf8_step(p + i, n - i, &c);
            if (CTOK_UNLIKELY(c >= CTOK_UTF8_OPEN)) {
                *bad = i;
                return CTOK_ERR_UTF8;
            }
            i += step;
        }
    }
    return CTOK_OK;
}

size_t ctok_utf8_tail(const uint8_t *p, size_t n) {
    for (size_t k = 1; k <= 3 && k <= n; k++) {
        const uint8_t b = p[n - k];
        if (b < 0x80) return 0;
        if (b >= 0xC0) {
            uint32_t c;
            ctok_utf8_step(p + n - k, k, &c);
            return c == CTOK_UTF8_OPEN ? k : 0;
        }
    }
    return 0;
}

/* ---- measure ---- */

static inline size_t starts_in8(uint64_t w) { /* bytes that are no continuation: bit 7 clear or bit 6 set */
    const uint64_t starts = (~w >> 7 | w >> 6) & UINT64_C(0x0101010101010101);
    return (size_t)((starts * UINT64_C(0x0101010101010101)) >> 56);
}

size_t ctok_utf8_count(const uint8_t *p, size_t n) {
    size_t i = 0, count = 0;
    for (; n - i >= 8; i += 8) count += starts_in8(load8(p + i));
    for (; i < n; i++) count += (p[i] & 0xC0) != 0x80;
    return count;
}

size_t ctok_utf8_count_utf16(const uint8_t *p, size_t n) {
    size_t count = ctok_utf8_count(p, n);
    for (size_t i = 0; i < n; i++) count += p[i] >= 0xF0;
    return count;
}

static inline ctok_utf8_class class_of(unsigned most) { /* by the largest byte: C2 and C3 lead U+0080..U+00FF */
    return most < 0x80 ? CTOK_UTF8_ASCII : most < 0xC4 ? CTOK_UTF8_LATIN1 : most < 0xF0 ? CTOK_UTF8_BMP : CTOK_UTF8_ASTRAL;
}

ctok_utf8_class ctok_utf8_measure(const uint8_t *p, size_t n, size_t *n_chars) {
    size_t i = 0, count = 0;
    unsigned most = 0;
#if defined(__SSE2__)
    __m128i top = _mm_setzero_si128();
    while (n - i >= 16) {
        size_t rounds = (n - i) / 16;
        if (rounds > 255) rounds = 255; /* one byte counts the starts of its column */
        __m128i column = _mm_setzero_si128();
        for (; rounds > 0; rounds--, i += 16) {
            const __m128i w = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
            top = _mm_max_epu8(top, w);
            column = _mm_sub_epi8(column, _mm_cmpgt_epi8(w, _mm_set1_epi8(-65)));
        }
        const __m128i sum = _mm_sad_epu8(column, _mm_setzero_si128());
        count += (size_t)_mm_cvtsi128_si64(sum) + (size_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(sum, sum));
    }
    uint8_t tops[16];
    memcpy(tops, &top, 16);
    for (int k = 0; k < 16; k++) most = tops[k] > most ? tops[k] : most;
#endif
    for (; i < n; i++) {
        count += (p[i] & 0xC0) != 0x80;
        most = p[i] > most ? p[i] : most;
    }
    *n_chars = count;
    return class_of(most);
}

/* ---- UTF-8 -> fixed width ---- */

/* For each of 16 bytes the character that would start there, if it has at most three bytes, and whether one does. Reads 18 bytes.
 * Plain loops over arrays of fixed size: compilers turn them into vector code. */
static inline void candidates(const uint8_t *p, uint16_t *value, uint8_t *starts) {
    for (size_t k = 0; k < 16; k++) {
        const uint16_t b0 = p[k], b1 = p[k + 1] & 0x3F, b2 = p[k + 2] & 0x3F;
        const uint16_t two = (uint16_t)((b0 & 0x1F) << 6 | b1);
        const uint16_t three = (uint16_t)(b0 << 12 | b1 << 6 | b2);
        const uint16_t more = b0 < 0xE0 ? two : three;
        value[k] = b0 < 0x80 ? b0 : more;
    }
    for (size_t k = 0; k < 16; k++) starts[k] = (uint8_t)((p[k] & 0xC0) != 0x80);
}

static inline int has_astral16(const uint8_t *p) {
    unsigned any = 0;
    for (size_t k = 0; k < 16; k++) any |= (unsigned)(p[k] >= 0xF0);
    return any != 0;
}

#if defined(__SSE2__) && defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define CAN_SHUFFLE can_shuffle()

/* Row m moves the 16-bit lanes that are set in m to the front. Built by the first thread that needs it; until then, and on processors
 * without the instruction, the plain loop below does the work. */
static uint8_t to_front[256][16];
static int to_front_state; /* 0 nothing, 1 somebody builds it, 2 ready */

static int build_to_front(void) {
    int nothing = 0;
    if (!__builtin_cpu_supports("ssse3") || !__builtin_cpu_supports("popcnt")) return 0;
    if (!__atomic_compare_exchange_n(&to_front_state, &nothing, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) return nothing == 2;
    for (unsigned m = 0; m < 256; m++) {
        unsigned at = 0;
        for (unsigned lane = 0; lane < 8; lane++) {
            if (!(m >> lane & 1)) continue;
            to_front[m][at++] = (uint8_t)(2 * lane);
            to_front[m][at++] = (uint8_t)(2 * lane + 1);
        }
    }
    __atomic_store_n(&to_front_state, 2, __ATOMIC_RELEASE);
    return 1;
}

static inline int can_shuffle(void) {
    return __atomic_load_n(&to_front_state, __ATOMIC_ACQUIRE) == 2 || build_to_front();
}

/* As `candidates` for 8 lanes of bytes b0 and what follows them. */
__attribute__((target("ssse3"))) static inline __m128i characters8(__m128i b0, __m128i b1, __m128i b2) {
    const __m128i six = _mm_set1_epi16(0x3F);
    b1 = _mm_and_si128(b1, six);
    b2 = _mm_and_si128(b2, six);
    const __m128i two = _mm_or_si128(_mm_slli_epi16(_mm_and_si128(b0, _mm_set1_epi16(0x1F)), 6), b1);
    const __m128i three = _mm_or_si128(_mm_or_si128(_mm_slli_epi16(b0, 12), _mm_slli_epi16(b1, 6)), b2);
    const __m128i is_three = _mm_cmpgt_epi16(b0, _mm_set1_epi16(0xDF)), is_one = _mm_cmplt_epi16(b0, _mm_set1_epi16(0x80));
    const __m128i more = _mm_or_si128(_mm_and_si128(is_three, three), _mm_andnot_si128(is_three, two));
    return _mm_or_si128(_mm_and_si128(is_one, b0), _mm_andnot_si128(is_one, more));
}

/* The characters of at most three bytes that start among 16 bytes, as 16-bit lanes: out[0] and out[1] hold n[0] and n[1] of them. */
__attribute__((target("ssse3,popcnt"))) static inline void characters16(const uint8_t *p, __m128i *out, unsigned *n) {
    const __m128i zero = _mm_setzero_si128();
    const __m128i w0 = _mm_loadu_si128((const __m128i *)(const void *)p), w1 = _mm_loadu_si128((const __m128i *)(const void *)(p + 1));
    const __m128i w2 = _mm_loadu_si128((const __m128i *)(const void *)(p + 2));
    const unsigned starts = (unsigned)_mm_movemask_epi8(_mm_cmpgt_epi8(w0, _mm_set1_epi8(-65)));
    const unsigned low = starts & 0xFF, high = starts >> 8;
    out[0] = characters8(_mm_unpacklo_epi8(w0, zero), _mm_unpacklo_epi8(w1, zero), _mm_unpacklo_epi8(w2, zero));
    out[1] = characters8(_mm_unpackhi_epi8(w0, zero), _mm_unpackhi_epi8(w1, zero), _mm_unpackhi_epi8(w2, zero));
    out[0] = _mm_shuffle_epi8(out[0], _mm_loadu_si128((const __m128i *)(const void *)to_front[low]));
    out[1] = _mm_shuffle_epi8(out[1], _mm_loadu_si128((const __m128i *)(const void *)to_front[high]));
    n[0] = (unsigned)__builtin_popcount(low);
    n[1] = (unsigned)__builtin_popcount(high);
}

__attribute__((target("ssse3"))) static inline void store8_ucs1(uint8_t *dst, __m128i v) {
    _mm_storel_epi64((__m128i *)(void *)dst, _mm_packus_epi16(v, v));
}

__attribute__((target("ssse3"))) static inline void store8_ucs2(uint16_t *dst, __m128i v) {
    _mm_storeu_si128((__m128i *)(void *)dst, v);
}

__attribute__((target("ssse3"))) static inline void store8_ucs4(uint32_t *dst, __m128i v) {
    _mm_storeu_si128((__m128i *)(void *)dst, _mm_unpacklo_epi16(v, _mm_setzero_si128()));
    _mm_storeu_si128((__m128i *)(void *)(dst + 4), _mm_unpackhi_epi16(v, _mm_setzero_si128()));
}

/* Blocks of 16 bytes while there are so many characters behind the block (8, so at least 32 bytes and an unfinished one) that writing
 * whole vectors stays inside dst. Stops before a block with a character above U+FFFF. Returns the bytes done. */
#define DEFINE_SHUFFLED(name, wide, store8)                                                                            \
    __attribute__((target("ssse3,popcnt"))) static size_t name(const uint8_t *p, size_t n, wide *dst, size_t *n_chars) { \
        size_t i = 0;                                                                                                  \
        wide *out = dst;                                                                                               \
        for (; n - i >= 52; i += 16) {                                                                                 \
            __m128i lanes[2];                                                                                          \
            unsigned count[2];                                                                                         \
            const __m128i w = _mm_loadu_si128((const __m128i *)(const void *)(p + i));                                 \
            if (_mm_movemask_epi8(w) == 0) {                                                                           \
                lanes[0] = _mm_unpacklo_epi8(w, _mm_setzero_si128());                                                  \
                lanes[1] = _mm_unpackhi_epi8(w, _mm_setzero_si128());                                                  \
                count[0] = count[1] = 8;                                                                               \
            } else {                                                                                                   \
                if (_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(w, _mm_set1_epi8((char)0xF0)), w))) break;           \
                characters16(p + i, lanes, count);                                                                     \
            }                                                                                                          \
            store8(out, lanes[0]);                                                                                     \
            out += count[0];                                                                                           \
            store8(out, lanes[1]);                                                                                     \
            out += count[1];                                                                                           \
        }                                                                                                              \
        *n_chars = (size_t)(out - dst);                                                                                \
        return i;                                                                                                      \
    }

DEFINE_SHUFFLED(shuffled_ucs1, uint8_t, store8_ucs1)
DEFINE_SHUFFLED(shuffled_ucs2, uint16_t, store8_ucs2)
DEFINE_SHUFFLED(shuffled_ucs4, uint32_t, store8_ucs4)
#else
#define CAN_SHUFFLE 0
#define shuffled_ucs1 not_wide
#define shuffled_ucs2 not_wide
#define shuffled_ucs4 not_wide
#endif

/* Shape of all three: what wide vectors can do, then what the shuffles can; then 16 bytes at a time while 6 more are readable, so that
 * there is a character behind the block: every place is written and only starts move on, which scribbles on one element of it. The
 * rest one by one. */
#define DEFINE_TO_UCS(name, wide, is_astral, widest, shuffled)         \
    size_t name(const uint8_t *p, size_t n, wide *dst) {               \
        size_t i = 0, begun = 0;                                       \
        if (n >= CTOK_UTF8_WIDE_LEAST && has_avx512()) i = widest(p, n, dst, &begun); \
        wide *out = dst + begun;                                       \
        while (n - i >= 22) {                                          \
            if (n - i >= 52 && CAN_SHUFFLE) {                          \
                size_t n_chars = 0;                                    \
                i += shuffled(p + i, n - i, out, &n_chars);            \
                out += n_chars;                                        \
                if (n - i < 22) break;                                 \
            }                                                          \
            if (is_ascii16(p + i)) {                                   \
                for (size_t k = 0; k < 16; k++) out[k] = (wide)p[i + k]; \
                out += 16;                                             \
            } else if (is_astral(p + i)) {                             \
                out += one_by_one_##name(p + i, 16, out);              \
            } else {                                                   \
                uint16_t value[16];                                    \
                uint8_t starts[16];                                    \
                candidates(p + i, value, starts);                      \
                for (size_t k = 0; k < 16; k++) {                      \
                    *out = (wide)value[k];                             \
                    out += starts[k];                                  \
                }                                                      \
            }                                                          \
            i += 16;                                                   \
        }                                                              \
        return (size_t)(out - dst) + one_by_one_##name(p + i, n - i, out); \
    }

/* The characters that start among n bytes; one may end behind them. */
#define DEFINE_ONE_BY_ONE(name, wide)                                           \
    static size_t one_by_one_##name(const uint8_t *p, size_t n, wide *dst) {    \
        size_t i = 0;                                                           \
        wide *out = dst;                                                        \
        while (i < n && (p[i] & 0xC0) == 0x80) i++;                             \
        while (i < n) {                                                         \
            uint32_t c;                                                         \
            i += ctok_utf8_step(p + i, 4, &c); /* well formed: reads no more */ \
            *out++ = (wide)c;                                                   \
        }                                                                       \
        return (size_t)(out - dst);                                             \
    }

#define NEVER(p) 0

DEFINE_ONE_BY_ONE(ctok_utf8_to_ucs1, uint8_t)
DEFINE_ONE_BY_ONE(ctok_utf8_to_ucs2, uint16_t)
DEFINE_ONE_BY_ONE(ctok_utf8_to_ucs4, uint32_t)
DEFINE_TO_UCS(ctok_utf8_to_ucs1, uint8_t, NEVER, wide_ucs1, shuffled_ucs1)
DEFINE_TO_UCS(ctok_utf8_to_ucs2, uint16_t, NEVER, wide_ucs2, shuffled_ucs2)
DEFINE_TO_UCS(ctok_utf8_to_ucs4, uint32_t, has_astral16, wide_ucs4, shuffled_ucs4)

/* ---- fixed width -> UTF-8 ---- */

static inline void store4(uint8_t *dst, uint32_t w) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(dst, &w, 4);
#else
    for (int k = 0; k < 4; k++) dst[k] = (uint8_t)(w >> 8 * k);
#endif
}

static inline int is_surrogate(uint32_t c) {
    return (c & 0xFFFFF800u) == 0xD800u;
}

ctok_status ctok_utf8_from_ucs1(const void *src, size_t n, size_t *pos, uint8_t *dst, size_t cap, size_t *written,
                                ctok_on_surrogate on_surrogate) {
    const uint8_t *s = src;
    size_t i = *pos, w = 0;
    (void)on_surrogate;
    while (n - i >= 16 && cap - w >= 34) { /* 32 bytes at most, and one store of 4 that starts before their end */
        if (is_ascii16(s + i)) {
            memcpy(dst + w, s + i, 16);
            w += 16;
        } else {
            for (size_t k = 0; k < 16; k++) {
                const uint32_t c = s[i + k];
                const uint32_t two = 0xC0 | c >> 6 | (0x80 | (c & 0x3F)) << 8;
                const uint32_t bytes = choose(mask_if(c > 0x7F), two, c);
                dst[w] = (uint8_t)bytes;
                dst[w + 1] = (uint8_t)(bytes >> 8);
                w += 1u + (c >> 7);
            }
        }
        i += 16;
    }
    while (i < n && w + 1 + (s[i] >> 7) <= cap) w += ctok_utf8_put(dst + w, s[i++]);
    *pos = i;
    *written = w;
    return CTOK_OK;
}

/* The character at s[i], pairs joined: sets *c and returns its units, or 0 for a lone surrogate that stops the text. */
#define DEFINE_UNIT_AT(name, wide)                                                                     \
    static inline size_t name(const wide *s, size_t i, size_t n, ctok_on_surrogate how, uint32_t *c) { \
        *c = s[i];                                                                                     \
        if (CTOK_LIKELY(!is_surrogate(*c))) return 1;                                                  \
        if (*c < 0xDC00 && i + 1 < n && (s[i + 1] & 0xFFFFFC00u) == 0xDC00u) {                         \
            *c = 0x10000 + ((*c & 0x3FF) << 10) + (s[i + 1] & 0x3FFu);                                 \
            return 2;                                                                                  \
        }                                                                                              \
        *c = 0xFFFD;                                                                                   \
        return how == CTOK_SURROGATE_REPLACE;                                                          \
    }

DEFINE_UNIT_AT(unit2_at, uint16_t)
DEFINE_UNIT_AT(unit4_at, uint32_t)

static inline size_t utf8_length(uint32_t c) {
    return 1u + (c > 0x7F) + (c > 0x7FF) + (c > 0xFFFF);
}

/* If 16 units are ASCII, write them as bytes and return 1; else return 0, 16 bytes of dst scribbled on. */
static inline int narrow16_ucs2(uint8_t *dst, const uint16_t *s) {
#if defined(__SSE2__)
    const __m128i a = _mm_loadu_si128((const __m128i *)(const void *)s), b = _mm_loadu_si128((const __m128i *)(const void *)(s + 8));
    const __m128i high = _mm_and_si128(_mm_or_si128(a, b), _mm_set1_epi16((short)0xFF80));
    _mm_storeu_si128((__m128i *)(void *)dst, _mm_packus_epi16(a, b));
    return _mm_movemask_epi8(_mm_cmpeq_epi16(high, _mm_setzero_si128())) == 0xFFFF;
#else
    uint16_t all = 0;
    for (size_t k = 0; k < 16; k++) all |= s[k];
    for (size_t k = 0; k < 16; k++) dst[k] = (uint8_t)s[k];
    return all < 0x80;
#endif
}

static inline int narrow16_ucs4(uint8_t *dst, const uint32_t *s) {
#if defined(__SSE2__)
    const __m128i *v = (const __m128i *)(const void *)s;
    const __m128i a = _mm_loadu_si128(v), b = _mm_loadu_si128(v + 1), c = _mm_loadu_si128(v + 2), d = _mm_loadu_si128(v + 3);
    const __m128i high = _mm_and_si128(_mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d)), _mm_set1_epi32((int)0xFFFFFF80));
    _mm_storeu_si128((__m128i *)(void *)dst, _mm_packus_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d)));
    return _mm_movemask_epi8(_mm_cmpeq_epi32(high, _mm_setzero_si128())) == 0xFFFF;
#else
    uint32_t all = 0;
    for (size_t k = 0; k < 16; k++) all |= s[k];
    for (size_t k = 0; k < 16; k++) dst[k] = (uint8_t)s[k];
    return all < 0x80;
#endif
}

/* Are 16 units characters of the BMP, without a surrogate? */
static inline int is_bmp16_ucs2(const uint16_t *s) {
    uint16_t surrogates = 0;
    for (size_t k = 0; k < 16; k++) surrogates |= (uint16_t)((s[k] & 0xF800) == 0xD800);
    return surrogates == 0;
}

static inline int is_bmp16_ucs4(const uint32_t *s) {
    uint32_t all = 0, surrogates = 0;
    for (size_t k = 0; k < 16; k++) {
        all |= s[k];
        surrogates |= (uint32_t)((s[k] & 0xFFFFF800u) == 0xD800u);
    }
    return surrogates == 0 && all <= 0xFFFF;
}

/* Write 16 characters of the BMP, no surrogates; scribbles on 4 bytes from where the last one starts. The bytes of all 16 are computed
 * first, by loops that compilers turn into vector code; then each is stored as a word and only its length moves on. */
#define DEFINE_PUT16(name, wide)                                                              \
    static inline size_t name(uint8_t *dst, const wide *s) {                                  \
        uint32_t bytes[16];                                                                   \
        uint8_t length[16];                                                                   \
        uint8_t *out = dst;                                                                   \
        for (size_t k = 0; k < 16; k++) {                                                     \
            const uint32_t c = s[k];                                                          \
            const uint32_t last = 0x80 | (c & 0x3F);                                          \
            const uint32_t two = 0xC0 | c >> 6 | last << 8;                                   \
            const uint32_t three = 0xE0 | c >> 12 | (0x80 | (c >> 6 & 0x3F)) << 8 | last << 16; \
            const uint32_t more = c < 0x800 ? two : three;                                    \
            bytes[k] = c < 0x80 ? c : more;                                                   \
        }                                                                                     \
        for (size_t k = 0; k < 16; k++) length[k] = (uint8_t)(1 + (s[k] > 0x7F) + (s[k] > 0x7FF)); \
        for (size_t k = 0; k < 16; k++) {                                                     \
            store4(out, bytes[k]);                                                            \
            out += length[k];                                                                 \
        }                                                                                     \
        return (size_t)(out - dst);                                                           \
    }

DEFINE_PUT16(put16_ucs2, uint16_t)
DEFINE_PUT16(put16_ucs4, uint32_t)

/* Write 16 characters, and return how many bytes they are; 0 where they must be looked at one by one. */
#define DEFINE_MOVE16(name, wide, narrow16, is_bmp16, put16)           \
    static inline size_t name(uint8_t *dst, const wide *s) {           \
        return narrow16(dst, s) ? 16 : is_bmp16(s) ? put16(dst, s) : 0; \
    }

DEFINE_MOVE16(move16_ucs2, uint16_t, narrow16_ucs2, is_bmp16_ucs2, put16_ucs2)
DEFINE_MOVE16(move16_ucs4, uint32_t, narrow16_ucs4, is_bmp16_ucs4, put16_ucs4)

/* Shape of both: 16 characters at a time while there is room for the largest outcome (16 of 4 bytes), then one by one; also the 16
 * that move16 leaves. */
#define DEFINE_FROM_UCS(target, name, wide, move16, unit_at)                                                                  \
    target ctok_status name(const void *src, size_t n, size_t *pos, uint8_t *dst, size_t cap, size_t *written,               \
                            ctok_on_surrogate on_surrogate) {                                                                 \
        const wide *s = src;                                                                                                  \
        size_t i = *pos, w = 0, until = i;                                                                                    \
        ctok_status status = CTOK_OK;                                                                                         \
        while (i < n) {                                                                                                       \
            if (i >= until && n - i >= 16 && cap - w >= 64) {                                                                 \
                const size_t bytes = move16(dst + w, s + i);                                                                  \
                w += bytes;                                                                                                   \
                if (bytes) i += 16;                                                                                           \
                else until = i + 16;                                                                                          \
                continue;                                                                                                     \
            }                                                                                                                 \
            uint32_t c;                                                                                                       \
            const size_t units = unit_at(s, i, n, on_surrogate, &c);                                                          \
            if (units == 0) {                                                                                                 \
                status = CTOK_ERR_UTF8;                                                                                       \
                break;                                                                                                        \
            }                                                                                                                 \
            if (w + utf8_length(c) > cap) break;                                                                              \
            w += ctok_utf8_put(dst + w, c);                                                                                   \
            i += units;                                                                                                       \
        }                                                                                                                     \
        *pos = i;                                                                                                             \
        *written = w;                                                                                                         \
        return status;                                                                                                        \
    }

DEFINE_FROM_UCS(static, from_ucs2, uint16_t, move16_ucs2, unit2_at)
DEFINE_FROM_UCS(static, from_ucs4, uint32_t, move16_ucs4, unit4_at)

#if CTOK_UTF8_WIDE
DEFINE_FROM_UCS(AVX512 static, from_ucs2_avx512, uint16_t, move16_ucs2_avx512, unit2_at)
DEFINE_FROM_UCS(AVX512 static, from_ucs4_avx512, uint32_t, move16_ucs4_avx512, unit4_at)
#else
#define from_ucs2_avx512 from_ucs2
#define from_ucs4_avx512 from_ucs4
#endif

ctok_status ctok_utf8_from_ucs2(const void *src, size_t n, size_t *pos, uint8_t *dst, size_t cap, size_t *written,
                                ctok_on_surrogate on_surrogate) {
    return (has_avx512() ? from_ucs2_avx512 : from_ucs2)(src, n, pos, dst, cap, written, on_surrogate);
}

ctok_status ctok_utf8_from_ucs4(const void *src, size_t n, size_t *pos, uint8_t *dst, size_t cap, size_t *written,
                                ctok_on_surrogate on_surrogate) {
    return (has_avx512() ? from_ucs4_avx512 : from_ucs4)(src, n, pos, dst, cap, written, on_surrogate);
}
