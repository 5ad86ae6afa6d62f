/* ctok_lattice.h - all ways to cut a text into pieces that have scores: the tokens that may stand in it, the best ways, ways drawn at random.
 *
 * A text may be several stretches; no token reaches across the border of two. Where a character is no piece by itself there may be a token
 * for it as an unknown one, which is piece 0. All ways lead from place 0 to place n; where no way leads to, no token starts.
 *
 * A way is given by the numbers of its tokens, from the first on. What is drawn comes from *random, any number, which is changed: equal
 * numbers draw equal ways.
 */
#ifndef CTOK_LATTICE_H
#define CTOK_LATTICE_H

#include "ctok_ids.h"
#include "ctok_trie.h"

typedef struct ctok_lattice_token {
    double score;
    uint32_t start;
    uint32_t piece;            /* as the tree gives it (csrc/ctok_trie.h) */
} ctok_lattice_token;

typedef struct ctok_lattice {
    size_t n;                  /* bytes of the text */
    uint32_t *first;           /* n + 2: the tokens that end at e are first[e] .. first[e + 1] - 1, in ascending order of start */
    ctok_lattice_token *tokens;
    /* of ctok_lattice_share and ctok_lattice_weigh */
    double *totals;            /* by place: the sum of the shares of all tokens that end there */
    double *shares;            /* by token: its weight among those, divided by a number that is the same for them */
    /* of ctok_lattice_weigh alone */
    double *sums;              /* by place: log of the sum of the weights */
    double *weights;           /* by token: log of its weight */
} ctok_lattice;

/* What a search found: way k is tokens[ends[k - 1] .. ends[k]), ends[-1] = 0. All zeros at first; what a search before left is forgotten. */
typedef struct ctok_ways {
    ctok_ids tokens, ends;
    double *scores;            /* by way */
    double *perturbed;         /* likewise, of different ones drawn at random */
    size_t cap;                /* room for so many ways */
} ctok_ways;

/* ctok_lattice_build - find all tokens of the text p, whose stretches stop at stops[0 .. n_stops), ascending, the last one at its end.
 *
 * l          all zeros; to be given back with ctok_lattice_free in any case.
 * score_of   by piece; [0]: of an unknown character.
 * unknowns   whether unknown characters have a token.
 *
 * CTOK_ERR_BYTE: no way leads to the end. CTOK_ERR_MEMORY also stands for 2^32 tokens or more. Cost: a walk through the tree from each
 * character. */
ctok_status ctok_lattice_build(ctok_lattice *l, const ctok_trie *t, const double *score_of, int unknowns, const uint8_t *p,
                               const uint32_t *stops, size_t n_stops);
void ctok_lattice_free(ctok_lattice *l);

static inline size_t ctok_lattice_n_tokens(const ctok_lattice *l) {
    return l->first[l->n + 1];
}

/* ctok_lattice_count - how many ways there are; of more than `most` that many. */
ctok_status ctok_lattice_count(const ctok_lattice *l, size_t most, size_t *n);

/* ---- drawing ---- */

/* ctok_lattice_share - ctok_lattice_weigh, not nested, of which only the shares are wanted, by which ctok_lattice_draw draws. Costs about half. */
ctok_status ctok_lattice_share(ctok_lattice *l, double alpha);

/* ctok_lattice_weigh - how probable each token is among those that end where it ends, which is what the functions below draw by.
 *
 * Its weight is exp(alpha * score) times the sum over all ways to its start. So a way has a probability proportional to exp(alpha * sum of its
 * scores). With `nested` the logarithm of the sum at the start is multiplied by alpha again where sums are added up, though not where tokens
 * are weighed against each other, as the `tokenizers` library has it. One of the two, once for each lattice. */
ctok_status ctok_lattice_weigh(ctok_lattice *l, double alpha, int nested);

/* ctok_lattice_draw - append a way; *share is the log of its probability. On an error `tokens` is as before. */
ctok_status ctok_lattice_draw(const ctok_lattice *l, uint64_t *random, ctok_ids *tokens, double *share);

/* ctok_lattice_entropy - of all ways, in nats, by the probabilities that they are drawn with. */
ctok_status ctok_lattice_entropy(const ctok_lattice *l, double *entropy);

/* ctok_lattice_draw_distinct - draw k different ways, or all there are, without replacement: Gumbel-top-k sampling. A score is the log of the
 * way's probability; that plus Gumbel noise, by which they descend, is in found->perturbed. Given that of the next one, it is known how
 * probable each before it was to be among them (Kool et al. 2019). */
ctok_status ctok_lattice_draw_distinct(const ctok_lattice *l, size_t k, uint64_t *random, ctok_ways *found);

/* ---- the best ---- */

/* ctok_lattice_best - the k best ways, or all there are, in the order and with the scores of SentencePiece: single precision, added up from
 * the end; equal ones as its heap gives them. Where 10,000 beginnings wait, the best 512 of them (at most 10 * k) go on. */
ctok_status ctok_lattice_best(const ctok_lattice *l, size_t k, ctok_ways *found);

/* ctok_lattice_draw_best - draw n ways, with repetition, from the k >= 1 best, each with exp(alpha * its score). Scores in `found` are the logs of
 * the probabilities. Sooner done than listing these k, above all where some are equal. */
ctok_status ctok_lattice_draw_best(const ctok_lattice *l, size_t k, double alpha, size_t n, uint64_t *random, ctok_ways *found);

/* ctok_lattice_best_forward - the k best ways, or all there are, by sums in double precision from the start on; of equal ones that comes first
 * whose last token starts first, and so on backward. So the first is what a search for the best one finds that lets the earlier of equal ones
 * stay. O(tokens * k). */
ctok_status ctok_lattice_best_forward(const ctok_lattice *l, size_t k, ctok_ways *found);

/* ctok_ways_close - the tokens appended since the last way are one. */
ctok_status ctok_ways_close(ctok_ways *w, double score, double perturbed);
void ctok_ways_free(ctok_ways *w);

/* ctok_lattice_turn - tokens from place `begin` on, the other way round. */
static inline void ctok_lattice_turn(ctok_ids *tokens, size_t begin) {
    for (size_t i = begin, j = tokens->n; i + 1 < j; i++) {
        const ctok_id last = tokens->at[--j];
        tokens->at[j] = tokens->at[i];
        tokens->at[i] = last;
    }
}

/* ctok_lattice_random - a number in [0, 1). (SplitMix64.) */
static inline double ctok_lattice_random(uint64_t *random) {
    uint64_t z = *random += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (double)((z ^ z >> 31) >> 11) * (1.0 / 9007199254740992.0);
}

#endif
