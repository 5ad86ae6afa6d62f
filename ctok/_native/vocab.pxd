from ctok._native.c_chain cimport ctok_view
from ctok._native.c_vocab cimport ctok_vocab


cdef class Vocab:
    cdef ctok_vocab v
    cdef readonly tuple special_tokens     # ((text, id), ...) in declaration order
    cdef bytes _fingerprint
    cdef const ctok_view *view             # not NULL: these are the texts that a chain of decoders makes of another vocabulary (chains.pyx)
    cdef object texts                      # _native.decode: the tokens as str, made when first asked for; None until then
