/* ctok_cut_wide.c - cutting by classes of characters, 64 bytes at a time: each class is a bit mask, and shifts of the masks are the borders. */
#include "ctok_cut_step.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <immintrin.h>

#include "ctok_cpu.h"

#define AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define AVX512 __attribute__((target("avx2,bmi,bmi2,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi2")))
#define INLINE static inline __attribute__((always_inline))

/* A window of up to 64 bytes of whole characters. */
typedef struct window {
    const uint8_t *at;    /* 64 readable bytes */
    unsigned n;           /* in use */
    uint64_t high, tail;  /* bytes >= 0x80; bytes of a character after its first */
    uint64_t of[4];       /* bytes by class, 1..3 */
} window;

INLINE uint64_t low_bits(unsigned n) { return n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX; }

INLINE AVX2 uint64_t bits256(__m256i a, __m256i b) {
    return (uint32_t)_mm256_movemask_epi8(a) | (uint64_t)(uint32_t)_mm256_movemask_epi8(b) << 32;
}

/* The bytes of 32 that are in a set of ASCII characters: all ones elsewhere. */
INLINE AVX2 __m256i outside256(__m256i v, const uint8_t *set) {
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i rows = _mm256_broadcastsi128_si256(_mm_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0));
    const __m256i columns = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)set));
    const __m256i low = _mm256_shuffle_epi8(columns, _mm256_and_si256(v, nibble));
    const __m256i high = _mm256_shuffle_epi8(rows, _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble));
    return _mm256_cmpeq_epi8(_mm256_and_si256(low, high), _mm256_setzero_si256());
}

INLINE AVX2 void classify256(const ctok_cut_step *s, window *w) {
    const __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)w->at);
    const __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(w->at + 32));
    w->high = bits256(a, b);
    w->tail = bits256(_mm256_cmpgt_epi8(_mm256_set1_epi8(-64), a), _mm256_cmpgt_epi8(_mm256_set1_epi8(-64), b));
    w->of[2] = ~bits256(outside256(a, s->sets[0]), outside256(b, s->sets[0]));
    w->of[3] = s->three ? ~bits256(outside256(a, s->sets[1]), outside256(b, s->sets[1])) : 0;
}

INLINE AVX512 uint64_t inside512(__m512i v, const uint8_t *set) {
    const __m512i nibble = _mm512_set1_epi8(15);
    const __m512i rows = _mm512_broadcast_i32x4(_mm_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0));
    const __m512i columns = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)set));
    const __m512i low = _mm512_shuffle_epi8(columns, _mm512_and_si512(v, nibble));
    const __m512i high = _mm512_shuffle_epi8(rows, _mm512_and_si512(_mm512_srli_epi16(v, 4), nibble));
    return _mm512_test_epi8_mask(low, high);
}

INLINE AVX512 void classify512(const ctok_cut_step *s, window *w) {
    const __m512i v = _mm512_loadu_si512((const void *)w->at);
    w->high = _mm512_movepi8_mask(v);
    w->tail = _mm512_cmplt_epi8_mask(v, _mm512_set1_epi8(-64));
    w->of[2] = inside512(v, s->sets[0]);
    w->of[3] = s->three ? inside512(v, s->sets[1]) : 0;
}

/* Put the longer characters into their classes; one that does not end in the window is left out of it. */
INLINE void add_longer(const ctok_cut_step *s, window *w) {
    uint64_t leads = w->high & ~w->tail & low_bits(w->n);
    const unsigned last = 63 - (unsigned)__builtin_clzll(leads);
    if (last + cut_length(w->at[last]) > w->n) {
        w->n = last;
        leads &= low_bits(last);
    }
    while (leads) {
        const unsigned i = (unsigned)__builtin_ctzll(leads);
        const unsigned class = cut_class_of_wide(s, cut_wide(w->at + i));
        const uint64_t bytes = low_bits((unsigned)cut_length(w->at[i])) << i;
        w->of[2] |= class == 2 ? bytes : 0;
        w->of[3] |= class == 3 ? bytes : 0;
        leads &= leads - 1;
    }
}

/* Where the bytes that are kept go; stops: kept bytes behind which a piece ends. */
INLINE AVX2 void write_runs(const window *w, uint64_t keep, uint64_t stops, cut_out *out) {
    while (keep) { /* run by run; with nothing dropped the window is one */
        const unsigned begin = (unsigned)__builtin_ctzll(keep);
        const uint64_t rest = ~(keep >> begin);
        const unsigned n = rest ? (unsigned)__builtin_ctzll(rest) : 64;
        const uint64_t run = low_bits(n) << begin;
        memcpy(out->text + out->n, w->at + begin, n);
        for (uint64_t ends = stops & run; ends; ends &= ends - 1) {
            out->stops[out->n_stops++] = (uint32_t)(out->n + (unsigned)__builtin_ctzll(ends) - begin + 1);
        }
        out->n += n;
        keep &= ~run;
    }
}

INLINE AVX512 void write_packed(const window *w, uint64_t keep, uint64_t stops, cut_out *out) {
    static const uint8_t places[64] = {
        1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
        33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64,
    };
    const __m512i text = _mm512_loadu_si512((const void *)w->at);
    _mm512_storeu_si512((void *)(out->text + out->n), _mm512_maskz_compress_epi8(keep, text));
    const uint64_t ends = _pext_u64(stops, keep);
    const __m512i found = _mm512_maskz_compress_epi8(ends, _mm512_loadu_si512((const void *)places));
    const __m512i base = _mm512_set1_epi32((int)(uint32_t)out->n);
    const size_t n = (size_t)__builtin_popcountll(ends);
    uint32_t *to = out->stops + out->n_stops;
    _mm512_storeu_si512((void *)to, _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(found))));
    if (CTOK_UNLIKELY(n > 16)) {
        _mm512_storeu_si512((void *)(to + 16), _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(found, 1))));
        _mm512_storeu_si512((void *)(to + 32), _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(found, 2))));
        _mm512_storeu_si512((void *)(to + 48), _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(found, 3))));
    }
    out->n_stops += n;
    out->n += (size_t)__builtin_popcountll(keep);
}

/* The borders before bytes of the window; carry is the class of the byte before it, 0 if a piece starts. */
INLINE uint64_t borders(const ctok_cut_step *s, const window *w, unsigned carry) {
    uint64_t found = 0;
    for (unsigned a = 1; a < 4; a++) {
        const uint64_t before = w->of[a] << 1 | (a == carry);
        for (unsigned b = 1; b < 4; b++) found |= before & w->of[b] & s->borders[a - 1][b - 1];
    }
    return found & ~w->tail;
}

/* One window: `pieces` are the bytes where a new piece of the input starts. Returns the class of its last byte. */
#define TAKE_WINDOW(CLASSIFY, WRITE)                                                                          \
    CLASSIFY(s, &w);                                                                                          \
    if (w.high & low_bits(w.n)) add_longer(s, &w);                                                            \
    const uint64_t valid = low_bits(w.n);                                                                     \
    uint64_t pieces = 0;                                                                                      \
    for (; k < in->n_stops && in->stops[k] < i + w.n; k++) pieces |= (uint64_t)1 << (in->stops[k] - i);        \
    w.of[2] &= valid;                                                                                         \
    w.of[3] &= valid;                                                                                         \
    w.of[1] = valid & ~w.of[2] & ~w.of[3];                                                                    \
    const uint64_t before = borders(s, &w, prev) | pieces;                                                    \
    const uint64_t keep = valid & ~(s->drops & 4 ? w.of[2] : 0) & ~(s->drops & 2 ? w.of[1] : 0);               \
    const uint64_t stops = keep & before >> 1;                                                                \
    if (before & 1) cut_border(out);                                                                          \
    WRITE(&w, keep, stops, out);                                                                              \
    if (keep) out->open = !(stops >> (63 - __builtin_clzll(keep)) & 1);                                        \
    prev = w.of[2] >> (w.n - 1) & 1 ? 2 : w.of[3] >> (w.n - 1) & 1 ? 3 : 1;                                     \
    i += w.n;

#define KERNEL(NAME, TARGET, CLASSIFY, WRITE)                                                                 \
    TARGET static ctok_status NAME(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, cut_out *out) { \
        uint8_t rest[64] = {0};                                                                               \
        size_t i = 0, k = 0;                                                                                  \
        unsigned prev = m->prev;                                                                              \
        if (in->map != NULL || in->zero) return cut_classes(s, m, in, out);                                   \
        if (cut_open(out, in->n) != CTOK_OK) return CTOK_ERR_MEMORY;                                          \
        while (i < in->n) {                                                                                   \
            window w = {in->p + i, in->n - i < 64 ? (unsigned)(in->n - i) : 64, 0, 0, {0}};                   \
            if (w.n < 64) w.at = memcpy(rest, w.at, w.n);                                                     \
            TAKE_WINDOW(CLASSIFY, WRITE)                                                                      \
        }                                                                                                     \
        const int closed = k < in->n_stops;                                                                   \
        if (closed || s->after >> prev & 1) cut_border(out);                                                  \
        m->prev = (uint8_t)(closed ? 0 : prev);                                                               \
        cut_close(out);                                                                                       \
        return CTOK_OK;                                                                                       \
    }

KERNEL(classes256, AVX2, classify256, write_runs)
KERNEL(classes512, AVX512, classify512, write_packed)

cut_kernel cut_classes_best(void) {
    __builtin_cpu_init();
    return ctok_cpu_avx512() ? classes512 : ctok_cpu_avx2() ? classes256 : cut_classes;
}

#else

cut_kernel cut_classes_best(void) { return cut_classes; }

#endif
