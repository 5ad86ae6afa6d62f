"""Which encoding a model uses, as tiktoken 0.14 says it, mistakes included ("ft:gpt-4.1..." falls to "ft:gpt-4").

`ctok.for_model` knows more models, and better.
"""

from __future__ import annotations

from ...registry._models import TIKTOKEN_MODELS, TIKTOKEN_PREFIXES
from .registry import get_encoding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .core import Encoding

__all__ = ["MODEL_PREFIX_TO_ENCODING", "MODEL_TO_ENCODING", "encoding_for_model", "encoding_name_for_model"]

# The caller's to change: both are looked at in every call. The first prefix that fits decides.
MODEL_TO_ENCODING: dict[str, str] = dict(TIKTOKEN_MODELS)
MODEL_PREFIX_TO_ENCODING: dict[str, str] = dict(TIKTOKEN_PREFIXES)


def encoding_name_for_model(model_name: str) -> str:
    """Return the name of the encoding that a model uses. Case matters, and a provider before the name is not understood.

    Raises
    ------
    KeyError
        The name is in neither table.
    """
    if model_name in MODEL_TO_ENCODING:
        return MODEL_TO_ENCODING[model_name]
    for prefix, encoding in MODEL_PREFIX_TO_ENCODING.items():
        if model_name.startswith(prefix):
            return encoding
    raise KeyError(
        f"Could not automatically map {model_name} to a tokeniser. Name the encoding itself with `get_encoding`, or ask `ctok.model_info`, "
        "whose table has more models."
    )


def encoding_for_model(model_name: str) -> Encoding:
    """Return the encoding that a model uses; see `encoding_name_for_model` and `get_encoding`."""
    return get_encoding(encoding_name_for_model(model_name))
