"""The hand-written scanners one by one, for tests and measurements. The pipeline calls them in C."""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy

from ctok._native.c_vocab cimport ctok_mem_alloc, ctok_mem_free
from ctok._native.c_scan cimport (
    ctok_block, ctok_block_fn, ctok_scan_family, ctok_scan_level, ctok_scan_select,
)

FAMILIES = ("gpt2", "cl100k", "cl100k_tail", "qwen2", "qwen35", "o200k", "deepseek3")
LEVELS = ("scalar", "sse2", "avx2", "avx512")

cdef enum:
    _BLOCK = 1024


cdef ctok_block_fn _function(family, level) except NULL:
    cdef ctok_block_fn fn = ctok_scan_select(<ctok_scan_family><int>FAMILIES.index(family), <ctok_scan_level><int>LEVELS.index(level))
    if fn == NULL:
        raise NotImplementedError(f"this processor or build has no {level} scanner")
    return fn


def has_level(level):
    """Return whether scanners of this level can run here."""
    return ctok_scan_select(<ctok_scan_family>0, <ctok_scan_level><int>LEVELS.index(level)) != NULL


def scan_block(family, data, at_eof, level="scalar", start=0, size_t cap=_BLOCK):
    """Return (stops, next, hit_end) of one block of `data` (bytes holding UTF-8) from the border `start` on.

    The text is copied to memory of exactly its size, so that a sanitizer sees every read past its end.
    """
    cdef ctok_block_fn fn = _function(family, level)
    cdef ctok_block out
    cdef const uint8_t[::1] view = data
    cdef size_t n = view.shape[0], begin = start, k
    cdef int eof = bool(at_eof)
    cdef uint8_t *text = <uint8_t *>ctok_mem_alloc(n, 1)
    cdef uint32_t *stops = <uint32_t *>ctok_mem_alloc(cap, sizeof(uint32_t))
    try:
        if text == NULL or stops == NULL:
            raise MemoryError
        if not begin <= n or cap == 0:
            raise ValueError("start past the end of the data, or no room for stops")
        if n:
            memcpy(text, &view[0], n)
        fn(text, begin, n, eof, stops, cap, &out)
        return [stops[k] for k in range(out.n)], out.next, bool(out.hit_end)
    finally:
        ctok_mem_free(text)
        ctok_mem_free(stops)


def count_pretokens(family, data, level="scalar"):
    """Return how many pretokens `data` (bytes holding UTF-8) has as a whole text. Takes no other time than the scan."""
    cdef ctok_block_fn fn = _function(family, level)
    cdef const uint8_t[::1] view = data
    cdef size_t n = view.shape[0], total = 0
    cdef uint32_t[_BLOCK] stops
    cdef ctok_block out
    out.next = 0
    with nogil:
        while out.next < n:
            fn(&view[0], out.next, n, 1, stops, _BLOCK, &out)
            total += out.n
    return total
