/* fuzz_stops.c - a few stop strings and a text: in pieces of any size, the stop that a plain loop finds first is found, and before it what
 * is held is the longest end of the text that begins a stop.
 * links: mem stops */
#include <stdlib.h>
#include <string.h>

#include "../csrc/ctok_stops.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST 6u

typedef struct stops {
    uint8_t bytes[MOST * 8];
    uint32_t ends[MOST];
    uint32_t n;
} stops;

/* Few letters, so that stops overlap; now and then any byte. */
static uint8_t letter(uint8_t b) {
    return b < 0xF0 ? (uint8_t)("abc\xC3\xA9"[b % 5]) : b;
}

static size_t read_stops(stops *t, const uint8_t *data, size_t size) {
    size_t at = 0;
    uint32_t n = 0;
    while (t->n < MOST && at < size && data[at]) {
        const size_t len = 1 + data[at++] % 8;
        for (size_t i = 0; i < len; i++) t->bytes[n++] = letter(at < size ? data[at++] : 0);
        t->ends[t->n++] = n;
    }
    return at < size ? at + 1 : size;
}

/* The longest stop that ends where the text of n bytes does; with `open`: the longest proper beginning of one that does. */
static size_t longest(const stops *t, const uint8_t *text, size_t n, int open) {
    size_t best = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        const uint32_t begin = i ? t->ends[i - 1] : 0;
        const size_t len = t->ends[i] - begin;
        for (size_t k = open ? 1 : len; k < len + !open; k++)
            if (k > best && k <= n && memcmp(t->bytes + begin, text + n - k, k) == 0) best = k;
    }
    return best;
}

static void check(int holds) {
    if (!holds) abort();
}

/* Returns whether a stop was found in text[from, to). */
static int scan(const ctok_stops *s, const stops *t, uint32_t *state, const uint8_t *text, size_t from, size_t to) {
    size_t hit = 0;
    const size_t used = ctok_stops_scan(s, state, text + from, to - from, &hit);
    for (size_t end = from + 1; end <= from + used; end++) check(longest(t, text, end, 0) == (hit && end == from + used ? hit : 0));
    if (hit) return 1;
    check(used == to - from && s->depth[*state] == longest(t, text, to, 1));
    check(memcmp(s->bytes + s->begin[*state], text + to - s->depth[*state], s->depth[*state]) == 0);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    stops t = {.n = 0};
    ctok_stops s;
    const size_t at = read_stops(&t, data, size), n = size - at;
    if (t.n == 0 || n == 0 || n > 4096) return 0;
    if (ctok_stops_init(&s, t.bytes, t.ends, t.n) != CTOK_OK) abort();
    uint8_t *text = malloc(n);
    check(text != NULL);
    for (size_t i = 0; i < n; i++) text[i] = letter(data[at + i]);
    uint32_t state = 0;
    for (size_t from = 0, to; from < n; from = to) {
        to = from + 1 + data[at + from] % 7;
        if (to > n) to = n;
        if (scan(&s, &t, &state, text, from, to)) break;
    }
    free(text);
    ctok_stops_free(&s);
    return 0;
}
