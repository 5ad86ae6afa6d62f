from ctok._native.c_vocab cimport ctok_vocab


cdef class Vocab:
    cdef ctok_vocab v
    cdef readonly tuple special_tokens     # ((text, id), ...) in declaration order
    cdef bytes _fingerprint
    cdef object texts                      # _native.decode: the tokens as str, made when first asked for; None until then
