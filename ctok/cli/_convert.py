"""`ctok convert`: a vocabulary in another file format, with equal ids, or a refusal that names what the format cannot say."""

from __future__ import annotations

import os

from ._io import Output, refuse_existing, refuse_missing_folder
from ._parser import Parser, add_file_options, path_of, scheme_of
from ._report import OK, CliError, UsageError, explain, note

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from ..spec import Spec

# Name of a format on the command line -> that of the library, and what its file is called in a folder.
FORMATS = {
    "tokenizer.json": ("tokenizer_json", "tokenizer.json"),
    "tiktoken": ("tiktoken", "{}.tiktoken"),
    "merges": ("merges_txt", "vocab.json"),
    "vocab.txt": ("vocab_txt", "vocab.txt"),
    "model": ("sentencepiece", "{}.model"),
    "bin": ("binary", "{}.bin"),
}


def parser() -> Parser:
    parser = Parser(
        "convert",
        "Write the vocabulary A in another format, so that every text gets the same ids. What B cannot say is named and nothing is "
        "written, unless --drop leaves it out; what files of the format never say (a rank file's pattern and special tokens) is named, "
        "too. The name of B says the format: NAME.tiktoken, tokenizer.json or any other NAME.json, vocab.json (with merges.txt beside it), "
        "vocab.txt, NAME.model (SentencePiece), NAME.bin.",
        "ctok convert A B [--to FORMAT] [--drop] [-f] [-q]",
        "  ctok convert o200k_base tokenizer.json\n  ctok convert tokenizer.json deepseek.tiktoken\n"
        "  ctok convert bert/ vocab.txt\n  ctok convert t5.model tokenizer.json\n  ctok convert tokenizer.json fast.bin",
    )
    parser.add_argument("source", metavar="A", help="a name, a file or a directory, as for -T")
    parser.add_argument("target", metavar="B", help="the file to write, or a directory to write it into")
    parser.add_argument("--to", choices=tuple(FORMATS), help="the format, where the name of B does not say it")
    parser.add_argument("--drop", action="store_true", help="leave out what B cannot say; ids can then differ")
    parser.add_argument("-f", "--force", action="store_true", help="write over a file that exists")
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing of what such files never say")
    add_file_options(parser)
    return parser


def run(argv: list[str]) -> int:
    from ..conversion import convert
    from ..errors import SpecError
    from ..formats import dump

    args = parser().parse(argv)
    spec = spec_of(args)
    kind, path = target_of(args, spec)
    refuse_missing_folder(path)
    paths = files_of(kind, path)
    refuse_existing(paths, args.force)
    try:
        told = convert(spec, kind, drop=args.drop)
    except SpecError as error:
        raise CliError(f"{error}" + ("" if args.drop or "cannot say all" not in str(error) else "; use --drop to leave that out")) from None
    for what in told.lost:
        note(f"{path} does not say {what}")
    if not args.quiet:
        for what in told.unsaid:
            note(f"{path} does not say {what}")
    try:
        dump(told.spec, path, format=kind)
    except OSError as error:
        raise CliError(f"{path}: {explain(error)}") from None
    Output().write("".join(f"{one}\n" for one in paths))
    return OK


def spec_of(args: argparse.Namespace) -> Spec:
    """Return the specification that A names; nothing is built from it."""
    from ..formats import load
    from ..registry import model_info, spec_for, takes_for_name

    scheme, rest = scheme_of(args.source)
    special_tokens = dict(args.special_token) if args.special_token else None
    if scheme == "model":
        encoding = model_info(rest).encoding
        if encoding is None:
            raise CliError(f"it is not known which vocabulary the model {rest!r} uses: {model_info(rest).source}")
        rest = encoding
    elif scheme == "file" or not takes_for_name(rest):
        return load(path_of(rest) if scheme == "file" else rest, pattern=args.pattern, special_tokens=special_tokens)
    if args.pattern is not None or special_tokens:
        raise UsageError("--pattern and --special-token are for files, not for names")
    return spec_for(rest)


def target_of(args: argparse.Namespace, spec: Spec) -> tuple[str, str]:
    """Return the format to write, and the path of the (first) file."""
    from ..formats import format_of

    path = args.target
    if os.path.isdir(path) or path.endswith(("/", os.sep)):
        if not os.path.isdir(path):
            raise CliError(f"{path}: no such directory")
        kind, name = FORMATS[args.to or "tokenizer.json"]
        return kind, os.path.join(path, name.format(spec.name))
    if args.to is not None:
        return FORMATS[args.to][0], path
    if not path.endswith((".json", ".tiktoken", ".txt", ".model", ".bin")):
        raise UsageError(f"the name {path!r} does not say a format; say it with --to {'|'.join(FORMATS)}")
    kind = format_of(path)
    if kind == "binary" and not path.endswith(".bin"):
        raise UsageError(f"the name {path!r} does not say a format; say it with --to {'|'.join(FORMATS)}")
    return kind, path


def files_of(kind: str, path: str) -> list[str]:
    """Return the files that are written."""
    if kind != "merges_txt":
        return [path]
    folder, name = os.path.split(path)
    return [os.path.join(folder, "vocab.json" if name.endswith("merges.txt") else name),
            path if name.endswith("merges.txt") else os.path.join(folder, "merges.txt")]  # fmt: skip
