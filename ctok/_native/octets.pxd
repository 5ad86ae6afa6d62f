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


# The byte that a piece like <0x0A> stands for, or -1.
cdef inline int byte_of(const uint8_t *p, size_t n) noexcept nogil:
    cdef int high, low
    if n != 6 or p[0] != 0x3C or p[1] != 0x30 or p[2] != 0x78 or p[5] != 0x3E:
        return -1
    high = digit_of(p[3])
    low = digit_of(p[4])
    return high << 4 | low if high >= 0 and low >= 0 else -1


cdef inline int digit_of(uint8_t c) noexcept nogil:
    return c - 0x30 if 0x30 <= c <= 0x39 else c - 0x41 + 10 if 0x41 <= c <= 0x46 else -1
