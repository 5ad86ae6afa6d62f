"""Time of a call: encode, count, decode, and the streams."""

import os

from .client import Worker
from .race import Contestant, Race, ratios
from .rows import Row
from .texts import KINDS

HELLO = "hello world"
LINE = "The quick brown fox doesn't jump over 1234 lazy dogs; it walks around them, rather slowly."


def rows_of(measure, bench, encoding, name, results, scale, warm_up=0, base=None):
    """Rows of a finished race. `scale` is a unit, and a function that turns nanoseconds of a call into it."""
    base = base or results[0]
    for result in results:
        row = Row(measure, encoding, name, result.label)
        if result.refused:
            row.note = result.refused.replace("MissingError: ", "has none: ")
        elif result.answers:
            row.unit = scale[0]
            row.wall, row.cpu = (scale[1](max(result.median(clock, warm_up), 1)) for clock in ("wall", "cpu"))
            row.ratio = ratios(base, result, "wall", warm_up)
            row.cpu_ratio = ratios(base, result, "cpu", warm_up)
            row.pairs = len(result.answers) - warm_up
            if results[0].refused:
                row.note = "not compared: the reference failed"
        bench.show(row)
        yield row


def rate(paths):
    """Megabytes of UTF-8 a second, by the slices' mean size."""
    size = sum(map(os.path.getsize, paths)) / len(paths)
    return "MB/s", lambda nanoseconds: size / nanoseconds * 1000


def each(items, unit="ns", nanoseconds_a_unit=1):
    return unit, lambda nanoseconds: nanoseconds / items / nanoseconds_a_unit


def encode(bench, encoding):
    """One large str -> list of ids, text not seen before: a fresh process for every slice."""
    for kind in KINDS:
        paths = bench.slices(kind)
        contestants = [Contestant(engine, "encode") for engine in bench.engines]
        results = Race(bench.setup, encoding, contestants, fresh=True).run(paths)
        yield from rows_of("encode a large text -> list", bench, encoding, kind, results, rate(paths))


def short_calls(bench, encoding):
    """Very short texts, over and over in one process: what a call costs."""
    for name, text in (("hello world", HELLO), ("90 characters", LINE)):
        path = bench.texts.save(name.replace(" ", "-") + ".txt", text)
        contestants = [Contestant(engine, "encode") for engine in bench.engines]
        times = bench.short_times
        results = Race(bench.setup, encoding, contestants).run([path] * (bench.rounds + 1), times=times)
        yield from rows_of("encode a short text -> list", bench, encoding, name, results, each(times), 1)


def count(bench, encoding):
    """Number of ids without the ids, text not seen before; beside it own encode into a buffer."""
    for kind in KINDS:
        paths = bench.slices(kind)
        contestants = [Contestant(bench.engines[0], "encode", f"{bench.engines[0]} encode")]
        contestants += [Contestant("ctok", "ids", "ctok encode_ids"), Contestant("ctok", "count", "ctok count")]
        contestants += [Contestant(engine, "count", engine + " count") for engine in bench.having("toktok", "quicktok", "tuetoken")]
        results = Race(bench.setup, encoding, contestants, fresh=True).run(paths)
        yield from rows_of("count", bench, encoding, kind, results, rate(paths))


def ids_of(bench, encoding, paths):
    """Files with the reference's ids of each text, beside the texts."""
    saved = [f"{path}.{encoding}.ids" for path in paths]
    with Worker(bench.setup, bench.engines[0], encoding) as worker:
        for path, target in zip(paths, saved):
            worker.ask("encode", input=path, save=target)
    return saved


def decode(bench, encoding):
    """Ids -> str, other ids in every round, one process an engine (nothing is cached by content)."""
    for kind in KINDS:
        paths = bench.slices(kind, bench.repeats + 1)
        contestants = [Contestant(engine, "decode") for engine in bench.engines]
        results = Race(bench.setup, encoding, contestants).run(ids_of(bench, encoding, paths))
        yield from rows_of("decode ids -> str", bench, encoding, kind, results, rate(paths), 1)


def stream_decode(bench, encoding):
    """Ids -> text, one id a call. What has no streaming decoder of its own does it by hand (tiktoken: bytes of an id, then `codecs`)."""
    for kind in KINDS:
        saved = ids_of(bench, encoding, bench.slices(kind, bench.rounds // 2 + 1, 100_000))
        tokens = sum(map(os.path.getsize, saved)) / len(saved) / 4
        engines = bench.having("tiktoken", "ctok", "iree", "splintr", "tokenizers", "fastokens")
        results = Race(bench.setup, encoding, [Contestant(engine, "stream_decode") for engine in engines]).run(saved)
        yield from rows_of("stream decode, one id a call", bench, encoding, kind, results, each(tokens), 1)


def stream_encode(bench, encoding):
    """16 characters a chunk, text not seen before, beside the same engine's time for the whole text (the ratio's base)."""
    for kind in KINDS:
        paths = bench.slices(kind)
        contestants = [Contestant(bench.engines[0], "encode", bench.engines[0] + " whole")]
        for engine in bench.having("ctok", "iree"):
            contestants += [Contestant(engine, "encode", engine + " whole"), Contestant(engine, "stream_encode", engine + " chunks of 16")]
        results = Race(bench.setup, encoding, contestants, fresh=True).run(paths)
        whole = {result.contestant.engine: result for result in results if result.contestant.do == "encode"}
        for result in results:
            base = whole[result.contestant.engine]
            yield from rows_of("stream encode, against own whole text", bench, encoding, kind, [result], rate(paths), 0, base)


def reencode(bench, encoding):
    """A message of 8,000 characters that arrives 16 at a time, ids known after every chunk: a stream against encoding it all again."""
    for kind in KINDS:
        paths = bench.slices(kind, bench.repeats + 1, 8000)
        contestants = [Contestant(engine, "reencode", engine + " again each time") for engine in bench.having(bench.engines[0], "ctok")]
        contestants += [Contestant(engine, "stream_encode", engine + " stream") for engine in bench.having("ctok", "iree")]
        results = Race(bench.setup, encoding, contestants).run(paths)
        yield from rows_of("ids while a message arrives", bench, encoding, kind, results, each(1, "ms a message", 1e6), 1)
