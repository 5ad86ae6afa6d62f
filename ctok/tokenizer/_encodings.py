"""Encodings: ids with places, words and masks."""

from __future__ import annotations

from ._lookups import LookUps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Literal

    from .._native.pipeline import Text
    from ..encoding import Encoding
    from ..stagespecs.limits import Padding, Truncation
    from ._aligning import Aligner


class Encodings(LookUps):
    """The part of `Tokenizer` that says where tokens are."""

    __slots__ = ("_lazy_aligner",)

    _lazy_aligner: Aligner | None

    # ---- places, words and masks ----

    @property
    def _aligner(self) -> Aligner:
        if self._lazy_aligner is None:
            from ._aligning import Aligner

            object.__setattr__(self, "_lazy_aligner", Aligner(self))
        return self._lazy_aligner  # type: ignore[return-value]  # just set

    def encoding(
        self,
        text: Text | Sequence[str],
        pair: Text | Sequence[str] | None = None,
        *,
        is_pretokenized: bool = False,
        allowed_special: Collection[str] = (),
        disallowed_special: Collection[str] = (),
        add_special_tokens: bool = True,
        truncation: Truncation | int | None = None,
        padding: Padding | int | None = None,
        unit: Literal["char", "byte", "utf16"] = "char",
        errors: str = "strict",
    ) -> Encoding:
        """Return an `Encoding`: ids with tokens, places in the text, words, sequences, type ids and masks.

        Parameters
        ----------
        text, pair
            One text, or two that belong together; with `is_pretokenized` each is a sequence of words.
        allowed_special, disallowed_special, add_special_tokens, errors
            As in `encode`.
        truncation
            The greatest number of ids, or a `ctok.stagespecs.limits.Truncation`; what is cut off is in `Encoding.overflowing`.
        padding
            A number of ids, or a `ctok.stagespecs.limits.Padding`.
        unit
            What places count: characters, ``"byte"`` (of UTF-8) or ``"utf16"``.

        Raises
        ------
        ValueError
            The truncation cannot be kept.
        EncodeError, DisallowedSpecialTokenError, UnknownSpecialTokenError
            As `encode`.

        Notes
        -----
        What a file says of truncation and padding is in `spec` and not applied. Cost: several times that of `encode`.
        """
        from ._aligning import padding_of, truncation_of

        return self._aligner.encoding(
            text,
            pair,
            is_pretokenized,
            add_special_tokens,
            truncation_of(truncation),
            padding_of(padding, self.pad_id, self.spec.role("pad")),
            unit,
            (allowed_special, disallowed_special, errors),
        )
