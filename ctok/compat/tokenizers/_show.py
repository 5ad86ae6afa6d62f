"""How components are shown: as calls, with the names that a tokenizer.json has."""

from __future__ import annotations

from itertools import islice

from ...formats._json_parts import MODELS, write_added, write_padding, write_truncation
from ...formats._json_stages import STAGES, TABLE, write_stage
from ...stagespecs.models import BPE, Unigram
from ._tables import Texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ...spec import Record, Spec

__all__ = ["show_model", "show_spec", "show_stage"]

MOST = 99  # of a list; the rest is "..."
_BARE = ("prepend_scheme", "behavior")  # words, not texts


def value(found: Any) -> str:
    """Return a value of JSON."""
    if isinstance(found, str):
        return f'"{found}"'
    if isinstance(found, float):
        return number(found)
    if isinstance(found, dict):
        return "{" + ", ".join(f'"{key}":{value(part)}' for key, part in found.items()) + "}"
    if isinstance(found, list):
        return several(map(value, found))
    return str(found)


def number(found: float) -> str:
    """Return a float without an exponent and without ``.0``."""
    from decimal import Decimal

    shown = format(Decimal(repr(found)), "f")
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def several(parts: Iterable[str], brackets: str = "[]") -> str:
    """Return a list, cut where it is long."""
    shown = list(islice(parts, MOST + 1))
    if len(shown) > MOST:
        shown[MOST:] = ["..."]
    return brackets[0] + ", ".join(shown) + brackets[1]


def show_stage(stage: str, record: Record | None) -> str:
    """Return a component of a stage, or None."""
    return "None" if record is None else _call(stage, write_stage(stage, record))


def _call(stage: str, made: dict[str, Any]) -> str:
    name = made["type"]
    kinds = {key: kind for key, _, kind, _ in TABLE[stage][name][1]}
    return f"{name}({', '.join(f'{key}={_field(stage, key, kinds[key], made[key])}' for key in kinds)})"


def _field(stage: str, key: str, kind: str, found: Any) -> str:
    if kind == "steps":
        return several(_call(stage, step) for step in found)
    if kind == "pattern":
        ((name, text),) = found.items()
        return f'{name}("{text}")'
    if kind == "token":
        return f'("{found[0]}", {found[1]})'
    if kind == "pieces":
        return several(_piece(*piece.popitem()) for piece in found)
    if kind == "tokens":
        tokens = (f'"{name}":SpecialToken(id="{name}", ids={value(t["ids"])}, tokens={value(t["tokens"])})' for name, t in found.items())
        return several(tokens, "{}")
    return str(found) if key in _BARE else value(found)


def _piece(name: str, fields: dict[str, Any]) -> str:
    shown = fields["id"] if name == "Sequence" else f'"{fields["id"]}"'
    return f"{name}(id={shown}, type_id={fields['type_id']})"


def show_model(record: Any) -> str:
    """Return a model, with the first entries of its tables."""
    name = type(record).__name__
    options = {key: value(getattr(record, key)) for key, _, _ in MODELS[name]}
    texts = Texts(record.tokens)
    pairs = texts.first(MOST + 1)
    if isinstance(record, Unigram):
        from struct import unpack

        scores = unpack(f"<{len(pairs)}d", record.scores[: 8 * len(pairs)])
        vocab = several(f'("{text}", {value(score)})' for (_, text), score in zip(pairs, scores, strict=True))
        options = {"unk_id": options["unk_id"], "vocab": vocab, "byte_fallback": options["byte_fallback"]}
    else:
        vocab = several((f'"{text}":{number}' for number, text in pairs), "{}")
        options = {"vocab": vocab} | options if name == "WordLevel" else options | {"vocab": vocab}
    if isinstance(record, BPE):
        from struct import iter_unpack

        merges = iter_unpack("<2I", record.merges or b"")
        options["merges"] = several(f'("{texts.text(left)}", "{texts.text(right)}")' for left, right in merges)
    return f"{name}({', '.join(f'{key}={shown}' for key, shown in options.items())})"


def show_spec(spec: Spec) -> str:
    """Return a tokenizer."""
    parts = {
        "version": '"1.0"',
        "truncation": _limits(write_truncation(spec.truncation), "TruncationParams"),
        "padding": _limits(write_padding(spec.padding), "PaddingParams"),
        "added_tokens": several(map(value, write_added(spec.added_tokens))),
    }
    parts |= {stage: show_stage(stage, getattr(spec, stage)) for stage in STAGES}
    return f"Tokenizer({', '.join(f'{key}={shown}' for key, shown in parts.items())}, model={show_model(spec.model)})"


def _limits(made: dict[str, Any] | None, name: str) -> str:
    if made is None:
        return "None"
    bare = ("direction", "strategy")
    words = {key: str(found) if key in bare else value(found) for key, found in made.items()}
    if isinstance(made.get("strategy"), dict):
        words["strategy"] = f"Fixed({made['strategy']['Fixed']})"
    return f"{name}({', '.join(f'{key}={shown}' for key, shown in words.items())})"
