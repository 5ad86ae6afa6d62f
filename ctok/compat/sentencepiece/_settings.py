"""What is set for the whole process: the seed of sampling; the other settings of the reference have no effect here."""

from __future__ import annotations

from operator import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from random import Random

__all__ = ["SetDataDir", "SetMinLogLevel", "SetNBestTimeout", "SetRandomGeneratorSeed", "ThreadPool", "next_seed"]

_generator: Random | None = None


def SetRandomGeneratorSeed(seed: int) -> None:
    """Make what is drawn from now on depend on `seed` alone, for calls in one order; it is not what the reference draws."""
    from random import Random

    global _generator
    number = index(seed)
    if not 0 <= number < 1 << 32:
        raise TypeError(f"the seed must be in 0 <= seed < 2**32, got {number}")
    _generator = Random(number)


def next_seed() -> int | None:
    """A seed for one draw; None: an unpredictable one will do."""
    return None if _generator is None else _generator.getrandbits(64)


def SetMinLogLevel(level: int) -> None:
    """Take a level and do nothing: ctok logs nothing."""
    index(level)


def SetNBestTimeout(seconds: int) -> None:
    """Take a number and do nothing: the search is of bounded size."""
    index(seconds)


def SetDataDir(path: str) -> None:
    """Take a folder and do nothing: ctok's tables are its own."""
    if not isinstance(path, str):
        raise TypeError(f"the folder must be a str, not {type(path).__name__}")


class ThreadPool:
    """A number of threads, to be used by calls that are given it; it holds none of its own."""

    def __init__(self, num_threads: int) -> None:
        import os

        number = index(num_threads)
        self._num_threads = max(1, min(os.cpu_count() or 1 if number < 0 else number, 1024))

    def num_threads(self) -> int:
        """Return the number."""
        return self._num_threads
