"""Bytes in, bytes out: sources of text read in bounded pieces, and standard output that takes str as UTF-8 whatever the locale."""

from __future__ import annotations

import os
import sys
from errno import EISDIR, ENOENT

from ._report import CliError, UsageError, unwritten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, BinaryIO

CHUNK = 1 << 20


class Output:
    """Standard output. `write` takes bytes, or str that is written as UTF-8 (file names of any bytes as they are)."""

    def __init__(self) -> None:
        if sys.stdout is None:
            raise CliError("standard output is closed")
        sys.stdout.flush()
        self._raw: BinaryIO | None = getattr(sys.stdout, "buffer", None)

    def write(self, data: str | bytes) -> None:
        raw = data if isinstance(data, bytes) else data.encode("utf-8", "surrogateescape")
        try:
            if self._raw is not None:
                self._raw.write(raw)
            else:
                sys.stdout.write(raw.decode("utf-8", "replace"))
        except OSError as error:
            raise _as_told(error) from None

    def flush(self) -> None:
        try:
            (self._raw or sys.stdout).flush()
        except OSError as error:
            raise _as_told(error) from None


def _as_told(error: OSError) -> Exception:
    """A closed pipe stays what it is; any other trouble of writing becomes an error that cannot be taken for one of reading."""
    return error if isinstance(error, BrokenPipeError) else CliError(unwritten(error))


def refuse_missing_folder(path: str) -> None:
    """Refuse the path of a file to write if its folder is not there, before work is done for it."""
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        raise CliError(f"{path}: there is no folder {folder!r}")


def refuse_existing(paths: Iterable[str], force: bool) -> None:
    """Refuse to write over a file unasked, before work is done for it."""
    for path in paths:
        if os.path.exists(path) and not force:
            raise CliError(f"{path}: it exists; use -f to write over it")


def json_text(value: object) -> str:
    """Return JSON that can be written as UTF-8."""
    import json

    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # a file name that is not UTF-8
        return json.dumps(value)
    return text


class Source:
    """A file, or standard input for ``-``, read in chunks; a context manager that closes what it opened."""

    def __init__(self, path: str, missing: str = "no such file") -> None:
        self.path = path
        self._missing = missing
        self.name = "standard input" if path == "-" else path
        self._file: BinaryIO | None = None

    def __enter__(self) -> Source:
        if self.path == "-":
            self._file = stdin()
        elif os.path.isdir(self.path):
            raise IsADirectoryError(EISDIR, "is a directory", self.path)
        else:
            try:
                self._file = open(self.path, "rb")  # closed by __exit__
            except FileNotFoundError:
                raise FileNotFoundError(ENOENT, self._missing, self.path) from None
        return self

    def __exit__(self, *exc: object) -> None:
        if self.path != "-" and self._file is not None:
            self._file.close()

    def size(self) -> int | None:
        """Bytes in all, if that can be known."""
        from stat import S_ISREG

        try:
            status = os.fstat(self._file.fileno()) if self._file is not None else None
        except (OSError, ValueError, AttributeError):
            return None
        return status.st_size if status is not None and S_ISREG(status.st_mode) else None

    def chunks(self, size: int | None = None) -> Iterator[bytes]:
        """Yield the content in pieces of `size` bytes (1 MiB); the last may be smaller, none is empty."""
        while self._file is not None and (chunk := self._file.read(size or CHUNK)):
            yield chunk

    def arriving(self, size: int = 1 << 16) -> Iterator[bytes]:
        """Yield the content as it arrives, at most `size` bytes at a time."""
        read: Any = getattr(self._file, "read1", None) or getattr(self._file, "read")  # noqa: B009
        while chunk := read(size):
            yield chunk


    def has_more(self) -> bool:
        """Whether more can be read, or the end be seen, without waiting; True where that cannot be known."""
        from select import select

        try:
            return bool(self._file is None or select([self._file.fileno()], [], [], 0)[0])
        except (OSError, ValueError):
            return True


def stdin() -> BinaryIO:
    """Return standard input as bytes."""
    if sys.stdin is None:
        raise CliError("standard input is closed")
    raw: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if raw is None:
        from io import BytesIO

        return BytesIO(sys.stdin.read().encode("utf-8", "surrogateescape"))
    return raw


def sources(paths: list[str]) -> list[Source]:
    """Return the sources that the arguments name; standard input if they name none."""
    if paths.count("-") > 1:
        raise UsageError("standard input ('-') can be read only once")
    missing = "no such file; arguments are files here, text goes to standard input"
    return [Source(path, missing) for path in paths or ["-"]]


# ---- ids as text ----

_BETWEEN = b" \t\n\r\v\f,[]"
_SPACES = bytes.maketrans(b",[]", b"   ")
_LONGEST = 20  # digits; no id has as many, and what is longer is not collected


class IdReader:
    """Ids written as decimal numbers, read chunk by chunk; white space, commas and square brackets stand between them."""

    def __init__(self) -> None:
        self.n_bytes = 0
        self._digits = b""

    def feed(self, chunk: bytes, final: bool = False) -> list[int]:
        """Return the ids that are complete; a number at the end of the chunk can still go on, unless `final`."""
        strange = chunk.translate(None, b"0123456789" + _BETWEEN)
        if strange:
            at = chunk.index(strange[:1])
            shown = chunk[at : at + 16].decode("utf-8", "backslashreplace").split("\n")[0]
            raise CliError(f"{shown!r} at byte {self.n_bytes + at} is no id; ids are numbers with spaces, commas or newlines between them")
        self.n_bytes += len(chunk)
        text = self._digits + chunk.translate(_SPACES)
        words = text.split()
        self._digits = words.pop() if not final and text and not text[-1:].isspace() else b""
        for word in (*words, self._digits):
            if len(word) > _LONGEST:
                raise CliError(f"{word[:_LONGEST].decode()}... before byte {self.n_bytes} is no id: it has too many digits")
        return [int(word) for word in words]
