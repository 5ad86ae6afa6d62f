"""Decoders: from the tokens' texts to the text."""

from __future__ import annotations

from ..spec import Record
from . import _fields
from .patterns import Regex, String

# These two are one record, whichever stage they stand in.
from .pretokenizers import ByteLevel, Metaspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "CTC",
    "BPEDecoder",
    "ByteFallback",
    "ByteLevel",
    "Fuse",
    "Metaspace",
    "Regex",
    "Replace",
    "Sequence",
    "String",
    "Strip",
    "WordPiece",
]


class ByteFallback(Record):
    """Tokens ``<0x00>`` to ``<0xFF>`` become bytes, and what they spell becomes text."""

    __slots__ = ()


class Fuse(Record):
    """Joins all tokens into one."""

    __slots__ = ()


class Replace(Record):
    """Puts `content` where `pattern` matches in a token."""

    __slots__ = ("pattern", "content")  # noqa: RUF023 - the order of the constructor
    pattern: String | Regex
    content: str

    def __init__(self, pattern: String | Regex | str, content: str) -> None:
        self._set(pattern=_fields.pattern(self, pattern), content=_fields.text(self, "content", content))


class Strip(Record):
    """Drops up to `left` times the character `content` at the start of each token, and up to `right` times at its end."""

    __slots__ = ("content", "left", "right")
    content: str
    left: int
    right: int

    def __init__(self, content: str = " ", left: int = 0, right: int = 0) -> None:
        self._set(
            content=_fields.character(self, "content", content),
            left=_fields.number(self, "left", left),
            right=_fields.number(self, "right", right),
        )


class WordPiece(Record):
    """Drops `prefix` from tokens that continue a word, puts blanks before the others, and with `cleanup` tidies blanks at punctuation."""

    __slots__ = ("prefix", "cleanup")  # noqa: RUF023
    prefix: str
    cleanup: bool

    def __init__(self, prefix: str = "##", cleanup: bool = True) -> None:
        self._set(prefix=_fields.text(self, "prefix", prefix), cleanup=_fields.flag(self, "cleanup", cleanup))


class BPEDecoder(Record):
    """The end-of-word `suffix` becomes a blank, and nothing in the last token."""

    __slots__ = ("suffix",)
    suffix: str

    def __init__(self, suffix: str = "</w>") -> None:
        self._set(suffix=_fields.text(self, "suffix", suffix))


class CTC(Record):
    """Joins repeated tokens, drops `pad_token`, and (if `cleanup`) tidies and turns `word_delimiter_token` into a blank."""

    __slots__ = ("pad_token", "word_delimiter_token", "cleanup")  # noqa: RUF023
    pad_token: str
    word_delimiter_token: str
    cleanup: bool

    def __init__(self, pad_token: str = "<pad>", word_delimiter_token: str = "|", cleanup: bool = True) -> None:
        self._set(
            pad_token=_fields.text(self, "pad_token", pad_token),
            word_delimiter_token=_fields.text(self, "word_delimiter_token", word_delimiter_token),
            cleanup=_fields.flag(self, "cleanup", cleanup),
        )


class Sequence(Record):
    """Several decoders, one after the other."""

    __slots__ = ("steps",)
    steps: tuple[Record, ...]

    def __init__(self, steps: Iterable[Record]) -> None:
        self._set(steps=_fields.records(self, "steps", steps))
