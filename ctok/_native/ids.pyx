# cython: freethreading_compatible=False
"""Ids as Python objects: lists of shared ints, and `Ids`, one block of memory with the buffer protocol.

Lists share one int object for each id of a vocabulary, made when first needed. These objects stand in memory of ours and live for ever, so
that references to them need not be counted: making a list reads and writes no object.
"""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_WRITABLE, PyBuffer_FillInfo
from cpython.object cimport PyObject
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy

from ctok._native.c_vocab cimport ctok_id, ctok_mem_alloc, ctok_mem_block, ctok_mem_fail_after, ctok_mem_free, ctok_mem_unblock

from operator import index as as_int

cdef extern from "ctok_mem.h" nogil:
    void ctok_mem_will_fill(void *p, size_t bytes)

cdef extern from "Python.h":
    PyObject **PyList_ITEMS "PySequence_Fast_ITEMS" (PyObject *o) noexcept
    PyObject *PyList_New_raw "PyList_New" (Py_ssize_t n) except NULL
    PyObject *PyLong_FromLong_raw "PyLong_FromLong" (long n) except NULL
    void Py_DECREF_raw "Py_DECREF" (PyObject *o) noexcept

cdef extern from *:
    """
    #include <stddef.h>

    /* Whether the copy of an int may stand in a place of ours for ever: an id below 2**30 must be one digit, an object must fit its place,
       and the count of references must be too wide to fall to zero, or be none, as that of immortal objects. Elsewhere (32 bits,
       free threads, builds that trace references) ids get ints of their own. */
    #if SIZEOF_VOID_P == 8 && PYLONG_BITS_IN_DIGIT == 30 && !defined(Py_REF_DEBUG) && !defined(Py_GIL_DISABLED)
    #define CTOK_INT_BYTES ((size_t)PyLong_Type.tp_basicsize + sizeof(uint32_t))
    #define CTOK_INTS_STAND (CTOK_INT_BYTES <= 32)
    #else
    #define CTOK_INT_BYTES 0
    #define CTOK_INTS_STAND 0
    #endif

    /* Make an int that lives for ever. zero and large are ints that the interpreter never frees: 0, and any other of one digit. */
    static void ctok_int_settle(void *place, uint32_t number, const void *zero, const void *large) {
        memcpy(place, number ? large : zero, CTOK_INT_BYTES);
        if (number) memcpy((char *)place + PyLong_Type.tp_basicsize, &number, sizeof number);
    #if PY_VERSION_HEX >= 0x030C0000
        memcpy(place, zero, offsetof(PyObject, ob_type));
    #else
        ((PyObject *)place)->ob_refcnt = PY_SSIZE_T_MAX / 2; /* 2**62 lists may let go of it */
    #endif
    }
    """
    bint CTOK_INTS_STAND
    void ctok_int_settle(void *place, uint32_t number, const void *zero, const void *large) noexcept

cdef char *FORMAT = "I"
cdef enum:
    ALONE = 1 << 16             # ids from which a copy releases the GIL
    PLACE = 32                  # bytes of an int
    ROOM_BITS = 16              # places of a room: 2 MiB, one large page
    ROOM = 1 << ROOM_BITS
    ROOMS = 64                  # so many ints are shared: four million
    SMALL = 1 << 16             # ids that the first table is for
    ONE_DIGIT = 1 << 30         # ints below it are of one size

cdef object _ZERO = 0
cdef object _LARGE = ONE_DIGIT - 1
cdef char *int_rooms[ROOMS]
cdef uint32_t n_rooms = 0
cdef uint32_t next_place = 0, end_place = 0     # of the last room
cdef uint32_t *int_places = NULL        # id -> the place of its int, or 0 while it has none
cdef Py_ssize_t int_places_n = 0


cdef bint _open_room(uint32_t taken) noexcept:
    """Make a room whose first places are for something else; the very first one is for no int."""
    global n_rooms, next_place, end_place
    if n_rooms == ROOMS:
        return False
    int_rooms[n_rooms] = <char *>ctok_mem_block(ROOM * PLACE)
    if int_rooms[n_rooms] == NULL:
        return False
    next_place = n_rooms * ROOM + max(taken, <uint32_t>1)
    n_rooms += 1
    end_place = n_rooms * ROOM
    return True


cdef int reserve_ints(Py_ssize_t n) except -1:
    """The table stands in front of the ints it leads to where both fit a room, which then cost one page fault."""
    global int_places, int_places_n
    cdef Py_ssize_t size = SMALL
    cdef uint32_t *bigger
    n = min(n, <Py_ssize_t>ONE_DIGIT)
    if n <= int_places_n or not CTOK_INTS_STAND:
        return 0
    while size < n:
        size *= 2
    if size * <Py_ssize_t>sizeof(uint32_t) < ROOM * PLACE and _open_room(<uint32_t>(size * sizeof(uint32_t) // PLACE)):
        bigger = <uint32_t *>int_rooms[n_rooms - 1]
    else:
        bigger = <uint32_t *>ctok_mem_block(size * sizeof(uint32_t))
    if bigger == NULL:
        raise MemoryError("no memory for the table of ints")
    if int_places_n:
        memcpy(bigger, int_places, int_places_n * sizeof(uint32_t))
        if int_places_n * <Py_ssize_t>sizeof(uint32_t) >= ROOM * PLACE:
            ctok_mem_unblock(int_places, int_places_n * sizeof(uint32_t))
    int_places = bigger
    int_places_n = size
    return 0


cdef inline PyObject *_int_at(uint32_t place) noexcept nogil:
    return <PyObject *>(int_rooms[place >> ROOM_BITS] + (place & (ROOM - 1)) * PLACE)


cdef PyObject *_first_int(ctok_id number) except NULL:
    """The int of an id that has none yet, shared from now on if there is room; else a new reference."""
    global next_place
    if number >= int_places_n or (next_place == end_place and not _open_room(0)):
        return PyLong_FromLong_raw(number)
    ctok_int_settle(_int_at(next_place), number, <PyObject *>_ZERO, <PyObject *>_LARGE)
    int_places[number] = next_place
    next_place += 1
    return _int_at(next_place - 1)


cdef list ids_to_list(const ctok_id *ids, Py_ssize_t n):
    cdef PyObject *out = PyList_New_raw(n)
    cdef PyObject **items
    cdef Py_ssize_t i
    cdef list result = <list>out        # which frees it, too, should there be no memory for a number
    Py_DECREF_raw(out)
    if n == 0:
        return result
    items = PyList_ITEMS(out)
    ctok_mem_will_fill(items, n * sizeof(PyObject *))
    for i in range(n):
        if ids[i] < int_places_n and int_places[ids[i]]:
            items[i] = _int_at(int_places[ids[i]])
        else:
            items[i] = _first_int(ids[i])
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
