"""JSON values as Python objects and back: what a file says beside its tables. Spares loading the `json` module, which needs `re`."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t, uint8_t

from ctok._native.c_json cimport (
    CTOK_JSON_DEPTH, CTOK_JSON_OK, CTOK_JSON_VALUE, ctok_json, ctok_json_end, ctok_json_enter, ctok_json_init, ctok_json_key,
    ctok_json_more, ctok_json_number_at, ctok_json_peek, ctok_json_skip, ctok_json_string, ctok_json_string_at, ctok_json_unescape)
from ctok._native.octets cimport first_of, octets_of, room_of

cdef enum:
    SMALL_NUMBER = 18       # digits that any int64_t holds


def parse(buffer):
    """Return the value of a JSON document: dict, list, str, int, float, bool or None. Of a key that stands twice the last one counts.

    Raises
    ------
    ValueError
        It is no JSON in strict UTF-8, is nested deeper than csrc/ctok_json.h reads, or holds a number that neither an int that Python
        reads nor a double is.
    """
    cdef const uint8_t[::1] view = memoryview(buffer).cast("B")
    cdef ctok_json j
    ctok_json_init(&j, first_of(view), <size_t>view.shape[0])
    value = _value(&j, CTOK_JSON_DEPTH)
    if not ctok_json_end(&j):
        _refuse(&j)
    return value


cdef int _refuse(const ctok_json *j) except -1:
    raise ValueError(f"fault {<int>j.fault} of the JSON at byte {j.where}")


cdef object _value(ctok_json *j, unsigned int depth):
    cdef ctok_json_string s
    cdef int c = ctok_json_peek(j)
    if c == c'"':
        if not ctok_json_string_at(j, CTOK_JSON_VALUE, &s):
            _refuse(j)
        return _text(j, &s)
    if c == c"{" or c == c"[":
        if depth == 0:
            raise ValueError(f"the JSON at byte {j.at} is nested too deeply")
        return _object(j, depth - 1) if c == c"{" else _list(j, depth - 1)
    if c == c"-" or c"0" <= c <= c"9":
        return _number(j)
    if not ctok_json_skip(j):
        _refuse(j)
    return True if c == c"t" else False if c == c"f" else None


cdef str _text(const ctok_json *j, const ctok_json_string *s):
    if s.plain:
        return PyUnicode_DecodeUTF8(<const char *>j.buf + s.begin, <Py_ssize_t>s.len, NULL)
    cdef bytes room = room_of(s.len)
    cdef size_t n = ctok_json_unescape(j, s, octets_of(room))
    return PyUnicode_DecodeUTF8(PyBytes_AS_STRING(room), <Py_ssize_t>n, NULL)


cdef dict _object(ctok_json *j, unsigned int depth):
    cdef ctok_json_string key
    cdef dict found = {}
    if ctok_json_enter(j, c"}"):
        while ctok_json_key(j, &key):
            name = _text(j, &key)
            found[name] = _value(j, depth)
            if not ctok_json_more(j, c"}"):
                break
    if j.fault != CTOK_JSON_OK:
        _refuse(j)
    return found


cdef list _list(ctok_json *j, unsigned int depth):
    cdef list found = []
    if ctok_json_enter(j, c"]"):
        while True:
            found.append(_value(j, depth))
            if not ctok_json_more(j, c"]"):
                break
    if j.fault != CTOK_JSON_OK:
        _refuse(j)
    return found


cdef object _number(ctok_json *j):
    cdef size_t begin, i, n
    cdef int64_t small = 0
    cdef bint whole = True, negative
    if not ctok_json_number_at(j, &begin):
        _refuse(j)
    cdef const uint8_t *p = j.buf + begin
    n = j.at - begin
    negative = p[0] == c"-"
    for i in range(negative, n):
        whole = whole and c"0" <= p[i] <= c"9"
        if whole and i < SMALL_NUMBER:
            small = 10 * small + (p[i] - c"0")
    if whole and n <= SMALL_NUMBER:
        return -small if negative else small
    cdef bytes text = PyBytes_FromStringAndSize(<const char *>p, <Py_ssize_t>n)
    if whole:
        return int(text)
    cdef double value = float(text)
    if value - value != 0:
        raise ValueError(f"the number {text.decode()} is out of range")
    return value


# ---- writing ----

def written(value):
    """Return JSON, in UTF-8 and without blanks, for what `parse` returns; a tuple counts as a list.

    Raises
    ------
    TypeError
        There is a value of another type in it.
    """
    cdef list out = []
    _write(value, out)
    return "".join(out).encode()


cdef int _write(value, list out) except -1:
    if isinstance(value, str):
        out.append(_quoted(value))
    elif value is None or isinstance(value, bool):
        out.append("null" if value is None else "true" if value else "false")
    elif isinstance(value, (int, float)):
        out.append(repr(value))
    elif isinstance(value, (list, tuple)):
        out.append("[")
        for i, item in enumerate(value):
            if i:
                out.append(",")
            _write(item, out)
        out.append("]")
    elif isinstance(value, dict):
        out.append("{")
        for i, (key, item) in enumerate(value.items()):
            out.append("," if i else "")
            out.append(_quoted(key))
            out.append(":")
            _write(item, out)
        out.append("}")
    else:
        raise TypeError(f"JSON has nothing for {type(value).__name__} {value!r}")
    return 0


cdef str _quoted(str text):
    cdef Py_UCS4 c
    cdef bint plain = True
    for c in text:
        plain = plain and c >= 0x20 and c != c'"' and c != c"\\"
    if not plain:
        text = "".join([f"\\u{ord(char):04x}" if char < " " or char in '"\\' else char for char in text])
    return f'"{text}"'
