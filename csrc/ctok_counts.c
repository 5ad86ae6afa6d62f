#include "ctok_counts.h"

#include "ctok_bytesort.h"

#define FIRST_SLOTS 1024u
#define AHEAD 32u

void ctok_counts_init(ctok_counts *c, size_t limit) {
    memset(c, 0, sizeof *c);
    c->limit = limit;
}

void ctok_counts_free(ctok_counts *c) {
    ctok_mem_free(c->shorts);
    ctok_mem_free(c->longs);
    ctok_bytes_free(&c->text);
    ctok_counts_init(c, c->limit);
}

size_t ctok_counts_memory(const ctok_counts *c) {
    return c->short_slots * sizeof *c->shorts + c->long_slots * sizeof *c->longs + c->text.cap;
}

/* ---- hashes and slots ---- */

static inline uint64_t hash_key(const uint64_t key[2]) {
    uint64_t h = (key[0] ^ UINT64_C(0x9E3779B97F4A7C15)) * UINT64_C(0xD6E8FEB86659FD93);
    h = (h ^ h >> 32 ^ key[1]) * UINT64_C(0xA0761D6478BD642F);
    h = (h ^ h >> 29) * UINT64_C(0xE7037ED1A0B428DB);
    return h ^ h >> 32;
}

static uint64_t hash_text(const uint8_t *p, size_t n) {
    uint64_t h = n;
    for (; n >= 8; p += 8, n -= 8) h = ((h ^ ctok_load_le(p, 8)) * UINT64_C(0xD6E8FEB86659FD93)) ^ (h >> 31);
    if (n) h = (h ^ ctok_load_le(p, n)) * UINT64_C(0xA0761D6478BD642F) ^ (h >> 31);
    h = (h ^ h >> 32) * UINT64_C(0xE7037ED1A0B428DB);
    return h ^ h >> 32;
}

/* Any number of slots, not only powers of two: the table can then grow by less than doubling. */
static inline uint32_t slot_of(uint64_t hash, uint32_t slots) {
    return (uint32_t)((hash & UINT32_MAX) * slots >> 32);
}

static inline uint64_t plus(uint64_t count, uint64_t more) {
    return CTOK_LIKELY(count + more <= CTOK_COUNTS_MOST) && CTOK_LIKELY(more <= CTOK_COUNTS_MOST) ? count + more : CTOK_COUNTS_MOST;
}

/* The slot that holds the key, or the free one where it belongs. There is a free one. */
static inline ctok_count_short *find_short(const ctok_counts *c, const uint64_t key[2], uint32_t slot) {
    for (;;) {
        ctok_count_short *s = &c->shorts[slot];
        if (s->count == 0 || (s->key[0] == key[0] && s->key[1] == key[1])) return s;
        if (++slot == c->short_slots) slot = 0;
    }
}

static ctok_count_long *find_long(const ctok_counts *c, const uint8_t *p, size_t n, uint64_t hash) {
    uint32_t slot = slot_of(hash, c->long_slots);
    const uint32_t mark = (uint32_t)(hash >> 32);
    for (;;) {
        ctok_count_long *s = &c->longs[slot];
        if (s->count == 0 || (s->mark == mark && s->len == n && memcmp(c->text.at + s->at, p, n) == 0)) return s;
        if (++slot == c->long_slots) slot = 0;
    }
}

/* ---- growing ---- */

/* How many slots a table needs that is to hold n strings with room to spare; 0: more than can be. */
static uint32_t slots_for(uint32_t slots, uint64_t n) {
    uint64_t wanted = slots ? slots : FIRST_SLOTS;
    while (wanted - wanted / 6 < n) wanted += wanted / 2;
    return wanted <= UINT32_MAX ? (uint32_t)wanted : 0;
}

static int allowed(const ctok_counts *c, size_t more) {
    return c->limit == 0 || ctok_counts_memory(c) + more <= c->limit;
}

static CTOK_NOINLINE ctok_status grow_shorts(ctok_counts *c, uint64_t n) {
    const uint32_t slots = slots_for(c->short_slots, n), before = c->short_slots;
    ctok_count_short *old = c->shorts, *room;
    if (slots == 0) return CTOK_ERR_MEMORY;
    if (!allowed(c, (slots - before) * sizeof *old)) return CTOK_ERR_STOPPED;
    room = (ctok_count_short *)ctok_mem_zeroed(slots, sizeof *room);
    if (room == NULL) return CTOK_ERR_MEMORY;
    c->shorts = room;
    c->short_slots = slots;
    for (uint32_t i = 0; i < before; i++)
        if (old[i].count) *find_short(c, old[i].key, slot_of(hash_key(old[i].key), slots)) = old[i];
    ctok_mem_free(old);
    return CTOK_OK;
}

static CTOK_NOINLINE ctok_status grow_longs(ctok_counts *c, uint64_t n) {
    const uint32_t slots = slots_for(c->long_slots, n), before = c->long_slots;
    ctok_count_long *old = c->longs, *room;
    if (slots == 0) return CTOK_ERR_MEMORY;
    if (!allowed(c, (slots - before) * sizeof *old)) return CTOK_ERR_STOPPED;
    room = (ctok_count_long *)ctok_mem_zeroed(slots, sizeof *room);
    if (room == NULL) return CTOK_ERR_MEMORY;
    c->longs = room;
    c->long_slots = slots;
    for (uint32_t i = 0; i < before; i++) {
        if (old[i].count == 0) continue;
        const uint8_t *p = c->text.at + old[i].at;
        *find_long(c, p, old[i].len, hash_text(p, old[i].len)) = old[i];
    }
    ctok_mem_free(old);
    return CTOK_OK;
}

static inline ctok_status room_for_shorts(ctok_counts *c, uint32_t more) {
    const uint64_t n = (uint64_t)c->n_short + more;
    return CTOK_LIKELY(c->short_slots - c->short_slots / 6 >= n) ? CTOK_OK : grow_shorts(c, n);
}

/* ---- counting ---- */

static inline void count_short(ctok_counts *c, ctok_count_short *s, const uint64_t key[2], uint64_t count, uint64_t first) {
    if (CTOK_UNLIKELY(s->count == 0)) {
        s->key[0] = key[0];
        s->key[1] = key[1];
        s->first = first;
        c->n_short++;
        c->short_bytes += key[1] >> 56;
    }
    s->count = plus(s->count, count);
    if (s->first > first) s->first = first;
}

static ctok_status add_long(ctok_counts *c, const uint8_t *p, size_t n, uint64_t count, uint64_t first) {
    const uint64_t hash = hash_text(p, n);
    ctok_count_long *s = c->long_slots ? find_long(c, p, n, hash) : NULL;
    if (s == NULL || s->count == 0) {
        ctok_status status;
        if (c->text.cap - c->text.n < n && !allowed(c, n + c->text.cap / 2)) return CTOK_ERR_STOPPED;
        if (c->long_slots - c->long_slots / 6 < c->n_long + 1u) {
            status = grow_longs(c, (uint64_t)c->n_long + 1);
            if (status != CTOK_OK) return status;
            s = find_long(c, p, n, hash);
        }
        const uint64_t at = c->text.n;
        status = ctok_bytes_append(&c->text, p, n);
        if (status != CTOK_OK) return status;
        s->at = at;
        s->len = (uint32_t)n;
        s->mark = (uint32_t)(hash >> 32);
        s->first = first;
        c->n_long++;
    }
    s->count = plus(s->count, count);
    if (s->first > first) s->first = first;
    c->total = plus(c->total, count);
    return CTOK_OK;
}

ctok_status ctok_counts_add(ctok_counts *c, const uint8_t *p, size_t n, uint64_t count, uint64_t first) {
    uint64_t key[2];
    if (n > CTOK_KEY_BYTES) return add_long(c, p, n, count, first);
    const ctok_status status = room_for_shorts(c, 1);
    if (status != CTOK_OK) return status;
    ctok_key_exact(p, n, key);
    count_short(c, find_short(c, key, slot_of(hash_key(key), c->short_slots)), key, count, first);
    c->total = plus(c->total, count);
    return CTOK_OK;
}

ctok_status ctok_counts_add_block(ctok_counts *c, const uint8_t *buf, size_t begin, const uint32_t *stops, size_t n, size_t end,
                                  uint64_t weight, uint64_t base) {
    uint64_t keys[AHEAD][2];
    uint32_t slots[AHEAD];
    for (size_t from = 0; from < n; from += AHEAD) {
        const size_t m = n - from < AHEAD ? n - from : AHEAD;
        uint64_t n_short = 0;
        ctok_status status = room_for_shorts(c, AHEAD);
        if (status != CTOK_OK) return status;
        size_t start = begin;
        for (size_t i = 0; i < m; i++) {
            const size_t stop = stops[from + i];
            if (CTOK_LIKELY(start + 16 <= end)) ctok_key_roomy(buf + start, stop - start, keys[i]);
            else ctok_key_exact(buf + start, stop - start, keys[i]);
            slots[i] = slot_of(hash_key(keys[i]), c->short_slots);
            CTOK_PREFETCH(&c->shorts[slots[i]]);
            start = stop;
        }
        start = begin;
        for (size_t i = 0; i < m; i++) {
            const size_t stop = stops[from + i];
            if (CTOK_LIKELY(stop - start <= CTOK_KEY_BYTES)) {
                count_short(c, find_short(c, keys[i], slots[i]), keys[i], weight, base + start);
                n_short++;
            } else {
                status = add_long(c, buf + start, stop - start, weight, base + start);
                if (status != CTOK_OK) break;
            }
            start = stop;
        }
        if (n_short) c->total = plus(c->total, weight <= CTOK_COUNTS_MOST / AHEAD ? weight * n_short : CTOK_COUNTS_MOST);
        if (status != CTOK_OK) return status;
        begin = start;
    }
    return CTOK_OK;
}

/* A step that leads to each of n slots in turn, in no order that resembles theirs. Slots in their order would fill a smaller table from its
 * front: long runs, and a time that is no longer linear. */
static uint32_t stride_of(uint32_t n) {
    uint32_t step = (uint32_t)((uint64_t)n * 2654435769u >> 32) | 1u;
    for (;; step++) {
        uint32_t a = n, b = step;
        while (b) {
            const uint32_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1) return step % n;
    }
}

static uint32_t stepped(uint32_t slot, uint32_t step, uint32_t n) {
    return slot >= n - step ? slot - (n - step) : slot + step;
}

ctok_status ctok_counts_merge(ctok_counts *c, const ctok_counts *other) {
    const uint32_t n_short = other->short_slots, n_long = other->long_slots;
    const uint32_t short_step = n_short ? stride_of(n_short) : 0, long_step = n_long ? stride_of(n_long) : 0;
    for (uint32_t i = 0, at = 0; i < n_short; i++, at = stepped(at, short_step, n_short)) {
        const ctok_count_short *s = &other->shorts[at];
        if (s->count == 0) continue;
        const ctok_status status = room_for_shorts(c, 1);
        if (status != CTOK_OK) return status;
        count_short(c, find_short(c, s->key, slot_of(hash_key(s->key), c->short_slots)), s->key, s->count, s->first);
        c->total = plus(c->total, s->count);
    }
    for (uint32_t i = 0, at = 0; i < n_long; i++, at = stepped(at, long_step, n_long)) {
        const ctok_count_long *s = &other->longs[at];
        if (s->count == 0) continue;
        const ctok_status status = add_long(c, other->text.at + s->at, s->len, s->count, s->first);
        if (status != CTOK_OK) return status;
    }
    return CTOK_OK;
}

/* ---- listing ---- */

typedef struct listed {
    ctok_bytestring where;
    uint32_t slot;      /* of the short ones; of the long ones, behind all of those */
} listed;

/* All strings one behind the other, as the slots come. */
static void gather(const ctok_counts *c, uint8_t *bytes, listed *all) {
    uint32_t at = 0, n = 0;
    for (uint32_t i = 0; i < c->short_slots; i++) {
        if (c->shorts[i].count == 0) continue;
        uint8_t text[16];
        for (unsigned k = 0; k < 16; k++) text[k] = (uint8_t)(c->shorts[i].key[k / 8] >> (k % 8 * 8));
        const uint32_t len = text[15];
        memcpy(bytes + at, text, len);
        all[n++] = (listed){{at, len}, i};
        at += len;
    }
    for (uint32_t i = 0; i < c->long_slots; i++) {
        const ctok_count_long *s = &c->longs[i];
        if (s->count == 0) continue;
        memcpy(bytes + at, c->text.at + s->at, s->len);
        all[n++] = (listed){{at, s->len}, i};
        at += s->len;
    }
}

static void write_sorted(const ctok_counts *c, const uint8_t *bytes, const listed *all, const ctok_sortkey *order,
                         const ctok_count_list *to) {
    const size_t n = ctok_counts_size(c);
    uint32_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const listed *l = &all[order[i].at];
        const int is_short = order[i].at < c->n_short;
        memcpy(to->data + at, bytes + l->where.begin, l->where.len);
        at += l->where.len;
        to->ends[i] = at;
        to->counts[i] = is_short ? c->shorts[l->slot].count : c->longs[l->slot].count;
        if (to->firsts) to->firsts[i] = is_short ? c->shorts[l->slot].first : c->longs[l->slot].first;
    }
}

ctok_status ctok_counts_list(const ctok_counts *c, const ctok_count_list *to) {
    const size_t n = ctok_counts_size(c);
    uint8_t *bytes = (uint8_t *)ctok_mem_alloc(ctok_counts_bytes(c), 1);
    listed *all = (listed *)ctok_mem_alloc(n, sizeof *all);
    ctok_sortkey *a = (ctok_sortkey *)ctok_mem_alloc(n, sizeof *a), *b = (ctok_sortkey *)ctok_mem_alloc(n, sizeof *b);
    ctok_status status = CTOK_ERR_MEMORY;
    if (bytes != NULL && all != NULL && a != NULL && b != NULL && n <= UINT32_MAX) {
        gather(c, bytes, all);
        write_sorted(c, bytes, all, n ? ctok_bytesort(bytes, all, sizeof *all, (uint32_t)n, a, b) : a, to);
        status = CTOK_OK;
    }
    ctok_mem_free(bytes);
    ctok_mem_free(all);
    ctok_mem_free(a);
    ctok_mem_free(b);
    return status;
}
