"""Decoding, as the pipeline knows it: the incremental decoder, and by the same name the batch kernels of `detokenize`."""

from cpython.object cimport PyObject
from libc.stdint cimport uint32_t

from ctok._native.c_decoder cimport ctok_decoder
from ctok._native.detokenize cimport (
    DecodeFault, DecodeHow, check_decoded, decode_bytes, decode_str, decode_text, drop_unknown, parse_how, str_of)
from ctok._native.readids cimport Ids, free_ids, read_ids
from ctok._native.spans cimport decode_spans
from ctok._native.texts cimport Stops
from ctok._native.vocab cimport Vocab


cdef class IncrementalDecoder:
    cdef ctok_decoder d
    cdef Vocab vocab
    cdef Stops stops
    cdef PyObject **texts          # of vocab.texts
    cdef readonly uint32_t consumed
