# cython: freethreading_compatible=False
"""The general line from text to ids: added tokens, normaliser, added tokens again, pre-tokenizer, model.

A chain of transducers of which each hands on what is certain, so a whole text is a stream fed in one piece. One `FlowState` is one text on
its way. What a room may not yet hand on stays in it: the search for added tokens keeps a window, the normaliser and the pre-tokenizer a
few characters, the model the pretoken in the making. Pretokens that are complete when they come are encoded in blocks, through the
thread's cache.

Tokenizers that are only a split rule and byte pairs by rank do not come here: engine.pyx and stream.pyx do the same for them with less.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy

from ctok._native.bpelanes cimport MergeTask
from ctok._native.c_added cimport CTOK_ADDED_FOUND, ctok_added_begin, ctok_added_drop, ctok_added_event, ctok_added_next
from ctok._native.c_bytes cimport ctok_bytes, ctok_bytes_append, ctok_bytes_drop, ctok_bytes_free
from ctok._native.c_cut cimport ctok_cut_zero, ctok_pieces, ctok_pieces_free
from ctok._native.c_engine cimport (
    CTOK_CACHE_LONG, CTOK_CACHE_SHORT_IDS, ctok_cache_distinct, ctok_cache_emit, ctok_cache_probe, ctok_cache_repeat)
from ctok._native.c_mergelist cimport ctok_safecut_next
from ctok._native.c_merge cimport ctok_ids_push, ctok_ids_reserve
from ctok._native.c_utf8 cimport ctok_on_surrogate, ctok_utf8_count, ctok_utf8_from
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_ERR_STOPPED, CTOK_OK, ctok_mem_alloc, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed, ctok_status)
from ctok._native.cut cimport cut_begin, cut_feed
from ctok._native.engine cimport (
    BLOCK, Context, Engine, begin_of, encode_block, fetch_memory, place_before, recall, remember, remembered, settle, settle_task)
from ctok._native.flowstate cimport FlowState, Search, flow_begin, flow_free, flow_start, last_character
from ctok._native.mergelanes cimport LIST_LANES, ListLane, merges_encode_many
from ctok._native.mergelist cimport ListScratch
from ctok._native.normalize cimport normal_feed
from ctok._native.rooms cimport Policy, Side, Stages

cdef enum:
    SLICE = 1 << 16             # bytes of a whole text taken at a time
    LONG = 64                   # bytes from which a pretoken is cut where merges cannot cross

# What a context holds for a flow besides its cache.
cdef struct Scratch:
    FlowState whole             # of whole texts
    bint is_begun               # it owns memory
    bint is_fresh               # and stands at the start of a text
    ctok_bytes normed           # what the normaliser made of a part
    ctok_pieces pieces          # and the pre-tokenizer of that
    void *model
    ListLane lanes[LIST_LANES]
    const Stages *stages

# What one call works with, passed along instead of six arguments.
cdef struct Run:
    Context *c
    const Engine *e
    const Stages *f
    FlowState *s
    Scratch *x

ctypedef ctok_status (*room_fn)(Run *r, const uint8_t *p, size_t n, bint end) noexcept nogil


# ---- added tokens ----

cdef ctok_status emit_added(Run *r, const Side *side, const ctok_added_event *event, const uint8_t *view, size_t n) noexcept nogil:
    r.s.is_later = True
    if side.forbidden != NULL and side.forbidden[event.token]:
        r.c.bad = n - event.start
        r.c.bad_chars = ctok_utf8_count(view + event.start, n - event.start)
        r.c.counted = side.base + event.token
        return CTOK_ERR_STOPPED
    if ctok_ids_push(&r.c.ids, event.id) != CTOK_OK:
        return CTOK_ERR_MEMORY
    settle(r.c)
    return CTOK_OK


cdef ctok_status sift(Run *r, const Side *side, Search *search, room_fn rest, const uint8_t *p, size_t n, bint end) noexcept nogil:
    """Take out the added tokens of one side; what lies between them goes to the next room, each stretch as a text of its own."""
    cdef ctok_added_event event
    cdef ctok_status status = CTOK_OK
    cdef bint found = True, is_held = search.window.n != 0
    if side.added == NULL:
        return rest(r, p, n, end)
    if is_held:
        status = ctok_bytes_append(&search.window, p, n)
        p = search.window.at
        n = search.window.n
    while found and status == CTOK_OK:
        found = ctok_added_next(side.added, &search.at, p, n, end, side.skip, &event) == CTOK_ADDED_FOUND
        status = rest(r, p + event.text, event.text_end - event.text, found or end)
        if found and status == CTOK_OK:
            status = emit_added(r, side, &event, p, n)
    if status != CTOK_OK:
        return status
    if end:
        ctok_added_begin(&search.at)
        search.window.n = 0
        return CTOK_OK
    ctok_added_drop(side.added, &search.at, p, event.keep)
    if not is_held:
        return ctok_bytes_append(&search.window, p + event.keep, n - event.keep)
    ctok_bytes_drop(&search.window, event.keep)
    return CTOK_OK


# ---- normaliser and pre-tokenizer ----

cdef ctok_status feed_segment(Run *r, const uint8_t *p, size_t n, bint end) noexcept nogil:
    """The room behind the first search: a stretch of the text as it came, to be normalised by itself."""
    cdef ctok_status status
    if n == 0 and not r.s.in_segment:           # an empty stretch is none
        return CTOK_OK
    r.s.in_segment = not end
    if r.f.normal != NULL:
        r.x.normed.n = 0
        status = flow_start(r.f, r.s, &p, &n, end)
        if status == CTOK_OK:
            status = normal_feed(r.f.normal, &r.s.normal, p, n, end, &r.x.normed)
        if status != CTOK_OK:
            return status
        if r.s.has_start:
            r.s.head.n = 0
        p = r.x.normed.at
        n = r.x.normed.n
    return sift(r, &(<const Policy *>r.e.policy).normal, &r.s.normed, feed_part, p, n, end)


cdef ctok_status feed_part(Run *r, const uint8_t *p, size_t n, bint end) noexcept nogil:
    """The room behind the second search: normalised text, to be cut into pretokens."""
    cdef ctok_status status
    cdef ctok_pieces *pieces = &r.x.pieces
    if n == 0 and not r.s.in_part:
        return CTOK_OK
    if not r.s.in_part and r.f.cutter != NULL:
        cut_begin(&r.s.cut, not r.s.is_later)
        if r.s.has_start and not r.s.is_later:
            ctok_cut_zero(&r.s.cut, r.s.zero)
    r.s.in_part = not end
    r.s.is_later = True
    pieces.text.n = pieces.n_stops = 0
    if r.f.cutter != NULL:
        status = cut_feed(r.f.cutter, &r.s.cut, p, n, end, pieces)
        if status == CTOK_OK:
            status = encode_pieces(r, pieces.text.at, pieces.text.n, pieces.stops, pieces.n_stops)
        return status
    return advance_open(r, p, n, end)


# ---- pretokens ----

cdef ctok_status feed_open(Run *r, const uint8_t *p, size_t n) noexcept nogil:
    """More bytes of the pretoken in the making, for the model."""
    cdef ctok_status status
    if n == 0:
        return CTOK_OK
    if r.s.open == NULL:
        r.s.open = r.f.ops.open_new(r.f.model)
        if r.s.open == NULL:
            return CTOK_ERR_MEMORY
    r.s.is_open = True
    status = r.f.ops.open_feed(r.s.open, p, n, &r.c.ids)
    settle(r.c)
    return status


cdef ctok_status end_open(Run *r) noexcept nogil:
    cdef ctok_status status
    if not r.s.is_open:
        return CTOK_OK
    r.s.is_open = False
    status = r.f.ops.open_end(r.s.open, &r.c.ids)
    settle(r.c)
    return status


cdef ctok_status cut_tail(Run *r, size_t *begin) noexcept nogil:
    """Encode the pieces of s.tail before the last place where it may be cut; *begin is that place, 0 if there is none."""
    cdef FlowState *s = r.s
    cdef size_t at = s.seen, start = 0, n = 0
    cdef ctok_status status = CTOK_OK
    begin[0] = 0
    while status == CTOK_OK:
        at = ctok_safecut_next(r.f.safe, s.tail.at, at, s.tail.n)
        if at >= s.tail.n:
            break
        if begin[0] == 0 and s.is_open:
            status = feed_open(r, s.tail.at + s.fed, at - s.fed)
            if status == CTOK_OK:
                status = end_open(r)
            start = at
        else:
            r.c.stops[n] = <uint32_t>at
            n += 1
        begin[0] = at
        if n == BLOCK and status == CTOK_OK:
            status = encode_closed(r, s.tail.at, start, n, s.tail.n)
            start = at
            n = 0
    if n and status == CTOK_OK:
        status = encode_closed(r, s.tail.at, start, n, s.tail.n)
    return status


cdef ctok_status end_tail(Run *r, size_t begin) noexcept nogil:
    """The pretoken ends with s.tail, of which what is before `begin` is done."""
    cdef FlowState *s = r.s
    cdef ctok_status status
    if s.is_open:
        status = feed_open(r, s.tail.at + s.fed, s.tail.n - s.fed)
        return end_open(r) if status == CTOK_OK else status
    if begin == s.tail.n:
        return CTOK_OK
    r.c.stops[0] = <uint32_t>s.tail.n
    return encode_closed(r, s.tail.at, begin, 1, s.tail.n)


cdef ctok_status advance_waiting(Run *r, const uint8_t *p, size_t n, bint closing) noexcept nogil:
    """advance_open where there is nothing to cut by: s.tail keeps the pretoken as long as the model would give nothing, so that most are
    complete when they are encoded."""
    cdef FlowState *s = r.s
    cdef ctok_status status = ctok_bytes_append(&s.tail, p, n)
    if status == CTOK_OK and closing:
        status = end_tail(r, 0)
        s.tail.n = 0
    elif status == CTOK_OK and n and not remembered(r.c, r.f.ops.open_waits, r.f.model, s.tail.at, s.tail.n):
        status = feed_open(r, s.tail.at, s.tail.n)
        s.tail.n = 0
    return status


cdef ctok_status advance_open(Run *r, const uint8_t *p, size_t n, bint closing) noexcept nogil:
    """More of the pretoken in the making; `closing`: it ends with that.

    Where merges cannot cross (csrc/ctok_safecut.h) it is cut, and the pieces go the way of complete pretokens. What lies behind the last
    such place goes to the model at once, so that ids leave early; in a whole text it waits for its end in s.tail.
    """
    cdef FlowState *s = r.s
    cdef size_t begin = 0
    cdef ctok_status status
    if r.f.safe == NULL and not s.is_whole:
        if not s.is_open and r.f.ops.open_waits != NULL:
            return advance_waiting(r, p, n, closing)
        status = feed_open(r, p, n)
        return end_open(r) if closing and status == CTOK_OK else status
    status = ctok_bytes_append(&s.tail, p, n)
    if status == CTOK_OK and r.f.safe != NULL:
        status = cut_tail(r, &begin)
    if status == CTOK_OK and closing:
        status = end_tail(r, begin)
        s.tail.n = s.fed = s.seen = 0
        return status
    if status == CTOK_OK and not s.is_whole:
        status = feed_open(r, s.tail.at + max(begin, s.fed), s.tail.n - max(begin, s.fed))
        begin = last_character(&s.tail)                 # a cut may follow it
    if status != CTOK_OK:
        return status
    ctok_bytes_drop(&s.tail, begin)
    s.fed = 0 if s.is_whole else s.tail.n
    s.seen = last_character(&s.tail)
    return CTOK_OK


cdef ctok_status encode_pieces(Run *r, const uint8_t *p, size_t n, const uint32_t *stops, size_t n_stops) noexcept nogil:
    """What the pre-tokenizer handed on: the rest of the open pretoken, complete ones, the start of the next."""
    cdef size_t done = 0, start = 0, first, many
    cdef ctok_status status = CTOK_OK
    if n_stops and (r.s.is_open or r.s.tail.n):
        status = advance_open(r, p, stops[0], True)
        start = stops[0]
        done = 1
    while done < n_stops and status == CTOK_OK:
        first = start
        many = 0
        while done + many < n_stops and many < BLOCK and (r.f.safe == NULL or stops[done + many] - start <= LONG):
            start = stops[done + many]
            many += 1
        memcpy(r.c.stops, stops + done, many * sizeof(uint32_t))
        done += many
        if many:
            status = encode_closed(r, p, first, many, n)
        else:
            status = advance_open(r, p + start, stops[done] - start, True)
            start = stops[done]
            done += 1
    return advance_open(r, p + start, n - start, False) if status == CTOK_OK and start < n else status


cdef ctok_status encode_tasks(Run *r, size_t n) noexcept nogil:
    """Append the ids of each of the first n tasks to c.side."""
    cdef Context *c = r.c
    cdef MergeTask *task
    cdef size_t k, which = 0
    cdef ctok_status status
    if r.f.merges != NULL:
        return merges_encode_many(r.f.merges, c.tasks, n, r.x.lanes, <ListScratch *>r.x.model, &c.side, &which)
    for k in range(n):
        task = &c.tasks[k]
        task.begin = c.side.n
        status = r.f.ops.encode(r.f.model, r.x.model, task.p, task.n, &c.side, NULL)
        if status != CTOK_OK:
            return status
        task.count = c.side.n - task.begin
    return CTOK_OK


cdef ctok_status encode_afresh(Run *r, const uint8_t *p, size_t start, size_t n) noexcept nogil:
    """encode_closed without a cache: with dropout the same pretoken gives other ids each time."""
    cdef size_t i, begin
    cdef ctok_status status
    for i in range(n):
        begin = begin_of(r.c, start, i)
        status = r.f.ops.encode(r.f.model, r.x.model, p + begin, r.c.stops[i] - begin, &r.c.ids, NULL)
        if status != CTOK_OK:
            return status
        settle(r.c)
    return CTOK_OK


cdef ctok_status encode_closed(Run *r, const uint8_t *p, size_t start, size_t n, size_t end) noexcept nogil:
    """Append the ids of the n complete pretokens of c.stops, the first of which begins at start; p is readable up to end."""
    cdef Context *c = r.c
    cdef MergeTask *task
    cdef size_t k, i, begin, n_misses, n_repeats = 0, n_tasks = 0, size = 0
    cdef ctok_status status
    if r.f.merges != NULL and r.f.merges.dropout > 0:
        return encode_afresh(r, p, start, n)
    if r.f.merges != NULL and r.f.merges.ranked != NULL:
        return encode_block(c, r.f.merges.ranked, p, start, n, end)
    if n == 1 and r.f.merges == NULL and c.stops[0] - start > CTOK_CACHE_LONG:      # no cache would hold it
        status = r.f.ops.encode(r.f.model, r.x.model, p + start, c.stops[0] - start, &c.ids, NULL)
        settle(c)
        return status
    n_misses = ctok_cache_probe(&c.cache, p, start, c.stops, n, end, c.keys, c.found, c.misses)
    n_misses = ctok_cache_distinct(&c.cache, p, start, c.stops, c.keys, c.found, c.misses, n_misses, c.repeats, &n_repeats)
    c.side.n = 0
    for k in range(n_misses):
        i = c.misses[k]
        begin = begin_of(c, start, i)
        fetch_memory(c, i, p + begin, c.stops[i] - begin)
    for k in range(n_misses):
        i = c.misses[k]
        begin = begin_of(c, start, i)
        if not recall(c, i, p + begin, c.stops[i] - begin):
            c.tasks[n_tasks].p = p + begin
            c.tasks[n_tasks].n = <uint32_t>(c.stops[i] - begin)
            c.tasks[n_tasks].number = <uint32_t>i
            n_tasks += 1
    if n_tasks:
        status = ctok_ids_reserve(&c.side, 1)               # also pretokens without ids are copied from it
        if status == CTOK_OK:
            status = encode_tasks(r, n_tasks)
        if status != CTOK_OK:
            return status
    for k in range(n_tasks):
        task = &c.tasks[k]
        settle_task(c, task)
        remember(c, task.number, task.p, task.n, c.side.at + task.begin, task.count, True)
    ctok_cache_repeat(c.found, c.repeats, n_repeats)
    for i in range(n):
        size += c.found[i].n
    if c.counting:
        c.counted += size
        return CTOK_OK
    if ctok_ids_reserve(&c.ids, size + CTOK_CACHE_SHORT_IDS) != CTOK_OK:        # the last copy may write 3 more
        return CTOK_ERR_MEMORY
    c.ids.n += ctok_cache_emit(c.found, n, c.side.at, c.ids.at + c.ids.n)
    return CTOK_OK


# ---- texts ----

cdef void scratch_free(void *held) noexcept nogil:
    cdef Scratch *x = <Scratch *>held
    if x.is_begun:
        flow_free(x.stages, &x.whole)
    x.stages.ops.scratch_free(x.model)
    ctok_bytes_free(&x.normed)
    ctok_pieces_free(&x.pieces)
    ctok_mem_free(x)


cdef ctok_status ready(Context *c, const Engine *e, Run *r) noexcept nogil:
    """Give the context what a flow needs besides."""
    cdef const Stages *f = <const Stages *>e.stages
    cdef Scratch *x = <Scratch *>c.extra
    if x == NULL:
        x = <Scratch *>ctok_mem_zeroed(1, sizeof(Scratch))
        if x == NULL:
            return CTOK_ERR_MEMORY
        x.stages = f
        x.model = f.ops.scratch_new(f.model)
        if x.model == NULL:
            ctok_mem_free(x)
            return CTOK_ERR_MEMORY
        c.extra = x
        c.extra_free = scratch_free
    r.c = c
    r.e = e
    r.f = f
    r.x = x
    c.bad = c.bad_chars = 0
    return CTOK_OK


cdef ctok_status flow_feed(Context *c, const Engine *e, FlowState *s, const uint8_t *p, size_t n, bint final) noexcept nogil:
    cdef Run r
    cdef ctok_status status = ready(c, e, &r)
    if status != CTOK_OK:
        return status
    r.s = s
    status = sift(&r, &(<const Policy *>e.policy).raw, &s.raw, feed_segment, p, n, final)
    if final:
        s.is_later = s.has_start = False
        s.head.n = 0
    return status


cdef ctok_status whole_begin(Context *c, const Engine *e, FlowState **s) noexcept nogil:
    """The context's own state, at the start of a text."""
    cdef Run r
    cdef Scratch *x
    cdef ctok_status status = ready(c, e, &r)
    if status != CTOK_OK:
        return status
    x = r.x
    if not x.is_fresh:
        if x.is_begun:
            flow_free(r.f, &x.whole)
        status = flow_begin(r.f, &x.whole)
        x.whole.is_whole = True
        x.is_begun = True
    x.is_fresh = False                          # until it has come through
    s[0] = &x.whole
    return status


cdef ctok_status whole_end(Context *c, ctok_status status) noexcept nogil:
    (<Scratch *>c.extra).is_fresh = status == CTOK_OK
    return status


cdef ctok_status flow_utf8(Context *c, const Engine *e, const uint8_t *buf, size_t n) noexcept nogil:
    cdef FlowState *s = NULL
    cdef size_t pos = 0, end
    cdef ctok_status status = whole_begin(c, e, &s)
    while status == CTOK_OK:
        end = n if n - pos <= SLICE else pos + SLICE
        while end < n and (buf[end] & 0xC0) == 0x80:
            end -= 1
        status = flow_feed(c, e, s, buf + pos, end - pos, end == n)
        if status != CTOK_OK:
            c.bad = end - c.bad if status == CTOK_ERR_STOPPED else n
        if end == n:
            return whole_end(c, status)
        pos = end
    return status


cdef ctok_status flow_wide(Context *c, const Engine *e, int kind, const void *src, size_t n, ctok_on_surrogate how) noexcept nogil:
    cdef FlowState *s = NULL
    cdef size_t at = 0, written = 0
    cdef ctok_status status = whole_begin(c, e, &s)
    if status == CTOK_OK and c.text_cap < SLICE:
        ctok_mem_free(c.text)
        c.text_cap = 0
        c.text = <uint8_t *>ctok_mem_alloc(SLICE, 1)
        if c.text == NULL:
            return CTOK_ERR_MEMORY
        c.text_cap = SLICE
    while status == CTOK_OK:
        status = ctok_utf8_from(kind, src, n, &at, c.text, c.text_cap, &written, how)
        if status != CTOK_OK:
            c.bad = at
            return status
        status = flow_feed(c, e, s, c.text, written, at == n)
        if status != CTOK_OK:
            c.bad = place_before(kind, src, at, c.bad_chars) if status == CTOK_ERR_STOPPED else n
        if at == n:
            return whole_end(c, status)
    return status


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
