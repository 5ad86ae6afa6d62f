/* ctok_normal_map.c - a whole text through the chain, step by step, with the origin of every character.
 *
 * Between two steps the text is an array of characters with their origins; steps that work on bytes see them written out. A text put before
 * everything shares the origin of the first character. Of a replaced stretch new characters come from all of it; by the reference library's
 * rule from its last character, and of a cluster see `substitute`.
 */
#include <string.h>

#include "ctok_normal_facts.h"
#include "ctok_normal_rooms.h"
#include "ctok_utf8.h"

typedef struct mapper {
    ctok_ops_work work;  /* work.a is the text */
    ctok_bytes text;     /* the same written out */
    ctok_ids matches;
} mapper;

static void swap_in(mapper *m) {
    const ctok_items swap = m->work.a;
    m->work.a = m->work.b;
    m->work.b = swap;
}

static ctok_status write_out(mapper *m) {
    const ctok_items *items = &m->work.a;
    m->text.n = 0;
    if (ctok_bytes_reserve(&m->text, 4 * items->n + 1) != CTOK_OK) return CTOK_ERR_MEMORY;
    for (size_t i = 0; i < items->n; i++) m->text.n += ctok_utf8_put(m->text.at + m->text.n, items->at[i].code);
    return CTOK_OK;
}

/* Append the characters of a text, all with one origin. */
static ctok_status put_text(ctok_items *items, const uint8_t *p, size_t n, ctok_align from) {
    ctok_status status = CTOK_OK;
    for (size_t i = 0, len; i < n && status == CTOK_OK; i += len) status = ctok_items_push(items, ctok_nf_read(p + i, &len), from);
    return status;
}

static ctok_status put_item(ctok_items *items, const ctok_item *item) { return ctok_items_push(items, item->code, item->from); }

static ctok_status visible(mapper *m) {
    ctok_status status = CTOK_OK;
    m->work.b.n = 0;
    for (size_t i = 0; i < m->work.a.n && status == CTOK_OK; i++) {
        uint8_t p[4];
        const size_t n = ctok_utf8_put(p, m->work.a.at[i].code);
        for (size_t k = 0; k < n && status == CTOK_OK; k++) status = ctok_items_push(&m->work.b, ctok_bytelevel_char(p[k]), m->work.a.at[i].from);
    }
    swap_in(m);
    return status;
}

static int is_white(uint32_t code) { return (ctok_nf_bits[ctok_nf_record(code)] & CTOK_NF_WHITE) != 0; }

static void strip(const ctok_normal_room *r, ctok_items *items) {
    size_t first = 0, stop = items->n;
    while (r->left && first < stop && is_white(items->at[first].code)) first++;
    while (r->right && stop > first && is_white(items->at[stop - 1].code)) stop--;
    if (first) memmove(items->at, items->at + first, (stop - first) * sizeof *items->at);
    items->n = stop - first;
}

static ctok_status prepend(const ctok_normal_room *r, mapper *m) {
    ctok_status status;
    if (m->work.a.n == 0) return CTOK_OK;
    m->work.b.n = 0;
    status = put_text(&m->work.b, r->content.at, r->content.n, m->work.a.at[0].from);
    for (size_t i = 0; i < m->work.a.n && status == CTOK_OK; i++) status = put_item(&m->work.b, &m->work.a.at[i]);
    if (status == CTOK_OK && r->content.n == 0 && m->work.origins == CTOK_ORIGINS_REFERENCE) {  /* the reference takes the first character for a new one */
        m->work.b.at[0].from.start = m->work.b.at[0].from.end = 0;
    }
    swap_in(m);
    return status;
}

static ctok_status replace(const ctok_normal_room *r, mapper *m) {
    const ctok_items *old = &m->work.a;
    ctok_items *made = &m->work.b;
    size_t at = 0, next = 0;  /* byte and number of the old character to come */
    ctok_status status = write_out(m);
    made->n = 0;
    m->matches.n = 0;
    if (status == CTOK_OK) status = ctok_room_matches(r, m->text.at, m->text.n, &m->matches);
    for (size_t i = 0; i <= m->matches.n && status == CTOK_OK; i += 2) {
        const int last = i == m->matches.n;
        const size_t start = last ? m->text.n : m->matches.at[i], stop = last ? start : m->matches.at[i + 1];
        size_t len;
        for (; at < start && status == CTOK_OK; at += len, next++) {
            ctok_nf_read(m->text.at + at, &len);
            status = put_item(made, &old->at[next]);
        }
        if (last) break;
        ctok_align from = {0, 0};
        if (made->n) from = made->at[made->n - 1].from;
        for (size_t first = next; at < stop; at += len, next++) {
            ctok_nf_read(m->text.at + at, &len);
            from = next > first && m->work.origins == CTOK_ORIGINS_WHOLE ? ctok_align_join(from, old->at[next].from) : old->at[next].from;
        }
        if (status == CTOK_OK) status = put_text(made, r->content.at, r->content.n, from);
    }
    swap_in(m);
    return status;
}

/* A new text for n_old characters: the first new ones stand for one each; new ones too many are inserted behind them; old ones too many
 * go with the last new one (by the reference library's rule with the last character so far, also where that is one of another cluster). */
static ctok_status substitute(ctok_ops_work *w, const uint8_t *text, const ctok_item *old, size_t n_old) {
    size_t n_new = 0, len;
    for (size_t i = 0; text[i]; i += len, n_new++) {
        const ctok_align from = old[n_new < n_old ? n_new : n_old - 1].from;
        const ctok_status status = ctok_ops_push(w, ctok_nf_read(text + i, &len), n_new >= n_old, from);
        if (status != CTOK_OK) return status;
    }
    if (n_new < n_old && w->n_parts) {
        struct ctok_part *last = &w->parts[w->n_parts - 1];
        last->change -= (int32_t)(n_old - n_new);
        if (n_new) last->from = ctok_align_join(last->from, old[n_old - 1].from);
    }
    return CTOK_OK;
}

static ctok_status map_cluster(const ctok_normal_room *r, mapper *m, size_t at, size_t n, const ctok_item *old, size_t n_chars) {
    ctok_status status = CTOK_OK;
    size_t len;
    if (n < CTOK_CLUSTER_BYTES) {
        const uint32_t place = ctok_charsmap_shortest(&r->map, m->text.at + at, n, &len);
        if (place != CTOK_CHARSMAP_NONE) return substitute(&m->work, r->map.texts + place, old, n_chars);
    }
    for (size_t i = 0; i < n_chars && status == CTOK_OK; i++) {
        const uint32_t entry = ctok_charsmap_char(&r->map, old[i].code);
        status = entry ? substitute(&m->work, r->map.texts + entry - 1, &old[i], 1) : ctok_ops_push(&m->work, old[i].code, 0, old[i].from);
    }
    return status;
}

static ctok_status map_charsmap(const ctok_normal_room *r, mapper *m) {
    size_t next = 0, n_chars;
    ctok_status status = write_out(m);
    m->work.n_parts = 0;
    for (size_t at = 0, n; status == CTOK_OK && at < m->text.n; at += n) {
        n = ctok_room_cluster(m->text.at + at, m->text.n - at, &n_chars);
        status = map_cluster(r, m, at, n, m->work.a.at + next, n_chars);
        next += n_chars;
    }
    return status == CTOK_OK ? ctok_ops_settle(&m->work) : status;
}

static ctok_status map_room(const ctok_normal_room *r, mapper *m) {
    ctok_status status = CTOK_OK;
    switch (r->kind) {
    case CTOK_ROOM_CHARS:
        for (uint32_t k = 0; k < r->n_ops && status == CTOK_OK; k++) status = ctok_ops_apply(&m->work, (ctok_normal_op)r->ops[k]);
        return status;
    case CTOK_ROOM_BYTES: return visible(m);
    case CTOK_ROOM_STRIP: strip(r, &m->work.a); return CTOK_OK;
    case CTOK_ROOM_PREPEND: return prepend(r, m);
    case CTOK_ROOM_CHARSMAP: return map_charsmap(r, m);
    default: return replace(r, m);
    }
}

/* The result: text behind out, and an origin for each of its bytes. */
static ctok_status deliver(mapper *m, ctok_bytes *out, ctok_align **map) {
    ctok_status status = write_out(m);
    if (status != CTOK_OK) return status;
    ctok_align *made = (ctok_align *)ctok_mem_alloc(m->text.n, sizeof *made);
    if (made == NULL) return CTOK_ERR_MEMORY;
    size_t at = 0;
    for (size_t i = 0; i < m->work.a.n; i++) {
        size_t len;
        ctok_nf_read(m->text.at + at, &len);
        while (len--) made[at++] = m->work.a.at[i].from;
    }
    status = ctok_bytes_append(out, m->text.at, m->text.n);
    if (status == CTOK_OK) {
        *map = made;
    } else {
        ctok_mem_free(made);
    }
    return status;
}

ctok_status ctok_normal_map(const ctok_normal *c, const uint8_t *in, size_t n, ctok_origins origins, ctok_bytes *out, ctok_align **map) {
    mapper m;
    *map = NULL;
    if (n > UINT32_MAX / 4) return CTOK_ERR_MEMORY;
    if (c->n == 1 && c->rooms[0].kind == CTOK_ROOM_SPN) return ctok_normal_spn_map(c, in, n, out, map);
    memset(&m, 0, sizeof m);
    m.work.origins = origins;
    ctok_status status = ctok_ops_read(&m.work, in, n);
    for (size_t i = 0; i < c->n && status == CTOK_OK; i++) status = map_room(&c->rooms[i], &m);
    if (status == CTOK_OK) status = deliver(&m, out, map);
    ctok_ops_work_free(&m.work);
    ctok_bytes_free(&m.text);
    ctok_ids_free(&m.matches);
    return status;
}
