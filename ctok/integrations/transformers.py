"""ctok under a fast tokenizer of transformers: the same calls, the same results, ctok's speed.

    from ctok.integrations.transformers import wrap
    tokenizer = wrap(AutoTokenizer.from_pretrained("a folder or a model's name"))

A fast tokenizer of transformers (``PreTrainedTokenizerFast``, in version 5 ``TokenizersBackend``) keeps an object of the library
`tokenizers` that does the work. `wrap` puts one in its place that has the same methods over ctok.
"""

from __future__ import annotations

from ..errors import SpecError
from ._backend import Backend, is_reference, reference, spec_of
from ._streamer import CtokStreamer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Fast = TypeVar("Fast")

__all__ = ["CtokStreamer", "unwrap", "wrap"]


def wrap(tokenizer: Fast) -> Fast:
    """Put ctok under a fast tokenizer of transformers, and return it.

    Parameters
    ----------
    tokenizer
        A ``PreTrainedTokenizerFast`` (``TokenizersBackend``), or of one of its subclasses. It is changed in place; what it is configured
        with, and what was added to it, stays. Already wrapped: nothing happens.

    Raises
    ------
    TypeError
        It is no fast tokenizer.
    SpecError
        ctok cannot run it; the message names what. The tokenizer is as it was.

    Notes
    -----
    The library `tokenizers` writes its tokenizer as JSON, ctok reads that: a few tenths of a second for a large one. Copies and pickles
    of a wrapped tokenizer are wrapped. ``tokenizers.decoders.DecodeStream`` takes only that library's own tokenizers; `CtokStreamer`, or
    ``ctok.compat.tokenizers.decoders.DecodeStream``, takes this one.
    """
    backend = _backend_of(tokenizer)
    if not isinstance(backend, Backend):
        again = _patches(tokenizer, backend)
        _put(tokenizer, Backend.from_spec(spec_of(backend, _name(tokenizer))), backend)
        again()
    return tokenizer


def unwrap(tokenizer: Fast) -> Fast:
    """Give a tokenizer back to the library `tokenizers`, with all that has changed since `wrap`, and return it.

    Not wrapped: nothing happens.
    """
    backend = _backend_of(tokenizer)
    if isinstance(backend, Backend):
        again = _patches(tokenizer, backend)
        _put(tokenizer, reference().Tokenizer.from_str(backend.to_str()), backend)
        again()
    return tokenizer


def _put(tokenizer: Any, made: Any, backend: Any) -> None:
    made.encode_special_tokens = backend.encode_special_tokens
    tokenizer._tokenizer = made


def _patches(tokenizer: Any, backend: Any) -> Callable[[], object]:
    """Return what does again to the next backend what somebody did to the methods of this one. transformers does so for CLIP."""
    names = [name for name in getattr(backend, "__dict__", ()) if hasattr(reference().Tokenizer, name)]
    if not names:
        return lambda: None
    patch = getattr(tokenizer, "_wrap_decode_method_backend_tokenizer", None)
    if names != ["decode"] or patch is None:
        raise SpecError(f"{_name(tokenizer)!r}: ctok cannot take over methods that were replaced in its backend: {', '.join(names)}")
    return patch  # type: ignore[no-any-return]


def _backend_of(tokenizer: object) -> Any:
    backend = getattr(tokenizer, "_tokenizer", None)
    if isinstance(backend, Backend) or is_reference(backend):
        return backend
    raise TypeError(f"this takes a fast tokenizer of transformers (PreTrainedTokenizerFast), not {type(tokenizer).__name__}")


def _name(tokenizer: object) -> str:
    return str(getattr(tokenizer, "name_or_path", "") or type(tokenizer).__name__)
