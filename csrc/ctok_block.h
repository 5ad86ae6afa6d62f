/* ctok_block.h - what a scanner of pretokens hands out, a block at a time.
 *
 * The one shape of all scanners: hand-written ones (ctok_scan.h) and compiled patterns.
 */
#ifndef CTOK_BLOCK_H
#define CTOK_BLOCK_H

#include "ctok_base.h"

typedef struct ctok_block {
    size_t n;        /* pretokens found: [first, stops[0]), [stops[0], stops[1]), ... */
    size_t first;    /* where the first starts (text before it matches nothing and is skipped) */
    size_t next;     /* where scanning continues; == end when all is done */
    int hit_end;     /* the pretoken that starts at `next` is still open: more text could change where it stops (only when !at_eof) */
} ctok_block;

/* ctok_block_fn - cut text into pretokens.
 *
 * buf      valid UTF-8 in buf[pos, end), end < 2^32; never looks at or past end (what lies before pos is not looked at either).
 * pos      a pretoken border.
 * at_eof   whether the text ends at end. If not, the block stops before the first pretoken whose stop more text could change.
 * stops    room for cap >= 1 offsets (relative to buf), ascending.
 *
 * Never fails. When neither hit_end is set nor next == end, call again with pos = next.
 */
typedef void (*ctok_block_fn)(const uint8_t *buf, size_t pos, size_t end, int at_eof, uint32_t *stops, size_t cap, ctok_block *out);

#endif
