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
    t->entries[t->n++] = (ctok_text_entry){{(uint32_t)t->n_bytes, (uint32_t)n}, id, ctok_text_hash(t->bytes + t->n_bytes, n)};
    t->n_bytes += n;
    return CTOK_OK;
}

/* The slot where an entry's text is, or the empty one where it belongs; NULL when too many were passed. */
static ctok_text_slot *slot_of(const ctok_texttable *t, const ctok_text_entry *e) {
    for (uint32_t i = 0; i < CTOK_TEXT_PROBES; i++) {
        ctok_text_slot *slot = &t->slots[(e->hash + i) & t->mask];
        if (slot->entry == 0) return slot;
        if (slot->hash != e->hash) continue;
        const ctok_text_entry *other = &t->entries[slot->entry - 1];
        if (other->text.len == e->text.len && ctok_text_same(t->bytes + other->text.begin, t->bytes + e->text.begin, e->text.len)) return slot;
    }
    return NULL;
}

ctok_status ctok_texttable_index(ctok_texttable *t, int keep_twice, int *crowded) {
    uint64_t size = 16;
    uint32_t kept = 0;
    *crowded = 0;
    while (size < 2 * (uint64_t)t->n) size *= 2;
    t->slots = ctok_mem_zeroed((size_t)size, sizeof *t->slots);
    if (!t->slots) return CTOK_ERR_MEMORY;
    t->mask = (uint32_t)(size - 1);
    for (uint32_t i = 0; i < t->n; i++) {
        if (i + 8 < t->n) CTOK_PREFETCH(&t->slots[t->entries[i + 8].hash & t->mask]);
        const ctok_text_entry e = t->entries[i];
        ctok_text_slot *slot = slot_of(t, &e);
        if (!slot) {
            *crowded = 1;
            ctok_mem_free(t->slots);
            t->slots = NULL;
            return CTOK_OK;
        }
        if (slot->entry && !keep_twice) {
            t->entries[slot->entry - 1].id = e.id;
            continue;
        }
        t->entries[kept++] = e;
        *slot = (ctok_text_slot){e.hash, kept};
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
    ctok_sortkey *room = ctok_mem_alloc(t->n, 2 * sizeof *room);
    uint32_t total = 0;
    if (!room) return CTOK_ERR_MEMORY;
    const ctok_sortkey *sorted = ctok_bytesort(t->bytes, t->entries, sizeof *t->entries, t->n, room, room + t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        const ctok_text_entry *e = &t->entries[sorted[i].at];
        memcpy(data + total, t->bytes + e->text.begin, e->text.len);
        total += e->text.len;
        ctok_le32_put(ends + 4 * (size_t)i, total);
        ctok_le32_put(ids + 4 * (size_t)i, e->id);
    }
    ctok_mem_free(room);
    return CTOK_OK;
}

void ctok_texttable_free(ctok_texttable *t) {
    ctok_mem_free(t->bytes);
    ctok_mem_free(t->entries);
    ctok_mem_free(t->slots);
    *t = (ctok_texttable){0};
}
