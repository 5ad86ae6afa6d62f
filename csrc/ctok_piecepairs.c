#include "ctok_piecepairs.h"

#include <stdlib.h>

#include "ctok_mem.h"

/* ---- ranks ---- */

typedef struct scored {
    float score;
    uint32_t at;
} scored;

static int higher_first(const void *a, const void *b) {
    const scored *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

ctok_status ctok_piece_ranks(const float *scores, uint32_t n, uint32_t *ranks) {
    uint32_t k = 1;
    if (n) ranks[0] = 0;
    for (; k < n && scores[k] <= scores[k - 1]; k++) ranks[k] = ranks[k - 1] + (scores[k] < scores[k - 1]);
    if (k >= n) return CTOK_OK;
    scored *order = ctok_mem_alloc(n, sizeof *order);
    if (order == NULL) return CTOK_ERR_MEMORY;
    for (k = 0; k < n; k++) order[k] = (scored){scores[k], k};
    qsort(order, n, sizeof *order, higher_first);
    for (uint32_t rank = k = 0; k < n; k++) {
        if (k && order[k].score < order[k - 1].score) rank++;
        ranks[order[k].at] = rank;
    }
    ctok_mem_free(order);
    return CTOK_OK;
}

/* ---- pairs ---- */

enum { AHEAD = 16 };

typedef struct pair_list {
    ctok_pair *at;
    size_t n, cap;
} pair_list;

/* A piece cut in two, of which the left part is a symbol, and the key of the right one. */
typedef struct half {
    const uint8_t *right;
    uint64_t key[2];
    uint32_t n_right;
    ctok_id left, whole;
} half;

static ctok_status list_push(pair_list *l, ctok_pair pair) {
    if (l->n == l->cap) {
        const size_t cap = l->cap * 2 + 1024;
        ctok_pair *at = ctok_mem_resize(l->at, cap, sizeof *at);
        if (at == NULL) return CTOK_ERR_MEMORY;
        l->at = at;
        l->cap = cap;
    }
    l->at[l->n++] = pair;
    return CTOK_OK;
}

static ctok_status take_half(const ctok_vocab *v, const uint32_t *ranks, const half *h, pair_list *l) {
    const ctok_id right = h->n_right == 1 ? v->byte_id[h->right[0]] : ctok_vocab_find_key(v, h->right, h->n_right, h->key);
    if (right == CTOK_NO_ID) return CTOK_OK;
    return list_push(l, (ctok_pair){ctok_pair_key(h->left, right), ranks[h->whole], h->whole});
}

/* Make ready to look for the right part. (The vocabulary's texts are followed by CTOK_VOCAB_PAD bytes.) */
static void begin_half(const ctok_vocab *v, half *h) {
    if (h->n_right == 1) return;
    ctok_key_roomy(h->right, h->n_right, h->key);
    if (h->n_right <= CTOK_KEY_BYTES) CTOK_PREFETCH(&v->slots[ctok_vocab_place(v, ctok_vocab_hash(h->right, h->n_right, h->key))]);
}

/* Find all pairs. In byte order the symbols that a symbol begins with stand before it, each the beginning of the next: a stack. */
static ctok_status list_pairs(const ctok_vocab *v, const uint32_t *ranks, uint32_t *stack, pair_list *l) {
    half ring[AHEAD];
    size_t n_ring = 0, depth = 0;
    ctok_status status = CTOK_OK;
    for (uint32_t k = 0; k < v->n_tokens; k++) {
        const uint8_t *p = v->bytes + v->begin[k];
        const uint32_t n = v->begin[k + 1] - v->begin[k];
        while (depth) {
            const uint32_t top = stack[depth - 1], len = v->begin[top + 1] - v->begin[top];
            if (len < n && memcmp(v->bytes + v->begin[top], p, len) == 0) break;
            depth--;
        }
        for (size_t i = 0; i < depth && status == CTOK_OK; i++) {
            const uint32_t left = stack[i], len = v->begin[left + 1] - v->begin[left];
            half *h = &ring[n_ring % AHEAD];
            if (n_ring >= AHEAD) status = take_half(v, ranks, h, l);
            *h = (half){p + len, {0, 0}, n - len, v->id_of[left], v->id_of[k]};
            begin_half(v, h);
            n_ring++;
        }
        if (n) stack[depth++] = k;
    }
    for (size_t i = n_ring > AHEAD ? n_ring - AHEAD : 0; i < n_ring && status == CTOK_OK; i++)
        status = take_half(v, ranks, &ring[i % AHEAD], l);
    return status;
}

static void insert_all(ctok_pairmap *m, const pair_list *l) {
    const size_t mask = ((size_t)1 << m->bits) - 1;
    for (size_t i = 0; i < l->n; i++) {
        if (i + AHEAD < l->n) CTOK_PREFETCH(&m->slots[ctok_pairmap_place(m, l->at[i + AHEAD].key)]);
        size_t at = ctok_pairmap_place(m, l->at[i].key);
        while (m->slots[at].key != 0) at = (at + 1) & mask;
        m->slots[at] = l->at[i];
    }
}

ctok_status ctok_pairmap_pieces(ctok_pairmap *m, const ctok_vocab *v, const uint32_t *ranks) {
    pair_list l = {NULL, 0, 0};
    uint32_t *stack = ctok_mem_alloc((size_t)v->n_tokens + 1, sizeof *stack);
    memset(m, 0, sizeof *m);
    ctok_status status = stack == NULL ? CTOK_ERR_MEMORY : list_pairs(v, ranks, stack, &l);
    if (status == CTOK_OK) {
        m->bits = 4;
        while (((size_t)1 << m->bits) * 6 < l.n * 10) m->bits++;
        m->bytes = ((size_t)1 << m->bits) * sizeof *m->slots;
        m->slots = ctok_mem_block(m->bytes);
        if (m->slots == NULL) status = CTOK_ERR_MEMORY;
        else insert_all(m, &l);
    }
    ctok_mem_free(stack);
    ctok_mem_free(l.at);
    return status;
}
