"""Files of a corpus: which there are, what kind they are, their bytes and records."""

from __future__ import annotations

import os
from errno import ENOENT
from glob import glob, has_magic

from ..errors import CorpusError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

MAGIC = b"\x89ctokcnt"  # how a file of counts begins


def expand(name: str) -> list[str]:
    """Return the files that a name or a pattern stands for.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        There is none; or it is a directory.
    """
    if os.path.isdir(name):
        raise IsADirectoryError(f"{name} is a directory; a pattern names the files in it: {os.path.join(name, '**', '*.txt')}")
    if os.path.exists(name):
        return [name]
    found = sorted(path for path in glob(name, recursive=True) if os.path.isfile(path)) if has_magic(name) else []
    if not found:
        raise FileNotFoundError(ENOENT, "no such file" if not has_magic(name) else "no file has such a name", name)
    return found


def kind_of(path: str) -> str:
    """Return ``"text"``, ``"json"`` or ``"parquet"``."""
    name = path.lower().removesuffix(".gz").removesuffix(".xz")
    if name.endswith((".jsonl", ".ndjson")):
        return "json"
    return "parquet" if name.endswith(".parquet") else "text"


def pieces(path: str, size: int) -> Iterator[tuple[bytes, int, bool]]:
    """Yield the unpacked content in pieces: (bytes, how much of the file was read, whether it is the last); at least one."""
    with open(path, "rb", buffering=0) as raw:
        file = _unpacking(path, raw)
        ahead = _read(file, path, size)
        if ahead.startswith(MAGIC):
            raise CorpusError(f"{path} holds counts, not text; give it as ctok.train.Counts.load(path)", path=path)
        while ahead:
            data, ahead = ahead, _read(file, path, size)
            yield data, raw.tell(), not ahead


def _unpacking(path: str, raw: BinaryIO) -> Any:
    if path.lower().endswith(".gz"):
        from gzip import GzipFile

        return GzipFile(fileobj=raw, mode="rb")
    if path.lower().endswith(".xz"):
        from lzma import LZMAFile

        return LZMAFile(raw)
    return raw


def _read(file: Any, path: str, size: int) -> bytes:
    """Read `size` bytes, fewer only at the end."""
    from lzma import LZMAError
    from zlib import error as zlib_error

    parts, wanted = [], size
    try:
        while wanted and (data := file.read(wanted)):
            parts.append(data)
            wanted -= len(data)
    except (EOFError, LZMAError, zlib_error) as error:
        raise CorpusError(f"{path}: the packed file is damaged: {error}", path=path) from None
    except OSError as error:
        if error.errno is None:  # gzip has no class of its own for a wrong header before Python 3.8, and derives from this one since
            raise CorpusError(f"{path}: the packed file is damaged: {error}", path=path) from None
        raise
    return b"".join(parts)


def json_records(path: str, field: str) -> Iterator[tuple[str, int, int]]:
    """Yield (text, line, how much of the file was read) of a file with a JSON object a line. Empty lines are none."""
    from json import JSONDecodeError, loads

    number, left = 0, b""
    for data, read, is_last in pieces(path, 1 << 20):
        rows = (left + data).split(b"\n")
        left = b"" if is_last else rows.pop()
        for row in rows:
            number += 1
            if not row.strip():
                continue
            try:
                record = loads(row)
            except (JSONDecodeError, UnicodeDecodeError) as error:
                raise CorpusError(f"{path}: line {number}: not JSON: {error}", path=path, line=number) from None
            yield _field_of(record, field, path, number), number, read


def _field_of(record: Any, field: str, path: str, line: int) -> str:
    text = record.get(field) if isinstance(record, dict) else None
    if not isinstance(text, str):
        has = f"the fields are {', '.join(sorted(record))}" if isinstance(record, dict) else "it is no object"
        raise CorpusError(f"{path}: line {line}: no text in field {field!r}; {has}", path=path, line=line)
    return text


def parquet_records(path: str, field: str) -> Iterator[tuple[str, int, int]]:
    """Yield (text, row, how much of the file was read) of a Parquet file; rows where the field is null are none."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise ImportError(f"{path} is a Parquet file; reading it needs pyarrow (pip install pyarrow)") from None
    size = os.path.getsize(path)
    try:
        with ParquetFile(path) as file:
            names = file.schema_arrow.names
            if field not in names:
                raise CorpusError(f"{path}: there is no column {field!r}; the columns are {', '.join(names)}", path=path)
            row, rows = 0, file.metadata.num_rows or 1
            for batch in file.iter_batches(batch_size=4096, columns=[field]):
                for text in batch.column(0).to_pylist():
                    row += 1
                    if text is not None:
                        yield text, row, size * row // rows
    except (ArrowException, OSError) as error:
        raise CorpusError(f"{path}: not a Parquet file that can be read: {error}", path=path) from None
