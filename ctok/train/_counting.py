"""A corpus cut and counted on threads, block by block, as the blocks come.

Each thread takes blocks of whole texts and counts into a table of its own. The tables of threads may take half of the memory; the other
half is that of one table into which they are emptied, when they are half full and at the end.

A text that goes on beyond a block is cut where its split rule has a border whatever stands around (csrc/ctok_borders.h), so its parts are
independent, too. Where there is no such place the rule is run from the start of the part to find one. A pre-tokenizer that is no plain
split rule, or a normalizer, takes a long text part by part on one lane; whole texts go to all threads all the same.
"""

from __future__ import annotations

import os
from array import array
from queue import SimpleQueue
from threading import Lock

from .._native.counting import Borders, CountTable, Lane
from ..errors import MemoryLimitError
from ..stages.cutters import build_cutter
from ..stages.normalizers import build_normalizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from concurrent.futures import Future
    from typing import Any

    from typing_extensions import Self

    from .._native.cut import Cutter
    from .._native.normalize import Normalizer
    from .._native.split import Splitter
    from ..spec import Record
    from .corpus import Block
    from .counts import Counts

__all__ = ["Counting", "free_memory", "how_of", "threads_of"]

LONG = 8 << 20  # bytes of a text without a place to cut from which its rule is run to find one


class Counting:
    """Counting under way; a context manager. After `finish`, or an error, it is of no further use."""

    def __init__(
        self, pre_tokenizer: Record | None, normalizer: Record | None, num_threads: int | None, max_memory: int | None
    ) -> None:
        self._threads = threads_of(num_threads)
        memory = free_memory() // 2 if max_memory is None else max_memory
        if memory < 1 << 20:
            raise ValueError(f"max_memory must be at least 1 MiB, not {max_memory}")
        self._memory = memory
        self._cutter = build_cutter(pre_tokenizer)
        self._normalizer = build_normalizer(normalizer)
        self._how = _told(pre_tokenizer, normalizer, self._cutter)
        self._splitter = _plain(self._cutter) if self._normalizer is None else None
        self._borders = Borders(self._splitter) if self._splitter is not None else None
        share = memory // 2 // self._threads
        self._all = CountTable(memory // 2)
        self._emptying = Lock()
        self._full = share // 2 if self._threads > 1 else memory
        self._workers = [_Worker(self._cutter, self._normalizer, share) for _ in range(self._threads)]
        self._free: SimpleQueue[_Worker] = SimpleQueue()
        for worker in self._workers:
            self._free.put(worker)
        self._lane = Lane(self._cutter, self._normalizer)
        self._carry = b""  # of a text that goes on
        self._look_at = LONG
        self._is_open = False  # a text is on the lane
        self._parts = 0  # bytes of it so far
        self._place = 0
        self._pool: Any = None
        self._running: list[Future[None]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        if isinstance(error, MemoryLimitError):
            raise self._refusal() from None

    def feed(self, block: Block) -> None:
        """Take the next block of the corpus. Returns when there is room for another; an error may be that of an earlier block."""
        if self._splitter is not None:
            self._feed_rule(block)
        else:
            self._feed_lane(block)

    def finish(self, order: bool) -> Counts:
        """Return the counts."""
        from .counts import of_table

        if self._carry:
            data, self._carry = self._carry, b""
            self._count(data, array("Q", [len(data)]), 0)
        return of_table(self._together(), self._how, order)

    def _together(self) -> CountTable:
        """What all threads have counted, when they are done."""
        while self._running:
            self._running.pop(0).result()
        if self._threads == 1:
            return self._workers[0].table
        for worker in self._workers:
            self._empty(worker)
        return self._all

    def _empty(self, worker: _Worker) -> None:
        """Add what a thread has counted to what all have."""
        with self._emptying:
            self._all.merge(worker.table)
            worker.table.clear()

    def _refusal(self) -> MemoryLimitError:
        n = max(len(table) for table in (self._all, *(worker.table for worker in self._workers)))
        several = self._threads > 1
        shared, fewer = (f", shared by {self._threads} threads", ", or use fewer threads (num_threads)") if several else ("", "")
        return MemoryLimitError(
            f"{n:,} different pretokens were found, and more do not fit into the {self._memory:,} bytes that may be taken{shared}. "
            f"Allow more (max_memory){fewer}; or cut the texts smaller (a split pattern, a pre-tokenizer); or count the corpus in shards, "
            "and leave out rare pretokens (Counts.prune, 'ctok merge-counts --min-count') before they are merged.",
            limit=self._memory,
        )

    # ---- going on ----

    def place(self) -> dict[str, Any] | None:
        """Where counting stands, in words of JSON; None: in the middle of a text that cannot be left."""
        if self._is_open:
            return None
        return {"place": self._place, "carry": self._carry.hex(), "look_at": self._look_at}

    def so_far(self, order: bool) -> Counts:
        """Return what was counted up to now, but for the text that `place` carries."""
        from .counts import of_table

        return of_table(self._together(), self._how, order)

    def go_on(self, place: dict[str, Any], counts: Counts) -> None:
        """Take over what another one had counted before anything is fed."""
        table = self._workers[0].table if self._threads == 1 else self._all
        table.add_all(counts.data, counts.ends, counts.counts, counts.firsts)
        self._place, self._carry, self._look_at = place["place"], bytes.fromhex(place["carry"]), place["look_at"]

    # ---- a split rule ----

    def _feed_rule(self, block: Block) -> None:
        data, ends = block.data, block.ends
        if self._carry:
            before = len(self._carry)
            data = self._carry + data
            ends = array("Q", [end + before for end in ends]) if before else ends
            self._carry = b""
        if not block.is_open:
            self._look_at = LONG
            self._count(data, ends, 0)
            return
        begin = ends[-2] if len(ends) > 1 else 0
        place, more = self._place_to_cut(memoryview(data)[begin:])
        if place:
            self._look_at = LONG
            self._carry = data[begin + place :]
            ends[-1] = begin + place
            self._count(data[: begin + place + more], ends, more)
        else:
            self._carry = data[begin:]
            ends.pop()
            if begin:
                self._count(data[:begin], ends, 0)

    def _place_to_cut(self, text: Any) -> tuple[int, int]:
        """Where a text that goes on can be cut, 0 if nowhere, and how many bytes behind must be seen for that."""
        borders: Any = self._borders
        place = borders.last(text[-LONG:])
        if place:
            return place + max(len(text) - LONG, 0), 1
        if len(text) < self._look_at:
            return 0, 0
        self._look_at = 2 * len(text)
        place = borders.scanned(text)
        return place, len(text) - place

    def _count(self, data: bytes, ends: array[int], more: int) -> None:
        splitter: Any = self._splitter
        place, self._place = self._place, self._place + len(data) - more
        self._start(lambda worker: worker.table.split(splitter, data, ends, more, place))

    # ---- any pre-tokenizer ----

    def _feed_lane(self, block: Block) -> None:
        data, ends = memoryview(block.data), block.ends
        first, last = 0, len(ends)
        if self._is_open and last:
            self._on_lane(data[: ends[0]], block.is_open and last == 1)
            first = 1
        if block.is_open and last > first:
            last -= 1
        begin = ends[first - 1] if first else 0
        if last > first:
            stop, place = ends[last - 1], self._place
            part, stops = data[begin:stop], array("Q", [end - begin for end in ends[first:last]])
            self._place += stop - begin
            self._start(lambda worker: worker.lane.count(worker.table, part, stops, False, place))
            begin = stop
        if block.is_open and len(ends) > last:
            self._on_lane(data[begin:], True)

    def _on_lane(self, data: Any, is_open: bool) -> None:
        worker = self._take()
        try:
            self._lane.count(worker.table, data, array("Q", [len(data)]), is_open, self._place)
        finally:
            self._free.put(worker)
        self._parts += len(data)
        self._is_open = is_open
        if not is_open:
            self._place, self._parts = self._place + self._parts, 0

    # ---- threads ----

    def _start(self, work: Any) -> None:
        """Have a worker do something; waits while all are busy."""
        worker = self._take()
        if self._threads == 1:
            self._run(work, worker)
            return
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="ctok-count")
        self._running.append(self._pool.submit(self._run, work, worker))

    def _run(self, work: Any, worker: _Worker) -> None:
        try:
            work(worker)
            if worker.table.memory > self._full:
                self._empty(worker)
        finally:
            self._free.put(worker)

    def _take(self) -> _Worker:
        """Wait for a worker that has nothing to do; raises what one ran into."""
        while self._running and self._running[0].done():
            self._running.pop(0).result()
        return self._free.get()


class _Worker:
    """What one thread counts into."""

    def __init__(self, cutter: Cutter, normalizer: Normalizer | None, limit: int) -> None:
        self.table = CountTable(limit)
        self.lane = Lane(cutter, normalizer)


def _plain(cutter: Cutter) -> Splitter | None:
    """The split rule that is all that a cutter does, or None."""
    if not cutter.is_plain_split:
        return None
    step: Any = cutter.steps[0]
    splitter: Splitter = step[1]
    return splitter


def how_of(pre_tokenizer: Record | None, normalizer: Record | None) -> str:
    """Return what counts say of how they were made. What says the same split rule in other words is the same."""
    return _told(pre_tokenizer, normalizer, build_cutter(pre_tokenizer))


def _told(pre_tokenizer: Record | None, normalizer: Record | None, cutter: Cutter) -> str:
    splitter = _plain(cutter) if normalizer is None else None
    if splitter is not None:
        return f"split {splitter.family or splitter.pattern}"
    return f"{normalizer!r} {pre_tokenizer!r}"


def threads_of(num_threads: int | None) -> int:
    """Return how many threads a caller asks for; None: as many as this process has processors."""
    if num_threads is None:
        affinity = getattr(os, "sched_getaffinity", None)
        return min(len(affinity(0)) if affinity is not None else os.cpu_count() or 1, 256)
    if not isinstance(num_threads, int):
        raise TypeError(f"num_threads must be an int or None, not {type(num_threads).__name__}")
    if not 1 <= num_threads <= 256:
        raise ValueError(f"num_threads must be from 1 to 256, not {num_threads}")
    return num_threads


def free_memory() -> int:
    """Return how many bytes of memory are free, for this process where the system says so; 2 GiB where nothing is known."""
    found = []
    for name, key in (("/proc/meminfo", "MemAvailable:"), ("/sys/fs/cgroup/memory.max", ""), ("/sys/fs/cgroup/memory.current", "")):
        try:
            with open(name, encoding="ascii") as file:
                words = file.read().split()
            found.append(int(words[words.index(key) + 1]) << 10 if key else int(words[0]))
        except (OSError, ValueError, IndexError):
            found.append(0)
    available, most, used = found
    bounds = [available or 2 << 30] + ([max(most - used, 1 << 26)] if most else [])
    return min(bounds)
