from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_vocab cimport ctok_status

cdef extern from "ctok_trie.h" nogil:
    const unsigned int CTOK_TRIE_ROOT
    const unsigned int CTOK_TRIE_CONTINUED
    const unsigned int CTOK_TRIE_NO_BYTE
    ctypedef struct ctok_trie:
        uint64_t *units
        size_t n_units
        uint32_t n_nodes
    ctypedef struct ctok_trie_node:
        uint32_t at
        uint32_t parent
        uint32_t depth
    ctok_status ctok_trie_init(ctok_trie *t, const uint8_t *data, const uint32_t *ends, uint32_t n_pieces, const uint8_t *prefix,
                               size_t n_prefix, ctok_trie_node **nodes, uint32_t *bad)
    void ctok_trie_free(ctok_trie *t)
    uint64_t ctok_trie_unit(const ctok_trie *t, size_t at)
    bint ctok_trie_is_node(const ctok_trie *t, size_t at)
    size_t ctok_trie_base(uint64_t unit)
    uint32_t ctok_trie_piece(uint64_t unit)
    bint ctok_trie_goes_on(uint64_t unit)
    size_t ctok_trie_child(const ctok_trie *t, uint64_t unit, uint8_t b)
    bint ctok_trie_step(const ctok_trie *t, uint64_t *unit, uint8_t b)
    uint32_t ctok_trie_find(const ctok_trie *t, const uint8_t *p, size_t n)
