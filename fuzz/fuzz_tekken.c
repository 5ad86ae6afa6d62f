/* fuzz_tekken.c - any bytes as the vocabulary of a tekken file: refused, or as many different tokens as were asked for.
 * links: mem bytesort json tekken texttable utf8 */
#include "ctok_tekken.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (uint32_t wanted = 0; wanted < 4; wanted++) {
        ctok_texttable t;
        const ctok_status status = ctok_tekken_read(&t, data, size, wanted);
        if (status == CTOK_ERR_MEMORY) abort();
        if (status == CTOK_OK) {
            uint32_t ids = 0;
            for (uint32_t i = 0; i < t.n; i++) ids |= 1u << t.entries[i].id;
            if (t.n != wanted || ids != (1u << wanted) - 1) abort();
        }
        ctok_texttable_free(&t);
    }
    return 0;
}
