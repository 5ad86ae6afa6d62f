/* ctok_cut.c - the chain: what one step emits flows into the next, part by part. */
#include "ctok_cut.h"

#include "ctok_cut_step.h"
#include "ctok_le.h"
#include "ctok_utf8.h"

#define PART ((size_t)1 << 14) /* bytes of a segment taken through the whole chain at a time: they stay in the caches */

static const cut_kernel kernels[CTOK_CUT_KINDS] = {
    cut_classes, cut_by_script, cut_around_matches, cut_around_called, cut_metaspace, cut_prefix, cut_fixed,
    cut_spell,
};

void ctok_cut_finish(ctok_cutter *c) {
    int whole = 1;
    c->needs_zero = 0;
    for (size_t i = 0; i < c->n; i++) {
        ctok_cut_step *s = &c->steps[i];
        s->whole = whole;
        s->kernel = (void (*)(void))(s->kind == CTOK_CUT_CLASSES ? cut_classes_best() : kernels[s->kind]);
        if (s->kind == CTOK_CUT_METASPACE && s->prepend == CTOK_CUT_FIRST && !whole) c->needs_zero = 1;
        if (s->kind != CTOK_CUT_PREFIX && s->kind != CTOK_CUT_SPELL && !(s->kind == CTOK_CUT_METASPACE && !s->cuts)) whole = 0;
    }
}

const ctok_splitter *ctok_cut_plain_split(const ctok_cutter *c) {
    if (c->n != 1 || c->steps[0].kind != CTOK_CUT_SPLIT) return NULL;
    const ctok_cut_step *s = &c->steps[0];
    /* Matches are kept and stand alone; gaps are dropped or do not exist. */
    if (s->drops >> 2 & 1 || !(s->act[2][2] & CTOK_CUT_BORDER)) return NULL;
    if (!(s->drops >> 1 & 1) && !s->total) return NULL;
    return &s->split;
}

ctok_status ctok_cut_new(const ctok_cutter *c, ctok_cut_state *s, int first) {
    memset(s, 0, sizeof *s);
    s->rooms = (ctok_cut_room *)ctok_mem_zeroed(c->n + 1, sizeof *s->rooms);
    if (s->rooms == NULL) return CTOK_ERR_MEMORY;
    s->n = c->n;
    ctok_cut_begin(s, first);
    return CTOK_OK;
}

void ctok_cut_free(ctok_cut_state *s) {
    for (size_t i = 0; i < s->n; i++) {
        ctok_bytes_free(&s->rooms[i].held);
        ctok_bytes_free(&s->rooms[i].spare);
    }
    ctok_mem_free(s->rooms);
    for (int i = 0; i < 2; i++) ctok_pieces_free(&s->between[i]);
    for (int i = 0; i < 3; i++) ctok_bytes_free(&s->maps[i]);
    memset(s, 0, sizeof *s);
}

void ctok_cut_begin(ctok_cut_state *s, int first) {
    for (size_t i = 0; i < s->n; i++) {
        ctok_cut_room *m = &s->rooms[i];
        m->open = m->prev = m->scanning = 0;
        m->first = first != 0;
        m->count = m->given = 0;
        m->held.n = m->held_zero = 0;
        memset(&m->scan, 0, sizeof m->scan);
    }
    s->zero = first ? SIZE_MAX : 0;
    s->open = 0;
}

/* Without steps the segment is one pretoken. */
static ctok_status pass(ctok_cut_state *s, const cut_in *in, int final, ctok_pieces *out, ctok_bytes *map) {
    cut_out to = {.pieces = out, .origins = map, .open = s->open};
    if (cut_open(&to, in->n) != CTOK_OK) return CTOK_ERR_MEMORY;
    cut_copy(&to, in, 0, in->n);
    if (final) cut_border(&to);
    cut_close(&to);
    s->open = to.open;
    return CTOK_OK;
}

/* Take a part through the chain; maps is NULL or has room for two between the steps, before the result `map`. */
static ctok_status through(const ctok_cutter *c, ctok_cut_state *s, cut_in in, int final, ctok_pieces *result, ctok_bytes *map) {
    const uint32_t stop = (uint32_t)in.n;
    if (c->n == 0) return pass(s, &in, final, result, map);
    if (final) {
        in.stops = &stop;
        in.n_stops = 1;
    }
    for (size_t i = 0; i < c->n && (in.n || in.n_stops); i++) {
        const int last = i + 1 == c->n;
        ctok_pieces *to = last ? result : &s->between[i & 1];
        cut_out out = {.pieces = to, .origins = map ? last ? map : &s->maps[i & 1] : NULL, .open = s->rooms[i].open};
        if (!last) {
            ctok_pieces_clear(to);
            s->maps[i & 1].n = 0;
        }
        const ctok_status status = ((cut_kernel)c->steps[i].kernel)(&c->steps[i], &s->rooms[i], &in, &out);
        if (status != CTOK_OK) return status;
        s->rooms[i].open = (uint8_t)out.open;
        in = (cut_in){to->text.at, to->text.n, to->stops, to->n_stops, out.map, out.zero};
    }
    return CTOK_OK;
}

/* How many of the next n bytes stem from place 0. */
static size_t take_zero(const ctok_cutter *c, ctok_cut_state *s, const uint8_t *in, size_t n) {
    if (!c->needs_zero || s->zero == 0 || n == 0) return 0;
    if (s->zero == SIZE_MAX) s->zero = cut_length(in[0]);
    const size_t zero = s->zero < n ? s->zero : n;
    s->zero -= zero;
    return zero;
}

ctok_status ctok_cut_feed(const ctok_cutter *c, ctok_cut_state *s, const uint8_t *in, size_t n, int final, ctok_pieces *out) {
    size_t pos = 0;
    if (n >= (size_t)1 << 31) return CTOK_ERR_MEMORY;
    do {
        size_t end = n - pos <= PART ? n : pos + PART;
        while (end < n && (in[end] & 0xC0) == 0x80) end--;
        const cut_in part = {in + pos, end - pos, NULL, 0, NULL, take_zero(c, s, in + pos, end - pos)};
        const ctok_status status = through(c, s, part, final && end == n, out, NULL);
        if (status != CTOK_OK) return status;
        pos = end;
    } while (pos < n);
    if (final) ctok_cut_begin(s, 0);
    return CTOK_OK;
}

ctok_status ctok_cut_map(const ctok_cutter *c, ctok_cut_state *s, const uint8_t *in, size_t n, ctok_pieces *out, ctok_bytes *map) {
    ctok_pieces_clear(out);
    map->n = 0;
    if (n >= (size_t)1 << 30) return CTOK_ERR_MEMORY;
    ctok_bytes *own = &s->maps[2];
    own->n = 0;
    if (ctok_bytes_reserve(own, n * sizeof(ctok_origin)) != CTOK_OK) return CTOK_ERR_MEMORY;
    ctok_origin *origins = (ctok_origin *)(void *)own->at;
    for (size_t i = 0; i < n;) {
        const size_t len = cut_length(in[i]);
        for (size_t k = i; k < i + len; k++) origins[k] = (ctok_origin){(uint32_t)i, (uint32_t)(i + len)};
        i += len;
    }
    const cut_in whole = {in, n, NULL, 0, origins, take_zero(c, s, in, n)};
    const ctok_status status = through(c, s, whole, 1, out, map);
    ctok_cut_begin(s, 0);
    return status;
}

size_t ctok_cut_held(const ctok_cut_state *s) {
    size_t held = 0;
    for (size_t i = 0; i < s->n; i++) held += s->rooms[i].held.n;
    return held;
}

ctok_status ctok_cut_copy(ctok_cut_state *dst, const ctok_cut_state *src) {
    for (size_t i = 0; i < src->n; i++) {
        const ctok_bytes held = dst->rooms[i].held, spare = dst->rooms[i].spare;
        dst->rooms[i] = src->rooms[i];
        dst->rooms[i].held = held;
        dst->rooms[i].spare = spare;
        if (ctok_bytes_set(&dst->rooms[i].held, &src->rooms[i].held) != CTOK_OK) return CTOK_ERR_MEMORY;
    }
    dst->zero = src->zero;
    dst->open = src->open;
    return CTOK_OK;
}

/* ---- the state as bytes: a head, then each room and what it holds ---- */

#define HEAD 9
#define ROOM 61

ctok_status ctok_cut_save(const ctok_cut_state *s, ctok_bytes *to) {
    if (ctok_bytes_reserve(to, HEAD + s->n * ROOM + ctok_cut_held(s)) != CTOK_OK) return CTOK_ERR_MEMORY;
    uint8_t *p = to->at + to->n;
    ctok_le64_put(p, s->zero);
    p[8] = (uint8_t)s->open;
    p += HEAD;
    for (size_t i = 0; i < s->n; i++) {
        const ctok_cut_room *m = &s->rooms[i];
        const uint64_t numbers[7] = {m->count, m->scan.n, m->scan.accept, m->given, m->held_zero, m->held.n, m->scan.state};
        p[0] = m->open;
        p[1] = m->prev;
        p[2] = m->scanning;
        p[3] = m->first;
        p[4] = (uint8_t)m->scan.flags;
        for (int k = 0; k < 7; k++) ctok_le64_put(p + 5 + 8 * k, numbers[k]);
        p += ROOM;
        if (m->held.n) memcpy(p, m->held.at, m->held.n);
        p += m->held.n;
    }
    to->n = (size_t)(p - to->at);
    return CTOK_OK;
}

/* Can a step be where this room says? */
static int is_sound(const ctok_cut_step *s, const ctok_cut_room *m, size_t held) {
    if (m->open > 1 || m->prev > 3 || m->scanning > 1 || m->first > 1 || m->held_zero > held) return 0;
    if (s->kind == CTOK_CUT_FIXED && m->count >= s->length) return 0;
    if (s->kind == CTOK_CUT_SCRIPTS && m->count > 255) return 0;
    if (s->kind == CTOK_CUT_CALL) return !m->scanning;
    if (!m->scanning) return held == 0;
    if (s->kind != CTOK_CUT_SPLIT || m->scan.flags) return 0;
    const uint64_t stride = s->split.dfa->n_classes + 1;
    return m->scan.state % stride == 0 && m->scan.state / stride < s->split.dfa->n_states && m->given <= m->scan.n &&
           m->scan.n - m->given == held && m->scan.accept < m->scan.n && m->scan.n >> 62 == 0;
}

ctok_status ctok_cut_load(const ctok_cutter *c, ctok_cut_state *s, const uint8_t *from, size_t n) {
    const uint8_t *p = from, *const end = from + n;
    ctok_cut_begin(s, 0);
    if (n < HEAD || p[8] > 1) return CTOK_ERR_FORMAT;
    s->zero = (size_t)ctok_le64_get(p);
    s->open = p[8];
    p += HEAD;
    for (size_t i = 0; i < c->n; i++) {
        ctok_cut_room *m = &s->rooms[i];
        uint64_t numbers[7];
        size_t bad;
        if ((size_t)(end - p) < ROOM) return CTOK_ERR_FORMAT;
        for (int k = 0; k < 7; k++) numbers[k] = ctok_le64_get(p + 5 + 8 * k);
        m->open = p[0];
        m->prev = p[1];
        m->scanning = p[2];
        m->first = p[3];
        m->scan = (ctok_scan){(uint32_t)numbers[6], p[4], numbers[1], numbers[2]};
        m->count = numbers[0];
        m->given = numbers[3];
        m->held_zero = (size_t)numbers[4];
        p += ROOM;
        if (numbers[5] > (size_t)(end - p) || numbers[6] > UINT32_MAX) return CTOK_ERR_FORMAT;
        if (!is_sound(&c->steps[i], m, (size_t)numbers[5])) return CTOK_ERR_FORMAT;
        if (ctok_utf8_validate(p, (size_t)numbers[5], &bad) != CTOK_OK) return CTOK_ERR_FORMAT;
        if (ctok_bytes_append(&m->held, p, (size_t)numbers[5]) != CTOK_OK) return CTOK_ERR_MEMORY;
        p += numbers[5];
    }
    return p == end ? CTOK_OK : CTOK_ERR_FORMAT;
}
