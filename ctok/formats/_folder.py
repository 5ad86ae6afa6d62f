"""A directory that holds a tokenizer: which file stands for it, and what the configuration beside it says about roles."""

from __future__ import annotations

import os

from ..errors import VocabularyFileError
from . import _disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..spec import Spec

# What stands for the tokenizer in a directory, in this order.
ORDER = ("tokenizer.json", "tekken.json", "tokenizer.model", "vocab.json", "vocab.txt")
_CONFIGS = ("tokenizer_config.json", "special_tokens_map.json")


def find(folder: str) -> str:
    """Return the path of the file that stands for a directory's tokenizer.

    Raises
    ------
    VocabularyFileError
        There is none, or more than one that could be it.
    """
    names = sorted(os.listdir(folder))
    for name in ORDER:
        if name in names:
            return os.path.join(folder, name)
        found = _named_otherwise(name, names)
        if len(found) == 1:
            return os.path.join(folder, found[0])
    found = [name for name in names if name.endswith((".tiktoken", ".bin"))] or [name for name in names if name.endswith(".model")]
    if len(found) == 1:
        return os.path.join(folder, found[0])
    raise VocabularyFileError(
        f"this directory holds {', '.join(found) or 'no vocabulary file that ctok knows'}",
        path=folder,
        cure="Name the file." if found else None,
    )


def _named_otherwise(name: str, names: list[str]) -> list[str]:
    """Files that are the same as one of `ORDER` under another name."""
    if name == "tekken.json":
        return [other for other in names if other.startswith("tekken") and other.endswith(".json")]
    return [other for other in names if other.endswith(".model")] if name == "tokenizer.model" else []


def config(folder: str) -> dict[str, Any]:
    """Return what the configuration files of a directory say, the later file's word counting; {} where there are none.

    Raises
    ------
    VocabularyFileError
        One of them is not a JSON object.
    """
    said: dict[str, Any] = {}
    for name in _CONFIGS:
        said |= _object(os.path.join(folder, name))
    return said


def _object(path: str) -> dict[str, Any]:
    from json import loads

    if not os.path.exists(path):
        return {}
    try:
        value = loads(_disk.read(path).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise VocabularyFileError(f"this is not JSON ({error})", path=path, line=line) from None
    if not isinstance(value, dict):
        raise VocabularyFileError("this must be a JSON object", path=path, line=1)
    return value


def roles(said: dict[str, Any]) -> dict[str, str]:
    """Return the roles that a configuration names: role -> text."""
    from ..spec import ROLES

    found = {}
    for role in ROLES:
        token = said.get(f"{role}_token")
        text = token.get("content") if isinstance(token, dict) else token
        if isinstance(text, str) and text:
            found[role] = text
    return found


def with_added(spec: Spec, folder: str, said: dict[str, Any]) -> Spec:
    """Return a spec with the added tokens that the files beside its vocabulary list.

    Raises
    ------
    VocabularyFileError
        A list is malformed.
    """
    from ..spec import AddedToken

    tokens = {token.content: token for token in spec.added_tokens}
    path = os.path.join(folder, "added_tokens.json")
    special = set(roles(said).values()) | {text for text in said.get("additional_special_tokens") or () if isinstance(text, str)}
    try:
        for text, number in _object(path).items():
            tokens.setdefault(text, AddedToken(text, number, special=text in special))
        path = os.path.join(folder, _CONFIGS[0])
        for number, fields in (said.get("added_tokens_decoder") or {}).items():
            flags = {key: bool(fields.get(key, False)) for key in ("special", "single_word", "lstrip", "rstrip", "normalized")}
            tokens[fields["content"]] = AddedToken(fields["content"], int(number), **flags)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise VocabularyFileError(f"an added token is malformed ({error})", path=path) from None
    return spec.replace(added_tokens=sorted(tokens.values(), key=lambda token: token.id))
