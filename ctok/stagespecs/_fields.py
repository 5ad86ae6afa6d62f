"""Checks that the constructors of the records share: each returns the value, or says which field of which record is wrong."""

from __future__ import annotations

from ..spec import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def text(owner: Record, field: str, value: object) -> str:
    """Return a str that can be UTF-8."""
    if not isinstance(value, str):
        raise TypeError(f"{field} of {_name(owner)} must be a str, got {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{field} of {_name(owner)} holds a lone surrogate at {error.start}") from None
    return str(value)


def text_or_none(owner: Record, field: str, value: object) -> str | None:
    """Return a str, or None."""
    return None if value is None else text(owner, field, value)


def character(owner: Record, field: str, value: object) -> str:
    """Return a str of one character."""
    found = text(owner, field, value)
    if len(found) != 1:
        raise ValueError(f"{field} of {_name(owner)} must be one character, got {value!r}")
    return found


def flag(owner: Record, field: str, value: object) -> bool:
    """Return a bool."""
    if not isinstance(value, bool):
        raise TypeError(f"{field} of {_name(owner)} must be a bool, got {type(value).__name__}")
    return value


def number(owner: Record, field: str, value: object, least: int = 0, most: int = 2**64 - 1) -> int:
    """Return an int in a range."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{field} of {_name(owner)} must be an int, got {type(value).__name__}")
    if not least <= value <= most:
        raise ValueError(f"{field} of {_name(owner)} must be in {least} <= {field} <= {most}, got {value}")
    return int(value)


def data(owner: Record, field: str, value: object) -> bytes:
    """Return bytes."""
    if not isinstance(value, bytes):
        raise TypeError(f"{field} of {_name(owner)} must be bytes, got {type(value).__name__}")
    return bytes(value)


def digest(value: bytes | memoryview) -> str:
    """Return what a repr says of bytes that are too many to show: two of them differ where the bytes do."""
    from zlib import crc32

    return f"{len(value)} bytes {crc32(value):08x}"


def one_of(owner: Record, field: str, value: object, choices: tuple[str, ...]) -> str:
    """Return one of some words."""
    if value not in choices:
        raise ValueError(f"{field} of {_name(owner)} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return str(value)


def pattern(owner: Record, value: object) -> Record:
    """Return a `String` or `Regex`; a str becomes a `String`, as in the reference."""
    from .patterns import Regex, String

    if isinstance(value, str):
        return String(value)
    if not isinstance(value, (String, Regex)):
        raise TypeError(f"pattern of {_name(owner)} must be a String, a Regex or a str, got {type(value).__name__}")
    return value


def records(owner: Record, field: str, value: Iterable[Record]) -> tuple[Record, ...]:
    """Return a tuple of records."""
    found = tuple(value)
    for record in found:
        if not isinstance(record, Record):
            raise TypeError(f"{field} of {_name(owner)} must hold records of stages, got {type(record).__name__}")
    return found


def _name(owner: Record) -> str:
    return type(owner).__name__
