"""`ctok encode --nbest` and `--sample`: other ways to cut a text into tokens, each text as a whole."""

from __future__ import annotations

from ._filters import IdLine, records
from ._io import Output, Source, json_text
from ._parser import at_least
from ._report import CliError, UsageError, explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from typing import Any

    from ..tokenizer import Tokenizer

ALPHA = 0.1


def add_path_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("other ways to cut a text into tokens (Unigram; byte pairs only --sample)")
    group.add_argument(
        "--nbest", metavar="K", type=at_least(1), help="the K best, a line each, the score before the ids; with --sample: draw from these"
    )
    group.add_argument("--sample", metavar="N", type=at_least(1), nargs="?", const=1, help="N drawn at random (1), a line each")
    group.add_argument(
        "--alpha", metavar="A", type=float, help=f"with --sample: smoothing; of byte pairs the share of merges left out ({ALPHA})"
    )
    group.add_argument("--seed", metavar="S", type=at_least(0), help="with --sample: the same seed draws the same")


def write_paths(
    args: argparse.Namespace,
    tokenizer: Tokenizer,
    inputs: list[Source],
    separator: bytes | None,
    options: dict[str, Any],
    out: Output,
) -> int:
    """Write what the options of `add_path_options` ask for; they ask for something."""
    if args.sample is None and (args.alpha is not None or args.seed is not None):
        raise UsageError("--alpha and --seed are for --sample")
    draw = _Draws(args, tokenizer, options) if args.sample is not None else None
    for source in inputs:
        with source:
            for text in _whole(source, separator):
                try:
                    found = tokenizer.nbest(text, args.nbest, **options) if draw is None else draw.of(text)
                except ValueError as error:
                    raise CliError(f"{source.name}: {explain(error)}") from None
                _write(found, args.json, out)
    return 0


def _whole(source: Source, separator: bytes | None) -> Iterator[bytes]:
    parts: list[bytes] = []
    for part, is_last in records(source, separator):
        parts.append(part)
        if is_last:
            yield b"".join(parts)
            parts = []


class _Draws:
    """Draws from one text after the other. A seed settles all of them, and no two have the same."""

    def __init__(self, args: argparse.Namespace, tokenizer: Tokenizer, options: dict[str, Any]) -> None:
        from random import Random

        self._count, self._tokenizer, self._options = args.sample, tokenizer, options
        self._alpha = ALPHA if args.alpha is None else args.alpha
        self._nbest = args.nbest
        self._seeds = None if args.seed is None else Random(args.seed)

    def of(self, text: bytes) -> list[tuple[list[int], None]]:
        seeds = [None if self._seeds is None else self._seeds.getrandbits(63) for _ in range(self._count)]
        return [(self._tokenizer.sample(text, self._alpha, self._nbest, seed, **self._options), None) for seed in seeds]


def _write(found: list[tuple[list[int], Any]], as_json: bool, out: Output) -> None:
    for ids, score in found:
        if as_json:
            out.write(json_text(ids if score is None else {"score": score, "ids": ids}) + "\n")
            continue
        if score is not None:
            out.write(f"{score:.9g}\t")
        line = IdLine(out)
        line.write(ids)
        line.end()
