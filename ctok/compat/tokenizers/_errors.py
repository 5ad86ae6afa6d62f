"""The errors of the operating system, as the reference words them: as a plain kind of `Exception` that ends in its number."""

from __future__ import annotations

from contextlib import contextmanager

from ...errors import CtokError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FileError", "explained"]


class FileError(CtokError, OSError):
    """A file cannot be read or written."""

    def __str__(self) -> str:
        return str(self.args[0])


@contextmanager
def explained(before: str = "") -> Iterator[None]:
    """Turn an `OSError` into a `FileError` with the reference's words."""
    try:
        yield
    except OSError as error:
        raise FileError(f"{before}{error.strerror} (os error {error.errno})") from error
