from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_beside cimport ctok_beside
from ctok._native.c_trie cimport ctok_trie
from ctok._native.c_vocab cimport ctok_id, ctok_status

cdef extern from "ctok_bestpath.h" nogil:
    const unsigned int CTOK_BESTPATH_BYTES
    const unsigned int CTOK_BESTPATH_PLACES
    ctypedef struct ctok_bestpath:
        ctok_beside beside
    ctypedef struct ctok_places:
        float best[80]
    ctypedef struct ctok_step:
        ctok_id id
        uint32_t end
        float lead
    ctok_status ctok_bestpath_init(ctok_bestpath *b, const ctok_trie *t, const double *scores, const ctok_id *ids, ctok_id none,
                                   const uint8_t *data, const uint32_t *ends, uint32_t n)
    void ctok_bestpath_free(ctok_bestpath *b)
    ctok_id ctok_bestpath_id(const ctok_bestpath *b, uint32_t node)
    size_t ctok_bestpath_find(const ctok_bestpath *b, ctok_places *at, const uint8_t *p, size_t n, const uint8_t *end, float before)
    size_t ctok_bestpath_steps(const ctok_bestpath *b, const ctok_places *at, size_t n, ctok_step *steps)
