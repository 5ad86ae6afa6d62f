"""`ctok models` and `ctok info`: which tokenizer a model uses, what a tokenizer is."""

from __future__ import annotations

from ..spec import Split
from ._io import Output, json_text
from ._parser import DEFAULT, Parser, add_tokenizer_options, resolve, tokenizer_of
from ._report import ERROR, OK, UsageError, complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..spec import Record
    from ..tokenizer import Tokenizer


# ---- models ----


def run_models(argv: list[str]) -> int:
    parser = Parser(
        "models",
        "Which encoding a model uses, and how sure that is. Without a name: all names that are known. Nothing is loaded.",
        "ctok models [NAME ...] [--encodings] [--json]",
        "  ctok models gpt-5 gpt-4o-2024-08-06\n  ctok models --encodings",
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="names of models")
    parser.add_argument("--encodings", action="store_true", help="list the names that -T takes, and where each comes from")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse(argv)
    if args.encodings and args.names:
        raise UsageError("--encodings lists all; give no names with it")
    out = Output()
    if args.encodings:
        from ..registry import list_vocabularies

        return _write_pairs(out, list_vocabularies(), args.json)
    return _look_up(out, args.names, args.json) if args.names else _write_pairs(out, known_models(), args.json)


def known_models() -> dict[str, str]:
    """Return the models' names, and the families' as ``NAME-*``, with their encodings."""
    from ..registry._models import FAMILIES, TIKTOKEN_MODELS

    names = dict(TIKTOKEN_MODELS)
    for family, separators, encoding in FAMILIES:
        names.setdefault(family, encoding)
        names.update({f"{family}{separator}*": encoding for separator in separators})
    return dict(sorted(names.items()))


def list_models(out: Output) -> int:
    """Write the models as ttok does: ``NAME (ENCODING)``."""
    for name, encoding in known_models().items():
        out.write(f"{name} ({encoding})\n")
    return OK


def _look_up(out: Output, names: list[str], as_json: bool) -> int:
    from ..registry import model_info

    status = OK
    infos = [model_info(name) for name in names]
    if as_json:
        told = {info.name: {"encoding": info.encoding, "exact": info.exact, "source": info.source} for info in infos}
        out.write(json_text(told) + "\n")
    for info in infos:
        if info.encoding is None:
            complain(f"{info.name}: {info.source}")
            status = ERROR
        elif not as_json:
            out.write(f"{info.name}  {info.encoding}  ({info.source})\n")
    return status


def _write_pairs(out: Output, pairs: dict[str, str], as_json: bool) -> int:
    if as_json:
        out.write(json_text(pairs) + "\n")
        return OK
    width = max(map(len, pairs), default=0)
    for name, value in pairs.items():
        out.write(f"{name:<{width}}  {value}\n")
    return OK


# ---- info ----


def run_info(argv: list[str]) -> int:
    parser = Parser(
        "info",
        f"What a tokenizer is: ids, added tokens, stages, roles, limits that its file sets, where it comes from ({DEFAULT} if none is "
        "named). Limits are told, not applied.",
        "ctok info [SPEC | -T SPEC | -m MODEL] [--json]",
        "  ctok info\n  ctok info tokenizer.json\n  ctok info cl100k_base --json\n  ctok info -m gpt-4o",
    )
    parser.add_argument("spec", metavar="SPEC", nargs="?", help="as for -T")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    add_tokenizer_options(parser)
    args = parser.parse(argv)
    if args.spec is not None and (args.tokenizer is not None or args.model is not None):
        raise UsageError("SPEC, -T and -m all choose a tokenizer; give one of them")
    facts = facts_of(tokenizer_of(args) if args.spec is None else resolve(args.spec, args.pattern, args.special_token))
    out = Output()
    if args.json:
        out.write(json_text(facts) + "\n")
        return OK
    for name, value in facts.items():
        if value not in (None, {}, []):
            out.write(f"{name.replace('_', ' '):<15} {_shown(value)}\n")
    return OK


def _shown(value: object) -> str:
    if isinstance(value, dict):
        pairs = [f"{text} {number}" for text, number in value.items()]
        return ", ".join(pairs[:8]) + (f", and {len(pairs) - 8} more" if len(pairs) > 8 else "")
    if isinstance(value, list):
        return "\n".join(value).replace("\n", "\n" + " " * 16)
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def facts_of(tokenizer: Tokenizer) -> dict[str, object]:
    """Return what there is to tell of a tokenizer."""
    from .._version import __version__

    spec = tokenizer.spec
    model = spec.model
    cut = spec.pre_tokenizer
    return {
        "name": tokenizer.name,
        "vocab_size": tokenizer.vocab_size,
        "tokens": len(model.tokens),
        "special_tokens": tokenizer.special_tokens,
        "added_tokens": {token.content: token.id for token in spec.added_tokens if not token.special},
        "roles": dict(spec.roles),
        "normalizer": steps_of(spec.normalizer),
        "pattern": cut.pattern if isinstance(cut, Split) else None,
        "pre_tokenizer": [] if isinstance(cut, Split) else steps_of(cut),
        "model": model_of(model),
        "pieces": pieces_of(model),
        "post_processor": steps_of(spec.post_processor),
        "decoder": steps_of(spec.decoder),
        "truncation": steps_of(spec.truncation),
        "padding": steps_of(spec.padding),
        "streams": tokenizer.streams,
        "source": spec.source,
        "ctok": __version__,
    }


def steps_of(record: Record | None) -> list[str]:
    """Return a stage as it would be written in Python, a line for each step."""
    if record is None:
        return []
    steps = getattr(record, "steps", None)
    return [repr(record)] if steps is None else [line for step in steps for line in steps_of(step)]


def pieces_of(model: Record) -> dict[str, int]:
    """Return how many pieces of each type a SentencePiece model has; {} for other models."""
    if type(model).__name__ != "Pieces":
        return {}
    from ..stagespecs.sentencepiece import TYPES

    types = bytes(model.types)  # type: ignore[attr-defined]
    return {name: n for number, name in TYPES.items() if (n := types.count(number))}


def model_of(model: Record) -> str:
    """Return a model's name and options, its tables left out."""
    tables = ("tokens", "merges", "joined", "scores", "types")
    said = {name: getattr(model, name) for name in model.__slots__ if name not in tables}
    options = [f"{name}={value!r}" for name, value in said.items() if value is not None and value is not False]
    return f"{type(model).__name__}({', '.join(options)})"
