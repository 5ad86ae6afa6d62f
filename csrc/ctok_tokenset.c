#include "ctok_tokenset.h"

#include "ctok_key.h"

#define FIRST 1024u

ctok_status ctok_tokenset_init(ctok_tokenset *t) {
    memset(t, 0, sizeof *t);
    t->ends = (uint64_t *)ctok_mem_zeroed(FIRST + 1, sizeof *t->ends);
    t->slots = (uint32_t *)ctok_mem_zeroed(2 * FIRST, sizeof *t->slots);
    if (t->ends == NULL || t->slots == NULL) return CTOK_ERR_MEMORY;
    t->cap = FIRST;
    t->mask = 2 * FIRST - 1;
    return CTOK_OK;
}

void ctok_tokenset_free(ctok_tokenset *t) {
    ctok_bytes_free(&t->text);
    ctok_mem_free(t->ends);
    ctok_mem_free(t->slots);
    memset(t, 0, sizeof *t);
}

static uint32_t hash_of(const uint8_t *p, size_t n) {
    uint64_t h = n;
    for (; n >= 8; p += 8, n -= 8) h = ctok_mix(h ^ ctok_load_le(p, 8));
    if (n) h = ctok_mix(h ^ ctok_load_le(p, n));
    return (uint32_t)(ctok_mix(h) >> 32);
}

uint32_t ctok_tokenset_find(const ctok_tokenset *t, const uint8_t *p, size_t n) {
    for (uint32_t slot = hash_of(p, n) & t->mask; t->slots[slot]; slot = (slot + 1) & t->mask) {
        const uint32_t number = t->slots[slot] - 1;
        if (ctok_tokenset_len(t, number) == n && memcmp(ctok_tokenset_at(t, number), p, n) == 0) return number;
    }
    return CTOK_NO_ID;
}

static void enter(const ctok_tokenset *t, uint32_t number) {
    uint32_t slot = hash_of(ctok_tokenset_at(t, number), ctok_tokenset_len(t, number)) & t->mask;
    while (t->slots[slot]) slot = (slot + 1) & t->mask;
    t->slots[slot] = number + 1;
}

static ctok_status grow(ctok_tokenset *t) {
    const size_t cap = 2 * (size_t)t->cap;
    if (cap > UINT32_MAX / 4) return CTOK_ERR_MEMORY;
    uint32_t *slots = (uint32_t *)ctok_mem_zeroed(2 * cap, sizeof *slots);
    uint64_t *ends = slots == NULL ? NULL : (uint64_t *)ctok_mem_resize(t->ends, cap + 1, sizeof *ends);
    if (ends == NULL) {
        ctok_mem_free(slots);
        return CTOK_ERR_MEMORY;
    }
    ctok_mem_free(t->slots);
    t->slots = slots;
    t->ends = ends;
    t->cap = (uint32_t)cap;
    t->mask = (uint32_t)(2 * cap - 1);
    for (uint32_t i = 0; i < t->n; i++) enter(t, i);
    return CTOK_OK;
}

ctok_status ctok_tokenset_push(ctok_tokenset *t, const uint8_t *p, size_t n) {
    if (t->n == t->cap && grow(t) != CTOK_OK) return CTOK_ERR_MEMORY;
    if (ctok_bytes_append(&t->text, p, n) != CTOK_OK) return CTOK_ERR_MEMORY;
    t->ends[++t->n] = t->text.n;
    enter(t, t->n - 1);
    return CTOK_OK;
}
