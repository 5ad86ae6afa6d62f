"""Counting shared out to other processes or machines: a corpus in shards, each counted by whoever an executor gives it to."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Executor, wait

from .._native.counting import CountTable
from .counts import Counts, count_pretokens, of_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ..spec import Record

__all__ = ["count_shards"]

IN_FLIGHT = 64  # shards given out at a time


def count_shards(
    shards: Iterable[Any],
    pre_tokenizer: Record | None = None,
    normalizer: Record | None = None,
    *,
    executor: Executor | None = None,
    retries: int = 3,
    order: bool = False,
    errors: str = "strict",
    field: str = "text",
    lines: bool = False,
    num_threads: int | None = 1,
    progress: Callable[[str, int, int | None], object] | None = None,
) -> Counts:
    """Count each shard of a corpus with an executor, and merge the counts.

    Parameters
    ----------
    shards
        Corpora as `count_pretokens` takes them, each of which can be pickled: a path object, a list of them, a list of texts. No text may
        be in two shards.
    executor
        Any `concurrent.futures.Executor`: of threads, of processes, of Dask (``client.get_executor()``), of MPI. It is not shut down. None:
        one shard after another, here.
    retries
        How often a shard is given out again when its worker was lost. A shard whose executor is broken for good is counted here.
    pre_tokenizer, normalizer, order, errors, field, lines
        As for `count_pretokens`.
    num_threads
        Threads of each worker.
    progress
        Called as ``progress("count", done, total)`` in shards; total is None until all are given out.

    Returns
    -------
    Counts
        Those of the whole corpus, however it is shared out: each shard is counted into it once, at the turn of its place.

    Raises
    ------
    CorpusError, MemoryLimitError, ...
        What counting a shard raised: such a shard is not tried again. The shards under way are cancelled where the executor can.
    """
    options = {"order": order, "errors": errors, "field": field, "lines": lines, "num_threads": num_threads}
    merging = _Merging(order)
    if executor is None:
        for number, shard in enumerate(shards):
            merging.take(number, count_pretokens(shard, pre_tokenizer, normalizer, **options))  # type: ignore[arg-type]
            _tell(progress, number + 1, None)
        return merging.finish()
    job = (pre_tokenizer, normalizer, options)
    waiting: dict[Any, tuple[int, Any, int]] = {}
    source, given, done, is_over = enumerate(shards), 0, 0, False
    try:
        while True:
            while not is_over and len(waiting) < IN_FLIGHT:
                entry = next(source, None)
                is_over = entry is None
                if entry is not None:
                    given += 1
                    _submit(executor, waiting, entry[0], entry[1], 0, job, merging)
            if not waiting:
                break
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                number, shard, tries = waiting.pop(future)
                try:
                    result, error = future.result()
                except Exception as lost:
                    if tries >= retries:
                        raise lost
                    _submit(executor, waiting, number, shard, tries + 1, job, merging)
                    continue
                if error is not None:
                    raise error
                merging.take(number, result)
                done += 1
                _tell(progress, done, given if is_over else None)
    finally:
        for future in waiting:
            future.cancel()
    return merging.finish()


def _submit(executor: Executor, waiting: dict[Any, Any], number: int, shard: Any, tries: int, job: Any, merging: _Merging) -> None:
    try:
        waiting[executor.submit(_count_one, shard, *job)] = (number, shard, tries)
    except RuntimeError:  # the executor is broken, or was shut down: it takes nothing more
        result, error = _count_one(shard, *job)
        if error is not None:
            raise error from None
        merging.take(number, result)


def _count_one(
    shard: Any, pre_tokenizer: Record | None, normalizer: Record | None, options: dict[str, Any]
) -> tuple[Any, Exception | None]:
    """What a worker does. What counting raises is handed back, so that whatever else goes wrong is the worker's."""
    try:
        return count_pretokens(shard, pre_tokenizer, normalizer, **options), None
    except Exception as error:
        return None, error


def _tell(progress: Any, done: int, total: int | None) -> None:
    if progress is not None:
        progress("count", done, total)


class _Merging:
    """Counts of shards, taken in the order of the shards, whenever they come."""

    def __init__(self, order: bool) -> None:
        self._order = order
        self._table = CountTable()
        self._early: dict[int, Counts] = {}
        self._next = self._place = 0
        self._how = ""

    def take(self, number: int, counts: Counts) -> None:
        self._early[number] = counts
        while (part := self._early.pop(self._next, None)) is not None:
            if self._how and part.how and part.how != self._how:
                raise ValueError(f"shards were cut in different ways: {self._how} and {part.how}")
            self._how = part.how or self._how
            firsts = part.firsts if self._order else None
            self._table.add_all(part.data, part.ends, part.counts, firsts, self._place)
            if firsts:
                self._place += max(memoryview(firsts).cast("Q")) + 1
            self._next += 1

    def finish(self) -> Counts:
        return of_table(self._table, self._how, self._order)
