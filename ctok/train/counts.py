"""Counts of pretokens: what all trainers learn from. Counting is a map with a mergeable result, so it can be shared by threads, processes
and machines, and is the same however it is shared."""

from __future__ import annotations

import os
from collections.abc import Mapping
from sys import byteorder

from .._native.counting import CountTable, are_ends
from ..errors import CorpusError
from . import _countfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..spec import Record

__all__ = ["Counts", "count_pretokens"]


class Counts:
    """How often each pretoken was seen; immutable, in ascending order of the pretokens' bytes.

    Iterating yields ``(bytes, int)`` pairs. Made by `count_pretokens`, `from_mapping`, `load` and `merge`.

    Attributes
    ----------
    data, ends, counts
        The pretokens one behind the other, their cumulative ends (uint32) and counts (uint64), as buffers in the byte order of the machine.
    firsts
        Where each was first seen (uint64), numbers that grow along the corpus; or None where that was not asked for.
    total
        The sum of all counts.
    how
        What cut the texts, for people and to be compared; empty: not known.
    """

    __slots__ = ("counts", "data", "ends", "firsts", "how", "total")
    data: bytes
    ends: bytes
    counts: bytes
    firsts: bytes | None
    total: int
    how: str

    def __init__(self, data: bytes, ends: bytes, counts: bytes, firsts: bytes | None, total: int, how: str = "") -> None:
        for name, value in zip(self.__slots__, (counts, data, ends, firsts, how, total), strict=True):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("Counts are immutable")

    def __len__(self) -> int:
        return len(self.ends) // 4

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        begin, data = 0, self.data
        for end, count in zip(memoryview(self.ends).cast("I"), memoryview(self.counts).cast("Q"), strict=True):
            yield data[begin:end], count
            begin = end

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return (self.data, self.ends, self.counts) == (other.data, other.ends, other.counts)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Counts: {self.total} pretokens, {len(self)} different ones>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Counts, (self.data, self.ends, self.counts, self.firsts, self.total, self.how)

    @classmethod
    def from_mapping(cls, words: Mapping[str | bytes, int]) -> Counts:
        """Return the counts of a mapping from words to numbers; words are taken as they are. Words that count 0 are left out.

        Raises
        ------
        TypeError, ValueError
            A word is neither str nor bytes; a number is not an int, or negative.
        CorpusError
            A word holds a lone surrogate.
        """
        table = CountTable()
        for place, (word, count) in enumerate(words.items()):
            if not isinstance(count, int) or isinstance(count, bool):
                raise TypeError(f"the count of {word!r} must be an int, not {type(count).__name__}")
            if count < 0:
                raise ValueError(f"the count of {word!r} is negative: {count}")
            if not isinstance(word, str | bytes):
                raise TypeError(f"a counted word must be str or bytes, not {type(word).__name__}")
            try:
                table.add(word.encode() if isinstance(word, str) else word, count, place)
            except UnicodeEncodeError as error:
                raise CorpusError(f"word {word!r} holds a lone surrogate", position=error.start, index=place) from None
        return of_table(table, "", True)

    def prune(self, min_count: int) -> Counts:
        """Return the counts of those that were seen at least so often."""
        table = CountTable()
        table.add_all(self.data, self.ends, self.counts, self.firsts, 0, min_count)
        return of_table(table, self.how, self.firsts is not None)

    def merge(self, *others: Counts) -> Counts:
        """Return all counts together. Neither the order nor the grouping of merges matters, but for `firsts`: later ones were seen later.

        Raises
        ------
        ValueError
            The texts were not cut in the same way.
        """
        table, behind = CountTable(), 0
        order = all(part.firsts is not None for part in (self, *others))
        hows = {part.how for part in (self, *others)} - {""}
        if len(hows) > 1:
            raise ValueError(f"counts of pretokens that were cut in different ways cannot be merged: {' and '.join(sorted(hows))}")
        for part in (self, *others):
            firsts = part.firsts if order else None
            table.add_all(part.data, part.ends, part.counts, firsts, behind)
            if firsts:
                behind += max(memoryview(firsts).cast("Q")) + 1
        return of_table(table, hows.pop() if hows else "", order)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file, as a whole or not at all. It is the same on every machine, and says when it was damaged."""
        firsts = None if self.firsts is None else _swapped(self.firsts, 8)
        _countfile.write(path, self.data, _swapped(self.ends, 4), _swapped(self.counts, 8), firsts, self.how)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Counts:
        """Return the counts of a file that `save` wrote.

        Raises
        ------
        CorpusError
            It is no such file, or it is damaged.
        """
        data, ends, counts, firsts, how = _countfile.read(path)
        ends, counts = _swapped(ends, 4), _swapped(counts, 8)
        firsts = None if firsts is None else _swapped(firsts, 8)
        if not are_ends(ends, len(data)):
            raise CorpusError(f"{os.fspath(path)}: the file of counts is malformed", path=os.fspath(path))
        return cls(data, ends, counts, firsts, sum(memoryview(counts).cast("Q")), how)


def _swapped(numbers: bytes, size: int) -> bytes:
    """Numbers between the byte order of the machine and that of files."""
    if byteorder == "little":
        return numbers
    from array import array

    swapped = array("I" if size == 4 else "Q", numbers)
    swapped.byteswap()
    return swapped.tobytes()


def of_table(table: CountTable, how: str, order: bool) -> Counts:
    """Return what a table counted."""
    data, ends, counts, firsts = table.listed(order)
    return Counts(data, ends, counts, firsts, table.total, how)


def count_pretokens(
    corpus: Any,
    pre_tokenizer: Record | None = None,
    normalizer: Record | None = None,
    *,
    num_threads: int | None = None,
    max_memory: int | None = None,
    order: bool = False,
    errors: str = "strict",
    field: str = "text",
    lines: bool = False,
    progress: Callable[[str, int, int | None], object] | None = None,
) -> Counts:
    """Cut all texts of a corpus and count the pretokens.

    Parameters
    ----------
    corpus
        What `ctok.train.as_corpus` takes: path objects, an iterable of texts, a `ctok.train.files(...)`. Or counts, which are taken as
        they are: a `Counts`, a mapping from words to numbers, the path of a file of counts, or a list of such.
    pre_tokenizer, normalizer
        What cuts and changes the texts: `ctok.Split`, or records of `ctok.stagespecs`. None: each text is one pretoken, and is not changed.
    num_threads
        None: as many as the machine has processors.
    max_memory
        Bytes that tables may take, in all; None: half of what is free. Memory follows the number of different pretokens, 40 to 60 bytes
        each and thread, not the size of the corpus.
    order
        Keep where each pretoken was first seen.
    errors, field, lines
        How files are read; see `ctok.train.files`.
    progress
        Called as ``progress("count", done, size)`` after each block, in bytes of the source; size is None where it is not known.

    Returns
    -------
    Counts
        The same for any number of threads.

    Raises
    ------
    CorpusError, TypeError
        The corpus cannot be read, or is none.
    MemoryLimitError
        There are more different pretokens than `max_memory` allows.
    SpecError
        The pre-tokenizer or the normalizer cannot be run.
    """
    from ._counting import Counting
    from .corpus import as_corpus

    ready = counted(corpus)
    if ready is not None:
        return ready
    source = as_corpus(corpus, errors=errors, field=field, lines=lines)
    with Counting(pre_tokenizer, normalizer, num_threads, max_memory) as counting:
        for block in source.blocks():
            counting.feed(block)
            if progress is not None:
                progress("count", block.read if source.size is None else min(block.read, source.size), source.size)
        return counting.finish(order)


def counted(source: Any) -> Counts | None:
    """Return the counts that a caller gives in place of a corpus, or None where it is one."""
    if isinstance(source, Counts):
        return source
    if isinstance(source, Mapping):
        return Counts.from_mapping(source)
    if isinstance(source, os.PathLike):
        return Counts.load(source) if _countfile.is_one(source) else None
    if isinstance(source, list | tuple) and source:
        given = [part for part in source if isinstance(part, Counts)]
        if len(given) == len(source):
            return given[0].merge(*given[1:])
        if all(isinstance(part, os.PathLike) and _countfile.is_one(part) for part in source):
            first, *others = map(Counts.load, source)
            return first.merge(*others)
    return None
