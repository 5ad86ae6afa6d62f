/* ctok_normal_ops.h - the steps one by one on an array of characters: the plain truth behind the fused tables, and the one place that knows
 * where each character comes from.
 */
#ifndef CTOK_NORMAL_OPS_H
#define CTOK_NORMAL_OPS_H

#include "ctok_normal.h"

typedef struct ctok_item {
    uint32_t code;
    ctok_align from;
} ctok_item;

typedef struct ctok_items {
    ctok_item *at;
    size_t n, cap;
} ctok_items;

ctok_status ctok_items_reserve(ctok_items *s, size_t more);
void ctok_items_free(ctok_items *s);

static inline ctok_status ctok_items_push(ctok_items *s, uint32_t code, ctok_align from) {
    if (ctok_items_reserve(s, 1) != CTOK_OK) return CTOK_ERR_MEMORY;
    s->at[s->n].code = code;
    s->at[s->n++].from = from;
    return CTOK_OK;
}

/* Three arrays that steps work with. */
typedef struct ctok_ops_work {
    ctok_items a, b;
    struct ctok_part {
        uint32_t code;
        int32_t change;   /* 1: new behind the character before it; 0: stands for one old character; -k: for k more */
        ctok_align from;  /* what it was made from */
        uint8_t cls;
    } *parts;
    size_t n_parts, cap_parts;
    ctok_origins origins;
} ctok_ops_work;

/* Both, and what lies between. */
static inline ctok_align ctok_align_join(ctok_align a, ctok_align b) {
    if (b.start < a.start) a.start = b.start;
    if (b.end > a.end) a.end = b.end;
    return a;
}

void ctok_ops_work_free(ctok_ops_work *w);

/* ctok_ops_read - text into w->a, each character from its own bytes. */
ctok_status ctok_ops_read(ctok_ops_work *w, const uint8_t *in, size_t n);

/* ctok_ops_apply - one step on w->a, a whole text or a stretch between two safe borders; the result is in w->a. */
ctok_status ctok_ops_apply(ctok_ops_work *w, ctok_normal_op op);

/* ctok_ops_push - one more part. ctok_ops_settle - the parts stand for w->a: give each its origin, and make them w->a. */
ctok_status ctok_ops_push(ctok_ops_work *w, uint32_t code, int32_t change, ctok_align from);
ctok_status ctok_ops_settle(ctok_ops_work *w);

#endif
