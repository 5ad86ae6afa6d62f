/* ctok_finepath.h - the best paths to all places of a short text through pieces that have scores, added up in double precision.
 *
 * A path is a row of pieces, and of characters that are none, each of which costs the same. Its score is added up from the start, one
 * addition a piece, and of equal scores the path whose last piece starts first stays. In single precision: csrc/ctok_bestpath.h.
 *
 * Read-only after it is built: any number of threads may use it.
 */
#ifndef CTOK_FINEPATH_H
#define CTOK_FINEPATH_H

#include "ctok_trie.h"

#define CTOK_FINEPATH_BYTES 63u      /* of the longest text */
#define CTOK_FINEPATH_PLACES 80u
#define CTOK_FINEPATH_AHEAD 4u       /* steps from a character: its own and three more */

typedef struct ctok_finepath {
    const ctok_trie *t;
    double *scores;                  /* by piece, as the tree gives it; [0], no piece: minus infinity */
    double unknown;                  /* the score of a character that is no piece */
} ctok_finepath;

/* The first steps from a character. */
typedef struct ctok_finewalk {
    double scores[CTOK_FINEPATH_AHEAD];   /* [0]: that the character has alone */
    uint32_t pieces[CTOK_FINEPATH_AHEAD]; /* or 0 */
    uint64_t far;                         /* the unit of the last */
    uint32_t size;                        /* of the character */
} ctok_finewalk;

/* The text, and for each place of it what is known of the paths there. */
typedef struct ctok_fineplaces {
    double best[CTOK_FINEPATH_PLACES];
    uint32_t last[CTOK_FINEPATH_PLACES];  /* where the last piece of the best starts; in the bits from 8 on, the number of that character */
    ctok_finewalk walks[CTOK_FINEPATH_BYTES];
    uint8_t text[CTOK_FINEPATH_PLACES];
} ctok_fineplaces;

/* One piece of a path. */
typedef struct ctok_finestep {
    uint32_t piece;                  /* 0: an unknown character */
    uint32_t end;                    /* where it ends */
} ctok_finestep;

/* ctok_finepath_init - take the scores of n_pieces pieces.
 *
 * f       zeros; on success owned by the caller and given back with ctok_finepath_free.
 * t       their tree; it must stay where it is.
 * scores  by 1 + place; [0] is that of an unknown character. Not kept.
 *
 * Returns CTOK_OK, CTOK_ERR_MEMORY, or CTOK_ERR_FORMAT: scores are so far from 0 that a sum of them might be infinite. */
ctok_status ctok_finepath_init(ctok_finepath *f, const ctok_trie *t, const double *scores, size_t n_pieces);

/* ctok_finepath_free - give everything back; one of zeros is allowed. */
void ctok_finepath_free(ctok_finepath *f);

/* ctok_finepath_find - find the best path of p[0..n), 0 < n <= CTOK_FINEPATH_BYTES, and write its steps, the last of them to steps[-1].
 * Returns how many, or 0: p[0..n) ends inside a character. Cost: about 10 ns a byte. */
size_t ctok_finepath_find(const ctok_finepath *f, ctok_fineplaces *at, const uint8_t *p, size_t n, ctok_finestep *steps);

#endif
