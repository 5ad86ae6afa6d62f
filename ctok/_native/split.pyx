"""Split rules: from text to pretokens. The pipeline uses the C struct inside a `Splitter`; the Python methods serve tests and tools."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from ctok._native.c_dfa cimport (
    ctok_dfa_entry,
    ctok_dfa_is_sound,
    ctok_scan_begin,
    ctok_scan_feed,
    ctok_scan_finish,
    ctok_scan_may_stop_at_accept,
)
from ctok._native.c_scan cimport ctok_block, ctok_scan_best, ctok_scan_family
from ctok._native.c_split cimport ctok_known_pattern, ctok_split_block, ctok_split_known
from ctok._native.c_unicode cimport ctok_unicode_get
from ctok._native.c_vocab cimport ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free


def property_set(first, stop):
    """Return the set of property bytes (category, plus 32 for White_Space) of the scalars in range(first, stop), as the bits of an int."""
    cdef uint32_t code, a = first, b = min(stop, 0x110000)
    cdef uint64_t found = 0
    with nogil:
        for code in range(a, b):
            if not 0xD800 <= code < 0xE000:
                found |= <uint64_t>1 << ctok_unicode_get(code)
    return found


def property_ranges(bits):
    """Return the code points whose property byte p has bit p of `bits` set, as a list of (first, last), ascending."""
    cdef uint64_t wanted = bits
    cdef uint32_t code, first = 0
    cdef bint inside = False, now
    found = []
    for code in range(0x110001):
        now = code < 0x110000 and wanted >> ctok_unicode_get(code) & 1
        if now and not inside:
            first = code
        elif inside and not now:
            found.append((first, code - 1))
        inside = now
    return found


def known_patterns():
    """Return ((pattern, family), ...) of the patterns that need no compiling."""
    cdef size_t i = 0
    cdef const ctok_known_pattern *k
    found = []
    while True:
        k = ctok_split_known(i)
        if k == NULL:
            return tuple(found)
        found.append((k.text.decode(), k.family.decode()))
        i += 1


def fail_allocation(n):
    """In test builds: let the allocation after the next n ones of this module fail; a negative n switches that off."""
    return ctok_mem_fail_after(n)


cdef uint8_t *_exact_copy(bytes data) except NULL:
    """The data in memory of exactly its size, so that a sanitizer sees every read past its end."""
    cdef uint8_t *copy = <uint8_t *>ctok_mem_alloc(len(data), 1)
    if copy == NULL:
        raise MemoryError
    memcpy(copy, <const uint8_t *>data, len(data))
    return copy


cdef int _own(Splitter self, uint32_t n_classes, bytes ascii, bytes bounds, bytes rows, bytes entries) except -1:
    """Copy tables into memory of the splitter."""
    cdef size_t at_rows, at_ascii, n_entries = len(entries) // 8, n_ranges = len(bounds) // 4
    cdef uint8_t *memory
    if (not 1 <= n_classes <= 255 or len(ascii) != 128 or len(bounds) != 4 * n_ranges or len(rows) != 64 * n_ranges
            or len(entries) != 8 * n_entries or n_entries % (n_classes + 1)):
        raise ValueError("split tables: the sizes do not fit together")
    at_rows = 8 * n_entries + 4 * n_ranges
    at_ascii = at_rows + 64 * n_ranges
    memory = <uint8_t *>ctok_mem_alloc(at_ascii + 128, 1)
    if memory == NULL:
        raise MemoryError("no room for split tables")
    self.memory = memory
    memcpy(memory, <const uint8_t *>entries, 8 * n_entries)
    memcpy(memory + 8 * n_entries, <const uint8_t *>bounds, 4 * n_ranges)
    memcpy(memory + at_rows, <const uint8_t *>rows, 64 * n_ranges)
    memcpy(memory + at_ascii, <const uint8_t *>ascii, 128)
    self.own.entries = <const ctok_dfa_entry *>memory
    self.own.bounds = <const uint32_t *>(memory + 8 * n_entries)
    self.own.rows = memory + at_rows
    self.own.ascii = memory + at_ascii
    self.own.n_classes = n_classes
    self.own.n_states = <uint32_t>(n_entries // (n_classes + 1))
    self.own.n_ranges = <uint32_t>n_ranges
    if not ctok_dfa_is_sound(&self.own):
        raise ValueError("split tables: an entry points outside")
    self.s.dfa = &self.own
    return 0


cdef class Splitter:
    """The split rule of one pattern. Immutable and shared freely between threads.

    Parameters
    ----------
    pattern
        The pattern's text; kept for the record.
    tables
        What `ctok.stages.pretokenizers` compiles from it: ``(n_classes, ascii, bounds, rows, entries)``, the arrays of csrc/ctok_dfa.h as
        bytes.

    Raises
    ------
    ValueError
        The tables break their layout.
    MemoryError
        No room for the tables.
    """

    def __cinit__(self, str pattern not None, tables):
        self.pattern = pattern
        self.streams = True
        if tables is not None:
            n_classes, ascii, bounds, rows, entries = tables
            _own(self, n_classes, ascii, bounds, rows, entries)

    def __dealloc__(self):
        ctok_mem_free(self.memory)

    @staticmethod
    def known(str pattern not None):
        """Return the splitter of a known pattern, recognised by its exact text, or None."""
        cdef size_t i = 0
        cdef const ctok_known_pattern *k
        cdef Splitter self
        wanted = pattern.encode("utf-8", "replace")
        while True:
            k = ctok_split_known(i)
            if k == NULL:
                return None
            if wanted == k.text:
                self = Splitter.__new__(Splitter, pattern, None)
                self.s.dfa = k.dfa
                if k.scan >= 0:
                    self.s.fast = ctok_scan_best(<ctok_scan_family>k.scan)
                self.family = k.family.decode()
                return self
            i += 1

    def machine(self):
        """Return a splitter of the same pattern that does without a hand-written scanner."""
        cdef Splitter other = Splitter.__new__(Splitter, self.pattern, None)
        if self.memory != NULL:
            raise ValueError("a compiled pattern has only its machine")
        other.s.dfa = self.s.dfa
        other.family = self.family
        return other

    def spans(self, data, at_eof=True, block=512):
        """Cut bytes (or the UTF-8 of a str) into pretokens.

        Returns
        -------
        list of (start, stop), in bytes, and the place where scanning ended: the length, or where an open pretoken starts.
        """
        cdef bytes kept = data.encode() if isinstance(data, str) else bytes(data)
        cdef size_t pos = 0, end = len(kept), cap = block, i
        cdef int eof = at_eof
        cdef ctok_block out
        cdef uint8_t *buf
        cdef uint32_t *stops
        kept.decode()
        if not 1 <= cap <= 1 << 20 or end >= <size_t>1 << 32:
            raise ValueError("block or text size")
        spans = []
        buf = _exact_copy(kept)
        stops = <uint32_t *>ctok_mem_alloc(cap, sizeof(uint32_t))
        try:
            if stops == NULL:
                raise MemoryError
            while pos < end:
                with nogil:
                    ctok_split_block(&self.s, buf, pos, end, eof, stops, cap, &out)
                start = out.first
                for i in range(out.n):
                    spans.append((start, stops[i]))
                    start = stops[i]
                pos = out.next
                if out.hit_end:
                    break
        finally:
            ctok_mem_free(buf)
            ctok_mem_free(stops)
        return spans, pos

    def count(self, data):
        """Return how many pretokens `data` (bytes holding UTF-8) has as a whole text. Takes no other time than the splitting."""
        cdef const uint8_t[::1] view = data
        cdef size_t n = view.shape[0], total = 0
        cdef uint32_t[1024] stops
        cdef ctok_block out
        out.next = 0
        with nogil:
            while out.next < n:
                ctok_split_block(&self.s, &view[0], out.next, n, 1, stops, 1024, &out)
                total += out.n
        return total

    def __repr__(self):
        return f"<Splitter {self.family or self.pattern!r}>"


cdef class Scan:
    """One pretoken scanned piece by piece."""

    def __cinit__(self, Splitter splitter not None):
        self.splitter = splitter
        ctok_scan_begin(splitter.s.dfa, &self.scan)

    def feed(self, bytes data not None):
        """Scan on. Returns (closed, bytes consumed)."""
        cdef size_t pos = 0
        cdef uint8_t *buf
        data.decode()
        buf = _exact_copy(data)
        closed = ctok_scan_feed(self.splitter.s.dfa, &self.scan, buf, &pos, len(data))
        ctok_mem_free(buf)
        return closed, pos

    def finish(self):
        """Return the length of the pretoken if the text ends here; 0: nothing matches."""
        return ctok_scan_finish(self.splitter.s.dfa, &self.scan)

    def copy(self):
        """Return a scan that stands where this one does."""
        cdef Scan other = Scan(self.splitter)
        other.scan = self.scan
        return other

    @property
    def state(self):
        return self.scan.state

    @property
    def n(self):
        return self.scan.n

    @property
    def accept(self):
        return self.scan.accept

    @property
    def may_stop_at_accept(self):
        return ctok_scan_may_stop_at_accept(self.splitter.s.dfa, &self.scan)
