/* ctok_scan_cl100k.c - the split rule of cl100k and its relatives (Llama 3 is the same rule; Qwen 2, Qwen 3.5):
 *
 *   (?i:'s|'t|'re|'ve|'m|'ll|'d) | [^\r\n\p{L}\p{N}]?\p{L}+ | \p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n]* | \s*[\r\n]+ | \s+(?!\S) | \s+
 *
 * The relatives differ in what a word is made of, in how many numbers stand together, and in white space at the end of the text.
 */
#include "ctok_scan_window.h"

typedef struct cl100k_rule {
    unsigned word;   /* kinds of a word */
    unsigned other;  /* kinds of punctuation */
    int digits;      /* at most so many numbers in a pretoken */
    int tail;        /* white space up to the end of the text stays whole */
} cl100k_rule;

static const cl100k_rule cl100k_rules = {CTOK_KIND_LETTER, CTOK_KIND_OTHER | CTOK_KIND_MARK, 3, 0};
static const cl100k_rule cl100k_tail_rules = {CTOK_KIND_LETTER, CTOK_KIND_OTHER | CTOK_KIND_MARK, 3, 1};
static const cl100k_rule qwen2_rules = {CTOK_KIND_LETTER, CTOK_KIND_OTHER | CTOK_KIND_MARK, 1, 0};
static const cl100k_rule qwen35_rules = {CTOK_KIND_LETTER | CTOK_KIND_MARK, CTOK_KIND_OTHER, 1, 0};

/* A mark may stand before a word and be part of one (Qwen 3.5): both readings give the same pretoken, so it counts as part. */
CTOK_SCAN_INLINE size_t cl100k_step_of(const uint8_t *buf, size_t pos, size_t end, int at_eof, cl100k_rule rule) {
    if (buf[pos] == '\'') {
        const size_t stop = ctok_scan_contraction(buf, pos, end, 1);
        if (stop) return stop; /* half of one runs into the end as a word and is held for that */
    }
    size_t len;
    const unsigned kind = ctok_scan_kind(buf, pos, end, &len);
    size_t p = pos + len;
    if (kind & rule.word) return ctok_scan_closed(ctok_scan_run(buf, p, end, rule.word), end, at_eof);
    if (kind & CTOK_KIND_NUMBER) return ctok_scan_digits(buf, p, end, at_eof, 1, rule.digits);
    if (!(kind & CTOK_KIND_NEWLINE)) {
        if (p == end) return at_eof ? end : 0;
        const unsigned next = ctok_scan_kind(buf, p, end, &len);
        if (next & rule.word) return ctok_scan_closed(ctok_scan_run(buf, p + len, end, rule.word), end, at_eof);
        if (kind & rule.other || (buf[pos] == ' ' && next & rule.other)) {
            p = ctok_scan_run(buf, p, end, rule.other);
            return ctok_scan_closed(ctok_scan_run(buf, p, end, CTOK_KIND_NEWLINE), end, at_eof);
        }
    }
    return ctok_scan_white(buf, pos, end, at_eof, 1, rule.tail);
}

#ifdef CTOK_SCAN_X86
/* A word starts where letters start, unless a character that would start a pretoken there and is no newline or number stands before
 * it: blank white space (then always the last of its run) or punctuation of one character without a space before it. After a
 * contraction something starts; the letters in it are joined to the apostrophe already. White space of more than one byte, and such
 * numbers where they are counted, are left to the step. */
CTOK_SCAN_INLINE uint64_t cl100k_starts_of(ctok_masks *m, const uint8_t *at, cl100k_rule rule) {
    if (m->n < 4) return 0;
    const uint64_t word = m->upper | m->lower | m->uncased | (rule.word & CTOK_KIND_MARK ? m->mark : 0);
    const uint64_t other = m->valid & ~(word | m->number | m->white);
    const uint64_t punct = other & ~(other << 1) & ~(m->space << 1);
    const uint64_t joined = ctok_bits_after((m->white & ~m->newline) | punct, m->tail);
    const uint64_t numbers = rule.digits == 1 ? m->number & ~m->tail : ctok_starts_of_threes(m->number);
    const uint64_t decided = ctok_bits_decided(m);
    uint64_t starts = (word & ~(word << 1) & ~joined) | punct | numbers | ctok_starts_of_lines(m, other, 0);
    for (uint64_t quotes = m->quote & punct & ctok_bits_below(m->n - 3); quotes; quotes &= quotes - 1) {
        const size_t stop = ctok_scan_contraction(at, ctok_bits_first(quotes), 64, 1);
        if (stop) starts |= (uint64_t)1 << stop;
    }
    return starts & decided;
}

#define CL100K_STARTS(name)                                                          \
    CTOK_SCAN_INLINE uint64_t name##_starts(ctok_masks *m, const uint8_t *at) {      \
        return cl100k_starts_of(m, at, name##_rules);                                \
    }
#else
#define CL100K_STARTS(name)
#endif

#define CL100K_FAMILY(name, stop_at)                                                                       \
    CTOK_SCAN_INLINE size_t name##_step(const uint8_t *buf, size_t pos, size_t end, int at_eof) {          \
        return cl100k_step_of(buf, pos, end, at_eof, name##_rules);                                        \
    }                                                                                                      \
    static void name##_scalar(CTOK_BLOCK_PARAMS) { ctok_scan_steps(CTOK_BLOCK_ARGS, name##_step); }        \
    CL100K_STARTS(name)                                                                                    \
    CTOK_SCAN_LEVELS_OF(name, name##_starts, name##_step, stop_at)

CL100K_FAMILY(cl100k, CTOK_KIND_WHITE | CTOK_KIND_NUMBER)
CL100K_FAMILY(cl100k_tail, CTOK_KIND_WHITE | CTOK_KIND_NUMBER)
CL100K_FAMILY(qwen2, CTOK_KIND_WHITE)
CL100K_FAMILY(qwen35, CTOK_KIND_WHITE)
