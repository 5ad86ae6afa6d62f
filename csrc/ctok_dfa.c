#include "ctok_dfa.h"

#include "ctok_unicode.h"

/* Class of the character beyond ASCII at p; *len is its length in bytes. */
static inline uint32_t wide_class(const ctok_dfa *d, const uint8_t *p, size_t *len) {
    const uint32_t lead = p[0];
    uint32_t code, range = d->n_ranges - 1;
    if (lead < 0xE0) {
        code = (lead & 31) << 6 | (p[1] & 63u);
        *len = 2;
    } else if (lead < 0xF0) {
        code = (lead & 15) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
        *len = 3;
    } else {
        code = (lead & 7) << 18 | (p[1] & 63u) << 12 | (p[2] & 63u) << 6 | (p[3] & 63u);
        *len = 4;
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
    return d->rows[(size_t)range << 6 | ctok_unicode_get(code)];
}

int ctok_dfa_is_sound(const ctok_dfa *d) {
    const uint64_t stride = (uint64_t)d->n_classes + 1;
    const uint64_t n = d->n_states * stride;
    if (d->n_classes < 1 || d->n_classes > 255 || d->n_states < 1 || d->n_ranges < 1 || n >= UINT32_MAX >> 3) return 0;
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
        const uint32_t next = d->entries[i] >> 3;
        if (next >= n || next % stride != 0) return 0;
        if (i < stride && d->entries[i] & CTOK_DFA_ACCEPT) return 0; /* nothing must not match */
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
    const uint32_t *const entries = d->entries;
    const uint8_t *const ascii = d->ascii;
    size_t p = at->p, accept = at->accept, n = at->n;
    uint32_t row = at->row;
    int stopped = 0;
    while (p < end && n < cap) {
        const uint8_t byte = buf[p];
        size_t len = 1;
        uint32_t class;
        if (CTOK_LIKELY(byte < 0x80)) class = ascii[byte];
        else class = wide_class(d, buf + p, &len);
        const uint32_t entry = entries[row + class];
        accept = entry & CTOK_DFA_ACCEPT ? p : accept;
        if (CTOK_UNLIKELY(entry & CTOK_DFA_STOP)) {
            stopped = 1;
            break;
        }
        stops[n] = (uint32_t)p;
        n += entry >> 1 & 1;
        row = entry >> 3;
        p += len;
    }
    at->start = n ? stops[n - 1] : at->start;
    at->p = p;
    at->accept = accept;
    at->n = n;
    at->row = row;
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
            const uint32_t last = d->entries[at.row + d->n_classes];
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
        size_t len = 1;
        const uint32_t class = buf[p] < 0x80 ? d->ascii[buf[p]] : wide_class(d, buf + p, &len);
        const uint32_t entry = d->entries[row + class];
        if (entry & CTOK_DFA_ACCEPT) s->accept = before + p;
        if (entry & (CTOK_DFA_EMIT | CTOK_DFA_STOP)) {
            s->flags |= CTOK_SCAN_CLOSED;
            break;
        }
        row = entry >> 3;
        p += len;
        if (d->entries[row + d->n_classes] & CTOK_DFA_CERTAIN) {
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
