/* ctok_cut_match.c - cutting around the matches of a pattern. Class 1 is what does not match, class 2 a match. */
#include "ctok_cut_step.h"

#define GAP 1
#define MATCH 2
#define BLOCK 512

int ctok_dfa_is_total(const ctok_dfa *d) {
    /* Rows reached without an accept, found one after the other; such a row must neither stop nor end there. */
    const uint32_t stride = d->n_classes + 1;
    uint32_t *rows = (uint32_t *)ctok_mem_alloc(d->n_states, sizeof *rows);
    uint8_t *seen = (uint8_t *)ctok_mem_zeroed(d->n_states, 1);
    uint32_t n = 1;
    int total = rows != NULL && seen != NULL; /* without memory the answer is no, which is safe */
    if (total) {
        rows[0] = 0;
        seen[0] = 1;
    }
    for (uint32_t i = 0; total && i < n; i++) {
        const ctok_dfa_entry *row = d->entries + rows[i];
        if (i && !(row[d->n_classes].flags & CTOK_DFA_ACCEPT)) total = 0;
        for (uint32_t c = 0; total && c < d->n_classes; c++) {
            if (row[c].flags & CTOK_DFA_ACCEPT) continue;
            if (row[c].flags & (CTOK_DFA_STOP | CTOK_DFA_EMIT)) total = 0;
            else if (!seen[row[c].next / stride]) {
                seen[row[c].next / stride] = 1;
                rows[n++] = row[c].next;
            }
        }
    }
    ctok_mem_free(rows);
    ctok_mem_free(seen);
    return total;
}

/* An item of a class begins. */
static inline void begin_item(const ctok_cut_step *s, ctok_cut_room *m, unsigned class, cut_out *out) {
    if (s->act[m->prev][class] & CTOK_CUT_BORDER) cut_border(out);
    m->prev = (uint8_t)class;
}

/* The bytes [from, to) of in belong to the item that began. */
static inline void item_bytes(const ctok_cut_step *s, const ctok_cut_room *m, const cut_in *in, size_t from, size_t to, cut_out *out) {
    if (!(s->drops >> m->prev & 1)) cut_copy(out, in, from, to);
}

static inline void end_item(const ctok_cut_step *s, const ctok_cut_room *m, cut_out *out) {
    if (s->after >> m->prev & 1) cut_border(out);
}

static void whole_item(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, unsigned class, size_t from, size_t to, cut_out *out) {
    begin_item(s, m, class, out);
    item_bytes(s, m, in, from, to, out);
    end_item(s, m, out);
}

/* The matches that a block found. */
static void take_matches(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, size_t from, const uint32_t *stops, size_t n,
                         cut_out *out) {
    if (!(s->after & 4) || s->drops & 4 || in->map != NULL || from < in->zero) {
        for (size_t i = 0; i < n; i++) {
            whole_item(s, m, in, MATCH, from, stops[i], out);
            from = stops[i];
        }
        return;
    }
    begin_item(s, m, MATCH, out);
    const uint32_t shift = (uint32_t)(out->n - from);
    uint32_t *to = out->stops + out->n_stops;
    memcpy(out->text + out->n, in->p + from, stops[n - 1] - from);
    for (size_t i = 0; i < n; i++) to[i] = stops[i] + shift;
    out->n += stops[n - 1] - from;
    out->n_stops += n;
    out->open = 0;
}

/* Keep the bytes [from, to) of in back. */
static ctok_status hold(ctok_cut_room *m, const cut_in *in, size_t from, size_t to) {
    if (ctok_bytes_append(&m->held, in->p + from, to - from) != CTOK_OK) return CTOK_ERR_MEMORY;
    if (from < in->zero) m->held_zero += (to < in->zero ? to : in->zero) - from;
    return CTOK_OK;
}

static cut_in held_text(const ctok_cut_room *m) {
    const cut_in text = {m->held.at, m->held.n, NULL, 0, NULL, m->held_zero};
    return text;
}

static void drop_held(ctok_cut_room *m, size_t n) {
    ctok_bytes_drop(&m->held, n);
    m->held_zero -= n < m->held_zero ? n : m->held_zero;
}

/* The next n bytes held belong to the open match. */
static void give(const ctok_cut_step *s, ctok_cut_room *m, size_t n, cut_out *out) {
    const cut_in text = held_text(m);
    if (m->given == 0) begin_item(s, m, MATCH, out);
    item_bytes(s, m, &text, 0, n, out);
    m->given += n;
    drop_held(m, n);
}

/* Let go what is certain of the open match: up to where it may stop, if it may stop before the end of what was read. */
static void give_certain(const ctok_cut_step *s, ctok_cut_room *m, cut_out *out) {
    const uint64_t limit = ctok_scan_may_stop_at_accept(s->split.dfa, &m->scan) ? m->scan.accept : m->scan.n;
    if (limit > m->given) give(s, m, (size_t)(limit - m->given), out);
}

/* in[begin, end), with no match open at begin. */
static ctok_status take_text(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, size_t begin, size_t end, int closed,
                             cut_out *out) {
    uint32_t stops[BLOCK];
    ctok_block b;
    while (begin < end) {
        ctok_split_block(&s->split, in->p, begin, end, closed, stops, BLOCK, &b);
        if (b.first > begin) whole_item(s, m, in, GAP, begin, b.first, out);
        if (b.n) take_matches(s, m, in, b.first, stops, b.n, out);
        begin = b.next;
        if (!b.hit_end) continue;
        size_t read = begin;
        ctok_scan_begin(s->split.dfa, &m->scan);
        m->given = 0;
        m->scanning = 1;
        ctok_scan_feed(s->split.dfa, &m->scan, in->p, &read, end); /* stays open, says hit_end */
        if (hold(m, in, begin, end) != CTOK_OK) return CTOK_ERR_MEMORY;
        give_certain(s, m, out);
        return CTOK_OK;
    }
    return CTOK_OK;
}

/* The open match is complete: emit it (or, if it turned out to be none, one character), and cut what was read beyond it together with
 * in[pos, end). */
static ctok_status close_match(const ctok_cut_step *s, ctok_cut_room *m, uint64_t stop, const cut_in *in, size_t *pos, size_t end, int closed,
                               cut_out *out) {
    m->scanning = 0;
    /* Never so but in a state that was loaded from bytes nobody wrote: */
    if (stop < m->given) stop = m->given;
    if (stop > m->given + m->held.n) stop = m->given + m->held.n;
    if (stop == 0) {
        const cut_in text = held_text(m);
        const size_t len = cut_length(text.p[0]);
        whole_item(s, m, &text, GAP, 0, len, out);
        drop_held(m, len);
    } else {
        give(s, m, (size_t)(stop - m->given), out);
        end_item(s, m, out);
    }
    m->given = 0;
    if (m->held.n == 0) return CTOK_OK;
    if (hold(m, in, *pos, end) != CTOK_OK) return CTOK_ERR_MEMORY;
    *pos = end;
    const ctok_bytes text = m->held;
    const cut_in rest = held_text(m);
    m->held = m->spare;
    m->spare = text;
    m->held.n = m->held_zero = 0;
    return take_text(s, m, &rest, 0, rest.n, closed, out);
}

/* Scan on in the open match; *pos is where the text goes on behind it. */
static ctok_status scan_on(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, size_t *pos, size_t end, int closed, cut_out *out) {
    size_t read = *pos;
    const int found = ctok_scan_feed(s->split.dfa, &m->scan, in->p, &read, end);
    if (hold(m, in, *pos, read) != CTOK_OK) return CTOK_ERR_MEMORY;
    *pos = read;
    if (found) return close_match(s, m, m->scan.accept, in, pos, end, closed, out);
    if (closed) return close_match(s, m, ctok_scan_finish(s->split.dfa, &m->scan), in, pos, end, closed, out);
    give_certain(s, m, out);
    return CTOK_OK;
}

ctok_status cut_around_matches(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, cut_out *out) {
    size_t pos = 0;
    ctok_status status = cut_open(out, in->n + m->held.n);
    for (size_t k = 0; status == CTOK_OK && k <= in->n_stops; k++) {
        int closed;
        const size_t end = cut_piece_end(in, k, &closed);
        if (m->scanning && (pos < end || closed)) status = scan_on(s, m, in, &pos, end, closed, out);
        if (status == CTOK_OK && pos < end) status = take_text(s, m, in, pos, end, closed, out);
        pos = end;
        if (closed) {
            cut_border(out);
            m->prev = 0;
        }
    }
    if (status == CTOK_OK) cut_close(out);
    return status;
}

/* A complete piece: the function says where the matches are. */
static ctok_status called_piece(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, size_t begin, size_t end, ctok_ids *found,
                                cut_out *out) {
    size_t pos = begin;
    found->n = 0;
    const ctok_status status = s->call(s->with, in->p + begin, end - begin, found);
    if (status != CTOK_OK) return status;
    for (size_t i = 0; i + 1 < found->n; i += 2) {
        const size_t start = begin + found->at[i], stop = begin + found->at[i + 1];
        if (start < pos || stop < start || stop > end) return CTOK_ERR_FORMAT;
        if (start > pos) whole_item(s, m, in, GAP, pos, start, out);
        whole_item(s, m, in, MATCH, start, stop, out);
        pos = stop;
    }
    if (pos < end) whole_item(s, m, in, GAP, pos, end, out);
    return CTOK_OK;
}

ctok_status cut_around_called(const ctok_cut_step *s, ctok_cut_room *m, const cut_in *in, cut_out *out) {
    size_t begin = 0;
    ctok_ids found = {NULL, 0, 0};
    ctok_status status = cut_open(out, in->n + m->held.n);
    for (size_t k = 0; status == CTOK_OK && k <= in->n_stops; k++) {
        int closed;
        const size_t end = cut_piece_end(in, k, &closed);
        if (closed && m->held.n == 0) {
            if (begin < end) status = called_piece(s, m, in, begin, end, &found, out);
        } else {
            status = hold(m, in, begin, end);
            if (status == CTOK_OK && closed) {
                const cut_in text = held_text(m);
                status = called_piece(s, m, &text, 0, text.n, &found, out);
                drop_held(m, text.n);
            }
        }
        if (closed) {
            cut_border(out);
            m->prev = 0;
        }
        begin = end;
    }
    ctok_ids_free(&found);
    if (status == CTOK_OK) cut_close(out);
    return status;
}
