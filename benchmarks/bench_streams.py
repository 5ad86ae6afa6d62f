"""How long ctok.streams holds up an event loop, how fast it lets go, and what a stream costs an id.

    python -m benchmarks.bench_streams [MEGABYTES]

A heart beats as fast as the loop allows. The longest time between two beats is the stall; how much of it was processor time of the
loop's own thread says what was done there, also on a busy machine, where the stalls of the loop alone are the floor.
"""

import gc
import importlib.util
import itertools
import os
import sys
import time

import anyio

import ctok
from ctok import streams

from .rows import Row

LINE = "The quick brown fox doesn't jump over 1234 lazy dogs; größer, 你好世界 😀\n"
BACKENDS = tuple(name for name in ("asyncio", "trio") if importlib.util.find_spec(name))


async def stall(work):
    """Return (seconds of work; in ms: longest gap between beats, its 99th percentile, and the same of processor time)."""
    beats, done = [], False

    async def heart():
        while not done:
            beats.append((time.perf_counter(), time.thread_time()))
            await anyio.sleep(0)

    async with anyio.create_task_group() as group:
        group.start_soon(heart)
        await anyio.sleep(0.01)
        beats.clear()
        gc.disable()        # or collecting the beats would be the longest stall
        start = time.perf_counter()
        await work()
        seconds = time.perf_counter() - start
        done = True
        gc.enable()
    numbers = []
    for clock in (0, 1):
        gaps = sorted((after[clock] - before[clock]) * 1000 for before, after in itertools.pairwise(beats))
        numbers += [gaps[-1], gaps[len(gaps) * 99 // 100]]
    return seconds, *numbers


async def consume(stream):
    async for _ in stream:
        pass


async def cancel_latency(text, tok):
    """Milliseconds of processor time used in the 200 ms after a cancelled `encode_text`."""
    with anyio.move_on_after(0.05):
        await streams.encode_text(text, tok)
    before = time.process_time()
    await anyio.sleep(0.2)
    return (time.process_time() - before) * 1000


async def arriving(ids):
    for token_id in ids:
        yield token_id


async def cost_an_id(ids, tok):
    start = time.perf_counter()
    async for _ in arriving(ids):
        pass
    bare = time.perf_counter() - start
    start = time.perf_counter()
    await consume(streams.decode(arriving(ids), tok))
    return bare / len(ids) * 1e9, (time.perf_counter() - start) / len(ids) * 1e9


def works(tok, megabytes):
    """name -> what is awaited while the heart beats."""
    text = LINE * max(1, int(megabytes * 1_000_000) // len(LINE.encode()))
    giant = "a" * int(megabytes * 1_000_000)
    ids = tok.encode(text[:1_000_000])
    return {
        "loop alone": lambda: anyio.sleep(0.3),
        "encode_text": lambda: streams.encode_text(text, tok),
        "encode_text, one pretoken": lambda: streams.encode_text(giant, tok),
        "count_text": lambda: streams.count_text(text, tok),
        "encode, one chunk": lambda: consume(streams.encode([text], tok)),
        "encode, one pretoken": lambda: consume(streams.encode([giant], tok)),
        "count, one chunk": lambda: consume(streams.count([text], tok)),
        "decode, one list": lambda: consume(streams.decode([ids], tok)),
    }


async def rows(encoding, backend, megabytes, show):
    """Every measure of one event loop, as rows."""
    tok = ctok.load(encoding)
    out = []

    def add(label, unit, wall, cpu, note=""):
        row = Row("event loop", encoding, backend, label, unit, note)
        row.wall, row.cpu, row.pairs = wall, cpu, 1
        show(row)
        out.append(row)

    for name, work in works(tok, megabytes).items():
        seconds, longest, usual, own, usual_own = await stall(work)
        add(name, "ms of stall", longest, own, f"99 of 100 below {usual:.3f} ms, cpu {usual_own:.3f} ms; {seconds:.2f} s in all")
    late = await cancel_latency(LINE * (int(megabytes * 4_000_000) // len(LINE.encode()) + 1), tok)
    add("work after cancelling encode_text", "ms", None, late)
    bare, streamed = await cost_an_id(tok.encode(LINE * 5000)[:200_000], tok)
    add("one id a receive", "ns", streamed, None, f"of which the source takes {bare:.0f}")
    return out


def event_loop(bench, encoding):
    """The same as a measure of `benchmarks.run`."""
    os.environ.setdefault("CTOK_VOCAB_DIR", bench.setup.folder)
    for backend in BACKENDS:
        yield from anyio.run(rows, encoding, backend, bench.stream_megabytes, bench.show, backend=backend)


if __name__ == "__main__":
    from .run import show

    for name in BACKENDS:
        anyio.run(rows, "o200k_base", name, float(sys.argv[1]) if len(sys.argv) > 1 else 4, show, backend=name)
