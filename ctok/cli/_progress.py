"""Progress of long work on standard error, when that is a terminal: a bar if `rich` is installed, else a line that is written over."""

from __future__ import annotations

import sys
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

AFTER = 1.0  # seconds of work before anything is shown
EVERY = 0.1


class Progress:
    """A context manager around the work; call `begin` for each source, `add` for each piece."""

    def __init__(self, is_wanted: bool = True) -> None:
        # Output that scrolls by on the same terminal shows progress enough, and would be garbled.
        self._is_on = is_wanted and is_terminal(sys.stderr) and not is_terminal(sys.stdout)
        self._next = monotonic() + AFTER
        self._name = ""
        self._size: int | None = None
        self._bytes = self._all_bytes = self._tokens = 0
        self._bar: Any = None
        self._task: Any = None
        self._is_shown = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif self._is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def begin(self, name: str, size: int | None) -> None:
        """Another source starts; `size` in bytes, or None if it is not known."""
        self._name, self._size, self._bytes = name, size, 0

    def add(self, n_bytes: int, n_tokens: int) -> None:
        """Some more is done."""
        if not self._is_on:
            return
        self._bytes += n_bytes
        self._all_bytes += n_bytes
        self._tokens += n_tokens
        now = monotonic()
        if now >= self._next:
            self._next = now + EVERY
            self._show()

    def _show(self) -> None:
        if not self._is_shown:
            self._is_shown = True
            self._bar = _rich_bar()
            if self._bar is not None:
                self._task = self._bar.add_task("", total=None, tokens="")
                self._bar.start()
        tokens = f"{self._tokens:,} tokens" if self._tokens else ""
        if self._bar is not None:
            self._bar.update(self._task, description=self._name, total=self._size, completed=self._bytes, tokens=tokens)
        else:
            share = f"{100 * self._bytes // self._size} %" if self._size else f"{self._all_bytes / 1e6:.0f} MB"
            line = f"{self._name[-40:]}  {share}  {tokens}"
            sys.stderr.write(f"\r{line[:78]}\x1b[K".encode("ascii", "replace").decode())
            sys.stderr.flush()


def is_terminal(stream: Any) -> bool:
    """Return whether a stream is an open terminal."""
    try:
        return stream is not None and bool(stream.isatty())
    except ValueError:
        return False


def _rich_bar() -> Any:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
    except ImportError:
        return None
    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TextColumn("{task.fields[tokens]}", markup=False),
        TimeRemainingColumn(),
    )
    return Bar(*columns, console=Console(file=sys.stderr), transient=True)
