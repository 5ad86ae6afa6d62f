"""What all models share: the face by which kernels and tests call them (csrc/ctok_model.h)."""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from ctok._native.c_merge cimport ctok_ids, ctok_ids_free
from ctok._native.c_bytes cimport ctok_bytes, ctok_bytes_free
from ctok._native.c_trie cimport ctok_trie, ctok_trie_find
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_id, ctok_mem_alloc, ctok_mem_fail_after, ctok_status)

from os import urandom

from ..errors import EncodeError, SpecError, StateError


cdef object failure(ctok_status status):
    if status == CTOK_ERR_MEMORY:
        return MemoryError("no memory to encode a pretoken")
    return EncodeError("the vocabulary has no token for a part of the text, and no unknown token")


cdef list numbers(const ctok_ids *ids):
    cdef size_t i
    return [ids.at[i] for i in range(ids.n)]


cdef void *new_scratch(Model model) except NULL:
    cdef void *scratch
    if model.ops.scratch_new == NULL:
        raise TypeError("a bare Model encodes nothing")
    scratch = model.ops.scratch_new(model.model)
    if scratch == NULL:
        raise failure(CTOK_ERR_MEMORY)
    return scratch


cdef class Table:
    """The buffers of a `spec.TokenTable`, checked: offsets ascend and stay inside.

    Raises
    ------
    SpecError
        They do not.
    """

    def __cinit__(self, table):
        cdef uint32_t k, before = 0
        self._data = memoryview(table.data).cast("B") if len(table.data) else b"\0"
        self._ends = memoryview(table.ends).cast("B").cast("I") if len(table.ends) else memoryview(bytes(4)).cast("I")
        self._ids = memoryview(table.ids).cast("B").cast("I") if len(table.ids) else memoryview(bytes(4)).cast("I")
        self.n = <uint32_t>(len(table.ends) // 4)
        self.data = &self._data[0]
        self.ends = &self._ends[0]
        self.ids = &self._ids[0]
        for k in range(self.n):
            if self.ends[k] < before:
                raise SpecError(f"token table: the end of entry {k} is before that of the one before it")
            before = self.ends[k]
        if before > <size_t>len(table.data):
            raise SpecError("token table: data, ends and ids do not belong together")


cdef ctok_status table_ids(Table table, ctok_id **id_of) noexcept:
    id_of[0] = <ctok_id *>ctok_mem_alloc(<size_t>table.n + 1, sizeof(ctok_id))
    if id_of[0] == NULL:
        return CTOK_ERR_MEMORY
    id_of[0][0] = CTOK_NO_ID
    if table.n:
        memcpy(id_of[0] + 1, table.ids, table.n * sizeof(ctok_id))
    return CTOK_OK


cdef ctok_id table_find(const ctok_trie *t, const ctok_id *id_of, bytes text):
    return id_of[ctok_trie_find(t, <const uint8_t *><const char *>text, len(text))]


cdef char nothing = 0


cdef uint64_t seed_of(seed) except? 0:
    return int.from_bytes(urandom(8), "little") if seed is None else seed & 0xFFFFFFFFFFFFFFFF


cdef void *nothing_new(const void *model) noexcept nogil:
    return &nothing


cdef void nothing_free(void *scratch) noexcept nogil:
    pass


cdef object table_failed(ctok_status status, uint32_t bad):
    if status == CTOK_ERR_MEMORY:
        return MemoryError("no memory for the model")
    return SpecError(f"token table: entry {bad} is out of byte order, or there are too many entries")


cdef tuple encode_one(Model model, const uint8_t[::1] pretoken, bint want_ends):
    cdef ctok_ids ids, ends
    cdef ctok_status status
    cdef void *scratch = new_scratch(model)
    memset(&ids, 0, sizeof(ids))
    memset(&ends, 0, sizeof(ends))
    try:
        with nogil:
            status = model.ops.encode(model.model, scratch, &pretoken[0] if pretoken.shape[0] else NULL, pretoken.shape[0], &ids,
                                      &ends if want_ends else NULL)
        if status != CTOK_OK:
            raise failure(status)
        return numbers(&ids), numbers(&ends)
    finally:
        model.ops.scratch_free(scratch)
        ctok_ids_free(&ids)
        ctok_ids_free(&ends)


cdef class Model:
    """A model of one pretoken. Immutable: any number of threads may use it."""

    def encode(self, const uint8_t[::1] pretoken):
        """Return the ids of a pretoken, given in UTF-8.

        Raises
        ------
        EncodeError
            Some part of it has no token, and there is no unknown token.
        """
        return encode_one(self, pretoken, False)[0]

    def encode_with_ends(self, const uint8_t[::1] pretoken):
        """Return the ids of a pretoken, and for each the byte where its token ends; ids with equal ends share what is before it."""
        return encode_one(self, pretoken, True)

    def encode_many(self, pretokens):
        """Return the ids of many pretokens, one list: for measuring, as the engine calls a model. `pretokens` is a list of bytes."""
        cdef ctok_ids ids
        cdef ctok_status status = CTOK_OK
        cdef bytes pretoken
        cdef void *scratch = new_scratch(self)
        memset(&ids, 0, sizeof(ids))
        try:
            for pretoken in pretokens:
                status = self.ops.encode(self.model, scratch, <const uint8_t *><const char *>pretoken, len(pretoken), &ids, NULL)
                if status != CTOK_OK:
                    raise failure(status)
            return numbers(&ids)
        finally:
            self.ops.scratch_free(scratch)
            ctok_ids_free(&ids)

    def safe_cut(self):
        """Return a `SafeCut`, which says where a pretoken may be cut without changing an id; None: no place can be told."""
        return None

    def waits(self, const uint8_t[::1] part):
        """Return whether an open pretoken would have given no id for `part`, whole characters, yet; False where the model does not say."""
        return part.shape[0] > 0 and self.ops.open_waits != NULL and bool(self.ops.open_waits(self.model, &part[0], part.shape[0]))

    def open(self):
        """Return an `OpenPretoken` of this model."""
        return OpenPretoken(self)


cdef list step(OpenPretoken o, const uint8_t[::1] part, bint last):
    cdef ctok_ids ids
    cdef ctok_status status
    memset(&ids, 0, sizeof(ids))
    try:
        if last:
            status = o._model.ops.open_end(o._open, &ids)
        else:
            status = o._model.ops.open_feed(o._open, &part[0] if part.shape[0] else NULL, part.shape[0], &ids)
        if status != CTOK_OK:
            o._model.ops.open_load(o._open, NULL, 0)
            raise failure(status)
        return numbers(&ids)
    finally:
        ctok_ids_free(&ids)


@cython.no_gc_clear     # __dealloc__ reads what it refers to
cdef class OpenPretoken:
    """A pretoken that arrives piece by piece. Belongs to one task."""

    def __cinit__(self, Model model not None):
        if model.ops.open_new == NULL:
            raise TypeError("a bare Model encodes nothing")
        self._model = model
        self._open = model.ops.open_new(model.model)
        if self._open == NULL:
            raise MemoryError("no memory for an open pretoken")

    def __dealloc__(self):
        if self._model is not None:
            self._model.ops.open_free(self._open)

    def feed(self, const uint8_t[::1] part):
        """Take more bytes and return the ids that are certain now. After an error the pretoken is empty."""
        return step(self, part, False)

    def end(self):
        """Return the ids that are left; the pretoken is empty again."""
        return step(self, b"", True)

    def copy(self):
        """Return an independent copy."""
        cdef OpenPretoken other = OpenPretoken.__new__(OpenPretoken, self._model)
        cdef void *twin = self._model.ops.open_copy(self._open)
        if twin == NULL:
            raise MemoryError("no memory for an open pretoken")
        self._model.ops.open_free(other._open)
        other._open = twin
        return other

    def save(self):
        """Return the state as bytes."""
        cdef ctok_bytes out
        memset(&out, 0, sizeof(out))
        try:
            if self._model.ops.open_save(self._open, &out) != CTOK_OK:
                raise MemoryError("no memory to save an open pretoken")
            return PyBytes_FromStringAndSize(<const char *>out.at, out.n)
        finally:
            ctok_bytes_free(&out)

    def load(self, const uint8_t[::1] state):
        """Take over a state that `save` gave; b"" is that of an empty pretoken.

        Raises
        ------
        StateError
            It is not from a pretoken of such a model. The pretoken is empty then.
        """
        cdef ctok_status status
        status = self._model.ops.open_load(self._open, &state[0] if state.shape[0] else NULL, state.shape[0])
        if status == CTOK_ERR_MEMORY:
            raise MemoryError("no memory to load an open pretoken")
        if status != CTOK_OK:
            raise StateError("not the state of an open pretoken of this model")


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
