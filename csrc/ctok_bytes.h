/* ctok_bytes.h - a growing buffer of bytes. */
#ifndef CTOK_BYTES_H
#define CTOK_BYTES_H

#include <string.h>

#include "ctok_base.h"
#include "ctok_mem.h"

typedef struct ctok_bytes {
    uint8_t *at;
    size_t n;   /* bytes in use */
    size_t cap; /* room */
} ctok_bytes;

/* ctok_bytes_reserve - make room for more bytes behind the n in use. On CTOK_ERR_MEMORY nothing changed. */
static inline ctok_status ctok_bytes_reserve(ctok_bytes *b, size_t more) {
    if (CTOK_LIKELY(b->cap - b->n >= more)) return CTOK_OK;
    if (more > SIZE_MAX - b->n) return CTOK_ERR_MEMORY;
    size_t cap = b->cap + b->cap / 2;
    if (cap < b->n + more) cap = b->n + more;
    if (cap < 64) cap = 64;
    uint8_t *at = (uint8_t *)ctok_mem_resize(b->at, cap, 1);
    if (at == NULL) return CTOK_ERR_MEMORY;
    b->at = at;
    b->cap = cap;
    return CTOK_OK;
}

/* ctok_bytes_append - put n bytes behind those in use; p may not lie in the buffer itself, and may be NULL when n is 0. */
static inline ctok_status ctok_bytes_append(ctok_bytes *b, const uint8_t *p, size_t n) {
    if (n == 0) return CTOK_OK;
    if (ctok_bytes_reserve(b, n) != CTOK_OK) return CTOK_ERR_MEMORY;
    memcpy(b->at + b->n, p, n);
    b->n += n;
    return CTOK_OK;
}

/* ctok_bytes_push - append one byte. */
static inline ctok_status ctok_bytes_push(ctok_bytes *b, uint8_t c) {
    if (ctok_bytes_reserve(b, 1) != CTOK_OK) return CTOK_ERR_MEMORY;
    b->at[b->n++] = c;
    return CTOK_OK;
}

/* ctok_bytes_drop - take away the first k bytes (k <= n); what follows moves to the front. The room stays. */
static inline void ctok_bytes_drop(ctok_bytes *b, size_t k) {
    if (k == 0) return;
    b->n -= k;
    if (b->n) memmove(b->at, b->at + k, b->n);
}

/* ctok_bytes_set - make dst hold what src holds. On CTOK_ERR_MEMORY dst is as it was. */
static inline ctok_status ctok_bytes_set(ctok_bytes *dst, const ctok_bytes *src) {
    if (src->n > dst->cap) {
        uint8_t *at = (uint8_t *)ctok_mem_resize(dst->at, src->n, 1);
        if (at == NULL) return CTOK_ERR_MEMORY;
        dst->at = at;
        dst->cap = src->n;
    }
    dst->n = src->n;
    if (src->n) memcpy(dst->at, src->at, src->n);
    return CTOK_OK;
}

static inline void ctok_bytes_free(ctok_bytes *b) {
    ctok_mem_free(b->at);
    b->at = NULL;
    b->n = b->cap = 0;
}

#endif
