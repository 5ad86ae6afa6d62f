/* ctok_bestpath.h - the best paths to all places of a short text through pieces that have scores.
 *
 * A path is a row of pieces, and of characters that are none, each of which costs the same. Its score is added up in single
 * precision, one addition a piece, and of equal scores the path whose last piece starts first stays.
 *
 * The tree of pieces is laid out anew: the links of its nodes by themselves, so that many are near, and what ends at them. Read-only after
 * it is built: any number of threads may use it.
 */
#ifndef CTOK_BESTPATH_H
#define CTOK_BESTPATH_H

#include "ctok_beside.h"
#include "ctok_ids.h"

#define CTOK_BESTPATH_BYTES 63u      /* of the longest text */
#define CTOK_BESTPATH_PLACES 80u
#define CTOK_BESTPATH_AHEAD 4u       /* steps from a character: its own and three more */
#define CTOK_BESTPATH_MAX_UNITS ((size_t)1 << 23)

/* A node's link to its children: that for byte b is node (link >> 9) + b, if the lowest 9 bits of its own link are b; link >> 9 is 0 where
 * there are no children. */
typedef uint32_t ctok_link;

/* Where a character stands. */
typedef struct ctok_stand {
    ctok_link link;
    uint32_t node;                   /* or 0 */
    float score;                     /* that it has alone */
} ctok_stand;

/* The piece that ends at a node. */
typedef struct ctok_ending {
    float score;                     /* minus infinity if none does */
    ctok_id id;                      /* or `none` */
} ctok_ending;

typedef struct ctok_bestpath {
    ctok_link *links;                /* by node */
    ctok_ending *endings;            /* by node */
    size_t n_nodes;
    ctok_stand ascii[128];
    ctok_beside beside;
    float unknown;                   /* the score of a character that is no piece */
} ctok_bestpath;

/* The first steps from a character. */
typedef struct ctok_walk {
    float scores[CTOK_BESTPATH_AHEAD];    /* [0]: that the character has alone */
    uint32_t nodes[CTOK_BESTPATH_AHEAD];  /* or 0 */
    ctok_link far;                        /* of the last */
    uint32_t size;                        /* of the character */
} ctok_walk;

/* The text, and for each place of it: the scores of the best and the second best path, and the last piece of the best. */
typedef struct ctok_places {
    float best[CTOK_BESTPATH_PLACES], second[CTOK_BESTPATH_PLACES];
    uint32_t last[CTOK_BESTPATH_PLACES]; /* where it starts; in the bits from 8 on, the number of that character */
    const uint8_t *text;
    uint8_t room[CTOK_BESTPATH_PLACES];
    ctok_walk walks[CTOK_BESTPATH_BYTES];
} ctok_places;

/* One piece, or unknown character, of a path. */
typedef struct ctok_step {
    ctok_id id;                      /* `none`: an unknown character */
    uint32_t end;                    /* where it ends */
    float lead;                      /* of the best path to there over the second best */
} ctok_step;

/* ctok_bestpath_init - read a tree of n pieces, as ctok_trie_init and ctok_beside_init were given it.
 *
 * b       zeros; on success owned by the caller and given back with ctok_bestpath_free.
 * scores  by 1 + place; [0] is that of an unknown character. Numbers of single precision, not minus infinity. Not kept, as the tree.
 * ids     by 1 + place. Not kept.
 * none    what is the id of no piece.
 *
 * Returns CTOK_OK, CTOK_ERR_MEMORY (b then owns nothing), or CTOK_ERR_FORMAT: the tree has more than CTOK_BESTPATH_MAX_UNITS.
 * Cost: a nanosecond or two a unit; 12 bytes a unit, and those of ctok_beside. */
ctok_status ctok_bestpath_init(ctok_bestpath *b, const ctok_trie *t, const double *scores, const ctok_id *ids, ctok_id none,
                               const uint8_t *data, const uint32_t *ends, uint32_t n);

/* ctok_bestpath_free - give everything back; one of zeros is allowed. */
void ctok_bestpath_free(ctok_bestpath *b);

/* ctok_bestpath_find - fill in the places of p[0..n), n <= CTOK_BESTPATH_BYTES, with paths that begin with the score `before`. What is
 * readable up to `end` need not be copied; a text behind p[0..n) changes nothing if it may be cut there (csrc/ctok_beside.h).
 * at->best[n] is minus infinity where p[0..n) ends inside a character. Returns how many characters there are. Cost: about 10 ns a byte. */
size_t ctok_bestpath_find(const ctok_bestpath *b, ctok_places *at, const uint8_t *p, size_t n, const uint8_t *end, float before);

/* ctok_bestpath_id - the id of the piece that ends at a node of the tree, or `none`; 0 is no node. */
static inline ctok_id ctok_bestpath_id(const ctok_bestpath *b, uint32_t node) {
    return b->endings[node].id;
}

/* ctok_bestpath_steps - write the steps of the best path to place n, the last of them to steps[-1]. Returns how many. */
size_t ctok_bestpath_steps(const ctok_bestpath *b, const ctok_places *at, size_t n, ctok_step *steps);

#endif
