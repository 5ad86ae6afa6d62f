#include "ctok_piecepairs.h"

#include "ctok_bytesort.h"
#include "ctok_mem.h"

/* ---- ranks ---- */

/* A number that is the lower the higher the score is, and equal for equal ones. */
static uint32_t order_of(float score) {
    const float x = score + 0.0f; /* one zero */
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 31 ? bits : ~bits & INT32_MAX;
}

ctok_status ctok_piece_ranks(const float *scores, uint32_t n, uint32_t *ranks) {
    uint32_t k = 1;
    if (n) ranks[0] = 0;
    for (; k < n && scores[k] <= scores[k - 1]; k++) ranks[k] = ranks[k - 1] + (scores[k] < scores[k - 1]);
    if (k >= n) return CTOK_OK;
    const size_t bytes = 2 * (size_t)n * sizeof(ctok_sortkey);
    ctok_sortkey *keys = ctok_mem_room(bytes);
    if (keys == NULL) return CTOK_ERR_MEMORY;
    for (k = 0; k < n; k++) keys[k] = (ctok_sortkey){order_of(scores[k]), k};
    const ctok_sortkey *sorted = ctok_sort_keys(keys, keys + n, n, 32);
    for (uint32_t rank = k = 0; k < n; k++) {
        if (k && sorted[k].key != sorted[k - 1].key) rank++;
        ranks[sorted[k].at] = rank;
    }
    ctok_mem_unroom(keys, bytes);
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

static void list_free(pair_list *l) {
    ctok_mem_unroom(l->at, l->cap * sizeof *l->at);
}

static ctok_status list_push(pair_list *l, ctok_pair pair) {
    if (CTOK_UNLIKELY(l->n == l->cap)) {
        pair_list more = {.n = l->n, .cap = l->cap * 2};
        more.at = ctok_mem_room(more.cap * sizeof *more.at);
        if (more.at == NULL) return CTOK_ERR_MEMORY;
        memcpy(more.at, l->at, l->n * sizeof *l->at);
        list_free(l);
        *l = more;
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
    pair_list l = {.cap = 3 * (size_t)v->n_tokens + 64}; /* as a rule a piece can be cut twice */
    l.at = ctok_mem_room(l.cap * sizeof *l.at);
    uint32_t *stack = ctok_mem_alloc((size_t)v->n_tokens + 1, sizeof *stack);
    memset(m, 0, sizeof *m);
    ctok_status status = stack == NULL || l.at == NULL ? CTOK_ERR_MEMORY : list_pairs(v, ranks, stack, &l);
    if (status == CTOK_OK) {
        m->bits = 4;
        while (((size_t)1 << m->bits) * 6 < l.n * 10) m->bits++;
        m->bytes = ((size_t)1 << m->bits) * sizeof *m->slots;
        m->slots = ctok_mem_block(m->bytes);
        if (m->slots == NULL) status = CTOK_ERR_MEMORY;
        else insert_all(m, &l);
    }
    ctok_mem_free(stack);
    list_free(&l);
    return status;
}
