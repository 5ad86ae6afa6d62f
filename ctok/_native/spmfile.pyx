"""SentencePiece model files, bytes in and buffers out: the pieces, and the fields of the other messages.

No Python object is made for a piece. Nothing is opened or written; the caller in `ctok.formats` knows the paths and gives them along for
the error messages.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from ctok._native.c_bytes cimport ctok_bytes, ctok_bytes_free
from ctok._native.c_model cimport ctok_le32_get
from ctok._native.c_spm cimport (
    CTOK_WIRE_BYTES, CTOK_WIRE_OK, ctok_spm, ctok_spm_check, ctok_spm_error, ctok_spm_find, ctok_spm_free, ctok_spm_is_table,
    ctok_spm_message, ctok_spm_order, ctok_spm_out, ctok_spm_piece, ctok_spm_read, ctok_spm_rules, ctok_spm_table, ctok_spm_write,
    ctok_wire_fault, ctok_wire_field, ctok_wire_next,
)
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free, ctok_status,
)
from ctok._native.octets cimport first_of, octets_of, room_of

from ..errors import VocabularyFileError

_MOST_FIELDS = 1 << 20  # of a message that becomes Python objects

_FAULTS = {
    1: "it breaks off in the middle",
    2: "its length leaves what it lies in",
    3: "a number does not fit into 64 bits",
    4: "a field's number must be at least 1 and less than 2**29",
    5: "here a group begins or ends (wire type 3 or 4), which no model file has",
    6: "there is no such wire type",
    16: "the file is 4 GiB or larger",
    17: "it has the wrong wire type",
    18: "a piece must not be empty",
    19: "a piece must be shorter than 8000 bytes",
    20: "a piece must not hold a zero byte, unless it is unused",
    21: "the same piece as {other}",
    22: "there is no unknown piece",
    23: "a second unknown piece, after {other}",
    24: "the score must be finite",
    25: "a byte piece must be called <0x00> to <0xFF>",
    26: "this is a byte piece, but trainer_spec.byte_fallback is false",
    27: "trainer_spec.byte_fallback is true, but not all 256 byte pieces are there",
    28: "there is no piece that a text could give",
}
_FILE_FIELDS = {1: "pieces", 2: "trainer_spec", 3: "normalizer_spec", 4: "self_test_data", 5: "denormalizer_spec"}
_PIECE_FIELDS = {1: "piece", 2: "score", 3: "type"}
_OF_SCORE = (24,)
_OF_PIECES = (22, 27, 28)
_CUT = "The file looks truncated; get it again."

cdef _raise(ctok_spm_error error, path):
    field = None
    if error.piece != CTOK_NO_ID:
        field = f"pieces[{error.piece}]"
        if error.fault < 18 and error.other:
            field += f".{_PIECE_FIELDS.get(error.other, f'field {error.other}')}"
        elif error.fault in _OF_SCORE:
            field += ".score"
    elif error.fault in _OF_PIECES:
        field = "pieces"
    elif error.other:
        field = _FILE_FIELDS.get(error.other, f"field {error.other}")
    reason = _FAULTS[error.fault].format(other=f"pieces[{error.other}]")
    offset = None if field == "pieces" or field is None and error.fault >= 16 else error.at
    raise VocabularyFileError(reason, path=path, cure=_CUT if error.fault <= 2 else None, field=field, offset=offset)


def fields(buffer, names, prefix="", Py_ssize_t offset=0, path=None):
    """Return the fields of a protobuf message, in their order.

    Parameters
    ----------
    buffer
        The message.
    names
        Numbers of fields -> their names, for errors.
    prefix
        What stands before the names, such as ``"trainer_spec."``.
    offset
        Where the message lies in its file, for errors.
    path
        What to call the file in an error.

    Returns
    -------
    list of tuple
        ``(number, wire type, value, begin, end)``: the value is a view of `buffer` for wire type 2 and else an int; begin and end are
        offsets of the whole field, tag included, into the message.

    Raises
    ------
    VocabularyFileError
        It is no such message, or has more than 2**20 fields.
    """
    whole = memoryview(buffer).cast("B")
    cdef const uint8_t[::1] view = whole
    cdef size_t at = 0, end = <size_t>view.shape[0]
    cdef ctok_wire_field f
    cdef ctok_wire_fault fault
    found = []
    while at < end:
        fault = ctok_wire_next(first_of(view), end, &at, &f)
        if fault != CTOK_WIRE_OK or len(found) == _MOST_FIELDS:
            raise VocabularyFileError(
                _FAULTS[fault] if fault != CTOK_WIRE_OK else "there are more than 2**20 fields",
                path=path,
                cure=_CUT if fault <= 2 else None,
                field=prefix + names.get(f.number, f"field {f.number}") if f.number else prefix.rstrip(".") or None,
                offset=offset + <Py_ssize_t>f.begin,
            )
        value = whole[f.value:f.end] if f.type == CTOK_WIRE_BYTES else f.bits
        found.append((f.number, f.type, value, f.begin, f.end))
    return found


cdef tuple _message(const ctok_spm_message *m):
    return m.field.number, m.field.begin, m.field.value, m.field.end, m.place


cdef class ModelFile:
    """The pieces of a model file, and where its other messages are.

    Parameters
    ----------
    buffer
        The whole file, any contiguous buffer of bytes; kept.
    path
        What to call it in an error.

    Attributes
    ----------
    messages
        ``(number, begin, value, end, place)`` of trainer_spec (2), normalizer_spec (3), self_test_data (4) and denormalizer_spec (5), in
        the order of the file: where tag, content and end are in it, and where it begins in `document`.
    unk_id
        The id of the unknown piece, once `check` was called.

    Raises
    ------
    VocabularyFileError
        The file is malformed; the error names the field and its place.

    Notes
    -----
    ``len(file)`` is the number of pieces. Runs without the GIL, about 10 ns a piece, and as `check` about 30 ns more.
    """

    cdef ctok_spm s
    cdef const uint8_t[::1] view
    cdef object path
    cdef readonly tuple messages
    cdef bint checked

    def __cinit__(self, buffer, path=None):
        cdef ctok_spm_error error
        cdef ctok_status status
        cdef const uint8_t *file
        cdef size_t n
        self.view = memoryview(buffer).cast("B")
        self.path = path
        file, n = first_of(self.view), <size_t>self.view.shape[0]
        with nogil:
            status = ctok_spm_read(&self.s, file, n, &error)
        self._settle(status, error)
        self.messages = tuple(_message(&self.s.messages[i]) for i in range(self.s.n_messages))

    def __dealloc__(self):
        ctok_spm_free(&self.s)

    cdef _settle(self, ctok_status status, ctok_spm_error error):
        if status == CTOK_ERR_MEMORY:
            raise MemoryError()
        if status != CTOK_OK:
            _raise(error, self.path)

    def __len__(self):
        return self.s.n

    def document(self, size_t begin=0, size_t end=<size_t>-1):
        """Return a part of the document: the file with numbers in the place of pieces.

        Field 1 as a number 2 n + spelled stands for a run of n pieces that `PieceWriter.write` writes as they are.
        """
        end = min(end, self.s.document.n)
        return (<const char *>self.s.document.at)[begin:end] if begin < end else b""

    def check(self, kind, byte_fallback):
        """Sort the pieces, and refuse what the reference refuses; before `table` and `find`.

        Parameters
        ----------
        kind
            As `ctok.stagespecs.sentencepiece.Pieces` takes it.
        byte_fallback
            Whether there are byte pieces.

        Raises
        ------
        VocabularyFileError
            A piece is empty, too long, there twice or of a type that may not be; the error names it.
        """
        cdef ctok_spm_rules rules
        cdef ctok_spm_error error
        cdef ctok_status status
        cdef const uint8_t *file = first_of(self.view)
        rules.once = kind == "bpe"
        rules.finite = rules.normal = kind == "unigram"
        rules.bytes = byte_fallback
        with nogil:
            status = ctok_spm_check(&self.s, file, &rules, &error)
        self._settle(status, error)
        self.checked = True

    @property
    def unk_id(self):
        return self.s.unk if self.checked else None

    def table(self):
        """Return ``(data, ends, ids, scores, types)``: the buffers of a `TokenTable`, and of `Pieces`."""
        if not self.checked:
            raise ValueError("the pieces are not in order before they are checked")
        cdef size_t n = self.s.n
        data, ends, ids, scores, types = room_of(self.s.n_bytes), room_of(4 * n), room_of(4 * n), room_of(4 * n), room_of(n)
        ctok_spm_table(&self.s, first_of(self.view), octets_of(data), octets_of(ends), octets_of(ids), octets_of(scores), octets_of(types))
        return data, ends, ids, scores, types

    def text(self, uint32_t number):
        """Return the text of a piece."""
        if number >= self.s.n:
            raise IndexError(f"there is no piece {number} among {self.s.n}")
        cdef const ctok_spm_piece *p = &self.s.pieces[number]
        return bytes(self.view[p.text.begin:p.text.begin + p.text.len])

    def texts(self, uint32_t type):
        """Return the texts of the pieces of a type, in the order of their ids."""
        return [self.text(i) for i in range(self.s.n) if self.s.pieces[i].type == type]

    def find(self, uint32_t type, bytes text not None):
        """Return the id of the piece of a type that has a text, or None."""
        if not self.checked:
            raise ValueError("the pieces are not in order before they are checked")
        cdef uint32_t found = ctok_spm_find(&self.s, first_of(self.view), type, octets_of(text), <size_t>len(text))
        return None if found == CTOK_NO_ID else found


cdef class PieceWriter:
    """Pieces as the fields of a model file.

    Parameters
    ----------
    data, ends, ids, scores, types
        As `ModelFile.table` returns them.

    Raises
    ------
    ValueError
        The buffers do not fit together, or the ids are not 0, 1, ... each once.
    """

    cdef ctok_spm_out o
    cdef const uint8_t[::1] data, ends, ids, scores, types

    def __cinit__(self, data, ends, ids, scores, types):
        self.data, self.ends, self.ids, self.scores, self.types = (
            memoryview(part).cast("B") for part in (data, ends, ids, scores, types)
        )
        n = self.types.shape[0]
        if self.ends.shape[0] != 4 * n or self.ids.shape[0] != 4 * n or self.scores.shape[0] != 4 * n:
            raise ValueError(f"{n} pieces need as many ends, ids and scores")
        self.o = ctok_spm_out(
            first_of(self.data), first_of(self.ends), first_of(self.ids), first_of(self.scores), first_of(self.types),
            <size_t>self.data.shape[0], <uint32_t>n, NULL,
        )
        self.o.at = <uint32_t *>ctok_mem_alloc(self.o.n, sizeof(uint32_t))
        if self.o.at == NULL:
            raise MemoryError()
        if ctok_spm_order(&self.o) != CTOK_OK:
            raise ValueError(f"the ids of {n} pieces must be 0 to {n - 1}, each once")

    def __dealloc__(self):
        ctok_mem_free(self.o.at)

    def __len__(self):
        return self.o.n

    def text(self, uint32_t number):
        """Return the text of a piece."""
        if number >= self.o.n:
            raise IndexError(f"there is no piece {number} among {self.o.n}")
        cdef size_t place = self.o.at[number]
        cdef uint32_t begin = ctok_le32_get(self.o.ends + 4 * (place - 1)) if place else 0
        return bytes(self.data[begin:ctok_le32_get(self.o.ends + 4 * place)])

    def texts(self, uint32_t type):
        """Return the texts of the pieces of a type, in the order of their ids."""
        return [self.text(i) for i in range(self.o.n) if self.o.types[i] == type]

    def write(self, uint32_t first, uint32_t last, bint spelled=False):
        """Return the pieces first <= id < last as fields: text, score, and the type if it is not normal or `spelled`."""
        cdef ctok_bytes out
        if not first <= last <= self.o.n:
            raise ValueError(f"there are no pieces {first} to {last} among {self.o.n}")
        memset(&out, 0, sizeof(out))
        try:
            if ctok_spm_write(&self.o, first, last, spelled, &out) != CTOK_OK:
                raise MemoryError()
            return (<const char *>out.at)[:out.n] if out.n else b""
        finally:
            ctok_bytes_free(&out)


def is_table(bytes table not None):
    """Say whether a normalizer's table, the trie of which is as long as it says, is one that sentencepiece takes."""
    cdef const uint8_t *p = table
    cdef size_t n = len(table)
    cdef size_t trie = ctok_le32_get(p) if n > 4 else 0
    return trie >= 4 and trie % 4 == 0 and trie < n - 4 and ctok_spm_is_table(p, n)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
