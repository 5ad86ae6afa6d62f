"""Post-processors: what is put around the ids of a text."""

from __future__ import annotations

from ..spec import Record
from . import _fields
from .pretokenizers import ByteLevel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "BertProcessing",
    "ByteLevel",
    "RobertaProcessing",
    "Sequence",
    "SequencePiece",
    "SpecialPiece",
    "TemplateProcessing",
    "TemplateToken",
]


class SequencePiece(Record):
    """In a template: the text ``"A"`` or the second text ``"B"``, with the type id that its ids get."""

    __slots__ = ("id", "type_id")
    id: str
    type_id: int

    def __init__(self, id: str, type_id: int = 0) -> None:
        self._set(id=_fields.one_of(self, "id", id, ("A", "B")), type_id=_fields.number(self, "type_id", type_id, most=2**32 - 1))


class SpecialPiece(Record):
    """In a template: the special token that `TemplateProcessing.special_tokens` lists under this name."""

    __slots__ = ("id", "type_id")
    id: str
    type_id: int

    def __init__(self, id: str, type_id: int = 0) -> None:
        self._set(id=_fields.text(self, "id", id), type_id=_fields.number(self, "type_id", type_id, most=2**32 - 1))


class TemplateToken(Record):
    """What a name in a template stands for: one or more ids, and their tokens."""

    __slots__ = ("id", "ids", "tokens")
    id: str
    ids: tuple[int, ...]
    tokens: tuple[str, ...]

    def __init__(self, id: str, ids: Iterable[int], tokens: Iterable[str]) -> None:
        numbers = tuple(_fields.number(self, "ids", number, most=2**32 - 1) for number in ids)
        texts = tuple(_fields.text(self, "tokens", token) for token in tokens)
        if len(numbers) != len(texts):
            raise ValueError(f"the token {id!r} of a template has {len(numbers)} ids but {len(texts)} tokens")
        self._set(id=_fields.text(self, "id", id), ids=numbers, tokens=texts)


class TemplateProcessing(Record):
    """Puts special tokens around a text, and around two.

    Parameters
    ----------
    single, pair
        Pieces, `SequencePiece` or `SpecialPiece`. Any iterables; kept as tuples.
    special_tokens
        `TemplateToken` objects, one for each name that occurs as a `SpecialPiece`.
    """

    __slots__ = ("single", "pair", "special_tokens")  # noqa: RUF023 - the order of the constructor
    single: tuple[SequencePiece | SpecialPiece, ...]
    pair: tuple[SequencePiece | SpecialPiece, ...]
    special_tokens: tuple[TemplateToken, ...]

    def __init__(
        self,
        single: Iterable[SequencePiece | SpecialPiece],
        pair: Iterable[SequencePiece | SpecialPiece],
        special_tokens: Iterable[TemplateToken] = (),
    ) -> None:
        self._set(
            single=_fields.records(self, "single", single),
            pair=_fields.records(self, "pair", pair),
            special_tokens=_fields.records(self, "special_tokens", special_tokens),
        )


def _token(owner: Record, field: str, value: tuple[str, int]) -> tuple[str, int]:
    content, number = value
    return _fields.text(owner, field, content), _fields.number(owner, field, number, most=2**32 - 1)


class BertProcessing(Record):
    """``[CLS] A [SEP]`` and ``[CLS] A [SEP] B [SEP]``, the second part of a pair with type id 1. `sep` and `cls` are (text, id)."""

    __slots__ = ("sep", "cls")  # noqa: RUF023
    sep: tuple[str, int]
    cls: tuple[str, int]

    def __init__(self, sep: tuple[str, int], cls: tuple[str, int]) -> None:
        self._set(sep=_token(self, "sep", sep), cls=_token(self, "cls", cls))


class RobertaProcessing(Record):
    """``<s> A </s>`` and ``<s> A </s> </s> B </s>``, all with type id 0. `sep` and `cls` are (text, id).

    `trim_offsets` and `add_prefix_space` matter to spans only.
    """

    __slots__ = ("sep", "cls", "trim_offsets", "add_prefix_space")  # noqa: RUF023
    sep: tuple[str, int]
    cls: tuple[str, int]
    trim_offsets: bool
    add_prefix_space: bool

    def __init__(self, sep: tuple[str, int], cls: tuple[str, int], trim_offsets: bool = True, add_prefix_space: bool = True) -> None:
        self._set(
            sep=_token(self, "sep", sep),
            cls=_token(self, "cls", cls),
            trim_offsets=_fields.flag(self, "trim_offsets", trim_offsets),
            add_prefix_space=_fields.flag(self, "add_prefix_space", add_prefix_space),
        )


class Sequence(Record):
    """Several post-processors, one after the other."""

    __slots__ = ("steps",)
    steps: tuple[Record, ...]

    def __init__(self, steps: Iterable[Record]) -> None:
        self._set(steps=_fields.records(self, "steps", steps))
