/* fuzz_added.c - a few added tokens with flags and a text: whole, each token is the leftmost and longest that a plain loop finds; in
 * pieces, with no more of the text kept than asked for, and saved and loaded on the way, the same comes out.
 * links: added mem unicode utf8 */
#include <stdlib.h>
#include <string.h>

#include "../csrc/ctok_added.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST 8u
#define ROOM 4096u

/* Few characters, so that tokens overlap; white space, word characters and neither, of one to four bytes. */
static const char *const CHARS[16] = {"a", "a", "b", "<", ">", " ", " ", "\n", "_", "-", "\xC3\xA9", "\xE3\x80\x80", "\xE6\x97\xA5",
                                      "\xC2\xA0", "\xF0\x9F\x98\x80", "\xE2\x80\x8D"};

typedef struct tokens {
    uint8_t bytes[MOST * 16];
    uint32_t ends[MOST];
    ctok_id ids[MOST];
    uint8_t flags[MOST], skip[MOST];
    uint32_t n;
} tokens;

/* What came out: bytes of text, and 0xFF with the number of each token. */
typedef struct output {
    uint8_t at[3 * ROOM];
    size_t n;
} output;

static size_t put_char(uint8_t *to, uint8_t b) {
    const char *c = CHARS[b & 15];
    memcpy(to, c, strlen(c));
    return strlen(c);
}

static size_t read_tokens(tokens *t, const uint8_t *data, size_t size) {
    size_t at = 0, n = 0;
    while (t->n < MOST && at + 2 < size && data[at]) {
        const size_t len = 1 + data[at] % 4;
        t->flags[t->n] = data[at + 1] & 7;
        t->skip[t->n] = data[at + 1] >> 5 == 7;
        t->ids[t->n] = t->n + 100;
        at += 2;
        for (size_t i = 0; i < len; i++) n += put_char(t->bytes + n, at < size ? data[at++] : 0);
        t->ends[t->n++] = (uint32_t)n;
    }
    return at < size ? at + 1 : size;
}

static void give(output *out, const uint8_t *buf, const ctok_added_event *e, ctok_added_result r) {
    if (e->text > e->text_end || e->keep > e->text_end + ROOM || out->n + e->text_end - e->text + 2 > sizeof out->at) abort();
    memcpy(out->at + out->n, buf + e->text, e->text_end - e->text);
    out->n += e->text_end - e->text;
    if (r == CTOK_ADDED_FOUND) {
        out->at[out->n++] = 0xFF;
        out->at[out->n++] = (uint8_t)e->token;
    }
}

/* The longest token that starts at p, by a plain loop; 0 = none. */
static size_t longest_at(const tokens *t, const uint8_t *p, size_t n) {
    size_t best = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        const size_t begin = i ? t->ends[i - 1] : 0, len = t->ends[i] - begin;
        if (len > best && len <= n && memcmp(t->bytes + begin, p, len) == 0) best = len;
    }
    return best;
}

static void check_plain(const ctok_added *a, const tokens *t, const uint8_t *text, size_t n) {
    ctok_added_state s;
    ctok_added_event e;
    size_t at = 0;
    if (a->any) return;
    ctok_added_begin(&s);
    while (ctok_added_next(a, &s, text, n, 1, NULL, &e) == CTOK_ADDED_FOUND) {
        while (at < n && !longest_at(t, text + at, n - at)) at++;
        if (e.start != at || e.end - e.start != longest_at(t, text + at, n - at)) abort();
        at = e.end;
    }
    for (; at < n; at++)
        if (longest_at(t, text + at, n - at)) abort();
}

static void whole(const ctok_added *a, const tokens *t, const uint8_t *text, size_t n, output *out) {
    ctok_added_state s;
    ctok_added_event e;
    ctok_added_result r;
    ctok_added_begin(&s);
    do {
        r = ctok_added_next(a, &s, text, n, 1, t->skip, &e);
        give(out, text, &e, r);
    } while (r == CTOK_ADDED_FOUND);
}

static void in_pieces(const ctok_added *a, const tokens *t, const uint8_t *text, size_t n, uint8_t cut, output *out) {
    ctok_added_state s;
    ctok_added_event e;
    ctok_added_result r;
    uint8_t saved[CTOK_ADDED_SAVED];
    size_t from = 0, to = 0;
    ctok_added_begin(&s);
    for (int final = 0; !final;) {
        to = n - to < 1u + cut % 7 ? n : to + 1 + cut % 7;
        while (to < n && (text[to] & 0xC0) == 0x80) to++;
        final = to == n && cut & 64;
        cut = (uint8_t)(cut * 5 + 77);
        uint8_t *exact = malloc(to > from ? to - from : 1); /* no byte more than it says */
        memcpy(exact, text + from, to - from);
        do {
            r = ctok_added_next(a, &s, exact, to - from, final, t->skip, &e);
            give(out, exact, &e, r);
        } while (r == CTOK_ADDED_FOUND);
        if (!final) {
            ctok_added_drop(a, &s, exact, e.keep);
            from += e.keep;
            ctok_added_save(a, &s, saved);
            if (cut & 1 && ctok_added_load(&s, saved, to - from) != CTOK_OK) abort();
        }
        free(exact);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static tokens t;
    static output once, twice;
    static uint8_t text[ROOM];
    ctok_added a;
    size_t n = 0;
    uint32_t bad;
    memset(&t, 0, sizeof t);
    size_t at = read_tokens(&t, data, size);
    if (t.n == 0 || at >= size) return 0;
    const uint8_t cut = data[at++];
    while (at < size && n + 4 <= ROOM / 8) n += put_char(text + n, data[at++]);
    if (ctok_added_init(&a, t.bytes, t.ends, t.ids, t.flags, t.n, &bad) != CTOK_OK) abort();
    once.n = twice.n = 0;
    check_plain(&a, &t, text, n);
    whole(&a, &t, text, n, &once);
    in_pieces(&a, &t, text, n, cut, &twice);
    if (once.n != twice.n || memcmp(once.at, twice.at, once.n) != 0) abort();
    ctok_added_free(&a);
    return 0;
}
