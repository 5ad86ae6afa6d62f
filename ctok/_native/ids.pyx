# cython: freethreading_compatible=False
"""Ids as Python objects: lists of shared ints, and `Ids`, one block of memory with the buffer protocol.

Lists are built from a table that holds one int object for each small id, made when first needed: a list of ids costs a look-up and a
reference an id, not an object.
"""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_WRITABLE, PyBuffer_FillInfo
from cpython.object cimport PyObject
from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from ctok._native.c_vocab cimport ctok_id, ctok_mem_alloc, ctok_mem_block, ctok_mem_fail_after, ctok_mem_free, ctok_mem_unblock

from operator import index as as_int

cdef extern from "ctok_base.h" nogil:
    void CTOK_PREFETCH(const void *p)

cdef extern from "ctok_mem.h" nogil:
    void ctok_mem_will_fill(void *p, size_t bytes)

cdef extern from "Python.h":
    PyObject **PyList_ITEMS "PySequence_Fast_ITEMS" (PyObject *o) noexcept
    PyObject *PyList_New_raw "PyList_New" (Py_ssize_t n) except NULL
    void PyList_SET_ITEM_raw "PyList_SET_ITEM" (PyObject *o, Py_ssize_t i, PyObject *item) noexcept
    PyObject *PyLong_FromLong_raw "PyLong_FromLong" (long n) except NULL
    void Py_INCREF_raw "Py_INCREF" (PyObject *o) noexcept
    void Py_DECREF_raw "Py_DECREF" (PyObject *o) noexcept

cdef char *FORMAT = "I"
cdef enum:
    ALONE = 1 << 16             # ids from which a copy releases the GIL

cdef PyObject **int_table = NULL
cdef Py_ssize_t int_table_n = 0


cdef int reserve_ints(Py_ssize_t n) except -1:
    global int_table, int_table_n
    cdef PyObject **bigger
    if n <= int_table_n:
        return 0
    bigger = <PyObject **>ctok_mem_block(n * <Py_ssize_t>sizeof(PyObject *))
    if bigger == NULL:
        raise MemoryError("no memory for the table of ints")
    if int_table_n:
        memcpy(bigger, int_table, int_table_n * sizeof(PyObject *))
        ctok_mem_unblock(int_table, int_table_n * sizeof(PyObject *))
    int_table = bigger
    int_table_n = n
    return 0


cdef list ids_to_list(const ctok_id *ids, Py_ssize_t n):
    cdef PyObject *out = PyList_New_raw(n)
    cdef PyObject *number
    cdef Py_ssize_t i
    cdef list result = <list>out        # which frees it, too, should there be no memory for a number
    Py_DECREF_raw(out)
    if n:
        ctok_mem_will_fill(PyList_ITEMS(out), n * sizeof(PyObject *))
    for i in range(n):
        # The table and the objects lie anywhere in memory: what comes up is fetched ahead.
        if i + 16 < n and ids[i + 16] < int_table_n:
            CTOK_PREFETCH(int_table + ids[i + 16])
            if ids[i + 8] < int_table_n:
                CTOK_PREFETCH(int_table[ids[i + 8]])
        number = int_table[ids[i]] if ids[i] < int_table_n else NULL
        if number == NULL:
            number = PyLong_FromLong_raw(ids[i])
            if ids[i] < int_table_n:
                int_table[ids[i]] = number
                Py_INCREF_raw(number)
        else:
            Py_INCREF_raw(number)
        PyList_SET_ITEM_raw(out, i, number)
    return result


cdef Ids ids_to_object(const ctok_id *ids, Py_ssize_t n):
    cdef Ids out = Ids.__new__(Ids)
    out.at = <ctok_id *>ctok_mem_alloc(n, sizeof(ctok_id))
    if out.at == NULL:
        raise MemoryError(f"no memory for {n} ids")
    if n >= ALONE:
        with nogil:
            memcpy(out.at, ids, n * sizeof(ctok_id))
    elif n:
        memcpy(out.at, ids, n * sizeof(ctok_id))
    out.n = n
    return out


cdef class Ids:
    """Ids as one block of memory: a read-only buffer of unsigned 32-bit numbers.

    ``memoryview(ids)``, ``numpy.asarray(ids)`` and ``array.array("I", ids)`` read it without numpy being needed; `len`, indexing,
    iteration, slices (as lists), comparison and `tolist` work as for a list.

    Parameters
    ----------
    ids
        Any iterable of int. A buffer is copied faster by `from_buffer`.

    Raises
    ------
    OverflowError
        One is not in ``0 <= id < 2**32``.
    TypeError
        One is no int.
    """

    def __cinit__(self, ids=None):
        cdef list given
        cdef Py_ssize_t i
        if ids is None:
            return
        given = list(map(as_int, ids))
        self.at = <ctok_id *>ctok_mem_alloc(len(given), sizeof(ctok_id))
        if self.at == NULL:
            raise MemoryError(f"no memory for {len(given)} ids")
        for i in range(len(given)):
            self.at[i] = given[i]
        self.n = len(given)

    def __dealloc__(self):
        ctok_mem_free(self.at)

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        cdef Py_ssize_t i
        if isinstance(index, slice):
            return self.tolist()[index]
        if not -self.n <= index < self.n:
            raise IndexError(f"index {index} is out of range for {self.n} ids")
        i = index
        return self.at[i if i >= 0 else i + self.n]

    def __iter__(self):
        return iter(self.tolist())

    @staticmethod
    def from_buffer(const ctok_id[::1] ids):
        """Return `Ids` with a copy of `ids`, a buffer of unsigned 32-bit numbers such as ``array.array("I")``."""
        cdef Py_ssize_t n = ids.shape[0]
        return ids_to_object(&ids[0] if n else NULL, n)

    def tolist(self):
        """Return the ids as a list of int."""
        return ids_to_list(self.at, self.n)

    def __eq__(self, other):
        if isinstance(other, (Ids, list)):
            return len(self) == len(other) and self.tolist() == list(other)
        return NotImplemented

    __hash__ = None

    def __repr__(self):
        shown = ", ".join([str(number) for number in self[:8]])
        return f"<Ids: {self.n} [{shown}{', ...' if self.n > 8 else ''}]>"

    def __reduce__(self):
        return _from_bytes, (bytes(memoryview(self)),)

    def __getbuffer__(self, Py_buffer *view, int flags):
        if flags & PyBUF_WRITABLE:
            raise BufferError("Ids are read-only")
        PyBuffer_FillInfo(view, self, self.at, self.n * <Py_ssize_t>sizeof(ctok_id), True, flags)
        view.itemsize = sizeof(ctok_id)
        self.shape[0] = self.n
        self.strides[0] = sizeof(ctok_id)
        view.format = FORMAT if flags & PyBUF_FORMAT else NULL
        if view.shape != NULL:
            view.shape = self.shape
        if view.strides != NULL:
            view.strides = self.strides


def _from_bytes(const uint8_t[::1] raw):
    cdef Py_ssize_t n = raw.shape[0] // <Py_ssize_t>sizeof(ctok_id)
    return ids_to_object(<const ctok_id *>&raw[0] if n else NULL, n)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
