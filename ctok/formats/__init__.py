"""Vocabulary files: a file becomes a `Spec`, a `Spec` becomes a file. What a file is, is decided by its content.

One module a format: rank files (`tiktoken`), Hugging Face's `tokenizer_json`, Mistral's `tekken`, SentencePiece's models
(`sentencepiece`), `merges_txt` (with vocab.json), BERT's `vocab_txt`, and ctok's own `binary` form.
"""

from __future__ import annotations

import os

from ..errors import VocabularyFileError
from . import _disk, _folder
from ._sniff import KINDS, sniff

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike
    from typing import Any

    from typing_extensions import Buffer

    from ..spec import AddedToken, Spec

__all__ = ["dump", "format_of", "load", "loads", "sniff"]


def load(
    path: str | PathLike[str],
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | Iterable[AddedToken] | None = None,
) -> Spec:
    """Return the `Spec` of a vocabulary file of any format that ctok reads, or of a directory that holds one.

    Parameters
    ----------
    path
        A file, or a directory. In a directory the first of tokenizer.json, tekken.json, tokenizer.model (or the only \\*.model),
        vocab.json (with merges.txt) and vocab.txt decides; if there is none, the only \\*.tiktoken or \\*.bin file. What
        tokenizer_config.json and special_tokens_map.json say about roles (bos, eos, pad, ...) is taken over.
    pattern
        The split pattern; needed for a rank file that is not one of the public encodings. It overrules what the file says.
    special_tokens
        Text -> id, or `AddedToken` objects; likewise.

    Raises
    ------
    VocabularyFileError
        There is no such file, it is malformed (the error names the line), or it is of a format that ctok does not read (the error
        says which).
    OSError
        The file cannot be read.
    """
    where = os.fspath(path)
    if not os.path.isdir(where):
        return _file(where, pattern, special_tokens, {})
    file = _folder.find(where)
    said = _folder.config(where)
    spec = _file(file, pattern, None, said)
    if os.path.basename(file) in ("vocab.json", "vocab.txt"):
        spec = _folder.with_added(spec, where, said)
    found = _folder.roles(said)
    spec = spec.replace(roles=dict(spec.roles) | found) if found else spec
    return _changed(spec, None, special_tokens)


def _file(where: str, pattern: str | None, special_tokens: Mapping[str, int] | Iterable[AddedToken] | None, said: dict[str, Any]) -> Spec:
    try:
        with open(where, "rb", buffering=0) as file:
            data = file.read(65536)
            kind = sniff(data)
            if kind == "binary":  # mapped, not read
                return _changed(_by_kind(kind, data, where, said), pattern, special_tokens)
            if file.seekable():
                file.seek(0)
                if kind == "tokenizer_json":
                    from . import tokenizer_json

                    return _changed(tokenizer_json.loads(_disk.contents(file), path=where), pattern, special_tokens)
                data = file.read()
            else:
                data += file.read()
    except FileNotFoundError:
        raise _disk.missing(where) from None
    kind = sniff(data)
    if kind == "archive":
        data, kind = _unpacked(data, where)
    if kind in ("tiktoken", "empty", "unknown") and os.path.basename(where) != "vocab.txt":
        from . import tiktoken

        return tiktoken.loads(data, path=where, pattern=pattern, special_tokens=special_tokens)
    return _changed(_by_kind(kind, data, where, said), pattern, special_tokens)


def _by_kind(kind: str, data: bytes, where: str, said: dict[str, Any]) -> Spec:
    name = os.path.basename(where)
    if kind == "binary":
        from . import binary

        return binary.load(where)
    if kind == "tokenizer_json":
        from . import tokenizer_json

        return tokenizer_json.loads(data, path=where)
    if kind == "tekken":
        from . import tekken

        return tekken.loads(data, path=where)
    if kind == "sentencepiece":
        from . import sentencepiece

        return sentencepiece.loads(data, path=where or None)
    if kind == "merges_txt" or (kind == "vocab_json" and name != "vocab.txt"):
        return _merges(kind, data, where, said)
    if name == "vocab.txt" or kind == "vocab_txt":
        from . import vocab_txt

        lowercase, accents, chinese = (said.get(key) for key in ("do_lower_case", "strip_accents", "tokenize_chinese_chars"))
        return vocab_txt.loads(
            data,
            path=where,
            lowercase=True if lowercase is None else bool(lowercase),
            strip_accents=None if accents is None else bool(accents),
            handle_chinese_chars=True if chinese is None else bool(chinese),
            roles=_folder.roles(said),
        )
    raise VocabularyFileError(f"this is {KINDS[kind]}", path=where, line=1 if kind == "html" else None, cure=_cure(kind))


def _merges(kind: str, data: bytes, where: str, said: dict[str, Any]) -> Spec:
    """A vocab.json or a merges.txt: the other one must stand beside it; but CLIP's merge list stands alone."""
    from . import merges_txt

    folder = os.path.dirname(where)
    if kind == "merges_txt":
        vocab, merges = os.path.join(folder, "vocab.json"), where
        if data.startswith(b'"bpe_simple_vocab') or (not os.path.exists(vocab) and b"</w>" in data[:65536]):
            return merges_txt.clip(data, path=where)
    else:
        vocab, merges = where, os.path.join(folder, "merges.txt")
    for path, other in ((vocab, merges), (merges, vocab)):
        if not os.path.exists(path):
            raise VocabularyFileError(f"there is no {os.path.basename(path)} beside it, which it needs", path=other)
    return merges_txt.load(vocab, merges, roles=_folder.roles(said))


def _unpacked(data: bytes, where: str) -> tuple[bytes, str]:
    """CLIP publishes its merge list packed; no other format is taken out of an archive."""
    from zlib import decompressobj, error

    if data[:2] == b"\x1f\x8b":
        try:
            text = decompressobj(31).decompress(data, 1 << 26)
        except error:
            raise VocabularyFileError("this is a damaged gzip file", path=where) from None
        if sniff(text) == "merges_txt":
            return text, "merges_txt"
    return data, "archive"


def loads(
    data: Buffer,
    *,
    path: str | PathLike[str] | None = None,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | Iterable[AddedToken] | None = None,
) -> Spec:
    """Return the `Spec` of a file's bytes; of what is one file, that is, not of a vocab.json or a merges.txt.

    Parameters
    ----------
    data
        The whole file.
    path
        What to call it in an error.
    pattern, special_tokens
        As for `load`.

    Raises
    ------
    VocabularyFileError
        As `load`.
    """
    where = "" if path is None else os.fspath(path)
    kind = sniff(data)
    if kind in ("tiktoken", "empty", "unknown"):
        from . import tiktoken

        return tiktoken.loads(data, path=path, pattern=pattern, special_tokens=special_tokens)
    if kind == "binary":
        from . import binary

        return _changed(binary.loads(data, path), pattern, special_tokens)
    if kind in ("vocab_json", "merges_txt"):
        raise VocabularyFileError(f"this is {KINDS[kind]}, which is half a tokenizer", path=path, cure="Load it from its folder.")
    return _changed(_by_kind(kind, bytes(data), where, {}), pattern, special_tokens)


def format_of(path: str | PathLike[str]) -> str:
    """Return the format that a file of this name is written in: a key of `ctok.conversion.FORMATS`."""
    name = os.path.basename(os.fspath(path))
    if name.endswith(".tiktoken"):
        return "tiktoken"
    if name.endswith(("vocab.json", "merges.txt")):
        return "merges_txt"
    if name.endswith(".json"):
        return "tokenizer_json"
    if name.endswith(".model"):
        return "sentencepiece"
    return "vocab_txt" if name.endswith("vocab.txt") else "binary"


def dump(spec: Spec, path: str | PathLike[str], *, format: str | None = None) -> None:
    """Write a `Spec` to a file, as a whole or not at all.

    Parameters
    ----------
    spec
        It must be one that the format can say; `ctok.conversion.convert` makes it so.
    path
        Its name says the format: a rank file (``.tiktoken``), ``vocab.json`` or ``merges.txt`` (the other one is written beside it), a
        tokenizer.json (``.json``), a SentencePiece model (``.model``), a vocab.txt (``vocab.txt``), else the binary form.
    format
        Overrules: ``"tiktoken"``, ``"merges_txt"``, ``"tokenizer_json"``, ``"sentencepiece"``, ``"vocab_txt"`` or ``"binary"``.

    Raises
    ------
    SpecError
        The spec has something that the format has no place for.
    """
    kind = format_of(path) if format is None else format
    if kind == "merges_txt":
        from . import merges_txt

        where = os.fspath(path)
        beside = os.path.join(os.path.dirname(where), "merges.txt" if not where.endswith("merges.txt") else "vocab.json")
        merges_txt.dump(spec, *((where, beside) if not where.endswith("merges.txt") else (beside, where)))
        return
    if kind == "tiktoken":
        from . import tiktoken as module
    elif kind == "tokenizer_json":
        from . import tokenizer_json as module  # type: ignore[no-redef]
    elif kind == "sentencepiece":
        from . import sentencepiece as module  # type: ignore[no-redef]
    elif kind == "vocab_txt":
        from . import vocab_txt as module  # type: ignore[no-redef]
    elif kind == "binary":
        from . import binary as module  # type: ignore[no-redef]
    else:
        raise ValueError(f"{kind!r} is no format that is written")
    module.dump(spec, path)


def _changed(spec: Spec, pattern: str | None, special_tokens: Mapping[str, int] | Iterable[AddedToken] | None) -> Spec:
    if pattern is not None:
        from ..spec import Split

        spec = spec.replace(pre_tokenizer=Split(pattern))
    if special_tokens is not None:
        from .tiktoken import added_tokens

        spec = spec.replace(added_tokens=added_tokens(special_tokens))
    return spec


def _cure(kind: str) -> str:
    if kind in ("html", "git_lfs"):
        return "Download the file itself."
    if kind == "archive":
        return "Unpack it first."
    json = "tokenizer.json, tekken, vocab.json with merges.txt"
    return f"ctok reads rank files (.tiktoken), SentencePiece models (.model), {json}, vocab.txt and its own binary vocabularies."
