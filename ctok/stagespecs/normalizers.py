"""Normalizers: what is done to the text before it is cut."""

from __future__ import annotations

from ..spec import Record
from . import _fields
from .patterns import Regex, String

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "BertNormalizer",
    "ByteLevel",
    "Lowercase",
    "Nmt",
    "Precompiled",
    "Prepend",
    "Regex",
    "Replace",
    "Sequence",
    "String",
    "Strip",
    "StripAccents",
]


class NFC(Record):
    """Unicode normalisation form C."""

    __slots__ = ()


class NFD(Record):
    """Unicode normalisation form D."""

    __slots__ = ()


class NFKC(Record):
    """Unicode normalisation form KC."""

    __slots__ = ()


class NFKD(Record):
    """Unicode normalisation form KD."""

    __slots__ = ()


class Lowercase(Record):
    """Lower case, character by character."""

    __slots__ = ()


class StripAccents(Record):
    """Drops the combining marks; of use behind a decomposition."""

    __slots__ = ()


class Nmt(Record):
    """The cleaning of control characters and blanks that machine translation models used."""

    __slots__ = ()


class ByteLevel(Record):
    """Each byte of the text's UTF-8 becomes one visible character."""

    __slots__ = ()


class Strip(Record):
    """Drops white space at the ends of the text."""

    __slots__ = ("left", "right")
    left: bool
    right: bool

    def __init__(self, left: bool = True, right: bool = True) -> None:
        self._set(left=_fields.flag(self, "left", left), right=_fields.flag(self, "right", right))


class Replace(Record):
    """Puts `content` where `pattern` matches. `content` is taken as it is: it names no groups."""

    __slots__ = ("pattern", "content")  # noqa: RUF023 - the order of the constructor
    pattern: String | Regex
    content: str

    def __init__(self, pattern: String | Regex | str, content: str) -> None:
        self._set(pattern=_fields.pattern(self, pattern), content=_fields.text(self, "content", content))


class Prepend(Record):
    """Puts a text before every text that is not empty."""

    __slots__ = ("prepend",)
    prepend: str

    def __init__(self, prepend: str = "\u2581") -> None:
        self._set(prepend=_fields.text(self, "prepend", prepend))


class BertNormalizer(Record):
    """What BERT does to a text: cleaning, blanks around Chinese characters, no accents, lower case.

    `strip_accents` None means: as `lowercase`.
    """

    __slots__ = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")  # noqa: RUF023
    clean_text: bool
    handle_chinese_chars: bool
    strip_accents: bool | None
    lowercase: bool

    def __init__(
        self, clean_text: bool = True, handle_chinese_chars: bool = True, strip_accents: bool | None = None, lowercase: bool = True
    ) -> None:
        self._set(
            clean_text=_fields.flag(self, "clean_text", clean_text),
            handle_chinese_chars=_fields.flag(self, "handle_chinese_chars", handle_chinese_chars),
            strip_accents=None if strip_accents is None else _fields.flag(self, "strip_accents", strip_accents),
            lowercase=_fields.flag(self, "lowercase", lowercase),
        )


class Precompiled(Record):
    """The replacement table of a SentencePiece model, as its bytes."""

    __slots__ = ("charsmap",)
    charsmap: bytes

    def __init__(self, charsmap: bytes) -> None:
        if not isinstance(charsmap, bytes):
            raise TypeError(f"charsmap of Precompiled must be bytes, got {type(charsmap).__name__}")
        self._set(charsmap=bytes(charsmap))

    def __repr__(self) -> str:
        return f"<Precompiled: {len(self.charsmap)} bytes>"


class Sequence(Record):
    """Several normalizers, one after the other."""

    __slots__ = ("steps",)
    steps: tuple[Record, ...]

    def __init__(self, steps: Iterable[Record]) -> None:
        self._set(steps=_fields.records(self, "steps", steps))
