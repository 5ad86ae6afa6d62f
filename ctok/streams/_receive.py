"""Receive streams: pull an item, feed it, return what came out.

No task, no cancel scope and no queue live in here, so these objects can be used from any task, dropped at any time and closed
by another task. There are two places that wait: the source's own pull, and the turn given to the event loop *before* a
slice is fed. Between a pull and the return of its output nothing waits; that is why cancellation cannot lose anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

import anyio
from anyio.abc import ObjectReceiveStream
from anyio.lowlevel import checkpoint

from ._feed import CodecFeed, CountFeed, DecodeFeed, DeltaFeed, EncodeFeed, Feed
from ._source import ENDS, Source

if TYPE_CHECKING:
    from ..incremental import Delta  # noqa: F401  (named in a subscript below)

T = TypeVar("T")


class FeedReceiveStream(ObjectReceiveStream[T]):
    """Pulls items from `source`, which may be anything `Source` takes, and returns what `feed` makes of them."""

    def __init__(self, source: Any, feed: Feed) -> None:
        self._feed = feed
        self._source = Source(source)
        self._busy = False
        self._closed = False

    async def __anext__(self) -> T:
        if self._closed:
            raise anyio.ClosedResourceError
        if self._busy:
            raise anyio.BusyResourceError("receiving from")
        self._busy = True
        feed = self._feed
        try:
            while True:
                if feed.credit <= 0:
                    await self._give_turn()
                if feed.rest is not None:
                    out: T | None = feed.go_on()
                elif feed.finish_reason is not None:
                    raise StopAsyncIteration
                else:
                    try:
                        item = await self._source.pull()
                    except ENDS:
                        out = self._finish()
                    else:
                        if self._closed:
                            await self._closed_meanwhile()
                        out = feed.take(item)
                if out is not None:
                    return out
        finally:
            self._busy = False

    async def _give_turn(self) -> None:
        await checkpoint()
        if self._closed:
            raise anyio.ClosedResourceError
        self._feed.credit = self._feed.full_credit

    def _finish(self) -> T | None:
        if self._closed:
            raise anyio.ClosedResourceError from None
        return cast("T | None", self._feed.finish())

    async def _closed_meanwhile(self) -> NoReturn:
        """Another task has closed the stream during a pull; a generator could not be closed while it ran."""
        await self._source.aclose()
        raise anyio.ClosedResourceError

    async def receive(self) -> T:
        """Return the next output; it is never empty.

        Raises
        ------
        anyio.EndOfStream
            The source has ended and all output was delivered (also on every later call).
        anyio.ClosedResourceError
            After `aclose`.
        anyio.BusyResourceError
            Another task is receiving from this stream.
        CtokError
            The codec refuses the item. The item is dropped (of an item fed in slices: the refused slice and all after it);
            the codec is as it was before, and the next call goes on with the next item.

        Notes
        -----
        What the source raises passes through, nothing is flushed, and a further call pulls again. A cancelled call can be
        repeated: no input and no output is lost that the source does not lose itself. (An async generator does not
        survive a cancelled or failed pull: it is at its end then, and the next call flushes.)
        """
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def aclose(self) -> None:
        """Close the stream and its source; held output is dropped.

        May be called from any task, any number of times. A `receive` that waits for the source meanwhile ends as the source's own
        `aclose` lets it end (current anyio streams wake it); one that waits in an async generator ends with
        `ClosedResourceError` when the generator yields, and closes it.
        """
        if not self._closed:
            self._closed = True
            self._feed.rest = None
            await self._source.aclose()

    @property
    def extra_attributes(self) -> Mapping[Any, Callable[[], Any]]:
        """The extra attributes of the source."""
        return self._source.extra_attributes


class CodecReceiveStream(FeedReceiveStream[T]):
    """What the streams with a codec share; use one of the subclasses.

    Parameters
    ----------
    source
        An async iterable, an anyio object or byte receive stream, or an ordinary iterable.
    tok
        A `Tokenizer`; or a codec of the kind this stream drives, to go on from its state.
    options
        Options of the codec, as the tokenizer's method takes them.
    """

    _feed_type: type[CodecFeed]
    _feed: CodecFeed

    def __init__(self, source: Any, tok: Any, **options: Any) -> None:
        super().__init__(source, self._feed_type(tok, options))

    @property
    def codec(self) -> Any:
        """The codec this stream drives. Only look, or save its state; feeding it changes the stream."""
        return self._feed.codec


class EncodeReceiveStream(CodecReceiveStream["list[int]"]):
    """Text chunks in, lists of ids out: each id as soon as no later text can change it."""

    _feed_type = EncodeFeed


class DecodeReceiveStream(CodecReceiveStream[str]):
    """Ids in (one by one or in sequences), pieces of text out.

    After a stop string the stream ends: what precedes it is delivered, the source is not pulled again and stays open until
    `aclose`.
    """

    _feed_type = DecodeFeed

    @property
    def finish_reason(self) -> str | None:
        """Why the text is complete: ``"stop"`` (a stop string), ``"end"`` (of the source), None while it is not."""
        return self._feed.finish_reason


class DeltaReceiveStream(CodecReceiveStream["Delta"]):
    """As `DecodeReceiveStream`, but gives `Delta` objects; one without text carries ids that decode to nothing."""

    _feed_type = DeltaFeed

    @property
    def finish_reason(self) -> str | None:
        """Why the text is complete: ``"stop"`` (a stop string), ``"end"`` (of the source), None while it is not."""
        return self._feed.finish_reason


class CountReceiveStream(CodecReceiveStream[int]):
    """Text chunks in, the exact count of ids of all text so far out: one number a chunk. It can fall."""

    _feed_type = CountFeed
    _feed: CountFeed

    @property
    def count(self) -> int:
        """The number of ids if the text ended with the last chunk delivered."""
        return self._feed.count

    @property
    def stable(self) -> int:
        """How many of them no later text can change. It never falls."""
        return self._feed.stable

    @property
    def left(self) -> int | None:
        """How many ids the `limit` leaves; None without a limit."""
        return self._feed.left
