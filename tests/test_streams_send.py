"""Send streams: delivery, interrupted calls, ends. On asyncio and trio."""

from types import MappingProxyType

import anyio
import pytest

from ctok import streams
from ctok.streams import _feed, _send
from streams_standin import Points, Script, Sink, ToyTokenizer, Waiting, flat

pytestmark = pytest.mark.anyio

TEXT = "héllo wörld, 你好 😀 and so on"


@pytest.fixture
def tok():
    return ToyTokenizer()


async def test_encode_send_forwards_ids_and_flushes_at_close(tok):
    sink = Sink()
    async with streams.EncodeSendStream(sink, tok) as stream:
        for character in TEXT:
            await stream.send(character)
        assert flat(sink.items) == tok.encode(TEXT)[: len(flat(sink.items))]
    assert flat(sink.items) == tok.encode(TEXT)
    assert sink.closed == 1


async def test_decode_send_forwards_text_and_stops(tok):
    sink = Sink()
    async with streams.DecodeSendStream(sink, tok, stop=["#"]) as stream:
        for token_id in tok.encode("abcd#fghi"):
            await stream.send(token_id)
        assert stream.finish_reason == "stop"
        await stream.send(tok.encode("more"))
    assert sink.items == ["abc", "d"]


async def test_decode_send_takes_lists_and_ends_with_replacement(tok):
    sink = Sink()
    async with streams.DecodeSendStream(sink, tok) as stream:
        await stream.send(tok.encode("ab😀")[:1])
    assert sink.items == ["ab", "�"]
    assert stream.finish_reason == "end"


async def test_count_send_forwards_one_count_an_item(tok):
    sink = Sink()
    async with streams.CountSendStream(sink, tok) as stream:
        for chunk in ("ab", "cd", "", "ef"):
            await stream.send(chunk)
    assert sink.items == [1, 2, 2, 2]


async def test_empty_output_is_not_sent(tok):
    sink = Sink()
    async with streams.EncodeSendStream(sink, tok) as stream:
        await stream.send("a")
        assert sink.items == []
    async with streams.EncodeSendStream(sink, tok):
        pass
    assert flat(sink.items) == tok.encode("a")


# Interrupted calls


@pytest.mark.parametrize("chunk", [1, 7, 40_000])
async def test_cancellation_at_any_await_loses_and_doubles_nothing(tok, chunk, monkeypatch):
    monkeypatch.setattr(_feed, "perf_counter_ns", lambda: 0)
    text = TEXT * (1 if chunk < 1000 else 1500)
    chunks = [text[i : i + chunk] for i in range(0, len(text), chunk)]

    async def run(points):
        monkeypatch.setattr(_send, "checkpoint", points)
        sink = Sink(points)
        stream = streams.EncodeSendStream(sink, tok)
        for part in chunks:
            with anyio.CancelScope() as points.scope:
                await stream.send(part)
        for _ in range(2):
            with anyio.CancelScope() as points.scope:
                await stream.send_eof()
        await stream.aclose()
        assert sink.closed >= 1
        return flat(sink.items)

    counter = Points()
    assert await run(counter) == tok.encode(text)
    for at in range(1, counter.passed + 1):
        assert await run(Points(at)) == tok.encode(text)


async def test_failed_send_is_finished_by_the_next(tok):
    sink = Sink(script=[OSError("full")])
    stream = streams.EncodeSendStream(sink, tok)
    with pytest.raises(OSError, match="full"):
        await stream.send("abcd")
    await stream.send("ef")
    assert flat(sink.items) == tok.encode("abcdef")
    await stream.aclose()


async def test_refused_item_is_dropped_and_stream_goes_on(tok):
    sink = Sink()
    async with streams.EncodeSendStream(sink, tok) as stream:
        await stream.send("ab")
        with pytest.raises(ValueError, match="refused"):
            await stream.send("no!")
        with pytest.raises(TypeError):
            await stream.send(7)
        await stream.send("c")
    assert flat(sink.items) == tok.encode("abc")


async def test_long_item_is_fed_in_slices_with_a_turn_before_each(tok, monkeypatch):
    points = Points()
    monkeypatch.setattr(_send, "checkpoint", points)
    monkeypatch.setattr(_feed, "perf_counter_ns", lambda: 0)
    sink = Sink()
    async with streams.EncodeSendStream(sink, tok) as stream:
        await stream.send("a" * 200_000)
    assert flat(sink.items) == tok.encode("a" * 200_000)
    assert max(tok.calls) == _feed.LARGEST_SLICE
    slices = len([size for size in tok.calls if size])
    assert slices <= points.passed <= slices + 1


async def test_second_send_at_once_raises_busy_and_harms_nothing(tok):
    send, receive = anyio.create_memory_object_stream(0)
    async with streams.EncodeSendStream(send, tok) as stream, receive, anyio.create_task_group() as group:
        group.start_soon(stream.send, "abc")
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(anyio.BusyResourceError):
            await stream.send("def")
        with pytest.raises(anyio.BusyResourceError):
            await stream.send_eof()
        assert await receive.receive() == tok.encode("abc")


# Ends


async def test_send_eof_flushes_once_and_closes_a_transport_without_eof(tok):
    sink = Sink()
    stream = streams.EncodeSendStream(sink, tok)
    await stream.send("ab")
    await stream.send_eof()
    await stream.send_eof()
    assert flat(sink.items) == tok.encode("ab")
    assert sink.closed == 1
    with pytest.raises(anyio.ClosedResourceError):
        await stream.send("c")
    await stream.aclose()
    assert flat(sink.items) == tok.encode("ab")


async def test_send_eof_is_passed_on_to_a_transport_that_has_it(tok):
    class Both(Sink):
        ended = 0

        async def send_eof(self):
            self.ended += 1

    sink = Both()
    stream = streams.EncodeSendStream(sink, tok)
    await stream.send_eof()
    assert (sink.ended, sink.closed) == (1, 0)
    await stream.aclose()
    assert (sink.ended, sink.closed) == (1, 1)


async def test_use_after_aclose_raises(tok):
    sink = Sink()
    stream = streams.EncodeSendStream(sink, tok)
    await stream.aclose()
    await stream.aclose()
    assert sink.closed == 1
    with pytest.raises(anyio.ClosedResourceError):
        await stream.send("a")
    with pytest.raises(anyio.ClosedResourceError):
        await stream.send_eof()


async def test_aclose_after_an_error_in_the_block_does_not_flush(tok):
    sink = Sink()
    with pytest.raises(KeyError):
        async with streams.EncodeSendStream(sink, tok) as stream:
            await stream.send("abcd")
            raise KeyError
    assert flat(sink.items) == tok.encode("abc")
    assert sink.closed == 1


async def test_aclose_after_a_failed_send_does_not_flush(tok):
    sink = Sink(script=[OSError("full")])
    stream = streams.EncodeSendStream(sink, tok)
    with pytest.raises(OSError):
        await stream.send("abcd")
    await stream.aclose()
    assert sink.items == []
    assert sink.closed == 1


async def test_aclose_in_a_cancelled_scope_still_closes_the_transport(tok):
    sink = Sink()
    stream = streams.EncodeSendStream(sink, tok)
    await stream.send("a")
    with anyio.CancelScope() as scope:
        scope.cancel()
        await stream.aclose()
    assert sink.items == []
    assert sink.closed == 1


async def test_aclose_from_another_task_reaches_the_transport_that_is_waited_for(tok):
    stream = streams.EncodeSendStream(Waiting(), tok)
    raised = []

    async def produce():
        try:
            await stream.send("abcd")
        except anyio.ClosedResourceError as error:
            raised.append(error)

    async with anyio.create_task_group() as group:
        group.start_soon(produce)
        await anyio.wait_all_tasks_blocked()
        await stream.aclose()
    assert len(raised) == 1


async def test_send_and_receive_twins_meet(tok):
    send, receive = anyio.create_memory_object_stream(1)
    out = []

    async def consume():
        async with streams.DecodeReceiveStream(receive, tok) as pieces:
            out.extend([text async for text in pieces])

    async with anyio.create_task_group() as group:
        group.start_soon(consume)
        async with streams.EncodeSendStream(send, tok) as stream:
            async for character in Script(TEXT):
                await stream.send(character)
    assert "".join(out) == TEXT


async def test_extra_attributes_are_those_of_the_transport(tok):
    class Labelled(Sink):
        extra_attributes = MappingProxyType({"peer": lambda: "p"})

    assert streams.EncodeSendStream(Labelled(), tok).extra_attributes == Labelled.extra_attributes
