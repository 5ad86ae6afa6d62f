# cython: freethreading_compatible=False
"""What the codecs on the side of encoding share: `IncrementalEncoder` (encoder.pyx) and `IncrementalCounter` (counter.pyx).

Both are a `TextState`: the open end of a text (stream.pxd; flowstate.pxd for tokenizers with more stages) and what is held before it
becomes UTF-8, an unfinished character of bytes or a high surrogate of a str. A call works on the state and, if it raises, puts back the
copy it made first; the state is small, so that is cheap. A chunk of a few characters takes a way without copies.
"""

cimport cython
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from ctok._native.c_utf8 cimport (
    CTOK_SURROGATE_REPLACE, CTOK_SURROGATE_STRICT, ctok_on_surrogate, ctok_utf8_count, ctok_utf8_from, ctok_utf8_tail,
    ctok_utf8_validate)
from ctok._native.c_vocab cimport CTOK_ERR_STOPPED, CTOK_ERR_UTF8, CTOK_OK, ctok_status
from ctok._native.engine cimport Context, Engine
from ctok._native.flow cimport flow_feed
from ctok._native.flowstate cimport FlowState, flow_begin, flow_copy, flow_free, flow_load, flow_save, flow_window
from ctok._native.pipeline cimport Pipeline, push_ids, raise_status
from ctok._native.rooms cimport Policy
from ctok._native.stream cimport Stream, stream_back, stream_copy, stream_fits, stream_free, stream_process, stream_reserve, stream_reset

from .._version import __version__
from ..errors import StateError

cdef extern from "Python.h":
    int PyUnicode_KIND(object o)
    bint PyUnicode_IS_ASCII(object o)
    void *PyUnicode_DATA(object o)
    Py_ssize_t PyUnicode_GET_LENGTH(object o)
    Py_UCS4 PyUnicode_READ_CHAR(object o, Py_ssize_t i)
    str PyUnicode_FromObject(object o)          # itself, or the plain str of a subclass
    bint PyUnicode_CheckExact(object o)

cdef enum:
    SLICE = 1 << 16             # bytes of UTF-8 taken from a chunk at a time
    ALONE = 4096                # bytes from which the GIL is released
    FEW = 64                    # characters of a chunk, and bytes that are held, for the way without copies


cdef inline bint is_high(uint32_t char) noexcept nogil:
    return 0xD800 <= char < 0xDC00


cdef ctok_status encode_certain(Context *c, const Engine *e, Stream *s, FlowState *flow, bint final) noexcept nogil:
    """Append the ids that are certain now that the stream's buffer holds more text."""
    cdef ctok_status status
    if e.stages == NULL:
        return stream_process(c, e, s, final)
    status = flow_feed(c, e, flow, s.buf, s.n, final)
    if status == CTOK_OK:
        s.n = 0
    return status


@cython.no_gc_clear     # __dealloc__ reads what it refers to
cdef class TextState:
    """The part that encoder and counter share. Not for direct use."""

    def __cinit__(self, Pipeline tokenizer not None, *args, allowed_special=(), disallowed_special=(), add_special_tokens=True,
                  errors="strict", **kwargs):
        if errors != "strict" and errors != "replace":
            raise ValueError(f'errors must be "strict" or "replace", not {errors!r}')
        self.tokenizer = tokenizer
        self.literals = tokenizer.policy(allowed_special, disallowed_special)
        self.policy = _frozen(allowed_special), _frozen(disallowed_special), bool(add_special_tokens)
        self.errors = errors
        self.is_framed = tokenizer.has_template and add_special_tokens
        if tokenizer.flow is not None:
            if flow_begin(&tokenizer.flow.stages, &self.flow) != CTOK_OK or flow_begin(&tokenizer.flow.stages, &self.spare_flow) != CTOK_OK:
                raise MemoryError("no memory for a codec")
            self.stages = &tokenizer.flow.stages
        elif tokenizer.splitter is None:
            self.parts = []
        self.is_plain = self.stages == NULL and self.parts is None
        tokenizer.engine(self.literals, False, &self.engine)

    def __dealloc__(self):
        stream_free(&self.stream)
        stream_free(&self.spare)
        if self.stages != NULL:
            flow_free(self.stages, &self.flow)
            flow_free(self.stages, &self.spare_flow)

    @property
    def pending(self):
        """UTF-8 bytes of the text whose ids have not left yet. Empty bytes when nothing is held.

        With a normalizer this is only what has not reached it: what it and later stages hold is no longer text as it came.
        """
        self.claim()
        if self.stages != NULL:
            text = flow_window(&self.flow)
        else:
            text = "".join(self.parts).encode() if self.parts else (<const char *>self.stream.buf)[:self.stream.n]
        half = chr(self.held.high).encode("utf-8", "surrogatepass") if self.held.high else b""
        return text + half + (<const char *>self.held.partial)[:self.held.n_partial]

    # ---- text in ----

    cdef object claim(self):
        """Refuse a call while another thread is inside one: the GIL is released there, and the state is half way."""
        if self.is_busy:
            raise RuntimeError("this codec is in use by another thread; a codec belongs to one task at a time, copy() it for another")

    cdef object answer(self, Context *c):
        """What a call returns that takes a chunk; made while the state before it can still be put back. Not None."""
        return True

    cdef object push_few(self, Context *c, chunk):
        """Take a short str in the middle of a text. None: it is none, or something is wrong with it, and nothing has changed."""
        cdef Stream *s = &self.stream
        cdef Stream before
        cdef uint8_t held[FEW]
        cdef size_t n, at = 0, written, chars
        if not self.is_plain or not PyUnicode_CheckExact(chunk) or self.is_busy or self.held.high or self.held.n_partial:
            return None
        n = PyUnicode_GET_LENGTH(chunk)
        if n == 0 or n > FEW or s.n > FEW or (self.is_framed and not self.held.is_begun):
            return None
        if stream_reserve(s, 4 * FEW) != CTOK_OK:
            raise MemoryError("no memory for the codec's text")
        before = s[0]
        memcpy(held, s.buf, FEW)
        if PyUnicode_IS_ASCII(chunk):
            written = chars = n
            memcpy(s.buf + s.n, PyUnicode_DATA(chunk), n)
        elif ctok_utf8_from(PyUnicode_KIND(chunk), PyUnicode_DATA(chunk), n, &at, s.buf + s.n, s.cap - s.n, &written,
                            CTOK_SURROGATE_STRICT) == CTOK_OK:
            chars = ctok_utf8_count(s.buf + s.n, written)
        else:
            return None
        s.n += written
        if stream_process(c, &self.engine, s, False) != CTOK_OK:
            stream_back(s, &before, held)
            c.ids.n = c.counted = 0
            return None
        found = None
        try:
            found = self.answer(c)
        finally:
            if found is None:
                stream_back(s, &before, held)
        self.held.n_bytes += written
        self.held.chars += chars
        return found

    cdef object push(self, Context *c, chunk, bint final):
        """Take a chunk; its certain ids go to the context. Returns the answer. If this raises, the state is as before."""
        cdef Held held = self.held
        cdef Py_ssize_t n_parts = len(self.parts) if self.parts is not None else 0
        self.claim()
        self.save()
        self.is_busy = True
        try:
            self.push_claimed(c, chunk, final)
            found = self.answer(c)
        except BaseException:
            self.put_back()
            self.held = held
            if self.parts is not None:
                del self.parts[n_parts:]
            raise
        finally:
            self.is_busy = False
        if final:
            self.begin_text()
        return found

    cdef object push_claimed(self, Context *c, chunk, bint final):
        if self.is_framed and not self.held.is_begun:
            self.held.is_begun = True
            if push_ids(c, self.tokenizer.before.at, self.tokenizer.before.n) != CTOK_OK:
                raise MemoryError("no memory for ids")
        if isinstance(chunk, str):
            self.push_str(c, PyUnicode_FromObject(chunk), final)
        elif isinstance(chunk, (bytes, bytearray, memoryview)):
            self.push_bytes(c, bytes(chunk), final)
        else:
            raise TypeError(f"a chunk must be str, or bytes holding UTF-8, not {type(chunk).__name__}")
        if self.is_framed and final and push_ids(c, self.tokenizer.after.at, self.tokenizer.after.n) != CTOK_OK:
            raise MemoryError("no memory for ids")

    cdef object save(self):
        """Keep a copy of the state that the call is going to change."""
        cdef ctok_status status
        if self.stages != NULL:
            status = flow_copy(self.stages, &self.spare_flow, &self.flow)
        else:
            status = stream_copy(&self.spare, &self.stream)
        if status != CTOK_OK:
            raise MemoryError("no memory for the codec's state")

    cdef const Policy *flow_policy(self) noexcept:
        return &self.literals.sides.sought if self.literals is not None else &self.tokenizer.flow.none

    cdef void put_back(self) noexcept:
        """Take the copy for the state again."""
        cdef Stream stream = self.stream
        cdef FlowState flow = self.flow
        self.stream = self.spare
        self.spare = stream
        self.flow = self.spare_flow
        self.spare_flow = flow

    cdef object clear(self):
        if self.stages != NULL:
            flow_free(self.stages, &self.flow)
            if flow_begin(self.stages, &self.flow) != CTOK_OK:
                raise MemoryError("no memory for the codec's state")
        self.begin_text()

    cdef void begin_text(self) noexcept:
        """Nothing of a text is held; a flow that has come to an end is as new by itself."""
        stream_reset(&self.stream)
        self.held.n_partial = self.held.high = 0
        self.held.chars = self.held.n_bytes = 0
        self.held.is_begun = False
        if self.parts is not None:
            self.parts = []

    cdef object push_str(self, Context *c, str chunk, bint final):
        cdef Py_ssize_t n
        cdef uint32_t high = 0
        if self.held.n_partial:
            if chunk:
                raise TypeError("bytes of an unfinished character are held; go on with bytes, or reset() first")
            return self.push_bytes(c, b"", final)
        if self.held.high:
            chunk = chr(self.held.high) + chunk
            self.held.high = 0
        n = PyUnicode_GET_LENGTH(chunk)
        if n and not final and is_high(PyUnicode_READ_CHAR(chunk, n - 1)):
            n -= 1
            high = PyUnicode_READ_CHAR(chunk, n)
        self.consume(c, chunk, 0 if PyUnicode_IS_ASCII(chunk) else PyUnicode_KIND(chunk), PyUnicode_DATA(chunk), n, final)
        self.held.high = high

    cdef object push_bytes(self, Context *c, bytes chunk, bint final):
        cdef size_t n, tail = 0, bad = 0
        if self.held.high:
            if chunk:
                raise TypeError("half of a surrogate pair is held; go on with str, or reset() first")
            return self.push_str(c, "", final)
        if self.held.n_partial:
            chunk = (<const char *>self.held.partial)[:self.held.n_partial] + chunk
            self.held.n_partial = 0
        n = len(chunk)
        if not final:
            tail = ctok_utf8_tail(<const uint8_t *>chunk, n)
            n -= tail
        if ctok_utf8_validate(<const uint8_t *>chunk, n, &bad) == CTOK_OK:
            self.consume(c, chunk, 0, <const uint8_t *>chunk, n, final)
        elif self.errors == "strict":
            raise_status(CTOK_ERR_UTF8, self.held.n_bytes + bad, "byte", f"invalid UTF-8 (byte 0x{chunk[bad]:02X})")
        else:
            self.push_str(c, chunk[:n].decode("utf-8", "replace"), final)
        if tail:
            memcpy(self.held.partial, <const uint8_t *>chunk + n, tail)
            self.held.n_partial = <uint32_t>tail

    cdef object consume(self, Context *c, object chunk, int kind, const void *data, size_t n, bint final):
        """Take n characters (kind 0: bytes) of well-formed text, a slice at a time."""
        cdef const Engine *e = &self.engine
        cdef Stream *s = &self.stream
        cdef size_t at = 0, written = 0, before
        cdef ctok_status status = CTOK_OK
        cdef ctok_on_surrogate how = CTOK_SURROGATE_STRICT if self.errors == "strict" else CTOK_SURROGATE_REPLACE
        cdef bint is_last = n == 0
        if is_last and not final:
            return
        while True:
            before = s.n
            if stream_reserve(s, min((n - at) * max(kind, 1) + 4, <size_t>SLICE)) != CTOK_OK:
                raise MemoryError("no memory for the codec's text")
            if kind:
                status = ctok_utf8_from(kind, data, n, &at, s.buf + s.n, s.cap - s.n, &written, how)
                if status != CTOK_OK:
                    raise_status(status, self.held.chars + ctok_utf8_count(s.buf + s.n, written), "char",
                                 f"lone surrogate U+{ord(chunk[at]):04X}")
            else:
                written = n - at if n - at <= SLICE else SLICE
                while at + written < n and ((<const uint8_t *>data)[at + written] & 0xC0) == 0x80:
                    written -= 1
                if written:
                    memcpy(s.buf + s.n, <const uint8_t *>data + at, written)
                at += written
            s.n += written
            is_last = at == n
            self.held.n_bytes += written
            self.held.chars += written if kind == 0 and isinstance(chunk, str) else ctok_utf8_count(s.buf + before, written)
            self.taken(before)
            if self.parts is not None:
                self.parts.append((<const char *>s.buf)[:s.n].decode())
                s.n = 0
                if is_last and final:
                    self.end_parts(c)
            elif written < ALONE:
                status = encode_certain(c, e, s, &self.flow, final and is_last)
            else:
                with nogil:
                    status = encode_certain(c, e, s, &self.flow, final and is_last)
            if status != CTOK_OK:
                self.fail(status, c, chunk)
            if is_last:
                return

    cdef object taken(self, size_t start):
        """Called with each new piece of text, stream.buf[start:stream.n], before it is encoded."""

    cdef object end_parts(self, Context *c):
        text = "".join(self.parts)
        if c.counting:
            c.counted += self.tokenizer.count(text, allowed_special=self.policy[0], disallowed_special=self.policy[1],
                                              add_special_tokens=False)
        else:
            self.tokenizer.run(c, text, self.literals, False, self.errors)

    cdef object fail(self, ctok_status status, Context *c, object chunk):
        cdef Stream *s = &self.stream
        cdef size_t bad = min(c.bad, s.n)
        if self.stages != NULL:
            return self.fail_in_flow(status, c, "char" if isinstance(chunk, str) else "byte")
        shown = f"byte 0x{s.buf[bad]:02X}" if bad < s.n else ""
        while isinstance(chunk, str) and bad and bad < s.n and (s.buf[bad] & 0xC0) == 0x80:
            bad -= 1
        cdef bytes rest = (<const char *>s.buf)[bad:s.n]
        unit = "char" if isinstance(chunk, str) else "byte"
        position = self.held.chars - ctok_utf8_count(<const uint8_t *>rest, len(rest)) if unit == "char" else self.held.n_bytes - len(rest)
        if status == CTOK_ERR_STOPPED:
            shown = self.literals.names[c.counted]
        raise_status(status, position, unit, shown)

    cdef object fail_in_flow(self, ctok_status status, Context *c, str unit):
        self.stream.n = 0
        if status != CTOK_ERR_STOPPED:                      # of a text that stages have changed: where it came from is not known
            raise_status(status, None, unit, "a part of the text")
        position = self.held.chars - c.bad_chars if unit == "char" else self.held.n_bytes - c.bad
        raise_status(status, position, unit, self.literals.names[c.counted])

    # ---- the end of the text, as it is now ----

    cdef uint64_t ending(self) except? 0xFFFFFFFF:
        """How many ids the held text gives if nothing follows."""
        cdef TextState end
        cdef Stream stream
        cdef ctok_status status
        cdef uint64_t found
        cdef Context *c
        self.claim()
        if self.parts is None and not self.held.n_partial and not self.held.high:
            found = self.tokenizer.after.n + (0 if self.held.is_begun else self.tokenizer.before.n) if self.is_framed else 0
            if self.is_plain and self.stream.n == 0:
                return found
            if not self.is_plain:
                self.save()
            c = self.tokenizer.acquire()
            c.counting = True
            if self.is_plain:                           # an end changes only the numbers of a stream, nothing that it points to
                stream = self.stream
                status = stream_process(c, &self.engine, &stream, True)
            else:
                status = flow_feed(c, &self.engine, &self.spare_flow, b"", 0, True)
            found += c.counted + c.ids.n
            self.tokenizer.release(c)
            if status == CTOK_OK:
                return found
        end = TextState.__new__(TextState, self.tokenizer, allowed_special=self.policy[0], add_special_tokens=self.policy[2],
                                errors="replace")
        self.clone_into(end)
        end.literals = self.literals
        end.engine = self.engine
        c = self.tokenizer.acquire()
        c.counting = True
        try:
            end.push(c, "", True)
            return c.counted + c.ids.n
        finally:
            self.tokenizer.release(c)

    cdef object clone_into(self, TextState other):
        cdef ctok_status status
        self.claim()
        if self.stages != NULL:
            status = flow_copy(self.stages, &other.flow, &self.flow)
        else:
            status = stream_copy(&other.stream, &self.stream)
        if status != CTOK_OK:
            raise MemoryError("no memory for a copy of the codec")
        other.held = self.held
        other.parts = None if self.parts is None else list(self.parts)

    # ---- saved states ----

    cdef bytes fingerprint(self):
        from hashlib import blake2b

        digest = blake2b(digest_size=8)
        digest.update(self.tokenizer.vocab.fingerprint)
        if self.tokenizer.flow is not None:
            pattern = self.tokenizer.flow.signature
        else:
            pattern = self.tokenizer.splitter.pattern if self.tokenizer.splitter is not None else self.tokenizer.fallback.pattern
        allowed, disallowed, template = self.policy
        names = [sorted(part) if isinstance(part, frozenset) else part for part in (allowed, disallowed)]
        digest.update(repr((__version__, type(self).__name__, pattern, names, template, self.errors)).encode("utf-8", "surrogatepass"))
        return digest.digest()

    def getstate(self):
        """Return the codec's state as bytes, for `setstate` of a codec with the same tokenizer, options and version of ctok."""
        from struct import pack

        cdef Stream *s = &self.stream
        self.claim()
        held = pack("<4sIIQQ?", (<const char *>self.held.partial)[:4], self.held.n_partial, self.held.high, self.held.chars,
                    self.held.n_bytes, self.held.is_begun)
        if self.stages != NULL:
            return b"ctok\x01" + self.fingerprint() + held + flow_save(self.stages, self.flow_policy(), &self.flow)
        scan = pack("<?IIQQQI", s.is_open, s.scan.state, s.scan.flags, s.scan.n, s.scan.accept, s.cut, s.scanned)
        text = "".join(self.parts).encode("utf-8", "surrogatepass") if self.parts is not None else (<const char *>s.buf)[:s.n]
        return b"ctok\x01" + self.fingerprint() + held + scan + text

    def setstate(self, state):
        """Go on from a state that `getstate` gave.

        Raises
        ------
        StateError
            The bytes are no state, or one of another tokenizer, other options, or another version. The codec is as before the call.
        """
        from struct import calcsize, unpack_from

        cdef Held held
        cdef bytes partial, raw = bytes(state)
        self.claim()
        head = 5 + 8
        at = head + calcsize("<4sIIQQ?")
        if len(raw) < at or raw[:5] != b"ctok\x01":
            raise StateError("these bytes are not a state of a ctok codec, or one of a newer version")
        if raw[5:13] != self.fingerprint():
            raise StateError("this state belongs to another tokenizer, other options, another kind of codec or another version of ctok")
        partial, held.n_partial, held.high, held.chars, held.n_bytes, held.is_begun = unpack_from("<4sIIQQ?", raw, head)
        memcpy(held.partial, <const uint8_t *>partial, 4)
        if self.stages == NULL:
            self.set_stream(raw, at, &held)
        else:
            check_held(&held)
            flow_load(self.stages, self.flow_policy(), &self.spare_flow, raw[at:])
            self.put_back()
        self.held = held

    cdef object set_stream(self, bytes raw, size_t at, Held *held):
        """Take over the stream saved at raw[at:], if it fits."""
        from struct import calcsize, unpack_from

        cdef Stream s = self.spare
        cdef bytes text
        if len(raw) < at + calcsize("<?IIQQQI"):
            raise StateError("this state is cut short")
        s.is_open, s.scan.state, s.scan.flags, s.scan.n, s.scan.accept, s.cut, s.scanned = unpack_from("<?IIQQQI", raw, at)
        text = raw[at + calcsize("<?IIQQQI"):]
        check_held(held)
        if not stream_fits(&s, &self.engine, text, len(text)):
            raise StateError("this state is damaged")
        parts = None if self.parts is None else [text.decode()]
        if parts is not None:
            text = b""
        s.n = s.base = s.known = s.n_walks = s.patience = 0
        if stream_reserve(&s, len(text)) != CTOK_OK:
            self.spare = s
            raise MemoryError("no memory for the codec's state")
        if text:
            memcpy(s.buf, <const uint8_t *>text, len(text))
        s.n = len(text)
        self.parts = parts
        self.spare = self.stream
        self.stream = s

    def __deepcopy__(self, memo):
        return self.copy()


cdef object check_held(const Held *held):
    """Refuse a half character that no text can leave behind."""
    if held.n_partial > 3 or held.high and (held.n_partial or not is_high(held.high)):
        raise StateError("this state is damaged")
    if ctok_utf8_tail(held.partial, held.n_partial) != held.n_partial:
        raise StateError("this state is damaged")


cdef object _frozen(names):
    return names if isinstance(names, str) else frozenset(names)
