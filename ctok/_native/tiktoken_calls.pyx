# cython: freethreading_compatible=False
"""The hot half of `ctok.compat.tiktoken.Encoding`: the calls made for every text, with tiktoken's defaults, rules and errors.

It wraps a `Pipeline` and adds no Python frame to it. What is decided here: which special tokens a call matches and which it forbids, and
what error an unknown id is.
"""

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.list cimport PyList_Check
from cpython.sequence cimport PySequence_Check
from cpython.tuple cimport PyTuple_Check
from libc.stdint cimport uint8_t

from ctok._native.c_vocab cimport CTOK_NO_ID, CTOK_OK, ctok_id, ctok_status, ctok_vocab_find
from ctok._native.decode cimport decode_bytes, decode_str
from ctok._native.engine cimport Context, encode_pretoken
from ctok._native.ids cimport ids_to_list, ids_to_object
from ctok._native.pipeline cimport Literals, Pipeline, raise_for

import re
from functools import lru_cache
from operator import index as _as_index

from ..errors import DisallowedSpecialTokenError, UnknownIdError

cdef enum:
    ALONE = 4096                # bytes from which a piece is encoded with the GIL released

cdef object NOTHING = frozenset()
cdef object NONE = ()
cdef object ALL = "all"


# ---- special tokens ----

def disallowed_error(token, position=None):
    """Return the error for a disallowed text. Its first line is what callers of tiktoken parse."""
    return DisallowedSpecialTokenError(
        f"Encountered text corresponding to disallowed special token {token!r}.\n"
        f"To encode it as the special token, allow it: `allowed_special={{{token!r}, ...}}`.\n"
        f"To encode it as plain text, do not disallow it: `disallowed_special=(enc.special_tokens_set - {{{token!r}}})`.\n"
        "To encode all special tokens as plain text, pass `disallowed_special=()`.\n", token=token, position=position)


@lru_cache(maxsize=128)
def literal_pattern(names):
    """Return the pattern that finds the leftmost of some texts, and of those that start there the longest."""
    return re.compile("|".join([re.escape(name) for name in sorted(names, key=len, reverse=True)]))


@lru_cache(maxsize=128)
def _needs_own_search(allow, forbid):
    """Whether an allowed text could hide a forbidden one, or a forbidden one cannot be found in UTF-8."""
    firsts = {name[:1] for name in forbid}
    if "" in firsts or any("\ud800" <= char <= "\udfff" for name in forbid for char in name):
        return True
    return any(not firsts.isdisjoint(name[1:]) or name.startswith(tuple(forbid - {name})) for name in allow)


def resolve_special(special, allowed, disallowed):
    """Return what the two options of a call mean, as tiktoken reads them.

    Parameters
    ----------
    special
        The special tokens, text -> id.
    allowed
        ``"all"``, or a set or frozenset of str. Names that are not special here are ignored.
    disallowed
        ``"all"`` for what is not allowed, or an iterable of str; anything false: nothing.

    Returns
    -------
    allow, forbid, own_search
        Two frozensets, and whether `forbid` must be searched for in a pass of its own before anything is matched.
    """
    if isinstance(allowed, str) and allowed == "all":
        allowed = special.keys() | ()
    if not isinstance(allowed, (set, frozenset)):
        raise TypeError(f'allowed_special must be "all" or a set of str, not {type(allowed).__name__}')
    for name in allowed:
        if not isinstance(name, str):
            raise TypeError(f"allowed_special must hold str, not {type(name).__name__}")
    allow = frozenset(special.keys() & allowed)
    if isinstance(disallowed, str) and disallowed == "all":
        forbid = frozenset(special.keys() - allow)
    else:
        forbid = frozenset(disallowed) if disallowed else NOTHING
    for name in forbid:
        if not isinstance(name, str):
            raise TypeError(f"disallowed_special must hold str, not {type(name).__name__}")
    return allow, forbid, bool(forbid) and _needs_own_search(allow, forbid)


cdef object _unknown_id(tokens, error, str message):
    """The error for ids of which one is unknown: a number that could not be an id at all comes first, wherever it is."""
    for token in tokens:
        if not 0 <= _as_index(token) < 1 << 32:
            return OverflowError(f"token {token} is out of range: it must fit 32 bits without a sign")
    return KeyError(f"{message}{error.id}")


# ---- the calls ----

cdef class TiktokenCalls:
    """Base of `Encoding`; unusable until it is bound to a tokenizer."""

    cdef Pipeline pipeline
    cdef Literals plain         # what is matched always (in tiktoken's own encodings: nothing)
    cdef Literals strict        # of a call without options: every special token is forbidden
    cdef dict policies          # (allowed, disallowed) of other calls -> (Literals or None, search for what is forbidden or None)

    def __cinit__(self, *args, **kwargs):
        self.policies = {}

    def _bind(self, Pipeline pipeline not None):
        """Take the calls' work from this tokenizer from now on."""
        self.plain = pipeline.policy((), ())
        self.strict = pipeline.policy(NOTHING, ALL)
        self.pipeline = pipeline
        self.policies.clear()

    @property
    def _tokenizer(self):
        if self.pipeline is None:
            raise ValueError("this Encoding was never initialised")
        return self.pipeline

    cdef object encode_with(self, text, Literals literals, bint as_list):
        cdef Context *c
        if self.pipeline is None or not isinstance(text, str):
            self._tokenizer
            raise TypeError(f"text must be str, not {type(text).__name__}")
        c = self.pipeline.acquire()
        try:
            self.pipeline.run(c, text, literals, False, "replace")
            return ids_to_list(c.ids.at, c.ids.n) if as_list else ids_to_object(c.ids.at, c.ids.n)
        except DisallowedSpecialTokenError as error:
            raise disallowed_error(error.token, error.position) from None
        finally:
            self.pipeline.release(c)

    cdef object encode_how(self, text, allowed, disallowed, bint as_list):
        if allowed is NOTHING and disallowed is ALL:
            return self.encode_with(text, self.strict, as_list)
        if allowed is NOTHING and disallowed is NONE:
            return self.encode_with(text, self.plain, as_list)
        if allowed is ALL and (disallowed is ALL or disallowed is NONE) and self.pipeline is not None:
            return self.encode_with(text, self.pipeline.policy("all", ()), as_list)
        return self.encode_with(text, self.literals_for(text, allowed, disallowed), as_list)

    cdef Literals literals_for(self, text, allowed, disallowed):
        """What this call matches. Raises if it forbids a text that must be searched for by itself."""
        if isinstance(allowed, set):
            allowed = frozenset(allowed)
        if not (isinstance(disallowed, str) and disallowed == "all"):
            disallowed = frozenset(disallowed) if disallowed else NOTHING
        key = (allowed, disallowed) if isinstance(allowed, (frozenset, str)) else NONE
        found = self.policies.get(key)
        if found is None:
            found = self.new_policy(allowed, disallowed)
            if len(self.policies) >= 64:
                self.policies.clear()
            self.policies[key] = found
        literals, own_search = found
        if own_search is not None:
            if not isinstance(text, str):
                raise TypeError(f"text must be str, not {type(text).__name__}")
            hit = own_search(text)
            if hit is not None:
                raise disallowed_error(hit.group(), hit.start())
        return literals

    cdef tuple new_policy(self, allowed, disallowed):
        allow, forbid, own_search = resolve_special(self._tokenizer.specials, allowed, disallowed)
        if own_search:
            return self.pipeline.policy(allow, NOTHING), literal_pattern(forbid).search
        return self.pipeline.policy(allow, forbid), None

    def encode_ordinary(self, text):
        """Return the ids of a str; text that looks like a special token is plain text.

        Raises
        ------
        TypeError
            `text` is not a str.
        ValueError
            The vocabulary has no token for some byte of the text.

        Notes
        -----
        Lone surrogates become U+FFFD, pairs are joined; text that the pattern does not match is left out. Time is linear. Any number of
        threads may call this; the GIL is released for texts of 4096 characters and more.
        """
        return self.encode_with(text, self.plain, True)

    def encode(self, text, *, allowed_special=NOTHING, disallowed_special="all"):
        """Return the ids of a str.

        Parameters
        ----------
        text
            A str; bad text and cost as in `encode_ordinary`.
        allowed_special
            Special tokens to recognise: ``"all"``, or a set of their texts. Names that are not special here are ignored.
        disallowed_special
            Texts that must not occur: ``"all"`` for the special tokens that are not allowed, or any iterable of str. What is neither
            allowed nor disallowed is plain text.

        Raises
        ------
        ValueError
            A disallowed text occurs: the leftmost, and of those that start there the longest. Its first line ends with the text's repr.
        TypeError
            `text` is not a str, `allowed_special` not a set.
        """
        return self.encode_how(text, allowed_special, disallowed_special, True)

    def _encode_ids(self, text, allowed_special, disallowed_special):
        """The same as `Ids`."""
        return self.encode_how(text, allowed_special, disallowed_special, False)

    def _encode_single_piece(self, text_or_bytes):
        """Return the ids of a str or bytes taken as one pretoken: no pattern, no special tokens."""
        cdef const uint8_t *piece
        cdef Context *c
        cdef ctok_status status
        cdef size_t n
        raw = text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes
        if not isinstance(raw, bytes):
            raise TypeError(f"a piece must be str or bytes, not {type(raw).__name__}")
        if not raw:
            return []
        piece = <const uint8_t *>PyBytes_AS_STRING(raw)
        n = len(raw)
        c = (<Pipeline>self._tokenizer).acquire()
        try:
            if n < ALONE:
                status = encode_pretoken(c, &self.pipeline.vocab.v, piece, n)
            else:
                with nogil:
                    status = encode_pretoken(c, &self.pipeline.vocab.v, piece, n)
            if status != CTOK_OK:
                raise_for(status, c.bad, 0, raw, None)
            return ids_to_list(c.ids.at, c.ids.n)
        finally:
            self.pipeline.release(c)

    def encode_single_token(self, text_or_bytes):
        """Return the id of a token, given as str or bytes; special tokens are found by their text.

        Raises
        ------
        KeyError
            It is no token; the argument is its bytes.
        """
        cdef ctok_id found
        token = text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes
        if not isinstance(token, bytes):
            raise TypeError(f"a token must be str or bytes, not {type(token).__name__}")
        if token and self.pipeline is not None:
            found = ctok_vocab_find(&self.pipeline.vocab.v, <const uint8_t *>PyBytes_AS_STRING(token), len(token))
            if found != CTOK_NO_ID:
                return found
        number = self._tokenizer.specials.get(token.decode("utf-8", "replace"))
        if number is None:
            raise KeyError(token)
        return number

    cdef object ids_of(self, tokens):
        """Check what is to be decoded as tiktoken does: a sequence, but not a str."""
        self._tokenizer
        if PyList_Check(tokens) or PyTuple_Check(tokens):
            return tokens
        if isinstance(tokens, str) or not PySequence_Check(tokens):
            raise TypeError(f"tokens must be a sequence of int, not {type(tokens).__name__}")
        return list(tokens) if isinstance(tokens, (bytes, bytearray)) else tokens

    def decode(self, tokens, errors="replace"):
        """Return the text of a sequence of ids.

        Parameters
        ----------
        tokens
            Any sequence of int: list, tuple, range, array, numpy array, ...
        errors
            What to do with bytes that are not UTF-8: the name of any error handler of `bytes.decode`.

        Raises
        ------
        KeyError
            There is no such id: "Invalid token for decoding: N".
        OverflowError
            A negative id, or one of 2**32 or more.
        TypeError
            `tokens` is not a sequence of int.
        UnicodeDecodeError
            With ``errors="strict"``.
        """
        if errors != "replace":
            return self.decode_bytes(tokens).decode("utf-8", errors)
        tokens = self.ids_of(tokens)
        try:
            return decode_str(self.pipeline.vocab, tokens, False, "replace", None)
        except UnknownIdError as error:
            raise _unknown_id(tokens, error, "Invalid token for decoding: ") from None

    def decode_bytes(self, tokens):
        """Return the bytes of a sequence of ids, UTF-8 or not. Errors as in `decode`."""
        tokens = self.ids_of(tokens)
        try:
            return decode_bytes(self.pipeline.vocab, tokens, False)
        except UnknownIdError as error:
            raise _unknown_id(tokens, error, "Invalid token for decoding: ") from None

    def decode_single_token_bytes(self, token):
        """Return the bytes of one id, also of a special token.

        Raises
        ------
        KeyError
            There is no such id; the argument is its number as a str.
        OverflowError, TypeError
            As in `decode`.
        """
        number = _as_index(token)
        try:
            return self._tokenizer.vocab.token(number)
        except UnknownIdError as error:
            raise _unknown_id((number,), error, "") from None
