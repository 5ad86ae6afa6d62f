"""A model behind a byte-level pre-tokenizer: it reads each byte of a pretoken spelled as a visible character (csrc/ctok_bytelevel.h).

For models whose rules speak of characters: how many a word may have, which are unknown, which a piece covers. For them a pretoken *is* its
spelling, so that is what they are given.
"""

cimport cython
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from ctok._native.c_merge cimport ctok_ids
from ctok._native.c_mergelist cimport ctok_bytelevel_char
from ctok._native.c_bytes cimport ctok_bytes, ctok_bytes_free, ctok_bytes_reserve
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_OK, ctok_id, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed, ctok_status)
from ctok._native.model cimport Model

cdef enum:
    BLOCK = 1024                # bytes of an open pretoken that are spelled at a time
    KEEP = 1 << 16              # bytes of room that a scratch keeps


@cython.no_gc_clear     # what it points into is freed after it
cdef class Visible(Model):
    """What `inner` gives for pretokens spelled in visible characters.

    Parameters
    ----------
    inner
        Any other `Model`.
    """

    def __cinit__(self, Model inner not None):
        if inner.ops.encode == NULL:
            raise TypeError("a bare Model encodes nothing")
        self.inner = inner
        self.m.ops = &inner.ops
        self.m.model = inner.model
        self.model = &self.m
        set_visible(self)


cdef void set_visible(Visible model):
    model.ops.encode = visible_encode
    model.ops.scratch_new = visible_scratch_new
    model.ops.scratch_free = visible_scratch_free
    model.ops.open_new = visible_open_new
    model.ops.open_feed = visible_open_feed
    model.ops.open_end = visible_open_end
    model.ops.open_copy = visible_open_copy
    model.ops.open_free = visible_open_free
    model.ops.open_save = visible_open_save
    model.ops.open_load = visible_open_load


cdef ctok_status spell(ctok_bytes *text, const uint8_t *p, size_t n) noexcept nogil:
    """Make `text` the spelling of p[0..n): one or two bytes for each."""
    cdef size_t i
    cdef uint32_t c
    text.n = 0
    if ctok_bytes_reserve(text, 2 * n + 1) != CTOK_OK:
        return CTOK_ERR_MEMORY
    for i in range(n):
        c = ctok_bytelevel_char(p[i])
        if c >= 0x80:
            text.at[text.n] = <uint8_t>(0xC0 | c >> 6)
            text.n += 1
            c = 0x80 | (c & 0x3F)
        text.at[text.n] = <uint8_t>c
        text.n += 1
    return CTOK_OK


# ---- a whole pretoken ----

cdef void *visible_scratch_new(const void *model) noexcept nogil:
    cdef VisibleScratch *s = <VisibleScratch *>ctok_mem_zeroed(1, sizeof(VisibleScratch))
    if s == NULL:
        return NULL
    s.outer = <const VisibleModel *>model
    s.inner = s.outer.ops.scratch_new(s.outer.model)
    if s.inner == NULL:
        ctok_mem_free(s)
        return NULL
    return s


cdef void visible_scratch_free(void *scratch) noexcept nogil:
    cdef VisibleScratch *s = <VisibleScratch *>scratch
    if s != NULL:
        s.outer.ops.scratch_free(s.inner)
        ctok_bytes_free(&s.text)
        ctok_mem_free(s)


cdef ctok_status visible_encode(const void *model, void *scratch, const uint8_t *p, size_t n, ctok_ids *ids,
                                ctok_ids *ends) noexcept nogil:
    cdef const VisibleModel *m = <const VisibleModel *>model
    cdef VisibleScratch *s = <VisibleScratch *>scratch
    cdef size_t first = ends.n if ends != NULL else 0
    cdef ctok_status status = spell(&s.text, p, n)
    if status == CTOK_OK:
        status = m.ops.encode(m.model, s.inner, s.text.at, s.text.n, ids, ends)
    if status == CTOK_OK and ends != NULL:
        count_bytes(s.text.at, ends, first)
    if s.text.cap > KEEP:
        ctok_bytes_free(&s.text)
    return status


cdef void count_bytes(const uint8_t *text, ctok_ids *ends, size_t first) noexcept nogil:
    """Ends in the spelling, which ascend, become ends in what is spelled: each character is a byte."""
    cdef size_t i, at = 0
    cdef ctok_id n = 0
    for i in range(first, ends.n):
        while at < ends.at[i]:
            n += (text[at] & 0xC0) != 0x80
            at += 1
        ends.at[i] = n


# ---- an open pretoken ----

cdef void *open_around(const VisibleModel *m, void *inner) noexcept nogil:
    """An open pretoken around that of the inner model, which it takes over; NULL if either is missing."""
    cdef VisibleOpen *o = NULL
    if inner != NULL:
        o = <VisibleOpen *>ctok_mem_zeroed(1, sizeof(VisibleOpen))
    if o == NULL:
        m.ops.open_free(inner)
        return NULL
    o.outer = m
    o.inner = inner
    return o


cdef void *visible_open_new(const void *model) noexcept nogil:
    cdef const VisibleModel *m = <const VisibleModel *>model
    return open_around(m, m.ops.open_new(m.model))


cdef void visible_open_free(void *state) noexcept nogil:
    cdef VisibleOpen *o = <VisibleOpen *>state
    if o != NULL:
        o.outer.ops.open_free(o.inner)
        ctok_mem_free(o)


cdef ctok_status visible_open_feed(void *state, const uint8_t *p, size_t n, ctok_ids *ids) noexcept nogil:
    cdef VisibleOpen *o = <VisibleOpen *>state
    cdef ctok_bytes text
    cdef size_t at = 0, size
    cdef ctok_status status = CTOK_OK
    memset(&text, 0, sizeof(text))
    while at < n and status == CTOK_OK:
        size = min(n - at, <size_t>BLOCK)
        status = spell(&text, p + at, size)
        if status == CTOK_OK:
            status = o.outer.ops.open_feed(o.inner, text.at, text.n, ids)
        at += size
    ctok_bytes_free(&text)
    return status


cdef ctok_status visible_open_end(void *state, ctok_ids *ids) noexcept nogil:
    cdef VisibleOpen *o = <VisibleOpen *>state
    return o.outer.ops.open_end(o.inner, ids)


cdef void *visible_open_copy(const void *state) noexcept nogil:
    cdef const VisibleOpen *o = <const VisibleOpen *>state
    return open_around(o.outer, o.outer.ops.open_copy(o.inner))


cdef ctok_status visible_open_save(const void *state, ctok_bytes *out) noexcept nogil:
    cdef const VisibleOpen *o = <const VisibleOpen *>state
    return o.outer.ops.open_save(o.inner, out)


cdef ctok_status visible_open_load(void *state, const uint8_t *p, size_t n) noexcept nogil:
    cdef VisibleOpen *o = <VisibleOpen *>state
    return o.outer.ops.open_load(o.inner, p, n)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
