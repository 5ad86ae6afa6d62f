/* ctok_ids.h - a growing array of ids. Give its memory back with ctok_ids_free and nothing else: that of many ids is not malloc's. */
#ifndef CTOK_IDS_H
#define CTOK_IDS_H

#include "ctok_base.h"
#include "ctok_mem.h"

typedef struct ctok_ids {
    ctok_id *at;
    size_t n;   /* ids in use */
    size_t cap; /* room */
} ctok_ids;

/* ctok_ids_reserve - make room for more ids behind the n in use. On CTOK_ERR_MEMORY nothing changed. */
static inline ctok_status ctok_ids_reserve(ctok_ids *ids, size_t more) {
    if (CTOK_LIKELY(ids->cap - ids->n >= more)) return CTOK_OK;
    size_t cap = ids->cap + ids->cap / 2;
    if (cap < ids->n + more) cap = ids->n + more;
    if (cap < 64) cap = 64;
    ctok_id *at = (ctok_id *)ctok_mem_grow(ids->at, cap, sizeof *at, &ids->cap);
    if (at == NULL) return CTOK_ERR_MEMORY;
    ids->at = at;
    return CTOK_OK;
}

/* ctok_ids_push - append one id. */
static inline ctok_status ctok_ids_push(ctok_ids *ids, ctok_id id) {
    if (ctok_ids_reserve(ids, 1) != CTOK_OK) return CTOK_ERR_MEMORY;
    ids->at[ids->n++] = id;
    return CTOK_OK;
}

static inline void ctok_ids_free(ctok_ids *ids) {
    ctok_mem_ungrow(ids->at, ids->cap, sizeof *ids->at);
    ids->at = NULL;
    ids->n = ids->cap = 0;
}

#endif
