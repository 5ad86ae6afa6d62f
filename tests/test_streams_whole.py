"""Whole texts off the event loop: where they run, what they return, when they stop. On asyncio and trio."""

import threading
import time

import anyio
import pytest

from ctok import streams
from ctok.streams import _whole
from streams_standin import ToyTokenizer

pytestmark = pytest.mark.anyio

TEXTS = {"small": "héllo", "ascii": "a" * 100_000, "cjk": "你好" * 20_000, "bytes": "é".encode() * 20_000, "empty": ""}


class Recording(ToyTokenizer):
    """Says which threads its codecs ran in; ``gate`` holds each slice up."""

    def __init__(self, gate=None):
        super().__init__()
        self.gate = gate
        self.threads = set()

    def encoder(self):
        return self._watch(super().encoder(), "encode")

    def counter(self):
        return self._watch(super().counter(), "encode")

    def _watch(self, codec, name):
        plain = getattr(codec, name)

        def watched(chunk, final=False):
            self.threads.add(threading.get_ident())
            if self.gate is not None:
                self.gate(len(self.calls))
            return plain(chunk, final)

        setattr(codec, name, watched)
        return codec


@pytest.mark.parametrize("name", TEXTS)
async def test_encode_text_gives_all_ids(name):
    tok = Recording()
    ids = await streams.encode_text(TEXTS[name], tok)
    assert list(ids) == tok.encode(TEXTS[name])
    assert await streams.count_text(TEXTS[name], tok) == len(ids)


async def test_large_text_runs_in_another_thread_in_slices():
    tok = Recording()
    await streams.encode_text(TEXTS["ascii"], tok)
    assert len(tok.threads) == 1
    assert threading.get_ident() not in tok.threads
    assert max(tok.calls) <= _whole.WORKER_SLICE_BYTES


async def test_small_text_runs_at_once():
    tok = Recording()
    await streams.encode_text("abc", tok)
    await streams.count_text("abc", tok)
    assert not tok.threads


async def test_buffers_are_taken_and_other_types_refused():
    tok = Recording()
    assert list(await streams.encode_text(bytearray(b"a" * 100_000), tok)) == tok.encode("a" * 100_000)
    assert await streams.count_text(memoryview(b"abcd"), tok) == 2
    with pytest.raises(TypeError, match="not list"):
        await streams.encode_text([b"a"], tok)


async def test_errors_come_out_of_the_thread():
    with pytest.raises(ValueError, match="refused"):
        await streams.encode_text(TEXTS["ascii"] + "!", Recording())
    with pytest.raises(TypeError):
        await streams.encode_text(TEXTS["ascii"], Recording(), no_such_option=1)


@pytest.mark.parametrize("work", [streams.encode_text, streams.count_text])
async def test_cancelled_work_stops_within_a_slice(work):
    started, go_on = threading.Event(), threading.Event()

    def gate(number):
        if number == 2:
            started.set()
            go_on.wait(10)

    tok = Recording(gate)
    async with anyio.create_task_group() as group:
        group.start_soon(work, TEXTS["ascii"] * 10, tok)
        while not started.is_set():
            await anyio.sleep(0.001)
        group.cancel_scope.cancel()
    # The call has returned while the thread still is in its third slice; that one it finishes, and no other.
    assert len(tok.calls) == 2
    go_on.set()
    with anyio.fail_after(10):
        while len(tok.calls) < 3:
            await anyio.sleep(0.001)
    await anyio.sleep(0.03)
    assert len(tok.calls) == 3


async def test_cancelled_before_the_start_does_no_work():
    tok = Recording()
    with anyio.CancelScope() as scope:
        scope.cancel()
        await streams.encode_text(TEXTS["ascii"], tok)
    assert scope.cancelled_caught
    assert not tok.calls


async def test_event_loop_runs_while_a_large_text_is_encoded():
    ticks = 0
    done = False

    async def tick():
        nonlocal ticks
        while not done:
            ticks += 1
            await anyio.sleep(0)

    arrived = threading.Event()

    def gate(number):
        if number == 1:
            arrived.set()
            while ticks < 100:
                time.sleep(0.001)

    async with anyio.create_task_group() as group:
        group.start_soon(tick)
        with anyio.fail_after(20):
            await streams.encode_text(TEXTS["ascii"], Recording(gate))
        done = True
    assert arrived.is_set()
    assert ticks >= 100
