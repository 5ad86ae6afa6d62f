#include "ctok_stops.h"

#include <string.h>

#include "ctok_mem.h"

void ctok_stops_free(ctok_stops *s) {
    ctok_mem_free(s->next);
    ctok_mem_free(s->depth);
    ctok_mem_free(s->hit);
    ctok_mem_free(s->fail);
    ctok_mem_free(s->begin);
    ctok_mem_free(s->bytes);
    memset(s, 0, sizeof *s);
}

static int set_classes(ctok_stops *s, const uint8_t *bytes, size_t n_bytes) {
    s->n_classes = 1;
    for (size_t i = 0; i < n_bytes; i++) {
        if (s->class_of[bytes[i]]) continue;
        if (s->n_classes == 256) return 0;
        s->class_of[bytes[i]] = (uint8_t)s->n_classes++;
    }
    return 1;
}

static ctok_status allocate(ctok_stops *s, size_t n_bytes) {
    const size_t most = n_bytes + 1; /* states: one for each byte, and the start */
    s->next = ctok_mem_zeroed(most * s->n_classes, sizeof *s->next);
    s->depth = ctok_mem_zeroed(most, sizeof *s->depth);
    s->hit = ctok_mem_zeroed(most, sizeof *s->hit);
    s->fail = ctok_mem_zeroed(most, sizeof *s->fail);
    s->begin = ctok_mem_zeroed(most, sizeof *s->begin);
    s->bytes = ctok_mem_alloc(n_bytes, 1);
    if (s->next && s->depth && s->hit && s->fail && s->begin && s->bytes) return CTOK_OK;
    ctok_stops_free(s);
    return CTOK_ERR_MEMORY;
}

/* The tree of all beginnings; a missing child is 0. */
static void add_stop(ctok_stops *s, uint32_t begin, uint32_t end) {
    uint32_t at = 0;
    for (uint32_t i = begin; i < end; i++) {
        uint16_t *child = &s->next[(size_t)at * s->n_classes + s->class_of[s->bytes[i]]];
        if (*child == 0) {
            *child = (uint16_t)s->n_states++;
            s->depth[*child] = (uint16_t)(i - begin + 1);
            s->begin[*child] = begin;
        }
        at = *child;
    }
    s->hit[at] = (uint16_t)(end - begin);
}

/* Complete the rows, nearest states first: where a state has no child, it goes where its next shorter end goes. Children of a state
 * of depth d have depth d + 1, so a pass for each depth visits them in order; `order` is a queue. */
static void complete(ctok_stops *s, uint16_t *order) {
    size_t head = 0, tail = 0;
    for (uint32_t c = 0; c < s->n_classes; c++)
        if (s->next[c]) order[tail++] = s->next[c];
    while (head < tail) {
        const uint32_t at = order[head++];
        const uint16_t *shorter = &s->next[(size_t)s->fail[at] * s->n_classes];
        uint16_t *row = &s->next[(size_t)at * s->n_classes];
        if (s->hit[at] == 0) s->hit[at] = s->hit[s->fail[at]];
        for (uint32_t c = 0; c < s->n_classes; c++) {
            if (row[c] == 0) {
                row[c] = shorter[c];
            } else {
                s->fail[row[c]] = shorter[c];
                order[tail++] = row[c];
            }
        }
    }
}

ctok_status ctok_stops_init(ctok_stops *s, const uint8_t *bytes, const uint32_t *ends, size_t n) {
    const size_t n_bytes = n ? ends[n - 1] : 0;
    memset(s, 0, sizeof *s);
    if (n_bytes > CTOK_STOPS_MAX_BYTES || !set_classes(s, bytes, n_bytes)) return CTOK_ERR_FORMAT;
    for (size_t k = 0; k < n; k++)
        if (ends[k] <= (k ? ends[k - 1] : 0)) return CTOK_ERR_FORMAT;
    if (allocate(s, n_bytes) != CTOK_OK) return CTOK_ERR_MEMORY;
    uint16_t *order = ctok_mem_alloc(n_bytes + 1, sizeof *order);
    if (order == NULL) {
        ctok_stops_free(s);
        return CTOK_ERR_MEMORY;
    }
    if (n_bytes) memcpy(s->bytes, bytes, n_bytes);
    s->n_states = 1;
    for (size_t k = 0; k < n; k++) add_stop(s, k ? ends[k - 1] : 0, ends[k]);
    complete(s, order);
    ctok_mem_free(order);
    return CTOK_OK;
}
