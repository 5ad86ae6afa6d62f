#include "ctok_bytelevel.h"

#include <string.h>

#include "ctok_le.h"
#include "ctok_mem.h"

enum { FEW = 24 };

/* Tokens order[lo..hi) agree in their first `depth` bytes. */
typedef struct span {
    uint32_t lo, hi, depth;
} span;

typedef struct work {
    uint64_t *heads;  /* the first eight bytes of each token that is kept */
    span *stack;      /* as many as there can be disjoint groups */
    uint32_t *begin;  /* one more than there are tokens */
    uint32_t *kept;   /* their numbers in the input; from the end on, backwards, of those that are not */
    uint32_t *order, *spare;
    uint8_t *bytes;   /* of all tokens, in the order of the input */
    size_t height;
    int16_t spells[CTOK_BYTELEVEL_CHARS]; /* the byte that a character spells, or -1 */
} work;

/* The bytes that n bytes of text spell, or SIZE_MAX when some character spells none. */
static size_t spelled(const work *w, const uint8_t *p, size_t n, uint8_t *to) {
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t c = p[i];
        if (c >= 0x80) {
            if (c < 0xC2 || c > 0xC5 || i + 1 >= n) return SIZE_MAX; /* U+0080..U+017F */
            c = (c & 0x1F) << 6 | (p[++i] & 0x3F);
            if (c >= CTOK_BYTELEVEL_CHARS) return SIZE_MAX;
        }
        if (w->spells[c] < 0) return SIZE_MAX;
        to[m++] = (uint8_t)w->spells[c];
    }
    return m;
}

/* Tokens that share their next byte stand side by side already, in groups that the other alphabet orders otherwise: put the groups
 * in order, and leave those of several tokens on the stack. The token that ends here stands first in either order. */
static void order_groups(work *w, span s) {
    uint32_t first[256], count[256] = {0}, at = s.lo;
    uint64_t there[4] = {0};
    if (w->begin[w->order[at] + 1] - w->begin[w->order[at]] == s.depth) at++;
    for (uint32_t i = at; i < s.hi; i++) {
        const uint32_t k = w->order[i];
        const uint8_t b = s.depth < 8 ? (uint8_t)(w->heads[k] >> (56 - 8 * s.depth)) : w->bytes[w->begin[k] + s.depth];
        if (count[b]++ == 0) first[b] = i;
        there[b >> 6] |= UINT64_C(1) << (b & 63);
    }
    memcpy(w->spare + at, w->order + at, (s.hi - at) * sizeof *w->spare);
    for (unsigned i = 0; i < 4; i++) {
        for (uint64_t left = there[i]; left; left &= left - 1) {
            const unsigned b = 64 * i + ctok_lowest_bit(left);
            memcpy(w->order + at, w->spare + first[b], count[b] * sizeof *w->order);
            if (count[b] > 1) w->stack[w->height++] = (span){at, at + count[b], s.depth + 1};
            at += count[b];
        }
    }
}

static int stands_before(const work *w, uint32_t a, uint32_t b) {
    if (w->heads[a] != w->heads[b]) return w->heads[a] < w->heads[b];
    const uint32_t na = w->begin[a + 1] - w->begin[a], nb = w->begin[b + 1] - w->begin[b];
    const int c = memcmp(w->bytes + w->begin[a], w->bytes + w->begin[b], na < nb ? na : nb);
    return c < 0 || (c == 0 && na < nb);
}

static void order_few(work *w, span s) {
    for (uint32_t i = s.lo + 1; i < s.hi; i++) {
        const uint32_t one = w->order[i];
        uint32_t j = i;
        for (; j > s.lo && stands_before(w, one, w->order[j - 1]); j--) w->order[j] = w->order[j - 1];
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

/* Spell all tokens that can be spelled. */
static ctok_status spell_all(work *w, const uint8_t *data, const uint32_t *ends, uint32_t n, uint32_t *n_kept) {
    const uint32_t total = ends[n - 1];
    uint32_t from = 0, last = 0, m = 0;
    uint64_t before = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (ends[k] < from || ends[k] > total) return CTOK_ERR_FORMAT;
        const uint64_t head = ctok_be64_prefix(data + from, ends[k] - from);
        if (k && head <= before && (head < before || !ascends(data + last, from - last, data + from, ends[k] - from))) return CTOK_ERR_FORMAT;
        const size_t size = spelled(w, data + from, ends[k] - from, w->bytes + w->begin[m]);
        before = head;
        last = from;
        from = ends[k];
        if (size == SIZE_MAX) {
            w->kept[n - 1 - (k - m)] = k;
            continue;
        }
        w->heads[m] = ctok_be64_prefix(w->bytes + w->begin[m], size);
        w->begin[m + 1] = w->begin[m] + (uint32_t)size;
        w->kept[m++] = k;
    }
    *n_kept = m;
    return CTOK_OK;
}

/* Everything in one block, what needs the widest places first. */
static uint8_t *take_room(work *w, uint32_t n, size_t total, size_t *size) {
    const size_t each = sizeof *w->heads + sizeof *w->stack + 4 * sizeof *w->order;
    *size = ((size_t)n + 1) * each + total;
    uint8_t *room = ctok_mem_block(*size);
    if (room == NULL) return NULL;
    w->heads = (void *)room;
    w->stack = (void *)(w->heads + n + 1);
    w->begin = (void *)(w->stack + n + 1);
    w->kept = w->begin + n + 1;
    w->order = w->kept + n + 1;
    w->spare = w->order + n + 1;
    w->bytes = (void *)(w->spare + n + 1);
    return room;
}

ctok_status ctok_bytelevel_table(const uint8_t *data, const uint32_t *ends, const ctok_id *ids, uint32_t n, uint8_t *to_data,
                                 uint32_t *to_ends, ctok_id *to_ids, uint32_t *to_n) {
    work w = {0};
    size_t size;
    uint32_t at = 0;
    *to_n = 0;
    if (n == 0) return CTOK_OK;
    uint8_t *room = take_room(&w, n, ends[n - 1], &size);
    if (room == NULL) return CTOK_ERR_MEMORY;
    for (uint32_t c = 0; c < CTOK_BYTELEVEL_CHARS; c++) w.spells[c] = (int16_t)ctok_bytelevel_byte(c);
    const ctok_status status = spell_all(&w, data, ends, n, to_n);
    if (status == CTOK_OK) {
        sort(&w, *to_n);
        for (uint32_t i = 0; i < *to_n; i++) {
            const uint32_t k = w.order[i], length = w.begin[k + 1] - w.begin[k];
            memcpy(to_data + at, w.bytes + w.begin[k], length);
            to_ends[i] = at += length;
            to_ids[i] = ids[w.kept[k]];
        }
        for (uint32_t i = *to_n; i < n; i++) to_ids[i] = w.kept[n - 1 - (i - *to_n)];
    }
    ctok_mem_unblock(room, size);
    return status;
}
