/* ctok_scan_gpt2.c - the split rule of GPT-2:
 *
 *   '(?:[sdmt]|ll|ve|re) | ?\p{L}+ | ?\p{N}+ | ?[^\s\p{L}\p{N}]+ | \s+(?!\S) | \s+
 */
#include "ctok_scan_window.h"

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

static void gpt2_scalar(CTOK_BLOCK_PARAMS) {
    ctok_scan_steps(CTOK_BLOCK_ARGS, gpt2_step);
}

#ifdef CTOK_SCAN_X86
/* A pretoken starts where the class changes, except after a space, which belongs to what follows; and at the last character of white
 * space that is followed by something else. An apostrophe that starts a pretoken may start a contraction: then the letter after it
 * starts nothing, and something starts after the contraction. White space of more than one byte is left to the step. */
CTOK_SCAN_INLINE uint64_t gpt2_starts(ctok_masks *m, const uint8_t *at) {
    if (m->n < 4) return 0;
    const uint64_t letter = m->upper | m->lower | m->uncased;
    const uint64_t other = m->valid & ~(letter | m->number | m->white);
    const uint64_t same = (letter & letter << 1) | (m->number & m->number << 1) | (other & other << 1);
    const uint64_t edge = ~(m->white << 1) | ~(m->white >> 1);
    const uint64_t decided = ctok_bits_below(m->n - 3);
    uint64_t starts = (m->valid & ~m->white & ~same & ~(m->space << 1)) | (m->white & edge);
    for (uint64_t quotes = m->quote & starts & decided; quotes; quotes &= quotes - 1) {
        const unsigned i = ctok_bits_first(quotes);
        const size_t stop = ctok_scan_contraction(at, i, 64, 0);
        if (stop) starts = (starts & ~((uint64_t)2 << i)) | (uint64_t)1 << stop;
    }
    return starts & decided & ~(uint64_t)1;
}
#endif

CTOK_SCAN_LEVELS_OF(gpt2, gpt2_starts, gpt2_step, CTOK_KIND_WHITE)
