/* ctok_listed.h - how the tokens of a list of merges come about, and whether merging its own text gives a token at all.
 *
 * By rank (ctok_joins.h) a pretoken that is a token is that token. By a list it is so only if the merges get there, which is asked at most
 * once a token and remembered.
 *
 * The answer is told from the token's halves. Let both come about by merges of ascending rank, like the token itself, which only one merge
 * of the list gives. Then what stands on either side of the border between them changes at known ranks, and the token comes about iff
 * no pair that is there at the same time joins across the border before both halves are done.
 */
#ifndef CTOK_LISTED_H
#define CTOK_LISTED_H

#include "ctok_vocab.h"

/* What is known of a token. Every writer writes what is true, so threads need no lock. */
#define CTOK_LISTED_UNKNOWN 0u
#define CTOK_LISTED_NO 1u       /* merging does not give it */
#define CTOK_LISTED_YES 2u      /* it does */
#define CTOK_LISTED_REGULAR 3u  /* and by merges of ascending rank; or it is a single byte */

#define CTOK_LISTED_WHOLE UINT64_MAX

typedef struct ctok_listed {
    uint64_t *halves; /* by id: left << 32 | right of the only merge that gives the token; CTOK_LISTED_WHOLE where there is none, or several */
    uint8_t *known;   /* by id: CTOK_LISTED_*; the caller's */
} ctok_listed;

/* ctok_listed_init - note the halves of each token.
 *
 * l               uninitialised; given back with ctok_listed_free.
 * v               whose joins ctok_vocab_join_listed made of the same merges. Not kept.
 * pairs, joined   the n merges. Not kept.
 * known           v->n_ids zeros, kept; those of bytes become CTOK_LISTED_REGULAR.
 *
 * Returns CTOK_OK or CTOK_ERR_MEMORY. Cost: about 1 ns a merge.
 */
ctok_status ctok_listed_init(ctok_listed *l, const ctok_vocab *v, const uint32_t *pairs, const ctok_id *joined, size_t n, uint8_t *known);

void ctok_listed_free(ctok_listed *l);

/* ctok_listed_learn - find out whether merging gives a token. 0: no, or it cannot be told from its halves. */
int ctok_listed_learn(const ctok_vocab *v, ctok_id id);

/* ctok_listed_fetch - begin to fetch what ctok_listed_gives will look at. */
static inline void ctok_listed_fetch(const ctok_vocab *v, ctok_id id) {
    if (v->listed == NULL) return;
    CTOK_PREFETCH(v->listed->known + id);
    CTOK_PREFETCH(v->listed->halves + id);
}

/* ctok_listed_fetch_halves - a step later: of a token of which nothing is known, what learning looks at of its halves. Returns whether it is
 * such a token. */
static inline int ctok_listed_fetch_halves(const ctok_vocab *v, ctok_id id) {
    if (v->listed->known[id] != CTOK_LISTED_UNKNOWN || v->listed->halves[id] == CTOK_LISTED_WHOLE) return 0;
    const ctok_id left = (ctok_id)(v->listed->halves[id] >> 32), right = (ctok_id)v->listed->halves[id];
    CTOK_PREFETCH(v->listed->known + left);
    CTOK_PREFETCH(v->listed->known + right);
    CTOK_PREFETCH(v->listed->halves + left);
    CTOK_PREFETCH(v->listed->halves + right);
    CTOK_PREFETCH(v->by_id + left);
    return 1;
}

/* ctok_listed_fetch_border - a step later: what learning looks at first of the border between them. */
void ctok_listed_fetch_border(const ctok_vocab *v, ctok_id id);

/* ctok_listed_gives - is a pretoken that is the token `id` that token? 0: merging must say. v->listed NULL: it always is. */
static inline int ctok_listed_gives(const ctok_vocab *v, ctok_id id) {
    if (v->listed == NULL || v->listed->known[id] >= CTOK_LISTED_YES) return 1;
    return v->listed->known[id] == CTOK_LISTED_UNKNOWN && ctok_listed_learn(v, id);
}

/* ctok_listed_gave - merging has given the token. */
static inline void ctok_listed_gave(const ctok_vocab *v, ctok_id id) {
    if (v->listed && v->listed->known[id] < CTOK_LISTED_YES) v->listed->known[id] = CTOK_LISTED_YES;
}

#endif
