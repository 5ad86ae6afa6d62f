"""The binary vocabulary: a whole spec in one file that loads in a fraction of a millisecond (plain) or is small (packed).

`csrc/ctok_pack.h` lays out header, checksum and token table. Here is what the file says beside them, the meta bytes.

Version 2, for what a rank file can be: one field after the other, each a little-endian uint32 length and as many bytes: name, model's mode,
split pattern, SHA-256 (hex) of the rank file it was made from, source, the table's splits (spec.TokenTable); then for each added token its
id (4 bytes), a flag (1 byte, special) and its text in one field.

Version 4, for every other spec: a little-endian uint32 length and as many bytes of JSON (`_records`): the spec, with its buffers given by
number, the SHA-256, and each buffer's offset and size; then, from the next multiple of 64 of the file on, the buffers, each from a multiple
of 64 on. In version 3 records have no fields that came later.
"""

from __future__ import annotations

import os

from .._native.files import mapped, pack_version, read_pack, write_pack
from ..errors import SpecError, VocabularyFileError
from ..spec import BPE, AddedToken, Record, Spec, Split, TokenTable
from . import _disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike
    from typing import Any

    from typing_extensions import Buffer

__all__ = ["dump", "dumps", "load", "loads"]

_HEADER = 64  # bytes before the meta bytes
_ANY, _NEWEST = 3, 4  # versions that hold any spec
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
        if pack_version(data) >= _ANY:
            return _read_any(memoryview(meta), TokenTable(tokens, ends, ids))
        name, mode, pattern, digest, source, splits, added = _read_meta(bytes(meta))
        return Spec(name, BPE(TokenTable(tokens, ends, ids, splits), mode), Split(pattern), added, source=source or None), digest
    except (ValueError, TypeError, LookupError, AttributeError, ImportError, RecursionError) as error:
        raise VocabularyFileError(f"the content is impossible ({error})", path=where, cure=_CURE) from error


def dumps(spec: Spec, *, packed: bool = True, sha256: str = "") -> bytes:
    """Return a spec as a binary vocabulary.

    Parameters
    ----------
    spec
        Any spec with one token table.
    packed
        True: about a third of the size, about 2 ms to load 200 000 tokens. False: the table can be used where it lies.
    sha256
        SHA-256 in hex of the rank file that the spec was made from, if it was.

    Raises
    ------
    SpecError
        The spec has something that the format has no place for, or its tokens are not a table.
    """
    if not _is_plain(spec):
        return _dump_any(spec, packed, sha256)
    model, split = spec.model, spec.pre_tokenizer
    try:
        fields = [part.encode() for part in (spec.name, model.mode, split.pattern, sha256, spec.source or "")]
        fields.append(bytes(model.tokens.splits))
        fields += [token.id.to_bytes(4, "little") + bytes((token.special,)) + token.content.encode() for token in spec.added_tokens]
        meta = b"".join(len(field).to_bytes(4, "little") + field for field in fields)
        return write_pack(model.tokens.data, model.tokens.ends, model.tokens.ids, meta, packed)
    except ValueError as error:
        raise SpecError(f"{spec.name!r} cannot be written as a binary vocabulary: {error}") from error


def _is_plain(spec: Spec) -> bool:
    """Whether version 2 can say it all."""
    others = (spec.normalizer, spec.post_processor, spec.decoder, spec.roles, spec.truncation, spec.padding, spec.document)
    plain = all(token == AddedToken(token.content, token.id, token.special) for token in spec.added_tokens)
    return type(spec.model) is BPE and spec.model.merges is None and type(spec.pre_tokenizer) is Split and not any(others) and plain


def _dump_any(spec: Spec, packed: bool, sha256: str) -> bytes:
    from json import dumps as text

    from ._records import encode

    if not packed:
        spec = _with_tables(spec)
    columns: list[Any] = []
    tables: list[TokenTable] = []
    for part in ("model", "pre_tokenizer", "normalizer", "post_processor", "decoder", "truncation", "padding"):
        if not isinstance(getattr(spec, part), Record) and (part == "model" or getattr(spec, part) is not None):
            raise SpecError(f"a binary vocabulary holds records; the {part.replace('_', '-')} of {spec.name!r} is {getattr(spec, part)!r}")
    said: dict[str, Any] = {"spec": encode(spec, columns, tables), "sha256": sha256, "columns": []}
    if len(tables) != 1:
        raise SpecError(f"a binary vocabulary holds one token table; {spec.name!r} has {len(tables)}")
    at = 0
    for column in columns:
        said["columns"].append((at, len(column)))
        at = _aligned(at + len(column))
    head = text(said, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    meta = bytearray(len(head).to_bytes(4, "little") + head)
    meta += bytes(_aligned(_HEADER + len(meta)) - _HEADER - len(meta))
    for column in columns:
        meta += column
        meta += bytes(_aligned(len(column)) - len(column))
    table = tables[0]
    try:
        return write_pack(table.data, table.ends, table.ids, meta, packed, _NEWEST)
    except ValueError as error:
        raise SpecError(f"{spec.name!r} cannot be written as a binary vocabulary: {error}") from error


def _with_tables(spec: Spec) -> Spec:
    """The same with what a byte-level model is slow to find out: its tokens by their bytes, and which merges of its list are ever used."""
    if type(spec.model) is not BPE or spec.model.merges is None or spec.model.by_bytes or spec.pre_tokenizer is None:
        return spec
    from .._native.mergemodel import table_by_bytes
    from ..stagespecs.pretokenizers import is_byte_level

    if not is_byte_level(spec.pre_tokenizer):
        return spec

    return spec.replace(model=_with_used(spec.model.replace(by_bytes=table_by_bytes(spec.model.tokens))))


def _with_used(model: BPE) -> BPE:
    from .._native.files import used_merges
    from .._native.mergemodel import MergeList

    if not model.joined or model.merges is None or model.continuing_subword_prefix or model.end_of_word_suffix:
        return model
    try:
        found = MergeList(model.tokens, model.merges, ignore_merges=True, byte_level=True, joined=model.joined, by_bytes=model.by_bytes)
    except SpecError:  # a tokenizer that is built from it says what is wrong
        return model
    return model.replace(used=used_merges(found.vocab, model.merges, model.joined)) if found.is_ranked else model


def _read_any(meta: memoryview, table: TokenTable) -> tuple[Spec, str]:
    from ._records import decode

    size = int.from_bytes(meta[:4], "little")
    said = _parsed(meta[4 : 4 + size])
    body = meta[_aligned(_HEADER + 4 + size) - _HEADER :]
    columns = []
    for begin, length in said["columns"]:
        if not 0 <= begin <= begin + length <= len(body):
            raise ValueError("a buffer leaves the meta bytes")
        columns.append(body[begin : begin + length])
    spec = decode(said["spec"], columns, [table])
    if not isinstance(spec, Spec) or not isinstance(said["sha256"], str):
        raise TypeError("there is no spec in the meta bytes")
    return spec, said["sha256"]


def _parsed(head: memoryview) -> Any:
    from .._native.jsonvalue import parse

    try:
        return parse(head)
    except ValueError:  # a name with half of a surrogate pair in it, as names of files may have
        from json import loads

        return loads(bytes(head))


def _aligned(n: int) -> int:
    return (n + 63) // 64 * 64


def dump(spec: Spec, path: str | PathLike[str], *, packed: bool = False, sha256: str = "") -> None:
    """Write a spec as a binary vocabulary, as a whole or not at all; see `dumps`."""
    _disk.write(path, dumps(spec, packed=packed, sha256=sha256))


def _mapped(path: str | PathLike[str]) -> Buffer:
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if size == 0:
            return b""
        try:
            return mapped(file.fileno(), size)
        except ValueError:  # Python knows more ways, but takes longer to load them
            from mmap import ACCESS_READ, mmap

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
