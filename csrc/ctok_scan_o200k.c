/* ctok_scan_o200k.c - the split rule of o200k:
 *
 *   [^\r\n\p{L}\p{N}]?[Uo]*[lo]+(?i:'s|'t|'re|'ve|'m|'ll|'d)? | [^\r\n\p{L}\p{N}]?[Uo]+[lo]*(?i:..)?
 *   | \p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n/]* | \s*[\r\n]+ | \s+(?!\S) | \s+
 *
 * with U = Lu Lt, l = Ll, o = Lm Lo M. The first two alternatives come to this: from the start of the word take all of [Uo]*; if an l
 * follows, go on with [lo]*; if none does and there was an o, stop after the last one; else stop there.
 */
#include "ctok_scan_window.h"

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

static void o200k_scalar(CTOK_BLOCK_PARAMS) {
    ctok_scan_steps(CTOK_BLOCK_ARGS, o200k_step);
}

#ifdef CTOK_SCAN_X86
/* Starts inside runs of word characters: at an upper-case letter whose preceding [lo]+ holds an l; and, where that holds only o, at
 * upper-case letters with which the run ends. Those that reach the end of the window give no start, nor does anything after them. */
CTOK_SCAN_INLINE uint64_t o200k_starts_of_case(const ctok_masks *m, uint64_t word) {
    uint64_t starts = m->upper & m->lower << 1;
    const uint64_t uncased = m->uncased | m->mark;
    if (!uncased) return starts;
    starts |= m->upper & ((m->lower << 1 & uncased) + uncased) & ~uncased;
    const uint64_t doubtful = m->upper & uncased << 1 & ~starts;
    for (uint64_t ends = (doubtful + m->upper) & ~m->upper & ~word & m->valid; ends; ends &= ends - 1)
        starts |= (uint64_t)1 << ctok_bits_last(doubtful & ctok_bits_below(ctok_bits_first(ends)));
    return starts;
}

/* Contractions are part of the word before them, whatever their case; something starts after them. The letters of one are no word of
 * their own, so an apostrophe right after it is none. Where more than ASCII follows, those letters would count for its case. */
CTOK_SCAN_INLINE uint64_t o200k_join_suffixes(const ctok_masks *m, const uint8_t *at, uint64_t word, uint64_t starts,
                                              uint64_t *decided) {
    size_t stop = 0;
    for (uint64_t quotes = m->quote & word << 1 & ctok_bits_below(m->n - 3); quotes; quotes &= quotes - 1) {
        const unsigned i = ctok_bits_first(quotes);
        const size_t suffix = i == stop ? 0 : ctok_scan_contraction(at, i, 64, 1);
        if (!suffix) continue;
        stop = suffix;
        const uint64_t after = (uint64_t)1 << stop;
        starts = (starts & ~(after - ((uint64_t)1 << i))) | after;
        if (m->high >> stop & 1) {
            *decided &= ctok_bits_below((unsigned)stop + 1);
            break;
        }
    }
    return starts;
}

/* As for cl100k, with words cut by case. A mark that follows no word character is left to the step (after punctuation it may be part
 * of either), and so is a slash after a newline that belongs to punctuation. */
CTOK_SCAN_INLINE uint64_t o200k_starts(ctok_masks *m, const uint8_t *at) {
    if (m->mark) {
        const uint64_t strange = m->mark & ~((m->upper | m->lower | m->uncased | m->mark) << 1) & ~(uint64_t)1;
        if (strange) ctok_masks_cut(m, ctok_bits_first(strange));
    }
    if (m->n < 4) return 0;
    const uint64_t word = m->upper | m->lower | m->uncased | m->mark;
    const uint64_t other = m->valid & ~(word | m->number | m->white);
    const uint64_t punct = other & ~(other << 1) & ~(m->space << 1);
    const uint64_t joined = ctok_bits_after((m->white & ~m->newline) | punct, m->tail);
    uint64_t decided = ctok_bits_decided(m);
    uint64_t starts = (word & ~(word << 1) & ~joined) | punct | ctok_starts_of_threes(m->number) | ctok_starts_of_lines(m, other, 0);
    starts |= o200k_starts_of_case(m, word);
    starts = o200k_join_suffixes(m, at, word, starts, &decided);
    const uint64_t taken = m->newline & other << 1;
    for (uint64_t after = ((taken + m->newline) & ~m->newline) & other; after; after &= after - 1) {
        const unsigned i = ctok_bits_first(after);
        if (at[i] == '/') return starts & decided & ctok_bits_below(i);
    }
    return starts & decided;
}
#endif

CTOK_SCAN_LEVELS_OF(o200k, o200k_starts, o200k_step, CTOK_KIND_WHITE | CTOK_KIND_NUMBER)
