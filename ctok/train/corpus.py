"""Where the text comes from: files of several kinds, iterables; read in bounded pieces, as UTF-8."""

from __future__ import annotations

import os
from array import array
from collections.abc import AsyncIterable, Iterable, Iterator, Mapping

from .._native.counting import first_bad, line_ends
from ..errors import CorpusError
from . import _files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Block", "Corpus", "as_corpus", "files", "texts"]

PIECE = 1 << 20  # bytes of text in a block, about
ERRORS = ("strict", "replace", "skip")


class Block:
    """Some texts, as bytes that hold UTF-8.

    Attributes
    ----------
    data
        The texts one behind the other.
    ends
        Where each ends in `data`, an ``array("Q")``.
    is_open
        The last text goes on with the next block.
    read
        How much of the source was read so far, in the unit of `Corpus.size`.
    """

    __slots__ = ("data", "ends", "is_open", "read")

    def __init__(self, data: bytes, ends: array[int], is_open: bool, read: int) -> None:
        self.data = data
        self.ends = ends
        self.is_open = is_open
        self.read = read


class Corpus:
    """A source of texts; `blocks` yields them in order.

    Attributes
    ----------
    size
        How much there is to read, in bytes of files as they lie on the disk; None where that is not known.
    """

    size: int | None = None

    def blocks(self) -> Iterator[Block]:
        """Yield all texts, about a megabyte at a time. A corpus over an iterator can be read once."""
        raise NotImplementedError


def as_corpus(source: Any, *, errors: str = "strict", field: str = "text", lines: bool = False) -> Corpus:
    """Return a `Corpus` for what a caller may give as one.

    Parameters
    ----------
    source
        A `Corpus`; a path object, or an iterable of them (see `files`); an iterable of str (or of bytes that hold UTF-8), each a text.
    errors, field, lines
        As for `files`.

    Raises
    ------
    TypeError
        It is a str, a number, an asynchronous iterable, or something else that holds no texts.
    """
    if errors not in ERRORS:
        raise ValueError(f"errors must be one of {', '.join(ERRORS)}, not {errors!r}")
    if isinstance(source, Corpus):
        return source
    if isinstance(source, os.PathLike):
        return files(source, errors=errors, field=field, lines=lines)
    if isinstance(source, list | tuple) and source and all(isinstance(item, os.PathLike) for item in source):
        return files(*source, errors=errors, field=field, lines=lines)
    if isinstance(source, str | bytes):
        raise TypeError(
            f"a corpus must not be a single {type(source).__name__}: write [text] for one text, and pathlib.Path(name) or "
            "ctok.train.files(name) for a file"
        )
    if isinstance(source, AsyncIterable):
        raise TypeError("an asynchronous corpus needs the asynchronous call: await trainer.train_async(corpus)")
    if not isinstance(source, Iterable) or isinstance(source, Mapping):
        raise TypeError(f"a corpus must be an iterable of str, path objects, or word counts, not {type(source).__name__}")
    return _Items(source, errors, field, lines)


def files(*paths: str | os.PathLike[str], errors: str = "strict", field: str = "text", lines: bool = False) -> Corpus:
    r"""Return the corpus of files.

    Parameters
    ----------
    paths
        Names, or patterns with ``*``, ``?``, ``[...]`` and ``**``. A pattern gives its files in the order of their names. By the name's end
        a file is text, JSON by lines (``.jsonl``, ``.ndjson``), or Parquet (``.parquet``, read through pyarrow); text and JSON may be
        packed (``.gz``, ``.xz``).
    errors
        What to do about bytes that are not UTF-8, and about lone surrogates: ``"strict"`` raises, ``"replace"`` takes U+FFFD for each
        malformed part, ``"skip"`` leaves them out.
    field
        Of JSON and Parquet files: which field of a record holds the text.
    lines
        Of text files: True makes each line, with its line end, a text; else each file is one.

    Raises
    ------
    FileNotFoundError
        There is no such file, or none that a pattern names.
    CorpusError
        From reading: malformed UTF-8 (if strict), a damaged file, a record without the field. Names file and place.
    ImportError
        From reading Parquet files without pyarrow.
    """
    if errors not in ERRORS:
        raise ValueError(f"errors must be one of {', '.join(ERRORS)}, not {errors!r}")
    return FileCorpus([path for name in paths for path in _files.expand(os.fspath(name))], errors, field, lines)


def texts(source: Iterable[str | bytes], *, errors: str = "strict") -> Corpus:
    """Return the corpus of an iterable of texts: str, or bytes that hold UTF-8. `errors` as for `files`."""
    return as_corpus(source, errors=errors)


class _Collector:
    """Texts on their way into blocks."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._ends = array("Q")
        self._size = 0

    def add(self, text: bytes) -> bool:
        """Take a text; True when there is enough for a block."""
        self._parts.append(text)
        self._size += len(text)
        self._ends.append(self._size)
        return self._size >= PIECE or len(self._ends) >= 1 << 16

    def block(self, read: int) -> Block:
        """Return what is there, and begin anew."""
        made = Block(b"".join(self._parts), self._ends, False, read)
        self.__init__()  # type: ignore[misc]
        return made

    def __bool__(self) -> bool:
        return bool(self._ends)


class _Items(Corpus):
    """An iterable of texts and paths."""

    def __init__(self, source: Iterable[Any], errors: str, field: str, lines: bool) -> None:
        self._source, self._errors, self._field, self._lines = source, errors, field, lines

    def blocks(self) -> Iterator[Block]:
        collected, read = _Collector(), 0
        for index, item in enumerate(self._source):
            if isinstance(item, os.PathLike):
                if collected:
                    yield collected.block(read)
                for block in files(item, errors=self._errors, field=self._field, lines=self._lines).blocks():
                    block.read += read
                    yield block
                continue
            text = as_bytes(item, self._errors, index)
            read += len(text)
            if collected.add(text):
                yield collected.block(read)
        if collected:
            yield collected.block(read)


def as_bytes(item: Any, errors: str, index: int | None, *, path: str | None = None, line: int | None = None) -> bytes:
    """Return one text as UTF-8."""
    if isinstance(item, str):
        try:
            return item.encode()
        except UnicodeEncodeError as error:
            if errors != "strict":
                # A pair of surrogates is a character; only what has no partner is replaced or left out.
                whole = item.encode("utf-16", "surrogatepass").decode("utf-16", "replace" if errors == "replace" else "ignore")
                return whole.encode()
            message = f"{_where(path, line, index)}a lone surrogate at character {error.start}"
            raise CorpusError(message, path=path, position=error.start, line=line, index=index) from None
    if isinstance(item, bytes | bytearray | memoryview):
        return checked(bytes(item), errors, 0, path=path, index=index)
    kind = "None" if item is None else type(item).__name__
    raise TypeError(f"{_where(path, line, index)}expected a str, got {kind}")


def _where(path: str | None, line: int | None, index: int | None) -> str:
    parts = [str(path)] if path is not None else []
    parts += [f"line {line}"] if line is not None else []
    parts += [f"text {index} of the corpus"] if index is not None else []
    return ", ".join(parts) + ": " if parts else ""


def checked(data: bytes, errors: str, before: int, *, path: str | None = None, index: int | None = None) -> bytes:
    """Return data that are UTF-8, repaired as `errors` says; before: bytes of the same text that came earlier."""
    bad = first_bad(data)
    if bad < 0:
        return data
    if errors == "strict":
        at = before + bad
        cure = 'pass errors="replace" or errors="skip" to read on'
        message = f"{_where(path, None, index)}byte 0x{data[bad]:02X} at offset {at} is not UTF-8; {cure}"
        raise CorpusError(message, path=path, position=at, index=index)
    return data.decode("utf-8", "replace" if errors == "replace" else "ignore").encode()


class FileCorpus(Corpus):
    """Files, one after the other; what `files` gives."""

    def __init__(self, paths: list[str], errors: str, field: str, lines: bool) -> None:
        self.paths, self.errors, self.field, self.lines = paths, errors, field, lines
        self.size = sum(os.path.getsize(path) for path in paths)

    def blocks(self) -> Iterator[Block]:
        for _, block in self.placed(0):
            yield block

    def placed(self, first: int) -> Iterator[tuple[int, Block]]:
        """Yield the blocks from a file on, each with the number of its file. They are the same each time."""
        before = sum(os.path.getsize(path) for path in self.paths[:first])
        for number, path in enumerate(self.paths[first:], first):
            for block in self._blocks_of(path):
                block.read += before
                yield number, block
            before += os.path.getsize(path)

    def _blocks_of(self, path: str) -> Iterator[Block]:
        kind = _files.kind_of(path)
        if kind == "text":
            return self._lines_of(path) if self.lines else self._whole(path)
        return self._records(path, _files.json_records if kind == "json" else _files.parquet_records)

    def _pieces(self, path: str) -> Iterator[tuple[bytes, int, bool]]:
        """The text of a file in pieces of whole characters: (bytes, how much was read, whether it was the last)."""
        left, before = b"", 0
        for data, read, is_last in _files.pieces(path, PIECE):
            data = left + data
            left = b"" if is_last else data[len(data) - _open_tail(data) :]
            whole = data[: len(data) - len(left)]
            yield checked(whole, self.errors, before, path=path), read, is_last
            before += len(whole)

    def _whole(self, path: str) -> Iterator[Block]:
        for data, read, is_last in self._pieces(path):
            yield Block(data, array("Q", [len(data)]), not is_last, read)

    def _lines_of(self, path: str) -> Iterator[Block]:
        left = b""
        for data, read, is_last in self._pieces(path):
            stop = len(data) if is_last else data.rfind(b"\n") + 1
            if not stop and not is_last:
                left += data
                continue
            lines, left = left + memoryview(data)[:stop], data[stop:]
            ends = array("Q")
            ends.frombytes(line_ends(lines))
            if ends:
                yield Block(lines, ends, False, read)

    def _records(self, path: str, reader: Any) -> Iterator[Block]:
        collected, read = _Collector(), 0
        for text, line, read in reader(path, self.field):
            if collected.add(as_bytes(text, self.errors, None, path=path, line=line)):
                yield collected.block(read)
        if collected:
            yield collected.block(read)


def _open_tail(data: bytes) -> int:
    """How many bytes at the end begin a character that is not complete."""
    for n in range(1, min(4, len(data) + 1)):
        byte = data[-n]
        if byte >= 0xC0:
            return n if byte >= (0xF0, 0xE0, 0xC0)[3 - n] and byte < 0xF8 else 0
        if byte < 0x80:
            return 0
    return 0
