/* ctok_pack.c - see ctok_pack.h. */
#include "ctok_pack.h"

#include <string.h>

#include "ctok_le.h"

static const uint8_t MAGIC[8] = {0x89, 'c', 't', 'o', 'k', 0x0d, 0x0a, 0x1a};

static size_t align64(size_t n) {
    return (n + 63) & ~(size_t)63;
}

/* ---- checksum ---- */

/* One step is a bijection of h for a fixed w and of w for a fixed h, so a single changed word always changes its lane. */
static uint64_t mix(uint64_t h, uint64_t w) {
    h = (h ^ w) * UINT64_C(0x9FB21C651E98DF25);
    return h ^ h >> 32;
}

static uint64_t checksum(const uint8_t *p, size_t n) {
    uint64_t a = n, b = 1, c = 2, d = 3;
    for (; n >= 32; p += 32, n -= 32) {
        a = mix(a, ctok_le64_get(p));
        b = mix(b, ctok_le64_get(p + 8));
        c = mix(c, ctok_le64_get(p + 16));
        d = mix(d, ctok_le64_get(p + 24));
    }
    for (; n; p++, n--) a = mix(a, *p);
    return mix(mix(mix(a, b), c), d);
}

/* ---- layout: every size follows from the header's counts ---- */

static uint64_t packed_size(const ctok_pack *p) {
    const uint64_t id_bytes = ((uint64_t)p->n_tokens * p->id_bits + 7) / 8;
    return (uint64_t)p->n_tokens + p->n_wide + p->n_suffix + id_bytes;
}

static void lay_out(ctok_pack *p) {
    p->table = align64(CTOK_PACK_HEADER + (size_t)p->n_meta);
    p->size = p->kind == CTOK_PACK_PACKED ? p->table + packed_size(p) : ctok_pack_parts(p).data + (uint64_t)p->n_bytes;
}

ctok_pack_plain ctok_pack_parts(const ctok_pack *p) {
    const size_t column = align64(4 * (size_t)p->n_tokens);
    return (ctok_pack_plain){.ends = p->table, .ids = p->table + column, .data = p->table + 2 * column};
}

ctok_pack_fault ctok_pack_open(ctok_pack *p, const uint8_t *buf, size_t n) {
    *p = (ctok_pack){0};
    if (n < sizeof MAGIC || memcmp(buf, MAGIC, sizeof MAGIC) != 0) return CTOK_PACK_MAGIC;
    if (n < CTOK_PACK_HEADER) return CTOK_PACK_SIZE;
    p->version = ctok_le32_get(buf + 8);
    if (p->version < CTOK_PACK_FIRST || p->version > CTOK_PACK_VERSION) return CTOK_PACK_OTHER_VERSION;
    if (ctok_le64_get(buf + 24) != n) return CTOK_PACK_SIZE;
    if (ctok_le64_get(buf + 16) != checksum(buf + 24, n - 24)) return CTOK_PACK_CHECKSUM;
    p->kind = ctok_le32_get(buf + 12);
    p->n_tokens = ctok_le32_get(buf + 32);
    p->n_bytes = ctok_le32_get(buf + 36);
    p->n_meta = ctok_le32_get(buf + 40);
    p->n_wide = ctok_le32_get(buf + 44);
    p->n_suffix = ctok_le32_get(buf + 48);
    p->id_bits = ctok_le32_get(buf + 52);
    if (p->kind > CTOK_PACK_PACKED || p->id_bits > 31 || p->n_tokens == UINT32_MAX) return CTOK_PACK_CONTENT;
    if (p->kind == CTOK_PACK_PACKED && p->n_tokens && p->id_bits == 0) return CTOK_PACK_CONTENT;
    if (p->n_meta > n || p->n_tokens > (p->kind == CTOK_PACK_PACKED ? n : n / 8)) return CTOK_PACK_CONTENT; /* no size below overflows */
    lay_out(p);
    return p->size == n ? CTOK_PACK_OK : CTOK_PACK_CONTENT;
}

/* ---- reading a packed table ---- */

typedef struct reader {
    const uint8_t *wide, *wide_end, *suffix, *suffix_end;
    uint8_t *out, *out_end;
    size_t last; /* bytes of the token before, which end at out */
} reader;

/* Add a LEB128 number to *x. Returns 0 when it is cut off or too large for a token's length. */
static int wide_number(reader *r, size_t *x) {
    uint64_t sum = 0;
    for (unsigned shift = 0; shift < 35 && r->wide < r->wide_end; shift += 7) {
        const uint8_t b = *r->wide++;
        sum |= (uint64_t)(b & 127u) << shift;
        if (b < 128) {
            if (sum > CTOK_PACK_TOKEN_MAX) return 0;
            *x += (size_t)sum;
            return 1;
        }
    }
    return 0;
}

/* Copies of up to 16 bytes are two moves through registers when there is room to overshoot; both areas may overlap. */
static void copy_short(uint8_t *to, const uint8_t *from) {
    uint8_t hold[16];
    memcpy(hold, from, 16);
    memcpy(to, hold, 16);
}

/* Append one token. Returns 0 when it would leave a buffer or would not ascend. */
static int read_token(reader *r, uint8_t head, int is_first) {
    size_t shared = head >> 4, own = head & 15u;
    if (CTOK_UNLIKELY(shared == 15) && !wide_number(r, &shared)) return 0;
    if (CTOK_UNLIKELY(own == 15) && !wide_number(r, &own)) return 0;
    const size_t room = (size_t)(r->out_end - r->out), left = (size_t)(r->suffix_end - r->suffix);
    if (own == 0) return is_first && shared == 0;
    if (shared > r->last || own > left || shared + own > room || shared + own > CTOK_PACK_TOKEN_MAX) return 0;
    const uint8_t *before = r->out - r->last;
    if (shared < r->last && r->suffix[0] <= before[shared]) return 0;
    if (CTOK_LIKELY(shared <= 16 && own <= 16 && room >= 32 && left >= 16)) {
        copy_short(r->out, before);
        copy_short(r->out + shared, r->suffix);
    } else {
        memcpy(r->out, before, shared);
        memcpy(r->out + shared, r->suffix, own);
    }
    r->out += shared + own;
    r->suffix += own;
    r->last = shared + own;
    return 1;
}

/* n ids of `bits` bits; in has n_in bytes. */
static void read_ids(const uint8_t *in, size_t n_in, unsigned bits, uint32_t n, uint8_t *ids) {
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    uint64_t at = 0;
    for (uint32_t k = 0; k < n; k++, at += bits) {
        const size_t byte = (size_t)(at >> 3);
        uint64_t word = 0;
        if (CTOK_LIKELY(n_in - byte >= 8)) {
            word = ctok_le64_get(in + byte);
        } else {
            for (size_t i = byte; i < n_in; i++) word |= (uint64_t)in[i] << (8 * (i - byte));
        }
        ctok_le32_put(ids + 4 * (size_t)k, (uint32_t)(word >> (at & 7) & mask));
    }
}

ctok_pack_fault ctok_pack_read(const ctok_pack *p, const uint8_t *buf, uint8_t *data, uint8_t *ends, uint8_t *ids) {
    const uint8_t *heads = buf + p->table;
    reader r = {.wide = heads + p->n_tokens, .out = data, .out_end = data + p->n_bytes};
    r.wide_end = r.suffix = r.wide + p->n_wide;
    r.suffix_end = r.suffix + p->n_suffix;
    for (uint32_t k = 0; k < p->n_tokens; k++) {
        if (!read_token(&r, heads[k], k == 0)) return CTOK_PACK_CONTENT;
        ctok_le32_put(ends + 4 * (size_t)k, (uint32_t)(r.out - data));
    }
    if (r.out != r.out_end || r.wide != r.wide_end || r.suffix != r.suffix_end) return CTOK_PACK_CONTENT;
    read_ids(r.suffix_end, (size_t)(buf + p->size - r.suffix_end), p->id_bits, p->n_tokens, ids);
    return CTOK_PACK_OK;
}

/* ---- writing ---- */

static size_t shared_prefix(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b) {
    size_t i = 0;
    while (i < n_a && i < n_b && a[i] == b[i]) i++;
    return i;
}

static uint32_t wide_size(size_t number) {
    uint32_t n = 0;
    if (number < 15) return 0;
    for (number -= 15; number > 127; number >>= 7) n++;
    return n + 1;
}

ctok_status ctok_pack_plan(ctok_pack *p, uint32_t version, uint32_t kind, const uint8_t *data, size_t n_bytes, const uint8_t *ends,
                           const uint8_t *ids, size_t n, size_t n_meta, uint32_t *bad) {
    const int twice = version >= 3 && kind == CTOK_PACK_PLAIN;
    size_t begin = 0, last = 0;
    uint32_t all_ids = 1;
    *p = (ctok_pack){.version = version, .kind = kind};
    *bad = 0;
    if (n >= UINT32_MAX || n_bytes > UINT32_MAX || n_meta > INT32_MAX) return CTOK_ERR_FORMAT;
    for (size_t k = 0; k < n; k++) {
        const size_t end = ctok_le32_get(ends + 4 * k);
        const uint32_t id = ctok_le32_get(ids + 4 * k);
        *bad = (uint32_t)k;
        if (end < begin || end > n_bytes || end - begin > CTOK_PACK_TOKEN_MAX || id > INT32_MAX) return CTOK_ERR_FORMAT;
        const size_t shared = shared_prefix(data + begin - last, last, data + begin, end - begin);
        if ((k && shared == end - begin && !(twice && shared == last)) || (shared < last && data[begin + shared] < data[begin - last + shared])) return CTOK_ERR_FORMAT;
        const size_t own = end - begin - shared;
        p->n_wide += wide_size(shared) + wide_size(own);
        p->n_suffix += (uint32_t)own;
        all_ids |= id;
        last = end - begin;
        begin = end;
    }
    if (begin != n_bytes) return CTOK_ERR_FORMAT;
    while (all_ids >> p->id_bits) p->id_bits++;
    p->n_tokens = (uint32_t)n;
    p->n_bytes = (uint32_t)n_bytes;
    p->n_meta = (uint32_t)n_meta;
    if (kind == CTOK_PACK_PLAIN) p->n_wide = p->n_suffix = p->id_bits = 0;
    lay_out(p);
    return CTOK_OK;
}

static uint8_t *put_wide(uint8_t *out, size_t number) {
    if (number < 15) return out;
    for (number -= 15; number > 127; number >>= 7) *out++ = (uint8_t)(number | 128u);
    *out++ = (uint8_t)number;
    return out;
}

static void write_packed(const ctok_pack *p, const uint8_t *data, const uint8_t *ends, const uint8_t *ids, uint8_t *out) {
    uint8_t *wide = out + p->n_tokens, *suffix = wide + p->n_wide, *packed = suffix + p->n_suffix;
    size_t begin = 0, last = 0;
    for (size_t k = 0; k < p->n_tokens; k++) {
        const size_t end = ctok_le32_get(ends + 4 * k);
        const size_t shared = shared_prefix(data + begin - last, last, data + begin, end - begin), own = end - begin - shared;
        out[k] = (uint8_t)((shared < 15 ? shared : 15) << 4 | (own < 15 ? own : 15));
        wide = put_wide(put_wide(wide, shared), own);
        memcpy(suffix, data + begin + shared, own);
        suffix += own;
        last = end - begin;
        begin = end;
    }
    for (uint64_t k = 0; k < p->n_tokens; k++) {
        const uint64_t at = k * p->id_bits, word = (uint64_t)ctok_le32_get(ids + 4 * k) << (at & 7);
        for (unsigned i = 0; i < (at & 7) + p->id_bits; i += 8) packed[(at + i) >> 3] |= (uint8_t)(word >> i);
    }
}

static void write_plain(const ctok_pack *p, const uint8_t *data, const uint8_t *ends, const uint8_t *ids, uint8_t *out) {
    const ctok_pack_plain parts = ctok_pack_parts(p);
    if (p->n_tokens == 0) return;
    memcpy(out + parts.ends, ends, 4 * (size_t)p->n_tokens);
    memcpy(out + parts.ids, ids, 4 * (size_t)p->n_tokens);
    memcpy(out + parts.data, data, p->n_bytes);
}

void ctok_pack_write(const ctok_pack *p, const uint8_t *data, const uint8_t *ends, const uint8_t *ids, const uint8_t *meta, uint8_t *out) {
    const uint32_t counts[6] = {p->n_tokens, p->n_bytes, p->n_meta, p->n_wide, p->n_suffix, p->id_bits};
    memset(out, 0, (size_t)p->size);
    memcpy(out, MAGIC, sizeof MAGIC);
    ctok_le32_put(out + 8, p->version);
    ctok_le32_put(out + 12, p->kind);
    ctok_le64_put(out + 24, p->size);
    for (unsigned i = 0; i < 6; i++) ctok_le32_put(out + 32 + 4 * i, counts[i]);
    if (p->n_meta) memcpy(out + CTOK_PACK_HEADER, meta, p->n_meta);
    if (p->kind == CTOK_PACK_PACKED) {
        write_packed(p, data, ends, ids, out + p->table);
    } else {
        write_plain(p, data, ends, ids, out);
    }
    ctok_le64_put(out + 16, checksum(out + 24, (size_t)p->size - 24));
}
