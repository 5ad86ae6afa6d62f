/* ctok_mergeids.c - see ctok_mergeids.h. */
#include "ctok_mergeids.h"

#include "ctok_mem.h"

/* A larger block with what is in the old one, which stays. */
static uint32_t *larger(const uint32_t *old, size_t n_old, size_t n) {
    uint32_t *room = ctok_mem_block(n * sizeof *room);
    if (room && n_old) memcpy(room, old, n_old * sizeof *room);
    return room;
}

static void free_room(ctok_mergeids *m) {
    ctok_mem_unblock(m->pairs, 2 * (size_t)m->cap * sizeof *m->pairs);
    ctok_mem_unblock(m->joined, (size_t)m->cap * sizeof *m->joined);
}

static ctok_status make_room(ctok_mergeids *m) {
    if (m->cap - m->n >= CTOK_MERGE_BLOCK) return CTOK_OK;
    if (m->cap > UINT32_MAX / 4) return CTOK_ERR_MEMORY;
    uint32_t cap = m->cap ? 2 * m->cap : 8192;
    if (cap < m->expected && m->expected <= UINT32_MAX / 4) cap = m->expected;
    uint32_t *pairs = larger(m->pairs, 2 * (size_t)m->n, 2 * (size_t)cap);
    if (!pairs) return CTOK_ERR_MEMORY;
    uint32_t *joined = larger(m->joined, m->n, cap);
    if (!joined) {
        ctok_mem_unblock(pairs, 2 * (size_t)cap * sizeof *pairs);
        return CTOK_ERR_MEMORY;
    }
    free_room(m);
    m->pairs = pairs;
    m->joined = joined;
    m->cap = cap;
    return CTOK_OK;
}

/* Whether entry i, if there is one, is left and right joined. */
static inline int is_joined(const ctok_texttable *t, uint32_t i, const ctok_merge_text *left, const ctok_merge_text *right) {
    if (i >= t->n) return 0;
    const ctok_bytestring text = t->entries[i].text;
    const uint8_t *p = t->bytes + text.begin;
    if (CTOK_LIKELY(left->len <= CTOK_KEY_BYTES && right->len <= CTOK_KEY_BYTES && t->cap_bytes - text.begin > 2 * CTOK_KEY_BYTES + 1)) {
        uint64_t a[2], b[2];
        ctok_key_roomy(p, left->len, a);
        ctok_key_roomy(p + left->len, right->len, b);
        return ((uint64_t)(text.len ^ (left->len + right->len)) | (a[0] ^ left->key.words[0]) | (a[1] ^ left->key.words[1]) |
                (b[0] ^ right->key.words[0]) | (b[1] ^ right->key.words[1])) == 0;
    }
    return text.len == (size_t)left->len + right->len && ctok_text_same(p, left->at, left->len) &&
           ctok_text_same(p + left->len, right->at, right->len);
}

static ctok_status room_for(ctok_mergeids *m, const ctok_merge_text *texts, unsigned n) {
    size_t size = 0;
    for (unsigned i = 0; i < n; i++) size += texts[i].len;
    if (size <= m->room_cap) return CTOK_OK;
    uint8_t *room = ctok_mem_resize(m->room, 2 * size, 1);
    if (!room) return CTOK_ERR_MEMORY;
    m->room = room;
    m->room_cap = 2 * size;
    return CTOK_OK;
}

/* The entries that a block of n merges gives, left and right text in turn: the same as before, the next one, or looked up. */
static ctok_status join(ctok_mergeids *m, const ctok_texttable *t, const ctok_merge_text *sides, unsigned n, uint32_t *joined) {
    ctok_merge_text sought[CTOK_MERGE_BLOCK];
    unsigned places[CTOK_MERGE_BLOCK], n_sought = 0;
    if (room_for(m, sides, 2 * n) != CTOK_OK) return CTOK_ERR_MEMORY;
    uint8_t *to = m->room;
    for (unsigned i = 0; i < n; i++, sides += 2) {
        /* One more merge of a token, or the first of the next one: which it is cannot be guessed. */
        const int same = is_joined(t, m->near, sides, sides + 1), next = is_joined(t, m->near + 1, sides, sides + 1);
        m->near += (uint32_t)(next & ~same);
        joined[i] = m->near;
        if (CTOK_LIKELY(same | next)) continue;
        if (sides[0].len) memcpy(to, sides[0].at, sides[0].len);
        if (sides[1].len) memcpy(to + sides[0].len, sides[1].at, sides[1].len);
        const uint32_t len = sides[0].len + sides[1].len;
        sought[n_sought] = ctok_merge_text_of(to, len, (size_t)(m->room + m->room_cap - to));
        ctok_texttable_fetch(t, &sought[n_sought].key);
        places[n_sought++] = i;
        to += len;
    }
    for (unsigned i = 0; i < n_sought; i++) joined[places[i]] = ctok_texttable_find(t, sought[i].at, sought[i].len, &sought[i].key);
    if (n_sought && joined[n - 1] != CTOK_TEXT_NONE) m->near = joined[n - 1];
    return CTOK_OK;
}

ctok_status ctok_mergeids_flush(ctok_mergeids *m, const ctok_texttable *t) {
    if (make_room(m) != CTOK_OK) return CTOK_ERR_MEMORY;
    uint32_t *out = m->pairs + 2 * (size_t)m->n;
    if (m->n_waiting == 0) return CTOK_OK;
    for (unsigned i = 0; i < m->n_waiting; i++) {
        const ctok_merge_text *w = &m->waiting[i];
        out[i] = ctok_texttable_find(t, w->at, w->len, &w->key);
        if (CTOK_UNLIKELY(out[i] == CTOK_TEXT_NONE)) {
            m->bad = m->n + i / 2;
            m->bad_side = (int)(i & 1);
            return CTOK_ERR_FORMAT;
        }
    }
    const ctok_status status = join(m, t, m->waiting, m->n_waiting / 2, m->joined + m->n);
    m->n += m->n_waiting / 2;
    m->n_waiting = 0;
    return status;
}

/* What the merges give once more, now that it is known what their right texts lose. */
static ctok_status join_without(ctok_mergeids *m, const ctok_texttable *t, size_t prefix) {
    ctok_status status = CTOK_OK;
    for (uint32_t k = 0; k < m->n && status == CTOK_OK; k++) {
        const ctok_bytestring a = t->entries[m->pairs[2 * (size_t)k]].text, b = t->entries[m->pairs[2 * (size_t)k + 1]].text;
        m->joined[k] = CTOK_TEXT_NONE;
        if (b.len < prefix) continue;
        const uint8_t *left = t->bytes + a.begin, *right = t->bytes + b.begin + prefix, *end = t->bytes + t->n_bytes;
        const ctok_merge_text sides[2] = {
            ctok_merge_text_of(left, a.len, (size_t)(end - left)), ctok_merge_text_of(right, b.len - prefix, (size_t)(end - right))};
        status = join(m, t, sides, 1, &m->joined[k]);
    }
    return status;
}

ctok_status ctok_mergeids_check(ctok_mergeids *m, const ctok_texttable *t, size_t prefix) {
    const ctok_status status = prefix ? join_without(m, t, prefix) : CTOK_OK;
    for (uint32_t k = 0; k < m->n && status == CTOK_OK; k++) {
        if (m->joined[k] == CTOK_TEXT_NONE) {
            m->bad = k;
            m->bad_side = 2;
            return CTOK_ERR_FORMAT;
        }
    }
    return status;
}

/* Entries become their ids in place. */
static uint8_t *to_ids(const ctok_texttable *t, uint32_t *entries, size_t n) {
    uint8_t *out = (uint8_t *)entries;
    for (size_t i = 0; i < n; i++) ctok_le32_put(out + 4 * i, t->entries[entries[i]].id);
    return out;
}

/* The same where they stand in the order of their ids, which begin with 0, as in most files. */
static uint8_t *to_same_ids(uint32_t *entries, size_t n) {
    uint8_t *out = (uint8_t *)entries;
    for (size_t i = 0; i < n; i++) ctok_le32_put(out + 4 * i, entries[i]);
    return out;
}

ctok_mergeids_given ctok_mergeids_give(ctok_mergeids *m, const ctok_texttable *t) {
    const size_t n = m->n, cap = m->cap;
    uint32_t k = 0;
    while (k < t->n && t->entries[k].id == k) k++;
    const int same = k == t->n;
    const ctok_mergeids_given given = {
        .pairs = same ? to_same_ids(m->pairs, 2 * n) : to_ids(t, m->pairs, 2 * n), .n_pairs = 2 * cap * sizeof *m->pairs,
        .joined = same ? to_same_ids(m->joined, n) : to_ids(t, m->joined, n), .n_joined = cap * sizeof *m->joined};
    m->pairs = m->joined = NULL;
    m->n = m->cap = 0;
    return given;
}

void ctok_mergeids_free(ctok_mergeids *m) {
    free_room(m);
    ctok_mem_free(m->room);
    ctok_mergeids_init(m);
}
