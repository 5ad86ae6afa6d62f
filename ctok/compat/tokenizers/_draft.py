"""Encodings that are not worked out: the ids of the texts, how they are arranged, and what to do when more is asked for."""

from __future__ import annotations

from ...encoding import Encoding as Whole
from ...encoding import pad
from ...encoding._record import NO_WORD, repeated
from ...stages.postprocessors import PostProcessor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from ...stagespecs.limits import Padding

    Ids: TypeAlias = "list[int]"

__all__ = ["Draft", "Layout", "bare"]

_FIRST = 0xFFFFFFFE  # stands for the first text; one more for the second


class Layout:
    """How a post-processor arranges one text, or two: the same for all texts.

    Attributes
    ----------
    parts
        (0 or 1 for a text, else None; the ids that are added; the type id of each id; whether they count as special), in order.
    n_sequences
        How many texts the encoding says it is of.
    plain
        Whether this is just one text with type id 0.
    """

    __slots__ = ("n_sequences", "parts", "plain")

    def __init__(self, post: PostProcessor, pair: bool, add_special_tokens: bool, type_id: int = 1) -> None:
        texts = [bare([_FIRST + k], k * type_id) for k in range(2 if pair else 1)]
        found = post.process(texts[0], texts[1] if pair else None, add_special_tokens)
        self.parts: list[tuple[int | None, int, int, int]] = []
        for number, kind, special in zip(found.ids, found.type_ids, found.special_tokens_mask, strict=True):
            self.parts.append((number - _FIRST if number >= _FIRST else None, number, kind, special))
        self.n_sequences = found.n_sequences
        self.plain = self.parts == [(0, _FIRST, 0, 0)]


class Draft:
    """One text or two as ids, and the rest to be worked out.

    Attributes
    ----------
    overflows
        False: nothing was cut off.
    whole
        Works out the encoding.
    """

    __slots__ = ("_layout", "_make", "_padding", "_size", "_texts", "overflows")

    def __init__(self, layout: Layout, texts: tuple[Ids, ...], make: Callable[[], Whole], overflows: bool = False) -> None:
        self._layout, self._texts, self._make = layout, texts, make
        self._size = sum([1 if text is None else len(texts[text]) for text, *_ in layout.parts])
        self._padding: tuple[int, Padding] | None = None
        self.overflows = overflows

    @property
    def n_sequences(self) -> int:
        """How many texts are in it."""
        return self._layout.n_sequences

    def __len__(self) -> int:
        return self._size if self._padding is None else max(self._padding[0], self._size)

    def pad(self, length: int, padding: Padding) -> None:
        """Fill up to a length."""
        self._padding = (length, padding)

    def ids(self) -> list[int]:
        """The ids."""
        if self._layout.plain and self._padding is None:
            return self._texts[0][:]
        found: list[int] = []
        for text, number, *_ in self._layout.parts:
            if text is None:
                found.append(number)
            else:
                found += self._texts[text]
        return self._padded(found, lambda padding: padding.pad_id)

    def type_ids(self) -> list[int]:
        """The type id of each id."""
        return self._padded(self._spread([kind for *_, kind, _ in self._layout.parts]), lambda padding: padding.pad_type_id)

    def attention_mask(self) -> list[int]:
        """0 for padding, 1 for all else."""
        return self._padded([1] * self._size, lambda padding: 0)

    def special_tokens_mask(self) -> list[int]:
        """1 for what was added."""
        return self._padded(self._spread([special for *_, special in self._layout.parts]), lambda padding: 1)

    def _spread(self, numbers: Sequence[int]) -> list[int]:
        found: list[int] = []
        for (text, *_), number in zip(self._layout.parts, numbers, strict=True):
            found += [number] * (1 if text is None else len(self._texts[text]))
        return found

    def _padded(self, found: list[int], filling: Callable[[Padding], int]) -> list[int]:
        if self._padding is None or self._padding[0] <= self._size:
            return found
        length, padding = self._padding
        rest = [filling(padding)] * (length - self._size)
        return found + rest if padding.direction == "right" else rest + found

    def whole(self) -> Whole:
        """Work out the encoding."""
        found = self._make()
        if self._padding is None:
            return found
        length, padding = self._padding
        return pad(found, length, padding.direction, padding.pad_id, padding.pad_type_id, padding.pad_token)


def bare(ids: list[int], type_id: int = 0) -> Whole:
    """Return an encoding of ids without places, tokens and words."""
    from array import array

    nothing = repeated(0, len(ids))
    return Whole.from_tokens(array("I", ids), nothing, nothing, repeated(NO_WORD, len(ids)), token=_no_token, type_id=type_id)


def _no_token(number: int) -> str:
    return ""
