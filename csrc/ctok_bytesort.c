/* ctok_bytesort.c - see ctok_bytesort.h. */
#include "ctok_bytesort.h"

#include <string.h>

#include "ctok_le.h"

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

ctok_sortkey *ctok_sort_keys(ctok_sortkey *a, ctok_sortkey *b, uint32_t n, unsigned bits) {
    for (unsigned shift = 0; n && shift < bits; shift += DIGIT_BITS) {
        uint32_t count[DIGITS] = {0}, sum = 0;
        ctok_sortkey *from = a, *to = b;
        for (uint32_t i = 0; i < n; i++) count[from[i].key >> shift & (DIGITS - 1)]++;
        if (count[from[0].key >> shift & (DIGITS - 1)] == n) continue;
        for (uint32_t d = 0; d < DIGITS; d++) {
            const uint32_t c = count[d];
            count[d] = sum;
            sum += c;
        }
        for (uint32_t i = 0; i < n; i++) to[count[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
        a = to;
        b = from;
    }
    return a;
}

typedef struct sorter {
    const uint8_t *bytes;
    const uint8_t *strings;
    size_t stride;
} sorter;

static const ctok_bytestring *string_at(const sorter *s, uint32_t i) {
    return (const ctok_bytestring *)(const void *)(s->strings + i * s->stride);
}

int ctok_bytestring_order(const uint8_t *bytes, const ctok_bytestring *a, const ctok_bytestring *b) {
    const int c = memcmp(bytes + a->begin, bytes + b->begin, a->len < b->len ? a->len : b->len);
    return c ? c : (a->len > b->len) - (a->len < b->len);
}

static int order(const sorter *s, uint32_t x, uint32_t y) {
    return ctok_bytestring_order(s->bytes, string_at(s, x), string_at(s, y));
}

/* Stable merge sort by whole strings of keys that are equal; spare has room for as many. */
static void sort_by_string(const sorter *s, ctok_sortkey *a, ctok_sortkey *spare, uint32_t n) {
    for (uint32_t i = 1; n <= 8 && i < n; i++) {
        const ctok_sortkey r = a[i];
        uint32_t j = i;
        for (; j && order(s, a[j - 1].at, r.at) > 0; j--) a[j] = a[j - 1];
        a[j] = r;
    }
    if (n <= 8) return;
    const uint32_t half = n / 2;
    sort_by_string(s, a, spare, half);
    sort_by_string(s, a + half, spare, n - half);
    memcpy(spare, a, half * sizeof *a);
    uint32_t left = 0, right = half, out = 0;
    while (left < half && right < n) a[out++] = order(s, spare[left].at, a[right].at) <= 0 ? spare[left++] : a[right++];
    memcpy(a + out, spare + left, (half - left) * sizeof *a);
}

ctok_sortkey *ctok_bytesort(const uint8_t *bytes, const void *strings, size_t stride, uint32_t n, ctok_sortkey *a, ctok_sortkey *b) {
    const sorter s = {bytes, strings, stride};
    for (uint32_t i = 0; i < n; i++) {
        const ctok_bytestring *string = string_at(&s, i);
        a[i] = (ctok_sortkey){ctok_be64_prefix(bytes + string->begin, string->len), i};
    }
    ctok_sortkey *sorted = ctok_sort_keys(a, b, n, 64), *spare = sorted == a ? b : a;
    for (uint32_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && sorted[j].key == sorted[i].key;) j++;
        if (j - i > 1) sort_by_string(&s, sorted + i, spare, j - i);
    }
    return sorted;
}
