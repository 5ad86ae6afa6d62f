/* Building the double array. Nodes are met depth first, so what one walk passes through stands close together. For the children of a node
 * a base is needed where all of them are free; bit maps of free places answer that for 64 bases at a time. */
#include "ctok_trie.h"

#include <string.h>

#include "ctok_mem.h"

#define LABELS 256u
#define CLASSES 5u          /* kinds of nodes by their number of children: each goes on searching where its like last found room */
#define PATIENCE 2u         /* windows searched in vain before a class leaves a stretch behind */
#define MAX_UNITS (((size_t)1 << 28) - 1024)

/* A node whose children are not placed yet: pieces lo..hi-1 share its `depth` bytes. */
typedef struct task {
    uint32_t lo, hi, depth, at, skip;
} task;

typedef struct builder {
    const uint8_t *data;
    const uint32_t *ends;
    uint64_t *units;
    uint64_t *used;      /* a bit for each unit */
    uint64_t *used_base; /* a bit for each base */
    size_t cap;          /* units there is room for, a multiple of 64; the maps have some words more */
    size_t top;          /* one more than the highest unit that a base can reach */
    size_t cursor[CLASSES];
    task *tasks;
    size_t n_tasks, cap_tasks;
    ctok_trie_node *nodes;
    size_t n_nodes, cap_nodes;
    int keeps_nodes;
    uint32_t bad;
} builder;

static uint32_t begin_of(const builder *b, uint32_t k) {
    return k ? b->ends[k - 1] : 0;
}

static ctok_status grow(void **at, size_t *cap, size_t need, size_t size) {
    if (*cap >= need) return CTOK_OK;
    size_t more = *cap * 2 < need ? need : *cap * 2;
    void *p = ctok_mem_resize(*at, more, size);
    if (p == NULL) return CTOK_ERR_MEMORY;
    *at = p;
    *cap = more;
    return CTOK_OK;
}

/* Room for `need` units; no node stands in the new ones. */
static ctok_status reserve_units(builder *b, size_t need) {
    if (need <= b->cap) return CTOK_OK;
    if (need > MAX_UNITS) return CTOK_ERR_FORMAT;
    const size_t cap = ((b->cap * 2 < need ? need : b->cap * 2) + 63) & ~(size_t)63;
    const size_t words = cap / 64 + 8, old = b->cap ? b->cap / 64 + 8 : 0;
    uint64_t *p = ctok_mem_room(cap * sizeof *p);
    if (p == NULL) return CTOK_ERR_MEMORY;
    if (b->cap) memcpy(p, b->units, b->cap * sizeof *p);
    for (size_t i = b->cap; i < cap; i++) p[i] = CTOK_TRIE_NO_BYTE;
    ctok_mem_unroom(b->units, b->cap * sizeof *p);
    b->units = p;
    b->cap = cap;
    p = ctok_mem_resize(b->used, words, sizeof *p);
    if (p == NULL) return CTOK_ERR_MEMORY;
    b->used = p;
    p = ctok_mem_resize(b->used_base, words, sizeof *p);
    if (p == NULL) return CTOK_ERR_MEMORY;
    b->used_base = p;
    memset(b->used + old, 0, (words - old) * sizeof *p);
    memset(b->used_base + old, 0, (words - old) * sizeof *p);
    return CTOK_OK;
}

static void set_bit(uint64_t *map, size_t i) {
    map[i >> 6] |= UINT64_C(1) << (i & 63);
}

/* 64 bits from bit i on. */
static uint64_t bits_at(const uint64_t *map, size_t i) {
    const size_t word = i >> 6, shift = i & 63;
    return shift ? map[word] >> shift | map[word + 1] << (64 - shift) : map[word];
}

static unsigned class_of(size_t n) {
    return n == 1 ? 0 : n == 2 ? 1 : n <= 4 ? 2 : n <= 16 ? 3 : 4;
}

static void take(builder *b, size_t base, const uint8_t *labels, size_t n) {
    set_bit(b->used_base, base);
    for (size_t i = 0; i < n; i++) {
        set_bit(b->used, base + labels[i]);
        b->units[base + labels[i]] = labels[i];
    }
    if (b->top < base + LABELS) b->top = base + LABELS;
}

/* Find a base for one child, which fits into any hole: most nodes have one, and keep the array full. */
static ctok_status place_one(builder *b, uint8_t label, size_t *base) {
    for (size_t word = b->cursor[0];; word++) {
        const size_t from = word * 64;
        const ctok_status status = reserve_units(b, from + 64 + LABELS);
        if (status != CTOK_OK) return status;
        uint64_t fit = ~b->used[word];
        if (from >= label) fit &= ~bits_at(b->used_base, from - label);
        else fit = 0; /* only in the first words: some place is left empty */
        if (!fit) continue;
        if (word > b->cursor[0] + PATIENCE) b->cursor[0] = word - PATIENCE / 2;
        *base = from + ctok_lowest_bit(fit) - label;
        take(b, *base, &label, 1);
        return CTOK_OK;
    }
}

/* Find a base for n children, and take it. */
static ctok_status place(builder *b, const uint8_t *labels, size_t n, size_t *base) {
    size_t *cursor = &b->cursor[class_of(n)];
    size_t from = (*cursor > labels[0] ? *cursor - labels[0] : 0) & ~(size_t)63;
    for (size_t windows = 0;; windows++, from += 64) {
        const ctok_status status = reserve_units(b, from + 64 + LABELS);
        if (status != CTOK_OK) return status;
        uint64_t fit = ~b->used_base[from >> 6];
        for (size_t i = 0; i < n && fit; i++) fit &= ~bits_at(b->used, from + labels[i]);
        if (!fit) continue;
        *base = from + ctok_lowest_bit(fit);
        if (windows > PATIENCE) *cursor = from + labels[0] - 2 * 64;
        break;
    }
    take(b, *base, labels, n);
    return CTOK_OK;
}

/* The bytes that lead on from a node, and the pieces behind each; CTOK_ERR_FORMAT when the order is broken. */
static ctok_status children_of(builder *b, const task *t, uint8_t *labels, uint32_t *starts, size_t *n) {
    uint32_t begin = begin_of(b, t->lo);
    const uint32_t depth = t->depth + t->skip;
    *n = 0;
    for (uint32_t k = t->lo; k < t->hi; k++) {
        const uint32_t end = b->ends[k];
        b->bad = k;
        if (end - begin <= depth) return CTOK_ERR_FORMAT;
        const uint8_t c = b->data[begin + depth];
        if (*n == 0 || c != labels[*n - 1]) {
            if (*n && c < labels[*n - 1]) return CTOK_ERR_FORMAT;
            labels[*n] = c;
            starts[*n] = k;
            ++*n;
        }
        begin = end;
    }
    starts[*n] = t->hi;
    return CTOK_OK;
}

static ctok_status add_node(builder *b, uint32_t at, uint32_t parent, uint32_t depth) {
    if (!b->keeps_nodes) {
        b->n_nodes++;
        return CTOK_OK;
    }
    if (grow((void **)&b->nodes, &b->cap_nodes, b->n_nodes + 1, sizeof *b->nodes) != CTOK_OK) return CTOK_ERR_MEMORY;
    b->nodes[b->n_nodes++] = (ctok_trie_node){at, parent, depth};
    return CTOK_OK;
}

static ctok_status add_task(builder *b, task t) {
    if (grow((void **)&b->tasks, &b->cap_tasks, b->n_tasks + 1, sizeof *b->tasks) != CTOK_OK) return CTOK_ERR_MEMORY;
    b->tasks[b->n_tasks++] = t;
    return CTOK_OK;
}

/* Piece k alone has the text of a node of `depth` bytes: the rest of it is a chain. */
static ctok_status add_chain(builder *b, uint32_t k, uint32_t depth, size_t at, uint32_t skip) {
    const uint8_t *p = b->data + begin_of(b, k) + skip;
    const uint32_t size = b->ends[k] - begin_of(b, k) - skip;
    for (; depth < size; depth++) {
        size_t base;
        ctok_status status = place_one(b, p[depth], &base);
        if (status == CTOK_OK) status = add_node(b, (uint32_t)(base + p[depth]), (uint32_t)at, depth + 1);
        if (status != CTOK_OK) return status;
        b->units[at] |= (uint64_t)base << 9;
        at = base + p[depth];
    }
    b->units[at] |= (uint64_t)(k + 1) << 37;
    return CTOK_OK;
}

/* Place the children of one node; those shared by several pieces become tasks, the first of them on top. */
static ctok_status expand(builder *b, task t) {
    uint8_t labels[LABELS];
    uint32_t starts[LABELS + 1];
    size_t n, base;
    uint32_t here = 0;
    while (t.lo < t.hi && b->ends[t.lo] - begin_of(b, t.lo) == t.depth + t.skip) here = ++t.lo;
    if (t.depth) b->units[t.at] |= (uint64_t)here << 37;
    if (t.lo == t.hi) return CTOK_OK;
    ctok_status status = children_of(b, &t, labels, starts, &n);
    if (status == CTOK_OK) status = n == 1 ? place_one(b, labels[0], &base) : place(b, labels, n, &base);
    if (status != CTOK_OK) return status;
    b->units[t.at] |= (uint64_t)base << 9;
    for (size_t i = 0; i < n; i++) {
        if (add_node(b, (uint32_t)(base + labels[i]), t.at, t.depth + 1) != CTOK_OK) return CTOK_ERR_MEMORY;
    }
    for (size_t i = n; i-- > 0 && status == CTOK_OK;) {
        const task child = {starts[i], starts[i + 1], t.depth + 1, (uint32_t)(base + labels[i]), t.skip};
        if (child.hi - child.lo > 1) status = add_task(b, child);
        else status = add_chain(b, child.lo, child.depth, child.at, child.skip);
    }
    return status;
}

static ctok_status expand_all(builder *b, task root) {
    ctok_status status = add_task(b, root);
    while (status == CTOK_OK && b->n_tasks) status = expand(b, b->tasks[--b->n_tasks]);
    return status;
}

/* The pieces that begin with the prefix. */
static task continued(const builder *b, uint32_t n_pieces, const uint8_t *prefix, uint32_t n_prefix) {
    task t = {0, 0, 0, CTOK_TRIE_CONTINUED, n_prefix};
    uint32_t lo = 0, hi = n_pieces;
    while (lo < hi) { /* the first piece that is not below the prefix */
        const uint32_t mid = lo + (hi - lo) / 2, begin = begin_of(b, mid), size = b->ends[mid] - begin;
        const int order = memcmp(b->data + begin, prefix, size < n_prefix ? size : n_prefix);
        if (order < 0 || (order == 0 && size < n_prefix)) lo = mid + 1;
        else hi = mid;
    }
    t.lo = t.hi = lo;
    while (t.hi < n_pieces && b->ends[t.hi] - begin_of(b, t.hi) >= n_prefix && memcmp(b->data + begin_of(b, t.hi), prefix, n_prefix) == 0) t.hi++;
    return t;
}

static ctok_status build(builder *b, uint32_t n_pieces, const uint8_t *prefix, size_t n_prefix) {
    const uint32_t total = n_pieces ? b->ends[n_pieces - 1] : 0;
    if (n_pieces >= CTOK_TRIE_MAX_PIECES) return CTOK_ERR_FORMAT;
    ctok_status status = reserve_units(b, total / 2 + 4 * LABELS);
    if (status != CTOK_OK) return status;
    b->used[0] = 3; /* the roots */
    b->used_base[0] = 1; /* base 0 says that there are no children */
    b->top = LABELS;
    status = add_node(b, CTOK_TRIE_ROOT, CTOK_TRIE_ROOT, 0);
    if (status == CTOK_OK) status = add_node(b, CTOK_TRIE_CONTINUED, CTOK_TRIE_CONTINUED, 0);
    if (status == CTOK_OK) status = expand_all(b, (task){0, n_pieces, 0, CTOK_TRIE_ROOT, 0});
    if (status != CTOK_OK) return status;
    if (n_prefix == 0) b->units[CTOK_TRIE_CONTINUED] = b->units[CTOK_TRIE_ROOT];
    else if (n_prefix < total) status = expand_all(b, continued(b, n_pieces, prefix, (uint32_t)n_prefix));
    return status;
}

/* What was built goes to memory of the right size, on large pages where that pays. */
static ctok_status settle(const builder *b, ctok_trie *t) {
    const size_t bytes = b->top * sizeof *t->units; /* b->top <= b->cap: a window is searched only where all it can reach has room */
    t->units = ctok_mem_block(bytes);
    if (t->units == NULL) return CTOK_ERR_MEMORY;
    memcpy(t->units, b->units, bytes);
    t->n_units = b->top;
    t->room_bytes = bytes;
    t->n_nodes = (uint32_t)b->n_nodes;
    return CTOK_OK;
}

ctok_status ctok_trie_init(ctok_trie *t, const uint8_t *data, const uint32_t *ends, uint32_t n_pieces, const uint8_t *prefix, size_t n_prefix,
                           ctok_trie_node **nodes, uint32_t *bad) {
    builder b;
    memset(&b, 0, sizeof b);
    memset(t, 0, sizeof *t);
    b.data = data;
    b.ends = ends;
    b.keeps_nodes = nodes != NULL;
    ctok_status status = build(&b, n_pieces, prefix, n_prefix);
    if (status == CTOK_OK) status = settle(&b, t);
    if (status == CTOK_ERR_FORMAT) *bad = b.bad;
    if (status == CTOK_OK && nodes != NULL) *nodes = b.nodes;
    else ctok_mem_free(b.nodes);
    ctok_mem_unroom(b.units, b.cap * sizeof *b.units);
    ctok_mem_free(b.used);
    ctok_mem_free(b.used_base);
    ctok_mem_free(b.tasks);
    return status;
}

void ctok_trie_free(ctok_trie *t) {
    ctok_mem_unblock(t->units, t->room_bytes);
    memset(t, 0, sizeof *t);
}
