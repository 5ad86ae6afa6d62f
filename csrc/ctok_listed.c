#include "ctok_listed.h"

#include "ctok_mem.h"

#define DEEPEST 64 /* halves of halves that are asked for one token */

ctok_status ctok_listed_init(ctok_listed *l, const ctok_vocab *v, const uint32_t *pairs, const ctok_id *joined, size_t n, uint8_t *known) {
    l->known = known;
    l->halves = ctok_mem_alloc(v->n_ids, sizeof *l->halves);
    if (l->halves == NULL) return CTOK_ERR_MEMORY;
    memset(l->halves, 0xFF, v->n_ids * sizeof *l->halves);
    for (size_t i = 0; i < n; i++) { /* merges of one token stand side by side */
        const int again = (i > 0 && joined[i - 1] == joined[i]) || (i + 1 < n && joined[i + 1] == joined[i]);
        if (!again) l->halves[joined[i]] = (uint64_t)pairs[2 * i] << 32 | pairs[2 * i + 1];
    }
    for (int b = 0; b < 256; b++) {
        l->halves[v->byte_id[b]] = CTOK_LISTED_WHOLE;
        known[v->byte_id[b]] = CTOK_LISTED_REGULAR;
    }
    return CTOK_OK;
}

void ctok_listed_free(ctok_listed *l) {
    ctok_mem_free(l->halves);
    l->halves = NULL;
}

/* When a symbol comes about: 0 a byte, which is there from the start; else 1 + its rank. */
static uint32_t birth(const ctok_listed *l, ctok_id id) { return l->halves[id] == CTOK_LISTED_WHOLE ? 0 : id + 1; }

/* What is known of the bytes on both sides of the border between the left half of a token and the right one. */
static const ctok_byte_pair *at_border(const ctok_vocab *v, ctok_id left, ctok_id id) {
    const uint8_t *border = v->bytes + v->by_id[id].begin + v->by_id[left].len;
    return &v->pairs[border[-1] | border[0] << 8];
}

/* When the earliest of all merges comes about that join across this border; 0: not known. */
static uint32_t earliest(const ctok_vocab *v, ctok_id left, ctok_id id) {
    return v->has_hidden ? 0 : at_border(v, left, id)->crossing + 1;
}

/* Two symbols on both sides of a border, and when the next merge of each takes it away. */
typedef struct sides {
    ctok_id left, right;
    uint32_t dies_left, dies_right;
} sides;

/* Go back to the pair that was there before this one; 0: both are bytes, which were always there. */
static int step_back(const ctok_listed *l, sides *s) {
    const uint32_t born_left = birth(l, s->left), born_right = birth(l, s->right);
    if (born_left > born_right) {
        s->dies_left = born_left;
        s->left = (ctok_id)l->halves[s->left];
    } else if (born_right) {
        s->dies_right = born_right;
        s->right = (ctok_id)(l->halves[s->right] >> 32);
    } else return 0;
    return 1;
}

/* Does no pair join across the border of two regular tokens before both of them are done and `id` joins them? At equal rank the merge further
 * left comes first. */
static int border_holds(const ctok_vocab *v, const ctok_listed *l, ctok_id left, ctok_id right, ctok_id id) {
    const uint32_t first = earliest(v, left, id);
    sides s = {left, right, id + 1, id + 1};
    while (step_back(l, &s)) { /* from the pair that `id` joins */
        if (first >= s.dies_left || first > s.dies_right) return 1;
        const ctok_id joined = ctok_joins_get(&v->joins, ctok_joins_key(s.left, s.right));
        if (joined != CTOK_NO_ID && joined + 1 < s.dies_left && joined + 1 <= s.dies_right) return 0;
    }
    return 1;
}

void ctok_listed_fetch_border(const ctok_vocab *v, ctok_id id) {
    const ctok_listed *l = v->listed;
    sides s = {(ctok_id)(l->halves[id] >> 32), (ctok_id)l->halves[id], 0, 0};
    if (!v->has_hidden) CTOK_PREFETCH(at_border(v, s.left, id));
    if (step_back(l, &s)) ctok_joins_fetch(&v->joins, ctok_joins_key(s.left, s.right));
}

static int is_regular(const ctok_vocab *v, const ctok_listed *l, ctok_id id, int depth) {
    if (l->known[id] != CTOK_LISTED_UNKNOWN) return l->known[id] == CTOK_LISTED_REGULAR;
    if (l->halves[id] == CTOK_LISTED_WHOLE || depth == DEEPEST) return 0;
    const ctok_id left = (ctok_id)(l->halves[id] >> 32), right = (ctok_id)l->halves[id];
    if (birth(l, left) > id || birth(l, right) > id) return 0; /* not ascending */
    if (!is_regular(v, l, left, depth + 1) || !is_regular(v, l, right, depth + 1)) return 0;
    if (!border_holds(v, l, left, right, id)) return 0;
    l->known[id] = CTOK_LISTED_REGULAR;
    return 1;
}

int ctok_listed_learn(const ctok_vocab *v, ctok_id id) { return is_regular(v, v->listed, id, 0); }
