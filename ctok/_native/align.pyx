# cython: freethreading_compatible=False
"""Whole texts to ids with their places: which part of the text as it came each token stands for, and in which word.

The same stages as in flow.pyx, each asked where its bytes come from. Slower than encoding, and only for whole texts.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from ctok._native.c_added cimport (
    CTOK_ADDED_FOUND, ctok_added_begin, ctok_added_event, ctok_added_next, ctok_added_state)
from ctok._native.c_bytes cimport ctok_bytes, ctok_bytes_append, ctok_bytes_free
from ctok._native.c_cut cimport ctok_cut_asks_start, ctok_cut_state, ctok_cut_zero, ctok_origin, ctok_pieces, ctok_pieces_free
from ctok._native.c_merge cimport ctok_ids, ctok_ids_free, ctok_ids_push
from ctok._native.c_normal cimport CTOK_ORIGINS_REFERENCE, CTOK_ORIGINS_WHOLE, ctok_align, ctok_normal_state, ctok_origins
from ctok._native.c_vocab cimport CTOK_ERR_MEMORY, CTOK_ERR_STOPPED, CTOK_NO_ID, CTOK_OK, ctok_mem_fail_after, ctok_mem_free, ctok_status
from ctok._native.cut cimport cut_begin, cut_feed, cut_free, cut_map, cut_new
from ctok._native.flowstate cimport bytes_of_start
from ctok._native.rooms cimport Policy, Side, Stages
from ctok._native.mergelist cimport UNKNOWN_DROPPED, merges_counted
from ctok._native.normalize cimport normal_begin, normal_end, normal_feed, normal_map
from ctok._native.pipeline cimport Literals, Pipeline, place_in, raise_for

from ..errors import SpecError
from .pipeline import utf8_of

cdef enum:
    ALONE = 4096                # bytes from which the GIL is released

# One text on its way through the stages, and what came out.
cdef struct Alignment:
    const Stages *f
    const Policy *policy
    void *scratch               # the model's
    ctok_cut_state cut
    ctok_normal_state normal    # only of use when it collects
    ctok_bytes normed           # the segment normalised
    ctok_pieces pieces          # the part cut,
    ctok_bytes pieces_map       # and where each byte of it comes from
    ctok_ids ends               # of the tokens of one pretoken,
    ctok_ids counted            # and where the bytes stand that they count
    ctok_ids ids                # the result: ids,
    ctok_ids starts             # first byte in the text,
    ctok_ids stops              # byte behind the last
    ctok_ids words              # and number of the pretoken
    ctok_ids added              # which of them are added tokens: their numbers
    ctok_ids named              # and which go by another name than that of their token: numbers,
    ctok_ids named_stops        # where each name ends in
    ctok_bytes names            # all of them
    uint32_t unk                # the id of parts that go by what they are; CTOK_NO_ID: they have the name of the unknown token
    uint32_t word
    bint is_later
    size_t zero                 # bytes of the normalised text that stem from place 0, where the pre-tokenizer asks
    ctok_origins origins
    bint collects               # instead of ids: the bytes of each pretoken in names, in the place of its id CTOK_NO_ID; no places
    size_t bad
    uint32_t number


ctypedef ctok_status (*stretch_fn)(Alignment *a, const uint8_t *p, size_t n, const Frame *frame) noexcept nogil

# What the bytes of a stretch are: they begin at `base` of the text, or each comes from where `map` says, relative to base.
cdef struct Frame:
    size_t base
    const ctok_align *map
    bint is_lost                # they come from somewhere behind base


cdef inline ctok_status note(Alignment *a, size_t start, size_t stop, const Frame *frame) noexcept nogil:
    """The place of one id, given in bytes of a stretch. A place without bytes is the end of what is before it."""
    if frame.map != NULL:
        if stop > start:
            stop = frame.map[stop - 1].end
            start = frame.map[start].start
        else:
            start = stop = frame.map[start - 1].end if start else 0
    if ctok_ids_push(&a.starts, <uint32_t>(frame.base + start)) != CTOK_OK:
        return CTOK_ERR_MEMORY
    if ctok_ids_push(&a.stops, <uint32_t>(frame.base + stop)) != CTOK_OK or ctok_ids_push(&a.words, a.word) != CTOK_OK:
        return CTOK_ERR_MEMORY
    return CTOK_OK


cdef ctok_status note_name(Alignment *a, size_t number, const uint8_t *p, size_t n) noexcept nogil:
    if ctok_ids_push(&a.named, <uint32_t>number) != CTOK_OK or ctok_bytes_append(&a.names, p, n) != CTOK_OK:
        return CTOK_ERR_MEMORY
    return ctok_ids_push(&a.named_stops, <uint32_t>a.names.n)


cdef ctok_status sift_whole(Alignment *a, const Side *side, stretch_fn rest, const uint8_t *p, size_t n, const Frame *frame) noexcept nogil:
    """Take out the added tokens of one side; what lies between them goes on, each stretch by itself."""
    cdef ctok_added_state search
    cdef ctok_added_event event
    cdef Frame inner = frame[0]
    cdef ctok_status status = CTOK_OK
    cdef bint found = True
    if side.added == NULL:
        return rest(a, p, n, frame) if n else CTOK_OK
    ctok_added_begin(&search)
    while found and status == CTOK_OK:
        found = ctok_added_next(side.added, &search, p, n, True, side.skip, &event) == CTOK_ADDED_FOUND
        if event.text_end > event.text:
            if frame.map != NULL:
                inner.map = frame.map + event.text
            else:
                inner.base = frame.base + event.text
            status = rest(a, p + event.text, event.text_end - event.text, &inner)
        if found and status == CTOK_OK:
            if side.forbidden != NULL and side.forbidden[event.token]:
                a.bad = frame.base + event.start if frame.map == NULL and not frame.is_lost else frame.base
                a.number = side.base + event.token
                return CTOK_ERR_STOPPED
            status = ctok_ids_push(&a.added, <uint32_t>a.ids.n)
            if status == CTOK_OK and frame.map != NULL and not a.collects:     # in a normalised text it is called what it is there
                status = note_name(a, a.ids.n, p + event.start, event.end - event.start)
            if status == CTOK_OK:
                status = ctok_ids_push(&a.ids, event.id)
            if status == CTOK_OK:
                status = note(a, event.start, event.end, frame)
            a.word += 1
            a.is_later = True
    return status


cdef ctok_status align_segment(Alignment *a, const uint8_t *p, size_t n, const Frame *frame) noexcept nogil:
    """A stretch of the text as it came."""
    cdef ctok_align *map = NULL
    cdef bint certain = False
    cdef Frame inner = frame[0]
    cdef ctok_status status
    if a.f.normal == NULL:
        return sift_whole(a, &a.policy.normal, align_part, p, n, frame)
    a.normed.n = 0
    if a.collects:
        inner.is_lost = True
        status = normal_feed(a.f.normal, &a.normal, p, n, True, &a.normed)
    else:
        status = normal_map(a.f.normal, p, n, a.origins, &a.normed, &map)
        inner.map = map
    if status == CTOK_OK and not a.is_later and a.f.cutter != NULL and ctok_cut_asks_start(a.f.cutter):
        status = bytes_of_start(a.f, p, n, &a.zero, &certain)
        a.is_later = a.zero == 0
    if status == CTOK_OK:
        status = sift_whole(a, &a.policy.normal, align_part, a.normed.at, a.normed.n, &inner)
    ctok_mem_free(map)
    return status


cdef ctok_status align_part(Alignment *a, const uint8_t *p, size_t n, const Frame *frame) noexcept nogil:
    """A stretch of normalised text."""
    cdef size_t k, start = 0
    cdef ctok_status status = CTOK_OK
    cdef bint is_first = not a.is_later
    a.is_later = True
    if a.f.cutter == NULL:
        return align_pretoken(a, p, n, NULL, 0, frame)
    cut_begin(&a.cut, is_first)
    if is_first and a.f.normal != NULL and ctok_cut_asks_start(a.f.cutter):
        ctok_cut_zero(&a.cut, a.zero)
    if a.collects:
        a.pieces.text.n = a.pieces.n_stops = 0
        status = cut_feed(a.f.cutter, &a.cut, p, n, True, &a.pieces)
    else:
        status = cut_map(a.f.cutter, &a.cut, p, n, &a.pieces, &a.pieces_map)
    for k in range(a.pieces.n_stops):
        if status != CTOK_OK:
            break
        status = align_pretoken(a, a.pieces.text.at + start, a.pieces.stops[k] - start, <const ctok_origin *>a.pieces_map.at, start, frame)
        start = a.pieces.stops[k]
    return status


cdef ctok_status count_gaps(Alignment *a, const uint8_t *p, size_t n) noexcept nogil:
    """Where the bytes of a pretoken stand that its ends count, if that is not all of them: unknown characters may have been dropped."""
    a.counted.n = 0
    if a.origins != CTOK_ORIGINS_WHOLE or a.f.merges == NULL or a.f.merges.unknown != UNKNOWN_DROPPED:
        return CTOK_OK
    if a.ends.n and a.ends.at[a.ends.n - 1] == n:
        return CTOK_OK
    return merges_counted(a.f.merges, p, n, &a.counted)


cdef ctok_status align_pretoken(Alignment *a, const uint8_t *p, size_t n, const ctok_origin *map, size_t begin,
                                const Frame *frame) noexcept nogil:
    """One pretoken: its ids, and the places of their tokens. It begins at `begin` of what `map` speaks of; NULL: of the stretch itself."""
    cdef size_t k, start = 0, stop = 0, first, last, begin_ids = a.ids.n
    cdef ctok_status status
    if a.collects:
        status = ctok_ids_push(&a.ids, CTOK_NO_ID)
        return note_name(a, begin_ids, p, n) if status == CTOK_OK else status
    a.ends.n = 0
    status = a.f.ops.encode(a.f.model, a.scratch, p, n, &a.ids, &a.ends)
    if status == CTOK_OK:
        status = count_gaps(a, p, n)
    for k in range(a.ends.n):
        if status != CTOK_OK:
            return status
        if a.ends.at[k] != stop:                    # ids with equal ends share a place
            start = stop
            stop = a.ends.at[k]
        first = begin + start
        last = begin + stop
        if start < stop <= a.counted.n:
            first = begin + a.counted.at[start]
            last = begin + a.counted.at[stop - 1] + 1
        if map != NULL and last > first:
            first = map[first].start
            last = map[last - 1].stop
        elif map != NULL:
            first = last = map[first - 1].stop if first else 0
        status = note(a, first, last, frame)
        if status == CTOK_OK and a.ids.at[begin_ids + k] == a.unk:
            status = note_name(a, begin_ids + k, p + start, stop - start)
    a.word += 1
    return status


cdef object begin(Alignment *a, Pipeline tokenizer, Literals literals, bint collects):
    memset(a, 0, sizeof(Alignment))
    a.f = &tokenizer.flow.stages
    a.unk = CTOK_NO_ID if tokenizer.flow.shown_unk is None else tokenizer.flow.shown_unk
    a.policy = &literals.sides.sought if literals is not None else &tokenizer.flow.none
    if a.f.cutter != NULL and cut_new(a.f.cutter, &a.cut, True) != CTOK_OK:
        raise MemoryError("no memory to align a text")
    a.collects = collects
    if collects:
        if a.f.normal != NULL and normal_begin(a.f.normal, &a.normal) != CTOK_OK:
            raise MemoryError("no memory to take a text apart")
        return
    a.scratch = a.f.ops.scratch_new(a.f.model)
    if a.scratch == NULL:
        raise MemoryError("no memory to align a text")


cdef void end(Alignment *a) noexcept:
    if a.f.cutter != NULL:
        cut_free(&a.cut)
    if a.scratch != NULL:
        a.f.ops.scratch_free(a.scratch)
    normal_end(&a.normal)
    ctok_bytes_free(&a.normed)
    ctok_bytes_free(&a.pieces_map)
    ctok_pieces_free(&a.pieces)
    ctok_ids_free(&a.ends)
    ctok_ids_free(&a.counted)
    ctok_ids_free(&a.ids)
    ctok_ids_free(&a.starts)
    ctok_ids_free(&a.stops)
    ctok_ids_free(&a.words)
    ctok_ids_free(&a.added)
    ctok_ids_free(&a.named)
    ctok_ids_free(&a.named_stops)
    ctok_bytes_free(&a.names)


cdef object column(const ctok_ids *numbers):
    return memoryview((<const char *>numbers.at)[:numbers.n * sizeof(uint32_t)]).cast("I")


cdef dict names_of(const Alignment *a):
    cdef size_t k, start = 0
    names = {}
    for k in range(a.named.n):
        names[a.named.at[k]] = (<const char *>a.names.at)[start:a.named_stops.at[k]].decode()
        start = a.named_stops.at[k]
    return names


cdef object run(Alignment *a, bytes text, original, Literals literals, str done):
    """Take the whole text through the stages; `original` is what it was made from, or None. `done` is what an error says cannot be."""
    cdef Frame whole
    cdef ctok_status status
    cdef const uint8_t *p = text
    cdef size_t n = len(text)
    if n >= 1 << 30:
        raise ValueError(f"a text of {n} bytes is too long to be {done}; 1 GiB is the limit")
    memset(&whole, 0, sizeof(whole))
    if n < ALONE:
        status = sift_whole(a, &a.policy.raw, align_segment, p, n, &whole)
    else:
        with nogil:
            status = sift_whole(a, &a.policy.raw, align_segment, p, n, &whole)
    if status != CTOK_OK:
        if original is None:
            original = text
        bad = place_in(original, text, a.bad) if status == CTOK_ERR_STOPPED else len(original)
        raise_for(status, bad, a.number, original, literals)


def align(Pipeline tokenizer not None, bytes text not None, allowed, disallowed, first=True, original=None, as_reference=False):
    """Return ``(ids, starts, stops, words, added, names)``.

    The first four are views of native uint32, equally long; the fifth says which ids, by place, are added tokens; the last is a dict, place
    to text, of what goes by another name than that of its token: unknown parts of a Unigram model, and added tokens in normalised text.

    Parameters
    ----------
    tokenizer
        A tokenizer with a `Flow`.
    text
        Well-formed UTF-8 in at most 1 GiB.
    allowed, disallowed
        As `allowed_special` and `disallowed_special` of `Tokenizer.encode`.
    first
        Whether the text is the first of its sequence: some pre-tokenizers treat the start differently.
    original
        What `text` was made from, if not bytes: errors count its characters.
    as_reference
        Where several characters became one, it comes from one of them, as the `tokenizers` library says; else from all.

    Notes
    -----
    Places are bytes of `text`; a token that is part of a character may have a place inside it. Words count pretokens and added tokens. No
    template is applied.
    """
    cdef Alignment a
    cdef Literals literals = tokenizer.policy(allowed, disallowed)
    try:
        begin(&a, tokenizer, literals, False)
        a.is_later = not first
        a.origins = CTOK_ORIGINS_REFERENCE if as_reference else CTOK_ORIGINS_WHOLE
        run(&a, text, original, literals, "aligned")
        return column(&a.ids), column(&a.starts), column(&a.stops), column(&a.words), column(&a.added), names_of(&a)
    finally:
        end(&a)


def stretches(Pipeline tokenizer not None, str ability not None, text, allowed, disallowed, errors):
    """Return the model's method of the name `ability`, and what the model gets of a text: bytes, and the ids of added tokens between them.

    Parameters
    ----------
    text, errors
        As in `Tokenizer.encode`.
    allowed, disallowed
        As `allowed_special` and `disallowed_special` of it.

    Raises
    ------
    SpecError
        The model has no such method.
    EncodeError, DisallowedSpecialTokenError, UnknownSpecialTokenError
        As `Tokenizer.encode`.
    """
    method = getattr(tokenizer.flow.model, ability, None) if tokenizer.flow is not None else None
    if method is None:
        raise unable(tokenizer, ability)
    return method, taken_apart(tokenizer, text, allowed, disallowed, errors)


def sample(Pipeline tokenizer not None, text, alpha, nbest_size, seed, allowed, disallowed, errors):
    """Return the ids of one way to cut a text into tokens, drawn at random, as `Tokenizer.sample` does, without a template."""
    cdef list parts, ids
    if tokenizer.flow is None or not hasattr(tokenizer.flow.model, "sample"):
        raise unable(tokenizer, "sample")
    parts = taken_apart(tokenizer, text, allowed, disallowed, errors)
    if len(parts) == 1 and isinstance(parts[0], bytes):
        return tokenizer.flow.model.sample(parts[0], alpha, nbest_size, seed)
    ids = []
    for part, own in zip(parts, seeds_of(seed, len(parts)), strict=True):
        ids += tokenizer.flow.model.sample(part, alpha, nbest_size, own) if isinstance(part, bytes) else [part]
    return ids


cdef object unable(Pipeline tokenizer, str ability):
    return SpecError(f"the model of {tokenizer.name!r} has no {ability}: it knows one way to cut a text into tokens")


cdef list seeds_of(seed, size_t n):
    """A seed for each of n draws, which follow from one."""
    if seed is None:
        return [None] * n
    from random import Random

    source = Random(seed)
    return [source.getrandbits(64) for _ in range(n)]


cdef list taken_apart(Pipeline tokenizer, text, allowed, disallowed, errors):
    cdef Alignment a
    cdef bytes raw = utf8_of(tokenizer, text, errors)
    cdef Literals literals = tokenizer.policy(allowed, disallowed)
    cdef ctok_status status
    try:
        begin(&a, tokenizer, literals, True)
        if len(raw) < ALONE and is_one_part(&a):
            status = normal_feed(a.f.normal, &a.normal, raw, len(raw), True, &a.normed)
            if status != CTOK_OK:
                raise_for(status, len(text), a.number, text, literals)
            return [(<const char *>a.normed.at)[:a.normed.n]] if a.normed.n else []
        run(&a, raw, text if isinstance(text, str) else None, literals, "taken apart")
        return parts_of(&a)
    finally:
        end(&a)


cdef inline bint is_one_part(const Alignment *a) noexcept:
    """Does the model get the whole normalised text?"""
    return a.f.normal != NULL and a.f.cutter == NULL and a.policy.raw.added == NULL and a.policy.normal.added == NULL


cdef list parts_of(const Alignment *a):
    cdef size_t i, k = 0, start = 0
    parts = []
    for i in range(a.ids.n):
        if k < a.named.n and a.named.at[k] == i:
            parts.append((<const char *>a.names.at)[start:a.named_stops.at[k]])
            start = a.named_stops.at[k]
            k += 1
        else:
            parts.append(a.ids.at[i])
    return parts


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
