/* ctok_normal.c - chains of rooms: building, feeding, keeping. */
#include "ctok_normal.h"

#include <string.h>

#include "ctok_normal_rooms.h"

#define BLOCK ((size_t)1 << 15) /* a long text goes through the chain in blocks that stay in the nearest caches */
#define MEND ((size_t)64)       /* how much new text is put behind held text at first */

/* ---- building ---- */

void ctok_normal_init(ctok_normal *c) { memset(c, 0, sizeof *c); }

static void room_free(ctok_normal_room *r) {
    ctok_mem_free(r->fused);
    ctok_bytes_free(&r->pool);
    ctok_bytes_free(&r->content);
    ctok_bytes_free(&r->pattern);
    ctok_mem_free(r->border);
    ctok_charsmap_free(&r->map);
    ctok_mem_free(r->lane_pages);
    ctok_mem_free(r->lane);
    ctok_spn_free(r->spn);
}

void ctok_normal_free(ctok_normal *c) {
    for (size_t i = 0; i < c->n; i++) room_free(&c->rooms[i]);
    ctok_mem_free(c->rooms);
    memset(c, 0, sizeof *c);
}

/* A new room at the end, or NULL. */
static ctok_normal_room *add(ctok_normal *c, ctok_normal_kind kind) {
    if (c->n == c->cap) {
        const size_t cap = c->cap ? c->cap * 2 : 4;
        ctok_normal_room *rooms = (ctok_normal_room *)ctok_mem_resize(c->rooms, cap, sizeof *rooms);
        if (rooms == NULL) return NULL;
        c->rooms = rooms;
        c->cap = cap;
    }
    ctok_normal_room *r = &c->rooms[c->n];
    memset(r, 0, sizeof *r);
    r->kind = kind;
    c->n++;
    return r;
}

static ctok_normal_room *add_with(ctok_normal *c, ctok_normal_kind kind, const uint8_t *content, size_t n) {
    ctok_normal_room *r = add(c, kind);
    if (r == NULL) return NULL;
    if (ctok_bytes_append(&r->content, content, n) == CTOK_OK) return r;
    c->n--;
    return NULL;
}

static ctok_status undo(ctok_normal *c, ctok_status status) {
    room_free(&c->rooms[--c->n]);
    return status;
}

ctok_status ctok_normal_add_op(ctok_normal *c, ctok_normal_op op) {
    ctok_normal_room *r = c->n ? &c->rooms[c->n - 1] : NULL;
    if (r == NULL || r->kind != CTOK_ROOM_CHARS || r->n_ops == sizeof r->ops) {
        r = add(c, CTOK_ROOM_CHARS);
        if (r == NULL) return CTOK_ERR_MEMORY;
    }
    r->ops[r->n_ops++] = (uint8_t)op;
    return CTOK_OK;
}

ctok_status ctok_normal_add_bytes(ctok_normal *c) { return add(c, CTOK_ROOM_BYTES) ? CTOK_OK : CTOK_ERR_MEMORY; }

ctok_status ctok_normal_add_strip(ctok_normal *c, int left, int right) {
    ctok_normal_room *r = add(c, CTOK_ROOM_STRIP);
    if (r == NULL) return CTOK_ERR_MEMORY;
    r->left = left != 0;
    r->right = right != 0;
    return CTOK_OK;
}

ctok_status ctok_normal_add_prepend(ctok_normal *c, const uint8_t *content, size_t n) {
    return add_with(c, CTOK_ROOM_PREPEND, content, n) ? CTOK_OK : CTOK_ERR_MEMORY;
}

/* border[k]: the longest proper border of the pattern's first k bytes (Knuth, Morris, Pratt 1977). */
static void find_borders(uint32_t *border, const uint8_t *pattern, size_t n) {
    size_t k = 0;
    border[0] = 0;
    border[1] = 0;
    for (size_t i = 1; i < n; i++) {
        while (k && pattern[i] != pattern[k]) k = border[k];
        if (pattern[i] == pattern[k]) k++;
        border[i + 1] = (uint32_t)k;
    }
}

ctok_status ctok_normal_add_literal(ctok_normal *c, const uint8_t *pattern, size_t n_pattern, const uint8_t *content, size_t n) {
    if (n_pattern == 0 || n_pattern >= UINT32_MAX) return CTOK_ERR_FORMAT;
    ctok_normal_room *r = add_with(c, CTOK_ROOM_LITERAL, content, n);
    if (r == NULL) return CTOK_ERR_MEMORY;
    r->border = (uint32_t *)ctok_mem_alloc(n_pattern + 1, sizeof *r->border);
    if (r->border == NULL || ctok_bytes_append(&r->pattern, pattern, n_pattern) != CTOK_OK) return undo(c, CTOK_ERR_MEMORY);
    find_borders(r->border, pattern, n_pattern);
    return CTOK_OK;
}

ctok_status ctok_normal_add_run(ctok_normal *c, uint8_t ascii, size_t least, const uint8_t *content, size_t n) {
    if (ascii >= 0x80 || least == 0) return CTOK_ERR_FORMAT;
    ctok_normal_room *r = add_with(c, CTOK_ROOM_RUN, content, n);
    if (r == NULL) return CTOK_ERR_MEMORY;
    if (ctok_bytes_push(&r->pattern, ascii) != CTOK_OK) return undo(c, CTOK_ERR_MEMORY);
    r->least = least;
    return CTOK_OK;
}

ctok_status ctok_normal_add_pattern(ctok_normal *c, const ctok_dfa *dfa, const uint8_t *content, size_t n) {
    ctok_normal_room *r = add_with(c, CTOK_ROOM_PATTERN, content, n);
    if (r == NULL) return CTOK_ERR_MEMORY;
    r->dfa = dfa;
    ctok_room_find_starts(r);
    return CTOK_OK;
}

ctok_status ctok_normal_add_hook(ctok_normal *c, ctok_normal_hook hook, void *ctx, const uint8_t *content, size_t n) {
    ctok_normal_room *r = add_with(c, CTOK_ROOM_HOOK, content, n);
    if (r == NULL) return CTOK_ERR_MEMORY;
    r->hook = hook;
    r->ctx = ctx;
    return CTOK_OK;
}

ctok_status ctok_normal_add_charsmap(ctok_normal *c, const uint8_t *data, size_t n) {
    ctok_normal_room *r = add(c, CTOK_ROOM_CHARSMAP);
    if (r == NULL) return CTOK_ERR_MEMORY;
    ctok_status status = ctok_charsmap_init(&r->map, data, n, 1);
    if (status == CTOK_OK) status = ctok_room_charsmap_lane(r);
    return status == CTOK_OK ? CTOK_OK : undo(c, status);
}

ctok_status ctok_normal_add_spn(ctok_normal *c, const ctok_spn_options *options) {
    ctok_normal_room *r = add(c, CTOK_ROOM_SPN);
    if (r == NULL) return CTOK_ERR_MEMORY;
    const ctok_status status = ctok_spn_new(&r->spn, options);
    return status == CTOK_OK ? CTOK_OK : undo(c, status);
}

ctok_status ctok_normal_seal(ctok_normal *c) {
    for (size_t i = 0; i < c->n && !c->sealed; i++) {
        if (c->rooms[i].kind == CTOK_ROOM_SPN && c->n > 1) return CTOK_ERR_FORMAT;
        if (c->rooms[i].kind != CTOK_ROOM_CHARS || c->rooms[i].fused != NULL) continue;
        const ctok_status status = ctok_room_fuse(&c->rooms[i]);
        if (status != CTOK_OK) return status;
    }
    c->sealed = 1;
    return CTOK_OK;
}

int ctok_normal_streams(const ctok_normal *c) {
    for (size_t i = 0; i < c->n; i++) {
        if (c->rooms[i].kind == CTOK_ROOM_HOOK) return 0;
    }
    return 1;
}

/* ---- a text ---- */

ctok_status ctok_normal_begin(const ctok_normal *c, ctok_normal_state *s) {
    s->n = c->n;
    s->rooms = (ctok_room_state *)ctok_mem_zeroed(c->n ? c->n : 1, sizeof *s->rooms);
    if (s->rooms == NULL) s->n = 0;
    return s->rooms ? CTOK_OK : CTOK_ERR_MEMORY;
}

void ctok_normal_end(ctok_normal_state *s) {
    for (size_t i = 0; i < s->n; i++) {
        ctok_bytes_free(&s->rooms[i].held);
        ctok_bytes_free(&s->rooms[i].out);
    }
    ctok_mem_free(s->rooms);
    s->rooms = NULL;
    s->n = 0;
}

/* What it hands on stays: that is for the next room. */
static void room_reset(ctok_room_state *s) {
    s->held.n = 0;
    s->seen = 0;
    s->flags = 0;
    s->blanks = 0;
}

void ctok_normal_reset(ctok_normal_state *s) {
    for (size_t i = 0; i < s->n; i++) {
        room_reset(&s->rooms[i]);
        s->rooms[i].out.n = 0;
    }
}

static ctok_status run(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out, size_t *used) {
    static const ctok_room_run RUNS[] = {ctok_room_chars, ctok_room_bytes, ctok_room_strip, ctok_room_prepend, ctok_room_literal,
                                         ctok_room_runs, ctok_room_pattern, ctok_room_hook, ctok_room_charsmap,
                                         ctok_room_spn};
    return RUNS[r->kind](r, s, in, n, final, out, used);
}

/* How much to put behind held text: a little, in whole characters, and more if that does not free it. */
static size_t portion(const uint8_t *in, size_t n, size_t held) {
    size_t take = held > MEND ? held : MEND;
    if (take >= n) return n;
    while (take < n && (in[take] & 0xC0) == 0x80) take++;
    return take;
}

/* New text for a room that holds some: until what it held is gone, the new text is copied behind it. *in and *n move on. */
static ctok_status mend(const ctok_normal_room *r, ctok_room_state *s, const uint8_t **in, size_t *n, int final, ctok_bytes *out) {
    while (s->held.n && (*n || final)) {
        const size_t old = s->held.n, take = portion(*in, *n, old);
        size_t used = 0;
        if (ctok_bytes_append(&s->held, *in, take) != CTOK_OK) return CTOK_ERR_MEMORY;
        *in += take;
        *n -= take;
        const ctok_status status = run(r, s, s->held.at, s->held.n, final && *n == 0, out, &used);
        if (status != CTOK_OK) return status;
        if (used >= old && *n) {  /* what is left came with this call: take it from there */
            *in -= s->held.n - used;
            *n += s->held.n - used;
            s->held.n = 0;
            s->seen = 0;
            s->flags &= r->kind == CTOK_ROOM_PATTERN ? ~CTOK_ROOM_SCANNING : ~0u;
        } else {
            ctok_bytes_drop(&s->held, used);
        }
    }
    return CTOK_OK;
}

static ctok_status room_feed(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out) {
    size_t used = n;
    ctok_status status = mend(r, s, &in, &n, final, out);
    if (status != CTOK_OK || s->held.n) return status;
    if (n || final) status = run(r, s, in, n, final, out, &used);
    if (status == CTOK_OK && used < n) status = ctok_bytes_append(&s->held, in + used, n - used);
    if (final) room_reset(s);
    return status;
}

static ctok_status chain_feed(const ctok_normal *c, ctok_normal_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out) {
    for (size_t k = 0; k < c->n; k++) {
        ctok_bytes *to = k + 1 < c->n ? &s->rooms[k].out : out;
        const ctok_status status = room_feed(&c->rooms[k], &s->rooms[k], in, n, final, to);
        if (k) s->rooms[k - 1].out.n = 0;
        if (status != CTOK_OK) return status;
        if (k + 1 < c->n && to->n == 0 && !final) return CTOK_OK;
        in = to->at;
        n = to->n;
    }
    return CTOK_OK;
}

ctok_status ctok_normal_feed(const ctok_normal *c, ctok_normal_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out) {
    if (c->n == 0) return ctok_bytes_append(out, in, n);
    while (n > BLOCK) {
        size_t part = BLOCK;
        while (part && (in[part] & 0xC0) == 0x80) part--;
        const ctok_status status = chain_feed(c, s, in, part, 0, out);
        if (status != CTOK_OK) return status;
        in += part;
        n -= part;
    }
    return chain_feed(c, s, in, n, final, out);
}
