"""The composed tokenizer: built once from a `Spec`, immutable, shared by everything that encodes or decodes."""

from ._tokenizer import Tokenizer

__all__ = ["Tokenizer"]
