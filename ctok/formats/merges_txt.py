"""A vocab.json with its merges.txt, as GPT-2, RoBERTa and CLIP come; and CLIP's merge list alone.

A merges.txt holds one merge a line, two texts with a blank between; lines that begin with "#version" are none. The files do not say how a
text is cut and which tokens are special: that follows from the style, which the vocabulary gives away.
"""

from __future__ import annotations

import os

from .._native.jsonfile import JsonFile
from ..errors import SpecError, VocabularyFileError
from ..spec import BPE, AddedToken, Spec, TokenTable
from ..stagespecs import decoders, normalizers, postprocessors, pretokenizers
from ..stagespecs.models import bpe_from_merges
from ..stagespecs.spelling import spell
from . import _disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from typing import Any

    from typing_extensions import Buffer

__all__ = ["STYLES", "clip", "dump", "dumps", "load", "loads"]

STYLES = ("gpt2", "roberta", "clip")
CLIP_PATTERN = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
CLIP_MERGES = 49152 - 256 - 2  # of the list's lines the model uses no more
_CURE = "Every line must be two texts with exactly one blank between, both and what they give in the vocabulary."


def load(vocab: str | PathLike[str], merges: str | PathLike[str], *, style: str | None = None, roles: dict[str, str] | None = None) -> Spec:
    """Return the `Spec` of a vocab.json and a merges.txt; see `loads`."""
    return loads(_disk.read(vocab), _disk.read(merges), path=vocab, merges_path=merges, style=style, roles=roles)


def loads(
    vocab: Buffer,
    merges: Buffer,
    *,
    path: str | PathLike[str] | None = None,
    merges_path: str | PathLike[str] | None = None,
    style: str | None = None,
    roles: dict[str, str] | None = None,
) -> Spec:
    """Return the `Spec` of the bytes of a vocab.json and a merges.txt.

    Parameters
    ----------
    vocab, merges
        The whole files, UTF-8.
    path, merges_path
        What to call them in an error.
    style
        ``"gpt2"``, ``"roberta"`` or ``"clip"``: how texts are cut, and what is put around them. None: what the vocabulary looks like.
    roles
        Tokens that play a part (bos, eos, unk, pad, cls, sep, mask) where they are not called as in the style.

    Raises
    ------
    VocabularyFileError
        The vocabulary is not JSON of text -> id, a line is no merge, or names a token that the vocabulary lacks; the error names file
        and line.
    """
    names = [None if name is None else os.fspath(name) for name in (path, merges_path)]
    raw = bytes(vocab).removeprefix(b"\xef\xbb\xbf")
    file = JsonFile(raw, names[0], bare=True)
    lines = _lines(bytes(merges), names[1])
    if style is None:
        style = _style_of(file)
    elif style not in STYLES:
        raise ValueError(f"the style must be one of {', '.join(STYLES)}, not {style!r}")
    model = BPE(TokenTable(*file.table()), "merges", _merges(raw, lines, file, names[1]), **_options(style))
    return _dressed(_disk.name_of(names[0]), model, style, file.find, roles or {}, names[0])


def clip(data: Buffer, *, path: str | PathLike[str] | None = None) -> Spec:
    """Return the `Spec` of CLIP's merge list (bpe_simple_vocab_16e6.txt), from which its vocabulary follows.

    Raises
    ------
    VocabularyFileError
        A line is no merge, or names a text that no line before it gives.
    """
    where = None if path is None else os.fspath(path)
    letters = list(_byte_letters())
    texts = letters + [f"{letter}</w>" for letter in letters]
    known = set(texts)
    merges = []
    for number, line in _lines(bytes(data), where)[:CLIP_MERGES]:
        left, right = _parted(line.decode(), number, where)
        for text in (left, right):
            if text not in known:
                raise VocabularyFileError(f"{text!r} is given by no line before", path=where, line=number, cure=_CURE)
        texts.append(left + right)
        known.add(left + right)
        merges.append((left, right))
    texts += ["<|startoftext|>", "<|endoftext|>"]
    vocab: dict[str, int] = {}
    for number, text in enumerate(texts):
        vocab[text] = number
    model = bpe_from_merges(vocab, merges, **_options("clip"))
    return _dressed(_disk.name_of(where), model, "clip", vocab.get, {}, where)


# ---- lines ----


def _lines(data: bytes, where: str | None) -> list[tuple[int, bytes]]:
    """The lines that are merges, each with its number; only LF and CRLF end a line."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise VocabularyFileError("this is not UTF-8", path=where, line=data.count(b"\n", 0, error.start) + 1) from None
    rows = data.removesuffix(b"\n").split(b"\n") if data else []
    numbered = ((number, row.removesuffix(b"\r")) for number, row in enumerate(rows, 1))
    return [(number, row) for number, row in numbered if not row.startswith((b"#version", b'"bpe_simple_vocab_16e6.txt#version'))]


def _parted(line: str, number: int, where: str | None) -> tuple[str, str]:
    parts = line.split(" ")
    if len(parts) != 2:
        reason = "the line is empty" if not line else f"{line!r} must hold exactly one blank"
        raise VocabularyFileError(reason, path=where, line=number, cure=_CURE)
    return parts[0], parts[1]


def _merges(vocab: bytes, lines: list[tuple[int, bytes]], file: JsonFile, where: str | None) -> bytes | memoryview:
    """The merges as ids: all lines put into a document that is read without an object for each. An error is looked for line by line."""
    texts = b"\n".join(line for _, line in lines)
    if texts.translate(None, bytes(byte for byte in range(32) if byte != 10)) == texts:
        texts = texts.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b'","')
        quoted = b'["' + texts + b'"]' if lines else b"[]"
        try:
            return JsonFile(b'{"model":{"vocab":' + vocab + b',"merges":' + quoted + b"}}").merges()[0]
        except VocabularyFileError:
            pass
    numbers = bytearray()
    for number, line in lines:
        left, right = _parted(line.decode(), number, where)
        for text in (left, right, left + right):
            if file.find(text) is None:
                reason = f"{text!r}, which {left!r} and {right!r} give," if text == left + right else repr(text)
                raise VocabularyFileError(f"{reason} is not in the vocabulary", path=where, line=number, cure=_CURE)
        for text in (left, right):
            numbers += (file.find(text) or 0).to_bytes(4, "little")
    return bytes(numbers)


def _byte_letters() -> list[str]:
    """The letters that stand for bytes, in the order in which CLIP numbers them: printable bytes first, then the others."""
    return sorted(spell(bytes(range(256))))


# ---- styles ----


def _style_of(file: JsonFile) -> str:
    if file.find("</w>") is not None or file.find("a</w>") is not None:
        return "clip"
    return "roberta" if file.find("<s>") is not None and file.find("</s>") is not None else "gpt2"


def _options(style: str) -> dict[str, Any]:
    if style != "clip":
        return {}
    return {"unk_token": "<|endoftext|>", "continuing_subword_prefix": "", "end_of_word_suffix": "</w>"}


_ROLES = {
    "gpt2": {"bos": "<|endoftext|>", "eos": "<|endoftext|>", "unk": "<|endoftext|>"},
    "roberta": {"bos": "<s>", "eos": "</s>", "unk": "<unk>", "pad": "<pad>", "cls": "<s>", "sep": "</s>", "mask": "<mask>"},
    "clip": {"bos": "<|startoftext|>", "eos": "<|endoftext|>", "unk": "<|endoftext|>", "pad": "<|endoftext|>"},
}


def _dressed(name: str, model: BPE, style: str, find: Callable[[str], int | None], roles: dict[str, str], source: str | None) -> Spec:
    """Put the stages of a style around a model."""
    known = _ROLES[style] | roles
    present = {role: text for role, text in known.items() if find(text) is not None}
    ids = {text: find(text) or 0 for text in present.values()}
    added = [AddedToken(text, ids[text], lstrip=style == "roberta" and text == known["mask"]) for text in sorted(ids, key=ids.__getitem__)]
    byte_level = pretokenizers.ByteLevel(add_prefix_space=False)
    normalizer, cut, decoder = None, byte_level, decoders.ByteLevel()
    post: Any = postprocessors.ByteLevel(trim_offsets=False)
    around = (known.get("cls", known["bos"]), known.get("sep", known["eos"]))
    if style != "gpt2" and all(text in ids for text in around):
        cls, sep = ((text, ids[text]) for text in around)
        post = postprocessors.RobertaProcessing(sep, cls, trim_offsets=style == "roberta", add_prefix_space=False)
    if style != "clip":
        return Spec(name, model, cut, added, None, post, decoder, source, present)
    blanks = normalizers.Replace(normalizers.Regex(r"\s+"), " ")
    normalizer = normalizers.Sequence([normalizers.NFC(), blanks, normalizers.Lowercase()])
    words = pretokenizers.Split(pretokenizers.Regex(CLIP_PATTERN), "removed", invert=True)
    return Spec(
        name,
        model,
        pretokenizers.Sequence([words, byte_level]),
        added,
        normalizer,
        post,
        decoders.Sequence([decoder, decoders.Replace("</w>", " ")]),
        source,
        present,
    )


# ---- writing ----


def dumps(spec: Spec) -> tuple[bytes, bytes]:
    """Return the vocab.json and the merges.txt of a spec. Its stages are not in them: the formats have no place for them.

    Raises
    ------
    SpecError
        The model is not byte-pair encoding by a list of merges, or a token of a merge holds a blank or a line end, which no line can say.
    """
    from json import dumps as text
    from struct import iter_unpack

    model = spec.model
    if not isinstance(model, BPE) or model.merges is None:
        raise SpecError(f"a merges.txt holds the merges of a byte-pair model; {spec.name!r} has {model!r}")
    pairs = sorted((number, token.decode()) for token, number in model.tokens)
    texts = dict(pairs)
    lines = ["#version: 0.2"]
    for left, right in iter_unpack("<2I", model.merges):
        for part in (texts[left], texts[right]):
            if not part or any(blank in part for blank in " \n\r") or part.startswith("#version"):
                raise SpecError(f"{spec.name!r}: token {part!r} cannot stand in a merges.txt; a tokenizer.json can hold it")
        lines.append(f"{texts[left]} {texts[right]}")
    vocab = {token: number for number, token in pairs}
    return text(vocab, ensure_ascii=False).encode(), "".join(f"{line}\n" for line in lines).encode()


def dump(spec: Spec, vocab: str | PathLike[str], merges: str | PathLike[str]) -> None:
    """Write the vocab.json and the merges.txt of a spec; see `dumps`."""
    first, second = dumps(spec)
    _disk.write(vocab, first)
    _disk.write(merges, second)
