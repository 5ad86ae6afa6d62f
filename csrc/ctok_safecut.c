#include "ctok_safecut.h"

#include "ctok_mem.h"

enum { ROW = 32, PLANE = 0x10000 };

/* The character at p, and its bytes; 0 bytes: unfinished. What is not UTF-8 gives some character. */
static uint32_t char_at(const uint8_t *p, size_t left, unsigned *size) {
    const uint8_t b = p[0];
    *size = b < 0x80 ? 1 : b < 0xE0 ? 2 : b < 0xF0 ? 3 : 4;
    if (*size > left) *size = 0;
    if (*size == 1) return b;
    if (*size == 2) return (b & 0x1Fu) << 6 | (p[1] & 0x3Fu);
    if (*size == 3) return (b & 0xFu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    return PLANE;
}

static uint32_t unit_at(const ctok_safecut *c, const uint8_t *p, size_t left, unsigned *size) {
    if (!c->byte_level) return char_at(p, left, size);
    *size = left != 0;
    return p[0];
}

/* A row for each character that is a token. */
static ctok_status number_rows(ctok_safecut *c, const ctok_vocab *v) {
    unsigned size;
    c->n_rows = 1;
    for (uint32_t k = 0; k < v->n_tokens; k++) {
        const uint32_t n = v->begin[k + 1] - v->begin[k];
        if (n == 0 || n > 3) continue;
        const uint32_t unit = unit_at(c, v->bytes + v->begin[k], n, &size);
        if (size == n && unit < PLANE) c->row_of[unit] = (uint16_t)c->n_rows++;
    }
    c->rows = ctok_mem_zeroed(c->n_rows, ROW);
    return c->rows == NULL ? CTOK_ERR_MEMORY : CTOK_OK;
}

/* What a merge sees of a token as its left and as its right part. */
typedef struct edge {
    uint16_t first; /* row of its first character */
    uint8_t last;   /* its last byte */
    uint8_t known;
} edge;

ctok_status ctok_safecut_init(ctok_safecut *c, const ctok_vocab *v, const uint32_t *pairs, size_t n, int byte_level) {
    memset(c, 0, sizeof *c);
    c->byte_level = byte_level;
    c->row_of = ctok_mem_zeroed(byte_level ? 256 : PLANE, sizeof *c->row_of);
    edge *edges = ctok_mem_zeroed(v->n_ids, sizeof *edges);
    if (c->row_of == NULL || edges == NULL || number_rows(c, v) != CTOK_OK) {
        ctok_mem_free(edges);
        ctok_safecut_free(c);
        return CTOK_ERR_MEMORY;
    }
    for (uint32_t k = 0; k < v->n_tokens; k++) {
        const uint8_t *p = v->bytes + v->begin[k];
        const size_t size = v->begin[k + 1] - v->begin[k];
        unsigned of_first;
        if (size == 0) continue;
        const uint32_t unit = unit_at(c, p, size, &of_first);
        edges[v->id_of[k]] = (edge){unit < PLANE ? c->row_of[unit] : 0, p[size - 1], 1};
    }
    for (size_t i = 0; i < n; i++) {
        const ctok_id left = pairs[2 * i], right = pairs[2 * i + 1];
        if (left >= v->n_ids || right >= v->n_ids || !edges[left].known) continue;
        c->rows[(size_t)edges[right].first * ROW + edges[left].last / 8] |= (uint8_t)(1u << edges[left].last % 8);
    }
    ctok_mem_free(edges);
    return CTOK_OK;
}

ctok_status ctok_safecut_pieces(ctok_safecut *c, const uint8_t *data, const uint32_t *ends, uint32_t n, const uint8_t *firm) {
    unsigned size;
    memset(c, 0, sizeof *c);
    c->row_of = ctok_mem_zeroed(PLANE, sizeof *c->row_of);
    c->n_rows = 1;
    for (uint32_t k = 0, begin = 0; c->row_of != NULL && k < n; begin = ends[k++]) {
        if (!firm[k] || ends[k] == begin || ends[k] - begin > 3) continue;
        const uint32_t unit = char_at(data + begin, ends[k] - begin, &size);
        if (size == ends[k] - begin && !c->row_of[unit]) c->row_of[unit] = (uint16_t)c->n_rows++;
    }
    if (c->row_of != NULL) c->rows = ctok_mem_zeroed(c->n_rows, ROW);
    if (c->rows == NULL) {
        ctok_safecut_free(c);
        return CTOK_ERR_MEMORY;
    }
    for (uint32_t k = 0, begin = 0; k < n; begin = ends[k++]) {
        for (uint32_t at = begin; at < ends[k]; at += size) {
            const uint32_t unit = char_at(data + at, ends[k] - at, &size);
            if (size == 0) break;
            const size_t row = unit < PLANE ? c->row_of[unit] : 0;
            if (at > begin) c->rows[row * ROW + data[at - 1] / 8] |= (uint8_t)(1u << data[at - 1] % 8);
        }
    }
    return CTOK_OK;
}

void ctok_safecut_free(ctok_safecut *c) {
    ctok_mem_free(c->row_of);
    ctok_mem_free(c->rows);
    memset(c, 0, sizeof *c);
}

size_t ctok_safecut_next(const ctok_safecut *c, const uint8_t *buf, size_t pos, size_t end) {
    unsigned size;
    uint32_t before = 0; /* is what stands before a token? */
    for (size_t at = pos; at < end; at += size) {
        const uint32_t unit = unit_at(c, buf + at, end - at, &size);
        if (size == 0) break;
        const uint32_t row = unit < PLANE ? c->row_of[unit] : 0;
        if (before && row) {
            const uint8_t last = buf[at - 1];
            if (!(c->rows[(size_t)row * ROW + last / 8] >> last % 8 & 1)) return at;
        }
        before = row;
    }
    return end;
}
