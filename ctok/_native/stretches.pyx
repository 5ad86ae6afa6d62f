"""Words cut where no piece of a unigram model may reach across, and each stretch kept once with its count.

Since no piece crosses a cut, the probability of a word is the product of those of its stretches: training on stretches is training on the
words, with less work.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_counts cimport (
    ctok_count_list, ctok_counts, ctok_counts_add, ctok_counts_bytes, ctok_counts_free, ctok_counts_init, ctok_counts_list,
    ctok_counts_size)
from ctok._native.c_utf8 cimport CTOK_UTF8_BAD, CTOK_UTF8_OPEN, ctok_utf8_step
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_OK, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed, ctok_status)

cdef enum:
    CODES = 0x110000


cdef uint32_t code_at(const uint8_t *p, size_t *size) noexcept nogil:
    """The code point at p, of UTF-8 that is known to be well formed."""
    cdef uint32_t c = p[0]
    size[0] = char_size(p[0])
    if c < 0x80:
        return c
    if c < 0xE0:
        return (c & 31) << 6 | (p[1] & 63)
    if c < 0xF0:
        return (c & 15) << 12 | <uint32_t>(p[1] & 63) << 6 | (p[2] & 63)
    return (c & 7) << 18 | <uint32_t>(p[1] & 63) << 12 | <uint32_t>(p[2] & 63) << 6 | (p[3] & 63)


def count_characters(const uint8_t[::1] data, ends, counts):
    """Return {character: count} of words: their UTF-8 one behind the other, cumulative ends (uint32), counts (uint64), as buffers.

    Raises
    ------
    ValueError
        A word is not UTF-8, or the buffers do not fit together.
    """
    cdef const uint32_t[::1] e = memoryview(ends).cast("B").cast("I")
    cdef const uint64_t[::1] c = memoryview(counts).cast("B").cast("Q")
    cdef uint64_t *sums
    cdef size_t i, at = 0, end, n = e.shape[0]
    cdef uint32_t code
    check(data.shape[0], e, c.shape[0])
    sums = <uint64_t *>ctok_mem_zeroed(CODES, sizeof(uint64_t))
    if sums == NULL:
        raise MemoryError("no memory for the counts of characters")
    try:
        for i in range(n):
            end = e[i]
            while at < end:
                at += ctok_utf8_step(&data[at], end - at, &code)
                if code == CTOK_UTF8_BAD or code == CTOK_UTF8_OPEN:
                    raise ValueError(f"the word {bytes(data[e[i - 1] if i else 0:end])!r} is not UTF-8")
                sums[code] += c[i]
        return {chr(i): sums[i] for i in range(CODES) if sums[i]}
    finally:
        ctok_mem_free(sums)


cdef int check(size_t n_bytes, const uint32_t[::1] ends, size_t n_counts) except -1:
    cdef size_t i, n = ends.shape[0]
    if n != n_counts or (ends[n - 1] if n else 0) != n_bytes:
        raise ValueError("the tables of words do not fit together")
    for i in range(1, n):
        if ends[i] < ends[i - 1]:
            raise ValueError("the ends of words are out of order")
    return 0


# ---- the rules ----

cdef bint cuts(const PieceRules *rules, unsigned int a, unsigned int b) noexcept nogil:
    """May no piece hold characters of these classes side by side?"""
    if a == ALONE or b == ALONE or a == OUTSIDE or b == OUTSIDE:
        return True
    if rules.blanks_cut and (a if rules.blanks_last else b) == BLANK:
        return not (rules.only_blanks and a == b)
    return a >= SCRIPT and b >= SCRIPT and a != b


cdef bint is_valid(const PieceRules *rules, const uint8_t *p, size_t n) noexcept nogil:
    """May this piece be?"""
    cdef size_t at = 0, size = 0, length = 0, blanks = 0
    cdef unsigned int here, before = JOINS
    cdef bint inside = False, first = False, last = False
    while at < n:
        here = rules.classes[code_at(p + at, &size)]
        at += size
        length += 1
        last = here == BLANK
        if here == BLANK:
            blanks += 1
            first |= length == 1
            inside |= 1 < length and at < n
            continue
        if here == INHERITS:
            here = before
        if here == ALONE:
            return at == n and length == 1
        if here == OUTSIDE or (here >= SCRIPT and before >= SCRIPT and here != before):
            return False
        before = here
    if length == 0 or length > rules.max_length:
        return False
    if length == 1 or not blanks or (rules.only_blanks and blanks == length):
        return True
    if rules.blanks_cut and inside:
        return False
    return not (first if rules.blanks_last else last)


cdef class Rules:
    """Which pieces may be.

    Parameters
    ----------
    classes
        Character -> class: 1 a blank, 2 goes with every script, 3 takes the script of what stands before it, 4 stands alone, 5 and above
        scripts. Other characters are in no piece.
    max_length
        Characters that a piece has at most.
    blanks_cut
        Blanks stand only at the start of a piece (`blanks_last`: at the end). Else also inside, with others on both sides.
    only_blanks
        Pieces of several blanks and nothing else may be.
    """

    def __cinit__(self, dict classes, size_t max_length, bint blanks_cut=True, bint blanks_last=False, bint only_blanks=False):
        self.r.classes = <uint8_t *>ctok_mem_zeroed(CODES, 1)
        if self.r.classes == NULL:
            raise MemoryError("no memory for the classes of characters")
        for char, number in classes.items():
            self.r.classes[<uint32_t>ord(char)] = number
        self.r.max_length = max_length
        self.r.blanks_cut = blanks_cut
        self.r.blanks_last = blanks_last
        self.r.only_blanks = only_blanks

    def __dealloc__(self):
        ctok_mem_free(self.r.classes)

    def is_valid(self, const uint8_t[::1] piece):
        """May this piece (UTF-8) be?"""
        cdef size_t n = piece.shape[0]
        return n > 0 and is_valid(&self.r, &piece[0], n)


# ---- the words ----

cdef class Stretches:
    """The stretches of words, in ascending order; iterating yields (bytes, count).

    Parameters
    ----------
    data, ends, counts
        The words, as for `count_characters`, which has checked that they are UTF-8.
    rules
        Which pieces may be.

    Raises
    ------
    MemoryError
        There is no memory, or the stretches have 4 GiB or more in all.
    """

    def __cinit__(self, const uint8_t[::1] data, ends, counts, Rules rules not None):
        cdef const uint32_t[::1] e = memoryview(ends).cast("B").cast("I")
        cdef const uint64_t[::1] c = memoryview(counts).cast("B").cast("Q")
        cdef size_t i, begin = 0, n = e.shape[0]
        cdef ctok_counts table
        cdef ctok_status status = CTOK_OK
        check(data.shape[0], e, c.shape[0])
        self.rules = rules
        ctok_counts_init(&table, 0)
        try:
            with nogil:
                for i in range(n):
                    if c[i] and e[i] > begin and status == CTOK_OK:
                        status = cut(&table, &rules.r, &data[begin], e[i] - begin, c[i])
                    begin = e[i]
                if status == CTOK_OK:
                    status = fill(&self.c, &table)
        finally:
            ctok_counts_free(&table)
        if status != CTOK_OK:
            raise MemoryError("no memory for the stretches of words")

    def __dealloc__(self):
        ctok_mem_free(self.c.data)
        ctok_mem_free(self.c.ends)
        ctok_mem_free(self.c.counts)

    def __len__(self):
        return self.c.n

    @property
    def size(self):
        """How many characters they have, and how many of them there are, added up: what sorting their suffixes costs is in proportion."""
        cdef size_t i, n = self.c.n
        for i in range(self.c.ends[self.c.n - 1] if self.c.n else 0):
            n += self.c.data[i] & 0xC0 != 0x80
        return n

    def __iter__(self):
        cdef size_t i, begin
        for i in range(self.c.n):
            begin = begin_of(self.c.ends, i)
            yield <bytes>self.c.data[begin:self.c.ends[i]], self.c.counts[i]


cdef ctok_status cut(ctok_counts *table, const PieceRules *rules, const uint8_t *p, size_t n, uint64_t count) noexcept nogil:
    cdef size_t begin = 0, at = 0, size = 0
    cdef unsigned int here, before = OUTSIDE
    cdef ctok_status status = CTOK_OK
    while at < n:
        here = rules.classes[code_at(p + at, &size)]
        if cuts(rules, before, here):
            if before != OUTSIDE and status == CTOK_OK:
                status = ctok_counts_add(table, p + begin, at - begin, count, 0)
            begin = at
        before = here
        at += size
    if before != OUTSIDE and status == CTOK_OK:
        status = ctok_counts_add(table, p + begin, n - begin, count, 0)
    return status


cdef ctok_status fill(Counted *c, const ctok_counts *table) noexcept nogil:
    cdef ctok_count_list to
    cdef size_t n = ctok_counts_size(table), i
    if n >= <size_t>0xFFFFFFFF or ctok_counts_bytes(table) > <uint64_t>0xFFFFFFFF:
        return CTOK_ERR_MEMORY
    c.data = <uint8_t *>ctok_mem_alloc(ctok_counts_bytes(table), 1)
    c.ends = <uint32_t *>ctok_mem_alloc(n, sizeof(uint32_t))
    c.counts = <uint64_t *>ctok_mem_alloc(n, sizeof(uint64_t))
    if c.data == NULL or c.ends == NULL or c.counts == NULL:
        return CTOK_ERR_MEMORY
    to.data = c.data
    to.ends = c.ends
    to.counts = c.counts
    to.firsts = NULL
    if ctok_counts_list(table, &to) != CTOK_OK:
        return CTOK_ERR_MEMORY
    c.n = <uint32_t>n
    for i in range(n):
        c.longest = max(c.longest, c.ends[i] - begin_of(c.ends, i))
    return CTOK_OK


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
