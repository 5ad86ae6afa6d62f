"""Look-ups in a model's table of tokens, in both directions, without an object for each token."""

from __future__ import annotations

from array import array
from itertools import pairwise
from sys import byteorder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from ...spec import TokenTable

    K = TypeVar("K")
    V = TypeVar("V")

__all__ = ["Texts"]


class Texts:
    """The tokens of a model as its file spells them. Immutable; what is looked up by id needs 4 bytes an id, made at the first look-up.

    What was found is remembered: the same few tokens are asked for again and again.
    """

    __slots__ = ("_by_id", "_data", "_ends", "_found", "_ids", "_texts", "table")

    def __init__(self, table: TokenTable) -> None:
        self.table = table
        self._data = bytes(table.data) if isinstance(table.data, bytes) else memoryview(table.data)
        self._ends, self._ids = _numbers(table.ends), _numbers(table.ids)
        self._by_id: array[int] | None = None
        self._found: dict[str, int] = {}
        self._texts: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def _at(self, index: int) -> bytes:
        return bytes(self._data[self._ends[index - 1] if index else 0 : self._ends[index]])

    def find(self, text: str) -> int | None:
        """Return the id of a token, or None; of several with one text the last one's."""
        return _remembered(self._found, text, self._search)

    def _search(self, text: str) -> int | None:
        try:
            wanted = text.encode()
        except UnicodeEncodeError:
            return None
        low, high = 0, len(self._ids)
        while low < high:
            middle = (low + high) // 2
            if self._at(middle) <= wanted:
                low = middle + 1
            else:
                high = middle
        return self._ids[low - 1] if low and self._at(low - 1) == wanted else None

    def text(self, number: int) -> str | None:
        """Return the token of an id, or None."""
        return _remembered(self._texts, number, self._read)

    def _read(self, number: int) -> str | None:
        if self._by_id is None:
            by_id = array("I", bytes(4 * (max(self._ids, default=-1) + 1)))
            for index, found in enumerate(self._ids, 1):
                by_id[found] = index
            self._by_id = by_id
        index = self._by_id[number] if number < len(self._by_id) else 0
        return self._at(index - 1).decode() if index else None

    def as_dict(self) -> dict[str, int]:
        """Return text -> id, in the order of the ids."""
        data, ends = bytes(self._data), self._ends.tolist()
        texts = [data[begin:end].decode() for begin, end in pairwise([0, *ends])]
        by_id: list[str | None] = [None] * (max(self._ids, default=-1) + 1)
        for number, text in zip(self._ids, texts, strict=True):
            by_id[number] = text
        found = {text: number for number, text in enumerate(by_id) if text is not None}
        if len(found) < len(texts):  # some ids have several texts, or some texts several ids
            return {text: number for number, text in sorted(zip(self._ids, texts, strict=True))}
        return found

    def first(self, most: int) -> list[tuple[int, str]]:
        """Return the (id, text) pairs with the least ids, in the order of the ids."""
        from heapq import nsmallest

        return [(number, self._at(index).decode()) for number, index in nsmallest(most, zip(self._ids, range(len(self)), strict=True))]


def _remembered(known: dict[K, V], key: K, look_up: Callable[[K], V | None]) -> V | None:
    """Return what is known of a key, else what a look-up finds; from then on it is known."""
    found = known.get(key)
    if found is None:
        found = look_up(key)
        if found is not None:
            known[key] = found
    return found


def _numbers(column: bytes | memoryview) -> memoryview | array[int]:
    if byteorder == "little":
        return memoryview(column).cast("B").cast("I")
    numbers = array("I", bytes(column))
    numbers.byteswap()
    return numbers
