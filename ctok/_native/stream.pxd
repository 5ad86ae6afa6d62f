from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from ctok._native.c_dfa cimport ctok_scan
from ctok._native.c_vocab cimport ctok_id, ctok_status
from ctok._native.engine cimport Context, Engine

# A place of the open stretch from which some token may still be in the making, and the tokens it may be, in byte order.
cdef struct Walk:
    uint32_t start
    uint32_t lo
    uint32_t hi

# The part of a text whose ids are not all certain. Zeroed = the start of a text. Belongs to one task.
cdef struct Stream:
    uint8_t *buf                # [base, scanned) the open pretoken, [scanned, n) not yet looked at
    size_t base
    size_t scanned
    size_t n
    size_t cap
    bint is_open                # is there an open pretoken?
    ctok_scan scan              # its scanner, which may have to see it yet
    uint64_t cut                # bytes of it before base: their ids have left
    size_t patience             # bytes of it before a jump is tried (again)
    # The path tree over buf[base, scanned): for each prefix the last token of its encoding.
    size_t known                # prefixes computed
    size_t room
    uint32_t *last_len          # [i]: bytes of the last token of the prefix of i + 1 bytes; 0: it has no encoding
    ctok_id *last_id
    Walk *walks                 # ascending start
    size_t n_walks
    size_t walk_room

cdef void stream_free(Stream *s) noexcept nogil
cdef void stream_reset(Stream *s) noexcept nogil
cdef ctok_status stream_copy(Stream *to, const Stream *source) noexcept nogil       # `to` is zeroed; gets no path tree
cdef ctok_status stream_reserve(Stream *s, size_t more) noexcept nogil
# Could such an is_open, scan, cut and scanned have come about with p[0..n) in buf? For states from outside: any other would lead the
# kernels astray.
cdef bint stream_fits(const Stream *s, const Engine *e, const uint8_t *p, size_t n) noexcept nogil
# Append to c.ids what is certain now that buf holds more; with `final` everything. After an error the stream must be replaced by a copy
# made before the call; c.bad is then a place in buf.
cdef ctok_status stream_process(Context *c, const Engine *e, Stream *s, bint final) noexcept nogil

# Make a stream as it was before stream_process, when `text` was in its buffer.
cdef inline void stream_back(Stream *s, const Stream *before, const uint8_t *text) noexcept nogil:
    memcpy(s.buf, text, before.n)
    s.base = before.base
    s.scanned = before.scanned
    s.n = before.n
    s.is_open = before.is_open
    s.scan = before.scan
    s.cut = before.cut
    s.patience = before.patience
    s.known = s.n_walks = 0                             # the tree is grown anew
