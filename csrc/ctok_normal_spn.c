/* ctok_normal_spn.c - SentencePiece's own normalizer as a room: units, then blanks.
 *
 * With remove_extra_whitespaces everything that reads like an escaped blank is dropped at the end of the text, also a U+2581 that stood
 * in it. So blanks, of either kind, are counted and handed on only when something else follows.
 */
#include <string.h>

#include "ctok_normal_rooms.h"
#include "ctok_utf8.h"

/* ---- units ---- */

typedef struct unit {
    const uint8_t *at; /* what it becomes, before blanks are looked at */
    size_t n;
    size_t len;        /* bytes of the text */
} unit;

#define NESTED 64 /* the longest of the first so many symbols is taken */

/* The longest symbol at p, or 0. *open: more text could make it a longer one. */
static size_t match_symbol(const ctok_trie *t, const uint8_t *p, size_t n, int *open) {
    uint64_t node = ctok_trie_unit(t, CTOK_TRIE_ROOT);
    size_t found = 0;
    unsigned symbols = 0;
    *open = 0;
    for (size_t i = 0; i < n; i++) {
        if (!ctok_trie_goes_on(node) || !ctok_trie_step(t, &node, p[i])) return found;
        if (!ctok_trie_piece(node)) continue;
        found = i + 1;
        if (++symbols == NESTED) return found;
    }
    *open = ctok_trie_goes_on(node);
    return found;
}

/* The unit at p, n >= 1; 0: more text could change it. */
static int next_unit(const ctok_spn *m, const uint8_t *p, size_t n, int final, unit *u) {
    static const uint8_t REPLACEMENT[3] = {0xEF, 0xBF, 0xBD};
    uint32_t code;
    int open = 0;
    u->at = p;
    if (m->symbols.units != NULL) {
        u->n = u->len = match_symbol(&m->symbols, p, n, &open);
        if (open && !final) return 0;
        if (u->len) return 1;
    }
    const uint32_t place = ctok_charsmap_match(&m->rules, p, n, &u->len, &open);
    if (open && !final) return 0;
    if (place != CTOK_CHARSMAP_NONE) {
        u->at = m->rules.texts + place;
        u->n = strlen((const char *)u->at);
        return 1;
    }
    u->n = u->len = ctok_utf8_step(p, n, &code);
    if (code == CTOK_UTF8_OPEN && !final) return 0;
    if (code == CTOK_UTF8_BAD || code == CTOK_UTF8_OPEN) {
        u->at = REPLACEMENT;
        u->n = sizeof REPLACEMENT;
        u->len = 1;
    }
    return 1;
}

/* A unit before which nothing has been handed on: a single blank there is passed over. */
static int is_skipped(const ctok_spn *m, const ctok_room_state *s, const unit *u) {
    return m->extra && !(s->flags & CTOK_ROOM_STARTED) && u->n == 1 && u->at[0] == ' ';
}

/* Blanks at the start of a unit are dropped behind one. */
static void trim(const ctok_room_state *s, unit *u) {
    while (s->flags & CTOK_ROOM_BLANK && u->n && u->at[0] == ' ') {
        u->at++;
        u->n--;
    }
}

/* Call for each unit that is not skipped, when its text is out. */
static void note_blank(const ctok_spn *m, ctok_room_state *s, const unit *u) {
    if (u->n == 0) return;
    s->flags &= ~CTOK_ROOM_BLANK;
    if (m->extra && u->at[u->n - 1] == ' ') s->flags |= CTOK_ROOM_BLANK;
}

/* ---- blanks ---- */

static ctok_status put_blanks(const ctok_spn *m, uint64_t k, ctok_bytes *out) {
    if (k == 0) return CTOK_OK;
    if (k > SIZE_MAX / 4 || ctok_bytes_reserve(out, (size_t)k * m->n_blank) != CTOK_OK) return CTOK_ERR_MEMORY;
    for (; k; k--, out->n += m->n_blank) memcpy(out->at + out->n, m->blank, m->n_blank);
    return CTOK_OK;
}

static ctok_status put_escaped(const ctok_spn *m, const unit *u, ctok_bytes *out) {
    if (u->n > SIZE_MAX / 4 || ctok_bytes_reserve(out, 3 * u->n + 1) != CTOK_OK) return CTOK_ERR_MEMORY;
    for (size_t i = 0; i < u->n; i++) {
        if (u->at[i] == ' ') {
            memcpy(out->at + out->n, m->blank, m->n_blank);
            out->n += m->n_blank;
        } else {
            out->at[out->n++] = u->at[i];
        }
    }
    return CTOK_OK;
}

/* How many escaped blanks end p[0..n). */
static size_t blanks_at_end(const ctok_spn *m, const uint8_t *p, size_t n) {
    size_t k = 0;
    for (; n >= m->n_blank && memcmp(p + n - m->n_blank, m->blank, m->n_blank) == 0; n -= m->n_blank) k++;
    return k;
}

/* Blanks that end what was appended to out since it had n bytes are taken back and counted. */
static void take_back(const ctok_spn *m, ctok_room_state *s, size_t n, ctok_bytes *out) {
    if (!m->extra) return;
    const size_t k = blanks_at_end(m, out->at + n, out->n - n);
    out->n -= k * m->n_blank;
    s->blanks += k;
}

static size_t blanks_of(const ctok_spn *m, const unit *u) {
    size_t k = 0, i = 0;
    while (i < u->n) {
        if (u->at[i] == ' ') {
            i++;
        } else if (u->n - i >= m->n_blank && memcmp(u->at + i, m->blank, m->n_blank) == 0) {
            i += m->n_blank;
        } else {
            return 0;
        }
        k++;
    }
    return k;
}

static ctok_status put_unit(const ctok_spn *m, ctok_room_state *s, unit *u, ctok_bytes *out) {
    trim(s, u);
    const size_t only = m->extra ? blanks_of(m, u) : 0;
    ctok_status status = CTOK_OK;
    if (only) {
        s->blanks += only;
    } else if (u->n) {
        const size_t before = out->n + (size_t)s->blanks * m->n_blank;
        status = put_blanks(m, s->blanks, out);
        if (status == CTOK_OK) status = put_escaped(m, u, out);
        if (status != CTOK_OK) return status;
        s->blanks = 0;
        take_back(m, s, before, out);
    }
    note_blank(m, s, u);
    return status;
}

/* ---- the room ---- */

/* The first unit that is not skipped has come. */
static ctok_status start(const ctok_spn *m, ctok_room_state *s, ctok_bytes *out) {
    s->flags |= CTOK_ROOM_STARTED;
    if (m->extra) s->flags |= CTOK_ROOM_BLANK;
    if (!m->dummy || m->suffix) return CTOK_OK;
    if (!m->extra) return put_blanks(m, 1, out);
    s->blanks++;
    return CTOK_OK;
}

static ctok_status plain(const ctok_spn *m, ctok_room_state *s, const uint8_t *in, size_t *pos, size_t n, int final, ctok_bytes *out) {
    int blank = (s->flags & CTOK_ROOM_BLANK) != 0;
    size_t used;
    const size_t before = out->n + (size_t)s->blanks * m->n_blank;
    ctok_status status = put_blanks(m, s->blanks, out);
    if (status == CTOK_OK) status = ctok_spn_lane(m, in + *pos, n - *pos, final, &blank, out, &used);
    if (status != CTOK_OK) return status;
    *pos += used;
    if (used == 0) {
        out->n = before - (size_t)s->blanks * m->n_blank;
        return CTOK_OK;
    }
    s->blanks = 0;
    take_back(m, s, before, out);
    s->flags &= ~CTOK_ROOM_BLANK;
    if (blank) s->flags |= CTOK_ROOM_BLANK;
    return CTOK_OK;
}

ctok_status ctok_room_spn(const ctok_normal_room *r, ctok_room_state *s, const uint8_t *in, size_t n, int final, ctok_bytes *out,
                          size_t *used) {
    const ctok_spn *m = r->spn;
    ctok_status status = CTOK_OK;
    size_t pos = 0;
    unit u;
    while (pos < n && status == CTOK_OK) {
        if (s->flags & CTOK_ROOM_STARTED && ctok_spn_plain(m, in + pos)) {
            status = plain(m, s, in, &pos, n, final, out);
            if (status != CTOK_OK || pos == n) break;
        }
        if (!next_unit(m, in + pos, n - pos, final, &u)) break;
        pos += u.len;
        if (is_skipped(m, s, &u)) continue;
        if (!(s->flags & CTOK_ROOM_STARTED)) status = start(m, s, out);
        if (status == CTOK_OK) status = put_unit(m, s, &u, out);
    }
    *used = pos;
    if (!final || status != CTOK_OK) return status;
    const int has_suffix = s->flags & CTOK_ROOM_STARTED && m->dummy && m->suffix;
    s->blanks = 0;
    s->flags = 0;
    return has_suffix ? put_blanks(m, 1, out) : CTOK_OK;
}

int ctok_room_spn_is_sound(const ctok_normal_room *r, const ctok_room_state *s) {
    if (s->flags & ~(CTOK_ROOM_STARTED | CTOK_ROOM_BLANK) || s->seen) return 0;
    if (!(s->flags & CTOK_ROOM_STARTED)) return s->flags == 0 && s->blanks == 0;
    return r->spn->extra || (s->blanks == 0 && s->flags == CTOK_ROOM_STARTED);
}

/* ---- where it comes from ---- */

/* A text with an offset for each of its bytes, and room for one more. */
typedef struct tracker {
    ctok_bytes *out;
    size_t base;       /* bytes of out that are not ours */
    uint32_t *offsets;
    size_t n, cap;
} tracker;

/* What was appended to out comes from the text at `from` on. */
static ctok_status track(tracker *t, size_t from) {
    const size_t n = t->out->n - t->base;
    if (n >= t->cap) {
        const size_t cap = n + n / 2 + 64;
        uint32_t *offsets = (uint32_t *)ctok_mem_resize(t->offsets, cap, sizeof *offsets);
        if (offsets == NULL) return CTOK_ERR_MEMORY;
        t->offsets = offsets;
        t->cap = cap;
    }
    while (t->n < n) t->offsets[t->n++] = (uint32_t)from;
    return CTOK_OK;
}

static ctok_status put_tracked(const ctok_spn *m, tracker *t, const unit *u, size_t from) {
    const ctok_status status = put_escaped(m, u, t->out);
    return status == CTOK_OK ? track(t, from) : status;
}

static const unit BLANK = {(const uint8_t *)" ", 1, 0};

/* All units of a text. *end: from where what follows them comes. */
static ctok_status track_units(const ctok_spn *m, ctok_room_state *s, tracker *t, const uint8_t *in, size_t n, size_t *end) {
    ctok_status status = track(t, 0);
    unit u;
    size_t pos = 0;
    for (; pos < n && status == CTOK_OK; pos += u.len) {
        next_unit(m, in + pos, n - pos, 1, &u);
        if (is_skipped(m, s, &u)) continue;
        if (!(s->flags & CTOK_ROOM_STARTED)) {
            s->flags |= CTOK_ROOM_STARTED | (m->extra ? CTOK_ROOM_BLANK : 0);
            if (m->dummy && !m->suffix) status = put_tracked(m, t, &BLANK, pos);
        }
        trim(s, &u);
        if (status == CTOK_OK) status = put_tracked(m, t, &u, pos);
        note_blank(m, s, &u);
    }
    *end = pos;
    return status;
}

/* CTOK_ERR_STOPPED: there is nothing but blanks that are passed over. */
static ctok_status track_text(const ctok_spn *m, tracker *t, const uint8_t *in, size_t n) {
    ctok_room_state s;
    size_t end;
    memset(&s, 0, sizeof s);
    ctok_status status = track_units(m, &s, t, in, n, &end);
    if (status != CTOK_OK) return status;
    const size_t k = m->extra ? blanks_at_end(m, t->out->at + t->base, t->n) : 0;
    if (k) {
        t->n -= k * m->n_blank;
        t->out->n = t->base + t->n;
        end = t->offsets[t->n];
    }
    if (!(s.flags & CTOK_ROOM_STARTED)) return CTOK_ERR_STOPPED;
    if (m->dummy && m->suffix) status = put_tracked(m, t, &BLANK, end);
    t->offsets[t->n] = (uint32_t)end;
    return status;
}

ctok_status ctok_normal_offsets(const ctok_normal *c, const uint8_t *in, size_t n, ctok_bytes *out, uint32_t **offsets) {
    tracker t = {out, out->n, NULL, 0, 0};
    *offsets = NULL;
    if (c->n != 1 || c->rooms[0].kind != CTOK_ROOM_SPN) return CTOK_ERR_FORMAT;
    if (n > UINT32_MAX / 4) return CTOK_ERR_MEMORY;
    const ctok_status status = track_text(c->rooms[0].spn, &t, in, n);
    if (status == CTOK_OK) {
        *offsets = t.offsets;
    } else {
        ctok_mem_free(t.offsets);
    }
    return status == CTOK_ERR_STOPPED ? CTOK_OK : status;
}

ctok_status ctok_normal_spn_map(const ctok_normal *c, const uint8_t *in, size_t n, ctok_bytes *out, ctok_align **map) {
    uint32_t *offsets;
    const size_t base = out->n;
    const ctok_status status = ctok_normal_offsets(c, in, n, out, &offsets);
    if (status != CTOK_OK) return status;
    ctok_align *made = (ctok_align *)ctok_mem_alloc(out->n - base, sizeof *made);
    for (size_t i = 0; made != NULL && i < out->n - base; i++) {
        made[i].start = offsets[i];
        made[i].end = offsets[i + 1];
    }
    ctok_mem_free(offsets);
    if (made == NULL) out->n = base;
    *map = made;
    return made != NULL ? CTOK_OK : CTOK_ERR_MEMORY;
}
