"""Between a stream and its codec: feeds items in slices short enough for an event loop, and keeps what is not fed yet.

Purely synchronous: no call here awaits, so a stream that is cancelled between two calls loses nothing. A feed belongs to
one stream. Its rules:

- ``take`` hands over a new item (only when ``rest`` is None), ``go_on`` feeds the next slice of an item that was more than the
  credit allowed, ``finish`` says that no item will come. Each returns output, or None when there is none.
- ``credit`` is what is left of the work that may be done before the event loop must be given a turn; who drives the feed checks it,
  and fills it up to ``full_credit`` after the turn.
- A call that raises drops the item it was feeding (its remaining slices, too); the codec is as it was before the refused
  slice, and the next item can be taken.

How long a slice of text takes depends on the text by a factor of a hundred, so it is measured: the slices of a feed shrink when one
took too long and grow when it was quick. Ids cost about the same each; they are counted.
"""

from __future__ import annotations

import operator
from time import perf_counter_ns
from typing import Any

# Time in ns that the codec may take between two turns of the event loop, and that a slice should stay between.
TURN_NS = 500_000
SLOW_NS = 400_000
QUICK_NS = 100_000
# What an item costs besides the codec's time; an endless run of empty items must use up the credit, too.
ITEM_NS = 500

# Bytes of UTF-8 in a slice of text.
FIRST_SLICE = 2048
SMALLEST_SLICE = 512
LARGEST_SLICE = 32768

SLICE_IDS = 2048


def bytes_per_unit(text: str | bytes) -> int:
    """Return how many bytes of UTF-8 one unit of `text` may need: 1, or 3 for a str beyond ASCII (4 is rare)."""
    return 1 if isinstance(text, bytes) or text.isascii() else 3


def make_codec(tok: Any, maker: str, options: dict[str, Any]) -> Any:
    """Return ``tok.<maker>(**options)``, or `tok` itself when it is a codec already."""
    make = getattr(tok, maker, None)
    if make is not None:
        return make(**options)
    if not hasattr(tok, "getstate"):
        raise TypeError(f"expected a tokenizer or a codec, not {type(tok).__name__}")
    if options:
        raise TypeError(f"{', '.join(sorted(options))}: a codec that exists already takes no options")
    return tok


class Feed:
    """What the kinds of feed share. `finish_reason` is None while more output may come."""

    __slots__ = ("credit", "finish_reason", "pos", "rest", "size", "width")

    full_credit: int

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self.rest: Any = None
        self.pos = 0
        self.size = 0
        self.width = 0
        self.credit = self.full_credit

    def take(self, item: Any) -> Any:
        raise NotImplementedError

    def go_on(self) -> Any:
        """Feed the next slice of `rest`."""
        rest, start = self.rest, self.pos
        stop = start + self.width
        # Forgotten before the codec can refuse the slice, remembered after it has not.
        self.rest = None
        last = stop >= self.size
        out = self.put(rest[start:stop], last)
        self.credit = 0
        if not last and self.finish_reason is None:
            self.rest, self.pos = rest, stop
        return out

    def put(self, piece: Any, last: bool) -> Any:
        """Feed one slice; `last` says that it ends its item."""
        raise NotImplementedError

    def postpone(self, item: Any, size: int, width: int) -> None:
        """Keep an item that asks for more than the credit; it is fed in slices, the first after the event loop's turn."""
        self.rest, self.pos, self.size, self.width = item, 0, size, width
        self.credit = 0

    def finish(self) -> Any:
        self.finish_reason = "end"
        return self.end()

    def end(self) -> Any:
        """Finalise the codec."""
        raise NotImplementedError


class CodecFeed(Feed):
    """A feed that drives a codec, which the tokenizer's method `maker` makes."""

    __slots__ = ("codec",)

    maker: str

    def __init__(self, tok: Any, options: dict[str, Any]) -> None:
        super().__init__()
        self.codec = make_codec(tok, self.maker, options)


class TextFeed(CodecFeed):
    """Items are str or bytes."""

    __slots__ = ("slice", "unit")
    full_credit = TURN_NS

    def __init__(self, tok: Any, options: dict[str, Any]) -> None:
        super().__init__(tok, options)
        self.slice = FIRST_SLICE
        self.unit = 1

    def take(self, item: Any) -> Any:
        if not isinstance(item, (str, bytes)):
            if not isinstance(item, (bytearray, memoryview)):
                raise TypeError(f"a chunk of text must be str or bytes, not {type(item).__name__} (see ctok.streams.text_deltas)")
            # The owner may reuse the buffer while this item waits for its turn.
            item = bytes(item)
        size = len(item)
        self.unit = bytes_per_unit(item)
        if size * self.unit > self.slice:
            return self.postpone(item, size, self.slice // self.unit)
        return self.put(item, True)

    def put(self, piece: Any, last: bool) -> Any:
        start = perf_counter_ns()
        out = self.code(piece, last)
        taken = perf_counter_ns() - start
        self.credit -= taken + ITEM_NS
        if taken > SLOW_NS:
            self.slice = max(self.slice // 2, SMALLEST_SLICE)
        elif taken < QUICK_NS and len(piece) == self.width:
            self.slice = min(self.slice * 2, LARGEST_SLICE)
        self.width = self.slice // self.unit
        return out

    def code(self, piece: Any, last: bool) -> Any:
        """Give one slice to the codec."""
        raise NotImplementedError


class EncodeFeed(TextFeed):
    __slots__ = ()
    maker = "encoder"

    def code(self, piece: Any, last: bool) -> list[int] | None:
        return self.codec.encode(piece) or None

    def end(self) -> list[int] | None:
        return self.codec.encode("", final=True) or None


class CountFeed(TextFeed):
    """Gives the count once per item, when its last slice is in."""

    __slots__ = ("count", "left", "stable")
    maker = "counter"
    count: int
    stable: int
    left: int | None

    def __init__(self, tok: Any, options: dict[str, Any]) -> None:
        super().__init__(tok, options)
        self.look()

    def look(self) -> None:
        codec = self.codec
        self.count, self.stable, self.left = codec.count, codec.stable, codec.left

    def code(self, piece: Any, last: bool) -> int | None:
        self.codec.feed(piece)
        if not last:
            return None
        self.look()
        return self.count

    def end(self) -> None:
        # The count is that of a text which ends here, so the end changes it in no way but one: all is final now.
        # The counter itself starts anew.
        self.look()
        self.codec.feed("", final=True)
        self.stable = self.count


class DecodeFeed(CodecFeed):
    """Items are ids, or sequences of ids."""

    __slots__ = ()
    full_credit = SLICE_IDS
    maker = "decoder"

    def take(self, item: Any) -> Any:
        if isinstance(item, int):
            self.credit -= 1
            return self.put(item, True)
        try:
            size = len(item)
        except TypeError:
            self.credit -= 1
            return self.put(operator.index(item), True)
        if size >= self.credit:
            return self.postpone(item, size, SLICE_IDS)
        self.credit -= size + 1
        return self.put(item, True)

    def put(self, piece: Any, last: bool) -> str | None:
        codec = self.codec
        text = codec.decode(piece)
        if codec.finish is not None:
            self.finish_reason = codec.finish
        return text or None

    def end(self) -> str | None:
        return self.codec.decode((), final=True) or None


class DeltaFeed(DecodeFeed):
    __slots__ = ()

    def put(self, piece: Any, last: bool) -> Any:
        codec = self.codec
        delta = codec.decode_delta(piece)
        if codec.finish is not None:
            self.finish_reason = codec.finish
        return delta if delta.text or delta.ids else None

    def end(self) -> Any:
        delta = self.codec.decode_delta((), final=True)
        return delta if delta.text or delta.ids else None
