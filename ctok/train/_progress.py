"""Progress of training: a bar on a terminal, lines in the log, or a call of the user's own."""

from __future__ import annotations

import sys
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Report = Callable[[str, int, int | None], object]

__all__ = ["reporting"]

EVERY = 0.1  # seconds between two looks of the bar
LOGGED = 5.0  # seconds between two lines
STAGES = {
    "count": "counting pretokens",
    "pairs": "counting pairs",
    "resume": "repeating merges",
    "merge": "learning merges",
    "seed": "sorting suffixes",
    "train": "learning tokens",
}


def reporting(progress: Report | bool | None) -> Any:
    """Return a context manager that gives a function ``report(stage, done, total)``.

    Parameters
    ----------
    progress
        A function: it is called with every step. True: a bar on standard error if that is a terminal and `rich` is installed, else lines to
        the logger ``ctok.train`` at level INFO, each with stage, rate and time left. None or False: nothing.
    """
    if callable(progress):
        return _Quiet(progress)
    if not progress:
        return _Quiet(_nothing)
    bar = _rich_bar() if _is_terminal() else None
    return _Lines() if bar is None else _Bar(bar)


def _nothing(stage: str, done: int, total: int | None) -> None:
    pass


class _Quiet:
    def __init__(self, report: Report) -> None:
        self._report = report

    def __enter__(self) -> Report:
        return self._report

    def __exit__(self, *exc: object) -> None:
        pass


class _Bar:
    def __init__(self, bar: Any) -> None:
        self._bar, self._task, self._stage, self._next = bar, None, "", 0.0

    def __enter__(self) -> Report:
        self._bar.start()
        return self._report

    def __exit__(self, *exc: object) -> None:
        self._bar.stop()

    def _report(self, stage: str, done: int, total: int | None) -> None:
        now = monotonic()
        if stage != self._stage:
            self._stage = stage
            self._task = self._bar.add_task(STAGES.get(stage, stage), total=total)
        elif now < self._next and done != total:
            return
        self._next = now + EVERY
        self._bar.update(self._task, completed=done, total=total)


class _Lines:
    def __init__(self) -> None:
        from logging import getLogger

        self._log = getLogger("ctok.train")
        self._stage, self._begun, self._first, self._next = "", 0.0, 0, 0.0

    def __enter__(self) -> Report:
        return self._report

    def __exit__(self, *exc: object) -> None:
        pass

    def _report(self, stage: str, done: int, total: int | None) -> None:
        now = monotonic()
        if stage != self._stage:
            self._stage, self._begun, self._first, self._next = stage, now, done, now + LOGGED
        elif now < self._next and done != total:
            return
        self._next = now + LOGGED
        self._log.info("%s", line(stage, done, total, done - self._first, now - self._begun))


def line(stage: str, done: int, total: int | None, lately: int, seconds: float) -> str:
    """Return what a line of the log says; lately: what was done in these seconds."""
    unit, size = ("MB", 1e6) if stage == "count" else ("steps", 1)
    text = f"{STAGES.get(stage, stage)}: {done / size:,.0f}" + (f" of {total / size:,.0f}" if total else "") + f" {unit}"
    if seconds > 0 and lately > 0:
        rate = lately / seconds
        text += f", {rate / size:,.0f} {unit}/s"
        if total and total > done:
            text += f", {(total - done) / rate:,.0f} s left"
    return text


def _is_terminal() -> bool:
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except ValueError:
        return False


def _rich_bar() -> Any:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        return None
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeRemainingColumn())
    return Progress(*columns, console=Console(file=sys.stderr))
