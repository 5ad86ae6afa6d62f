/* fuzz_pack.c - any bytes as a binary vocabulary, with header and checksum put right so that the layers behind them are reached: an error, or
 * a table that, written again, is read as the same table.
 * links: (none: the unit is included, for its checksum) */
#include "../csrc/ctok_pack.c"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *room(size_t n) {
    void *p = malloc(n ? n : 1);
    if (!p) abort();
    return p;
}

static void check_packed(const ctok_pack *p, const uint8_t *file) {
    const size_t column = 4 * (size_t)p->n_tokens;
    uint8_t *out[3] = {room(p->n_bytes), room(column), room(column)}, *again[3] = {room(p->n_bytes), room(column), room(column)};
    if (ctok_pack_read(p, file, out[0], out[1], out[2]) == CTOK_PACK_OK) {
        ctok_pack q;
        uint32_t bad;
        if (ctok_pack_plan(&q, p->version, CTOK_PACK_PACKED, out[0], p->n_bytes, out[1], out[2], p->n_tokens, 0, &bad) != CTOK_OK) abort();
        uint8_t *copy = room((size_t)q.size);
        ctok_pack_write(&q, out[0], out[1], out[2], NULL, copy);
        if (ctok_pack_open(&q, copy, (size_t)q.size) != CTOK_PACK_OK) abort();
        if (ctok_pack_read(&q, copy, again[0], again[1], again[2]) != CTOK_PACK_OK) abort();
        if (memcmp(out[0], again[0], p->n_bytes) || memcmp(out[1], again[1], column) || memcmp(out[2], again[2], column)) abort();
        free(copy);
    }
    for (int i = 0; i < 3; i++) {
        free(out[i]);
        free(again[i]);
    }
}

static void check_plain(const ctok_pack *p, size_t size) {
    const ctok_pack_plain parts = ctok_pack_parts(p);
    const size_t column = 4 * (size_t)p->n_tokens;
    if (parts.ends < CTOK_PACK_HEADER || parts.ends + column > parts.ids || parts.ids + column > parts.data) abort();
    if (parts.data + p->n_bytes != size) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ctok_pack p;
    if (ctok_pack_open(&p, data, size) == CTOK_PACK_OK && p.kind == CTOK_PACK_PACKED && p.n_bytes < 1u << 20) check_packed(&p, data);
    if (size < CTOK_PACK_HEADER) return 0;
    uint8_t *file = room(size);
    memcpy(file, data, size);
    memcpy(file, MAGIC, sizeof MAGIC);
    ctok_le32_put(file + 8, CTOK_PACK_FIRST + (file[8] & 1u));
    ctok_le64_put(file + 24, size);
    ctok_le64_put(file + 16, checksum(file + 24, size - 24));
    if (ctok_pack_open(&p, file, size) == CTOK_PACK_OK) {
        if (p.kind == CTOK_PACK_PLAIN) check_plain(&p, size);
        else if (p.n_bytes < 1u << 20) check_packed(&p, file);
    }
    free(file);
    return 0;
}
