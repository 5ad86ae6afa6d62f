"""The last resort: get a published rank file from its address, once, whole, and exactly the one whose SHA-256 is known."""

from __future__ import annotations

import os
from contextlib import contextmanager

from ..errors import VocabularyFileError
from ..formats import _disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..formats._known import RankFile

TIMEOUT = 30.0  # seconds without an answer or without progress
LARGEST = 64 << 20  # bytes; the largest known file has 4 MB
PIECE = 1 << 18


def is_forbidden() -> bool:
    """Return whether ``CTOK_OFFLINE`` forbids the network: it is set, and not to 0."""
    return os.environ.get("CTOK_OFFLINE", "0") not in ("", "0")


def fetch(file: RankFile, folder: str | None) -> bytes:
    """Return a rank file's bytes from the cache folder, where another process may have put it meanwhile, or from its address.

    Parameters
    ----------
    file
        The published file.
    folder
        Where to keep it, as ``NAME.tiktoken``; made when it is missing. None, or a folder that cannot be written: it is not kept.

    Raises
    ------
    VocabularyFileError
        What came has another SHA-256, or is too large. Nothing was kept.
    OSError
        The address could not be reached, or broke off.
    """
    path = os.path.join(folder, file.name + ".tiktoken") if folder else None
    with _alone(path):
        if path and os.path.exists(path):
            data = _disk.read(path)
            if _disk.sha256(data) == file.sha256:
                return data
        data = _get(file.url)
        digest = _disk.sha256(data)
        if digest != file.sha256:
            raise VocabularyFileError(
                f"what was downloaded ({len(data)} bytes) has sha256 {digest}, expected {file.sha256}",
                path=file.url,
                cure="Nothing was kept. Try again; behind a proxy that changes files, download it by hand and set CTOK_VOCAB_DIR.",
            )
        if path:
            try:
                _disk.write(path, data)
            except OSError:
                pass  # a cache that cannot be written costs another download, no more
        return data


def _get(url: str) -> bytes:
    from http.client import HTTPException
    from urllib.request import Request, urlopen

    pieces, size = [], 0
    try:
        with urlopen(Request(url, headers={"User-Agent": "ctok"}), timeout=TIMEOUT) as answer:
            expected = answer.headers.get("Content-Length")
            while piece := answer.read(PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > LARGEST:
                    raise VocabularyFileError(f"what is there is larger than {LARGEST} bytes", path=url)
    except HTTPException as error:
        raise OSError(f"the answer broke off: {error}") from error
    if expected is not None and expected.isdigit() and size < int(expected):
        raise OSError(f"the answer broke off after {size} of {expected} bytes")
    return b"".join(pieces)


@contextmanager
def _alone(path: str | None) -> Iterator[None]:
    """Keep other processes from downloading the same file at the same time. A lock that cannot be had is done without."""
    lock = _locked(path + ".lock") if path else None
    try:
        yield
    finally:
        if lock is not None:
            os.close(lock)  # which also unlocks


def _locked(path: str) -> int | None:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        return None
    try:
        _wait_for(lock)
    except OSError:
        os.close(lock)
        return None
    return lock


def _wait_for(lock: int) -> None:
    import sys

    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(lock, msvcrt.LK_LOCK, 1)  # gives up after ten seconds
    else:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX)
