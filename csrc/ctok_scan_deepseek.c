/* ctok_scan_deepseek.c - the split rule of DeepSeek V3: three patterns, each isolating its matches in what the one before left,
 *
 *   \p{N}{1,3}  then  [U+4E00-U+9FA5 U+3040-U+30FF]+  then
 *   [!-/:-~][A-Za-z]+ | [^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+ | ?[\p{P}\p{S}]+[\r\n]* | \s*[\r\n]+ | \s+(?!\S) | \s+
 *
 * The third one also cuts the pieces of the second. A border of the first two is the end of the text to the third. What nothing matches is a
 * pretoken: characters of no use (controls, unassigned) that no word follows.
 */
#include "ctok_scan_window.h"

/* What a character is. The three of CJK never mix with the others. */
#define WORD 1u     /* L, M */
#define NUMBER 2u
#define SIGN 4u     /* P, S */
#define WHITE 8u
#define NEWLINE 16u /* besides WHITE */
#define USELESS 32u
#define CJK 64u     /* besides WORD, SIGN or USELESS */
#define LATIN 128u  /* A-Z a-z, besides WORD */

static unsigned useful(unsigned properties) {
    const uint32_t category = CTOK_CAT_BIT(properties & CTOK_UNICODE_CATEGORY_MASK);
    if (properties & CTOK_UNICODE_SPACE) return WHITE;
    if (category & (CTOK_SET_L | CTOK_SET_M)) return WORD;
    if (category & CTOK_SET_N) return NUMBER;
    return category & (CTOK_SET_P | CTOK_SET_S) ? SIGN : USELESS;
}

static unsigned sort_of_wide(const uint8_t *buf, size_t at, size_t end, size_t *len) {
    const unsigned lead = buf[at];
    const size_t n = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (CTOK_UNLIKELY(end - at < n)) return USELESS;
    uint32_t code = n == 2 ? lead & 31 : n == 3 ? lead & 15 : lead & 7;
    for (size_t i = 1; i < n; i++) code = code << 6 | (buf[at + i] & 63u);
    if (CTOK_UNLIKELY(code > 0x10FFFF)) return USELESS;
    *len = n;
    const unsigned sort = useful(ctok_unicode_get(code));
    return (code >= 0x4E00 && code <= 0x9FA5) || (code >= 0x3040 && code <= 0x30FF) ? sort | CJK : sort;
}

CTOK_SCAN_INLINE unsigned sort_of(const uint8_t *buf, size_t at, size_t end, size_t *len) {
    const uint8_t byte = buf[at];
    *len = 1;
    if (byte >= 0x80) return sort_of_wide(buf, at, end, len);
    const unsigned kind = ctok_scan_ascii[byte];
    if (kind & CTOK_KIND_LETTER) return WORD | LATIN;
    if (kind & CTOK_KIND_WHITE) return kind & CTOK_KIND_NEWLINE ? WHITE | NEWLINE : WHITE;
    if (kind & CTOK_KIND_NUMBER) return NUMBER;
    return byte < 0x20 || byte == 0x7F ? USELESS : SIGN;
}

/* Is the character one of these, and CJK exactly if the stretch is? */
CTOK_SCAN_INLINE int is_of(unsigned sort, unsigned want, unsigned cjk) { return sort & want && (sort & CJK) == cjk; }

/* The end of the stretch of such characters from p on; 0 if it is open. */
CTOK_SCAN_INLINE size_t stretch(const uint8_t *buf, size_t p, size_t end, int at_eof, unsigned want, unsigned cjk) {
    size_t len;
    while (p < end && is_of(sort_of(buf, p, end, &len), want, cjk)) p += len;
    return ctok_scan_closed(p, end, at_eof);
}

/* Useless characters up to one that a word takes for its own. */
static size_t useless(const uint8_t *buf, size_t pos, size_t end, int at_eof, unsigned cjk) {
    size_t len, p = pos;
    sort_of(buf, p, end, &len);
    for (;;) {
        const size_t next = p + len;
        if (next == end) return at_eof ? end : 0;
        const unsigned sort = sort_of(buf, next, end, &len);
        if (is_of(sort, WORD, cjk)) return p > pos ? p : stretch(buf, next, end, at_eof, WORD, cjk);
        if (!is_of(sort, USELESS, cjk)) return next;
        p = next;
    }
}

static size_t white(const uint8_t *buf, size_t pos, size_t end, int at_eof) {
    size_t p = pos, last = pos, line = 0, len;
    unsigned sort = WHITE;
    while (p < end) {
        sort = sort_of(buf, p, end, &len);
        if (!(sort & WHITE)) break;
        last = p;
        p += len;
        if (sort & NEWLINE) line = p;
    }
    if (p == end && !at_eof) return 0;
    if (line) return line;
    if (p == end || sort & (NUMBER | CJK)) return p;
    return last > pos ? last : p; /* the last one is left to the word that follows */
}

CTOK_SCAN_INLINE size_t deepseek3_step(const uint8_t *buf, size_t pos, size_t end, int at_eof) {
    size_t len, more;
    const unsigned sort = sort_of(buf, pos, end, &len);
    const size_t p = pos + len;
    if (sort & NUMBER) return ctok_scan_digits(buf, p, end, at_eof, 1, 3);
    if (sort & WORD) return stretch(buf, p, end, at_eof, WORD, sort & CJK);
    if (sort & USELESS) return useless(buf, pos, end, at_eof, sort & CJK);
    if (sort & CJK) return stretch(buf, p, end, at_eof, SIGN, CJK);
    if (!(sort & NEWLINE)) {
        if (p == end) return at_eof ? end : 0;
        const unsigned next = sort_of(buf, p, end, &more);
        if (sort & SIGN && buf[pos] < 0x80 && next & LATIN) return stretch(buf, p, end, at_eof, LATIN, 0);
        if (sort & WHITE && is_of(next, WORD, 0)) return stretch(buf, p, end, at_eof, WORD, 0);
        if (sort & SIGN || (buf[pos] == ' ' && is_of(next, SIGN, 0))) {
            const size_t stop = stretch(buf, p, end, at_eof, SIGN, 0);
            return stop ? stretch(buf, stop, end, at_eof, NEWLINE, 0) : 0;
        }
    }
    return white(buf, pos, end, at_eof);
}

static void deepseek3_scalar(CTOK_BLOCK_PARAMS) { ctok_scan_steps(CTOK_BLOCK_ARGS, deepseek3_step); }

#ifdef CTOK_SCAN_X86
/* Where the masks end: the first character that is useless, or beyond ASCII and no letter or mark, or perhaps CJK. */
CTOK_SCAN_INLINE unsigned deepseek3_end(const ctok_masks *m, const uint8_t *at, uint64_t word, uint64_t other) {
    unsigned end = m->n;
    for (uint64_t bits = (other | ((m->uncased | m->mark) & m->high)) & ~m->tail; bits; bits &= bits - 1) {
        const unsigned i = ctok_bits_first(bits);
        const uint8_t byte = at[i];
        if (byte >= 0x80 ? (byte >= 0xE3 && byte <= 0xE9) || !(word >> i & 1) : byte < 0x20 || byte == 0x7F) {
            end = i < end ? i : end;
            break;
        }
    }
    return end;
}

CTOK_SCAN_INLINE uint64_t deepseek3_starts(ctok_masks *m, const uint8_t *at) {
    uint64_t word = m->upper | m->lower | m->uncased | m->mark;
    uint64_t other = m->valid & ~(word | m->number | m->white);
    const unsigned end = deepseek3_end(m, at, word, other);
    if (end < m->n) {
        ctok_masks_cut(m, end);
        word &= m->valid;
        other &= m->valid;
    }
    if (m->n < 4) return 0;
    const uint64_t latin = word & ~m->high;
    const uint64_t sign = other & ~(other << 1) & ~(m->space << 1); /* each may be the first of a word, if that is of Latin letters */
    const uint64_t taken = sign << 1 & latin;
    const uint64_t blank = m->white & ~m->newline;
    uint64_t starts = (word & ~(word << 1) & ~(blank << 1) & ~taken) | sign | ctok_starts_of_threes(m->number);
    starts |= ((taken + latin) & ~latin) & word; /* such a word ends before other letters */
    return (starts | ctok_starts_of_lines(m, other, m->number)) & ctok_bits_decided(m);
}
#endif

CTOK_SCAN_LEVELS_OF(deepseek3, deepseek3_starts, deepseek3_step, CTOK_KIND_WHITE | CTOK_KIND_NUMBER)
