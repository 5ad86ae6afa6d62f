"""Tokenizers in JSON, bytes in and buffers out: the vocabulary and the merges of a tokenizer.json, or a vocab.json.

No Python object is made for an entry. What else such a file says is small; it is handed on as JSON with the two tables cut out.
"""

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.math cimport nextafter
from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_json cimport (
    CTOK_JSON_END, CTOK_JV_PART, CTOK_JV_RESULT, CTOK_TEXT_NONE, ctok_json, ctok_json_enter, ctok_json_init, ctok_json_is, ctok_json_key,
    ctok_json_line, ctok_json_more, ctok_json_peek, ctok_json_skip, ctok_json_string, ctok_jsonvocab, ctok_jsonvocab_free,
    ctok_jsonvocab_read, ctok_jv_error, ctok_mergeids_check, ctok_mergeids_give, ctok_mergeids_given, ctok_tekken_read,
    ctok_text_entry, ctok_text_key, ctok_text_key_of, ctok_texttable, ctok_texttable_find, ctok_texttable_free, ctok_texttable_size,
    ctok_texttable_write,
)
from ctok._native.c_vocab cimport CTOK_ERR_MEMORY, CTOK_OK, ctok_mem_fail_after, ctok_status
from ctok._native.files cimport Block, filled, kept
from ctok._native.octets cimport first_of

from ..errors import VocabularyFileError

cdef extern from "Python.h":
    double PyOS_string_to_double(const char *text, char **end, object overflow) except? -1.0

_FAULTS = {
    1: "the file breaks off in the middle",
    2: "there should be a JSON value",
    3: "there should be a key in double quotes",
    4: "there should be a colon",
    5: "there should be a comma or a closing bracket",
    6: "a string holds a control character that is not escaped",
    7: "a string holds an escape that JSON does not have",
    8: "a string holds half of a surrogate pair",
    9: "a string is not UTF-8",
    10: "this is no number of JSON",
    11: "the values are nested too deeply",
    12: "something follows the end of the document",
    32: "the file is 4 GiB or larger",
    33: "a key that must stand once stands twice",
    34: "the id of a token must be an integer",
    35: "the id of a token must be at least 0 and less than 2**31",
    36: "a text is 2**24 bytes or longer",
    37: "an entry of the list of pieces must be [text, score]",
    38: "a score is out of the range of a double",
    39: "a merge must be 'left right' or ['left', 'right']",
    40: "merges are written as texts and as pairs in one list",
    41: "a merge that is one text must hold exactly one blank; where tokens hold blanks it must be a pair",
    44: "too many texts of the vocabulary share a hash: they were chosen to slow the reader down",
}
_KINDS = (None, "ids", "pieces")
_MERGE_KINDS = (None, "texts", "pairs")

cdef Py_ssize_t _enter_key(ctok_json *j, bytes key) except -2:
    """Stand at the value of a key of the object here; -1 when there is none."""
    cdef ctok_json_string s
    if ctok_json_peek(j) != c"{" or not ctok_json_enter(j, c"}"):
        return -1
    while ctok_json_key(j, &s):
        if ctok_json_is(j, &s, PyBytes_AS_STRING(key)):
            ctok_json_peek(j)
            return <Py_ssize_t>j.at
        if not ctok_json_skip(j) or not ctok_json_more(j, c"}"):
            return -1
    return -1


cdef Py_ssize_t _enter_item(ctok_json *j, Py_ssize_t index) except -2:
    """Stand at an entry of the list here; -1 when there is none."""
    if ctok_json_peek(j) != c"[" or not ctok_json_enter(j, c"]"):
        return -1
    while index > 0:
        if not ctok_json_skip(j) or not ctok_json_more(j, c"]"):
            return -1
        index -= 1
    ctok_json_peek(j)
    return <Py_ssize_t>j.at


def locate(buffer, where):
    """Return the place of a value in a JSON document, a pair of offsets, or None.

    Parameters
    ----------
    buffer
        A document that is JSON.
    where
        Keys (str) and indices (int) that lead to the value.
    """
    cdef const uint8_t[::1] view = memoryview(buffer).cast("B")
    cdef ctok_json j
    cdef Py_ssize_t at
    ctok_json_init(&j, first_of(view), <size_t>view.shape[0])
    for step in where:
        at = _enter_item(&j, step) if isinstance(step, int) else _enter_key(&j, step.encode())
        if at < 0:
            return None
    ctok_json_peek(&j)
    at = <Py_ssize_t>j.at
    return (at, <Py_ssize_t>j.at) if ctok_json_skip(&j) else None


def line_of(buffer, Py_ssize_t at):
    """Return the line, from 1, that holds byte `at` of a text."""
    cdef const uint8_t[::1] view = memoryview(buffer).cast("B")
    if not 0 <= at <= view.shape[0]:
        raise ValueError(f"{at} is no place in a text of {view.shape[0]} bytes")
    return ctok_json_line(first_of(view), <size_t>at)


cdef tuple _written(const ctok_texttable *t):
    """The buffers of a `TokenTable`."""
    cdef ctok_status status
    cdef size_t size = ctok_texttable_size(t), column = 4 * <size_t>t.n
    cdef Block block = Block(2 * column + size)
    with nogil:
        status = ctok_texttable_write(t, block.at + 2 * column, block.at, block.at + column)
    if status != CTOK_OK:
        raise MemoryError()
    return filled(block, 2 * column, size), filled(block, 0, column), filled(block, column, column)


def read_tekken(buffer, uint32_t wanted, uint32_t first):
    """Return the token table of a tekken file's vocabulary, or None: it is not as it should be.

    Parameters
    ----------
    buffer
        The list in JSON.
    wanted
        How many ranks are in use; others are left out.
    first
        The id of rank 0.

    Returns
    -------
    tuple of memoryviews or None
        ``(data, ends, ids)``.
    """
    cdef const uint8_t[::1] view = memoryview(buffer).cast("B")
    cdef const uint8_t *text = first_of(view)
    cdef size_t n = <size_t>view.shape[0]
    cdef ctok_texttable t
    cdef ctok_status status
    cdef uint32_t i
    with nogil:
        status = ctok_tekken_read(&t, text, n, wanted)
    try:
        if status == CTOK_ERR_MEMORY:
            raise MemoryError()
        if status != CTOK_OK:
            return None
        for i in range(t.n):
            t.entries[i].id += first
        return _written(&t)
    finally:
        ctok_texttable_free(&t)


cdef class JsonFile:
    """The vocabulary and the merges of a tokenizer.json, or of a vocab.json.

    Parameters
    ----------
    buffer
        The whole file, any contiguous buffer of bytes; kept.
    path
        What to call it in an error.
    bare
        True: the file is the vocabulary alone, an object from text to id.

    Attributes
    ----------
    kind
        What the vocabulary is: ``"ids"`` (an object from text to id), ``"pieces"`` (a list of [text, score]), or None: there is none.
    merges_kind
        How merges are written: ``"texts"``, ``"pairs"``, or None: there is no list, or an empty one.
    headers
        How many "#version" lines stand among the merges; they are none.

    Raises
    ------
    VocabularyFileError
        The file is not JSON, or a table is malformed; the error names line and column, or the entry.

    Notes
    -----
    Runs without the GIL; about 15 ms for a file of 9 MB with 128 000 tokens and 280 000 merges.
    """

    cdef ctok_jsonvocab f
    cdef const uint8_t[::1] view
    cdef object path
    cdef readonly object kind, merges_kind
    cdef readonly uint32_t headers

    def __cinit__(self, buffer, path=None, bint bare=False):
        cdef ctok_jv_error error
        cdef ctok_status status
        self.path = path
        self.view = memoryview(buffer).cast("B")
        cdef const uint8_t *text = first_of(self.view)
        cdef size_t n = <size_t>self.view.shape[0]
        with nogil:
            status = ctok_jsonvocab_read(&self.f, text, n, bare, &error)
        if status == CTOK_ERR_MEMORY:
            raise MemoryError()
        if status != CTOK_OK:
            self._refuse(error)
        self.kind = _KINDS[self.f.vocab_kind]
        self.merges_kind = _MERGE_KINDS[self.f.merges_kind]
        self.headers = self.f.headers

    def __dealloc__(self):
        ctok_jsonvocab_free(&self.f)

    def __len__(self):
        return self.f.table.n

    def _buffer(self):
        return bytes(self.view)

    cdef _refuse(self, ctok_jv_error error):
        if error.fault == CTOK_JV_PART or error.fault == CTOK_JV_RESULT:
            self._refuse_merge(error.entry, error.side if error.fault == CTOK_JV_PART else 2)
        cdef size_t where = min(error.where, <size_t>self.view.shape[0])
        cdef size_t line = ctok_json_line(first_of(self.view), where)
        cdef size_t begin = where
        while begin and self.view[begin - 1] != c"\n":
            begin -= 1
        reason = f"column {where - begin + 1}: {_FAULTS[error.fault]}"
        if error.fault >= 34:
            reason += f" ({'vocabulary' if error.fault < 39 else 'merges'}, entry {error.entry})"
            reason += f": {self._shown(where)}"
        cure = "The file looks truncated; get it again." if error.fault == CTOK_JSON_END else None
        raise VocabularyFileError(reason, path=self.path, line=line, cure=cure)

    def _shown(self, size_t where):
        """A few bytes of the file, for an error."""
        return repr(bytes(self.view[where:min(where + 40, <size_t>self.view.shape[0])]).split(b"\n")[0].decode("utf-8", "replace"))

    def _refuse_merge(self, uint32_t entry, int side):
        from json import loads

        place = locate(self.view, ("model", "merges", entry))
        merge = loads(bytes(self.view[place[0]:place[1]]))
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        what = f"what it gives, {left + right!r}," if side == 2 else repr((left, right)[side])
        raise VocabularyFileError(
            f"merge {entry} of model.merges, {left!r} and {right!r}: {what} is not in the vocabulary",
            path=self.path,
            line=line_of(self.view, place[0]),
        )

    def rest(self):
        """Return the document as JSON, UTF-8, with null in the place of the two tables."""
        out, at = [], 0
        for begin, end in sorted([(self.f.vocab.begin, self.f.vocab.end), (self.f.merges_span.begin, self.f.merges_span.end)]):
            if end:
                out += (bytes(self.view[at:begin]), b"null")
                at = end
        return b"".join([*out, bytes(self.view[at:])])

    def raw_merges(self):
        """Return the list of merges as it stands in the file."""
        return bytes(self.view[self.f.merges_span.begin:self.f.merges_span.end])

    def line_of(self, where):
        """Return the line of a value, given the keys and indices that lead to it; None when there is no such value."""
        place = locate(self.view, where)
        return None if place is None else line_of(self.view, place[0])

    def find(self, text):
        """Return the id of a text in the vocabulary, or None."""
        cdef Py_ssize_t n
        cdef const char *p = PyUnicode_AsUTF8AndSize(text, &n)
        if not self.f.table.n:
            return None
        cdef ctok_text_key key = ctok_text_key_of(<const uint8_t *>p, <size_t>n, <size_t>n)
        cdef uint32_t at = ctok_texttable_find(&self.f.table, <const uint8_t *>p, <size_t>n, &key)
        return None if at == CTOK_TEXT_NONE else self.f.table.entries[at].id

    def text_at(self, Py_ssize_t index):
        """Return the text of an entry of the vocabulary, counted from 0 in the order of the file."""
        if not 0 <= index < <Py_ssize_t>self.f.table.n:
            raise IndexError(f"there is no entry {index} in a vocabulary of {self.f.table.n}")
        cdef ctok_text_entry *entry = &self.f.table.entries[index]
        return (<const char *>(self.f.table.bytes + entry.text.begin))[:entry.text.len].decode("utf-8")

    def ids_used(self):
        """Return a bytearray with a 1 at each id that the vocabulary uses (2: more than once), or None: they are too far apart."""
        cdef uint32_t i, most = 0
        for i in range(self.f.table.n):
            most = max(most, self.f.table.entries[i].id)
        if most > 64 * <size_t>self.f.table.n + 65536:
            return None
        used = bytearray(most + 1)
        cdef uint8_t[::1] at = used
        for i in range(self.f.table.n):
            at[self.f.table.entries[i].id] = 1 if at[self.f.table.entries[i].id] == 0 else 2
        return used

    def has_id(self, uint32_t number):
        """Return whether the vocabulary uses an id. Looks at all entries."""
        cdef uint32_t i
        for i in range(self.f.table.n):
            if self.f.table.entries[i].id == number:
                return True
        return False

    def table(self):
        """Return the vocabulary in byte order: ``(data, ends, ids)``, the buffers of a `TokenTable`."""
        return _written(&self.f.table)

    def merges(self, size_t prefix=0):
        """Return the merges, ids of left and right in turn, and the id that each of them gives, all little-endian uint32; once.

        Parameters
        ----------
        prefix
            How many bytes of a right text are left out of what a merge gives.

        Raises
        ------
        VocabularyFileError
            What a merge gives is not in the vocabulary.
        """
        cdef ctok_status status
        cdef ctok_mergeids_given given
        cdef size_t n = self.f.merges.n
        with nogil:
            status = ctok_mergeids_check(&self.f.merges, &self.f.table, prefix)
        if status == CTOK_ERR_MEMORY:
            raise MemoryError()
        if status != CTOK_OK:
            self._refuse_merge(self.f.merges.bad + self.headers, 2)
        with nogil:
            given = ctok_mergeids_give(&self.f.merges, &self.f.table)
        cdef Block pairs = kept(given.pairs, given.n_pairs)
        cdef Block joined = kept(given.joined, given.n_joined)
        return filled(pairs, 0, 8 * n), filled(joined, 0, 4 * n)

    def scores(self):
        """Return the scores of the pieces by id, and where they are not the doubles that are nearest to the numbers in the file.

        Returns
        -------
        tuple
            ``(bytes, dict)``: little-endian float64; difference in last places (nearest double minus score) -> list of ids.
        """
        cdef uint32_t i
        cdef double nearest
        cdef char *end
        cdef int step
        from sys import byteorder

        steps = {}
        values = bytearray(8 * <size_t>self.f.table.n)
        cdef double *to = <double *><char *>values
        for i in range(self.f.table.n):
            to[i] = self.f.scores[i]
            if self.f.score_at[i]:
                nearest = PyOS_string_to_double(<const char *>&self.view[self.f.score_at[i]], &end, OverflowError)
                if nearest != to[i]:
                    step = _places(to[i], nearest)
                    steps.setdefault(step, []).append(i)
        if byteorder == "big":
            from array import array
            swapped = array("d", bytes(values))
            swapped.byteswap()
            return swapped.tobytes(), steps
        return bytes(values), steps


cdef int _places(double a, double b) noexcept:
    """How many doubles b is above a; they are close."""
    cdef int n = 0
    while a != b and -64 < n < 64:
        n += 1 if b > a else -1
        a = nextafter(a, b)
    return n


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
