/* ctok_borders.h - places where a split rule cuts whatever stands around: what lets several threads share one text.
 *
 * For some pairs of ASCII characters (a line end and a letter, say) the machine of a rule tells that a pretoken stops between the two in every text.
 */
#ifndef CTOK_BORDERS_H
#define CTOK_BORDERS_H

#include "ctok_dfa.h"

/* Bit b of after[a]: between a and b is always a border. */
typedef struct ctok_borders {
    uint64_t after[128][2];
} ctok_borders;

/* ctok_borders_find - read them off a machine. Cost: states * classes^2, some 100 us. */
void ctok_borders_find(const ctok_dfa *d, ctok_borders *b);

/* ctok_borders_last - the last such place p in the text, 0 < p < n; 0 when there is none. */
size_t ctok_borders_last(const ctok_borders *b, const uint8_t *buf, size_t n);

#endif
