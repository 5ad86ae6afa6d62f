/* ctok_quotient.h - quotients n / (a * b) of whole numbers, ordered without rounding. */
#ifndef CTOK_QUOTIENT_H
#define CTOK_QUOTIENT_H

#include "ctok_base.h"

/* Nothing is 0. */
typedef struct ctok_quotient {
    uint64_t n, a, b;
} ctok_quotient;

/* low + 2^64 * high = x * y + carry. */
static inline uint64_t ctok_times(uint64_t x, uint64_t y, uint64_t carry, uint64_t *high) {
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    const wide product = (wide)x * y + carry;
    *high = (uint64_t)(product >> 64);
    return (uint64_t)product;
#else
    const uint64_t x0 = x & UINT32_MAX, x1 = x >> 32, y0 = y & UINT32_MAX, y1 = y >> 32;
    const uint64_t p0 = x0 * y0 + (carry & UINT32_MAX), p1 = x1 * y0 + (p0 >> 32) + (carry >> 32), p2 = x0 * y1 + (p1 & UINT32_MAX);
    *high = x1 * y1 + (p1 >> 32) + (p2 >> 32);
    return p2 << 32 | (p0 & UINT32_MAX);
#endif
}

/* The 192 bits of x * y * z, the lowest first. */
static inline void ctok_times_twice(uint64_t x, uint64_t y, uint64_t z, uint64_t out[3]) {
    uint64_t high, carry;
    const uint64_t low = ctok_times(x, y, 0, &high);
    out[0] = ctok_times(low, z, 0, &carry);
    out[1] = ctok_times(high, z, carry, &out[2]);
}

/* ctok_quotient_value - about the quotient: at most 2^-50 of it away. */
static inline double ctok_quotient_value(ctok_quotient q) { return (double)q.n / ((double)q.a * (double)q.b); }

/* ctok_quotient_order - less than 0, 0 or more than 0, as p is less than, equal to or more than q. */
static inline int ctok_quotient_order(ctok_quotient p, ctok_quotient q) {
    uint64_t left[3], right[3];
    ctok_times_twice(p.n, q.a, q.b, left);
    ctok_times_twice(q.n, p.a, p.b, right);
    for (unsigned i = 3; i-- > 0;)
        if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
    return 0;
}

#endif
