"""tokenizer.json files: how long from the file to the first id, how much memory, how fast a text is encoded that was not seen before.

    python -m benchmarks.files FILE.json... --data FOLDER --peers FOLDER --engines ctok,tokenizers,fastokens

Every figure comes from a process of its own. In each round the engines take turns on the same slice of the text, and an engine whose ids
differ from those of `tokenizers` is not timed. Rates are in megabytes of UTF-8 a second of processor time, as is the time to load; ratios
are medians over the rounds. "ctok, binary" loads the same tokenizer from ctok's own form.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from statistics import median
from time import process_time

from . import texts

SLICE = 1_000_000  # characters
ENGINES = ("ctok", "ctok, binary", "tokenizers", "fastokens")


# ---- the worker: one engine, one file, one slice ----


def opened(engine, path):
    """Return what loads the file, and gives what encodes a text to a list of ids without special tokens around them."""
    if engine == "tokenizers":
        from tokenizers import Tokenizer

        def load():
            tokenizer = Tokenizer.from_file(path)
            tokenizer.no_truncation()
            tokenizer.no_padding()
            return lambda text: tokenizer.encode(text, add_special_tokens=False).ids

    elif engine == "fastokens":
        from fastokens._native import Tokenizer

        def load():
            tokenizer = Tokenizer.from_file(path)
            return lambda text: tokenizer.encode(text).ids

    else:
        import ctok

        def load():
            tokenizer = ctok.load(path)
            return lambda text: tokenizer.encode(text, allowed_special="all", add_special_tokens=False)

    return load


def peak():
    """The largest resident set of this program so far, in megabytes; Linux only, 0 elsewhere (getrusage reports the parent's as well)."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return 0.0


def work(engine, path, text_path):
    load = opened(engine, path)
    before = peak()
    start = process_time()
    encode = load()
    encode("a")
    said = {"load": process_time() - start, "memory": peak() - before}
    with open(text_path, encoding="utf-8", newline="") as file:
        text = file.read()
    start = process_time()
    ids = encode(text)
    said["rate"] = len(text.encode()) / 1e6 / (process_time() - start)
    said["ids"] = hashlib.sha256(repr(ids).encode()).hexdigest()
    print(json.dumps(said))


# ---- the parent ----


def run(engine, python, path, text_path):
    """Return what a worker says, or why there is nothing. Modules are compiled once, beside the text, as an installed package's are."""
    command = [python, "-m", "benchmarks.files", "--work", engine, path, text_path]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = os.path.join(os.path.dirname(text_path), "compiled")
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr.strip().splitlines()[-1:]}


def compare(path, kind, text, engines, rounds, folder):
    """Return a line of the table for each engine."""
    name = os.path.basename(path)
    found = {engine: [] for engine in engines}
    slice_path = os.path.join(folder, "slice.txt")
    for number in range(rounds):
        with open(slice_path, "w", encoding="utf-8", newline="") as file:
            file.write(text[number * SLICE : (number + 1) * SLICE])
        for engine, (python, binary) in engines.items():
            if not os.path.exists(os.path.join(folder, engine)):
                run(engine, python, binary or path, slice_path)  # to have its modules compiled
                open(os.path.join(folder, engine), "w").close()
            found[engine].append(run(engine, python, binary or path, slice_path))
    base = found["tokenizers"]
    lines = []
    for engine, answers in found.items():
        if any(answer.get("ids") != wanted["ids"] for answer, wanted in zip(answers, base, strict=True)):
            reason = next((answer["error"] for answer in answers if "error" in answer), "other ids")
            lines.append(f"| {name} | {kind} | {engine} | {reason} | | | | |")
            continue
        load, memory, rate = (median(answer[key] for answer in answers) for key in ("load", "memory", "rate"))
        faster = median(answer["rate"] / other["rate"] for answer, other in zip(answers, base, strict=True))
        sooner = median(other["load"] / answer["load"] for answer, other in zip(answers, base, strict=True))
        lines.append(f"| {name} | {kind} | {engine} | {load * 1e3:.1f} | {sooner:.1f}x | {memory:.0f} | {rate:.1f} | {faster:.1f}x |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--data", help="folder with en.txt, code.txt, multi.txt")
    parser.add_argument("--peers", required="--work" not in sys.argv, help="folder of virtual environments, one a library")
    parser.add_argument("--engines", default=",".join(ENGINES[:1] + ENGINES[2:]))
    parser.add_argument("--texts", default=",".join(texts.KINDS))
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    if given.work:
        return work(*given.work)
    print("| file | text | engine | load, ms | | memory, MB | MB/s | |\n|---|---|---|---:|---:|---:|---:|---:|")
    wanted = dict.fromkeys([*given.engines.split(","), "tokenizers"])
    with tempfile.TemporaryDirectory() as folder:
        for path in given.files:
            import ctok.formats

            binary = os.path.join(folder, "vocabulary.bin")
            ctok.formats.dump(ctok.formats.load(path), binary)
            engines = {name: (sys.executable if name == "ctok" else f"{given.peers}/{name}/bin/python", None) for name in wanted}
            engines["ctok, binary"] = (sys.executable, binary)
            for kind in given.texts.split(","):
                text = texts.from_folder(given.data, kind)
                print("\n".join(compare(path, kind, text, engines, given.rounds, folder)), flush=True)


if __name__ == "__main__":
    main()
