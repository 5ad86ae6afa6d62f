"""Vocabulary files: a file becomes a `Spec`, a `Spec` becomes a file. What a file is, is decided by its content.

Read and written so far: rank files (`ctok.formats.tiktoken`) and ctok's own binary form (`ctok.formats.binary`).
"""

from __future__ import annotations

import os

from ..errors import VocabularyFileError
from . import _disk
from ._sniff import KINDS, sniff

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike

    from ..spec import AddedToken, Spec

__all__ = ["dump", "load", "sniff"]

# What stands for the tokenizer in a directory; the first that is there decides.
_IN_A_DIRECTORY = ("tokenizer.json", "tekken.json", "tokenizer.model", "vocab.json", "vocab.txt")


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
        A file, or a directory. In a directory the first of tokenizer.json, tekken.json, tokenizer.model, vocab.json and vocab.txt decides;
        if there is none, the only \\*.tiktoken or \\*.bin file.
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
    if os.path.isdir(where):
        where = _in_directory(where)
    try:
        data = _disk.read(where)
    except FileNotFoundError:
        raise VocabularyFileError("there is no such file", path=where) from None
    kind = sniff(data)
    if kind == "binary":
        return _changed(_binary(where), pattern, special_tokens)
    if kind == "tokenizer_json":
        from . import tokenizer_json

        return _changed(tokenizer_json.loads(data, path=where), pattern, special_tokens)
    if kind in ("tiktoken", "empty", "unknown"):
        from . import tiktoken

        return tiktoken.loads(data, path=where, pattern=pattern, special_tokens=special_tokens)
    raise VocabularyFileError(f"this is {KINDS[kind]}", path=where, line=1 if kind == "html" else None, cure=_cure(kind))


def dump(spec: Spec, path: str | PathLike[str]) -> None:
    """Write a `Spec` to a file, as a whole or not at all: a rank file if the name ends with ``.tiktoken``, else the binary form.

    Raises
    ------
    SpecError
        The spec has something that the format has no place for.
    """
    if os.fspath(path).endswith(".tiktoken"):
        from . import tiktoken

        tiktoken.dump(spec, path)
    else:
        from . import binary

        binary.dump(spec, path)


def _binary(path: str) -> Spec:
    from . import binary

    return binary.load(path)


def _changed(spec: Spec, pattern: str | None, special_tokens: Mapping[str, int] | Iterable[AddedToken] | None) -> Spec:
    from ..spec import Split
    from .tiktoken import added_tokens

    if pattern is not None:
        spec = spec.replace(pre_tokenizer=Split(pattern))
    if special_tokens is not None:
        spec = spec.replace(added_tokens=added_tokens(special_tokens))
    return spec


def _cure(kind: str) -> str:
    if kind in ("html", "git_lfs"):
        return "Download the file itself."
    if kind == "archive":
        return "Unpack it first."
    return "ctok reads rank files (.tiktoken) and its own binary vocabularies so far."


def _in_directory(folder: str) -> str:
    names = sorted(os.listdir(folder))
    for name in _IN_A_DIRECTORY:
        if name in names:
            return os.path.join(folder, name)
    found = [name for name in names if name.endswith((".tiktoken", ".bin"))]
    if len(found) == 1:
        return os.path.join(folder, found[0])
    reason = f"it holds {len(found)} vocabulary files ({', '.join(found)})" if found else "it holds no vocabulary file"
    raise VocabularyFileError(reason, path=folder, cure="Name the file itself.")
