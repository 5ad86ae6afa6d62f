from ctok._native.c_cut cimport ctok_cut_state, ctok_cutter, ctok_pieces


cdef class Cutter:
    cdef ctok_cutter c
    cdef readonly tuple steps     # what it was made from; keeps alive what the steps point to


cdef class CutStream:
    cdef Cutter cutter
    cdef ctok_cut_state state
    cdef ctok_pieces out
