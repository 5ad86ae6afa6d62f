from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_merge cimport ctok_ids, ctok_ids_push, ctok_ids_reserve
from ctok._native.c_model cimport ctok_model_ops
from ctok._native.c_trie cimport ctok_trie
from ctok._native.c_vocab cimport CTOK_ERR_BYTE, CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_id, ctok_status


# A model of one pretoken. Read-only once its constructor is done; kernels read `ops` and hand `model` back to them.
cdef class Model:
    cdef ctok_model_ops ops
    cdef const void *model

# A token table as a model's constructor reads it: checked, and held by whoever built it as long as it is read.
cdef class Table:
    cdef const uint8_t[::1] _data
    cdef const uint32_t[::1] _ends
    cdef const uint32_t[::1] _ids
    cdef const uint8_t *data
    cdef const uint32_t *ends
    cdef const uint32_t *ids
    cdef uint32_t n

cdef class OpenPretoken:
    cdef Model _model
    cdef void *_open

# A copy of the ids by 1 + place in byte order, as a tree gives pieces (csrc/ctok_trie.h); [0] is CTOK_NO_ID. To be freed.
cdef ctok_status table_ids(Table table, ctok_id **id_of) noexcept
# The exception for what ctok_trie_init returned.
cdef object table_failed(ctok_status status, uint32_t bad)
# The id of a text, or CTOK_NO_ID.
cdef ctok_id table_find(const ctok_trie *t, const ctok_id *id_of, bytes text)
# A list of ids; the exception for a status of `ctok_model_ops.encode`.
cdef list numbers(const ctok_ids *ids)
cdef object failure(ctok_status status)
# A number to draw by: the seed, or one that nobody can foresee if it is None.
cdef uint64_t seed_of(seed) except? 0
# For models that need no room to work in.
cdef void *nothing_new(const void *model) noexcept nogil
cdef void nothing_free(void *scratch) noexcept nogil

# Append the one id of a text of n bytes; CTOK_NO_ID: nothing covers it.
cdef inline ctok_status give_one(ctok_id id, size_t n, ctok_ids *ids, ctok_ids *ends) noexcept nogil:
    if id == CTOK_NO_ID:
        return CTOK_ERR_BYTE
    if ends != NULL:
        if ctok_ids_reserve(ends, 1) != CTOK_OK:
            return CTOK_ERR_MEMORY
    if ctok_ids_push(ids, id) != CTOK_OK:
        return CTOK_ERR_MEMORY
    if ends != NULL:
        ends.at[ends.n] = <ctok_id>n
        ends.n += 1
    return CTOK_OK
