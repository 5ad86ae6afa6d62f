"""The stages of a tokenizer.json, from JSON to records and back: one table that says how each record is spelled."""

from __future__ import annotations

import sys

from ..spec import Record
from ..stagespecs import decoders as D
from ..stagespecs import normalizers as N
from ..stagespecs import postprocessors as O
from ..stagespecs import pretokenizers as P
from ..stagespecs.patterns import Regex, String

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Place = tuple[str | int, ...]

STAGES = ("normalizer", "pre_tokenizer", "post_processor", "decoder")


class Malformed(Exception):
    """Something in the document is not what it should be.

    Attributes
    ----------
    place
        Keys and indices that lead to it.
    reason
        What is wrong, one clause.
    """

    def __init__(self, place: Place, reason: str) -> None:
        super().__init__(reason)
        self.place = place
        self.reason = reason


def spelled(place: Place) -> str:
    """Return a place as people write it: ``pre_tokenizer.pretokenizers[1]``."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).lstrip(".")


# ---- how values are spelled: name of the kind -> (from JSON, to JSON) ----

_BEHAVIORS = dict(zip(("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"), P.BEHAVIORS))
_BEHAVIOR_NAMES = {behavior: name for name, behavior in _BEHAVIORS.items()}


def _pattern_from(value: Any) -> Record:
    if isinstance(value, dict) and len(value) == 1:
        ((kind, text),) = value.items()
        if kind in ("String", "Regex"):
            return String(text) if kind == "String" else Regex(text)
    raise ValueError(f'a pattern must be {{"String": ...}} or {{"Regex": ...}}, got {shown(value)}')


def _behavior_from(value: Any) -> str:
    if not isinstance(value, str) or value not in _BEHAVIORS:
        raise ValueError(f"the behavior must be one of {', '.join(_BEHAVIORS)}, got {shown(value)}")
    return _BEHAVIORS[value]


def _base64_from(value: Any) -> bytes:
    if not isinstance(value, str):
        raise ValueError(f"it must be base64, got {shown(value)}")
    if sys.version_info >= (3, 11):
        from binascii import a2b_base64  # what b64decode calls; base64 itself would load re

        return a2b_base64(value, strict_mode=True)
    from base64 import b64decode

    return b64decode(value, validate=True)


def _base64_to(data: bytes) -> str:
    from binascii import b2a_base64

    return b2a_base64(data, newline=False).decode("ascii")


def _token_from(value: Any) -> tuple[str, int]:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"a token must be [text, id], got {shown(value)}")
    return value[0], value[1]


def _piece_from(value: Any) -> Record:
    if isinstance(value, dict) and len(value) == 1:
        ((kind, fields),) = value.items()
        if kind in ("Sequence", "SpecialToken") and isinstance(fields, dict) and {"id", "type_id"} <= fields.keys():
            return (O.SequencePiece if kind == "Sequence" else O.SpecialPiece)(fields["id"], fields["type_id"])
    raise ValueError(f'a piece of a template must be {{"Sequence" or "SpecialToken": {{"id": ..., "type_id": ...}}}}, got {shown(value)}')


def _pieces_from(value: Any) -> tuple[Record, ...]:
    if not isinstance(value, list):
        raise ValueError(f"a template must be a list of pieces, got {shown(value)}")
    return tuple(map(_piece_from, value))


def _pieces_to(pieces: tuple[Any, ...]) -> list[Any]:
    kinds = {O.SequencePiece: "Sequence", O.SpecialPiece: "SpecialToken"}
    return [{kinds[type(piece)]: {"id": piece.id, "type_id": piece.type_id}} for piece in pieces]


def _template_tokens_from(value: Any) -> tuple[Record, ...]:
    if not isinstance(value, dict):
        raise ValueError(f"the special tokens of a template must be an object, got {shown(value)}")
    for name, fields in value.items():
        if not isinstance(fields, dict) or not all(isinstance(fields.get(key), list) for key in ("ids", "tokens")):
            raise ValueError(f"the special token {name!r} of a template must have lists of ids and tokens, got {shown(fields)}")
    return tuple(O.TemplateToken(name, fields["ids"], fields["tokens"]) for name, fields in value.items())


def _template_tokens_to(tokens: tuple[Any, ...]) -> dict[str, Any]:
    return {token.id: {"id": token.id, "ids": list(token.ids), "tokens": list(token.tokens)} for token in tokens}


_KINDS: dict[str, tuple[Any, Any]] = {
    "plain": (lambda value: value, lambda value: value),
    "pattern": (_pattern_from, lambda pattern: {type(pattern).__name__: pattern.text}),
    "behavior": (_behavior_from, _BEHAVIOR_NAMES.__getitem__),
    "base64": (_base64_from, _base64_to),
    "token": (_token_from, list),
    "pieces": (_pieces_from, _pieces_to),
    "tokens": (_template_tokens_from, _template_tokens_to),
}

# ---- which fields a stage has: (key in the file, field of the record, kind, may be missing) ----


def _fields(*names: str, **kinds: str) -> tuple[tuple[str, str, str, bool], ...]:
    """Fields in order: "name" or "key>name", with a "?" behind where it may be missing; kinds that are not plain by name."""
    rows = []
    for name in names:
        key, _, field = name.rstrip("?").partition(">")
        rows.append((key, field or key, kinds.get(field or key, "plain"), name.endswith("?")))
    return tuple(rows)


_BYTE_LEVEL = _fields("add_prefix_space", "trim_offsets", "use_regex?")
_REPLACE = _fields("pattern", "content", pattern="pattern")
_METASPACE = _fields("replacement", "prepend_scheme?", "split?")

TABLE: dict[str, dict[str, tuple[Any, tuple[tuple[str, str, str, bool], ...]]]] = {
    "normalizer": {
        **{name: (getattr(N, name), ()) for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel")},
        "BertNormalizer": (N.BertNormalizer, _fields("clean_text", "handle_chinese_chars", "strip_accents?", "lowercase")),
        "Strip": (N.Strip, _fields("strip_left>left", "strip_right>right")),
        "Replace": (N.Replace, _REPLACE),
        "Prepend": (N.Prepend, _fields("prepend")),
        "Precompiled": (N.Precompiled, _fields("precompiled_charsmap>charsmap", charsmap="base64")),
        "Sequence": (N.Sequence, _fields("normalizers>steps", steps="steps")),
    },
    "pre_tokenizer": {
        **{name: (getattr(P, name), ()) for name in ("BertPreTokenizer", "Whitespace", "WhitespaceSplit", "UnicodeScripts")},
        "ByteLevel": (P.ByteLevel, _BYTE_LEVEL),
        "CharDelimiterSplit": (P.CharDelimiterSplit, _fields("delimiter")),
        "Metaspace": (P.Metaspace, _METASPACE),
        "Split": (P.Split, _fields("pattern", "behavior", "invert", pattern="pattern", behavior="behavior")),
        "Punctuation": (P.Punctuation, _fields("behavior?", behavior="behavior")),
        "Digits": (P.Digits, _fields("individual_digits")),
        "FixedLength": (P.FixedLength, _fields("length?")),
        "Sequence": (P.Sequence, _fields("pretokenizers>steps", steps="steps")),
    },
    "post_processor": {
        "BertProcessing": (O.BertProcessing, _fields("sep", "cls", sep="token", cls="token")),
        "RobertaProcessing": (O.RobertaProcessing, _fields("sep", "cls", "trim_offsets", "add_prefix_space", sep="token", cls="token")),
        "ByteLevel": (O.ByteLevel, _BYTE_LEVEL),
        "TemplateProcessing": (
            O.TemplateProcessing,
            _fields("single", "pair", "special_tokens", single="pieces", pair="pieces", special_tokens="tokens"),
        ),
        "Sequence": (O.Sequence, _fields("processors>steps", steps="steps")),
    },
    "decoder": {
        "ByteLevel": (D.ByteLevel, _BYTE_LEVEL),
        "ByteFallback": (D.ByteFallback, ()),
        "Fuse": (D.Fuse, ()),
        "Metaspace": (D.Metaspace, _METASPACE),
        "Replace": (D.Replace, _REPLACE),
        "Strip": (D.Strip, _fields("content", "start>left", "stop>right")),
        "WordPiece": (D.WordPiece, _fields("prefix", "cleanup")),
        "BPEDecoder": (D.BPEDecoder, _fields("suffix")),
        "CTC": (D.CTC, _fields("pad_token", "word_delimiter_token", "cleanup")),
        "Sequence": (D.Sequence, _fields("decoders>steps", steps="steps")),
    },
}

# Old files leave the type out: the first of these whose keys are there. (Of the pre-tokenizers none ever did.)
_WITHOUT_TYPE: dict[str, tuple[str, ...]] = {
    "normalizer": ("BertNormalizer", "Strip", "Sequence", "Prepend"),
    "pre_tokenizer": (),
    "post_processor": ("RobertaProcessing", "BertProcessing", "TemplateProcessing", "Sequence"),
    "decoder": ("WordPiece", "BPEDecoder", "CTC", "Sequence"),
}


def shown(value: object) -> str:
    """Return a value for an error, not too long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# ---- reading ----


def read_stage(stage: str, value: Any, place: Place) -> Record | None:
    """Return the record of a stage's JSON, or None for null.

    Raises
    ------
    Malformed
        The type is unknown, a field is missing or wrong; the error names the place.
    """
    if value is None:
        return None
    name = _type_of(stage, value, place)
    record, fields = TABLE[stage][name]
    if name == "Metaspace":
        value = _metaspace(value, place)
    elif name == "RobertaProcessing" and not {"trim_offsets", "add_prefix_space"} <= value.keys():
        record, fields = TABLE[stage]["BertProcessing"]  # what the reference takes it for
    made = {}
    for key, field, kind, optional in fields:
        if key in value:
            made[field] = _read_field(stage, kind, value[key], (*place, key), name)
        elif not optional:
            raise Malformed(place, f"the {_words(stage)} {name} has no {key!r}")
    try:
        return record(**made)  # type: ignore[no-any-return]
    except (TypeError, ValueError) as error:
        raise Malformed(place, str(error)) from None


def _read_field(stage: str, kind: str, value: Any, place: Place, name: str) -> Any:
    if kind == "steps":
        if not isinstance(value, list):
            raise Malformed(place, f"the steps of a Sequence must be a list, got {shown(value)}")
        steps = tuple(read_stage(stage, step, (*place, index)) for index, step in enumerate(value))
        if None in steps:
            raise Malformed((*place, steps.index(None)), f"a step of a Sequence must be a {_words(stage)}, not null")
        return steps
    try:
        return _KINDS[kind][0](value)
    except (TypeError, ValueError) as error:
        raise Malformed(place, f"the {_words(stage)} {name}: {error}") from None


def _type_of(stage: str, value: Any, place: Place) -> str:
    if not isinstance(value, dict):
        raise Malformed(place, f"a {_words(stage)} must be an object, got {shown(value)}")
    if "type" in value:
        name = value["type"]
        if not isinstance(name, str) or name not in TABLE[stage]:
            raise Malformed(place, f"unknown {_words(stage)} {shown(name)}; known are {', '.join(TABLE[stage])}")
        return name
    for name in _WITHOUT_TYPE[stage]:
        if all(key in value or optional for key, _, _, optional in TABLE[stage][name][1]):
            return name
    raise Malformed(place, f"the {_words(stage)} does not say its type")


def _metaspace(value: dict[str, Any], place: Place) -> dict[str, Any]:
    """The older spelling: add_prefix_space instead of prepend_scheme."""
    scheme = value.get("prepend_scheme", "always")
    if value.get("add_prefix_space") is False and scheme != "never":
        raise Malformed(place, f"Metaspace: add_prefix_space is false, but prepend_scheme is {shown(scheme)}")
    return {key: field for key, field in value.items() if not (key == "split" and field is None)}


def _words(stage: str) -> str:
    return stage.replace("_", "-")


# ---- writing ----


def write_stage(stage: str, record: Any) -> Any:
    """Return the JSON of a stage's record, as the reference spells it; None for None.

    Raises
    ------
    KeyError
        A tokenizer.json has no such stage.
    """
    if record is None:
        return None
    for name, (kind, fields) in TABLE[stage].items():
        if type(record) is kind:
            made: dict[str, Any] = {"type": name}
            for key, field, how, _ in fields:
                value = getattr(record, field)
                made[key] = [write_stage(stage, step) for step in value] if how == "steps" else _KINDS[how][1](value)
            return made
    raise KeyError(type(record).__name__)
