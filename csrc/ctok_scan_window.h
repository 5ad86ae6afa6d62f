/* ctok_scan_window.h - block functions made of windows of 64 bytes. Internal to ctok_scan_*.c.
 *
 * A window starts at a border, so nothing before it matters and no state is carried from window to window. A family turns the masks
 * of a window into the borders that the window decides (its `starts` function: bit i set = a pretoken starts at byte i); the last
 * of them is where the next window starts. Long pretokens, characters that a family does not handle in masks, and the end of the text
 * go through the scalar step, so only steps decide what is still open. The last window is a copy: none reaches past end.
 */
#ifndef CTOK_SCAN_WINDOW_H
#define CTOK_SCAN_WINDOW_H

#include "ctok_scan_mask.h"

#ifdef CTOK_SCAN_X86
/* ---- what the rules of cl100k and o200k share ---- */

/* ctok_starts_of_threes - every third of a run of numbers (all of one byte). */
CTOK_SCAN_INLINE uint64_t ctok_starts_of_threes(uint64_t number) {
    const uint64_t after_three = number & number << 1 & number << 2 & number << 3;
    uint64_t starts = number & ~(number << 1);
    for (uint64_t more = starts << 3 & after_three; more; more = more << 3 & after_three) starts |= more;
    return starts;
}

/* ctok_starts_of_lines - the starts inside white space under `[^\s..]+[\r\n]* | \s*[\r\n]+ | \s+(?!\S) | \s+`; other = what the
 * first of these is made of. Newlines right after other belong to it. What remains of a run starts; so does what follows its last
 * newline, and its last character if that is no newline (and no byte of `limits` follows, which is as the end of the text). */
CTOK_SCAN_INLINE uint64_t ctok_starts_of_lines(const ctok_masks *m, uint64_t other, uint64_t limits) {
    const uint64_t blank = m->white & ~m->newline;
    const uint64_t taken = m->newline & other << 1;
    uint64_t starts = m->white & ~(m->white << 1) & ~taken;
    starts |= blank & ~((m->white | limits) >> 1);
    if (!m->newline) return starts;
    const uint64_t indent = blank & m->newline << 1;
    uint64_t follows = indent;
    for (uint64_t ends = (indent + blank) & ~blank & m->newline; ends; ends &= ends - 1) /* a newline later: not the last one */
        follows &= ~((uint64_t)1 << ctok_bits_last(indent & ctok_bits_below(ctok_bits_first(ends))));
    return starts | follows | (((taken + m->newline) & ~m->newline) & blank);
}

/* ctok_bits_decided - the places whose start does not depend on what follows the window: three bytes hold a contraction, and the
 * white space that reaches the end may turn out to hold a newline, which its first character does not mind. */
CTOK_SCAN_INLINE uint64_t ctok_bits_decided(const ctok_masks *m) {
    const uint64_t solid = m->valid & ~m->white;
    const unsigned run = solid ? ctok_bits_last(solid) + 2 : 1;
    return ctok_bits_below(run < m->n - 3 ? run : m->n - 3) & ~(uint64_t)1;
}

/* ---- the block function ---- */

#define CTOK_WINDOW_LEAST 16 /* bytes at the end of the text for which a window is worth its copy */

typedef void ctok_masks_fn(ctok_masks *m, const uint8_t *at);
typedef void ctok_widen_fn(ctok_masks *m, const uint8_t *at, unsigned stop_at);
typedef size_t ctok_flatten_fn(uint64_t bits, uint32_t base, uint32_t *stops);
typedef uint64_t ctok_starts_fn(ctok_masks *m, const uint8_t *at); /* may cut m; bit 0 is never set */

/* A window that gives little (a long pretoken, a character that the masks do not handle) is followed by steps: past that character,
 * and over ever longer stretches while windows keep giving little, so that no text costs much more than steps alone.
 *
 * All arguments after out are known where this is inlined: one loop per family and level, without calls. */
CTOK_SCAN_INLINE void ctok_scan_windows(CTOK_BLOCK_PARAMS, ctok_masks_fn masks, ctok_widen_fn widen, ctok_flatten_fn flatten,
                                        ctok_starts_fn starts, ctok_scan_step step, unsigned stop_at) {
    size_t n = 0, skip = 0;
    uint8_t last[64];
    out->first = pos;
    out->hit_end = 0;
    while (pos < end && n < cap) {
        size_t goal = pos + 1;
        if (end - pos >= CTOK_WINDOW_LEAST) {
            if (cap - n >= 64) {
                ctok_masks m;
                const size_t at = pos;
                const uint8_t *window = buf + at;
                if (end - at < 64) {
                    memset(last, 0, sizeof last);
                    memcpy(last, window, end - at);
                    window = last;
                }
                masks(&m, window);
                if (end - at < 64) ctok_masks_cut(&m, (unsigned)(end - at));
                if (m.high) widen(&m, window, stop_at);
                const uint64_t bits = starts(&m, window);
                if (bits) {
                    n += flatten(bits, (uint32_t)at, stops + n);
                    pos = at + ctok_bits_last(bits);
                }
                if (end - at < 64) {
                    goal = end;
                } else {
                    if (pos - at >= 24 && m.n > 60) {
                        skip = 0;
                        continue;
                    }
                    skip = pos - at >= 24 ? 0 : skip < 256 ? 2 * skip + 16 : skip;
                    goal = (m.n > 60 ? pos : at + m.n) + 1 + skip;
                }
            } else if (n > 0) {
                break; /* no room for what a window may give: the caller comes again */
            }
        }
        while (pos < goal && pos < end && n < cap) {
            const size_t stop = step(buf, pos, end, at_eof);
            if (stop == 0) {
                out->hit_end = 1;
                goto done;
            }
            stops[n++] = (uint32_t)stop;
            pos = stop;
        }
    }
done:
    out->n = n;
    out->next = pos;
}

#define CTOK_SCAN_LEVELS_OF(name, starts, step, stop_at)                                                           \
    static void name##_sse2(CTOK_BLOCK_PARAMS) {                                                                   \
        ctok_scan_windows(CTOK_BLOCK_ARGS, ctok_masks_sse2, ctok_widen_sse2, ctok_flatten_plain, starts, step, stop_at);            \
    }                                                                                                              \
    CTOK_AVX2 static void name##_avx2(CTOK_BLOCK_PARAMS) {                                                         \
        ctok_scan_windows(CTOK_BLOCK_ARGS, ctok_masks_avx2, ctok_widen_avx2, ctok_flatten_avx2, starts, step, stop_at);             \
    }                                                                                                              \
    CTOK_AVX512 static void name##_avx512(CTOK_BLOCK_PARAMS) {                                                     \
        ctok_scan_windows(CTOK_BLOCK_ARGS, ctok_masks_avx512, ctok_widen_avx512, ctok_flatten_avx512, starts, step, stop_at);         \
    }                                                                                                              \
    const ctok_block_fn ctok_scan_##name##_levels[CTOK_SCAN_LEVELS] = {name##_scalar, name##_sse2, name##_avx2, name##_avx512};
#else
#define CTOK_SCAN_LEVELS_OF(name, starts, step, stop_at) \
    const ctok_block_fn ctok_scan_##name##_levels[CTOK_SCAN_LEVELS] = {name##_scalar};
#endif

#endif
