/* ctok_tekken.h - the vocabulary of a tekken file: a JSON list of objects with a rank and a token in base64.
 *
 * Reads lists that are as they should be; of all others it says only that they are not. Who wants to know why looks again, slowly.
 */
#ifndef CTOK_TEKKEN_H
#define CTOK_TEKKEN_H

#include "ctok_base.h"
#include "ctok_texttable.h"

/* ctok_tekken_read - add the tokens of a list whose rank is below `wanted`.
 *
 * t       empty; on CTOK_OK it holds `wanted` different tokens with the ranks 0..wanted-1 as ids, and is indexed. Give it back with
 *         ctok_texttable_free in any case.
 * buf     n readable bytes: the list alone.
 *
 * Returns CTOK_OK, CTOK_ERR_MEMORY or CTOK_ERR_FORMAT.
 */
ctok_status ctok_tekken_read(ctok_texttable *t, const uint8_t *buf, size_t n, uint32_t wanted);

#endif
