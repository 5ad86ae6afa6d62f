"""Truncation and padding as a file sets them. A `Spec` keeps them; `encode` and `count` do not apply them."""

from __future__ import annotations

from ..spec import Record
from . import _fields

__all__ = ["Padding", "Truncation"]

SIDES = ("left", "right")


class Truncation(Record):
    """How long texts are cut.

    Parameters
    ----------
    max_length
        Ids that may remain, special tokens included.
    strategy
        Of a pair: ``"longest_first"``, ``"only_first"`` or ``"only_second"``.
    stride
        Ids that each overflowing piece repeats of the one before.
    direction
        The side at which is cut.
    """

    __slots__ = ("max_length", "strategy", "stride", "direction")  # noqa: RUF023 - the order of the constructor
    max_length: int
    strategy: str
    stride: int
    direction: str

    def __init__(self, max_length: int, strategy: str = "longest_first", stride: int = 0, direction: str = "right") -> None:
        self._set(
            max_length=_fields.number(self, "max_length", max_length),
            strategy=_fields.one_of(self, "strategy", strategy, ("longest_first", "only_first", "only_second")),
            stride=_fields.number(self, "stride", stride),
            direction=_fields.one_of(self, "direction", direction, SIDES),
        )


class Padding(Record):
    """How short texts are filled up.

    Parameters
    ----------
    length
        Ids that each text gets; None: as many as the longest of a batch.
    direction
        The side at which is filled.
    pad_to_multiple_of
        The length is rounded up to a multiple of this, or None.
    pad_id, pad_type_id, pad_token
        What is put in.
    """

    __slots__ = ("length", "direction", "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token")  # noqa: RUF023
    length: int | None
    direction: str
    pad_to_multiple_of: int | None
    pad_id: int
    pad_type_id: int
    pad_token: str

    def __init__(
        self,
        length: int | None = None,
        direction: str = "right",
        pad_to_multiple_of: int | None = None,
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
    ) -> None:
        self._set(
            length=None if length is None else _fields.number(self, "length", length),
            direction=_fields.one_of(self, "direction", direction, SIDES),
            pad_to_multiple_of=None if pad_to_multiple_of is None else _fields.number(self, "pad_to_multiple_of", pad_to_multiple_of),
            pad_id=_fields.number(self, "pad_id", pad_id, most=2**32 - 1),
            pad_type_id=_fields.number(self, "pad_type_id", pad_type_id, most=2**32 - 1),
            pad_token=_fields.text(self, "pad_token", pad_token),
        )
