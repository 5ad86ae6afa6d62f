"""The exceptions of ctok, one tree with `CtokError` at its root.

Each class is also the built-in exception that a caller would expect (`ValueError`, `LookupError`), and each message names the place
and, where there is one, the cure. What a program may want to act on is an attribute, never only text. All pickle with their attributes.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "CorpusError",
    "CtokError",
    "DecodeError",
    "DisallowedSpecialTokenError",
    "EncodeError",
    "MemoryLimitError",
    "PatternError",
    "SpecError",
    "StateError",
    "TrainingError",
    "UnknownIdError",
    "UnknownSpecialTokenError",
    "UnknownTokenError",
    "VocabularyFileError",
    "VocabularyNotFoundError",
]


class CtokError(Exception):
    """Root of everything ctok raises on purpose."""


class EncodeError(CtokError, ValueError):
    """The text cannot be encoded: a lone surrogate, invalid UTF-8, or a byte for which the vocabulary has no token.

    Attributes
    ----------
    position
        Where the offending piece starts, counted from the start of the text or, in a stream, from the start of the stream; None if unknown.
    unit
        What `position` counts: ``"char"`` (code points of a str) or ``"byte"``.
    """

    def __init__(self, message: str, *, position: int | None = None, unit: str = "char") -> None:
        super().__init__(message)
        self.position = position
        self.unit = unit


class DecodeError(CtokError, ValueError):
    """The ids do not decode to UTF-8 and the caller asked for ``errors="strict"``.

    Attributes
    ----------
    position
        First byte that is not valid, counted in bytes from the start of what the ids decode to; None if unknown.
    index
        Place, in the ids given, of the id that holds this byte; None if unknown.
    """

    def __init__(self, message: str, *, position: int | None = None, index: int | None = None) -> None:
        super().__init__(message)
        self.position = position
        self.index = index


class UnknownIdError(CtokError, LookupError, ValueError):
    """An id that the vocabulary does not have: a gap, too large, or negative.

    Attributes
    ----------
    id
        The id as it was given.
    index
        Its place in the ids given; None when a single id was asked for.
    """

    def __init__(self, message: str, *, id: object = None, index: int | None = None) -> None:
        super().__init__(message)
        self.id = id
        self.index = index


class UnknownTokenError(CtokError, LookupError, ValueError):
    """A token that the vocabulary does not have.

    Attributes
    ----------
    token
        The text or bytes that were looked up.
    """

    def __init__(self, message: str, *, token: str | bytes | None = None) -> None:
        super().__init__(message)
        self.token = token


class UnknownSpecialTokenError(CtokError, ValueError):
    """`allowed_special` or `disallowed_special` names something that is not a special token of this tokenizer.

    Attributes
    ----------
    token
        The name that is not special here.
    """

    def __init__(self, message: str, *, token: str | bytes | None = None) -> None:
        super().__init__(message)
        self.token = token


class DisallowedSpecialTokenError(CtokError, ValueError):
    """The text holds a special token that the caller forbade.

    Attributes
    ----------
    token
        The special token's text.
    position
        Where it starts, from the start of the text or stream, in characters of a str or bytes of bytes; None if unknown.
    """

    def __init__(self, message: str, *, token: str | None = None, position: int | None = None) -> None:
        super().__init__(message)
        self.token = token
        self.position = position


class SpecError(CtokError, ValueError):
    """A `Spec` from which no tokenizer can be built."""


class PatternError(SpecError):
    """A split pattern that is malformed or that ctok cannot run.

    Attributes
    ----------
    pattern
        The pattern.
    position
        Character of the pattern at which the trouble starts; None if unknown.
    """

    def __init__(self, message: str, *, pattern: str | None = None, position: int | None = None) -> None:
        super().__init__(message)
        self.pattern = pattern
        self.position = position


class VocabularyFileError(CtokError, ValueError):
    """A vocabulary file that is malformed, damaged, or not what it should be. The file is left as it is.

    Parameters
    ----------
    reason
        What is wrong, one clause without a full stop.
    path
        The file's name, or None when the bytes did not come from a file.
    line
        Line number from 1, or None when the fault has no line.
    cure
        What to do about it, a sentence; or None.
    field, offset
        Of a file that is not text: the field at fault (``"pieces[17].score"``) and the byte where it begins; or None.

    Attributes
    ----------
    path, line, reason, cure, field, offset
        As given.
    """

    def __init__(
        self,
        reason: str,
        *,
        path: object = None,
        line: int | None = None,
        cure: str | None = None,
        field: str | None = None,
        offset: int | None = None,
    ) -> None:
        where = "" if path is None else f"{path}: "
        where += "" if line is None else f"line {line}: "
        where += "" if offset is None else f"byte {offset}: "
        where += "" if field is None else f"{field}: "
        super().__init__(f"{where}{reason}" if cure is None else f"{where}{reason}. {cure}")
        self.path = path
        self.line = line
        self.reason = reason
        self.cure = cure
        self.field = field
        self.offset = offset


class VocabularyNotFoundError(CtokError, LookupError):
    """No vocabulary of this name could be found.

    Attributes
    ----------
    name
        The name asked for.
    tried
        Tuple of str: every place that was looked at, in order, with what was found there.
    """

    def __init__(self, message: str, *, name: str | None = None, tried: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.name = name
        self.tried = tuple(tried)


class StateError(CtokError, ValueError):
    """`setstate` was given bytes of another version, another tokenizer, or no state at all. The codec is as it was before the call."""


class CorpusError(CtokError, ValueError):
    """A corpus that cannot be read as text: malformed UTF-8, a lone surrogate, a damaged file, a record without the field.

    Attributes
    ----------
    path
        The file, or None when the text did not come from one.
    position
        Byte of the (unpacked) file, or character of the text, at which the trouble starts; None if it has no such place.
    line
        Line of the file from 1, or None.
    index
        Which of the texts of an iterable it is, from 0; None for files.
    """

    def __init__(
        self, message: str, *, path: object = None, position: int | None = None, line: int | None = None, index: int | None = None
    ) -> None:
        super().__init__(message)
        self.path = path
        self.position = position
        self.line = line
        self.index = index


class TrainingError(CtokError, ValueError):
    """What was asked of a trainer cannot be had: no text, or a vocabulary of a size that this corpus cannot give.

    Attributes
    ----------
    smallest, largest
        The sizes of vocabulary that this corpus can give, where they are known; else None.
    """

    def __init__(self, message: str, *, smallest: int | None = None, largest: int | None = None) -> None:
        super().__init__(message)
        self.smallest = smallest
        self.largest = largest


class MemoryLimitError(CtokError, MemoryError):
    """Counting or training would take more memory than it may. Nothing was dropped silently; what was counted so far is given up.

    Attributes
    ----------
    limit
        The bytes that it may take.
    """

    def __init__(self, message: str, *, limit: int | None = None) -> None:
        super().__init__(message)
        self.limit = limit
