"""The `async_*` methods of `ctok.compat.tokenizers`: on asyncio and trio, cancelled, beside a beating heart."""

import threading
import time

import anyio
import pytest

import ctok.compat.tokenizers as tokenizers
from ctok.compat.tokenizers import _later
from ctok.compat.tokenizers import models as M
from ctok.compat.tokenizers import pre_tokenizers as P
from ctok.compat.tokenizers import processors as O

pytestmark = pytest.mark.anyio

LETTERS = "abcdefgh"
LONG = "ab cd efgh ab " * 4_000


@pytest.fixture
def tok():
    vocab = {letter: number for number, letter in enumerate(LETTERS)} | {"ab": 8, "cd": 9, "abcd": 10, "[C]": 11, "[S]": 12}
    made = tokenizers.Tokenizer(M.BPE(vocab, [("a", "b"), ("c", "d"), ("ab", "cd")]))
    made.pre_tokenizer = P.Whitespace()
    made.post_processor = O.TemplateProcessing(
        single="[C] $A [S]", pair="[C] $A [S] $B:1 [S]:1", special_tokens=[("[C]", 11), ("[S]", 12)]
    )
    return made


def state(encodings):
    return [encoding.__getstate__() for encoding in encodings]


async def test_encode_gives_what_the_plain_call_gives(tok):
    for text, pair in (("ab cd", None), ("ab", "cd ef"), (LONG, None), ("ab", LONG), ("", None)):
        tok.enable_truncation(1000)
        tok.enable_padding(length=40)
        assert (await tok.async_encode(text, pair)).__getstate__() == tok.encode(text, pair).__getstate__()
    assert (await tok.async_encode(["ab", "cd"], is_pretokenized=True)).ids == tok.encode(["ab", "cd"], is_pretokenized=True).ids
    tok.no_padding()
    assert (await tok.async_encode("ab", add_special_tokens=False)).ids == [8]


async def test_batches_give_what_the_plain_calls_give(tok):
    tok.enable_padding(pad_to_multiple_of=4)
    texts = ["ab cd", ("ab", "cd ef"), "", LONG]
    assert state(await tok.async_encode_batch(texts)) == state(tok.encode_batch(texts))
    assert state(await tok.async_encode_batch_fast(texts)) == state(tok.encode_batch_fast(texts))
    words = [["ab", "cd"], (["ab"], ["cd"])]
    assert state(await tok.async_encode_batch(words, is_pretokenized=True)) == state(tok.encode_batch(words, is_pretokenized=True))
    ids = [[8, 9], [10], [99, 8]]
    assert await tok.async_decode_batch(ids) == tok.decode_batch(ids)


async def test_errors_come_out(tok):
    with pytest.raises(TypeError, match="TextInputSequence must be str"):
        await tok.async_encode("a\ud800")
    with pytest.raises(TypeError, match="TextEncodeInput"):
        await tok.async_encode_batch(["a", None])
    with pytest.raises(OverflowError):
        await tok.async_decode_batch([[8], [-1]])


async def test_settings_are_those_of_the_call(tok):
    async with anyio.create_task_group() as tasks:
        found, began = [], anyio.Event()

        async def encode():
            began.set()
            found.append(await tok.async_encode_batch([LONG, "ab"]))

        tasks.start_soon(encode)
        await began.wait()
        tok.enable_truncation(5)
        tok.pre_tokenizer = P.WhitespaceSplit()
    assert len(found[0][0]) > 1000


@pytest.mark.parametrize("work", ["async_encode", "async_encode_batch", "async_decode_batch"])
async def test_cancelled_work_stops(tok, work):
    ended = threading.Event()
    texts = [LONG * 20] * 40
    given = {"async_encode": LONG * 800, "async_encode_batch": texts, "async_decode_batch": [[8, 9] * 200_000] * 100}[work]
    before = threading.active_count()
    with anyio.move_on_after(0.05) as scope:
        await getattr(tok, work)(given)
        ended.set()
    if ended.is_set():
        pytest.skip("done before it was cancelled")
    assert scope.cancelled_caught
    began = time.process_time()
    await anyio.sleep(0.2)
    assert time.process_time() - began < 0.15  # nobody computes any more
    assert threading.active_count() <= before + 2


async def test_k8_10_the_event_loop_goes_on_while_a_large_text_is_encoded(tok):
    beats, seen = 0, []

    async def beat():
        nonlocal beats
        while True:
            await anyio.sleep(0.001)
            beats += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(beat)
        await anyio.sleep(0.01)
        for _ in range(3):
            before = beats
            await tok.async_encode(LONG * 400)
            seen.append(beats - before)
        tasks.cancel_scope.cancel()
    assert min(seen) > 2, seen


def test_a_slice_is_small():
    assert _later.SLICE <= 1 << 16
