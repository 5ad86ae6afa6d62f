"""Added tokens: thousands of texts that are matched before the model sees anything.

`AddedTokens` holds the automaton (csrc/ctok_added.h), which the pipeline runs without Python objects: ``tokens.a`` with
``ctok_added_next``. `AddedTokens.find_all` and `AddedStream` show the same search to Python.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from ctok._native.c_added cimport (
    CTOK_ADDED_FOUND, CTOK_ADDED_LEFT, CTOK_ADDED_RIGHT, CTOK_ADDED_SAVED, CTOK_ADDED_SPECIAL, CTOK_ADDED_WORD,
    ctok_added_begin, ctok_added_drop, ctok_added_event, ctok_added_free, ctok_added_init, ctok_added_is_word, ctok_added_load,
    ctok_added_next, ctok_added_result, ctok_added_save)
from ctok._native.c_vocab cimport CTOK_ERR_MEMORY, CTOK_OK, ctok_mem_fail_after, ctok_status

from ..errors import SpecError, StateError

SINGLE_WORD = CTOK_ADDED_WORD
LSTRIP = CTOK_ADDED_LEFT
RSTRIP = CTOK_ADDED_RIGHT
SPECIAL = CTOK_ADDED_SPECIAL


cdef class AddedTokens:
    """Added tokens as an automaton.

    Parameters
    ----------
    tokens
        Tuples ``(content, id, flags)`` in declaration order; `flags` adds up `SINGLE_WORD`, `LSTRIP`, `RSTRIP` and `SPECIAL`. A fourth item
        is the text that is looked for instead of `content`: the content as the normalizer leaves it. Of equal texts the first counts.

    Raises
    ------
    SpecError
        No token, or one whose text to look for is empty: it would match everywhere.

    Notes
    -----
    Cost: linear in the tokens' bytes, about 2 ms for 6 400 tokens. Immutable: any number of threads may use it.
    """

    def __cinit__(self, tokens):
        cdef list listed = list(tokens), texts = []
        cdef uint32_t n = <uint32_t>len(listed), i, bad = 0
        cdef uint64_t total = 0
        cdef ctok_status status
        cdef tuple token
        cdef bytes text
        if n == 0:
            raise SpecError("there are no added tokens to look for")
        cdef uint32_t[::1] ends = memoryview(bytearray(4 * n)).cast("I")
        cdef uint32_t[::1] ids = memoryview(bytearray(4 * n)).cast("I")
        cdef uint8_t[::1] flags = bytearray(n)
        for i in range(n):
            token = listed[i]
            text = (<str>token[len(token) - 1]).encode() if len(token) > 3 else (<str>token[0]).encode()
            texts.append(text)
            total += <uint64_t>len(text)
            if total >= <uint64_t>1 << 31:
                raise SpecError(f"the added tokens have more than {total} bytes in all; 2 GiB are too many")
            ends[i] = <uint32_t>total
            ids[i] = token[1]
            flags[i] = token[2]
        cdef const uint8_t[::1] text_view = b"".join(texts) + b"\0"
        status = ctok_added_init(&self.a, &text_view[0], &ends[0], &ids[0], &flags[0], n, &bad)
        if status == CTOK_ERR_MEMORY:
            raise MemoryError("no memory for the added tokens")
        if status != CTOK_OK:
            raise SpecError(f"added token {listed[bad][0]!r} is an empty text once it is normalised; it would match everywhere")
        self.contents = tuple([item[0] for item in listed])

    def __dealloc__(self):
        ctok_added_free(&self.a)

    def __len__(self):
        return self.a.n_tokens

    @property
    def n_states(self):
        """States of the automaton; each takes 17 bytes."""
        return self.a.n_nodes

    def skip_special(self, allowed=()):
        """Return one byte for each token, 1 for the special ones that are not allowed: what `find_all` and the pipeline take as `skip`.

        `allowed` is a collection of contents, or ``"all"``. None: nothing is to be skipped.
        """
        cdef bytearray skip = bytearray(self.a.n_tokens)
        cdef Py_ssize_t i
        cdef bint some = False
        if allowed == "all" or not self.a.any & CTOK_ADDED_SPECIAL:
            return None
        for i in range(<Py_ssize_t>self.a.n_tokens):
            if self.a.flags[i] & CTOK_ADDED_SPECIAL and self.contents[i] not in allowed:
                skip[i] = 1
                some = True
        return bytes(skip) if some else None

    def find_all(self, text, skip=None):
        """Return what a whole text is cut into.

        Parameters
        ----------
        text
            A str, or bytes of well-formed UTF-8.
        skip
            What `skip_special` gives.

        Returns
        -------
        list of tuple
            ``(start, end, id)`` in text order, in bytes of the UTF-8 form; the id is None for plain text. Only where `RSTRIP` took white
            space that is a token of its own do they overlap.
        """
        cdef ctok_added_event event
        cdef AddedStream search = AddedStream(self, skip)
        cdef list found = []
        cdef ctok_added_result result
        search.window += text.encode() if isinstance(text, str) else text
        while True:
            result = search.step(True, &event)
            if event.text < event.text_end:
                found.append((event.text, event.text_end, None))
            if result != CTOK_ADDED_FOUND:
                return found
            found.append((event.start, event.end, event.id))


cdef class AddedStream:
    """The search through one text that arrives in pieces.

    Parameters
    ----------
    tokens
        `AddedTokens`.
    skip
        What `AddedTokens.skip_special` gives.
    """

    def __cinit__(self, AddedTokens tokens not None, skip=None):
        self.tokens = tokens
        self.skip = skip
        if skip is not None and len(skip) != len(tokens):
            raise ValueError(f"skip has {len(skip)} bytes, there are {len(tokens)} added tokens")
        self.window = bytearray()
        ctok_added_begin(&self.s)

    cdef ctok_added_result step(self, bint final, ctok_added_event *event):
        cdef const uint8_t *skip = NULL
        cdef const uint8_t *at = <const uint8_t *><char *>self.window
        if self.skip is not None:
            skip = <const uint8_t *><const char *>self.skip
        return ctok_added_next(&self.tokens.a, &self.s, at, <size_t>len(self.window), final, skip, event)

    def feed(self, chunk, final=False):
        """Take more text (whole characters); return what is certain: bytes of plain text, ids of tokens.

        Pieces of plain text with no id between them belong together. After ``final=True`` the search is as new.
        """
        cdef ctok_added_event event
        cdef ctok_added_result result = CTOK_ADDED_FOUND
        cdef list found = []
        self.window += chunk.encode() if isinstance(chunk, str) else chunk
        while result == CTOK_ADDED_FOUND:
            result = self.step(final, &event)
            if event.text < event.text_end:
                found.append(bytes(self.window[event.text:event.text_end]))
            if result == CTOK_ADDED_FOUND:
                found.append(event.id)
        if final:
            self.window.clear()
            ctok_added_begin(&self.s)
        else:
            ctok_added_drop(&self.tokens.a, &self.s, <const uint8_t *><char *>self.window, event.keep)
            del self.window[:event.keep]
        return found

    @property
    def held(self):
        """Bytes of text that are kept."""
        return len(self.window)

    def copy(self):
        """Return a search that stands where this one does."""
        cdef AddedStream other = AddedStream(self.tokens, self.skip)
        other.window = bytearray(self.window)
        other.s = self.s
        return other

    def getstate(self):
        """Return the state as bytes."""
        cdef uint8_t saved[CTOK_ADDED_SAVED]
        ctok_added_save(&self.tokens.a, &self.s, saved)
        return (<const char *>saved)[:CTOK_ADDED_SAVED] + bytes(self.window)

    def setstate(self, state):
        """Go on from what `getstate` gave; raises `StateError` for anything else, and is then as new."""
        cdef const uint8_t[::1] view = state
        self.window = bytearray(state[CTOK_ADDED_SAVED:])
        if view.shape[0] < CTOK_ADDED_SAVED or ctok_added_load(&self.s, &view[0], <size_t>len(self.window)) != CTOK_OK:
            self.window.clear()
            ctok_added_begin(&self.s)
            raise StateError("these bytes are no state of a search for added tokens")


def is_word(code):
    """Return whether a code point (an int) is a word character, which `SINGLE_WORD` does not want beside a token."""
    if not 0 <= code <= 0x10FFFF:
        raise ValueError(f"not a code point: {code}")
    return ctok_added_is_word(<uint32_t>code)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
