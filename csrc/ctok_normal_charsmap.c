/* ctok_normal_charsmap.c - SentencePiece's table as the reference library uses it: cluster by cluster.
 *
 * A grapheme cluster of fewer than six bytes is looked up whole, and the new text of the shortest key it begins with stands for all of it;
 * otherwise each of its characters is looked up. So a cluster of one character needs no more than the table by character, and of a longer
 * one no more is held than its first six bytes: from there on its characters leave one by one, and only how the cluster may go on is kept.
 */
#include <string.h>

#include "ctok_normal_facts.h"
#include "ctok_normal_rooms.h"

/* How a cluster may go on. */
typedef struct cluster {
    uint32_t last;      /* cluster class of its last character */
    uint32_t pictures;  /* 1: a pictograph and extensions of it; 2: and a ZWJ behind */
    uint32_t conjunct;  /* 1: a consonant and extensions of it; 2: with a linker among them */
} cluster;

#define LONG 0x100u     /* in a state's flags: the open cluster has six bytes or more; the cluster is in the bits above and below */

static uint32_t pack(const cluster *c) { return LONG | c->last | c->pictures << 4 | c->conjunct << 6; }
static cluster unpack(uint32_t flags) {
    const cluster c = {flags & 15, flags >> 4 & 3, flags >> 6 & 3};
    return c;
}

static uint32_t class_of(uint32_t bits) { return bits >> CTOK_NF_CLUSTER_SHIFT; }

/* The rules GB3 to GB9c of Unicode's annex 29: does a character with these bits belong to the cluster? (Flags, in pairs, take eight bytes
 * with no short mark in reach, so whether they pair cannot be told from the result.) */
static int goes_on(const cluster *c, uint32_t bits) {
    const uint32_t next = class_of(bits), last = c->last;
    if (last == CTOK_NF_CR) return next == CTOK_NF_LF;
    if (last == CTOK_NF_LF || last == CTOK_NF_CONTROL || next == CTOK_NF_CR || next == CTOK_NF_LF || next == CTOK_NF_CONTROL) return 0;
    if (next == CTOK_NF_EXTEND || next == CTOK_NF_ZWJ || next == CTOK_NF_SPACING || last == CTOK_NF_PREPEND) return 1;
    if (last == CTOK_NF_JAMO_L) {
        if (next == CTOK_NF_JAMO_L || next == CTOK_NF_JAMO_V || next == CTOK_NF_SYLLABLE_LV || next == CTOK_NF_SYLLABLE_LVT) return 1;
    } else if (last == CTOK_NF_SYLLABLE_LV || last == CTOK_NF_JAMO_V) {
        if (next == CTOK_NF_JAMO_V || next == CTOK_NF_JAMO_T) return 1;
    } else if (last == CTOK_NF_SYLLABLE_LVT || last == CTOK_NF_JAMO_T) {
        if (next == CTOK_NF_JAMO_T) return 1;
    }
    if (c->pictures == 2 && bits & CTOK_NF_PICTOGRAPH) return 1;
    return c->conjunct == 2 && bits & CTOK_NF_CONSONANT;
}

static void take(cluster *c, uint32_t bits) {
    const uint32_t next = class_of(bits);
    if (bits & CTOK_NF_PICTOGRAPH) {
        c->pictures = 1;
    } else if (c->pictures == 1 && next == CTOK_NF_ZWJ) {
        c->pictures = 2;
    } else if (!(c->pictures == 1 && next == CTOK_NF_EXTEND)) {
        c->pictures = 0;
    }
    if (bits & CTOK_NF_CONSONANT) {
        c->conjunct = 1;
    } else if (c->conjunct && bits & CTOK_NF_LINKER) {
        c->conjunct = 2;
    } else if (!(bits & CTOK_NF_INCB_EXTEND)) {
        c->conjunct = 0;
    }
    c->last = next;
}

static uint32_t bits_of(uint32_t code) { return ctok_nf_bits[ctok_nf_record(code)]; }

size_t ctok_room_cluster(const uint8_t *in, size_t n, size_t *n_chars) {
    cluster c = {CTOK_NF_CONTROL, 0, 0};
    size_t pos = 0, len;
    *n_chars = 0;
    while (pos < n) {
        const uint32_t bits = bits_of(ctok_nf_read(in + pos, &len));
        if (pos && !goes_on(&c, bits)) break;
        take(&c, bits);
        pos += len;
        ++*n_chars;
    }
    return pos;
}

/* ---- running ---- */

static ctok_status put_text(const ctok_normal_room *r, uint32_t place, ctok_bytes *out) {
    const char *text = (const char *)r->map.texts + place;
    return ctok_bytes_append(out, (const uint8_t *)text, strlen(text));
}

static ctok_status put_char(const ctok_normal_room *r, uint32_t code, const uint8_t *p, size_t len, ctok_bytes *out) {
    const uint32_t entry = ctok_charsmap_char(&r->map, code);
    return entry ? put_text(r, entry - 1, out) : ctok_bytes_append(out, p, len);
}

static ctok_status put_chars(const ctok_normal_room *r, const uint8_t *in, size_t n, ctok_bytes *out) {
    ctok_status status = CTOK_OK;
    for (size_t i = 0, len; i < n && status == CTOK_OK; i += len) {
        const uint32_t code = ctok_nf_read(in + i, &len);
        status = put_char(r, code, in + i, len, out);
    }
    return status;
}

/* A cluster of fewer than six bytes and more than one character. */
static ctok_status put_cluster(const ctok_normal_room *r, const uint8_t *in, size_t n, ctok_bytes *out) {
    size_t len;
    const uint32_t place = ctok_charsmap_shortest(&r->map, in, n, &len);
    return place == CTOK_CHARSMAP_NONE ? put_chars(r, in, n, out) : put_text(r, place, out);
}

/* ---- the fast lane: clusters of one character ----
 *
 * An entry of the lane: JOINS, the character may belong to the cluster before it; RULES, what follows may belong to it other than by JOINS
 * (jamo, prepended marks, CR); the rest is the place of its new text + 1, or 0. A character without RULES whose next one does not JOIN is
 * a cluster. (Pictographs and conjuncts go on behind a character that JOINS, so they are met in `one_cluster`.)
 */
#define JOINS 1u
#define RULES 2u
#define TEXT_SHIFT 2
#define PAGES (0x110000u >> CTOK_NF_PAGE_BITS)
#define PAGE (1u << CTOK_NF_PAGE_BITS)

static uint32_t lane_entry(const ctok_normal_room *r, uint32_t code) {
    const uint32_t entry = ctok_charsmap_char(&r->map, code) << TEXT_SHIFT;
    switch (class_of(bits_of(code))) {
    case CTOK_NF_EXTEND: case CTOK_NF_ZWJ: case CTOK_NF_SPACING: return entry | JOINS;
    case CTOK_NF_JAMO_V: case CTOK_NF_JAMO_T: return entry | JOINS | RULES;
    case CTOK_NF_JAMO_L: case CTOK_NF_PREPEND: case CTOK_NF_CR: return entry | RULES;
    default: return entry;
    }
}

/* The number of a page with these entries; made when none of the last few is the same. */
static ctok_status lane_page(ctok_normal_room *r, const uint32_t *page, uint32_t *n, uint32_t *cap, uint16_t *number) {
    for (uint32_t k = *n; k-- > 0 && k + 4 > *n;) {
        if (memcmp(r->lane + (size_t)k * PAGE, page, PAGE * sizeof *page) != 0) continue;
        *number = (uint16_t)k;
        return CTOK_OK;
    }
    if (*n == *cap) {
        uint32_t *lane = (uint32_t *)ctok_mem_resize(r->lane, (size_t)*cap * 2 * PAGE, sizeof *lane);
        if (lane == NULL) return CTOK_ERR_MEMORY;
        r->lane = lane;
        *cap *= 2;
    }
    *number = (uint16_t)*n;
    memcpy(r->lane + (size_t)(*n)++ * PAGE, page, PAGE * sizeof *page);
    return CTOK_OK;
}

/* What an ASCII character becomes when that is one ASCII character. */
static uint8_t ascii_entry(const ctok_normal_room *r, uint32_t c) {
    const uint32_t entry = lane_entry(r, c);
    const uint8_t *text = r->map.texts + (entry >> TEXT_SHIFT) - 1;
    if (entry == 0) return (uint8_t)c;
    return entry & (JOINS | RULES) || text[0] == 0 || text[0] >= 0x80 || text[1] ? CTOK_ASCII_STOP : text[0];
}

ctok_status ctok_room_charsmap_lane(ctok_normal_room *r) {
    uint32_t page[PAGE], n = 0, cap = 128;
    r->lane_pages = (uint16_t *)ctok_mem_alloc(PAGES, sizeof *r->lane_pages);
    r->lane = (uint32_t *)ctok_mem_alloc((size_t)cap * PAGE, sizeof *r->lane);
    if (r->lane_pages == NULL || r->lane == NULL) return CTOK_ERR_MEMORY;
    for (uint32_t p = 0; p < PAGES; p++) {
        if (p && ctok_nf_index[p] == ctok_nf_index[p - 1] && r->map.pages[p] == r->map.pages[p - 1]) {
            r->lane_pages[p] = r->lane_pages[p - 1];
            continue;
        }
        for (uint32_t i = 0; i < PAGE; i++) page[i] = lane_entry(r, p << CTOK_NF_PAGE_BITS | i);
        const ctok_status status = lane_page(r, page, &n, &cap, &r->lane_pages[p]);
        if (status != CTOK_OK) return status;
    }
    r->ascii_kind = 1;  /* blocks of 32 characters can be copied */
    for (uint32_t c = 0; c < 128; c++) {
        r->ascii[c] = ascii_entry(r, c);
        if (c >= 0x20 && c < 0x7F && r->ascii[c] != c) r->ascii_kind = 0;
    }
    return CTOK_OK;
}

/* Copy a run of ASCII characters that stay as they are or become one other; out has room for n bytes and 32 more. */
static size_t ascii_run(const ctok_normal_room *r, const uint8_t *in, size_t n, uint8_t *out) {
    const uint8_t tab = r->ascii['\t'], line = r->ascii['\n'];
    size_t i = 0;
    for (; r->ascii_kind && i + 32 <= n; i += 32) {
        uint8_t odd = 0;
        for (size_t k = 0; k < 32; k++) {
            const uint8_t c = in[i + k], new = c == '\n' ? line : c == '\t' ? tab : c;
            out[i + k] = new;
            odd |= (uint8_t)((uint8_t)(new - 0x20) >= 0x5F);
        }
        if (odd) break;
    }
    while (i < n && in[i] < 0x80 && r->ascii[in[i]] != CTOK_ASCII_STOP) {
        out[i] = r->ascii[in[i]];
        i++;
    }
    return i;
}

/* What is known of the character that left last: last == pos says nothing is. */
typedef struct lane {
    size_t pos, last, back;  /* bytes read; where that character starts in the text, and in out */
} lane;

static uint32_t lane_of(const ctok_normal_room *r, const uint8_t *p, size_t *len) {
    const uint32_t code = ctok_nf_read(p, len);
    return r->lane[(uint32_t)r->lane_pages[code >> CTOK_NF_PAGE_BITS] << CTOK_NF_PAGE_BITS | (code & (PAGE - 1))];
}

/* At most `most` bytes of a new text. Returns its length, or most + 1 when it is longer. */
static size_t copy_text(const uint8_t *text, size_t most, uint8_t *to) {
    size_t m = 0;
    for (; m < most && text[m]; m++) to[m] = text[m];
    return text[m] ? most + 1 : m;
}

#define SPAN 16
/* As long as each character is a cluster; not nearer to the end than SPAN. out has room for twice the text and 64 bytes. */
static void fast_lane(const ctok_normal_room *r, const uint8_t *in, size_t n, ctok_bytes *out, lane *l) {
    uint8_t *to = out->at + out->n, *const base = out->at;
    size_t len;
    while (l->pos + SPAN <= n) {
        const size_t k = in[l->pos] < 0x80 ? ascii_run(r, in + l->pos, n - SPAN - l->pos, to) : 0;
        if (k) {
            l->pos += k;
            to += k;
            l->last = l->pos - 1;
            l->back = (size_t)(to - base) - 1;
            continue;
        }
        const uint32_t entry = lane_of(r, in + l->pos, &len);
        if (entry & (JOINS | RULES)) break;
        size_t m = len;
        if (entry == 0) {
            memcpy(to, in + l->pos, 4);
        } else {
            m = copy_text(r->map.texts + (entry >> TEXT_SHIFT) - 1, 2 * len, to);
            if (m > 2 * len) break;
        }
        l->last = l->pos;
        l->back = (size_t)(to - base);
        to += m;
        l->pos += len;
    }
    out->n = (size_t)(to - base);
}

/* The characters of a cluster whose first six bytes have gone. Returns the place behind; n: it may go on. */
static ctok_status rest_of_cluster(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t *pos, size_t n, int final,
                                   ctok_bytes *out) {
    cluster c = unpack(s->flags);
    ctok_status status = CTOK_OK;
    while (*pos < n && status == CTOK_OK) {
        size_t len;
        const uint32_t code = ctok_nf_read(in + *pos, &len), bits = bits_of(code);
        if (!goes_on(&c, bits)) {
            s->flags = 0;
            return CTOK_OK;
        }
        take(&c, bits);
        status = put_char(r, code, in + *pos, len, out);
        *pos += len;
    }
    s->flags = final ? 0 : pack(&c);
    return status;
}

/* The cluster at *pos; leaves *pos where it is when it may go on and has fewer than six bytes. */
static ctok_status one_cluster(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t *pos, size_t n, int final,
                               ctok_bytes *out) {
    cluster c = {CTOK_NF_CONTROL, 0, 0};
    size_t end = *pos, len;
    while (end < n) {
        const uint32_t bits = bits_of(ctok_nf_read(in + end, &len));
        if (end > *pos && !goes_on(&c, bits)) break;
        take(&c, bits);
        end += len;
        if (end - *pos < CTOK_CLUSTER_BYTES) continue;
        const ctok_status status = put_chars(r, in + *pos, end - *pos, out);
        *pos = end;
        s->flags = pack(&c);
        return status;
    }
    if (end == n && !final && c.last != CTOK_NF_CONTROL && c.last != CTOK_NF_LF) return CTOK_OK;
    const ctok_status status = put_cluster(r, in + *pos, end - *pos, out);
    *pos = end;
    return status;
}

ctok_status ctok_room_charsmap(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                               size_t *used) {
    lane l = {0, 0, 0};
    ctok_status status = CTOK_OK;
    if (s->flags & LONG) status = rest_of_cluster(r, s, in, &l.pos, n, final, out);
    l.last = l.pos;
    while (l.pos < n && status == CTOK_OK) {
        size_t len;
        if (n - l.pos > SIZE_MAX / 4 || ctok_bytes_reserve(out, 2 * (n - l.pos) + 64) != CTOK_OK) return CTOK_ERR_MEMORY;
        fast_lane(r, in, n, out, &l);
        if (l.last < l.pos && lane_of(r, in + l.pos, &len) & JOINS) {  /* take the character before it back */
            l.pos = l.last;
            out->n = l.back;
        }
        const size_t before = l.pos;
        status = one_cluster(r, s, in, &l.pos, n, final, out);
        if (s->flags & LONG && status == CTOK_OK) status = rest_of_cluster(r, s, in, &l.pos, n, final, out);
        if (l.pos == before) break;
        l.last = l.pos;
    }
    if (final) s->flags = 0;
    *used = l.pos;
    return status;
}
