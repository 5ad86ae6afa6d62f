"""Pre-tokenizers: how the text is cut before the model sees it."""

from __future__ import annotations

from functools import lru_cache

from ...errors import SpecError
from ...stages.cutters import build_cutter, flat
from ...stagespecs import pretokenizers as records
from ...stagespecs.spelling import spell
from ._checks import behavior as behavior_
from ._checks import character, flag, instance, list_of, number, text
from ._checks import prepend_scheme as prepend_scheme_
from ._component import Component, Steps, field
from ._tokens import Regex, pattern_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..._native.cut import Cutter
    from ...spec import Record

__all__ = [
    "BertPreTokenizer",
    "ByteLevel",
    "CharDelimiterSplit",
    "Digits",
    "FixedLength",
    "Metaspace",
    "PreTokenizer",
    "Punctuation",
    "Sequence",
    "Split",
    "UnicodeScripts",
    "Whitespace",
    "WhitespaceSplit",
]


@lru_cache(maxsize=32)
def _runner(record: Record) -> tuple[Cutter, bool]:
    """What cuts, and whether the pieces are then spelled in the byte-level alphabet."""
    return build_cutter(record), any(isinstance(step, records.ByteLevel) for step in flat(record)[-1:])


def _joined(behavior: str) -> str:
    return behavior.replace("_", "")  # what the reference gives back


class PreTokenizer(Component):
    """Base of the pre-tokenizers; cannot be made."""

    __slots__ = ()
    stage = "pre_tokenizer"

    def pre_tokenize_str(self, sequence: str) -> list[tuple[str, tuple[int, int]]]:
        """Return the pretokens of a text, each with its place in characters."""
        cutter, spelled = _runner(self._cell.record)
        pieces = cutter.pieces(text(sequence))
        return [(spell(piece.encode()), place) for piece, place in pieces] if spelled else pieces


class ByteLevel(PreTokenizer):
    """Cuts as GPT-2 does (if `use_regex`); then each byte becomes one visible character."""

    __slots__ = ()

    def __init__(self, add_prefix_space: bool = True, trim_offsets: bool = True, use_regex: bool = True, **_kwargs: Any) -> None:
        self._make(add_prefix_space=flag(add_prefix_space), trim_offsets=flag(trim_offsets), use_regex=flag(use_regex))

    add_prefix_space = field("add_prefix_space", flag)
    trim_offsets = field("trim_offsets", flag)
    use_regex = field("use_regex", flag)

    @staticmethod
    def alphabet() -> list[str]:
        """Return the characters that stand for bytes, in the order of the bytes."""
        return list(spell(bytes(range(256))))


class Whitespace(PreTokenizer):
    r"""Keeps the matches of ``\w+|[^\w\s]+``."""

    __slots__ = ()

    def __init__(self) -> None:
        self._make()


class WhitespaceSplit(PreTokenizer):
    """Cuts at white space and drops it."""

    __slots__ = ()

    def __init__(self) -> None:
        self._make()


class BertPreTokenizer(PreTokenizer):
    """Cuts at white space, which is dropped, and at punctuation, which stands alone."""

    __slots__ = ()

    def __init__(self) -> None:
        self._make()


class UnicodeScripts(PreTokenizer):
    """Cuts where the script changes."""

    __slots__ = ()

    def __init__(self) -> None:
        self._make()


class Metaspace(PreTokenizer):
    """Blanks become `replacement`; one is put in front as `prepend_scheme` says; then (if `split`) the text is cut before each."""

    __slots__ = ()

    def __init__(self, replacement: str = "\u2581", prepend_scheme: str = "always", split: bool = True) -> None:
        self._make(replacement=character(replacement), prepend_scheme=prepend_scheme_(prepend_scheme), split=flag(split))

    replacement = field("replacement", character)
    prepend_scheme = field("prepend_scheme", prepend_scheme_)
    split = field("split", flag)


class CharDelimiterSplit(PreTokenizer):
    """Cuts at a character and drops it."""

    __slots__ = ()

    def __init__(self, delimiter: str) -> None:
        self._make(delimiter=character(delimiter))

    delimiter = field("delimiter", character)


class Punctuation(PreTokenizer):
    """Cuts at punctuation; `behavior` as in `Split`."""

    __slots__ = ()

    def __init__(self, behavior: str = "isolated") -> None:
        self._make(behavior=behavior_(behavior))

    behavior = field("behavior", behavior_, _joined)


class Digits(PreTokenizer):
    """Cuts between digits and other characters, and if `individual_digits` between digits as well."""

    __slots__ = ()

    def __init__(self, individual_digits: bool = False) -> None:
        self._make(individual_digits=flag(individual_digits))

    individual_digits = field("individual_digits", flag)


class FixedLength(PreTokenizer):
    """Cuts after every `length` characters."""

    __slots__ = ()

    def __init__(self, length: int = 5) -> None:
        self._make(length=number(length))

    length = field("length", number)


class Split(PreTokenizer):
    """Cuts around the matches of a pattern, of which becomes what `behavior` says; with `invert` what does not match is taken for them."""

    __slots__ = ()

    def __init__(self, pattern: str | Regex, behavior: str, invert: bool = False) -> None:
        self._make(pattern=pattern_of(pattern), behavior=behavior_(behavior), invert=flag(invert))

    behavior = field("behavior", behavior_, _joined)
    invert = field("invert", flag)

    @property
    def pattern(self) -> None:
        """Cannot be read, as in the reference: an `Exception`."""
        raise SpecError("Cannot get pattern")

    @pattern.setter
    def pattern(self, _pattern: str | Regex) -> None:
        raise SpecError("Cannot set pattern, please instantiate a new split pattern instead")


class Sequence(Steps, PreTokenizer):
    """Several pre-tokenizers; each cuts the pieces of the one before."""

    __slots__ = ()

    def __init__(self, pretokenizers: list[PreTokenizer]) -> None:
        self._set_steps(list_of(pretokenizers, PreTokenizer))

    def __getitem__(self, index: int) -> Any:
        return PreTokenizer.of(self._cell.steps[self._at(index)])

    def __setitem__(self, index: int, value: PreTokenizer) -> None:
        self._cell.put_step(self._at(index), instance(value, PreTokenizer)._cell)
