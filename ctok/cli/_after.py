"""`ctok extend`, `ctok prune`, `ctok explain`: a trained vocabulary with more tokens, with fewer, and why a word becomes its tokens."""

from __future__ import annotations

from ._convert import files_of, spec_of, target_of
from ._io import Output, refuse_existing, refuse_missing_folder
from ._parser import DEFAULT, Parser, add_file_options, at_least
from ._report import OK, CliError, note
from ._report import explain as told

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ..spec import Spec

MEGABYTE = 1 << 20


def extend_parser() -> Parser:
    parser = Parser(
        "extend",
        "Learn more tokens for the vocabulary A from files of text and write it to B. Every old id stays what it was; new ids follow the "
        "highest.",
        "ctok extend A FILE... -n N -o B [options]",
        "  ctok extend o200k_base 'law/*.txt' -n 2000 -o law.tiktoken\n  ctok extend tokenizer.json a.txt -n 500 -o longer.json",
    )
    _add_vocabulary(parser)
    parser.add_argument("paths", metavar="FILE", nargs="+", help="files of text (also .gz, .xz, .jsonl, .parquet), or patterns with *")
    parser.add_argument("-n", "--tokens", metavar="N", type=at_least(1), required=True, help="tokens to add, at most")
    parser.add_argument("--min-frequency", metavar="N", type=at_least(1), default=2, help="what is seen less often is not added (2)")
    parser.add_argument("--max-token-length", metavar="N", type=at_least(1), help="in characters, or bytes where tokens are bytes")
    _add_target(parser)
    _add_reading(parser)
    return parser


def prune_parser() -> Parser:
    parser = Parser(
        "prune",
        "Write the vocabulary A with fewer tokens to B: down to N, to those that files of text use, or both. What must stay (bytes, "
        "characters, special tokens) does. The old id of each new one goes to --map, a line each: the rows of the old embedding matrix "
        "that make the new one.",
        "ctok prune A [FILE...] [-n N] -o B [--map MAP] [options]",
        "  ctok prune o200k_base 'corpus/*.txt' -n 50000 -o small.tiktoken --map rows.txt\n"
        "  ctok prune tokenizer.json german.txt -o german.json",
    )
    _add_vocabulary(parser)
    parser.add_argument("paths", metavar="FILE", nargs="*", help="files of text; none: scores or the order of ids decide")
    parser.add_argument("-n", "--vocab-size", metavar="N", type=at_least(1), help="tokens that stay, special ones included")
    parser.add_argument("--keep", metavar="TOKEN", action="append", default=[], help="a token that stays in any case; may be repeated")
    parser.add_argument("--map", metavar="MAP", help="where to write the old ids")
    _add_target(parser)
    _add_reading(parser)
    return parser


def explain_parser() -> Parser:
    parser = Parser(
        "explain",
        "Tell why a word becomes its tokens: the merges of each, or, of unigram models, scores and the next best way. A word behind a "
        "blank is another one than at the start: quote it, as in ' word'.",
        "ctok explain WORD [-T A]",
        "  ctok explain ' lowest'\n  ctok explain lowest -T bert/",
    )
    parser.add_argument("word", metavar="WORD", help="a word, or any text")
    parser.add_argument("-T", "--tokenizer", dest="source", metavar="A", default=DEFAULT, help=f"a name, a file or a directory ({DEFAULT})")
    add_file_options(parser)
    return parser


def _add_vocabulary(parser: Parser) -> None:
    parser.add_argument("source", metavar="A", help="a vocabulary: a name, a file or a directory, as for -T")
    add_file_options(parser)


def _add_target(parser: Parser) -> None:
    parser.add_argument("-o", "--output", dest="target", metavar="B", required=True, help="the file to write; its name says the format")
    parser.add_argument("-f", "--force", action="store_true", help="write over a file that exists")
    parser.set_defaults(to=None)


def _add_reading(parser: Parser) -> None:
    parser.add_argument("--field", metavar="NAME", default="text", help="the field of JSON and Parquet records that holds the text (text)")
    parser.add_argument("--lines", action="store_true", help="each line of a text file is a text of its own")
    parser.add_argument("--errors", choices=("strict", "replace", "skip"), default="strict", help="what to do about malformed UTF-8")
    parser.add_argument("--threads", metavar="N", type=at_least(1), help="how many threads (as many as there are processors)")
    parser.add_argument("--max-memory", metavar="MB", type=at_least(1), help="how much memory counts may take (half of what is free)")


def run_extend(argv: list[str]) -> int:
    from ..train import extend

    args = extend_parser().parse(argv)
    spec = spec_of(args)
    _refuse_existing(args, spec)
    longer = extend(
        spec, _corpus(args), args.tokens, min_frequency=args.min_frequency, max_token_length=args.max_token_length, **_how(args)
    )
    note(f"{len(longer.model.tokens) - len(spec.model.tokens)} tokens more")
    return _write(args, longer)


def run_prune(argv: list[str]) -> int:
    from ..train import prune

    args = prune_parser().parse(argv)
    spec = spec_of(args)
    _refuse_existing(args, spec)
    try:
        pruned = prune(spec, _corpus(args) if args.paths else None, vocab_size=args.vocab_size, keep=args.keep, **_how(args))
    except ValueError as error:
        raise CliError(str(error)) from None
    if args.map is not None:
        try:
            with open(args.map, "w", encoding="ascii") as file:
                file.writelines(f"{number}\n" for number in pruned.old_ids)
        except OSError as error:
            raise CliError(f"{args.map}: {told(error)}") from None
    note(f"{len(pruned.old_ids)} tokens are left")
    return _write(args, pruned.spec)


def run_explain(argv: list[str]) -> int:
    from ..train import explain

    args = explain_parser().parse(argv)
    Output().write(explain(spec_of(args), args.word) + "\n")
    return OK


def _corpus(args: argparse.Namespace) -> Any:
    from ..train import files

    return files(*args.paths, errors=args.errors, field=args.field, lines=args.lines)


def _how(args: argparse.Namespace) -> dict[str, Any]:
    memory = None if args.max_memory is None else args.max_memory * MEGABYTE
    return {"num_threads": args.threads, "max_memory": memory} if args.paths else {}


def _refuse_existing(args: argparse.Namespace, spec: Spec) -> None:
    """Refuse to write over a file before work is done for it."""
    paths = _paths(args, spec)
    for path in paths:
        refuse_missing_folder(path)
    refuse_existing(paths, args.force)


def _paths(args: argparse.Namespace, spec: Spec) -> list[str]:
    return [args.target] if args.target.endswith(".model") else files_of(*target_of(args, spec))


def _write(args: argparse.Namespace, spec: Spec) -> int:
    from ..conversion import convert
    from ..formats import dump

    kind, path = ("sentencepiece", args.target) if args.target.endswith(".model") else target_of(args, spec)
    try:
        dump(spec if kind == "sentencepiece" else convert(spec, kind).spec, path, format=kind)
    except OSError as error:
        raise CliError(f"{path}: {told(error)}") from None
    Output().write("".join(f"{one}\n" for one in _paths(args, spec)))
    return OK
