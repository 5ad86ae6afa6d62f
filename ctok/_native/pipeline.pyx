# cython: freethreading_compatible=False
"""The tokenizer's hot half: what is called for every text.

`ctok.Tokenizer` extends `Pipeline` and overrides none of its methods. Calls run on a `Context` (engine.pxd) from a free list, so there are
as many contexts as calls ever ran at once; the list is guarded by the GIL, which is released while a large text is encoded.
"""

cimport cython
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy

from ctok._native.chains cimport Decoding
from ctok._native.c_engine cimport CTOK_LITERAL_FOUND, ctok_literals_find
from ctok._native.c_merge cimport ctok_ids_free, ctok_ids_push, ctok_ids_reserve
from ctok._native.c_utf8 cimport CTOK_SURROGATE_REPLACE, CTOK_SURROGATE_STRICT, ctok_on_surrogate, ctok_utf8_validate
from ctok._native.c_vocab cimport (
    CTOK_ERR_MEMORY, CTOK_ERR_STOPPED, CTOK_ERR_UTF8, CTOK_NO_ID, CTOK_OK, ctok_id, ctok_mem_alloc, ctok_mem_fail_after,
    ctok_mem_free, ctok_status)
from ctok._native.engine cimport context_free, context_new, context_trim, encode_pretoken, encode_utf8, encode_wide
from ctok._native.flow cimport flow_utf8, flow_wide
from ctok._native.decode cimport decode_bytes, decode_spans, decode_str
from ctok._native.ids cimport ids_to_list, ids_to_object, reserve_ints
from ctok._native.rooms cimport Flow

import os

from ..errors import DisallowedSpecialTokenError, EncodeError, UnknownSpecialTokenError
from ..spec import TokenTable

cdef extern from "Python.h":
    int PyUnicode_KIND(object o)
    bint PyUnicode_IS_ASCII(object o)
    void *PyUnicode_DATA(object o)
    Py_ssize_t PyUnicode_GET_LENGTH(object o)

cdef enum:
    ALONE = 4096                # characters from which a text is encoded with the GIL released
    MANY = 1 << 19              # and from which its ids get their room at once: on a large page (ctok_mem_grow)

cdef uint64_t SEED = int.from_bytes(os.urandom(8), "little")


# ---- special tokens ----

@cython.no_gc_clear     # what it points into is freed after it
cdef class Literals:
    """Texts matched before the model: `matched` maps text to id, `forbidden` are texts that raise."""

    def __cinit__(self, dict matched, forbidden=(), Flow flow=None):
        cdef Py_ssize_t i
        if flow is not None:
            self.sides = flow.policy(matched, forbidden)
            self.names = self.sides.names
            return
        self.names = (*matched, *forbidden)
        table = TokenTable.from_dict({name.encode(): i for i, name in enumerate(self.names)})
        self.texts = Vocab(table.data, table.ends, table.ids)
        self.targets = <ctok_id *>ctok_mem_alloc(len(self.names), sizeof(ctok_id))
        if self.targets == NULL:
            raise MemoryError("no memory for the special tokens")
        for i, name in enumerate(self.names):
            self.targets[i] = matched.get(name, CTOK_NO_ID)
        leads = {name.encode()[0] for name in self.names}
        self.only = leads.pop() if len(leads) == 1 else -1

    def __dealloc__(self):
        ctok_mem_free(self.targets)


cdef object _name_set(names, str argument):
    if isinstance(names, str):
        if names == "all":
            return "all"
        raise TypeError(f'{argument} must be "all" or a collection of names, not the str {names!r}; write {{{names!r}}} for one name')
    names = frozenset(names)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{argument} must hold str, not {type(name).__name__} ({name!r})")
    return names


# ---- errors ----

cdef object raise_status(ctok_status status, position, str unit, shown, str prefix=""):
    """Turn a status into its exception. `shown`: the forbidden text, or what is wrong at `position`, which is None where it is unknown."""
    where = "" if position is None else f" at {'character' if unit == 'char' else 'byte'} {position}"
    if status == CTOK_ERR_MEMORY:
        raise MemoryError(f"{prefix}no memory to encode the text")
    if status == CTOK_ERR_UTF8:
        raise EncodeError(f'{prefix}{shown}{where}; pass errors="replace" to encode it as U+FFFD', position=position, unit=unit)
    if status == CTOK_ERR_STOPPED:
        raise DisallowedSpecialTokenError(
            f"{prefix}the text holds the disallowed special token {shown!r}{where}; allow it with allowed_special={{{shown!r}}}, "
            "or leave it out of disallowed_special to encode it as plain text", token=shown, position=position)
    raise EncodeError(f"{prefix}the vocabulary has no token for {shown}{where}", position=position, unit=unit)


cdef object raise_for(ctok_status status, size_t bad, uint64_t number, object text, Literals literals, str prefix=""):
    """The same for a whole text: `bad` counts characters of a str, bytes of bytes; `number` is that of the forbidden text."""
    unit = "char" if isinstance(text, str) else "byte"
    position = bad
    if status == CTOK_ERR_STOPPED:
        shown = literals.names[number]
    elif status == CTOK_ERR_UTF8:
        shown = f"lone surrogate U+{ord(text[bad]):04X}" if unit == "char" else f"invalid UTF-8 (byte 0x{text[bad]:02X})"
    elif status == CTOK_ERR_MEMORY:
        shown = ""
    elif bad >= <size_t>len(text):                          # stages have changed the text: where it came from is not known
        shown, position = "a part of the text", None
    else:
        shown = repr(text[bad]) if unit == "char" else f"byte 0x{text[bad]:02X}"
    raise_status(status, position, unit, shown, prefix)


# ---- split rules that only Python can run ----

cdef bytes _utf8_of(text, errors):
    """A text in UTF-8, as csrc/ctok_utf8.h makes it: surrogate pairs joined, lone surrogates replaced or refused."""
    cdef Py_ssize_t i = 0
    if not isinstance(text, str):
        return text
    try:
        return text.encode()
    except UnicodeEncodeError:
        pass
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "strict" if errors == "strict" else "replace").encode()
    except UnicodeDecodeError as error:
        while error.start > 0:                              # in bytes of UTF-16
            error.start -= 4 if ord(text[i]) > 0xFFFF else 2
            i += 1
        raise_for(CTOK_ERR_UTF8, i, 0, text, None)


cdef object place_in(text, bytes whole, size_t bad):
    """Where the character with byte `bad` of the UTF-8 stands in the text it was made from: a byte of bytes, a character of a str."""
    cdef Py_ssize_t chars, i = 0
    if not isinstance(text, str):
        return bad
    chars = len(whole[:bad].decode("utf-8", "ignore"))
    while chars > 0:
        i += 2 if "\ud800" <= text[i] <= "\udbff" and "\udc00" <= text[i + 1:i + 2] <= "\udfff" else 1
        chars -= 1
    return i


# ---- the tokenizer's hot half ----

cdef ctok_status push_ids(Context *c, const ctok_id *ids, size_t n) noexcept nogil:
    if n == 0:
        return CTOK_OK
    if ctok_ids_reserve(&c.ids, n) != CTOK_OK:
        return CTOK_ERR_MEMORY
    memcpy(c.ids.at + c.ids.n, ids, n * sizeof(ctok_id))
    c.ids.n += n
    return CTOK_OK


cdef ctok_status encode_job(Context *c, const Engine *e, const Job *job, ctok_on_surrogate how) noexcept nogil:
    """Append the ids of a whole text, and around them those of the template."""
    cdef ctok_status status
    if job.n >= MANY and not c.counting and ctok_ids_reserve(&c.ids, job.n // 4) != CTOK_OK:
        return CTOK_ERR_MEMORY
    status = push_ids(c, e.before, e.n_before)
    if status != CTOK_OK:
        return status
    if e.stages != NULL:
        status = flow_wide(c, e, job.kind, job.data, job.n, how) if job.kind else flow_utf8(c, e, <const uint8_t *>job.data, job.n)
    else:
        status = encode_wide(c, e, job.kind, job.data, job.n, how) if job.kind else encode_utf8(c, e, <const uint8_t *>job.data, job.n)
    return push_ids(c, e.after, e.n_after) if status == CTOK_OK else status


@cython.no_gc_clear     # __dealloc__ reads what it refers to
cdef class Pipeline:
    """Vocabulary, split rule and special tokens, ready to encode.

    Parameters
    ----------
    vocab
        The `Vocab`.
    splitter
        A `Splitter`, or None.
    fallback
        Used when `splitter` is None: an object with ``pieces(text) -> list of (start, stop)`` in characters.
    specials
        Special tokens, text -> id: plain text unless a call allows them.
    always
        Added tokens without special meaning, text -> id: always matched.
    flow
        A `Flow` instead of `splitter` and `fallback`, for tokenizers that are more than a split rule and byte pairs by rank.
    template
        The ids that ``add_special_tokens=True`` puts before a text, and those behind it.
    decoding
        A `Decoding`; None: ids decode to the bytes of their tokens.
    """

    def __cinit__(self, Vocab vocab not None, Splitter splitter, fallback, dict specials, dict always, Flow flow=None, template=((), ()),
                  Decoding decoding=None, *args, **kwargs):
        self.vocab = vocab
        self.splitter = splitter
        self.fallback = fallback
        self.flow = flow
        self.specials = specials
        self.always = always
        self.decoding = decoding
        self.policies = {}
        for token_id in template[0]:
            if ctok_ids_push(&self.before, token_id) != CTOK_OK:
                raise MemoryError("no memory for the template")
        for token_id in template[1]:
            if ctok_ids_push(&self.after, token_id) != CTOK_OK:
                raise MemoryError("no memory for the template")
        self.has_template = self.before.n + self.after.n > 0
        reserve_ints(vocab.v.n_ids)

    def __dealloc__(self):
        cdef Context *c
        while self.free_contexts != NULL:
            c = self.free_contexts
            self.free_contexts = c.next
            context_free(c)
        ctok_ids_free(&self.before)
        ctok_ids_free(&self.after)

    cdef Vocab decode_vocab(self):
        """The vocabulary that decoding reads."""
        return self.vocab if self.decoding is None else self.decoding.get()

    cdef Context *acquire(self) except NULL:
        cdef Context *c = self.free_contexts
        if c != NULL:
            self.free_contexts = c.next
        else:
            c = context_new(SEED)
            if c == NULL:
                raise MemoryError("no memory for a thread's cache")
        c.ids.n = 0
        c.counted = 0
        c.counting = False
        return c

    cdef void release(self, Context *c) noexcept:
        context_trim(c)
        c.next = self.free_contexts
        self.free_contexts = c

    cdef Literals policy(self, allowed, disallowed):
        if not disallowed:
            if not allowed:
                return self.plain if self.has_plain else self.set_plain()
            if isinstance(allowed, str) and allowed == "all":
                return self.everything if self.has_everything else self.set_everything()
        allow = _name_set(allowed, "allowed_special")
        forbid = _name_set(disallowed, "disallowed_special")
        found = self.policies.get((allow, forbid))
        if found is None:
            found = self.new_policy(allow, forbid)
            if len(self.policies) >= 64:
                self.policies.clear()
            self.policies[allow, forbid] = found
        return found

    cdef Literals set_plain(self):
        """What calls match that allow nothing; built by the first of them."""
        self.plain = Literals(self.always, (), self.flow) if self.always else None
        self.has_plain = True
        return self.plain

    cdef Literals set_everything(self):
        """The same for calls that allow all."""
        if self.specials:
            self.everything = Literals({**self.always, **self.specials}, (), self.flow)
        else:
            self.everything = self.plain if self.has_plain else self.set_plain()
        self.has_everything = True
        return self.everything

    def new_policy(self, allow, forbid):
        names = self.specials.keys() if allow == "all" else allow
        for name in names:
            if name not in self.specials:
                raise UnknownSpecialTokenError(
                    f"allowed_special names {name!r}, which is not a special token of this tokenizer; it has {sorted(self.specials)[:8]}",
                    token=name)
        forbidden = sorted(self.specials.keys() - names) if forbid == "all" else sorted(forbid)
        if "" in forbidden:
            raise UnknownSpecialTokenError("disallowed_special holds an empty text, which would be found everywhere", token="")
        matched = {**self.always, **{name: self.specials[name] for name in names}}
        for name in forbidden:
            matched.pop(name, None)
        return Literals(matched, tuple(forbidden), self.flow) if matched or forbidden else None

    cdef void engine(self, Literals literals, bint add_special, Engine *e) noexcept:
        e.vocab = &self.vocab.v
        e.splitter = &self.splitter.s if self.splitter is not None else NULL
        e.before = self.before.at
        e.n_before = self.before.n if add_special else 0
        e.after = self.after.at
        e.n_after = self.after.n if add_special else 0
        e.stages = NULL
        if self.flow is not None:
            e.stages = &self.flow.stages
            e.policy = &literals.sides.sought if literals is not None else &self.flow.none
            return
        e.literals = &literals.texts.v if literals is not None else NULL
        e.targets = literals.targets if literals is not None else NULL
        e.only = literals.only if literals is not None else -1

    cdef object prepare(self, text, errors, Job *job, str prefix=""):
        """Check a text and point the job at it; returns the object to keep alive while the job runs."""
        cdef size_t bad = 0
        cdef ctok_status status
        cdef const uint8_t[::1] view
        if errors != "strict" and errors != "replace":
            raise ValueError(f'errors must be "strict" or "replace", not {errors!r}')
        if not isinstance(text, str):
            if not isinstance(text, (bytes, bytearray, memoryview)):
                raise TypeError(f"{prefix}text must be str, or bytes holding UTF-8, not {type(text).__name__}")
            text = bytes(text)
            view = text
            job.kind = 0
            job.n = view.shape[0]
            job.data = &view[0] if job.n else NULL
            status = ctok_utf8_validate(<const uint8_t *>job.data, job.n, &bad)
            if status == CTOK_OK:
                return text
            if errors == "strict":
                raise_for(status, bad, 0, text, None, prefix)
            text = text.decode("utf-8", "replace")
        job.kind = 0 if PyUnicode_IS_ASCII(text) else PyUnicode_KIND(text)
        job.n = PyUnicode_GET_LENGTH(text)
        job.data = PyUnicode_DATA(text)
        return text

    cdef object run(self, Context *c, text, Literals literals, bint add_special, errors):
        """Encode one text into c.ids (or c.counted)."""
        cdef Engine e
        cdef Job job
        cdef ctok_status status
        cdef ctok_on_surrogate how = CTOK_SURROGATE_STRICT if errors == "strict" else CTOK_SURROGATE_REPLACE
        text = self.prepare(text, errors, &job)
        if self.splitter is None and self.flow is None:
            return self.run_fallback(c, text, literals, errors)
        self.engine(literals, add_special, &e)
        if job.n < ALONE:
            status = encode_job(c, &e, &job, how)
        else:
            with nogil:
                status = encode_job(c, &e, &job, how)
        if status != CTOK_OK:
            raise_for(status, c.bad, c.counted, text, literals)

    cdef object run_fallback(self, Context *c, text, Literals literals, errors):
        """The same through a split rule that only Python can run: pretoken by pretoken, with the GIL."""
        cdef bytes whole
        cdef const uint8_t *raw
        cdef size_t pos = 0, start = 0, size = 0, n
        cdef ctok_id found = 0
        cdef ctok_status status = CTOK_OK
        whole = _utf8_of(text, errors)
        raw, n = whole, len(whole)
        while pos < n and status == CTOK_OK:
            if literals is None or ctok_literals_find(
                    &literals.texts.v, literals.only, raw, pos, n, True, &start, &size, &found) != CTOK_LITERAL_FOUND:
                start, size = n, 0
            status = <ctok_status>self.run_pieces(c, whole[pos:start], pos)
            if size and status == CTOK_OK and literals.targets[found] == CTOK_NO_ID:
                c.bad = start
                status = CTOK_ERR_STOPPED
            elif size and status == CTOK_OK:
                status = ctok_ids_push(&c.ids, literals.targets[found])
            pos = start + size
        if status != CTOK_OK:
            raise_for(status, place_in(text, whole, c.bad), found, text, literals)

    cdef int run_pieces(self, Context *c, bytes plain, size_t base) except -1:
        """Append the ids of text without special tokens that begins at byte `base`, which c.bad counts from."""
        cdef bytes raw
        cdef str text = plain.decode()
        cdef ctok_status status
        for start, stop in self.fallback.pieces(text):
            raw = text[start:stop].encode()
            status = encode_pretoken(c, &self.vocab.v, raw, len(raw))
            if status != CTOK_OK:
                c.bad += base + len(text[:start].encode())
                return status
        return CTOK_OK

    def encode(self, text, *, allowed_special=(), disallowed_special=(), add_special_tokens=True, errors="strict"):
        """Return the ids of `text` as a list of int.

        Parameters
        ----------
        text
            A str, or bytes holding UTF-8.
        allowed_special
            Special tokens to recognise, by their text, or ``"all"``. All others are plain text.
        disallowed_special
            Texts that must not occur, or ``"all"`` for the special tokens that are not allowed.
        add_special_tokens
            Whether to apply the post-processor's template, where the file has one; .tiktoken files have none.
        errors
            ``"strict"`` refuses a lone surrogate or invalid UTF-8, ``"replace"`` encodes it as U+FFFD. Surrogate pairs are joined.

        Returns
        -------
        list of int
            Ids in text order, at most one a UTF-8 byte. The longest special token wins where several begin at one place.

        Raises
        ------
        EncodeError
            Bad text, or a byte that the vocabulary has no token for; names the position.
        DisallowedSpecialTokenError
            The text holds a disallowed text; names it and its position.
        UnknownSpecialTokenError
            `allowed_special` names what is not special here.

        Notes
        -----
        Time is linear in the text (times the logarithm of a pretoken of up to 256 bytes). Releases the GIL for texts of 4096 characters and
        more. Any number of threads may call this.
        """
        cdef Literals literals = self.policy(allowed_special, disallowed_special)
        cdef Context *c = self.acquire()
        try:
            self.run(c, text, literals, add_special_tokens, errors)
            return ids_to_list(c.ids.at, c.ids.n)
        finally:
            self.release(c)

    def encode_ids(self, text, *, allowed_special=(), disallowed_special=(), add_special_tokens=True, errors="strict"):
        """Return the ids of `text` as `Ids`, one block of memory with the buffer protocol. Options and errors as in `encode`."""
        cdef Literals literals = self.policy(allowed_special, disallowed_special)
        cdef Context *c = self.acquire()
        try:
            self.run(c, text, literals, add_special_tokens, errors)
            return ids_to_object(c.ids.at, c.ids.n)
        finally:
            self.release(c)

    def count(self, text, *, allowed_special=(), disallowed_special=(), add_special_tokens=True, errors="strict"):
        """Return ``len(encode(text))`` for the same options, without keeping the ids."""
        cdef Literals literals = self.policy(allowed_special, disallowed_special)
        cdef Context *c = self.acquire()
        c.counting = True
        try:
            self.run(c, text, literals, add_special_tokens, errors)
            return c.counted + c.ids.n
        finally:
            self.release(c)

    def decode(self, ids, *, skip_special_tokens=False, errors="replace", utf8_policy=None):
        """Return the text of `ids`.

        Parameters
        ----------
        ids
            Any sequence of int, or a buffer of integers (`Ids`, a numpy array, ...).
        skip_special_tokens
            Leave out special tokens; bytes on both sides of one then join.
        errors
            What to do with bytes that are not UTF-8: ``"replace"`` (U+FFFD), ``"strict"`` or ``"ignore"``.
        utf8_policy
            What one U+FFFD stands for: ``"maximal_subpart"`` (as Python), ``"per_byte"`` or ``"hf_run"`` (all of a run of byte tokens).
            None: as the reference of this vocabulary's format does, which for .tiktoken is ``"maximal_subpart"``.

        Raises
        ------
        UnknownIdError
            An id that the vocabulary does not have; names it and its index.
        DecodeError
            Bytes that are not UTF-8, with ``errors="strict"``; names the byte and the id.
        """
        return decode_str(self.decode_vocab(), ids, skip_special_tokens, errors, utf8_policy)

    def decode_bytes(self, ids, *, skip_special_tokens=False):
        """Return the bytes of `ids`, UTF-8 or not. Raises `UnknownIdError` as `decode` does."""
        return decode_bytes(self.decode_vocab(), ids, skip_special_tokens)

    def decode_spans(self, ids, *, unit="char", skip_special_tokens=False, errors="replace", utf8_policy=None):
        """Return ``(text, spans)``: what `decode` returns, and for each id its half-open span in that text.

        Parameters
        ----------
        unit
            What the spans count: ``"char"``, ``"byte"`` (of the text in UTF-8) or ``"utf16"``. A token that starts inside a character gets
            that character's place.
        ids, skip_special_tokens, errors, utf8_policy
            As in `decode`.
        """
        return decode_spans(self.decode_vocab(), ids, skip_special_tokens, errors, utf8_policy, unit)


def utf8_of(Pipeline tokenizer not None, text, errors):
    """Return a text, checked as `Pipeline.encode` checks it, in UTF-8; raises as that does."""
    cdef Job job
    return _utf8_of(tokenizer.prepare(text, errors, &job), errors)


def fail_after(long n):
    """In test builds: let `n` more allocations of this module succeed, then fail one (csrc/ctok_mem.h)."""
    return ctok_mem_fail_after(n)
