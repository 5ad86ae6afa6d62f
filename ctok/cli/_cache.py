"""`ctok cache ls|add|verify`: vocabularies kept on this machine, ready to be mapped."""

from __future__ import annotations

from ._io import Output, json_text
from ._parser import Parser, add_file_options, path_of, scheme_of
from ._report import ERROR, OK, UsageError, complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def parser() -> Parser:
    parser = Parser(
        "cache",
        "ls: what ctok's cache holds. add: put a vocabulary into it, from a file or by name (which may download it). verify: check that "
        "all is whole; the exit status is 1 if something is not. CTOK_CACHE_DIR says where the cache is.",
        "ctok cache ls [--json]\n       ctok cache add SPEC [--name NAME] [--pattern REGEX] [--special-token TEXT=ID ...]\n"
        "       ctok cache verify",
        "  ctok cache add cl100k_base\n  ctok cache add my.tiktoken --pattern '\\w+|\\W' --special-token '<|end|>=5000'",
    )
    parser.add_argument("act", metavar="ls|add|verify", choices=("ls", "add", "verify"), help="what to do")
    parser.add_argument("spec", metavar="SPEC", nargs="?", help="add: a name, or a file (also as file:..., tiktoken:...)")
    parser.add_argument("--name", help="add: what to call it (the file's name without its suffix)")
    add_file_options(parser)
    parser.add_argument("--json", action="store_true", help="ls: one JSON object an entry")
    return parser


def run(argv: list[str]) -> int:
    args = parser().parse(argv)
    if args.act == "add":
        return _add(args)
    if args.spec is not None:
        raise UsageError(f"'ctok cache {args.act}' takes no further argument, but got {args.spec!r}")
    return _list(args) if args.act == "ls" else _verify()


def _add(args: argparse.Namespace) -> int:
    from ..registry import cache_add

    if args.spec is None:
        raise UsageError("'ctok cache add' needs the name or the file of a vocabulary")
    scheme, rest = scheme_of(args.spec)
    if scheme == "model":
        raise UsageError("the cache holds encodings; 'ctok models NAME' says which one a model uses")
    source = path_of(rest) if scheme == "file" else rest
    special_tokens = dict(args.special_token) if args.special_token else None
    Output().write(cache_add(source, name=args.name, pattern=args.pattern, special_tokens=special_tokens) + "\n")
    return OK


def _list(args: argparse.Namespace) -> int:
    from ..registry import cache_list

    out = Output()
    for entry in cache_list():
        if args.json:
            out.write(json_text({"name": entry.name, "path": entry.path, "bytes": entry.size}) + "\n")
        else:
            out.write(f"{entry.size:>10}  {entry.name}  {entry.path}\n")
    return OK


def _verify() -> int:
    from ..registry import cache_verify

    out, status = Output(), OK
    for entry, fault in cache_verify():
        if fault is None:
            out.write(f"whole  {entry.name}\n")
        else:
            complain(f"{entry.name}: {fault}")
            status = ERROR
    return status
