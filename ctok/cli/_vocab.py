"""`ctok vocab`: the tokens of a vocabulary, one a line, by id."""

from __future__ import annotations

from ._convert import spec_of
from ._io import Output, json_text
from ._parser import DEFAULT, Parser, add_file_options
from ._report import OK
from ._tokens import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..spec import Spec


def run(argv: list[str]) -> int:
    parser = Parser(
        "vocab",
        f"The tokens of a vocabulary ({DEFAULT} if none is named), one a line, by id: the id, the token (what cannot be seen is made "
        "visible as by 'ctok tokens'), its score where it has one, and what it is if it is not an ordinary token. Nothing is built.",
        "ctok vocab [SPEC] [--jsonl]",
        "  ctok vocab t5.model\n  ctok vocab tokenizer.json --jsonl | jq -r .text",
    )
    parser.add_argument("source", metavar="SPEC", nargs="?", default=DEFAULT, help="a name, a file or a directory, as for -T")
    parser.add_argument("--jsonl", action="store_true", help="one JSON object a token (text is null for a part of a character)")
    add_file_options(parser)
    args = parser.parse(argv)
    out = Output()
    for number, token, score, kind in entries(spec_of(args)):
        out.write(_json_line(number, token, score, kind) if args.jsonl else _line(number, token, score, kind))
    return OK


def entries(spec: Spec) -> Iterator[tuple[int, bytes, float | None, str | None]]:
    """Yield ``(id, token, score, what it is)`` in the order of the ids; an added token with the id of another one stands in its place."""
    model = spec.model
    tokens = {number: token for token, number in model.tokens}
    kinds = _kinds(model)
    for added in spec.added_tokens:
        tokens[added.id] = added.content.encode()
        kinds[added.id] = "special" if added.special else "added"
    scores = _scores(model)
    for number in sorted(tokens):
        yield number, tokens[number], scores[number] if number < len(scores) else None, kinds.get(number)


def _scores(model: Any) -> tuple[float, ...]:
    scores = getattr(model, "scores", None)
    if scores is None:
        return ()
    from struct import unpack

    n = len(model.tokens)
    return unpack(f"<{n}{'d' if len(scores) == 8 * n else 'f'}", scores)


def _kinds(model: Any) -> dict[int, str]:
    """What the pieces of a SentencePiece model are that are not ordinary."""
    if not hasattr(model, "types"):
        return {}
    from ..stagespecs.sentencepiece import NORMAL, TYPES

    return {number: TYPES[type_] for number, type_ in enumerate(model.types) if type_ != NORMAL}


def _line(number: int, token: bytes, score: float | None, kind: str | None) -> str:
    fields = [str(number), visible(token)]
    fields += [] if score is None else [f"{score:.9g}"]
    return "\t".join(fields + ([kind] if kind else [])) + "\n"


def _json_line(number: int, token: bytes, score: float | None, kind: str | None) -> str:
    try:
        text = token.decode()
    except UnicodeDecodeError:
        text = None
    told = {"id": number, "text": text, "hex": token.hex(), "score": score, "kind": kind}
    return json_text({key: value for key, value in told.items() if value is not None or key == "text"}) + "\n"
