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

void ctok_room_charsmap_ascii(ctok_normal_room *r) {
    r->ascii_kind = 1;
    for (uint32_t c = 0; c < 128; c++) {
        r->ascii[c] = ctok_charsmap_char(&r->map, c) || c == '\r' ? CTOK_ASCII_STOP : (uint8_t)c;
        if (c >= 0x20 && c < 0x7F && r->ascii[c] != c) r->ascii_kind = 0;
    }
}

/* How many characters of ASCII text stay as they are. */
static size_t ascii_run(const ctok_normal_room *r, const uint8_t *in, size_t n) {
    size_t i = 0;
    for (;;) {
        for (; r->ascii_kind && i + 32 <= n; i += 32) {
            uint8_t odd = 0;
            for (size_t k = 0; k < 32; k++) odd |= (uint8_t)((uint8_t)(in[i + k] - 0x20) >= 0x5F);
            if (odd) break;
        }
        const size_t stop = n - i < 32 ? n : i + 32;
        while (i < stop && in[i] < 0x80 && r->ascii[in[i]] != CTOK_ASCII_STOP) i++;
        if (i < stop || i == n) return i;
    }
}

/* Does this class never join what may follow, extensions aside? */
static int stands_alone(uint32_t cls) { return cls == CTOK_NF_OTHER || cls == CTOK_NF_CONTROL || cls == CTOK_NF_LF; }

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
    size_t pos = 0, len, next_len;
    ctok_status status = CTOK_OK;
    while (pos < n && status == CTOK_OK) {
        if (s->flags & LONG) {
            status = rest_of_cluster(r, s, in, &pos, n, final, out);
            continue;
        }
        if (in[pos] < 0x80) {
            const size_t k = ascii_run(r, in + pos, n - pos);
            if (k > 1) {  /* the last one may be the first of a cluster */
                status = ctok_bytes_append(out, in + pos, k - 1);
                pos += k - 1;
            }
            if (status != CTOK_OK) break;
        }
        const uint32_t code = ctok_nf_read(in + pos, &len), bits = bits_of(code);
        if (pos + len < n && stands_alone(class_of(bits))) {
            const uint32_t next = class_of(bits_of(ctok_nf_read(in + pos + len, &next_len)));
            if (class_of(bits) != CTOK_NF_OTHER || (next != CTOK_NF_EXTEND && next != CTOK_NF_ZWJ && next != CTOK_NF_SPACING)) {
                status = put_char(r, code, in + pos, len, out);
                pos += len;
                continue;
            }
        }
        const size_t before = pos;
        status = one_cluster(r, s, in, &pos, n, final, out);
        if (pos == before) break;
    }
    if (final) s->flags = 0;
    *used = pos;
    return status;
}
