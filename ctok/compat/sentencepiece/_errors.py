"""The errors of the reference, as classes of both libraries."""

from __future__ import annotations

from ...errors import CtokError, UnknownIdError

__all__ = ["ArgumentError", "ModelError", "PieceIndexError"]


class ModelError(CtokError, RuntimeError):
    """There is no model, it cannot be read, or it cannot do what is asked; the text begins with the reference's word for it."""


class ArgumentError(CtokError, ValueError):
    """What is asked does not go together, or not with this model."""


class PieceIndexError(UnknownIdError, IndexError):
    """An id that the model does not have."""
