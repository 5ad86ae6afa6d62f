/* Runs ctok_utf8 against a plain state machine, under the sanitizers. Every buffer is allocated to its exact size, so that one
 * byte read or written too far is caught. Exit code 0 = all well. */
#include "ctok_utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const uint8_t *p, size_t n) {
    fprintf(stderr, "%s:", what);
    for (size_t i = 0; i < n; i++) fprintf(stderr, " %02X", p[i]);
    fprintf(stderr, "\n");
    exit(1);
}

static uint64_t seed = 1;

static uint32_t rnd(uint32_t below) {
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

/* The twin: length of the well-formed character at p, or 0; by decoding and asking whether it is the shortest form. */
static size_t plain_char(const uint8_t *p, size_t n, uint32_t *c) {
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t b = p[0];
    const size_t need = b < 0x80 ? 1 : b < 0xC0 ? 0 : b < 0xE0 ? 2 : b < 0xF0 ? 3 : b < 0xF8 ? 4 : 0;
    if (need == 0 || need > n) return 0;
    *c = need == 1 ? b : (uint32_t)(b & (0x7F >> need));
    for (size_t i = 1; i < need; i++) {
        if ((p[i] & 0xC0) != 0x80) return 0;
        *c = *c << 6 | (p[i] & 0x3Fu);
    }
    if (*c < least[need] || *c > 0x10FFFF || (*c >= 0xD800 && *c < 0xE000)) return 0;
    return need;
}

/* Can these n bytes be continued to a character? By trying all continuations. */
static int plain_open(const uint8_t *p, size_t n) {
    uint8_t t[4];
    uint32_t c;
    if (n == 0 || n > 3 || plain_char(p, n, &c) == n) return 0;
    for (size_t total = n + 1; total <= 4; total++) {
        memset(t, 0x80, 4);
        memcpy(t, p, n);
        for (int x = 0x80; x < 0xC0; x++) {
            t[n] = (uint8_t)x;
            if (plain_char(t, total, &c) == total) return 1;
        }
    }
    return 0;
}

static size_t plain_subpart(const uint8_t *p, size_t n) {
    size_t k = n < 3 ? n : 3;
    while (k > 1 && !plain_open(p, k)) k--;
    return k;
}

static void check_to_ucs(const uint8_t *p, size_t n, const uint32_t *want, size_t n_chars) {
    size_t count = 0, units = 0;
    uint32_t most = 0;
    for (size_t i = 0; i < n_chars; i++) {
        most = want[i] > most ? want[i] : most;
        units += 1u + (want[i] > 0xFFFF);
    }
    const ctok_utf8_class class = ctok_utf8_measure(p, n, &count);
    const ctok_utf8_class right = most < 0x80      ? CTOK_UTF8_ASCII
                                  : most < 0x100   ? CTOK_UTF8_LATIN1
                                  : most < 0x10000 ? CTOK_UTF8_BMP
                                                   : CTOK_UTF8_ASTRAL;
    if (class != right || count != n_chars) fail("measure", p, n);
    if (ctok_utf8_count(p, n) != n_chars) fail("count", p, n);
    if (ctok_utf8_count_utf16(p, n) != units) fail("count_utf16", p, n);
    uint32_t *u4 = malloc(n_chars * 4 + 1);
    uint16_t *u2 = malloc(n_chars * 2 + 1);
    uint8_t *u1 = malloc(n_chars + 1);
    if (ctok_utf8_to_ucs4(p, n, u4) != n_chars || memcmp(u4, want, n_chars * 4) != 0) fail("to_ucs4", p, n);
    if (class <= CTOK_UTF8_BMP) {
        if (ctok_utf8_to_ucs2(p, n, u2) != n_chars) fail("to_ucs2 length", p, n);
        for (size_t i = 0; i < n_chars; i++)
            if (u2[i] != want[i]) fail("to_ucs2", p, n);
    }
    if (class <= CTOK_UTF8_LATIN1) {
        if (ctok_utf8_to_ucs1(p, n, u1) != n_chars) fail("to_ucs1 length", p, n);
        for (size_t i = 0; i < n_chars; i++)
            if (u1[i] != want[i]) fail("to_ucs1", p, n);
    }
    free(u1);
    free(u2);
    free(u4);
}

/* Pass a string through a small buffer of `cap` bytes and compare with the wanted bytes. */
static void check_from(int kind, const void *src, size_t units, const uint8_t *want, size_t n, size_t cap) {
    size_t pos = 0, at = 0, written = 0;
    uint8_t *dst = malloc(cap);
    while (pos < units) {
        const ctok_status st = ctok_utf8_from(kind, src, units, &pos, dst, cap, &written, CTOK_SURROGATE_STRICT);
        if (st != CTOK_OK || written == 0 || at + written > n || memcmp(dst, want + at, written) != 0) fail("from", want, n);
        at += written;
    }
    if (at != n) fail("from length", want, n);
    free(dst);
}

static void check_from_all(const uint32_t *chars, size_t n_chars, const uint8_t *want, size_t n) {
    uint16_t *u2 = malloc(n_chars * 4 + 2);
    uint8_t *u1 = malloc(n_chars + 1);
    size_t units = 0;
    int latin = 1;
    for (size_t i = 0; i < n_chars; i++) {
        latin &= chars[i] < 0x100;
        u1[i] = (uint8_t)chars[i];
        if (chars[i] > 0xFFFF) {
            u2[units++] = (uint16_t)(0xD800 + ((chars[i] - 0x10000) >> 10));
            u2[units++] = (uint16_t)(0xDC00 + ((chars[i] - 0x10000) & 0x3FF));
        } else {
            u2[units++] = (uint16_t)chars[i];
        }
    }
    const size_t caps[4] = {4, 5 + rnd(60), 64, n + 64};
    for (int k = 0; k < 4; k++) {
        check_from(4, chars, n_chars, want, n, caps[k]);
        check_from(2, u2, units, want, n, caps[k]);
        if (latin) check_from(1, u1, n_chars, want, n, caps[k]);
    }
    free(u1);
    free(u2);
}

static void check(const uint8_t *bytes, size_t n) {
    uint8_t *p = malloc(n ? n : 1);
    uint32_t *chars = malloc((n + 1) * 4);
    size_t i = 0, n_chars = 0, bad = SIZE_MAX, tail = 0;
    memcpy(p, bytes, n);
    while (i < n) {
        uint32_t c = 0, got = 0;
        size_t step = plain_char(p + i, n - i, &c);
        if (step == 0) {
            if (bad == SIZE_MAX) bad = i;
            step = plain_subpart(p + i, n - i);
            c = step == n - i && plain_open(p + i, n - i) ? CTOK_UTF8_OPEN : CTOK_UTF8_BAD;
            if (c == CTOK_UTF8_OPEN) tail = step;
        }
        if (ctok_utf8_step(p + i, n - i, &got) != step || got != c) fail("step", p, n);
        chars[n_chars++] = c;
        i += step;
    }
    size_t found = SIZE_MAX;
    const ctok_status st = ctok_utf8_validate(p, n, &found);
    if ((st == CTOK_OK) != (bad == SIZE_MAX) || found != bad) fail("validate", p, n);
    if (ctok_utf8_tail(p, n) != tail) fail("tail", p, n);
    if (bad == SIZE_MAX) {
        check_to_ucs(p, n, chars, n_chars);
        check_from_all(chars, n_chars, p, n);
    }
    free(chars);
    free(p);
}

static void all_short(void) {
    uint8_t b[2];
    for (int x = 0; x < 256; x++) {
        b[0] = (uint8_t)x;
        check(b, 1);
        for (int y = 0; y < 256; y++) {
            b[1] = (uint8_t)y;
            check(b, 2);
        }
    }
}

static void all_borders(void) { /* 3 and 4 bytes from the values where a rule changes */
    static const uint8_t v[] = {0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0,
                                0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFE, 0xFF};
    const size_t m = sizeof v;
    uint8_t b[4];
    for (size_t i = 0; i < m * m * m * m; i++) {
        b[0] = v[i % m];
        b[1] = v[i / m % m];
        b[2] = v[i / m / m % m];
        b[3] = v[i / m / m / m];
        check(b, 4);
        if (i < m * m * m) check(b, 3);
    }
}

static uint32_t any_char(int style) {
    uint32_t c;
    switch (style) {
    case 0: return rnd(0x80);
    case 1: return rnd(8) ? rnd(0x80) : 0x80 + rnd(0x80);
    case 2: return rnd(6) ? 0x400 + rnd(0x100) : 0x20;
    case 3: return 0x4E00 + rnd(0x5000);
    case 4: return rnd(20) ? 0x4E00 + rnd(0x5000) : 0x1F300 + rnd(0x300);
    default:
        do c = rnd(0x110000);
        while (c >= 0xD800 && c < 0xE000);
        return c;
    }
}

static void random_texts(int rounds) {
    uint8_t b[1400];
    for (int r = 0; r < rounds; r++) {
        const int style = (int)rnd(6), damage = rnd(3) == 0;
        const size_t most = rnd(2) ? rnd(40) : rnd(300);
        size_t n = 0;
        for (size_t i = 0; i < most; i++) n += ctok_utf8_put(b + n, any_char(rnd(5) ? style : (int)rnd(6)));
        if (damage && n > 0) {
            if (rnd(2)) b[rnd((uint32_t)n)] = (uint8_t)rnd(256);
            n -= rnd(n < 3 ? (uint32_t)n + 1 : 4);
        }
        check(b, n);
    }
}

/* Surrogates with and without partners, `pad` letters of two bytes before and behind them. */
static void surrogates(size_t pad) {
    static const uint16_t s[] = {'a', 0xD83D, 0xDC4D, 0xDC4D, 'b', 0xD83D, 0xD83D, 0xDC4D, 0xD83D};
    static const uint8_t bytes[] = "a\xF0\x9F\x91\x8D\xEF\xBF\xBD"
                                   "b\xEF\xBF\xBD\xF0\x9F\x91\x8D\xEF\xBF\xBD";
    enum { MOST = 40, UNITS = sizeof s / sizeof *s, BYTES = sizeof bytes - 1 };
    const size_t units = UNITS + 2 * pad, n = BYTES + 4 * pad;
    uint16_t narrow[UNITS + 2 * MOST];
    uint32_t wide[UNITS + 2 * MOST];
    uint8_t want[BYTES + 4 * MOST];
    for (size_t i = 0; i < units; i++) narrow[i] = 0x44F; /* U+044F */
    for (size_t i = 0; i < n; i++) want[i] = i % 2 ? 0x8F : 0xD1;
    memcpy(narrow + pad, s, sizeof s);
    memcpy(want + 2 * pad, bytes, BYTES);
    for (size_t i = 0; i < pad; i++) memcpy(want + 2 * pad + BYTES + 2 * i, "\xD1\x8F", 2);
    for (size_t i = 0; i < units; i++) wide[i] = narrow[i];
    for (int kind = 2; kind <= 4; kind += 2) {
        const void *src = kind == 2 ? (const void *)narrow : (const void *)wide;
        for (size_t cap = 4; cap < 240; cap++) {
            uint8_t *dst = malloc(cap);
            size_t pos = 0, at = 0, written = 0;
            if (ctok_utf8_from(kind, src, units, &pos, dst, cap, &written, CTOK_SURROGATE_STRICT) != CTOK_ERR_UTF8) {
                if (cap >= 2 * pad + 8) fail("strict", want, n);
            } else if (pos != pad + 3 || written != 2 * pad + 5) {
                fail("strict place", want, n);
            }
            for (pos = 0; pos < units; at += written) {
                if (ctok_utf8_from(kind, src, units, &pos, dst, cap, &written, CTOK_SURROGATE_REPLACE) != CTOK_OK ||
                    memcmp(dst, want + at, written) != 0)
                    fail("replace", want, n);
            }
            if (at != n) fail("replace length", want, n);
            free(dst);
        }
    }
}

int main(void) {
    size_t bad = 7;
    if (ctok_utf8_validate(NULL, 0, &bad) != CTOK_OK || bad != 7 || ctok_utf8_tail(NULL, 0) != 0) return 1;
    check((const uint8_t *)"", 0);
    all_short();
    all_borders();
    random_texts(6000);
    for (size_t pad = 0; pad <= 40; pad++) surrogates(pad);
    return 0;
}
