"""What a run of training leaves behind so that another can go on from there: the counts, and the merges learned so far.

A folder with two files. The counts are written once, when all is counted; the merges again and again, each time as a whole. While counting,
there are instead what was counted so far and where that ends. All say for which options they are.
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

EVERY = 30.0  # seconds between two writings
STATE, PART = "counting.json", "counted-"  # where counting stands; how the names of files of what was counted so far begin


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

    @property
    def is_kept(self) -> bool:
        """Whether there is a folder."""
        return self._folder is not None

    def _read(self) -> None:
        said = self._said("merges.json", "merges")
        try:
            self.merges = [(int(left), int(right)) for left, right in said["merges"]] if said is not None else []
        except (TypeError, ValueError):
            raise self._malformed("merges.json") from None

    def _said(self, name: str, key: str) -> dict[str, Any] | None:
        """What a file of the folder says; None: there is none."""
        from json import JSONDecodeError, loads

        try:
            with open(self._path(name), "rb") as file:
                said: Any = loads(file.read())
        except FileNotFoundError:
            return None
        except JSONDecodeError:
            raise self._malformed(name) from None
        if not isinstance(said, dict) or key not in said:
            raise self._malformed(name)
        if said.get("options") != self._options:
            raise TrainingError(f"{self._folder} holds the checkpoint of a training with other options; give another folder, or remove it")
        return said

    def _write(self, name: str, said: dict[str, Any]) -> None:
        from json import dumps

        _disk.write(self._path(name), dumps({"options": self._options} | said).encode())

    def _malformed(self, name: str) -> CorpusError:
        path = self._path(name)
        return CorpusError(f"{path}: not a checkpoint of training", path=path)

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
            self._remove_parts("")

    def counting(self) -> tuple[dict[str, Any], Counts] | None:
        """Return what `save_counting` was given, if all is not counted yet."""
        said = self._said(STATE, "part")
        return None if said is None else (said["state"], Counts.load(self._path(said["part"])))

    def save_counting(self, state: dict[str, Any], counts: Counts) -> None:
        """Write what was counted so far: a file under a name of its own, and then, where it ends and which file it is."""
        if self._folder is not None:
            part = f"{PART}{os.urandom(6).hex()}"
            counts.save(self._path(part))
            self._write(STATE, {"state": state, "part": part})
            self._remove_parts(part)

    def _remove_parts(self, but: str) -> None:
        for name in os.listdir(self._folder):
            if (name.startswith(PART) and name != but) or (name == STATE and not but):
                os.unlink(self._path(name))

    def keep(self, learner: Joining) -> None:
        """Write what was learned so far."""
        if self._folder is not None:
            self.save_merges([(left, right) for left, right, _, _ in learner.merges()])

    def save_merges(self, merges: list[tuple[int, int]]) -> None:
        """Write merges."""
        if self._folder is not None:
            self._write("merges.json", {"merges": merges})
