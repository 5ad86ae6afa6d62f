"""Reading and writing whole files: what all formats share."""

from __future__ import annotations

import os

from ..errors import VocabularyFileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import FileIO
    from os import PathLike

    from typing_extensions import Buffer

_LARGE = 1 << 20  # bytes


def read(path: str | PathLike[str]) -> bytes:
    """Return a file's bytes; what the system says when it cannot be read (`OSError`) is passed on."""
    with open(path, "rb", buffering=0) as file:
        return file.read()


def contents(file: FileIO) -> bytes | memoryview:
    """Return what an open file holds from where it stands, a large one in a block of memory that costs less than bytes do."""
    size = os.fstat(file.fileno()).st_size
    if size < _LARGE:
        return file.read()
    from .._native.files import new_room

    room = new_room(size)
    at = 0
    while at < size and (n := file.readinto(room[at:])):
        at += n
    rest = file.read()  # it grew meanwhile
    return bytes(room[:at]) + rest if rest else room[:at].toreadonly()


def write(path: str | PathLike[str], data: Buffer) -> None:
    """Write a file as a whole: under another name, to the disk, then renamed, so that no reader ever sees a part of it.

    The folder must exist. On an error nothing is left behind and an old file of this name stays.
    """
    path = os.fspath(path)
    folder, name = os.path.split(path)
    working = os.path.join(folder, f".{name}.{os.getpid()}.{os.urandom(6).hex()}.tmp")
    try:
        file = os.open(working, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        error.filename = path  # the name that the caller knows
        raise
    try:
        try:
            view = memoryview(data).cast("B")
            while view:
                view = view[os.write(file, view) :]
            os.fsync(file)
        finally:
            os.close(file)
        os.replace(working, path)
    except BaseException:
        os.unlink(working)
        raise


def sha256(data: Buffer) -> str:
    """Return the SHA-256 of a rank file's bytes in hex. Line ends count as LF, so a file that a checkout gave CRLF is the same file."""
    from hashlib import sha256 as new

    if not isinstance(data, bytes):
        data = bytes(data)
    return new(data.replace(b"\r\n", b"\n") if b"\r\n" in data[:4096] else data).hexdigest()


def name_of(where: str | None) -> str:
    """Return what a file's tokenizer is called: its stem, or its folder's name where every file is called the same."""
    folder, name = os.path.split(os.path.abspath(where)) if where else ("", "")
    stem = os.path.splitext(name.removesuffix(".gz"))[0]
    return (os.path.basename(folder) if stem in ("tokenizer", "vocab", "tekken") else stem) or stem or "tokenizer"


def missing(path: str | PathLike[str]) -> VocabularyFileError:
    """The error for a path where there is no file."""
    return VocabularyFileError("there is no such file", path=os.fspath(path))
