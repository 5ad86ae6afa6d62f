"""Rank files: one "<base64 token> <decimal rank>" a line, as tiktoken, Llama 3, Qwen and Whisper use them.

Such a file says neither how text is split nor which tokens are special. For the public encodings, known by their SHA-256, ctok knows both.
"""

from __future__ import annotations

import os

from .._native.files import read_ranks
from ..errors import SpecError, VocabularyFileError
from ..spec import BPE, AddedToken, Spec, Split, TokenTable
from . import _disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike

    from typing_extensions import Buffer

__all__ = ["dump", "dumps", "load", "loads"]


def load(
    path: str | PathLike[str],
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | Iterable[AddedToken] | None = None,
) -> Spec:
    """Return the `Spec` of a rank file; see `loads`.

    Raises
    ------
    VocabularyFileError
        As `loads`, with the file's name.
    OSError
        The file cannot be read.
    """
    return loads(_disk.read(path), path=path, pattern=pattern, special_tokens=special_tokens)


def loads(
    data: Buffer,
    *,
    path: str | PathLike[str] | None = None,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | Iterable[AddedToken] | None = None,
) -> Spec:
    """Return the `Spec` of a rank file's bytes.

    Parameters
    ----------
    data
        The whole file. CRLF, empty lines and a missing last line end are fine; ranks may stand in any order and have gaps.
    path
        What to call it in an error; its stem names a file that is not known.
    pattern
        The split pattern. Needed when the file is not one of the public encodings; otherwise it overrules.
    special_tokens
        Text -> id, or `AddedToken` objects. None: those of the public encoding, or no tokens.

    Raises
    ------
    VocabularyFileError
        A line is malformed, a token or a rank occurs twice, the file is empty or cut off; the error names the line. Or the file is
        not known and no `pattern` was given.

    Notes
    -----
    About 20 ms for 200 000 tokens, and twice that when the SHA-256 must be taken, which `pattern` together with `special_tokens` saves.
    """
    where = None if path is None else os.fspath(path)
    table = TokenTable(*read_ranks(data, where))
    name = os.path.splitext(os.path.basename(where))[0] if where else ""
    source = where
    if pattern is None or special_tokens is None:
        from ._known import BY_SHA256

        digest = _disk.sha256(data)
        source = f"{where or 'bytes'}, sha256 {digest}"
        known = BY_SHA256.get(digest)
        if known is not None:
            name = known.name
            pattern = known.pattern if pattern is None else pattern
            special_tokens = known.added_tokens() if special_tokens is None else special_tokens
        elif pattern is None:
            raise VocabularyFileError(
                f"this rank file (sha256 {digest}) is none of the public encodings, so its split pattern is not known",
                path=where,
                cure="Pass pattern=... and, where the tokenizer has them, special_tokens={text: id}.",
            )
    return Spec(name or "tiktoken", BPE(table), Split(pattern), added_tokens(special_tokens or ()), source=source)


def added_tokens(tokens: Mapping[str, int] | Iterable[AddedToken]) -> tuple[AddedToken, ...]:
    """Return what a caller gave as special tokens, a mapping from text to id or `AddedToken` objects, as a spec holds it."""
    if hasattr(tokens, "items"):
        return tuple(AddedToken(text, number) for text, number in tokens.items())
    return tuple(tokens)


def dumps(spec: Spec) -> bytes:
    """Return the rank file of a spec, ranks ascending. Pattern and special tokens are not in it: the format has no place for them.

    Raises
    ------
    SpecError
        The model is not a byte-pair model by rank.
    """
    model = spec.model
    if not isinstance(model, BPE) or model.mode != "rank":
        raise SpecError(f"a rank file holds a byte-pair model by rank; {spec.name!r} has {model!r}")
    pairs = sorted((rank, token) for token, rank in model.tokens)
    from binascii import b2a_base64

    return b"".join(b"%s %d\n" % (b2a_base64(token, newline=False) or b"=", rank) for rank, token in pairs)


def dump(spec: Spec, path: str | PathLike[str]) -> None:
    """Write the rank file of a spec, as a whole or not at all; see `dumps`."""
    _disk.write(path, dumps(spec))
