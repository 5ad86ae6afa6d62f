/* ctok_stops.h - find the first of several stop strings in a text that arrives in pieces.
 *
 * An automaton over the stops' bytes (Aho and Corasick 1975), made complete: one look-up a byte, no way back. A state *is* the longest
 * end of the text so far that begins some stop, so the text that must be held back needs no copy: it stands in the stops.
 *
 * Which stop wins: the one that is complete first; of several that end at the same byte, the longest. So no text is needed behind a
 * stop to know it, and how the text is cut into pieces does not matter. Read-only after ctok_stops_init: any number of threads.
 */
#ifndef CTOK_STOPS_H
#define CTOK_STOPS_H

#include "ctok_base.h"

#define CTOK_STOPS_MAX_BYTES 65534 /* of all stops together */

typedef struct ctok_stops {
    uint16_t *next;        /* n_states rows of n_classes; state 0 = nothing held */
    uint16_t *depth;       /* bytes of text that a state stands for */
    uint16_t *hit;         /* bytes of the longest stop that ends here, 0 = none */
    uint16_t *fail;        /* the state of the next shorter end of the text */
    uint32_t *begin;       /* the text of a state is bytes[begin .. begin + depth) */
    uint8_t *bytes;        /* the stops one behind the other */
    uint32_t n_states;
    uint32_t n_classes;
    uint8_t class_of[256]; /* 0: in no stop */
} ctok_stops;

/* ctok_stops_init - build the automaton.
 *
 * bytes, ends, n   the stops one behind the other, none empty; their cumulative end offsets; how many. Copied.
 *
 * Returns CTOK_OK (given back with ctok_stops_free), CTOK_ERR_MEMORY, or CTOK_ERR_FORMAT: more than CTOK_STOPS_MAX_BYTES, an empty stop,
 * or more than 255 different bytes (UTF-8 has fewer). After an error s owns nothing.
 */
ctok_status ctok_stops_init(ctok_stops *s, const uint8_t *bytes, const uint32_t *ends, size_t n);

void ctok_stops_free(ctok_stops *s);

/* ctok_stops_scan - go on with n more bytes of text.
 *
 * state   in and out. hit  bytes of the stop that was found, 0 = none.
 * Returns the bytes looked at: n, or fewer when a stop ends behind them.
 */
static inline size_t ctok_stops_scan(const ctok_stops *s, uint32_t *state, const uint8_t *p, size_t n, size_t *hit) {
    uint32_t at = *state;
    size_t i = 0;
    *hit = 0;
    while (i < n) {
        at = s->next[(size_t)at * s->n_classes + s->class_of[p[i++]]];
        if (s->hit[at]) {
            *hit = s->hit[at];
            break;
        }
    }
    *state = at;
    return i;
}

#endif
