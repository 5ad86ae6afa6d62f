"""`ctok tokens`: show the tokens of text, one a line, with what cannot be seen made visible."""

from __future__ import annotations

from ._io import Output, Source, json_text, sources
from ._parser import Parser, add_files_argument, add_text_options, add_tokenizer_options, text_options, tokenizer_of
from ._progress import Progress
from ._report import CliError, explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from typing import Any

    from ..tokenizer import Tokenizer

GLYPHS = {" ": "·", "\n": "↵", "\t": "→", "\\": "\\\\"}
CHUNK = 1 << 16


def parser() -> Parser:
    parser = Parser(
        "tokens",
        "Show the tokens of text, one a line. A space is shown as ·, a newline as ↵, a tab as →, a backslash doubled, other invisible "
        "characters as \\x1b or \\u200d, bytes that are a part of a character as \\xf0\\x9f. What looks like a glyph is escaped, "
        "so that each line tells exactly the token's bytes.",
        "ctok tokens [PATH ...] [-T SPEC | -m MODEL] [--offsets char|byte|utf16] [--ids] [--hex] [--jsonl]",
        "  echo 'naïve 👩‍🚀' | ctok tokens --ids --offsets char\n  ctok tokens --jsonl notes.txt",
    )
    add_files_argument(parser)
    parser.add_argument("--offsets", choices=("char", "byte", "utf16"), help="before each token: where it starts and ends, as 0:5")
    parser.add_argument("--ids", action="store_true", help="before each token: its id")
    parser.add_argument("--hex", action="store_true", help="before each token: its bytes in hexadecimal")
    parser.add_argument("--jsonl", action="store_true", help="one JSON object a token (text is null for a part of a character)")
    add_tokenizer_options(parser)
    add_text_options(parser)
    return parser


def run(argv: list[str]) -> int:
    args = parser().parse(argv)
    inputs, tokenizer, options, out = sources(args.paths), tokenizer_of(args), text_options(args), Output()
    line = json_line if args.jsonl else plain_line
    with Progress() as progress:
        for source in inputs:
            with source:
                progress.begin(source.name, source.size())
                for token_id, start, end in placed_ids(source, tokenizer, options, args.offsets or "char", progress):
                    out.write(line(args, tokenizer, token_id, start, end))
    return 0


def placed_ids(
    source: Source, tokenizer: Tokenizer, options: dict[str, Any], unit: str, progress: Progress
) -> Iterator[tuple[int, int, int]]:
    """Yield ``(id, start, end)`` for each token; inside a character the places are those of the character, but for bytes."""
    if tokenizer.flow is not None:  # its stages change the text: only all of it tells what was where
        yield from _placed_at_once(source, tokenizer, options, unit, progress)
        return
    encoder, ids, at = tokenizer.encoder(**options), list[int](), 0
    is_last = False
    chunks = source.chunks(CHUNK)
    while not is_last:
        chunk = next(chunks, b"")
        is_last = not chunk
        try:
            ids += encoder.encode(chunk, is_last)
        except ValueError as error:
            raise CliError(f"{source.name}: {explain(error)}") from None
        n = len(ids) if is_last else whole_characters(tokenizer, ids)
        for token_id, (start, end) in zip(ids[:n], spans_of(tokenizer, ids[:n], unit)):
            yield token_id, at + start, at + end
        if n:
            at += end
        progress.add(len(chunk), n)
        del ids[:n]


def _placed_at_once(
    source: Source, tokenizer: Tokenizer, options: dict[str, Any], unit: Any, progress: Progress
) -> Iterator[tuple[int, int, int]]:
    raw = b"".join(source.chunks())
    try:
        found = tokenizer.encoding(raw, unit=unit, **options)
    except ValueError as error:
        raise CliError(f"{source.name}: {explain(error)}") from None
    for token_id, (start, end) in zip(found.ids, found.spans):
        yield token_id, start, end
    progress.add(len(raw), len(found))


def spans_of(tokenizer: Tokenizer, ids: list[int], unit: str) -> list[tuple[int, int]]:
    """Return the spans of ids whose text begins and ends between two characters."""
    if unit != "byte":
        return tokenizer.decode_spans(ids, unit=unit)[1]
    spans, at = [], 0
    for token_id in ids:
        end = at + len(tokenizer.id_to_bytes(token_id))
        spans.append((at, end))
        at = end
    return spans


def whole_characters(tokenizer: Tokenizer, ids: list[int]) -> int:
    """Return how many of the ids there are up to the last border between two tokens that is one between two characters."""
    n = len(ids)
    while n and _ends_inside(tokenizer.decode_bytes(ids[max(0, n - 4) : n])):
        n -= 1
    return n


def _ends_inside(raw: bytes) -> bool:
    for back, byte in enumerate(reversed(raw[-3:]), 1):
        if byte >= 0xC0:
            return back < (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4)
        if byte < 0x80:
            return False
    return False


# ---- lines ----


def plain_line(args: argparse.Namespace, tokenizer: Tokenizer, token_id: int, start: int, end: int) -> str:
    raw = tokenizer.id_to_bytes(token_id)
    fields = [f"{start}:{end}"] if args.offsets else []
    fields += [str(token_id)] if args.ids else []
    fields += [raw.hex()] if args.hex else []
    return "\t".join((*fields, visible(raw))) + "\n"


def json_line(args: argparse.Namespace, tokenizer: Tokenizer, token_id: int, start: int, end: int) -> str:
    raw = tokenizer.id_to_bytes(token_id)
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = None
    return json_text({"id": token_id, "text": text, "hex": raw.hex(), "start": start, "end": end}) + "\n"


def visible(raw: bytes) -> str:
    """Return a token's bytes as something that can be seen, and that no other bytes would give."""
    text = raw.decode("utf-8", "surrogateescape")
    if text.isalnum():
        return text
    return "".join(map(_visible_character, text))


def _visible_character(char: str) -> str:
    if char in GLYPHS:
        return GLYPHS[char]
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no character
        return f"\\x{code - 0xDC00:02x}"
    if char.isprintable() and char not in "·↵→":
        return char
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
