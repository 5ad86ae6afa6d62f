"""Pre-tokenizers: how the text is cut before the model sees it."""

from __future__ import annotations

from ..spec import Record
from . import _fields
from .patterns import Regex, String
from .sequences import flat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "BEHAVIORS",
    "PREPEND_SCHEMES",
    "BertPreTokenizer",
    "ByteLevel",
    "CharDelimiterSplit",
    "Digits",
    "FixedLength",
    "Metaspace",
    "Punctuation",
    "Regex",
    "Sequence",
    "Split",
    "String",
    "UnicodeScripts",
    "Whitespace",
    "WhitespaceSplit",
    "is_byte_level",
]

BEHAVIORS = ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")
PREPEND_SCHEMES = ("always", "never", "first")


class ByteLevel(Record):
    """Cuts as GPT-2 does (if `use_regex`); then each byte becomes one visible character.

    `add_prefix_space`: a blank is put before a text that does not start with white space. `trim_offsets` matters to spans only.
    """

    __slots__ = ("add_prefix_space", "trim_offsets", "use_regex")
    add_prefix_space: bool
    trim_offsets: bool
    use_regex: bool

    def __init__(self, add_prefix_space: bool = True, trim_offsets: bool = True, use_regex: bool = True) -> None:
        self._set(
            add_prefix_space=_fields.flag(self, "add_prefix_space", add_prefix_space),
            trim_offsets=_fields.flag(self, "trim_offsets", trim_offsets),
            use_regex=_fields.flag(self, "use_regex", use_regex),
        )


class Whitespace(Record):
    r"""Keeps the matches of ``\w+|[^\w\s]+``."""

    __slots__ = ()


class WhitespaceSplit(Record):
    """Cuts at white space and drops it."""

    __slots__ = ()


class BertPreTokenizer(Record):
    """Cuts at white space, which is dropped, and at punctuation, which stands alone."""

    __slots__ = ()


class UnicodeScripts(Record):
    """Cuts where the script changes."""

    __slots__ = ()


class Metaspace(Record):
    """Blanks become `replacement`; one is put in front as `prepend_scheme` says; then (if `split`) the text is cut before each.

    `prepend_scheme`: ``"always"``, ``"never"`` or ``"first"`` (only at the very start of the text).
    """

    __slots__ = ("replacement", "prepend_scheme", "split")  # noqa: RUF023 - the order of the constructor
    replacement: str
    prepend_scheme: str
    split: bool

    def __init__(self, replacement: str = "\u2581", prepend_scheme: str = "always", split: bool = True) -> None:
        self._set(
            replacement=_fields.character(self, "replacement", replacement),
            prepend_scheme=_fields.one_of(self, "prepend_scheme", prepend_scheme, PREPEND_SCHEMES),
            split=_fields.flag(self, "split", split),
        )


class CharDelimiterSplit(Record):
    """Cuts at a character and drops it."""

    __slots__ = ("delimiter",)
    delimiter: str

    def __init__(self, delimiter: str) -> None:
        self._set(delimiter=_fields.character(self, "delimiter", delimiter))


class Punctuation(Record):
    """Cuts at punctuation; `behavior` as in `Split`."""

    __slots__ = ("behavior",)
    behavior: str

    def __init__(self, behavior: str = "isolated") -> None:
        self._set(behavior=_fields.one_of(self, "behavior", behavior, BEHAVIORS))


class Digits(Record):
    """Cuts between digits and other characters, and if `individual_digits` between digits as well."""

    __slots__ = ("individual_digits",)
    individual_digits: bool

    def __init__(self, individual_digits: bool = False) -> None:
        self._set(individual_digits=_fields.flag(self, "individual_digits", individual_digits))


class Split(Record):
    """Cuts around the matches of a pattern (`ctok.Split`, of rank files, keeps the matches alone).

    Parameters
    ----------
    pattern
        A `String` or `Regex`; a str is a `String`.
    behavior
        What becomes of a match: ``"removed"``, ``"isolated"``, ``"merged_with_previous"``, ``"merged_with_next"``, or ``"contiguous"``
        (isolated, neighbours joined).
    invert
        Take what does not match for the matches.
    """

    __slots__ = ("pattern", "behavior", "invert")  # noqa: RUF023
    pattern: String | Regex
    behavior: str
    invert: bool

    def __init__(self, pattern: String | Regex | str, behavior: str, invert: bool = False) -> None:
        self._set(
            pattern=_fields.pattern(self, pattern),
            behavior=_fields.one_of(self, "behavior", behavior, BEHAVIORS),
            invert=_fields.flag(self, "invert", invert),
        )


class FixedLength(Record):
    """Cuts after every `length` characters."""

    __slots__ = ("length",)
    length: int

    def __init__(self, length: int = 5) -> None:
        self._set(length=_fields.number(self, "length", length))


class Sequence(Record):
    """Several pre-tokenizers; each cuts the pieces of the one before."""

    __slots__ = ("steps",)
    steps: tuple[Record, ...]

    def __init__(self, steps: Iterable[Record]) -> None:
        self._set(steps=_fields.records(self, "steps", steps))


def is_byte_level(record: Record) -> bool:
    """Whether a model is to take bytes where its file has them spelled: the last pre-tokenizer only would spell them."""
    return any(isinstance(step, ByteLevel) for step in flat(record, Sequence)[-1:])
