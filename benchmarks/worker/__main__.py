"""One engine in one process, told over its standard input what to run: a JSON object a line in, a JSON object a line out.

    PYTHON benchmarks/worker ENGINE ENCODING FOLDER CORE [PATH]

FOLDER holds the vocabularies, CORE is the processor to stay on (-1: any), PATH is where to import the engine from.
The first line out tells about loading. `{"do": "encode", "input": FILE, "times": 1}` is answered with the wall and processor time of all
`times` calls, in nanoseconds, and the fingerprint of the last result.
"""

import json
import os
import sys
from array import array

from clock import clocks, resident, since, timed

# What an engine makes at its first real use (some compile their pattern then) is not to be charged to the text that is measured.
WARM_UP = "Good morning, Zoë!\n\tif (x[10] >= 0x1F) { return f'{y:>8}'; }  // Привет, 世界 123456 مرحبا\r\n" * 20


def loaded(name, encoding, folder):
    """Load the engine; return it and what loading took."""
    import engines

    bare, started = resident(), clocks()
    engine = engines.make(name, encoding, folder)
    first = engine.encode("hello world")
    report = since(started)
    report.update(version=engines.version(name), python=sys.version.split()[0], first=list(first), bare=bare, resident=resident())
    return engine, report


def answer(engine, do, **asked):
    from heavy import HEAVY
    from operations import OPERATIONS

    if do in HEAVY:
        return HEAVY[do](engine, **asked)
    times, save = asked.pop("times", 1), asked.pop("save", None)
    function, argument, fingerprint = OPERATIONS[do](engine, asked.pop("input"), **asked)
    result, report = timed(function, argument, times)
    if save is not None:
        with open(save, "wb") as file:
            array("I", result).tofile(file)
    report.update(fingerprint(result))
    return report


def main(name, encoding, folder, core, where=None):
    if int(core) >= 0 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(core)})
    if where:
        sys.path.insert(1, where)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)       # what a library prints must not end up among the answers
    engine, report = loaded(name, encoding, folder)
    print(json.dumps(report), file=out, flush=True)
    engine.encode(WARM_UP)
    for line in sys.stdin:
        try:
            report = answer(engine, **json.loads(line))
        except Exception as error:
            report = {"error": f"{type(error).__name__}: {error}"[:300], "missing": type(error).__name__ == "MissingError"}
        print(json.dumps(report), file=out, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
