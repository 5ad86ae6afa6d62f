#include "ctok_dfa.h"

#include "ctok_unicode.h"

/* Class of the character beyond ASCII at p, and its length in bytes << 8. */
static inline uint32_t wide_class(const ctok_dfa *d, const uint8_t *p) {
    const uint32_t lead = p[0];
    uint32_t code, len, range = d->n_ranges - 1;
    if (lead < 0xE0) {
        code = (lead & 31) << 6 | (p[1] & 63u);
        len = 2;
    } else if (lead < 0xF0) {
        code = (lead & 15) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
        len = 3;
    } else {
        code = (lead & 7) << 18 | (p[1] & 63u) << 12 | (p[2] & 63u) << 6 | (p[3] & 63u);
        len = 4;
    }
    if (CTOK_UNLIKELY(code < d->bounds[range])) {
        uint32_t lo = 0;
        while (range - lo > 1) {
            const uint32_t mid = lo + (range - lo) / 2;
            if (code < d->bounds[mid]) range = mid;
            else lo = mid;
        }
        range = lo;
    }
    return len << 8 | d->rows[(size_t)range << 6 | ctok_unicode_get(code)];
}

int ctok_dfa_is_sound(const ctok_dfa *d) {
    const uint64_t stride = (uint64_t)d->n_classes + 1;
    const uint64_t n = d->n_states * stride;
    if (d->n_classes < 1 || d->n_classes > 255 || d->n_states < 1 || d->n_ranges < 1 || n >= UINT32_MAX) return 0;
    if (d->bounds[0] != 0x80) return 0;
    for (uint32_t i = 1; i < d->n_ranges; i++) {
        if (d->bounds[i] <= d->bounds[i - 1]) return 0;
    }
    for (size_t i = 0; i < 128; i++) {
        if (d->ascii[i] >= d->n_classes) return 0;
    }
    for (size_t i = 0; i < (size_t)d->n_ranges * 64; i++) {
        if (d->rows[i] >= d->n_classes) return 0;
    }
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t next = d->entries[i].next;
        if (next >= n || next % stride != 0) return 0;
        if (i < stride && d->entries[i].flags & CTOK_DFA_ACCEPT) return 0; /* nothing must not match */
    }
    return 1;
}

/* The machine's place in a block. The pretoken being scanned starts at `start`; `accept` > start once it may stop there. */
typedef struct place {
    size_t p, start, accept, n;
    uint32_t row;
} place;

/* Run over the text until its end, until `stops` is full (returns 0), or until a pretoken ends at an earlier accept than where the
 * machine stopped (returns 1). Pretokens that end where the next one begins are written without a branch. */
static int run(const ctok_dfa *d, const uint8_t *buf, size_t end, uint32_t *stops, size_t cap, place *at) {
    const ctok_dfa_entry *const entries = d->entries;
    const uint8_t *const ascii = d->ascii;
    size_t p = at->p, accept = at->accept, n = at->n, row = at->row;
    int stopped = 0;
    while (p < end && n < cap) {
        const size_t limit = end - p < cap - n ? end : p + (cap - n); /* no character ends more than one pretoken */
        do {
            const uint8_t byte = buf[p];
            size_t len = 1, class;
            if (CTOK_LIKELY(byte < 0x80)) {
                class = ascii[byte];
            } else {
                const uint32_t wide = wide_class(d, buf + p);
                class = wide & 255;
                len = wide >> 8;
            }
            const ctok_dfa_entry *const entry = entries + class + row;
            const uint32_t flags = entry->flags;
            accept = flags & CTOK_DFA_ACCEPT ? p : accept;
            if (CTOK_UNLIKELY(flags & CTOK_DFA_STOP)) {
                stopped = 1;
                break;
            }
            stops[n] = (uint32_t)p;
            n += flags >> 1 & 1;
            row = entry->next;
            p += len;
        } while (p < limit);
        if (stopped) break;
    }
    at->start = n ? stops[n - 1] : at->start;
    at->p = p;
    at->accept = accept;
    at->n = n;
    at->row = (uint32_t)row;
    return stopped;
}

/* Close the pretoken at its last accept and start over from there; if there is none, skip a character (only before the first pretoken of
 * a block: returns 0 when the block must end here). */
static int restart(const uint8_t *buf, uint32_t *stops, ctok_block *out, place *at) {
    if (at->accept > at->start) {
        stops[at->n++] = (uint32_t)at->accept;
        at->start = at->accept;
    } else if (at->n) {
        return 0;
    } else {
        const uint8_t lead = buf[at->start];
        at->start += lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        out->first = at->start;
    }
    at->p = at->accept = at->start;
    at->row = 0;
    return 1;
}

void ctok_dfa_block(const ctok_dfa *d, const uint8_t *buf, size_t pos, size_t end, int at_eof, uint32_t *stops, size_t cap,
                    ctok_block *out) {
    place at = {pos, pos, pos, 0, 0};
    out->first = pos;
    out->hit_end = 0;
    for (;;) {
        const int stopped = run(d, buf, end, stops, cap, &at);
        if (at.n == cap) break;
        if (!stopped) {
            const uint32_t last = d->entries[at.row + d->n_classes].flags;
            if (at.start == end) break;
            if (!at_eof && !(last & CTOK_DFA_CERTAIN)) {
                out->hit_end = 1;
                break;
            }
            if (last & CTOK_DFA_ACCEPT) at.accept = end;
        }
        if (!restart(buf, stops, out, &at) || at.n == cap) break;
    }
    out->n = at.n;
    out->next = at.start;
}

int ctok_scan_feed(const ctok_dfa *d, ctok_scan *s, const uint8_t *buf, size_t *pos, size_t end) {
    size_t p = *pos;
    const uint64_t before = s->n - p; /* may wrap; n is p + before */
    uint32_t row = s->state;
    if (s->flags & CTOK_SCAN_CLOSED) return 1;
    while (p < end) {
        const uint32_t class = buf[p] < 0x80 ? d->ascii[buf[p]] | 1u << 8 : wide_class(d, buf + p);
        const ctok_dfa_entry entry = d->entries[row + (class & 255)];
        if (entry.flags & CTOK_DFA_ACCEPT) s->accept = before + p;
        if (entry.flags & (CTOK_DFA_EMIT | CTOK_DFA_STOP)) {
            s->flags |= CTOK_SCAN_CLOSED;
            break;
        }
        row = entry.next;
        p += class >> 8;
        if (d->entries[row + d->n_classes].flags & CTOK_DFA_CERTAIN) {
            s->accept = before + p;
            s->flags |= CTOK_SCAN_CLOSED;
            break;
        }
    }
    s->state = row;
    s->n = before + p;
    *pos = p;
    return (s->flags & CTOK_SCAN_CLOSED) != 0;
}
