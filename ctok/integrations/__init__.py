"""ctok inside other libraries' objects. Nothing here imports such a library before it is used.

`ctok.integrations.transformers` puts ctok under a fast tokenizer of transformers, and streams what a model generates.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import transformers

__all__ = ["transformers"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from importlib import import_module

        return import_module("." + name, __name__)
    raise AttributeError(f"module 'ctok.integrations' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
