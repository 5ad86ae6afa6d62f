from libc.stddef cimport size_t
from libc.stdint cimport uint32_t


# Ids read out of a Python object. Give back with free_ids.
cdef struct Ids:
    uint32_t *p            # n ids; CTOK_NO_ID stands for a number that cannot be an id
    size_t n
    bint owned

# Read any sequence or buffer of integers. `first` (n_first items, at least 1) is used while it suffices. Returns the object in which the
# ids can be looked up again by index, for error messages. TypeError for what is no such thing; nothing is owned then.
cdef object read_ids(object source, Ids *ids, uint32_t *first, size_t n_first)
cdef void free_ids(Ids *ids) noexcept nogil
