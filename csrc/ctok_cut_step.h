/* ctok_cut_step.h - what the steps of a cutter are made of. Internal to ctok_cut*.c. */
#ifndef CTOK_CUT_STEP_H
#define CTOK_CUT_STEP_H

#include "ctok_cut.h"

/* What flows into a step. The bytes before stops[0] continue the piece that is open. */
typedef struct cut_in {
    const uint8_t *p;
    size_t n;
    const uint32_t *stops;   /* ends of pieces */
    size_t n_stops;
    const ctok_origin *map;  /* by byte, or NULL */
    size_t zero;             /* the first so many bytes stem from place 0 */
} cut_in;

/* What flows out of one: a view of the pieces and, with a map, of the origins. */
typedef struct cut_out {
    uint8_t *text;
    uint32_t *stops;
    ctok_origin *map;  /* or NULL */
    size_t n, n_stops;
    size_t zero;
    int open;
    ctok_pieces *pieces;
    ctok_bytes *origins;
} cut_out;

typedef ctok_status (*cut_kernel)(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, cut_out *out);

ctok_status cut_classes(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, cut_out *out);
ctok_status cut_by_script(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, cut_out *out);
ctok_status cut_around_matches(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, cut_out *out);
ctok_status cut_around_called(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, cut_out *out);
ctok_status cut_metaspace(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, cut_out *out);
ctok_status cut_prefix(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, cut_out *out);
ctok_status cut_fixed(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, cut_out *out);
ctok_status cut_spell(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, cut_out *out);

/* cut_open - room for so many bytes more, and stops for as many pieces as they can make. */
static inline ctok_status cut_open(cut_out *out, size_t bytes) {
    if (bytes >= UINT32_MAX - out->pieces->text.n) return CTOK_ERR_MEMORY;
    /* Vectors may be written past the end. */
    if (ctok_pieces_reserve(out->pieces, bytes + 64, bytes + 66) != CTOK_OK) return CTOK_ERR_MEMORY;
    if (out->origins && ctok_bytes_reserve(out->origins, bytes * sizeof(ctok_origin)) != CTOK_OK) return CTOK_ERR_MEMORY;
    out->text = out->pieces->text.at;
    out->stops = out->pieces->stops;
    out->map = out->origins ? (ctok_origin *)(void *)out->origins->at : NULL;
    out->n = out->pieces->text.n;
    out->n_stops = out->pieces->n_stops;
    return CTOK_OK;
}

/* cut_close - give back what cut_open took. */
static inline void cut_close(cut_out *out) {
    out->pieces->text.n = out->n;
    out->pieces->n_stops = out->n_stops;
    if (out->origins) out->origins->n = out->n * sizeof(ctok_origin);
}

/* cut_border - the piece that is open ends here, if it has bytes. */
static inline void cut_border(cut_out *out) {
    out->stops[out->n_stops] = (uint32_t)out->n;
    out->n_stops += (size_t)out->open;
    out->open = 0;
}

/* cut_copy - the bytes [from, to) of in flow on. */
static inline void cut_copy(cut_out *out, const cut_in *in, size_t from, size_t to) {
    if (from == to) return;
    if (CTOK_LIKELY(to - from <= 32 && in->n - from >= 32)) memcpy(out->text + out->n, in->p + from, 32); /* two moves, no call */
    else memcpy(out->text + out->n, in->p + from, to - from);
    if (CTOK_UNLIKELY(from < in->zero)) out->zero += (to < in->zero ? to : in->zero) - from;
    if (CTOK_UNLIKELY(in->map != NULL)) memcpy(out->map + out->n, in->map + from, (to - from) * sizeof *in->map);
    out->n += to - from;
    out->open = 1;
}

/* cut_put - these bytes flow on; they stem from where the byte `at` of in does. n <= 4. */
static inline void cut_put(cut_out *out, const cut_in *in, size_t at, const uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) out->text[out->n + i] = bytes[i];
    for (size_t i = 0; in->map != NULL && i < n; i++) out->map[out->n + i] = in->map[at];
    if (CTOK_UNLIKELY(at < in->zero)) out->zero += n;
    out->n += n;
    out->open = 1;
}

/* cut_class_of_wide - the class of a character in a CLASSES step. */
unsigned cut_class_of_wide(const ctok_cut_step *s, uint32_t code);

/* cut_classes_best - the fastest form of cut_classes that this processor can run. */
cut_kernel cut_classes_best(void);

static inline size_t cut_length(uint8_t lead) { return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4; }

/* cut_wide - the character beyond ASCII at p. */
static inline uint32_t cut_wide(const uint8_t *p) {
    const uint32_t lead = p[0];
    if (lead < 0xE0) return (lead & 31) << 6 | (p[1] & 63u);
    if (lead < 0xF0) return (lead & 15) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
    return (lead & 7) << 18 | (p[1] & 63u) << 12 | (p[2] & 63u) << 6 | (p[3] & 63u);
}

/* The end of piece k of in, and whether it is complete; the last turn, k == n_stops, is for the open rest. */
static inline size_t cut_piece_end(const cut_in *in, size_t k, int *closed) {
    *closed = k < in->n_stops;
    return *closed ? in->stops[k] : in->n;
}

#endif
