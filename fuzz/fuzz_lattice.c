/* fuzz_lattice.c - any pieces, scores and text: what searches find and draws give are ways through the lattice, and those that trying all gives.
 * links: mem trie lattice lattice_forward lattice_search */
#include "ctok_lattice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PIECES 12u
#define LETTERS 14u /* of a text */
#define WAYS 4096u

static void need(int truth) {
    if (!truth) abort();
}

typedef struct input {
    const uint8_t *p;
    size_t n;
} input;

static uint8_t next(input *in) {
    if (in->n == 0) return 0;
    in->n--;
    return *in->p++;
}

/* ---- a model and a text ---- */

typedef struct piece {
    uint8_t text[8];
    uint32_t n;
} piece;

static int order(const void *a, const void *b) {
    const piece *x = a, *y = b;
    const int found = memcmp(x->text, y->text, x->n < y->n ? x->n : y->n);
    return found ? found : (x->n > y->n) - (x->n < y->n);
}

/* One letter, of one to three bytes. */
static uint32_t letter(input *in, uint8_t *to) {
    static const char *const letters[] = {"a", "b", "a", "b", "c", "\xC3\xA9", "\xE2\x96\x81", "d"};
    const char *found = letters[next(in) % 8];
    const uint32_t n = (uint32_t)strlen(found);
    memcpy(to, found, n);
    return n;
}

static void plant(input *in, ctok_trie *t, double *score_of) {
    piece pieces[PIECES];
    uint8_t text[8 * PIECES];
    uint32_t ends[PIECES], n = 0, at = 0, bad;
    const uint32_t count = next(in) % (PIECES + 1);
    for (uint32_t i = 0; i < count; i++) {
        pieces[i].n = 0;
        for (uint32_t left = 1 + next(in) % 3; left && pieces[i].n < 5; left--) pieces[i].n += letter(in, pieces[i].text + pieces[i].n);
    }
    qsort(pieces, count, sizeof *pieces, order);
    for (uint32_t i = 0; i < count; i++) {
        if (n && i && order(pieces + i, pieces + i - 1) == 0) continue;
        memcpy(text + at, pieces[i].text, pieces[i].n);
        at += pieces[i].n;
        ends[n++] = at;
    }
    need(ctok_trie_init(t, text, ends, n, NULL, 0, NULL, &bad) == CTOK_OK);
    for (uint32_t i = 0; i <= n; i++) score_of[i] = (float)(-(next(in) % 16) / (next(in) % 4 ? 4.0 : 7.0)); /* many are equal, or nearly so */
}

/* ---- all ways, by trying all ---- */

typedef struct trying {
    const ctok_lattice *l;
    ctok_id way[LETTERS * 3 + 1]; /* from its end on */
    size_t n;
    double forward[WAYS];         /* scores, added up from the start, */
    float backward[WAYS];         /* and from the end */
    double shares[WAYS];          /* logs of probabilities */
    size_t count;
} trying;

static double score_of_way(const ctok_lattice *l, const ctok_id *way, size_t n) {
    double sum = 0;
    for (size_t i = n; i--;) sum = l->tokens[way[i]].score + sum;
    return sum;
}

static void try_all(trying *t, size_t e, float behind, double share) {
    const ctok_lattice *l = t->l;
    if (t->count == WAYS) return;
    if (e == 0) {
        t->forward[t->count] = score_of_way(l, t->way, t->n);
        t->shares[t->count] = share;
        t->backward[t->count++] = behind;
        return;
    }
    for (uint32_t i = l->first[e]; i < l->first[e + 1]; i++) {
        t->way[t->n++] = i;
        try_all(t, l->tokens[i].start, (float)l->tokens[i].score + behind, share + l->weights[i] - l->sums[e]);
        t->n--;
    }
}

static int descending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* ---- checks ---- */

/* Is it a way? Its score in single precision, from the end. */
static float check_way(const ctok_lattice *l, const ctok_id *way, size_t n) {
    size_t at = l->n;
    float sum = 0;
    for (size_t i = n; i--;) {
        need(way[i] >= l->first[at] && way[i] < l->first[at + 1]);
        sum = (float)l->tokens[way[i]].score + sum;
        at = l->tokens[way[i]].start;
    }
    need(at == 0);
    return sum;
}

static void check_different(const ctok_ways *w) {
    for (size_t i = 0, a = 0; i < w->ends.n; a = w->ends.at[i++]) {
        const size_t n = w->ends.at[i] - a;
        for (size_t j = i + 1, b = w->ends.at[i]; j < w->ends.n; b = w->ends.at[j++])
            need(w->ends.at[j] - b != n || memcmp(w->tokens.at + a, w->tokens.at + b, n * sizeof(ctok_id)) != 0);
    }
}

/* With room for few in order, or by the heap alone, the same comes first. */
static void check_best(const ctok_lattice *l, const trying *t, size_t k) {
    ctok_ways few = {0}, many = {0};
    need(ctok_lattice_best(l, k, &few) == CTOK_OK && ctok_lattice_best(l, 600, &many) == CTOK_OK);
    need(few.ends.n == (t->count < k ? t->count : k) && many.ends.n == (t->count < 600 ? t->count : 600));
    need(few.ends.n == 0 || memcmp(few.ends.at, many.ends.at, few.ends.n * sizeof(ctok_id)) == 0);
    need(few.tokens.n == 0 || memcmp(few.tokens.at, many.tokens.at, few.tokens.n * sizeof(ctok_id)) == 0);
    for (size_t i = 0, a = 0; i < many.ends.n; a = many.ends.at[i++]) {
        need(many.scores[i] == (double)check_way(l, many.tokens.at + a, many.ends.at[i] - a));
        need(i >= few.ends.n || few.scores[i] == many.scores[i]);
        need(fabs(many.scores[i] - t->forward[i]) < 1e-4); /* those are sorted */
    }
    check_different(&many);
    ctok_ways_free(&few);
    ctok_ways_free(&many);
}

/* What is drawn from the best is one of them, as probable as its score says. */
static void check_drawn(const ctok_lattice *l, const trying *t, size_t k, uint64_t random) {
    const double alpha = 0.5;
    ctok_ways w = {0}, best = {0};
    size_t n_ways;
    double sum = 0;
    need(ctok_lattice_count(l, k, &n_ways) == CTOK_OK && n_ways == (t->count < k ? t->count : k));
    if (n_ways == 0) return;
    need(ctok_lattice_best(l, k, &best) == CTOK_OK && best.ends.n == n_ways);
    need(ctok_lattice_draw_best(l, k, alpha, 20, &random, &w) == CTOK_OK && w.ends.n == 20);
    for (size_t j = 0; j < n_ways; j++) sum += exp(alpha * (best.scores[j] - best.scores[0]));
    for (size_t i = 0, a = 0; i < w.ends.n; a = w.ends.at[i++]) {
        const size_t n = w.ends.at[i] - a;
        int is_there = 0;
        for (size_t j = 0, b = 0; j < n_ways && !is_there; b = best.ends.at[j++])
            is_there = best.ends.at[j] - b == n && (n == 0 || memcmp(best.tokens.at + b, w.tokens.at + a, n * sizeof(ctok_id)) == 0) &&
                       fabs(w.scores[i] - (alpha * (best.scores[j] - best.scores[0]) - log(sum))) < 1e-4;
        need(is_there);
    }
    ctok_ways_free(&w);
    ctok_ways_free(&best);
}

static void check_forward(const ctok_lattice *l, const trying *t, size_t k) {
    ctok_ways w = {0};
    need(ctok_lattice_best_forward(l, k, &w) == CTOK_OK && w.ends.n == (t->count < k ? t->count : k));
    for (size_t i = 0, a = 0; i < w.ends.n; a = w.ends.at[i++]) {
        check_way(l, w.tokens.at + a, w.ends.at[i] - a);
        need(fabs(w.scores[i] - t->forward[i]) < 1e-9 && (i == 0 || w.scores[i] <= w.scores[i - 1]));
    }
    check_different(&w);
    ctok_ways_free(&w);
}

static void check_draws(const ctok_lattice *l, const trying *t, size_t k, uint64_t random) {
    ctok_ways w = {0};
    ctok_ids way = {0};
    double share, entropy, sum = 0, all = 0;
    for (size_t i = 0; i < t->count; i++) {
        sum -= exp(t->shares[i]) * t->shares[i];
        all += exp(t->shares[i]);
    }
    need(ctok_lattice_entropy(l, &entropy) == CTOK_OK && fabs(entropy - sum) < 1e-6 && fabs(all - 1) < 1e-6);
    need(ctok_lattice_draw(l, &random, &way, &share) == CTOK_OK && share < 1e-9);
    check_way(l, way.at, way.n);
    need(ctok_lattice_draw_distinct(l, k, &random, &w) == CTOK_OK && w.ends.n == (t->count < k ? t->count : k));
    for (size_t i = 0, a = 0; i < w.ends.n; a = w.ends.at[i++]) {
        check_way(l, w.tokens.at + a, w.ends.at[i] - a);
        need(w.scores[i] < 1e-9 && (i == 0 || w.perturbed[i] <= w.perturbed[i - 1] + 1e-9));
    }
    check_different(&w);
    ctok_ways_free(&w);
    ctok_ids_free(&way);
}

/* The shares alone are those of a lattice that was weighed. */
static void check_shares(const ctok_lattice *l, double alpha) {
    ctok_lattice other = *l;
    other.shares = other.totals = NULL;
    if (ctok_lattice_share(&other, alpha) == CTOK_OK) {
        for (size_t e = 1; e <= l->n; e++) {
            for (uint32_t i = l->first[e]; i < l->first[e + 1]; i++)
                need(fabs(other.shares[i] / other.totals[e] - exp(l->weights[i] - l->sums[e])) < 1e-9);
        }
    }
    ctok_mem_free(other.shares);
    ctok_mem_free(other.totals);
}

static void check(input *in, const ctok_trie *t, const double *score_of) {
    static trying tried;
    static const double alphas[] = {1, 0, 0.1, 3};
    uint8_t text[3 * LETTERS];
    uint32_t stops[LETTERS + 1], n = 0, n_stops = 0;
    ctok_lattice l = {0};
    const uint8_t how = next(in);
    const size_t k = 1 + next(in) % 40;
    for (uint32_t left = LETTERS; left && in->n; left--) {
        n += letter(in, text + n);
        if (in->n % 5 == 0 && how & 1) stops[n_stops++] = n;
    }
    stops[n_stops++] = n;
    const ctok_status status = ctok_lattice_build(&l, t, score_of, how & 2, text, stops, n_stops);
    need(status == CTOK_OK || (status == CTOK_ERR_BYTE && !(how & 2)));
    if (status == CTOK_OK && ctok_lattice_weigh(&l, alphas[how >> 2 & 3], how & 16) == CTOK_OK) {
        if (!(how & 16)) check_shares(&l, alphas[how >> 2 & 3]);
        tried.l = &l;
        tried.n = tried.count = 0;
        try_all(&tried, l.n, 0, 0);
        if (tried.count < WAYS) {
            qsort(tried.forward, tried.count, sizeof(double), descending);
            check_best(&l, &tried, k);
            check_drawn(&l, &tried, k, how);
            check_forward(&l, &tried, k);
            check_draws(&l, &tried, k, how);
        }
    }
    ctok_lattice_free(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = {data, size};
    ctok_trie t;
    double score_of[PIECES + 1];
    plant(&in, &t, score_of);
    check(&in, &t, score_of);
    ctok_trie_free(&t);
    return 0;
}
