/* ctok_words.h - what was found lately for the words of a text (csrc/ctok_wordcut.h).
 *
 * The memory is bounded and one thread's own. It begins small and grows once, when it has filled. A look-up reads one cache line. A word of
 * up to 15 bytes, a U+2581 that it begins with not counted, is its own key (csrc/ctok_key.h); of a longer one the key is a hash, and its
 * bytes stand in the store, as ids do that are more than an answer holds. So a hit is never wrong. When the store is full, all is forgotten.
 *
 * What is remembered may hold only up to some limit, a number that the caller compares with.
 */
#ifndef CTOK_WORDS_H
#define CTOK_WORDS_H

#include "ctok_ids.h"
#include "ctok_key.h"
#include "ctok_wordcut.h"

#define CTOK_WORDS_FIRST_BITS 11u    /* lines of two entries: 128 KiB at first, */
#define CTOK_WORDS_BITS 16u          /* then 4 MiB */
#define CTOK_WORDS_STORE (1u << 20)  /* numbers of the store: 4 MiB */
#define CTOK_WORD_HERE 3u            /* ids that an answer holds */
#define CTOK_WORD_GROUP 4u           /* in the store ids are filled up to a number of groups */
#define CTOK_WORDS_ROOMY 20u         /* bytes read at a short word */
#define CTOK_WORD_BYTES 63u          /* of the longest word that is remembered */

#define CTOK_WORD_IDS 0xFFu          /* of an answer's n: how many ids */
#define CTOK_WORD_APART 0x100u       /* one of them is the unknown one, which may be left out */
#define CTOK_WORD_STORED 0x200u      /* they stand in the store, from ids[0] on */
#define CTOK_WORD_RUN 0x400u         /* so many unknown characters that stand together */
#define CTOK_WORD_LIMIT 0xFFFF0000u  /* the upper half of a float: the limit, rounded toward 0 */

typedef struct ctok_answer {
    ctok_id ids[CTOK_WORD_HERE];
    uint32_t n;
} ctok_answer;

typedef struct ctok_word {
    uint64_t key[2];                 /* 0: empty */
    ctok_answer answer;
} ctok_word;

typedef struct ctok_words {
    ctok_word *lines;
    ctok_id *store;
    uint32_t n_store;                /* in use */
    uint32_t n_put;
    unsigned bits;                   /* of the number of lines */
    uint64_t seed;                   /* odd */
} ctok_words;

static inline size_t ctok_words_bytes(unsigned bits) {
    return ((size_t)2 << bits) * sizeof(ctok_word);
}

/* Numbers of the store that n ids take. */
static inline size_t ctok_words_filled(size_t n) {
    return (n + CTOK_WORD_GROUP - 1) / CTOK_WORD_GROUP * CTOK_WORD_GROUP;
}

/* ctok_words_init - an empty memory; the store is touched as it fills. */
static inline ctok_status ctok_words_init(ctok_words *w, uint64_t seed) {
    w->bits = CTOK_WORDS_FIRST_BITS;
    w->lines = (ctok_word *)ctok_mem_block(ctok_words_bytes(w->bits));
    w->store = (ctok_id *)ctok_mem_alloc(CTOK_WORDS_STORE, sizeof(ctok_id));
    w->n_store = w->n_put = 0;
    w->seed = seed | 1;
    if (w->lines != NULL && w->store != NULL) return CTOK_OK;
    ctok_mem_unblock(w->lines, ctok_words_bytes(w->bits));
    ctok_mem_free(w->store);
    w->lines = NULL;
    return CTOK_ERR_MEMORY;
}

/* ctok_words_free - give it back; one that was never made, all zeros, is allowed. */
static inline void ctok_words_free(ctok_words *w) {
    if (w->lines == NULL) return;
    ctok_mem_unblock(w->lines, ctok_words_bytes(w->bits));
    ctok_mem_free(w->store);
    w->lines = NULL;
}

static inline ctok_word *ctok_words_line(const ctok_words *w, const uint64_t key[2]) {
    uint64_t h = key[0] * w->seed;
    h = (h ^ h >> 32 ^ key[1]) * UINT64_C(0x9E3779B97F4A7C15);
    return w->lines + 2 * (h >> (64 - w->bits));
}

/* ctok_words_make_room - make sure that n words can be put before anything is forgotten, n <= CTOK_WORDS_STORE / 128. Lines move; where
 * there is no memory to grow, they stay as they are. */
static inline void ctok_words_make_room(ctok_words *w, size_t n) {
    if (CTOK_UNLIKELY(w->n_store + n * (ctok_words_filled(CTOK_WORD_BYTES) + 16) > CTOK_WORDS_STORE)) {
        memset(w->lines, 0, ctok_words_bytes(w->bits));
        w->n_store = 0;
    }
    if (CTOK_LIKELY(w->bits == CTOK_WORDS_BITS || w->n_put < (uint32_t)1 << w->bits)) return;
    ctok_words more = *w;
    more.bits = CTOK_WORDS_BITS;
    more.lines = (ctok_word *)ctok_mem_block(ctok_words_bytes(more.bits));
    if (more.lines == NULL) return;
    for (size_t i = (size_t)2 << w->bits; i-- > 0;) { /* of two in a line the first comes last, and first again */
        if (w->lines[i].key[1] == 0) continue;
        ctok_word *line = ctok_words_line(&more, w->lines[i].key);
        line[1] = line[0];
        line[0] = w->lines[i];
    }
    ctok_mem_unblock(w->lines, ctok_words_bytes(w->bits));
    *w = more;
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

/* ctok_words_ask - compute the key of the word p[start..stop), and begin to fetch its line; p is readable up to end. A word of more than
 * CTOK_WORD_BYTES has a key that is never found. */
static inline ctok_word *ctok_words_ask(const ctok_words *w, const uint8_t *p, size_t start, size_t stop, size_t end, uint64_t key[2]) {
    const uint64_t marked = stop - start >= 3 && ctok_is_mark(p + start);
    const size_t from = start + 3 * marked, size = stop - from;
    if (CTOK_UNLIKELY(size > CTOK_KEY_BYTES)) {
        key[0] = 0;
        key[1] = (uint64_t)255 << 56;
        if (stop - start <= CTOK_WORD_BYTES) ctok_words_long_key(w, p + start, stop - start, key);
    } else {
        if (CTOK_LIKELY(from + 16 <= end)) ctok_key_roomy(p + from, size, key);
        else ctok_key_exact(p + from, size, key);
        key[1] |= marked << 62;
    }
    ctok_word *line = ctok_words_line(w, key);
    CTOK_PREFETCH(line);
    return line;
}

/* ctok_words_ask_short - the same for a word p[0..n) of 3 to CTOK_WORDS_SHORT bytes that begins with a U+2581 if it is longer than
 * CTOK_KEY_BYTES, where CTOK_WORDS_ROOMY bytes can be read at p. */
static inline ctok_word *ctok_words_ask_short(const ctok_words *w, const uint8_t *p, size_t n, uint64_t key[2]) {
    const uint64_t marked = (ctok_load_le(p, 8) & 0xFFFFFF) == 0x8196E2;
    ctok_key_roomy(p + 3 * marked, n - 3 * marked, key);
    key[1] |= marked << 62;
    ctok_word *line = ctok_words_line(w, key);
    CTOK_PREFETCH(line);
    return line;
}

static inline int ctok_words_is_long(const uint64_t key[2]) {
    return key[1] >> 56 == CTOK_KEY_BYTES + 1;
}

/* ctok_word_is - has an entry that key? Without a branch. */
static inline int ctok_word_is(const ctok_word *entry, const uint64_t key[2]) {
#ifdef CTOK_WORDS_SSE2
    const __m128i own = _mm_loadu_si128((const __m128i *)(const void *)entry->key);
    const __m128i other = _mm_loadu_si128((const __m128i *)(const void *)key);
    return _mm_movemask_epi8(_mm_cmpeq_epi8(own, other)) == 0xFFFF;
#else
    return ((entry->key[0] ^ key[0]) | (entry->key[1] ^ key[1])) == 0;
#endif
}

/* ctok_words_look_up - answer n asked words by their keys and lines: that of number i goes to found[numbers[i]]. misses, room for n,
 * receives which i have none, ascending, and those of which ctok_words_recall must say it. Returns how many. */
static inline size_t ctok_words_look_up(const uint64_t (*keys)[2], ctok_word *const *lines, const uint32_t *numbers, size_t n,
                                        ctok_answer *found, uint32_t *misses) {
    size_t n_misses = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t *key = keys[i];
        const ctok_word *line = lines[i];
        const int second = ctok_word_is(line + 1, key);
        found[numbers[i]] = line[second].answer;
        misses[n_misses] = (uint32_t)i;
        n_misses += (size_t)((ctok_word_is(line, key) | second) ^ 1) | (size_t)ctok_words_is_long(key);
    }
    return n_misses;
}

/* ctok_words_recall - the answer for the word p[0..n), by its key and line, or NULL. */
static inline const ctok_answer *ctok_words_recall(const ctok_words *w, const ctok_word *line, const uint64_t key[2], const uint8_t *p,
                                                   size_t n) {
    const ctok_word *entry = line + (line[0].key[0] != key[0] || line[0].key[1] != key[1]);
    if (entry->key[0] != key[0] || entry->key[1] != key[1]) return NULL;
    const ctok_answer *a = &entry->answer;
    if (!ctok_words_is_long(key)) return a;
    const ctok_id *bytes = w->store + a->ids[0] + ctok_words_filled(a->n & CTOK_WORD_IDS);
    return a->ids[1] == n && memcmp(bytes, p, n) == 0 ? a : NULL;
}

/* ctok_words_ids - the ids of an answer, filled up. */
static inline const ctok_id *ctok_words_ids(const ctok_words *w, const ctok_answer *a) {
    return a->n & CTOK_WORD_STORED ? w->store + a->ids[0] : a->ids;
}

static inline float ctok_word_limit(uint32_t n) {
    const uint32_t bits = n & CTOK_WORD_LIMIT;
    float limit;
    memcpy(&limit, &bits, sizeof limit);
    return limit;
}

/* How many ids, what is to be known of them, and the limit, which is not negative, as the n of an answer. */
static inline uint32_t ctok_word_n(size_t count, uint32_t apart, float limit) {
    uint32_t bits;
    memcpy(&bits, &limit, sizeof bits);
    return (uint32_t)count | apart | (bits & CTOK_WORD_LIMIT);
}

/* ctok_words_put - remember the word p[0..n), n <= CTOK_WORD_BYTES, with its key and line; ctok_words_make_room has made room for it.
 * `none` fills up the ids; limit is not negative. Of two words of a line the one that was put earlier goes, but what took
 * several ids to say stays longer. Returns the answer, which stays until the next word is put. */
static inline const ctok_answer *ctok_words_put(ctok_words *w, ctok_word *line, const uint64_t key[2], const uint8_t *p, size_t n,
                                                const ctok_id *ids, size_t count, int has_unknown, float limit, ctok_id none) {
    const int is_long = ctok_words_is_long(key), stored = is_long || count > CTOK_WORD_HERE;
    ctok_word *entry = line;
    if (count == 1 && (line[0].answer.n & CTOK_WORD_IDS) > 1) entry = line + 1;
    else line[1] = line[0];
    entry->key[0] = key[0];
    entry->key[1] = key[1];
    entry->answer.n = ctok_word_n(count, (stored ? CTOK_WORD_STORED : 0) | (has_unknown ? CTOK_WORD_APART : 0), limit);
    for (size_t i = 0; i < CTOK_WORD_HERE; i++) entry->answer.ids[i] = i < count ? ids[i] : none;
    if (stored) {
        entry->answer.ids[0] = w->n_store;
        entry->answer.ids[1] = (ctok_id)n;
        ctok_id *to = w->store + w->n_store;
        const size_t filled = ctok_words_filled(count);
        for (size_t i = 0; i < filled; i++) to[i] = i < count ? ids[i] : none;
        if (is_long) memcpy(to + filled, p, n);
        w->n_store += (uint32_t)(filled + (is_long ? (n + 3) / 4 : 0));
    }
    w->n_put++;
    return &entry->answer;
}

#endif
