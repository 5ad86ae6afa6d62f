/* fuzz_vocab.c - a small vocabulary and a text: look-ups, the trie, literals whole and while the text arrives, the cache and the tree of
 * minima each answer what a plain loop answers.
 * links: mem vocab */
#include <stdlib.h>
#include <string.h>

#include "../csrc/ctok_cache.h"
#include "../csrc/ctok_literals.h"
#include "../csrc/ctok_mintree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST 24u
#define LONGEST 12u

typedef struct text {
    const uint8_t *p;
    size_t n;
} text;

static int order(const void *a, const void *b) {
    const text *x = a, *y = b;
    const int found = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);
    return found ? found : (x->n > y->n) - (x->n < y->n);
}

/* Tokens are length (1..12), bytes; a length of 0 ends them. Sorted, without repetition; *used is where the rest begins. */
static size_t tokens_of(const uint8_t *data, size_t size, text *tokens, size_t *used) {
    size_t n = 0, at = 0, kept = 0;
    while (n < MOST && at < size && data[at] % (LONGEST + 1) && data[at] % (LONGEST + 1) < size - at) {
        tokens[n].n = data[at] % (LONGEST + 1);
        tokens[n].p = data + at + 1;
        at += 1 + tokens[n++].n;
    }
    *used = at < size ? at + 1 : size;
    qsort(tokens, n, sizeof *tokens, order);
    for (size_t i = 0; i < n; i++)
        if (!kept || order(&tokens[i], &tokens[kept - 1])) tokens[kept++] = tokens[i];
    return kept;
}

static ctok_id plain_find(const text *tokens, size_t n, const uint8_t *p, size_t len) {
    const text wanted = {p, len};
    for (size_t i = 0; i < n; i++)
        if (order(&tokens[i], &wanted) == 0) return (ctok_id)(i * 3);
    return CTOK_NO_ID;
}

static void check_trie(const ctok_vocab *v, const text *tokens, size_t n, const uint8_t *p, size_t len) {
    ctok_range r = ctok_range_root(v);
    for (size_t depth = 0; depth <= len && depth <= LONGEST; depth++) {
        int goes_on = 0;
        for (size_t i = 0; i < n; i++) goes_on |= tokens[i].n > depth && memcmp(tokens[i].p, p, depth) == 0;
        if (ctok_range_goes_on(v, r) != goes_on) abort();
        if (depth && ctok_vocab_begins(v, p, depth) != goes_on) abort();
        if (depth && (ctok_range_token(v, r) != plain_find(tokens, n, p, depth) || ctok_vocab_find(v, p, depth) != plain_find(tokens, n, p, depth)))
            abort();
        if (depth < len) r = ctok_range_step(v, r, p[depth]);
    }
}

/* The first place from which a literal stands or, when not at_eof, could be completed; leftmost, then longest. */
static ctok_literal_result plain_literal(const text *set, size_t n, const uint8_t *p, size_t len, int at_eof, size_t *start, size_t *size) {
    for (*start = 0; *start < len; ++*start) {
        int open = 0;
        *size = 0;
        for (size_t i = 0; i < n; i++) {
            const size_t left = len - *start;
            if (memcmp(set[i].p, p + *start, set[i].n < left ? set[i].n : left)) continue;
            if (set[i].n > left) open = 1;
            else if (set[i].n > *size) *size = set[i].n;
        }
        if (open && !at_eof) return CTOK_LITERAL_HOLD;
        if (*size) return CTOK_LITERAL_FOUND;
    }
    return CTOK_LITERAL_NONE;
}

static void check_literals(const ctok_vocab *v, const text *set, size_t n, const uint8_t *p, size_t len) {
    const int only = set[0].p[0] == set[n - 1].p[0] ? set[0].p[0] : -1;
    for (int at_eof = 0; at_eof < 2; at_eof++) {
        size_t start = 0, size = 0, want_start, want_size;
        ctok_id id = 0;
        const ctok_literal_result want = plain_literal(set, n, p, len, at_eof, &want_start, &want_size);
        if (ctok_literals_find(v, only, p, 0, len, at_eof, &start, &size, &id) != want) abort();
        if (want != CTOK_LITERAL_NONE && start != want_start) abort();
        if (want == CTOK_LITERAL_FOUND && (size != want_size || id != plain_find(set, n, p + start, size))) abort();
    }
}

static void check_mintree(const uint8_t *p, size_t n) {
    int32_t room[1024], plain[512];
    ctok_mintree t;
    if (n > 512) n = 512;
    if (n < 2 || ctok_mintree_room(n) > 1024) return;
    ctok_mintree_shape(&t, room, n);
    for (size_t i = 0; i < n; i++) plain[i] = t.level[0][i] = p[i] < 200 ? p[i] : CTOK_MINTREE_NONE;
    ctok_mintree_build(&t, n);
    for (size_t k = 0; k < n; k++) {
        size_t place, best = 0;
        for (size_t i = 1; i < n; i++)
            if (plain[i] < plain[best]) best = i;
        if (ctok_mintree_first(&t, &place) != plain[best] || place != best) abort();
        plain[k] = plain[best] = k % 3 ? CTOK_MINTREE_NONE : p[n - 1 - k];
        ctok_mintree_set(&t, best, plain[best]);
        ctok_mintree_set(&t, k, plain[k]);
    }
}

/* One cache for all runs: what it finds must be what that very text was stored with, whatever came between. */
static void check_cache(const uint8_t *p, size_t n) {
    static ctok_cache cache;
    uint64_t key[4], roomy[2];
    if (cache.room == NULL && ctok_cache_init(&cache, 7) != CTOK_OK) return;
    for (size_t i = 0; i + 1 < n && i < 64; i++) {
        const size_t len = 1 + p[i] % CTOK_CACHE_LONG;
        const ctok_id ids[3] = {p[i + 1], (ctok_id)len, i + len < n ? p[i + len] : 0};
        ctok_long_entry *entry;
        if (i + 1 + len > n) continue;
        if (len <= CTOK_CACHE_SHORT) {
            ctok_key_exact(p + i + 1, len, key);
            if (i + 17 <= n) {
                ctok_key_roomy(p + i + 1, len, roomy);
                if (memcmp(key, roomy, 16)) abort();
            }
            ctok_short_entry *line = ctok_cache_line(&cache, key);
            const ctok_short_entry *hit = ctok_cache_find(line, key);
            if (hit && (hit->n != 3 || memcmp(hit->ids, ids, sizeof ids))) abort();
            ctok_cache_put(line, key, ids, 3);
            if (ctok_cache_find(line, key) == NULL) abort();
        } else {
            ctok_cache_long_key(p + i + 1, len, NULL, key);
            entry = ctok_cache_long_line(&cache, key);
            if (ctok_cache_long_is(entry, len, key) && (entry->n != 3 || memcmp(entry->ids, ids, sizeof ids))) abort();
            ctok_cache_long_put(entry, len, key, ids, 3);
            if (!ctok_cache_long_is(entry, len, key)) abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    text tokens[MOST];
    uint8_t joined[MOST * LONGEST];
    uint32_t ends[MOST], bad, total = 0;
    ctok_id ids[MOST];
    ctok_vocab v;
    size_t used;
    const size_t n = tokens_of(data, size, tokens, &used), len = size - used;
    for (size_t i = 0; i < n; i++) {
        memcpy(joined + total, tokens[i].p, tokens[i].n);
        ends[i] = total += (uint32_t)tokens[i].n;
        ids[i] = (ctok_id)(i * 3);
    }
    if (n == 0) return 0;
    if (ctok_vocab_init(&v, joined, ends, ids, (uint32_t)n, NULL, NULL, NULL, 0, &bad) != CTOK_OK) abort();
    for (size_t i = 0; i < n; i++) check_trie(&v, tokens, n, tokens[i].p, tokens[i].n);
    for (size_t i = 0; i < len && i < 64; i++) check_trie(&v, tokens, n, data + used + i, len - i < LONGEST ? len - i : LONGEST);
    if (len) check_literals(&v, tokens, n, data + used, len < 256 ? len : 256);
    check_mintree(data + used, len);
    check_cache(data + used, len);
    ctok_vocab_free(&v);
    return 0;
}
