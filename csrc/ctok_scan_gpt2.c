/* ctok_scan_gpt2.c - the split rule of GPT-2:
 *
 *   '(?:[sdmt]|ll|ve|re) | ?\p{L}+ | ?\p{N}+ | ?[^\s\p{L}\p{N}]+ | \s+(?!\S) | \s+
 */
#include "ctok_scan_step.h"

CTOK_SCAN_INLINE size_t gpt2_step(const uint8_t *buf, size_t pos, size_t end, int at_eof) {
    if (buf[pos] == '\'') {
        const size_t stop = ctok_scan_contraction(buf, pos, end, 0);
        if (stop) return stop;
        if (!at_eof && ctok_scan_half_contraction(buf, pos, end, 0)) return 0;
    }
    size_t len;
    unsigned kind = ctok_scan_kind(buf, pos, end, &len);
    size_t p = pos + len;
    if (buf[pos] == ' ' && p < end) {
        const unsigned next = ctok_scan_kind(buf, p, end, &len);
        if (!(next & CTOK_KIND_WHITE)) {
            kind = next;
            p += len;
        }
    }
    if (kind & CTOK_KIND_WHITE) return ctok_scan_white(buf, pos, end, at_eof, 0, 0);
    if (kind & CTOK_KIND_LETTER) return ctok_scan_closed(ctok_scan_run(buf, p, end, CTOK_KIND_LETTER), end, at_eof);
    if (kind & CTOK_KIND_NUMBER) return ctok_scan_closed(ctok_scan_run(buf, p, end, CTOK_KIND_NUMBER), end, at_eof);
    return ctok_scan_closed(ctok_scan_run(buf, p, end, CTOK_KIND_OTHER | CTOK_KIND_MARK), end, at_eof);
}

static void gpt2_scalar(const uint8_t *buf, size_t pos, size_t end, int at_eof, uint32_t *stops, size_t cap, ctok_block *out) {
    ctok_scan_steps(buf, pos, end, at_eof, stops, cap, out, gpt2_step);
}

const ctok_block_fn ctok_scan_gpt2_levels[CTOK_SCAN_LEVELS] = {gpt2_scalar};
