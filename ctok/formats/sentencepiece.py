"""SentencePiece model files: read to a `Spec`, and written from one byte for byte as they were.

The pieces go from the file's bytes to buffers without an object for each (`ctok/_native/spmfile.pyx`). What no field of the `Spec` says,
and how the file spells what they say, is in its `document`: the file itself, with a number in the place of each run of pieces that need no
more than that, and without the table of the normalizer.
"""

from __future__ import annotations

import os

from .._native.spmfile import ModelFile, PieceWriter
from .._native.spmfile import fields as fields_of
from ..errors import SpecError, VocabularyFileError
from ..spec import Spec, TokenTable
from ..stagespecs.sentencepiece import CONTROL, KINDS, USER_DEFINED, Decoder, Normalizer, Pieces
from . import _disk
from ._spm_fields import DENORMALIZER, FILE, NORMALIZER, TRAINER, changed, enclosed, head, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from typing import Any

    from typing_extensions import Buffer

__all__ = ["dump", "dumps", "load", "loads"]

_PARTS = {"bos": b"<s>", "eos": b"</s>", "pad": b"<pad>"}
_CHARSMAP = 2  # the field of the normalizer's table


def load(path: str | PathLike[str]) -> Spec:
    """Return the `Spec` of a model file; see `loads`.

    Raises
    ------
    VocabularyFileError
        As `loads`, with the file's name.
    OSError
        The file cannot be read.
    """
    return loads(_disk.read(path), path=path)


def loads(data: Buffer, *, path: str | PathLike[str] | None = None) -> Spec:
    """Return the `Spec` of a model file's bytes.

    Parameters
    ----------
    data
        The whole file.
    path
        What to call it in an error; its stem names the tokenizer.

    Raises
    ------
    VocabularyFileError
        It is empty, breaks off, or is no such file; or it says what sentencepiece itself refuses: two pieces with one text, no unknown
        piece, byte fallback without all bytes, ... The error names the field and the byte where it lies.

    Notes
    -----
    A file of 32 000 pieces takes about 2 ms.
    """
    where = None if path is None else os.fspath(path)
    raw = memoryview(data).cast("B")
    file = ModelFile(raw, where)
    if not len(raw):
        raise VocabularyFileError("the file is empty", path=where)
    said = {number: read(number, _parts(file, raw, number), where) for number in (TRAINER, NORMALIZER, DENORMALIZER)}
    model = _model(file, said[TRAINER])
    return Spec(
        _disk.name_of(where),
        model,
        None,
        normalizer=_normalizer(file, model, said[NORMALIZER], where),
        decoder=_decoder(model, said),
        source=where,
        roles=_roles(file, model),
        document=_document(file, raw),
    )


def _parts(file: ModelFile, raw: memoryview, wanted: int) -> list[tuple[memoryview, int]]:
    return [(raw[value:end], value) for number, _, value, end, _ in file.messages if number == wanted]


def _model(file: ModelFile, trainer: dict[str, Any]) -> Pieces:
    kind = KINDS[trainer["model_type"] - 1]
    file.check(kind, trainer["byte_fallback"])
    data, ends, ids, scores, types = file.table()
    return Pieces(
        TokenTable(data, ends, ids),
        scores,
        types,
        kind,
        trainer["byte_fallback"],
        file.unk_id or 0,
        bos_id=file.find(CONTROL, _name(trainer, "bos")),
        eos_id=file.find(CONTROL, _name(trainer, "eos")),
        pad_id=file.find(CONTROL, _name(trainer, "pad")),
        treat_whitespace_as_suffix=trainer["treat_whitespace_as_suffix"],
    )


def _name(trainer: dict[str, Any], role: str) -> bytes:
    """What the piece that plays a part is called; an empty name counts as none given."""
    return trainer[f"{role}_piece"].encode() or _PARTS[role]


def _normalizer(file: ModelFile, model: Pieces, said: dict[str, Any], where: str | None) -> Normalizer:
    try:
        symbols = [text.decode() for text in file.texts(USER_DEFINED)]
    except UnicodeDecodeError as error:
        raise VocabularyFileError(f"the user-defined piece {error.object!r} is not UTF-8", path=where, field="pieces") from None
    return Normalizer(
        said["precompiled_charsmap"],
        said["add_dummy_prefix"],
        said["remove_extra_whitespaces"],
        said["escape_whitespaces"],
        model.treat_whitespace_as_suffix,
        symbols,
        said["name"],
    )


def _decoder(model: Pieces, said: dict[int, dict[str, Any]]) -> Decoder:
    first, last = said[NORMALIZER], said[DENORMALIZER]
    return Decoder(
        first["add_dummy_prefix"],
        first["remove_extra_whitespaces"],
        model.treat_whitespace_as_suffix,
        said[TRAINER]["unk_surface"],
        Normalizer(
            last["precompiled_charsmap"],
            last["add_dummy_prefix"],
            last["remove_extra_whitespaces"],
            last["escape_whitespaces"],
            name=last["name"],
        )
        if last["precompiled_charsmap"]  # without a table it does nothing at all
        else None,
    )


def _roles(file: ModelFile, model: Pieces) -> dict[str, str]:
    numbers = {role: getattr(model, f"{role}_id") for role in (*_PARTS, "unk")}
    return {role: file.text(number).decode("utf-8", "replace") for role, number in numbers.items() if number is not None}


def _document(file: ModelFile, raw: memoryview) -> bytes:
    """The file's document without tables of normalizers: they are empty in it."""
    out, at = [], 0
    found = [message[0] for message in file.messages]
    for number, begin, value, end, place in file.messages:
        once = number in (NORMALIZER, DENORMALIZER) and found.count(number) == 1
        if once and head(number, end - value) == raw[begin:value]:
            out += [file.document(at, place), enclosed(number, _without_table(raw[value:end]))]
            at = place + end - begin
    return b"".join([*out, file.document(at)])


def _without_table(content: memoryview) -> bytes:
    tables = [(len(value), begin, end) for number, _, value, begin, end in fields_of(content, {}) if number == _CHARSMAP]
    if len(tables) == 1:
        ((size, begin, end),) = tables
        if head(_CHARSMAP, size) == content[begin : end - size]:
            return bytes(content[:begin]) + enclosed(_CHARSMAP, b"") + bytes(content[end:])
    return bytes(content)


# ---- writing ----


def dumps(spec: Spec) -> bytes:
    """Return the model file of a spec. One that was read from such a file, and not changed since, gives the same bytes.

    Raises
    ------
    SpecError
        The format has no place for something in it: another model, an added token, a normalizer or a decoder that is not of the model.
    """
    model, normalizer, decoder = _checked(spec)
    table = model.tokens
    try:
        writer = PieceWriter(table.data, table.ends, table.ids, model.scores, model.types)
    except ValueError as error:
        raise SpecError(f"{spec.name!r} cannot be written as a SentencePiece model: {error}") from None
    if [text.encode() for text in normalizer.user_defined] != writer.texts(USER_DEFINED):
        raise SpecError(f"{spec.name!r}: the symbols of the normalizer are not the user-defined pieces")
    data = _Writer(writer, spec).file(model, normalizer, decoder)
    try:
        ModelFile(data).check(model.kind, model.byte_fallback)
    except VocabularyFileError as error:
        raise SpecError(f"{spec.name!r} cannot be written as a SentencePiece model: {error}") from None
    return data


def dump(spec: Spec, path: str | PathLike[str]) -> None:
    """Write the model file of a spec, as a whole or not at all; see `dumps`."""
    _disk.write(path, dumps(spec))


def _checked(spec: Spec) -> tuple[Pieces, Normalizer, Decoder]:
    model, decoder = spec.model, spec.decoder
    normalizer = Normalizer(b"", False, False, False) if spec.normalizer is None else spec.normalizer
    if not isinstance(model, Pieces):
        raise SpecError(f"a SentencePiece model holds pieces with scores; {spec.name!r} has {model!r}")
    for part, found in (("normalizer", isinstance(normalizer, Normalizer)), ("decoder", isinstance(decoder, Decoder))):
        if not found:
            raise SpecError(f"{spec.name!r}: a SentencePiece model has no {part} {getattr(spec, part)!r}")
    for part in ("pre_tokenizer", "post_processor", "truncation", "padding", "added_tokens"):
        if getattr(spec, part):
            raise SpecError(f"{spec.name!r}: a SentencePiece model has no place for {part.replace('_', '-')} {getattr(spec, part)!r}")
    for flag in ("add_dummy_prefix", "remove_extra_whitespaces", "treat_whitespace_as_suffix"):
        if len({getattr(part, flag) for part in (model, normalizer, decoder) if hasattr(part, flag)}) != 1:
            raise SpecError(f"{spec.name!r}: model, normalizer and decoder differ in {flag}; a SentencePiece model says it once")
    return model, normalizer, decoder  # type: ignore[return-value]


class _Writer:
    """One file on its way out: the document, with the tables, and with what the spec says now."""

    def __init__(self, pieces: PieceWriter, spec: Spec) -> None:
        kept = spec.document or b""
        self.pieces = pieces
        self.written = 0
        self.document = b"" if kept.startswith(b"{") else kept  # that of a tokenizer.json
        self.fields = fields_of(self.document, FILE)
        self.out: list[bytes] = []

    def file(self, model: Pieces, normalizer: Normalizer, decoder: Decoder) -> bytes:
        new = {
            TRAINER: self._message(TRAINER, lambda said: self._trainer(model, decoder, said)),
            NORMALIZER: self._message(NORMALIZER, lambda _: _normalizer_fields(normalizer)),
            DENORMALIZER: self._message(DENORMALIZER, lambda said: _denormalizer_fields(decoder, said)),
        }
        last = max((index for index, field in enumerate(self.fields) if field[0] == 1), default=-1)
        if last < 0:
            self._run(len(self.pieces), False)
        for index, (number, _, value, begin, end) in enumerate(self.fields):
            raw = self.document[begin:end]
            if number == 1:
                self._piece(value, raw)
            elif new.get(number) is None:
                self.out.append(raw)
            else:
                self.out.append(new[number] or b"")
                new[number] = b""  # once
            if index == last:
                self._run(len(self.pieces), False)
        return b"".join([*self.out, *(content for content in new.values() if content)])

    def _piece(self, value: int | memoryview, raw: bytes) -> None:
        if isinstance(value, int):
            self._run(value >> 1, value & 1 == 1)
        elif self.written < len(self.pieces):
            now = self.pieces.write(self.written, self.written + 1)
            self.out.append(raw if _same_piece(raw, now) else now)
            self.written += 1

    def _run(self, count: int, spelled: bool) -> None:
        last = min(self.written + count, len(self.pieces))
        self.out.append(self.pieces.write(self.written, last, spelled))
        self.written = last

    def _message(self, number: int, wanted: Callable[[dict[str, Any]], dict[str, Any]]) -> bytes | None:
        """The field of a message, or None: what the document has is right."""
        said = b"".join(value for found, _, value, _, _ in self.fields if found == number)
        now = changed(number, said, wanted(read(number, [(said, 0)])), complete=not self.document)
        return None if now == said else enclosed(number, now)

    def _trainer(self, model: Pieces, decoder: Decoder, said: dict[str, Any]) -> dict[str, Any]:
        wanted: dict[str, Any] = {
            "model_type": KINDS.index(model.kind) + 1,
            "byte_fallback": model.byte_fallback,
            "treat_whitespace_as_suffix": model.treat_whitespace_as_suffix,
            "unk_surface": decoder.unk_surface,
        }
        numbers = (number for number, type_ in enumerate(model.types) if type_ == CONTROL)
        controls = dict(zip(self.pieces.texts(CONTROL), numbers, strict=True))
        for role in _PARTS:
            number, name = getattr(model, f"{role}_id"), _name(said, role)
            same = number == controls.get(name)
            if not same and number is not None:
                name = self.pieces.text(number)
            while number is None and name in controls:
                name = b"no " + name
            if not same or not self.document:
                wanted |= {f"{role}_piece": name.decode("utf-8", "replace"), f"{role}_id": -1 if number is None else number}
        if not self.document:
            unknown = self.pieces.text(model.unk_id).decode("utf-8", "replace")
            wanted |= {"vocab_size": len(self.pieces), "unk_id": model.unk_id, "unk_piece": unknown}
        return wanted


def _same_piece(raw: bytes, other: bytes) -> bool:
    """Whether two fields are the same piece: text, score and type."""
    said = []
    for field in (raw, other):
        found: dict[int, int | memoryview | bytes] = {1: b"", 2: 0, 3: 1}
        for number, _, value, _, _ in fields_of(fields_of(field, FILE)[0][2], {}):
            if number in found and (number != 3 or value in range(1, 7)):
                found[number] = value
        said.append(found)
    return said[0] == said[1]


def _normalizer_fields(normalizer: Normalizer) -> dict[str, Any]:
    return {
        "name": normalizer.name,
        "precompiled_charsmap": normalizer.charsmap,
        "add_dummy_prefix": normalizer.add_dummy_prefix,
        "remove_extra_whitespaces": normalizer.remove_extra_whitespaces,
        "escape_whitespaces": normalizer.escape_whitespaces,
    }


def _denormalizer_fields(decoder: Decoder, said: dict[str, Any]) -> dict[str, Any]:
    if decoder.denormalizer is not None:
        return _normalizer_fields(decoder.denormalizer)
    return {"precompiled_charsmap": b""} if said["precompiled_charsmap"] else {}
