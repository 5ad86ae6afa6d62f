"""The tokenizer.json of Hugging Face: read to a `Spec`, and written from one as it was read.

The two large tables go from the file's bytes to buffers without an object for each entry (`ctok/_native/jsonfile.pyx`). Of the
rest, a `Spec` keeps in its `document` what its fields do not say: unknown keys, older spellings, what is left out.
"""

from __future__ import annotations

import os

from .._native.jsonfile import JsonFile
from .._native.jsonvalue import parse as parse_json
from .._native.jsonvalue import written
from ..errors import SpecError, VocabularyFileError
from ..spec import BPE, Spec, TokenTable
from ..stagespecs.models import Unigram, WordLevel, WordPiece
from . import _disk
from ._json_parts import (
    MODELS,
    are_all_said,
    model_type,
    read_added,
    read_options,
    read_padding,
    read_truncation,
    write_added,
    write_options,
    write_padding,
    write_truncation,
)
from ._json_stages import STAGES, Malformed, read_stage, spelled, write_stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike
    from typing import Any

    from typing_extensions import Buffer

    from ..spec import AddedToken, Record

__all__ = ["dump", "dumps", "load", "loads"]

FORMAT = "tokenizer.json"
_MODELS = {"BPE": BPE, "WordPiece": WordPiece, "WordLevel": WordLevel, "Unigram": Unigram}
_BOM = b"\xef\xbb\xbf"


def load(path: str | PathLike[str]) -> Spec:
    """Return the `Spec` of a tokenizer.json; see `loads`.

    Raises
    ------
    VocabularyFileError
        As `loads`, with the file's name.
    OSError
        The file cannot be read.
    """
    with open(path, "rb", buffering=0) as file:
        return loads(_disk.contents(file), path=path)


def loads(data: Buffer, *, path: str | PathLike[str] | None = None) -> Spec:
    """Return the `Spec` of a tokenizer.json's bytes.

    Parameters
    ----------
    data
        The whole file, UTF-8.
    path
        What to call it in an error; its stem names the tokenizer, or its folder if the stem is "tokenizer".

    Raises
    ------
    VocabularyFileError
        It is not JSON (the error names line and column), a stage is unknown or malformed (the error names it and its place), a merge names
        a token that the vocabulary lacks, an added token has the id of another token.

    Notes
    -----
    A file of 9 MB with 128 000 tokens and 280 000 merges takes about 25 ms.
    """
    where = None if path is None else os.fspath(path)
    if bytes(memoryview(data)[:3]) == _BOM:
        data = memoryview(data)[3:]
    file = JsonFile(data, where)
    try:
        return _Reader(file, where).spec()
    except Malformed as error:
        line = next((found for n in range(len(error.place), -1, -1) if (found := file.line_of(error.place[:n])) is not None), None)
        reason = f"{spelled(error.place)}: {error.reason}" if error.place else error.reason
        raise VocabularyFileError(reason, path=where, line=line) from None


def _parsed(rest: bytes) -> Any:
    try:
        return parse_json(rest)
    except ValueError:
        return _read_by_python(rest)


def _read_by_python(rest: bytes) -> Any:
    """For the wording of the error, and for what only Python's reader takes."""
    from json import loads as parse

    def number(text: str) -> float:
        value = float(text)
        if value in (float("inf"), float("-inf")):
            raise Malformed((), f"the number {text} is out of range")
        return value

    try:
        return parse(rest, parse_float=number)
    except (ValueError, RecursionError) as error:  # only what Python limits: the document is JSON
        raise Malformed((), f"it cannot be read ({error})") from None


def _checksum(table: Buffer) -> int:
    """What shows that a table is still the one that was read."""
    from zlib import crc32

    return crc32(table)


class _Reader:
    """One file on its way to a `Spec`."""

    def __init__(self, file: JsonFile, where: str | None) -> None:
        self.file = file
        self.where = where
        self.rest = _parsed(file.rest())
        self.document: dict[str, Any] = {"format": FORMAT, "rest": self.rest}
        self.used = file.ids_used()

    def spec(self) -> Spec:
        version = self.rest.get("version", "1.0")
        if version != "1.0":
            raise Malformed(("version",), f"this is version {version!r}; known is '1.0'")
        model = self.model()
        parts: dict[str, Any] = {
            stage: self.part(stage, lambda v, p, s=stage: read_stage(s, v, p), write_stage_of(stage)) for stage in STAGES
        }
        parts["truncation"] = self.part("truncation", read_truncation, write_truncation)
        parts["padding"] = self.part("padding", read_padding, write_padding)
        added = read_added(self.rest.get("added_tokens", []), ("added_tokens",))
        if "added_tokens" in self.rest and are_all_said(added, self.rest["added_tokens"]):
            self.rest["added_tokens"] = None
        self.refuse_clashes(added)
        return Spec(
            _disk.name_of(self.where),
            model,
            added_tokens=added,
            roles=self.roles(model, parts["padding"], added),
            source=self.where,
            document=written(self.document),
            **parts,
        )

    def part(self, key: str, read: Any, write: Any, default: Any = None) -> Any:
        """Return the record of a part. Where it says all that the file does, the document keeps null in its place."""
        value = self.rest.get(key, default)
        record = read(value, (key,))
        if self.rest.get(key) is not None and write(record) == value:
            self.rest[key] = None
        return record

    def model(self) -> Any:
        model = self.rest.get("model")
        if not isinstance(model, dict):
            raise Malformed(("model",) if "model" in self.rest else (), "there is no model")
        name = model_type(model, self.file.kind)
        if "vocab" not in model:
            raise Malformed(("model",), f"the model {name} has no vocab")
        wanted = "pieces" if name == "Unigram" else "ids"
        if self.file.kind != wanted:
            what = "a list of [text, score]" if name == "Unigram" else "an object from text to id"
            raise Malformed(("model", "vocab"), f"the vocab of the model {name} must be {what}")
        self.document["model"] = name
        options = read_options(name, model)
        tables = self.bpe_tables(model, options) if name == "BPE" else {}
        if name == "Unigram":
            tables["scores"], steps = self.file.scores()
            if steps:
                self.document["steps"] = {str(step): ids for step, ids in steps.items()}
                self.document["checksum"] = _checksum(tables["scores"])
            if options["unk_id"] is not None and options["unk_id"] >= len(self.file):
                raise Malformed(("model", "unk_id"), f"unk_id is {options['unk_id']}, but there are {len(self.file)} pieces")
        if write_options(name, options) | {key: None for key in ("vocab", "merges") if key in model} == model:
            self.rest["model"] = list(model)
        return _MODELS[name](TokenTable(*self.file.table()), **tables, **options)

    def bpe_tables(self, model: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
        if "merges" not in model:
            raise Malformed(("model",), "the model BPE has no merges")
        if self.file.merges_kind is None and not self.file.raw_merges():
            raise Malformed(("model", "merges"), "the merges must be a list")
        merges, joined = self.file.merges(len((options["continuing_subword_prefix"] or "").encode()))
        if self.file.headers or self.used is None or 2 in self.used:  # ids would not give the texts back
            from json import loads as parse

            self.document["merges"] = parse(self.file.raw_merges())
            self.document["checksum"] = _checksum(merges)
        else:
            self.document["merges"] = self.file.merges_kind
        return {"mode": "merges", "merges": merges, "joined": joined}

    def refuse_clashes(self, added: tuple[AddedToken, ...]) -> None:
        """An added token that the vocabulary has must have its id, and one that it lacks must not have the id of another token."""
        for index, token in enumerate(added):
            told = _clash(token, self.file.find(token.content), self.is_used(token.id))
            if told:
                raise Malformed(("added_tokens", index), told)

    def is_used(self, number: int) -> bool:
        return self.file.has_id(number) if self.used is None else number < len(self.used) and self.used[number] != 0

    def roles(self, model: Any, padding: Any, added: tuple[AddedToken, ...]) -> dict[str, str]:
        roles = {}
        texts = {token.content for token in added}
        unknown = getattr(model, "unk_token", None)
        if isinstance(model, Unigram) and model.unk_id is not None:
            unknown = self.file.text_at(model.unk_id)
        for role, text in (("unk", unknown), ("pad", padding and padding.pad_token)):
            if text and (text in texts or self.file.find(text) is not None):
                roles[role] = text
        return roles


def write_stage_of(stage: str) -> Any:
    """Return the writer of one stage."""
    return lambda record: write_stage(stage, record)


# ---- writing ----

_SKELETON: dict[str, Any] = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": None,
    "post_processor": None,
    "decoder": None,
    "model": None,
}


def dumps(spec: Spec) -> bytes:
    """Return the tokenizer.json of a spec. One that was read from such a file, and not changed since, gives the same JSON.

    Raises
    ------
    SpecError
        The format has no place for something in it: a model or a stage that only other formats have; an added token with the id of
        another token.
    """
    from json import dumps as text

    document = _document(spec)
    _refuse_clashes(spec, document["model"]["vocab"])
    return text(document, ensure_ascii=False, indent=2).encode()


def dump(spec: Spec, path: str | PathLike[str]) -> None:
    """Write the tokenizer.json of a spec, as a whole or not at all; see `dumps`."""
    _disk.write(path, dumps(spec))


def _refuse_clashes(spec: Spec, vocab: Any) -> None:
    """Refuse added tokens that could not be read again: with the id of another token, or not with their own."""
    if not spec.added_tokens:
        return
    ids: dict[str, int] = vocab if isinstance(vocab, dict) else {piece: number for number, (piece, *_) in enumerate(vocab)}
    used = set(ids.values())
    for token in spec.added_tokens:
        told = _clash(token, ids.get(token.content), token.id in used)
        if told:
            raise SpecError(told)


def _clash(token: AddedToken, found: int | None, is_used: bool) -> str:
    """Say what is wrong with an added token whose id in the vocabulary is `found`, where its own is used or not; "" if nothing is."""
    if found == token.id or (found is None and not is_used):
        return ""
    told = "which is that of another token" if found is None else f"but {found} in the vocabulary"
    return f"added token {token.content!r} has the id {token.id}, {told}"


def _document(spec: Spec) -> dict[str, Any]:
    from json import loads as parse

    kept = parse(spec.document) if spec.document else {}
    if kept.get("format") != FORMAT:
        kept = {}
    rest = kept.get("rest", _SKELETON)
    made: dict[str, Any] = dict.fromkeys(rest)
    made |= {key: value for key, value in rest.items() if key not in _SKELETON or key == "version"}
    for stage in STAGES:
        _put(made, rest, stage, getattr(spec, stage), lambda v, p, s=stage: read_stage(s, v, p), write_stage_of(stage), spec)
    _put(made, rest, "truncation", spec.truncation, read_truncation, write_truncation, spec)
    _put(made, rest, "padding", spec.padding, read_padding, write_padding, spec)
    _put(made, rest, "added_tokens", spec.added_tokens, read_added, write_added, spec)
    made["model"] = _model(spec, rest.get("model") or [], kept)
    return made


def _put(made: dict[str, Any], rest: dict[str, Any], key: str, record: Any, read: Any, write: Any, spec: Spec) -> None:
    """Put a part as the file had it, if it still says what the spec does; else as the reference spells it."""
    value = rest.get(key)
    if value is not None and read(value, (key,)) == record:
        made[key] = value
    elif key in rest or record:
        try:
            made[key] = write(record)
        except (KeyError, AttributeError) as error:
            raise SpecError(f"{spec.name!r}: a tokenizer.json has no {key.replace('_', '-')} {record!r}") from error


def _model(spec: Spec, model: Any, kept: dict[str, Any]) -> dict[str, Any]:
    name = next((name for name, kind in _MODELS.items() if type(spec.model) is kind), None)
    if name is None or (name == "BPE" and spec.model.mode != "merges"):
        raise SpecError(f"{spec.name!r}: a tokenizer.json has no model {spec.model!r}")
    if kept.get("model") != name:
        model = []
    fields: dict[str, Any] = dict.fromkeys(model)
    written = write_options(name, _options(spec.model, name))
    if isinstance(model, dict) and read_options(name, model) == _options(spec.model, name):
        fields |= model
    else:
        fields |= written
    if name == "Unigram":
        same = "steps" in kept and kept["checksum"] == _checksum(spec.model.scores)
        fields["vocab"] = _pieces(spec.model, kept["steps"] if same else {})
        return fields
    pairs = sorted((number, token.decode()) for token, number in spec.model.tokens)
    fields["vocab"] = {token: number for number, token in pairs}
    if name == "BPE":
        raw = isinstance(kept.get("merges"), list) and kept["checksum"] == _checksum(spec.model.merges)
        fields["merges"] = kept["merges"] if raw else _merges(spec.model, pairs, kept.get("merges"))
    return fields


def _options(model: Record, name: str) -> dict[str, Any]:
    return {key: getattr(model, key) for key, _, _ in MODELS[name]}


def _merges(model: BPE, pairs: list[tuple[int, str]], kept: Any) -> list[Any]:
    from struct import iter_unpack

    texts = dict(pairs)
    merges = [(texts[left], texts[right]) for left, right in iter_unpack("<2I", model.merges or b"")]
    if kept == "texts" and not any(" " in text for pair in merges for text in pair):
        return [f"{left} {right}" for left, right in merges]
    return [list(pair) for pair in merges]


def _pieces(model: Unigram, steps: dict[str, list[int]]) -> list[list[Any]]:
    from math import inf, nextafter
    from struct import unpack

    scores = list(unpack(f"<{len(model.tokens)}d", model.scores))
    for step, ids in steps.items():
        for number in ids:
            for _ in range(abs(int(step))):
                scores[number] = nextafter(scores[number], inf if int(step) > 0 else -inf)
    texts = {number: token.decode() for token, number in model.tokens}
    return [[texts[number], score] for number, score in enumerate(scores)]
