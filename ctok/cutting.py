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

NEAR = 8  # characters between the last place that could fit and the first that cannot: near enough to look at each
FINE = 16  # up to so many characters are fed one by one, more in parts
INSIDE = bytes(range(0x80, 0xC0))  # of UTF-8: what a character goes on with
AHEAD = 32  # characters that bisection also looks at behind what it found


def prefix_end(tokenizer: Tokenizer, text: str, start: int, max_tokens: int, options: Options) -> int:
    """Return the largest `end` such that ``text[start:end]`` has at most `max_tokens` ids; `start` if not even one character fits.

    Raises `ValueError` if a text without a character has more.
    """
    least = tokenizer.count("", **options) if tokenizer.has_template else 0
    if least > max_tokens:
        raise ValueError(f"max_tokens is {max_tokens}, but the special tokens around every text alone are {least}")
    if not tokenizer.streams:
        return _prefix_end_by_bisection(tokenizer, text, start, max_tokens, options)
    counter = tokenizer.counter(**options)
    marks, end = _approach(counter, text, start, max_tokens, _farthest(tokenizer, text, start, max_tokens))
    found = _last_fitting_behind(marks, text, end, max_tokens)
    return start if found is None else found


def _farthest(tokenizer: Tokenizer, text: str, start: int, max_tokens: int) -> int:
    """Return a place behind which no prefix fits: of known patterns every byte is in a token, and no token is longer than the longest."""
    if tokenizer.splitter is None or not tokenizer.splitter.family:
        return len(text)
    longest = max([tokenizer.vocab.longest, *(len(token.content.encode()) for token in tokenizer.spec.added_tokens)])
    return min(start + max_tokens * longest, len(text))


def _approach(counter: IncrementalCounter, text: str, start: int, max_tokens: int, end: int) -> tuple[list[Mark], int]:
    """Feed until `least` exceeds the limit or the text ends. Returns the counter at each step before that, and the place of it.

    A step goes to where the limit is if the text goes on as it was so far, but it at most doubles what was read: no more than about
    twice of what is needed is read. One that went too far is taken back and made smaller.
    """
    marks, at, step, is_beyond = [(start, counter)], start, max(2 * max_tokens, NEAR), False
    while end - at > (NEAR if is_beyond else 0):
        after, counter = min(at + step, end), marks[-1][1].copy()
        counter.feed(text[at:after])
        least = counter.least
        if least > max_tokens:
            end, step, is_beyond = after, (after - at) // 4 + 1, True
        else:
            at = after
            marks.append((at, counter))
            step = max(min((max_tokens - least) * (at - start) // (least + 1), at - start), NEAR)
    if at == len(text) and "\ud800" <= text[-1:] <= "\udbff":  # its other half never comes
        counter.copy().feed("", final=True)
    return marks, end


def _last_fitting(counter: IncrementalCounter, text: str, at: int, end: int, max_tokens: int) -> int | None:
    """The last place in at..end at which the count fits, or None. `counter` has read up to `at`."""
    if end - at > FINE:
        marks, end = _parts(counter, text, at, end, max_tokens)
        return _last_fitting_behind(marks, text, end, max_tokens)
    found = at if counter.count <= max_tokens and not _is_inside_pair(text, at) else None
    counter = counter.copy()
    for place in range(at + 1, end + 1):
        counter.feed(text[place - 1])
        if counter.count <= max_tokens:
            if not _is_inside_pair(text, place):
                found = place
        elif counter.stable > max_tokens:
            break
    return found


def _last_fitting_behind(marks: list[Mark], text: str, end: int, max_tokens: int) -> int | None:
    """The last place up to `end` at which the count fits, looked for behind the last counter first; or None."""
    for at, counter in reversed(marks):
        found = _last_fitting(counter, text, at, end, max_tokens)
        if found is not None:
            return found
        end = at
    return None


def _parts(counter: IncrementalCounter, text: str, at: int, end: int, max_tokens: int) -> tuple[list[Mark], int]:
    """The counter at the beginning of each part of a stretch, and where that ends: there `least` exceeds the limit, or it is `end`."""
    step, marks = max((end - at) // 8, FINE), [(at, counter)]
    for place in range(at + step, end, step):
        counter = counter.copy()
        counter.feed(text[place - step : place])
        if counter.least > max_tokens:
            return marks, place
        marks.append((place, counter))
    return marks, end


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
    start, end = 0, prefix_end(tokenizer, text, 0, max_tokens, options)
    while True:
        if end == start and start < len(text):
            needed = tokenizer.count(text[start], **options)
            raise ValueError(f"character {start} ({text[start]!r}) alone needs {needed} ids, more than max_tokens={max_tokens}")
        yield start, end
        if end == len(text):
            return
        start, behind = _overlap_start(tokenizer, text, start, end, overlap, options), end
        end = prefix_end(tokenizer, text, start, max_tokens, options)
        if end <= behind and start < behind:  # a piece must bring something new, else the overlap is given up for it
            start, end = behind, prefix_end(tokenizer, text, behind, max_tokens, options)


def _overlap_start(tokenizer: Tokenizer, text: str, start: int, end: int, overlap: int, options: Options) -> int:
    """The first place from which the piece start..end has at most `overlap` ids left, at a border of its tokens."""
    if not overlap:
        return end
    if tokenizer.flow is None:
        ids = tokenizer.encode(text[start:end], **options)
        if len(ids) <= overlap:
            return end
        tail = tokenizer.decode_bytes(ids[-overlap:]).lstrip(INSIDE)  # what starts inside a character begins with the next one
        return _back(text, end, len(tail.decode()))
    # What ids decode to need not be the text.
    spans = tokenizer.encoding(text[start:end], **{**options, "add_special_tokens": False}).spans
    if len(spans) <= overlap:
        return end
    at, previous_end = spans[-overlap][0], spans[-overlap - 1][1]
    return min(start + max(at, previous_end), end)


def _back(text: str, end: int, characters: int) -> int:
    """The place so many characters before `end`, where a pair of surrogates is one."""
    if _has_surrogates(text[max(end - 2 * characters, 0) : end]):
        for _ in range(characters):
            end -= 1 + _is_inside_pair(text, end - 1)
        return end
    return end - characters
