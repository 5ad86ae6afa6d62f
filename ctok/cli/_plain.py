"""`ctok TEXT...` without a command: what ttok does, with its options; and the help of all.

Three things differ, all for exactness. Special tokens in the text are plain text unless --allow-special is given, where ttok refuses them.
-t writes the longest beginning of the text that has at most N tokens, where ttok decodes the first N ids and can cut a character or give
text with more tokens. The text of an argument is taken as it is.
"""

from __future__ import annotations

import sys

from ._filters import IdLine, IdsToText
from ._io import IdReader, Output, Source
from ._parser import Parser, add_errors_option, add_tokenizer_options, at_least, text_options, tokenizer_of
from ._report import USAGE, CliError, UsageError, explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from ..tokenizer import Tokenizer

HELP = """Count, encode, decode, truncate and split text by tokens, exactly, also while it arrives.

commands ('ctok COMMAND --help' tells more):
  count         tokens of files, trees and standard input
  encode        text to ids
  decode        ids to text
  tokens        show the tokens of text
  stream        standard input to output while it arrives
  truncate      the longest beginning of at most N tokens
  split         pieces of at most N tokens
  models        which tokenizer a model uses
  info          what a tokenizer is
  vocab         its tokens, by id
  cache         vocabularies kept on this machine
  convert       a vocabulary in another file format
  train         a vocabulary from a corpus
  count-shard   the counts of a part of a corpus
  merge-counts  several files of counts into one
  extend        more tokens for a vocabulary, learned from text; old ids stay
  prune         a smaller vocabulary from a larger one, with a map of ids
  explain       why a word becomes its tokens

Without a command, the arguments are text (none: standard input) whose tokens
are counted. If the first word is the name of a command, it is the command;
after '--' all is text: 'ctok -- count' counts the word "count".
"""
EXAMPLES = """  ctok hello world                 2
  ctok hello world --encode        24912 2375
  ctok 24912 2375 --decode         hello world
  ctok hello world --tokens        [b'hello', b' world']
  cat input.txt | ctok -t 100 -m gpt-4o
  ctok count -r src --include '*.py' --by dir

exit status: 0 done, 1 error, 2 over the limit, 64 wrong usage"""


def parser() -> Parser:
    usage = "ctok COMMAND ...\n       ctok [TEXT ...] [-i FILE] [-t N] [--encode | --decode | --tokens] [-T SPEC]"
    parser = Parser("", HELP, usage, EXAMPLES)
    parser.add_argument("text", metavar="TEXT", nargs="*", help="words, joined by spaces; with -i they follow the file")
    parser.add_argument("-i", "--input", metavar="FILE", help="read text (or ids) from a file; '-': standard input")
    parser.add_argument("-t", "--truncate", metavar="N", type=at_least(0), help="write the longest beginning of at most N tokens")
    parser.add_argument("--encode", action="store_true", help="write ids")
    parser.add_argument("--decode", action="store_true", help="the text is ids; write what they mean")
    parser.add_argument("--tokens", action="store_true", help="write the tokens, as a list of bytes")
    parser.add_argument(
        "--allow-special", dest="specials", action="store_const", const="all", default="text", help="special tokens count as such"
    )
    add_errors_option(parser, ("strict", "replace"), "bytes that are not UTF-8: an error (default), or U+FFFD")
    parser.add_argument("--list-models", action="store_true", help="list model names and the encodings they use")
    parser.add_argument("--version", action="store_true", help="write the version")
    add_tokenizer_options(parser)
    return parser


def run(argv: list[str]) -> int:
    if not argv and sys.stdin is not None and sys.stdin.isatty():
        parser().print_help(sys.stderr)
        return USAGE
    before, after = (argv[: argv.index("--")], argv[argv.index("--") + 1 :]) if "--" in argv else (argv, [])
    args = parser().parse(before)
    args.text += after
    if args.version:
        from .._version import __version__

        Output().write(f"ctok {__version__}\n")
        return 0
    if args.list_models:
        from ._about import list_models

        return list_models(Output())
    if args.encode and args.decode:
        raise UsageError("--encode and --decode exclude each other")
    if args.truncate is not None and args.decode:
        raise UsageError("-t/--truncate is for text, not for --decode")
    return _with_text(args)


def _with_text(args: argparse.Namespace) -> int:
    tokenizer, out = tokenizer_of(args), Output()
    path = args.input if args.input is not None else None if args.text else "-"
    words = " ".join(args.text).encode("utf-8", "surrogateescape")
    try:
        if path is None:
            _do(args, tokenizer, iter([words]), out)
        else:
            with Source(path) as source:
                _do(args, tokenizer, _joined(source, words), out)
    except ValueError as error:
        raise CliError(explain(error)) from None
    return 0


def _joined(source: Source, words: bytes) -> Iterator[bytes]:
    yield from source.chunks()
    if words:
        yield b" " + words


def _do(args: argparse.Namespace, tokenizer: Tokenizer, chunks: Iterator[bytes], out: Output) -> None:
    if args.decode:
        _decode(args, tokenizer, chunks, out)
    elif args.tokens or args.encode:
        _encode(args, tokenizer, chunks, out)
    elif args.truncate is not None:
        from ._parts import beginning

        out.write(beginning(tokenizer, chunks, args.truncate, text_options(args)))
    else:
        counter = tokenizer.counter(**text_options(args))
        for chunk in chunks:
            counter.feed(chunk)
        counter.feed(b"", True)
        out.write(f"{counter.count}\n")


def _encode(args: argparse.Namespace, tokenizer: Tokenizer, chunks: Iterator[bytes], out: Output) -> None:
    encoder, shown = tokenizer.encoder(**text_options(args)), TokenList(tokenizer, out) if args.tokens else IdLine(out)
    left = args.truncate
    is_last = False
    while not is_last and left != 0:
        chunk = next(chunks, b"")
        is_last = not chunk
        ids = encoder.encode(chunk, is_last)
        if left is not None:
            ids = ids[:left]
            left -= len(ids)
        shown.write(ids)
    shown.end()


def _decode(args: argparse.Namespace, tokenizer: Tokenizer, chunks: Iterator[bytes], out: Output) -> None:
    reader = IdReader()
    shown = TokenList(tokenizer, out) if args.tokens else None
    writer = IdsToText(tokenizer, out, "replace", False, False)
    is_last = False
    while not is_last:
        chunk = next(chunks, b"")
        is_last = not chunk
        ids = reader.feed(chunk, is_last)
        if shown is not None:
            shown.write(ids)
        else:
            writer.write(ids, is_last)
    if shown is not None:
        shown.end()
    else:
        out.write(b"\n")


class TokenList:
    """Tokens as a Python list of bytes, on one line, written piece by piece."""

    def __init__(self, tokenizer: Tokenizer, out: Output) -> None:
        self._tokenizer, self._out = tokenizer, out
        self._before = "["

    def write(self, ids: list[int]) -> None:
        for token_id in ids:
            self._out.write(f"{self._before}{self._tokenizer.id_to_bytes(token_id)!r}")
            self._before = ", "

    def end(self) -> None:
        self._out.write("[]\n" if self._before == "[" else "]\n")
