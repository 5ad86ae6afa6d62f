"""Load an engine, run one operation on the first N of some inputs, and end: what is counted between two values of N is the operation alone.

    PYTHON benchmarks/worker/repeat.py ENGINE ENCODING FOLDER OPERATION N PATH [PATH...]

All inputs are read whatever N is.
"""

import os
import sys

import engines
from operations import OPERATIONS


def main(name, encoding, folder, operation, number, *paths):
    where = os.environ.get("CTOK_BENCH_PATH")
    if where:
        sys.path.insert(1, where)
    engine = engines.make(name, encoding, folder)
    ready = [OPERATIONS[operation](engine, path)[:2] for path in paths]
    for function, argument in ready[: int(number)]:
        function(argument)


if __name__ == "__main__":
    main(*sys.argv[1:])
