/* ctok_utf8.h - UTF-8: is it well formed, what stands here, where does it break off; to and from Python's 1-, 2- and 4-byte strings.
 *
 * Knows nothing of tokens. Allocates nothing, keeps nothing, holds no lock: every function may run on any number of threads.
 * "Well formed" is the table of well-formed byte sequences in the Unicode Standard, section 3.9: no overlong forms, no
 * surrogates, nothing above U+10FFFF. Ill-formed bytes are cut into maximal subparts as that section recommends, which is also
 * what Python's errors="replace" does: one U+FFFD for each.
 */
#ifndef CTOK_UTF8_H
#define CTOK_UTF8_H

#include "ctok_base.h"

#define CTOK_UTF8_BAD UINT32_C(0xFFFFFFFF)  /* ctok_utf8_step: an ill-formed subpart */
#define CTOK_UTF8_OPEN UINT32_C(0xFFFFFFFE) /* ctok_utf8_step: the text breaks off inside a character */

/* Which buffer a text needs; the value is also ordered by size. */
typedef enum ctok_utf8_class {
    CTOK_UTF8_ASCII = 0,
    CTOK_UTF8_LATIN1 = 1, /* up to U+00FF */
    CTOK_UTF8_BMP = 2,    /* up to U+FFFF */
    CTOK_UTF8_ASTRAL = 3
} ctok_utf8_class;

/* ctok_utf8_range - which second bytes may follow a lead byte: *low..*high. Returns the bytes of the character (2..4), or 0 when b
 * can start nothing longer than itself. */
static inline size_t ctok_utf8_range(uint8_t b, uint8_t *low, uint8_t *high) {
    *low = b == 0xE0 ? 0xA0 : b == 0xF0 ? 0x90 : 0x80;
    *high = b == 0xED ? 0x9F : b == 0xF4 ? 0x8F : 0xBF;
    if (b < 0xC2 || b > 0xF4) return 0;
    return b < 0xE0 ? 2 : b < 0xF0 ? 3 : 4;
}

/* ctok_utf8_step - what stands at p.
 *
 * p, n   n >= 1 readable bytes.
 * cp     set to the code point; or to CTOK_UTF8_BAD; or to CTOK_UTF8_OPEN when all n bytes are the beginning of a character
 *        that more text could finish.
 *
 * Returns how many bytes it takes: 1..4, at most n. For CTOK_UTF8_BAD that is the maximal subpart (1..3), for CTOK_UTF8_OPEN n.
 */
static inline size_t ctok_utf8_step(const uint8_t *p, size_t n, uint32_t *cp) {
    uint8_t low, high;
    const uint8_t b = p[0];
    if (b < 0x80) {
        *cp = b;
        return 1;
    }
    const size_t need = ctok_utf8_range(b, &low, &high);
    *cp = CTOK_UTF8_BAD;
    if (need == 0) return 1;
    uint32_t c = b & (0x7Fu >> need);
    for (size_t i = 1; i < need; i++) {
        if (i == n) {
            *cp = CTOK_UTF8_OPEN;
            return n;
        }
        if (p[i] < low || p[i] > high) return i;
        c = c << 6 | (p[i] & 0x3Fu);
        low = 0x80;
        high = 0xBF;
    }
    *cp = c;
    return need;
}

/* ctok_utf8_put - write a code point that is no surrogate; returns the bytes written (1..4). dst has room for them. */
static inline size_t ctok_utf8_put(uint8_t *dst, uint32_t c) {
    if (c < 0x80) {
        dst[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        dst[0] = (uint8_t)(0xC0 | c >> 6);
        dst[1] = (uint8_t)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        dst[0] = (uint8_t)(0xE0 | c >> 12);
        dst[1] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
        dst[2] = (uint8_t)(0x80 | (c & 0x3F));
        return 3;
    }
    dst[0] = (uint8_t)(0xF0 | c >> 18);
    dst[1] = (uint8_t)(0x80 | (c >> 12 & 0x3F));
    dst[2] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
    dst[3] = (uint8_t)(0x80 | (c & 0x3F));
    return 4;
}

/* ctok_utf8_ascii - how many bytes at the start are ASCII. */
size_t ctok_utf8_ascii(const uint8_t *p, size_t n);

/* ctok_utf8_validate - is all of it well formed?
 *
 * Returns CTOK_OK, or CTOK_ERR_UTF8 with *bad = first byte of the first ill-formed subpart (an unfinished character at the end
 * counts as one). *bad is left alone on CTOK_OK. Reads exactly n bytes; p may be NULL when n is 0.
 */
ctok_status ctok_utf8_validate(const uint8_t *p, size_t n, size_t *bad);

/* ctok_utf8_tail - how many bytes at the end of a buffer begin a character that is not finished yet.
 *
 * Returns 0..3. The first n - result bytes can be decoded now; keep the rest and put them before the next chunk. Bytes that
 * could never become valid count as finished, so the decoder reports them instead of waiting for ever.
 * Reads at most the last 3 bytes; p may be NULL when n is 0.
 */
size_t ctok_utf8_tail(const uint8_t *p, size_t n);

/* ctok_utf8_count - characters in well-formed text: bytes that are no continuation. */
size_t ctok_utf8_count(const uint8_t *p, size_t n);

/* ctok_utf8_count_utf16 - UTF-16 code units of well-formed text: characters above U+FFFF take two. */
size_t ctok_utf8_count_utf16(const uint8_t *p, size_t n);

/* ctok_utf8_measure - what a string for this well-formed text needs: *n_chars characters of the returned class. One pass. */
ctok_utf8_class ctok_utf8_measure(const uint8_t *p, size_t n, size_t *n_chars);

/* ctok_utf8_to_ucs1 / 2 / 4 - write well-formed text as fixed-width characters.
 *
 * The text's class must fit: Latin-1 for ucs1, BMP for ucs2. dst has room for exactly the characters of the text.
 * Returns the characters written.
 */
size_t ctok_utf8_to_ucs1(const uint8_t *p, size_t n, uint8_t *dst);
size_t ctok_utf8_to_ucs2(const uint8_t *p, size_t n, uint16_t *dst);
size_t ctok_utf8_to_ucs4(const uint8_t *p, size_t n, uint32_t *dst);

/* What ctok_utf8_from_* does with a surrogate that has no partner. */
typedef enum ctok_on_surrogate {
    CTOK_SURROGATE_STRICT = 0, /* stop in front of it: CTOK_ERR_UTF8 */
    CTOK_SURROGATE_REPLACE = 1 /* write U+FFFD (EF BF BD) */
} ctok_on_surrogate;

/* ctok_utf8_from_ucs1 / 2 / 4 - write characters as UTF-8, as many as fit.
 *
 * src, n    n characters of 1, 2 or 4 bytes each, aligned to their size, each at most U+10FFFF.
 * pos       in: the character to start with; out: the first one not written. *pos == n: all is done.
 * dst, cap  room for the bytes; a character is written whole or not at all. cap >= 4 makes progress certain.
 * written   bytes written by this call.
 * on_surrogate  a high and a low surrogate side by side are one character and are always joined; a lone one is treated as this says.
 *           A high surrogate at n - 1 counts as lone: a caller who expects more text passes n - 1 and keeps it.
 *
 * Returns CTOK_OK (also when dst is full), or CTOK_ERR_UTF8 with *pos at the lone surrogate; what stands before it is written.
 * Calling again with the returned *pos goes on, so a text of any length passes through a small buffer. dst beyond *written may be
 * scribbled on, up to cap.
 */
ctok_status ctok_utf8_from_ucs1(const void *src, size_t n, size_t *pos, uint8_t *dst, size_t cap, size_t *written,
                                ctok_on_surrogate on_surrogate);
ctok_status ctok_utf8_from_ucs2(const void *src, size_t n, size_t *pos, uint8_t *dst, size_t cap, size_t *written,
                                ctok_on_surrogate on_surrogate);
ctok_status ctok_utf8_from_ucs4(const void *src, size_t n, size_t *pos, uint8_t *dst, size_t cap, size_t *written,
                                ctok_on_surrogate on_surrogate);

/* ctok_utf8_from - one of the three above by the bytes of a character, kind = 1, 2 or 4 (Python's PyUnicode_KIND). */
static inline ctok_status ctok_utf8_from(int kind, const void *src, size_t n, size_t *pos, uint8_t *dst, size_t cap, size_t *written,
                                         ctok_on_surrogate on_surrogate) {
    if (kind == 1) return ctok_utf8_from_ucs1(src, n, pos, dst, cap, written, on_surrogate);
    if (kind == 2) return ctok_utf8_from_ucs2(src, n, pos, dst, cap, written, on_surrogate);
    return ctok_utf8_from_ucs4(src, n, pos, dst, cap, written, on_surrogate);
}

#endif
