"""`ctok train`, `ctok count-shard`, `ctok merge-counts`: from a corpus to a vocabulary file, in one run or in many."""

from __future__ import annotations

import os
from pathlib import Path

from ._io import Output, refuse_existing, refuse_missing_folder
from ._parser import Parser, at_least
from ._report import OK, CliError, UsageError, note

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ..spec import Spec
    from ..train import Counts

# What is trained -> the trainer's class.
TRAINERS = {
    "bpe": "BpeTrainer",
    "unigram": "UnigramTrainer",
    "wordpiece": "WordPieceTrainer",
    "word": "WordLevelTrainer",
    "char": "CharTrainer",
}
# Format -> what it can say: kinds, and forms of byte pairs. The formats that are not here can say all.
SAYS = {
    "tiktoken": ("byte-level", "bytes"),
    "merges_txt": ("byte-level", "bytes"),
    "vocab_txt": ("wordpiece",),
    "sentencepiece": ("sentencepiece", "characters", "unigram", "word", "char"),
}


def train_parser() -> Parser:
    parser = Parser(
        "train",
        "Learn a vocabulary from files of text (also .gz, .xz, .jsonl, .parquet; patterns with * are taken) or from counts, and write it "
        "in the format that the name of OUT says: tokenizer.json or any other NAME.json, NAME.tiktoken, vocab.json (with merges.txt), "
        "NAME.model (in SentencePiece's manner), vocab.txt, NAME.bin.",
        "ctok train {bpe,unigram,wordpiece,word,char} FILE... --vocab-size N -o OUT [options]",
        "  ctok train bpe 'corpus/*.txt' --vocab-size 32000 -o tokenizer.json --special-token '<|endoftext|>'\n"
        "  ctok train bpe a.txt --vocab-size 50000 -o own.tiktoken --set form=bytes --set split=o200k\n"
        "  ctok train bpe --counts all.counts --vocab-size 32000 -o tokenizer.json\n"
        "  ctok train unigram a.txt --vocab-size 8000 -o own.model",
    )
    parser.add_argument("kind", choices=tuple(TRAINERS), help="what is trained")
    _add_sources(parser)
    parser.add_argument("--counts", metavar="COUNTS", nargs="+", help="files of counts instead of text; several are merged")
    parser.add_argument("--vocab-size", metavar="N", type=at_least(1), required=True, help="tokens in all, special ones included")
    parser.add_argument("--special-token", metavar="TEXT", action="append", default=[], help="a special token; may be repeated")
    parser.add_argument("-f", "--force", action="store_true", help="write over a file that exists")
    parser.add_argument("--checkpoint", metavar="DIR", help="a folder from which the same command goes on after an interruption")
    return parser


def shard_parser() -> Parser:
    parser = Parser(
        "count-shard",
        "Count the pretokens of a part of a corpus, as 'ctok train bpe' with the same options would, and write a file of counts.",
        "ctok count-shard FILE... -o COUNTS [options]",
        "  ctok count-shard part-17.jsonl.gz -o part-17.counts --set split=o200k",
    )
    _add_sources(parser)
    return parser


def merge_parser() -> Parser:
    parser = Parser(
        "merge-counts",
        "Merge files of counts into one. Neither order nor grouping matters.",
        "ctok merge-counts COUNTS... -o OUT [--min-count N]",
        "  ctok merge-counts part-*.counts -o all.counts",
    )
    parser.add_argument("paths", metavar="COUNTS", nargs="+", help="files that count-shard or merge-counts wrote")
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="the file to write")
    parser.add_argument("--min-count", metavar="N", type=at_least(1), default=1, help="leave out pretokens that were seen less often")
    return parser


def _add_sources(parser: Parser) -> None:
    parser.add_argument("paths", metavar="FILE", nargs="*", help="files of text, or patterns")
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="the file to write")
    told = "an option of the trainer; the value as in JSON, or text"
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help=told)
    parser.add_argument("--field", metavar="NAME", default="text", help="the field of JSON and Parquet records that holds the text (text)")
    parser.add_argument("--lines", action="store_true", default=None, help="each line of a text file is a text of its own")
    parser.add_argument("--errors", choices=("strict", "replace", "skip"), default="strict", help="what to do about malformed UTF-8")
    parser.add_argument("--threads", metavar="N", type=at_least(1), help="how many threads (as many as there are processors)")
    parser.add_argument("--max-memory", metavar="MB", type=at_least(1), help="how much memory may be taken (half of what is free)")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")


def run_train(argv: list[str]) -> int:
    from ..errors import SpecError
    from ..formats import format_of
    from ._convert import files_of

    args = train_parser().parse(argv)
    if bool(args.paths) == bool(args.counts):
        raise UsageError("give files of text, or --counts")
    refuse_missing_folder(args.output)
    # With a checkpoint the same command may be given again.
    refuse_existing(files_of(format_of(args.output), args.output), args.force or args.checkpoint is not None)
    trainer = _trainer(args, args.vocab_size, _manner(args))
    corpus: Any = [Path(path) for path in args.counts] if args.counts else _corpus(args)
    options: dict[str, Any] = {"lines": args.lines, "checkpoint": args.checkpoint}
    try:
        spec = _noting(lambda: trainer.train(corpus, **_settings(args), **options, progress=None if args.quiet else _progress()))
    except SpecError as error:
        raise CliError(f"{args.output}: {error}") from None
    paths = _write(spec, args.output, args.quiet)
    Output().write("".join(f"{path}\n" for path in paths))
    return OK


def run_count_shard(argv: list[str]) -> int:
    from ..train import count_pretokens
    from ..train._progress import reporting

    args = shard_parser().parse(argv)
    if not args.paths:
        raise UsageError("give files of text")
    refuse_missing_folder(args.output)
    args.kind, args.special_token = "bpe", []
    trainer = _trainer(args, 1, dict(map(_option, args.set)))
    lines = trainer._reads_lines() if args.lines is None else args.lines
    with reporting(None if args.quiet else _progress()) as report:
        options: dict[str, Any] = {"order": trainer._needs_order(), "lines": lines, "progress": report} | _settings(args)
        counts = count_pretokens(_corpus(args), *trainer._stages(), **options)
    return _written(counts, args.output)


def run_merge_counts(argv: list[str]) -> int:
    from ..train import Counts

    args = merge_parser().parse(argv)
    refuse_missing_folder(args.output)
    first, *others = (Counts.load(path) for path in args.paths)
    try:
        counts = first.merge(*others)
    except ValueError as error:
        raise CliError(str(error)) from None
    return _written(counts.prune(args.min_count) if args.min_count > 1 else counts, args.output)


def _written(counts: Counts, path: str) -> int:
    counts.save(path)
    Output().write(f"{path}\n")
    note(f"{counts.total:,} pretokens, {len(counts):,} different ones")
    return OK


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    memory = None if args.max_memory is None else args.max_memory << 20
    return {"num_threads": args.threads, "max_memory": memory, "errors": args.errors, "field": args.field}


def _corpus(args: argparse.Namespace) -> Any:
    from ..train import files

    return files(*args.paths, errors=args.errors, field=args.field, lines=bool(args.lines))


def _manner(args: argparse.Namespace) -> dict[str, Any]:
    """Return the trainer's options: those that the output's format asks for, and the caller's. Refuses what the format cannot say."""
    from ..conversion import FORMATS
    from ..formats import format_of

    kind, options = format_of(args.output), dict(map(_option, args.set))
    if kind == "binary" and not args.output.endswith(".bin"):
        raise UsageError(f"the name {args.output!r} does not say a format; let it end in .json, .tiktoken, .txt, .model or .bin")
    if kind == "sentencepiece" and args.kind != "wordpiece":
        options = {"form" if args.kind == "bpe" else "style": "sentencepiece"} | options
    what = options.get("form", "byte-level") if args.kind == "bpe" else args.kind
    known = {name for names in SAYS.values() for name in names}
    if what in known and what not in SAYS.get(kind, known):
        trained = f"byte pairs in the form {what!r}" if args.kind == "bpe" else f"what 'ctok train {args.kind}' gives"
        raise UsageError(f"{FORMATS[kind]} cannot say {trained}, which a tokenizer.json can")
    return options


def _trainer(args: argparse.Namespace, vocab_size: int, options: dict[str, Any]) -> Any:
    from .. import train

    if args.special_token:
        options = options | {"special_tokens": args.special_token}
    try:
        return getattr(train, TRAINERS[args.kind])(vocab_size, **options)
    except AttributeError:
        raise CliError(f"a {args.kind} vocabulary cannot be trained by this release") from None
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from None


def _option(text: str) -> tuple[str, Any]:
    from json import JSONDecodeError, loads

    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"write --set NAME=VALUE, not {text!r}")
    try:
        return name.replace("-", "_"), loads(value)
    except JSONDecodeError:
        return name.replace("-", "_"), value


def _noting(call: Any) -> Any:
    """Return what a call gives; its warnings become notes."""
    import warnings

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = call()
    for warning in told:
        note(str(warning.message))
    return result


def _progress() -> Any:
    """A bar where it can be seen."""
    import sys

    from ._progress import is_terminal

    return True if is_terminal(sys.stderr) else None


def _write(spec: Spec, path: str, is_quiet: bool) -> list[str]:
    """Write what was learnt, and return the files. What the format cannot say is kept beside, in the form that can say all."""
    from ..conversion import convert
    from ..errors import SpecError
    from ..formats import dump, format_of
    from ._convert import files_of

    kind = format_of(path)
    try:
        told = convert(spec, kind)
        dump(told.spec, path)
    except SpecError as error:
        kept = f"{path}.bin"
        dump(spec, kept, format="binary")
        raise CliError(f"{path}: {error}\nwhat was learnt is in {kept}, for 'ctok convert {kept} NAME.json'") from None
    for what in () if is_quiet else told.unsaid:
        note(f"{path} does not say {what}")
    return [name for name in files_of(kind, path) if os.path.exists(name)]
