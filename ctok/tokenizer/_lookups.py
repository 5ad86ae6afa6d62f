"""What can be asked of a tokenizer: sizes, tokens and ids, and the tokens that play a part."""

from __future__ import annotations

from operator import index as as_index

from .._native.pipeline import Pipeline
from ..errors import UnknownTokenError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from ..spec import Spec


class LookUps(Pipeline):
    """The part of `Tokenizer` that looks things up."""

    __slots__ = ("_lazy_added_ids", "_spelled", "spec")

    spec: Spec
    _lazy_added_ids: frozenset[int] | None
    _spelled: dict[int, str]  # the tokens that were asked for

    # ---- what it is ----

    @property
    def name(self) -> str:
        """The spec's name."""
        return self.spec.name

    @property
    def vocab_size(self) -> int:
        """One more than the largest id, special tokens included; there may be gaps below."""
        return len(self.vocab)

    @property
    def special_tokens(self) -> dict[str, int]:
        """Special tokens, text -> id, as a new dict."""
        return dict(self.specials)

    @property
    def streams(self) -> bool:
        """Whether encoders let ids go before the end of the text. False for a pattern that only the `regex` package can run."""
        return self.splitter is not None if self.flow is None else self.flow.streams

    # ---- tokens and ids ----

    def token_to_id(self, token: str | bytes) -> int:
        """Return the id of a token, given as bytes or str; special and other added tokens are found by their text.

        Raises
        ------
        UnknownTokenError
            There is no such token.
        """
        if not isinstance(token, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"a token is looked up by its str or bytes, not by {type(token).__name__}")
        raw = token.encode("utf-8", "surrogatepass") if isinstance(token, str) else bytes(token)
        found = self.vocab.find(raw)
        if found is None:
            text = raw.decode("utf-8", "surrogateescape")
            found = self.specials.get(text, self.always.get(text))
        if found is None:
            raise UnknownTokenError(f"{token!r} is not a token of {self.name!r}", token=token)
        return found

    def id_to_bytes(self, token_id: int) -> bytes:
        """Return the bytes of a token; raises `UnknownIdError` for an id that does not exist."""
        return self.vocab.token(token_id)

    def id_to_token(self, token_id: int) -> str:
        """Return a token as its file spells it, with ``"\u0120"`` for a blank where bytes are spelled as visible characters.

        The tokens of .tiktoken files are bytes: those that are no text by themselves have U+FFFD in it. Raises `UnknownIdError` for an id
        that does not exist.
        """
        found = self._spelled.get(as_index(token_id))
        return self._spell(token_id) if found is None else found

    def _spell(self, token_id: int) -> str:
        raw = self.vocab.token(token_id)
        if self.decoding is not None and self.decoding.byte_level and token_id not in self._added_ids:
            from ..stagespecs.spelling import spell

            text = spell(raw)
        else:
            text = raw.decode("utf-8", "replace")
        self._spelled[token_id] = text
        return text

    def is_special(self, token_id: int) -> bool:
        """Return whether the id exists and is that of a special token."""
        return self.vocab.is_special(token_id)

    @property
    def _added_ids(self) -> Collection[int]:
        if self._lazy_added_ids is None:
            object.__setattr__(self, "_lazy_added_ids", frozenset(number for _, number, *_ in self.vocab.special_tokens))
        return self._lazy_added_ids or ()

    def _role(self, role: str) -> int | None:
        text = self.spec.role(role)
        return None if text is None else self.specials.get(text, self.always.get(text, self.vocab.find(text.encode())))

    @property
    def bos_id(self) -> int | None:
        """Id of the token for the beginning of a text, where the files say which one that is."""
        return self._role("bos")

    @property
    def eos_id(self) -> int | None:
        """Id of the token for the end of a text, likewise."""
        return self._role("eos")

    @property
    def pad_id(self) -> int | None:
        """Id of the token that fills up texts, likewise, or as the file's padding says."""
        padding = self.spec.padding
        return self._role("pad") if padding is None else padding.pad_id  # type: ignore[attr-defined]  # limits.Padding, kept unimported

    @property
    def unk_id(self) -> int | None:
        """Id of the token for what has no token: the model's, or as the files say."""
        found = getattr(self.flow.model, "unk_id", None) if self.flow is not None else None
        return self._role("unk") if found is None else found
