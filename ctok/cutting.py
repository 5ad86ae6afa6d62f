"""Cut text so that each part has at most so many ids: the arithmetic behind `Tokenizer.truncate` and `Tokenizer.split`.

The number of ids of a prefix is not monotone: one more character can join tokens. What is monotone is `IncrementalCounter.least`, the
number of ids that no later text goes below. So the text is read until that exceeds the limit, and from there the longest prefix that fits
is looked for backwards, from counters remembered on the way.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .incremental import IncrementalCounter
    from .tokenizer import Tokenizer

    Options = dict[str, Any]
    Mark = tuple[int, IncrementalCounter]

COARSE = 4096  # characters between two remembered counters, at most
FINE = 32
SHORT = 512  # up to so many characters are quicker counted anew for each end than one by one by a counter
AHEAD = 32  # characters that bisection also looks at behind what it found


def prefix_end(tokenizer: Tokenizer, text: str, start: int, max_tokens: int, options: Options) -> int:
    """Return the largest `end` such that ``text[start:end]`` has at most `max_tokens` ids; `start` if not even one character fits."""
    if not tokenizer.streams:
        return _prefix_end_by_bisection(tokenizer, text, start, max_tokens, options)
    marks, end = _read(tokenizer.counter(**options), text, start, max_tokens, _farthest(tokenizer, text, start, max_tokens))
    if end - start <= SHORT and not _has_surrogates(text[start:end]):
        return next((at for at in range(end, start, -1) if tokenizer.count(text[start:at], **options) <= max_tokens), start)
    while marks:
        at, counter = marks.pop()
        marks_here, stop = _read(counter, text, at, max_tokens, end, longest=FINE)
        for place, mark in reversed(marks_here):
            found = _last_fitting(mark, text, place, stop, max_tokens)
            if found is not None:
                return found
            stop = place
        end = at
    return start


def _farthest(tokenizer: Tokenizer, text: str, start: int, max_tokens: int) -> int:
    """Return a place behind which no prefix fits: of known patterns every byte is in a token, and no token is longer than the longest."""
    if tokenizer.splitter is None or not tokenizer.splitter.family:
        return len(text)
    longest = max([tokenizer.vocab.longest, *(len(token.content.encode()) for token in tokenizer.spec.added_tokens)])
    return min(start + max_tokens * longest, len(text))


def _read(
    counter: IncrementalCounter, text: str, at: int, max_tokens: int, stop: int, longest: int = COARSE
) -> tuple[list[Mark], int]:
    """Feed until `least` exceeds the limit or the text ends. Returns the counter at each step reached, and where reading ended.

    Steps grow up to `longest`, so that no more than about twice of what is needed is read.
    """
    marks, step = [(at, counter.copy())], FINE
    while at < stop:
        after = min(at + step, stop)
        counter.feed(text[at:after])
        at, step = after, min(2 * step, longest)
        if counter.least > max_tokens:
            break
        marks.append((at, counter.copy()))
    else:
        if "\ud800" <= text[-1:] <= "\udbff" and at == len(text):  # its other half never comes
            counter.copy().feed("", final=True)
    return marks, at


def _last_fitting(counter: IncrementalCounter, text: str, start: int, stop: int, max_tokens: int) -> int | None:
    """The largest place in start..stop at which the count fits, or None."""
    counter, found = counter.copy(), None
    if counter.count <= max_tokens and not _is_inside_pair(text, start):
        found = start
    for place in range(start, stop):
        counter.feed(text[place])
        if counter.stable > max_tokens:
            break
        if counter.count <= max_tokens and not _is_inside_pair(text, place + 1):
            found = place + 1
    return found


def _has_surrogates(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text)


def _is_inside_pair(text: str, place: int) -> bool:
    return "\udc00" <= text[place : place + 1] <= "\udfff" and "\ud800" <= text[place - 1 : place] <= "\udbff"


def byte_end(raw: bytes, text: str, end: int) -> int:
    """Return how many bytes of `raw` are ``text[:end]``, which was decoded from it with ``errors="replace"``."""
    size = len(text[:end].encode())
    if raw[:size] == text[:end].encode():
        return size
    low, high = 0, len(raw)
    while low < high:  # the longest prefix of at most `end` characters
        middle = (low + high + 1) // 2
        if len(raw[:middle].decode("utf-8", "replace")) <= end:
            low = middle
        else:
            high = middle - 1
    return low


def _prefix_end_by_bisection(tokenizer: Tokenizer, text: str, start: int, max_tokens: int, options: Options) -> int:
    """Read prefixes that double, until one has far too many ids, and bisect between it and the last one that fits."""

    def fits(end: int) -> bool:
        return not _is_inside_pair(text, end) and tokenizer.count(text[start:end], **options) <= max_tokens

    low, size = start, AHEAD + 4 * max_tokens
    while True:
        high = min(start + size, len(text))
        high += _is_inside_pair(text, high)
        found = tokenizer.count(text[start:high], **options)
        if found <= max_tokens:
            low = high
        if high == len(text) or found > 2 * max_tokens + AHEAD:
            break
        size *= 2
    if low == high:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        middle += _is_inside_pair(text, middle)
        if middle == high:
            break
        if fits(middle):
            low = middle
        else:
            high = middle
    # What ends inside a special token can have more ids than what ends behind it.
    return next((end for end in range(min(low + AHEAD, len(text)), low, -1) if fits(end)), low)


def pieces(tokenizer: Tokenizer, text: str, max_tokens: int, overlap: int, options: Options) -> Iterator[tuple[int, int]]:
    """Yield ``(start, end)`` of consecutive pieces of at most `max_tokens` ids each; see `Tokenizer.split`."""
    start = 0
    while True:
        end = prefix_end(tokenizer, text, start, max_tokens, options)
        if end == start and start < len(text):
            needed = tokenizer.count(text[start], **options)
            raise ValueError(f"character {start} ({text[start]!r}) alone needs {needed} ids, more than max_tokens={max_tokens}")
        yield start, end
        if end == len(text):
            return
        again = _overlap_start(tokenizer, text, start, end, overlap, options)
        # A piece must bring something new, else the overlap is given up for it.
        start = again if prefix_end(tokenizer, text, again, max_tokens, options) > end else end


def _overlap_start(tokenizer: Tokenizer, text: str, start: int, end: int, overlap: int, options: Options) -> int:
    """The first place from which the piece start..end has at most `overlap` ids left, at a border of its tokens."""
    if not overlap:
        return end
    if tokenizer.flow is None:
        _, spans = tokenizer.decode_spans(tokenizer.encode(text[start:end], **options))
    else:  # what ids decode to need not be the text
        spans = tokenizer.encoding(text[start:end], **{**options, "add_special_tokens": False}).spans
    if len(spans) <= overlap:
        return end
    at, previous_end = spans[-overlap][0], spans[-overlap - 1][1]
    return min(start + max(at, previous_end), end)
