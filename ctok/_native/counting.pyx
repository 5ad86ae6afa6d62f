"""Pretokens of a corpus counted: tables of counts, and what cuts blocks of text for them.

The GIL is released; each thread has a table of its own. `first` of a pretoken is a number that grows along the corpus. Callers give the
place of a block's first byte; a block in which texts are changed before they are cut gives each byte `STRETCH` places.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memmove, memset

from ctok._native.c_bytes cimport ctok_bytes, ctok_bytes_drop, ctok_bytes_free
from ctok._native.c_counts cimport (
    CTOK_COUNTS_MOST, ctok_borders, ctok_borders_find, ctok_borders_last, ctok_count_list, ctok_counts, ctok_counts_add,
    ctok_counts_add_block, ctok_counts_bytes, ctok_counts_free, ctok_counts_init, ctok_counts_list, ctok_counts_memory,
    ctok_counts_merge, ctok_counts_size)
from ctok._native.c_cut cimport ctok_cut_state, ctok_pieces, ctok_pieces_free
from ctok._native.c_normal cimport ctok_normal_state
from ctok._native.c_scan cimport ctok_block
from ctok._native.c_split cimport ctok_split_block, ctok_splitter
from ctok._native.c_utf8 cimport ctok_utf8_validate
from ctok._native.c_vocab cimport CTOK_ERR_STOPPED, CTOK_OK, ctok_mem_fail_after, ctok_status
from ctok._native.cut cimport Cutter, cut_begin, cut_feed, cut_free, cut_new
from ctok._native.normalize cimport Normalizer, normal_begin, normal_end, normal_feed, normal_reset
from ctok._native.split cimport Splitter

from ..errors import MemoryLimitError

cdef enum:
    STOPS = 1024
    ROOM = 256                  # stops that a scanner has room for at least
    STRETCH = 32

cdef uint8_t[1] _nothing


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)


def first_bad(data):
    """Return where the first byte stands that is not UTF-8 (an unfinished character at the end counts), or -1."""
    cdef const uint8_t[::1] view = data
    cdef size_t n = view.shape[0], bad = 0
    cdef ctok_status status = CTOK_OK
    if n:
        with nogil:
            status = ctok_utf8_validate(&view[0], n, &bad)
    return -1 if status == CTOK_OK else <Py_ssize_t>bad


def line_ends(data):
    """Return where the lines of `data` end, line ends included, and the last one without: uint64 as bytes."""
    cdef const uint8_t[::1] view = data
    cdef const uint8_t *begin = &view[0] if view.shape[0] else _nothing
    cdef size_t n = view.shape[0], lines
    cdef uint64_t *to
    with nogil:
        lines = write_line_ends(begin, n, NULL)
    ends = PyBytes_FromStringAndSize(NULL, 8 * lines)
    to = <uint64_t *>PyBytes_AS_STRING(ends)
    with nogil:
        write_line_ends(begin, n, to)
    return ends


cdef size_t write_line_ends(const uint8_t *begin, size_t n, uint64_t *to) noexcept nogil:
    """Write where lines end, and return how many there are; to: NULL only counts."""
    cdef const uint8_t *p
    cdef size_t at = 0, lines = 0
    while at < n:
        p = <const uint8_t *>memchr(begin + at, 10, n - at)
        at = p - begin + 1 if p != NULL else n
        if to != NULL:
            to[lines] = at
        lines += 1
    return lines


def are_ends(ends, size):
    """Return whether uint32 ends do not fall, and the last one is `size`."""
    cdef const uint32_t[::1] stops = memoryview(ends).cast("I")
    cdef size_t i, n = stops.shape[0]
    cdef uint32_t before = 0
    for i in range(n):
        if stops[i] < before:
            return False
        before = stops[i]
    return before == size


cdef class Borders:
    """Places where a splitter cuts whatever stands around."""

    cdef Splitter splitter
    cdef ctok_borders b

    def __cinit__(self, Splitter splitter not None):
        self.splitter = splitter
        ctok_borders_find(splitter.s.dfa, &self.b)

    def last(self, data):
        """Return the last such place inside `data` (bytes holding UTF-8), or 0."""
        cdef const uint8_t[::1] view = data
        cdef size_t n = view.shape[0], found = 0
        if n:
            with nogil:
                found = ctok_borders_last(&self.b, &view[0], n)
        return found

    def scanned(self, data):
        """Return the last place in `data` that is a border whatever follows, found by cutting it from its start, which is one; or 0."""
        cdef const uint8_t[::1] view = data
        cdef size_t n = view.shape[0]
        cdef uint32_t[STOPS] stops
        cdef ctok_block out
        out.next = out.hit_end = 0
        with nogil:
            while out.next < n and not out.hit_end:
                ctok_split_block(&self.splitter.s, &view[0], out.next, n, 0, stops, STOPS, &out)
        return out.next


cdef int check(ctok_status status, CountTable table) except -1:
    if status == CTOK_OK:
        return 0
    if status == CTOK_ERR_STOPPED:
        raise MemoryLimitError(
            f"counting needs more than the {table.c.limit:,} bytes that it may take: there are already {ctok_counts_size(&table.c):,} "
            f"different pretokens with {ctok_counts_bytes(&table.c):,} bytes. Allow more (max_memory), cut the texts smaller (a split "
            "pattern), or count parts of the corpus and prune them before they are merged.",
            limit=table.c.limit)
    raise MemoryError("no room for counts")


# Pretokens of a block that are not counted yet, one behind the other, also of several texts.
cdef struct Gathered:
    uint32_t[STOPS] stops
    size_t n
    size_t begin                # where the first starts


cdef ctok_status count_gathered(ctok_counts *c, const uint8_t *buf, size_t size, uint64_t base, Gathered *g) noexcept nogil:
    cdef size_t n = g.n
    g.n = 0
    return ctok_counts_add_block(c, buf, g.begin, g.stops, n, size, 1, base)


cdef ctok_status gather_text(ctok_counts *c, const ctok_splitter *s, const uint8_t *buf, size_t begin, size_t end, bint is_last,
                             size_t limit, size_t size, uint64_t base, Gathered *g) noexcept nogil:
    """Gather the pretokens of the text buf[begin, end) that stop at `limit` at the latest; is_last: the text ends at `end`."""
    cdef ctok_block out
    cdef ctok_status status
    cdef size_t n
    out.next = begin
    out.hit_end = 0
    while out.next < limit and not out.hit_end:
        if g.n > STOPS - ROOM:
            status = count_gathered(c, buf, size, base, g)
            if status != CTOK_OK:
                return status
        n = g.n
        ctok_split_block(s, buf, out.next, end, is_last, g.stops + n, STOPS - n, &out)
        while out.n and g.stops[n + out.n - 1] > limit:
            out.n -= 1
        if out.n and (n == 0 or g.stops[n - 1] != out.first):
            status = count_gathered(c, buf, size, base, g)
            if status != CTOK_OK:
                return status
            memmove(g.stops, g.stops + n, out.n * sizeof(uint32_t))
            g.begin = out.first
        g.n += out.n
    return CTOK_OK


@cython.no_gc_clear     # what it points into is freed after it
cdef class CountTable:
    """How often each of many byte strings was seen. Belongs to one thread at a time.

    Parameters
    ----------
    limit
        Memory that it may take, in bytes; 0: any.
    """

    cdef ctok_counts c

    def __cinit__(self, size_t limit=0):
        ctok_counts_init(&self.c, limit)

    def __dealloc__(self):
        ctok_counts_free(&self.c)

    def __len__(self):
        return ctok_counts_size(&self.c)

    @property
    def total(self):
        """All that was counted, together."""
        return self.c.total

    @property
    def memory(self):
        """Bytes that the table holds."""
        return ctok_counts_memory(&self.c)

    def add(self, bytes word not None, count=1, first=0):
        """Count a string `count` times more; first: the place where it was seen. MemoryLimitError: the table is as it was."""
        cdef const uint8_t *p = word
        cdef size_t n = len(word)
        cdef uint64_t times = min(count, CTOK_COUNTS_MOST), place = first
        if n == 0 or times == 0:
            return
        if n >= <size_t>1 << 32:
            raise ValueError("a pretoken of 4 GiB or more cannot be counted")
        check(ctok_counts_add(&self.c, p, n, times, place), self)

    def add_all(self, data, ends, counts, firsts=None, base=0, least=1):
        """Count strings that come as `listed` gives them; base is added to their places. Those with a count below `least` are left out."""
        cdef const uint8_t[::1] view = data
        cdef const uint32_t[::1] stops = memoryview(ends).cast("I")
        cdef const uint64_t[::1] times = memoryview(counts).cast("Q"), places = None
        cdef size_t i, begin = 0, n = stops.shape[0]
        cdef uint64_t behind = base, lowest = max(least, 1)
        cdef ctok_status status = CTOK_OK
        if firsts is not None:
            places = memoryview(firsts).cast("Q")
        if not are_ends(ends, len(data)) or <size_t>times.shape[0] != n or (firsts is not None and <size_t>places.shape[0] != n):
            raise ValueError("counts: the sizes do not fit together")
        with nogil:
            for i in range(n):
                if times[i] >= lowest and stops[i] > begin:
                    status = ctok_counts_add(&self.c, &view[begin], stops[i] - begin, min(times[i], CTOK_COUNTS_MOST),
                                             behind + (places[i] if places is not None else 0))
                    if status != CTOK_OK:
                        break
                begin = stops[i]
        check(status, self)

    def split(self, Splitter splitter not None, data, ends, is_cut, base):
        """Count the pretokens of a block of texts.

        Parameters
        ----------
        splitter
            What cuts them.
        data
            Bytes holding UTF-8, less than 2**32.
        ends
            Where texts end in it, ascending, as an array of 8-byte integers.
        is_cut
            The last text goes on: it was cut at a border. So many bytes stand behind it, whole characters of the text that follows.
        base
            The place of the first byte.

        Raises
        ------
        MemoryLimitError, MemoryError
            A part may have been counted.
        """
        cdef const uint8_t[::1] view = data
        cdef const uint64_t[::1] places = ends
        cdef size_t begin = 0, stop, i, n = places.shape[0], size = view.shape[0]
        cdef uint64_t place = base, more = is_cut
        cdef ctok_status status = CTOK_OK
        cdef Gathered g
        g.n = g.begin = 0
        if size >= <size_t>1 << 32 or more > size or (n and places[n - 1] + more > size):
            raise ValueError("block of texts")
        with nogil:
            for i in range(n):
                stop = places[i]
                if more and i == n - 1:
                    status = gather_text(&self.c, &splitter.s, &view[0], begin, stop + more, False, stop, size, place, &g)
                elif stop > begin:
                    status = gather_text(&self.c, &splitter.s, &view[0], begin, stop, True, stop, size, place, &g)
                if status != CTOK_OK:
                    break
                begin = stop
            if status == CTOK_OK and g.n:
                status = count_gathered(&self.c, &view[0], size, place, &g)
        check(status, self)

    def merge(self, CountTable other not None):
        """Count all that another table holds; it is left as it was."""
        cdef ctok_status status
        if other is self:
            raise ValueError("a table cannot be merged with itself")
        with nogil:
            status = ctok_counts_merge(&self.c, &other.c)
        check(status, self)

    def listed(self, firsts=False):
        """Return all strings in ascending order as buffers: (data, ends as uint32, counts as uint64, first places as uint64 or None)."""
        cdef size_t n = ctok_counts_size(&self.c)
        cdef uint64_t size = ctok_counts_bytes(&self.c)
        cdef ctok_count_list to
        cdef ctok_status status
        if size >= <uint64_t>1 << 32:
            raise MemoryLimitError("different pretokens of 4 GiB or more in all cannot be listed; prune parts before they are merged",
                                   limit=(1 << 32) - 1)
        data = PyBytes_FromStringAndSize(NULL, size)
        ends = PyBytes_FromStringAndSize(NULL, 4 * n)
        counts = PyBytes_FromStringAndSize(NULL, 8 * n)
        places = PyBytes_FromStringAndSize(NULL, 8 * n) if firsts else None
        to.data = <uint8_t *>PyBytes_AS_STRING(data)
        to.ends = <uint32_t *>PyBytes_AS_STRING(ends)
        to.counts = <uint64_t *>PyBytes_AS_STRING(counts)
        to.firsts = <uint64_t *>PyBytes_AS_STRING(places) if firsts else NULL
        with nogil:
            status = ctok_counts_list(&self.c, &to)
        check(status, self)
        return data, ends, counts, places

    def clear(self):
        """Forget everything and give the memory back."""
        ctok_counts_free(&self.c)


@cython.no_gc_clear     # what it points into is freed after it
cdef class Lane:
    """Texts through a normalizer and a pre-tokenizer, counted. One text may come in parts. Belongs to one thread at a time."""

    cdef Cutter cutter
    cdef Normalizer normalizer
    cdef ctok_cut_state cut
    cdef ctok_normal_state normal
    cdef ctok_bytes text           # normalized, on its way to the cutter
    cdef ctok_pieces out
    cdef bint is_open              # a text has begun
    cdef uint64_t given            # bytes of its pretokens so far

    def __cinit__(self, Cutter cutter not None, Normalizer normalizer):
        memset(&self.text, 0, sizeof(self.text))
        memset(&self.out, 0, sizeof(self.out))
        if cut_new(&cutter.c, &self.cut, True) != CTOK_OK:
            raise MemoryError
        self.cutter = cutter
        if normalizer is not None:
            if normal_begin(&normalizer.n, &self.normal) != CTOK_OK:
                raise MemoryError
            self.normalizer = normalizer

    def __dealloc__(self):
        if self.cutter is not None:
            cut_free(&self.cut)
        if self.normalizer is not None:
            normal_end(&self.normal)
        ctok_bytes_free(&self.text)
        ctok_pieces_free(&self.out)

    def count(self, CountTable table not None, data, ends, bint is_open, base):
        """Count the pretokens of a block of texts; is_open: the last one goes on with the next block.

        `data`, `ends` and `base` are as for `CountTable.split`; all parts of a text have the same `base`.

        Raises
        ------
        MemoryLimitError, MemoryError
            A part may have been counted.
        RuntimeError
            A function that matches a pattern failed.
        """
        cdef const uint8_t[::1] view = data
        cdef const uint64_t[::1] places = ends
        cdef size_t begin = 0, stop, i, n = places.shape[0]
        cdef uint64_t place = base
        cdef bint failed = False
        cdef ctok_status status = CTOK_OK
        if n and places[n - 1] > <size_t>view.shape[0]:
            raise ValueError("block of texts")
        with nogil:
            for i in range(n):
                stop = places[i]
                status = self.feed(&table.c, &view[0] if stop else _nothing, begin, stop, not is_open or i < n - 1, place, &failed)
                if status != CTOK_OK:
                    break
                begin = stop
        if status == CTOK_ERR_STOPPED and failed:
            raise RuntimeError("a function that matches a pattern failed")
        check(status, table)

    cdef ctok_status feed(self, ctok_counts *c, const uint8_t *buf, size_t begin, size_t stop, bint final, uint64_t base,
                          bint *failed) noexcept nogil:
        cdef const uint8_t *p = buf + begin
        cdef size_t n = stop - begin
        cdef ctok_status status
        if not self.is_open:
            cut_begin(&self.cut, True)
            self.given = 0
        self.is_open = True
        failed[0] = True
        if self.normalizer is not None:
            self.text.n = 0
            status = normal_feed(&self.normalizer.n, &self.normal, p, n, final, &self.text)
            if status != CTOK_OK:
                normal_reset(&self.normal)
                return status
            p = self.text.at if self.text.n else _nothing
            n = self.text.n
        status = cut_feed(&self.cutter.c, &self.cut, p, n, final, &self.out)
        if status != CTOK_OK:
            return status
        failed[0] = False
        status = take(c, &self.out, (base + begin) * STRETCH, &self.given)
        if final:
            self.is_open = False
        return status


cdef ctok_status take(ctok_counts *c, ctok_pieces *out, uint64_t base, uint64_t *given) noexcept nogil:
    """Count the complete pretokens of `out` and leave the open one. Their places are base and the bytes that were given before."""
    cdef size_t i, begin = 0
    cdef ctok_status status
    for i in range(out.n_stops):
        if out.stops[i] > begin:
            status = ctok_counts_add(c, out.text.at + begin, out.stops[i] - begin, 1, base + given[0])
            if status != CTOK_OK:
                return status
            given[0] += out.stops[i] - begin
            begin = out.stops[i]
    ctok_bytes_drop(&out.text, begin)
    out.n_stops = 0
    return CTOK_OK
