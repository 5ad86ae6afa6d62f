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

#include "ctok_key.h"
#include "ctok_mem.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define CTOK_CACHE_SHORT CTOK_KEY_BYTES
#define CTOK_CACHE_LONG 31u
#define CTOK_CACHE_SHORT_IDS 3u
#define CTOK_CACHE_LONG_IDS 7u
#define CTOK_CACHE_SHORT_BITS 14 /* lines of two entries: 1 MiB */
#define CTOK_CACHE_LONG_BITS 13  /* lines of one entry: 512 KiB */

typedef struct ctok_short_entry {
    uint64_t key[2];             /* csrc/ctok_key.h; length 0 = empty */
    ctok_id ids[CTOK_CACHE_SHORT_IDS];
    uint32_t n;
} ctok_short_entry;

typedef struct ctok_long_entry {
    uint64_t key[4];             /* ctok_cache_long_key */
    ctok_id ids[CTOK_CACHE_LONG_IDS];
    uint16_t n;
    uint16_t len;                /* of the text; 0 = empty */
} ctok_long_entry;

#define CTOK_CACHE_BYTES \
    (((size_t)2 << CTOK_CACHE_SHORT_BITS) * sizeof(ctok_short_entry) + ((size_t)1 << CTOK_CACHE_LONG_BITS) * sizeof(ctok_long_entry))

typedef struct ctok_cache {
    void *room;                  /* the block that both tables stand in */
    ctok_short_entry *shorts;
    ctok_long_entry *longs;
    uint64_t seed;               /* odd */
} ctok_cache;

/* ctok_cache_init - an empty cache of 1.5 MiB. */
static inline ctok_status ctok_cache_init(ctok_cache *c, uint64_t seed) {
    const size_t n_short = (size_t)2 << CTOK_CACHE_SHORT_BITS;
    c->room = ctok_mem_block(CTOK_CACHE_BYTES);
    if (c->room == NULL) return CTOK_ERR_MEMORY;
    c->shorts = (ctok_short_entry *)c->room;
    c->longs = (ctok_long_entry *)(c->shorts + n_short);
    c->seed = seed | 1;
    return CTOK_OK;
}

static inline void ctok_cache_free(ctok_cache *c) {
    ctok_mem_unblock(c->room, CTOK_CACHE_BYTES);
    c->room = NULL;
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

/* ctok_cache_is - is it the entry of a key? Without a branch. */
static inline int ctok_cache_is(const ctok_short_entry *e, const uint64_t key[2]) {
#ifdef __SSE2__
    const __m128i own = _mm_loadu_si128((const __m128i *)(const void *)e->key), other = _mm_loadu_si128((const __m128i *)(const void *)key);
    return _mm_movemask_epi8(_mm_cmpeq_epi8(own, other)) == 0xFFFF;
#else
    return ((e->key[0] ^ key[0]) | (e->key[1] ^ key[1])) == 0;
#endif
}

/* ctok_cache_find - the entry of a key, or NULL. */
static inline const ctok_short_entry *ctok_cache_find(const ctok_short_entry *line, const uint64_t key[2]) {
    if (ctok_cache_is(line, key)) return line;
    return ctok_cache_is(line + 1, key) ? line + 1 : NULL;
}

/* The outcome of one pretoken of a block. */
typedef struct ctok_outcome {
    ctok_id ids[CTOK_CACHE_SHORT_IDS]; /* up to 3 ids; more stand in a side array from ids[0] on */
    uint32_t n;
} ctok_outcome;

/* ctok_cache_probe - look up the n pretokens of a block.
 *
 * buf     readable up to end. The first pretoken is buf[start..stops[0]), and so on.
 * keys    n keys, written.
 * found   n outcomes; written for the hits.
 * misses  room for n numbers: the pretokens that are not there (all longer than 15 bytes among them), ascending.
 *
 * Returns how many misses there are. Keys and places of some pretokens are computed and their lines fetched before the first is compared.
 */
static inline size_t ctok_cache_probe(const ctok_cache *c, const uint8_t *buf, size_t start, const uint32_t *stops, size_t n, size_t end,
                                      uint64_t (*keys)[2], ctok_outcome *found, uint32_t *misses) {
    enum { AHEAD = 64 };
    const ctok_short_entry *lines[AHEAD];
    size_t n_misses = 0;
    for (size_t from = 0; from < n; from += AHEAD) {
        const size_t m = n - from < AHEAD ? n - from : AHEAD;
        const size_t roomy = stops[from + m - 1] + (size_t)CTOK_KEY_BYTES <= end ? m : 0; /* the last begins a byte before it stops, at least */
        for (size_t i = 0; i < m; i++) {
            const size_t stop = stops[from + i];
            if (CTOK_LIKELY(i < roomy)) ctok_key_roomy(buf + start, stop - start, keys[from + i]);
            else ctok_key_exact(buf + start, stop - start, keys[from + i]);
            lines[i] = ctok_cache_line(c, keys[from + i]);
            CTOK_PREFETCH(lines[i]);
            start = stop;
        }
        for (size_t i = 0; i < m; i++) {
            const ctok_short_entry *e = lines[i];
            const int second = ctok_cache_is(e + 1, keys[from + i]);
            memcpy(&found[from + i], e[second].ids, sizeof *found);
            misses[n_misses] = (uint32_t)(from + i);
            n_misses += !(ctok_cache_is(e, keys[from + i]) | second);
        }
    }
    return n_misses;
}

/* ctok_cache_distinct - keep, of the misses of a block that are equal, only the first: what is new comes more than once, as a rule.
 *
 * All but misses as in ctok_cache_probe. The later ones go to repeats, with room for n_misses, and the number of the first to their
 * outcomes; ctok_cache_repeat gives them its ids. Returns how many misses are left; *n_repeats the others. One that is not noticed does
 * no harm.
 */
static inline size_t ctok_cache_distinct(const ctok_cache *c, const uint8_t *buf, size_t start, const uint32_t *stops,
                                         uint64_t (*keys)[2], ctok_outcome *found, uint32_t *misses, size_t n_misses, uint32_t *repeats,
                                         size_t *n_repeats) {
    enum { PLACES = 1024, FEW = 8 };
    *n_repeats = 0;
    if (n_misses < FEW) return n_misses; /* a short text: not worth it */
    uint32_t seen[PLACES] = {0};         /* a miss and 1 */
    size_t kept = 0;
    for (size_t k = 0; k < n_misses; k++) {
        const uint32_t i = misses[k], stop = stops[i], begin = i ? stops[i - 1] : (uint32_t)start;
        uint32_t *last = &seen[ctok_cache_hash(c, keys[i], 2) & (PLACES - 1)];
        const uint32_t other = *last - 1;
        if (*last && keys[other][0] == keys[i][0] && keys[other][1] == keys[i][1]) {
            const uint32_t first = other ? stops[other - 1] : (uint32_t)start;
            const uint32_t n = stop - begin;
            if (n <= CTOK_CACHE_SHORT || (stops[other] - first == n && memcmp(buf + first, buf + begin, n) == 0)) {
                found[i].ids[0] = other;
                repeats[(*n_repeats)++] = i;
                continue;
            }
        }
        *last = i + 1;
        misses[kept++] = i;
    }
    return kept;
}

/* ctok_cache_repeat - give the repeats the outcomes of the firsts. */
static inline void ctok_cache_repeat(ctok_outcome *found, const uint32_t *repeats, size_t n_repeats) {
    for (size_t k = 0; k < n_repeats; k++) found[repeats[k]] = found[found[repeats[k]].ids[0]];
}

/* ctok_cache_emit - write the ids of n outcomes behind each other; out has room for all of them and 3 more. Returns how many ids. */
static inline size_t ctok_cache_emit(const ctok_outcome *found, size_t n, const ctok_id *side, ctok_id *out) {
    ctok_id *at = out;
    for (size_t i = 0; i < n; i++) {
        if (CTOK_LIKELY(found[i].n <= CTOK_CACHE_SHORT_IDS)) memcpy(at, &found[i], sizeof found[i]);
        else memcpy(at, side + found[i].ids[0], found[i].n * sizeof *at);
        at += found[i].n;
    }
    return (size_t)(at - out);
}

/* ctok_cache_put - remember the ids of a key (n <= 3) in its line. An older entry goes: the second one, whose place the first one takes;
 * but what gave several ids cost a merge, so a single id does not push such an entry out of the first place. */
static inline void ctok_cache_put(ctok_short_entry *line, const uint64_t key[2], const ctok_id *ids, size_t n) {
    ctok_short_entry *entry = line;
    if (n == 1 && line[0].n > 1) entry = line + 1;
    else line[1] = line[0];
    entry->key[0] = key[0];
    entry->key[1] = key[1];
    memcpy(entry->ids, ids, n * sizeof *ids);
    entry->n = (uint32_t)n;
}

/* ctok_cache_many - may a text of up to 15 bytes have more ids than stand beside its key? It is then looked for among the long ones, which is
 * a cache line more; words in ASCII hardly ever do, and are merged again. */
static inline int ctok_cache_many(const uint64_t key[2]) {
    return ((key[0] | key[1]) & UINT64_C(0x8080808080808080)) != 0;
}

/* ctok_cache_long_key - a text of up to 31 bytes as four numbers; with its length they say what it is. Of up to 15 bytes it is their own key
 * and zeros (p is not read), of more the first 16 bytes and the last 16, which may overlap. */
static inline void ctok_cache_long_key(const uint8_t *p, size_t n, const uint64_t own[2], uint64_t key[4]) {
    if (n > CTOK_CACHE_SHORT) {
        memcpy(key, p, 16);
        memcpy(key + 2, p + n - 16, 16);
    } else {
        memcpy(key, own, 16);
        memset(key + 2, 0, 16);
    }
}

/* ctok_cache_long_line - where the entry of a long key stands. */
static inline ctok_long_entry *ctok_cache_long_line(const ctok_cache *c, const uint64_t key[4]) {
    return c->longs + (ctok_cache_hash(c, key, 4) & (((uint64_t)1 << CTOK_CACHE_LONG_BITS) - 1));
}

/* ctok_cache_long_is - is it the entry of a text of n bytes with this long key? */
static inline int ctok_cache_long_is(const ctok_long_entry *e, size_t n, const uint64_t key[4]) {
    return e->len == n && memcmp(e->key, key, sizeof e->key) == 0;
}

/* ctok_cache_long_put - remember the ids (n_ids <= 7) of a text of n bytes. */
static inline void ctok_cache_long_put(ctok_long_entry *entry, size_t n, const uint64_t key[4], const ctok_id *ids, size_t n_ids) {
    memcpy(entry->key, key, 32);
    memcpy(entry->ids, ids, n_ids * sizeof *ids);
    entry->n = (uint16_t)n_ids;
    entry->len = (uint16_t)n;
}

#endif
