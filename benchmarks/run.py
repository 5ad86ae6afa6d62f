"""Measure ctok beside other tokenizers.

    python -m benchmarks.run --data FOLDER --vocabs FOLDER --peers FOLDER [--only encode,decode] [--json FILE] [--markdown FILE]
"""

import argparse
import contextlib
import json
import os
import platform
import sys
import tempfile
import time

from . import limits, speed
from .client import Setup, Worker, WorkerError, find_pythons
from .rows import markdown, short, spread
from .texts import Texts


def event_loop(bench, encoding):
    from . import bench_streams  # needs anyio, which nothing else here does

    return bench_streams.event_loop(bench, encoding)


MEASURES = {
    "encode": speed.encode,
    "short": speed.short_calls,
    "count": speed.count,
    "decode": speed.decode,
    "stream_decode": speed.stream_decode,
    "stream_encode": speed.stream_encode,
    "reencode": speed.reencode,
    "pretoken": limits.long_pretokens,
    "constant": limits.constant_memory,
    "memory": limits.memory,
    "start": limits.start,
    "event_loop": event_loop,
}


def show(row):
    """Say on standard error what was just measured; a full run takes minutes."""
    figures = f"{short(row.wall):>6} {short(row.cpu):>6} {row.unit:12} {spread(row.cpu_ratio):>20}"
    print(f"{row.measure:37} {row.encoding:12} {row.input:15} {row.label:24} {figures} {row.note}", file=sys.stderr, flush=True)


class Bench:
    """What the measures share: the engines, the texts, and how much of everything."""

    def __init__(self, options, setup, engines, texts):
        self.setup, self.engines, self.texts = setup, engines, texts
        self.repeats = options.repeats
        self.rounds = options.rounds
        self.length = options.length
        self.megabytes = options.megabytes
        self.giant = options.giant
        self.patience = options.patience
        self.short_times = 2000
        self.decoders = 100_000
        self.stream_megabytes = options.stream_megabytes

    def having(self, *names):
        """Those of the engines that take part, in this order, each once."""
        return [name for name in dict.fromkeys(names) if name in self.engines]

    def slices(self, kind, number=None, length=None):
        return self.texts.slices(kind, number or self.repeats, length or self.length)

    def whole(self, kind):
        return self.texts.save(f"{kind}.txt", self.texts.text(kind))

    @contextlib.contextmanager
    def pinned(self):
        """Keep this process, and what it starts, on the core that is measured on."""
        if self.setup.core < 0 or not hasattr(os, "sched_setaffinity"):
            yield
            return
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {self.setup.core})
        try:
            yield
        finally:
            os.sched_setaffinity(0, before)

    show = staticmethod(show)


def machine():
    """What the figures were taken on."""
    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), model)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "system": platform.platform(),
        "processor": model,
        "cores": os.cpu_count(),
        "python": sys.version.split()[0],
        "load": load,
        "date": time.strftime("%Y-%m-%d %H:%M:%S"),
    }


def versions(setup, engines, encoding):
    """engine -> its version, or why it takes no part. Engines that cannot load are dropped from the list."""
    found = {}
    for engine in list(engines):
        try:
            with Worker(setup, engine, encoding) as worker:
                found[engine] = worker.loaded["version"]
        except WorkerError as error:
            found[engine] = f"takes no part: {error}"
            engines.remove(engine)
    return found


def arguments(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--data", metavar="FOLDER", help="en.txt, code.txt, multi.txt (also .xz); default: made from Python's own library")
    add("--vocabs", metavar="FOLDER", help="ENCODING.tiktoken and, for some peers, ENCODING.json; default: the data folder")
    add("--peers", metavar="FOLDER", help="virtual environments of the other libraries, one folder each")
    add("--engines", metavar="NAMES", help="only these, separated by commas")
    add("--encodings", metavar="NAMES", default="o200k_base,cl100k_base")
    add("--only", metavar="NAMES", help=", ".join(MEASURES))
    add("--core", type=int, default=None, help="processor to measure on; -1: any; default: the last one allowed")
    add("--repeats", type=int, default=5, help="slices, each in a fresh process, of what must not have been seen before")
    add("--rounds", type=int, default=20, help="rounds of short calls")
    add("--length", type=int, default=1_000_000, help="characters of a slice")
    add("--giant", type=float, default=10, help="megabytes of one long pretoken")
    add("--patience", type=float, default=60, help="seconds an engine may take for it")
    add("--megabytes", type=float, default=64, help="how much goes through in constant memory")
    add("--stream-megabytes", type=float, default=4, help="how much is awaited while the event loop's stalls are measured")
    add("--json", metavar="FILE")
    add("--markdown", metavar="FILE")
    return parser.parse_args(argv)


def prepared(options):
    """Return (setup, engines); the reference comes first."""
    names = options.engines.split(",") if options.engines else []
    pythons = find_pythons(options.peers, names)
    order = ("tiktoken", "ctok", *sorted(pythons))
    engines = [engine for engine in dict.fromkeys(order) if engine in pythons]
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [-1]
    core = cores[-1] if options.core is None else options.core
    return Setup(pythons, os.path.abspath(options.vocabs or options.data or "."), core), engines


def measured(options, setup, engines, scratch):
    """Run everything; return (head of the report, rows)."""
    texts = Texts(options.data, scratch)
    head = {**machine(), "core": setup.core, "text": options.data or "Python's own library", "versions": {}}
    rows = []
    only = options.only.split(",") if options.only else list(MEASURES)
    for encoding in options.encodings.split(","):
        taking_part = list(engines)
        head["versions"][encoding] = versions(setup, taking_part, encoding)
        bench = Bench(options, setup, taking_part, texts)
        for name in only:
            rows += MEASURES[name](bench, encoding)
    return head, rows


def main(argv=None):
    options = arguments(argv)
    setup, engines = prepared(options)
    with tempfile.TemporaryDirectory() as scratch:
        head, rows = measured(options, setup, engines, scratch)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({**head, "rows": [row.as_dict() for row in rows]}, file, indent=1)
    text = "\n".join(f"- {key}: {value}" for key, value in head.items()) + "\n" + markdown(rows)
    if options.markdown:
        with open(options.markdown, "w", encoding="utf-8") as file:
            file.write(text)
    print(text)


if __name__ == "__main__":
    main()
