"""The binary vocabulary: a whole byte-level spec in one file that loads in a fraction of a millisecond (plain) or is small (packed).

`csrc/ctok_pack.h` lays out header, checksum and token table. Here is what the file says beside them, the meta bytes: one field after the
other, each a little-endian uint32 length and as many bytes: name, model's mode, split pattern, SHA-256 (hex) of the rank file it was made
from, source, the table's splits (spec.TokenTable); then for each added token its id (4 bytes), a flag (1 byte, special) and its text in one
field.
"""

from __future__ import annotations

import os

from .._native.files import read_pack, write_pack
from ..errors import SpecError, VocabularyFileError
from ..spec import BPE, AddedToken, Spec, Split, TokenTable
from . import _disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike

    from typing_extensions import Buffer

__all__ = ["dump", "dumps", "load", "loads"]

_CURE = "Make it again from the original vocabulary file."


def load(path: str | PathLike[str]) -> Spec:
    """Return the `Spec` of a binary vocabulary. A plain one is mapped, not read: its table's buffers are views of the file.

    Raises
    ------
    VocabularyFileError
        The file is of another format or version, damaged or cut off. It is left as it is.
    OSError
        The file cannot be read.
    """
    return load_with_sha256(path)[0]


def load_with_sha256(path: str | PathLike[str]) -> tuple[Spec, str]:
    """Return what `load` does, and the SHA-256 in hex of the rank file it was made from, or ""."""
    return read(_mapped(path), path)


def loads(data: Buffer, path: str | PathLike[str] | None = None) -> Spec:
    """Return the `Spec` of a binary vocabulary's bytes; see `load`. `data` is kept when it is plain."""
    return read(data, path)[0]


def read(data: Buffer, path: str | PathLike[str] | None = None) -> tuple[Spec, str]:
    """Return the `Spec`, and the SHA-256 in hex of the rank file it was made from, or ""."""
    where = None if path is None else os.fspath(path)
    meta, tokens, ends, ids = read_pack(data, where)
    try:
        name, mode, pattern, digest, source, splits, added = _read_meta(meta)
        return Spec(name, BPE(TokenTable(tokens, ends, ids, splits), mode), Split(pattern), added, source=source or None), digest
    except (ValueError, TypeError) as error:
        raise VocabularyFileError(f"the content is impossible ({error})", path=where, cure=_CURE) from error


def dumps(spec: Spec, *, packed: bool = True, sha256: str = "") -> bytes:
    """Return a spec as a binary vocabulary.

    Parameters
    ----------
    spec
        A byte-pair model by rank with a split pattern; no other stages.
    packed
        True: about a third of the size, about 2 ms to load 200 000 tokens. False: the table can be used where it lies.
    sha256
        SHA-256 in hex of the rank file that the spec was made from, if it was.

    Raises
    ------
    SpecError
        The spec has something that the format has no place for, or its tokens are not a table.
    """
    model, split = spec.model, spec.pre_tokenizer
    if not isinstance(model, BPE) or not isinstance(split, Split) or spec.normalizer or spec.post_processor or spec.decoder:
        raise SpecError(f"a binary vocabulary holds a byte-pair model, a split pattern and no other stages; {spec.name!r} differs")
    try:
        fields = [part.encode() for part in (spec.name, model.mode, split.pattern, sha256, spec.source or "")]
        fields.append(bytes(model.tokens.splits))
        fields += [token.id.to_bytes(4, "little") + bytes((token.special,)) + token.content.encode() for token in spec.added_tokens]
        meta = b"".join(len(field).to_bytes(4, "little") + field for field in fields)
        return write_pack(model.tokens.data, model.tokens.ends, model.tokens.ids, meta, packed)
    except ValueError as error:
        raise SpecError(f"{spec.name!r} cannot be written as a binary vocabulary: {error}") from error


def dump(spec: Spec, path: str | PathLike[str], *, packed: bool = False, sha256: str = "") -> None:
    """Write a spec as a binary vocabulary, as a whole or not at all; see `dumps`."""
    _disk.write(path, dumps(spec, packed=packed, sha256=sha256))


def _mapped(path: str | PathLike[str]) -> Buffer:
    from mmap import ACCESS_READ, mmap

    with open(path, "rb", buffering=0) as file:
        if os.fstat(file.fileno()).st_size == 0:
            return b""
        return mmap(file.fileno(), 0, access=ACCESS_READ)


def _read_meta(meta: bytes) -> tuple[str, str, str, str, str, bytes, tuple[AddedToken, ...]]:
    fields = []
    at = 0
    while at < len(meta):
        begin = at + 4
        at = begin + int.from_bytes(meta[at:begin], "little")
        if at > len(meta):
            raise ValueError("a field leaves the meta bytes")
        fields.append(meta[begin:at])
    if len(fields) < 6 or any(len(field) < 6 for field in fields[6:]):
        raise ValueError("a field is missing from the meta bytes")
    name, mode, pattern, digest, source = (field.decode() for field in fields[:5])
    added = tuple(AddedToken(field[5:].decode(), int.from_bytes(field[:4], "little"), field[4] != 0) for field in fields[6:])
    return name, mode, pattern, digest, source, fields[5], added
