/* ctok_normal_ops.c - forms by decomposing, ordering and composing; lower case; dropping and blanks.
 *
 * A character comes from all old ones that it was made from. The reference library counts otherwise: there a step yields characters with a
 * `change`; one that stands for old characters takes the origin of the first of them, a new one that of the old character before it.
 */
#include "ctok_normal_ops.h"

#include <string.h>

#include "ctok_normal_facts.h"

ctok_status ctok_items_reserve(ctok_items *s, size_t more) {
    if (CTOK_LIKELY(s->cap - s->n >= more)) return CTOK_OK;
    size_t cap = s->cap + s->cap / 2;
    if (cap < s->n + more) cap = s->n + more;
    if (cap < 32) cap = 32;
    ctok_item *at = (ctok_item *)ctok_mem_resize(s->at, cap, sizeof *at);
    if (at == NULL) return CTOK_ERR_MEMORY;
    s->at = at;
    s->cap = cap;
    return CTOK_OK;
}

void ctok_items_free(ctok_items *s) {
    ctok_mem_free(s->at);
    memset(s, 0, sizeof *s);
}

void ctok_ops_work_free(ctok_ops_work *w) {
    ctok_items_free(&w->a);
    ctok_items_free(&w->b);
    ctok_mem_free(w->parts);
    memset(w, 0, sizeof *w);
}

ctok_status ctok_ops_read(ctok_ops_work *w, const uint8_t *in, size_t n) {
    w->a.n = 0;
    if (ctok_items_reserve(&w->a, n) != CTOK_OK) return CTOK_ERR_MEMORY;
    for (size_t i = 0, len; i < n; i += len) {
        ctok_item *item = &w->a.at[w->a.n++];
        item->code = ctok_nf_read(in + i, &len);
        item->from.start = (uint32_t)i;
        item->from.end = (uint32_t)(i + len);
    }
    return CTOK_OK;
}

ctok_status ctok_ops_push(ctok_ops_work *w, uint32_t code, int32_t change, ctok_align from) {
    if (w->n_parts == w->cap_parts) {
        const size_t cap = w->cap_parts ? w->cap_parts * 2 : 32;
        struct ctok_part *parts = (struct ctok_part *)ctok_mem_resize(w->parts, cap, sizeof *parts);
        if (parts == NULL) return CTOK_ERR_MEMORY;
        w->parts = parts;
        w->cap_parts = cap;
    }
    struct ctok_part *part = &w->parts[w->n_parts++];
    part->code = code;
    part->change = change;
    part->from = from;
    part->cls = ctok_nf_class[ctok_nf_record(code)];
    return CTOK_OK;
}

/* ---- forms ---- */

static ctok_status decompose(ctok_ops_work *w, ctok_item old, int compat) {
    const uint32_t code = old.code;
    const uint32_t record = ctok_nf_record(code);
    const uint16_t place = compat ? ctok_nf_nfkd[record] : ctok_nf_nfd[record];
    ctok_status status = CTOK_OK;
    if (ctok_nf_bits[record] & (CTOK_NF_LV | CTOK_NF_LVT)) {
        uint32_t letters[3];
        const size_t n = ctok_nf_hangul(code, letters);
        for (size_t i = 0; i < n && status == CTOK_OK; i++) status = ctok_ops_push(w, letters[i], i > 0, old.from);
        return status;
    }
    if (place == 0) return ctok_ops_push(w, code, 0, old.from);
    const uint8_t *p = ctok_nf_pool + place + 1;
    for (size_t i = 0, len; i < ctok_nf_pool[place] && status == CTOK_OK; i += len) {
        status = ctok_ops_push(w, ctok_nf_read(p + i, &len), i > 0, old.from);
    }
    return status;
}

/* Rows of marks in ascending order of their classes; equal ones keep their order. Long rows are merged, so no row costs its square. */
static void merge_row(struct ctok_part *row, struct ctok_part *other, size_t n) {
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t lo = 0; lo < n; lo += 2 * width) {
            const size_t mid = lo + width < n ? lo + width : n, hi = lo + 2 * width < n ? lo + 2 * width : n;
            size_t i = lo, j = mid, k = lo;
            while (i < mid && j < hi) other[k++] = row[j].cls < row[i].cls ? row[j++] : row[i++];
            while (i < mid) other[k++] = row[i++];
            while (j < hi) other[k++] = row[j++];
        }
        memcpy(row, other, n * sizeof *row);
    }
}

static ctok_status order_row(struct ctok_part *row, size_t n) {
    if (n > 32) {
        struct ctok_part *other = (struct ctok_part *)ctok_mem_alloc(n, sizeof *other);
        if (other == NULL) return CTOK_ERR_MEMORY;
        merge_row(row, other, n);
        ctok_mem_free(other);
        return CTOK_OK;
    }
    for (size_t i = 1; i < n; i++) {
        const struct ctok_part part = row[i];
        size_t k = i;
        for (; k > 0 && row[k - 1].cls > part.cls; k--) row[k] = row[k - 1];
        row[k] = part;
    }
    return CTOK_OK;
}

static ctok_status order_marks(ctok_ops_work *w) {
    size_t i = 0;
    while (i < w->n_parts) {
        if (w->parts[i].cls == 0) {
            i++;
            continue;
        }
        const size_t first = i;
        while (i < w->n_parts && w->parts[i].cls) i++;
        if (order_row(w->parts + first, i - first) != CTOK_OK) return CTOK_ERR_MEMORY;
    }
    return CTOK_OK;
}

static void compose(ctok_ops_work *w) {
    struct ctok_part *parts = w->parts, *starter = NULL;
    size_t n = 0;
    for (size_t i = 0; i < w->n_parts; i++) {
        const struct ctok_part part = parts[i];
        /* Nothing between, or only marks of lower classes, which do not stand in the way. */
        const int open = starter != NULL && (&parts[n - 1] == starter || (parts[n - 1].cls != 0 && parts[n - 1].cls < part.cls));
        const uint32_t whole = open ? ctok_nf_compose(starter->code, part.code) : 0;
        if (whole) {
            starter->code = whole;
            starter->change += part.change - 1;
            starter->from = ctok_align_join(starter->from, part.from);
            continue;
        }
        parts[n] = part;
        if (part.cls == 0) starter = &parts[n];
        n++;
    }
    w->n_parts = n;
}

ctok_status ctok_ops_settle(ctok_ops_work *w) {
    const ctok_items *old = &w->a;
    ctok_items *made = &w->b;
    size_t next = 0;
    made->n = 0;
    if (ctok_items_reserve(made, w->n_parts) != CTOK_OK) return CTOK_ERR_MEMORY;
    for (size_t i = 0; i < w->n_parts; i++) {
        ctok_align from = {0, 0};
        if (w->origins == CTOK_ORIGINS_WHOLE) {
            from = w->parts[i].from;
        } else if (w->parts[i].change > 0) {
            if (next > 0) from = old->at[next - 1].from;
        } else {
            if (next < old->n) from = old->at[next].from;
            next += 1 + (size_t)-w->parts[i].change;
        }
        made->at[made->n].code = w->parts[i].code;
        made->at[made->n++].from = from;
    }
    const ctok_items swap = w->a;
    w->a = w->b;
    w->b = swap;
    return CTOK_OK;
}

static ctok_status form(ctok_ops_work *w, int compat, int composed) {
    w->n_parts = 0;
    for (size_t i = 0; i < w->a.n; i++) {
        const ctok_status status = decompose(w, w->a.at[i], compat);
        if (status != CTOK_OK) return status;
    }
    if (order_marks(w) != CTOK_OK) return CTOK_ERR_MEMORY;
    if (composed) compose(w);
    return ctok_ops_settle(w);
}

/* ---- one character by itself ---- */

static ctok_status lower(ctok_ops_work *w) {
    ctok_status status = CTOK_OK;
    w->b.n = 0;
    for (size_t i = 0; i < w->a.n && status == CTOK_OK; i++) {
        const ctok_item item = w->a.at[i];
        const uint16_t place = ctok_nf_lower[ctok_nf_record(item.code)];
        if (place == 0) {
            status = ctok_items_push(&w->b, item.code, item.from);
            continue;
        }
        const uint8_t *p = ctok_nf_pool + place + 1;
        for (size_t k = 0, len; k < ctok_nf_pool[place] && status == CTOK_OK; k += len) {
            status = ctok_items_push(&w->b, ctok_nf_read(p + k, &len), item.from);
        }
    }
    const ctok_items swap = w->a;
    w->a = w->b;
    w->b = swap;
    return status;
}

static ctok_status set_apart(ctok_ops_work *w) {
    ctok_status status = CTOK_OK;
    w->b.n = 0;
    for (size_t i = 0; i < w->a.n && status == CTOK_OK; i++) {
        const ctok_item item = w->a.at[i];
        const int cjk = (ctok_nf_bits[ctok_nf_record(item.code)] & CTOK_NF_CJK) != 0;
        if (cjk) status = ctok_items_push(&w->b, ' ', item.from);
        if (status == CTOK_OK) status = ctok_items_push(&w->b, item.code, item.from);
        if (cjk && status == CTOK_OK) status = ctok_items_push(&w->b, ' ', item.from);
    }
    const ctok_items swap = w->a;
    w->a = w->b;
    w->b = swap;
    return status;
}

static void clean(ctok_items *items, uint32_t drop, uint32_t space) {
    size_t n = 0;
    for (size_t i = 0; i < items->n; i++) {
        const uint32_t bits = ctok_nf_bits[ctok_nf_record(items->at[i].code)];
        if (bits & drop) continue;
        items->at[n] = items->at[i];
        if (bits & space) items->at[n].code = ' ';
        n++;
    }
    items->n = n;
}

ctok_status ctok_ops_apply(ctok_ops_work *w, ctok_normal_op op) {
    switch (op) {
    case CTOK_NORMAL_NFC: return form(w, 0, 1);
    case CTOK_NORMAL_NFD: return form(w, 0, 0);
    case CTOK_NORMAL_NFKC: return form(w, 1, 1);
    case CTOK_NORMAL_NFKD: return form(w, 1, 0);
    case CTOK_NORMAL_LOWER: return lower(w);
    case CTOK_NORMAL_BERT_CJK: return set_apart(w);
    case CTOK_NORMAL_DROP_MARKS: clean(&w->a, CTOK_NF_MARK, 0); return CTOK_OK;
    case CTOK_NORMAL_DROP_MN: clean(&w->a, CTOK_NF_MN, 0); return CTOK_OK;
    case CTOK_NORMAL_NMT: clean(&w->a, CTOK_NF_NMT_DROP, CTOK_NF_NMT_SPACE); return CTOK_OK;
    case CTOK_NORMAL_BERT_CLEAN: clean(&w->a, CTOK_NF_BERT_DROP, CTOK_NF_BERT_SPACE); return CTOK_OK;
    }
    return CTOK_ERR_FORMAT;
}
