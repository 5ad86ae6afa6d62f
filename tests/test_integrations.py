"""The part of `ctok.integrations` that needs no other library."""

import threading

import pytest

import ctok
from ctok.integrations.transformers import CtokStreamer, unwrap, wrap

np = pytest.importorskip("numpy", reason="generate puts arrays")
TEXT = " naïve  café\n\n東京 is in 日本, x=1234567 👩‍👩‍👧 e\u0301"


def put_all(streamer, ids, step=1):
    for at in range(0, len(ids), step):
        streamer.put(np.array(ids[at : at + step]))
    streamer.end()


@pytest.mark.parametrize("thing", [None, "gpt2", object()])
def test_wrap_of_what_is_no_fast_tokenizer_is_a_type_error(thing):
    for call in (wrap, unwrap, CtokStreamer):
        with pytest.raises(TypeError, match="fast tokenizer"):
            call(thing)


def test_import_of_the_room_loads_no_other_library(run_python):
    program = "import sys, ctok.integrations.transformers; print(*sys.modules)"
    loaded = set(run_python(program).split())
    assert not loaded & {"transformers", "tokenizers", "torch", "numpy", "anyio"}


def test_ctok_streamer_takes_a_ctok_tokenizer_and_ends_inside_a_character():
    tokenizer = ctok.load("o200k_base")
    ids = tokenizer.encode("a🫠")
    assert len(ids) > 2
    streamer = CtokStreamer(tokenizer)
    put_all(streamer, ids[:-1])
    assert list(streamer) == ["a", "\ufffd"]


def test_ctok_streamer_gives_texts_to_an_override():
    class Kept(CtokStreamer):
        def on_finalized_text(self, text, stream_end=False):
            kept.append((text, stream_end))

    kept = []
    put_all(Kept(ctok.load("o200k_base")), ctok.load("o200k_base").encode("hello world"))
    assert kept == [("hello", False), (" world", False), ("", True)]


def test_ctok_streamer_times_out():
    streamer = CtokStreamer(ctok.load("o200k_base"), timeout=0.01)
    with pytest.raises(TimeoutError):
        next(streamer)


def test_ctok_streamer_gives_texts_to_another_thread():
    tokenizer = ctok.load("o200k_base")
    streamer = CtokStreamer(tokenizer, timeout=30)
    worker = threading.Thread(target=put_all, args=(streamer, tokenizer.encode(TEXT)))
    worker.start()
    assert "".join(streamer) == TEXT
    worker.join()


@pytest.mark.anyio
async def test_ctok_streamer_gives_texts_to_a_task(anyio_backend):
    import anyio

    tokenizer = ctok.load("o200k_base")
    streamer = CtokStreamer(tokenizer, timeout=30)
    given = []
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.to_thread.run_sync, put_all, streamer, tokenizer.encode(TEXT * 5))
        async for text in streamer:
            given.append(text)
    assert "".join(given) == TEXT * 5
    with pytest.raises(TimeoutError):
        await anext(aiter(CtokStreamer(tokenizer, timeout=0.01)))
