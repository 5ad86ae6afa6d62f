"""Between a stream and its codec: feeds items in slices short enough for an event loop, and keeps what is not fed yet.

Purely synchronous: no call here awaits, so a stream that is cancelled between two calls loses nothing. A feed belongs to
one stream. Its rules:

- ``take`` hands over a new item (only when ``rest`` is None), ``go_on`` feeds the next slice of an item that was more than the
  credit allowed, ``finish`` says that no item will come. Each returns output, or None when there is none.
- ``credit`` is how much more may be fed before the event loop must be given a turn; who drives the feed checks it.
- A call that raises drops the item it was feeding (its remaining slices, too); the codec is as it was before the refused
  slice, and the next item can be taken.

Slices are bounded by estimated time: even text without any border is encoded at 10 MB/s, so 8 KiB stay under a millisecond.
"""

from __future__ import annotations

import operator
from typing import Any

SLICE_BYTES = 8192
SLICE_IDS = 2048
# What an item costs besides its length, in the same unit; an endless run of empty items must use up the credit, too.
ITEM_COST = 16


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
        self.credit -= self.full_credit
        # Forgotten before the codec can refuse the slice, remembered after it has not.
        self.rest = None
        last = stop >= self.size
        out = self.put(rest[start:stop], last)
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

    __slots__ = ()
    full_credit = SLICE_BYTES

    def take(self, item: Any) -> Any:
        if not isinstance(item, (str, bytes)):
            if not isinstance(item, (bytearray, memoryview)):
                raise TypeError(f"a chunk of text must be str or bytes, not {type(item).__name__} (see ctok.streams.text_deltas)")
            # The owner may reuse the buffer while this item waits for its turn.
            item = bytes(item)
        size = len(item)
        unit = bytes_per_unit(item)
        cost = size * unit + ITEM_COST
        if cost > self.credit:
            return self.postpone(item, size, SLICE_BYTES // unit)
        self.credit -= cost
        return self.put(item, True)


class EncodeFeed(TextFeed):
    __slots__ = ()
    maker = "encoder"

    def put(self, piece: Any, last: bool) -> list[int] | None:
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

    def put(self, piece: Any, last: bool) -> int | None:
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
