from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_trie cimport ctok_trie
from ctok._native.c_vocab cimport ctok_status

cdef extern from "ctok_lattice.h" nogil:
    ctypedef struct ctok_lattice_token:
        double score
        uint32_t start
        uint32_t piece
    ctypedef struct ctok_lattice:
        size_t n
        uint32_t *first
        ctok_lattice_token *tokens
    ctypedef struct ctok_ways:
        ctok_ids tokens
        ctok_ids ends
        double *scores
        double *perturbed
    ctok_status ctok_lattice_build(ctok_lattice *l, const ctok_trie *t, const double *score_of, bint unknowns, const uint8_t *p,
                                   const uint32_t *stops, size_t n_stops)
    void ctok_lattice_free(ctok_lattice *l)
    ctok_status ctok_lattice_count(const ctok_lattice *l, size_t most, size_t *n)
    ctok_status ctok_lattice_share(ctok_lattice *l, double alpha)
    ctok_status ctok_lattice_weigh(ctok_lattice *l, double alpha, bint nested)
    ctok_status ctok_lattice_draw(const ctok_lattice *l, uint64_t *random, ctok_ids *tokens, double *share)
    ctok_status ctok_lattice_entropy(const ctok_lattice *l, double *entropy)
    ctok_status ctok_lattice_draw_distinct(const ctok_lattice *l, size_t k, uint64_t *random, ctok_ways *found)
    ctok_status ctok_lattice_best(const ctok_lattice *l, size_t k, ctok_ways *found)
    ctok_status ctok_lattice_draw_best(const ctok_lattice *l, size_t k, double alpha, size_t n, uint64_t *random, ctok_ways *found)
    ctok_status ctok_lattice_best_forward(const ctok_lattice *l, size_t k, ctok_ways *found)
    void ctok_ways_free(ctok_ways *w)
    double ctok_lattice_random(uint64_t *random)
