from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_trie cimport ctok_trie
from ctok._native.c_vocab cimport ctok_status

cdef extern from "ctok_finepath.h" nogil:
    ctypedef struct ctok_finepath:
        double *scores
    ctypedef struct ctok_fineplaces:
        pass
    ctypedef struct ctok_finestep:
        uint32_t piece
        uint32_t end
    ctok_status ctok_finepath_init(ctok_finepath *f, const ctok_trie *t, const double *scores, size_t n_pieces)
    void ctok_finepath_free(ctok_finepath *f)
    size_t ctok_finepath_find(const ctok_finepath *f, ctok_fineplaces *at, const uint8_t *p, size_t n, ctok_finestep *steps)
