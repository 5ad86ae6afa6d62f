from libc.stdint cimport uint8_t, uint32_t, uint64_t

# What a character is to the rules of pieces. From SCRIPT on: the script with that number less SCRIPT.
cdef enum:
    OUTSIDE = 0                 # in no piece
    BLANK = 1                   # stands for white space
    JOINS = 2                   # goes with every script
    INHERITS = 3                # takes the script of what stands before it
    ALONE = 4                   # a piece of its own
    SCRIPT = 5

cdef struct PieceRules:
    uint8_t *classes            # a byte a code point
    size_t max_length
    bint blanks_cut
    bint blanks_last
    bint only_blanks

# Byte strings one behind the other, and how often each occurs.
cdef struct Counted:
    uint8_t *data
    uint32_t *ends
    uint64_t *counts
    uint32_t n
    size_t longest

cdef bint is_valid(const PieceRules *rules, const uint8_t *p, size_t n) noexcept nogil
cdef uint32_t code_at(const uint8_t *p, size_t *size) noexcept nogil

cdef inline size_t begin_of(const uint32_t *ends, size_t i) noexcept nogil:
    return ends[i - 1] if i else 0

cdef inline size_t char_size(uint8_t lead) noexcept nogil:
    return 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4

cdef class Rules:
    cdef PieceRules r

cdef class Stretches:
    cdef Counted c
    cdef readonly Rules rules
