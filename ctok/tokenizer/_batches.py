"""Batches of texts cut to a length, filled up to one, or in pairs: behind `Tokenizer.encode_batch`.

The ids of the texts come from the batch kernel, without special tokens; what belongs around them is put in here, as the post-processor
says. No places are found out for that.
"""

from __future__ import annotations

from array import array

from .._native.batch import encode_batch
from .._native.padded import Batch, batch_of_encodings, batch_of_rows
from ..encoding import NO_WORD, Encoding, pad, pad_length
from ..stages.postprocessors import Frame
from ._aligning import padding_of, truncation_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .._native.pipeline import Text
    from ..stagespecs.limits import Padding, Truncation
    from ._encodings import Encodings

__all__ = ["shaped_batch"]


def shaped_batch(
    tokenizer: Encodings,
    texts: Iterable[Text],
    pairs: Iterable[Text] | None,
    num_threads: int | None,
    options: tuple[Any, Any, bool, str],
    truncation: Truncation | int | None,
    padding: Padding | int | bool | None,
    dtype: str,
) -> list[list[int]] | Batch:
    """Return the texts as a `Batch` where there is padding, else as lists; the contract is `Tokenizer.encode_batch`."""
    allowed, disallowed, add_special_tokens, errors = options
    cut = truncation_of(truncation)
    fill = padding_of(padding, tokenizer.pad_id, tokenizer.spec.role("pad"))

    def rows_of(some: Iterable[Text]) -> list[list[int]]:
        return encode_batch(tokenizer, some, num_threads, allowed, disallowed, False, errors, False)

    rows = rows_of(texts)
    if pairs is not None:
        return _paired(tokenizer, rows, rows_of(pairs), add_special_tokens, cut, fill, dtype)
    frame = tokenizer._aligner.post.frame()
    if not add_special_tokens:
        frame = Frame((), (), (), frame.text_type, ())
    n_added = len(frame.before) + len(frame.behind)
    if cut is not None:
        _refuse_what_cannot_be_kept(rows, cut, n_added)
    if fill is not None:
        return batch_of_rows(rows, frame, cut, fill, dtype)
    before, behind = list(frame.before), list(frame.behind)
    if cut is None:
        return [[*before, *row, *behind] for row in rows]
    most = cut.max_length - n_added
    left = cut.direction == "left"
    return [[*before, *(row[max(len(row) - most, 0) :] if left else row[:most]), *behind] for row in rows]


def _refuse_what_cannot_be_kept(rows: list[list[int]], cut: Truncation, n_added: int) -> None:
    """Raise what `ctok.encoding.truncate_pair` would for one of these texts."""
    most = cut.max_length - n_added
    if most < 0:
        raise ValueError(f"max_length is {cut.max_length}, but the special tokens alone are {n_added}")
    if most and cut.stride >= most:
        raise ValueError(f"stride is {cut.stride}, but must be less than max_length without the special tokens, which is {most}")
    if most and cut.strategy == "only_second" and any(len(row) > most for row in rows):
        raise ValueError("truncation is to cut the second text only, but there is no second text")


def _paired(
    tokenizer: Encodings,
    rows: list[list[int]],
    others: list[list[int]],
    add_special_tokens: bool,
    cut: Truncation | None,
    fill: Padding | None,
    dtype: str,
) -> list[list[int]] | Batch:
    if len(rows) != len(others):
        raise ValueError(f"there are {len(rows)} texts, but {len(others)} in pairs; each text needs one")
    token = tokenizer.id_to_token

    def encoding(row: list[int], type_id: int) -> Encoding:
        nowhere = array("I", bytes(4 * len(row)))
        return Encoding.from_tokens(array("I", row), nowhere, nowhere, array("I", [NO_WORD]) * len(row), token=token, type_id=type_id)

    encode = tokenizer._aligner.post.encode
    found = [encode(encoding(row, 0), encoding(other, 1), add_special_tokens, cut) for row, other in zip(rows, others)]
    if fill is None:
        return [list(one.ids) for one in found]
    lengths = [len(one) for one in found]
    width = max(pad_length(lengths, fill.length, fill.pad_to_multiple_of), *lengths, 0)
    return batch_of_encodings([pad(one, width, fill.direction, fill.pad_id, fill.pad_type_id, fill.pad_token) for one in found], dtype)
