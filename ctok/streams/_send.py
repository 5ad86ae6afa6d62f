"""Send streams: feed what is sent, forward what comes out.

An item belongs to the stream from the moment `send` accepts it, whatever happens while it waits for the receiver: output that
could not be delivered stays here and leaves first with the next call. So a cancelled `send` must not be repeated with the
same item, and nothing is lost or doubled.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, TypeVar

import anyio
from anyio.abc import ObjectSendStream
from anyio.lowlevel import checkpoint

from ._feed import CodecFeed, CountFeed, DecodeFeed, EncodeFeed

T = TypeVar("T")


class CodecSendStream(ObjectSendStream[T]):
    """What the send streams share; use one of the subclasses.

    Parameters
    ----------
    transport
        The object send stream that gets the output.
    tok
        A `Tokenizer`; or a codec of the kind this stream drives, to go on from its state.
    options
        Options of the codec, as the tokenizer's method takes them.
    """

    _feed_type: type[CodecFeed]

    def __init__(self, transport: Any, tok: Any, **options: Any) -> None:
        self._feed = self._feed_type(tok, options)
        self._transport = transport
        self._accepted: deque[Any] = deque()
        self._unsent: Any = None
        self._busy = False
        self._closed = False
        self._ended = False
        self._interrupted = False

    async def send(self, item: T) -> None:
        """Feed `item` and forward the output it releases, if any.

        Raises
        ------
        anyio.ClosedResourceError
            After `send_eof` or `aclose`.
        anyio.BusyResourceError
            Another task is sending; the item was not accepted.
        CtokError
            The codec refuses the item, which is dropped; the stream can go on.

        Notes
        -----
        When the transport raises or the call is cancelled, the item counts as sent: what is still to be delivered leaves
        with the next call.
        """
        if self._closed or self._ended:
            raise anyio.ClosedResourceError
        if self._busy:
            raise anyio.BusyResourceError("sending to")
        self._accepted.append(item)
        await self._drain(False)

    async def _drain(self, final: bool) -> None:
        self._busy = True
        self._interrupted = True
        feed = self._feed
        try:
            while True:
                if self._unsent is not None:
                    await self._transport.send(self._unsent)
                    self._unsent = None
                elif feed.credit <= 0:
                    await checkpoint()
                    feed.credit = feed.full_credit
                elif feed.rest is not None:
                    self._unsent = feed.go_on()
                elif self._accepted and feed.finish_reason is None:
                    self._unsent = feed.take(self._accepted.popleft())
                elif final and feed.finish_reason is None:
                    self._unsent = feed.finish()
                else:
                    break
            self._accepted.clear()
            self._interrupted = False
        finally:
            self._busy = False

    async def send_eof(self) -> None:
        """Say that the text ends here: forward what the codec still holds, then end the transport.

        The transport's own `send_eof` is called if it has one, else its `aclose`. Later calls do nothing; after a cancelled
        one, a further call goes on.
        """
        if self._closed:
            raise anyio.ClosedResourceError
        if self._busy:
            raise anyio.BusyResourceError("sending to")
        if self._ended and not self._interrupted:
            return
        self._ended = True
        await self._drain(True)
        end = getattr(self._transport, "send_eof", None) or self._transport.aclose
        await end()

    async def aclose(self) -> None:
        """Close the stream and its transport, after forwarding what the codec still holds.

        Nothing is forwarded after a `send` that failed or was cancelled and was not followed by one that succeeded, while
        another task is sending, or when an ``async with`` block is left by an exception: a text that broke off has no end.
        """
        await self._aclose(flush=True)

    async def _aclose(self, flush: bool) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            if flush and not (self._busy or self._interrupted or self._ended):
                await self._drain(True)
        finally:
            await self._transport.aclose()

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self._aclose(flush=exc_type is None)

    @property
    def codec(self) -> Any:
        """The codec this stream drives. Only look, or save its state; feeding it changes the stream."""
        return self._feed.codec

    @property
    def extra_attributes(self) -> Mapping[Any, Callable[[], Any]]:
        """The extra attributes of the transport."""
        return getattr(self._transport, "extra_attributes", {})


class EncodeSendStream(CodecSendStream["str | bytes"]):
    """Send text; the transport gets lists of ids."""

    _feed_type = EncodeFeed


class DecodeSendStream(CodecSendStream[Any]):
    """Send ids (one, or a sequence of them); the transport gets text. After a stop string, what is sent is ignored."""

    _feed_type = DecodeFeed

    @property
    def finish_reason(self) -> str | None:
        """Why the text is complete: ``"stop"``, ``"end"`` (after `send_eof` or `aclose`), None while it is not."""
        return self._feed.finish_reason


class CountSendStream(CodecSendStream["str | bytes"]):
    """Send text; for each item the transport gets the exact count of ids of all text so far."""

    _feed_type = CountFeed
