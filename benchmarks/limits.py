"""Memory, length and start: what must stay small, linear and quick."""

import itertools
import os
import statistics
import subprocess
import sys
import time

from .client import Worker, WorkerError, own_path
from .rows import Row, short
from .worker.engines import BUILT_IN

GIANTS = ("a", "spaces", "^", "letters", "cjk")


def once(bench, engine, encoding, timeout, do, **asked):
    """Ask a fresh worker one thing; return (answer, None) or (None, why not)."""
    try:
        with Worker(bench.setup, engine, encoding) as worker:
            answer = worker.ask(do, timeout=timeout, **asked)
    except WorkerError as error:
        return None, str(error)
    return (None, answer["error"].replace("MissingError: ", "has none: ")) if "error" in answer else (answer, None)


def rates(row, answer):
    row.unit, row.pairs = "MB/s", 1
    row.wall, row.cpu = (answer["bytes"] / max(answer[clock], 1) * 1000 for clock in ("wall", "cpu"))


def long_pretokens(bench, encoding):
    """One pretoken of many megabytes, and of a tenth of that: the rate must be the same. The ids are compared."""
    for kind in GIANTS:
        answers = {}
        for engine in bench.having(bench.engines[0], "ctok"):
            for megabytes in (bench.giant / 10, bench.giant):
                answers[engine, megabytes] = once(bench, engine, encoding, bench.patience, "giant", kind=kind, megabytes=megabytes)
        for (engine, megabytes), (answer, why) in answers.items():
            row = Row("one long pretoken", encoding, f"{kind}, {megabytes:g} MB", engine, note=why or "")
            if answer:
                base = answers[bench.engines[0], megabytes][0]
                if base and base["print"] != answer["print"]:
                    row.note = "ids differ"
                else:
                    rates(row, answer)
                    row.ratio = base and [base["wall"] / answer["wall"]] * 3
                    row.cpu_ratio = base and [base["cpu"] / answer["cpu"]] * 3
                    notes = [] if base else ["not compared: the reference failed"]
                    tenth = answers[engine, bench.giant / 10][0]
                    if tenth and megabytes == bench.giant:
                        notes.append(f"{answer['cpu'] / tenth['cpu']:.1f} times as long as a tenth of it")
                    row.note = "; ".join(notes)
            bench.show(row)
            yield row


def constant_memory(bench, encoding):
    """Much text through one encoder in chunks, and through `encode` piece by piece: how much the process grows after the first tenth."""
    path = bench.whole("multi")
    for engine, how in [("ctok", "stream"), ("ctok", "whole")] + [(engine, "stream") for engine in bench.having("iree")]:
        answer, why = once(bench, engine, encoding, 3600, "constant_memory", input=path, megabytes=bench.megabytes, how=how)
        row = Row("constant memory", encoding, f"multi, {bench.megabytes:g} MB", f"{engine} {how}", note=why or "")
        if answer:
            rates(row, answer)
            row.note = f"grew by {(answer['most'] - answer['early']) / 1e6:.1f} MB after the first tenth, {answer['n']} ids"
        bench.show(row)
        yield row


def memory(bench, encoding):
    """Resident bytes beyond a bare interpreter after loading; 100,000 live stream decoders; time from import to the first ids."""
    takes = {engine: [] for engine in bench.engines}
    why = {}
    for _ in range(bench.repeats):
        for engine in bench.engines:
            try:
                with Worker(bench.setup, engine, encoding) as worker:
                    takes[engine].append(worker.loaded)
            except WorkerError as error:
                why[engine] = str(error)
    for engine, loaded in takes.items():
        held = Row("memory after load", encoding, "hello world", engine, "MB", why.get(engine, ""))
        took = Row("import, load, first ids", encoding, "hello world", engine, "ms", why.get(engine, ""))
        if loaded:
            held.pairs = took.pairs = len(loaded)
            held.wall = statistics.median(one["resident"] - one["bare"] for one in loaded) / 1e6
            took.wall, took.cpu = (statistics.median(one[clock] for one in loaded) / 1e6 for clock in ("wall", "cpu"))
        bench.show(held)
        bench.show(took)
        yield from (held, took)
    for engine in bench.having("ctok", "iree", "splintr", "tokenizers"):
        answer, reason = once(bench, engine, encoding, 300, "decoders", number=bench.decoders)
        row = Row(f"{bench.decoders:,} live decoders", encoding, "", engine, note=reason or "")
        if answer:
            row.wall, row.unit, row.note = answer["bytes"] / 1e6, "MB", f"{answer['bytes'] / answer['n']:.0f} bytes each"
        bench.show(row)
        yield row


PHASES = {
    "bare Python": "pass",
    "import ctok": "import ctok",
    "ctok.load to first ids": "import ctok; ctok.load({0!r}).encode('hello world')",
}


def spend(code):
    """Run code in a fresh interpreter; return nanoseconds of (wall, processor) for the whole process."""
    environment = {**os.environ, "PYTHONPATH": own_path()}
    started = time.perf_counter_ns()
    process = subprocess.Popen([sys.executable, "-c", code], env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter_ns() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise WorkerError(f"{code!r} ended with status {process.returncode}")
    return wall, int((usage.ru_utime + usage.ru_stime) * 1e9)


def start(bench, encoding):
    """Whole processes, in turn: what importing costs beyond bare Python, and what loading and the first ids cost beyond importing."""
    if encoding not in BUILT_IN:
        os.environ.setdefault("CTOK_VOCAB_DIR", bench.setup.folder)
    spent = {name: [] for name in PHASES}
    with bench.pinned():
        for _ in range(bench.rounds + 1):
            for name, code in PHASES.items():
                spent[name].append(spend(code.format(encoding)))
    names = list(PHASES)
    for before, name in itertools.pairwise(names):
        beyond = [[(late - early) / 1e6 for early, late in zip(*pair)] for pair in zip(spent[before][1:], spent[name][1:])]
        quarters = [statistics.quantiles(clock, n=4, method="inclusive") for clock in zip(*beyond)]
        row = Row("start", encoding, f"beyond {before}", name, "ms")
        row.wall, row.cpu, row.pairs = quarters[0][1], quarters[1][1], len(beyond)
        (low, _, high), (low_cpu, _, high_cpu) = quarters
        row.note = f"quartiles: wall {short(low)}-{short(high)}, cpu {short(low_cpu)}-{short(high_cpu)}"
        bench.show(row)
        yield row
