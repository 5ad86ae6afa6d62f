# cython: freethreading_compatible=False, wraparound=True
"""`IncrementalCounter`: the exact number of ids of a text that is still being written, also when its end is taken back."""

from bisect import bisect_right
from operator import index

from ctok._native.c_utf8 cimport ctok_utf8_count, ctok_utf8_count_utf16
from ctok._native.engine cimport Context
from ctok._native.state cimport TextState
from ctok._native.unigram_open cimport unigram_open_feed, unigram_open_least

cdef enum:
    STRIDE = 1024               # bytes of text between two states to go back to

UNITS = ("byte", "char", "utf16")


cdef class IncrementalCounter(TextState):
    """Count the ids of text that arrives in chunks, exactly, at every moment.

    Parameters
    ----------
    tokenizer
        A `Tokenizer`.
    limit
        A number of ids that `left` is measured against; None for no limit. Going past it raises nothing.
    rewind
        Keep the text, so that `truncate` can take back its end: about 1.4 bytes a byte of text.
    allowed_special, disallowed_special, add_special_tokens, errors
        As in `Tokenizer.encode`.

    Notes
    -----
    `count` is what ``tokenizer.count`` gives for the text so far; it can go down when more text joins tokens. `stable` is how many ids no
    later text can change; it only grows (but for `truncate`). A counter belongs to one task at a time.

    Examples
    --------
    >>> counter = tok.counter(limit=10)
    >>> for chunk in ("Hel", "lo", " world"):
    ...     counter.feed(chunk)
    >>> counter.count, counter.left
    (2, 8)
    """

    def __cinit__(self, tokenizer, *args, limit=None, rewind=False, **kwargs):
        if limit is not None:
            try:
                limit = index(limit)
            except TypeError:
                raise TypeError(f"limit must be an int or None, not {type(limit).__name__}") from None
        self.limit = limit
        if rewind:
            self.text = bytearray()
            self.marks = [(0, 0, 0, self.anew())]

    # ---- text in ----

    def feed(self, chunk, final=False):
        """Take a chunk. With ``final=True`` the text is complete: `count` and `stable` stay until the next call, which starts a new text.

        Raises as `IncrementalEncoder.encode` does; the counter is then as before the call.
        """
        cdef IncrementalCounter before = None
        cdef bytearray text = self.text
        cdef list marks = self.marks
        if self.is_finished:
            before = self.bare()
            self.reset()
        try:
            self.advance(chunk, final)
        except BaseException:
            if before is not None:
                before.clone_into(self)
                self.text, self.marks = text, marks
            raise
        self.is_finished = bool(final)

    cdef object advance(self, chunk, bint final):
        cdef Context *c = self.tokenizer.acquire()
        cdef Py_ssize_t n_text = len(self.text) if self.text is not None else 0
        c.counting = True
        try:
            if final or self.text is not None or self.push_few(c, chunk) is None:
                self.push(c, chunk, final)
            self.n_stable += c.counted + c.ids.n
        except BaseException:
            if self.text is not None:
                del self.text[n_text:]
            raise
        finally:
            self.tokenizer.release(c)
        self.is_counted = False
        if not final:
            self.mark_if_due()

    cdef object taken(self, size_t start):
        if self.text is not None:
            self.text += (<const char *>self.stream.buf)[start:self.stream.n]

    cdef object mark_if_due(self):
        if self.parts is not None:                          # nothing is encoded before the end: the start will do
            return
        if self.text is not None and len(self.text) - self.marks[-1][0] >= STRIDE:
            try:
                self.mark()
            except MemoryError:                             # one place less to go back to
                pass

    cdef object mark(self):
        """Remember the state here. What is held (half a character) is no part of it: it is no text yet."""
        cdef const unsigned char[::1] text = self.text
        cdef IncrementalCounter copy
        cdef size_t before = self.marks[-1][0], n = text.shape[0]
        chars, units = self.marks[-1][1:3]
        if n > before:
            chars += ctok_utf8_count(&text[before], n - before)
            units += ctok_utf8_count_utf16(&text[before], n - before)
        copy = self.bare()
        copy.held.n_partial = copy.held.high = 0
        self.marks.append((n, chars, units, copy))

    cdef IncrementalCounter anew(self):
        return IncrementalCounter(self.tokenizer, limit=self.limit, allowed_special=self.policy[0], disallowed_special=self.policy[1],
                                  add_special_tokens=self.policy[2], errors=self.errors)

    def bare(self):
        """Return a copy that cannot be rewound."""
        cdef IncrementalCounter other = self.anew()
        self.clone_into(other)
        return other

    cdef object clone_into(self, TextState other):
        cdef IncrementalCounter counter = other if isinstance(other, IncrementalCounter) else None
        TextState.clone_into(self, other)
        if counter is not None:
            counter.n_stable = self.n_stable
            counter.is_finished = self.is_finished
            counter.is_counted = False

    # ---- numbers out ----

    @property
    def stable(self):
        """How many ids no later text can change."""
        return self.n_stable

    @property
    def least(self):
        """How many ids the text has at least, however it goes on.

        These are `stable`, and with a unigram model the fewest that the held text can still give: that number grows also where a text can
        be cut in several ways for as long as it goes on, so that nothing becomes certain.
        """
        cdef uint64_t n = self.n_stable
        if self.stages != NULL and self.flow.is_open and self.stages.ops.open_feed == unigram_open_feed:
            n += unigram_open_least(self.flow.open)
        return n

    @property
    def count(self):
        """How many ids the text has if it ends here; half a character that is held counts as its replacement.

        Cost: encoding what is held, once after each `feed`.
        """
        if not self.is_counted:
            self.n_now = self.n_stable + (0 if self.is_finished else self.ending())
            self.is_counted = True
        return self.n_now

    @property
    def left(self):
        """`limit` less `count`, negative when the text is too long; None without a limit."""
        return None if self.limit is None else self.limit - self.count

    # ---- going back ----

    def truncate(self, at, unit="char"):
        """Take back all text from position `at` on; what was held of an unfinished character goes, too.

        Parameters
        ----------
        at
            A position from the start of the text, at most its length.
        unit
            What `at` counts: ``"char"`` (code points), ``"byte"`` (of UTF-8) or ``"utf16"`` (code units, as a browser counts).

        Raises
        ------
        ValueError
            The counter was not made with ``rewind=True``; `at` is outside of the text or inside a character; an unknown unit.

        Notes
        -----
        Cost: encoding up to some 1000 bytes (64 KiB inside a chunk of that size) again, wherever `at` is.
        """
        cdef IncrementalCounter back
        self.claim()
        if self.text is None:
            raise ValueError("this counter keeps no text; make it with rewind=True to take text back")
        if unit not in UNITS:
            raise ValueError(f'unit must be "char", "byte" or "utf16", not {unit!r}')
        field = UNITS.index(unit)
        place = bisect_right(self.marks, at, key=lambda mark: mark[field]) - 1 if at >= 0 else -1
        if place < 0:
            raise ValueError(f"at must not be negative, but is {at}")
        mark = self.marks[place]
        end = _byte_offset(self.text, mark[0], at - mark[field], field)
        if end < 0:
            raise ValueError(f"position {at} ({unit}) is beyond the end of the text, or inside a character")
        back = (<IncrementalCounter>mark[3]).bare()
        if end > mark[0]:
            back.advance(bytes(self.text[mark[0]:end]), False)
        back.clone_into(self)
        self.is_finished = False
        del self.text[end:]
        del self.marks[place + 1:]
        self.mark_if_due()

    # ---- the rest of a codec ----

    def reset(self):
        """Forget the text so far."""
        self.claim()
        start = self.anew()
        self.clear()
        self.n_stable = 0
        self.is_counted = self.is_finished = False
        if self.text is not None:
            self.text = bytearray()
            self.marks = [(0, 0, 0, start)]

    def copy(self):
        """Return a counter that goes on from the same state independently; it can be rewound if this one can."""
        cdef IncrementalCounter other = self.bare()
        if self.text is not None:
            other.text = bytearray(self.text)
            other.marks = list(self.marks)
        return other

    __copy__ = copy

    def getstate(self):
        """Return the counter's state as bytes. The text kept for `truncate` is not part of it."""
        return int(self.n_stable).to_bytes(8, "little") + bytes([self.is_finished]) + TextState.getstate(self)

    def setstate(self, state):
        """Go on from a state that `getstate` gave; raises `StateError` as `IncrementalEncoder.setstate` does. Text from before that state
        cannot be taken back."""
        cdef IncrementalCounter fresh = self.anew()
        TextState.setstate(fresh, bytes(state)[9:])
        fresh.n_stable = int.from_bytes(bytes(state)[:8], "little")
        fresh.is_finished = bool(bytes(state)[8])
        fresh.clone_into(self)
        if self.text is not None:
            fresh.held.n_partial = fresh.held.high = 0
            self.text = bytearray()
            self.marks = [(0, 0, 0, fresh)]

    def __reduce__(self):
        text = None if self.text is None else bytes(self.text)
        return _restore_counter, (self.tokenizer, self.limit, *self.policy, self.errors, text, self.getstate())

    def _refill(self, text, state):
        """For unpickling: take the text kept for `truncate`, then the state."""
        for start in range(0, len(text), STRIDE):
            self.advance(text[start:start + STRIDE], False)
        kept, marks = self.text, self.marks
        self.setstate(state)
        self.text, self.marks = kept, marks


def _restore_counter(tokenizer, limit, allowed, disallowed, template, errors, text, state):
    counter = IncrementalCounter(tokenizer, limit=limit, rewind=text is not None, allowed_special=allowed,
                                 disallowed_special=disallowed, add_special_tokens=template, errors=errors)
    counter.setstate(state) if text is None else counter._refill(text, state)
    return counter


cdef Py_ssize_t _byte_offset(bytearray text, Py_ssize_t start, Py_ssize_t units, int field) except? -2:
    """Where `units` units after byte `start` the next character begins; -1: beyond the end, or inside a character."""
    cdef const unsigned char[::1] view = text
    cdef Py_ssize_t at = start, n = view.shape[0]
    while units > 0 and at < n:
        units -= 1 if field else 0
        if field == 2 and view[at] >= 0xF0:
            units -= 1
        at += 1
        if not field:
            units -= 1
        else:
            while at < n and (view[at] & 0xC0) == 0x80:
                at += 1
    return at if units == 0 and (at == n or (view[at] & 0xC0) != 0x80) else -1
