"""The reference's trainer, which ctok has elsewhere."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["SentencePieceTrainer"]


class SentencePieceTrainer:
    """Not there yet: every call raises `NotImplementedError`."""

    @staticmethod
    def train(arg: str | None = None, logstream: Any = None, **kwargs: Any) -> NoReturn:
        """Raise `NotImplementedError`."""
        raise NotImplementedError("ctok.compat.sentencepiece does not train models; sentencepiece itself does, and ctok reads them")

    Train = train
