"""BERT's vocab.txt: one token a line, its id is the line's number from 0. What the file does not say, how BERT cuts a text, ctok knows."""

from __future__ import annotations

import os

from .._native.jsonfile import JsonFile
from ..errors import SpecError, VocabularyFileError
from ..spec import AddedToken, Spec, TokenTable
from ..stagespecs import decoders, normalizers, postprocessors, pretokenizers
from ..stagespecs.models import WordPiece, table_of_texts
from . import _disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike
    from typing import Any

    from typing_extensions import Buffer

__all__ = ["bert_template", "dump", "dumps", "load", "loads"]

# What is cut off at the end of a line: Unicode's White_Space, which is not Python's idea of it.
_BLANKS = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
ROLES = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}


def load(
    path: str | PathLike[str],
    *,
    lowercase: bool = True,
    strip_accents: bool | None = None,
    handle_chinese_chars: bool = True,
    roles: dict[str, str] | None = None,
) -> Spec:
    """Return the `Spec` of a vocab.txt; see `loads`."""
    return loads(
        _disk.read(path),
        path=path,
        lowercase=lowercase,
        strip_accents=strip_accents,
        handle_chinese_chars=handle_chinese_chars,
        roles=roles,
    )


def loads(
    data: Buffer,
    *,
    path: str | PathLike[str] | None = None,
    lowercase: bool = True,
    strip_accents: bool | None = None,
    handle_chinese_chars: bool = True,
    roles: dict[str, str] | None = None,
) -> Spec:
    """Return the `Spec` of a vocab.txt's bytes: a WordPiece model with the stages of BERT.

    Parameters
    ----------
    data
        The whole file, UTF-8. Only LF and CRLF end a line; white space at its end is cut off. Of two equal lines the later one gives the
        id.
    path
        What to call it in an error.
    lowercase, strip_accents, handle_chinese_chars
        As `ctok.stagespecs.normalizers.BertNormalizer` takes them; as given, the model is uncased.
    roles
        Tokens that play a part (pad, unk, cls, sep, mask) where they are not called as in BERT.

    Raises
    ------
    VocabularyFileError
        The file is empty or not UTF-8 (the error names the line).
    """
    where = None if path is None else os.fspath(path)
    lines = _lines(bytes(data), where)
    vocab = {line: number for number, line in enumerate(lines)}
    known = ROLES | (roles or {})
    present = {role: text for role, text in known.items() if text in vocab}
    return Spec(
        _disk.name_of(where),
        WordPiece(_table(lines) if len(vocab) == len(lines) else table_of_texts(vocab), unk_token=known["unk"]),
        pretokenizers.BertPreTokenizer(),
        [AddedToken(text, vocab[text]) for text in sorted(set(present.values()), key=vocab.__getitem__)],
        normalizers.BertNormalizer(handle_chinese_chars=handle_chinese_chars, strip_accents=strip_accents, lowercase=lowercase),
        bert_template(vocab, known["cls"], known["sep"]),
        decoders.WordPiece(),
        where,
        present,
    )


def _lines(data: bytes, where: str | None) -> list[str]:
    if not data:
        raise VocabularyFileError("the file is empty", path=where)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise VocabularyFileError("this is not UTF-8", path=where, line=data.count(b"\n", 0, error.start) + 1) from None
    return [line.rstrip(_BLANKS) for line in text.removesuffix("\n").split("\n")]


def _table(lines: list[str]) -> TokenTable:
    """The table of different lines: they become a document that is read without an object for each."""
    quoted = "\n".join(lines).replace("\\", "\\\\").replace('"', '\\"').replace("\n", '",0],["')
    try:
        file = JsonFile(f'{{"model":{{"vocab":[["{quoted}",0]]}}}}'.encode())
    except VocabularyFileError:  # a control character in a token
        return table_of_texts(zip(lines, range(len(lines))))
    return TokenTable(*file.table())


def bert_template(vocab: dict[str, int], cls: str, sep: str) -> postprocessors.TemplateProcessing | None:
    """Return ``[CLS] A [SEP]`` and ``[CLS] A [SEP] B [SEP]``, or None where the vocabulary lacks one of the two."""
    if cls not in vocab or sep not in vocab:
        return None
    first: list[Any] = [postprocessors.SpecialPiece(cls), postprocessors.SequencePiece("A"), postprocessors.SpecialPiece(sep)]
    second: list[Any] = [postprocessors.SequencePiece("B", 1), postprocessors.SpecialPiece(sep, 1)]
    tokens = [postprocessors.TemplateToken(text, [vocab[text]], [text]) for text in dict.fromkeys((cls, sep))]
    return postprocessors.TemplateProcessing(first, [*first, *second], tokens)


def dumps(spec: Spec) -> bytes:
    """Return the vocab.txt of a spec. Its stages are not in it: the format has no place for them.

    Raises
    ------
    SpecError
        The model is not WordPiece, two tokens have one id, an id is missing (no line could stand for it), or a token could not be read
        back.
    """
    if not isinstance(spec.model, WordPiece):
        raise SpecError(f"a vocab.txt holds a WordPiece model; {spec.name!r} has {spec.model!r}")
    pairs = sorted((number, token.decode()) for token, number in spec.model.tokens)
    for line, (number, text) in enumerate(pairs):
        if number != line:
            raise SpecError(f"{spec.name!r}: the ids have a gap or a double before {number}; line numbers cannot say that")
        if "\n" in text or text.rstrip(_BLANKS) != text:
            raise SpecError(f"{spec.name!r}: token {text!r} would not be read back from a line of its own")
    return "".join(f"{text}\n" for _, text in pairs).encode()


def dump(spec: Spec, path: str | PathLike[str]) -> None:
    """Write the vocab.txt of a spec, as a whole or not at all; see `dumps`."""
    _disk.write(path, dumps(spec))
