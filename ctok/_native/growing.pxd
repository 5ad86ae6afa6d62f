from libc.stdint cimport int64_t, uint8_t, uint32_t

from ctok._native.c_bytes cimport ctok_bytes
from ctok._native.c_pairs cimport ctok_tokenset
from ctok._native.c_vocab cimport ctok_status

cdef enum:
    CLASS_ANY = 0               # joins with every class
    CLASS_NOT_FIRST = 250       # a blank: no token of several symbols begins with it
    CLASS_NOT_LAST = 251        # a blank: none ends with it
    CLASS_LAST = 252            # a blank: nothing stands behind it in a token
    CLASS_FIRST = 253           # a blank: nothing stands before it
    CLASS_SAME = 254            # of the class of its neighbour
    CLASS_ALONE = 255           # joins with nothing

    BLANK_BEGINS = 1            # of `Token.blank`
    BLANK_ENDS = 2
    BLANK_ONLY = 4

cdef struct Token:
    int64_t delta[2]            # of the merge under way, by the side on which the token stands: how often
    uint32_t *list[2]           # where its new pair's blocks are written
    uint32_t many[2]            # how many there are at most
    uint32_t written[2]
    uint32_t pair[2]            # its new pair
    uint32_t length             # symbols
    uint8_t first, last         # class of the first symbol that has one, and of the last
    uint8_t blank               # where it has blanks, if anywhere


cdef class Growing:
    cdef ctok_tokenset texts
    cdef ctok_bytes joined          # scratch
    cdef bytes prefix
    cdef const uint8_t *prefix_at   # in it
    cdef size_t n_prefix
    cdef Token *tokens
    cdef uint32_t *touched[2]       # room for as many numbers as there are tokens
    cdef uint32_t cap_tokens, longest
    cdef bint by_text
    cdef uint8_t rule               # class of blanks; 0: there are none
    cdef readonly bint only_blanks  # several blanks may be a token
    cdef ctok_status push_token(self, const uint8_t *p, size_t n) noexcept nogil
    cdef ctok_status join(self, uint32_t left, uint32_t right, uint32_t *number) noexcept nogil
    cdef bint may_join(self, uint32_t left, uint32_t right) noexcept nogil
    cdef bint blanks_may_join(self, const Token *a, const Token *b) noexcept nogil
    cdef int order(self, uint32_t a, uint32_t b) noexcept nogil
    cdef int order_joined(self, const uint32_t *a, const uint32_t *b) noexcept nogil
