/* ctok_trie.h - a vocabulary as a tree of prefixes, for models that match pieces from a place in the text onward.
 *
 * A double array: one 64-bit unit for each node, and everything a step needs stands in it. Read-only after ctok_trie_init, so any
 * number of threads may use it.
 *
 *   bits  0..8   the byte that leads to the node; CTOK_TRIE_NO_BYTE in a root or where no node stands
 *   bits  9..36  base: the child for byte b stands at base + b; 0 = no children
 *   bits 37..63  the piece that ends here: 1 + its place in byte order; 0 = none
 *
 * No two nodes with children have the same base, so a unit that carries the right byte at base + b is the child.
 *
 * There may be a second root, for pieces that continue a word: what follows a given prefix, without the prefix.
 */
#ifndef CTOK_TRIE_H
#define CTOK_TRIE_H

#include "ctok_base.h"

#define CTOK_TRIE_ROOT 0u      /* where a piece starts */
#define CTOK_TRIE_CONTINUED 1u /* the same after the prefix of continuing pieces; a node without children if no piece has it */

#define CTOK_TRIE_NO_BYTE 0x1FFu
#define CTOK_TRIE_MAX_PIECES ((uint32_t)1 << 27)

typedef struct ctok_trie {
    uint64_t *units;
    size_t n_units; /* all base + b of existing bases are below */
    size_t room_bytes;
    uint32_t n_nodes;
} ctok_trie;

/* A node as the builder met it: parents before their children, children in byte order. */
typedef struct ctok_trie_node {
    uint32_t at;     /* its unit */
    uint32_t parent; /* that of its parent; the roots are their own */
    uint32_t depth;  /* bytes from its root */
} ctok_trie_node;

/* ctok_trie_init - build the tree.
 *
 * t          uninitialised; on success to be given back with ctok_trie_free.
 * data,ends  n_pieces pieces in ascending byte order, one behind the other, and their cumulative end offsets (ascending, inside data: the
 *            caller's duty). Of equal pieces the last is found; an empty piece never is. Not kept.
 * prefix     bytes that continuing pieces begin with (n_prefix may be 0: then both roots have the same children).
 * nodes      NULL, or receives t->n_nodes entries, roots first, to be given back with ctok_mem_free.
 *
 * Returns CTOK_OK, CTOK_ERR_MEMORY, or CTOK_ERR_FORMAT when pieces are out of order (*bad is then the place of one) or too many; t then
 * owns nothing.
 *
 * Cost: linear in the bytes in practice; 15 to 30 ns a node.
 */
ctok_status ctok_trie_init(ctok_trie *t, const uint8_t *data, const uint32_t *ends, uint32_t n_pieces, const uint8_t *prefix, size_t n_prefix,
                           ctok_trie_node **nodes, uint32_t *bad);

/* ctok_trie_free - give everything back. */
void ctok_trie_free(ctok_trie *t);

static inline uint64_t ctok_trie_unit(const ctok_trie *t, size_t at) {
    return t->units[at];
}

static inline size_t ctok_trie_base(uint64_t unit) {
    return (size_t)(unit >> 9 & 0xFFFFFFF);
}

/* ctok_trie_is_node - does a node stand at this place? For places that come from outside. */
static inline int ctok_trie_is_node(const ctok_trie *t, size_t at) {
    return at <= CTOK_TRIE_CONTINUED || (at < t->n_units && (t->units[at] & CTOK_TRIE_NO_BYTE) != CTOK_TRIE_NO_BYTE);
}

/* ctok_trie_piece - 1 + the place in byte order of the piece that ends at a node, or 0. */
static inline uint32_t ctok_trie_piece(uint64_t unit) {
    return (uint32_t)(unit >> 37);
}

/* ctok_trie_goes_on - is there a longer piece? */
static inline int ctok_trie_goes_on(uint64_t unit) {
    return ctok_trie_base(unit) != 0;
}

/* ctok_trie_child - where the child of a node (given by its unit) for byte b stands, or 0. (The root is nobody's child.) */
static inline size_t ctok_trie_child(const ctok_trie *t, uint64_t unit, uint8_t b) {
    const size_t at = ctok_trie_base(unit) + b;
    return (t->units[at] & CTOK_TRIE_NO_BYTE) == b ? at : 0;
}

/* ctok_trie_step - go from a node to its child for byte b; 0, and *unit as it was, if there is none. */
static inline int ctok_trie_step(const ctok_trie *t, uint64_t *unit, uint8_t b) {
    const uint64_t child = t->units[ctok_trie_base(*unit) + b];
    if ((child & CTOK_TRIE_NO_BYTE) != b) return 0;
    *unit = child;
    return 1;
}

/* ctok_trie_find - the piece (as ctok_trie_piece) that is exactly p[0..n), or 0. */
static inline uint32_t ctok_trie_find(const ctok_trie *t, const uint8_t *p, size_t n) {
    uint64_t unit = ctok_trie_unit(t, CTOK_TRIE_ROOT);
    for (size_t i = 0; i < n; i++) {
        if (!ctok_trie_step(t, &unit, p[i])) return 0;
    }
    return ctok_trie_piece(unit);
}

#endif
