/* ctok_charsmap.c - walk the double array; lay out what single characters become. */
#include "ctok_charsmap.h"

#include <string.h>

#include "ctok_le.h"
#include "ctok_utf8.h"

#define PAGES (0x110000u >> 6)

/* One byte further: *at is where the children of the node are. Returns 1 and the unit, or 0: no such child. */
static int step(const ctok_charsmap *m, uint32_t *at, uint8_t byte, uint32_t *unit) {
    const uint32_t node = *at ^ byte;
    if (byte == 0 || node >= m->n_units) return 0;
    *unit = m->units[node];
    if (ctok_unit_label(*unit) != byte) return 0;
    *at = node ^ ctok_unit_offset(*unit);
    return 1;
}

static uint32_t search(const ctok_charsmap *m, const uint8_t *p, size_t n, size_t *len, int longest) {
    uint32_t unit, found = CTOK_CHARSMAP_NONE;
    if (m->n_units == 0) return found;
    uint32_t at = ctok_unit_offset(m->units[0]);
    for (size_t i = 0; i < n && step(m, &at, p[i], &unit); i++) {
        if (!ctok_unit_ends_key(unit)) continue;
        const uint32_t value = ctok_charsmap_value(m, at);
        if (value == CTOK_CHARSMAP_NONE) continue;
        found = value;
        *len = i + 1;
        if (!longest) break;
    }
    return found;
}

uint32_t ctok_charsmap_shortest(const ctok_charsmap *m, const uint8_t *p, size_t n, size_t *len) { return search(m, p, n, len, 0); }
uint32_t ctok_charsmap_longest(const ctok_charsmap *m, const uint8_t *p, size_t n, size_t *len) { return search(m, p, n, len, 1); }

/* Has the node with children at `at` any? A key that only ends there has none. */
static int goes_on(const ctok_charsmap *m, uint32_t at) {
    for (unsigned c = 1; c < 256; c++) {
        const uint32_t node = at ^ c;
        if (node < m->n_units && ctok_unit_label(m->units[node]) == c) return 1;
    }
    return 0;
}

uint32_t ctok_charsmap_match(const ctok_charsmap *m, const uint8_t *p, size_t n, size_t *len, int *open) {
    uint32_t unit, found = CTOK_CHARSMAP_NONE;
    unsigned keys = 0;
    *open = 0;
    if (m->n_units == 0) return found;
    uint32_t at = ctok_unit_offset(m->units[0]);
    for (size_t i = 0; i < n; i++) {
        if (!step(m, &at, p[i], &unit)) return found;
        if (!ctok_unit_ends_key(unit)) continue;
        const uint32_t value = ctok_charsmap_value(m, at);
        if (value == CTOK_CHARSMAP_NONE) continue;
        found = value;
        *len = i + 1;
        if (++keys == CTOK_CHARSMAP_NESTED) return found;
    }
    *open = goes_on(m, at);
    return found;
}

/* ---- the table of single characters ---- */

typedef struct builder {
    ctok_charsmap *m;
    size_t n_pages, cap_pages;
    size_t visits;        /* nodes looked at: a sane trie has each once */
} builder;

static ctok_status enter(builder *b, uint32_t code, uint32_t value) {
    ctok_charsmap *m = b->m;
    uint16_t *page = &m->pages[code >> 6];
    if (*page == 0) {
        if (b->n_pages == b->cap_pages) {
            const size_t cap = b->cap_pages * 2;
            uint32_t *entries = (uint32_t *)ctok_mem_resize(m->entries, cap * 64, sizeof *entries);
            if (entries == NULL) return CTOK_ERR_MEMORY;
            memset(entries + b->cap_pages * 64, 0, (cap - b->cap_pages) * 64 * sizeof *entries);
            m->entries = entries;
            b->cap_pages = cap;
        }
        *page = (uint16_t)b->n_pages++;
    }
    m->entries[(uint32_t)*page << 6 | (code & 63)] = value + 1;
    return CTOK_OK;
}

/* All characters whose UTF-8 begins with the n bytes at p. */
static ctok_status enter_all(builder *b, const uint8_t *p, size_t n, uint32_t value) {
    uint8_t low, high, all[4];
    uint32_t code;
    const size_t more = ctok_utf8_range(p[0], &low, &high), need = more ? more : 1;
    if (n > need || n > 3 + (need == 4)) return CTOK_OK;
    memcpy(all, p, n);
    if (n == need) return ctok_utf8_step(all, n, &code) == n && code < 0x110000 ? enter(b, code, value) : CTOK_OK;
    for (unsigned c = n == 1 ? low : 0x80u; c <= (n == 1 ? high : 0xBFu); c++) {
        all[n] = (uint8_t)c;
        const ctok_status status = enter_all(b, all, n + 1, value);
        if (status != CTOK_OK) return status;
    }
    return CTOK_OK;
}

/* Walk on from the node reached by the n bytes at p, whose children are at `at`, as far as one character goes. */
static ctok_status collect(builder *b, uint8_t *p, size_t n, size_t need, uint32_t at) {
    uint8_t low = 0x80, high = 0xBF;
    if (n == 1) ctok_utf8_range(p[0], &low, &high);
    const unsigned first = n == 0 ? 1 : low, last = n == 0 ? 0xF4 : high;
    for (unsigned c = first; c <= last; c++) {
        uint32_t next = at, unit;
        uint8_t l, h;
        if (!step(b->m, &next, (uint8_t)c, &unit)) continue;
        if (++b->visits > 2 * (size_t)b->m->n_units + 256) return CTOK_ERR_FORMAT;
        p[n] = (uint8_t)c;
        const size_t all = n ? need : c < 0x80 ? 1 : ctok_utf8_range((uint8_t)c, &l, &h);
        if (all == 0) continue;
        const uint32_t value = ctok_unit_ends_key(unit) ? ctok_charsmap_value(b->m, next) : CTOK_CHARSMAP_NONE;
        ctok_status status = CTOK_OK;
        if (value != CTOK_CHARSMAP_NONE) {
            status = enter_all(b, p, n + 1, value);
        } else if (n + 1 < all) {
            status = collect(b, p, n + 1, all, next);
        }
        if (status != CTOK_OK) return status;
    }
    return CTOK_OK;
}

static ctok_status lay_out(ctok_charsmap *m) {
    builder b = {m, 1, 64, 0};
    uint8_t p[4];
    m->pages = (uint16_t *)ctok_mem_zeroed(PAGES, sizeof *m->pages);
    m->entries = (uint32_t *)ctok_mem_zeroed(b.cap_pages * 64, sizeof *m->entries);
    if (m->pages == NULL || m->entries == NULL) return CTOK_ERR_MEMORY;
    return m->n_units ? collect(&b, p, 0, 0, ctok_unit_offset(m->units[0])) : CTOK_OK;
}

/* Every place a key may name must start a character: the texts are cut there. */
static int values_are_sound(const ctok_charsmap *m) {
    for (uint32_t i = 0; i < m->n_units; i++) {
        const uint32_t value = m->units[i] & 0x7FFFFFFFu;
        if (m->units[i] >> 31 && value < m->n_texts && (m->texts[value] & 0xC0) == 0x80) return 0;
    }
    return 1;
}

ctok_status ctok_charsmap_init(ctok_charsmap *m, const uint8_t *data, size_t n, int by_char) {
    size_t bad;
    memset(m, 0, sizeof *m);
    if (n < 4 || n > UINT32_MAX) return CTOK_ERR_FORMAT;
    const uint32_t trie = ctok_le32_get(data) / 4;
    if (trie > (n - 4) / 4) return CTOK_ERR_FORMAT;
    const size_t texts = n - 4 - 4 * (size_t)trie;
    if (ctok_utf8_validate(data + n - texts, texts, &bad) != CTOK_OK) return CTOK_ERR_FORMAT;
    m->units = (uint32_t *)ctok_mem_alloc(trie, sizeof *m->units);
    m->texts = (uint8_t *)ctok_mem_alloc(texts + 1, 1);
    if (m->units == NULL || m->texts == NULL) {
        ctok_charsmap_free(m);
        return CTOK_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < trie; i++) m->units[i] = ctok_le32_get(data + 4 + 4 * (size_t)i);
    memcpy(m->texts, data + n - texts, texts);
    m->texts[texts] = 0;
    m->n_units = trie;
    m->n_texts = (uint32_t)texts;
    ctok_status status = values_are_sound(m) ? CTOK_OK : CTOK_ERR_FORMAT;
    if (status == CTOK_OK && by_char) status = lay_out(m);
    if (status != CTOK_OK) ctok_charsmap_free(m);
    return status;
}

void ctok_charsmap_free(ctok_charsmap *m) {
    ctok_mem_free(m->units);
    ctok_mem_free(m->texts);
    ctok_mem_free(m->pages);
    ctok_mem_free(m->entries);
    memset(m, 0, sizeof *m);
}
