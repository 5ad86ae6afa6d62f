/* fuzz_chain.c - decoders and ids: streamed in pieces, with copies on the way and every call's allocations made to fail first, the same text
 * comes out as in one go, and each id once and in order.
 * links: chain machine decoder stops text utf8 vocab */
#include <stdlib.h>

#include "../csrc/ctok_decoder.h"

#define CTOK_TEST_ALLOC 1
#include "../csrc/ctok_mem.c" /* with the hook that makes allocations fail */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_IDS 64u
#define ROOM 65536u

static const char *const TOKENS[19] = {"", " ", " do not", "##a", ".", "<", "<0x41>", "<0xA0>", "<0xBD>", "<0xE4>", "a", "a</w>", "aab", "ab",
                                       "\xC2\xA9", "\xC3\x83", "\xE2\x96\x81", "\xE2\x96\x81" "a", "\xE4\xBD\xA0"};
static const char *const TEXTS[12] = {"a", "", "aa", "ab", "aba", " ", "\xE2\x96\x81", "##", "</w>", "\xC3\x83", "<0x41>", "."};
static const char *const CHARS[4] = {"a", " ", "\xE2\x96\x81", "\xE4\xBD\xA0"};

typedef struct output {
    uint8_t text[ROOM];
    size_t n;
    ctok_id ids[MOST_IDS];
    size_t n_ids;
} output;

static void check(int good) {
    if (!good) abort();
}

static void make_vocab(ctok_vocab *v) {
    uint8_t bytes[256];
    uint32_t ends[19], at = 0, bad = 0;
    ctok_id ids[19];
    for (uint32_t k = 0; k < 19; k++) {
        const size_t n = strlen(TOKENS[k]);
        memcpy(bytes + at, TOKENS[k], n);
        ends[k] = at += (uint32_t)n;
        ids[k] = k;
    }
    const uint8_t special[3] = "<s>";
    const uint32_t end = 3;
    const ctok_id id = 19;
    check(ctok_vocab_init(v, bytes, ends, ids, 19, special, &end, &id, 1, &bad) == CTOK_OK);
}

/* A text into the block of all texts. */
static uint32_t put(uint8_t *bytes, size_t *n, const char *text, uint32_t *length) {
    const uint32_t at = (uint32_t)*n;
    *length = (uint32_t)strlen(text);
    memcpy(bytes + *n, text, *length);
    *n += *length;
    return at;
}

static ctok_status upper(const void *rules, uint32_t number, const uint8_t *p, size_t n, ctok_text *out) {
    (void)rules;
    for (size_t i = 0; i < n; i++) {
        const uint8_t c = p[i] == 'a' ? (uint8_t)('A' + number) : p[i];
        if (ctok_text_append(out, &c, 1) != CTOK_OK) return CTOK_ERR_MEMORY;
    }
    return CTOK_OK;
}

static uint32_t read_ops(ctok_op_spec *specs, uint8_t *bytes, size_t *n_bytes, const uint8_t *data, size_t size, size_t *at) {
    uint32_t n = 0;
    while (n < 6 && *at + 4 < size && data[*at] < 240) {
        ctok_op_spec *s = &specs[n++];
        const uint8_t *d = data + *at;
        memset(s, 0, sizeof *s);
        *at += 4;
        s->kind = d[0] % (CTOK_OP_DROP + 1u);
        s->flag = d[0] >> 4 & 1;
        s->find = put(bytes, n_bytes, s->kind == CTOK_OP_STRIP ? CHARS[d[1] % 4] : TEXTS[d[1] % 12], &s->n_find);
        s->put = put(bytes, n_bytes, TEXTS[d[2] % 12], &s->n_put);
        s->left = d[3] & 3;
        s->right = d[3] >> 2 & 3;
        if (s->kind == CTOK_OP_RAW && n < 7) {
            specs[n] = *s;
            specs[n++].kind = CTOK_OP_LOSSY;
        }
    }
    *at += 1;
    return n;
}

static void take(output *out, ctok_decoder *d, const ctok_decoder_call *call) {
    check(out->n + call->out->n <= ROOM && out->n_ids + call->released <= MOST_IDS);
    if (call->out->n) memcpy(out->text + out->n, call->out->p, call->out->n);
    out->n += call->out->n;
    for (uint32_t i = 0; i < call->released; i++) out->ids[out->n_ids++] = ctok_decoder_queue(d)[i].id;
}

/* One call, after as many failing ones as there are allocations to fail. */
static void feed(ctok_decoder *d, const ctok_vocab *v, const ctok_view *view, const ctok_id *ids, size_t n, int final, output *out) {
    for (long fail = 0;; fail++) {
        ctok_text text;
        ctok_text_init(&text, NULL, 0);
        ctok_decoder_call call = {.view = view, .out = &text, .keep = 1};
        const ctok_decoder saved = *d;
        ctok_mem_fail_after(fail);
        const ctok_status status = ctok_decoder_feed(d, v, ids, n, final, &call);
        ctok_mem_fail_after(-1);
        check(status == CTOK_OK || status == CTOK_ERR_MEMORY);
        if (status == CTOK_OK) {
            take(out, d, &call);
            ctok_decoder_commit(d, &call, final);
        } else {
            ctok_decoder_rollback(d, &saved);
            if (d->start & CTOK_START_MACHINE) check(ctok_machine_check(&d->more->machine, d->n_open));
        }
        ctok_text_free(&text);
        if (status == CTOK_OK) return;
    }
}

static void copy(ctok_decoder *d) {
    for (long fail = 0;; fail++) {
        ctok_decoder twin = *d;
        ctok_mem_fail_after(fail);
        const ctok_status status = ctok_decoder_copy_heap(&twin, d);
        ctok_mem_fail_after(-1);
        if (status != CTOK_OK) continue;
        ctok_decoder_free(d);
        *d = twin;
        return;
    }
}

static void stream(const ctok_decoder *options, const ctok_vocab *v, const ctok_view *view, const ctok_id *ids, size_t n, uint8_t cut,
                   output *out) {
    ctok_decoder d = *options;
    check(ctok_decoder_set_chain(&d, view) == CTOK_OK);
    for (size_t i = 0; i <= n;) {
        const size_t most = 1u + cut % 3u, step = most > n - i ? n - i : most;
        feed(&d, v, view, ids + i, step, i == n, out);
        if (cut & 4) copy(&d);
        if (d.start & CTOK_START_MACHINE && i < n) check(ctok_machine_check(&d.more->machine, d.n_open));
        cut = (uint8_t)(cut * 5 + 77);
        i = i == n ? n + 1 : i + step;
    }
    ctok_decoder_free(&d);
}

static void compare(const ctok_view *view, const ctok_vocab *table, const uint8_t *data, size_t size, size_t at) {
    static output whole, pieces;
    ctok_id ids[MOST_IDS];
    size_t n = 0, bad_id = 0, bad_byte = 0;
    ctok_decoder options;
    ctok_text text;
    memset(&options, 0, sizeof options);
    options.policy = data[at] % 3;
    options.skip_special = data[at] >> 2 & 1;
    options.errors = data[at] >> 3 & 1 ? CTOK_ERRORS_IGNORE : CTOK_ERRORS_REPLACE;
    const uint8_t cut = data[at] >> 4;
    for (at++; at < size && n < MOST_IDS; at++) ids[n++] = data[at] % 20;
    ctok_text_init(&text, NULL, 0);
    check(ctok_decoder_whole(&options, table, view, ids, n, &text, NULL, &bad_id, &bad_byte) == CTOK_OK);
    check(text.n <= ROOM && ctok_utf8_validate(text.p, text.n, &bad_byte) == CTOK_OK);
    pieces.n = pieces.n_ids = whole.n = 0;
    stream(&options, table, view, ids, n, cut, &pieces);
    check(pieces.n == text.n && (text.n == 0 || memcmp(pieces.text, text.p, text.n) == 0));
    check(pieces.n_ids == n && memcmp(pieces.ids, ids, n * sizeof *ids) == 0);
    ctok_text_free(&text);
}

/* The vocabulary as a SentencePiece model's: byte pieces where a text says so, of the others all kinds. types has a place for each id. */
static ctok_piece_texts piece_texts(const ctok_vocab *v, uint8_t *types, int keeps_first) {
    static const uint8_t surface[] = " \xe2\x81\x87 ";
    for (uint32_t id = 0; id < v->n_ids; id++) {
        const ctok_token *t = &v->by_id[id];
        types[id] = ctok_byte_of(v->bytes + t->begin, t->len) >= 0 ? CTOK_PIECE_BYTE : (uint8_t)(1 + id % 5);
    }
    const ctok_piece_texts pieces = {types, surface, sizeof surface - 1, keeps_first};
    return pieces;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ctok_op_spec specs[8];
    uint8_t bytes[512];
    size_t n_bytes = 0, at = 0;
    ctok_chain chain;
    ctok_vocab v, table;
    ctok_bytes texts = {NULL, 0, 0};
    ctok_token by_id[20];
    const uint32_t n = read_ops(specs, bytes, &n_bytes, data, size, &at);
    if (at >= size) return 0;
    const ctok_status status = ctok_chain_init(&chain, specs, n, bytes, n_bytes);
    if (status == CTOK_ERR_FORMAT) return 0;
    check(status == CTOK_OK);
    chain.rewrite = upper;
    make_vocab(&v);
    uint8_t types[20];
    const ctok_piece_texts pieces = piece_texts(&v, types, data[at] & 1);
    const ctok_view view = {&chain, &v, data[at] & 0x40 ? &pieces : NULL, data[at] >> 7};
    check(ctok_view_fill(&view, by_id, &texts) == CTOK_OK);
    memset(&table, 0, sizeof table);
    table.n_ids = v.n_ids;
    table.by_id = by_id;
    table.bytes = texts.at;
    compare(&view, &table, data, size, at);
    ctok_bytes_free(&texts);
    ctok_vocab_free(&v);
    ctok_chain_free(&chain);
    return 0;
}
