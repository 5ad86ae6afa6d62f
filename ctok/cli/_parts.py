"""`ctok truncate` and `ctok split`: parts of a text that have at most so many tokens."""

from __future__ import annotations

from ._io import Output, Source, json_text, sources
from ._parser import Parser, add_text_options, add_tokenizer_options, at_least, text_options, tokenizer_of
from ._report import CliError, UsageError, explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..tokenizer import Tokenizer

CHUNK = 1 << 16


def _parser(command: str, description: str, usage: str, examples: str, least: int) -> Parser:
    parser = Parser(command, description, usage, examples)
    parser.add_argument("path", metavar="PATH", nargs="?", default="-", help="a file; '-' or none: standard input")
    parser.add_argument("-n", "--max-tokens", metavar="N", type=at_least(least), required=True, help="at most so many tokens")
    add_tokenizer_options(parser)
    add_text_options(parser)
    return parser


def run_truncate(argv: list[str]) -> int:
    parser = _parser(
        "truncate",
        "Write the longest beginning of a text that has at most N tokens. It ends between two characters, and is not read further than "
        "it has to be.",
        "ctok truncate -n N [PATH] [-T SPEC | -m MODEL]",
        "  ctok truncate -n 100 article.txt\n  tail -c 1000000 log | ctok truncate -n 8000 -m gpt-4o",
        0,
    )
    args = parser.parse(argv)
    (source,) = sources([args.path])
    tokenizer, out = tokenizer_of(args), Output()
    with source:
        try:
            out.write(beginning(tokenizer, source.chunks(CHUNK), args.max_tokens, text_options(args)))
        except ValueError as error:
            raise CliError(f"{source.name}: {explain(error)}") from None
    return 0


def beginning(tokenizer: Tokenizer, chunks: Iterable[bytes], max_tokens: int, options: dict[str, Any]) -> str:
    """Return the longest prefix with at most `max_tokens` ids of a text that comes in chunks; reads as far as it must."""
    import codecs

    decoder = codecs.getincrementaldecoder("utf-8")("replace")  # the counter has refused what is ill formed, if that is to be refused
    counter, parts = tokenizer.counter(**options), []
    for chunk in chunks:
        counter.feed(chunk)
        parts.append(decoder.decode(chunk))
        if counter.stable > max_tokens:
            break
    else:
        counter.feed(b"", True)
        parts.append(decoder.decode(b"", True))
    return tokenizer.truncate("".join(parts), max_tokens, **options)


def run_split(argv: list[str]) -> int:
    parser = _parser(
        "split",
        "Split a text into consecutive pieces of at most N tokens each, as long as they can be, between characters. Each piece is written "
        "as a JSON string on a line of its own, or (-0) as it is, with a NUL after it. Without --overlap the pieces join to the text.",
        "ctok split -n N [PATH] [--overlap K] [-0] [-T SPEC | -m MODEL]",
        "  ctok split -n 512 --overlap 64 book.txt > pieces.jsonl\n  ctok split -n 512 -0 book.txt | xargs -0 -n 1 echo",
        1,
    )
    parser.add_argument("--overlap", metavar="K", type=at_least(0), default=0, help="tokens repeated of the piece before, at most (0)")
    parser.add_argument("-0", "--null", action="store_true", help="pieces as they are, a NUL after each")
    args = parser.parse(argv)
    if args.overlap >= args.max_tokens:
        raise UsageError(f"--overlap {args.overlap} must be less than -n {args.max_tokens}")
    (source,) = sources([args.path])
    tokenizer, options, out = tokenizer_of(args), text_options(args), Output()
    with source:
        try:
            pieces = tokenizer.split(whole_text(source, args.errors), args.max_tokens, args.overlap, **options)
        except ValueError as error:
            raise CliError(f"{source.name}: {explain(error)}") from None
    for piece in pieces:
        out.write(piece + "\0" if args.null else json_text(piece) + "\n")
    return 0


def whole_text(source: Source, errors: str) -> str:
    """Return all of a source as str."""
    from ..errors import EncodeError

    raw = b"".join(source.chunks())
    try:
        return raw.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        what = f"invalid UTF-8 (byte 0x{raw[error.start]:02X}) at byte {error.start}"
        raise EncodeError(f"{what}; pass errors='replace'", position=error.start, unit="byte") from None
