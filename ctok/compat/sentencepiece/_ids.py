"""Ids as callers give them."""

from __future__ import annotations

from operator import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["ids_of", "is_sequence"]

MOST = 2**31 - 1
WRONG = "Input must be an integer buffer, list of integers, or a sequence of integers."


def is_sequence(value: Any) -> bool:
    """Whether the reference takes it for several things."""
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))


def ids_of(given: Any) -> list[int]:
    """Return ids given as a sequence of int or as a buffer of integers.

    Raises
    ------
    TypeError
        It is neither, or not of one dimension, or an id has more than 32 bits.
    """
    if not isinstance(given, (list, tuple, bytes, bytearray)):
        try:
            view = memoryview(given)
        except TypeError:
            pass
        else:
            return _ids_in(view)
    if isinstance(given, (str, bytes)) or not hasattr(given, "__getitem__") or not is_sequence(given):
        raise TypeError(WRONG)
    try:
        ids = list(map(index, given))
    except TypeError:
        raise TypeError(WRONG) from None
    if ids and not (-MOST - 1 <= min(ids) and max(ids) <= MOST):
        raise TypeError(WRONG)
    return ids


def _ids_in(view: memoryview) -> list[int]:
    if view.format[-1] not in "bhilqnBHILQN":
        raise TypeError("Buffer must be of integer type")
    if view.ndim != 1:
        raise TypeError("Buffer must be 1-dimensional")
    return [min(max(number, -MOST - 1), MOST) for number in view.tolist()]
