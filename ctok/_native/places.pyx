"""Places in a text: from bytes of its UTF-8 form to characters or UTF-16 code units, many at once and in any order."""

from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_utf8 cimport ctok_utf8_count, ctok_utf8_count_utf16
from ctok._native.c_vocab cimport ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free

cdef enum:
    STRIDE = 128                # bytes between two places that are counted beforehand

# The text, and how many characters (or code units) stand before every STRIDE-th byte.
cdef struct Scale:
    const uint8_t *p
    size_t n
    uint32_t *before
    int unit                    # 0 bytes, 1 characters, 2 code units


cdef inline size_t count(const Scale *s, size_t start, size_t stop) noexcept nogil:
    """Both places are borders of characters."""
    if s.unit == 2:
        return ctok_utf8_count_utf16(s.p + start, stop - start)
    return ctok_utf8_count(s.p + start, stop - start)


cdef inline size_t left_border(const Scale *s, size_t at) noexcept nogil:
    while 0 < at < s.n and (s.p[at] & 0xC0) == 0x80:
        at -= 1
    return at


cdef inline size_t right_border(const Scale *s, size_t at) noexcept nogil:
    while at < s.n and (s.p[at] & 0xC0) == 0x80:
        at += 1
    return at


cdef void prepare(Scale *s) noexcept nogil:
    cdef size_t k, at = 0, border, units = 0
    for k in range(s.n // STRIDE + 1):
        border = left_border(s, k * STRIDE)
        units += count(s, at, border)
        s.before[k] = <uint32_t>units
        at = border


cdef inline uint32_t convert(const Scale *s, size_t at) noexcept nogil:
    cdef size_t k = at // STRIDE
    if s.unit == 0:
        return <uint32_t>at
    return s.before[k] + <uint32_t>count(s, left_border(s, k * STRIDE), at)


cdef void convert_all(const Scale *s, const uint32_t *starts, const uint32_t *ends, size_t n, uint32_t *out) noexcept nogil:
    cdef size_t i, start, end
    for i in range(n):
        start = left_border(s, starts[i])
        end = right_border(s, ends[i]) if ends[i] > starts[i] else start
        out[i] = convert(s, start)
        out[n + i] = convert(s, end)


def places(const uint8_t[::1] text, const uint32_t[::1] starts, const uint32_t[::1] ends, unit="char"):
    """Return starts and ends of spans in another unit.

    Parameters
    ----------
    text
        Well-formed UTF-8.
    starts, ends
        Bytes of `text`, in any order. A span that begins or ends inside a character is taken to hold all of it; an empty one stays empty.
    unit
        ``"char"``, ``"utf16"``, or ``"byte"``, which only widens to whole characters.

    Returns
    -------
    tuple of memoryview
        Starts and ends, native unsigned 32-bit numbers.

    Raises
    ------
    ValueError
        A place that is not in the text, columns of different lengths, or no such unit.
    """
    cdef Scale s
    cdef size_t n = starts.shape[0], i
    cdef uint32_t[::1] out
    if unit not in ("byte", "char", "utf16"):
        raise ValueError(f"unit must be one of char, byte, utf16; got {unit!r}")
    if ends.shape[0] != starts.shape[0]:
        raise ValueError(f"there are {starts.shape[0]} starts, but {ends.shape[0]} ends")
    s.unit = ("byte", "char", "utf16").index(unit)
    s.n = text.shape[0]
    s.p = &text[0] if s.n else NULL
    for i in range(n):
        if starts[i] > s.n or ends[i] > s.n:
            raise ValueError(f"the span {starts[i]}..{ends[i]} is not in a text of {s.n} bytes")
    found = memoryview(bytearray(8 * n)).cast("I")
    s.before = <uint32_t *>ctok_mem_alloc(s.n // STRIDE + 1, sizeof(uint32_t))
    if s.before == NULL:
        raise MemoryError("no memory for places in a text")
    out = found
    if n:
        with nogil:
            prepare(&s)
            convert_all(&s, &starts[0], &ends[0], n, &out[0])
    ctok_mem_free(s.before)
    found = found.toreadonly()
    return found[:n], found[n:]


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
