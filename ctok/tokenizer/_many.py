"""Many texts at once."""

from __future__ import annotations

from .._native.batch import decode_batch, encode_batch
from ._files import Files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Literal, overload

    from .._native.padded import Batch
    from .._native.pipeline import IdSequence, Text
    from ..stagespecs.limits import Padding, Truncation
else:

    def overload(call):
        """Stand in for that of `typing`, whose import costs more than all of this package's."""
        return call


class Many(Files):
    """The part of `Tokenizer` that takes many texts."""

    __slots__ = ()

    @overload
    def encode_batch(  # type: ignore[overload-overlap]  # False is an int
        self,
        texts: Iterable[Text],
        num_threads: int | None = None,
        *,
        allowed_special: Collection[str] = (),
        disallowed_special: Collection[str] = (),
        add_special_tokens: bool = True,
        errors: str = "strict",
        pairs: Iterable[Text] | None = None,
        truncation: Truncation | int | None = None,
        padding: Literal[False] | None = None,
        dtype: Literal["int64", "int32"] = "int64",
    ) -> list[list[int]]: ...

    @overload
    def encode_batch(  # noqa: F811
        self,
        texts: Iterable[Text],
        num_threads: int | None = None,
        *,
        allowed_special: Collection[str] = (),
        disallowed_special: Collection[str] = (),
        add_special_tokens: bool = True,
        errors: str = "strict",
        pairs: Iterable[Text] | None = None,
        truncation: Truncation | int | None = None,
        padding: Padding | int,
        dtype: Literal["int64", "int32"] = "int64",
    ) -> Batch: ...

    def encode_batch(  # noqa: F811
        self,
        texts: Iterable[Text],
        num_threads: int | None = None,
        *,
        allowed_special: Collection[str] = (),
        disallowed_special: Collection[str] = (),
        add_special_tokens: bool = True,
        errors: str = "strict",
        pairs: Iterable[Text] | None = None,
        truncation: Truncation | int | None = None,
        padding: Padding | int | None = None,
        dtype: Literal["int64", "int32"] = "int64",
    ) -> list[list[int]] | Batch:
        """Return the ids of each text: a list of lists in the order of `texts`, or with `padding` a rectangle.

        Parameters
        ----------
        texts
            Any iterable of str, or bytes holding UTF-8.
        num_threads
            How many threads to use. None: one a core, or the caller's alone where there is too little text to share.
        allowed_special, disallowed_special, add_special_tokens, errors
            As in `encode`.
        pairs
            A second text for each, which belongs to it; the two are put together as the tokenizer's template says.
        truncation
            The greatest number of ids, special tokens included, or a `ctok.stagespecs.limits.Truncation`. What is cut off is lost.
        padding
            True (as long as the longest), a number of ids, or a `ctok.stagespecs.limits.Padding`. The result is then a `ctok.Batch`: ids,
            attention_mask and type_ids in rows of one length, the memory of which numpy and torch share (buffer protocol).
        dtype
            Of the numbers of a `Batch`.

        Raises
        ------
        TypeError, EncodeError, DisallowedSpecialTokenError, UnknownSpecialTokenError
            As `encode`, for the first text that is refused; the message names its index.
        ValueError
            The truncation cannot be kept, or there are not as many pairs as texts.

        Notes
        -----
        The GIL is released while the threads run. What a file says of truncation and padding is in `spec` and not applied.
        """
        if padding in (None, False) and truncation is None and pairs is None:
            return encode_batch(self, texts, num_threads, allowed_special, disallowed_special, add_special_tokens, errors, False)
        from ._batches import shaped_batch

        options = (allowed_special, disallowed_special, add_special_tokens, errors)
        return shaped_batch(self, texts, pairs, num_threads, options, truncation, padding, dtype)

    def count_batch(
        self,
        texts: Iterable[Text],
        num_threads: int | None = None,
        *,
        allowed_special: Collection[str] = (),
        disallowed_special: Collection[str] = (),
        add_special_tokens: bool = True,
        errors: str = "strict",
    ) -> list[int]:
        """Return the number of ids of each text, a list of int. Parameters and errors as in `encode_batch`."""
        return encode_batch(self, texts, num_threads, allowed_special, disallowed_special, add_special_tokens, errors, True)

    def decode_batch(
        self,
        batch: Iterable[IdSequence],
        num_threads: int | None = None,
        *,
        skip_special_tokens: bool = False,
        errors: str = "replace",
        utf8_policy: str | None = None,
    ) -> list[str]:
        """Return the text of each sequence of ids, a list of str. Options as in `decode`; errors name the sequence's index."""
        return decode_batch(self, batch, num_threads, skip_special_tokens, errors, utf8_policy)
