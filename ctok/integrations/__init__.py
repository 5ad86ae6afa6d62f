"""ctok inside other libraries' objects, and other libraries' tokenizers as ctok's. Nothing here imports such a library before it is used.

`ctok.integrations.transformers` puts ctok under a fast tokenizer of transformers, and streams what a model generates.
`ctok.integrations.adopt` makes a `ctok.Tokenizer` of a tokenizer that another library has loaded.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import transformers
    from ._adopt import adopt

__all__ = ["adopt", "transformers"]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "adopt":
        return import_module("._adopt", __name__).adopt
    if name in __all__:
        return import_module("." + name, __name__)
    raise AttributeError(f"module 'ctok.integrations' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
