/* ctok_charsmap_build.c - keys to a minimal automaton (as they come in order), the automaton to a double array. */
#include "ctok_charsmap_build.h"

#include <string.h>

#define BLOCK 256u
#define OPEN_BLOCKS 16u /* free places are sought in so many of the last blocks */
#define NONE UINT32_MAX

/* An edge of a finished state: to another one, or, with label 0, to a value. */
typedef struct edge {
    uint32_t to;
    uint8_t label;
} edge;

typedef struct state {
    uint32_t first; /* of its edges, which are in ascending order */
    uint32_t n;
    uint32_t base;  /* where its children are laid out from; NONE: not yet */
} state;

/* A state on the way of the last key: more edges may come. */
typedef struct open_state {
    edge edges[257];
    uint32_t n;
} open_state;

typedef struct builder {
    open_state *way;      /* by depth */
    edge *edges;
    state *states;
    uint32_t *table;      /* finished states by their edges: number + 1 */
    size_t n_edges, cap_edges, n_states, cap_states, cap_table;
    /* the layout */
    uint32_t *units, *next, *last; /* free places form a ring through place 0 */
    uint8_t *used, *taken;         /* is the place filled; is it some state's base */
    uint32_t n_units;
    uint32_t *todo;                /* states to be laid out, and their places */
    size_t n_todo, cap_todo;
} builder;

/* Room for `need` items, or NULL. */
static void *grown(void *at, size_t *cap, size_t need, size_t size) {
    if (need <= *cap) return at;
    const size_t more = need > 2 * *cap ? need + 64 : 2 * *cap;
    void *room = ctok_mem_resize(at, more, size);
    if (room != NULL) *cap = more;
    return room;
}

/* ---- the automaton ---- */

static uint64_t hash(const edge *edges, uint32_t n) {
    uint64_t h = n;
    for (uint32_t i = 0; i < n; i++) {
        h = (h ^ ((uint64_t)edges[i].to << 8 | edges[i].label)) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
    }
    return h;
}

static int equal(const edge *a, const edge *b, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (a[i].to != b[i].to || a[i].label != b[i].label) return 0;
    }
    return 1;
}

static ctok_status rehash(builder *b) {
    const size_t cap = b->cap_table ? 2 * b->cap_table : 1024;
    uint32_t *table = (uint32_t *)ctok_mem_zeroed(cap, sizeof *table);
    if (table == NULL) return CTOK_ERR_MEMORY;
    for (size_t i = 0; i < b->n_states; i++) {
        size_t at = (size_t)hash(b->edges + b->states[i].first, b->states[i].n) & (cap - 1);
        while (table[at]) at = (at + 1) & (cap - 1);
        table[at] = (uint32_t)i + 1;
    }
    ctok_mem_free(b->table);
    b->table = table;
    b->cap_table = cap;
    return CTOK_OK;
}

/* The finished state with these edges: one that is there, or a new one. */
static ctok_status finish(builder *b, const open_state *open, uint32_t *number) {
    if (2 * b->n_states >= b->cap_table && rehash(b) != CTOK_OK) return CTOK_ERR_MEMORY;
    size_t at = (size_t)hash(open->edges, open->n) & (b->cap_table - 1);
    for (; b->table[at]; at = (at + 1) & (b->cap_table - 1)) {
        const state *s = &b->states[b->table[at] - 1];
        if (s->n != open->n || !equal(b->edges + s->first, open->edges, open->n)) continue;
        *number = b->table[at] - 1;
        return CTOK_OK;
    }
    if (b->n_states >= CTOK_CHARSMAP_UNITS) return CTOK_ERR_FORMAT;
    state *states = (state *)grown(b->states, &b->cap_states, b->n_states + 1, sizeof *states);
    if (states == NULL) return CTOK_ERR_MEMORY;
    b->states = states;
    edge *edges = (edge *)grown(b->edges, &b->cap_edges, b->n_edges + open->n, sizeof *edges);
    if (edges == NULL) return CTOK_ERR_MEMORY;
    b->edges = edges;
    const state made = {(uint32_t)b->n_edges, open->n, NONE};
    memcpy(b->edges + b->n_edges, open->edges, open->n * sizeof *b->edges);
    b->n_edges += open->n;
    *number = (uint32_t)b->n_states;
    b->table[at] = *number + 1;
    b->states[b->n_states++] = made;
    return CTOK_OK;
}

/* Nothing more can come behind the first `depth` bytes of the last key, of n bytes. */
static ctok_status finish_behind(builder *b, size_t depth, size_t n) {
    for (size_t d = n; d > depth; d--) {
        open_state *above = &b->way[d - 1];
        const ctok_status status = finish(b, &b->way[d], &above->edges[above->n - 1].to);
        if (status != CTOK_OK) return status;
    }
    return CTOK_OK;
}

static ctok_status add_key(builder *b, const uint8_t *p, size_t n, const uint8_t *before, size_t n_before, uint32_t value) {
    size_t same = 0;
    while (same < n && same < n_before && p[same] == before[same]) same++;
    if (same == n || (same < n_before && p[same] < before[same]) || n >= CTOK_CHARSMAP_KEY || value >> 31) return CTOK_ERR_FORMAT;
    const ctok_status status = finish_behind(b, same, n_before);
    if (status != CTOK_OK) return status;
    for (size_t d = same; d < n; d++) {
        if (p[d] == 0) return CTOK_ERR_FORMAT;
        const edge one = {NONE, p[d]};
        b->way[d].edges[b->way[d].n++] = one;
        b->way[d + 1].n = 0;
    }
    const edge end = {value, 0};
    b->way[n].edges[0] = end;
    b->way[n].n = 1;
    return CTOK_OK;
}

static ctok_status make_automaton(builder *b, const uint8_t *keys, const uint32_t *ends, const uint32_t *values, size_t n, uint32_t *root) {
    const uint8_t *before = keys;
    size_t n_before = 0;
    b->way = (open_state *)ctok_mem_alloc(CTOK_CHARSMAP_KEY, sizeof *b->way);
    if (b->way == NULL) return CTOK_ERR_MEMORY;
    b->way[0].n = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t start = i ? ends[i - 1] : 0;
        if (ends[i] <= start) return CTOK_ERR_FORMAT;
        const ctok_status status = add_key(b, keys + start, ends[i] - start, before, n_before, values[i]);
        if (status != CTOK_OK) return status;
        before = keys + start;
        n_before = ends[i] - start;
    }
    const ctok_status status = finish_behind(b, 0, n_before);
    return status == CTOK_OK ? finish(b, &b->way[0], root) : status;
}

/* ---- the layout ---- */

static void fill(builder *b, uint32_t at) {
    b->used[at] = 1;
    b->next[b->last[at]] = b->next[at];
    b->last[b->next[at]] = b->last[at];
}

/* Room for `all` places. */
static ctok_status widen(builder *b, size_t all) {
    uint32_t **const numbers[] = {&b->units, &b->next, &b->last};
    uint8_t **const marks[] = {&b->used, &b->taken};
    for (int i = 0; i < 3; i++) {
        uint32_t *room = (uint32_t *)ctok_mem_resize(*numbers[i], all, sizeof *room);
        if (room == NULL) return CTOK_ERR_MEMORY;
        *numbers[i] = room;
    }
    for (int i = 0; i < 2; i++) {
        uint8_t *room = (uint8_t *)ctok_mem_resize(*marks[i], all, 1);
        if (room == NULL) return CTOK_ERR_MEMORY;
        *marks[i] = room;
    }
    return CTOK_OK;
}

/* One more block; the free places of one that is far behind are sought no more. */
static ctok_status add_block(builder *b) {
    const uint32_t n = b->n_units, all = n + BLOCK;
    if (all > CTOK_CHARSMAP_UNITS) return CTOK_ERR_FORMAT;
    if ((n & (n - 1)) == 0 && widen(b, n ? 2 * (size_t)n : BLOCK) != CTOK_OK) return CTOK_ERR_MEMORY;
    memset(b->units + n, 0, BLOCK * sizeof *b->units);
    memset(b->used + n, 0, BLOCK);
    memset(b->taken + n, 0, BLOCK);
    if (n == 0) b->next[0] = b->last[0] = 0;
    for (uint32_t at = n ? n : 1; at < all; at++) {
        b->next[at] = 0;
        b->last[at] = b->last[0];
        b->next[b->last[0]] = at;
        b->last[0] = at;
    }
    b->n_units = all;
    while (b->next[0] && b->next[0] + OPEN_BLOCKS * BLOCK < all) {
        const uint32_t old = b->next[0];
        b->next[0] = b->next[old];
        b->last[b->next[old]] = 0;
    }
    return CTOK_OK;
}

static int fits(const builder *b, const state *s, uint32_t base) {
    if (b->taken[base]) return 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (b->used[base ^ b->edges[s->first + i].label]) return 0;
    }
    return 1;
}

/* A base for a state: its children's places are filled. */
static ctok_status place(builder *b, state *s) {
    const uint8_t label = b->edges[s->first].label;
    uint32_t at = b->next[0];
    while (at && !fits(b, s, at ^ label)) at = b->next[at];
    if (at == 0) {
        at = b->n_units;
        const ctok_status status = add_block(b);
        if (status != CTOK_OK) return status;
    }
    s->base = at ^ label;
    b->taken[s->base] = 1;
    for (uint32_t i = 0; i < s->n; i++) fill(b, s->base ^ b->edges[s->first + i].label);
    return CTOK_OK;
}

static ctok_status push(builder *b, uint32_t number, uint32_t at) {
    uint32_t *todo = (uint32_t *)grown(b->todo, &b->cap_todo, b->n_todo + 2, sizeof *todo);
    if (todo == NULL) return CTOK_ERR_MEMORY;
    b->todo = todo;
    b->todo[b->n_todo++] = number;
    b->todo[b->n_todo++] = at;
    return CTOK_OK;
}

/* The unit at a place leads to a state; the state's own children are laid out when it is met for the first time. */
static ctok_status lay_out(builder *b, uint32_t number, uint32_t at) {
    state *s = &b->states[number];
    const int is_new = s->base == NONE;
    ctok_status status = is_new ? place(b, s) : CTOK_OK;
    if (status != CTOK_OK) return status;
    b->units[at] |= (at ^ s->base) << 10 | (b->edges[s->first].label == 0 ? 0x100u : 0);
    for (uint32_t i = 0; is_new && i < s->n && status == CTOK_OK; i++) {
        const edge *e = &b->edges[s->first + i];
        b->units[s->base ^ e->label] = e->label ? e->label : e->to | (uint32_t)1 << 31;
        if (e->label) status = push(b, e->to, s->base ^ e->label);
    }
    return status;
}

/* A place that stayed free carries a label with which no state's base leads there. */
static void close_blocks(builder *b) {
    for (uint32_t block = 0; block < b->n_units; block += BLOCK) {
        uint32_t base = block;
        while (base < block + BLOCK - 1 && b->taken[base]) base++;
        for (uint32_t at = block; at < block + BLOCK; at++) {
            if (!b->used[at]) b->units[at] = at ^ base;
        }
    }
}

static ctok_status make_layout(builder *b, uint32_t root) {
    ctok_status status = add_block(b);
    if (status != CTOK_OK) return status;
    b->used[0] = b->taken[0] = 1;
    status = push(b, root, 0);
    while (b->n_todo && status == CTOK_OK) {
        b->n_todo -= 2;
        status = lay_out(b, b->todo[b->n_todo], b->todo[b->n_todo + 1]);
    }
    if (status == CTOK_OK) close_blocks(b);
    return status;
}

ctok_status ctok_charsmap_build(const uint8_t *keys, const uint32_t *ends, const uint32_t *values, size_t n, uint32_t **units, uint32_t *n_units) {
    builder b;
    uint32_t root = 0;
    if (n == 0) return CTOK_ERR_FORMAT;
    memset(&b, 0, sizeof b);
    ctok_status status = make_automaton(&b, keys, ends, values, n, &root);
    if (status == CTOK_OK) status = make_layout(&b, root);
    if (status == CTOK_OK) {
        *units = b.units;
        *n_units = b.n_units;
        b.units = NULL;
    }
    ctok_mem_free(b.way);
    ctok_mem_free(b.edges);
    ctok_mem_free(b.states);
    ctok_mem_free(b.table);
    ctok_mem_free(b.units);
    ctok_mem_free(b.next);
    ctok_mem_free(b.last);
    ctok_mem_free(b.used);
    ctok_mem_free(b.taken);
    ctok_mem_free(b.todo);
    return status;
}
