/* ctok_texttable.c - see ctok_texttable.h. */
#include "ctok_texttable.h"

#include "ctok_mem.h"

uint8_t *ctok_texttable_room(ctok_texttable *t, size_t n) {
    if (t->cap_bytes - t->n_bytes < n || !t->bytes) {
        size_t cap = t->cap_bytes ? t->cap_bytes : 65536;
        while (cap - t->n_bytes < n) {
            if (cap > SIZE_MAX / 2) return NULL;
            cap *= 2;
        }
        uint8_t *bytes = ctok_mem_resize(t->bytes, cap, 1);
        if (!bytes) return NULL;
        t->bytes = bytes;
        t->cap_bytes = cap;
    }
    return t->bytes + t->n_bytes;
}

ctok_status ctok_texttable_push(ctok_texttable *t, size_t n, uint32_t id) {
    if (t->n == t->cap) {
        if (t->cap > UINT32_MAX / 4) return CTOK_ERR_MEMORY;
        const uint32_t cap = t->cap ? 2 * t->cap : 4096;
        ctok_text_entry *entries = ctok_mem_resize(t->entries, cap, sizeof *entries);
        if (!entries) return CTOK_ERR_MEMORY;
        t->entries = entries;
        t->cap = cap;
    }
    if (t->n_bytes + n > UINT32_MAX) return CTOK_ERR_MEMORY;
    t->entries[t->n++] = (ctok_text_entry){{(uint32_t)t->n_bytes, (uint32_t)n}, id};
    t->n_bytes += n;
    return CTOK_OK;
}

static void free_slots(ctok_texttable *t) {
    ctok_mem_unblock(t->slots, ((size_t)t->mask + 1) * sizeof *t->slots);
    t->slots = NULL;
}

static ctok_text_key key_of(const ctok_texttable *t, uint32_t i) {
    const ctok_bytestring text = t->entries[i].text;
    return ctok_text_key_of(t->bytes + text.begin, text.len, t->cap_bytes - text.begin);
}

/* The slot where a text is, or the empty one where it belongs; NULL when too many were passed. */
static ctok_text_slot *slot_of(const ctok_texttable *t, const ctok_bytestring *text, const ctok_text_key *key) {
    for (uint32_t i = 0; i < CTOK_TEXT_PROBES; i++) {
        ctok_text_slot *slot = &t->slots[(key->hash + i) & t->mask];
        if (slot->entry == 0 || ctok_text_is(t, slot, t->bytes + text->begin, text->len, key)) return slot;
    }
    return NULL;
}

/* Enter the text of entry i, which becomes entry *kept if it stays. Returns 0 where too many share its hash. */
static int enter(ctok_texttable *t, uint32_t i, const ctok_text_key *key, int keep_twice, uint32_t *kept) {
    const ctok_text_entry e = t->entries[i];
    ctok_text_slot *slot = slot_of(t, &e.text, key);
    if (!slot) return 0;
    if (slot->entry && !keep_twice) {
        t->entries[slot->entry - 1].id = e.id;
        return 1;
    }
    t->entries[(*kept)++] = e;
    *slot = (ctok_text_slot){.words = {key->words[0], key->words[1]}, .hash = key->hash, .entry = *kept};
    return 1;
}

ctok_status ctok_texttable_index(ctok_texttable *t, int keep_twice, int *crowded) {
    enum { AHEAD = 16 };
    ctok_text_key keys[AHEAD];
    uint64_t size = 16;
    uint32_t kept = 0;
    *crowded = 0;
    while (2 * size < 3 * (uint64_t)t->n) size *= 2;
    t->slots = ctok_mem_block((size_t)size * sizeof *t->slots);
    if (!t->slots) return CTOK_ERR_MEMORY;
    t->mask = (uint32_t)(size - 1);
    for (uint32_t i = 0; i < t->n + AHEAD; i++) {
        if (i >= AHEAD && !enter(t, i - AHEAD, &keys[i % AHEAD], keep_twice, &kept)) {
            *crowded = 1;
            free_slots(t);
            return CTOK_OK;
        }
        if (i >= t->n) continue;
        keys[i % AHEAD] = key_of(t, i);
        ctok_texttable_fetch(t, &keys[i % AHEAD]);
    }
    t->n = kept;
    return CTOK_OK;
}

size_t ctok_texttable_size(const ctok_texttable *t) {
    size_t total = 0;
    for (uint32_t i = 0; i < t->n; i++) total += t->entries[i].text.len;
    return total;
}

ctok_status ctok_texttable_write(const ctok_texttable *t, uint8_t *data, uint8_t *ends, uint8_t *ids) {
    enum { AHEAD = 16, SHORT = 16 };
    const size_t size = ((size_t)t->n + 1) * 2 * sizeof(ctok_sortkey), n_data = ctok_texttable_size(t);
    ctok_sortkey *room = ctok_mem_block(size);
    uint32_t total = 0;
    if (!room) return CTOK_ERR_MEMORY;
    const ctok_sortkey *sorted = ctok_bytesort(t->bytes, t->entries, sizeof *t->entries, t->n, room, room + t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        const ctok_text_entry *e = &t->entries[sorted[i].at];
        const uint8_t *text = t->bytes + e->text.begin;
        if (i + 2 * AHEAD < t->n) CTOK_PREFETCH(&t->entries[sorted[i + 2 * AHEAD].at]);
        if (i + AHEAD < t->n) CTOK_PREFETCH(t->bytes + t->entries[sorted[i + AHEAD].at].text.begin);
        if (CTOK_LIKELY(e->text.len <= SHORT && n_data - total >= SHORT && t->cap_bytes - e->text.begin >= SHORT)) {
            memcpy(data + total, text, SHORT); /* overshoots into what is written next, but needs no call */
        } else {
            memcpy(data + total, text, e->text.len);
        }
        total += e->text.len;
        ctok_le32_put(ends + 4 * (size_t)i, total);
        ctok_le32_put(ids + 4 * (size_t)i, e->id);
    }
    ctok_mem_unblock(room, size);
    return CTOK_OK;
}

void ctok_texttable_free(ctok_texttable *t) {
    ctok_mem_free(t->bytes);
    ctok_mem_free(t->entries);
    free_slots(t);
    *t = (ctok_texttable){0};
}
