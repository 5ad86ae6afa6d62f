/* ctok_counts.h - how often each of many byte strings was seen: a hash table that counts in 64 bits.
 *
 * Strings of up to 15 bytes stand in the table itself, as the numbers of ctok_key.h; longer ones in a buffer beside it. With each goes the
 * place where it was first seen, so that tables filled by several threads can be merged into one that does not show how the work
 * was shared. Not safe for two threads at once.
 */
#ifndef CTOK_COUNTS_H
#define CTOK_COUNTS_H

#include "ctok_bytes.h"
#include "ctok_key.h"

#define CTOK_COUNTS_MOST (UINT64_MAX >> 1) /* a count that would grow beyond stays there */

/* count == 0: the slot is free. */
typedef struct ctok_count_short {
    uint64_t key[2];
    uint64_t count;
    uint64_t first;
} ctok_count_short;

typedef struct ctok_count_long {
    uint64_t at;     /* where it begins in the buffer */
    uint32_t len;
    uint32_t mark;   /* some bits of its hash */
    uint64_t count;
    uint64_t first;
} ctok_count_long;

typedef struct ctok_counts {
    ctok_count_short *shorts;
    ctok_count_long *longs;
    uint32_t short_slots, long_slots;
    uint32_t n_short, n_long;    /* slots in use */
    ctok_bytes text;             /* of the long ones */
    uint64_t short_bytes;        /* bytes of the short ones */
    uint64_t total;              /* all that was counted */
    size_t limit;                /* memory that it may take, in bytes; 0: any */
} ctok_counts;

/* ctok_counts_init - an empty table; it holds no memory yet. */
void ctok_counts_init(ctok_counts *c, size_t limit);
void ctok_counts_free(ctok_counts *c);

/* ctok_counts_memory - bytes that the table holds. */
size_t ctok_counts_memory(const ctok_counts *c);

/* ctok_counts_add - count p[0..n) `count` times more (count > 0, n > 0, n < 2^32); first: the place where it was seen.
 *
 * Returns CTOK_OK; CTOK_ERR_MEMORY; or CTOK_ERR_STOPPED when the table would have to grow beyond its limit. After an error it holds what it held.
 */
ctok_status ctok_counts_add(ctok_counts *c, const uint8_t *p, size_t n, uint64_t count, uint64_t first);

/* ctok_counts_add_block - count the pretokens of a block (ctok_block.h): buf[begin, stops[0]), buf[stops[0], stops[1]), ...
 *
 * end     buf may be read up to there.
 * weight  how often each counts (> 0).
 * base    the place of buf[0].
 *
 * Returns as ctok_counts_add; after an error a part of the block may have been counted. Slots are fetched some pretokens ahead of their use.
 */
ctok_status ctok_counts_add_block(ctok_counts *c, const uint8_t *buf, size_t begin, const uint32_t *stops, size_t n, size_t end,
                                  uint64_t weight, uint64_t base);

/* ctok_counts_merge - count all that another table holds; it is left as it was. Places of the two must be of one text. */
ctok_status ctok_counts_merge(ctok_counts *c, const ctok_counts *other);

/* What ctok_counts_list is given room for: as many entries as there are strings, and as many bytes as they have. */
typedef struct ctok_count_list {
    uint8_t *data;
    uint32_t *ends;
    uint64_t *counts;
    uint64_t *firsts;   /* or NULL */
} ctok_count_list;

/* ctok_counts_list - all strings in ascending order. They have less than 2^32 bytes in all.
 *
 * Returns CTOK_OK or CTOK_ERR_MEMORY: it takes about 45 bytes a string while it works. Cost: sorting; about 50 ns a string. */
ctok_status ctok_counts_list(const ctok_counts *c, const ctok_count_list *to);

static inline size_t ctok_counts_size(const ctok_counts *c) { return (size_t)c->n_short + c->n_long; }
static inline uint64_t ctok_counts_bytes(const ctok_counts *c) { return c->short_bytes + c->text.n; }

#endif
