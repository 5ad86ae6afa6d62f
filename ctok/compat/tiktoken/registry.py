"""Encodings by name: ctok's public ones, those of `tiktoken_ext` plug-ins, and what is in the user's own folders."""

from __future__ import annotations

import os
import threading

from ... import registry
from .core import ENCODINGS, Encoding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

__all__ = ["ENCODINGS", "ENCODING_CONSTRUCTORS", "get_encoding", "list_encoding_names"]

TIKTOKEN_VERSION = "0.14.0"  # the one whose surface this is

# Name -> a callable that returns the keyword arguments of `Encoding`. None until a name is first asked for.
ENCODING_CONSTRUCTORS: dict[str, Callable[[], dict[str, Any]]] | None = None

_OWN_OF_TIKTOKEN = "tiktoken_ext.openai_public"
_lock = threading.RLock()


def _fresh_lock() -> None:
    """In a forked child nobody holds the lock that another thread of the parent held."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_fresh_lock)


def _available_plugin_modules() -> Sequence[str]:
    """Return the full names of the modules in the namespace package `tiktoken_ext`."""
    try:
        import tiktoken_ext
    except ImportError:
        return []
    from pkgutil import iter_modules

    return [name for _, name, _ in iter_modules(tiktoken_ext.__path__, "tiktoken_ext.")]


class _Public:
    """The constructor of a public encoding; calling it costs a dict of all ranks, which `get_encoding` does without."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self) -> dict[str, Any]:
        return get_encoding(self.name)._fields()


def _find_constructors() -> dict[str, Callable[[], dict[str, Any]]]:
    global ENCODING_CONSTRUCTORS
    with _lock:
        if ENCODING_CONSTRUCTORS is None:
            ENCODING_CONSTRUCTORS = _collected()
        return ENCODING_CONSTRUCTORS


def _collected() -> dict[str, Callable[[], dict[str, Any]]]:
    from importlib import import_module

    from ...formats._known import ENCODINGS as PUBLIC

    found: dict[str, Callable[[], dict[str, Any]]] = {name: _Public(name) for name in PUBLIC}
    for module in _available_plugin_modules():
        if module == _OWN_OF_TIKTOKEN:
            continue  # these are the public encodings, and that module would go to the network
        imported = import_module(module)
        try:
            offered = imported.ENCODING_CONSTRUCTORS
        except AttributeError as error:
            raise ValueError(f"tiktoken plugin {module} does not define ENCODING_CONSTRUCTORS") from error
        for name, constructor in offered.items():
            if name in found:
                raise ValueError(f"Duplicate encoding name {name} in tiktoken plugin {module}")
            found[name] = constructor
    return found


def get_encoding(encoding_name: str) -> Encoding:
    """Return the encoding of a name: the same object every time.

    Raises
    ------
    ValueError
        `encoding_name` is not a str, or not the name of an encoding; a plug-in is broken.
    VocabularyNotFoundError
        The encoding is known, but its vocabulary is not on this machine and could not be downloaded.
    """
    if not isinstance(encoding_name, str):
        raise ValueError(f"Expected a string in get_encoding, got {type(encoding_name)}")
    found = ENCODINGS.get(encoding_name)
    if found is not None:
        return found
    with _lock:
        if encoding_name not in ENCODINGS:
            ENCODINGS[encoding_name] = _made(encoding_name)
        return ENCODINGS[encoding_name]


def _made(name: str) -> Encoding:
    constructor = _find_constructors().get(name)
    if constructor is not None and not isinstance(constructor, _Public):
        return Encoding(**constructor())
    if constructor is None and name not in registry.list_vocabularies():
        raise ValueError(
            f"Unknown encoding {name}.\n"
            f"Plugins found: {list(_available_plugin_modules())}\n"
            f"tiktoken version: {TIKTOKEN_VERSION} (the surface of ctok.compat.tiktoken)"
        )
    return Encoding.from_tokenizer(registry.load(name))


def list_encoding_names() -> list[str]:
    """Return the names of the public encodings and of those that plug-ins bring."""
    return list(_find_constructors())
