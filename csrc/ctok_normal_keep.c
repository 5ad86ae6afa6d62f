/* ctok_normal_keep.c - states copied, saved and loaded. */
#include <string.h>

#include "ctok_le.h"
#include "ctok_normal_rooms.h"
#include "ctok_utf8.h"

#define HEAD 56 /* bytes of a saved room in front of what it holds */

ctok_status ctok_normal_copy(ctok_normal_state *dst, const ctok_normal_state *src) {
    for (size_t i = 0; i < src->n; i++) {
        if (ctok_bytes_set(&dst->rooms[i].held, &src->rooms[i].held) != CTOK_OK) return CTOK_ERR_MEMORY;
        dst->rooms[i].seen = src->rooms[i].seen;
        dst->rooms[i].flags = src->rooms[i].flags;
        dst->rooms[i].blanks = src->rooms[i].blanks;
        dst->rooms[i].scan = src->rooms[i].scan;
    }
    return CTOK_OK;
}

ctok_status ctok_normal_save(const ctok_normal_state *s, ctok_bytes *out) {
    for (size_t i = 0; i < s->n; i++) {
        const ctok_room_state *r = &s->rooms[i];
        if (ctok_bytes_reserve(out, HEAD + r->held.n) != CTOK_OK) return CTOK_ERR_MEMORY;
        uint8_t *p = out->at + out->n;
        const int scans = (r->flags & CTOK_ROOM_SCANNING) != 0;
        memset(p, 0, HEAD);
        ctok_le64_put(p, r->held.n);
        ctok_le64_put(p + 8, r->seen);
        ctok_le32_put(p + 16, r->flags);
        ctok_le32_put(p + 20, scans ? r->scan.state : 0);
        ctok_le32_put(p + 24, scans ? r->scan.flags : 0);
        ctok_le64_put(p + 32, scans ? r->scan.n : 0);
        ctok_le64_put(p + 40, scans ? r->scan.accept : 0);
        ctok_le64_put(p + 48, r->blanks);
        if (r->held.n) memcpy(p + HEAD, r->held.at, r->held.n);
        out->n += HEAD + r->held.n;
    }
    return CTOK_OK;
}

/* Could a state of this room look like that? Bytes from outside must not lead outside of the tables. */
static int is_sound(const ctok_normal_room *room, const ctok_room_state *r, const uint8_t *held, size_t n) {
    size_t bad;
    if (ctok_utf8_validate(held, n, &bad) != CTOK_OK || r->seen > n) return 0;
    if (r->blanks && room->kind != CTOK_ROOM_SPN) return 0;
    if (r->seen && r->seen < n && (held[r->seen] & 0xC0) == 0x80) return 0;
    switch (room->kind) {
    case CTOK_ROOM_PATTERN:
        if (r->flags == 0) return n == 0;
        return r->flags == CTOK_ROOM_SCANNING && r->scan.n == n && r->scan.accept <= n && r->scan.flags == 0 &&
               r->scan.state % (room->dfa->n_classes + 1) == 0 && r->scan.state / (room->dfa->n_classes + 1) < room->dfa->n_states;
    case CTOK_ROOM_CHARSMAP: return r->flags <= 0x1FF;
    case CTOK_ROOM_CHARS: return r->flags == 0;
    case CTOK_ROOM_SPN: return ctok_room_spn_is_sound(room, r);
    default: return r->flags <= CTOK_ROOM_STARTED;
    }
}

static ctok_status load_room(const ctok_normal_room *room, ctok_room_state *r, const uint8_t *p, size_t n, size_t *used) {
    if (n - *used < HEAD) return CTOK_ERR_FORMAT;
    p += *used;
    const uint64_t held = ctok_le64_get(p);
    if (held > n - *used - HEAD) return CTOK_ERR_FORMAT;
    r->seen = ctok_le64_get(p + 8);
    r->flags = ctok_le32_get(p + 16);
    r->scan.state = ctok_le32_get(p + 20);
    r->scan.flags = ctok_le32_get(p + 24);
    r->scan.n = ctok_le64_get(p + 32);
    r->scan.accept = ctok_le64_get(p + 40);
    r->blanks = ctok_le64_get(p + 48);
    if (!is_sound(room, r, p + HEAD, (size_t)held)) return CTOK_ERR_FORMAT;
    *used += HEAD + (size_t)held;
    r->held.n = 0;
    return ctok_bytes_append(&r->held, p + HEAD, (size_t)held);
}

ctok_status ctok_normal_load(const ctok_normal *c, ctok_normal_state *s, const uint8_t *p, size_t n, size_t *used) {
    ctok_status status = CTOK_OK;
    *used = 0;
    for (size_t i = 0; i < c->n && status == CTOK_OK; i++) status = load_room(&c->rooms[i], &s->rooms[i], p, n, used);
    if (status != CTOK_OK) ctok_normal_reset(s);
    return status;
}
