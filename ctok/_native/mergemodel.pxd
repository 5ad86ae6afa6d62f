from ctok._native.mergelist cimport Merges
from ctok._native.model cimport Model
from ctok._native.vocab cimport Vocab


# A model that kernels may run as what it is (mergelanes.pyx).
cdef class MergeModel(Model):
    cdef Merges m

cdef class MergeList(MergeModel):
    cdef readonly Vocab vocab
    cdef readonly object unk_id
    cdef object _merges
    cdef object _joined
    cdef bint _joins_unknown(self)
    cdef _set_first_pairs(self)
    cdef _set_crossing(self)
    cdef _set_ranked(self, used)
    cdef _set_listed(self)
    cdef _need_pairs(self)
    cdef _set_tables(self)
    cdef _set_affixes(self, bytes prefix, bytes suffix)
    cdef _set_units(self, Vocab pieces)
    cdef bint _set_pairs(self, Vocab pieces, merges, joined) except -1

cdef void set_ops(MergeModel model)
