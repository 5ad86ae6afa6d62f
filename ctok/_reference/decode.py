"""Decoding, slowly: ids to text by Python's own codec, one piece of text after the other.

The oracle of `_native/detokenize` and `_native/decode`, and the plainest statement of what they promise. A *cell* is a piece of decoded
text: one character, or what stands for ill-formed bytes. Tokens are given as a mapping id -> bytes and a set of special ids.
"""

from typing import NamedTuple

REPLACEMENT = "\ufffd"


class Cell(NamedTuple):
    """Bytes start..stop of the input and the text that stands for them; `state` is "good", "bad" or "open" (unfinished at the end)."""

    start: int
    stop: int
    text: str
    state: str


def cells(data, per_byte=False, errors="replace"):
    """Return the cells of `data`; with `per_byte` every byte of an ill-formed subpart is a cell."""
    found, at = [], 0
    while at < len(data):
        piece = data[at : at + 4]
        length = next((k for k in range(1, len(piece) + 1) if _decodes(piece[:k])), 0)
        if length:
            found.append(Cell(at, at + length, piece[:length].decode(), "good"))
            at += length
            continue
        try:
            piece.decode()
        except UnicodeDecodeError as error:
            stop, reason = at + error.end, error.reason
        is_open = reason == "unexpected end of data" and stop == len(data)
        text = REPLACEMENT if errors == "replace" else ""
        width = 1 if per_byte else stop - at
        found += [Cell(k, k + width, text, "open" if is_open else "bad") for k in range(at, stop, width)]
        at = stop
    return found


def _decodes(data):
    try:
        return bool(data.decode())
    except UnicodeDecodeError:
        return False


def token_list(tokens, special, ids, skip_special):
    """Return the bytes each id contributes."""
    return [b"" if skip_special and number in special else tokens[number] for number in ids]


def spoil_runs(parts, final=True):
    """Policy "hf_run": make every byte of a run of tokens that are no text by themselves ill formed, if the run is not well formed.

    Without `final` the last run is left out of the result when it could go on.
    """
    result, run = [], []
    for part in [*parts, None]:
        if part is not None and (part == b"" or not _decodes(part)):
            run.append(part)
            continue
        if part is None and not final:
            break
        joined = b"".join(run)
        spoiled = joined != b"" and not _decodes(joined)
        result += [b"\xff" * len(p) for p in run] if spoiled else run
        run = []
        if part is not None:
            result.append(part)
    return result


def decode(tokens, special, ids, *, skip_special=False, errors="replace", policy=None):
    """Return the text of `ids`. With ``errors="strict"`` ill-formed bytes raise UnicodeDecodeError."""
    parts = token_list(tokens, special, ids, skip_special)
    if errors == "strict":
        return b"".join(parts).decode()
    if policy == "hf_run":
        parts = spoil_runs(parts)
    return "".join(cell.text for cell in cells(b"".join(parts), policy == "per_byte", errors))


def spans(tokens, special, ids, unit="char", *, skip_special=False, errors="replace", policy=None):
    """Return the span of each id in the decoded text."""
    parts = token_list(tokens, special, ids, skip_special)
    if policy == "hf_run":
        parts = spoil_runs(parts)
    begins, ends, place = [], [], 0
    for cell in cells(b"".join(parts), policy == "per_byte", errors):
        size = {"char": len(cell.text), "byte": len(cell.text.encode()), "utf16": len(cell.text.encode("utf-16-le")) // 2}[unit]
        for k in range(cell.stop - cell.start):
            exact = unit == "byte" and cell.state == "good"
            begins.append(place + k if exact else place)
            ends.append(place + k + 1 if exact else place + size)
        place += size
    begins.append(place)
    result, at = [], 0
    for part in parts:
        result.append((begins[at], ends[at + len(part) - 1] if part else begins[at]))
        at += len(part)
    return result
