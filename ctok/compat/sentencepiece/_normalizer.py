"""The reference's normalizer by itself: a message of settings, and what it does to texts."""

from __future__ import annotations

import os

from ...errors import CtokError, EncodeError
from ...formats import charsmap
from ...formats._spm_fields import FILE, NORMALIZER, changed, enclosed, read
from ._errors import ArgumentError, ModelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ...spec import Record

__all__ = ["SentencePieceNormalizer", "record_of"]

_RULE_FILE = 6  # the field that names a file of rules


class SentencePieceNormalizer:
    """What SentencePiece does to a text before the model. Every method has a second name in CamelCase.

    Parameters
    ----------
    model_file, model_proto
        The normalizer of a model: a path, or the file's bytes (or an object with ``SerializeToString()``). Its user-defined pieces take no
        part.
    normalizer_spec
        A message of settings, likewise.
    rule_tsv
        Path of a file of rules; see `ctok.formats.charsmap.load_rules`.
    rule_name
        ``"identity"``, ``"nfkc"``, ``"nmt_nfkc"``, ``"nfkc_cf"`` or ``"nmt_nfkc_cf"``.
    norm_map
        A sequence of pairs, old text and new text.
    add_dummy_prefix, escape_whitespaces, remove_extra_whitespaces
        Set over what the source says, which by itself sets all three.

    Raises
    ------
    ValueError
        No source is given, or a rule changes nothing, has no old text or the old text of another.
    RuntimeError
        There is no such file or table, or it is malformed. The text begins with the reference's word for it.
    """

    def __init__(
        self,
        model_file: str | os.PathLike[str] | None = None,
        model_proto: Any = None,
        normalizer_spec: Any = None,
        rule_tsv: str | os.PathLike[str] | None = None,
        rule_name: str | None = None,
        norm_map: Sequence[tuple[str, str]] | None = None,
        add_dummy_prefix: bool | None = None,
        escape_whitespaces: bool | None = None,
        remove_extra_whitespaces: bool | None = None,
    ) -> None:
        if model_file:
            content = _of_model(_file(model_file))
        elif model_proto:
            content = _of_model(_message(model_proto))
        elif normalizer_spec:
            content = _message(normalizer_spec)
        elif rule_tsv:
            content = _of_rule_file(os.fspath(rule_tsv))
        elif rule_name:
            content = changed(NORMALIZER, b"", {"name": rule_name, "precompiled_charsmap": _named(rule_name)}, complete=True)
        elif norm_map:
            content = changed(NORMALIZER, b"", {"precompiled_charsmap": _compiled(_pairs(norm_map))}, complete=True)
        else:
            raise ArgumentError("no model is specified")
        given = {
            "add_dummy_prefix": add_dummy_prefix,
            "escape_whitespaces": escape_whitespaces,
            "remove_extra_whitespaces": remove_extra_whitespaces,
        }
        self._set(content, {name: bool(value) for name, value in given.items() if value is not None})

    def _set(self, content: bytes, given: dict[str, bool] | None = None) -> None:
        from ...stages.normalizers import build_normalizer

        try:
            self._content = changed(NORMALIZER, content, given, complete=True) if given else content
            self._normalizer: Any = build_normalizer(record_of(self._content))
        except CtokError as error:
            raise ModelError(f"INTERNAL: {error}") from error

    def normalize(self, input: Any, with_offsets: bool | None = None) -> Any:
        """Return a text, or each of a list, as a model would see it.

        With offsets: a pair of that and, for each of its characters (of bytes: bytes) and for its end, the place in the text it comes from.
        """
        if isinstance(input, list):
            return [self._normalize(text, with_offsets) for text in input]
        return self._normalize(input, with_offsets)

    def _normalize(self, text: Any, with_offsets: Any) -> Any:
        normalized, places = self._normalizer.normalize_offsets(_raw(text))
        if isinstance(text, bytes):
            return (normalized, list(places)) if with_offsets else normalized
        shown = normalized.decode()
        return (shown, _in_characters(text, shown, places)) if with_offsets else shown

    def decompile(self) -> list[tuple[str, str]]:
        """Return the rules, old text and new text, in the order of the old ones. `RuntimeError` when there are none."""
        table = read(NORMALIZER, [(self._content, 0)])["precompiled_charsmap"]
        if not table:
            raise ModelError("INTERNAL: No precompiled charsmap found in model.")
        return list(charsmap.decompile(table).items())

    def serialized_model_proto(self) -> bytes:
        """Return a model file's bytes with nothing but this normalizer in it."""
        return enclosed(NORMALIZER, self._content)

    def serialized_normalizer_spec(self) -> bytes:
        """Return the message of settings."""
        return self._content

    def __getstate__(self) -> bytes:
        return self.serialized_model_proto()

    def __setstate__(self, state: bytes) -> None:
        self._set(_of_model(state))

    Normalize = normalize
    Decompile = decompile


def record_of(settings: bytes) -> Record:
    """Return what a message of settings says, as a stage."""
    from ...stagespecs.sentencepiece import Normalizer

    said = read(NORMALIZER, [(settings, 0)])
    return Normalizer(said.pop("precompiled_charsmap"), **said)


# ---- sources ----


def _file(path: str | os.PathLike[str]) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        word = "NOT_FOUND" if isinstance(error, FileNotFoundError) else "PERMISSION_DENIED"
        raise ModelError(f'{word}: "{os.fspath(path)}": {error.strerror}') from error


def _message(given: Any) -> bytes:
    data = given.SerializeToString() if hasattr(given, "SerializeToString") else given
    if not isinstance(data, bytes):
        raise TypeError(f"a message is given as bytes, not as {type(data).__name__}")
    return data


def _of_model(data: bytes) -> bytes:
    """The message of settings in a model file; of several the parts together."""
    from ..._native.spmfile import fields

    try:
        return b"".join(bytes(value) for number, wire, value, _, _ in fields(data, FILE) if (number, wire) == (NORMALIZER, 2))
    except CtokError as error:
        raise ModelError(f"INTERNAL: {error}") from error


def _named(name: str) -> bytes:
    try:
        return charsmap.named(name)
    except CtokError as error:
        raise ModelError(f"NOT_FOUND: No precompiled charsmap is found: {name}") from error


def _of_rule_file(path: str) -> bytes:
    try:
        rules = charsmap.load_rules(path)
    except OSError as error:
        raise ModelError(f'NOT_FOUND: "{path}": {error.strerror}') from error
    except CtokError as error:
        raise ModelError(f"INTERNAL: {error}") from error
    said = {"name": "user_defined", "precompiled_charsmap": _compiled(rules)}
    return changed(NORMALIZER, b"", said, complete=True) + enclosed(_RULE_FILE, os.fsencode(path))


def _pairs(given: Any) -> dict[str, str]:
    """The pairs of a sequence, as a dict."""
    rules: dict[str, str] = {}
    if hasattr(given, "keys"):
        raise TypeError("norm_map must be a sequence of pairs")
    for pair in given:
        old, new = (part.decode() if isinstance(part, bytes) else part for part in pair)
        if not isinstance(old, str) or not isinstance(new, str):
            raise TypeError(f"norm_map must be a sequence of pairs of str, got {pair!r}")
        if not old:
            raise ArgumentError("INVALID_ARGUMENT: Source string cannot be empty.")
        if old in rules:
            raise ArgumentError(f"INVALID_ARGUMENT: Duplicate source string in map: {old}")
        rules[old] = new
    return rules


def _compiled(rules: dict[str, str]) -> bytes:
    if any(old == new for old, new in rules.items()):
        raise ArgumentError("INVALID_ARGUMENT: Identity conversion is not allowed.")
    try:
        return charsmap.compile_rules(rules)
    except CtokError as error:
        raise ModelError(f"INTERNAL: {error}") from error


# ---- texts ----


def _raw(text: Any) -> bytes:
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        raise TypeError("Input must be str or bytes")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise EncodeError(f"character {error.start} is a lone surrogate", position=error.start, unit="char") from None


def _in_characters(text: str, shown: str, places: Sequence[int]) -> list[int]:
    """Offsets of bytes of the normalized text in bytes as those of its characters in characters."""
    if not places:
        return [0]
    found, at, char, byte = [], 0, 0, 0
    for place in _first_bytes(shown):
        at = places[place]
        while byte < at:
            byte += _size(text[char])
            char += 1
        found.append(char)
    return found


def _first_bytes(shown: str) -> list[int]:
    """Where each character begins in UTF-8, and where the last ends."""
    starts = [0]
    for char in shown:
        starts.append(starts[-1] + _size(char))
    return starts


def _size(char: str) -> int:
    return 1 if char < "\x80" else 2 if char < "\u0800" else 3 if char < "\U00010000" else 4
