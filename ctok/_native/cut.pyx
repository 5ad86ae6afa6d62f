"""Pre-tokenizers: chains of steps that cut a segment into pretokens (csrc/ctok_cut.h). The engine uses the C structs; the Python methods
serve tests and tools."""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from ctok._native.c_bytes cimport ctok_bytes, ctok_bytes_free
from ctok._native.c_cut cimport (
    CTOK_CUT_BEHAVIORS, CTOK_CUT_RULES, ctok_cut_as_call, ctok_cut_as_classes, ctok_cut_as_fixed, ctok_cut_as_metaspace,
    ctok_cut_as_prefix, ctok_cut_as_scripts, ctok_cut_as_spell, ctok_cut_as_split, ctok_cut_begin, ctok_cut_behavior, ctok_cut_copy,
    ctok_cut_feed, ctok_cut_finish, ctok_cut_free, ctok_cut_held, ctok_cut_load, ctok_cut_map, ctok_cut_new, ctok_cut_plain_split,
    ctok_cut_prepend, ctok_cut_properties, ctok_cut_rule, ctok_cut_save, ctok_cut_script, ctok_cut_step, ctok_cut_zero, ctok_origin,
    ctok_pieces_clear, ctok_pieces_free)
from ctok._native.c_merge cimport ctok_ids, ctok_ids_push
from ctok._native.c_vocab cimport (
    CTOK_ERR_FORMAT, CTOK_ERR_MEMORY, CTOK_ERR_STOPPED, CTOK_OK, ctok_mem_fail_after, ctok_mem_free, ctok_mem_zeroed, ctok_status)
from ctok._native.split cimport Splitter

from ..errors import StateError


cdef ctok_status call_python(void *with_, const uint8_t *p, size_t n, ctok_ids *found) noexcept with gil:
    """Ask a Python function for the matches in a piece: it takes the text and returns places in bytes, start and stop in turn."""
    cdef uint32_t place
    try:
        for place in (<object>with_)(PyBytes_FromStringAndSize(<const char *>p, n).decode()):
            if ctok_ids_push(found, place) != CTOK_OK:
                return CTOK_ERR_MEMORY
        return CTOK_OK
    except MemoryError:
        return CTOK_ERR_MEMORY
    except BaseException:
        return CTOK_ERR_STOPPED


cdef int check(ctok_status status) except -1:
    if status == CTOK_OK:
        return 0
    if status == CTOK_ERR_MEMORY:
        raise MemoryError("no room for pretokens")
    if status == CTOK_ERR_FORMAT:
        raise StateError("not the state of a pre-tokenizer like this one")
    raise RuntimeError("a pre-tokenizer's function failed")


cdef int fill(ctok_cut_step *s, tuple step) except -1:
    """Fill in a step from its name and its settings."""
    kind, *args = step
    if kind == "classes":
        rule, character, behavior, invert = args
        if not (0 <= rule < <int>CTOK_CUT_RULES and 0 <= behavior < <int>CTOK_CUT_BEHAVIORS and 0 <= character < 0x110000):
            raise ValueError("classes of a step")
        ctok_cut_as_classes(s, <ctok_cut_rule><int>rule, character, <ctok_cut_behavior><int>behavior, invert)
    elif kind == "split" or kind == "call":
        how, behavior, invert = args
        if not 0 <= behavior < <int>CTOK_CUT_BEHAVIORS:
            raise ValueError("behavior of a step")
        if kind == "split":
            ctok_cut_as_split(s, &(<Splitter?>how).s, <ctok_cut_behavior><int>behavior, invert)
        else:
            ctok_cut_as_call(s, call_python, <void *>how, <ctok_cut_behavior><int>behavior, invert)
    elif kind == "metaspace":
        character, prepend, cuts = args
        if not 0 <= prepend <= 2 or not 0 <= character < 0x110000:
            raise ValueError("metaspace of a step")
        ctok_cut_as_metaspace(s, character, <ctok_cut_prepend><int>prepend, cuts)
    elif kind == "fixed":
        if not 1 <= args[0] < 1 << 64:
            raise ValueError("length of a step")
        ctok_cut_as_fixed(s, args[0])
    elif kind == "scripts":
        ctok_cut_as_scripts(s)
    elif kind == "prefix":
        ctok_cut_as_prefix(s)
    elif kind == "spell":
        ctok_cut_as_spell(s)
    else:
        raise ValueError(f"no step is called {kind!r}")
    return 0


@cython.no_gc_clear     # what it points into is freed after it
cdef class Cutter:
    """A chain of steps. Immutable and shared freely between threads.

    Parameters
    ----------
    steps
        Tuples: ``("classes", rule, character, behavior, invert)``, ``("split", splitter, behavior, invert)``, ``("call", function,
        behavior, invert)``, ``("metaspace", character, prepend, cuts)``, ``("scripts",)``, ``("prefix",)``, ``("fixed", length)``,
        ``("spell",)``; the numbers are those of the enums in csrc/ctok_cut.h, characters are code points. None of them: the text
        is one pretoken.

    Raises
    ------
    ValueError
        A step is malformed.
    MemoryError
        No room.
    """

    def __cinit__(self, steps):
        cdef size_t i
        self.steps = tuple(steps)
        self.c.steps = <ctok_cut_step *>ctok_mem_zeroed(len(self.steps) + 1, sizeof(ctok_cut_step))
        if self.c.steps == NULL:
            raise MemoryError
        self.c.n = len(self.steps)
        for i in range(self.c.n):
            fill(&self.c.steps[i], self.steps[i])
        ctok_cut_finish(&self.c)

    def __dealloc__(self):
        ctok_mem_free(self.c.steps)

    @property
    def is_plain_split(self):
        """Whether a splitter alone gives the pretokens, so that an engine need not come through here."""
        return ctok_cut_plain_split(&self.c) != NULL

    @property
    def streams(self):
        """Whether pretokens leave before the text ends."""
        return not any(step[0] == "call" for step in self.steps)

    def stream(self, first=True):
        """Return a `CutStream`; first: the segment stands at the start of the text."""
        return CutStream(self, first)

    def pieces(self, text, first=True):
        """Return the pretokens of a str and where they come from: a list of (pretoken, (start, stop)), in characters."""
        cdef CutStream stream = CutStream(self, first)
        cdef ctok_bytes map
        cdef const ctok_origin *origins
        cdef bytes data = text.encode()
        cdef const uint8_t *p = data
        cdef size_t n = len(data), i, begin = 0
        cdef ctok_status status
        memset(&map, 0, sizeof(map))
        with nogil:
            status = ctok_cut_map(&self.c, &stream.state, p, n, &stream.out, &map)
        try:
            check(status)
            origins = <const ctok_origin *>map.at
            found = []
            for i in range(stream.out.n_stops):
                piece = PyBytes_FromStringAndSize(<const char *>stream.out.text.at + begin, stream.out.stops[i] - begin).decode()
                found.append((piece, (origins[begin].start, origins[stream.out.stops[i] - 1].stop)))
                begin = stream.out.stops[i]
        finally:
            ctok_bytes_free(&map)
        if begin != stream.out.text.n:
            raise AssertionError("bytes behind the last pretoken")
        if len(data) != len(text):
            places = places_of(data)
            found = [(piece, (places[a], places[b])) for piece, (a, b) in found]
        return found

    def count(self, data, part=0):
        """Return how many pretokens `data` (bytes holding UTF-8) has as a whole text, fed in parts of this size (ASCII; 0: at once)."""
        cdef CutStream stream = CutStream(self, True)
        cdef const uint8_t[::1] view = data
        cdef size_t n = view.shape[0], total = 0, at = 0, size = part or view.shape[0]
        cdef ctok_status status = CTOK_OK
        with nogil:
            while status == CTOK_OK and at < n:
                size = min(size, n - at)
                status = ctok_cut_feed(&self.c, &stream.state, &view[at], size, at + size == n, &stream.out)
                total += stream.out.n_stops
                ctok_pieces_clear(&stream.out)
                at += size
        check(status)
        return total


def places_of(bytes data not None):
    """Return which character starts at (or before) each byte, and behind the end how many there are."""
    places, chars = [], -1
    for byte in data:
        chars += (byte & 0xC0) != 0x80
        places.append(chars)
    places.append(chars + 1)
    return places


@cython.no_gc_clear     # what it points into is freed after it
cdef class CutStream:
    """One segment cut while it arrives. What a call emits is never taken back."""

    def __cinit__(self, Cutter cutter not None, first=True):
        self.cutter = cutter
        check(ctok_cut_new(&cutter.c, &self.state, first))

    def __dealloc__(self):
        ctok_cut_free(&self.state)
        ctok_pieces_free(&self.out)

    def feed(self, text, final=False):
        """Cut on.

        Returns
        -------
        list of (str, closed): the pretokens that this call closes, and what it adds to the open one. An empty str closes what was
        emitted before.
        """
        cdef bytes data = text.encode()
        cdef const uint8_t *p = data
        cdef size_t n = len(data), i, begin = 0
        cdef bint last = final
        cdef ctok_status status
        ctok_pieces_clear(&self.out)
        with nogil:
            status = ctok_cut_feed(&self.cutter.c, &self.state, p, n, last, &self.out)
        check(status)
        found = []
        for i in range(self.out.n_stops):
            found.append((PyBytes_FromStringAndSize(<const char *>self.out.text.at + begin, self.out.stops[i] - begin).decode(), True))
            begin = self.out.stops[i]
        if begin < self.out.text.n:
            found.append((PyBytes_FromStringAndSize(<const char *>self.out.text.at + begin, self.out.text.n - begin).decode(), False))
        return found

    def begin(self, first=True, zero=None):
        """Start over with a new segment; zero: how many of its bytes stem from place 0 of the text."""
        ctok_cut_begin(&self.state, first)
        if zero is not None:
            ctok_cut_zero(&self.state, zero)

    def copy(self):
        """Return a stream that stands where this one does."""
        cdef CutStream other = CutStream(self.cutter)
        check(ctok_cut_copy(&other.state, &self.state))
        return other

    @property
    def held(self):
        """How many bytes are held back."""
        return ctok_cut_held(&self.state)

    def save(self):
        """Return the state as bytes."""
        cdef ctok_bytes to
        memset(&to, 0, sizeof(to))
        try:
            check(ctok_cut_save(&self.state, &to))
            return PyBytes_FromStringAndSize(<const char *>to.at, to.n)
        finally:
            ctok_bytes_free(&to)

    def load(self, bytes data not None):
        """Stand where the stream stood that saved this."""
        cdef const uint8_t *p = data
        check(ctok_cut_load(&self.cutter.c, &self.state, p, len(data)))


def properties(str char not None):
    """Return what the rules know of a character: 1 white space, 2 punctuation, 4 number, 8 word, added up."""
    return ctok_cut_properties(ord(char))


def script(str char not None):
    """Return the number of a character's script; 0: that of the text before it."""
    return ctok_cut_script(ord(char))


# ---- for other modules ----

cdef ctok_status cut_new(const ctok_cutter *c, ctok_cut_state *s, bint first) noexcept nogil:
    return ctok_cut_new(c, s, first)


cdef void cut_free(ctok_cut_state *s) noexcept nogil:
    ctok_cut_free(s)


cdef void cut_begin(ctok_cut_state *s, bint first) noexcept nogil:
    ctok_cut_begin(s, first)


cdef ctok_status cut_feed(const ctok_cutter *c, ctok_cut_state *s, const uint8_t *data, size_t n, bint final,
                          ctok_pieces *out) noexcept nogil:
    return ctok_cut_feed(c, s, data, n, final, out)


cdef ctok_status cut_map(const ctok_cutter *c, ctok_cut_state *s, const uint8_t *data, size_t n, ctok_pieces *out,
                         ctok_bytes *map) noexcept nogil:
    return ctok_cut_map(c, s, data, n, out, map)


cdef ctok_status cut_copy(ctok_cut_state *dst, const ctok_cut_state *src) noexcept nogil:
    return ctok_cut_copy(dst, src)


cdef ctok_status cut_save(const ctok_cut_state *s, ctok_bytes *to) noexcept nogil:
    return ctok_cut_save(s, to)


cdef ctok_status cut_load(const ctok_cutter *c, ctok_cut_state *s, const uint8_t *p, size_t n) noexcept nogil:
    return ctok_cut_load(c, s, p, n)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
