/* ctok_pieces.h - pretokens on their way from the pre-tokenizer to the model.
 *
 * The bytes of all lie one behind the other in `text`; a stop is where one is complete. What lies behind the last stop belongs to the open
 * pretoken and is certain: no border can still appear inside it.
 *
 * Who takes the bytes away sets text.n and n_stops to 0. The next stop may then be 0: it closes a pretoken whose bytes were taken before. No
 * pretoken is empty.
 */
#ifndef CTOK_PIECES_H
#define CTOK_PIECES_H

#include "ctok_bytes.h"

typedef struct ctok_pieces {
    ctok_bytes text;
    uint32_t *stops;   /* ascending, relative to text.at */
    size_t n_stops;
    size_t cap_stops;
} ctok_pieces;

/* The bytes of the original from which a byte comes. */
typedef struct ctok_origin {
    uint32_t start, stop;
} ctok_origin;

/* ctok_pieces_reserve - make room for more bytes and more stops. On CTOK_ERR_MEMORY nothing changed but the room. */
static inline ctok_status ctok_pieces_reserve(ctok_pieces *p, size_t bytes, size_t stops) {
    if (ctok_bytes_reserve(&p->text, bytes) != CTOK_OK) return CTOK_ERR_MEMORY;
    if (CTOK_LIKELY(p->cap_stops - p->n_stops >= stops)) return CTOK_OK;
    size_t cap = p->cap_stops + p->cap_stops / 2;
    if (cap < p->n_stops + stops) cap = p->n_stops + stops;
    uint32_t *at = (uint32_t *)ctok_mem_resize(p->stops, cap, sizeof *at);
    if (at == NULL) return CTOK_ERR_MEMORY;
    p->stops = at;
    p->cap_stops = cap;
    return CTOK_OK;
}

static inline void ctok_pieces_clear(ctok_pieces *p) { p->text.n = p->n_stops = 0; }

static inline void ctok_pieces_free(ctok_pieces *p) {
    ctok_bytes_free(&p->text);
    ctok_mem_free(p->stops);
    p->stops = NULL;
    p->n_stops = p->cap_stops = 0;
}

#endif
