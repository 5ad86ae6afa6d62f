/* ctok_cache.h - pretokens seen lately and their ids; bounded, one thread's own.
 *
 * Two tables. Short: up to 15 bytes and 3 ids, 32 bytes an entry, two entries a cache line. Long: 16 to 31 bytes and up to 7 ids, one
 * cache line an entry. The key is the text itself, so a hit is never wrong; the place is a hash with a seed, so a text cannot be made
 * to collide on purpose, and a look-up reads one cache line whatever was stored. A new entry takes the place of an old one.
 *
 * Only what is a function of the pretoken's bytes alone may be stored here.
 */
#ifndef CTOK_CACHE_H
#define CTOK_CACHE_H

#include <string.h>

#include "ctok_base.h"
#include "ctok_mem.h"

#define CTOK_CACHE_SHORT 15u     /* bytes */
#define CTOK_CACHE_LONG 31u
#define CTOK_CACHE_SHORT_IDS 3u
#define CTOK_CACHE_LONG_IDS 7u
#define CTOK_CACHE_SHORT_BITS 14 /* lines of two entries: 1 MiB */
#define CTOK_CACHE_LONG_BITS 13  /* lines of one entry: 512 KiB */

typedef struct ctok_short_entry {
    uint64_t key[2];             /* bytes, zeros, length in the last byte; length 0 = empty */
    ctok_id ids[CTOK_CACHE_SHORT_IDS];
    uint32_t n;
} ctok_short_entry;

typedef struct ctok_long_entry {
    uint64_t key[4];
    ctok_id ids[CTOK_CACHE_LONG_IDS];
    uint32_t n;
} ctok_long_entry;

typedef struct ctok_cache {
    void *room;                  /* what was allocated; the tables below start at a cache line */
    ctok_short_entry *shorts;
    ctok_long_entry *longs;
    uint64_t seed;               /* odd */
} ctok_cache;

/* ctok_cache_init - an empty cache; about 1.5 MiB of address space, of which only what is used becomes resident. */
static inline ctok_status ctok_cache_init(ctok_cache *c, uint64_t seed) {
    const size_t n_short = (size_t)2 << CTOK_CACHE_SHORT_BITS, n_long = (size_t)1 << CTOK_CACHE_LONG_BITS;
    const size_t bytes = n_short * sizeof *c->shorts + n_long * sizeof *c->longs;
    c->room = ctok_mem_zeroed(bytes + 64, 1);
    if (c->room == NULL) return CTOK_ERR_MEMORY;
    c->shorts = (ctok_short_entry *)(((uintptr_t)c->room + 63) & ~(uintptr_t)63);
    c->longs = (ctok_long_entry *)(c->shorts + n_short);
    c->seed = seed | 1;
    return CTOK_OK;
}

static inline void ctok_cache_free(ctok_cache *c) {
    ctok_mem_free(c->room);
    c->room = NULL;
}

/* ctok_cache_key - the 16-byte key of p[0..n), n <= 15. When `roomy`, 16 bytes may be read at p; else exactly n are. */
static inline void ctok_cache_key(const uint8_t *p, size_t n, int roomy, uint64_t key[2]) {
    if (CTOK_LIKELY(roomy)) {
        const uint64_t all = ~UINT64_C(0);
        memcpy(key, p, 16);
        /* keep the first n bytes; shifting in two steps because a shift by 64 is undefined */
        if (n < 8) {
            key[0] &= (UINT64_C(1) << (8 * n)) - 1;
            key[1] = 0;
        } else {
            key[1] &= ~(all << (8 * (n - 8)));
        }
    } else {
        key[0] = key[1] = 0;
        memcpy(key, p, n);
    }
    key[1] |= (uint64_t)n << 56;
}

static inline uint64_t ctok_cache_hash(const ctok_cache *c, const uint64_t *key, size_t words) {
    uint64_t h = key[0] * c->seed;
    for (size_t i = 1; i < words; i++) h = (h ^ h >> 32 ^ key[i]) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 32;
}

/* ctok_cache_line - where the two entries of a key stand. */
static inline ctok_short_entry *ctok_cache_line(const ctok_cache *c, const uint64_t key[2]) {
    return c->shorts + 2 * (ctok_cache_hash(c, key, 2) & (((uint64_t)1 << CTOK_CACHE_SHORT_BITS) - 1));
}

/* ctok_cache_find - the entry of a key, or NULL. */
static inline const ctok_short_entry *ctok_cache_find(const ctok_short_entry *line, const uint64_t key[2]) {
    if (line[0].key[0] == key[0] && line[0].key[1] == key[1]) return line;
    if (line[1].key[0] == key[0] && line[1].key[1] == key[1]) return line + 1;
    return NULL;
}

/* ctok_cache_put - remember the ids of a key (n <= 3); the older entry of the line goes. */
static inline void ctok_cache_put(ctok_short_entry *line, const uint64_t key[2], const ctok_id *ids, size_t n) {
    line[1] = line[0];
    line[0].key[0] = key[0];
    line[0].key[1] = key[1];
    memcpy(line[0].ids, ids, n * sizeof *ids);
    line[0].n = (uint32_t)n;
}

/* ctok_cache_long - the entry for p[0..n), 16 <= n <= 31, with its key computed; it holds the text iff the function returns 1. */
static inline int ctok_cache_long(const ctok_cache *c, const uint8_t *p, size_t n, uint64_t key[4], ctok_long_entry **entry) {
    memset(key, 0, 32);
    memcpy(key, p, n);
    key[3] |= (uint64_t)n << 56;
    *entry = c->longs + (ctok_cache_hash(c, key, 4) & (((uint64_t)1 << CTOK_CACHE_LONG_BITS) - 1));
    return memcmp((*entry)->key, key, 32) == 0;
}

/* ctok_cache_long_put - remember the ids of a long text (n <= 7). */
static inline void ctok_cache_long_put(ctok_long_entry *entry, const uint64_t key[4], const ctok_id *ids, size_t n) {
    memcpy(entry->key, key, 32);
    memcpy(entry->ids, ids, n * sizeof *ids);
    entry->n = (uint32_t)n;
}

#endif
