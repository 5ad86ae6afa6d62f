/* ctok_lattice_search.c - the best ways through a lattice, and different ones drawn at random.
 *
 * From the end backward, the most promising tail of a way is extended first, where what it may still become is known exactly. Of the best
 * ways that is the best sum to where it starts; of drawn ones the highest perturbed score of all ways that end with it, from which those of
 * its extensions are drawn on condition that the highest of them is that.
 *
 * The order of equal ones is that of a heap as the reference has it, and it depends on all that waits in it. But most of that is never taken
 * out. So the best are first searched for with room for as many tails as ways are still wanted, in order; the others are dropped. If what is
 * taken out is always higher than all that waits and all that was dropped, the heap would have given the same. Else it is asked.
 *
 * Where their order does not matter, less will do. Of each tail look at the lowest promise on the way to it: whatever the order of equal
 * ones, tails are taken out in descending order of that. So the heap would have given the same ways if all that waits and all that was
 * dropped in the end is lower than the lowest that was taken out.
 */
#include <math.h>
#include <string.h>

#include "ctok_lattice.h"

#define CROWD 10000u     /* so many of the best may wait */
#define CHOSEN 512u      /* and so many stay then */
#define PAST UINT32_MAX  /* behind the end; the token that is none */

/* The end of a way, from `token` on. */
typedef struct tail {
    double promise; /* the best that it may become */
    double sum;     /* of its scores */
    uint32_t token; /* PAST: it is whole, or the empty one */
    uint32_t next;  /* the tail without the token */
} tail;

typedef struct waiting {
    double promise;
    uint32_t tail;
} waiting;

typedef struct search {
    const ctok_lattice *l;
    float *best;    /* by token: the best way that ends with it */
    float end;      /* the best of all */
    uint64_t *random;
    tail *tails;
    size_t n_tails, cap_tails;
    waiting *heap;
    size_t n_heap, cap_heap;
    int is_settled; /* putting one in that comes first, and taking it out, changes nothing */
    ctok_ids whole; /* tails that are, as they were found */
} search;

typedef ctok_status (*extend_fn)(search *x, uint32_t at);

static void search_free(search *x) {
    ctok_mem_free(x->best);
    ctok_mem_free(x->tails);
    ctok_mem_free(x->heap);
    ctok_ids_free(&x->whole);
}

static ctok_status keep_tail(search *x, double promise, double sum, uint32_t token, uint32_t next) {
    if (CTOK_UNLIKELY(x->n_tails == x->cap_tails)) {
        tail *more = (tail *)ctok_mem_resize(x->tails, x->cap_tails * 2 + 256, sizeof *more);
        if (more == NULL) return CTOK_ERR_MEMORY;
        x->tails = more;
        x->cap_tails = x->cap_tails * 2 + 256;
    }
    x->tails[x->n_tails++] = (tail){promise, sum, token, next};
    return CTOK_OK;
}

static ctok_status reserve_heap(search *x, size_t n) {
    if (CTOK_LIKELY(n <= x->cap_heap)) return CTOK_OK;
    waiting *more = (waiting *)ctok_mem_resize(x->heap, n * 2 + 64, sizeof *more);
    if (more == NULL) return CTOK_ERR_MEMORY;
    x->heap = more;
    x->cap_heap = n * 2 + 64;
    return CTOK_OK;
}

/* Where the token of a tail starts: there the tail goes on. */
static size_t place_of(const search *x, const tail *t) {
    return t->token == PAST ? x->l->n : x->l->tokens[t->token].start;
}

static int is_whole(const search *x, uint32_t at) {
    return x->tails[at].token == PAST && x->tails[at].next != PAST;
}

/* ---- what waits ---- */

/* Put `what` at place i or above it; returns where. */
static size_t rise(waiting *heap, size_t i, waiting what) {
    while (i) {
        const size_t above = (i - 1) / 2;
        if (!(heap[above].promise < what.promise)) break;
        heap[i] = heap[above];
        i = above;
    }
    heap[i] = what;
    return i;
}

static ctok_status wait(search *x, double promise, uint32_t at) {
    if (reserve_heap(x, x->n_heap + 1) != CTOK_OK) return CTOK_ERR_MEMORY;
    x->n_heap++;
    rise(x->heap, x->n_heap - 1, (waiting){promise, at});
    return CTOK_OK;
}

static ctok_status add_tail(search *x, double promise, double sum, uint32_t token, uint32_t next) {
    if (keep_tail(x, promise, sum, token, next) != CTOK_OK) return CTOK_ERR_MEMORY;
    return wait(x, promise, (uint32_t)(x->n_tails - 1));
}

/* Is the one at this place lower than its neighbour on the left? */
static size_t is_lower(const waiting *heap, size_t i) {
    return (size_t)(heap[i].promise < heap[i - 1].promise);
}

/* Take the first out: the gap sinks to the bottom, the last one takes its place and rises. If that becomes the one above the place where it
 * was, all on the way between the first place and this have moved up by one, and no others: then one that comes first of all would, when it
 * is put in, move them back, and when it is taken out, move them up again. */
static waiting take(search *x) {
    waiting *heap = x->heap;
    const waiting first = heap[0];
    const size_t n = x->n_heap - 1;
    size_t i = 0;
    while (4 * i + 6 < n) { /* two steps, which do not wait for each other */
        const size_t right = 2 * i + 2, second = 2 * right + 2;
        const size_t below = right - is_lower(heap, right);
        const size_t if_left = second - 2 - is_lower(heap, second - 2), if_right = second - is_lower(heap, second);
        const size_t is_right = (size_t)0 - (~below & 1); /* all bits or none: a branch would be guessed wrong half of the time */
        const size_t next = (if_right & is_right) | (if_left & ~is_right);
        heap[i] = heap[below];
        heap[below] = heap[next];
        i = next;
    }
    while (2 * i + 2 < n) {
        const size_t below = 2 * i + 2 - is_lower(heap, 2 * i + 2);
        heap[i] = heap[below];
        i = below;
    }
    if (2 * i + 2 == n) {
        heap[i] = heap[2 * i + 1];
        i = 2 * i + 1;
    }
    x->n_heap = n;
    x->is_settled = n == 0 || rise(heap, i, heap[n]) == (n - 1) / 2;
    return first;
}

static void mark(const search *x, uint32_t at, uint32_t *marked) {
    for (; at != PAST && marked[at] == 0; at = x->tails[at].next) marked[at] = 1;
}

/* Number the tails anew that some of `stay` or a whole one goes on from, and forget the others. */
static void drop_tails(search *x, waiting *stay, size_t n, uint32_t *moved) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) mark(x, stay[i].tail, moved);
    for (size_t i = 0; i < x->whole.n; i++) mark(x, x->whole.at[i], moved);
    for (size_t i = 0; i < x->n_tails; i++) { /* a tail comes after the one that it goes on from */
        if (!moved[i]) continue;
        tail t = x->tails[i];
        if (t.next != PAST) t.next = moved[t.next];
        moved[i] = (uint32_t)kept;
        x->tails[kept++] = t;
    }
    x->n_tails = kept;
    for (size_t i = 0; i < n; i++) stay[i].tail = moved[stay[i].tail];
    for (size_t i = 0; i < x->whole.n; i++) x->whole.at[i] = moved[x->whole.at[i]];
}

/* Let the best `most` stay. */
static ctok_status thin_out(search *x, size_t most) {
    const size_t n = most < x->n_heap ? most : x->n_heap;
    waiting *stay = (waiting *)ctok_mem_alloc(n, sizeof *stay);
    uint32_t *moved = (uint32_t *)ctok_mem_zeroed(x->n_tails, sizeof *moved);
    ctok_status status = stay == NULL || moved == NULL ? CTOK_ERR_MEMORY : CTOK_OK;
    if (status == CTOK_OK) {
        for (size_t i = 0; i < n; i++) stay[i] = take(x);
        drop_tails(x, stay, n, moved);
        for (x->n_heap = 0; x->n_heap < n; x->n_heap++) rise(x->heap, x->n_heap, stay[x->n_heap]);
    }
    ctok_mem_free(stay);
    ctok_mem_free(moved);
    return status;
}

/* ---- searching ---- */

/* Append the way that a whole tail is to what was found. */
static ctok_status give(const search *x, uint32_t whole, double score, ctok_ways *found) {
    if (ctok_ids_reserve(&found->tokens, x->l->n) != CTOK_OK) return CTOK_ERR_MEMORY;
    ctok_id *to = found->tokens.at + found->tokens.n;
    const tail *t = x->tails + x->tails[whole].next;
    for (; t->token != PAST; t = x->tails + t->next) *to++ = t->token;
    found->tokens.n = (size_t)(to - found->tokens.at);
    return ctok_ways_close(found, score, x->tails[whole].promise);
}

static ctok_status give_all(const search *x, ctok_ways *found) {
    ctok_status status = CTOK_OK;
    for (size_t i = 0; i < x->whole.n && status == CTOK_OK; i++) status = give(x, x->whole.at[i], x->tails[x->whole.at[i]].sum, found);
    return status;
}

/* Find k whole tails. Whenever `crowd` wait, the best `most` stay. */
static ctok_status find(search *x, size_t k, extend_fn extend, size_t crowd, size_t most) {
    ctok_status status = CTOK_OK;
    while (status == CTOK_OK && x->n_heap && x->whole.n < k) {
        const waiting first = take(x);
        if (is_whole(x, first.tail)) {
            status = ctok_ids_push(&x->whole, first.tail);
            continue;
        }
        status = extend(x, first.tail);
        if (status == CTOK_OK && x->n_heap >= crowd) status = thin_out(x, most);
    }
    return status;
}

static void begin(search *x, const ctok_lattice *l, ctok_ways *found) {
    memset(x, 0, sizeof *x);
    x->l = l;
    found->tokens.n = found->ends.n = 0;
}

/* ---- the best ---- */

static ctok_status begin_best(search *x) {
    const ctok_lattice *l = x->l;
    x->best = (float *)ctok_mem_alloc(ctok_lattice_n_tokens(l), sizeof(float));
    float *to = (float *)ctok_mem_zeroed(l->n + 1, sizeof(float)); /* by place: the best way to it */
    if (x->best == NULL || to == NULL) {
        ctok_mem_free(to);
        return CTOK_ERR_MEMORY;
    }
    for (size_t e = 1; e <= l->n; e++) {
        for (uint32_t i = l->first[e]; i < l->first[e + 1]; i++) {
            const float sum = to[l->tokens[i].start] + (float)l->tokens[i].score;
            x->best[i] = sum;
            if (i == l->first[e] || sum > to[e]) to[e] = sum;
        }
    }
    x->end = to[l->n];
    ctok_mem_free(to);
    return CTOK_OK;
}

/* Does a tail go on from this place in one way only? */
static int is_only(const ctok_lattice *l, size_t place) {
    return place == 0 || l->first[place + 1] - l->first[place] == 1;
}

/* What becomes of a tail there. */
static tail only_way(const search *x, size_t place, uint32_t at) {
    const float behind = (float)x->tails[at].sum;
    if (place == 0) return (tail){behind, behind, PAST, at};
    const uint32_t i = x->l->first[place];
    const float promise = x->best[i] + behind, sum = (float)x->l->tokens[i].score + behind;
    return (tail){promise, sum, i, at};
}

/* Put all extensions of a tail among those that wait; where there is one only that would be taken out next, and leave them as they are, go on
 * from it at once. */
static ctok_status extend_best(search *x, uint32_t at) {
    const ctok_lattice *l = x->l;
    size_t place = place_of(x, x->tails + at);
    for (; is_only(l, place); place = l->tokens[x->tails[at].token].start) {
        const tail t = only_way(x, place, at);
        if (keep_tail(x, t.promise, t.sum, t.token, at) != CTOK_OK) return CTOK_ERR_MEMORY;
        at = (uint32_t)(x->n_tails - 1);
        if (!x->is_settled || (x->n_heap && !(t.promise > x->heap[0].promise))) return wait(x, t.promise, at);
        if (place == 0) return ctok_ids_push(&x->whole, at);
    }
    const float behind = (float)x->tails[at].sum;
    for (uint32_t i = l->first[place]; i < l->first[place + 1]; i++) {
        const float promise = x->best[i] + behind, sum = (float)l->tokens[i].score + behind;
        if (add_tail(x, promise, sum, i, at) != CTOK_OK) return CTOK_ERR_MEMORY;
    }
    return CTOK_OK;
}

/* Put a tail among those that wait, which ascend, if it is better than the worst of `room`; *lost is the best of those that were dropped. */
static ctok_status wait_in_order(search *x, size_t room, float promise, float sum, uint32_t token, uint32_t next, double *lost) {
    waiting *order = x->heap;
    const waiting what = {promise, (uint32_t)x->n_tails};
    size_t i = x->n_heap;
    if (promise != promise) *lost = promise; /* and stays so */
    if (i == room) {
        const double worse = promise > order[0].promise ? order[0].promise : promise;
        if (worse > *lost) *lost = worse;
        if (!(promise > order[0].promise)) return CTOK_OK;
        for (i = 0; i + 1 < room && order[i + 1].promise < promise; i++) order[i] = order[i + 1];
    } else {
        for (; i && order[i - 1].promise > promise; i--) order[i] = order[i - 1];
        x->n_heap++;
    }
    order[i] = what;
    return keep_tail(x, promise, sum, token, next);
}

/* As extend_best, with room for so many, from a place where a token ends. */
static ctok_status extend_in_order(search *x, size_t place, uint32_t at, size_t room, double *lost) {
    const ctok_lattice *l = x->l;
    const float behind = (float)x->tails[at].sum;
    for (uint32_t i = l->first[place]; i < l->first[place + 1]; i++) {
        const float promise = x->best[i] + behind;
        if (x->n_heap == room && promise <= x->heap[0].promise) { /* most are of no use */
            *lost = promise > *lost ? promise : *lost;
            continue;
        }
        if (wait_in_order(x, room, promise, (float)l->tokens[i].score + behind, i, at, lost) != CTOK_OK) return CTOK_ERR_MEMORY;
    }
    return CTOK_OK;
}

/* Go on from the tail that was taken out: as long as there is one way only, and what comes of it would be taken out next. Of equal ones that is
 * the last that was put in, but where their order matters it is none. */
static ctok_status follow(search *x, waiting first, size_t room, int any_order, double *lost, double *low) {
    const ctok_lattice *l = x->l;
    for (;;) {
        if (!(first.promise >= *low)) *low = first.promise;
        if (is_whole(x, first.tail)) return ctok_ids_push(&x->whole, first.tail);
        const size_t place = place_of(x, x->tails + first.tail);
        if (!is_only(l, place)) return extend_in_order(x, place, first.tail, room, lost);
        const tail t = only_way(x, place, first.tail);
        const double top = x->n_heap ? x->heap[x->n_heap - 1].promise : -INFINITY;
        const int is_next = any_order ? t.promise >= top : t.promise > *lost && t.promise > top;
        if (!is_next) return wait_in_order(x, room, (float)t.promise, (float)t.sum, t.token, t.next, lost);
        if (keep_tail(x, t.promise, t.sum, t.token, t.next) != CTOK_OK) return CTOK_ERR_MEMORY;
        first = (waiting){t.promise, (uint32_t)(x->n_tails - 1)};
    }
}

/* As find, with room for what may be wanted only. *is_certain: it is what find would have found; in any order, if that does. */
static ctok_status find_in_order(search *x, size_t k, int any_order, int *is_certain) {
    double lost = -INFINITY, low = INFINITY;
    ctok_status status = CTOK_OK;
    *is_certain = 0;
    while (status == CTOK_OK && x->n_heap && x->whole.n < k) {
        const waiting first = x->heap[--x->n_heap];
        const int is_higher = first.promise > lost && (x->n_heap == 0 || x->heap[x->n_heap - 1].promise < first.promise);
        if (!is_higher && !any_order) return CTOK_OK;
        status = follow(x, first, k - x->whole.n, any_order, &lost, &low);
    }
    if (x->whole.n < k) *is_certain = lost == -INFINITY;
    else *is_certain = !any_order || (lost < low && (x->n_heap == 0 || x->heap[x->n_heap - 1].promise < low));
    return status;
}

static ctok_status find_best(search *x, size_t k, int any_order) {
    int is_certain = 0;
    ctok_status status = begin_best(x);
    if (status == CTOK_OK && k <= CHOSEN) {
        status = reserve_heap(x, k);
        if (status == CTOK_OK) status = add_tail(x, x->end, 0, PAST, PAST);
        if (status == CTOK_OK) status = find_in_order(x, k, any_order, &is_certain);
    }
    if (status != CTOK_OK || is_certain) return status;
    x->whole.n = x->n_tails = x->n_heap = 0;
    status = add_tail(x, x->end, 0, PAST, PAST);
    return status == CTOK_OK ? find(x, k, extend_best, CROWD, k <= CHOSEN / 10 ? 10 * k : CHOSEN) : status;
}

ctok_status ctok_lattice_best(const ctok_lattice *l, size_t k, ctok_ways *found) {
    search x;
    begin(&x, l, found);
    ctok_status status = find_best(&x, k, 0);
    if (status == CTOK_OK) status = give_all(&x, found);
    search_free(&x);
    return status;
}

/* Draw n of the whole tails, each with exp(alpha * score). */
static ctok_status draw_whole(const search *x, double alpha, size_t n, uint64_t *random, ctok_ways *found) {
    const size_t n_whole = x->whole.n;
    double *shares = (double *)ctok_mem_alloc(n_whole, sizeof *shares), high = -INFINITY, total = 0;
    ctok_status status = shares == NULL ? CTOK_ERR_MEMORY : CTOK_OK;
    for (size_t i = 0; i < n_whole && status == CTOK_OK; i++) {
        shares[i] = x->tails[x->whole.at[i]].sum;
        high = shares[i] > high ? shares[i] : high;
    }
    for (size_t i = 0; i < n_whole && status == CTOK_OK; i++) total += shares[i] = exp(alpha * (shares[i] - high));
    for (; n && status == CTOK_OK; n--) {
        double at = ctok_lattice_random(random) * total;
        size_t i = 0;
        while ((at -= shares[i]) >= 0 && i + 1 < n_whole) i++;
        status = give(x, x->whole.at[i], log(shares[i] / total), found);
    }
    ctok_mem_free(shares);
    return status;
}

ctok_status ctok_lattice_draw_best(const ctok_lattice *l, size_t k, double alpha, size_t n, uint64_t *random, ctok_ways *found) {
    search x;
    begin(&x, l, found);
    ctok_status status = find_best(&x, k, 1);
    if (status == CTOK_OK) status = draw_whole(&x, alpha, n, random, found);
    search_free(&x);
    return status;
}

/* ---- drawn ---- */

static double gumbel(uint64_t *random) {
    return -log(-log(ctok_lattice_random(random) + 1.0 / 18014398509481984.0));
}

/* Perturbed scores of all extensions, on condition that the highest is that of the tail (Kool et al. 2019, appendix B.3). */
static ctok_status extend_drawn(search *x, uint32_t at) {
    const ctok_lattice *l = x->l;
    const tail t = x->tails[at];
    const size_t place = place_of(x, &t), first = x->n_tails;
    double high = -INFINITY;
    if (place == 0) return add_tail(x, t.promise, t.sum, PAST, at);
    for (uint32_t i = l->first[place]; i < l->first[place + 1]; i++) {
        const double sum = t.sum + l->weights[i] - l->sums[place], perturbed = sum + gumbel(x->random);
        if (keep_tail(x, perturbed, sum, i, at) != CTOK_OK) return CTOK_ERR_MEMORY;
        if (perturbed > high) high = perturbed;
    }
    for (size_t i = first; i < x->n_tails; i++) {
        const double v = t.promise - x->tails[i].promise + log1p(-exp(x->tails[i].promise - high));
        const double promise = t.promise - (v > 0 ? v : 0) - log1p(exp(-fabs(v)));
        x->tails[i].promise = promise;
        if (wait(x, promise, (uint32_t)i) != CTOK_OK) return CTOK_ERR_MEMORY;
    }
    return CTOK_OK;
}

ctok_status ctok_lattice_draw_distinct(const ctok_lattice *l, size_t k, uint64_t *random, ctok_ways *found) {
    search x;
    begin(&x, l, found);
    x.random = random;
    ctok_status status = add_tail(&x, gumbel(random), 0, PAST, PAST);
    if (status == CTOK_OK) status = find(&x, k, extend_drawn, CROWD + 2 * k, k); /* each may become one that is wanted */
    if (status == CTOK_OK) status = give_all(&x, found);
    search_free(&x);
    return status;
}
