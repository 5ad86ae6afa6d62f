/* ctok_charsmap_build.h - the double array of a charsmap, made from rules.
 *
 * Equal ends of keys are stored once: first the keys become the smallest automaton that knows them, then its states are laid out.
 */
#ifndef CTOK_CHARSMAP_BUILD_H
#define CTOK_CHARSMAP_BUILD_H

#include "ctok_base.h"
#include "ctok_mem.h"

#define CTOK_CHARSMAP_KEY 1024u                 /* bytes of the longest key, and one more */
#define CTOK_CHARSMAP_UNITS ((uint32_t)1 << 21) /* more are never needed: their places must fit */

/* ctok_charsmap_build - the units for n >= 1 keys, in the layout of ctok_charsmap.h.
 *
 * keys, ends   one behind the other, in ascending byte order, different; each has 1 to CTOK_CHARSMAP_KEY - 1 bytes, none of them zero.
 * values       below 2^31.
 * *units       a new block of *n_units, a multiple of 256, to be given back with ctok_mem_free.
 *
 * CTOK_ERR_FORMAT: not such keys or values, or too many. Cost: linear in the bytes in practice, about 100 ns a byte.
 */
ctok_status ctok_charsmap_build(const uint8_t *keys, const uint32_t *ends, const uint32_t *values, size_t n, uint32_t **units, uint32_t *n_units);

#endif
