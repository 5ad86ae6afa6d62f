"""Streams over a real vocabulary: for every cut, what comes out joined is what the whole input gives."""

import itertools
import sys
import threading

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctok
from ctok import streams
from ctok._native.ids import Ids
from ctok.errors import DisallowedSpecialTokenError, EncodeError, UnknownIdError
from ctok.streams import _feed, _receive
from streams_standin import Points, Script, Sink, flat

TEXT = "I don't  think so:\r\n\r\n  Größe 你好世界 😀👩‍👩‍👧 1234567 <|endoftext|>中B x\n" * 3


@pytest.fixture(scope="module")
def tok():
    return ctok.load("o200k_base")


async def collect(stream):
    return [item async for item in stream]


def cut(whole, places):
    borders = [0, *sorted(place % (len(whole) + 1) for place in places), len(whole)]
    return [whole[a:b] for a, b in itertools.pairwise(borders)]


texts = st.text(st.sampled_from(list("aA 'sld.\n\r\t1中é😀<|endoftext|>")), max_size=60) | st.text(max_size=40)
places = st.lists(st.integers(0, 200), max_size=8)


@given(text=texts, places=places, special=st.booleans())
def test_encode_and_count_of_any_cut_are_those_of_the_whole(tok, text, places, special):
    options = {"allowed_special": "all"} if special else {}

    async def run():
        for whole in (text, text.encode()):
            chunks = cut(whole, places)
            assert flat(await collect(streams.encode(chunks, tok, **options))) == tok.encode(text, **options)
            counts = await collect(streams.count(chunks, tok, **options))
            assert counts[-1] == tok.count(text, **options)
            assert len(counts) == len(chunks)

    anyio.run(run)


@given(text=texts, places=places)
def test_decode_of_any_cut_is_that_of_the_whole(tok, text, places):
    ids = tok.encode(text)

    async def run():
        for source in (ids, cut(ids, places)):
            assert "".join(await collect(streams.decode(source, tok))) == text
            deltas = await collect(streams.decode_deltas(source, tok))
            assert "".join(delta.text for delta in deltas) == text
            assert flat(delta.ids for delta in deltas) == ids

    anyio.run(run)


@pytest.mark.anyio
async def test_surrogate_pair_split_by_chunks_is_joined(tok):
    halves = ["a\ud83d", "\ude00b"]
    assert flat(await collect(streams.encode(halves, tok))) == tok.encode("a😀b")
    with pytest.raises(EncodeError):
        await collect(streams.encode(halves[:1], tok))


@pytest.mark.anyio
async def test_counts_of_split_words_are_not_sums_of_parts(tok):
    assert (await collect(streams.count(["Hel", "lo", " world"], tok)))[-1] == 2


@pytest.mark.anyio
@pytest.mark.parametrize("size", [1, 3, 1000])
async def test_stop_string_is_found_across_ids_and_chunks(tok, size):
    ids = tok.encode("The end.</s> And more")
    source = Script([ids[i : i + size] for i in range(0, len(ids), size)])
    async with streams.decode(source, tok, stop=["</s>"]) as stream:
        assert "".join(await collect(stream)) == "The end."
        assert stream.finish_reason == "stop"


@pytest.mark.anyio
async def test_partial_stop_at_the_end_is_given_out(tok):
    stream = streams.decode(Script(tok.encode("a </")), tok, stop=["</s>"])
    assert "".join(await collect(stream)) == "a </"
    assert stream.finish_reason == "end"


@pytest.mark.anyio
async def test_unknown_id_names_itself_and_stream_goes_on(tok):
    stream = streams.decode(Script([*tok.encode("ab"), 4_000_000, *tok.encode(" cd")]), tok)
    out = []
    with pytest.raises(UnknownIdError) as caught:
        async for piece in stream:
            out.append(piece)
    assert caught.value.id == 4_000_000
    out += await collect(stream)
    assert "".join(out) == "ab cd"


@pytest.mark.anyio
async def test_saved_state_goes_on_in_another_stream(tok):
    half = len(TEXT) // 2
    first = streams.encode(Script([TEXT[:half]]), tok)
    ids = await first.receive()
    encoder = tok.encoder()
    encoder.setstate(first.codec.getstate())
    ids += flat(await collect(streams.encode([TEXT[half:]], encoder)))
    assert ids == tok.encode(TEXT)


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["encode", "decode", "count"])
async def test_cancellation_at_any_await_loses_nothing(tok, kind, monkeypatch):
    whole = tok.encode(TEXT) if kind == "decode" else TEXT.encode()
    monkeypatch.setattr(_feed, "perf_counter_ns", lambda: 0)
    items = [whole[i : i + 5] for i in range(0, len(whole), 5)]

    async def run(points):
        monkeypatch.setattr(_receive, "checkpoint", points)
        stream = getattr(streams, kind)(Script(items, points), tok)
        out = []
        for _ in range(2):
            with anyio.CancelScope() as points.scope:
                async for item in stream:
                    out.append(item)
        return out

    counter = Points()
    complete = await run(counter)
    for at in range(1, counter.passed + 1, 3):
        assert await run(Points(at)) == complete


@pytest.mark.anyio
@pytest.mark.parametrize("text", ["a" * 30_000, " " * 30_000, "^" * 30_000, "你" * 10_000], ids=["a", "spaces", "carets", "cjk"])
async def test_one_giant_pretoken_flows_through(tok, text):
    expected = tok.encode(text)
    ids = await collect(streams.encode([text], tok))
    assert flat(ids) == expected
    assert len(ids) > 1
    assert await collect(streams.count([text], tok)) == [len(expected)]
    assert "".join(await collect(streams.decode([expected], tok))) == text


@pytest.mark.anyio
@pytest.mark.parametrize("size", [0, 10, 8192, 8193, 100_000, 1_000_000])
async def test_whole_texts_give_the_same_ids_as_at_once(tok, size):
    text = (TEXT * (size // len(TEXT) + 1))[:size]
    for whole in (text, text.encode()):
        ids = await streams.encode_text(whole, tok)
        assert type(ids) is Ids
        assert ids.tolist() == tok.encode(text)
        assert await streams.count_text(whole, tok) == len(ids)


@pytest.mark.anyio
async def test_options_reach_whole_texts_of_any_size(tok):
    for text in ("a<|endoftext|>", "a<|endoftext|>" * 5000):
        assert list(await streams.encode_text(text, tok, allowed_special="all")) == tok.encode(text, allowed_special="all")
        assert await streams.count_text(text, tok, allowed_special="all") == tok.count(text, allowed_special="all")
        with pytest.raises(DisallowedSpecialTokenError):
            await streams.encode_text(text, tok, disallowed_special="all")


@pytest.mark.anyio
async def test_k8_10_event_loop_ticks_while_a_megabyte_is_encoded(tok):
    ticks, done = 0, False

    async def heart():
        nonlocal ticks
        while not done:
            ticks += 1
            await anyio.sleep(0)

    async with anyio.create_task_group() as group:
        group.start_soon(heart)
        await streams.encode_text(TEXT * 10_000, tok)
        during_whole, ticks = ticks, 0
        await collect(streams.encode([TEXT * 5000], tok))
        done = True
    assert during_whole > 5
    assert ticks >= len(TEXT) * 5000 // _feed.LARGEST_SLICE


@pytest.mark.anyio
async def test_cancelled_whole_text_leaves_no_thread_at_work(tok):
    text = TEXT * 100_000
    with anyio.move_on_after(0.02) as scope:
        await streams.encode_text(text, tok)
    assert scope.cancelled_caught
    with anyio.fail_after(10):
        while any("_encode" in name for name in running_functions()):
            await anyio.sleep(0.001)


def running_functions():
    me = threading.get_ident()
    names = []
    for thread, frame in sys._current_frames().items():
        while thread != me and frame is not None:
            names.append(frame.f_code.co_name)
            frame = frame.f_back
    return names


@pytest.mark.anyio
async def test_many_streams_share_one_tokenizer(tok):
    ids, out = tok.encode(TEXT), {}

    async def one(number):
        out[number] = "".join(await collect(streams.decode(Script(ids), tok)))

    async with anyio.create_task_group() as group:
        for number in range(50):
            group.start_soon(one, number)
    assert set(out.values()) == {TEXT}


@pytest.mark.anyio
async def test_send_streams_round_trip(tok):
    texts = Sink()
    async with streams.EncodeSendStream(streams.DecodeSendStream(texts, tok), tok) as stream:
        for character in TEXT:
            await stream.send(character)
    assert "".join(texts.items) == TEXT
    assert texts.closed == 1
