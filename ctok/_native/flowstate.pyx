"""A text on its way through the general line (flow.pyx), as a state: begun, copied, saved, given back."""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from ctok._native.c_added cimport CTOK_ADDED_SAVED, ctok_added_begin, ctok_added_load, ctok_added_save
from ctok._native.c_bytes cimport ctok_bytes, ctok_bytes_append, ctok_bytes_free, ctok_bytes_set
from ctok._native.c_cut cimport ctok_cut_asks_start
from ctok._native.c_normal cimport CTOK_ORIGINS_REFERENCE, ctok_align, ctok_normal_state
from ctok._native.c_utf8 cimport ctok_utf8_validate
from ctok._native.c_vocab cimport CTOK_ERR_MEMORY, CTOK_OK, ctok_mem_fail_after, ctok_mem_free, ctok_status
from ctok._native.cut cimport cut_copy, cut_free, cut_load, cut_new, cut_save
from ctok._native.normalize cimport normal_begin, normal_copy, normal_end, normal_feed, normal_load, normal_map, normal_save
from ctok._native.rooms cimport Side

from ..errors import StateError

cdef extern from "ctok_le.h" nogil:
    uint32_t ctok_le32_get(const uint8_t *p)
    void ctok_le32_put(uint8_t *p, uint32_t x)

cdef enum:
    HEAD = 4095                 # the start of a normalised text is certain after so many bytes of the text
    EAGER = 64                  # beyond so many it is looked for again only where their number doubles: the work stays linear


cdef ctok_status flow_begin(const Stages *f, FlowState *s) noexcept nogil:
    cdef ctok_status status = CTOK_OK
    memset(s, 0, sizeof(FlowState))
    ctok_added_begin(&s.raw.at)
    ctok_added_begin(&s.normed.at)
    if f.normal != NULL:
        status = normal_begin(f.normal, &s.normal)
    if status == CTOK_OK and f.cutter != NULL:
        status = cut_new(f.cutter, &s.cut, True)
    return status


cdef void flow_free(const Stages *f, FlowState *s) noexcept nogil:
    ctok_bytes_free(&s.raw.window)
    ctok_bytes_free(&s.normed.window)
    ctok_bytes_free(&s.tail)
    ctok_bytes_free(&s.head)
    normal_end(&s.normal)
    if f.cutter != NULL:
        cut_free(&s.cut)
    f.ops.open_free(s.open)
    memset(s, 0, sizeof(FlowState))


cdef ctok_status flow_copy(const Stages *f, FlowState *to, const FlowState *source) noexcept nogil:
    cdef void *open = NULL
    cdef bint catches_up = f.ops.open_catch_up != NULL and to.open != NULL
    cdef ctok_status status = ctok_bytes_set(&to.raw.window, &source.raw.window)
    if status == CTOK_OK:
        status = ctok_bytes_set(&to.normed.window, &source.normed.window)
    if status == CTOK_OK:
        status = ctok_bytes_set(&to.tail, &source.tail)
    if status == CTOK_OK:
        status = ctok_bytes_set(&to.head, &source.head)
    if status == CTOK_OK and f.normal != NULL:
        status = normal_copy(&to.normal, &source.normal)
    if status == CTOK_OK and f.cutter != NULL:
        status = cut_copy(&to.cut, &source.cut)
    if status == CTOK_OK and source.is_open and catches_up:
        status = f.ops.open_catch_up(to.open, source.open)
        open = to.open
    elif status == CTOK_OK and source.is_open:
        open = f.ops.open_copy(source.open)
        if open == NULL:
            status = CTOK_ERR_MEMORY
    if status != CTOK_OK:
        return status
    if open != to.open:
        f.ops.open_free(to.open)                # it may be in the middle of a pretoken also where none is open in the source
    to.open = open
    to.raw.at = source.raw.at
    to.normed.at = source.normed.at
    to.is_open = source.is_open
    to.fed = source.fed
    to.seen = source.seen
    to.in_segment = source.in_segment
    to.in_part = source.in_part
    to.is_later = source.is_later
    to.has_start = source.has_start
    to.zero = source.zero
    return CTOK_OK


# ---- where a normalised text starts ----

cdef ctok_status bytes_of_start(const Stages *f, const uint8_t *p, size_t n, size_t *zero, bint *certain) noexcept nogil:
    cdef ctok_bytes out
    cdef ctok_align *map = NULL
    cdef size_t some = min(n, <size_t>HEAD)
    cdef ctok_status status
    while some < n and (p[some] & 0xC0) == 0x80:
        some -= 1
    memset(&out, 0, sizeof(out))
    zero[0] = 0
    status = normal_map(f.normal, p, some, CTOK_ORIGINS_REFERENCE, &out, &map)
    if status == CTOK_OK:
        while zero[0] < out.n and map[zero[0]].start == 0:
            zero[0] += 1
        certain[0] = some < n
        if not certain[0] and out.n > 0 and map[0].end < some:
            status = gives(f, p, some, certain)
    ctok_mem_free(map)
    ctok_bytes_free(&out)
    return status


cdef ctok_status gives(const Stages *f, const uint8_t *p, size_t n, bint *something) noexcept nogil:
    """Does the normaliser give something when these bytes have come, and more may come?"""
    cdef ctok_normal_state state
    cdef ctok_bytes out
    cdef ctok_status status
    memset(&state, 0, sizeof(state))
    memset(&out, 0, sizeof(out))
    status = normal_begin(f.normal, &state)
    if status == CTOK_OK:
        status = normal_feed(f.normal, &state, p, n, False, &out)
        something[0] = out.n > 0
    normal_end(&state)
    ctok_bytes_free(&out)
    return status


cdef ctok_status flow_start(const Stages *f, FlowState *s, const uint8_t **p, size_t *n, bint end) noexcept nogil:
    cdef bint certain = False
    cdef size_t before = s.head.n
    cdef ctok_status status
    if s.is_later or s.has_start or f.cutter == NULL or not ctok_cut_asks_start(f.cutter):
        return CTOK_OK
    status = ctok_bytes_append(&s.head, p[0], n[0])
    n[0] = 0
    if not end and before >= EAGER and (before ^ s.head.n) < before:    # the same highest bit
        return status
    if status == CTOK_OK:
        status = bytes_of_start(f, s.head.at, s.head.n, &s.zero, &certain)
    if status != CTOK_OK or not (certain or end):
        return status
    s.has_start = True
    s.is_later = s.zero == 0
    p[0] = s.head.at
    n[0] = s.head.n
    return CTOK_OK


# ---- saved states ----

cdef bytes flow_window(const FlowState *s):
    """The text that has not reached the normaliser."""
    return (<const char *>s.head.at)[:s.head.n] + (<const char *>s.raw.window.at)[:s.raw.window.n]


cdef object push_part(ctok_bytes *out, const uint8_t *p, size_t n):
    cdef uint8_t size[4]
    ctok_le32_put(size, <uint32_t>n)
    if ctok_bytes_append(out, size, 4) != CTOK_OK or ctok_bytes_append(out, p, n) != CTOK_OK:
        raise MemoryError("no memory for a state")


cdef object save_search(ctok_bytes *out, const Side *side, const Search *search):
    cdef uint8_t saved[CTOK_ADDED_SAVED]
    push_part(out, search.window.at, search.window.n)
    if side.added != NULL:
        ctok_added_save(side.added, &search.at, saved)
    push_part(out, saved, CTOK_ADDED_SAVED if side.added != NULL else 0)


cdef bytes flow_save(const Stages *f, const Policy *policy, const FlowState *s):
    """The state as bytes: the parts one behind the other, each behind its length."""
    cdef ctok_bytes out, part
    cdef uint8_t flags = <uint8_t>(s.is_open | s.in_segment << 1 | s.in_part << 2 | s.is_later << 3 | s.has_start << 4)
    cdef uint8_t zero[4]
    cdef ctok_status status = CTOK_OK
    memset(&out, 0, sizeof(out))
    memset(&part, 0, sizeof(part))
    try:
        push_part(&out, &flags, 1)
        save_search(&out, &policy.raw, &s.raw)
        save_search(&out, &policy.normal, &s.normed)
        if f.normal != NULL:
            status = normal_save(&s.normal, &part)
        push_part(&out, part.at, part.n)
        part.n = 0
        if f.cutter != NULL and status == CTOK_OK:
            status = cut_save(&s.cut, &part)
        push_part(&out, part.at, part.n)
        part.n = 0
        if s.is_open and status == CTOK_OK:
            status = f.ops.open_save(s.open, &part)
        push_part(&out, part.at, part.n)
        push_part(&out, s.tail.at, s.tail.n)
        push_part(&out, s.head.at, s.head.n)
        ctok_le32_put(zero, <uint32_t>s.zero)
        push_part(&out, zero, 4)
        if status != CTOK_OK:
            raise MemoryError("no memory for a state")
        return (<const char *>out.at)[:out.n]
    finally:
        ctok_bytes_free(&out)
        ctok_bytes_free(&part)


cdef object load_search(const Side *side, Search *search, bytes window, bytes saved):
    cdef size_t bad = 0
    if (side.added == NULL and (window or saved)) or (side.added != NULL and len(saved) != CTOK_ADDED_SAVED):
        raise StateError("this state is damaged")
    if ctok_utf8_validate(window, len(window), &bad) != CTOK_OK:
        raise StateError("this state is damaged")
    if side.added != NULL and ctok_added_load(&search.at, saved, len(window)) != CTOK_OK:
        raise StateError("this state is damaged")
    search.window.n = 0
    if ctok_bytes_append(&search.window, window, len(window)) != CTOK_OK:
        raise MemoryError("no memory for a state")


cdef object check_loaded(ctok_status status):
    if status == CTOK_ERR_MEMORY:
        raise MemoryError("no memory for a state")
    if status != CTOK_OK:
        raise StateError("this state is damaged")


cdef object load_parts(const Stages *f, const Policy *policy, FlowState *s, list parts):
    cdef bytes normal = parts[5], cut = parts[6], open = parts[7], tail = parts[8], head = parts[9], zero = parts[10]
    cdef size_t used = 0
    cdef int flags = parts[0][0]
    load_search(&policy.raw, &s.raw, parts[1], parts[2])
    load_search(&policy.normal, &s.normed, parts[3], parts[4])
    if f.normal != NULL:
        check_loaded(normal_load(f.normal, &s.normal, normal, len(normal), &used))
        if used != <size_t>len(normal):
            raise StateError("this state is damaged")
    if f.cutter != NULL:
        check_loaded(cut_load(f.cutter, &s.cut, cut, len(cut)))
    f.ops.open_free(s.open)
    s.open = NULL
    if flags & 1:
        s.open = f.ops.open_new(f.model)
        check_loaded(CTOK_ERR_MEMORY if s.open == NULL else f.ops.open_load(s.open, open, len(open)))
    if (len(tail) > 4 if f.safe != NULL else flags & 1 and tail) or ctok_utf8_validate(tail, len(tail), &used) != CTOK_OK:
        raise StateError("this state is damaged")
    if len(head) > HEAD or len(zero) != 4 or ctok_utf8_validate(head, len(head), &used) != CTOK_OK:
        raise StateError("this state is damaged")
    s.head.n = 0
    check_loaded(ctok_bytes_append(&s.head, head, len(head)))
    s.zero = ctok_le32_get(zero)
    s.has_start = flags >> 4 & 1
    s.tail.n = 0
    check_loaded(ctok_bytes_append(&s.tail, tail, len(tail)))
    s.fed = 0 if f.safe == NULL else s.tail.n
    s.seen = last_character(&s.tail)
    s.is_open = flags & 1
    s.in_segment = flags >> 1 & 1
    s.in_part = flags >> 2 & 1
    s.is_later = flags >> 3 & 1


cdef object flow_load(const Stages *f, const Policy *policy, FlowState *s, bytes saved):
    """Make *s the state that flow_save wrote; raises `StateError` and leaves *s at the start of a text if it did not write this."""
    cdef size_t at = 0, n = len(saved), size
    cdef const uint8_t *p = saved
    parts = []
    while at + 4 <= n and len(parts) < 11:
        size = ctok_le32_get(p + at)
        if size > n - at - 4:
            break
        parts.append(saved[at + 4:at + 4 + size])
        at += 4 + size
    if len(parts) != 11 or at != n or len(parts[0]) != 1 or parts[0][0] > 31:
        raise StateError("this state is damaged")
    try:
        load_parts(f, policy, s, parts)
    except BaseException:
        flow_free(f, s)
        if flow_begin(f, s) != CTOK_OK:
            raise MemoryError("no memory for a state")
        raise


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
