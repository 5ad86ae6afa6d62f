"""Checks of arguments, with the reference's errors: each returns the value, or raises what that library raises."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["character", "choice", "flag", "id_list", "instance", "list_of", "number", "one_id", "sequence", "share", "text", "warn_ignored"]

_MOST = 2**32 - 1


def instance(value: object, kind: type, name: str | None = None) -> Any:
    """Return what is an instance of a class; `TypeError` otherwise."""
    if isinstance(value, kind):
        return value
    shown = "'None'" if value is None else f"{type(value).__name__!r} object"
    raise TypeError(f"{shown} is not an instance of {name or kind.__name__!r}")


def text(value: object) -> str:
    """Return a str; `UnicodeEncodeError` where it has a lone surrogate."""
    found = str(instance(value, str))
    if not found.isascii():
        found.encode()
    return found


def flag(value: object) -> bool:
    """Return a bool."""
    found: bool = instance(value, bool)
    return found


def share(value: object) -> float:
    """Return a float."""
    if not isinstance(value, (int, float)):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    return float(value)


def or_none(check: Callable[[object], Any]) -> Callable[[object], Any]:
    """Return the check that lets None pass, too."""
    return lambda value: None if value is None else check(value)


def character(value: object) -> str:
    """Return a str of one character."""
    found = text(value)
    if len(found) != 1:
        raise ValueError("expected a string of length 1")
    return found


def _index(value: object) -> int:
    try:
        return index(value)  # type: ignore[arg-type]  # that is what is asked
    except TypeError:
        raise TypeError(f"{type(value).__name__!r} object cannot be interpreted as an integer") from None


def number(value: object) -> int:
    """Return an int that is not negative."""
    found = _index(value)
    if found < 0:
        raise OverflowError("can't convert negative int to unsigned")
    return found


def one_id(value: object) -> int:
    """Return an int of 32 bits, which has no sign."""
    found = _index(value)
    if not -(2**63) <= found < 2**63:
        raise OverflowError("Python int too large to convert to C long")
    if not 0 <= found <= _MOST:
        raise OverflowError(f"number too {'small' if found < 0 else 'large'} to fit in target type")
    return found


def sequence(value: object) -> Sequence[Any]:
    """Return a sequence that is not a str; arrays of numpy count as such."""
    if isinstance(value, str):
        raise TypeError("Can't extract `str` to `Vec`")
    if isinstance(value, Sequence):
        return value
    if hasattr(type(value), "__array__") and getattr(value, "ndim", None):
        return list(value)  # type: ignore[call-overload,no-any-return]  # arrays are iterable
    return instance(value, Sequence)  # type: ignore[no-any-return]


def id_list(value: object) -> list[int]:
    """Return a sequence of ids as a list."""
    return [one_id(item) for item in sequence(value)]


def list_of(value: object, kind: type) -> list[Any]:
    """Return a list of instances of a class."""
    return [instance(item, kind) for item in instance(value, list)]


def choice(words: tuple[str, ...], message: str) -> Callable[[object], str]:
    """Return the check for one of some words; `message` may show the wrong one as ``{}``."""

    def check(value: object) -> str:
        found = text(value)
        if found not in words:
            raise ValueError(message.format(found))
        return found

    return check


side = choice(("left", "right"), "Unknown `direction`: `{}`. Use one of `left` or `right`")
behavior = choice(
    ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"),
    "Wrong value for SplitDelimiterBehavior, expected one of: `removed, isolated, merged_with_previous, merged_with_next, contiguous`",
)
prepend_scheme = choice(("first", "never", "always"), "{} is an unknown variant, should be one of ['first', 'never', 'always']")


def warn_ignored(options: dict[str, Any]) -> None:
    """Warn of arguments that nothing takes."""
    from warnings import warn

    for name in options:
        warn(f"Ignored unknown kwarg option {name}", stacklevel=3)
