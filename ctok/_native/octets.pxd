from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t


# Where the bytes of a view begin; not NULL, also where it has none.
cdef inline const uint8_t *first_of(const uint8_t[::1] view) noexcept:
    return &view[0] if view.shape[0] else <const uint8_t *>b""


# The bytes of an object that is being filled.
cdef inline uint8_t *octets_of(bytes b) noexcept:
    return <uint8_t *>PyBytes_AS_STRING(b)


# An object to be filled.
cdef inline bytes room_of(size_t n):
    return PyBytes_FromStringAndSize(NULL, <Py_ssize_t>n)
