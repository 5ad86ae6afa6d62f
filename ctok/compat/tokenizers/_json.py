"""JSON as the reference writes it: the keys of models in its order."""

from __future__ import annotations

from ...formats import tokenizer_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...spec import Spec

__all__ = ["document"]

_ORDER = {"WordLevel": ("type", "vocab", "unk_token"), "Unigram": ("type", "unk_id", "vocab", "byte_fallback")}


def document(spec: Spec) -> dict[str, Any]:
    """Return the document of a tokenizer.json."""
    found: dict[str, Any] = tokenizer_json._document(spec)
    model = found["model"]
    if model["type"] in _ORDER:
        found["model"] = {key: model[key] for key in _ORDER[model["type"]]}
    return found
