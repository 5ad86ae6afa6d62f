from ctok._native.c_vocab cimport ctok_id


cdef class Ids:
    cdef ctok_id *at
    cdef Py_ssize_t n
    cdef Py_ssize_t shape[1]
    cdef Py_ssize_t strides[1]

# Make the shared table of int objects cover the ids below n.
cdef int reserve_ints(Py_ssize_t n) except -1

cdef list ids_to_list(const ctok_id *ids, Py_ssize_t n)
cdef Ids ids_to_object(const ctok_id *ids, Py_ssize_t n)
