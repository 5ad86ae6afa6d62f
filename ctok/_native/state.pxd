from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_vocab cimport ctok_status
from ctok._native.engine cimport Context, Engine
from ctok._native.flowstate cimport FlowState
from ctok._native.pipeline cimport Literals, Pipeline
from ctok._native.rooms cimport Policy, Stages
from ctok._native.stream cimport Stream

# What a TextState holds besides the stream; small, so that a call can put it back.
cdef struct Held:
    uint8_t partial[4]          # an unfinished character of bytes input
    uint32_t n_partial
    uint32_t high               # a high surrogate that waits for its partner, or 0
    uint64_t chars              # of the text so far, without what is held here
    uint64_t n_bytes            # the same in UTF-8
    bint is_begun               # the template's first ids have left

cdef class TextState:
    cdef readonly Pipeline tokenizer
    cdef Literals literals
    cdef Engine engine          # of the tokenizer with these
    cdef object policy          # (allowed_special, disallowed_special, add_special_tokens), for copies and fingerprints
    cdef str errors
    cdef Stream stream
    cdef Stream spare           # the stream as it was before the call
    cdef const Stages *stages   # instead of the streams, for a tokenizer with a flow; NULL for others
    cdef FlowState flow
    cdef FlowState spare_flow
    cdef bint is_framed         # ids of a template are put around the text
    cdef Held held
    cdef list parts             # the text so far, when the split rule streams nothing; else None
    cdef bint is_plain          # a split rule and byte pairs by rank: only the streams are used
    cdef bint is_busy           # a thread is inside a call
    cdef object claim(self)
    cdef object answer(self, Context *c)
    cdef object push_few(self, Context *c, chunk)
    cdef object push(self, Context *c, chunk, bint final)
    cdef object push_claimed(self, Context *c, chunk, bint final)
    cdef object save(self)
    cdef void put_back(self) noexcept
    cdef const Policy *flow_policy(self) noexcept
    cdef object push_str(self, Context *c, str chunk, bint final)
    cdef object push_bytes(self, Context *c, bytes chunk, bint final)
    cdef object consume(self, Context *c, object chunk, int kind, const void *data, size_t n, bint final)
    cdef object clear(self)
    cdef void begin_text(self) noexcept
    cdef object set_stream(self, bytes raw, size_t at, Held *held)
    cdef object fail(self, ctok_status status, Context *c, object chunk)
    cdef object fail_in_flow(self, ctok_status status, Context *c, str unit)
    cdef object end_parts(self, Context *c)
    cdef object taken(self, size_t start)
    cdef object clone_into(self, TextState other)
    cdef uint64_t ending(self) except? 0xFFFFFFFF
    cdef bytes fingerprint(self)
