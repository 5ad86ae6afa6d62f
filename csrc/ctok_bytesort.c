/* ctok_bytesort.c - see ctok_bytesort.h. */
#include "ctok_bytesort.h"

#include <string.h>

#include "ctok_le.h"

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)
#define PASSES 6 /* of DIGIT_BITS in 64 bits */

ctok_sortkey *ctok_sort_keys(ctok_sortkey *a, ctok_sortkey *b, uint32_t n, unsigned bits) {
    const unsigned passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
    uint32_t counts[PASSES][DIGITS];
    memset(counts, 0, passes * sizeof *counts);
    for (uint32_t i = 0; i < n; i++) { /* how often each digit is there: what a pass moves does not change it */
        for (unsigned pass = 0; pass < passes; pass++) counts[pass][a[i].key >> (pass * DIGIT_BITS) & (DIGITS - 1)]++;
    }
    for (unsigned pass = 0; n && pass < passes; pass++) {
        const unsigned shift = pass * DIGIT_BITS;
        uint32_t *count = counts[pass], sum = 0;
        ctok_sortkey *from = a, *to = b;
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

/* Strings whose first eight bytes are equal, by the next eight in their keys, then by all. */
static inline int comes_later(const sorter *s, const ctok_sortkey *x, const ctok_sortkey *y) {
    if (x->key != y->key) return x->key > y->key;
    return ctok_bytestring_order(s->bytes, string_at(s, x->at), string_at(s, y->at)) > 0;
}

/* Stable merge sort; spare has room for as many. */
static void merge_sort(const sorter *s, ctok_sortkey *a, ctok_sortkey *spare, uint32_t n) {
    for (uint32_t i = 1; n <= 8 && i < n; i++) {
        const ctok_sortkey r = a[i];
        uint32_t j = i;
        for (; j && comes_later(s, &a[j - 1], &r); j--) a[j] = a[j - 1];
        a[j] = r;
    }
    if (n <= 8) return;
    const uint32_t half = n / 2;
    merge_sort(s, a, spare, half);
    merge_sort(s, a + half, spare, n - half);
    memcpy(spare, a, half * sizeof *a);
    uint32_t left = 0, right = half, out = 0;
    while (left < half && right < n) a[out++] = comes_later(s, &spare[left], &a[right]) ? a[right++] : spare[left++];
    memcpy(a + out, spare + left, (half - left) * sizeof *a);
}

/* Sort keys of strings whose first eight bytes are equal; `second` are the next eight of each string. */
static void sort_ties(const sorter *s, const uint64_t *second, ctok_sortkey *a, ctok_sortkey *spare, uint32_t n) {
    const uint64_t key = a[0].key;
    for (uint32_t i = 0; i < n; i++) a[i].key = second[a[i].at];
    merge_sort(s, a, spare, n);
    for (uint32_t i = 0; i < n; i++) a[i].key = key;
}

/* Eight bytes of each string from byte `from` on, as numbers `step` bytes apart. */
static void set_numbers(const sorter *s, uint32_t n, uint32_t from, void *to, size_t step) {
    size_t end = 0; /* up to here the bytes of all strings may be read */
    for (uint32_t i = 0; i < n; i++) {
        const size_t last = (size_t)string_at(s, i)->begin + string_at(s, i)->len;
        if (last > end) end = last;
    }
    for (uint32_t i = 0; i < n; i++) {
        const ctok_bytestring *string = string_at(s, i);
        const size_t begin = (size_t)string->begin + from, len = string->len > from ? string->len - from : 0;
        uint64_t number = 0;
        if (CTOK_LIKELY(begin + 8 <= end)) number = ctok_be64_roomy(s->bytes + begin, len);
        else if (len) number = ctok_be64_prefix(s->bytes + begin, len);
        memcpy((uint8_t *)to + i * step, &number, sizeof number);
    }
}

ctok_sortkey *ctok_bytesort(const uint8_t *bytes, const void *strings, size_t stride, uint32_t n, ctok_sortkey *a, ctok_sortkey *b) {
    enum { AHEAD = 32 };
    const sorter s = {bytes, strings, stride};
    set_numbers(&s, n, 0, &a->key, sizeof *a);
    for (uint32_t i = 0; i < n; i++) a[i].at = i;
    ctok_sortkey *sorted = ctok_sort_keys(a, b, n, 64), *spare = sorted == a ? b : a;
    uint64_t *second = (uint64_t *)(void *)(spare + n / 2); /* merging needs only half of the spare room */
    set_numbers(&s, n, 8, second, sizeof *second);
    for (uint32_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && sorted[j].key == sorted[i].key; j++) CTOK_PREFETCH(&second[sorted[j + AHEAD < n ? j + AHEAD : j].at]);
        if (j - i > 1) sort_ties(&s, second, sorted + i, spare, j - i);
    }
    return sorted;
}
