"""Files of counts.

    8 bytes    magic
    4          version, 1
    4          flags; 1: there are first places
    8 8        how many pretokens, bytes of all pretokens
    8          bytes of the text that says how they were cut
    ...        that text in UTF-8, the pretokens, their ends (4 bytes each), counts (8 each), first places (8 each)
    32         SHA-256 of all that stands before

All numbers are little-endian.
"""

from __future__ import annotations

import os
from struct import Struct

from ..errors import CorpusError
from ..formats import _disk
from ._files import MAGIC

HEADER = Struct("<8sIIQQQ")
VERSION = 1
ORDERED = 1


def is_one(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins like a file of counts."""
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def write(path: str | os.PathLike[str], data: bytes, ends: bytes, counts: bytes, firsts: bytes | None, how: str) -> None:
    """Write a file, as a whole or not at all."""
    from hashlib import sha256

    told = how.encode()
    header = HEADER.pack(MAGIC, VERSION, 0 if firsts is None else ORDERED, len(ends) // 4, len(data), len(told))
    parts = [header, told, data, ends, counts, firsts or b""]
    digest = sha256()
    for part in parts:
        digest.update(part)
    _disk.write(path, b"".join([*parts, digest.digest()]))


def read(path: str | os.PathLike[str]) -> tuple[bytes, bytes, bytes, bytes | None, str]:
    """Return (data, ends, counts, firsts, how).

    Raises
    ------
    CorpusError
        It is no such file, of a later version, or damaged.
    """
    from hashlib import sha256

    name = os.fspath(path)
    with open(path, "rb") as file:
        content = file.read()
    if len(content) < HEADER.size + 32 or content[: len(MAGIC)] != MAGIC:
        raise CorpusError(f"{name}: not a file of counts", path=name)
    _, version, flags, n, size, n_told = HEADER.unpack_from(content)
    if version != VERSION:
        raise CorpusError(f"{name}: a file of counts of version {version}; this release reads version {VERSION}", path=name)
    view = memoryview(content)
    lengths = [n_told, size, 4 * n, 8 * n, 8 * n if flags & ORDERED else 0]
    if len(content) != HEADER.size + sum(lengths) + 32 or sha256(view[:-32]).digest() != content[-32:]:
        raise CorpusError(f"{name}: the file of counts is damaged; count its shard again", path=name)
    parts, at = [], HEADER.size
    for length in lengths:
        parts.append(bytes(view[at : at + length]))
        at += length
    told, data, ends, counts, firsts = parts
    return data, ends, counts, firsts if flags & ORDERED else None, told.decode()
