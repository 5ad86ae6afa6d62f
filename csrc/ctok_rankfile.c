/* ctok_rankfile.c - see ctok_rankfile.h. */
#include "ctok_rankfile.h"

#include <string.h>

#include "ctok_bytesort.h"
#include "ctok_le.h"
#include "ctok_mem.h"

/* ---- parsing ---- */

#define NOT_BASE64 0x80u

typedef struct parser {
    const uint8_t *at, *end;
    uint8_t *out; /* where the next token goes: never passes 3/4 of what was read */
    uint8_t sextet[256];
} parser;

static void parser_init(parser *p, const uint8_t *buf, size_t n, uint8_t *out) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    p->at = buf;
    p->end = buf + n;
    p->out = out;
    memset(p->sextet, NOT_BASE64, sizeof p->sextet);
    for (uint8_t i = 0; i < 64; i++) p->sextet[(uint8_t)alphabet[i]] = i;
}

/* Step over one line end; also true, without a step, at the end of the text. */
static int line_end(parser *p) {
    if (p->at == p->end) return 1;
    if (*p->at == '\n') {
        p->at++;
        return 1;
    }
    if (*p->at != '\r') return 0;
    if (p->at + 1 < p->end && p->at[1] != '\n') return 0;
    p->at += p->at + 1 < p->end ? 2 : 1;
    return 1;
}

/* The group that ends a token, "xx==" or "xxx=": its bytes are written, 0 is a fault. Bits that the padding cuts off must be zero. */
static int padded_group(parser *p) {
    const uint8_t *s = p->at;
    if (p->end - s < 4 || s[3] != '=') return 0;
    const uint32_t a = p->sextet[s[0]], b = p->sextet[s[1]];
    if ((a | b) & NOT_BASE64) return 0;
    if (s[2] == '=') {
        if (b & 15u) return 0;
        *p->out++ = (uint8_t)(a << 2 | b >> 4);
    } else {
        const uint32_t c = p->sextet[s[2]];
        if ((c & NOT_BASE64) || (c & 3u)) return 0;
        *p->out++ = (uint8_t)(a << 2 | b >> 4);
        *p->out++ = (uint8_t)(b << 4 | c >> 2);
    }
    p->at += 4;
    return 1;
}

/* Decode the token at p->at; p->at is then behind it. */
static ctok_rank_fault parse_token(parser *p) {
    const uint8_t *begin = p->at;
    if (*begin == '=' && (begin + 1 == p->end || begin[1] == ' ')) {
        p->at++;
        return CTOK_RANK_OK;
    }
    while (p->end - p->at >= 4) {
        const uint8_t *s = p->at;
        const uint32_t a = p->sextet[s[0]], b = p->sextet[s[1]], c = p->sextet[s[2]], d = p->sextet[s[3]];
        if ((a | b | c | d) & NOT_BASE64) break;
        const uint32_t x = a << 18 | b << 12 | c << 6 | d;
        p->out[0] = (uint8_t)(x >> 16);
        p->out[1] = (uint8_t)(x >> 8);
        p->out[2] = (uint8_t)x;
        p->out += 3;
        p->at += 4;
    }
    if (p->at == p->end) return p->at == begin ? CTOK_RANK_BASE64 : CTOK_RANK_OK;
    if (*p->at != ' ' && *p->at != '\n' && *p->at != '\r' && !padded_group(p)) return CTOK_RANK_BASE64;
    return p->at == begin ? CTOK_RANK_BASE64 : CTOK_RANK_OK;
}

static ctok_rank_fault parse_rank(parser *p, uint32_t *rank) {
    const uint8_t *begin = p->at;
    uint64_t x = 0;
    if (p->at < p->end && *p->at == '-') return CTOK_RANK_NEGATIVE;
    if (p->at < p->end && (*p->at == ' ' || *p->at == '\t')) return CTOK_RANK_BLANK;
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9') {
        x = x * 10 + (uint64_t)(*p->at++ - '0');
        if (x > CTOK_RANK_MAX) return CTOK_RANK_LARGE;
    }
    *rank = (uint32_t)x;
    if (p->at == begin) return line_end(p) ? CTOK_RANK_MISSING : CTOK_RANK_DIGITS;
    return line_end(p) ? CTOK_RANK_OK : CTOK_RANK_DIGITS;
}

static ctok_rank_fault parse_line(parser *p, ctok_rank_line *line, const uint8_t *bytes) {
    const uint8_t *token = p->out;
    ctok_rank_fault fault = parse_token(p);
    if (fault != CTOK_RANK_OK) return fault;
    if (p->out - token > (ptrdiff_t)CTOK_RANK_TOKEN_MAX) return CTOK_RANK_LONG;
    line->token.begin = (uint32_t)(token - bytes);
    line->token.len = (uint32_t)(p->out - token);
    if (p->at < p->end && *p->at == ' ') {
        p->at++;
        return parse_rank(p, &line->rank);
    }
    return line_end(p) ? CTOK_RANK_MISSING : CTOK_RANK_BLANK;
}

static ctok_status grow(ctok_rankfile *f, uint32_t *cap) {
    if (*cap > UINT32_MAX / 2) return CTOK_ERR_MEMORY;
    const uint32_t wanted = *cap ? 2 * *cap : 1024;
    void *lines = ctok_mem_resize(f->lines, wanted, sizeof *f->lines);
    if (!lines) return CTOK_ERR_MEMORY;
    f->lines = lines;
    *cap = wanted;
    return CTOK_OK;
}

static int last_line_is_cut(const parser *p, const uint8_t *line) {
    return memchr(line, '\n', (size_t)(p->end - line)) == NULL;
}

static ctok_status parse(ctok_rankfile *f, const uint8_t *buf, size_t n, ctok_rank_error *error) {
    parser p;
    uint32_t cap = 0;
    parser_init(&p, buf, n, f->bytes);
    for (uint32_t number = 1; p.at < p.end; number++) {
        if (*p.at == '\n' || *p.at == '\r') {
            if (line_end(&p)) continue;
        }
        if (f->n == cap && grow(f, &cap) != CTOK_OK) return CTOK_ERR_MEMORY;
        const uint8_t *line = p.at;
        error->fault = parse_line(&p, &f->lines[f->n], f->bytes);
        if (CTOK_UNLIKELY(error->fault != CTOK_RANK_OK)) {
            error->line = number;
            error->cut = last_line_is_cut(&p, line);
            return CTOK_ERR_FORMAT;
        }
        f->lines[f->n++].line = number;
    }
    f->n_bytes = (size_t)(p.out - f->bytes);
    if (f->n) return CTOK_OK;
    error->fault = CTOK_RANK_EMPTY;
    return CTOK_ERR_FORMAT;
}

/* ---- sorting ---- */

static int same_token(const ctok_rankfile *f, uint32_t x, uint32_t y) {
    return ctok_bytestring_order(f->bytes, &f->lines[x].token, &f->lines[y].token) == 0;
}

/* Of two neighbours that are the same, keep the pair whose later line comes first in the file. */
static void note_twice(const ctok_rankfile *f, ctok_rank_error *error, ctok_rank_fault fault, uint32_t x, uint32_t y) {
    const uint32_t one = f->lines[x].line, other = f->lines[y].line; /* stable sorts: one < other */
    if (error->fault != CTOK_RANK_OK && error->line <= other) return;
    *error = (ctok_rank_error){.fault = fault, .line = other, .other = one};
}

static void sort_all(ctok_rankfile *f, ctok_sortkey *room, ctok_rank_error *error) {
    ctok_sortkey *b = room + f->n, *a = ctok_bytesort(f->bytes, f->lines, sizeof *f->lines, f->n, room, b);
    for (uint32_t i = 0; i < f->n; i++) f->order[i] = a[i].at;
    for (uint32_t i = 1; i < f->n; i++) {
        if (a[i - 1].key == a[i].key && same_token(f, a[i - 1].at, a[i].at)) {
            note_twice(f, error, CTOK_RANK_SAME_TOKEN, a[i - 1].at, a[i].at);
        }
    }
    if (error->fault != CTOK_RANK_OK) return;
    for (uint32_t i = 0; i < f->n; i++) room[i] = (ctok_sortkey){f->lines[i].rank, i};
    a = ctok_sort_keys(room, b, f->n, 31);
    for (uint32_t i = 1; i < f->n; i++) {
        if (a[i - 1].key == a[i].key) note_twice(f, error, CTOK_RANK_SAME_RANK, a[i - 1].at, a[i].at);
    }
}

static ctok_status sort(ctok_rankfile *f, ctok_rank_error *error) {
    ctok_sortkey *records = ctok_mem_alloc(f->n, 2 * sizeof *records);
    f->order = ctok_mem_alloc(f->n, sizeof *f->order);
    if (!records || !f->order) {
        ctok_mem_free(records);
        return CTOK_ERR_MEMORY;
    }
    sort_all(f, records, error);
    ctok_mem_free(records);
    return error->fault == CTOK_RANK_OK ? CTOK_OK : CTOK_ERR_FORMAT;
}

/* ---- the three entries ---- */

ctok_status ctok_rankfile_read(ctok_rankfile *f, const uint8_t *buf, size_t n, ctok_rank_error *error) {
    *f = (ctok_rankfile){0};
    *error = (ctok_rank_error){0};
    if (n > UINT32_MAX) {
        error->fault = CTOK_RANK_BIG;
        return CTOK_ERR_FORMAT;
    }
    if (n == 0) {
        error->fault = CTOK_RANK_EMPTY;
        return CTOK_ERR_FORMAT;
    }
    f->bytes = ctok_mem_alloc(n / 4 + 1, 3);
    ctok_status status = f->bytes ? parse(f, buf, n, error) : CTOK_ERR_MEMORY;
    if (status == CTOK_OK) status = sort(f, error);
    if (status != CTOK_OK) ctok_rankfile_free(f);
    return status;
}

void ctok_rankfile_table(const ctok_rankfile *f, uint8_t *data, uint8_t *ends, uint8_t *ids) {
    uint32_t total = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        const ctok_rank_line *line = &f->lines[f->order[i]];
        memcpy(data + total, f->bytes + line->token.begin, line->token.len);
        total += line->token.len;
        ctok_le32_put(ends + 4 * (size_t)i, total);
        ctok_le32_put(ids + 4 * (size_t)i, line->rank);
    }
}

void ctok_rankfile_free(ctok_rankfile *f) {
    ctok_mem_free(f->bytes);
    ctok_mem_free(f->lines);
    ctok_mem_free(f->order);
    *f = (ctok_rankfile){0};
}
