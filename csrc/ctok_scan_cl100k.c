/* ctok_scan_cl100k.c - the split rule of cl100k and its relatives (Llama 3 is the same rule; Qwen 2, Qwen 3.5):
 *
 *   (?i:'s|'t|'re|'ve|'m|'ll|'d) | [^\r\n\p{L}\p{N}]?\p{L}+ | \p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n]* | \s*[\r\n]+ | \s+(?!\S) | \s+
 *
 * The relatives differ in what a word is made of, in how many numbers stand together, and in white space at the end of the text.
 */
#include "ctok_scan_step.h"

typedef struct cl100k_rule {
    unsigned word;   /* kinds of a word */
    unsigned other;  /* kinds of punctuation */
    int digits;      /* at most so many numbers in a pretoken */
    int tail;        /* white space up to the end of the text stays whole */
} cl100k_rule;

#define CL100K_RULE {CTOK_KIND_LETTER, CTOK_KIND_OTHER | CTOK_KIND_MARK, 3, 0}
#define CL100K_TAIL_RULE {CTOK_KIND_LETTER, CTOK_KIND_OTHER | CTOK_KIND_MARK, 3, 1}
#define QWEN2_RULE {CTOK_KIND_LETTER, CTOK_KIND_OTHER | CTOK_KIND_MARK, 1, 0}
#define QWEN35_RULE {CTOK_KIND_LETTER | CTOK_KIND_MARK, CTOK_KIND_OTHER, 1, 0}

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

#define CL100K_FAMILY(name, RULE)                                                                                                       \
    CTOK_SCAN_INLINE size_t name##_step(const uint8_t *buf, size_t pos, size_t end, int at_eof) {                                        \
        return cl100k_step_of(buf, pos, end, at_eof, (cl100k_rule)RULE);                                                                 \
    }                                                                                                                                    \
    static void name##_scalar(const uint8_t *buf, size_t pos, size_t end, int at_eof, uint32_t *stops, size_t cap, ctok_block *out) {    \
        ctok_scan_steps(buf, pos, end, at_eof, stops, cap, out, name##_step);                                                            \
    }                                                                                                                                    \
    const ctok_block_fn ctok_scan_##name##_levels[CTOK_SCAN_LEVELS] = {name##_scalar};

CL100K_FAMILY(cl100k, CL100K_RULE)
CL100K_FAMILY(cl100k_tail, CL100K_TAIL_RULE)
CL100K_FAMILY(qwen2, QWEN2_RULE)
CL100K_FAMILY(qwen35, QWEN35_RULE)
