"""A vocabulary that grows: tokens joined to new ones, and which of them may be joined at all."""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memset

from ctok._native.c_bytes cimport ctok_bytes_append, ctok_bytes_free, ctok_bytes_reserve
from ctok._native.c_pairs cimport (
    ctok_tokenset_at, ctok_tokenset_find, ctok_tokenset_free, ctok_tokenset_init, ctok_tokenset_len, ctok_tokenset_push)
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_NO_ID, CTOK_OK, ctok_mem_fail_after, ctok_mem_free, ctok_mem_resize, ctok_status)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)


@cython.no_gc_clear     # what it points into is freed after it
cdef class Growing:
    """Tokens by number.

    Parameters
    ----------
    tokens
        The texts of the first ones: list of bytes.
    classes
        A byte for each: 0 joins with all; 1-249 only with the same number (and 0); 254 is as its neighbour; 255 joins with nothing. A
        blank is 253: stands only at the start of a token, 252: only at its end, 251: anywhere but at the end of several symbols, 250: but
        at their start; to other symbols it is as its neighbour.
    prefix
        What is taken off the start of a right token's text when it is joined.
    longest
        Symbols that a token may have.
    by_text
        Tokens of equal text are one token. If not, each join makes a new one.
    """

    def __cinit__(self, list tokens not None, bytes classes not None, bytes prefix not None, uint32_t longest, bint by_text, *_):
        cdef uint32_t i
        if ctok_tokenset_init(&self.texts) != CTOK_OK:
            raise MemoryError("no room for training")
        self.prefix, self.prefix_at, self.n_prefix = prefix, prefix, len(prefix)
        self.longest = longest
        self.by_text = by_text
        for i, text in enumerate(tokens):
            if self.push_token(text, len(text)) != CTOK_OK:
                raise MemoryError("no room for training")
            self.tokens[i].first = self.tokens[i].last = classes[i]
            if CLASS_NOT_FIRST <= classes[i] <= CLASS_FIRST:
                self.rule = classes[i]
                self.tokens[i].first = self.tokens[i].last = CLASS_SAME
                self.tokens[i].blank = BLANK_BEGINS | BLANK_ENDS | BLANK_ONLY

    def allow_only_blanks(self):
        """Several blanks may become a token, whatever the rule for blanks beside other symbols."""
        self.only_blanks = True

    def __dealloc__(self):
        ctok_tokenset_free(&self.texts)
        ctok_bytes_free(&self.joined)
        ctok_mem_free(self.tokens)
        ctok_mem_free(self.touched[0])
        ctok_mem_free(self.touched[1])

    @property
    def n_tokens(self):
        return self.texts.n

    def token(self, uint32_t number):
        """Return the text of a token."""
        if number >= self.texts.n:
            raise IndexError(number)
        return PyBytes_FromStringAndSize(<const char *>ctok_tokenset_at(&self.texts, number), ctok_tokenset_len(&self.texts, number))

    def measure(self, lengths):
        """Say how many symbols the first tokens have, where it is not one each: numbers, by token."""
        cdef uint32_t i
        for i, length in enumerate(lengths):
            if i >= self.texts.n:
                raise IndexError(i)
            self.tokens[i].length = length

    cdef ctok_status push_token(self, const uint8_t *p, size_t n) noexcept nogil:
        cdef uint32_t cap, i, number = self.texts.n
        cdef uint32_t *touched
        cdef Token *tokens
        if number == self.cap_tokens:
            cap = 2 * self.cap_tokens if self.cap_tokens else 1024
            tokens = <Token *>ctok_mem_resize(self.tokens, cap, sizeof(Token))
            if tokens == NULL:
                return CTOK_ERR_MEMORY
            self.tokens = tokens
            for i in range(2):
                touched = <uint32_t *>ctok_mem_resize(self.touched[i], cap, sizeof(uint32_t))
                if touched == NULL:
                    return CTOK_ERR_MEMORY
                self.touched[i] = touched
            self.cap_tokens = cap
        memset(&self.tokens[number], 0, sizeof(Token))
        self.tokens[number].length = 1
        return ctok_tokenset_push(&self.texts, p, n)

    cdef ctok_status join(self, uint32_t left, uint32_t right, uint32_t *number) noexcept nogil:
        """Number of the token that two give; made if it is not there."""
        cdef size_t n_left = ctok_tokenset_len(&self.texts, left), n_right = ctok_tokenset_len(&self.texts, right)
        cdef const uint8_t *p = ctok_tokenset_at(&self.texts, right)
        cdef Token *t
        self.joined.n = 0
        if ctok_bytes_reserve(&self.joined, n_left + n_right + 1) != CTOK_OK:
            return CTOK_ERR_MEMORY
        ctok_bytes_append(&self.joined, ctok_tokenset_at(&self.texts, left), n_left)
        if self.n_prefix and n_right >= self.n_prefix and memcmp(p, self.prefix_at, self.n_prefix) == 0:
            p += self.n_prefix
            n_right -= self.n_prefix
        ctok_bytes_append(&self.joined, p, n_right)
        if self.by_text:
            number[0] = ctok_tokenset_find(&self.texts, self.joined.at, self.joined.n)
            if number[0] != CTOK_NO_ID:
                return CTOK_OK
        number[0] = self.texts.n
        if self.push_token(self.joined.at, self.joined.n) != CTOK_OK:
            return CTOK_ERR_MEMORY
        t = self.tokens
        t[number[0]].length = t[left].length + t[right].length
        t[number[0]].first = t[left].first if t[left].first != CLASS_SAME else t[right].first
        t[number[0]].last = t[right].last if t[right].last != CLASS_SAME else t[left].last
        t[number[0]].blank = (t[left].blank & BLANK_BEGINS) | (t[right].blank & BLANK_ENDS) | (t[left].blank & t[right].blank & BLANK_ONLY)
        return CTOK_OK

    cdef bint may_join(self, uint32_t left, uint32_t right) noexcept nogil:
        cdef const Token *a = &self.tokens[left]
        cdef const Token *b = &self.tokens[right]
        if <uint64_t>a.length + b.length > self.longest:
            return False
        if (a.blank or b.blank) and not self.blanks_may_join(a, b):
            return False
        if a.last == CLASS_ANY and b.first == CLASS_ANY:
            return True
        if a.last == CLASS_ALONE or b.first == CLASS_ALONE:
            return False
        if a.last == CLASS_ANY or a.last == CLASS_SAME or b.first == CLASS_ANY or b.first == CLASS_SAME:
            return True
        return a.last == b.first

    cdef bint blanks_may_join(self, const Token *a, const Token *b) noexcept nogil:
        if a.blank & b.blank & BLANK_ONLY:
            return self.only_blanks
        if self.rule == CLASS_FIRST:
            return not (b.blank & BLANK_BEGINS or (a.blank & BLANK_ONLY and a.length > 1))
        if self.rule == CLASS_LAST:
            return not (a.blank & BLANK_ENDS or (b.blank & BLANK_ONLY and b.length > 1))
        return not (b.blank & BLANK_ENDS if self.rule == CLASS_NOT_LAST else a.blank & BLANK_BEGINS)

    cdef int order(self, uint32_t a, uint32_t b) noexcept nogil:
        cdef size_t n = ctok_tokenset_len(&self.texts, a), m = ctok_tokenset_len(&self.texts, b)
        cdef int found = memcmp(ctok_tokenset_at(&self.texts, a), ctok_tokenset_at(&self.texts, b), min(n, m))
        return found if found else (n > m) - (n < m)

    cdef int order_joined(self, const uint32_t *a, const uint32_t *b) noexcept nogil:
        """Order of the texts that two pairs of tokens give, without making them."""
        cdef size_t n[2]
        cdef size_t m[2]
        cdef size_t i, size
        cdef int side
        cdef uint8_t c, d
        for side in range(2):
            n[side], m[side] = ctok_tokenset_len(&self.texts, a[side]), ctok_tokenset_len(&self.texts, b[side])
        size = min(n[0] + n[1], m[0] + m[1])
        for i in range(size):
            c = ctok_tokenset_at(&self.texts, a[0])[i] if i < n[0] else ctok_tokenset_at(&self.texts, a[1])[i - n[0]]
            d = ctok_tokenset_at(&self.texts, b[0])[i] if i < m[0] else ctok_tokenset_at(&self.texts, b[1])[i - m[0]]
            if c != d:
                return <int>c - <int>d
        return (n[0] + n[1] > m[0] + m[1]) - (n[0] + n[1] < m[0] + m[1])
