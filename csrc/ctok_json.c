/* ctok_json.c - see ctok_json.h. */
#include "ctok_json.h"

#include <string.h>

#include "ctok_le.h"
#include "ctok_utf8.h"

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define CTOK_JSON_SSE2
#endif

#define ONES UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

/* ---- strings ---- */

/* The high bit of each byte that is a quote, a backslash or below 0x20. Exact up to and including the lowest such byte. */
static uint64_t special_bytes(uint64_t w) {
    const uint64_t quote = w ^ ONES * '"', slash = w ^ ONES * '\\';
    return (((quote - ONES) & ~quote) | ((slash - ONES) & ~slash) | ((w - ONES * 0x20) & ~w)) & HIGHS;
}

static size_t lowest_byte(uint64_t highs) {
#if defined(__GNUC__) || defined(__clang__)
    return (size_t)__builtin_ctzll(highs) >> 3;
#else
    size_t n = 0;
    for (; !(highs & 0x80); highs >>= 8) n++;
    return n;
#endif
}

static int is_special(uint8_t c) {
    return c == '"' || c == '\\' || c < 0x20;
}

#ifdef CTOK_JSON_SSE2
/* What 16 bytes are, a bit for each. */
typedef struct block {
    unsigned special; /* a quote, a backslash or below 0x20 */
    unsigned wide;    /* not ASCII */
} block;

static block look(const uint8_t *p) {
    const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
    const __m128i quote = _mm_cmpeq_epi8(x, _mm_set1_epi8('"')), slash = _mm_cmpeq_epi8(x, _mm_set1_epi8('\\'));
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(0x1F)), x);
    return (block){(unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, slash), control)), (unsigned)_mm_movemask_epi8(x)};
}

/* Are the first n (up to 16) of 16 bytes ASCII and whole characters of two bytes? */
static int are_narrow(const uint8_t *p, size_t n) {
    const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
    const unsigned mask = (1u << n) - 1, wide = (unsigned)_mm_movemask_epi8(x) & mask;
    const unsigned behind = (unsigned)_mm_movemask_epi8(_mm_cmplt_epi8(x, _mm_set1_epi8(-64))) & mask; /* 80..BF */
    const unsigned lead = (unsigned)_mm_movemask_epi8(_mm_and_si128(_mm_cmpgt_epi8(x, _mm_set1_epi8(-63)),
                                                                   _mm_cmplt_epi8(x, _mm_set1_epi8(-32)))) & mask; /* C2..DF */
    return wide == (behind | lead) && behind == lead << 1;
}
#endif

/* From `at` on to the next special byte; *wide gathers whether a byte is not ASCII. */
static size_t plain_run(const ctok_json *j, size_t at, uint64_t *wide) {
#ifdef CTOK_JSON_SSE2
    for (; j->end - at >= 16; at += 16) {
        const block b = look(j->buf + at);
        *wide |= b.wide & (b.special ^ (b.special - 1)); /* of the bytes up to the found one, which is ASCII */
        if (b.special) return at + ctok_lowest_bit(b.special);
    }
#endif
    while (j->end - at >= 8) {
        const uint64_t w = ctok_le64_get(j->buf + at), found = special_bytes(w);
        if (found) {
            *wide |= w & HIGHS & (found ^ (found - 1)); /* of the bytes up to the found one, which is ASCII */
            return at + lowest_byte(found);
        }
        *wide |= w & HIGHS;
        at += 8;
    }
    for (; at < j->end && !is_special(j->buf[at]); at++) *wide |= j->buf[at] & 0x80u;
    return at;
}

/* Four hex digits at `at`, or -1. */
static int32_t hex4(const ctok_json *j, size_t at) {
    int32_t x = 0;
    if (j->end - at < 4) return -1;
    for (size_t i = at; i < at + 4; i++) {
        const uint8_t c = j->buf[i], low = c | 0x20;
        if (c >= '0' && c <= '9') {
            x = x << 4 | (c - '0');
        } else if (low >= 'a' && low <= 'f') {
            x = x << 4 | (low - 'a' + 10);
        } else {
            return -1;
        }
    }
    return x;
}

/* The bytes of the escape at `at` (2, 6 or 12), or 0 and a fault is noted. */
static size_t check_escape(ctok_json *j, size_t at) {
    if (j->end - at < 2) {
        ctok_json_fail(j, CTOK_JSON_END, j->end);
        return 0;
    }
    const uint8_t c = j->buf[at + 1];
    if (c != 'u') {
        if (c && strchr("\"\\/bfnrt", c)) return 2;
        ctok_json_fail(j, CTOK_JSON_ESCAPE, at);
        return 0;
    }
    const int32_t x = hex4(j, at + 2);
    if (x < 0) {
        ctok_json_fail(j, CTOK_JSON_ESCAPE, j->end - at < 6 ? j->end : at);
        return 0;
    }
    if (x < 0xD800 || x > 0xDFFF) return 6;
    if (x < 0xDC00 && j->end - at >= 12 && j->buf[at + 6] == '\\' && j->buf[at + 7] == 'u') {
        const int32_t low = hex4(j, at + 8);
        if (low >= 0xDC00 && low <= 0xDFFF) return 12;
    }
    ctok_json_fail(j, CTOK_JSON_SURROGATE, at);
    return 0;
}

static int check_utf8(ctok_json *j, size_t begin, size_t end) {
#ifdef CTOK_JSON_SSE2
    if (end - begin <= 16 && j->end - begin >= 16 && are_narrow(j->buf + begin, end - begin)) return 1;
#endif
    for (size_t at = begin; at < end;) {
        const uint8_t *p = j->buf + at;
        uint32_t cp;
        if (*p < 0x80) {
            at++;
            continue;
        }
        if (*p >= 0xC2 && *p < 0xE0 && end - at >= 2 && (p[1] & 0xC0) == 0x80) { /* most of what is not ASCII in these files */
            at += 2;
            continue;
        }
        const size_t n = ctok_utf8_step(p, end - at, &cp);
        if (cp == CTOK_UTF8_BAD || cp == CTOK_UTF8_OPEN) return ctok_json_fail(j, CTOK_JSON_UTF8, at);
        at += n;
    }
    return 1;
}

int ctok_json_string_at(ctok_json *j, ctok_json_fault fault, ctok_json_string *s) {
    if (CTOK_UNLIKELY(ctok_json_peek(j) != '"')) return ctok_json_fail(j, fault, j->at);
    const size_t begin = j->at + 1;
    uint64_t wide = 0;
    size_t at = begin;
    s->plain = 1;
    while ((at = plain_run(j, at, &wide)) < j->end && j->buf[at] != '"') {
        if (j->buf[at] < 0x20) return ctok_json_fail(j, CTOK_JSON_CONTROL, at);
        const size_t n = check_escape(j, at);
        if (n == 0) return 0;
        s->plain = 0;
        at += n;
    }
    if (at == j->end) return ctok_json_fail(j, CTOK_JSON_END, at);
    if (wide && !check_utf8(j, begin, at)) return 0;
    s->begin = begin;
    s->len = at - begin;
    j->at = at + 1;
    return 1;
}

static size_t put_escape(const ctok_json *j, size_t at, uint8_t **to) {
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    const uint8_t c = j->buf[at + 1];
    if (c != 'u') {
        *(*to)++ = (uint8_t)bytes[strchr(names, c) - names];
        return 2;
    }
    uint32_t x = (uint32_t)hex4(j, at + 2);
    const int pair = x >= 0xD800 && x <= 0xDBFF;
    if (pair) x = 0x10000 + ((x - 0xD800) << 10) + ((uint32_t)hex4(j, at + 8) - 0xDC00);
    *to += ctok_utf8_put(*to, x);
    return pair ? 12 : 6;
}

size_t ctok_json_unescape(const ctok_json *j, const ctok_json_string *s, uint8_t *to) {
    const uint8_t *first = to;
    if (s->plain) {
        memcpy(to, j->buf + s->begin, s->len);
        return s->len;
    }
    for (size_t at = s->begin; at < s->begin + s->len;) {
        if (j->buf[at] == '\\') {
            at += put_escape(j, at, &to);
        } else {
            *to++ = j->buf[at++];
        }
    }
    return (size_t)(to - first);
}

int ctok_json_is(const ctok_json *j, const ctok_json_string *s, const char *text) {
    uint8_t here[6 * 64];
    const size_t n = strlen(text);
    if (s->plain) return s->len == n && memcmp(j->buf + s->begin, text, n) == 0;
    return s->len <= sizeof here && ctok_json_unescape(j, s, here) == n && memcmp(here, text, n) == 0;
}

/* ---- numbers ---- */

static size_t digits(const ctok_json *j, size_t at) {
    while (at < j->end && j->buf[at] >= '0' && j->buf[at] <= '9') at++;
    return at;
}

static int stands(const ctok_json *j, size_t at, char c) {
    return at < j->end && j->buf[at] == (uint8_t)c;
}

int ctok_json_number_at(ctok_json *j, size_t *begin) {
    ctok_json_peek(j);
    size_t at = *begin = j->at;
    if (stands(j, at, '-')) at++;
    const size_t whole = at;
    at = digits(j, at);
    if (at == whole || (at > whole + 1 && j->buf[whole] == '0')) return ctok_json_fail(j, CTOK_JSON_NUMBER, at == whole ? at : *begin);
    if (stands(j, at, '.')) {
        const size_t part = at + 1;
        at = digits(j, part);
        if (at == part) return ctok_json_fail(j, CTOK_JSON_NUMBER, at);
    }
    if (stands(j, at, 'e') || stands(j, at, 'E')) {
        at++;
        if (stands(j, at, '+') || stands(j, at, '-')) at++;
        const size_t part = at;
        at = digits(j, part);
        if (at == part) return ctok_json_fail(j, CTOK_JSON_NUMBER, at);
    }
    j->at = at;
    return 1;
}

/* ---- any value ---- */

static int word(ctok_json *j, const char *text) {
    const size_t n = strlen(text), left = j->end - j->at;
    if (memcmp(j->buf + j->at, text, left < n ? left : n) != 0) return ctok_json_fail(j, CTOK_JSON_VALUE, j->at);
    if (left < n) return ctok_json_fail(j, CTOK_JSON_END, j->end);
    j->at += n;
    return 1;
}

/* A value that holds no others. */
static int scalar(ctok_json *j, int c) {
    ctok_json_string s;
    size_t begin;
    if (c == '"') return ctok_json_string_at(j, CTOK_JSON_VALUE, &s);
    if (c == 't') return word(j, "true");
    if (c == 'f') return word(j, "false");
    if (c == 'n') return word(j, "null");
    if (c == '-' || (c >= '0' && c <= '9')) return ctok_json_number_at(j, &begin);
    return ctok_json_fail(j, CTOK_JSON_VALUE, j->at);
}

/* Enter the object or array that was peeked. Returns whether something is inside; the key of its first entry is then read. */
static int enter(ctok_json *j, int c) {
    ctok_json_string s;
    if (!ctok_json_enter(j, c == '{' ? '}' : ']')) return 0;
    return c == '[' || ctok_json_key(j, &s);
}

int ctok_json_skip(ctok_json *j) {
    uint8_t open[CTOK_JSON_DEPTH];
    unsigned depth = 0;
    ctok_json_string s;
    for (;;) {
        const int c = ctok_json_peek(j);
        if (c == '{' || c == '[') {
            if (depth == CTOK_JSON_DEPTH) return ctok_json_fail(j, CTOK_JSON_DEEP, j->at);
            open[depth++] = (uint8_t)c;
            if (enter(j, c)) continue;
            depth--;
            if (j->fault) return 0;
        } else if (!scalar(j, c)) {
            return 0;
        }
        while (depth && !ctok_json_more(j, open[depth - 1] == '{' ? '}' : ']')) { /* closed, or a fault */
            if (j->fault) return 0;
            depth--;
        }
        if (depth == 0) return 1;
        if (open[depth - 1] == '{' && !ctok_json_key(j, &s)) return 0;
    }
}

int ctok_json_end(ctok_json *j) {
    if (j->fault) return 0;
    return ctok_json_peek(j) < 0 ? 1 : ctok_json_fail(j, CTOK_JSON_TRAIL, j->at);
}

size_t ctok_json_line(const uint8_t *buf, size_t at) {
    size_t line = 1;
    for (size_t i = 0; i < at; i++) line += buf[i] == '\n';
    return line;
}
