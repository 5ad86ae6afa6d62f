"""Normalizers: what is done to the text before it is cut."""

from __future__ import annotations

from functools import lru_cache

from ...errors import SpecError
from ...stages.normalizers import build_normalizer
from ._checks import flag, instance, list_of, or_none, sequence, text
from ._component import Component, Steps, field
from ._tokens import Regex, pattern_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Sequence as Ints
    from typing import Any

    from ...spec import Record

__all__ = [
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "NORMALIZERS",
    "BertNormalizer",
    "ByteLevel",
    "Lowercase",
    "Nmt",
    "Normalizer",
    "Precompiled",
    "Prepend",
    "Replace",
    "Sequence",
    "Strip",
    "StripAccents",
    "unicode_normalizer_from_str",
]


@lru_cache(maxsize=32)
def _runner(record: Record) -> Callable[[str], str]:
    built = build_normalizer(record)
    return str if built is None else built.normalize


class Normalizer(Component):
    """Base of the normalizers; cannot be made."""

    __slots__ = ()
    stage = "normalizer"

    def normalize_str(self, sequence: str) -> str:
        """Return the normalised text."""
        return _runner(self._cell.record)(text(sequence))


class NFC(Normalizer):
    """Unicode normalisation form C."""

    __slots__ = ()

    def __init__(self) -> None:
        self._make()


class NFD(Normalizer):
    """Unicode normalisation form D."""

    __slots__ = ()

    def __init__(self) -> None:
        self._make()


class NFKC(Normalizer):
    """Unicode normalisation form KC."""

    __slots__ = ()

    def __init__(self) -> None:
        self._make()


class NFKD(Normalizer):
    """Unicode normalisation form KD."""

    __slots__ = ()

    def __init__(self) -> None:
        self._make()


class Lowercase(Normalizer):
    """Lower case, character by character."""

    __slots__ = ()

    def __init__(self) -> None:
        self._make()


class StripAccents(Normalizer):
    """Drops combining marks; of use behind a decomposition."""

    __slots__ = ()

    def __init__(self) -> None:
        self._make()


class Nmt(Normalizer):
    """The cleaning of control characters and blanks of machine translation models."""

    __slots__ = ()

    def __init__(self) -> None:
        self._make()


class ByteLevel(Normalizer):
    """Each byte of the text's UTF-8 becomes one visible character."""

    __slots__ = ()

    def __init__(self) -> None:
        self._make()


class Strip(Normalizer):
    """Drops white space at the ends of the text."""

    __slots__ = ()

    def __init__(self, left: bool = True, right: bool = True) -> None:
        self._make(left=flag(left), right=flag(right))

    left = field("left", flag)
    right = field("right", flag)


class BertNormalizer(Normalizer):
    """What BERT does to a text: cleaning, blanks around Chinese characters, no accents (None: as `lowercase`), lower case."""

    __slots__ = ()

    def __init__(
        self, clean_text: bool = True, handle_chinese_chars: bool = True, strip_accents: bool | None = None, lowercase: bool = True
    ) -> None:
        self._make(
            clean_text=flag(clean_text),
            handle_chinese_chars=flag(handle_chinese_chars),
            strip_accents=or_none(flag)(strip_accents),
            lowercase=flag(lowercase),
        )

    clean_text = field("clean_text", flag)
    handle_chinese_chars = field("handle_chinese_chars", flag)
    strip_accents = field("strip_accents", or_none(flag))
    lowercase = field("lowercase", flag)


class Prepend(Normalizer):
    """Puts a text before every text that is not empty."""

    __slots__ = ()

    def __init__(self, prepend: str = "\u2581") -> None:
        self._make(prepend=text(prepend))

    prepend = field("prepend", text)


class Replace(Normalizer):
    """Puts `content` where `pattern` matches."""

    __slots__ = ()

    def __init__(self, pattern: str | Regex, content: str) -> None:
        self._make(pattern=pattern_of(pattern), content=text(content))

    content = field("content", text)

    @property
    def pattern(self) -> None:
        """Cannot be read, as in the reference: an `Exception`."""
        raise SpecError("Cannot get pattern")

    @pattern.setter
    def pattern(self, _pattern: str | Regex) -> None:
        raise SpecError("Cannot set pattern, please instantiate a new replace pattern instead")


class Precompiled(Normalizer):
    """The replacement table of a SentencePiece model."""

    __slots__ = ()

    def __init__(self, precompiled_charsmap: Ints[int]) -> None:
        self._make(charsmap=bytes(sequence(precompiled_charsmap)))
        try:
            build_normalizer(self._cell.record)
        except SpecError as error:
            reason = f"Cannot parse precompiled_charsmap ({error})"
            raise SpecError(f"Error while attempting to build Precompiled normalizer: {reason}") from None


class Sequence(Steps, Normalizer):
    """Several normalizers, one after the other."""

    __slots__ = ()

    def __init__(self, normalizers: list[Normalizer]) -> None:
        self._set_steps(list_of(normalizers, Normalizer))

    def __len__(self) -> int:
        return len(self._cell.steps)

    def __getitem__(self, index: int) -> Any:
        return Normalizer.of(self._cell.steps[self._at(index)])

    def __setitem__(self, index: int, value: Normalizer) -> None:
        self._cell.put_step(self._at(index), instance(value, Normalizer)._cell)


NORMALIZERS = {"nfc": NFC, "nfd": NFD, "nfkc": NFKC, "nfkd": NFKD}


def unicode_normalizer_from_str(normalizer: str) -> Normalizer:
    """Return the normalizer of a name in `NORMALIZERS`; `ValueError` for any other."""
    if normalizer not in NORMALIZERS:
        raise ValueError(f"{normalizer} is not a known unicode normalizer. Available are {NORMALIZERS.keys()}")
    return NORMALIZERS[normalizer]()
