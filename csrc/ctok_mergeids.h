/* ctok_mergeids.h - the list of merges of a file on its way in: pairs of texts become pairs of entries of a text table.
 *
 * Texts are looked up in blocks, so that the table's cache misses overlap. A fault is therefore found up to a block late, but it is always
 * the first one of the list that is reported. What a merge gives is looked up with it, while its texts are at hand.
 */
#ifndef CTOK_MERGEIDS_H
#define CTOK_MERGEIDS_H

#include "ctok_base.h"
#include "ctok_texttable.h"

#define CTOK_MERGE_BLOCK 32u

typedef struct ctok_merge_text {
    const uint8_t *at;
    uint32_t len;
    ctok_text_key key;
} ctok_merge_text;

typedef struct ctok_mergeids {
    uint32_t *pairs;  /* two entries of the table for each merge */
    uint32_t *joined; /* the entry that it gives, or CTOK_TEXT_NONE; before ctok_mergeids_check as if there were no prefix */
    uint32_t n, cap;  /* merges: looked up; room for */
    uint32_t expected; /* about how many there will be, as whoever adds them thinks; 0: not known */
    uint32_t near;    /* the entry that the last merge gave: most lists follow the order of the vocabulary */
    uint8_t *room;    /* texts that are joined to be looked up */
    size_t room_cap;
    ctok_merge_text waiting[2 * CTOK_MERGE_BLOCK];
    unsigned n_waiting; /* texts */
    uint32_t bad;       /* a merge that has a fault, or CTOK_TEXT_NONE */
    int bad_side;       /* 0 left, 1 right: which text is not in the table; 2: what the two give */
} ctok_mergeids;

static inline void ctok_mergeids_init(ctok_mergeids *m) {
    memset(m, 0, sizeof *m);
    m->bad = CTOK_TEXT_NONE;
}

/* ctok_mergeids_flush - look up what waits. Returns CTOK_OK, CTOK_ERR_MEMORY, or CTOK_ERR_FORMAT: m->bad is not in the table. */
ctok_status ctok_mergeids_flush(ctok_mergeids *m, const ctok_texttable *t);

/* ctok_merge_text_of - a text of n bytes, of which, and of what lies behind it, `readable` bytes may be read. */
static inline ctok_merge_text ctok_merge_text_of(const uint8_t *p, size_t n, size_t readable) {
    return (ctok_merge_text){p, (uint32_t)n, ctok_text_key_of(p, n, readable)};
}

/* ctok_mergeids_add - append a merge. The texts must stay where they are until the next flush. Returns as ctok_mergeids_flush. */
static inline ctok_status ctok_mergeids_add(ctok_mergeids *m, const ctok_texttable *t, const ctok_merge_text *left,
                                            const ctok_merge_text *right) {
    ctok_merge_text *w = &m->waiting[m->n_waiting];
    w[0] = *left;
    w[1] = *right;
    ctok_texttable_fetch(t, &w[0].key);
    ctok_texttable_fetch(t, &w[1].key);
    m->n_waiting += 2;
    return m->n_waiting < 2 * CTOK_MERGE_BLOCK ? CTOK_OK : ctok_mergeids_flush(m, t);
}

/* ctok_mergeids_check - what each merge gives, its left text and its right one without the first `prefix` bytes, must be in the table.
 * Returns CTOK_OK, CTOK_ERR_MEMORY, or CTOK_ERR_FORMAT: m->bad and m->bad_side say which is not. */
ctok_status ctok_mergeids_check(ctok_mergeids *m, const ctok_texttable *t, size_t prefix);

/* Blocks of little-endian uint32, each to be given back with ctok_mem_unblock; NULL where there are no merges. */
typedef struct ctok_mergeids_given {
    uint8_t *pairs;  /* ids, left and right of each merge in turn */
    uint8_t *joined; /* the id that each merge gives */
    size_t n_pairs, n_joined; /* bytes in all, with what is unused */
} ctok_mergeids_given;

/* ctok_mergeids_give - the merges as ids, once they are checked. m is empty then. */
ctok_mergeids_given ctok_mergeids_give(ctok_mergeids *m, const ctok_texttable *t);

/* ctok_mergeids_free - give everything back; m is then empty. */
void ctok_mergeids_free(ctok_mergeids *m);

#endif
