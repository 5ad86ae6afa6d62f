from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_vocab cimport ctok_status
from ctok._native.model cimport Model, Table
from ctok._native.viterbi cimport Node, UnigramModel

# Room for the best paths to all places of a text of less than `cap` bytes. Zeroed = none.
cdef struct UnigramScratch:
    Node *nodes
    uint32_t *stops
    size_t cap

# Pieces with scores, whoever made them.
cdef class ScoredPieces(Model):
    cdef UnigramModel m
    cdef double *path_score_of  # by piece, as paths are listed and drawn by; it may be that of `m`
    cdef readonly object unk_id

cdef class Unigram(ScoredPieces):
    pass

# The module `lattice`.
cdef object lattice()
# Build the tree of a table's pieces and set `m.id_of`; an exception if that fails.
cdef object plant(UnigramModel *m, Table table)
# The functions of the model; m.unk and m.byte_ids are set.
cdef void set_unigram(ScoredPieces model)

cdef ctok_status unigram_reserve(UnigramScratch *s, size_t n) noexcept nogil
cdef void unigram_unreserve(UnigramScratch *s) noexcept nogil

# As csrc/ctok_model.h says.
cdef void *unigram_scratch_new(const void *model) noexcept nogil
cdef void unigram_scratch_free(void *scratch) noexcept nogil
cdef ctok_status unigram_encode(const void *model, void *scratch, const uint8_t *p, size_t n, ctok_ids *ids,
                                ctok_ids *ends) noexcept nogil
# Append the ids of the path to place n that the nodes tell, given by their `size` and `piece`; s.stops has room for n.
cdef ctok_status unigram_give_path(const UnigramModel *m, UnigramScratch *s, const uint8_t *p, size_t n, ctok_ids *ids,
                                   ctok_ids *ends) noexcept nogil
