"""How trainers run: step by step, so that progress can be told, a checkpoint written, and an event loop kept alive."""

from __future__ import annotations

from collections.abc import AsyncIterable
from warnings import warn

from ..errors import TrainingError
from ._checkpoint import Checkpoint
from ._counting import Counting, free_memory, how_of
from ._interrupts import Whole
from ._keeping import Keeping
from ._progress import reporting
from .corpus import as_corpus
from .counts import Counts, counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Generator
    from typing import Any

    from ..spec import Record, Spec
    from .corpus import Corpus

    Report = Callable[[str, int, int | None], object]
    Steps = Generator[tuple[str, int, "int | None"], None, Any]

__all__ = ["SteppingTrainer"]


class SteppingTrainer:
    """A trainer that learns from counts in small steps. A trainer of this kind says how texts are cut, and how it learns."""

    def _stages(self) -> tuple[Record | None, Record | None]:
        """The pre-tokenizer and the normalizer by which pretokens are counted."""
        raise NotImplementedError

    def _needs_order(self) -> bool:
        """Whether it matters where a pretoken was first seen."""
        return False

    def _reads_lines(self) -> bool:
        """Whether each line of a file is a text, unless the caller says otherwise."""
        return False

    def _learn(self, counts: Counts, checkpoint: Checkpoint, max_memory: int, num_threads: int | None) -> Steps:
        """Learn, yielding (stage, done, total) between steps of some milliseconds; return the `Spec`."""
        raise NotImplementedError

    def train(
        self,
        corpus: Any,
        *,
        num_threads: int | None = None,
        max_memory: int | None = None,
        errors: str = "strict",
        field: str = "text",
        lines: bool | None = None,
        progress: Report | bool | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Spec:
        """Train on a corpus.

        Parameters
        ----------
        corpus
            Whatever `ctok.train.count_pretokens` takes: path objects, `ctok.train.files(...)`, an iterable of texts, or counts.
        num_threads
            None: as many as the machine has processors. The result is the same for any number.
        max_memory
            Bytes that counting, and after it learning, may take, about; None: half of what is free.
        errors, field, lines
            As for `ctok.train.files`.
        progress
            A function, called as ``progress(stage, done, total)``; total is None where it is not known. Or True: a bar on a terminal,
            else lines to the logger ``ctok.train``.
        checkpoint
            A folder. When the training is interrupted, in whatever way, the same call goes on from there: files that were counted are not
            counted again, and merges that were learned are only repeated. (What is not files is counted from its beginning, unless all was
            counted.) The result is that of an uninterrupted run.

        Raises
        ------
        TrainingError
            There is no text, or no vocabulary of this size can be had; or the checkpoint is of another training.
        CorpusError, TypeError
            The corpus cannot be read, or is none.
        MemoryLimitError
            `max_memory` is not enough.
        """
        steps = self._steps(corpus, num_threads, max_memory, errors, field, lines, checkpoint)
        with reporting(progress) as report:
            while True:
                try:
                    told = next(steps)
                except StopIteration as end:
                    spec: Spec = end.value
                    return spec
                try:
                    report(*told)
                except BaseException:
                    steps.close()
                    raise

    async def train_async(
        self,
        corpus: Any,
        *,
        num_threads: int | None = None,
        max_memory: int | None = None,
        errors: str = "strict",
        field: str = "text",
        lines: bool | None = None,
        progress: Report | bool | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Spec:
        """Train without blocking the event loop. As `train`; the corpus may be an asynchronous iterable of texts as well.

        All work is done in worker threads, some milliseconds at a time. Cancelling stops it at the next such moment; with a checkpoint, a
        later call goes on from there. `progress` is called in the event loop.
        """
        from anyio.to_thread import run_sync

        settings = (errors, field, lines, checkpoint)
        if isinstance(corpus, AsyncIterable):
            corpus = await self._counted_async(corpus, num_threads, max_memory, errors, checkpoint)
        steps = self._steps(corpus, num_threads, max_memory, *settings)
        with reporting(progress) as report:
            try:
                while True:
                    told = await run_sync(_next, steps)
                    if not isinstance(told, tuple):
                        spec: Spec = told.value
                        return spec
                    report(*told)
            finally:
                steps.close()

    async def _counted_async(
        self, corpus: AsyncIterable[Any], num_threads: int | None, max_memory: int | None, errors: str, checkpoint: Any
    ) -> Counts:
        from anyio.to_thread import run_sync

        saved = self._checkpoint(checkpoint).counts()
        if saved is not None:
            return saved
        with Counting(*self._stages(), num_threads, max_memory) as counting:
            texts: list[Any] = []
            size = before = 0
            async for text in corpus:
                texts.append(text)
                size += len(text) if isinstance(text, str | bytes) else 1
                if size >= 1 << 20:
                    await run_sync(_feed, counting, texts, errors, before)
                    before += len(texts)
                    texts, size = [], 0
            await run_sync(_feed, counting, texts, errors, before)
            return await run_sync(counting.finish, self._needs_order())

    def _checkpoint(self, path: str | os.PathLike[str] | None) -> Checkpoint:
        return Checkpoint(path, f"{type(self).__name__} {vars(self)!r}" if path is not None else "")

    def _look_at(self, counts: Counts) -> None:
        """Tell it when given counts are not of the pretokens that the tokenizer will see."""
        expected = how_of(*self._stages())
        if counts.how not in ("", expected):
            told = f"the counts are of pretokens that were cut in another way ({counts.how}) than the tokenizer will do it ({expected})"
            warn(told, UserWarning, stacklevel=4)

    def _steps(
        self, corpus: Any, num_threads: int | None, max_memory: int | None, errors: str, field: str, lines: bool | None, checkpoint: Any
    ) -> Steps:
        """All of a training as steps."""
        saved = self._checkpoint(checkpoint)
        counts = saved.counts()
        if counts is None:
            counts = counted(corpus)
            if counts is not None:
                self._look_at(counts)
            else:
                is_by_lines = self._reads_lines() if lines is None else lines
                source = as_corpus(corpus, errors=errors, field=field, lines=is_by_lines)
                counts = yield from self._count(source, num_threads, max_memory, saved)
            saved.save_counts(counts)
        if not len(counts):
            raise TrainingError("the corpus holds no text to learn from")
        learning = self._learn(counts, saved, free_memory() // 2 if max_memory is None else max_memory, num_threads)
        del counts  # it goes when the trainer is done with it
        return (yield from learning)

    def _count(self, source: Corpus, num_threads: int | None, max_memory: int | None, saved: Checkpoint) -> Steps:
        with Counting(*self._stages(), num_threads, max_memory) as counting:
            keeping = Keeping(saved, source, counting, self._needs_order())
            blocks, whole = keeping.blocks(), Whole(keeping.is_on)
            while True:
                with whole:
                    block = next(blocks, None)
                    if block is not None:
                        counting.feed(block)
                        keeping.keep_now_and_then()
                try:
                    whole.stop()
                    if block is None:
                        break
                    yield "count", block.read if source.size is None else min(block.read, source.size), source.size
                except BaseException:
                    keeping.keep()
                    raise
            return counting.finish(self._needs_order())


def _feed(counting: Counting, texts: list[Any], errors: str, before: int) -> None:
    from .corpus import Block, _Collector, as_bytes

    collected = _Collector()
    for index, text in enumerate(texts, before):
        collected.add(as_bytes(text, errors, index))
    block: Block = collected.block(0)
    if block.ends:
        counting.feed(block)


def _next(steps: Steps) -> Any:
    """The next step, or the StopIteration that ends them, which no thread may raise."""
    try:
        return next(steps)
    except StopIteration as end:
        return end
