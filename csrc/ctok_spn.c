/* ctok_spn.c - read rules and symbols; lay out what the lane knows of each character. */
#include "ctok_spn.h"

#include <string.h>

#include "ctok_utf8.h"

#define PAGES (0x110000u >> 6)
#define NONE UINT32_MAX

/* ---- the children of each node, by one pass over the units: they carry the byte that leads to them ---- */

typedef struct children {
    uint32_t *first; /* by the place their places are XORed from */
    uint32_t *next;
} children;

static ctok_status list_children(children *c, const ctok_charsmap *rules) {
    c->first = (uint32_t *)ctok_mem_alloc(rules->n_units, sizeof *c->first);
    c->next = (uint32_t *)ctok_mem_alloc(rules->n_units, sizeof *c->next);
    if (c->first == NULL || c->next == NULL) return CTOK_ERR_MEMORY;
    memset(c->first, 0xFF, rules->n_units * sizeof *c->first);
    for (uint32_t at = rules->n_units; at-- > 1;) {
        const uint32_t label = ctok_unit_label(rules->units[at]), from = at ^ label;
        if (label == 0 || label > 0xFF || from >= rules->n_units) continue;
        c->next[at] = c->first[from];
        c->first[from] = at;
    }
    return CTOK_OK;
}

/* ---- a walk over all rules ---- */

/* A node on the way: its children are at `from`, and n of the `need` bytes of a character, with these bits, lead to it. */
typedef struct node {
    uint32_t from, code;
    uint8_t n, need, is_first;
} node;

typedef struct walk {
    ctok_spn *m;
    children c;
    uint8_t *seen;       /* nodes at which a second or later character starts */
    node *open;          /* still to be looked at */
    size_t n_open, cap_open;
    size_t visits;
    uint32_t n_pages, cap_pages;
} walk;

static inline ctok_status push(walk *w, const node *one) {
    if (w->n_open == w->cap_open) {
        const size_t cap = w->cap_open ? 2 * w->cap_open : 256;
        node *open = (node *)ctok_mem_resize(w->open, cap, sizeof *open);
        if (open == NULL) return CTOK_ERR_MEMORY;
        w->open = open;
        w->cap_open = cap;
    }
    w->open[w->n_open++] = *one;
    return CTOK_OK;
}

/* A page for 64 characters of which nothing was known. */
static ctok_status add_page(walk *w, uint16_t *page) {
    ctok_spn *m = w->m;
    if (w->n_pages == w->cap_pages) {
        const uint32_t cap = w->cap_pages * 2;
        uint32_t *entries = (uint32_t *)ctok_mem_resize(m->entries, (size_t)cap * 64, sizeof *entries);
        if (entries == NULL) return CTOK_ERR_MEMORY;
        memset(entries + (size_t)w->cap_pages * 64, 0, (size_t)w->cap_pages * 64 * sizeof *entries);
        m->entries = entries;
        w->cap_pages = cap;
    }
    *page = (uint16_t)w->n_pages++;
    return CTOK_OK;
}

static inline ctok_status mark(walk *w, uint32_t code, uint32_t bits) {
    uint16_t *page = &w->m->pages[code >> 6];
    if (*page == 0 && add_page(w, page) != CTOK_OK) return CTOK_ERR_MEMORY;
    w->m->entries[(uint32_t)*page << 6 | (code & 63)] |= bits;
    return CTOK_OK;
}

/* What the lane does with a character of `len` bytes that a rule turns into the text at a place. */
static uint32_t rule_bits(const ctok_spn *m, uint32_t place, size_t len) {
    const char *text = (const char *)m->rules.texts + place;
    const size_t n = strlen(text);
    if (n == 1 && text[0] == ' ') return CTOK_SPN_BLANK;
    if (n == 0 || n > 2 * len || strchr(text, ' ') != NULL || strstr(text, "\xE2\x96\x81") != NULL || place >= UINT32_MAX >> CTOK_SPN_TEXT_SHIFT) return CTOK_SPN_SLOW;
    return (place + 1) << CTOK_SPN_TEXT_SHIFT;
}

/* Is this what so many bytes of UTF-8 say? (The first of them can begin a character, the others go on with one.) */
static inline int is_spelled(uint32_t code, unsigned need) {
    static const uint32_t LEAST[5] = {0, 0, 0x80, 0x800, 0x10000};
    return code >= LEAST[need] && code <= 0x10FFFF && code >> 11 != 0xD800 >> 11;
}

/* A character is complete with the unit whose children are at one->from. */
static inline ctok_status enter(walk *w, const node *one, uint32_t unit) {
    uint32_t bits = one->is_first ? 0 : CTOK_SPN_SECOND;
    const int goes_on = w->c.first[one->from] != NONE;
    if (!is_spelled(one->code, one->need)) {
        w->m->has_lane = 0;
        return CTOK_OK;
    }
    if (one->is_first) {
        const uint32_t place = ctok_unit_ends_key(unit) ? ctok_charsmap_value(&w->m->rules, one->from) : CTOK_CHARSMAP_NONE;
        if (place != CTOK_CHARSMAP_NONE) bits |= rule_bits(w->m, place, one->need);
        if (goes_on) bits |= CTOK_SPN_FIRST;
    }
    const ctok_status status = mark(w, one->code, bits);
    if (status != CTOK_OK || !goes_on || w->seen[one->from]) return status;
    w->seen[one->from] = 1;
    const node next = {one->from, 0, 0, 0, 0};
    return push(w, &next);
}

/* One byte further. A byte that cannot stand there, or a rule that ends inside a character, and there is no lane. */
static inline ctok_status go_on(walk *w, const node *one, uint32_t at) {
    const uint32_t unit = w->m->rules.units[at];
    const uint8_t byte = (uint8_t)ctok_unit_label(unit);
    node next = {at ^ ctok_unit_offset(unit), 0, (uint8_t)(one->n + 1), one->need, one->is_first};
    uint8_t low, high;
    int fits;
    if (one->n == 0) {
        next.need = byte < 0x80 ? 1 : (uint8_t)ctok_utf8_range(byte, &low, &high);
        next.code = byte & (next.need == 1 ? 0x7F : 0x7Fu >> next.need);
        fits = next.need != 0;
    } else {
        next.code = one->code << 6 | (byte & 0x3F);
        fits = (byte & 0xC0) == 0x80;
    }
    if (!fits || next.from >= w->m->rules.n_units) {
        w->m->has_lane = 0;
        return CTOK_OK;
    }
    if (next.n == next.need) return enter(w, &next, unit);
    if (ctok_unit_ends_key(unit)) w->m->has_lane = 0;
    return push(w, &next);
}

static ctok_status walk_rules(walk *w) {
    const ctok_charsmap *rules = &w->m->rules;
    const size_t most = 16 * (size_t)rules->n_units + 65536; /* what any sane table stays below */
    const node root = {ctok_unit_offset(rules->units[0]), 0, 0, 0, 1};
    ctok_status status = list_children(&w->c, rules);
    w->seen = (uint8_t *)ctok_mem_zeroed(rules->n_units, 1);
    if (status != CTOK_OK || w->seen == NULL) return CTOK_ERR_MEMORY;
    if (root.from < rules->n_units) status = push(w, &root);
    while (w->n_open && w->m->has_lane && status == CTOK_OK) {
        const node one = w->open[--w->n_open];
        for (uint32_t at = w->c.first[one.from]; at != NONE && status == CTOK_OK; at = w->c.next[at]) status = go_on(w, &one, at);
        if (++w->visits > most) w->m->has_lane = 0;
    }
    return status;
}

/* ---- ASCII at a glance ---- */

static int lowers(const ctok_spn *m) {
    for (uint32_t c = 'A'; c <= 'Z'; c++) {
        const uint32_t entry = ctok_spn_entry(m, c), place = entry >> CTOK_SPN_TEXT_SHIFT;
        if (place == 0 || entry & (CTOK_SPN_SLOW | CTOK_SPN_SECOND) || m->rules.texts[place - 1] != c + 32 || m->rules.texts[place]) return 0;
    }
    return 1;
}

/* 0: stays (or becomes lower case); CTOK_SPN_BLANK; CTOK_SPN_SLOW: the lane stops. And CTOK_SPN_FIRST. */
static uint8_t ascii_bits(const ctok_spn *m, uint32_t c) {
    const uint32_t entry = ctok_spn_entry(m, c);
    if (entry & (CTOK_SPN_SLOW | CTOK_SPN_SECOND)) return CTOK_SPN_SLOW;
    if (entry & CTOK_SPN_BLANK) return entry & CTOK_SPN_FIRST ? CTOK_SPN_SLOW : CTOK_SPN_BLANK;
    if (entry >> CTOK_SPN_TEXT_SHIFT && !(m->lowers && c >= 'A' && c <= 'Z')) return CTOK_SPN_SLOW;
    return (uint8_t)(entry & CTOK_SPN_FIRST);
}

static void add_blank(ctok_spn *m, uint8_t c) {
    if (!(m->ascii[c] & CTOK_SPN_BLANK)) return;
    if (m->n_blanks < CTOK_SPN_RANGES) {
        memset(m->blanks[m->n_blanks++], c, 16);
    } else {
        m->ascii[c] = CTOK_SPN_SLOW;
    }
}

/* The bytes at which the lane stops, in ranges; blanks inside do no harm. */
static void find_ranges(ctok_spn *m) {
    uint32_t first = NONE, last = 0;
    m->by_ranges = 1;
    for (uint32_t c = 0; c <= 128; c++) {
        if (c < 128 && m->ascii[c] & CTOK_SPN_SLOW) {
            if (first == NONE) first = c;
            last = c;
        } else if (first != NONE && (c == 128 || !(m->ascii[c] & CTOK_SPN_BLANK))) {
            if (m->n_ranges == CTOK_SPN_RANGES) {
                m->by_ranges = 0;
                return;
            }
            memset(m->from[m->n_ranges], (int)first, 16);
            memset(m->size[m->n_ranges++], (int)(last - first), 16);
            first = NONE;
        }
    }
}

static void glance(ctok_spn *m) {
    static const uint8_t OFTEN[4] = {' ', '\n', '\t', '\r'};
    m->lowers = (uint8_t)lowers(m);
    for (uint32_t c = 0; c < 128; c++) m->ascii[c] = ascii_bits(m, c);
    for (uint32_t i = 0; i < 4; i++) add_blank(m, OFTEN[i]);
    for (uint32_t c = 0; c < 128; c++) {
        if (memchr(OFTEN, (int)c, sizeof OFTEN) == NULL) add_blank(m, (uint8_t)c);
    }
    find_ranges(m);
}

/* ---- building ---- */

/* What SentencePiece asks of rules when it loads them: whole blocks of units, none of which leads outside, and texts that end. */
static int is_sound(const ctok_charsmap *rules) {
    if (rules->n_units == 0 || rules->n_units % 256 || rules->n_texts == 0 || rules->texts[rules->n_texts - 1]) return 0;
    for (uint32_t at = 0; at < rules->n_units; at++) {
        const uint32_t unit = rules->units[at];
        if (unit >> 31 ? (unit & 0x7FFFFFFFu) >= rules->n_texts : (at ^ ctok_unit_offset(unit)) >= rules->n_units) return 0;
    }
    return 1;
}

static ctok_status lay_out(walk *w, const ctok_spn_options *o) {
    ctok_spn *m = w->m;
    ctok_status status = CTOK_OK;
    uint32_t code;
    m->has_lane = 1;
    w->cap_pages = 64;
    w->n_pages = 1;
    m->pages = (uint16_t *)ctok_mem_zeroed(PAGES, sizeof *m->pages);
    m->entries = (uint32_t *)ctok_mem_zeroed((size_t)w->cap_pages * 64, sizeof *m->entries);
    if (m->pages == NULL || m->entries == NULL) return CTOK_ERR_MEMORY;
    if (m->rules.n_units) status = walk_rules(w);
    m->all_wide = w->n_pages == 1;
    for (uint32_t i = 0; i < o->n_symbols && status == CTOK_OK; i++) {
        const uint8_t *p = o->symbols + (i ? o->ends[i - 1] : 0);
        if (ctok_utf8_step(p, o->ends[i] - (i ? o->ends[i - 1] : 0), &code) == 0 || code > 0x10FFFF) return CTOK_ERR_FORMAT;
        m->all_wide &= code < 0x80;
        status = mark(w, code, CTOK_SPN_SLOW);
    }
    if (status == CTOK_OK && !(ctok_spn_entry(m, ' ') >> CTOK_SPN_TEXT_SHIFT)) status = mark(w, ' ', CTOK_SPN_BLANK);
    if (status == CTOK_OK && m->extra && m->escape) status = mark(w, 0x2581, CTOK_SPN_SLOW); /* at the end of a text it is dropped */
    glance(m);
    return status;
}

static ctok_status build(ctok_spn *m, const ctok_spn_options *o) {
    walk w;
    uint32_t bad;
    ctok_status status = CTOK_OK;
    memset(&w, 0, sizeof w);
    w.m = m;
    if (o->n_charsmap) status = ctok_charsmap_init(&m->rules, o->charsmap, o->n_charsmap, 0);
    if (status == CTOK_OK && o->n_charsmap && !is_sound(&m->rules)) status = CTOK_ERR_FORMAT;
    if (status == CTOK_OK && o->n_symbols) status = ctok_trie_init(&m->symbols, o->symbols, o->ends, o->n_symbols, NULL, 0, NULL, &bad);
    if (status == CTOK_OK) status = lay_out(&w, o);
    ctok_mem_free(w.c.first);
    ctok_mem_free(w.c.next);
    ctok_mem_free(w.seen);
    ctok_mem_free(w.open);
    return status;
}

ctok_status ctok_spn_new(ctok_spn **made, const ctok_spn_options *o) {
    ctok_spn *m = (ctok_spn *)ctok_mem_zeroed(1, sizeof *m);
    *made = NULL;
    if (m == NULL) return CTOK_ERR_MEMORY;
    m->dummy = o->dummy != 0;
    m->extra = o->extra != 0;
    m->escape = o->escape != 0;
    m->suffix = o->suffix != 0;
    m->n_blank = m->escape ? 3 : 1;
    memcpy(m->blank, m->escape ? "\xE2\x96\x81" : " \0", m->n_blank);
    const ctok_status status = build(m, o);
    if (status == CTOK_OK) {
        *made = m;
    } else {
        ctok_spn_free(m);
    }
    return status;
}

void ctok_spn_free(ctok_spn *m) {
    if (m == NULL) return;
    ctok_charsmap_free(&m->rules);
    if (m->symbols.units != NULL) ctok_trie_free(&m->symbols);
    ctok_mem_free(m->pages);
    ctok_mem_free(m->entries);
    ctok_mem_free(m);
}
