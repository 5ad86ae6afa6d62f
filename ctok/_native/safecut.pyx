"""Where a text may be cut before a list of merges joins it: the table of csrc/ctok_safecut.h as an object."""

from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_mergelist cimport ctok_safecut_free, ctok_safecut_init, ctok_safecut_next, ctok_safecut_pieces
from ctok._native.c_vocab cimport CTOK_OK, ctok_mem_fail_after
from ctok._native.model cimport Table
from ctok._native.vocab cimport Vocab


cdef class SafeCut:
    """Places where a pretoken may be cut, and its pieces encoded alone, without changing an id.

    Built by the `safe_cut` of a model. Immutable: any number of threads may use it.
    """

    def __cinit__(self, Vocab vocab=None, merges=b"", bint byte_level=False):
        cdef const uint32_t[::1] pairs = memoryview(merges).cast("B").cast("I")
        cdef size_t n = pairs.shape[0] // 2
        if vocab is None:
            return
        if ctok_safecut_init(&self.c, &vocab.v, &pairs[0] if n else NULL, n, byte_level) != CTOK_OK:
            raise MemoryError("no memory for the places where a text may be cut")

    def __dealloc__(self):
        ctok_safecut_free(&self.c)

    def next(self, const uint8_t[::1] text, size_t pos=0):
        """Return the first such place behind `pos`, where a character begins; the length of the text if there is none."""
        if pos >= <size_t>text.shape[0]:
            return text.shape[0]
        return ctok_safecut_next(&self.c, &text[0], pos, text.shape[0])

    def pieces(self, text):
        """Return the pieces of a text, cut wherever it may be; they join to the text."""
        cdef size_t start = 0, stop
        found = []
        while start < <size_t>len(text):
            stop = self.next(text, start)
            found.append(bytes(text[start:stop]))
            start = stop
        return found


cdef SafeCut cut_beside_pieces(Table table, const uint8_t *firm):
    cdef SafeCut cut = SafeCut.__new__(SafeCut)
    if ctok_safecut_pieces(&cut.c, table.data, table.ends, table.n, firm) != CTOK_OK:
        raise MemoryError("no memory for the places where a text may be cut")
    return cut


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
