cimport cython
from libc.stdint cimport int64_t


@cython.final
cdef class Matrix:
    cdef char *at
    cdef int n_dims
    cdef readonly Py_ssize_t itemsize
    cdef Py_ssize_t sizes[2]
    cdef Py_ssize_t strides[2]
    cdef void put(self, Py_ssize_t row, Py_ssize_t column, int64_t number) noexcept nogil
    cdef object row(self, index)


@cython.final
cdef class Batch:
    cdef readonly Matrix ids
    cdef readonly Matrix attention_mask
    cdef readonly Matrix type_ids
    cdef readonly Matrix lengths
