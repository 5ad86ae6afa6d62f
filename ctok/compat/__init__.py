"""Faces of other libraries: the same names, defaults and errors, over ctok's engine.

``import ctok.compat.tiktoken as tiktoken`` or ``import ctok.compat.tokenizers as tokenizers`` is the whole migration.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import sentencepiece, tiktoken, tokenizers

__all__ = ["sentencepiece", "tiktoken", "tokenizers"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from importlib import import_module

        return import_module("." + name, __name__)
    raise AttributeError(f"module 'ctok.compat' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
