#include "ctok_machine.h"

/* The ops of a chain as they run on a stream. Op k gets its input through push (bytes of the current token), close (the token ends), mark
 * and finish, and gives on to op k + 1. Each function returns what the sink, or a failed allocation, says. */

static ctok_status push(ctok_machine *m, uint32_t k, const uint8_t *p, size_t n);
static ctok_status close_token(ctok_machine *m, uint32_t k);
static ctok_status pass_mark(ctok_machine *m, uint32_t k);

#define TRY(call)                                       \
    do {                                                \
        const ctok_status try_status = (call);          \
        if (try_status != CTOK_OK) return try_status;   \
    } while (0)

/* What op k held is given on: the marks behind it follow. */
static ctok_status settle(ctok_machine *m, uint32_t k) {
    ctok_op_state *s = &m->now[k];
    while (s->marks > 0) {
        s->marks--;
        TRY(pass_mark(m, k + 1));
    }
    return CTOK_OK;
}

/* Where the held bytes end in the op's buffer. */
static size_t end_of_held(const ctok_machine *m, uint32_t k) {
    const ctok_op_state *s = &m->now[k];
    return (size_t)s->begin + s->n + (m->chain->ops[k].kind == CTOK_OP_DEDUP ? s->a : 0);
}

static ctok_status hold(ctok_machine *m, uint32_t k, const uint8_t *p, size_t n) {
    ctok_op_state *s = &m->now[k];
    if (n > UINT32_MAX / 4 - s->n - s->begin) return CTOK_ERR_MEMORY;
    m->hold[k].n = end_of_held(m, k);
    return ctok_bytes_append(&m->hold[k], p, n);
}

static void drop_held(ctok_op_state *s) {
    s->begin += s->n;
    s->n = 0;
}

/* ---- REPLACE ---- */

/* Give on bytes x..y-1 of the text made of the `carried` bytes of find that were held, and of p. */
static ctok_status give_span(ctok_machine *m, uint32_t k, const uint8_t *p, size_t carried, size_t x, size_t y) {
    if (x < carried && x < y) {
        const size_t stop = y < carried ? y : carried;
        TRY(push(m, k + 1, m->chain->ops[k].find + x, stop - x));
        x = stop;
    }
    if (y >= carried) TRY(settle(m, k));
    return x < y ? push(m, k + 1, p + (x - carried), y - x) : CTOK_OK;
}

/* Go on with the search (Knuth, Morris and Pratt 1977): *i bytes of p are read, *j bytes of find match before there. Returns 1 when find
 * is complete. */
static int search(const ctok_op *op, const uint8_t *p, size_t n, size_t *i, uint32_t *j) {
    uint32_t at = *j;
    size_t k = *i;
    while (k < n) {
        if (at == 0) {
            const uint8_t *next = memchr(p + k, op->find[0], n - k);
            if (next == NULL) break;
            k = (size_t)(next - p) + 1;
            at = 1;
        } else {
            while (at > 0 && op->find[at] != p[k]) at = op->fail[at - 1];
            at += op->find[at] == p[k];
            k++;
        }
        if (at == op->n_find) {
            *i = k;
            *j = 0;
            return 1;
        }
    }
    *i = n;
    *j = at;
    return 0;
}

static ctok_status push_replace(ctok_machine *m, uint32_t k, const uint8_t *p, size_t n) {
    const ctok_op *op = &m->chain->ops[k];
    ctok_op_state *s = &m->now[k];
    const size_t carried = s->a;
    const int silent = op->flag && !s->later;
    size_t i = 0, sent = 0;
    while (search(op, p, n, &i, &s->a)) {
        TRY(give_span(m, k, p, carried, sent, carried + i - op->n_find));
        if (!silent) TRY(push(m, k + 1, op->put, op->n_put));
        sent = carried + i;
    }
    return give_span(m, k, p, carried, sent, carried + n - s->a);
}

static ctok_status close_replace(ctok_machine *m, uint32_t k) {
    ctok_op_state *s = &m->now[k];
    const uint32_t open = s->a;
    s->a = 0;
    TRY(push(m, k + 1, m->chain->ops[k].find, open));
    return settle(m, k);
}

/* ---- BETWEEN ---- */

static ctok_status push_between(ctok_machine *m, uint32_t k, const uint8_t *p, size_t n) {
    const ctok_op *op = &m->chain->ops[k];
    size_t from = 0;
    for (size_t i = 0; i < n; i++) {
        if ((p[i] & 0xC0) == 0x80) continue;
        TRY(push(m, k + 1, p + from, i - from));
        TRY(push(m, k + 1, op->put, op->n_put));
        from = i;
    }
    m->now[k].phase = 1;
    return push(m, k + 1, p + from, n - from);
}

/* ---- BEGIN ---- */

static ctok_status push_begin(ctok_machine *m, uint32_t k, const uint8_t *p, size_t n) {
    const ctok_op *op = &m->chain->ops[k];
    ctok_op_state *s = &m->now[k];
    size_t i = 0;
    if (!s->later || s->phase) return push(m, k + 1, p, n);
    while (!op->flag && s->a < op->n_find && i < n && op->find[s->a] == p[i]) {
        s->a++;
        i++;
    }
    if (s->a < op->n_find && i == n && !op->flag) return CTOK_OK;
    s->phase = 1;
    if (op->flag || s->a < op->n_find) {
        TRY(push(m, k + 1, op->put, op->n_put));
        TRY(push(m, k + 1, op->find, s->a - i)); /* the part that came before p */
        i = 0;
    }
    s->a = 0;
    TRY(settle(m, k));
    return push(m, k + 1, p + i, n - i);
}

static ctok_status close_begin(ctok_machine *m, uint32_t k) {
    const ctok_op *op = &m->chain->ops[k];
    ctok_op_state *s = &m->now[k];
    if (s->later && !s->phase && (op->flag || op->n_find > 0)) {
        TRY(push(m, k + 1, op->put, op->n_put));
        TRY(push(m, k + 1, op->find, s->a));
    }
    s->a = 0;
    return settle(m, k);
}

/* ---- STRIP: n_few bytes of the character match, b whole ones wait at what may be the token's end ---- */

static ctok_status give_waiting(ctok_machine *m, uint32_t k) {
    const ctok_op *op = &m->chain->ops[k];
    ctok_op_state *s = &m->now[k];
    for (; s->b > 0; s->b--) TRY(push(m, k + 1, op->find, op->n_find));
    const uint8_t part = s->n_few;
    s->n_few = 0;
    TRY(push(m, k + 1, op->find, part));
    return settle(m, k);
}

static ctok_status found_char(ctok_machine *m, uint32_t k) {
    const ctok_op *op = &m->chain->ops[k];
    ctok_op_state *s = &m->now[k];
    s->n_few = 0;
    if (!s->phase && s->a < op->left) {
        s->a++;
        return CTOK_OK;
    }
    s->phase = 1;
    if (s->b < op->right) {
        s->b++;
        return CTOK_OK;
    }
    return push(m, k + 1, op->find, op->n_find);
}

static ctok_status push_strip(ctok_machine *m, uint32_t k, const uint8_t *p, size_t n) {
    const ctok_op *op = &m->chain->ops[k];
    ctok_op_state *s = &m->now[k];
    size_t i = 0;
    if (op->flag && s->later) return push(m, k + 1, p, n);
    while (i < n) {
        if (p[i] == op->find[s->n_few]) {
            i++;
            if (++s->n_few == op->n_find) TRY(found_char(m, k));
            continue;
        }
        TRY(give_waiting(m, k));
        s->phase = 1;
        const uint8_t *next = memchr(p + i, op->find[0], n - i);
        const size_t stop = next ? (size_t)(next - p) : n;
        TRY(push(m, k + 1, p + i, stop - i));
        i = stop;
    }
    return s->b + s->n_few == 0 ? settle(m, k) : CTOK_OK;
}

static ctok_status close_strip(ctok_machine *m, uint32_t k) {
    ctok_op_state *s = &m->now[k];
    s->a = s->b = 0;
    return give_waiting(m, k);
}

/* ---- REGEX and RAW: a token is held until it ends ---- */

static ctok_status push_held(ctok_machine *m, uint32_t k, const uint8_t *p, size_t n) {
    TRY(hold(m, k, p, n));
    m->now[k].n += (uint32_t)n;
    return CTOK_OK;
}

static ctok_status close_rewritten(ctok_machine *m, uint32_t k) {
    const ctok_op *op = &m->chain->ops[k];
    ctok_op_state *s = &m->now[k];
    uint8_t first[256];
    ctok_text out;
    if (s->n == 0) return settle(m, k);
    ctok_text_init(&out, first, sizeof first);
    const uint8_t *p = m->hold[k].at + s->begin;
    ctok_status status = op->kind != CTOK_OP_RAW ? m->chain->rewrite(m->chain->rules, op->left, p, s->n, &out)
                         : m->literal            ? ctok_text_append(&out, p, s->n)
                                                 : ctok_unspell(&out, p, s->n);
    drop_held(s);
    if (status == CTOK_OK) status = push(m, k + 1, out.p, out.n);
    ctok_text_free(&out);
    return status == CTOK_OK ? settle(m, k) : status;
}

/* ---- LOSSY ---- */

static ctok_status mend(ctok_machine *m, uint32_t k, const uint8_t *p, size_t n) {
    uint8_t first[256];
    size_t bad = 0;
    ctok_text out;
    if (ctok_utf8_validate(p, n, &bad) == CTOK_OK) return push(m, k + 1, p, n);
    ctok_text_init(&out, first, sizeof first);
    ctok_status status = ctok_text_mend(&out, p, n, (ctok_on_error)m->errors, m->policy == CTOK_PER_BYTE, &bad);
    if (status == CTOK_OK) status = push(m, k + 1, out.p, out.n);
    ctok_text_free(&out);
    return status;
}

/* Join bytes to the unfinished character in `few`, until it is finished, or known to be none; *used of them belong to it. */
static ctok_status join_few(ctok_machine *m, uint32_t k, const uint8_t *p, size_t n, size_t *used) {
    ctok_op_state *s = &m->now[k];
    uint32_t c = 0;
    uint8_t both[6];
    const size_t some = n < 3 ? n : 3;
    memcpy(both, s->few, s->n_few);
    memcpy(both + s->n_few, p, some);
    const size_t taken = ctok_utf8_step(both, s->n_few + some, &c);
    *used = taken - s->n_few;
    if (c == CTOK_UTF8_OPEN) {
        memcpy(s->few, both, taken);
        s->n_few = (uint8_t)taken;
        return CTOK_OK;
    }
    s->n_few = 0;
    TRY(mend(m, k, both, taken));
    return settle(m, k);
}

static ctok_status push_lossy(ctok_machine *m, uint32_t k, const uint8_t *p, size_t n) {
    ctok_op_state *s = &m->now[k];
    size_t used = 0;
    if (s->n_few > 0) TRY(join_few(m, k, p, n, &used));
    if (s->n_few > 0 || used == n) return CTOK_OK;
    const size_t tail = ctok_utf8_tail(p + used, n - used);
    TRY(mend(m, k, p + used, n - used - tail));
    memcpy(s->few, p + n - tail, tail);
    s->n_few = (uint8_t)tail;
    return CTOK_OK;
}

static ctok_status finish_lossy(ctok_machine *m, uint32_t k) {
    ctok_op_state *s = &m->now[k];
    const uint8_t rest = s->n_few;
    s->n_few = 0;
    TRY(mend(m, k, s->few, rest));
    return settle(m, k);
}

/* ---- BYTES: while a token can still be that of a byte it is in `few` (phase 0); the bytes of the run are held ---- */

static const char byte_form[] = "<0x..>";

static int may_be_byte(const uint8_t *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (byte_form[i] != '.' && p[i] != (uint8_t)byte_form[i]) return 0;
    return 1;
}

static ctok_status end_bad_run(ctok_machine *m, uint32_t k, uint32_t n) {
    static const uint8_t replacement[3] = {0xEF, 0xBF, 0xBD};
    if (m->errors == CTOK_ERRORS_STRICT) return CTOK_ERR_UTF8;
    for (; n > 0 && m->errors == CTOK_ERRORS_REPLACE; n--) {
        TRY(push(m, k + 1, replacement, sizeof replacement));
        TRY(close_token(m, k + 1));
    }
    return CTOK_OK;
}

/* The run is over; b: a character of it was given on already (not with policy "hf_run"). */
static ctok_status end_run(ctok_machine *m, uint32_t k) {
    ctok_op_state *s = &m->now[k];
    const uint32_t n = s->n, given = s->b;
    size_t bad = 0;
    if (n + given == 0) return CTOK_OK;
    const uint8_t *run = n ? m->hold[k].at + s->begin : NULL;
    drop_held(s);
    s->b = 0;
    if (m->policy == CTOK_PER_RUN && ctok_utf8_validate(run, n, &bad) != CTOK_OK) {
        TRY(end_bad_run(m, k, n));
    } else {
        TRY(mend(m, k, run, n));
        TRY(close_token(m, k + 1));
    }
    return settle(m, k);
}

static ctok_status add_byte(ctok_machine *m, uint32_t k, uint8_t byte) {
    ctok_op_state *s = &m->now[k];
    TRY(push_held(m, k, &byte, 1));
    while (m->policy != CTOK_PER_RUN && s->n > 0) {
        uint32_t c = 0;
        const uint8_t *p = m->hold[k].at + s->begin;
        const size_t taken = ctok_utf8_step(p, s->n, &c);
        if (c == CTOK_UTF8_OPEN) break;
        s->begin += (uint32_t)taken;
        s->n -= (uint32_t)taken;
        s->b = 1;
        TRY(mend(m, k, p, taken));
        if (s->n == 0) TRY(settle(m, k));
    }
    return CTOK_OK;
}

static ctok_status push_bytes(ctok_machine *m, uint32_t k, const uint8_t *p, size_t n) {
    ctok_op_state *s = &m->now[k];
    if (s->phase) return push(m, k + 1, p, n);
    const size_t part = n < 6u - s->n_few ? n : 6u - s->n_few;
    memcpy(s->few + s->n_few, p, part);
    s->n_few = (uint8_t)(s->n_few + part);
    if (part == n && may_be_byte(s->few, s->n_few)) return CTOK_OK;
    const uint8_t few = s->n_few;
    s->phase = 1;
    s->n_few = 0;
    TRY(end_run(m, k));
    TRY(push(m, k + 1, s->few, few));
    TRY(settle(m, k));
    return push(m, k + 1, p + part, n - part);
}

static ctok_status close_bytes(ctok_machine *m, uint32_t k) {
    ctok_op_state *s = &m->now[k];
    const int whole = s->phase, byte = whole ? -1 : ctok_byte_of(s->few, s->n_few);
    const uint8_t few = s->n_few;
    s->phase = 0;
    s->n_few = 0;
    if (byte >= 0) return add_byte(m, k, (uint8_t)byte);
    if (!whole) {
        TRY(end_run(m, k));
        TRY(push(m, k + 1, s->few, few));
        TRY(settle(m, k));
    }
    return close_token(m, k + 1);
}

/* ---- LAST: from the first match on the token is held (n > 0) until it is known whether another one follows (phase 1: it is complete) ---- */

static ctok_status give_last(ctok_machine *m, uint32_t k, int is_last) {
    const ctok_op *op = &m->chain->ops[k];
    ctok_op_state *s = &m->now[k];
    const uint8_t *p = m->hold[k].at + s->begin;
    const uint32_t n = s->n;
    size_t i = 0, sent = 0;
    uint32_t j = 0;
    drop_held(s);
    s->phase = 0;
    for (; op->n_find == 0 && !is_last && i < n; i++) {
        if ((p[i] & 0xC0) == 0x80) continue;
        TRY(push(m, k + 1, p + sent, i - sent));
        TRY(push(m, k + 1, op->put, op->n_put));
        sent = i;
    }
    while (op->n_find > 0 && search(op, p, n, &i, &j)) {
        TRY(push(m, k + 1, p + sent, i - op->n_find - sent));
        if (!is_last) TRY(push(m, k + 1, op->put, op->n_put));
        sent = i;
    }
    TRY(push(m, k + 1, p + sent, n - sent));
    if (op->n_find == 0 && !is_last) TRY(push(m, k + 1, op->put, op->n_put));
    TRY(close_token(m, k + 1));
    return settle(m, k);
}

static ctok_status push_last(ctok_machine *m, uint32_t k, const uint8_t *p, size_t n) {
    const ctok_op *op = &m->chain->ops[k];
    ctok_op_state *s = &m->now[k];
    if (s->phase) TRY(give_last(m, k, 0));
    if (s->n > 0 || op->n_find == 0) return push_held(m, k, p, n);
    const size_t carried = s->a;
    size_t i = 0;
    if (!search(op, p, n, &i, &s->a)) return give_span(m, k, p, carried, 0, carried + n - s->a);
    TRY(give_span(m, k, p, carried, 0, carried + i - op->n_find));
    TRY(push_held(m, k, op->find, op->n_find));
    return push_held(m, k, p + i, n - i);
}

static ctok_status close_last(ctok_machine *m, uint32_t k) {
    ctok_op_state *s = &m->now[k];
    if (s->phase) TRY(give_last(m, k, 0)); /* an empty token */
    if (s->n > 0 || m->chain->ops[k].n_find == 0) {
        s->phase = 1;
        return CTOK_OK;
    }
    TRY(close_replace(m, k));
    return close_token(m, k + 1);
}

/* ---- DEDUP: the token before (phase 1: there is one) is held, and behind it `a` bytes of the new one ---- */

static ctok_status push_dedup(ctok_machine *m, uint32_t k, const uint8_t *p, size_t n) {
    TRY(hold(m, k, p, n));
    m->now[k].a += (uint32_t)n;
    return CTOK_OK;
}

static ctok_status close_dedup(ctok_machine *m, uint32_t k) {
    ctok_op_state *s = &m->now[k];
    const uint8_t *before = m->hold[k].at ? m->hold[k].at + s->begin : (const uint8_t *)"", *now = before + s->n;
    const uint32_t n = s->a;
    const int same = s->phase && n == s->n && memcmp(before, now, n) == 0;
    s->a = 0;
    if (same) return settle(m, k);
    drop_held(s);
    s->n = n;
    s->phase = 1;
    TRY(push(m, k + 1, now, n));
    TRY(close_token(m, k + 1));
    return settle(m, k);
}

/* ---- all ops ---- */

static ctok_status push(ctok_machine *m, uint32_t k, const uint8_t *p, size_t n) {
    if (n == 0) return CTOK_OK;
    if (k == m->to) return m->text(m->sink, p, n);
    switch (m->chain->ops[k].kind) {
    case CTOK_OP_REPLACE: return push_replace(m, k, p, n);
    case CTOK_OP_BETWEEN: return push_between(m, k, p, n);
    case CTOK_OP_BEGIN: return push_begin(m, k, p, n);
    case CTOK_OP_STRIP: return push_strip(m, k, p, n);
    case CTOK_OP_REGEX:
    case CTOK_OP_RAW: return push_held(m, k, p, n);
    case CTOK_OP_LOSSY: return push_lossy(m, k, p, n);
    case CTOK_OP_BYTES: return push_bytes(m, k, p, n);
    case CTOK_OP_LAST: return push_last(m, k, p, n);
    case CTOK_OP_DEDUP: return push_dedup(m, k, p, n);
    case CTOK_OP_DROP: m->now[k].phase = 1; break;
    default: break;
    }
    return push(m, k + 1, p, n);
}

static ctok_status close_between(ctok_machine *m, uint32_t k) {
    return m->now[k].phase || m->chain->ops[k].flag ? push(m, k + 1, m->chain->ops[k].put, m->chain->ops[k].n_put) : CTOK_OK;
}

static ctok_status close_token(ctok_machine *m, uint32_t k) {
    if (k == m->to) return CTOK_OK;
    ctok_op_state *s = &m->now[k];
    int passes = 1;
    switch (m->chain->ops[k].kind) {
    case CTOK_OP_REPLACE: TRY(close_replace(m, k)); break;
    case CTOK_OP_BETWEEN: TRY(close_between(m, k)); break;
    case CTOK_OP_BEGIN: TRY(close_begin(m, k)); break;
    case CTOK_OP_STRIP: TRY(close_strip(m, k)); break;
    case CTOK_OP_REGEX:
    case CTOK_OP_RAW: TRY(close_rewritten(m, k)); break;
    case CTOK_OP_LOSSY:
    case CTOK_OP_FUSE: return CTOK_OK;
    case CTOK_OP_BYTES: return close_bytes(m, k);
    case CTOK_OP_LAST: return close_last(m, k);
    case CTOK_OP_DEDUP: return close_dedup(m, k);
    default: passes = s->phase; break; /* DROP */
    }
    s->later = 1;
    s->phase = 0;
    return passes ? close_token(m, k + 1) : CTOK_OK;
}

static int is_holding(const ctok_machine *m, uint32_t k) {
    const ctok_op_state *s = &m->now[k];
    switch (m->chain->ops[k].kind) {
    case CTOK_OP_REPLACE:
    case CTOK_OP_BEGIN:
    case CTOK_OP_DEDUP: return s->a > 0;
    case CTOK_OP_STRIP: return s->b + s->n_few > 0;
    case CTOK_OP_LAST: return s->phase || s->n + s->a > 0;
    default: return s->n + s->a + s->n_few > 0;
    }
}

static ctok_status pass_mark(ctok_machine *m, uint32_t k) {
    for (; k < m->to; k++) {
        if (is_holding(m, k)) {
            m->now[k].marks++;
            return CTOK_OK;
        }
    }
    m->mark(m->sink);
    return CTOK_OK;
}

ctok_status ctok_machine_token(ctok_machine *m, const uint8_t *p, size_t n) {
    TRY(push(m, m->from, p, n));
    return close_token(m, m->from);
}

ctok_status ctok_machine_mark(ctok_machine *m) {
    return pass_mark(m, m->from);
}

ctok_status ctok_machine_finish(ctok_machine *m) {
    for (uint32_t k = m->from; k < m->to; k++) {
        const uint8_t kind = m->chain->ops[k].kind;
        if (kind == CTOK_OP_BYTES) TRY(end_run(m, k));
        if (kind == CTOK_OP_LAST && m->now[k].phase) TRY(give_last(m, k, 1));
        if (kind == CTOK_OP_LOSSY) TRY(finish_lossy(m, k));
        if (kind == CTOK_OP_LOSSY || kind == CTOK_OP_FUSE) TRY(close_token(m, k + 1));
        TRY(settle(m, k));
    }
    return CTOK_OK;
}

/* ---- states ---- */

ctok_status ctok_machine_init(ctok_machine *m, const ctok_chain *c, uint32_t from, uint32_t to) {
    memset(m, 0, sizeof *m);
    m->chain = c;
    m->from = from;
    m->to = to;
    m->now = ctok_mem_zeroed(3 * (size_t)c->n_ops, sizeof *m->now);
    m->hold = ctok_mem_zeroed(2 * (size_t)c->n_ops, sizeof *m->hold); /* then what is held at the start of a stream */
    if (m->now != NULL && m->hold != NULL) return CTOK_OK;
    ctok_machine_free(m);
    return CTOK_ERR_MEMORY;
}

void ctok_machine_free(ctok_machine *m) {
    if (m->hold != NULL)
        for (uint32_t k = 0; k < 2 * m->chain->n_ops; k++) ctok_bytes_free(&m->hold[k]);
    ctok_mem_free(m->hold);
    ctok_mem_free(m->now);
    m->hold = NULL;
    m->now = NULL;
}

ctok_status ctok_machine_copy(ctok_machine *to, const ctok_machine *from) {
    const uint32_t n = from->chain->n_ops;
    TRY(ctok_machine_init(to, from->chain, from->from, from->to));
    to->errors = from->errors;
    to->policy = from->policy;
    to->sink = from->sink;
    to->text = from->text;
    to->mark = from->mark;
    memcpy(to->now, from->now, 3 * (size_t)n * sizeof *to->now);
    ctok_status status = CTOK_OK;
    for (uint32_t k = 0; k < n && status == CTOK_OK; k++) {
        status = ctok_bytes_reserve(&to->hold[k], from->hold[n + k].n); /* for a reset */
        if (status == CTOK_OK) status = ctok_bytes_set(&to->hold[k], &from->hold[k]);
        if (status == CTOK_OK) status = ctok_bytes_set(&to->hold[n + k], &from->hold[n + k]);
    }
    if (status != CTOK_OK) ctok_machine_free(to);
    return status;
}

void ctok_machine_begin(ctok_machine *m) {
    memcpy(m->now + m->chain->n_ops, m->now, m->chain->n_ops * sizeof *m->now);
}

void ctok_machine_rollback(ctok_machine *m) {
    memcpy(m->now, m->now + m->chain->n_ops, m->chain->n_ops * sizeof *m->now);
    for (uint32_t k = m->from; k < m->to; k++) m->hold[k].n = end_of_held(m, k);
}

void ctok_machine_commit(ctok_machine *m) {
    for (uint32_t k = m->from; k < m->to; k++) {
        ctok_op_state *s = &m->now[k];
        m->hold[k].n = end_of_held(m, k);
        if (s->begin == 0) continue;
        ctok_bytes_drop(&m->hold[k], s->begin);
        s->begin = 0;
    }
}

void ctok_machine_reset(ctok_machine *m) {
    const uint32_t n = m->chain->n_ops;
    memcpy(m->now, m->now + 2 * n, n * sizeof *m->now);
    for (uint32_t k = 0; k < n; k++) {
        if (m->hold[n + k].n) memcpy(m->hold[k].at, m->hold[n + k].at, m->hold[n + k].n); /* room since ctok_machine_set_start */
        m->hold[k].n = m->hold[n + k].n;
    }
}

ctok_status ctok_machine_set_start(ctok_machine *m) {
    const uint32_t n = m->chain->n_ops;
    ctok_machine_commit(m);
    for (uint32_t k = 0; k < n; k++) {
        m->now[k].marks = 0;
        TRY(ctok_bytes_set(&m->hold[n + k], &m->hold[k]));
    }
    memcpy(m->now + 2 * n, m->now, n * sizeof *m->now);
    return CTOK_OK;
}

static int is_open_char(const uint8_t *p, size_t n) {
    uint32_t c = 0;
    return n == 0 || (n <= 3 && ctok_utf8_step(p, n, &c) == n && c == CTOK_UTF8_OPEN);
}

static int check_op(const ctok_machine *m, uint32_t k) {
    const ctok_op *op = &m->chain->ops[k];
    const ctok_op_state *s = &m->now[k];
    if (s->begin != 0 || m->hold[k].n != end_of_held(m, k) || s->later > 1 || s->phase > 1 || s->n_few > sizeof s->few) return 0;
    switch (op->kind) {
    case CTOK_OP_REPLACE: return s->a < op->n_find && s->n == 0;
    case CTOK_OP_BEGIN: return (s->a == 0 || s->a < op->n_find) && s->n == 0;
    case CTOK_OP_STRIP: return s->a <= op->left && s->b <= op->right && s->n_few < op->n_find && s->n == 0;
    case CTOK_OP_LOSSY: return is_open_char(s->few, s->n_few) && s->n == 0;
    case CTOK_OP_BYTES: return may_be_byte(s->few, s->n_few) && (m->policy == CTOK_PER_RUN || is_open_char(m->hold[k].at, s->n));
    case CTOK_OP_LAST: return s->a == 0 || (s->a < op->n_find && s->n == 0);
    case CTOK_OP_REGEX:
    case CTOK_OP_RAW:
    case CTOK_OP_DEDUP: return 1;
    default: return s->n == 0;
    }
}

int ctok_machine_check(const ctok_machine *m, uint32_t n_marks) {
    uint64_t marks = 0;
    for (uint32_t k = m->from; k < m->to; k++) {
        if (!check_op(m, k)) return 0;
        marks += m->now[k].marks;
    }
    return marks == n_marks;
}
