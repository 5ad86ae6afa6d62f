"""Options of trainers: one name each inside, and the names of other libraries as spellings of it."""

from __future__ import annotations

from types import SimpleNamespace

from ..spec import AddedToken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

__all__ = ["at_least", "resolve", "share", "special"]


def resolve(trainer: str, defaults: Mapping[str, Any], aliases: Mapping[str, str], given: Mapping[str, Any]) -> SimpleNamespace:
    """Return the defaults with what was given put in, other libraries' names translated.

    Raises
    ------
    TypeError
        There is no such option, or one was given under two names.
    """
    chosen = dict(defaults)
    seen: dict[str, str] = {}
    for key, value in given.items():
        name = aliases.get(key, key)
        if name not in defaults:
            raise TypeError(f"{trainer} has no option {key!r}")
        if name in seen:
            raise TypeError(f"{trainer} was given the same option twice, as {seen[name]!r} and as {key!r}")
        seen[name] = key
        chosen[name] = value
    return SimpleNamespace(**chosen)


def at_least(options: SimpleNamespace, least: int, *names: str) -> None:
    """Check that options are integers that are not too small."""
    for name in names:
        value = getattr(options, name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{name} must be an int, not {type(value).__name__}")
        if value < least:
            raise ValueError(f"{name} must be at least {least}, not {value}")


def share(options: SimpleNamespace, name: str, including_one: bool) -> None:
    """Check that an option is above 0 and below 1, or at most 1."""
    value = getattr(options, name)
    if not 0 < value <= 1 or (value == 1 and not including_one):
        raise ValueError(f"{name} must be above 0 and {'at most' if including_one else 'below'} 1, not {value}")


def special(tokens: Iterable[str | AddedToken], unk_token: str | None = None) -> list[AddedToken]:
    """Return special tokens with ids 0, 1, ...; a repeated one is there once; the unknown token comes first if it is not among them."""
    if isinstance(tokens, str):
        raise TypeError("special_tokens must be a collection of texts, not one str; write [text] for one")
    listed = [token if isinstance(token, AddedToken) else AddedToken(token, 0) for token in tokens]
    if unk_token is not None and all(token.content != unk_token for token in listed):
        listed.insert(0, AddedToken(unk_token, 0))
    once = {token.content: token for token in reversed(listed)}
    order = dict.fromkeys(token.content for token in listed)
    return [once[text].replace(id=number) for number, text in enumerate(order)]
