# cython: freethreading_compatible=False
"""`IncrementalEncoder`: the ids of a text that arrives in chunks."""

from ctok._native.engine cimport Context
from ctok._native.ids cimport ids_to_list
from ctok._native.state cimport TextState


cdef class IncrementalEncoder(TextState):
    """Encode text that arrives in chunks: ids leave as soon as no later text can change them.

    Parameters
    ----------
    tokenizer
        A `Tokenizer`.
    allowed_special, disallowed_special, add_special_tokens, errors
        As in `Tokenizer.encode`.

    Notes
    -----
    For every way to cut a text into chunks the ids, joined, are those of ``tokenizer.encode(text)``. At the end of each call what is held
    back is at most what some continuation could still change. A split rule that only the `regex` package can run holds everything until
    ``final=True``. Chunks may be str or bytes, and may break inside a character. An encoder belongs to one task at a time.

    Examples
    --------
    >>> encoder = tok.encoder()
    >>> encoder.encode("Hel"), encoder.encode("lo wor"), encoder.encode("ld", final=True)
    ([], [13225], [2375])
    """

    def encode(self, chunk, final=False):
        """Take a chunk and return the ids that are certain now; with ``final=True`` all that are left, and the encoder is as new.

        Raises
        ------
        EncodeError
            A lone surrogate, invalid UTF-8, or a byte without a token. `position` counts from the start of the stream.
        DisallowedSpecialTokenError
            A disallowed text was completed.
        TypeError
            Not text; or str after bytes that broke off inside a character, or the reverse.

        Notes
        -----
        After an error the encoder is as before the call. Cost: linear in the chunk, plus what is held (some ten bytes as a rule).
        """
        cdef Context *c = self.tokenizer.acquire()
        try:
            ids = self.push_few(c, chunk) if final is False else None
            return self.push(c, chunk, final) if ids is None else ids
        finally:
            self.tokenizer.release(c)

    cdef object answer(self, Context *c):
        return ids_to_list(c.ids.at, c.ids.n)

    def reset(self):
        """Forget the text so far."""
        self.claim()
        self.clear()

    def copy(self):
        """Return an encoder that goes on from the same state independently."""
        other = IncrementalEncoder(self.tokenizer, allowed_special=self.policy[0], disallowed_special=self.policy[1],
                                   add_special_tokens=self.policy[2], errors=self.errors)
        self.clone_into(other)
        return other

    __copy__ = copy

    def __reduce__(self):
        return _restore, (IncrementalEncoder, self.tokenizer, *self.policy, self.errors, self.getstate())


def _restore(kind, tokenizer, allowed, disallowed, template, errors, state):
    codec = kind(tokenizer, allowed_special=allowed, disallowed_special=disallowed, add_special_tokens=template, errors=errors)
    codec.setstate(state)
    return codec
