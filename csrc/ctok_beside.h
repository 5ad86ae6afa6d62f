/* ctok_beside.h - which characters stand side by side in the pieces of a vocabulary, and so where a text may be cut for a search.
 *
 * No piece reaches across a place between two characters that are neighbours in none. All paths through the pieces of a text go through
 * such a place, if what no piece covers is taken character by character: what lies on either side of it can be searched alone.
 *
 * For each character the table says which *last bytes* of the one before it are taken, a little less than could be said; characters beyond
 * U+FFFF share one line of it. Read-only after it is built: any number of threads may use it.
 */
#ifndef CTOK_BESIDE_H
#define CTOK_BESIDE_H

#include "ctok_trie.h"

#define CTOK_BESIDE_ROW 32u      /* bytes of a row */
#define CTOK_BESIDE_PLANE 0x10000u

typedef struct ctok_beside_char {
    uint32_t row;                /* 0: no piece has it behind another character */
    uint32_t node;               /* where it stands in the tree of pieces; 0: no piece begins with it, or it is beyond U+FFFF */
} ctok_beside_char;

typedef struct ctok_beside {
    ctok_beside_char *chars;     /* by character; [CTOK_BESIDE_PLANE] is all others */
    uint8_t *rows;               /* bit b: a piece has a character that ends with byte b before it */
    uint32_t n_rows, cap_rows;
} ctok_beside;

/* ctok_beside_init - build the table.
 *
 * b           uninitialised; on success owned by the caller and given back with ctok_beside_free.
 * data, ends  the texts of n pieces in UTF-8, in ascending byte order and one behind the other, and their cumulative end offsets. Not kept.
 *             What is not UTF-8 in them cuts less, or where no valid text has a character.
 * t           the tree of these pieces. Not kept.
 *
 * Returns CTOK_OK or CTOK_ERR_MEMORY; b then owns nothing. Cost: a few nanoseconds a character; 512 KiB, touched where characters are. */
ctok_status ctok_beside_init(ctok_beside *b, const uint8_t *data, const uint32_t *ends, uint32_t n, const ctok_trie *t);

/* ctok_beside_free - give everything back; one of zeros is allowed. */
void ctok_beside_free(ctok_beside *b);

/* ctok_beside_at - the number of the line of the character at p, of which left >= 1 bytes can be read, and its size by its first byte: more
 * than `left` if it is unfinished. */
static inline size_t ctok_beside_at(const uint8_t *p, size_t left, size_t *size) {
    const uint8_t lead = p[0];
    *size = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (CTOK_LIKELY(lead < 0x80)) return lead;
    if (*size == 2 && left >= 2) return (lead & 0x1Fu) << 6 | (p[1] & 0x3Fu);
    if (*size == 3 && left >= 3) return (lead & 0xFu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    return CTOK_BESIDE_PLANE;
}

/* ctok_beside_cuts - may a text be cut between a character and the one before it, which ends with byte `last`? */
static inline int ctok_beside_cuts(const ctok_beside *b, const ctok_beside_char *one, uint8_t last) {
    return !(b->rows[(size_t)one->row * CTOK_BESIDE_ROW + last / 8] >> last % 8 & 1);
}

/* A text p[..end) that is cut where it may be, and the character at `at`, if there is one: its line and its size. */
typedef struct ctok_parting {
    const uint8_t *p;
    size_t at, end;
    const ctok_beside_char *one;
    size_t size;
} ctok_parting;

/* ctok_beside_look - look at the character at c->at < c->end. */
static inline void ctok_beside_look(const ctok_beside *b, ctok_parting *c) {
    c->one = b->chars + ctok_beside_at(c->p + c->at, c->end - c->at, &c->size);
}

/* Has no piece that character? A text may be cut on either side of it. Characters beyond U+FFFF are not told apart. */
static inline int ctok_beside_is_stranger(const ctok_beside *b, const ctok_beside_char *one) {
    return (one->row | one->node) == 0 && one != b->chars + CTOK_BESIDE_PLANE;
}

/* ctok_beside_part - go from the character at c->at < c->end to where the next part begins, or to the end: behind the characters that
 * no piece has and that stand there together, `most` at most; else to the first place behind it where the text may be cut. Returns how
 * many of those there are, or 0. */
static inline size_t ctok_beside_part(const ctok_beside *b, ctok_parting *c, size_t most) {
    size_t count = 0;
    if (ctok_beside_is_stranger(b, c->one)) {
        do {
            count++;
            c->at += c->size;
            if (c->at >= c->end) return count;
            ctok_beside_look(b, c);
        } while (count < most && ctok_beside_is_stranger(b, c->one));
        return count;
    }
    do {
        c->at += c->size;
        if (c->at >= c->end) {
            c->at = c->end;
            return 0;
        }
        ctok_beside_look(b, c);
    } while (!ctok_beside_cuts(b, c->one, c->p[c->at - 1]));
    return 0;
}

#endif
