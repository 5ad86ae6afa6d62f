"""Encodings put together, cut and filled up: functions that return new ones."""

from __future__ import annotations

from ._record import FLAGS, NUMBERS, Encoding, changed, filled, make, numbers_of, repeated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..stagespecs.limits import Padding, Truncation

__all__ = ["merge", "pad", "pad_all", "pad_length", "truncate", "truncate_pair"]

SIDES = ("left", "right")


def merge(encodings: Iterable[Encoding], growing_spans: bool = False) -> Encoding:
    """Return the encodings one behind the other, as one.

    Its overflowing pieces are all combinations: of each piece that one of them cut off with what the others have, cut off or not.

    Parameters
    ----------
    growing_spans
        The texts are taken to stand one behind the other: spans go on from the largest end so far. Those of added ids stay ``(0, 0)``.
    """
    listed = list(encodings)
    if not listed:
        return make(tuple([repeated(0, 0)] * len(NUMBERS) + [memoryview(b"")] * len(FLAGS)), str, {}, {}, (), "char")
    if len(listed) == 1:
        return listed[0]
    moved = _grown(listed) if growing_spans else listed
    if all(encoding._overflowing == () for encoding in listed):
        return _concatenated(moved, ())

    def overflowing() -> tuple[Encoding, ...]:
        *front, last = listed
        left = merge(front, growing_spans)
        found = []
        for piece in left.overflowing:
            found.append(merge((piece, last), growing_spans))
            found.extend([merge((piece, other), growing_spans) for other in last.overflowing])
        found.extend([merge((left, other), growing_spans) for other in last.overflowing])
        return tuple(found)

    return _concatenated(moved, overflowing)


def _concatenated(encodings: Sequence[Encoding], overflowing: tuple[Encoding, ...] | Callable[[], tuple[Encoding, ...]]) -> Encoding:
    """Return the columns one behind the other."""
    columns = _joined([encoding._columns for encoding in encodings])
    ranges: dict[int, tuple[int, int]] = {}
    names: dict[int, str] = {}
    token, n = str, 0  # type: tuple[Callable[[int], str], int]
    for encoding in encodings:
        if encoding._ranges:
            ranges.update((sequence, (n + start, n + stop)) for sequence, (start, stop) in encoding._ranges.items())
        if encoding._token is not str and token is str:
            token = encoding._token
        if encoding._token in (str, token):
            names.update({n + i: name for i, name in encoding._names.items()})
        else:  # of another tokenizer: all tokens by name
            names.update((n + i, name) for i, name in enumerate(encoding.tokens))
        n += len(encoding)
    return make(columns, token, names, ranges, overflowing, encodings[0].unit)


def _joined(parts: Iterable[Sequence[memoryview]]) -> tuple[memoryview, ...]:
    """Return the columns of encodings, each put together."""
    joined = [memoryview(b"".join(column)) for column in zip(*parts, strict=True)]
    return (*[column.cast("I") for column in joined[: len(NUMBERS)]], *joined[len(NUMBERS) :])


def framed(before: Encoding, text: Encoding, behind: Encoding, type_id: int) -> Encoding:
    """Return a text of this type between two encodings that stand for no text: what `merge` gives for them, sooner."""
    n, at = len(text), len(before)
    own = list(text._columns)
    own[NUMBERS.index("type_ids")] = repeated(type_id, n)
    columns = _joined([before._columns, own, behind._columns])
    names = {at + i: name for i, name in text._names.items()}
    names.update(before._names)
    names.update({at + n + i: name for i, name in behind._names.items()})
    return make(columns, text._token, names, {0: (at, at + n)}, (), text.unit)


def _grown(encodings: Sequence[Encoding]) -> list[Encoding]:
    """Return the encodings with spans that go on from the largest end so far."""
    moved, far = [], 0
    for encoding in encodings:
        moved.append(_moved(encoding, far))
        far = max(far, *moved[-1]._columns[3], 0)
    return moved


def _moved(encoding: Encoding, by: int) -> Encoding:
    """Return the encoding with spans that lie further on, but for those of added ids."""
    from array import array

    special = encoding._columns[6]
    starts, ends = (
        numbers_of(array("I", [place if special[i] else place + by for i, place in enumerate(encoding._columns[k])])) for k in (2, 3)
    )
    return changed(encoding, starts=starts, ends=ends)


def cut(encoding: Encoding, start: int, stop: int) -> Encoding:
    names = {i - start: name for i, name in encoding._names.items() if start <= i < stop} if encoding._names else {}
    return make(tuple([column[start:stop] for column in encoding._columns]), encoding._token, names, {}, (), encoding.unit)


def _places(n: int, max_length: int, stride: int, direction: str) -> list[tuple[int, int]]:
    """Where the pieces of n ids start and stop: the first is what remains."""
    step = max_length - stride
    places = []
    for k in range(0, n, step):
        if direction == "right":
            places.append((k, min(k + max_length, n)))
            if places[-1][1] == n:
                break
        else:
            places.append((max(n - k - max_length, 0), n - k))
            if places[-1][0] == 0:
                break
    return places


def truncate(encoding: Encoding, max_length: int, stride: int = 0, direction: str = "right") -> Encoding:
    """Return the encoding with at most `max_length` ids; what is cut off becomes its `overflowing` pieces.

    Parameters
    ----------
    max_length
        Ids that remain. 0: all of it becomes one overflowing piece.
    stride
        Ids that each piece repeats of the one before; less than `max_length`.
    direction
        The side at which is cut. ``"left"``: the last ids remain, and the pieces go backwards.

    Notes
    -----
    A cut encoding of several texts no longer says which ids belong to which.
    """
    if direction not in SIDES:
        raise ValueError(f"direction must be 'left' or 'right', got {direction!r}")
    if max_length < 0 or stride < 0:
        raise ValueError(f"max_length and stride cannot be negative, got {max_length} and {stride}")
    n = len(encoding)
    if max_length >= n:
        return encoding
    if max_length == 0:
        return changed(cut(encoding, 0, 0), overflowing=(encoding,))
    if stride >= max_length:
        raise ValueError(f"stride is {stride}, but must be less than the {max_length} ids that remain (special tokens not counted)")
    places = _places(n, max_length, stride, direction)
    kept = cut(encoding, *places[0])
    return changed(kept, overflowing=lambda: tuple(cut(encoding, *place) for place in places[1:]))


def _longest_first(n: int, m: int, most: int) -> tuple[int, int]:
    """How many of n and m ids remain, so that the longer text loses first."""
    low, high = min(n, m), max(n, m)
    high = low if low > most else max(low, most - low)
    if low + high > most:
        low = most // 2
        high = low + most % 2
    return (low, high) if n <= m else (high, low)


def truncate_pair(first: Encoding, second: Encoding | None, truncation: Truncation, n_added: int = 0) -> tuple[Encoding, Encoding | None]:
    """Return one text or two, cut so that with `n_added` more ids there are at most ``truncation.max_length``.

    Raises
    ------
    ValueError
        The added ids alone are too many; the stride is not less than what remains of a text; a text that is to be cut is missing or too
        short.
    """
    most, stride, direction = truncation.max_length - n_added, truncation.stride, truncation.direction
    if most < 0:
        raise ValueError(f"max_length is {truncation.max_length}, but the special tokens alone are {n_added}")
    if most and stride >= most:
        raise ValueError(f"stride is {stride}, but must be less than max_length without the special tokens, which is {most}")
    if most == 0:
        return truncate(first, 0), None if second is None else truncate(second, 0)
    n, m = len(first), 0 if second is None else len(second)
    excess = n + m - most
    if excess <= 0:
        return first, second
    if truncation.strategy == "longest_first":
        if second is None:
            return truncate(first, most, stride, direction), None
        n, m = _longest_first(n, m, most)
        return truncate(first, n, stride, direction), truncate(second, m, stride, direction)
    if truncation.strategy == "only_first":
        return _shortened(first, excess, stride, direction), second
    if second is None:
        raise ValueError("truncation is to cut the second text only, but there is no second text")
    return first, _shortened(second, excess, stride, direction)


def _shortened(encoding: Encoding, excess: int, stride: int, direction: str) -> Encoding:
    if len(encoding) <= excess:
        raise ValueError(f"the text to be cut has {len(encoding)} ids, too few to leave out {excess}")
    return truncate(encoding, len(encoding) - excess, stride, direction)


def pad(
    encoding: Encoding, length: int, direction: str = "right", pad_id: int = 0, pad_type_id: int = 0, pad_token: str = "[PAD]"
) -> Encoding:
    """Return the encoding with padding up to `length` ids, and so each of its overflowing pieces. What is longer stays as it is."""
    if direction not in SIDES:
        raise ValueError(f"direction must be 'left' or 'right', got {direction!r}")
    missing = max(length - len(encoding), 0)
    if missing == 0 and encoding._overflowing == ():
        return encoding
    padded = changed(encoding, overflowing=())
    if missing:
        filling = filled(pad_id, pad_token, missing, pad_type_id, encoding.unit)
        padded = _concatenated([padded, filling] if direction == "right" else [filling, padded], ())
    if encoding._overflowing == ():
        return padded

    def overflowing() -> tuple[Encoding, ...]:
        return tuple([pad(piece, length, direction, pad_id, pad_type_id, pad_token) for piece in encoding.overflowing])

    return changed(padded, overflowing=overflowing)


def pad_length(lengths: Iterable[int], length: int | None = None, multiple: int | None = None) -> int:
    """Return the length to which encodings are filled up: `length`, or that of the longest, rounded up to a multiple."""
    target = max(lengths, default=0) if length is None else length
    if multiple:
        target += -target % multiple
    return target


def pad_all(encodings: Sequence[Encoding], padding: Padding) -> list[Encoding]:
    """Return the encodings of a batch, all filled up as `padding` says."""
    length = pad_length(map(len, encodings), padding.length, padding.pad_to_multiple_of)
    return [pad(encoding, length, padding.direction, padding.pad_id, padding.pad_type_id, padding.pad_token) for encoding in encodings]
