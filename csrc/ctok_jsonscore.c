/* ctok_jsonscore.c - numbers of JSON to doubles in the arithmetic of the reference's reader; see ctok_jsonvocab.h.
 *
 * That reader gathers up to 19 or 20 digits in an integer, drops the rest, and multiplies or divides once by a power of ten (more often only
 * beyond 1e308). So it rounds up to three times where the nearest double needs one; ids must come out as its do.
 */
#include <math.h>

#include "ctok_jsonvocab.h"

#define ROW(h) 1e##h##0, 1e##h##1, 1e##h##2, 1e##h##3, 1e##h##4, 1e##h##5, 1e##h##6, 1e##h##7, 1e##h##8, 1e##h##9
static const double TENS[309] = {
    1e0,     1e1,     1e2,     1e3,     1e4,     1e5,     1e6,     1e7,     1e8,     1e9,     ROW(1),  ROW(2),  ROW(3),
    ROW(4),  ROW(5),  ROW(6),  ROW(7),  ROW(8),  ROW(9),  ROW(10), ROW(11), ROW(12), ROW(13), ROW(14), ROW(15), ROW(16),
    ROW(17), ROW(18), ROW(19), ROW(20), ROW(21), ROW(22), ROW(23), ROW(24), ROW(25), ROW(26), ROW(27), ROW(28), ROW(29),
    1e300,   1e301,   1e302,   1e303,   1e304,   1e305,   1e306,   1e307,   1e308,
};

typedef struct digits {
    uint64_t significand;
    int64_t exponent; /* of ten, for what was dropped or stands behind the point */
    int full;         /* digits were dropped */
} digits;

/* Digits up to something else, before or behind the point. `step` is what a digit that fits adds to the exponent, `drop` what one that does not fit adds. */
static const uint8_t *gather(digits *d, const uint8_t *p, const uint8_t *end, int step, int drop) {
    int full = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        const uint64_t digit = (uint64_t)(*p - '0');
        full = full || d->significand > (UINT64_MAX - digit) / 10;
        d->full |= full;
        if (full) {
            d->exponent += drop;
        } else {
            d->significand = d->significand * 10 + digit;
            d->exponent += step;
        }
    }
    return p;
}

static const uint8_t *gather_exponent(const uint8_t *p, const uint8_t *end, int64_t *exponent) {
    int64_t x = 0;
    const int negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        if (x < INT32_MAX) x = x * 10 + (*p - '0');
    }
    *exponent += negative ? -x : x;
    return p;
}

static double scaled(uint64_t significand, int64_t exponent) {
    double f = (double)significand;
    while (exponent < -308 && f != 0) {
        f /= 1e308;
        exponent += 308;
    }
    if (f == 0) return f;
    if (exponent > 308) return HUGE_VAL;
    return exponent < 0 ? f / TENS[-exponent] : f * TENS[exponent];
}

double ctok_json_score(const uint8_t *p, const uint8_t *end, int *exact) {
    digits d = {0};
    const int negative = p < end && *p == '-';
    p = gather(&d, p + negative, end, 0, 1);
    if (p < end && *p == '.') p = gather(&d, p + 1, end, -1, 0);
    if (p < end && (*p == 'e' || *p == 'E')) gather_exponent(p + 1, end, &d.exponent);
    const double f = scaled(d.significand, d.exponent);
    const int few = d.significand <= UINT64_C(1) << 53 && d.exponent >= -22 && d.exponent <= 22;
    *exact = !d.full && (few || d.exponent == 0 || d.significand == 0);
    return negative ? -f : f;
}
