"""Ids out of whatever a caller has: lists and tuples of ints without a call per item, buffers of any integer width, the rest by iteration.

The ids are copied, so that kernels may run without the GIL while nobody can change them. A number that cannot be an id becomes CTOK_NO_ID,
which no vocabulary has: the one place that reports unknown ids then names it as the caller gave it.
"""

from cpython.buffer cimport PyBUF_FULL_RO, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
from cpython.list cimport PyList_Check
from cpython.long cimport PyLong_Check
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_Check
from libc.stdint cimport int16_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t

from ctok._native.c_pylong cimport ctok_pylong_u32
from ctok._native.c_vocab cimport CTOK_NO_ID, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free

import sys
from operator import index as _as_index

cdef extern from "Python.h":
    PyObject **PyList_ITEMS "PySequence_Fast_ITEMS" (object items)

cdef extern from "ctok_base.h" nogil:
    void CTOK_PREFETCH(const void *p)

cdef enum:
    AHEAD = 16          # items between fetching one and reading it

cdef bint _LITTLE = sys.byteorder == "little"


cdef void free_ids(Ids *ids) noexcept nogil:
    if ids.owned:
        ctok_mem_free(ids.p)
    ids.owned = False


cdef int _room(Ids *ids, size_t n, uint32_t *first, size_t n_first) except -1:
    ids.n = n
    ids.owned = n > n_first
    ids.p = first
    if ids.owned:
        ids.p = <uint32_t *>ctok_mem_alloc(n, sizeof(uint32_t))
        if ids.p == NULL:
            ids.owned = False
            raise MemoryError("no memory for the ids")
    return 0


cdef size_t _read_items(object items, uint32_t *out, size_t n):
    """Read ints out of a list or tuple up to the first item that is none; returns how many."""
    cdef size_t i
    cdef PyObject *item
    cdef PyObject **row = PyList_ITEMS(items)
    for i in range(n):
        if i + AHEAD < n:
            CTOK_PREFETCH(row[i + AHEAD])
        item = row[i]
        if not PyLong_Check(<object>item):
            return i
        out[i] = ctok_pylong_u32(item)
    return n


cdef uint32_t _narrow(int64_t value) noexcept nogil:
    return CTOK_NO_ID if value < 0 or value > <int64_t>CTOK_NO_ID else <uint32_t>value


cdef void _read_fixed(const void *data, size_t width, bint signed_, uint32_t *out, size_t n) noexcept nogil:
    cdef size_t i
    cdef uint64_t wide
    if width == 2:
        for i in range(n):
            out[i] = _narrow((<const int16_t *>data)[i]) if signed_ else (<const uint16_t *>data)[i]
    elif width == 4:
        for i in range(n):
            out[i] = _narrow((<const int32_t *>data)[i]) if signed_ else (<const uint32_t *>data)[i]
    else:
        for i in range(n):
            wide = (<const uint64_t *>data)[i]
            out[i] = CTOK_NO_ID if wide > CTOK_NO_ID else <uint32_t>wide      # a negative number is a very large one


cdef bint _fixed_width(const Py_buffer *view, bint *signed_):
    """Is this a one-dimensional row of native integers of 2, 4 or 8 bytes?"""
    cdef const char *code = view.format
    if code == NULL or view.ndim != 1 or view.suboffsets != NULL:
        return False
    if code[0] == c"@" or code[0] == c"=" or code[0] == (c"<" if _LITTLE else c">"):
        code += 1
    if code[0] == 0 or code[1] != 0 or not (view.itemsize == 2 or view.itemsize == 4 or view.itemsize == 8):
        return False
    signed_[0] = code[0] in b"hilqn"
    return code[0] in b"hilqnHILQN" and (view.strides == NULL or view.strides[0] == view.itemsize)


cdef bint _read_buffer(object source, Ids *ids, uint32_t *first, size_t n_first) except -1:
    cdef Py_buffer view
    cdef bint signed_ = False
    PyObject_GetBuffer(source, &view, PyBUF_FULL_RO)
    try:
        if not _fixed_width(&view, &signed_):
            return False
        _room(ids, <size_t>(view.len // view.itemsize), first, n_first)
        _read_fixed(view.buf, <size_t>view.itemsize, signed_, ids.p, ids.n)
        return True
    finally:
        PyBuffer_Release(&view)


cdef object read_ids(object source, Ids *ids, uint32_t *first, size_t n_first):
    ids.owned = False
    if not (PyList_Check(source) or PyTuple_Check(source)):
        if isinstance(source, (str, bytes, bytearray)):
            raise TypeError(f"ids must be a sequence of integers, not {type(source).__name__}")
        if PyObject_CheckBuffer(source) and _read_buffer(source, ids, first, n_first):
            return source
        source = list(source)
    _room(ids, <size_t>len(source), first, n_first)
    if _read_items(source, ids.p, ids.n) == ids.n:
        return source
    free_ids(ids)
    source = [_as_index(item) for item in source]
    _room(ids, <size_t>len(source), first, n_first)
    _read_items(source, ids.p, ids.n)
    return source


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
