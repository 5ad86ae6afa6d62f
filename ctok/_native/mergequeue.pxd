from ctok._native.c_vocab cimport ctok_id, ctok_status
from ctok._native.mergelist cimport ListScratch, Merges

# Merge n symbols, 1 <= n <= s.cap, as merge_window does (mergelist.pyx); with dropout if the model has it.
cdef ctok_status merge_queued(const Merges *m, const ctok_id *symbols, size_t n, ListScratch *s) noexcept nogil
