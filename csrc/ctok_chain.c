#include "ctok_machine.h"

/* ---- making a chain ---- */

static void set_fail(uint32_t *fail, const uint8_t *find, uint32_t n) {
    uint32_t j = 0;
    fail[0] = 0;
    for (uint32_t i = 1; i < n; i++) {
        while (j > 0 && find[i] != find[j]) j = fail[j - 1];
        j += find[i] == find[j];
        fail[i] = j;
    }
}

static int in_range(const ctok_op_spec *spec, size_t n_bytes) {
    return spec->kind <= CTOK_OP_DROP && spec->find <= n_bytes && spec->n_find <= n_bytes - spec->find && spec->put <= n_bytes &&
           spec->n_put <= n_bytes - spec->put && (spec->kind != CTOK_OP_REPLACE || spec->n_find > 0) &&
           (spec->kind != CTOK_OP_STRIP || (spec->n_find > 0 && spec->n_find <= 4));
}

static void set_op(ctok_op *op, const ctok_op_spec *spec, const uint8_t *bytes, uint32_t *fail) {
    op->kind = (uint8_t)spec->kind;
    op->flag = spec->flag != 0;
    op->find = bytes + spec->find;
    op->n_find = spec->n_find;
    op->put = bytes + spec->put;
    op->n_put = spec->n_put;
    op->left = spec->left;
    op->right = spec->right;
    op->fail = fail;
    if (spec->n_find > 0) set_fail(fail, op->find, op->n_find);
}

/* What the ops are together: where the head ends, and whether what is behind it is simple. */
static void set_shape(ctok_chain *c) {
    uint32_t k = 0;
    for (; k < c->n_ops && c->ops[k].kind <= CTOK_OP_LOCAL && !c->has_raw; k++) {
        const ctok_op *op = &c->ops[k];
        c->has_raw = op->kind == CTOK_OP_RAW;
        c->first_differs |= op->kind == CTOK_OP_BEGIN || (op->flag && (op->kind == CTOK_OP_REPLACE || op->kind == CTOK_OP_STRIP));
    }
    c->n_head = k;
    c->has_bytes = k < c->n_ops && c->ops[k].kind == CTOK_OP_BYTES;
    int fused = c->has_raw;
    k += fused || c->has_bytes; /* LOSSY stands behind RAW */
    if (k < c->n_ops && c->ops[k].kind == CTOK_OP_FUSE) {
        fused = 1;
        k++;
    }
    if (k < c->n_ops && fused && c->ops[k].kind == CTOK_OP_STRIP && c->ops[k].right == 0 && c->ops[k].left <= UINT8_MAX) {
        c->lead = (uint8_t)c->ops[k].left;
        c->lead_char = c->ops[k].find;
        c->n_lead_char = (uint8_t)c->ops[k].n_find;
        k++;
    }
    c->plain = k == c->n_ops;
    for (k = 0; k < c->n_ops; k++) c->any_bytes |= c->ops[k].kind == CTOK_OP_BYTES;
    if (!c->plain) c->lead = 0;
}

ctok_status ctok_chain_init(ctok_chain *c, const ctok_op_spec *specs, uint32_t n, const uint8_t *bytes, size_t n_bytes) {
    size_t n_fails = 0;
    memset(c, 0, sizeof *c);
    for (uint32_t k = 0; k < n; k++) {
        if (!in_range(&specs[k], n_bytes)) return CTOK_ERR_FORMAT;
        if (specs[k].kind == CTOK_OP_RAW && (k + 1 == n || specs[k + 1].kind != CTOK_OP_LOSSY)) return CTOK_ERR_FORMAT;
        n_fails += specs[k].n_find;
    }
    c->ops = ctok_mem_zeroed(n, sizeof *c->ops);
    c->bytes = ctok_mem_alloc(n_bytes, 1);
    c->fails = ctok_mem_alloc(n_fails, sizeof *c->fails);
    if (c->ops == NULL || c->bytes == NULL || c->fails == NULL) {
        ctok_chain_free(c);
        return CTOK_ERR_MEMORY;
    }
    if (n_bytes) memcpy(c->bytes, bytes, n_bytes);
    uint32_t *fail = c->fails;
    for (uint32_t k = 0; k < n; k++) {
        set_op(&c->ops[k], &specs[k], c->bytes, fail);
        fail += specs[k].n_find;
    }
    c->n_ops = n;
    set_shape(c);
    return CTOK_OK;
}

void ctok_chain_free(ctok_chain *c) {
    ctok_mem_free(c->ops);
    ctok_mem_free(c->bytes);
    ctok_mem_free(c->fails);
    memset(c, 0, sizeof *c);
}

/* ---- the byte-level alphabet: printable Latin-1 is itself, the other 68 bytes are U+0100 and up in their order ---- */

static int is_itself(uint32_t b) {
    return (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xFF && b != 0xAD);
}

/* The n-th byte that is not itself. */
static uint8_t other_byte(uint32_t n) {
    if (n < 0x21) return (uint8_t)n;
    return n < 0x21 + 34 ? (uint8_t)(n - 0x21 + 0x7F) : 0xAD;
}

#define N_OTHERS 68u

static uint32_t letter_of(uint8_t b) {
    if (is_itself(b)) return b;
    if (b < 0x21) return 0x100u + b;
    return b == 0xAD ? 0x100u + N_OTHERS - 1 : 0x100u + 0x21 + b - 0x7F;
}

ctok_status ctok_spell(ctok_text *out, const uint8_t *p, size_t n) {
    if (n > SIZE_MAX / 4 || ctok_text_reserve(out, 2 * n) != CTOK_OK) return CTOK_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) out->n += ctok_utf8_put(out->p + out->n, letter_of(p[i]));
    return CTOK_OK;
}

ctok_status ctok_unspell(ctok_text *out, const uint8_t *p, size_t n) {
    const size_t before = out->n;
    if (ctok_text_reserve(out, n) != CTOK_OK) return CTOK_ERR_MEMORY;
    for (size_t i = 0; i < n;) {
        uint32_t c = 0;
        i += ctok_utf8_step(p + i, n - i, &c);
        if (c >= 0x100 + N_OTHERS || (c < 0x100 && !is_itself(c))) {
            out->n = before;
            return ctok_text_append(out, p, n);
        }
        out->p[out->n++] = c < 0x100 ? (uint8_t)c : other_byte(c - 0x100);
    }
    return CTOK_OK;
}

/* ---- bytes in SentencePiece's form ---- */

static int digit_of(uint8_t c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int ctok_byte_of(const uint8_t *p, size_t n) {
    if (n != 6 || memcmp(p, "<0x", 3) != 0 || p[5] != '>') return -1;
    const int high = p[3] == '+' ? 0 : digit_of(p[3]), low = digit_of(p[4]); /* a sign is read, as the reference does */
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* ---- a vocabulary through the head ---- */

static ctok_status append_to(void *sink, const uint8_t *p, size_t n) {
    return ctok_text_append(sink, p, n);
}

static void no_mark(void *sink) {
    (void)sink;
}

static ctok_status start_head(ctok_machine *m, const ctok_chain *c, ctok_text *out) {
    const ctok_status status = ctok_machine_init(m, c, 0, c->n_head);
    m->sink = out;
    m->text = append_to;
    m->mark = no_mark;
    return status;
}

/* What a token of a SentencePiece model is. All tokens of other vocabularies are as the normal ones there. */
static unsigned type_of(const ctok_view *view, ctok_id id) {
    return view->pieces != NULL ? view->pieces->types[id] : CTOK_PIECE_NORMAL;
}

/* Bytes of an added token are its text, whatever letters it has; of an ordinary one they may have to be spelled. */
static ctok_status through_head(const ctok_view *view, ctok_machine *m, ctok_id id, int first, ctok_text *spelled) {
    const ctok_token t = view->source->by_id[id];
    const unsigned type = type_of(view, id);
    const uint8_t *p = view->source->bytes + t.begin;
    size_t n = t.len;
    if (type == CTOK_PIECE_CONTROL) return CTOK_OK;
    if (type == CTOK_PIECE_UNKNOWN) return append_to(m->sink, view->pieces->surface, view->pieces->n_surface);
    if (type == CTOK_PIECE_BYTE) return append_to(m->sink, p, n);
    ctok_machine_reset(m);
    for (uint32_t k = 0; k < m->to; k++) m->now[k].later = !first;
    m->literal = t.begin >= view->source->begin[view->source->n_tokens];
    if (view->spelled && !m->literal) {
        spelled->n = 0;
        if (ctok_spell(spelled, p, n) != CTOK_OK) return CTOK_ERR_MEMORY;
        p = spelled->p;
        n = spelled->n;
    }
    return ctok_machine_token(m, p, n);
}

/* The token's text stands at p: say what it is, and make a byte of it if it is one. */
static uint32_t settle_token(const ctok_view *view, ctok_id id, uint8_t *p, size_t *n, uint32_t flags) {
    const ctok_chain *c = view->chain;
    size_t bad = 0;
    const int may_be_byte = view->pieces == NULL || view->pieces->types[id] == CTOK_PIECE_BYTE;
    const int byte = c->plain && c->has_bytes && may_be_byte ? ctok_byte_of(p, *n) : -1;
    flags &= CTOK_TOKEN_KNOWN | CTOK_TOKEN_SPECIAL;
    if (byte >= 0) {
        p[0] = (uint8_t)byte;
        *n = 1;
        return flags; /* no text by itself, even if ASCII: it belongs to a run */
    }
    if (*n == 0 && c->has_raw) return flags;
    if (ctok_utf8_ascii(p, *n) == *n) return flags | CTOK_TOKEN_ASCII | CTOK_TOKEN_UTF8;
    return ctok_utf8_validate(p, *n, &bad) == CTOK_OK ? flags | CTOK_TOKEN_UTF8 : flags;
}

/* Is the token behind this one, which has no text, the first one? */
static int stays_before_first(const ctok_view *view, ctok_id id) {
    const unsigned type = type_of(view, id);
    return view->pieces != NULL && (view->pieces->keeps_first || type == CTOK_PIECE_CONTROL || type == CTOK_PIECE_UNKNOWN);
}

ctok_status ctok_view_token(const ctok_view *view, ctok_id id, int first, ctok_text *out, uint32_t *flags) {
    const ctok_token t = view->source->by_id[id];
    const size_t before = out->n;
    ctok_machine m;
    ctok_text spelled;
    ctok_text_init(&spelled, NULL, 0);
    ctok_status status = start_head(&m, view->chain, out);
    if (status == CTOK_OK) status = through_head(view, &m, id, first, &spelled);
    if (status == CTOK_OK) {
        size_t n = out->n - before;
        *flags = settle_token(view, id, out->p + before, &n, t.flags);
        out->n = before + n;
        if (first && n == 0 && stays_before_first(view, id)) *flags |= CTOK_TOKEN_BEFORE_FIRST;
    }
    ctok_machine_free(&m);
    ctok_text_free(&spelled);
    return status;
}

/* Put a token's text, of n bytes behind those in use, into the table. */
static ctok_status add_token(ctok_token *t, ctok_bytes *bytes, size_t n, uint32_t flags) {
    if (n >= 1u << 24 || bytes->n + n > UINT32_MAX - CTOK_VOCAB_PAD) return CTOK_ERR_FORMAT;
    t->begin = (uint32_t)bytes->n;
    t->len = n & 0xFFFFFF;
    t->flags = flags & 0xFF;
    bytes->n += n;
    return CTOK_OK;
}

/* The head does nothing, or replaces one text: the same as by the machine, but quick. `to` has room. Returns how many bytes it wrote. */
static size_t replace_all(const ctok_op *op, const uint8_t *p, size_t n, uint8_t *to) {
    const uint8_t *end = p + n;
    uint8_t *const begin = to;
    if (op == NULL) {
        if (n > 0) memcpy(to, p, n);
        return n;
    }
    while (p < end) {
        if (*p == op->find[0] && (size_t)(end - p) >= op->n_find && memcmp(p, op->find, op->n_find) == 0) {
            memcpy(to, op->put, op->n_put);
            to += op->n_put;
            p += op->n_find;
        } else {
            *to++ = *p++;
        }
    }
    return (size_t)(to - begin);
}

/* The ops that do something to tokens which are not the first: all, without a STRIP of the first at the front. */
static uint32_t later_ops(const ctok_chain *c) {
    return c->n_head > 0 && c->ops[0].kind == CTOK_OP_STRIP && c->ops[0].flag;
}

static int is_short_way(const ctok_view *view) {
    const ctok_chain *c = view->chain;
    const uint32_t from = later_ops(c);
    return !view->spelled && (c->n_head == from || (c->n_head == from + 1 && c->ops[from].kind == CTOK_OP_REPLACE));
}

/* The same for one token. */
static size_t text_of(const ctok_view *view, ctok_id id, const ctok_op *op, uint8_t *to) {
    const ctok_token t = view->source->by_id[id];
    const unsigned type = type_of(view, id);
    if (type == CTOK_PIECE_CONTROL) return 0;
    if (type == CTOK_PIECE_UNKNOWN) {
        if (view->pieces->n_surface > 0) memcpy(to, view->pieces->surface, view->pieces->n_surface);
        return view->pieces->n_surface;
    }
    return replace_all(type == CTOK_PIECE_BYTE ? NULL : op, view->source->bytes + t.begin, t.len, to);
}

static ctok_status fill_short_way(const ctok_view *view, ctok_token *by_id, ctok_bytes *bytes) {
    const uint32_t from = later_ops(view->chain);
    const ctok_op *op = view->chain->n_head > from ? &view->chain->ops[from] : NULL;
    const size_t surface = view->pieces != NULL ? view->pieces->n_surface : 0;
    for (uint32_t id = 0; id < view->source->n_ids; id++) {
        const ctok_token t = view->source->by_id[id];
        if (!(t.flags & CTOK_TOKEN_KNOWN)) continue;
        if (ctok_bytes_reserve(bytes, surface + (size_t)t.len * (1 + (op ? op->n_put : 0))) != CTOK_OK) return CTOK_ERR_MEMORY;
        uint8_t *to = bytes->at + bytes->n;
        size_t n = text_of(view, id, op, to);
        const uint32_t flags = settle_token(view, id, to, &n, t.flags);
        const ctok_status status = add_token(&by_id[id], bytes, n, flags);
        if (status != CTOK_OK) return status;
    }
    return CTOK_OK;
}

static ctok_status fill_tokens(const ctok_view *view, ctok_machine *m, ctok_token *by_id, ctok_bytes *bytes, ctok_text *spelled) {
    ctok_text *out = m->sink;
    for (uint32_t id = 0; id < view->source->n_ids; id++) {
        const ctok_token t = view->source->by_id[id];
        if (!(t.flags & CTOK_TOKEN_KNOWN)) continue;
        out->n = 0;
        if (through_head(view, m, id, 0, spelled) != CTOK_OK) return CTOK_ERR_MEMORY;
        ctok_machine_commit(m);
        size_t n = out->n;
        const uint32_t flags = settle_token(view, id, out->p, &n, t.flags);
        if (ctok_bytes_reserve(bytes, n) != CTOK_OK) return CTOK_ERR_MEMORY;
        if (n > 0) memcpy(bytes->at + bytes->n, out->p, n);
        const ctok_status status = add_token(&by_id[id], bytes, n, flags);
        if (status != CTOK_OK) return status;
    }
    return CTOK_OK;
}

/* The padding behind the last token, and no more room than is used. */
static ctok_status finish_bytes(ctok_bytes *bytes) {
    if (ctok_bytes_reserve(bytes, CTOK_VOCAB_PAD) != CTOK_OK) return CTOK_ERR_MEMORY;
    memset(bytes->at + bytes->n, 0, CTOK_VOCAB_PAD);
    bytes->n += CTOK_VOCAB_PAD;
    uint8_t *less = ctok_mem_resize(bytes->at, bytes->n, 1);
    if (less != NULL) {
        bytes->at = less;
        bytes->cap = bytes->n;
    }
    return CTOK_OK;
}

ctok_status ctok_view_fill(const ctok_view *view, ctok_token *by_id, ctok_bytes *bytes) {
    uint8_t first[512];
    ctok_text out, spelled;
    ctok_machine m;
    ctok_text_init(&out, first, sizeof first);
    ctok_text_init(&spelled, NULL, 0);
    memset(by_id, 0, view->source->n_ids * sizeof *by_id);
    ctok_status status = start_head(&m, view->chain, &out);
    if (status == CTOK_OK) status = ctok_bytes_reserve(bytes, view->source->n_bytes + CTOK_VOCAB_PAD);
    if (status == CTOK_OK)
        status = is_short_way(view) ? fill_short_way(view, by_id, bytes) : fill_tokens(view, &m, by_id, bytes, &spelled);
    if (status == CTOK_OK) status = finish_bytes(bytes);
    ctok_machine_free(&m);
    ctok_text_free(&out);
    ctok_text_free(&spelled);
    return status;
}
