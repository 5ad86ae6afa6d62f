/* ctok_scan_step.h - what the scalar steps of all families are made of. Internal to ctok_scan_*.c.
 *
 * A step says where the pretoken that starts at pos stops, or 0 when more text could change that. Every character has exactly one
 * kind of the list below (a newline has two bits), so a class of a pattern is a set of kinds.
 *
 * Nothing here looks at or past end, whatever the bytes are; the result is right for valid UTF-8.
 */
#ifndef CTOK_SCAN_STEP_H
#define CTOK_SCAN_STEP_H

#include "ctok_scan.h"
#include "ctok_unicode.h"

#if defined(__GNUC__) || defined(__clang__)
#define CTOK_SCAN_INLINE static inline __attribute__((always_inline))
#else
#define CTOK_SCAN_INLINE static inline
#endif

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define CTOK_SCAN_X86 1
#endif

#define CTOK_KIND_UPPER 1u    /* Lu, Lt */
#define CTOK_KIND_LOWER 2u    /* Ll */
#define CTOK_KIND_UNCASED 4u  /* Lm, Lo */
#define CTOK_KIND_MARK 8u     /* M */
#define CTOK_KIND_NUMBER 16u  /* N */
#define CTOK_KIND_OTHER 32u   /* anything not named here */
#define CTOK_KIND_WHITE 64u   /* White_Space */
#define CTOK_KIND_NEWLINE 128u /* \r and \n, besides CTOK_KIND_WHITE */
#define CTOK_KIND_LETTER (CTOK_KIND_UPPER | CTOK_KIND_LOWER | CTOK_KIND_UNCASED)

extern const uint8_t ctok_scan_ascii[256];     /* kind of a byte < 0x80; 0 for the others */
extern const uint8_t ctok_scan_kinds[64];      /* ctok_unicode_get -> kind */
extern const uint8_t ctok_scan_block[4096];    /* the first two bytes of a longer character -> where its kind is */
extern const uint8_t ctok_scan_block_kind[];

/* ctok_scan_by_bytes - kind of a character of two bytes (then third is any byte) or three. */
CTOK_SCAN_INLINE unsigned ctok_scan_by_bytes(unsigned lead, unsigned second, unsigned third) {
    return ctok_scan_block_kind[(size_t)ctok_scan_block[(lead & 63) << 6 | (second & 63)] << 6 | (third & 63)];
}

/* ctok_scan_four - kind of the character of four bytes at `at`; other if it is no code point. */
static inline unsigned ctok_scan_four(const uint8_t *at) {
    const uint32_t code = (at[0] & 7u) << 18 | (at[1] & 63u) << 12 | (at[2] & 63u) << 6 | (at[3] & 63u);
    return code <= 0x10FFFF ? ctok_scan_kinds[ctok_unicode_get(code)] : CTOK_KIND_OTHER;
}

/* ctok_scan_wide - kind of the character of 2 to 4 bytes at `at`, and its length. */
static inline unsigned ctok_scan_wide(const uint8_t *buf, size_t at, size_t end, size_t *len) {
    const unsigned lead = buf[at];
    const size_t n = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (CTOK_UNLIKELY(end - at < n)) {
        *len = 1;
        return CTOK_KIND_OTHER;
    }
    *len = n;
    if (CTOK_UNLIKELY(n == 4)) return ctok_scan_four(buf + at);
    return ctok_scan_by_bytes(lead, buf[at + 1], buf[at + n - 1]);
}

/* ctok_scan_kind - kind of the character at `at` < end, and its length. */
CTOK_SCAN_INLINE unsigned ctok_scan_kind(const uint8_t *buf, size_t at, size_t end, size_t *len) {
    *len = 1;
    return buf[at] < 0x80 ? ctok_scan_ascii[buf[at]] : ctok_scan_wide(buf, at, end, len);
}

/* ctok_scan_run - the first place from p on whose character is not of the kinds wanted, or end. */
CTOK_SCAN_INLINE size_t ctok_scan_run(const uint8_t *buf, size_t p, size_t end, unsigned want) {
    for (;;) {
        while (p < end && (ctok_scan_ascii[buf[p]] & want)) p++;
        if (p >= end || buf[p] < 0x80) return p;
        size_t len;
        if (!(ctok_scan_wide(buf, p, end, &len) & want)) return p;
        p += len;
    }
}

/* ctok_scan_closed - p, unless the run that stops there does so only because the text seen so far ends. */
CTOK_SCAN_INLINE size_t ctok_scan_closed(size_t p, size_t end, int at_eof) {
    return p < end || at_eof ? p : 0;
}

/* ctok_scan_contraction - where the contraction that starts with the apostrophe at `at` stops, or 0 when there is none.
 * With fold: in any case, and U+017F counts as an s (its simple case folding). */
CTOK_SCAN_INLINE size_t ctok_scan_contraction(const uint8_t *buf, size_t at, size_t end, int fold) {
    if (end - at < 2) return 0;
    const unsigned char bit = fold ? 0x20 : 0;
    const unsigned char c = buf[at + 1] | bit;
    if (c == 's' || c == 't' || c == 'm' || c == 'd') return at + 2;
    if (end - at < 3) return 0;
    const unsigned char d = buf[at + 2] | bit;
    if (((c == 'r' || c == 'v') && d == 'e') || (c == 'l' && d == 'l')) return at + 3;
    if (fold && buf[at + 1] == 0xC5 && buf[at + 2] == 0xBF) return at + 3;
    return 0;
}

/* ctok_scan_half_contraction - could more text complete a contraction at the apostrophe? (Asked when there is none so far.) */
CTOK_SCAN_INLINE int ctok_scan_half_contraction(const uint8_t *buf, size_t at, size_t end, int fold) {
    if (end - at > 2) return 0;
    if (end - at == 1) return 1;
    const unsigned char c = buf[at + 1] | (unsigned char)(fold ? 0x20 : 0);
    return c == 'r' || c == 'v' || c == 'l';
}

/* ctok_scan_digits - at most `most` numbers from p on, of which `seen` are before p. */
CTOK_SCAN_INLINE size_t ctok_scan_digits(const uint8_t *buf, size_t p, size_t end, int at_eof, int seen, int most) {
    for (; seen < most; seen++) {
        if (p == end) return at_eof ? p : 0;
        size_t len;
        if (!(ctok_scan_kind(buf, p, end, &len) & CTOK_KIND_NUMBER)) return p;
        p += len;
    }
    return p;
}

/* ctok_scan_white - the white space at pos, where no other alternative matches.
 * lines   \s*[\r\n]+ stands before \s+(?!\S): stop after the last newline of the run.
 * tail    \s++$ stands before that: at the end of the text the run stays whole. */
CTOK_SCAN_INLINE size_t ctok_scan_white(const uint8_t *buf, size_t pos, size_t end, int at_eof, int lines, int tail) {
    size_t p = pos, last = pos, line = 0, len;
    while (p < end) {
        const unsigned kind = ctok_scan_kind(buf, p, end, &len);
        if (!(kind & CTOK_KIND_WHITE)) break;
        last = p;
        p += len;
        if (lines && kind & CTOK_KIND_NEWLINE) line = p;
    }
    if (p == end) return !at_eof ? 0 : line && !tail ? line : p;
    if (line) return line;
    return last > pos ? last : p; /* the last one is left to the word that follows */
}

/* The parameters of a ctok_block_fn, and the same handed on. */
#define CTOK_BLOCK_PARAMS const uint8_t *buf, size_t pos, size_t end, int at_eof, uint32_t *stops, size_t cap, ctok_block *out
#define CTOK_BLOCK_ARGS buf, pos, end, at_eof, stops, cap, out

typedef size_t ctok_scan_step(const uint8_t *buf, size_t pos, size_t end, int at_eof);

/* ctok_scan_steps - the block function made of a step. */
CTOK_SCAN_INLINE void ctok_scan_steps(CTOK_BLOCK_PARAMS, ctok_scan_step step) {
    size_t n = 0;
    out->first = pos;
    out->hit_end = 0;
    while (pos < end && n < cap) {
        const size_t stop = step(buf, pos, end, at_eof);
        if (stop == 0) {
            out->hit_end = 1;
            break;
        }
        stops[n++] = (uint32_t)stop;
        pos = stop;
    }
    out->n = n;
    out->next = pos;
}

#endif
