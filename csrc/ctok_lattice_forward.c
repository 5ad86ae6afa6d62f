/* ctok_lattice_forward.c - the best ways through a lattice, found from the start on: each place keeps its best ways, merged from those of the
 * places where its tokens start. */
#include <string.h>

#include "ctok_lattice.h"

/* A way from the start to a place: its last token, and which of the ways to that token's start comes before it. */
typedef struct way {
    double score;
    size_t before;
    uint32_t token;
} way;

typedef struct merging {
    const ctok_lattice *l;
    way *ways;
    size_t n, cap;
    size_t *first; /* n + 2: the ways to place e are first[e] .. first[e + 1] - 1, best first */
    size_t *taken; /* of the ways to the start of each token that ends at a place, how many have been used for it */
} merging;

static ctok_status add_way(merging *m, double score, size_t before, uint32_t token) {
    if (m->n == m->cap) {
        way *more = (way *)ctok_mem_resize(m->ways, m->cap * 2 + 64, sizeof *more);
        if (more == NULL) return CTOK_ERR_MEMORY;
        m->ways = more;
        m->cap = m->cap * 2 + 64;
    }
    m->ways[m->n++] = (way){score, before, token};
    return CTOK_OK;
}

/* The k best ways to a place. */
static ctok_status merge(merging *m, size_t e, size_t k) {
    const ctok_lattice *l = m->l;
    const uint32_t lo = l->first[e], hi = l->first[e + 1];
    memset(m->taken, 0, (hi - lo) * sizeof *m->taken);
    for (; k; k--) {
        uint32_t best = hi;
        size_t before = 0;
        double high = 0;
        for (uint32_t i = lo; i < hi; i++) {
            const size_t start = l->tokens[i].start, at = m->first[start] + m->taken[i - lo];
            if (at == m->first[start + 1]) continue;
            const double score = l->tokens[i].score + m->ways[at].score;
            if (best != hi && !(score > high)) continue;
            best = i;
            before = at;
            high = score;
        }
        if (best == hi) return CTOK_OK;
        m->taken[best - lo]++;
        if (add_way(m, high, before, best) != CTOK_OK) return CTOK_ERR_MEMORY;
    }
    return CTOK_OK;
}

static ctok_status merge_all(merging *m, size_t k) {
    const ctok_lattice *l = m->l;
    size_t most = 0;
    for (size_t e = 0; e <= l->n; e++) most = l->first[e + 1] - l->first[e] > most ? l->first[e + 1] - l->first[e] : most;
    m->taken = (size_t *)ctok_mem_alloc(most, sizeof *m->taken);
    m->first = (size_t *)ctok_mem_zeroed(l->n + 2, sizeof *m->first);
    if (m->taken == NULL || m->first == NULL || add_way(m, 0, 0, 0) != CTOK_OK) return CTOK_ERR_MEMORY; /* the empty way to the start */
    m->first[1] = 1;
    for (size_t e = 1; e <= l->n; e++) {
        if (merge(m, e, k) != CTOK_OK) return CTOK_ERR_MEMORY;
        m->first[e + 1] = m->n;
    }
    return CTOK_OK;
}

/* Append a way to the end to what was found. */
static ctok_status give(const merging *m, size_t at, ctok_ways *found) {
    const size_t begin = found->tokens.n;
    const double score = m->ways[at].score;
    for (size_t e = m->l->n; e; at = m->ways[at].before) {
        if (ctok_ids_push(&found->tokens, m->ways[at].token) != CTOK_OK) return CTOK_ERR_MEMORY;
        e = m->l->tokens[m->ways[at].token].start;
    }
    ctok_lattice_turn(&found->tokens, begin);
    return ctok_ways_close(found, score, score);
}

ctok_status ctok_lattice_best_forward(const ctok_lattice *l, size_t k, ctok_ways *found) {
    merging m = {l, NULL, 0, 0, NULL, NULL};
    found->tokens.n = found->ends.n = 0;
    ctok_status status = merge_all(&m, k);
    for (size_t i = 0; status == CTOK_OK && i < k && m.first[l->n] + i < m.first[l->n + 1]; i++) status = give(&m, m.first[l->n] + i, found);
    ctok_mem_free(m.ways);
    ctok_mem_free(m.first);
    ctok_mem_free(m.taken);
    return status;
}
