"""`encode_with_unstable` and `_encode_bytes`: what tiktoken says about the end of a text, by its own rule of thumb."""

from __future__ import annotations

from bisect import bisect_left

from ..._native.tiktoken_calls import literal_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .core import Encoding


def last_pretoken(enc: Encoding, text: str, allow: frozenset[str]) -> bytes:
    """Return the bytes of the last pretoken behind the last special token of a text; empty when there is none."""
    begin = 0
    if allow:
        for found in literal_pattern(allow).finditer(text):
            begin = found.end()
    rest = text[begin:]
    tokenizer = enc.tokenizer
    if tokenizer.splitter is not None:
        spans, _ = tokenizer.splitter.spans(rest)
        return rest.encode()[slice(*spans[-1])] if spans else b""
    pieces = tokenizer.fallback.pieces(rest) if tokenizer.fallback is not None else []
    return rest[slice(*pieces[-1])].encode() if pieces else b""


def is_space(enc: Encoding, token: int) -> bool:
    """Whether an id is that of an ordinary token of blanks, tabs and newlines only."""
    return not enc.is_special_token(token) and not enc.decode_single_token_bytes(token).strip(b" \n\t")


def n_unstable(enc: Encoding, ids: list[int], pretoken: bytes) -> int:
    """How many of the last ids later text may change: those of the last pretoken, and all white space before one that begins with it.

    White space that was cut in several pretokens can become one when a newline follows.
    """
    n = len(enc._encode_single_piece(pretoken))
    if n and is_space(enc, ids[-n]):
        while n < len(ids) and is_space(enc, ids[-n - 1]):
            n += 1
    return n


def mended(text: str) -> str:
    """Return the text with surrogate pairs joined and lone ones replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def encode_with_unstable(enc: Encoding, text: str, ids: list[int], allow: frozenset[str]) -> tuple[list[int], list[list[int]]]:
    """See `Encoding.encode_with_unstable`; `ids` are those of the text."""
    n = n_unstable(enc, ids, last_pretoken(enc, mended(text), allow))
    if n == 0:
        return ids, []
    stable, rest = ids[:-n], enc.decode_bytes(ids[-n:])
    found: set[tuple[int, ...]] = set()
    if rest:
        found.update((enc.encode_single_token(token),) for token in tokens_from(enc, rest))
    for cut in range(1, len(rest)):
        for token in tokens_from(enc, rest[cut:]):
            found.add(covering(enc, encode_any(enc, rest[:cut] + token), len(rest)))
    cut = last_space(rest)
    if cut:
        found.add((*enc._encode_single_piece(rest[:cut]), *enc._encode_single_piece(rest[cut:])))
    return stable, [list(completion) for completion in sorted(found)]


def tokens_from(enc: Encoding, prefix: bytes) -> Iterator[bytes]:
    """The ordinary tokens that begin with a prefix."""
    tokens = enc.__dict__.get("_sorted_tokens")
    if tokens is None:
        tokens = enc.__dict__["_sorted_tokens"] = enc.token_byte_values()
    at = bisect_left(tokens, prefix)
    while at < len(tokens) and tokens[at].startswith(prefix):
        yield tokens[at]
        at += 1


def encode_any(enc: Encoding, data: bytes) -> list[int]:
    """The ids of bytes: as text where they are text, else as one piece."""
    try:
        return enc.encode_ordinary(data.decode())
    except UnicodeDecodeError:
        return enc._encode_single_piece(data)


def covering(enc: Encoding, ids: list[int], n: int) -> tuple[int, ...]:
    """The first ids that together have at least n bytes."""
    size = 0
    for count, token in enumerate(ids, 1):
        size += len(enc.decode_single_token_bytes(token))
        if size >= n:
            return tuple(ids[:count])
    return tuple(ids)


def last_space(data: bytes) -> int:
    """Where the last character begins, if it is white space (as Unicode says, not `str.isspace`) and not the only character; else 0."""
    for at in range(len(data) - 1, max(0, len(data) - 4), -1):
        if data[at] & 0xC0 != 0x80:
            char = data[at:].decode("utf-8", "ignore")
            return at if len(char) == 1 and char.isspace() and not "\x1c" <= char <= "\x1f" else 0
    return 0


def encode_bytes(enc: Encoding, data: bytes) -> list[int]:
    """See `Encoding._encode_bytes`."""
    if not isinstance(data, bytes):
        raise TypeError(f"expected bytes, not {type(data).__name__}")
    try:
        return enc.encode_ordinary(data.decode())
    except UnicodeDecodeError as error:
        valid = data[: error.start]
    text = valid.decode()
    ids = enc.encode_ordinary(text)
    n = n_unstable(enc, ids, last_pretoken(enc, text, frozenset()))
    open_bytes = enc.decode_bytes(ids[len(ids) - n :])
    return ids[: len(ids) - n] + enc._encode_single_piece(open_bytes + data[len(valid) :])
