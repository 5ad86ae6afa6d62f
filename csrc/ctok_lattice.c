/* ctok_lattice.c - the tokens of a lattice, the weights of its ways, and drawing by them. */
#include "ctok_lattice.h"

#include <math.h>
#include <string.h>

/* Tokens in the order in which they are met. */
typedef struct met {
    uint32_t end;
    uint32_t start;
    uint32_t piece;
} met;

#define OWN 512u

typedef struct meeting {
    met *at;
    size_t n, cap;
    met own[OWN]; /* enough for a line of text */
} meeting;

static size_t char_size(uint8_t lead) {
    return lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

static ctok_status reserve(meeting *m, size_t more) {
    if (CTOK_LIKELY(m->cap - m->n >= more)) return CTOK_OK;
    size_t cap = m->cap + m->cap / 2;
    if (cap < m->n + more) cap = m->n + more;
    met *at = (met *)ctok_mem_resize(m->at == m->own ? NULL : m->at, cap, sizeof *at);
    if (at == NULL) return CTOK_ERR_MEMORY;
    if (m->at == m->own) memcpy(at, m->own, m->n * sizeof *at);
    m->at = at;
    m->cap = cap;
    return CTOK_OK;
}

/* Meet the tokens of the stretch p[begin..stop), and count in first[e + 1] those that end at e. */
static ctok_status meet(meeting *m, uint32_t *first, const ctok_trie *t, int unknowns, const uint8_t *p, size_t begin, size_t stop) {
    const uint64_t *tree = t->units, root = ctok_trie_unit(t, CTOK_TRIE_ROOT);
    size_t size;
    for (size_t s = begin; s < stop; s += size) {
        uint64_t unit = root;
        int alone = 0;
        size = char_size(p[s]);
        if (size > stop - s) size = stop - s;
        if (s && first[s + 1] == 0) continue; /* all tokens that end here have been met: no way leads on */
        if (reserve(m, stop - s + 1) != CTOK_OK) return CTOK_ERR_MEMORY;
        met *to = m->at + m->n;
        for (size_t e = s; e < stop;) { /* whether a piece ends in a place cannot be foreseen, so there is no branch for it */
            unit = tree[ctok_trie_base(unit) + p[e]];
            if ((unit & CTOK_TRIE_NO_BYTE) != p[e]) break;
            e++;
            const uint32_t piece = ctok_trie_piece(unit), is_piece = piece != 0;
            *to = (met){(uint32_t)e, (uint32_t)s, piece};
            to += is_piece;
            first[e + 1] += is_piece;
            alone |= (e - s == size) & (int)is_piece;
        }
        if (!alone && unknowns) {
            *to++ = (met){(uint32_t)(s + size), (uint32_t)s, 0};
            first[s + size + 1]++;
        }
        m->n = (size_t)(to - m->at);
    }
    return CTOK_OK;
}

/* Group what was met by where it ends. */
static ctok_status group(ctok_lattice *l, const meeting *m, const double *score_of) {
    if (m->n >= UINT32_MAX) return CTOK_ERR_MEMORY;
    l->tokens = (ctok_lattice_token *)ctok_mem_alloc(m->n, sizeof *l->tokens);
    if (l->tokens == NULL) return CTOK_ERR_MEMORY;
    for (size_t e = 0; e <= l->n; e++) l->first[e + 1] += l->first[e];
    for (size_t i = 0; i < m->n; i++) {
        const met *from = m->at + i;
        l->tokens[l->first[from->end]++] = (ctok_lattice_token){score_of[from->piece], from->start, from->piece};
    }
    memmove(l->first + 1, l->first, (l->n + 1) * sizeof *l->first); /* each one had moved to the next */
    l->first[0] = 0;
    return CTOK_OK;
}

ctok_status ctok_lattice_build(ctok_lattice *l, const ctok_trie *t, const double *score_of, int unknowns, const uint8_t *p,
                               const uint32_t *stops, size_t n_stops) {
    meeting m;
    size_t begin = 0;
    m.at = m.own;
    m.n = 0;
    m.cap = OWN;
    l->n = n_stops ? stops[n_stops - 1] : 0;
    l->first = (uint32_t *)ctok_mem_zeroed(l->n + 2, sizeof *l->first);
    ctok_status status = l->first == NULL ? CTOK_ERR_MEMORY : reserve(&m, 2 * l->n);
    for (size_t k = 0; k < n_stops && status == CTOK_OK; k++) {
        status = meet(&m, l->first, t, unknowns, p, begin, stops[k]);
        begin = stops[k];
    }
    if (status == CTOK_OK) status = group(l, &m, score_of);
    if (status == CTOK_OK && l->n && l->first[l->n] == l->first[l->n + 1]) status = CTOK_ERR_BYTE;
    if (m.at != m.own) ctok_mem_free(m.at);
    return status;
}

void ctok_lattice_free(ctok_lattice *l) {
    ctok_mem_free(l->first);
    ctok_mem_free(l->tokens);
    ctok_mem_free(l->totals); /* with sums behind them, */
    ctok_mem_free(l->shares); /* and weights behind these */
    memset(l, 0, sizeof *l);
}

ctok_status ctok_lattice_count(const ctok_lattice *l, size_t most, size_t *n) {
    size_t *ways = (size_t *)ctok_mem_alloc(l->n + 1, sizeof *ways); /* by place: to it */
    if (ways == NULL) return CTOK_ERR_MEMORY;
    ways[0] = 1;
    for (size_t e = 1; e <= l->n; e++) {
        size_t sum = 0;
        for (uint32_t i = l->first[e]; i < l->first[e + 1]; i++) {
            sum += ways[l->tokens[i].start];
            if (sum > most) sum = most;
        }
        ways[e] = sum;
    }
    *n = ways[l->n] < most ? ways[l->n] : most;
    ctok_mem_free(ways);
    return CTOK_OK;
}

ctok_status ctok_ways_close(ctok_ways *w, double score, double perturbed) {
    if (w->ends.n == w->cap) {
        const size_t cap = w->cap * 2 + 32;
        double *scores = (double *)ctok_mem_resize(w->scores, cap, sizeof *scores);
        if (scores == NULL) return CTOK_ERR_MEMORY;
        w->scores = scores;
        double *others = (double *)ctok_mem_resize(w->perturbed, cap, sizeof *others);
        if (others == NULL) return CTOK_ERR_MEMORY;
        w->perturbed = others;
        w->cap = cap;
    }
    w->scores[w->ends.n] = score;
    w->perturbed[w->ends.n] = perturbed;
    return ctok_ids_push(&w->ends, (ctok_id)w->tokens.n);
}

void ctok_ways_free(ctok_ways *w) {
    ctok_ids_free(&w->tokens);
    ctok_ids_free(&w->ends);
    ctok_mem_free(w->scores);
    ctok_mem_free(w->perturbed);
    w->scores = w->perturbed = NULL;
    w->cap = 0;
}

/* ---- drawing ---- */

/* The log of the sum of exp(of[i]); exp(of[i]) as shares of the greatest, and *total, the sum of these. */
static double log_sum(const double *of, size_t n, double *shares, double *total) {
    double high = of[0];
    shares[0] = *total = 1;
    if (n == 1) return high;
    for (size_t i = 1; i < n; i++) high = of[i] > high ? of[i] : high;
    *total = 0;
    for (size_t i = 0; i < n; i++) *total += shares[i] = exp(of[i] - high);
    return high + log(*total);
}

#define MUCH 0x1p500

ctok_status ctok_lattice_share(ctok_lattice *l, double alpha) {
    const size_t places = l->n + 1;
    l->shares = (double *)ctok_mem_alloc(ctok_lattice_n_tokens(l), sizeof(double));
    l->totals = (double *)ctok_mem_zeroed(2 * places, sizeof(double));
    if (l->shares == NULL || l->totals == NULL) return CTOK_ERR_MEMORY;
    double *unit = l->totals + places; /* by place: log of the number that its total counts */
    l->totals[0] = 1;
    for (size_t e = 1; e < places; e++) {
        const uint32_t lo = l->first[e], k = l->first[e + 1] - lo;
        const ctok_lattice_token *tokens = l->tokens + lo;
        double *shares = l->shares + lo, total = 0;
        uint32_t best = 0;
        if (k == 0) continue;
        if (k == 1) {
            unit[e] = alpha * tokens->score + unit[tokens->start];
            *shares = l->totals[e] = l->totals[tokens->start];
            continue;
        }
        for (uint32_t i = 0; i < k; i++) {
            shares[i] = alpha * tokens[i].score + unit[tokens[i].start];
            if (shares[i] > shares[best]) best = i;
        }
        const double high = unit[e] = shares[best];
        for (uint32_t i = 0; i < k; i++) {
            shares[i] = (i == best ? 1 : exp(shares[i] - high)) * l->totals[tokens[i].start];
            total += shares[i];
        }
        if (total > MUCH) { /* each place may double it */
            for (uint32_t i = 0; i < k; i++) shares[i] /= total;
            unit[e] += log(total);
            total = 1;
        }
        l->totals[e] = total;
    }
    return CTOK_OK;
}

ctok_status ctok_lattice_weigh(ctok_lattice *l, double alpha, int nested) {
    const size_t places = l->n + 1, n = ctok_lattice_n_tokens(l);
    l->shares = (double *)ctok_mem_alloc(2 * n, sizeof(double));
    l->totals = (double *)ctok_mem_zeroed(3 * places, sizeof(double));
    if (l->shares == NULL || l->totals == NULL) return CTOK_ERR_MEMORY;
    l->sums = l->totals + places;
    l->weights = l->shares + n;
    double *reach = nested ? l->sums + places : l->sums; /* by place: log of the sum over all ways to it, as tokens that start there see it */
    for (size_t e = 1; e < places; e++) {
        const uint32_t lo = l->first[e], k = l->first[e + 1] - lo;
        const ctok_lattice_token *tokens = l->tokens + lo;
        double *weights = l->weights + lo;
        if (k == 0) continue;
        if (nested) {
            for (uint32_t i = 0; i < k; i++) weights[i] = alpha * (tokens[i].score + reach[tokens[i].start]);
            reach[e] = log_sum(weights, k, l->shares + lo, l->totals + e);
        }
        for (uint32_t i = 0; i < k; i++) weights[i] = alpha * tokens[i].score + reach[tokens[i].start];
        l->sums[e] = log_sum(weights, k, l->shares + lo, l->totals + e);
    }
    return CTOK_OK;
}

ctok_status ctok_lattice_draw(const ctok_lattice *l, uint64_t *random, ctok_ids *tokens, double *share) {
    const size_t begin = tokens->n;
    double probable = 1;
    *share = 0;
    for (size_t e = l->n; e;) {
        const uint32_t lo = l->first[e], hi = l->first[e + 1];
        uint32_t i = lo;
        if (hi - lo > 1) {
            double at = ctok_lattice_random(random) * l->totals[e];
            while ((at -= l->shares[i]) >= 0 && i + 1 < hi) i++; /* roundings may leave a little at the end, */
            while (i > lo && l->shares[i] == 0) i--;             /* where what cannot be drawn may stand */
            probable *= l->shares[i] / l->totals[e];
        }
        if (probable < 1 / MUCH) {
            *share += log(probable);
            probable = 1;
        }
        if (ctok_ids_push(tokens, i) != CTOK_OK) {
            tokens->n = begin;
            return CTOK_ERR_MEMORY;
        }
        e = l->tokens[i].start;
    }
    *share += log(probable);
    ctok_lattice_turn(tokens, begin);
    return CTOK_OK;
}

ctok_status ctok_lattice_entropy(const ctok_lattice *l, double *entropy) {
    double *of = (double *)ctok_mem_zeroed(l->n + 1, sizeof(double));
    if (of == NULL) return CTOK_ERR_MEMORY;
    for (size_t e = 1; e <= l->n; e++) {
        for (uint32_t i = l->first[e]; i < l->first[e + 1]; i++) {
            const double share = l->weights[i] - l->sums[e];
            of[e] += exp(share) * (of[l->tokens[i].start] - share);
        }
    }
    *entropy = of[l->n];
    ctok_mem_free(of);
    return CTOK_OK;
}
