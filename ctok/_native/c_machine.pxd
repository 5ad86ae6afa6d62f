from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_bytes cimport ctok_bytes
from ctok._native.c_chain cimport ctok_chain

cdef extern from "ctok_machine.h" nogil:
    ctypedef struct ctok_op_state:
        uint32_t marks
        uint32_t a
        uint32_t b
        uint32_t begin
        uint32_t n
        uint8_t later
        uint8_t phase
        uint8_t n_few
        uint8_t few[6]
    ctypedef struct ctok_machine:
        const ctok_chain *chain
        uint32_t first "from"
        uint32_t to
        ctok_op_state *now
        ctok_bytes *hold
    bint ctok_machine_check(const ctok_machine *m, uint32_t n_marks)
