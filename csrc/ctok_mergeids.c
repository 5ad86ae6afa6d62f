/* ctok_mergeids.c - see ctok_mergeids.h. */
#include "ctok_mergeids.h"

#include "ctok_mem.h"

static ctok_status make_room(ctok_mergeids *m) {
    if (m->cap - m->n >= CTOK_MERGE_BLOCK) return CTOK_OK;
    if (m->cap > UINT32_MAX / 4) return CTOK_ERR_MEMORY;
    const uint32_t cap = m->cap ? 2 * m->cap : 8192;
    uint32_t *pairs = ctok_mem_resize(m->pairs, cap, 2 * sizeof *pairs);
    if (!pairs) return CTOK_ERR_MEMORY;
    m->pairs = pairs;
    m->cap = cap;
    return CTOK_OK;
}

/* What a look-up will touch after its slot, asked for in time. */
static void fetch_ahead(const ctok_mergeids *m, const ctok_texttable *t) {
    uint32_t entry[2 * CTOK_MERGE_BLOCK];
    for (unsigned i = 0; i < m->n_waiting; i++) {
        const uint32_t hash = m->waiting[i].hash;
        const ctok_text_slot *slot = &t->slots[hash & t->mask];
        for (unsigned k = 1; slot->entry && slot->hash != hash && k < 8; k++) slot = &t->slots[(hash + k) & t->mask];
        entry[i] = slot->entry ? slot->entry - 1 : 0;
        CTOK_PREFETCH(&t->entries[entry[i]]);
    }
    for (unsigned i = 0; t->n && i < m->n_waiting; i++) CTOK_PREFETCH(t->bytes + t->entries[entry[i]].text.begin);
}

ctok_status ctok_mergeids_flush(ctok_mergeids *m, const ctok_texttable *t) {
    if (make_room(m) != CTOK_OK) return CTOK_ERR_MEMORY;
    uint32_t *out = m->pairs + 2 * (size_t)m->n;
    if (m->n_waiting) fetch_ahead(m, t);
    for (unsigned i = 0; i < m->n_waiting; i++) {
        const ctok_merge_text *w = &m->waiting[i];
        out[i] = ctok_texttable_find(t, w->at, w->len, w->hash);
        if (CTOK_UNLIKELY(out[i] == CTOK_TEXT_NONE)) {
            m->bad = m->n + i / 2;
            m->bad_side = (int)(i & 1);
            return CTOK_ERR_FORMAT;
        }
    }
    m->n += m->n_waiting / 2;
    m->n_waiting = 0;
    return CTOK_OK;
}

/* Whether entry i, if there is one, is left and right joined. */
static int is_joined(const ctok_texttable *t, uint32_t i, const uint8_t *left, size_t n_left, const uint8_t *right, size_t n_right) {
    if (i >= t->n || t->entries[i].text.len != n_left + n_right) return 0;
    const uint8_t *p = t->bytes + t->entries[i].text.begin;
    return ctok_text_same(p, left, n_left) && ctok_text_same(p + n_left, right, n_right);
}

typedef struct joiner {
    uint8_t *room;
    size_t cap;
} joiner;

/* The entry of left and right joined, or CTOK_TEXT_NONE; *status tells when there is no memory. */
static uint32_t find_joined(joiner *j, const ctok_texttable *t, const uint8_t *left, size_t n_left, const uint8_t *right, size_t n_right,
                            ctok_status *status) {
    const size_t n = n_left + n_right;
    if (n > j->cap) {
        uint8_t *room = ctok_mem_resize(j->room, 2 * n, 1);
        if (!room) {
            *status = CTOK_ERR_MEMORY;
            return CTOK_TEXT_NONE;
        }
        j->room = room;
        j->cap = 2 * n;
    }
    memcpy(j->room, left, n_left);
    memcpy(j->room + n_left, right, n_right);
    return ctok_texttable_find(t, j->room, n, ctok_text_hash(j->room, n));
}

/* The entries of the pair 16 further on, and the texts of the one 8 further on. */
static void fetch_pair(const ctok_texttable *t, const uint32_t *pair) {
    CTOK_PREFETCH(&t->entries[pair[32]]);
    CTOK_PREFETCH(&t->entries[pair[33]]);
    CTOK_PREFETCH(t->bytes + t->entries[pair[16]].text.begin);
    CTOK_PREFETCH(t->bytes + t->entries[pair[17]].text.begin);
}

ctok_status ctok_mergeids_check(ctok_mergeids *m, const ctok_texttable *t, size_t prefix) {
    joiner j = {0};
    ctok_status status = CTOK_OK;
    uint32_t guess = 0; /* most lists follow the order of the vocabulary: the entry of the merge before, or the next one */
    for (uint32_t k = 0; k < m->n && status == CTOK_OK; k++) {
        const uint32_t *pair = m->pairs + 2 * (size_t)k;
        if (m->n - k > 16) fetch_pair(t, pair);
        const ctok_bytestring a = t->entries[pair[0]].text, b = t->entries[pair[1]].text;
        uint32_t found = CTOK_TEXT_NONE;
        if (b.len >= prefix) {
            const uint8_t *left = t->bytes + a.begin, *right = t->bytes + b.begin + prefix;
            if (is_joined(t, guess, left, a.len, right, b.len - prefix)) continue;
            found = is_joined(t, guess + 1, left, a.len, right, b.len - prefix)
                        ? guess + 1
                        : find_joined(&j, t, left, a.len, right, b.len - prefix, &status);
        }
        if (found == CTOK_TEXT_NONE) {
            m->bad = k;
            m->bad_side = 2;
            if (status == CTOK_OK) status = CTOK_ERR_FORMAT;
        }
        guess = found;
    }
    ctok_mem_free(j.room);
    return status;
}

void ctok_mergeids_write(const ctok_mergeids *m, const ctok_texttable *t, uint8_t *out) {
    for (size_t i = 0; i < 2 * (size_t)m->n; i++) ctok_le32_put(out + 4 * i, t->entries[m->pairs[i]].id);
}

void ctok_mergeids_free(ctok_mergeids *m) {
    ctok_mem_free(m->pairs);
    ctok_mergeids_init(m);
}
