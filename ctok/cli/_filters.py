"""`ctok encode` and `ctok decode`: filters that hold a bounded piece of their input, however long it is."""

from __future__ import annotations

from ._io import IdReader, Output, Source, sources
from ._parser import Parser, add_errors_option, add_files_argument, add_text_options, add_tokenizer_options, text_options, tokenizer_of
from ._progress import Progress
from ._report import CliError, explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..incremental import IncrementalDecoder
    from ..tokenizer import Tokenizer

BLOCK = 1 << 16  # ids formatted at a time


# ---- encode ----


def encode_parser() -> Parser:
    parser = Parser(
        "encode",
        "Write the ids of text, separated by spaces: one line for each file (or record).",
        "ctok encode [PATH ...] [-T SPEC | -m MODEL] [--lines | -0] [--nbest K] [--sample [N]]",
        "  ctok encode notes.txt > notes.ids\n  printf 'hello world' | ctok encode -m gpt-4o\n  ctok encode --lines prompts.txt\n"
        "  ctok encode -T t5.model --lines --sample=4 --alpha 0.2 corpus.txt",
    )
    add_files_argument(parser)
    record = parser.add_mutually_exclusive_group()
    record.add_argument("--lines", action="store_true", help="each line, without its newline, is a text of its own")
    record.add_argument("-0", "--null", action="store_true", help="each NUL-terminated record is a text of its own")
    parser.add_argument("--json", action="store_true", help="JSON arrays")
    add_tokenizer_options(parser)
    add_text_options(parser)
    from ._paths import add_path_options

    add_path_options(parser)
    return parser


def run_encode(argv: list[str]) -> int:
    args = encode_parser().parse(argv)
    separator = b"\n" if args.lines else b"\0" if args.null else None
    inputs, tokenizer, options, out = sources(args.paths), tokenizer_of(args), text_options(args), Output()
    if any(value is not None for value in (args.nbest, args.sample, args.alpha, args.seed)):
        from ._paths import write_paths

        return write_paths(args, tokenizer, inputs, separator, options, out)
    encoder = tokenizer.encoder(**options)
    with Progress() as progress:
        for source in inputs:
            line = IdLine(out, as_json=args.json)
            with source:
                progress.begin(source.name, source.size())
                for part, is_last in records(source, separator):
                    try:
                        ids = encoder.encode(part, is_last)
                    except ValueError as error:
                        raise CliError(f"{source.name}: {explain(error)}") from None
                    line.write(ids)
                    if is_last:
                        line.end()
                    progress.add(len(part), len(ids))
    return 0


def records(source: Source, separator: bytes | None) -> Iterator[tuple[bytes, bool]]:
    """Yield ``(piece, is_last)``: the pieces of each record; without a separator all of the source is one record."""
    is_open = separator is None
    for chunk in source.chunks():
        if separator is None:
            yield chunk, False
            continue
        *ended, rest = chunk.split(separator)
        for part in ended:
            yield part, True
            is_open = False
        if rest:
            yield rest, False
        is_open = bool(rest) or (is_open and not ended)
    if is_open:
        yield b"", True


class IdLine:
    """One line of ids, written piece by piece."""

    def __init__(self, out: Output, as_json: bool = False) -> None:
        self._out = out
        self._open, self._between, self._close = ("[", ", ", "]\n") if as_json else ("", " ", "\n")
        self._before = self._open

    def write(self, ids: list[int]) -> None:
        for at in range(0, len(ids), BLOCK):
            self._out.write(self._before + self._between.join(map(str, ids[at : at + BLOCK])))
            self._before = self._between

    def end(self) -> None:
        self._out.write((self._open if self._before == self._open else "") + self._close)
        self._before = self._open


# ---- decode ----


def decode_parser() -> Parser:
    parser = Parser(
        "decode",
        "Write the text of ids. The ids are decimal numbers; white space, commas and square brackets stand between them.",
        "ctok decode [PATH ...] [-T SPEC | -m MODEL] [--lines] [-0] [--bytes]",
        "  echo 24912 2375 | ctok decode\n  ctok encode FILE | ctok decode --bytes | cmp - FILE",
    )
    add_files_argument(parser, "ids")
    parser.add_argument("--lines", action="store_true", help="each line of ids is a text of its own; a newline follows each text")
    parser.add_argument("-0", "--null", action="store_true", help="as --lines, but a NUL follows each text")
    parser.add_argument("--bytes", action="store_true", help="write the tokens' bytes as they are, UTF-8 or not")
    parser.add_argument("--skip-specials", action="store_true", help="write nothing for special tokens")
    add_errors_option(parser, ("replace", "strict", "ignore"), "bytes that are not UTF-8: U+FFFD (default), an error, or nothing")
    add_tokenizer_options(parser)
    return parser


def run_decode(argv: list[str]) -> int:
    args = decode_parser().parse(argv)
    end = b"\0" if args.null else b"\n" if args.lines else b""
    inputs, tokenizer, out = sources(args.paths), tokenizer_of(args), Output()
    with Progress() as progress:
        for source in inputs:
            writer = IdsToText(tokenizer, out, args.errors, args.skip_specials, args.bytes)
            reader = IdReader()
            with source:
                progress.begin(source.name, source.size())
                for part, is_last in records(source, b"\n" if end else None):
                    try:
                        writer.write(reader.feed(part, is_last), is_last)
                    except ValueError as error:
                        raise CliError(f"{source.name}: {explain(error)}") from None
                    reader.n_bytes += bool(end) and is_last
                    progress.add(len(part), 0)
                    if is_last:
                        out.write(end)
    return 0


class IdsToText:
    """Decodes ids as they come, to text or to bytes, and writes what is certain."""

    def __init__(
        self, tokenizer: Tokenizer, out: Output, errors: str, skip_specials: bool, as_bytes: bool, stop: Iterable[str] = ()
    ) -> None:
        self._tokenizer, self._out, self._skip = tokenizer, out, skip_specials
        self.n_ids = 0
        self._decoder: IncrementalDecoder | None = None
        if not as_bytes:
            self._decoder = tokenizer.decoder(errors=errors, skip_special_tokens=skip_specials, stop=tuple(stop))  # type: ignore[arg-type]

    @property
    def is_finished(self) -> bool:
        """Whether a stop string has ended the text."""
        return self._decoder is not None and self._decoder.finish is not None

    def write(self, ids: list[int], final: bool = False) -> None:
        """Write the text that these ids release. Of ids among which one is unknown, those before it are written, then this raises."""
        from ..errors import UnknownIdError

        try:
            self._write(ids, final)
        except UnknownIdError as error:
            known = ids[: error.index]
            self._write(known, False)
            self._out.flush()
            name = self._tokenizer.name
            raise CliError(f"id {error.id}, number {self.n_ids + 1} of the ids, is not in the vocabulary of {name}") from None
        if final:
            self.n_ids = 0

    def _write(self, ids: list[int], final: bool) -> None:
        if self._decoder is None:
            self._out.write(self._tokenizer.decode_bytes(ids, skip_special_tokens=self._skip))
        else:
            self._out.write(self._decoder.decode(ids, final))
        self.n_ids += len(ids)
