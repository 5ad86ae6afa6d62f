"""The texts of a batch as rectangles: ids, attention mask and type ids, all rows of one length.

`Matrix` is one block of memory with the buffer protocol. Numbers are signed 64-bit unless the caller wants 32: that is what the embedding
look-ups of the usual libraries index with, so nothing has to be converted, while unsigned ones would be refused. The memory belongs to
whoever got the matrix and may be written to.
"""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBUF_STRIDES
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

from ctok._native.c_vocab cimport ctok_id, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed
from ctok._native.ids cimport Ids

cdef char *LONG = "q"
cdef char *SHORT = "i"
cdef enum:
    ALONE = 1 << 16             # numbers from which the GIL is released

# One text: where its ids are, and which of them remain.
cdef struct Row:
    const ctok_id *p
    Py_ssize_t n

# What stands before or behind every text.
cdef struct Part:
    Py_ssize_t n
    int64_t *ids
    int64_t *types


cdef class Matrix:
    """Rows of numbers of one length, one behind the other; or, with one dimension, a single row.

    ``numpy.asarray(matrix)``, ``memoryview(matrix)`` and ``torch.frombuffer(matrix, dtype=torch.int64).reshape(matrix.shape)`` share its
    memory. (``torch.asarray`` would read any buffer as floats of 32 bits.) `len`, indexing by row or by (row, column), iteration and
    `tolist` work as for a list of lists.
    """

    def __cinit__(self, rows, columns, itemsize=8):
        cdef Py_ssize_t n = rows, m = 1 if columns is None else columns
        if n < 0 or m < 0 or itemsize not in (4, 8):
            raise ValueError("rows and columns cannot be negative, and a number takes 4 bytes or 8")
        if m and n > (<Py_ssize_t>1 << 60) // m:
            raise MemoryError(f"no memory for {n} rows of {m} numbers")
        self.n_dims = 1 if columns is None else 2
        self.sizes[0] = n
        self.sizes[1] = m
        self.itemsize = itemsize
        self.strides[0] = self.itemsize * m
        self.strides[1] = self.itemsize
        self.at = <char *>ctok_mem_zeroed(n * m, self.itemsize)
        if self.at == NULL:
            raise MemoryError(f"no memory for {n} rows of {m} numbers")

    def __dealloc__(self):
        ctok_mem_free(self.at)

    @property
    def shape(self):
        """Rows and columns; rows only where there is one dimension."""
        return (self.sizes[0], self.sizes[1])[:self.n_dims]

    def __len__(self):
        return self.sizes[0]

    cdef void put(self, Py_ssize_t row, Py_ssize_t column, int64_t number) noexcept nogil:
        cdef Py_ssize_t i = row * self.sizes[1] + column
        if self.itemsize == 8:
            (<int64_t *>self.at)[i] = number
        else:
            (<int32_t *>self.at)[i] = <int32_t>number

    def __getitem__(self, index):
        return memoryview(self)[index] if isinstance(index, tuple) or self.n_dims == 1 else self.row(index)

    cdef object row(self, index):
        cdef Py_ssize_t i
        if not -self.sizes[0] <= index < self.sizes[0]:
            raise IndexError(f"index {index} is out of range for {self.sizes[0]} rows")
        i = index
        i = i if i >= 0 else i + self.sizes[0]
        return memoryview(self).cast("B").cast("q" if self.itemsize == 8 else "i")[i * self.sizes[1]:(i + 1) * self.sizes[1]].tolist()

    def __iter__(self):
        return iter(self.tolist())

    def tolist(self):
        """Return the numbers as a list of lists, or as a list where there is one dimension."""
        if self.sizes[0] == 0 or self.sizes[1] == 0:
            return [[] for _ in range(self.sizes[0])] if self.n_dims == 2 else []
        return memoryview(self).tolist()

    def __eq__(self, other):
        if isinstance(other, (Matrix, list)):
            return self.tolist() == list(other)
        return NotImplemented

    __hash__ = None

    def __repr__(self):
        return f"<Matrix: {' x '.join([str(size) for size in self.shape])}, int{8 * self.itemsize}>"

    def __reduce__(self):
        return _restored, (
            self.sizes[0], self.sizes[1] if self.n_dims == 2 else None, self.itemsize,
            PyBytes_FromStringAndSize(self.at, self.sizes[0] * self.sizes[1] * self.itemsize))

    def __getbuffer__(self, Py_buffer *view, int flags):
        view.obj = self
        view.buf = self.at
        view.len = self.sizes[0] * self.sizes[1] * self.itemsize
        view.itemsize = self.itemsize
        view.readonly = False
        view.ndim = self.n_dims
        view.format = (LONG if self.itemsize == 8 else SHORT) if flags & PyBUF_FORMAT else NULL
        view.shape = self.sizes if flags & PyBUF_ND else NULL
        view.strides = self.strides if flags & PyBUF_STRIDES == PyBUF_STRIDES else NULL
        view.suboffsets = NULL
        view.internal = NULL


def _restored(rows, columns, itemsize, bytes data):
    cdef Matrix matrix = Matrix(rows, columns, itemsize)
    if <Py_ssize_t>len(data) != matrix.sizes[0] * matrix.sizes[1] * matrix.itemsize:
        raise ValueError("the data of a matrix does not fit its shape")
    memcpy(matrix.at, <const char *>data, len(data))
    return matrix


cdef class Batch:
    """The texts of a batch, all of one length.

    Attributes
    ----------
    ids, attention_mask, type_ids
        `Matrix` objects of one row for each text. The mask is 0 for padding and 1 for all else.
    lengths
        A `Matrix` of one dimension: how many ids of each text are no padding.
    """

    def __init__(self, Matrix ids not None, Matrix attention_mask not None, Matrix type_ids not None, Matrix lengths not None):
        if not ids.shape == attention_mask.shape == type_ids.shape or ids.n_dims != 2 or lengths.shape != ids.shape[:1]:
            raise ValueError("ids, attention_mask, type_ids and lengths of a batch do not belong together")
        self.ids = ids
        self.attention_mask = attention_mask
        self.type_ids = type_ids
        self.lengths = lengths

    def __len__(self):
        return len(self.ids)

    @property
    def shape(self):
        """Texts, and ids of each."""
        return self.ids.shape

    def __eq__(self, other):
        if not isinstance(other, Batch):
            return NotImplemented
        return self.__reduce__()[1] == other.__reduce__()[1]

    __hash__ = None

    def __repr__(self):
        return f"<Batch: {len(self)} texts of {self.shape[1]} ids>"

    def __reduce__(self):
        return Batch, (self.ids, self.attention_mask, self.type_ids, self.lengths)


# ---- from rows of ids ----

cdef int _itemsize(dtype) except -1:
    if dtype not in ("int64", "int32"):
        raise ValueError(f"dtype must be 'int64' or 'int32', got {dtype!r}")
    return 8 if dtype == "int64" else 4


cdef class _Work:
    """What filling a batch reads: plain memory, so that the GIL is not needed."""

    cdef Row *rows
    cdef Py_ssize_t n
    cdef Part before, behind
    cdef list kept                      # the objects that own the memory

    def __cinit__(self, rows):
        cdef Ids ids
        cdef const ctok_id[::1] view
        cdef Py_ssize_t i
        from array import array
        self.kept = list(rows)
        self.n = len(self.kept)
        self.rows = <Row *>ctok_mem_alloc(self.n, sizeof(Row))
        if self.rows == NULL:
            raise MemoryError(f"no memory for a batch of {self.n} texts")
        for i in range(self.n):
            if isinstance(self.kept[i], Ids):
                ids = self.kept[i]
                self.rows[i].p = ids.at
                self.rows[i].n = ids.n
                continue
            if isinstance(self.kept[i], (list, tuple)):
                self.kept[i] = array("I", self.kept[i])
            view = self.kept[i]
            self.kept[i] = view                 # holds the memory where it is
            self.rows[i].n = view.shape[0]
            self.rows[i].p = &view[0] if view.shape[0] else NULL

    def __dealloc__(self):
        ctok_mem_free(self.rows)
        ctok_mem_free(self.before.ids)
        ctok_mem_free(self.before.types)
        ctok_mem_free(self.behind.ids)
        ctok_mem_free(self.behind.types)

    cdef int set_part(self, Part *part, ids, types) except -1:
        cdef Py_ssize_t i
        part.n = len(ids)
        if len(types) != part.n:
            raise ValueError(f"there are {part.n} ids around a text, but {len(types)} type ids for them")
        part.ids = <int64_t *>ctok_mem_alloc(part.n, sizeof(int64_t))
        part.types = <int64_t *>ctok_mem_alloc(part.n, sizeof(int64_t))
        if part.ids == NULL or part.types == NULL:
            raise MemoryError("no memory for the ids around a text")
        for i in range(part.n):
            part.ids[i] = ids[i]
            part.types[i] = types[i]
        return 0

    cdef Py_ssize_t cut(self, Py_ssize_t most, bint left) noexcept nogil:
        """Let at most `most` ids of each text remain; returns the longest."""
        cdef Py_ssize_t i, longest = 0
        for i in range(self.n):
            if self.rows[i].n > most:
                if left:
                    self.rows[i].p += self.rows[i].n - most
                self.rows[i].n = most
            longest = max(longest, self.rows[i].n)
        return longest


cdef void fill_part(Matrix ids, Matrix types, const Part *part, Py_ssize_t row, Py_ssize_t at) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(part.n):
        ids.put(row, at + k, part.ids[k])
        types.put(row, at + k, part.types[k])


cdef void fill_row(Batch b, _Work w, Py_ssize_t i, Py_ssize_t at, int64_t text_type) noexcept nogil:
    """Write text i, what is around it included, from column `at` on."""
    cdef Py_ssize_t k, n = w.rows[i].n
    cdef const ctok_id *p = w.rows[i].p
    fill_part(b.ids, b.type_ids, &w.before, i, at)
    at += w.before.n
    for k in range(n):
        b.ids.put(i, at + k, p[k])
    if text_type:
        for k in range(n):
            b.type_ids.put(i, at + k, text_type)
    fill_part(b.ids, b.type_ids, &w.behind, i, at + n)


cdef void fill(Batch b, _Work w, bint left, int64_t pad_id, int64_t pad_type, int64_t text_type) noexcept nogil:
    cdef Py_ssize_t i, k, n, at, width = b.ids.sizes[1]
    for i in range(w.n):
        n = w.before.n + w.rows[i].n + w.behind.n
        at = width - n if left else 0
        b.lengths.put(i, 0, n)
        for k in range(n):
            b.attention_mask.put(i, at + k, 1)
        fill_row(b, w, i, at, text_type)
        at = 0 if left else n
        for k in range(at, at + width - n):
            b.ids.put(i, k, pad_id)
            b.type_ids.put(i, k, pad_type)


cdef Batch blank(Py_ssize_t n, Py_ssize_t width, int size):
    return Batch(Matrix(n, width, size), Matrix(n, width, size), Matrix(n, width, size), Matrix(n, None, size))


def batch_of_rows(rows, frame=None, truncation=None, padding=None, dtype="int64"):
    """Return single texts as a `Batch`.

    Parameters
    ----------
    rows
        The ids of each text, without special tokens: `Ids`, any buffer of unsigned 32-bit numbers, lists or tuples.
    frame
        What is around each text and its type ids (`ctok.stages.postprocessors.Frame`). None: nothing, type id 0.
    truncation
        A `ctok.stagespecs.limits.Truncation`, or None. What is cut off is lost, so its stride does not matter.
    padding
        A `ctok.stagespecs.limits.Padding`. None: the rows must have one length.
    dtype
        ``"int64"`` or ``"int32"``.

    Raises
    ------
    ValueError
        The special tokens alone are longer than the truncation, or the rows differ in length and there is no padding.

    Notes
    -----
    A text longer than ``padding.length`` is not cut: the rectangle is then as wide as it.
    """
    cdef _Work w = _Work(rows)
    cdef Py_ssize_t i, width, longest, most = <Py_ssize_t>1 << 60, wanted = 0, around
    cdef int64_t pad_id = 0, pad_type = 0, text_type = 0
    cdef bint left = False
    cdef int size = _itemsize(dtype)
    cdef Batch b
    if frame is not None:
        w.set_part(&w.before, frame.before, frame.before_types)
        w.set_part(&w.behind, frame.behind, frame.behind_types)
        text_type = frame.text_type
    around = w.before.n + w.behind.n
    if truncation is not None:
        if truncation.max_length < around:
            raise ValueError(f"max_length is {truncation.max_length}, but the special tokens alone are {around}")
        most = truncation.max_length - around
        left = truncation.direction == "left"
    longest = w.cut(most, left)
    width = longest + around if w.n else 0
    if padding is not None:
        left = padding.direction == "left"
        pad_id, pad_type = padding.pad_id, padding.pad_type_id
        if size == 4 and max(pad_id, pad_type) >= <int64_t>1 << 31:
            raise ValueError(f"pad_id {pad_id} and pad_type_id {pad_type} must be less than 2**31 for dtype 'int32'")
        wanted = width if padding.length is None else padding.length
        if padding.pad_to_multiple_of:
            wanted += -wanted % padding.pad_to_multiple_of
        width = max(width, wanted)
    else:
        for i in range(w.n):
            if w.rows[i].n != longest:
                raise ValueError(f"text {i} has {w.rows[i].n + around} ids, another {width}: without padding all must have the same number")
    b = blank(w.n, width, size)
    if w.n * width >= ALONE:
        with nogil:
            fill(b, w, left, pad_id, pad_type, text_type)
    else:
        fill(b, w, left, pad_id, pad_type, text_type)
    return b


# ---- from encodings ----

cdef int copy_column(Matrix to, Py_ssize_t row, column) except -1:
    cdef const uint32_t[::1] wide
    cdef const uint8_t[::1] narrow
    cdef Py_ssize_t k
    if column.format == "I":
        wide = column
        for k in range(wide.shape[0]):
            to.put(row, k, wide[k])
    else:
        narrow = column
        for k in range(narrow.shape[0]):
            to.put(row, k, narrow[k])
    return 0


def batch_of_encodings(encodings, dtype="int64"):
    """Return encodings of one length (`ctok.encoding.pad_all`) as a `Batch`; `ValueError` where they differ."""
    cdef list listed = list(encodings)
    cdef Py_ssize_t i, n = len(listed), width = len(listed[0]) if n else 0
    cdef Batch b = blank(n, width, _itemsize(dtype))
    for i in range(n):
        if len(listed[i]) != width:
            raise ValueError(f"text {i} has {len(listed[i])} ids, the first {width}: without padding all must have the same number")
        copy_column(b.ids, i, listed[i].column("ids"))
        copy_column(b.type_ids, i, listed[i].column("type_ids"))
        copy_column(b.attention_mask, i, listed[i].column("attention_mask"))
        b.lengths.put(i, 0, sum(listed[i].column("attention_mask")))
    return b


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
