/* ctok_spm.c - see ctok_spm.h. */
#include "ctok_spm.h"

#include "ctok_mem.h"

static ctok_status refuse(ctok_spm_error *error, int fault, uint32_t piece, uint32_t other, size_t at) {
    *error = (ctok_spm_error){(ctok_spm_fault)fault, piece, other, at};
    return CTOK_ERR_FORMAT;
}

/* ---- reading ---- */

#define ODD (-1) /* a piece that ctok_spm_write writes otherwise */

/* A piece as ctok_spm_write writes it, with a text of less than 128 bytes: returns what `spelled` must be for that, or ODD: look closer. The
 * message is buf[at, end). */
static inline int read_plain(const uint8_t *buf, size_t at, size_t end, ctok_spm_piece *p) {
    const uint8_t *m = buf + at;
    const size_t n = end - at;
    if (n < 7 || m[0] != 0x0A || m[1] >= 128) return ODD;
    const size_t len = m[1];
    if (n != len + 7 && n != len + 9) return ODD;
    if (m[len + 2] != 0x15) return ODD;
    *p = (ctok_spm_piece){{(uint32_t)at + 2, (uint32_t)len}, ctok_le32_get(m + len + 3), CTOK_SPM_NORMAL};
    if (n == len + 7) return 0;
    p->type = m[len + 8];
    if (m[len + 7] != 0x18 || p->type < CTOK_SPM_NORMAL || p->type > CTOK_SPM_BYTE) return ODD;
    return p->type == CTOK_SPM_NORMAL ? 1 : CTOK_SPM_EITHER;
}

/* Any piece; *spelled as read_plain returns it. */
static ctok_status read_piece(const uint8_t *buf, size_t at, size_t end, ctok_spm_piece *p, int *spelled, uint32_t index,
                              ctok_spm_error *error) {
    static const uint8_t types[4] = {0, CTOK_WIRE_BYTES, CTOK_WIRE_32, CTOK_WIRE_VARINT};
    const size_t size = end - at;
    uint32_t seen = 0;
    *p = (ctok_spm_piece){{0, 0}, 0, CTOK_SPM_NORMAL};
    while (at < end) {
        ctok_wire_field f;
        const ctok_wire_fault fault = ctok_wire_next(buf, end, &at, &f);
        if (fault != CTOK_WIRE_OK) return refuse(error, (int)fault, index, f.number, f.begin);
        seen = seen < 1000 ? 10 * seen + (f.number < 9 ? f.number : 9) : 9999;
        if (f.number > 3) continue;
        if (f.type != types[f.number]) return refuse(error, CTOK_SPM_WIRE_TYPE, index, f.number, f.begin);
        if (f.number == 1) {
            p->text = (ctok_bytestring){(uint32_t)f.value, (uint32_t)f.bits};
        } else if (f.number == 2) {
            p->score = (uint32_t)f.bits;
        } else if (f.bits >= CTOK_SPM_NORMAL && f.bits <= CTOK_SPM_BYTE) {
            p->type = (uint32_t)f.bits;
        } else {
            seen = 9999; /* a type that does not exist counts as not given */
        }
    }
    const size_t length = 1 + ctok_wire_size(p->text.len) + p->text.len + 5;
    *spelled = ODD;
    if (seen == 12 && size == length) *spelled = 0;
    if (seen == 123 && size == length + 2) *spelled = p->type == CTOK_SPM_NORMAL ? 1 : CTOK_SPM_EITHER;
    return CTOK_OK;
}

static ctok_status push_piece(ctok_spm *s, const ctok_spm_piece *p) {
    if (CTOK_UNLIKELY(s->n == s->cap)) {
        const uint32_t cap = s->cap ? 2 * s->cap : 4096; /* a piece takes two bytes at least: n stays below 2^31 */
        ctok_spm_piece *pieces = ctok_mem_resize(s->pieces, cap, sizeof *pieces);
        if (!pieces) return CTOK_ERR_MEMORY;
        s->pieces = pieces;
        s->cap = cap;
    }
    s->pieces[s->n++] = *p;
    s->n_bytes += p->text.len;
    return CTOK_OK;
}

/* The run goes to the document; the next one begins. */
static ctok_status end_run(ctok_spm *s) {
    if (s->run.n) {
        if (ctok_bytes_reserve(&s->document, 11) != CTOK_OK) return CTOK_ERR_MEMORY;
        uint8_t *to = s->document.at + s->document.n;
        *to++ = 0x08;
        to = ctok_wire_put(to, 2 * (uint64_t)s->run.n + (s->run.spelled == 1));
        s->document.n = (size_t)(to - s->document.at);
    }
    s->run = (ctok_spm_run){0, CTOK_SPM_EITHER};
    return CTOK_OK;
}

/* One more piece for the run. */
static inline ctok_status push_run(ctok_spm *s, int spelled) {
    if (CTOK_UNLIKELY(spelled != CTOK_SPM_EITHER && s->run.spelled != spelled)) {
        if (s->run.spelled != CTOK_SPM_EITHER && end_run(s) != CTOK_OK) return CTOK_ERR_MEMORY;
        s->run.spelled = spelled;
    }
    s->run.n++;
    return CTOK_OK;
}

static ctok_status push_message(ctok_spm *s, const ctok_wire_field *f) {
    if (s->n_messages == s->cap_messages) {
        const uint32_t cap = s->cap_messages ? 2 * s->cap_messages : 4;
        ctok_spm_message *messages = ctok_mem_resize(s->messages, cap, sizeof *messages);
        if (!messages) return CTOK_ERR_MEMORY;
        s->messages = messages;
        s->cap_messages = cap;
    }
    s->messages[s->n_messages++] = (ctok_spm_message){*f, s->document.n};
    return CTOK_OK;
}

/* A field that is no piece written as ctok_spm_write does: it goes to the document as it is. */
static ctok_status keep_field(ctok_spm *s, const uint8_t *buf, const ctok_wire_field *f) {
    if (end_run(s) != CTOK_OK) return CTOK_ERR_MEMORY;
    if (f->number != CTOK_SPM_PIECE && f->number <= CTOK_SPM_LAST && push_message(s, f) != CTOK_OK) return CTOK_ERR_MEMORY;
    return ctok_bytes_append(&s->document, buf + f->begin, f->end - f->begin);
}

/* The field at *at. */
static ctok_status read_field(ctok_spm *s, const uint8_t *buf, size_t n, size_t *at, ctok_spm_error *error) {
    ctok_wire_field f;
    ctok_spm_piece p;
    int spelled = ODD;
    const ctok_wire_fault fault = ctok_wire_next(buf, n, at, &f);
    const uint32_t piece = f.number == CTOK_SPM_PIECE ? s->n : CTOK_NO_ID, number = f.number == CTOK_SPM_PIECE ? 0 : f.number;
    if (fault != CTOK_WIRE_OK) return refuse(error, (int)fault, piece, number, f.begin);
    if (f.number <= CTOK_SPM_LAST && f.type != CTOK_WIRE_BYTES) return refuse(error, CTOK_SPM_WIRE_TYPE, piece, number, f.begin);
    if (f.number != CTOK_SPM_PIECE) return keep_field(s, buf, &f);
    const ctok_status status = read_piece(buf, f.value, f.end, &p, &spelled, s->n, error);
    if (status != CTOK_OK) return status;
    if (push_piece(s, &p) != CTOK_OK) return CTOK_ERR_MEMORY;
    if (spelled == ODD || f.value - f.begin != 1 + ctok_wire_size(f.bits)) return keep_field(s, buf, &f);
    return push_run(s, spelled);
}

ctok_status ctok_spm_read(ctok_spm *s, const uint8_t *buf, size_t n, ctok_spm_error *error) {
    size_t at = 0;
    *s = (ctok_spm){.run = {0, CTOK_SPM_EITHER}};
    if (n > UINT32_MAX) return refuse(error, CTOK_SPM_FILE_LARGE, CTOK_NO_ID, 0, 0);
    while (at < n) {
        ctok_spm_piece p;
        int spelled = ODD;
        if (CTOK_LIKELY(n - at > 2 && buf[at] == 0x0A && buf[at + 1] < 128 && buf[at + 1] <= n - at - 2)) {
            spelled = read_plain(buf, at + 2, at + 2 + buf[at + 1], &p);
        }
        if (CTOK_LIKELY(spelled != ODD)) {
            at += 2u + buf[at + 1];
            if (push_piece(s, &p) != CTOK_OK || push_run(s, spelled) != CTOK_OK) return CTOK_ERR_MEMORY;
            continue;
        }
        const ctok_status status = read_field(s, buf, n, &at, error);
        if (status != CTOK_OK) return status;
    }
    return end_run(s);
}

/* ---- what the reference refuses ---- */

/* Whether a piece is one that a text gives by its spelling. */
static inline int is_spelled(uint32_t type) {
    return type == CTOK_SPM_NORMAL || type == CTOK_SPM_USER_DEFINED || type == CTOK_SPM_UNUSED;
}

static inline int is_upper_hex(uint8_t c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
}

static int is_byte_name(const uint8_t *p, size_t n) {
    return n == 6 && memcmp(p, "<0x", 3) == 0 && is_upper_hex(p[3]) && is_upper_hex(p[4]) && p[5] == '>';
}

static int fault_of(const ctok_spm_piece *p, const uint8_t *text, const ctok_spm_rules *rules) {
    if (p->text.len == 0) return CTOK_SPM_EMPTY;
    if (p->text.len > CTOK_SPM_LONGEST) return CTOK_SPM_TOO_LONG;
    if (p->type != CTOK_SPM_UNUSED && memchr(text, 0, p->text.len)) return CTOK_SPM_NUL;
    if (rules->finite && (p->score >> 23 & 255) == 255) return CTOK_SPM_NOT_FINITE;
    if (p->type != CTOK_SPM_BYTE) return CTOK_SPM_OK;
    if (!rules->bytes) return CTOK_SPM_BYTE_UNASKED;
    return is_byte_name(text, p->text.len) ? CTOK_SPM_OK : CTOK_SPM_BYTE_NAME;
}

static ctok_status check_each(ctok_spm *s, const uint8_t *buf, const ctok_spm_rules *rules, ctok_spm_error *error) {
    uint32_t bytes = 0, normal = 0;
    s->unk = CTOK_NO_ID;
    for (uint32_t i = 0; i < s->n; i++) {
        const ctok_spm_piece *p = &s->pieces[i];
        const int fault = fault_of(p, buf + p->text.begin, rules);
        if (fault != CTOK_SPM_OK) return refuse(error, fault, i, 0, p->text.begin);
        normal += (uint32_t)is_spelled(p->type);
        bytes += p->type == CTOK_SPM_BYTE;
        if (p->type != CTOK_SPM_UNKNOWN) continue;
        if (s->unk != CTOK_NO_ID) return refuse(error, CTOK_SPM_TWO_UNKNOWN, i, s->unk, p->text.begin);
        s->unk = i;
    }
    if (s->unk == CTOK_NO_ID) return refuse(error, CTOK_SPM_NO_UNKNOWN, CTOK_NO_ID, 0, 0);
    if (rules->bytes && bytes < 256) return refuse(error, CTOK_SPM_BYTES_MISSING, CTOK_NO_ID, bytes, 0);
    if (rules->normal && normal == 0) return refuse(error, CTOK_SPM_NONE_NORMAL, CTOK_NO_ID, 0, 0);
    return CTOK_OK;
}

/* Of pieces with one text, which lie side by side: which of them may be. */
static ctok_status check_doubles(const ctok_spm *s, const uint8_t *buf, const ctok_spm_rules *rules, ctok_spm_error *error) {
    for (uint32_t i = 1, first = 0; i < s->n; i++) {
        const ctok_spm_piece *b = &s->pieces[s->sorted[i].at];
        if (s->sorted[i - 1].key != s->sorted[i].key ||
            ctok_bytestring_order(buf, &s->pieces[s->sorted[i - 1].at].text, &b->text) != 0) {
            first = i;
            continue;
        }
        for (uint32_t k = first; k < i; k++) { /* two at most: the third would clash */
            const ctok_spm_piece *a = &s->pieces[s->sorted[k].at];
            if (rules->once || is_spelled(a->type) == is_spelled(b->type)) {
                return refuse(error, CTOK_SPM_TWICE, s->sorted[i].at, s->sorted[k].at, b->text.begin);
            }
        }
    }
    return CTOK_OK;
}

ctok_status ctok_spm_check(ctok_spm *s, const uint8_t *buf, const ctok_spm_rules *rules, ctok_spm_error *error) {
    const ctok_status status = check_each(s, buf, rules, error);
    if (status != CTOK_OK) return status;
    if (!s->room) s->room = ctok_mem_room(2 * (size_t)s->n * sizeof *s->room);
    if (!s->room) return CTOK_ERR_MEMORY;
    s->sorted = ctok_bytesort(buf, s->pieces, sizeof *s->pieces, s->n, s->room, s->room + s->n);
    return check_doubles(s, buf, rules, error);
}

/* ---- the tables ---- */

void ctok_spm_table(const ctok_spm *s, const uint8_t *buf, uint8_t *data, uint8_t *ends, uint8_t *ids, uint8_t *scores, uint8_t *types) {
    uint32_t total = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const uint32_t id = s->sorted[i].at;
        const ctok_bytestring text = s->pieces[id].text;
        memcpy(data + total, buf + text.begin, text.len);
        total += text.len;
        ctok_le32_put(ends + 4 * (size_t)i, total);
        ctok_le32_put(ids + 4 * (size_t)i, id);
    }
    for (uint32_t i = 0; i < s->n; i++) {
        ctok_le32_put(scores + 4 * (size_t)i, s->pieces[i].score);
        types[i] = (uint8_t)s->pieces[i].type;
    }
}

/* Compare a text with a piece's. */
static int order(const uint8_t *p, size_t n, const uint8_t *q, size_t m) {
    const int found = memcmp(p, q, n < m ? n : m);
    return found ? found : (n > m) - (n < m);
}

uint32_t ctok_spm_find(const ctok_spm *s, const uint8_t *buf, uint32_t type, const uint8_t *p, size_t n) {
    uint32_t low = 0, high = s->n;
    while (low < high) { /* the first that is not below */
        const uint32_t middle = low + (high - low) / 2;
        const ctok_bytestring text = s->pieces[s->sorted[middle].at].text;
        if (order(buf + text.begin, text.len, p, n) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < s->n; low++) {
        const ctok_spm_piece *found = &s->pieces[s->sorted[low].at];
        if (order(buf + found->text.begin, found->text.len, p, n) != 0) break;
        if (found->type == type) return s->sorted[low].at;
    }
    return CTOK_NO_ID;
}

void ctok_spm_free(ctok_spm *s) {
    ctok_mem_free(s->pieces);
    ctok_mem_unroom(s->room, 2 * (size_t)s->n * sizeof *s->room);
    ctok_mem_free(s->messages);
    ctok_bytes_free(&s->document);
    *s = (ctok_spm){0};
}

/* ---- writing ---- */

static inline uint32_t begin_of(const ctok_spm_out *o, uint32_t place) {
    return place ? ctok_le32_get(o->ends + 4 * (size_t)(place - 1)) : 0;
}

ctok_status ctok_spm_order(ctok_spm_out *o) {
    for (uint32_t i = 0; i < o->n; i++) o->at[i] = CTOK_NO_ID;
    for (uint32_t i = 0; i < o->n; i++) {
        const uint32_t id = ctok_le32_get(o->ids + 4 * (size_t)i), end = ctok_le32_get(o->ends + 4 * (size_t)i);
        if (id >= o->n || o->at[id] != CTOK_NO_ID || end < begin_of(o, i) || end > o->n_bytes) return CTOK_ERR_FORMAT;
        o->at[id] = i;
    }
    return CTOK_OK;
}

ctok_status ctok_spm_write(const ctok_spm_out *o, uint32_t first, uint32_t last, int spelled, ctok_bytes *out) {
    for (uint32_t id = first; id < last; id++) {
        const uint32_t place = o->at[id], begin = begin_of(o, place);
        const size_t len = ctok_le32_get(o->ends + 4 * (size_t)place) - begin;
        const uint8_t type = o->types[id];
        const int typed = spelled || type != CTOK_SPM_NORMAL;
        const size_t size = 1 + ctok_wire_size(len) + len + 5 + (typed ? 2u : 0u);
        if (ctok_bytes_reserve(out, size + 11) != CTOK_OK) return CTOK_ERR_MEMORY;
        uint8_t *to = out->at + out->n;
        *to++ = 0x0A;
        to = ctok_wire_put(to, size);
        *to++ = 0x0A;
        to = ctok_wire_put(to, len);
        if (len) memcpy(to, o->data + begin, len);
        to += len;
        *to++ = 0x15;
        memcpy(to, o->scores + 4 * (size_t)id, 4);
        to += 4;
        if (typed) {
            *to++ = 0x18;
            *to++ = type;
        }
        out->n = (size_t)(to - out->at);
    }
    return CTOK_OK;
}

/* ---- the normalizer's table ---- */

#define VALUE 0x80000000u /* of a unit: the rest is one */
#define ENDS_KEY 0x100u
#define FAR 0x200u        /* its children are 256 times as far away */

static uint32_t children_of(uint32_t unit) {
    return unit >> 10 << (unit & FAR ? 8 : 0);
}

int ctok_spm_is_table(const uint8_t *table, size_t n) {
    const uint8_t *units = table + 4;
    const uint32_t n_units = ctok_le32_get(table) / 4, root = ctok_le32_get(units);
    const size_t n_texts = n - 4 - 4 * (size_t)n_units;
    if (root & (VALUE | ENDS_KEY | 0xFF) || children_of(root) == 0) return 0;
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < n_units; i++) { /* what a unit is cannot be foreseen, so there are no branches */
        const uint32_t unit = ctok_le32_get(units + 4 * (size_t)i), child = i ^ children_of(unit);
        const uint32_t is_value = unit >> 31, is_inside = child < n_units, ends = unit >> 8 & (is_value ^ 1) & 1;
        const uint32_t below = ctok_le32_get(units + 4 * (size_t)(is_inside ? child : 0));
        wrong |= is_value ? (unit & ~VALUE) >= n_texts : !is_inside;
        wrong |= ends & (~below >> 31);
    }
    return !wrong;
}
