"""`AddedToken`, `Regex` and `Token`."""

from __future__ import annotations

from ...stagespecs.patterns import Regex as RegexRecord
from ...stagespecs.patterns import String
from ._checks import flag, instance, one_id, text, warn_ignored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...spec import Record

__all__ = ["AddedToken", "Regex", "Token", "pattern_of"]

_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


class AddedToken:
    """A token that is matched in the text before the model sees it.

    Parameters
    ----------
    content
        Its text.
    single_word
        It matches only where no word character stands beside it.
    lstrip, rstrip
        It takes the white space before it, or behind it, along.
    normalized
        It is looked for in the normalised text. Not given: if it is not special.
    special
        It is left out by ``decode(..., skip_special_tokens=True)``.

    Notes
    -----
    `content` and `special` can be assigned; a tokenizer keeps what was so when the token was added.
    """

    __slots__ = ("_normalized", "content", "lstrip_", "rstrip_", "single_word_", "special")
    content: str
    special: bool

    def __init__(
        self,
        content: str | None = None,
        *,
        single_word: bool = False,
        lstrip: bool = False,
        rstrip: bool = False,
        normalized: Any = ...,  # a bool; the default depends on `special`
        special: bool = False,
        **kwargs: Any,
    ) -> None:
        warn_ignored(kwargs)
        self.content = "" if content is None else text(content)
        self.single_word_ = flag(single_word)
        self.lstrip_ = flag(lstrip)
        self.rstrip_ = flag(rstrip)
        self._normalized = None if normalized is ... else flag(normalized)
        self.special = flag(special)

    @property
    def single_word(self) -> bool:
        """Whether it matches only where no word character stands beside it."""
        return self.single_word_

    @property
    def lstrip(self) -> bool:
        """Whether it takes the white space before it along."""
        return self.lstrip_

    @property
    def rstrip(self) -> bool:
        """Whether it takes the white space behind it along."""
        return self.rstrip_

    @property
    def normalized(self) -> bool:
        """Whether it is looked for in the normalised text."""
        return not self.special if self._normalized is None else self._normalized

    def _key(self) -> tuple[Any, ...]:
        return (self.content, *(getattr(self, name) for name in _FLAGS))

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, AddedToken) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.content)

    def __str__(self) -> str:
        return self.content

    def __repr__(self) -> str:
        flags = ", ".join(f"{name}={getattr(self, name)}" for name in ("rstrip", "lstrip", "single_word", "normalized", "special"))
        return f'AddedToken("{self.content}", {flags})'

    def __getstate__(self) -> dict[str, Any]:
        return {"content": self.content, **{name: getattr(self, name) for name in _FLAGS}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        AddedToken.__init__(self, **state)

    def __reduce__(self) -> tuple[Any, ...]:
        return AddedToken, (), self.__getstate__()


class Regex:
    """A regular expression, in the syntax of Oniguruma.

    Raises
    ------
    PatternError
        It is malformed, or uses what ctok does not support.
    """

    __slots__ = ("_record",)

    def __init__(self, pattern: str) -> None:
        from ...stages._pattern.oniguruma import translate

        translate(text(pattern))
        self._record = RegexRecord(pattern)

    def __repr__(self) -> str:
        return f"Regex({self._record.text!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Regex, (self._record.text,)


def pattern_of(value: object) -> Record:
    """Return the record of a pattern; a str is looked for as it is."""
    if isinstance(value, Regex):
        return value._record
    if not isinstance(value, str):
        raise TypeError(f"a pattern must be 'str | Regex', not {type(value).__name__}")
    return String(value)


class Token:
    """What a model makes of a part of a pretoken: id, token and place, in bytes of its UTF-8."""

    __slots__ = ("_fields",)

    def __init__(self, id: int, value: str, offsets: tuple[int, int]) -> None:
        start, stop = instance(offsets, tuple)
        self._fields = (one_id(id), text(value), (start, stop))

    @property
    def id(self) -> int:
        """The id."""
        return self._fields[0]

    @property
    def value(self) -> str:
        """The token."""
        return self._fields[1]

    @property
    def offsets(self) -> tuple[int, int]:
        """Where it starts and ends."""
        return self._fields[2]

    def as_tuple(self) -> tuple[int, str, tuple[int, int]]:
        """Return ``(id, value, offsets)``."""
        return self._fields

    def __repr__(self) -> str:
        return f"Token{self._fields!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        return Token, self._fields
