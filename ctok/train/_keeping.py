"""Counting that was interrupted goes on where it stood: at a block of a file.

A corpus of files has places that mean the same in another run. A list of texts or an iterator has none, nor has a text that is on its way
through a normalizer.
"""

from __future__ import annotations

from os import fspath, stat
from time import monotonic

from ..errors import MemoryLimitError
from . import corpus
from ._checkpoint import EVERY
from .corpus import FileCorpus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ._checkpoint import Checkpoint
    from ._counting import Counting
    from .corpus import Block, Corpus

__all__ = ["Keeping"]


class Keeping:
    """What a checkpoint holds of counting under way.

    Parameters
    ----------
    checkpoint
        Where it is written. What it holds already of the same files is what `counting` goes on from.
    source, counting
        The corpus, and what counts it.
    order
        Whether it matters where a pretoken was first seen.
    """

    def __init__(self, checkpoint: Checkpoint, source: Corpus, counting: Counting, order: bool) -> None:
        self._checkpoint, self._source, self._counting, self._order = checkpoint, source, counting, order
        self._file = self._n_blocks = 0  # the file that is read, and how many blocks of it were counted
        self._kept = monotonic()
        self._said = _identity(source) if checkpoint.is_kept and isinstance(source, FileCorpus) else None
        found = checkpoint.counting() if self._said is not None else None
        if found is not None and found[0]["source"] == self._said:
            state, counts = found
            self._file, self._n_blocks = state["file"], state["blocks"]
            counting.go_on(state, counts)

    @property
    def is_on(self) -> bool:
        """Whether anything is kept: there is a checkpoint, and the corpus is one of files."""
        return self._said is not None

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks that are not counted yet."""
        if not isinstance(self._source, FileCorpus):
            yield from self._source.blocks()
            return
        begun, skipped = self._file, self._n_blocks
        for number, block in self._source.placed(begun):
            if number == begun and skipped:
                skipped -= 1
                continue
            if number != self._file:
                self._file, self._n_blocks = number, 0
            self._n_blocks += 1
            yield block

    def keep_now_and_then(self) -> None:
        """Write what was counted, if the last time was long ago. To be called when the last block was counted."""
        if self._said is not None and monotonic() - self._kept > EVERY:
            self.keep()

    def keep(self) -> None:
        """Write what was counted, where that is a place to go on from and there is room for it."""
        state = self._counting.place() if self._said is not None else None
        if state is None:
            return
        try:
            counts = self._counting.so_far(self._order)
        except (MemoryError, MemoryLimitError):
            return
        self._checkpoint.save_counting(state | {"source": self._said, "file": self._file, "blocks": self._n_blocks}, counts)
        self._kept = monotonic()


def _identity(source: FileCorpus) -> list[Any]:
    """What must be the same for a place in the corpus to mean the same."""
    files = []
    for path in source.paths:
        found = stat(path)
        files.append([fspath(path), found.st_size, found.st_mtime_ns])
    return [corpus.PIECE, source.errors, source.field, source.lines, files]
