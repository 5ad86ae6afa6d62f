/* ctok_normal_rooms.c - the rooms that do not look at characters one by one: bytes made visible, ends stripped, texts put before and instead. */
#include "ctok_normal_rooms.h"

#include <string.h>

#include "ctok_normal_facts.h"
#include "ctok_utf8.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

ctok_status ctok_room_bytes(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                            size_t *used) {
    (void)r, (void)s, (void)final;
    if (n > SIZE_MAX / 4 || ctok_bytes_reserve(out, 2 * n) != CTOK_OK) return CTOK_ERR_MEMORY;
    uint8_t *to = out->at + out->n;
    for (size_t i = 0; i < n; i++) {
        if ((uint8_t)(in[i] - 0x21) < 0x5E) {
            *to++ = in[i];
        } else {
            to += ctok_utf8_put(to, ctok_bytelevel_char(in[i]));
        }
    }
    out->n = (size_t)(to - out->at);
    *used = n;
    return CTOK_OK;
}

static int is_white(const uint8_t *p, size_t *len) {
    const uint32_t code = ctok_nf_read(p, len);
    if (code < 0x80) return code == 0x20 || code - 9 < 5;
    return (ctok_nf_bits[ctok_nf_record(code)] & CTOK_NF_WHITE) != 0;
}

/* Where the white space at the end of in[0..n) starts; it does not start before `from`. */
static size_t white_tail(const uint8_t *in, size_t from, size_t n) {
    while (n > from) {
        size_t at = n - 1, len;
        while (at > from && (in[at] & 0xC0) == 0x80) at--;
        if (!is_white(in + at, &len)) break;
        n = at;
    }
    return n;
}

ctok_status ctok_room_strip(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                            size_t *used) {
    size_t pos = 0, len = 0, known = (size_t)s->seen;
    s->seen = 0;
    if (r->left && !(s->flags & CTOK_ROOM_STARTED)) {
        while (pos < n && is_white(in + pos, &len)) pos += len;
        if (pos < n) s->flags |= CTOK_ROOM_STARTED;
    }
    *used = n;
    if (!r->right) return ctok_bytes_append(out, in + pos, n - pos);
    if (known < pos) known = pos;
    size_t end = white_tail(in, known, n);
    if (end == known) end = pos;  /* the held white space goes on */
    if (!final) {
        *used = end;
        s->seen = n - end;
    }
    return ctok_bytes_append(out, in + pos, end - pos);
}

ctok_status ctok_room_prepend(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                              size_t *used) {
    (void)final;
    *used = n;
    if (n && !(s->flags & CTOK_ROOM_STARTED)) {
        s->flags |= CTOK_ROOM_STARTED;
        if (ctok_bytes_append(out, r->content.at, r->content.n) != CTOK_OK) return CTOK_ERR_MEMORY;
    }
    return ctok_bytes_append(out, in, n);
}

/* ---- texts instead of texts ---- */

static ctok_status replace(const ctok_normal_room *r, ctok_bytes *out) { return ctok_bytes_append(out, r->content.at, r->content.n); }

/* Which of the 64 bytes at p are c, as bits. A plain loop over a fixed number of bytes; compilers make vectors of it. */
static uint64_t bits_of(const uint8_t *p, uint8_t c) {
    uint64_t bits = 0;
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi8((char)c);
    for (unsigned i = 0; i < 4; i++) {
        const __m128i block = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(block, wanted)) << 16 * i;
    }
#else
    for (unsigned i = 0; i < 64; i++) bits |= (uint64_t)(p[i] == c) << i;
#endif
    return bits;
}

/* 64 bytes with the content (at most 8 bytes, in text[8]) in the place of the bytes that the bits name. Returns where the output ends. */
static uint8_t *replace_in_window(const uint8_t *p, uint64_t bits, const uint8_t text[8], size_t m, uint8_t *to) {
    unsigned from = 0;
    while (bits) {
        const unsigned at = ctok_lowest_bit(bits);
        memcpy(to, p + from, 16);
        if (CTOK_UNLIKELY(at - from > 16)) memcpy(to + 16, p + from + 16, at - from - 16);
        to += at - from;
        memcpy(to, text, 8);
        to += m;
        from = at + 1;
        bits &= bits - 1;
    }
    memcpy(to, p + from, 64 - from);
    return to + 64 - from;
}

/* One byte -> short content: the places of the byte are found 64 at a time. */
static ctok_status replace_byte(const ctok_normal_room *r, const uint8_t *in, size_t n, ctok_bytes *out) {
    const uint8_t wanted = r->pattern.at[0];
    const size_t m = r->content.n;
    uint8_t text[8] = {0};
    size_t i = 0;
    if (m) memcpy(text, r->content.at, m);
    while (i < n) {
        const size_t part = n - i < 4096 ? n - i : 4096, stop = i + part;
        if (ctok_bytes_reserve(out, part * (m > 1 ? m : 1) + 128) != CTOK_OK) return CTOK_ERR_MEMORY;
        uint8_t *to = out->at + out->n;
        for (; i + 64 <= stop && i + 80 <= n; i += 64) to = replace_in_window(in + i, bits_of(in + i, wanted), text, m, to);
        for (; i < stop; i++) {
            const int hit = in[i] == wanted;
            memcpy(to, text, 8);
            if (!hit) *to = in[i];
            to += hit ? m : 1;
        }
        out->n = (size_t)(to - out->at);
    }
    return CTOK_OK;
}

/* The first place in in[from..n) where the bytes a and b stand side by side, or n - 1 (from < n), where a may stand alone. */
static size_t find_two(const uint8_t *in, size_t from, size_t n, uint8_t a, uint8_t b) {
    size_t i = from;
    while (i + 33 <= n) {
        uint8_t any = 0;
        for (size_t k = 0; k < 32; k++) any |= (uint8_t)((uint8_t)(in[i + k] ^ a) | (uint8_t)(in[i + k + 1] ^ b)) == 0;
        if (any) break;
        i += 32;
    }
    while (i + 1 < n && (in[i] != a || in[i + 1] != b)) i++;
    return i;
}

/* The first place in in[from..n) where the pattern stands, or may stand when more text comes; n when nowhere. */
static size_t find_literal(const ctok_normal_room *r, const uint8_t *in, size_t from, size_t n, int *whole) {
    const uint8_t *pattern = r->pattern.at;
    const size_t m = r->pattern.n;
    size_t matched = 0;
    *whole = 0;
    for (size_t i = from; i < n; i++) {
        if (matched == 0) {
            if (m > 1) i = find_two(in, i, n, pattern[0], pattern[1]);
            const uint8_t *hit = (const uint8_t *)memchr(in + i, pattern[0], n - i);
            if (hit == NULL) return n;
            i = (size_t)(hit - in);
            matched = 1;
        } else {
            while (matched && in[i] != pattern[matched]) matched = r->border[matched];
            if (in[i] == pattern[matched]) matched++;
        }
        if (matched == m) {
            *whole = 1;
            return i + 1 - m;
        }
    }
    return n - matched;
}

ctok_status ctok_room_literal(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                              size_t *used) {
    (void)s;
    const size_t m = r->pattern.n;
    size_t pos = 0;
    *used = n;
    if (m == 1 && r->content.n <= 8) return replace_byte(r, in, n, out);
    while (pos < n) {
        int whole;
        const size_t at = find_literal(r, in, pos, n, &whole);
        if (ctok_bytes_append(out, in + pos, at - pos) != CTOK_OK) return CTOK_ERR_MEMORY;
        if (!whole) {
            if (final) return ctok_bytes_append(out, in + at, n - at);
            *used = at;
            return CTOK_OK;
        }
        if (replace(r, out) != CTOK_OK) return CTOK_ERR_MEMORY;
        pos = at + m;
    }
    return CTOK_OK;
}

ctok_status ctok_room_runs(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                           size_t *used) {
    const uint8_t c = r->pattern.at[0];
    size_t pos = 0, kept = 0;  /* in[kept..pos) is to be copied */
    *used = n;
    if (s->flags & CTOK_ROOM_STARTED) {
        while (pos < n && in[pos] == c) pos++;
        kept = pos;
        if (pos < n || final) s->flags &= ~CTOK_ROOM_STARTED;
    }
    while (pos < n) {
        if (r->least > 1) pos = find_two(in, pos, n, c, c);
        const uint8_t *hit = (const uint8_t *)memchr(in + pos, c, n - pos);
        if (hit == NULL) break;
        size_t first = (size_t)(hit - in), stop = first + 1;
        while (stop < n && in[stop] == c) stop++;
        pos = stop;
        if (stop - first < r->least) {
            if (stop < n || final) continue;
            *used = first;
            return ctok_bytes_append(out, in + kept, first - kept);
        }
        if (ctok_bytes_append(out, in + kept, first - kept) != CTOK_OK || replace(r, out) != CTOK_OK) return CTOK_ERR_MEMORY;
        kept = stop;
        if (stop == n && !final) s->flags |= CTOK_ROOM_STARTED;
    }
    return ctok_bytes_append(out, in + kept, n - kept);
}

/* ---- what a machine matches ---- */

void ctok_room_find_starts(ctok_normal_room *r) {
    memset(r->starts, 1, sizeof r->starts);
    for (unsigned c = 0; c < 0x80; c++) {
        const uint8_t byte = (uint8_t)c;
        size_t pos = 0;
        ctok_scan scan;
        ctok_scan_begin(r->dfa, &scan);
        if (ctok_scan_feed(r->dfa, &scan, &byte, &pos, 1) && scan.accept == 0) r->starts[c] = 0;
    }
}

/* Does a match start at pos? 1: yes, *len bytes; 0: no; -1: more text could change it (only when !final), and s->scan stands at the end. */
static int match_at(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t pos, size_t n, int final, size_t *len) {
    size_t at = pos;
    if (s->flags & CTOK_ROOM_SCANNING) {
        at += (size_t)s->scan.n;
    } else {
        ctok_scan_begin(r->dfa, &s->scan);
    }
    s->flags &= ~CTOK_ROOM_SCANNING;
    if (!ctok_scan_feed(r->dfa, &s->scan, in, &at, n)) {
        if (!final) {
            s->flags |= CTOK_ROOM_SCANNING;
            return -1;
        }
        *len = (size_t)ctok_scan_finish(r->dfa, &s->scan);
    } else {
        *len = (size_t)s->scan.accept;
    }
    return *len > 0;
}

ctok_status ctok_room_pattern(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                              size_t *used) {
    size_t pos = 0, kept = 0, len = 0;
    int found = 0;
    while (pos < n) {
        if (!(s->flags & CTOK_ROOM_SCANNING)) {
            while (pos < n && !r->starts[in[pos]]) pos++;
            if (pos == n) break;
        }
        found = match_at(r, s, in, pos, n, final, &len);
        if (found < 0) break;
        if (found) {
            if (ctok_bytes_append(out, in + kept, pos - kept) != CTOK_OK || replace(r, out) != CTOK_OK) return CTOK_ERR_MEMORY;
            pos += len;
            kept = pos;
        } else {
            ctok_nf_read(in + pos, &len);
            pos += len;
        }
        found = 0;
    }
    *used = pos;
    return ctok_bytes_append(out, in + kept, pos - kept);
}

/* ---- what the caller's function matches ---- */

ctok_status ctok_room_hook(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                           size_t *used) {
    ctok_ids matches = {NULL, 0, 0};
    size_t pos = 0;
    (void)s;
    *used = final ? n : 0;
    if (!final || n == 0) return CTOK_OK;
    ctok_status status = ctok_room_matches(r, in, n, &matches);
    for (size_t i = 0; i < matches.n && status == CTOK_OK; i += 2) {
        status = ctok_bytes_append(out, in + pos, matches.at[i] - pos);
        if (status == CTOK_OK) status = replace(r, out);
        pos = matches.at[i + 1];
    }
    if (status == CTOK_OK) status = ctok_bytes_append(out, in + pos, n - pos);
    ctok_ids_free(&matches);
    return status;
}

static ctok_status push_match(ctok_ids *matches, size_t start, size_t stop) {
    if (ctok_ids_reserve(matches, 2) != CTOK_OK) return CTOK_ERR_MEMORY;
    matches->at[matches->n++] = (ctok_id)start;
    matches->at[matches->n++] = (ctok_id)stop;
    return CTOK_OK;
}

static ctok_status next_match(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, size_t *pos, size_t *stop) {
    int whole;
    size_t len;
    if (r->kind == CTOK_ROOM_LITERAL) {
        *pos = find_literal(r, in, *pos, n, &whole);
        *stop = whole ? *pos + r->pattern.n : n;
        if (!whole) *pos = n;
        return CTOK_OK;
    }
    for (; *pos < n; *pos += len) {
        ctok_nf_read(in + *pos, &len);
        if (r->kind == CTOK_ROOM_RUN) {
            size_t k = 0;
            while (*pos + k < n && in[*pos + k] == r->pattern.at[0]) k++;
            *stop = *pos + k;
            if (k >= r->least) return CTOK_OK;
            if (k) len = k;
        } else {
            size_t found;
            *stop = match_at(r, s, in, *pos, n, 1, &found) ? *pos + found : n;
            if (found) return CTOK_OK;
        }
    }
    return CTOK_OK;
}

ctok_status ctok_room_matches(const ctok_normal_room *r, const uint8_t *in, size_t n, ctok_ids *matches) {
    ctok_room_state state;
    size_t pos = 0, stop = 0;
    if (n > UINT32_MAX) return CTOK_ERR_MEMORY;
    if (r->kind == CTOK_ROOM_HOOK) return n ? r->hook(r->ctx, in, n, matches) : CTOK_OK;
    memset(&state, 0, sizeof state);
    while (pos < n) {
        ctok_status status = next_match(r, &state, in, n, &pos, &stop);
        if (status != CTOK_OK || pos >= n) return status;
        status = push_match(matches, pos, stop);
        if (status != CTOK_OK) return status;
        pos = stop;
    }
    return CTOK_OK;
}
