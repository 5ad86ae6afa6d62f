"""SentencePiece's own normalizer, plainly: unit by unit, then the blanks.

A text is bytes, not always UTF-8. This is what the kernel must equal, written to be read.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

BLANK = "\u2581".encode()
REPLACEMENT = "\ufffd".encode()
# Of the keys that begin at a place, how many are looked at, the shorter ones first.
MOST_RULES, MOST_SYMBOLS = 32, 64


def normalize(
    text: bytes,
    rules: Mapping[bytes, bytes],
    symbols: Collection[bytes] = (),
    *,
    dummy: bool = True,
    extra: bool = True,
    escape: bool = True,
    suffix: bool = False,
) -> tuple[bytes, list[int]]:
    """Return the normalized bytes and where each of them, and the end, comes from; nothing at all of a text of skipped blanks."""
    blank = BLANK if escape else b" "
    pos = 0
    while extra and pos < len(text):
        new, taken = unit(text, pos, rules, symbols)
        if new != b" ":
            break
        pos += taken
    if pos == len(text):
        return b"", []

    out: list[tuple[int, int]] = []  # byte, where it comes from
    if dummy and not suffix:
        out += [(byte, pos) for byte in blank]
    after_blank = extra
    while pos < len(text):
        new, taken = unit(text, pos, rules, symbols)
        if after_blank:
            new = new.lstrip(b" ")
        if new:
            out += [(byte, pos) for byte in new.replace(b" ", blank)]
            after_blank = extra and new.endswith(b" ")
        pos += taken

    while extra and bytes(byte for byte, _ in out[-len(blank) :]) == blank:
        pos = out[-len(blank)][1]
        del out[-len(blank) :]
    if dummy and suffix:
        out += [(byte, pos) for byte in blank]
    return bytes(byte for byte, _ in out), [origin for _, origin in out] + [pos]


def unit(text: bytes, pos: int, rules: Mapping[bytes, bytes], symbols: Collection[bytes]) -> tuple[bytes, int]:
    """Return what stands at a place: what it becomes, and how many bytes of the text it takes."""
    symbol = longest(text, pos, symbols, MOST_SYMBOLS)
    if symbol:
        return symbol, len(symbol)
    key = longest(text, pos, rules, MOST_RULES)
    if key:
        return rules[key], len(key)
    for taken in (1, 2, 3, 4):
        try:
            text[pos : pos + taken].decode()
        except UnicodeDecodeError:
            continue
        return text[pos : pos + taken], taken
    return REPLACEMENT, 1


def longest(text: bytes, pos: int, keys: Collection[bytes], most: int) -> bytes:
    found = sorted((key for key in keys if text.startswith(key, pos)), key=len)[:most]
    return found[-1] if found else b""
