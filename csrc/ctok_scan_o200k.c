/* ctok_scan_o200k.c - the split rule of o200k:
 *
 *   [^\r\n\p{L}\p{N}]?[Uo]*[lo]+(?i:'s|'t|'re|'ve|'m|'ll|'d)? | [^\r\n\p{L}\p{N}]?[Uo]+[lo]*(?i:..)?
 *   | \p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n/]* | \s*[\r\n]+ | \s+(?!\S) | \s+
 *
 * with U = Lu Lt, l = Ll, o = Lm Lo M. The first two alternatives come to this: from the start of the word take all of [Uo]*; if an l
 * follows, go on with [lo]*; if none does and there was an o, stop after the last one; else stop there.
 */
#include "ctok_scan_step.h"

#define O200K_UNCASED (CTOK_KIND_UNCASED | CTOK_KIND_MARK)
#define O200K_WORD (CTOK_KIND_LETTER | CTOK_KIND_MARK)

/* The word stops at p; a contraction may follow. */
CTOK_SCAN_INLINE size_t o200k_suffix(const uint8_t *buf, size_t p, size_t end, int at_eof) {
    if (p == end) return at_eof ? p : 0;
    if (buf[p] != '\'') return p;
    const size_t stop = ctok_scan_contraction(buf, p, end, 1);
    if (stop) return stop;
    return !at_eof && ctok_scan_half_contraction(buf, p, end, 1) ? 0 : p;
}

/* The word that starts at p with a character of O200K_WORD. */
CTOK_SCAN_INLINE size_t o200k_word(const uint8_t *buf, size_t p, size_t end, int at_eof) {
    size_t uncased = 0, len; /* after the last o */
    unsigned kind = 0;
    while (p < end) {
        kind = ctok_scan_kind(buf, p, end, &len);
        if (!(kind & (CTOK_KIND_UPPER | O200K_UNCASED))) break;
        p += len;
        if (!(kind & CTOK_KIND_UPPER)) uncased = p;
    }
    if (p == end) return !at_eof ? 0 : uncased ? uncased : p;
    if (kind & CTOK_KIND_LOWER) return o200k_suffix(buf, ctok_scan_run(buf, p, end, CTOK_KIND_LOWER | O200K_UNCASED), end, at_eof);
    return uncased && uncased < p ? uncased : o200k_suffix(buf, p, end, at_eof);
}

/* A mark may stand before a word and be part of one: both readings give the same pretoken, so it counts as part. */
CTOK_SCAN_INLINE size_t o200k_step(const uint8_t *buf, size_t pos, size_t end, int at_eof) {
    size_t len;
    const unsigned kind = ctok_scan_kind(buf, pos, end, &len);
    size_t p = pos + len;
    if (kind & O200K_WORD) return o200k_word(buf, pos, end, at_eof);
    if (kind & CTOK_KIND_NUMBER) return ctok_scan_digits(buf, p, end, at_eof, 1, 3);
    if (!(kind & CTOK_KIND_NEWLINE)) {
        if (p == end) return at_eof ? end : 0;
        const unsigned next = ctok_scan_kind(buf, p, end, &len);
        if (next & O200K_WORD) return o200k_word(buf, p, end, at_eof);
        if (kind & CTOK_KIND_OTHER || (buf[pos] == ' ' && next & CTOK_KIND_OTHER)) {
            p = ctok_scan_run(buf, p, end, CTOK_KIND_OTHER | CTOK_KIND_MARK);
            while (p < end && (ctok_scan_ascii[buf[p]] & CTOK_KIND_NEWLINE || buf[p] == '/')) p++;
            return ctok_scan_closed(p, end, at_eof);
        }
    }
    return ctok_scan_white(buf, pos, end, at_eof, 1, 0);
}

static void o200k_scalar(const uint8_t *buf, size_t pos, size_t end, int at_eof, uint32_t *stops, size_t cap, ctok_block *out) {
    ctok_scan_steps(buf, pos, end, at_eof, stops, cap, out, o200k_step);
}

const ctok_block_fn ctok_scan_o200k_levels[CTOK_SCAN_LEVELS] = {o200k_scalar};
