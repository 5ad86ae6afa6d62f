/* fuzz_spm.c - any bytes as a SentencePiece model: refused, or tables in order from which the file is written again as it was.
 * links: mem bytesort spm */
#include "ctok_spm.h"

#include <stdlib.h>

#include "ctok_mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(int truth) {
    if (!truth) abort();
}

/* The document with pieces in the place of their numbers is the file. */
static void check_written(const ctok_spm *s, const ctok_spm_out *o, const uint8_t *data, size_t size) {
    ctok_bytes out = {0};
    size_t at = 0;
    uint32_t written = 0;
    while (at < s->document.n) {
        ctok_wire_field f;
        need(ctok_wire_next(s->document.at, s->document.n, &at, &f) == CTOK_WIRE_OK);
        if (f.number == CTOK_SPM_PIECE && f.type == CTOK_WIRE_VARINT) {
            need(ctok_spm_write(o, written, written + (uint32_t)(f.bits >> 1), f.bits & 1, &out) == CTOK_OK);
            written += (uint32_t)(f.bits >> 1);
            continue;
        }
        written += f.number == CTOK_SPM_PIECE;
        need(ctok_bytes_append(&out, s->document.at + f.begin, f.end - f.begin) == CTOK_OK);
    }
    need(written == s->n && out.n == size && (size == 0 || memcmp(out.at, data, size) == 0));
    ctok_bytes_free(&out);
}

static void check_tables(const ctok_spm *s, const uint8_t *data, size_t size) {
    const size_t n = s->n;
    uint8_t *room = ctok_mem_alloc(s->n_bytes + 13 * n + 1, 1);
    uint32_t *at = ctok_mem_alloc(n, sizeof *at);
    need(room != NULL && at != NULL);
    uint8_t *ends = room + s->n_bytes, *ids = ends + 4 * n, *scores = ids + 4 * n, *types = scores + 4 * n;
    ctok_spm_table(s, data, room, ends, ids, scores, types);
    ctok_spm_out o = {room, ends, ids, scores, types, s->n_bytes, s->n, at};
    need(ctok_spm_order(&o) == CTOK_OK);
    for (uint32_t id = 0; id < s->n; id++) {
        const ctok_bytestring text = s->pieces[id].text;
        need(ctok_spm_find(s, data, s->pieces[id].type, data + text.begin, text.len) == id);
    }
    check_written(s, &o, data, size);
    ctok_mem_free(room);
    ctok_mem_free(at);
}

/* Any bytes as a normalizer's table, the trie as long as there is room for. */
static void check_is_table(const uint8_t *data, size_t size) {
    const size_t n_units = size < 6 ? 0 : (size - 5) / 4;
    if (n_units == 0) return;
    uint8_t *table = malloc(size);
    need(table != NULL);
    memcpy(table, data, size);
    for (int i = 0; i < 4; i++) table[i] = (uint8_t)(4 * n_units >> 8 * i);
    ctok_spm_is_table(table, size);
    free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check_is_table(data, size);
    for (int k = 0; k < 4; k++) {
        ctok_spm s;
        ctok_spm_error error;
        const ctok_spm_rules rules = {k & 1, k & 1, k & 2, k & 1};
        ctok_status status = ctok_spm_read(&s, data, size, &error);
        if (status == CTOK_OK) status = ctok_spm_check(&s, data, &rules, &error);
        need(status == CTOK_OK || (status == CTOK_ERR_FORMAT && error.at <= size));
        if (status == CTOK_OK) check_tables(&s, data, size);
        ctok_spm_free(&s);
    }
    return 0;
}
