"""Numbers that callers give."""

from __future__ import annotations

from operator import index

__all__ = ["whole_number"]


def whole_number(number: object, argument: str, least: int | None = None, cure: str = "") -> int:
    """Return a number as an int.

    Raises
    ------
    TypeError
        It is none.
    ValueError
        It is below `least`.
    """
    try:
        found = index(number)  # type: ignore[arg-type]  # that is what is asked
    except TypeError:
        raise TypeError(f"{argument} must be an int, not {type(number).__name__}") from None
    if least is not None and found < least:
        raise ValueError(f"{argument} must be at least {least}, not {found}{cure}")
    return found
