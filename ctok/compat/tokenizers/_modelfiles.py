"""The files that `models` read and write: vocab.json, merges.txt, vocab.txt, unigram.json."""

from __future__ import annotations

import json
import os

from ...errors import VocabularyFileError
from ...formats import _disk, tokenizer_json
from ...spec import BPE, Spec
from ...stagespecs.models import Unigram, WordPiece
from ._errors import explained
from ._json import document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["json_of", "model_of_json", "read_bpe", "read_lines", "read_vocab", "save"]


def _model(record: Any) -> dict[str, Any]:
    found: dict[str, Any] = document(Spec("model", record, None))["model"]
    return found


def json_of(record: Any) -> bytes:
    """Return the JSON of a model."""
    return json.dumps(_model(record), ensure_ascii=False, separators=(",", ":")).encode()


def model_of_json(data: bytes) -> Any:
    """Return the record of a model's JSON."""
    return tokenizer_json.loads(b'{"version":"1.0","model":' + bytes(data) + b"}").model


def _text(path: str, what: str) -> str:
    with explained(what and f"Error while {what}: "):
        try:
            return _disk.read(path).decode()
        except UnicodeDecodeError:
            raise VocabularyFileError("this is not UTF-8", path=path) from None


def read_vocab(path: str, what: str) -> dict[str, int]:
    """Return the vocabulary of a vocab.json."""
    try:
        found = json.loads(_text(path, what))
    except ValueError as error:
        raise VocabularyFileError(f"this is not JSON: {error}", path=path) from None
    if not isinstance(found, dict):
        raise VocabularyFileError("Invalid JSON file: it must be an object from token to id", path=path)
    return {token: number for token, number in found.items() if isinstance(number, int)}


def read_bpe(vocab: str, merges: str, what: str) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Return the vocabulary and the merges of a vocab.json and a merges.txt."""
    tokens = read_vocab(vocab, what)
    pairs = []
    for at, line in enumerate(_text(merges, what).split("\n"), 1):
        line = line.removesuffix("\r")
        if line.startswith("#version") or not line:
            continue
        parts = line.split(" ")
        if len(parts) != 2:
            raise VocabularyFileError(f"Merges text file invalid at line {at}", path=merges, line=at)
        pairs.append((parts[0], parts[1]))
    return tokens, pairs


def read_lines(path: str, what: str) -> dict[str, int]:
    """Return the vocabulary of a vocab.txt: a token a line."""
    lines = _text(path, what).split("\n")
    if lines[-1] == "":
        lines.pop()
    return {line.rstrip(): number for number, line in enumerate(lines)}


def save(record: Any, folder: str, prefix: str | None) -> list[str]:
    """Write a model's files and return their paths."""

    def named(name: str) -> str:
        return os.path.join(folder, f"{prefix}-{name}" if prefix is not None else name)

    fields = _model(record)
    contents: dict[str, str] = {}
    if isinstance(record, Unigram):
        contents[named("unigram.json")] = json.dumps(fields, ensure_ascii=False, indent=2)
    elif isinstance(record, WordPiece):
        contents[named("vocab.txt")] = "".join(f"{token}\n" for token in fields["vocab"])
    else:
        contents[named("vocab.json")] = json.dumps(fields["vocab"], ensure_ascii=False, separators=(",", ":"))
    if isinstance(record, BPE):
        contents[named("merges.txt")] = "#version: 0.2\n" + "".join(f"{left} {right}\n" for left, right in fields["merges"])
    for path, content in contents.items():
        with explained():
            _disk.write(path, content.encode())
    return list(contents)
