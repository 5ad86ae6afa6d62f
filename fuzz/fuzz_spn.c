/* fuzz_spn.c - SentencePiece's normalizer with rules that are built, or built and then damaged: in pieces, with copies and saved states on the
 * way and every call's allocations made to fail first, a text gives what it gives whole, which is what its offsets' text says.
 * links: charsmap charsmap_build dfa normal normal_chars normal_charsmap normal_facts normal_keep normal_map normal_ops normal_rooms
   normal_spn spn spn_lane trie unicode utf8 */
#include <stdlib.h>

#include "../csrc/ctok_charsmap_build.h"
#include "../csrc/ctok_normal.h"
#include "../csrc/ctok_le.h"
#include "../csrc/ctok_utf8.h"

#define CTOK_TEST_ALLOC 1
#include "../csrc/ctok_mem.c" /* with the hook that makes allocations fail */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST 8u

/* In ascending order. */
static const char *const KEYS[MOST] = {" x", "a", "ab", "e\xCC\x81", "x", "\xE3\x81\x8B\xE3\x82\x99", "\xE3\x81\x8B\xE3\x82\x99z", "\xEF\xBD\xB6"};
static const char *const NEW[4] = {" ", "", "  q ", "\xE2\x96\x81"};
static const char *const SYMBOLS[4] = {"<s>", "<s>a", "a b", "\xE2\x96\x81\xE2\x96\x81"};
static const char *const PARTS[16] = {" ", "a", "b", "e\xCC\x81", "x", "\xE3\x81\x8B", "\xE3\x82\x99", "z", "\xEF\xBD\xB6", "<s", ">",
                                      "\xE2\x96\x81", "word word ", "   ", "\xE4\xB8\xAD\xE6\x96\x87", "\xC3\xA9"};

static void check(int good) {
    if (!good) abort();
}

/* Rules chosen by bits; returns the bytes of a charsmap. */
static size_t make_rules(uint8_t chosen, uint8_t shift, ctok_bytes *made) {
    uint8_t keys[64];
    uint32_t ends[MOST], values[MOST], n = 0, at = 0, n_units = 0, *units = NULL;
    static const uint32_t PLACES[4] = {0, 2, 3, 8};
    for (uint32_t i = 0; i < MOST; i++) {
        if (!(chosen >> i & 1)) continue;
        memcpy(keys + at, KEYS[i], strlen(KEYS[i]));
        ends[n] = at += (uint32_t)strlen(KEYS[i]);
        values[n++] = PLACES[(i + shift) % 4];
    }
    if (n == 0) return 0;
    for (long fail = 0;; fail++) {
        ctok_mem_fail_after(fail);
        const ctok_status status = ctok_charsmap_build(keys, ends, values, n, &units, &n_units);
        ctok_mem_fail_after(-1);
        if (status == CTOK_OK) break;
        check(status == CTOK_ERR_MEMORY);
    }
    check(ctok_bytes_reserve(made, 4 + 4 * (size_t)n_units + 16) == CTOK_OK);
    ctok_le32_put(made->at, 4 * n_units);
    for (uint32_t i = 0; i < n_units; i++) ctok_le32_put(made->at + 4 + 4 * (size_t)i, units[i]);
    made->n = 4 + 4 * (size_t)n_units;
    ctok_mem_free(units);
    for (uint32_t i = 0; i < 4; i++) check(ctok_bytes_append(made, (const uint8_t *)NEW[i], strlen(NEW[i]) + 1) == CTOK_OK);
    return made->n;
}

static uint32_t make_symbols(uint8_t chosen, uint8_t *bytes, uint32_t *ends) {
    uint32_t n = 0, at = 0;
    for (uint32_t i = 0; i < 4; i++) {
        if (!(chosen >> i & 1)) continue;
        memcpy(bytes + at, SYMBOLS[i], strlen(SYMBOLS[i]));
        ends[n++] = at += (uint32_t)strlen(SYMBOLS[i]);
    }
    return n;
}

static void feed(const ctok_normal *c, ctok_normal_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out) {
    for (long fail = 0;; fail++) {
        ctok_normal_state twin = {NULL, 0};
        const size_t before = out->n;
        ctok_mem_fail_after(fail);
        ctok_status status = ctok_normal_begin(c, &twin);
        if (status == CTOK_OK) status = ctok_normal_copy(&twin, s);
        if (status == CTOK_OK) status = ctok_normal_feed(c, &twin, in, n, final, out);
        ctok_mem_fail_after(-1);
        if (status == CTOK_OK) {
            ctok_normal_end(s);
            *s = twin;
            return;
        }
        check(status == CTOK_ERR_MEMORY);
        ctok_normal_end(&twin);
        out->n = before;
    }
}

static void save_and_load(const ctok_normal *c, ctok_normal_state *s) {
    ctok_bytes saved = {NULL, 0, 0};
    size_t used;
    check(ctok_normal_save(s, &saved) == CTOK_OK);
    ctok_normal_reset(s);
    check(ctok_normal_load(c, s, saved.at, saved.n, &used) == CTOK_OK && used == saved.n);
    ctok_bytes_free(&saved);
}

static void compare(const ctok_normal *c, const uint8_t *text, const uint32_t *cuts, uint32_t n_cuts, uint8_t how) {
    ctok_bytes whole = {NULL, 0, 0}, pieces = {NULL, 0, 0}, tracked = {NULL, 0, 0};
    ctok_normal_state s = {NULL, 0};
    uint32_t *offsets = NULL, at = 0;
    const size_t n = n_cuts ? cuts[n_cuts - 1] : 0;
    check(ctok_normal_begin(c, &s) == CTOK_OK);
    check(ctok_normal_feed(c, &s, text, n, 1, &whole) == CTOK_OK);
    for (uint32_t i = 0; i < n_cuts; i++) {
        if (how & 1 && i % 3) continue;
        feed(c, &s, text + at, cuts[i] - at, 0, &pieces);
        at = cuts[i];
        if (how & 2) save_and_load(c, &s);
    }
    feed(c, &s, text + at, n - at, 1, &pieces);
    check(pieces.n == whole.n && (whole.n == 0 || memcmp(pieces.at, whole.at, whole.n) == 0));
    check(ctok_normal_offsets(c, text, n, &tracked, &offsets) == CTOK_OK);
    check(tracked.n == whole.n && (whole.n == 0 || memcmp(tracked.at, whole.at, whole.n) == 0));
    for (size_t i = 0; offsets != NULL && i <= tracked.n; i++) check(offsets[i] <= n && (i == 0 || offsets[i] >= offsets[i - 1]));
    ctok_mem_free(offsets);
    ctok_bytes_free(&whole);
    ctok_bytes_free(&pieces);
    ctok_bytes_free(&tracked);
    ctok_normal_end(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t text[4096];
    static uint32_t cuts[256];
    uint8_t symbols[64];
    uint32_t ends[4], n_cuts = 0, at = 0;
    ctok_bytes rules = {NULL, 0, 0}, out = {NULL, 0, 0};
    ctok_normal c;
    uint32_t *offsets;
    if (size < 6) return 0;
    const size_t n_rules = make_rules(data[0], data[1], &rules);
    const uint8_t damage = data[2] & 7, how = data[3];
    data += 4;
    size -= 4;
    for (uint8_t i = 0; i < damage && size >= 3 && n_rules; i++, data += 3, size -= 3) {
        rules.at[(size_t)(data[0] | data[1] << 8) % (n_rules - 4) + 4] = data[2];
    }
    ctok_spn_options options = {rules.at, n_rules, symbols, ends, make_symbols(how & 15, symbols, ends), how >> 4 & 1, how >> 5 & 1, how >> 6 & 1,
                                how >> 7};
    ctok_normal_init(&c);
    ctok_status status = ctok_normal_add_spn(&c, &options);
    if (status == CTOK_OK) status = ctok_normal_seal(&c);
    check(status == CTOK_OK || (damage && status == CTOK_ERR_FORMAT));
    ctok_bytes_free(&rules);
    for (size_t i = 0; status == CTOK_OK && i < size && n_cuts < 256 && at < 4000; i++) {
        const char *part = PARTS[data[i] & 15];
        memcpy(text + at, part, strlen(part));
        cuts[n_cuts++] = at += (uint32_t)strlen(part);
    }
    if (status == CTOK_OK) {
        compare(&c, text, cuts, n_cuts, (uint8_t)(how ^ n_cuts));
        check(ctok_normal_offsets(&c, data, size, &out, &offsets) == CTOK_OK); /* any bytes */
        size_t bad;
        check(ctok_utf8_validate(out.at, out.n, &bad) == CTOK_OK);
        ctok_mem_free(offsets);
        ctok_bytes_free(&out);
    }
    ctok_normal_free(&c);
    return 0;
}
