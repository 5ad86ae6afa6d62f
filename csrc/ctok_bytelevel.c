#include "ctok_bytelevel.h"

#include <string.h>

#include "ctok_mem.h"

enum { FEW = 24 };

/* Tokens order[lo..hi) agree in their first `depth` bytes. */
typedef struct span {
    uint32_t lo, hi, depth;
} span;

typedef struct work {
    const uint8_t *bytes;  /* of all tokens, in the order of the input */
    const uint32_t *begin; /* one more than there are tokens */
    uint32_t *order, *spare;
    span *stack;
    size_t height;
} work;

/* The bytes that n bytes of text spell, or SIZE_MAX when some character spells none. */
static size_t spelled(const uint8_t *p, size_t n, uint8_t *to) {
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t c = p[i];
        if (c >= 0x80) {
            if (c < 0xC2 || c > 0xC5 || i + 1 >= n) return SIZE_MAX; /* U+0080..U+017F */
            c = (c & 0x1F) << 6 | (p[++i] & 0x3F);
        }
        const int b = ctok_bytelevel_byte(c);
        if (b < 0) return SIZE_MAX;
        to[m++] = (uint8_t)b;
    }
    return m;
}

/* Tokens that share their next byte stand side by side already, in groups that the other alphabet orders otherwise: put the groups
 * in order, and leave those of several tokens on the stack. The token that ends here stands first in either order. */
static void order_groups(work *w, span s) {
    uint32_t first[256], count[256] = {0}, at = s.lo;
    if (w->begin[w->order[at] + 1] - w->begin[w->order[at]] == s.depth) at++;
    for (uint32_t i = at; i < s.hi; i++) {
        const uint8_t b = w->bytes[w->begin[w->order[i]] + s.depth];
        if (count[b]++ == 0) first[b] = i;
    }
    memcpy(w->spare + at, w->order + at, (s.hi - at) * sizeof *w->spare);
    for (unsigned b = 0; b < 256; b++) {
        if (count[b] == 0) continue;
        memcpy(w->order + at, w->spare + first[b], count[b] * sizeof *w->order);
        if (count[b] > 1) w->stack[w->height++] = (span){at, at + count[b], s.depth + 1};
        at += count[b];
    }
}

static int stands_before(const work *w, uint32_t a, uint32_t b, uint32_t depth) {
    const uint32_t na = w->begin[a + 1] - w->begin[a], nb = w->begin[b + 1] - w->begin[b];
    const int c = memcmp(w->bytes + w->begin[a] + depth, w->bytes + w->begin[b] + depth, (na < nb ? na : nb) - depth);
    return c < 0 || (c == 0 && na < nb);
}

static void order_few(work *w, span s) {
    for (uint32_t i = s.lo + 1; i < s.hi; i++) {
        const uint32_t one = w->order[i];
        uint32_t j = i;
        for (; j > s.lo && stands_before(w, one, w->order[j - 1], s.depth); j--) w->order[j] = w->order[j - 1];
        w->order[j] = one;
    }
}

static void sort(work *w, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) w->order[i] = i;
    w->stack[w->height++] = (span){0, n, 0};
    while (w->height) {
        const span s = w->stack[--w->height];
        if (s.hi - s.lo <= FEW) order_few(w, s);
        else order_groups(w, s);
    }
}

/* Does token q of m bytes stand before token p of n bytes? */
static int ascends(const uint8_t *q, size_t m, const uint8_t *p, size_t n) {
    const int order = memcmp(q, p, m < n ? m : n);
    return order < 0 || (order == 0 && m < n);
}

/* Spell all tokens that can be spelled. `kept` receives which ones they are; from its end on, backwards, which ones are not. */
static ctok_status spell_all(const uint8_t *data, const uint32_t *ends, uint32_t n, uint8_t *bytes, uint32_t *begin, uint32_t *kept,
                             uint32_t *n_kept) {
    uint32_t from = 0, last = 0, m = 0;
    begin[0] = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (ends[k] < from || (k && !ascends(data + last, from - last, data + from, ends[k] - from))) return CTOK_ERR_FORMAT;
        const size_t size = spelled(data + from, ends[k] - from, bytes + begin[m]);
        last = from;
        from = ends[k];
        if (size == SIZE_MAX) {
            kept[n - 1 - (k - m)] = k;
            continue;
        }
        begin[m + 1] = begin[m] + (uint32_t)size;
        kept[m++] = k;
    }
    *n_kept = m;
    return CTOK_OK;
}

ctok_status ctok_bytelevel_table(const uint8_t *data, const uint32_t *ends, const ctok_id *ids, uint32_t n, uint8_t *to_data,
                                 uint32_t *to_ends, ctok_id *to_ids, uint32_t *to_n) {
    const size_t total = n ? ends[n - 1] : 0;
    uint8_t *bytes = ctok_mem_alloc(total + 1, 1);
    uint32_t *numbers = ctok_mem_alloc((size_t)n + 1, 4 * sizeof *numbers);
    span *stack = ctok_mem_alloc((size_t)n + 1, sizeof *stack); /* disjoint groups */
    ctok_status status = bytes == NULL || numbers == NULL || stack == NULL ? CTOK_ERR_MEMORY : CTOK_OK;
    if (status == CTOK_OK) {
        uint32_t *begin = numbers, *kept = begin + n + 1, *order = kept + n, *spare = order + n, at = 0;
        status = spell_all(data, ends, n, bytes, begin, kept, to_n);
        if (status == CTOK_OK) {
            work w = {bytes, begin, order, spare, stack, 0};
            sort(&w, *to_n);
            for (uint32_t i = 0; i < *to_n; i++) {
                const uint32_t k = order[i], size = begin[k + 1] - begin[k];
                memcpy(to_data + at, bytes + begin[k], size);
                to_ends[i] = at += size;
                to_ids[i] = ids[kept[k]];
            }
            for (uint32_t i = *to_n; i < n; i++) to_ids[i] = kept[n - 1 - (i - *to_n)];
        }
    }
    ctok_mem_free(bytes);
    ctok_mem_free(numbers);
    ctok_mem_free(stack);
    return status;
}
