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
from importlib import import_module
from statistics import median
from time import process_time

from . import texts
from .cores import one_core

SLICE = 1_000_000  # characters


# ---- the worker: one engine, one file, one slice ----


def _ctok(path):
    import ctok

    tokenizer = ctok.load(path)
    return lambda text: tokenizer.encode(text, allowed_special="all", add_special_tokens=False)


def _tokenizers(path):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(path)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def _fastokens(path):
    from fastokens._native import Tokenizer

    tokenizer = Tokenizer.from_file(path)
    return lambda text: tokenizer.encode(text).ids


def _gigatoken(path):
    from gigatoken import Tokenizer

    with open(path, encoding="utf-8") as file:
        tokenizer = Tokenizer.from_json(file.read())
    return lambda text: tokenizer.encode(text).tolist()


def _snaptokens(path):
    from snaptokens import Tokenizer

    tokenizer = Tokenizer.from_file(path)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids)


def _splintr(path):
    from splintr import from_json

    return from_json(path).encode_raw


def _kitoken(path):
    from kitoken import Kitoken

    tokenizer = Kitoken.from_tokenizers_file(path)
    return lambda text: list(tokenizer.encode(text, True))


def _tokie(path):
    from tokie import Tokenizer

    tokenizer = Tokenizer.from_json(path)
    return lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids)


def _flash(path):
    """It reads vocab.txt, and puts [CLS] and [SEP] around a text."""
    from flash_tokenizer._core import FlashBertTokenizer

    with open(path, encoding="utf-8") as file:
        model = json.load(file)["model"]
    if model["type"] != "WordPiece":
        raise ValueError("flash-tokenizer has WordPiece only")
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "vocab.txt")
        with open(name, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(token + "\n" for token in sorted(model["vocab"], key=model["vocab"].get))
        tokenizer = FlashBertTokenizer(name, True, -1, True)
    return lambda text: tokenizer.encode(text, "longest", -1)[1:-1]


def _blingfire(path):
    """It has models of its own; that of the uncased BERT fits the files with this vocabulary."""
    import blingfire

    model = blingfire.load_model(os.path.join(os.path.dirname(blingfire.__file__), "bert_base_tok.bin"))
    return lambda text: blingfire.text_to_ids(model, text, len(text) + 2, 100, no_padding=True).tolist()


# What is imported, which is not part of the time, and what then loads a file and gives what encodes a text to a list of ids.
ENGINES = {
    "ctok": ("ctok", _ctok),
    "ctok, binary": ("ctok", _ctok),
    "tokenizers": ("tokenizers", _tokenizers),
    "fastokens": ("fastokens._native", _fastokens),
    "gigatoken": ("gigatoken", _gigatoken),
    "snaptokens": ("snaptokens", _snaptokens),
    "splintr-rs": ("splintr", _splintr),
    "kitoken": ("kitoken", _kitoken),
    "tokie": ("tokie", _tokie),
    "flash-tokenizer": ("flash_tokenizer._core", _flash),
    "blingfire": ("blingfire", _blingfire),
}


def peak():
    """The largest resident set of this program so far, in megabytes; Linux only, 0 elsewhere (getrusage reports the parent's as well)."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return 0.0


def work(engine, path, text_path):
    module, load = ENGINES[engine]
    import_module(module)
    before = peak()
    start = process_time()
    encode = load(path)
    encode("a")
    said = {"load": process_time() - start, "memory": peak() - before}
    with open(text_path, encoding="utf-8", newline="") as file:
        text = file.read()
    start = process_time()
    ids = encode(text)
    taken = process_time() - start
    said["rate"] = len(text.encode()) / 1e6 / taken
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
    parser.add_argument("--engines", default="ctok,tokenizers,fastokens")
    parser.add_argument("--texts", default=",".join(texts.KINDS))
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    if given.work:
        return work(*given.work)
    one_core()
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
