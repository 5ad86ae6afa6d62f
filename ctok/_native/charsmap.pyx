"""Rules to the double array of a SentencePiece model's charsmap. What surrounds it is in formats/charsmap.py."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_charsmap cimport ctok_charsmap_build
from ctok._native.c_vocab cimport CTOK_ERR_MEMORY, CTOK_OK, ctok_mem_fail_after, ctok_mem_free, ctok_status


def fail_after(long n):
    """In test builds: let n more allocations of this module succeed, then fail one. A negative n switches that off."""
    return ctok_mem_fail_after(n)


def build_trie(const uint8_t[::1] keys not None, const uint32_t[::1] ends not None, const uint32_t[::1] values not None):
    """Return the units, in the machine's byte order, of a double array that knows keys with values.

    The keys lie one behind the other, in ascending byte order; each ends where `ends` says. ``ValueError`` when they are out of order,
    empty, longer than 1023 bytes or hold a zero byte, when a value is not below 2**31, or when it is too much. About 100 ns a byte.
    """
    cdef uint32_t *units = NULL
    cdef uint32_t n_units = 0
    cdef size_t n = ends.shape[0]
    cdef ctok_status status
    if n == 0 or n != <size_t>values.shape[0] or ends[n - 1] != keys.shape[0]:
        raise ValueError("keys, ends and values do not fit together")
    with nogil:
        status = ctok_charsmap_build(&keys[0], &ends[0], &values[0], n, &units, &n_units)
    if status == CTOK_ERR_MEMORY:
        raise MemoryError("no memory for the table of rules")
    if status != CTOK_OK:
        raise ValueError("keys that are empty, too long, equal, out of order or too many")
    try:
        return PyBytes_FromStringAndSize(<const char *>units, n_units * sizeof(uint32_t))
    finally:
        ctok_mem_free(units)
