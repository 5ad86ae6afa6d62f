"""`ctok stream`: standard input to standard output while it arrives, text to ids or ids to text, nothing held that is certain."""

from __future__ import annotations

import sys
from time import monotonic

from ._filters import IdsToText
from ._io import IdReader, Output, Source
from ._parser import Parser, add_template_option, add_tokenizer_options, text_options, tokenizer_of
from ._progress import is_terminal
from ._report import CliError, UsageError, explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from ..tokenizer import Tokenizer

EVERY = 0.1  # seconds between two lines of the live count


def parser() -> Parser:
    parser = Parser(
        "stream",
        "Encode text from standard input while it arrives: each id is written as soon as no later text can change it, with a space after "
        "it. With --decode, read ids and write their text, whole characters as soon as they are certain. Output is flushed at once. "
        "The running count is shown on standard error if that is a terminal (and standard output is not).",
        "ctok stream [--decode [--stop TEXT] [--bytes]] [--count | -q] [-T SPEC | -m MODEL]",
        "  tail -f chat.log | ctok stream --count\n  ctok stream < FILE | ctok stream --decode | cmp - FILE",
    )
    parser.add_argument("-d", "--decode", action="store_true", help="ids to text")
    parser.add_argument("--stop", metavar="TEXT", action="append", default=[], help="with --decode: end before this text; may be repeated")
    parser.add_argument("--bytes", action="store_true", help="with --decode: write the tokens' bytes as they are, UTF-8 or not")
    parser.add_argument("--skip-specials", action="store_true", help="with --decode: write nothing for special tokens")
    parser.add_argument("--specials", choices=("text", "raise", "all"), default="text", help="special tokens in the text, as for encode")
    parser.add_argument("--allow-special", dest="specials", action="store_const", const="all", help="the same as --specials all")
    add_template_option(parser)
    how = "bytes that are not UTF-8 (strict; with --decode replace)"
    parser.add_argument("--errors", choices=("strict", "replace", "ignore"), help=how)
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--count", action="store_true", help="write the running count to standard error in any case")
    shown.add_argument("-q", "--quiet", action="store_true", help="do not write the running count")
    add_tokenizer_options(parser)
    return parser


def run(argv: list[str]) -> int:
    args = parser().parse(argv)
    if args.stop and (not args.decode or args.bytes):
        raise UsageError("--stop needs --decode, and text (not --bytes)")
    if args.errors == "ignore" and not args.decode:
        raise UsageError("--errors ignore is for --decode; text can be read with strict or replace")
    tokenizer, out = tokenizer_of(args), Output()
    with Source("-") as source, LiveCount(args, source) as live:
        try:
            (_decode if args.decode else _encode)(args, tokenizer, source, out, live)
        except ValueError as error:
            out.flush()
            raise CliError(explain(error)) from None
    return 0


def _encode(args: argparse.Namespace, tokenizer: Tokenizer, source: Source, out: Output, live: LiveCount) -> None:
    args.errors = args.errors or "strict"
    options = text_options(args)
    encoder = tokenizer.encoder(**options)
    counter = tokenizer.counter(**options) if live.is_on else None
    n_ids = 0
    for chunk in source.arriving():
        ids = encoder.encode(chunk)
        if ids:
            out.write(" ".join(map(str, ids)) + " ")
            out.flush()
            n_ids += len(ids)
        if counter is not None:
            counter.feed(chunk)
            live.show(lambda: f"{counter.count} tokens, {counter.stable} of them certain")
    ids = encoder.encode(b"", True)
    out.write(" ".join(map(str, ids)) + "\n")
    out.flush()
    live.end(f"{n_ids + len(ids)} tokens")


def _decode(args: argparse.Namespace, tokenizer: Tokenizer, source: Source, out: Output, live: LiveCount) -> None:
    reader = IdReader()
    writer = IdsToText(tokenizer, out, args.errors or "replace", args.skip_specials, args.bytes, args.stop)
    for chunk in source.arriving():
        writer.write(reader.feed(chunk))
        out.flush()
        live.show(lambda: f"{writer.n_ids} tokens")
        if writer.is_finished:
            break
    n_ids = writer.n_ids
    last = reader.feed(b"", True) if not writer.is_finished else []
    writer.write(last, True)
    out.flush()
    live.end(f"{n_ids + len(last)} tokens")


class LiveCount:
    """The running count on standard error: written over in place on a terminal of its own, else, if asked for, a line at a time.

    A terminal that shows the output, too, gets only the last count, on a line of its own.
    """

    def __init__(self, args: argparse.Namespace, source: Source) -> None:
        self._source = source
        on_terminal = is_terminal(sys.stderr)
        self._in_place = on_terminal and not is_terminal(sys.stdout)
        self.is_on = sys.stderr is not None and not args.quiet and (args.count or self._in_place)
        self._shows_last = self.is_on or (on_terminal and not args.quiet)
        self._next = 0.0
        self._is_open = False

    def __enter__(self) -> LiveCount:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._is_open:
            sys.stderr.write("\n")
            sys.stderr.flush()

    def show(self, text: Callable[[], str]) -> None:
        """Show a count, unless one was shown just now and more input is there already, after which the next will be shown."""
        if not self.is_on:
            return
        now = monotonic()
        if now >= self._next or not self._source.has_more():
            self._next = now + EVERY
            self._write(text())

    def end(self, text: str) -> None:
        """Show the last count."""
        if self._shows_last:
            self._write(text)

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r{text}\x1b[K" if self._in_place else f"{text}\n" if self.is_on else f"\n{text}\n")
        self._is_open = self._in_place
        sys.stderr.flush()
