"""Receive streams: order, ends, errors, cancellation, closing. On asyncio and trio."""

from types import MappingProxyType

import anyio
import pytest
from anyio.lowlevel import checkpoint

from ctok import streams
from ctok.streams import _feed, _receive
from streams_standin import Points, Script, ToyTokenizer, Waiting, flat

pytestmark = pytest.mark.anyio

TEXT = "héllo wörld, 你好 😀 and so on"


@pytest.fixture
def tok():
    return ToyTokenizer()


@pytest.fixture
def stopped_clock(monkeypatch):
    """No call of a codec takes any time, so where slices end depends on nothing but their number."""
    monkeypatch.setattr(_feed, "perf_counter_ns", lambda: 0)


async def collect(stream):
    return [item async for item in stream]


def ways(tok):
    """Every kind of stream: how to open it, the items it is given, what all its output joined is."""
    ids = tok.encode(TEXT)
    return {
        "encode": (streams.encode, list(TEXT), lambda out: flat(out) == ids),
        "decode": (streams.decode, ids, lambda out: "".join(out) == TEXT),
        "deltas": (streams.decode_deltas, ids, lambda out: "".join(d.text for d in out) == TEXT and flat(d.ids for d in out) == ids),
        "count": (streams.count, list(TEXT), lambda out: out == [tok.count(TEXT[: i + 1]) for i in range(len(TEXT))]),
    }


KINDS = ["encode", "decode", "deltas", "count"]


@pytest.mark.parametrize("kind", KINDS)
async def test_stream_over_async_source_gives_all_and_ends(tok, kind):
    opened, items, right = ways(tok)[kind]
    source = Script(items)
    async with opened(source, tok) as stream:
        assert right(await collect(stream))
        with pytest.raises(anyio.EndOfStream):
            await stream.receive()
        with pytest.raises(StopAsyncIteration):
            await stream.__anext__()
        assert source.pulls == len(items) + 1
        assert not source.closed
    assert source.closed == 1


@pytest.mark.parametrize("kind", KINDS)
async def test_stream_over_other_sources_gives_the_same(tok, kind):
    opened, items, right = ways(tok)[kind]

    async def generate():
        for item in items:
            yield item

    send, receive = anyio.create_memory_object_stream(len(items))
    async with send:
        for item in items:
            await send.send(item)
    assert right(await collect(opened(generate(), tok)))
    assert right(await collect(opened(items, tok)))
    assert right(await collect(opened(iter(items), tok)))
    async with opened(receive, tok) as stream:
        assert right(await collect(stream))


async def test_encode_over_byte_stream_joins_split_characters(tok):
    class Transport(anyio.abc.ByteReceiveStream):
        def __init__(self):
            self.data = TEXT.encode()

        async def receive(self, max_bytes=65536):
            await checkpoint()
            if not self.data:
                raise anyio.EndOfStream
            head, self.data = self.data[:1], self.data[1:]
            return head

        async def aclose(self):
            self.data = None

    transport = Transport()
    async with streams.encode(transport, tok) as stream:
        assert flat(await collect(stream)) == tok.encode(TEXT)
    assert transport.data is None


async def test_encode_over_receive_only_object_ends_at_its_end(tok):
    items = ["abc", "de"]

    class Channel:
        async def receive(self):
            await checkpoint()
            if not items:
                raise anyio.EndOfStream
            return items.pop(0)

    assert flat(await collect(streams.encode(Channel(), tok))) == tok.encode("abcde")


async def test_encode_over_one_str_or_bytes_takes_it_whole(tok):
    assert await collect(streams.encode("abc", tok)) == [tok.encode("abc")]
    assert await collect(streams.encode(b"abc", tok)) == [tok.encode("abc")]
    assert await collect(streams.encode(bytearray(b"abc"), tok)) == [tok.encode("abc")]
    assert tok.calls[0] == 3


async def test_source_of_wrong_kind_is_refused_with_cure(tok):
    async def forgotten():
        return Script([])

    with pytest.raises(TypeError, match="await it first"):
        streams.encode(forgotten(), tok)
    with pytest.raises(TypeError, match="async iterable"):
        streams.encode(17, tok)
    with pytest.raises(TypeError, match="text_deltas"):
        await collect(streams.encode([{"choices": []}], tok))


async def test_tok_of_wrong_kind_is_refused(tok):
    with pytest.raises(TypeError, match="tokenizer or a codec"):
        streams.encode([], "o200k_base")
    with pytest.raises(TypeError, match="limit"):
        streams.count([], tok.counter(), limit=3)
    with pytest.raises(TypeError):
        streams.encode([], tok, no_such_option=1)


async def test_codec_in_place_of_tokenizer_goes_on_from_its_state(tok):
    encoder = tok.encoder()
    assert encoder.encode("ab") == []
    assert flat(await collect(streams.encode(["c"], encoder))) == tok.encode("abc")


# The end of the source


async def test_end_of_source_flushes_before_it_is_reported(tok):
    stream = streams.encode(Script(["ab"]), tok)
    assert await stream.receive() == tok.encode("ab")
    with pytest.raises(anyio.EndOfStream):
        await stream.receive()


async def test_end_in_the_middle_of_a_character_gives_replacement(tok):
    stream = streams.decode(Script(tok.encode("ab😀")[:1]), tok)
    assert await stream.receive() == "ab"
    assert await stream.receive() == "�"
    assert stream.finish_reason == "end"
    with pytest.raises(anyio.EndOfStream):
        await stream.receive()


async def test_empty_source_ends_at_once(tok):
    for opened in (streams.encode, streams.decode, streams.decode_deltas, streams.count):
        assert await collect(opened(Script([]), tok)) == []


async def test_finalising_that_fails_is_reported_once(tok):
    class Strict:
        def getstate(self):
            return b""

        def encode(self, chunk, final=False):
            raise ValueError("cut off")

    stream = streams.encode(Script([]), Strict())
    with pytest.raises(ValueError, match="cut off"):
        await stream.receive()
    with pytest.raises(anyio.EndOfStream):
        await stream.receive()


async def test_stop_string_ends_stream_without_another_pull(tok):
    source = Script(tok.encode("abcdef#gh") + tok.encode("more"))
    async with streams.decode(source, tok, stop=["#"]) as stream:
        assert stream.finish_reason is None
        assert await collect(stream) == ["abc", "def"]
        assert stream.finish_reason == "stop"
        assert source.pulls == 3
        assert source.closed == 0
        with pytest.raises(anyio.EndOfStream):
            await stream.receive()
    assert source.closed == 1


async def test_stop_string_drops_rest_of_a_long_item(tok):
    ids = tok.encode("abc#" + "x" * 3 * _feed.SLICE_IDS * 4)
    stream = streams.decode([ids], tok, stop=["#"])
    assert await collect(stream) == ["abc"]
    assert sum(tok.calls) <= _feed.SLICE_IDS * 2
    assert stream.finish_reason == "stop"


async def test_deltas_keep_ids_whose_text_is_not_complete(tok):
    ids = tok.encode("😀")
    deltas = await collect(streams.decode_deltas(Script(ids), tok))
    assert flat(d.ids for d in deltas) == ids
    assert "".join(d.text for d in deltas) == "😀"


# Errors


@pytest.mark.parametrize("kind", KINDS)
async def test_source_error_passes_through_and_stream_goes_on(tok, kind):
    opened, items, right = ways(tok)[kind]
    middle = len(items) // 2
    source = Script([*items[:middle], OSError("line down"), *items[middle:]])
    stream = opened(source, tok)
    out = []
    with pytest.raises(OSError, match="line down"):
        async for item in stream:
            out.append(item)
    out += await collect(stream)
    assert right(out)


async def test_source_error_flushes_nothing(tok):
    stream = streams.encode(Script(["ab", OSError("line down"), "c"]), tok)
    with pytest.raises(OSError):
        await stream.receive()
    assert await stream.receive() == tok.encode("abc")


async def test_refused_item_is_dropped_and_stream_goes_on(tok):
    stream = streams.encode(Script(["ab", "no!", "c"]), tok)
    with pytest.raises(ValueError, match="refused"):
        await stream.receive()
    assert await stream.receive() == tok.encode("abc")


@pytest.mark.usefixtures("stopped_clock")
async def test_refused_slice_drops_the_rest_of_its_item(tok):
    width = _feed.FIRST_SLICE
    stream = streams.encode(Script(["a" * width + "!" + "b" * (3 * width), "cd"]), tok)
    assert flat([await stream.receive()]) == tok.encode("a" * (width - width % 3))
    with pytest.raises(ValueError, match="refused"):
        await stream.receive()
    assert await collect(stream) == [tok.encode("a" * (width % 3) + "cd")[:1], tok.encode("a" * (width % 3) + "cd")[1:]]


async def test_unknown_id_is_an_error_and_stream_goes_on(tok):
    first, second = tok.encode("abcdef")
    stream = streams.decode(Script([first, 7, second]), tok)
    assert await stream.receive() == "abc"
    with pytest.raises(LookupError):
        await stream.receive()
    assert await stream.receive() == "def"


# Cancellation


@pytest.mark.parametrize("chunk", [1, 7, 20_000])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("stopped_clock")
async def test_cancellation_at_any_await_loses_nothing(tok, kind, chunk, monkeypatch):
    text = TEXT * (1 if chunk < 1000 else 1500)
    source_of = text if kind in ("encode", "count") else tok.encode(text)
    items = [source_of[i : i + chunk] for i in range(0, len(source_of), chunk)]
    opened = ways(tok)[kind][0]

    async def run(points):
        monkeypatch.setattr(_receive, "checkpoint", points)
        stream = opened(Script(items, points), tok)
        out, cancelled = [], 0
        while True:
            with anyio.CancelScope() as scope:
                points.scope = scope
                try:
                    async for item in stream:
                        out.append(item)
                    break
                except anyio.get_cancelled_exc_class():
                    cancelled += 1
                    raise
        return out, cancelled

    def joined(out):
        return [(d.text, d.ids) for d in out] if kind == "deltas" else out

    counter = Points()
    whole, cancelled = await run(counter)
    assert cancelled == 0
    assert counter.passed > len(items)
    for at in range(1, counter.passed + 1):
        out, cancelled = await run(Points(at))
        assert cancelled == 1
        assert joined(out) == joined(whole)


async def test_cancellation_is_not_swallowed_by_waiting_source(tok):
    send, receive = anyio.create_memory_object_stream(0)
    async with send, streams.encode(receive, tok) as stream:
        for chunk in ("ab", "cd", "ef"):
            with anyio.CancelScope() as scope:
                scope.cancel()
                await stream.receive()
            assert scope.cancelled_caught
            async with anyio.create_task_group() as group:
                group.start_soon(send.send, chunk)
                with anyio.move_on_after(0.05):
                    last = await stream.receive()
        assert last == tok.encode("def")


async def test_break_out_of_iteration_keeps_the_rest(tok):
    items = ["abc", "def", "ghi"]
    async with streams.encode(Script(items), tok) as stream:
        async for ids in stream:
            assert ids == tok.encode("abc")
            break
        assert flat(await collect(stream)) == tok.encode("defghi")


# Closing


async def test_use_after_aclose_raises(tok):
    source = Script(["abc"])
    stream = streams.encode(source, tok)
    await stream.aclose()
    await stream.aclose()
    assert source.closed == 1
    with pytest.raises(anyio.ClosedResourceError):
        await stream.receive()
    with pytest.raises(anyio.ClosedResourceError):
        async for _ in stream:
            pass


async def test_leaving_the_block_by_an_error_closes_the_source(tok):
    source = Script(["abc"])
    with pytest.raises(KeyError):
        async with streams.encode(source, tok):
            raise KeyError
    assert source.closed == 1


async def test_aclose_from_another_task_reaches_the_source_that_is_waited_for(tok):
    stream = streams.encode(Waiting(), tok)
    raised = []

    async def consume():
        try:
            await stream.receive()
        except anyio.ClosedResourceError as error:
            raised.append(error)

    async with anyio.create_task_group() as group:
        group.start_soon(consume)
        await anyio.wait_all_tasks_blocked()
        await stream.aclose()
    assert len(raised) == 1


async def test_aclose_while_generator_runs_is_done_when_it_yields(tok):
    gate, closed = anyio.Event(), []

    async def generate():
        try:
            await gate.wait()
            yield "abc"
        finally:
            closed.append(True)

    stream = streams.encode(generate(), tok)
    raised = []

    async def consume():
        try:
            await stream.receive()
        except anyio.ClosedResourceError as error:
            raised.append(error)

    async with anyio.create_task_group() as group:
        group.start_soon(consume)
        await anyio.wait_all_tasks_blocked()
        await stream.aclose()
        assert not closed
        gate.set()
    assert closed and len(raised) == 1


async def test_aclose_reaches_a_suspended_generator_through_nested_streams(tok):
    closed = []

    async def generate():
        try:
            yield {"choices": [{"delta": {"content": "abc"}}]}
            yield {"choices": [{"delta": {"content": "def"}}]}
        finally:
            closed.append(True)

    async with streams.decode(streams.encode(streams.text_deltas(generate()), tok), tok) as stream:
        assert await stream.receive() == "abc"
        assert not closed
    assert closed


async def test_aclose_awaits_the_close_of_client_library_streams(tok):
    class ClientStream:
        closed = False

        async def __aiter__(self):
            yield "abc"
            yield "def"

        async def close(self):
            self.closed = True

    source = ClientStream()
    async with streams.encode(source, tok) as stream:
        assert await stream.receive() == tok.encode("abc")
    assert source.closed


async def test_aclose_closes_plain_generator_but_no_plain_file(tok, tmp_path):
    ended = []

    def generate():
        try:
            yield "abc"
        finally:
            ended.append(True)

    stream = streams.encode(generate(), tok)
    assert await stream.receive() == tok.encode("abc")
    await stream.aclose()
    assert ended
    path = tmp_path / "lines.txt"
    path.write_text("abc\nde\n")
    with path.open() as file:
        async with streams.encode(file, tok) as stream:
            assert flat(await collect(stream)) == tok.encode("abc\nde\n")
        assert not file.closed


async def test_second_receive_at_once_raises_busy_and_harms_nothing(tok):
    send, receive = anyio.create_memory_object_stream(0)
    async with send, streams.encode(receive, tok) as stream:
        async with anyio.create_task_group() as group:
            got = []

            async def consume():
                got.append(await stream.receive())

            group.start_soon(consume)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(anyio.BusyResourceError):
                await stream.receive()
            await send.send("abc")
        assert got == [tok.encode("abc")]


# The event loop


@pytest.mark.parametrize("kind", ["encode", "count"])
@pytest.mark.parametrize("text", ["a" * 1_000_000, "你" * 300_000, b"a" * 1_000_000], ids=["ascii", "cjk", "bytes"])
async def test_long_chunk_is_fed_in_slices_with_a_turn_before_each(tok, kind, text, monkeypatch):
    points = Points()
    monkeypatch.setattr(_receive, "checkpoint", points)
    out = await collect(getattr(streams, kind)([text], tok))
    assert (flat(out) if kind == "encode" else out) == (tok.encode(text) if kind == "encode" else [tok.count(text)])
    unit = 3 if "你" in str(text[:1]) else 1
    slices = [size for size in tok.calls if size]
    assert sum(slices) == len(text)
    assert max(slices) * unit <= _feed.LARGEST_SLICE
    assert len(slices) <= points.passed <= len(slices) + 1


class Clock:
    """Each look at the clock is `step` ns after the one before."""

    def __init__(self, step):
        self.step = step
        self.now = 0

    def __call__(self):
        self.now += self.step
        return self.now


@pytest.mark.parametrize(
    "step, last",
    [(_feed.SLOW_NS + 1, _feed.SMALLEST_SLICE), (0, _feed.LARGEST_SLICE), (_feed.QUICK_NS, _feed.FIRST_SLICE)],
    ids=["slow", "quick", "right"],
)
async def test_slices_shrink_when_slow_and_grow_when_quick(tok, step, last, monkeypatch):
    monkeypatch.setattr(_feed, "perf_counter_ns", Clock(step))
    text = "a" * 500_000
    assert flat(await collect(streams.encode([text, text], tok))) == tok.encode(text + text)
    assert tok.calls[0] == _feed.FIRST_SLICE
    assert tok.calls[len(tok.calls) // 2 + 1] == last


async def test_small_chunks_give_a_turn_when_their_time_is_used_up(tok, monkeypatch):
    monkeypatch.setattr(_feed, "perf_counter_ns", Clock(_feed.TURN_NS // 10))
    points = Points()
    monkeypatch.setattr(_receive, "checkpoint", points)
    await collect(streams.encode(["ab"] * 1000, tok))
    assert 90 <= points.passed <= 110


async def test_long_list_of_ids_is_fed_in_slices(tok, monkeypatch):
    points = Points()
    monkeypatch.setattr(_receive, "checkpoint", points)
    ids = tok.encode("abc" * 100_000)
    assert "".join(await collect(streams.decode([ids], tok))) == "abc" * 100_000
    assert max(tok.calls) <= _feed.SLICE_IDS
    assert points.passed >= len(ids) // _feed.SLICE_IDS


@pytest.mark.parametrize("items", [[b""], ["x"], [""]], ids=["nothing", "one", "empty"])
async def test_source_that_never_waits_still_gives_turns(tok, items, monkeypatch):
    points = Points()
    monkeypatch.setattr(_receive, "checkpoint", points)
    await collect(streams.encode(items * 5000, tok))
    assert points.passed >= 5000 * _feed.ITEM_NS // _feed.TURN_NS


async def test_buffers_are_copied_before_the_source_can_reuse_them(tok):
    buffer = bytearray(b"a" * (3 * _feed.LARGEST_SLICE))
    stream = streams.encode(Script([buffer]), tok)
    first = await stream.receive()
    buffer[:] = b"b" * len(buffer)
    assert flat([first, *await collect(stream)]) == tok.encode("a" * (3 * _feed.LARGEST_SLICE))


# The count


async def test_count_stream_shows_limit_and_final_count(tok):
    async with streams.count(Script(["abcd", "efg"]), tok, limit=2) as stream:
        assert (stream.count, stream.stable, stream.left) == (0, 0, 2)
        assert await stream.receive() == 2
        assert (stream.count, stream.stable, stream.left) == (2, 1, 0)
        assert await stream.receive() == 3
        assert stream.left == -1
        with pytest.raises(anyio.EndOfStream):
            await stream.receive()
        assert (stream.count, stream.stable) == (3, 3)


# Pipelines


async def test_pipeline_of_memory_streams_keeps_order_under_back_pressure(tok):
    text_in, text_out = anyio.create_memory_object_stream(1)
    ids_in, ids_out = anyio.create_memory_object_stream(1)
    words = [f"word {i} é " for i in range(200)]

    async def write():
        async with text_in:
            for word in words:
                await text_in.send(word)
                assert text_out.statistics().current_buffer_used <= 1

    async def encode():
        async with streams.encode(text_out, tok) as ids, ids_in:
            async for some in ids:
                await ids_in.send(some)

    async with anyio.create_task_group() as group:
        group.start_soon(write)
        group.start_soon(encode)
        async with streams.decode(ids_out, tok) as pieces:
            assert "".join(await collect(pieces)) == "".join(words)


async def test_extra_attributes_are_those_of_the_source(tok):
    class Labelled(Script):
        extra_attributes = MappingProxyType({"peer": lambda: "p"})

    assert streams.encode(Labelled([]), tok).extra_attributes == Labelled.extra_attributes
    assert streams.encode([], tok).extra_attributes == {}
