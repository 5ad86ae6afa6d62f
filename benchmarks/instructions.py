"""Instructions a byte, counted by valgrind: the same on a busy machine and on an idle one.

    python -m benchmarks.instructions [--data FOLDER] [--vocabs FOLDER] [--operations encode,count] [--json FILE]

For tracking ctok's own core from one change to the next. A process runs an operation on one slice, another on three; the difference is the
work on two slices, free of start and loading. "unseen" slices differ; "seen" is one slice again. Instructions are not time: a cache miss
counts as little as a hit, and valgrind knows no AVX-512.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from .client import WORKER, Setup, own_path
from .speed import ids_of
from .texts import KINDS, Texts

OPERATIONS = ("encode", "ids", "count", "decode", "stream_decode", "stream_encode")


class CountError(Exception):
    """valgrind did not run the program to its end."""


def collected(options, operation, number, paths):
    """Instructions of a process that runs `operation` on the first `number` of the paths."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command += [sys.executable, "-X", "utf8", os.path.join(WORKER, "repeat.py")]
    command += [options.engine, options.encoding, options.vocabs, operation, str(number), *paths]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "CTOK_BENCH_PATH": own_path()}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        raise CountError(done.stderr.strip()[-400:])
    return int(found.group(1))


def per_byte(options, operation, paths, inputs):
    """Return (unseen, seen) instructions a byte of text; the texts are `paths`, what the operation reads is `inputs`."""
    sizes = [os.path.getsize(path) for path in paths]
    first = collected(options, operation, 1, inputs)
    unseen = (collected(options, operation, 3, inputs) - first) / (sizes[1] + sizes[2])
    again = [inputs[0]] * 3
    seen = (collected(options, operation, 3, again) - collected(options, operation, 1, again)) / (2 * sizes[0])
    return unseen, seen


def counted(options, texts):
    """Yield a dict for every kind of text and operation."""
    setup = Setup({"ctok": sys.executable}, options.vocabs, -1)
    for kind in KINDS:
        paths = texts.slices(kind, 3, options.length)
        digest = hashlib.sha256()
        for path in paths:
            with open(path, "rb") as file:
                digest.update(file.read())
        saved = ids_of(argparse.Namespace(setup=setup, engines=["ctok"]), options.encoding, paths)
        for operation in options.operations.split(","):
            inputs = saved if operation in ("decode", "stream_decode") else paths
            unseen, seen = per_byte(options, operation, paths, inputs)
            yield {"input": kind, "text": digest.hexdigest()[:12], "operation": operation, "unseen": unseen, "seen": seen}


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.instructions", description=__doc__.splitlines()[0])
    parser.add_argument("--data", metavar="FOLDER")
    parser.add_argument("--vocabs", metavar="FOLDER", default=".")
    parser.add_argument("--encoding", default="o200k_base")
    parser.add_argument("--engine", default="ctok", help="one that this interpreter can import")
    parser.add_argument("--operations", metavar="NAMES", default="encode,count,decode", help=", ".join(OPERATIONS))
    parser.add_argument("--length", type=int, default=20_000, help="characters of a slice")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args(argv)
    options.vocabs = os.path.abspath(options.vocabs)
    if not shutil.which("valgrind"):
        parser.error("valgrind is not installed")
    found = []
    print(f"{'text':16} {'operation':14} {'unseen':>8} {'seen':>8}   instructions a byte, {options.encoding}")
    with tempfile.TemporaryDirectory() as scratch:
        for row in counted(options, Texts(options.data, scratch)):
            found.append(row)
            print(f"{row['input']:6}{row['text'][:8]:10} {row['operation']:14} {row['unseen']:8.2f} {row['seen']:8.2f}", flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"encoding": options.encoding, "engine": options.engine, "length": options.length, "rows": found}, file, indent=1)


if __name__ == "__main__":
    main()
