"""Normalizers: a chain of steps that rewrites a text. The engine uses the C struct inside; the Python methods serve tests and tools."""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint32_t

from ctok._native.c_bytes cimport ctok_bytes, ctok_bytes_free
from ctok._native.c_merge cimport ctok_ids, ctok_ids_reserve
from ctok._native.c_normal cimport (
    CTOK_NORMAL_BERT_CJK, CTOK_NORMAL_BERT_CLEAN, CTOK_NORMAL_DROP_MARKS, CTOK_NORMAL_DROP_MN, CTOK_NORMAL_LOWER, CTOK_NORMAL_NFC,
    CTOK_NORMAL_NFD, CTOK_NORMAL_NFKC, CTOK_NORMAL_NFKD, CTOK_NORMAL_NMT, CTOK_ORIGINS_REFERENCE, CTOK_ORIGINS_WHOLE,
    ctok_align, ctok_normal_add_bytes, ctok_normal_add_charsmap,
    ctok_normal_add_hook, ctok_normal_add_literal, ctok_normal_add_op, ctok_normal_add_pattern, ctok_normal_add_prepend,
    ctok_normal_add_run, ctok_normal_add_spn, ctok_normal_add_strip, ctok_normal_begin, ctok_normal_copy, ctok_normal_end, ctok_normal_feed,
    ctok_normal_free, ctok_normal_init, ctok_normal_load, ctok_normal_map, ctok_normal, ctok_normal_offsets, ctok_normal_op,
    ctok_normal_reset, ctok_normal_save, ctok_normal_seal, ctok_normal_state, ctok_normal_streams, ctok_origins)
from ctok._native.c_normal_facts cimport (
    ctok_nf_bits, ctok_nf_class, ctok_nf_compose, ctok_nf_lower, ctok_nf_nfd, ctok_nf_nfkd, ctok_nf_pool, ctok_nf_record)
from ctok._native.c_spn cimport ctok_spn_options
from ctok._native.c_vocab cimport (
    CTOK_ERR_FORMAT, CTOK_ERR_MEMORY, CTOK_ERR_STOPPED, CTOK_OK, ctok_id, ctok_mem_fail_after, ctok_mem_free, ctok_status)
from ctok._native.split cimport Splitter

from ..errors import StateError

cdef dict OPS = {
    "nfc": CTOK_NORMAL_NFC, "nfd": CTOK_NORMAL_NFD, "nfkc": CTOK_NORMAL_NFKC, "nfkd": CTOK_NORMAL_NFKD, "lowercase": CTOK_NORMAL_LOWER,
    "strip_accents": CTOK_NORMAL_DROP_MARKS, "nmt": CTOK_NORMAL_NMT, "bert_clean": CTOK_NORMAL_BERT_CLEAN,
    "bert_cjk": CTOK_NORMAL_BERT_CJK, "bert_accents": CTOK_NORMAL_DROP_MN,
}


def fail_after(long n):
    """In test builds: let n more allocations of this module succeed, then fail one. A negative n switches that off."""
    return ctok_mem_fail_after(n)


def character(code):
    """Return what the tables say of a code point: (NFD, NFKD, lower case, combining class, bits of csrc/ctok_normal_facts.h).

    Hangul syllables, which follow arithmetic, are given as they are.
    """
    cdef uint32_t record
    if not 0 <= code < 0x110000 or 0xD800 <= code < 0xE000:
        raise ValueError(f"not a character: {code}")
    record = ctok_nf_record(code)
    texts = [_pool_text(place) or chr(code) for place in (ctok_nf_nfd[record], ctok_nf_nfkd[record], ctok_nf_lower[record])]
    return *texts, ctok_nf_class[record], ctok_nf_bits[record]


def compose(first, second):
    """Return the character that two characters compose to, or None."""
    cdef uint32_t whole = ctok_nf_compose(ord(first), ord(second))
    return chr(whole) if whole else None


cdef str _pool_text(size_t place):
    if place == 0:
        return ""
    return PyBytes_FromStringAndSize(<const char *>ctok_nf_pool + place + 1, ctok_nf_pool[place]).decode()


# ---- for other modules ----

cdef ctok_status normal_begin(const ctok_normal *c, ctok_normal_state *s) noexcept nogil:
    return ctok_normal_begin(c, s)


cdef void normal_end(ctok_normal_state *s) noexcept nogil:
    ctok_normal_end(s)


cdef void normal_reset(ctok_normal_state *s) noexcept nogil:
    ctok_normal_reset(s)


cdef ctok_status normal_feed(const ctok_normal *c, ctok_normal_state *s, const uint8_t *data, size_t n, bint final,
                             ctok_bytes *out) noexcept nogil:
    return ctok_normal_feed(c, s, data, n, final, out)


cdef ctok_status normal_copy(ctok_normal_state *dst, const ctok_normal_state *src) noexcept nogil:
    return ctok_normal_copy(dst, src)


cdef ctok_status normal_save(const ctok_normal_state *s, ctok_bytes *out) noexcept nogil:
    return ctok_normal_save(s, out)


cdef ctok_status normal_load(const ctok_normal *c, ctok_normal_state *s, const uint8_t *p, size_t n, size_t *used) noexcept nogil:
    return ctok_normal_load(c, s, p, n, used)


cdef ctok_status normal_map(const ctok_normal *c, const uint8_t *data, size_t n, ctok_origins origins, ctok_bytes *out,
                            ctok_align **map) noexcept nogil:
    return ctok_normal_map(c, data, n, origins, out, map)


# ---- building ----

cdef int _check(ctok_status status) except -1:
    if status == CTOK_ERR_MEMORY:
        raise MemoryError("no memory for normalizing")
    if status == CTOK_ERR_FORMAT:
        raise ValueError("the step's data are malformed")
    if status != CTOK_OK:
        raise RuntimeError("the matching function of a normalizer failed")
    return 0


cdef ctok_status _push_matches(bytes data, list spans, ctok_ids *matches) except *:
    """Spans in characters, ascending, as spans in bytes."""
    cdef size_t at = 0, byte = 0, n = len(data), place
    cdef const uint8_t *p = data
    if ctok_ids_reserve(matches, 2 * len(spans)) != CTOK_OK:
        return CTOK_ERR_MEMORY
    for span in spans:
        for place in span:
            while at < place and byte < n:
                byte += 1
                while byte < n and p[byte] & 0xC0 == 0x80:
                    byte += 1
                at += 1
            matches.at[matches.n] = <ctok_id>byte
            matches.n += 1
    return CTOK_OK


cdef ctok_status _ask(void *ctx, const uint8_t *p, size_t n, ctok_ids *matches) noexcept with gil:
    """Run a Python function that finds matches: str -> list of (start, stop) in characters."""
    try:
        data = PyBytes_FromStringAndSize(<const char *>p, n)
        return _push_matches(data, (<object>ctx)(data.decode()), matches)
    except MemoryError:
        return CTOK_ERR_MEMORY
    except Exception:
        return CTOK_ERR_STOPPED


cdef ctok_status _add_sentencepiece(Normalizer self, bytes charsmap, tuple flags, tuple symbols) except *:
    cdef ctok_spn_options options
    cdef list texts = sorted({symbol.encode() for symbol in symbols})
    cdef bytes data = b"".join(texts)
    if b"" in texts or len(data) > 0x7FFFFFFF:
        return CTOK_ERR_FORMAT
    cdef uint32_t[::1] ends = memoryview(bytearray(4 * len(texts) + 4)).cast("I")
    cdef uint32_t at = 0
    cdef Py_ssize_t i
    for i in range(len(texts)):
        at += <uint32_t>len(<bytes>texts[i])
        ends[i] = at
    options.charsmap = charsmap
    options.n_charsmap = len(charsmap)
    options.symbols = data
    options.ends = &ends[0]
    options.n_symbols = len(texts)
    options.dummy, options.extra, options.escape, options.suffix = flags
    return ctok_normal_add_spn(&self.n, &options)


cdef int _add(Normalizer self, str kind, tuple given) except -1:
    """Add one step to the chain."""
    cdef bytes content = b"", pattern
    cdef Splitter machine
    cdef ctok_status status
    if kind in OPS:
        status = ctok_normal_add_op(&self.n, <ctok_normal_op><int>OPS[kind])
    elif kind == "byte_level":
        status = ctok_normal_add_bytes(&self.n)
    elif kind == "strip":
        left, right = given
        status = ctok_normal_add_strip(&self.n, left, right)
    elif kind == "charsmap":
        (content,) = given
        status = ctok_normal_add_charsmap(&self.n, content, len(content))
    elif kind == "sentencepiece":
        status = _add_sentencepiece(self, given[0], given[1], given[2])
    elif kind == "prepend":
        content = given[0].encode()
        status = ctok_normal_add_prepend(&self.n, content, len(content))
    elif kind == "literal":
        pattern, content = given[0].encode(), given[1].encode()
        status = ctok_normal_add_literal(&self.n, pattern, len(pattern), content, len(content))
    elif kind == "run":
        content = given[2].encode()
        status = ctok_normal_add_run(&self.n, ord(given[0]), given[1], content, len(content))
    elif kind == "pattern":
        machine, content = given[0], given[1].encode()
        self.kept.append(machine)
        status = ctok_normal_add_pattern(&self.n, machine.s.dfa, content, len(content))
    elif kind == "matches":
        content = given[1].encode()
        self.kept.append(given[0])
        status = ctok_normal_add_hook(&self.n, _ask, <void *>given[0], content, len(content))
    else:
        raise ValueError(f"unknown step {kind!r}")
    return _check(status)


cdef bytes _utf8(text):
    return text.encode() if isinstance(text, str) else bytes(text)


@cython.no_gc_clear     # what it points into is freed after it
cdef class Normalizer:
    """A chain of normalizing steps. Immutable and shared freely between threads.

    Parameters
    ----------
    steps
        One tuple for each step, its kind first: ``("nfc",)``, and so ``nfd nfkc nfkd lowercase strip_accents nmt bert_clean bert_cjk
        bert_accents byte_level``; ``("strip", left, right)``; ``("prepend", text)``; ``("literal", pattern, content)``;
        ``("run", character, least, content)``: at least so many of one ASCII character; ``("pattern", Splitter, content)``;
        ``("matches", function, content)``, the function giving the (start, stop) of all matches in a str; ``("charsmap", bytes)``;
        ``("sentencepiece", charsmap, (dummy prefix, remove extra, escape, suffix), symbols)``, which must be the only step: what
        SentencePiece itself does.

    Raises
    ------
    ValueError
        An unknown step, an empty pattern, a malformed charsmap.
    MemoryError
        No room for the tables.

    Notes
    -----
    Building takes about a millisecond when characters are looked at.
    """

    def __cinit__(self, steps):
        ctok_normal_init(&self.n)
        self.kept = []
        self.steps = tuple(steps)
        for step in self.steps:
            _add(self, step[0], tuple(step[1:]))
        _check(ctok_normal_seal(&self.n))
        self.streams = ctok_normal_streams(&self.n)

    def __dealloc__(self):
        ctok_normal_free(&self.n)

    def normalize(self, text):
        """Return the normalized text: str of a str, bytes of bytes that hold UTF-8. A lone surrogate raises UnicodeEncodeError."""
        stream = NormalizerStream(self)
        if isinstance(text, str):
            return stream.feed(text.encode(), True).decode()
        text = bytes(text)
        text.decode()
        return stream.feed(text, True)

    def normalize_spans(self, text, as_reference=False):
        """Return the normalized str and, for each of its UTF-8 bytes, the (start, end) in bytes of the original text.

        A character that stands for several old ones comes from all of them; with `as_reference` from one of them, as the `tokenizers`
        library says.
        """
        cdef ctok_origins origins = CTOK_ORIGINS_REFERENCE if as_reference else CTOK_ORIGINS_WHOLE
        cdef bytes data = _utf8(text)
        cdef ctok_bytes out
        cdef ctok_align *map = NULL
        cdef const uint8_t *p = data
        cdef size_t n = len(data), i
        cdef ctok_status status
        data.decode()
        out.at = NULL
        out.n = out.cap = 0
        try:
            with nogil:
                status = ctok_normal_map(&self.n, p, n, origins, &out, &map)
            _check(status)
            spans = [(map[i].start, map[i].end) for i in range(out.n)]
            return PyBytes_FromStringAndSize(<const char *>out.at, out.n).decode(), spans
        finally:
            ctok_mem_free(map)
            ctok_bytes_free(&out)

    def normalize_offsets(self, data):
        """Return the normalized bytes and, for each of them and for the end, the byte of `data` from which on they come.

        Only for a step of SentencePiece, and as it does it: `data` may be any bytes, and one that is no part of a character becomes U+FFFD.
        ``ValueError`` for other normalizers. Offsets are a `memoryview` of native uint32; there are none when the text has nothing but
        blanks that are passed over.
        """
        cdef const uint8_t[::1] view = data
        cdef ctok_bytes out
        cdef uint32_t *offsets = NULL
        cdef size_t n = view.shape[0]
        cdef ctok_status status
        out.at = NULL
        out.n = out.cap = 0
        try:
            with nogil:
                status = ctok_normal_offsets(&self.n, &view[0] if n else NULL, n, &out, &offsets)
            _check(status)
            places = PyBytes_FromStringAndSize(<const char *>offsets, (out.n + 1) * sizeof(uint32_t) if offsets != NULL else 0)
            return PyBytes_FromStringAndSize(<const char *>out.at, out.n), memoryview(places).cast("I")
        finally:
            ctok_mem_free(offsets)
            ctok_bytes_free(&out)

    def count(self, data, times=1):
        """Return how many bytes the normalized form of `data` (bytes holding UTF-8) has. For measurements: nothing is copied."""
        cdef const uint8_t[::1] view = data
        cdef size_t n = view.shape[0]
        cdef long rounds = times
        cdef ctok_bytes out
        cdef ctok_normal_state s
        cdef ctok_status status = CTOK_OK
        out.at = NULL
        out.n = out.cap = 0
        _check(ctok_normal_begin(&self.n, &s))
        with nogil:
            for _ in range(rounds):
                out.n = 0
                status = ctok_normal_feed(&self.n, &s, &view[0] if n else NULL, n, True, &out)
                if status != CTOK_OK:
                    break
        ctok_normal_end(&s)
        ctok_bytes_free(&out)
        _check(status)
        return out.n

    def __repr__(self):
        return f"<Normalizer {' '.join([step[0] for step in self.steps])}>"


@cython.no_gc_clear     # what it points into is freed after it
cdef class NormalizerStream:
    """One text normalized piece by piece. A call that raises leaves it ready for a new text."""

    def __cinit__(self, Normalizer normalizer not None):
        self.normalizer = normalizer
        _check(ctok_normal_begin(&normalizer.n, &self.s))

    def __dealloc__(self):
        ctok_normal_end(&self.s)

    def feed(self, data, final=False):
        """Take the next bytes of the text, whole characters of valid UTF-8, and return the bytes that are certain."""
        cdef bytes given = bytes(data)
        cdef const uint8_t *p = given
        cdef size_t n = len(given)
        cdef bint last = final
        cdef ctok_bytes out
        cdef ctok_status status
        out.at = NULL
        out.n = out.cap = 0
        try:
            with nogil:
                status = ctok_normal_feed(&self.normalizer.n, &self.s, p, n, last, &out)
            if status != CTOK_OK:
                ctok_normal_reset(&self.s)
            _check(status)
            return PyBytes_FromStringAndSize(<const char *>out.at, out.n)
        finally:
            ctok_bytes_free(&out)

    def copy(self):
        """Return a stream that goes on as this one does."""
        cdef NormalizerStream other = NormalizerStream(self.normalizer)
        _check(ctok_normal_copy(&other.s, &self.s))
        return other

    def save(self):
        """Return the state as bytes."""
        cdef ctok_bytes out
        out.at = NULL
        out.n = out.cap = 0
        try:
            _check(ctok_normal_save(&self.s, &out))
            return PyBytes_FromStringAndSize(<const char *>out.at, out.n)
        finally:
            ctok_bytes_free(&out)

    def load(self, bytes state not None):
        """Go on from a saved state. `StateError` when the bytes are none; the stream is then ready for a new text."""
        cdef size_t used = 0
        cdef ctok_status status = ctok_normal_load(&self.normalizer.n, &self.s, state, len(state), &used)
        if status == CTOK_ERR_FORMAT or (status == CTOK_OK and used != <size_t>len(state)):
            ctok_normal_reset(&self.s)
            raise StateError("not a state of this normalizer")
        _check(status)

    @property
    def held(self):
        """How many bytes all steps together hold back."""
        cdef size_t i, n = 0
        for i in range(self.s.n):
            n += self.s.rooms[i].held.n
        return n
