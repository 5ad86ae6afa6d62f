#include "ctok_text.h"

#include <string.h>

#include "ctok_mem.h"

void ctok_text_free(ctok_text *t) {
    if (t->owned) ctok_mem_free(t->p);
    ctok_text_init(t, NULL, 0);
}

ctok_status ctok_text_grow(ctok_text *t, size_t more) {
    if (more > PTRDIFF_MAX / 2 - t->n - CTOK_TEXT_SPARE) return CTOK_ERR_MEMORY;
    size_t cap = t->n + more + CTOK_TEXT_SPARE;
    if (cap < t->cap + t->cap / 2) cap = t->cap + t->cap / 2;
    uint8_t *p = t->owned ? ctok_mem_resize(t->p, cap, 1) : ctok_mem_alloc(cap, 1);
    if (p == NULL) return CTOK_ERR_MEMORY;
    if (!t->owned && t->n > 0) memcpy(p, t->p, t->n);
    t->p = p;
    t->cap = cap;
    t->owned = 1;
    return CTOK_OK;
}

ctok_status ctok_text_append(ctok_text *t, const uint8_t *p, size_t n) {
    const ctok_status status = ctok_text_reserve(t, n);
    if (status == CTOK_OK && n > 0) {
        memcpy(t->p + t->n, p, n);
        t->n += n;
    }
    return status;
}

/* U+FFFD as often as asked; there are never more than 3 for one subpart. */
static ctok_status append_replacements(ctok_text *t, size_t times) {
    static const uint8_t three[9] = {0xEF, 0xBF, 0xBD, 0xEF, 0xBF, 0xBD, 0xEF, 0xBF, 0xBD};
    return ctok_text_append(t, three, 3 * times);
}

ctok_status ctok_text_mend(ctok_text *t, const uint8_t *p, size_t n, ctok_on_error errors, int per_byte, size_t *bad) {
    const size_t before = t->n;
    size_t i = 0;
    ctok_status status = CTOK_OK;
    while (status == CTOK_OK) {
        size_t good = 0;
        const int all = ctok_utf8_validate(p + i, n - i, &good) == CTOK_OK;
        if (all) good = n - i;
        status = ctok_text_append(t, p + i, good);
        i += good;
        if (all || status != CTOK_OK) break;
        uint32_t c;
        const size_t part = ctok_utf8_step(p + i, n - i, &c);
        if (errors == CTOK_ERRORS_STRICT) {
            *bad = i;
            status = CTOK_ERR_UTF8;
        } else if (errors == CTOK_ERRORS_REPLACE) {
            status = append_replacements(t, per_byte ? part : 1);
        }
        i += part;
    }
    if (status != CTOK_OK) t->n = before;
    return status;
}
