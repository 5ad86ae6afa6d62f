from libc.stdint cimport uint64_t

from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_utf8 cimport ctok_on_surrogate
from ctok._native.c_vocab cimport ctok_id, ctok_status
from ctok._native.chains cimport Decoding
from ctok._native.engine cimport Context, Engine
from ctok._native.rooms cimport Flow, FlowPolicy
from ctok._native.split cimport Splitter
from ctok._native.vocab cimport Vocab

# The texts that one special-token policy matches before the model, and what each gives: an id, or CTOK_NO_ID for a forbidden one.
cdef class Literals:
    cdef Vocab texts            # text -> number
    cdef ctok_id *targets       # number -> id
    cdef readonly tuple names   # number -> text
    cdef int only               # the byte all texts begin with, or -1
    cdef FlowPolicy sides       # instead of all that but the names, for a tokenizer with a flow

cdef struct Job:
    int kind                    # 0: UTF-8; 1, 2, 4: bytes a character
    const void *data
    size_t n
    size_t worker               # whose output holds the result, from where, how many
    size_t begin
    uint64_t count
    ctok_status status
    size_t bad
    uint64_t number

cdef class Pipeline:
    cdef readonly Vocab vocab
    cdef readonly Splitter splitter
    cdef readonly object fallback
    cdef readonly Flow flow     # the general line; None for a split rule and byte pairs by rank, which do without
    cdef ctok_ids before        # ids of the template, around each text
    cdef ctok_ids after
    cdef readonly bint has_template
    cdef readonly dict specials
    cdef readonly dict always
    cdef readonly Decoding decoding    # None: the bytes of the tokens, one behind the other
    cdef dict policies
    cdef Literals plain         # what calls match that allow nothing, and those that allow all; built by the first of them
    cdef Literals everything
    cdef bint has_plain
    cdef bint has_everything
    cdef Context *free_contexts
    cdef Vocab decode_vocab(self)
    cdef Context *acquire(self) except NULL
    cdef void release(self, Context *c) noexcept
    cdef Literals policy(self, allowed, disallowed)
    cdef Literals set_plain(self)
    cdef Literals set_everything(self)
    cdef void engine(self, Literals literals, bint add_special, Engine *e) noexcept
    cdef object prepare(self, text, errors, Job *job, str prefix=*)
    cdef object run(self, Context *c, text, Literals literals, bint add_special, errors)
    cdef object run_fallback(self, Context *c, text, Literals literals, errors)
    cdef int run_pieces(self, Context *c, bytes plain, size_t base) except -1

cdef ctok_status push_ids(Context *c, const ctok_id *ids, size_t n) noexcept nogil
cdef ctok_status encode_job(Context *c, const Engine *e, const Job *job, ctok_on_surrogate how) noexcept nogil
cdef object raise_status(ctok_status status, position, str unit, shown, str prefix=*)
cdef object place_in(text, bytes whole, size_t bad)
cdef object raise_for(ctok_status status, size_t bad, uint64_t number, object text, Literals literals, str prefix=*)
