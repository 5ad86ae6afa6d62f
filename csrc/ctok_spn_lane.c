/* ctok_spn_lane.c - plain text at speed: ASCII in windows of 64 bytes, other characters one by one by the table.
 *
 * A character that begins a longer rule is let through as it is, and taken back when one comes behind it that such a rule goes on with.
 */
#include "ctok_spn.h"

#include <string.h>

#include "ctok_normal_facts.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(__SSE2__) && defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__)) && !defined(CTOK_NO_AVX512)
#include <immintrin.h>

#include "ctok_cpu.h"

#define has_avx512() ctok_cpu_avx512()
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi2,popcnt")))
#else
#define has_avx512() 0
#endif

#define WINDOW 64
#define READABLE (WINDOW + 16) /* bytes that a window may be read to */

typedef struct lane {
    const uint8_t *in;
    size_t pos, n;
    uint8_t *to;
    int by_words;    /* whole windows are put by put_words */
    int blank;       /* the last thing was a blank, and others behind it are dropped */
    /* of the last character, if it begins a longer rule: where it starts, in the text and in the output, and `blank` before it */
    int first;
    size_t last;
    uint8_t *back;
    int blank_before;
} lane;

static uint64_t below(unsigned i) { return i < 64 ? (UINT64_C(1) << i) - 1 : UINT64_MAX; }

/* ---- what a window holds, as bits ---- */

typedef struct window {
    uint64_t blanks, stops;
} window;

static window look_up(const ctok_spn *m, const uint8_t *p) {
    window w = {0, 0};
    for (unsigned i = 0; i < WINDOW; i++) {
        const unsigned bits = p[i] < 0x80 ? m->ascii[p[i]] : m->all_wide ? 0 : CTOK_SPN_SLOW;
        w.blanks |= (uint64_t)((bits & CTOK_SPN_BLANK) != 0) << i;
        w.stops |= (uint64_t)((bits & CTOK_SPN_SLOW) != 0) << i;
    }
    return w;
}

#if defined(__SSE2__)
static __m128i load(const uint8_t *p) { return _mm_loadu_si128((const __m128i *)(const void *)p); }

static uint64_t bits_of(const __m128i v[4]) {
    const uint64_t low = (uint64_t)(uint32_t)_mm_movemask_epi8(v[0]) | (uint64_t)(uint32_t)_mm_movemask_epi8(v[1]) << 16;
    return low | (uint64_t)(uint32_t)_mm_movemask_epi8(v[2]) << 32 | (uint64_t)(uint32_t)_mm_movemask_epi8(v[3]) << 48;
}

static window look(const ctok_spn *m, const uint8_t *p) {
    const __m128i none = _mm_setzero_si128(), bytes[4] = {load(p), load(p + 16), load(p + 32), load(p + 48)};
    __m128i blanks[4] = {none, none, none, none}, stops[4] = {none, none, none, none};
    if (CTOK_UNLIKELY(!m->by_ranges)) return look_up(m, p);
    for (uint32_t k = 0; k < m->n_blanks; k++) {
        const __m128i one = load(m->blanks[k]);
        for (int i = 0; i < 4; i++) blanks[i] = _mm_or_si128(blanks[i], _mm_cmpeq_epi8(bytes[i], one));
    }
    for (uint32_t k = 0; k < m->n_ranges; k++) {
        const __m128i from = load(m->from[k]), size = load(m->size[k]);
        for (int i = 0; i < 4; i++) {
            const __m128i above = _mm_sub_epi8(bytes[i], from);
            stops[i] = _mm_or_si128(stops[i], _mm_cmpeq_epi8(_mm_min_epu8(above, size), above));
        }
    }
    window w = {bits_of(blanks), bits_of(stops)};
    if (!m->all_wide) w.stops |= bits_of(bytes);
    w.stops &= ~w.blanks;
    return w;
}
#else
static window look(const ctok_spn *m, const uint8_t *p) { return look_up(m, p); }
#endif

/* ---- characters above ASCII ---- */

/* One character, which is not slow. */
static void put_char(const ctok_spn *m, lane *l, uint32_t entry, size_t len) {
    const uint8_t *p = l->in + l->pos;
    l->last = l->pos;
    l->back = l->to;
    l->blank_before = l->blank;
    l->first = (entry & CTOK_SPN_FIRST) != 0;
    l->pos += len;
    if (entry & CTOK_SPN_BLANK) {
        if (l->blank) return;
        memcpy(l->to, m->blank, 4);
        l->to += m->n_blank;
        l->blank = m->extra;
        return;
    }
    l->blank = 0;
    if (entry >> CTOK_SPN_TEXT_SHIFT) {
        const uint8_t *text = m->rules.texts + (entry >> CTOK_SPN_TEXT_SHIFT) - 1;
        while (*text) *l->to++ = *text++;
    } else if (CTOK_LIKELY(l->n - l->last >= 4)) {
        memcpy(l->to, p, 4);
        l->to += len;
    } else {
        for (size_t i = 0; i < len; i++) *l->to++ = p[i];
    }
}

/* Characters above ASCII that stay as they are, as many as stand together, but near the end. */
static void copy_chars(const ctok_spn *m, lane *l) {
    const uint8_t *p = l->in + l->pos, *last = NULL, *end = l->in + l->n;
    uint8_t *to = l->to;
    size_t len = 0;
    uint32_t first = l->first ? CTOK_SPN_FIRST : 0;
    int blank_before = l->blank;
    while (end - p >= 4 && *p >= 0x80) {
        size_t size;
        const uint32_t entry = ctok_spn_entry(m, ctok_nf_read(p, &size));
        if (entry & ~(CTOK_SPN_FIRST | CTOK_SPN_SECOND) || (entry & CTOK_SPN_SECOND && first)) break;
        first = entry & CTOK_SPN_FIRST;
        if (last != NULL) blank_before = 0;
        last = p;
        len = size;
        memcpy(to, p, 4);
        p += size;
        to += size;
    }
    if (last == NULL) return;
    l->pos = (size_t)(p - l->in);
    l->to = to;
    l->last = (size_t)(last - l->in);
    l->back = to - len;
    l->blank_before = blank_before;
    l->first = first != 0;
    l->blank = 0;
}

/* Characters above ASCII, up to one that is not for the lane (0), or to ASCII (1). */
static int wide(const ctok_spn *m, lane *l) {
    while (l->pos < l->n && l->in[l->pos] >= 0x80) {
        size_t len;
        copy_chars(m, l);
        if (l->pos == l->n || l->in[l->pos] < 0x80) break;
        const uint32_t entry = ctok_spn_entry(m, ctok_nf_read(l->in + l->pos, &len));
        if (CTOK_UNLIKELY(entry & (CTOK_SPN_SLOW | CTOK_SPN_SECOND))) {
            if (entry & CTOK_SPN_SLOW || l->first) return 0;
        }
        put_char(m, l, entry, len);
    }
    return 1;
}

/* ---- windows ---- */

static void lower(uint8_t *to, const uint8_t *p) {
    for (unsigned i = 0; i < READABLE; i++) to[i] = (uint8_t)(p[i] | ((uint8_t)(p[i] - 'A') < 26 ? 0x20 : 0));
}

/* n bytes of a window; as many as 16 may be written in any case. */
static uint8_t *copy(uint8_t *to, const uint8_t *p, unsigned n) {
    memcpy(to, p, 16);
    if (CTOK_UNLIKELY(n > 16)) memcpy(to + 16, p + 16, n - 16);
    return to + n;
}

/* The first k bytes of a window, every blank of which counts. */
static uint8_t *put_window(const ctok_spn *m, const uint8_t *p, uint64_t blanks, unsigned k, uint8_t *to) {
    unsigned from = 0;
    while (blanks) {
        const unsigned at = ctok_lowest_bit(blanks);
        to = copy(to, p + from, at - from);
        memcpy(to, m->blank, 4);
        to += m->n_blank;
        from = at + 1;
        blanks &= blanks - 1;
    }
    return copy(to, p + from, k - from);
}

/* The same where of a row of blanks one counts, and none if `blank`. */
static uint8_t *put_rows(const ctok_spn *m, const uint8_t *p, uint64_t blanks, unsigned k, int blank, uint8_t *to) {
    unsigned from = 0;
    if (blank && blanks & 1) {
        from = ~blanks ? ctok_lowest_bit(~blanks) : 64;
        blanks &= ~below(from);
    }
    while (blanks) {
        const unsigned at = ctok_lowest_bit(blanks);
        to = copy(to, p + from, at - from);
        memcpy(to, m->blank, 4);
        to += m->n_blank;
        from = ~(blanks >> at) ? at + ctok_lowest_bit(~(blanks >> at)) : 64;
        blanks &= ~below(from);
    }
    return copy(to, p + from, k - from);
}

#if defined(AVX512)
/* The first k bytes of a window without those `dropped`. Each byte is made a word, of which one or, for a blank, more bytes count, and those
 * are moved together; 64 may be written in any case. */
AVX512 static uint8_t *put_words(const ctok_spn *m, const uint8_t *p, uint64_t blanks, uint64_t dropped, unsigned k, uint8_t *to) {
    int blank;
    memcpy(&blank, m->blank, 4);
    const __m512i marks = _mm512_set1_epi32(blank), one = _mm512_set1_epi32(0xFF);
    const __m512i all = _mm512_set1_epi32(m->n_blank == 3 ? 0xFFFFFF : 0xFF);
    const uint64_t kept = below(k) & ~dropped;
    for (unsigned i = 0; i < k; i += 16) {
        const __mmask16 is_blank = (__mmask16)(blanks >> i), is_kept = (__mmask16)(kept >> i);
        const __m512i words = _mm512_mask_mov_epi32(_mm512_cvtepu8_epi32(load(p + i)), is_blank, marks);
        const __mmask64 counts = _mm512_movepi8_mask(_mm512_maskz_mov_epi32(is_kept, _mm512_mask_mov_epi32(one, is_blank, all)));
        _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(counts, words));
        to += __builtin_popcountll(counts);
    }
    return to;
}
#else
static uint8_t *put_words(const ctok_spn *m, const uint8_t *p, uint64_t blanks, uint64_t dropped, unsigned k, uint8_t *to) {
    return dropped ? put_rows(m, p, blanks, k, dropped & 1, to) : put_window(m, p, blanks, k, to);
}
#endif

/* The first k bytes of a window, up to where it is known to be plain. */
static void put_plain(const ctok_spn *m, lane *l, const uint8_t *p, uint64_t blanks, unsigned k) {
    const int before = l->blank;
    blanks &= below(k);
    const uint64_t dropped = m->extra ? (blanks << 1 | (uint64_t)before) & blanks : 0;
    if (l->by_words) {
        l->to = put_words(m, p, blanks, dropped, k, l->to);
    } else if (dropped) {
        l->to = put_rows(m, p, blanks, k, before, l->to);
    } else {
        l->to = put_window(m, p, blanks, k, l->to);
    }
    l->pos += k;
    l->last = l->pos - 1;
    l->back = l->to - 1;
    l->first = l->in[l->last] < 0x80 && m->ascii[l->in[l->last]] & CTOK_SPN_FIRST;
    l->blank = m->extra && blanks >> (k - 1) & 1;
    l->blank_before = k > 1 ? m->extra && blanks >> (k - 2) & 1 : before;
}

/* A window of n bytes that can be read at p. 0: something there is not for the lane. */
static int take_window(const ctok_spn *m, lane *l, const uint8_t *p, unsigned n) {
    uint8_t other[READABLE];
    window w = look(m, p);
    if (m->lowers) {
        lower(other, p);
        p = other;
    }
    while (n) {
        w.stops |= ~below(n);
        const unsigned k = w.stops ? ctok_lowest_bit(w.stops) : WINDOW;
        const size_t before = l->pos;
        if (k) put_plain(m, l, p, w.blanks, k);
        if (k == n) return 1;
        if (l->in[l->pos] < 0x80 || !wide(m, l)) return 0;
        if (l->pos - before >= n) return 1;
        const unsigned taken = (unsigned)(l->pos - before);
        p += taken;
        n -= taken;
        w.blanks >>= taken;
        w.stops >>= taken;
    }
    return 1;
}

static void take_windows(const ctok_spn *m, lane *l) {
    uint8_t end[READABLE];
    int more = 1;
    while (more && l->pos < l->n) {
        const size_t rest = l->n - l->pos;
        if (CTOK_LIKELY(rest >= READABLE)) {
            more = take_window(m, l, l->in + l->pos, WINDOW);
        } else {
            memset(end, 0, sizeof end);
            memcpy(end, l->in + l->pos, rest);
            more = take_window(m, l, end, rest < WINDOW ? (unsigned)rest : WINDOW);
        }
    }
}

int ctok_spn_plain(const ctok_spn *m, const uint8_t *p) {
    size_t len;
    if (!m->has_lane || (*p & 0xC0) == 0x80) return 0;
    if (*p < 0x80) return !(m->ascii[*p] & (CTOK_SPN_SLOW | CTOK_SPN_BLANK));
    return !(ctok_spn_entry(m, ctok_nf_read(p, &len)) & (CTOK_SPN_SLOW | CTOK_SPN_BLANK));
}

ctok_status ctok_spn_lane(const ctok_spn *m, const uint8_t *in, size_t n, int final, int *blank, ctok_bytes *out, size_t *used) {
    if (n > SIZE_MAX / 4 || ctok_bytes_reserve(out, 3 * n + READABLE) != CTOK_OK) return CTOK_ERR_MEMORY;
    lane l = {in, 0, n, out->at + out->n, has_avx512(), *blank, 0, 0, NULL, 0};
    int next_may_join = 0;
    take_windows(m, &l);
    if (l.pos < n) {
        size_t len;
        next_may_join = (ctok_spn_entry(m, ctok_nf_read(in + l.pos, &len)) & CTOK_SPN_SECOND) != 0;
    }
    if (l.first && (l.pos < n ? next_may_join : !final)) {
        l.pos = l.last;
        l.to = l.back;
        l.blank = l.blank_before;
    }
    out->n = (size_t)(l.to - out->at);
    *blank = l.blank;
    *used = l.pos;
    return CTOK_OK;
}
