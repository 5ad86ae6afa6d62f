"""From aligned ids to an `Encoding`: places in the wanted unit, and what added tokens are called.

What is *aligned* are four buffers of unsigned 32-bit numbers, equally long: ids, starts and ends in bytes of the text in UTF-8, word ids. A
fifth may follow: the places in these of the ids that were found as added tokens, where a model may give the ids of added tokens, too; and a
sixth: the names of ids, by place, that are not called after their token.
"""

from __future__ import annotations

from array import array

from .._native.places import places
from ..encoding import Encoding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from typing_extensions import Buffer

    Aligned = tuple[Any, ...]
    Normalize = Callable[[str], str]

__all__ = ["encoding_of_text", "encoding_of_words"]


def encoding_of_text(
    text: bytes,
    aligned: Aligned,
    *,
    token: Callable[[int], str],
    added: Mapping[int, Normalize | None] | None = None,
    unit: str = "char",
    type_id: int = 0,
) -> Encoding:
    """Return the encoding of one text, to which a post-processor has added nothing yet.

    Parameters
    ----------
    text
        The text in UTF-8.
    aligned
        Its ids and their places.
    token
        The token of an id.
    added
        The ids of added tokens: such an id is called what it took of the text, white space included; if a function is given, what that
        makes of it (the normalizer, where the token is looked for in the normalised text).
    unit, type_id
        As `Encoding.from_tokens` takes them.
    """
    ids, starts, ends, words = aligned[:4]
    names = _names(text, aligned, added or {})
    left, right = places(text, starts, ends, unit)
    return Encoding.from_tokens(ids, left, right, words, token=token, names=names, unit=unit, type_id=type_id)


def _names(text: bytes, aligned: Aligned, added: Mapping[int, Normalize | None]) -> dict[int, str]:
    ids = memoryview(aligned[0]).tolist()
    if len(aligned) > 4:
        found = memoryview(aligned[4]).tolist()
    else:
        found = [] if added.keys().isdisjoint(ids) else [i for i, number in enumerate(ids) if number in added]
    names = dict(aligned[5]) if len(aligned) > 5 else {}
    if found:
        begin, end = memoryview(aligned[1]), memoryview(aligned[2])
    for i in found:
        if i in names:
            continue
        taken = text[begin[i] : end[i]].decode()
        normalize = added[ids[i]]
        names[i] = taken if normalize is None else normalize(taken)
    return names


def encoding_of_words(
    words: Iterable[tuple[bytes, Aligned]],
    *,
    token: Callable[[int], str],
    added: Mapping[int, Normalize | None] | None = None,
    unit: str = "char",
    type_id: int = 0,
) -> Encoding:
    """Return the encoding of a text that comes cut into words.

    The ids of all words stand one behind the other. A word id is the number of the given word (empty ones count, too), and spans are
    places in that word. Parameters as in `encoding_of_text`, with each word and what it is aligned to.
    """
    columns = [array("I") for _ in range(4)]
    names: dict[int, str] = {}
    for number, (text, aligned) in enumerate(words):
        ids, starts, ends = aligned[:3]
        at = len(columns[0])
        names.update((at + i, name) for i, name in _names(text, aligned, added or {}).items())
        left, right = places(text, starts, ends, unit)
        n = len(left)
        parts: tuple[Buffer, ...] = (ids, left, right, array("I", [number]) * n)
        for column, part in zip(columns, parts, strict=True):
            column.frombytes(memoryview(part).cast("B"))
    ids, left_all, right_all, word_ids = columns
    return Encoding.from_tokens(ids, left_all, right_all, word_ids, token=token, names=names, unit=unit, type_id=type_id)
