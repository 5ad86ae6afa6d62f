/* ctok_tekken.c - see ctok_tekken.h. */
#include "ctok_tekken.h"

#include <string.h>

#include "ctok_json.h"
#include "ctok_mem.h"

#define NOT_BASE64 0x80u

typedef struct reader {
    ctok_json j;
    ctok_texttable *t;
    uint32_t wanted;
    uint8_t *seen; /* a byte a rank */
    ctok_status status;
    uint8_t sextet[256];
} reader;

static void reader_init(reader *r, const uint8_t *buf, size_t n) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    ctok_json_init(&r->j, buf, n);
    r->status = CTOK_OK;
    memset(r->sextet, NOT_BASE64, sizeof r->sextet);
    for (uint8_t i = 0; i < 64; i++) r->sextet[(uint8_t)alphabet[i]] = i;
}

static int stop(reader *r, ctok_status status) {
    if (r->status == CTOK_OK) r->status = status;
    return 0;
}

/* Decode base64 with its padding and without stray bits to `to`; *n becomes the number of bytes. */
static int decode(const reader *r, const ctok_json_string *s, uint8_t *to, size_t *n) {
    const uint8_t *p = r->j.buf + s->begin, *end = p + s->len;
    const uint8_t *first = to;
    if (!s->plain || s->len % 4) return 0;
    for (; p < end; p += 4) {
        const unsigned pad = p + 4 == end ? (unsigned)(p[3] == '=') + (unsigned)(p[3] == '=' && p[2] == '=') : 0;
        const uint32_t a = r->sextet[p[0]], b = r->sextet[p[1]];
        const uint32_t c = pad == 2 ? 0 : r->sextet[p[2]], d = pad ? 0 : r->sextet[p[3]];
        if ((a | b | c | d) & NOT_BASE64) return 0;
        if ((pad == 2 && (b & 15u)) || (pad == 1 && (c & 3u))) return 0;
        const uint32_t x = a << 18 | b << 12 | c << 6 | d;
        *to++ = (uint8_t)(x >> 16);
        if (pad < 2) *to++ = (uint8_t)(x >> 8);
        if (pad < 1) *to++ = (uint8_t)x;
    }
    *n = (size_t)(to - first);
    return 1;
}

static int read_rank(reader *r, uint32_t *rank) {
    size_t at;
    uint64_t x = 0;
    if (!ctok_json_number_at(&r->j, &at)) return 0;
    for (; at < r->j.at; at++) {
        const uint8_t c = r->j.buf[at];
        if (c < '0' || c > '9') return 0;
        x = x * 10 + (uint64_t)(c - '0');
        if (x > INT32_MAX) return 0;
    }
    *rank = (uint32_t)x;
    return 1;
}

static int push(reader *r, uint32_t rank, const ctok_json_string *token) {
    size_t n;
    if (rank >= r->wanted) return 1;
    uint8_t *to = ctok_texttable_room(r->t, token->len + 1);
    if (!to) return stop(r, CTOK_ERR_MEMORY);
    if (r->seen[rank] || !decode(r, token, to, &n) || n > CTOK_TEXT_MAX) return 0;
    r->seen[rank] = 1;
    return ctok_texttable_push(r->t, n, rank) == CTOK_OK ? 1 : stop(r, CTOK_ERR_MEMORY);
}

/* One object. A key that stands twice is left to the slow reader. */
static int read_entry(reader *r) {
    ctok_json *j = &r->j;
    ctok_json_string key, token = {0};
    uint32_t rank = 0;
    int has_rank = 0, has_token = 0;
    if (ctok_json_peek(j) != '{' || !ctok_json_enter(j, '}')) return 0;
    do {
        if (!ctok_json_key(j, &key)) return 0;
        if (ctok_json_is(j, &key, "rank")) {
            if (has_rank++ || !read_rank(r, &rank)) return 0;
        } else if (ctok_json_is(j, &key, "token_bytes")) {
            if (has_token++ || !ctok_json_string_at(j, CTOK_JSON_VALUE, &token)) return 0;
        } else if (!ctok_json_skip(j)) {
            return 0;
        }
    } while (ctok_json_more(j, '}'));
    return !j->fault && has_rank && has_token && push(r, rank, &token);
}

static int read_list(reader *r) {
    ctok_json *j = &r->j;
    if (ctok_json_peek(j) != '[' || !ctok_json_enter(j, ']')) return 0;
    do {
        if (!read_entry(r)) return 0;
    } while (ctok_json_more(j, ']'));
    return ctok_json_end(j);
}

ctok_status ctok_tekken_read(ctok_texttable *t, const uint8_t *buf, size_t n, uint32_t wanted) {
    reader r = {.t = t, .wanted = wanted};
    int crowded;
    *t = (ctok_texttable){0};
    if (n > UINT32_MAX || wanted > n) return CTOK_ERR_FORMAT;
    reader_init(&r, buf, n);
    r.seen = ctok_mem_zeroed(wanted, 1);
    if (!r.seen) return CTOK_ERR_MEMORY;
    if (!read_list(&r)) stop(&r, CTOK_ERR_FORMAT);
    ctok_mem_free(r.seen);
    if (r.status != CTOK_OK) return r.status;
    if (t->n != wanted) return CTOK_ERR_FORMAT;
    if (ctok_texttable_index(t, 0, &crowded) != CTOK_OK) return CTOK_ERR_MEMORY;
    return crowded || t->n != wanted ? CTOK_ERR_FORMAT : CTOK_OK;
}
