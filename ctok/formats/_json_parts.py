"""The other parts of a tokenizer.json: models without their tables, added tokens, truncation and padding; from JSON and back."""

from __future__ import annotations

from operator import itemgetter

from ..spec import AddedToken, Record
from ..stagespecs.limits import Padding, Truncation
from ._json_stages import Malformed, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._json_stages import Place

# ---- models: their options ----

_TEXT, _TEXT_OR_NULL, _FLAG, _COUNT, _COUNT_OR_NULL, _SHARE = (
    "a text",
    "a text or null",
    "true or false",
    "a number",
    "a number or null",
    "...",
)

# Model -> ((key, what it must be, default or ... for none), ...) in the order of the file.
MODELS: dict[str, tuple[tuple[str, str, Any], ...]] = {
    "BPE": (
        ("dropout", _SHARE, None),
        ("unk_token", _TEXT_OR_NULL, None),
        ("continuing_subword_prefix", _TEXT_OR_NULL, None),
        ("end_of_word_suffix", _TEXT_OR_NULL, None),
        ("fuse_unk", _FLAG, False),
        ("byte_fallback", _FLAG, False),
        ("ignore_merges", _FLAG, False),
    ),
    "WordPiece": (("unk_token", _TEXT, ...), ("continuing_subword_prefix", _TEXT, ...), ("max_input_chars_per_word", _COUNT, ...)),
    "WordLevel": (("unk_token", _TEXT, ...),),
    "Unigram": (("unk_id", _COUNT_OR_NULL, None), ("byte_fallback", _FLAG, False)),
}


def model_type(model: dict[str, Any], vocab_kind: str | None) -> str:
    """Return the name of a model; old files leave it out.

    Raises
    ------
    Malformed
        There is no such model.
    """
    if "type" in model:
        name = model["type"]
        if not isinstance(name, str) or name not in MODELS:
            raise Malformed(("model",), f"unknown model {shown(name)}; known are {', '.join(MODELS)}")
        return name
    if "merges" in model:
        return "BPE"
    if "max_input_chars_per_word" in model:
        return "WordPiece"
    return "Unigram" if vocab_kind == "pieces" else "WordLevel"


def read_options(name: str, model: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a model by name; raises `Malformed` for one that is missing or wrong."""
    return {key: _option(name, model, key, what, default) for key, what, default in MODELS[name]}


def _option(name: str, model: dict[str, Any], key: str, what: str, default: Any) -> Any:
    value = model.get(key, default)
    if value is ...:
        raise Malformed(("model",), f"the model {name} has no {key!r}")
    if value is None and (what in (_TEXT_OR_NULL, _COUNT_OR_NULL, _SHARE) or name == "BPE"):
        return None if default is ... else default  # BPE takes null for "not given" everywhere
    if what in (_TEXT, _TEXT_OR_NULL):
        good = isinstance(value, str)
    elif what == _FLAG:
        good = isinstance(value, bool)
    elif what == _SHARE:
        good = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1
    else:
        good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**64
    if not good:
        expected = "a number from 0 to 1, or null" if what == _SHARE else what
        raise Malformed(("model", key), f"{key} of the model {name} must be {expected}, got {shown(value)}")
    return value


def write_options(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return a model's JSON without its tables, as the reference spells it."""
    return {"type": name} | {key: options[key] for key, _, _ in MODELS[name]}


# ---- added tokens ----

_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
_FIELDS = {"id", "content", *_FLAGS}
_in_order = itemgetter("content", "id", "special", "single_word", "lstrip", "rstrip", "normalized")  # as the constructor takes them


def read_added(value: Any, place: Place) -> tuple[AddedToken, ...]:
    """Return added tokens in the order of the file.

    As in the reference one without text is left out, and of two with the same text the flags of the later one count.

    Raises
    ------
    Malformed
        A field is missing or wrong, or the same text has two ids.
    """
    if not isinstance(value, list):
        raise Malformed(place, f"added tokens must be a list, got {shown(value)}")
    found: dict[str, AddedToken] = {}
    for index, fields in enumerate(value):
        token = _read_alike(fields) or _read_token(fields, (*place, index))
        if token is None:
            continue
        before = found.get(token.content, token)
        if before.id != token.id:
            raise Malformed((*place, index), f"added token {token.content!r} has the id {token.id}, but {before.id} before")
        found[token.content] = token
    return tuple(found.values())


def _read_alike(fields: Any) -> AddedToken | None:
    """Return the added token of an object that has just the fields that the reference writes; None: look closer. There may be thousands."""
    if type(fields) is not dict or len(fields) != len(_FIELDS):
        return None
    try:
        values = _in_order(fields)
        for value in values[2:]:
            if value is not True and value is not False:
                return None
        return AddedToken(*values) if type(values[1]) is int else None
    except (KeyError, TypeError, ValueError):
        return None


def _read_token(fields: Any, place: Place) -> AddedToken | None:
    if not isinstance(fields, dict):
        raise Malformed(place, f"an added token must be an object, got {shown(fields)}")
    for key in ("id", "content", *_FLAGS):
        if key not in fields:
            raise Malformed(place, f"the added token {shown(fields.get('content'))} has no {key!r}")
        if key in _FLAGS and not isinstance(fields[key], bool):
            raise Malformed((*place, key), f"{key} of an added token must be true or false, got {shown(fields[key])}")
    if fields["content"] == "":
        return None
    if isinstance(fields["id"], bool):
        raise Malformed((*place, "id"), f"the id of the added token {shown(fields['content'])} must be an integer")
    try:
        return AddedToken(fields["content"], fields["id"], **{key: fields[key] for key in _FLAGS})
    except (TypeError, ValueError) as error:
        raise Malformed(place, str(error)) from None


def are_all_said(tokens: tuple[AddedToken, ...], value: Any) -> bool:
    """Whether `write_added` gives the list that added tokens were read from: no field, and no token, was left out."""
    return len(tokens) == len(value) and all(len(fields) == len(_FIELDS) for fields in value)


def write_added(tokens: tuple[AddedToken, ...]) -> list[dict[str, Any]]:
    """Return the JSON of added tokens."""
    return [{"id": token.id, "content": token.content, **{key: getattr(token, key) for key in _FLAGS}} for token in tokens]


# ---- truncation and padding ----

_STRATEGIES = {"LongestFirst": "longest_first", "OnlyFirst": "only_first", "OnlySecond": "only_second"}
_SIDES = {"Left": "left", "Right": "right"}


def _of(words: dict[str, str], value: Any, place: Place) -> str:
    if not isinstance(value, str) or value not in words:
        raise Malformed(place, f"it must be one of {', '.join(words)}, got {shown(value)}")
    return words[value]


def _spelled(words: dict[str, str], value: str) -> str:
    return next(name for name, word in words.items() if word == value)


def _need(value: Any, place: Place, *keys: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Malformed(place, f"it must be an object or null, got {shown(value)}")
    for key in keys:
        if key not in value:
            raise Malformed(place, f"there is no {key!r}")
    return value


def _made(kind: Any, place: Place, **fields: Any) -> Record:
    try:
        return kind(**fields)  # type: ignore[no-any-return]
    except (TypeError, ValueError) as error:
        raise Malformed(place, str(error)) from None


def read_truncation(value: Any, place: Place) -> Record | None:
    """Return the record of a file's truncation, None for null; raises `Malformed`."""
    if value is None:
        return None
    _need(value, place, "max_length", "strategy", "stride")
    strategy = _of(_STRATEGIES, value["strategy"], (*place, "strategy"))
    side = _of(_SIDES, value.get("direction", "Right"), (*place, "direction"))
    return _made(Truncation, place, max_length=value["max_length"], strategy=strategy, stride=value["stride"], direction=side)


def write_truncation(record: Any) -> dict[str, Any] | None:
    """Return the JSON of a truncation."""
    if record is None:
        return None
    return {
        "direction": _spelled(_SIDES, record.direction),
        "max_length": record.max_length,
        "strategy": _spelled(_STRATEGIES, record.strategy),
        "stride": record.stride,
    }


def read_padding(value: Any, place: Place) -> Record | None:
    """Return the record of a file's padding, None for null; raises `Malformed`."""
    if value is None:
        return None
    _need(value, place, "strategy", "direction", "pad_id", "pad_type_id", "pad_token")
    strategy = value["strategy"]
    fixed = isinstance(strategy, dict) and list(strategy) == ["Fixed"]
    if not fixed and strategy != "BatchLongest":
        raise Malformed((*place, "strategy"), f'it must be "BatchLongest" or {{"Fixed": ...}}, got {shown(strategy)}')
    rest = {key: value[key] for key in ("pad_id", "pad_type_id", "pad_token")} | {"pad_to_multiple_of": value.get("pad_to_multiple_of")}
    side = _of(_SIDES, value["direction"], (*place, "direction"))
    return _made(Padding, place, length=strategy["Fixed"] if fixed else None, direction=side, **rest)


def write_padding(record: Any) -> dict[str, Any] | None:
    """Return the JSON of a padding."""
    if record is None:
        return None
    return {
        "strategy": "BatchLongest" if record.length is None else {"Fixed": record.length},
        "direction": _spelled(_SIDES, record.direction),
        "pad_to_multiple_of": record.pad_to_multiple_of,
        "pad_id": record.pad_id,
        "pad_type_id": record.pad_type_id,
        "pad_token": record.pad_token,
    }
