"""Counted pretokens as the symbols that a byte-pair trainer starts from."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_utf8 cimport ctok_utf8_count, ctok_utf8_step
from ctok._native.c_vocab cimport CTOK_NO_ID, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed

from ..errors import MemoryLimitError

cdef enum:
    CODES = 0x110000
    BLOCK = 64                  # cells of a block at most, about

cdef uint8_t[1] _nothing


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)


def characters(data, counts_ends, counts):
    """Return how often each character occurs in counted texts: a dict from code point to number."""
    cdef const uint8_t[::1] view = data
    cdef const uint32_t[::1] ends = memoryview(counts_ends).cast("I")
    cdef const uint64_t[::1] times = memoryview(counts).cast("Q")
    cdef uint64_t *found = <uint64_t *>ctok_mem_zeroed(CODES, sizeof(uint64_t))
    cdef size_t i, at = 0, n = ends.shape[0]
    cdef uint32_t code
    if found == NULL:
        raise MemoryError
    try:
        with nogil:
            for i in range(n):
                while at < ends[i]:
                    at += ctok_utf8_step(&view[at], ends[i] - at, &code)
                    if code < CODES:
                        found[code] += times[i]
        return {code: found[code] for code in range(CODES) if found[code]}
    finally:
        ctok_mem_free(found)


def places(data, counts_ends):
    """Return where characters stand in words: code point -> bits, 1: in the middle, 2: at the start, 4: at the end, 8: alone."""
    cdef const uint8_t[::1] view = data
    cdef const uint32_t[::1] ends = memoryview(counts_ends).cast("I")
    cdef uint8_t *found = <uint8_t *>ctok_mem_zeroed(CODES, 1)
    cdef size_t i, at = 0, first, n = ends.shape[0]
    cdef uint32_t code
    cdef int place
    if found == NULL:
        raise MemoryError
    try:
        with nogil:
            for i in range(n):
                first = at
                while at < ends[i]:
                    place = at == first
                    at += ctok_utf8_step(&view[at], ends[i] - at, &code)
                    if code < CODES:
                        found[code] |= <uint8_t>(1 << (place + 2 * (at == ends[i])))
        return {code: found[code] for code in range(CODES) if found[code]}
    finally:
        ctok_mem_free(found)


cdef uint32_t *table_of(dict ids) except NULL:
    """Code point -> id."""
    cdef uint32_t *table = <uint32_t *>ctok_mem_alloc(CODES, sizeof(uint32_t))
    cdef uint32_t code
    if table == NULL:
        raise MemoryError
    for code in range(CODES):
        table[code] = CTOK_NO_ID
    for code, number in ids.items():
        table[code] = number
    return table


cdef void lay_out(Cells self, const uint8_t *p, const uint32_t[::1] stops, size_t number, const uint64_t[::1] times,
                  const uint32_t *of_byte, uint32_t **tables, bint cuts) noexcept nogil:
    """Lay out one word."""
    cdef size_t at = stops[number - 1] if number else 0, stop = stops[number], step = 1
    cdef size_t first = at
    cdef uint32_t begin = self.n, cell, code = 0
    while at < stop:
        if of_byte != NULL:
            cell = of_byte[p[at]]
        elif tables == NULL:
            cell = (<const uint32_t *>p)[at]
        else:
            step = ctok_utf8_step(p + at, stop - at, &code)
            cell = tables[(at == first) + 2 * (at + step == stop)][code] if code < CODES else CTOK_NO_ID
        at += step
        if cell == CTOK_NO_ID:
            self.dropped += times[number]
            if not cuts or self.at[self.n - 1] == CELL_EDGE:
                continue
            cell = CELL_EDGE
        self.at[self.n] = cell
        self.n += 1
    if self.n == begin:
        return
    if self.at[self.n - 1] != CELL_EDGE:
        self.at[self.n] = CELL_EDGE
        self.n += 1
    while begin < self.n:
        self.begin[self.n_blocks] = begin
        self.count[self.n_blocks] = times[number]
        self.n_blocks += 1
        begin = begin + BLOCK if self.n - begin > BLOCK + BLOCK // 2 else self.n


cdef class Cells:
    """Words as cells.

    Parameters
    ----------
    data, ends, counts
        As in `ctok.train.Counts`.
    ids
        What symbols have which id. 256 ids: each byte is a symbol. Four dicts from code point to id: each character is one; the dicts are
        for characters in the middle of a word, at its start, at its end, and for a word of one character.
    order
        uint32 numbers of the words in the order in which they are to be laid out, or None: as they come.
    cuts
        A symbol without an id parts its neighbours, as the edge of a word does; if not, they become neighbours.

    Raises
    ------
    MemoryLimitError
        There are 2**31 or more cells.
    MemoryError
        No room: four bytes a symbol of all different words, 12 a word.
    """

    def __cinit__(self, data, ends, counts, ids, order=None, bint cuts=False):
        cdef const uint8_t[::1] view = data
        cdef const uint32_t[::1] stops = memoryview(ends).cast("B").cast("I"), turns = None
        cdef const uint64_t[::1] times = memoryview(counts).cast("B").cast("Q")
        cdef uint32_t **tables = [NULL, NULL, NULL, NULL]
        cdef uint32_t[256] of_byte
        cdef const uint8_t *p = &view[0] if len(data) else _nothing
        cdef bint numbered = ids is None, bytewise = not numbered and len(ids) == 256
        cdef size_t n = stops.shape[0], size = view.shape[0], i
        if numbered:
            size //= sizeof(uint32_t)
        elif not bytewise:
            size = ctok_utf8_count(p, size)
        if size + n + 1 >= CELL_EDGE:
            raise MemoryLimitError(f"all different pretokens together have {size:,} symbols; training takes up to 2**31", limit=CELL_EDGE)
        if order is not None:
            turns = memoryview(order).cast("B").cast("I")
        self.at = <uint32_t *>ctok_mem_alloc(size + n + 1, sizeof(uint32_t))
        self.begin = <uint32_t *>ctok_mem_alloc(n + size // BLOCK + 2, sizeof(uint32_t))
        self.count = <uint64_t *>ctok_mem_alloc(n + size // BLOCK + 1, sizeof(uint64_t))
        if self.at == NULL or self.begin == NULL or self.count == NULL:
            raise MemoryError("no room for training")
        try:
            for i in range(0 if numbered else 256 if bytewise else 4):
                if bytewise:
                    of_byte[i] = ids[i]
                else:
                    tables[i] = table_of(ids[i])
            with nogil:
                self.at[0] = CELL_EDGE
                self.n = 1
                for i in range(n):
                    lay_out(self, p, stops, turns[i] if turns is not None else i, times, of_byte if bytewise else NULL,
                            NULL if numbered else tables, cuts)
                self.begin[self.n_blocks] = self.n
        finally:
            for i in range(4):
                ctok_mem_free(tables[i])

    def __dealloc__(self):
        ctok_mem_free(self.at)
        ctok_mem_free(self.begin)
        ctok_mem_free(self.count)

    def words(self):
        """Return the tokens of each word, for tests: a list of (list of ids, count)."""
        cdef uint32_t p = 0
        cdef uint32_t block
        found, word = [], []
        for block in range(self.n_blocks):
            p = max(p, self.begin[block])
            while p < self.begin[block + 1]:
                if self.at[p] == CELL_EDGE:
                    if word:
                        found.append((word, self.count[block]))
                    word = []
                    p += 1
                else:
                    word.append(self.at[p])
                    p = behind(self.at, p)
        return found
