"""What a run of training leaves behind so that another can go on from there: the counts, and the merges learned so far.

A folder with two files. The counts are written once, when all is counted; the merges again and again, each time as a whole. Both say for
which options they are.
"""

from __future__ import annotations

import os
from hashlib import sha256

from ..errors import CorpusError, TrainingError
from ..formats import _disk
from .counts import Counts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._native.joining import Joining

__all__ = ["Checkpoint"]

EVERY = 30.0  # seconds between two writings of the merges


class Checkpoint:
    """A folder, made if it is not there; None: nothing is read or written.

    Attributes
    ----------
    merges
        Pairs of ids, in the order in which they were learned.
    """

    def __init__(self, path: str | os.PathLike[str] | None, options: str) -> None:
        self._folder = None if path is None else os.fspath(path)
        self._options = sha256(options.encode()).hexdigest()
        self.merges: list[tuple[int, int]] = []
        if self._folder is not None:
            os.makedirs(self._folder, exist_ok=True)
            self._read()

    def _read(self) -> None:
        from json import JSONDecodeError, loads

        path = self._path("merges.json")
        try:
            with open(path, "rb") as file:
                said: Any = loads(file.read())
            self.merges = [(int(left), int(right)) for left, right in said["merges"]]
        except FileNotFoundError:
            return
        except (JSONDecodeError, KeyError, TypeError, ValueError):
            raise CorpusError(f"{path}: not a checkpoint of training", path=path) from None
        if said.get("options") != self._options:
            raise TrainingError(f"{self._folder} holds the checkpoint of a training with other options; give another folder, or remove it")

    def _path(self, name: str) -> str:
        return os.path.join(self._folder or "", name)

    def counts(self) -> Counts | None:
        """Return the counts, if all was counted."""
        path = self._path("counts")
        return Counts.load(path) if self._folder is not None and os.path.exists(path) else None

    def save_counts(self, counts: Counts) -> None:
        """Write the counts. What was learned from others is forgotten."""
        if self._folder is not None:
            self.save_merges([])
            counts.save(self._path("counts"))

    def keep(self, learner: Joining) -> None:
        """Write what was learned so far."""
        if self._folder is not None:
            self.save_merges([(left, right) for left, right, _, _ in learner.merges()])

    def save_merges(self, merges: list[tuple[int, int]]) -> None:
        """Write merges."""
        from json import dumps

        if self._folder is not None:
            _disk.write(self._path("merges.json"), dumps({"options": self._options, "merges": merges}).encode())
