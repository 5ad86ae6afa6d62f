/* fuzz_rankfile.c - any bytes as a .tiktoken file: an error with a line that exists, or a table in strictly ascending order.
 * links: mem bytesort rankfile */
#include "ctok_rankfile.h"

#include <stdlib.h>
#include <string.h>

#include "ctok_le.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_table(const ctok_rankfile *f) {
    uint8_t *bytes = malloc(f->n_bytes ? f->n_bytes : 1), *ends = malloc(4 * (size_t)f->n), *ids = malloc(4 * (size_t)f->n);
    size_t begin = 0, last = 0;
    if (!bytes || !ends || !ids) abort();
    ctok_rankfile_table(f, bytes, ends, ids);
    for (size_t k = 0; k < f->n; k++) {
        const size_t end = ctok_le32_get(ends + 4 * k), n = end - begin;
        const int order = memcmp(bytes + begin - last, bytes + begin, last < n ? last : n);
        if (end < begin || end > f->n_bytes || ctok_le32_get(ids + 4 * k) > CTOK_RANK_MAX) abort();
        if (k && (order > 0 || (order == 0 && last >= n))) abort();
        last = n;
        begin = end;
    }
    if (begin != f->n_bytes) abort();
    free(bytes);
    free(ends);
    free(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ctok_rankfile f;
    ctok_rank_error error;
    const ctok_status status = ctok_rankfile_read(&f, data, size, &error);
    if (status == CTOK_OK) {
        check_table(&f);
        ctok_rankfile_free(&f);
        return 0;
    }
    size_t lines = 1;
    for (size_t i = 0; i < size; i++) lines += data[i] == '\n';
    if (status != CTOK_ERR_FORMAT || error.fault == CTOK_RANK_OK || error.line > lines || f.bytes || f.lines || f.order) abort();
    return 0;
}
