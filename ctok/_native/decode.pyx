"""Ids to text while they arrive: `IncrementalDecoder`, its `Delta`, and `step_many` for many of them.

What is held and released is decided in csrc/ctok_decoder.h; here it becomes Python. The common call, one id whose token is text by itself
while nothing is held, never gets there: it takes the token's str out of a table that all decoders of a vocabulary share.
"""

cimport cython
cimport cython
from cpython.list cimport PyList_Check
from cpython.long cimport PyLong_Check, PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_Check, PyTuple_New, PyTuple_SET_ITEM
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from ctok._native.c_decoder cimport (
    ctok_decoder_call, ctok_decoder_commit, ctok_decoder_copy_heap, ctok_decoder_depth, ctok_decoder_feed,
    ctok_decoder_free, ctok_decoder_held, ctok_decoder_queue, ctok_decoder_reset, ctok_decoder_rollback, ctok_decoder_set_chain,
    ctok_decoder_set_prefix, ctok_pending, ctok_stops_scan)
from ctok._native.c_pylong cimport ctok_pylong_u32
from ctok._native.c_text cimport CTOK_ERRORS_STRICT, CTOK_PER_SUBPART, ctok_text, ctok_text_free, ctok_text_init
from ctok._native.c_vocab cimport (
    CTOK_ERR_UTF8, CTOK_OK, CTOK_TOKEN_KNOWN, ctok_mem_fail_after, ctok_status, ctok_token)
from ctok._native.texts cimport fill_text, texts_of

from operator import index as _as_index

from ..errors import DecodeError, UnknownIdError

cdef extern from "Python.h":
    bint PyIndex_Check(object o)

cdef enum:
    STACK_IDS = 64
    STACK_TEXT = 1024


@cython.freelist(64)
@cython.no_gc
cdef class Delta:
    """A piece of text and the ids it belongs to. Immutable.

    Attributes
    ----------
    text
        The text this call released; it is never taken back.
    ids
        Tuple of the ids whose text is now released completely, in stream order. The ids of all deltas of a stream, joined, are the ids that
        were used: each id is in exactly one delta.
    start
        Place of the first of `ids` in the stream, counted from 0 (where the next id would be, when there is none).
    finish
        ``"stop"`` when a stop string has ended the stream, else None.
    """

    cdef readonly str text
    cdef readonly tuple ids
    cdef readonly object start
    cdef readonly str finish

    __match_args__ = ("text", "ids", "start", "finish")

    def __cinit__(self, str text not None, ids, start, str finish=None):
        self.text = text
        self.ids = ids if type(ids) is tuple else tuple(ids)
        self.start = start
        self.finish = finish

    def __repr__(self):
        return f"Delta(text={self.text!r}, ids={self.ids!r}, start={self.start!r}, finish={self.finish!r})"

    def __eq__(self, other):
        if not isinstance(other, Delta):
            return NotImplemented
        return (self.text, self.ids, self.start, self.finish) == (other.text, other.ids, other.start, other.finish)

    def __hash__(self):
        return hash((self.text, self.ids, self.start, self.finish))

    def __reduce__(self):
        return Delta, (self.text, self.ids, self.start, self.finish)


@cython.no_gc
@cython.no_gc_clear     # __dealloc__ reads what it refers to
cdef class IncrementalDecoder:
    """Text of ids that arrive one by one or in pieces; `Tokenizer.decoder` makes one.

    For every way to cut the ids into calls, the joined outputs are the same: the text of all ids. A character is released with the
    id that finishes it, ill-formed bytes as soon as they are known to be ill formed.

    Parameters
    ----------
    tokenizer
        The `Tokenizer`; its `vocab` alone will do, too.
    stop
        A str or a collection of str. The stream ends at the one that is complete first; of several that are complete with the same
        character, at the longest. They are matched in the decoded text, across tokens; special tokens count as their literal text.
    include_stop
        Whether the stop's text is released.
    prefix_ids
        Ids before the stream, a prompt. They emit nothing and take no part in stop matching; if they end inside a character, the first new
        ids finish it, and it belongs to those.
    skip_special_tokens
        Special tokens contribute nothing; the bytes on both sides of one join.
    errors
        ``"replace"``: ill-formed bytes become U+FFFD; ``"ignore"``: nothing; ``"strict"``: `DecodeError`.
    utf8_policy
        What one U+FFFD stands for: ``"maximal_subpart"``, as Python's codec; ``"per_byte"``: each byte; ``"hf_run"``: each byte
        of a run of tokens that are no text by themselves, if the run as a whole is ill formed. The last holds a run until it ends. None: as
        the tokenizer's decoders do, ``"hf_run"`` where a file has ByteFallback, else ``"maximal_subpart"``.
    skip_unknown_ids
        Ids that are not in the vocabulary have no text, instead of an error.

    Raises
    ------
    UnknownIdError
        An id of `prefix_ids` is not in the vocabulary.

    Notes
    -----
    A call that raises leaves the decoder as it was. Memory is constant; only ids that wait for a stop string or a character are kept. One
    task at a time.
    """

    def __cinit__(self, tokenizer, *, stop=(), include_stop=False, prefix_ids=(), skip_special_tokens=False, errors="replace",
                  utf8_policy=None, skip_unknown_ids=False):
        cdef DecodeHow how
        cdef object vocab = tokenizer
        memset(&self.d, 0, sizeof(self.d))
        if not isinstance(tokenizer, Vocab):
            vocab = getattr(getattr(tokenizer, "decoding", None) or tokenizer, "vocab", None)
        if not isinstance(vocab, Vocab):
            raise TypeError(f"a decoder is made for a Tokenizer, not for {type(tokenizer).__name__}")
        parse_how(&how, vocab, bool(skip_special_tokens), errors, utf8_policy)
        self.vocab = vocab
        self.texts = texts_of(vocab)
        self.d.errors = how.errors
        # Nothing is replaced in strict mode, and what is released early is the same.
        self.d.policy = CTOK_PER_SUBPART if how.errors == CTOK_ERRORS_STRICT else how.policy
        self.d.skip_special = how.skip_special
        self.d.skip_unknown = bool(skip_unknown_ids)
        self.d.include_stop = bool(include_stop)
        if self.vocab.view != NULL and ctok_decoder_set_chain(&self.d, self.vocab.view) != CTOK_OK:
            raise MemoryError("no memory for the decoder")
        if stop is not None and (type(stop) is not tuple or stop):
            self.stops = Stops(stop)
            if self.stops.texts:
                self.d.stops = &self.stops.s
        if type(prefix_ids) is not tuple or prefix_ids:
            _set_prefix(self, prefix_ids)

    def __dealloc__(self):
        ctok_decoder_free(&self.d)

    def decode(self, ids_or_id, final=False):
        """Return the text that one id, or several, releases.

        Parameters
        ----------
        ids_or_id
            An int, or a sequence or buffer of them; may be empty.
        final
            The stream ends here: what is held is released (an unfinished character as `errors` says), and the decoder is as new.

        Raises
        ------
        UnknownIdError
            Names the id and its place in this call.
        DecodeError
            Only with ``errors="strict"``; `position` and `index` count the bytes and ids of the whole stream.

        Notes
        -----
        After a stop, ids are ignored until the stream ends; `consumed` says how many of this call were used.
        """
        cdef PyObject *text
        if PyLong_CheckExact(ids_or_id) and final is False:
            text = _quick(self, ctok_pylong_u32(<PyObject *>ids_or_id))
            if text != NULL:
                return <object>text
        return _feed(self, ids_or_id, bool(final), False)

    def decode_delta(self, ids_or_id, final=False):
        """Return the `Delta` that one id, or several, releases; otherwise as `decode`.

        Notes
        -----
        Ids whose text is held back, wholly or partly, come with the delta that releases it; ids without text come in their order. The delta
        that finishes a stream has all ids that were used.
        """
        cdef PyObject *text
        if PyLong_CheckExact(ids_or_id) and final is False:
            text = _quick(self, ctok_pylong_u32(<PyObject *>ids_or_id))
            if text != NULL:
                return Delta.__new__(Delta, <object>text, (ids_or_id,), self.d.n_ids - 1, None)
        return _feed(self, ids_or_id, bool(final), True)

    def reset(self):
        """Make the decoder as new: whatever was held is dropped, `prefix_ids` stand before the stream again."""
        ctok_decoder_reset(&self.d)
        self.consumed = 0

    def copy(self):
        """Return an independent decoder in the same state."""
        cdef IncrementalDecoder twin = type(self).__new__(type(self), self.vocab)
        twin.d = self.d
        twin.d.more = NULL
        twin.stops = self.stops
        twin.consumed = self.consumed
        if ctok_decoder_copy_heap(&twin.d, &self.d) != CTOK_OK:
            raise MemoryError("no memory for a copy of the decoder")
        return twin

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce__(self):
        raise TypeError("a decoder cannot be pickled; use getstate() and setstate() on a decoder of the same tokenizer and options")

    def getstate(self):
        """Return the state as bytes, for `setstate` of a decoder with the same tokenizer and options, in any process."""
        from .decodestate import saved
        return saved(self)

    def setstate(self, state):
        """Go on from a state that `getstate` gave.

        Raises
        ------
        StateError
            The bytes are no state, of another version, of another tokenizer, or of a decoder with other options.
        """
        from .decodestate import restore
        cdef IncrementalDecoder fresh = self.copy()
        ctok_decoder_reset(&fresh.d)
        restore(fresh, state)
        ctok_decoder_free(&self.d)
        self.d = fresh.d
        fresh.d.more = NULL
        self.consumed = 0

    @property
    def pending(self):
        """What is held, as bytes: text that may begin a stop string, then the bytes of an unfinished character."""
        cdef uint32_t depth = ctok_decoder_depth(&self.d)
        cdef bytes held = b""
        if depth:
            held = (<char *>self.d.stops.bytes + self.d.stops.begin[self.d.state])[:depth]
        if self.d.n_held:
            held += (<char *>ctok_decoder_held(&self.d))[:self.d.n_held]
        return held

    @property
    def finish(self):
        """``"stop"`` when a stop string has ended the stream; None while it goes on, and again after ``final=True``."""
        return "stop" if self.d.finished else None


cdef inline PyObject *_quick(IncrementalDecoder self, uint32_t id) except? NULL:
    """Feed one id whose text is released at once as a whole; NULL, and nothing done, when it is not of that kind."""
    cdef PyObject *text
    cdef uint32_t state = 0
    cdef size_t hit = 0
    cdef ctok_token t
    if self.d.n_pending | self.d.n_held | self.d.state | self.d.finished | self.d.start | self.d.lead or id >= self.vocab.v.n_ids:
        return NULL
    text = self.texts[id]
    if text == NULL:
        text = fill_text(&self.vocab.v, self.texts, id)
        if text == NULL:
            return NULL
    if self.d.stops != NULL or self.d.errors == CTOK_ERRORS_STRICT:
        t = self.vocab.v.by_id[id]
        if self.d.stops != NULL:
            ctok_stops_scan(self.d.stops, &state, self.vocab.v.bytes + t.begin, t.len, &hit)
            if state:                # a stop that was found has a state, too
                return NULL
        self.d.n_bytes += t.len
    self.d.n_ids += 1
    self.consumed = 1
    return text


cdef object _read(object ids_or_id, Ids *ids, uint32_t *first, size_t n_first):
    if not (PyList_Check(ids_or_id) or PyTuple_Check(ids_or_id)):
        number = ids_or_id
        if not PyLong_Check(number) and PyIndex_Check(number):
            try:                                 # arrays have __index__, too, and refuse
                number = _as_index(number)
            except TypeError:
                pass
        if PyLong_Check(number):
            ids.p = first
            ids.n = 1
            ids.owned = False
            first[0] = ctok_pylong_u32(<PyObject *>number)
            return (number,)
    return read_ids(ids_or_id, ids, first, n_first)


cdef int _raise(ctok_status status, const ctok_decoder_call *call, object looked_up) except -1:
    cdef DecodeFault fault
    if status == CTOK_ERR_UTF8:
        raise DecodeError(
            f"the ids do not decode to UTF-8: byte {call.bad_byte} of the stream, in the id at index {call.bad_id}, is not valid "
            "(errors='replace' gives U+FFFD instead)", position=call.bad_byte, index=call.bad_id)
    fault.index = call.consumed
    check_decoded(status, &fault, looked_up)
    return 0


cdef object _result(IncrementalDecoder self, const ctok_text *out, const ctok_decoder_call *call, bint delta):
    cdef str text = str_of(out.p, out.n, False)
    cdef ctok_pending *queue = ctok_decoder_queue(&self.d)
    cdef object number
    cdef uint32_t i
    if not delta:
        return text
    cdef tuple ids = PyTuple_New(call.released)
    for i in range(call.released):
        number = queue[i].id
        Py_INCREF(number)
        PyTuple_SET_ITEM(ids, i, number)
    return Delta(text, ids, self.d.n_ids - self.d.n_pending, "stop" if self.d.finished else None)


cdef object _feed(IncrementalDecoder self, object ids_or_id, bint final, bint delta):
    cdef uint32_t stack_ids[STACK_IDS]
    cdef uint8_t stack_text[STACK_TEXT]
    cdef Ids ids
    cdef ctok_text out
    cdef ctok_decoder saved
    cdef ctok_decoder_call call
    looked_up = _read(ids_or_id, &ids, stack_ids, STACK_IDS)
    ctok_text_init(&out, stack_text, STACK_TEXT)
    call.view = self.vocab.view
    call.out = &out
    call.keep = delta
    saved = self.d
    try:
        _raise(ctok_decoder_feed(&self.d, &self.vocab.v, ids.p, ids.n, final, &call), &call, looked_up)
        result = _result(self, &out, &call, delta)
    except BaseException:
        ctok_decoder_rollback(&self.d, &saved)
        raise
    finally:
        ctok_text_free(&out)
        free_ids(&ids)
    ctok_decoder_commit(&self.d, &call, final)
    self.consumed = <uint32_t>call.consumed
    return result


cdef int _set_prefix(IncrementalDecoder self, object prefix_ids) except -1:
    """Start every stream behind the prompt's ids."""
    cdef uint32_t stack_ids[STACK_IDS]
    cdef size_t i
    cdef Ids ids
    looked_up = read_ids(prefix_ids, &ids, stack_ids, STACK_IDS)
    try:
        if self.d.skip_unknown:
            drop_unknown(&self.vocab.v, &ids)
        for i in range(ids.n):
            if ids.p[i] >= self.vocab.v.n_ids or not self.vocab.v.by_id[ids.p[i]].flags & CTOK_TOKEN_KNOWN:
                raise UnknownIdError(f"id {looked_up[i]} at index {i} of prefix_ids is not in the vocabulary",
                                     id=_as_index(looked_up[i]), index=i)
        if ctok_decoder_set_prefix(&self.d, &self.vocab.v, self.vocab.view, ids.p, ids.n) != CTOK_OK:
            raise MemoryError("no memory for the decoder's prefix")
    finally:
        free_ids(&ids)
    return 0


# ---- many ----

def step_many(decoders, ids):
    """Give one id to each of many live decoders, a server's tick; return the released texts.

    Parameters
    ----------
    decoders
        A sequence of `IncrementalDecoder`, of any vocabularies and options.
    ids
        One id for each, a sequence or buffer.

    Returns
    -------
    list of str or Exception
        In place of a text the exception that ``decode`` would have raised: `UnknownIdError` (its `index` is the place in `ids`),
        `DecodeError`. That decoder is as it was; the others have advanced.

    Raises
    ------
    TypeError
        Something in `decoders` is no decoder; nothing has advanced then.
    ValueError
        The lengths differ; nothing has advanced then.
    """
    cdef uint32_t stack_ids[STACK_IDS]
    cdef Ids numbers
    cdef PyObject *text
    cdef Py_ssize_t i
    cdef list all_decoders = list(decoders)
    cdef list results = []
    cdef IncrementalDecoder decoder
    for candidate in all_decoders:
        if not isinstance(candidate, IncrementalDecoder):
            raise TypeError(f"decoders must be IncrementalDecoder objects, not {type(candidate).__name__}")
    looked_up = read_ids(ids, &numbers, stack_ids, STACK_IDS)
    try:
        if <size_t>len(all_decoders) != numbers.n:
            raise ValueError(f"{len(all_decoders)} decoders but {numbers.n} ids")
        for i in range(len(all_decoders)):
            decoder = <IncrementalDecoder>all_decoders[i]
            text = _quick(decoder, numbers.p[i])
            results.append(<object>text if text != NULL else _step(decoder, looked_up[i], i))
    finally:
        free_ids(&numbers)
    return results


cdef object _step(IncrementalDecoder decoder, object number, Py_ssize_t i):
    try:
        return _feed(decoder, number, False, False)
    except UnknownIdError as error:
        return UnknownIdError(f"id {error.id} at index {i} is not in the vocabulary", id=error.id, index=i)
    except DecodeError as error:
        return error


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
