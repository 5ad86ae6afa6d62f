/* ctok_words.h - the words of a text that spells blanks as U+2581: where they begin, and what was found for them lately.
 *
 * A word begins at a U+2581 that does not follow another one: it is a run of them and what stands up to the next run.
 *
 * The memory is bounded and one thread's own. A look-up reads one cache line. A word of up to 15 bytes, a U+2581 that it begins with not
 * counted, is its own key (csrc/ctok_key.h); of a longer one the key is a hash, and its bytes stand in the store, as ids do that are more
 * than an entry holds. So a hit is never wrong. When the store is full, all is forgotten.
 *
 * What is remembered may hold only up to some limit, a number that the caller compares with.
 */
#ifndef CTOK_WORDS_H
#define CTOK_WORDS_H

#include "ctok_ids.h"
#include "ctok_key.h"

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define CTOK_WORDS_SSE2 1
#endif

#define CTOK_WORDS_BLOCK 256u
#define CTOK_WORDS_BITS 15u          /* lines of two entries: 2 MiB */
#define CTOK_WORDS_STORE (1u << 19)  /* numbers of the store: 2 MiB */
#define CTOK_WORD_HERE 3u            /* ids that an entry holds */

#define CTOK_WORD_IDS 0xFFu          /* of an entry's n: how many ids */
#define CTOK_WORD_APART 0x100u       /* they stand in the store from ids[0] on, or one of them is the unknown one, which may be left out */
#define CTOK_WORD_LIMIT 0xFFFF0000u  /* the upper half of a float: the limit, rounded toward 0 */

typedef struct ctok_word {
    uint64_t key[2];                 /* 0: empty */
    ctok_id ids[CTOK_WORD_HERE];
    uint32_t n;
} ctok_word;

typedef struct ctok_words {
    ctok_word *lines;
    ctok_id *store;
    uint32_t n_store;                /* in use */
    uint64_t seed;                   /* odd */
} ctok_words;

#define CTOK_WORDS_BYTES (((size_t)2 << CTOK_WORDS_BITS) * sizeof(ctok_word))

/* ctok_words_init - an empty memory of 4 MiB, the store of which is touched as it fills. */
static inline ctok_status ctok_words_init(ctok_words *w, uint64_t seed) {
    w->lines = (ctok_word *)ctok_mem_block(CTOK_WORDS_BYTES);
    w->store = (ctok_id *)ctok_mem_alloc(CTOK_WORDS_STORE, sizeof(ctok_id));
    w->n_store = 0;
    w->seed = seed | 1;
    if (w->lines != NULL && w->store != NULL) return CTOK_OK;
    ctok_mem_unblock(w->lines, CTOK_WORDS_BYTES);
    ctok_mem_free(w->store);
    w->lines = NULL;
    return CTOK_ERR_MEMORY;
}

/* ctok_words_free - give it back; one that was never made, all zeros, is allowed. */
static inline void ctok_words_free(ctok_words *w) {
    if (w->lines == NULL) return;
    ctok_mem_unblock(w->lines, CTOK_WORDS_BYTES);
    ctok_mem_free(w->store);
    w->lines = NULL;
}

static inline int ctok_is_mark(const uint8_t *p) {
    return p[0] == 0xE2 && p[1] == 0x96 && p[2] == 0x81;
}

/* ctok_words_marks - bit i: a U+2581 starts at p[i]; p[0..66) is readable. */
static inline uint64_t ctok_words_marks(const uint8_t *p) {
    uint64_t marks = 0;
#ifdef CTOK_WORDS_SSE2
    const __m128i a = _mm_set1_epi8((char)0xE2), b = _mm_set1_epi8((char)0x96), c = _mm_set1_epi8((char)0x81);
    for (unsigned i = 0; i < 64; i += 16) {
        const __m128i first = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + i)), a);
        const __m128i second = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + i + 1)), b);
        const __m128i third = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + i + 2)), c);
        marks |= (uint64_t)(uint16_t)_mm_movemask_epi8(_mm_and_si128(_mm_and_si128(first, second), third)) << i;
    }
#else
    for (unsigned i = 0; i < 64; i++) marks |= (uint64_t)(ctok_is_mark(p + i) != 0) << i;
#endif
    return marks;
}

/* ctok_words_cut - where words of p[0..n) stop, from the one that starts at pos on: at most CTOK_WORDS_BLOCK + 64 places, ascending; the last
 * may be n. Returns how many, at least one if pos < n; n < 2^32. */
static inline size_t ctok_words_cut(const uint8_t *p, size_t pos, size_t n, uint32_t *stops) {
    uint8_t rest[80];
    size_t found = 0, at = pos;
    uint64_t before = pos >= 3 && ctok_is_mark(p + pos - 3); /* the low bits: a U+2581 starts 3, 2, 1 bytes before `at` */
    while (at < n && found < CTOK_WORDS_BLOCK) {
        const uint8_t *window = p + at;
        if (n - at < 66) {
            memset(rest, 0, sizeof rest);
            memcpy(rest, window, n - at);
            window = rest;
        }
        const uint64_t marks = ctok_words_marks(window);
        uint64_t borders = marks & ~(marks << 3 | before);
        if (at == pos) borders &= ~UINT64_C(1);
        before = marks >> 61;
        for (; borders; borders &= borders - 1) stops[found++] = (uint32_t)(at + ctok_lowest_bit(borders));
        at += 64;
    }
    if (at >= n) stops[found++] = (uint32_t)n;
    return found;
}

static inline ctok_word *ctok_words_line(const ctok_words *w, const uint64_t key[2]) {
    uint64_t h = key[0] * w->seed;
    h = (h ^ h >> 32 ^ key[1]) * UINT64_C(0x9E3779B97F4A7C15);
    return w->lines + 2 * (h >> (64 - CTOK_WORDS_BITS));
}

/* The key of a word of more than 15 bytes besides its U+2581: a hash, and a length no short one has. */
static inline void ctok_words_long_key(const ctok_words *w, const uint8_t *p, size_t n, uint64_t key[2]) {
    uint64_t h = w->seed ^ n;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        h = (h ^ ctok_load_le(p + i, 8)) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
    }
    if (i < n) h = (h ^ ctok_load_le(p + i, n - i)) * UINT64_C(0xD6E8FEB86659FD93);
    key[0] = h ^ h >> 32;
    key[1] = (uint64_t)(CTOK_KEY_BYTES + 1) << 56;
}

/* ctok_words_probe - compute the keys of the words of p[start..), which stop at stops[0..n), and begin to fetch their lines; p is readable up
 * to end. A word of more than `longest` bytes has a key that is never found. */
static inline void ctok_words_probe(const ctok_words *w, const uint8_t *p, size_t start, const uint32_t *stops, size_t n, size_t end,
                                    size_t longest, uint64_t (*keys)[2], ctok_word **lines) {
    for (size_t i = 0; i < n; i++) {
        const size_t stop = stops[i];
        const uint64_t marked = stop - start >= 3 && ctok_is_mark(p + start);
        const size_t from = start + 3 * marked, size = stop - from;
        if (CTOK_UNLIKELY(size > CTOK_KEY_BYTES)) {
            keys[i][0] = 0;
            keys[i][1] = (uint64_t)255 << 56;
            if (stop - start <= longest) ctok_words_long_key(w, p + start, stop - start, keys[i]);
        } else {
            if (CTOK_LIKELY(from + 16 <= end)) ctok_key_roomy(p + from, size, keys[i]);
            else ctok_key_exact(p + from, size, keys[i]);
            keys[i][1] |= marked << 62;
        }
        lines[i] = ctok_words_line(w, keys[i]);
        CTOK_PREFETCH(lines[i]);
        start = stop;
    }
}

static inline int ctok_words_is_long(const uint64_t key[2]) {
    return key[1] >> 56 == CTOK_KEY_BYTES + 1;
}

/* ctok_words_find - the entry with a key in a line, or NULL. If ctok_words_is_long, ctok_words_ids must confirm it. */
static inline const ctok_word *ctok_words_find(const ctok_word *line, const uint64_t key[2]) {
    if (line[0].key[0] == key[0] && line[0].key[1] == key[1]) return line;
    if (line[1].key[0] == key[0] && line[1].key[1] == key[1]) return line + 1;
    return NULL;
}

/* ctok_words_ids - the ids of the entry that has the key of the word p[0..n); NULL if it is another word. */
static inline const ctok_id *ctok_words_ids(const ctok_words *w, const ctok_word *entry, const uint8_t *p, size_t n) {
    const size_t count = entry->n & CTOK_WORD_IDS;
    if (!ctok_words_is_long(entry->key)) return count <= CTOK_WORD_HERE ? entry->ids : w->store + entry->ids[0];
    if (entry->ids[1] != n || memcmp(w->store + entry->ids[0] + count, p, n) != 0) return NULL;
    return w->store + entry->ids[0];
}

static inline float ctok_word_limit(uint32_t n) {
    const uint32_t bits = n & CTOK_WORD_LIMIT;
    float limit;
    memcpy(&limit, &bits, sizeof limit);
    return limit;
}

/* ctok_words_put - remember the word p[0..n) with its key and line. `none` fills up the ids of an entry; limit is not negative. Of two words
 * of a line the one that was put earlier goes, but what took several ids to say stays longer. Returns the n of the entry. */
static inline uint32_t ctok_words_put(ctok_words *w, ctok_word *line, const uint64_t key[2], const uint8_t *p, size_t n, const ctok_id *ids,
                                      size_t count, int has_unknown, float limit, ctok_id none) {
    const int is_long = ctok_words_is_long(key), apart = is_long || count > CTOK_WORD_HERE;
    const size_t need = count + (is_long ? (n + 3) / 4 : 0);
    uint32_t bits;
    memcpy(&bits, &limit, sizeof bits);
    bits = (uint32_t)count | (apart || has_unknown ? CTOK_WORD_APART : 0) | (bits & CTOK_WORD_LIMIT);
    if (apart && w->n_store + need > CTOK_WORDS_STORE) {
        memset(w->lines, 0, CTOK_WORDS_BYTES);
        w->n_store = 0;
    }
    ctok_word *entry = line;
    if (count == 1 && (line[0].n & CTOK_WORD_IDS) > 1) entry = line + 1;
    else line[1] = line[0];
    entry->key[0] = key[0];
    entry->key[1] = key[1];
    entry->n = bits;
    for (size_t i = 0; i < CTOK_WORD_HERE; i++) entry->ids[i] = i < count ? ids[i] : none;
    if (apart) {
        entry->ids[0] = w->n_store;
        entry->ids[1] = (ctok_id)n;
        memcpy(w->store + w->n_store, ids, count * sizeof *ids);
        if (is_long) memcpy(w->store + w->n_store + count, p, n);
        w->n_store += (uint32_t)need;
    }
    return bits;
}

#endif
