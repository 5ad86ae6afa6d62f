#include "ctok_pairs.h"

#include <string.h>

#define FIRST_SLOTS 4096u
#define CHUNK ((size_t)1 << 16) /* numbers of blocks in a chunk */

ctok_status ctok_pairs_init(ctok_pairs *t) {
    memset(t, 0, sizeof *t);
    t->slots = (uint64_t *)ctok_mem_zeroed(FIRST_SLOTS, sizeof *t->slots);
    if (t->slots == NULL) return CTOK_ERR_MEMORY;
    t->mask = FIRST_SLOTS - 1;
    return CTOK_OK;
}

void ctok_pairs_free(ctok_pairs *t) {
    ctok_mem_free(t->pairs);
    ctok_mem_free(t->free);
    ctok_mem_free(t->slots);
    while (t->chunks != NULL) {
        ctok_pair_chunk *next = t->chunks->next;
        ctok_mem_free(t->chunks);
        t->chunks = next;
    }
    memset(t, 0, sizeof *t);
}

static inline uint32_t free_slot(const uint64_t *slots, uint32_t mask, uint32_t hash) {
    uint32_t slot = hash & mask;
    while (slots[slot]) slot = (slot + 1) & mask;
    return slot;
}

static ctok_status more_slots(ctok_pairs *t) {
    const size_t n = 2 * ((size_t)t->mask + 1);
    if (n > (size_t)1 << 31) return CTOK_ERR_MEMORY;
    uint64_t *slots = (uint64_t *)ctok_mem_zeroed(n, sizeof *slots);
    if (slots == NULL) return CTOK_ERR_MEMORY;
    const uint32_t mask = (uint32_t)(n - 1);
    for (size_t i = 0; i <= t->mask; i++) {
        const uint64_t s = t->slots[i];
        if (s) slots[free_slot(slots, mask, (uint32_t)(s >> 32))] = s;
    }
    ctok_mem_free(t->slots);
    t->slots = slots;
    t->mask = mask;
    return CTOK_OK;
}

static ctok_status more_pairs(ctok_pairs *t) {
    const size_t cap = t->cap ? t->cap + (size_t)t->cap / 2 : 1024;
    if (cap >= UINT32_MAX - 1) return CTOK_ERR_MEMORY;
    ctok_pair *pairs = (ctok_pair *)ctok_mem_resize(t->pairs, cap, sizeof *pairs);
    if (pairs == NULL) return CTOK_ERR_MEMORY;
    t->pairs = pairs;
    t->cap = (uint32_t)cap;
    return CTOK_OK;
}

uint32_t ctok_pairs_add(ctok_pairs *t, uint32_t left, uint32_t right) {
    uint32_t number = ctok_pairs_find(t, left, right);
    if (number != CTOK_NO_PAIR) return number;
    if (t->used >= t->mask / 4 * 3 && more_slots(t) != CTOK_OK) return CTOK_NO_PAIR;
    if (t->n_free) number = t->free[--t->n_free];
    else if (t->n == t->cap && more_pairs(t) != CTOK_OK) return CTOK_NO_PAIR;
    else number = t->n++;
    t->pairs[number] = (ctok_pair){left, right, 0, NULL, 0, 0};
    const uint32_t hash = ctok_pairs_hash(left, right);
    t->slots[free_slot(t->slots, t->mask, hash)] = (uint64_t)hash << 32 | (number + 1);
    t->used++;
    return number;
}

ctok_status ctok_pairs_drop(ctok_pairs *t, uint32_t number) {
    ctok_pair *p = &t->pairs[number];
    if (t->n_free == t->cap_free) {
        const size_t cap = t->cap_free ? 2 * (size_t)t->cap_free : 1024;
        uint32_t *room = (uint32_t *)ctok_mem_resize(t->free, cap, sizeof *room);
        if (room == NULL || cap > UINT32_MAX) return CTOK_ERR_MEMORY;
        t->free = room;
        t->cap_free = (uint32_t)cap;
    }
    uint32_t slot = ctok_pairs_hash(p->left, p->right) & t->mask;
    while ((uint32_t)t->slots[slot] != number + 1) slot = (slot + 1) & t->mask;
    /* What stands behind moves up, as far as that brings it nearer to its place. */
    for (uint32_t next = slot;;) {
        next = (next + 1) & t->mask;
        const uint64_t s = t->slots[next];
        if (s == 0) break;
        const uint32_t home = (uint32_t)(s >> 32) & t->mask;
        if (((next - home) & t->mask) < ((next - slot) & t->mask)) continue;
        t->slots[slot] = s;
        slot = next;
    }
    t->slots[slot] = 0;
    t->used--;
    p->count = 0;
    p->at = NULL;
    p->n = p->spent = 0;
    t->free[t->n_free++] = number;
    return CTOK_OK;
}

uint32_t *ctok_pairs_list(ctok_pairs *t, size_t n) {
    ctok_pair_chunk *chunk = t->chunks;
    if (chunk == NULL || chunk->cap - chunk->n < n) {
        const size_t cap = n > CHUNK / 4 ? n : CHUNK;
        if (cap > SIZE_MAX / 8) return NULL;
        ctok_pair_chunk *made = (ctok_pair_chunk *)ctok_mem_alloc(1, sizeof *made + cap * sizeof *made->at);
        if (made == NULL) return NULL;
        made->n = 0;
        made->cap = cap;
        t->list_bytes += cap * sizeof *made->at;
        /* A list with a chunk of its own goes behind the one that has room left. */
        if (chunk != NULL && cap != CHUNK) {
            made->next = chunk->next;
            chunk->next = made;
        } else {
            made->next = chunk;
            t->chunks = made;
        }
        chunk = made;
    }
    uint32_t *list = chunk->at + chunk->n;
    chunk->n += n;
    return list;
}

size_t ctok_pairs_memory(const ctok_pairs *t) {
    return t->cap * sizeof *t->pairs + t->cap_free * sizeof *t->free + ((size_t)t->mask + 1) * sizeof *t->slots + t->list_bytes;
}
