"""Mistral's tekken files: a rank vocabulary in JSON, with its split pattern and its special tokens.

The special tokens have the first ids, in the order of their ranks and filled up with ``<SPECIAL_n>``; the id of any other token is its rank
behind them. Only as much of the vocabulary as the configuration says is in use.
"""

from __future__ import annotations

import os
from base64 import b64decode

from .._native.jsonfile import line_of, locate, read_tekken
from ..errors import VocabularyFileError
from ..spec import BPE, AddedToken, Spec, Split, TokenTable
from . import _disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike
    from typing import Any

    from typing_extensions import Buffer

__all__ = ["load", "loads"]

# Files up to version 7 do not list their special tokens; these are what they mean, by rank.
_EARLY = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]",
    "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
)  # fmt: skip
_ROLES = {"unk": "<unk>", "bos": "<s>", "eos": "</s>", "pad": "<pad>"}


def load(path: str | PathLike[str]) -> Spec:
    """Return the `Spec` of a tekken file; see `loads`."""
    return loads(_disk.read(path), path=path)


def loads(data: Buffer, *, path: str | PathLike[str] | None = None) -> Spec:
    """Return the `Spec` of a tekken file's bytes.

    Parameters
    ----------
    data
        The whole file, UTF-8.
    path
        What to call it in an error; its stem names the tokenizer.

    Raises
    ------
    VocabularyFileError
        It is not JSON, a part is missing, a token is not base64 or stands twice, or there are fewer tokens than it says; the error names
        the place.
    """
    where = None if path is None else os.fspath(path)
    raw = bytes(data)
    try:
        # The vocabulary without an object for each token; what is odd in any way is read again, slowly, and named.
        place = locate(raw, ("vocab",))
        if place is not None:
            begin, end = place
            document = _document(raw[:begin] + b"[]" + raw[end:], where)
            try:
                return _spec(document, where, memoryview(raw)[begin:end])
            except _Wrong:
                pass
        return _spec(_document(raw, where), where)
    except _Wrong as error:
        place = next((found for n in range(len(error.place), -1, -1) if (found := locate(raw, error.place[:n])) is not None), None)
        raise VocabularyFileError(error.reason, path=where, line=place and line_of(raw, place[0])) from None


class _Wrong(Exception):
    def __init__(self, place: tuple[str | int, ...], reason: str) -> None:
        super().__init__(reason)
        self.place = place
        self.reason = reason


def _document(raw: bytes, where: str | None) -> dict[str, Any]:
    from json import JSONDecodeError
    from json import loads as parse

    try:
        document = parse(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise VocabularyFileError("this is not UTF-8", path=where, line=raw.count(b"\n", 0, error.start) + 1) from None
    except JSONDecodeError as error:
        cure = "The file looks truncated; get it again." if error.pos >= len(error.doc.rstrip()) else None
        raise VocabularyFileError(
            f"column {error.colno}: this is not JSON ({error.msg})", path=where, line=error.lineno, cure=cure
        ) from None
    except (ValueError, RecursionError) as error:
        raise VocabularyFileError(f"it cannot be read ({error})", path=where) from None
    if not isinstance(document, dict):
        raise VocabularyFileError("a tekken file must be a JSON object", path=where, line=1)
    return document


def _spec(document: dict[str, Any], where: str | None, listed: Buffer | None = None) -> Spec:
    """The spec of a document; `listed` is its vocabulary when it is not in the document itself."""
    config, vocab = document.get("config"), document.get("vocab")
    if not isinstance(config, dict) or not isinstance(vocab, list):
        raise _Wrong((), "a tekken file must have a config (an object) and a vocab (a list)")
    pattern = config.get("pattern")
    if not isinstance(pattern, str) or not pattern:
        raise _Wrong(("config",), "config.pattern must be the split pattern")
    size, first = _count(config, "default_vocab_size"), _count(config, "default_num_special_tokens")
    if not first <= size <= first + len(vocab) and (listed is None or size < first):
        raise _Wrong(("config",), f"config asks for {size} tokens, {first} of them special, but the vocab has only {len(vocab)}")
    special = _special(document.get("special_tokens"), first, config.get("version"))
    columns = None if listed is None else read_tekken(listed, size - first, first)
    if listed is not None and columns is None:
        raise _Wrong(("vocab",), "look again")
    model = BPE(TokenTable(*columns) if columns else _table(vocab, size - first, first))
    added = [AddedToken(text, number) for number, text in enumerate(special)]
    roles = {role: text for role, text in _ROLES.items() if text in special}
    return Spec(_disk.name_of(where), model, Split(pattern), added, source=where, roles=roles)


def _count(config: dict[str, Any], key: str) -> int:
    value = config.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise _Wrong(("config", key), f"config.{key} must be a number of tokens, got {value!r}")
    return value


def _table(vocab: list[Any], wanted: int, first: int) -> TokenTable:
    tokens: dict[bytes, int] = {}
    ranks = set()
    for index, entry in enumerate(vocab):
        rank = entry.get("rank") if isinstance(entry, dict) else None
        if not isinstance(rank, int) or isinstance(rank, bool) or rank < 0:
            raise _Wrong(("vocab", index), f"vocab[{index}] must have a rank and token_bytes")
        if rank >= wanted:
            continue
        try:
            token = b64decode(entry.get("token_bytes"), validate=True)
        except (ValueError, TypeError):
            raise _Wrong(("vocab", index), f"vocab[{index}].token_bytes is not base64") from None
        if token in tokens or rank in ranks:
            what = f"token {token!r}" if token in tokens else f"rank {rank}"
            raise _Wrong(("vocab", index), f"vocab[{index}]: {what} is there twice")
        ranks.add(rank)
        tokens[token] = rank + first
    if len(tokens) != wanted:
        gap = next(rank for rank in range(wanted) if rank not in ranks)
        raise _Wrong(("vocab",), f"the vocab has no token of rank {gap}, but config asks for {wanted} tokens")
    return TokenTable.from_dict(tokens)


def _special(listed: Any, count: int, version: Any) -> list[str]:
    """The special tokens by rank, filled up to `count`."""
    if listed is None:
        if version not in ("v1", "v2", "v3", "v7"):
            raise _Wrong((), f"this file of version {version!r} does not list its special tokens")
        texts = dict(enumerate(_EARLY[:count]))
    elif isinstance(listed, list):
        texts = {}
        for index, entry in enumerate(listed):
            rank, text = (entry.get("rank"), entry.get("token_str")) if isinstance(entry, dict) else (None, None)
            if not isinstance(rank, int) or isinstance(rank, bool) or not isinstance(text, str) or not text or not 0 <= rank < count:
                raise _Wrong(("special_tokens", index), f"special_tokens[{index}] must have a rank below {count} and a token_str")
            if rank in texts or text in texts.values():
                raise _Wrong(("special_tokens", index), f"special_tokens[{index}]: {text!r} or its rank {rank} is there twice")
            texts[rank] = text
    else:
        raise _Wrong(("special_tokens",), "special_tokens must be a list")
    filled = [texts.get(rank, f"<SPECIAL_{rank}>") for rank in range(count)]
    if len(set(filled)) != count:
        raise _Wrong(("special_tokens",), "a special token has a name that is kept for filling up")
    return filled
