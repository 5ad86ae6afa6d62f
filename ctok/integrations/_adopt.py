"""A tokenizer of another library, loaded already, as one of ctok's."""

from __future__ import annotations

from sys import modules

from ..spec import BPE, AddedToken, Spec, Split, TokenTable
from ..tokenizer import Tokenizer
from ._backend import Backend, is_reference, spec_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["adopt"]


def adopt(tokenizer: Any) -> Tokenizer:
    """Return a `ctok.Tokenizer` that gives the ids of a tokenizer of another library, as it is at this moment.

    Parameters
    ----------
    tokenizer
        A ``tiktoken.Encoding``, a ``tokenizers.Tokenizer``, a ``sentencepiece.SentencePieceProcessor``, or a fast tokenizer of
        transformers. A `ctok.Tokenizer` is returned itself.

    Raises
    ------
    TypeError
        It is none of these.
    SpecError
        ctok cannot run it; the message names what.

    Notes
    -----
    Nothing is read from a disk, and the two share nothing afterwards. `Tokenizer.save` writes what was adopted as a file.
    """
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    if _is(tokenizer, "tiktoken", "Encoding"):
        return Tokenizer.from_spec(_ranks(tokenizer))
    if _is(tokenizer, "sentencepiece", "SentencePieceProcessor"):
        from ..formats import sentencepiece

        return Tokenizer.from_spec(sentencepiece.loads(tokenizer.serialized_model_proto()))
    backend = getattr(tokenizer, "_tokenizer", tokenizer)
    if isinstance(backend, Backend):
        return Tokenizer.from_str(backend.to_str())
    if is_reference(backend):
        return Tokenizer.from_spec(spec_of(backend, str(getattr(tokenizer, "name_or_path", "") or type(tokenizer).__name__)))
    kinds = "a tiktoken.Encoding, a tokenizers.Tokenizer, a SentencePieceProcessor or a fast tokenizer of transformers"
    raise TypeError(f"tokenizer must be {kinds}, not {type(tokenizer).__name__}")


def _is(value: object, library: str, name: str) -> bool:
    """Whether something is of a class of a library. Who has one has imported that library."""
    found = getattr(modules.get(library), name, None)
    return found is not None and isinstance(value, found)


def _ranks(encoding: Any) -> Spec:
    """Return what an encoding of tiktoken was made from; it keeps that under the names that its own manual tells."""
    added = [AddedToken(text, number) for text, number in encoding._special_tokens.items()]
    return Spec(encoding.name, BPE(TokenTable.from_dict(encoding._mergeable_ranks)), Split(encoding._pat_str), added)
