"""A pretoken that arrives, encoded by a list of merges: held until it ends."""

from libc.stdint cimport uint8_t

from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_model cimport ctok_bytes, ctok_bytes_append, ctok_bytes_free
from ctok._native.c_vocab cimport CTOK_OK, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed, ctok_status
from ctok._native.mergelist cimport ListScratch, Merges, list_scratch_free, list_scratch_new, merges_encode


cdef void *merges_open_new(const void *model) noexcept nogil:
    cdef MergesOpen *open = <MergesOpen *>ctok_mem_zeroed(1, sizeof(MergesOpen))
    if open == NULL:
        return NULL
    open.model = <const Merges *>model
    open.scratch = <ListScratch *>list_scratch_new(model)
    if open.scratch == NULL:
        ctok_mem_free(open)
        return NULL
    return open


cdef void merges_open_free(void *state) noexcept nogil:
    if state != NULL:
        list_scratch_free((<MergesOpen *>state).scratch)
        ctok_bytes_free(&(<MergesOpen *>state).text)
        ctok_mem_free(state)


cdef ctok_status merges_open_feed(void *state, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil:
    return ctok_bytes_append(&(<MergesOpen *>state).text, p, n)


cdef ctok_status merges_open_end(void *state, ctok_ids *ids) noexcept nogil:
    cdef MergesOpen *open = <MergesOpen *>state
    cdef ctok_status status = merges_encode(open.model, open.scratch, open.text.at, open.text.n, ids, NULL)
    open.text.n = 0
    return status


cdef void *merges_open_copy(const void *state) noexcept nogil:
    cdef const MergesOpen *open = <const MergesOpen *>state
    cdef MergesOpen *other = <MergesOpen *>merges_open_new(open.model)
    if other == NULL or ctok_bytes_append(&other.text, open.text.at, open.text.n) != CTOK_OK:
        merges_open_free(other)
        return NULL
    return other


cdef ctok_status merges_open_save(const void *state, ctok_bytes *out) noexcept nogil:
    return ctok_bytes_append(out, (<const MergesOpen *>state).text.at, (<const MergesOpen *>state).text.n)


cdef ctok_status merges_open_load(void *state, const uint8_t *p, size_t n) noexcept nogil:
    (<MergesOpen *>state).text.n = 0
    return ctok_bytes_append(&(<MergesOpen *>state).text, p, n)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
