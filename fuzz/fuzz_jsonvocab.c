/* fuzz_jsonvocab.c - any bytes as a tokenizer.json, and as a vocab.json: an error at a place that exists, or a table in byte order whose merges name
 * entries that exist.
 * links: mem bytesort json jsonscore jsonvocab mergeids texttable utf8 */
#include "ctok_jsonvocab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ctok_le.h"
#include "ctok_mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_table(const ctok_texttable *t) {
    const size_t n_bytes = ctok_texttable_size(t);
    uint8_t *bytes = malloc(n_bytes + 1), *ends = malloc(4 * (size_t)t->n + 1), *ids = malloc(4 * (size_t)t->n + 1);
    size_t begin = 0, last = 0;
    if (!bytes || !ends || !ids || ctok_texttable_write(t, bytes, ends, ids) != CTOK_OK) abort();
    for (size_t k = 0; k < t->n; k++) {
        const size_t end = ctok_le32_get(ends + 4 * k), n = end - begin;
        const int order = k ? memcmp(bytes + begin - last, bytes + begin, last < n ? last : n) : -1;
        if (end < begin || end > n_bytes || order > 0 || (order == 0 && last > n)) abort();
        last = n;
        begin = end;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        const ctok_text_entry *e = &t->entries[i];
        const uint8_t *p = t->bytes + e->text.begin;
        const ctok_text_key key = ctok_text_key_of(p, e->text.len, e->text.len);
        const uint32_t found = ctok_texttable_find(t, p, e->text.len, &key);
        if (found == CTOK_TEXT_NONE || found < i) abort(); /* of equal texts the last one */
    }
    free(bytes);
    free(ends);
    free(ids);
}

static void check_merges(ctok_jsonvocab *f, size_t prefix) {
    ctok_mergeids *m = &f->merges;
    const ctok_status status = ctok_mergeids_check(m, &f->table, prefix);
    const uint32_t n = m->n;
    if (status == CTOK_ERR_MEMORY || (status == CTOK_ERR_FORMAT && m->bad >= m->n)) abort();
    for (size_t i = 0; i < 2 * (size_t)m->n; i++) {
        if (m->pairs[i] >= f->table.n) abort();
    }
    if (status != CTOK_OK) return;
    const ctok_mergeids_given given = ctok_mergeids_give(m, &f->table);
    for (uint32_t i = 0; i < n; i++) {
        if (ctok_le32_get(given.pairs + 8 * (size_t)i) > INT32_MAX || ctok_le32_get(given.joined + 4 * (size_t)i) > INT32_MAX) abort();
    }
    ctok_mem_unblock(given.pairs, given.n_pairs);
    ctok_mem_unblock(given.joined, given.n_joined);
}

static void read_as(const uint8_t *data, size_t size, int bare) {
    ctok_jsonvocab f;
    ctok_jv_error error;
    const ctok_status status = ctok_jsonvocab_read(&f, data, size, bare, &error);
    if (status == CTOK_OK) {
        for (uint32_t i = 0; f.vocab_kind == CTOK_JV_PIECES && i < f.table.n; i++) {
            if (!isfinite(f.scores[i]) || f.score_at[i] >= size) abort();
        }
        if (f.vocab.end > size || f.merges_span.end > size || f.vocab.begin > f.vocab.end || f.merges_span.begin > f.merges_span.end) abort();
        if (f.table.slots) check_table(&f.table);
        check_merges(&f, size % 4);
        ctok_jsonvocab_free(&f);
        return;
    }
    if (status != CTOK_ERR_FORMAT || error.fault == 0 || error.where > size || f.table.bytes || f.merges.pairs) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ctok_json j;
    read_as(data, size, 0);
    read_as(data, size, 1);
    ctok_json_init(&j, data, size);
    if (ctok_json_skip(&j) != (j.fault == CTOK_JSON_OK)) abort();
    return 0;
}
