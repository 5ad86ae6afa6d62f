/* ctok_literals.h - find texts that stand for themselves (special and added tokens) in a text, whole or while it arrives.
 *
 * The set is a small ctok_vocab used as a trie. At each place the longest literal wins, and the leftmost place wins. Cost: bytes times
 * the literals' longest common walk at worst; where no literal's first byte stands, one look a byte (memchr when all begin alike).
 */
#ifndef CTOK_LITERALS_H
#define CTOK_LITERALS_H

#include "ctok_vocab.h"

typedef enum ctok_literal_result {
    CTOK_LITERAL_NONE,  /* no literal, and none that more text could complete */
    CTOK_LITERAL_FOUND, /* buf[*start .. *start + *len) is the literal with id *id */
    CTOK_LITERAL_HOLD   /* from *start on more text could complete a literal, or a longer one (only when !at_eof) */
} ctok_literal_result;

/* ctok_literals_walk - the longest literal that starts at pos; *open tells whether the text ended while one could still go on. */
static inline size_t ctok_literals_walk(const ctok_vocab *set, const uint8_t *buf, size_t pos, size_t end, ctok_id *id, int *open) {
    ctok_range r = ctok_range_root(set);
    size_t best = 0, i = pos;
    *open = 0;
    while (r.lo < r.hi) {
        const ctok_id here = r.depth ? ctok_range_token(set, r) : CTOK_NO_ID;
        if (here != CTOK_NO_ID) {
            *id = here;
            best = i - pos;
        }
        if (!ctok_range_goes_on(set, r)) break;
        if (i == end) {
            *open = 1;
            break;
        }
        r = ctok_range_step(set, r, buf[i++]);
    }
    return best;
}

/* ctok_literals_find - the first literal in buf[pos..end).
 *
 * only   the byte all literals begin with, or -1. set.n_tokens >= 1.
 */
static inline ctok_literal_result ctok_literals_find(const ctok_vocab *set, int only, const uint8_t *buf, size_t pos, size_t end,
                                                     int at_eof, size_t *start, size_t *len, ctok_id *id) {
    for (size_t i = pos; i < end; i++) {
        int open;
        if (only >= 0) {
            const uint8_t *hit = (const uint8_t *)memchr(buf + i, only, end - i);
            if (hit == NULL) return CTOK_LITERAL_NONE;
            i = (size_t)(hit - buf);
        } else if (set->first[buf[i]] == set->first[buf[i] + 1]) {
            continue;
        }
        *len = ctok_literals_walk(set, buf, i, end, id, &open);
        *start = i;
        if (open && !at_eof) return CTOK_LITERAL_HOLD;
        if (*len) return CTOK_LITERAL_FOUND;
    }
    return CTOK_LITERAL_NONE;
}

#endif
