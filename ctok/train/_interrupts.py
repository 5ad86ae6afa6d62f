"""Steps that Ctrl-C does not take apart."""

from __future__ import annotations

import signal
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self

__all__ = ["Whole"]


class Whole:
    """A context manager around a short step: a Ctrl-C in it is only noted, and raised by `stop`.

    Elsewhere than in the main thread, or where the program has its own way with that signal, it does nothing; nor if not `is_on`: what may
    wait for long, as another's iterator, must not be in such a step.
    """

    def __init__(self, is_on: bool) -> None:
        self._is_on, self._is_pending, self._is_set = is_on, False, False

    def __enter__(self) -> Self:
        is_main = self._is_on and threading.current_thread() is threading.main_thread()
        self._is_set = is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._is_set:
            signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, number: int, frame: Any) -> None:
        self._is_pending = True

    def __exit__(self, *exc: object) -> None:
        if self._is_set:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def stop(self) -> None:
        """Raise the `KeyboardInterrupt` that was noted, if any."""
        if self._is_pending:
            self._is_pending = False
            raise KeyboardInterrupt
