"""How long ctok.streams holds up an event loop, how fast it lets go, and what a stream costs an id.

    python benchmarks/bench_streams.py [MEGABYTES]

A heart beats as fast as the loop allows. The longest time between two beats is the stall; how much of it was processor time of the
loop's own thread says what was done there, also on a busy machine, where the stalls of the loop alone are the floor.
"""

import gc
import itertools
import sys
import time

import anyio

import ctok
from ctok import streams

LINE = "The quick brown fox doesn't jump over 1234 lazy dogs; größer, 你好世界 😀\n"


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


async def main(megabytes):
    tok = ctok.load("o200k_base")
    text = LINE * (megabytes * 1_000_000 // len(LINE.encode()))
    giant = "a" * (megabytes * 1_000_000)
    ids = tok.encode(text[:1_000_000])
    works = {
        "loop alone": lambda: anyio.sleep(0.3),
        "encode_text": lambda: streams.encode_text(text, tok),
        "encode_text, one pretoken": lambda: streams.encode_text(giant, tok),
        "count_text": lambda: streams.count_text(text, tok),
        "encode, one chunk": lambda: consume(streams.encode([text], tok)),
        "encode, one pretoken": lambda: consume(streams.encode([giant], tok)),
        "count, one chunk": lambda: consume(streams.count([text], tok)),
        "decode, one list": lambda: consume(streams.decode([ids], tok)),
    }
    print(f"{'work':28}{'seconds':>10}{'stall ms':>10}{'p99 ms':>10}{'own ms':>10}{'p99 ms':>10}")
    for name, work in works.items():
        print(f"{name:28}" + "".join(f"{number:10.3f}" for number in await stall(work)))
    print(f"processor time after a cancelled encode_text: {await cancel_latency(text * 4, tok):.1f} ms")
    bare, streamed = await cost_an_id(ids[:200_000], tok)
    print(f"one id a receive: {streamed:.0f} ns, of which the source {bare:.0f} ns")


if __name__ == "__main__":
    for backend in ("asyncio", "trio"):
        print(backend)
        anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else 4, backend=backend)
