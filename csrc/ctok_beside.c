#include "ctok_beside.h"

#include <string.h>

#include "ctok_mem.h"

/* One more row, of zeros. */
static ctok_status add_row(ctok_beside *b, uint32_t *row) {
    if (b->n_rows == b->cap_rows) {
        const uint32_t cap = b->cap_rows ? 2 * b->cap_rows : 256;
        uint8_t *rows = (uint8_t *)ctok_mem_resize(b->rows, cap, CTOK_BESIDE_ROW);
        if (rows == NULL) return CTOK_ERR_MEMORY;
        memset(rows + (size_t)b->n_rows * CTOK_BESIDE_ROW, 0, (size_t)(cap - b->n_rows) * CTOK_BESIDE_ROW);
        b->rows = rows;
        b->cap_rows = cap;
    }
    *row = b->n_rows++;
    return CTOK_OK;
}

/* Where p[0..n) stands in a tree, or 0. */
static uint32_t node_of(const ctok_trie *t, const uint8_t *p, size_t n) {
    size_t at = CTOK_TRIE_ROOT;
    for (size_t i = 0; i < n && (i == 0 || at); i++) at = ctok_trie_child(t, ctok_trie_unit(t, at), p[i]);
    return (uint32_t)at;
}

/* The neighbours in p[0..n), of which the first `known` bytes are those of the piece before. */
static ctok_status add_piece(ctok_beside *b, const uint8_t *p, size_t n, size_t known, const ctok_trie *t) {
    size_t size, at;
    ctok_beside_char *one = b->chars + ctok_beside_at(p, n, &size);
    if (size > known && size <= n && one != b->chars + CTOK_BESIDE_PLANE) one->node = node_of(t, p, size);
    for (at = size; at < n; at += size) {
        one = b->chars + ctok_beside_at(p + at, n - at, &size);
        if (at + size <= known) continue;
        if (one->row == 0 && add_row(b, &one->row) != CTOK_OK) return CTOK_ERR_MEMORY;
        b->rows[(size_t)one->row * CTOK_BESIDE_ROW + p[at - 1] / 8] |= (uint8_t)(1u << p[at - 1] % 8);
    }
    return CTOK_OK;
}

ctok_status ctok_beside_init(ctok_beside *b, const uint8_t *data, const uint32_t *ends, uint32_t n, const ctok_trie *t) {
    uint32_t none;
    memset(b, 0, sizeof *b);
    b->chars = (ctok_beside_char *)ctok_mem_zeroed(CTOK_BESIDE_PLANE + 1, sizeof *b->chars);
    ctok_status status = b->chars == NULL ? CTOK_ERR_MEMORY : add_row(b, &none);
    for (uint32_t k = 0, begin = 0, before = 0; k < n && status == CTOK_OK; before = begin, begin = ends[k++]) {
        const size_t size = ends[k] - begin, most = size < begin - before ? size : begin - before;
        size_t known = 0;
        while (known < most && data[before + known] == data[begin + known]) known++;
        if (size) status = add_piece(b, data + begin, size, known, t);
    }
    if (status != CTOK_OK) ctok_beside_free(b);
    return status;
}

void ctok_beside_free(ctok_beside *b) {
    ctok_mem_free(b->chars);
    ctok_mem_free(b->rows);
    memset(b, 0, sizeof *b);
}
