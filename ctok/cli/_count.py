"""`ctok count`: how many tokens files, trees and standard input have, exactly, in bounded memory."""

from __future__ import annotations

import os

from ..errors import CtokError, EncodeError
from . import _io
from ._io import Output, Source, json_text, sources
from ._parser import Parser, add_text_options, add_tokenizer_options, at_least, text_options, tokenizer_of
from ._progress import Progress
from ._report import ERROR, OK, OVER_LIMIT, CliError, complain, explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from ..tokenizer import Tokenizer

HEAD = 8192  # bytes in which a NUL tells a binary file


def parser() -> Parser:
    parser = Parser(
        "count",
        "Count the tokens of files, of directory trees (-r) and of standard input. One input gives a bare number, several a table with "
        "a total. With --limit the exit status is 2 if the total is over it.",
        "ctok count [PATH ...] [-T SPEC | -m MODEL] [-r] [--by file|ext|dir] [--limit N] [--json | --jsonl | --csv] [-q]",
        "  ctok count prompt.txt\n  git diff | ctok count -m gpt-4o --limit 8000\n  ctok count -r src --include '*.py' --by dir",
    )
    parser.add_argument("paths", metavar="PATH", nargs="*", help="files, or directories with -r; '-' or none: standard input")
    parser.add_argument("--by", choices=("file", "ext", "dir"), default="file", help="what the table has a row for (file)")
    parser.add_argument("--limit", metavar="N", type=at_least(0), help="exit with status 2 if there are more than N tokens in all")
    parser.add_argument("-q", "--quiet", action="store_true", help="only the total; no notices, no progress")
    tree = parser.add_argument_group("trees")
    tree.add_argument("-r", "--recursive", action="store_true", help="count all files below a directory (none given: here)")
    tree.add_argument("--include", metavar="GLOB", action="append", default=[], help="only these files, e.g. '*.py' or 'docs/*'")
    tree.add_argument("--exclude", metavar="GLOB", action="append", default=[], help="not these files and directories")
    tree.add_argument("--hidden", action="store_true", help="also names that begin with a dot")
    shape = parser.add_mutually_exclusive_group()
    for name, text in (("json", "one JSON object"), ("jsonl", "one JSON object a row"), ("csv", "CSV with a heading")):
        shape.add_argument(f"--{name}", dest="shape", action="store_const", const=name, help=text)
    add_tokenizer_options(parser)
    add_text_options(parser)
    return parser


def run(argv: list[str]) -> int:
    args = parser().parse(argv)
    count = Count(args, tokenizer_of(args))
    with Progress(not args.quiet) as progress:
        count.all(progress)
    return count.finish()


class Row:
    """What a row of the table sums up."""

    __slots__ = ("files", "n_bytes", "name", "tokens")

    def __init__(self, name: str) -> None:
        self.name = name
        self.tokens = self.n_bytes = self.files = 0

    def add(self, tokens: int, n_bytes: int) -> None:
        self.tokens += tokens
        self.n_bytes += n_bytes
        self.files += 1

    def fields(self) -> dict[str, str | int]:
        return {"name": self.name, "tokens": self.tokens, "bytes": self.n_bytes, "files": self.files}


class Count:
    """One run: counts source after source, writes rows as soon as they are complete."""

    def __init__(self, args: argparse.Namespace, tokenizer: Tokenizer) -> None:
        self._args, self._tokenizer, self._options = args, tokenizer, text_options(args)
        self._out = Output()
        self._total = Row("total")
        self._groups: dict[str, Row] = {}
        self._binary = self._ill_formed = 0
        self._status = OK
        self._has_trees = args.recursive and (not args.paths or any(path != "-" and os.path.isdir(path) for path in args.paths))
        self._is_single = not self._has_trees and len(args.paths) <= 1
        self._writes_rows = args.by == "file" and not args.quiet and args.shape != "json"

    # ---- counting ----

    def all(self, progress: Progress) -> None:
        paths = self._args.paths or (["."] if self._args.recursive else ["-"])
        if self._writes_rows:
            self._heading()
        for source in sources(paths):
            is_tree = self._has_trees and source.path != "-" and os.path.isdir(source.path)
            for one in self._below(source.path) if is_tree else (source,):
                try:
                    counts = self._one(one, is_tree, progress)
                except (CtokError, OSError, CliError) as error:
                    self._failed(one, error, is_tree)
                else:
                    if counts is not None:
                        self._counted(one, *counts)

    def _below(self, top: str) -> Iterator[Source]:
        from ._walk import walk

        def failed(error: OSError) -> None:
            self._failed(Source(error.filename or top), error, False)

        for path in walk(top, self._args.include, self._args.exclude, self._args.hidden, failed):
            yield Source(path)

    def _one(self, source: Source, in_tree: bool, progress: Progress) -> tuple[int, int] | None:
        """Return the tokens and bytes of a source, or None if it is skipped."""
        with source:
            progress.begin(source.name, source.size())
            chunks = source.chunks()
            first = next(chunks, b"")
            if in_tree and b"\0" in first[:HEAD]:
                self._binary += 1
                return None
            n_bytes = len(first)
            if n_bytes < _io.CHUNK:
                tokens = self._tokenizer.count(first, **self._options)
                progress.add(n_bytes, tokens)
            else:
                counter, before = self._tokenizer.counter(**self._options), 0
                while first:
                    counter.feed(first)
                    progress.add(len(first), counter.stable - before)
                    before = counter.stable
                    first = next(chunks, b"")
                    n_bytes += len(first)
                counter.feed(b"", True)
                tokens = counter.count
        return tokens, n_bytes

    def _failed(self, source: Source, error: Exception, in_tree: bool) -> None:
        if in_tree and isinstance(error, EncodeError):
            self._ill_formed += 1
            return
        cure = "; -r counts what is in it" if isinstance(error, IsADirectoryError) else ""
        complain((explain(error) if isinstance(error, OSError) and error.filename else f"{source.name}: {explain(error)}") + cure)
        self._status = ERROR

    # ---- rows ----

    def _counted(self, source: Source, tokens: int, n_bytes: int) -> None:
        self._total.add(tokens, n_bytes)
        if self._args.by == "file":
            row = Row(source.path)
            row.add(tokens, n_bytes)
            if self._writes_rows:
                self._write(row)
            elif self._args.shape == "json":
                self._groups[source.path] = row
            return
        name = os.path.splitext(source.path)[1].lower() if self._args.by == "ext" else os.path.dirname(source.path) or "."
        self._groups.setdefault(name, Row(name)).add(tokens, n_bytes)

    def _heading(self) -> None:
        if self._args.shape == "csv":
            self._out.write("name,tokens,bytes,files\n")

    def _write(self, row: Row) -> None:
        if self._args.shape == "jsonl":
            self._out.write(json_text(row.fields()) + "\n")
        elif self._args.shape == "csv":
            self._out.write(f"{_csv_field(row.name)},{row.tokens},{row.n_bytes},{row.files}\n")
        elif self._is_single:
            self._out.write(f"{row.tokens}\n")
        elif self._args.by == "file":
            self._out.write(f"{row.tokens:>10}  {row.name}\n")
        else:
            self._out.write(f"{row.tokens:>10}  {row.files:>7} {'file ' if row.files == 1 else 'files'}  {row.name or '(none)'}\n")

    def finish(self) -> int:
        """Write what is left to write, and return the exit status."""
        args = self._args
        if args.quiet:
            self._out.write(f"{self._total.tokens}\n")
        elif args.shape == "json":
            self._write_json()
        else:
            if args.by != "file":
                self._heading()
                for row in self._sorted():
                    self._write(row)
            if args.shape is None and not self._is_single:
                self._write(self._total)
        self._out.flush()
        return self._verdict()

    def _sorted(self) -> list[Row]:
        rows = list(self._groups.values())
        return rows if self._args.by == "file" else sorted(rows, key=lambda row: (-row.tokens, row.name))

    def _write_json(self) -> None:
        total = {key: value for key, value in self._total.fields().items() if key != "name"}
        skipped = {"binary": self._binary, "not_utf8": self._ill_formed}
        told = {"tokenizer": self._tokenizer.name, "by": self._args.by, **total, "skipped": skipped}
        if self._args.limit is not None:
            told |= {"limit": self._args.limit, "left": self._args.limit - self._total.tokens}
        self._out.write(json_text(told | {"rows": [row.fields() for row in self._sorted()]}) + "\n")

    def _verdict(self) -> int:
        limit, tokens = self._args.limit, self._total.tokens
        if not self._args.quiet:
            self._say_what_was_skipped()
        if limit is None or tokens <= limit:
            return self._status
        if not self._args.quiet:
            complain(f"{tokens} tokens: {tokens - limit} over the limit of {limit}")
        return OVER_LIMIT

    def _say_what_was_skipped(self) -> None:
        if self._binary:
            complain(f"{self._binary} binary {'file' if self._binary == 1 else 'files'} skipped")
        if self._ill_formed:
            files = "file" if self._ill_formed == 1 else "files"
            complain(f"{self._ill_formed} {files} skipped for not being UTF-8; --errors replace counts such files")


def _csv_field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\r\n') else text
