#include "ctok_pairmap.h"

#include "ctok_mem.h"

enum { AHEAD = 16, SMALL = 512 };

static int is_known(const ctok_vocab *v, ctok_id id) {
    return id < v->n_ids && v->by_id[id].flags & CTOK_TOKEN_KNOWN;
}

/* Is the token `id` the text of a and then that of b? */
static int is_joined(const ctok_vocab *v, ctok_id id, const uint8_t *a, size_t na, const uint8_t *b, size_t nb) {
    if (!is_known(v, id) || v->by_id[id].len != na + nb) return 0;
    const uint8_t *p = v->bytes + v->by_id[id].begin;
    return memcmp(p, a, na) == 0 && memcmp(p + na, b, nb) == 0;
}

static ctok_status look_up(const ctok_vocab *v, const uint8_t *a, size_t na, const uint8_t *b, size_t nb, ctok_id *id) {
    uint8_t small[SMALL], *text = small;
    *id = CTOK_NO_ID;
    if (na + nb == 0 || na + nb > v->longest) return CTOK_OK;
    if (na + nb > SMALL) {
        text = ctok_mem_alloc(na + nb, 1);
        if (text == NULL) return CTOK_ERR_MEMORY;
    }
    memcpy(text, a, na);
    memcpy(text + na, b, nb);
    *id = ctok_vocab_find(v, text, na + nb);
    if (text != small) ctok_mem_free(text);
    return CTOK_OK;
}

/* The token that a merge gives. Most often it is that of the merge before, or the next id: *near, which is kept up to date. */
static ctok_status find_joined(const ctok_vocab *v, ctok_id left, ctok_id right, size_t prefix, ctok_id *near, int *hollow) {
    if (!is_known(v, left) || !is_known(v, right) || v->by_id[right].len < prefix) return CTOK_ERR_FORMAT;
    const uint8_t *a = v->bytes + v->by_id[left].begin, *b = v->bytes + v->by_id[right].begin + prefix;
    const size_t na = v->by_id[left].len, nb = v->by_id[right].len - prefix;
    *hollow |= nb == 0;
    if (is_joined(v, *near, a, na, b, nb)) return CTOK_OK;
    if (is_joined(v, *near + 1, a, na, b, nb)) {
        ++*near;
        return CTOK_OK;
    }
    const ctok_status status = look_up(v, a, na, b, nb, near);
    return status == CTOK_OK && *near == CTOK_NO_ID ? CTOK_ERR_FORMAT : status;
}

/* The lengths of tokens, a byte each, so that all of them stay near: 1 more than the length, or LONG; 0 where there is no token. */
enum { LONG = 255 };

static uint8_t *new_lengths(const ctok_vocab *v) {
    uint8_t *lengths = ctok_mem_alloc(v->n_ids, 1);
    for (ctok_id id = 0; lengths && id < v->n_ids; id++) {
        const ctok_token t = v->by_id[id];
        lengths[id] = !(t.flags & CTOK_TOKEN_KNOWN) ? 0 : t.len < LONG - 1 ? (uint8_t)(t.len + 1) : LONG;
    }
    return lengths;
}

static size_t length_of(const ctok_vocab *v, const uint8_t *lengths, ctok_id id) {
    return lengths[id] == LONG ? v->by_id[id].len : (size_t)lengths[id] - 1;
}

/* Can `joined` be what the merge gives? Where an id shows only one of its tokens, that is taken on trust. */
static ctok_status accept(const ctok_vocab *v, const uint8_t *lengths, ctok_id left, ctok_id right, ctok_id joined, size_t prefix, int *hollow) {
    if (left >= v->n_ids || right >= v->n_ids || joined >= v->n_ids) return CTOK_ERR_FORMAT;
    if (!lengths[left] || !lengths[right] || !lengths[joined]) return CTOK_ERR_FORMAT;
    const size_t n_right = length_of(v, lengths, right);
    *hollow |= n_right == prefix;
    if (v->has_hidden) return CTOK_OK;
    return n_right >= prefix && length_of(v, lengths, joined) == length_of(v, lengths, left) + n_right - prefix ? CTOK_OK : CTOK_ERR_FORMAT;
}

static void insert(ctok_pairmap *m, uint64_t key, uint32_t rank, ctok_id joined) {
    const size_t mask = ((size_t)1 << m->bits) - 1;
    size_t at = ctok_pairmap_place(m, key);
    while (m->slots[at].key != 0 && m->slots[at].key != key) at = (at + 1) & mask;
    m->slots[at] = (ctok_pair){key, rank, joined};
}

/* Begin to fetch what the merges from..from + AHEAD will touch: first where texts stand, AHEAD merges later the texts and the slots. */
static void fetch_ahead(const ctok_pairmap *m, const ctok_vocab *v, const uint32_t *pairs, size_t from, size_t n) {
    for (size_t i = 2 * from; i < 2 * n && i < 2 * (from + AHEAD); i++)
        if (pairs[i] < v->n_ids) CTOK_PREFETCH(&v->by_id[pairs[i]]);
    for (size_t i = from < AHEAD ? 0 : from - AHEAD; i < n && i < from; i++) {
        const ctok_id left = pairs[2 * i], right = pairs[2 * i + 1];
        ctok_pairmap_prefetch(m, left, right);
        if (left < v->n_ids) CTOK_PREFETCH(v->bytes + v->by_id[left].begin);
        if (right < v->n_ids) CTOK_PREFETCH(v->bytes + v->by_id[right].begin);
    }
}

/* Enter all merges, of which nothing but the pair is known. */
static ctok_status fill(ctok_pairmap *m, const ctok_vocab *v, const uint32_t *pairs, size_t n, size_t prefix, size_t *bad) {
    ctok_id near = 0;
    fetch_ahead(m, v, pairs, 0, n);
    fetch_ahead(m, v, pairs, AHEAD, n);
    for (size_t i = 0; i < n; i++) {
        if (i % AHEAD == 0) fetch_ahead(m, v, pairs, i + 2 * AHEAD, n);
        const ctok_status status = find_joined(v, pairs[2 * i], pairs[2 * i + 1], prefix, &near, &m->hollow);
        *bad = i;
        if (status != CTOK_OK) return status;
        insert(m, ctok_pair_key(pairs[2 * i], pairs[2 * i + 1]), (uint32_t)i, near);
    }
    return CTOK_OK;
}

/* Enter all merges, of which is known what they give. */
static ctok_status fill_known(ctok_pairmap *m, const ctok_vocab *v, const uint32_t *pairs, const ctok_id *joined, size_t n, size_t prefix,
                              size_t *bad) {
    uint8_t *lengths = new_lengths(v);
    ctok_status status = lengths ? CTOK_OK : CTOK_ERR_MEMORY;
    for (size_t i = 0; i < n && i < AHEAD; i++) ctok_pairmap_prefetch(m, pairs[2 * i], pairs[2 * i + 1]);
    for (size_t i = 0; i < n && status == CTOK_OK; i++) {
        if (i + AHEAD < n) ctok_pairmap_prefetch(m, pairs[2 * (i + AHEAD)], pairs[2 * (i + AHEAD) + 1]);
        *bad = i;
        status = accept(v, lengths, pairs[2 * i], pairs[2 * i + 1], joined[i], prefix, &m->hollow);
        if (status == CTOK_OK) insert(m, ctok_pair_key(pairs[2 * i], pairs[2 * i + 1]), (uint32_t)i, joined[i]);
    }
    ctok_mem_free(lengths);
    return status;
}

ctok_status ctok_pairmap_init(ctok_pairmap *m, const ctok_vocab *v, const uint32_t *pairs, const ctok_id *joined, size_t n, size_t prefix,
                              size_t *bad) {
    memset(m, 0, sizeof *m);
    *bad = 0;
    if (n >= INT32_MAX) return CTOK_ERR_MEMORY;
    m->bits = 4;
    while (((size_t)1 << m->bits) * 6 < n * 10) m->bits++;
    m->bytes = ((size_t)1 << m->bits) * sizeof *m->slots;
    m->slots = ctok_mem_block(m->bytes);
    if (m->slots == NULL) return CTOK_ERR_MEMORY;
    const ctok_status status = joined ? fill_known(m, v, pairs, joined, n, prefix, bad) : fill(m, v, pairs, n, prefix, bad);
    if (status != CTOK_OK) ctok_pairmap_free(m);
    return status;
}

void ctok_pairmap_free(ctok_pairmap *m) {
    ctok_mem_unblock(m->slots, m->bytes);
    memset(m, 0, sizeof *m);
}
