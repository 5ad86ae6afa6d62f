"""SentencePiece models: how fast a text is encoded that was not seen before, n-best, sampling, loading, a line without spaces.

    python -m benchmarks.pieces FILE.model... --data FOLDER --peers FOLDER --json FOLDER

Every figure comes from a process of its own. In each round the engines take turns on the same slice of the text, and an engine whose ids
differ from those of `sentencepiece` is not timed. Rates are in megabytes of UTF-8 a second of processor time, loading in milliseconds,
n-best and sampling in microseconds a line of text; ratios are medians over the rounds, above 1 where an engine is the faster one.

`nbest` are the 16 best ways to cut each line; `sample` draws one of all ways, with an alpha of 0.1, which for BPE models is the probability
of leaving out a merge; `sample16` and `sample64` draw one of so many best ways. What is drawn is not compared.

`encode` is the first large text of a fresh process, a million characters; `steady` is the whole file in one call, also in a fresh process:
what is done once for each process counts for less there, and what an engine remembers for more.

`--json` is a tokenizer.json, or a folder with such files, for the libraries that read nothing else: NAME.json, hf_X.json for spm_X.model,
or X/tokenizer.json. Where there is none, those libraries are left out. They are other formats with other rules: some texts get other ids.
"""

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
from statistics import median
from time import process_time

from . import texts
from .cores import one_core

SLICE = 1_000_000  # characters
LINES = 1000  # so many that a beginning does not count
WARM_UP = "Good morning, Zo\u00eb! \u4e16\u754c 123 x = y[10];"
ENGINES = ("ctok", "sentencepiece", "tokenizers", "kitoken", "tokie", "gigatoken", "tuetoken", "simple-sentencepiece")
READ_JSON = ("tokenizers", "tokie", "tuetoken")
BY_LINES = ("nbest", "sample", "sample16", "sample64")
TASKS = ("encode", "steady", *BY_LINES, "load", "line")


# ---- the worker: one engine, one model, one task ----


class Engine:
    """`load()` returns what encodes a str to a list of ids; the others may be missing. They take what `load` made, `sample` also how many
    of the best ways it draws from, or None."""

    def __init__(self, load, nbest=None, sample=None):
        self.load, self.nbest, self.sample = load, nbest, sample


def _ctok(path, _):
    import ctok

    def load():
        load.tokenizer = ctok.load(path)
        return load.tokenizer.encode

    def nbest(line):
        return [ids for ids, _ in load.tokenizer.nbest(line, 16)]

    return Engine(load, nbest, lambda line, size: load.tokenizer.sample(line, 0.1, size, seed=1))


def _sentencepiece(path, _):
    import sentencepiece

    def load():
        load.processor = sentencepiece.SentencePieceProcessor(model_file=path)
        return load.processor.encode

    def sample(line, size):
        return load.processor.encode(line, enable_sampling=True, alpha=0.1, nbest_size=-1 if size is None else size)

    return Engine(load, lambda line: load.processor.nbest_encode(line, nbest_size=16), sample)


def _tokenizers(_, converted):
    from tokenizers import Tokenizer

    def load():
        tokenizer = Tokenizer.from_file(converted)
        return lambda text: tokenizer.encode(text, add_special_tokens=False).ids

    return Engine(load)


def _kitoken(path, _):
    from kitoken import Kitoken

    def load():
        tokenizer = Kitoken.from_sentencepiece_file(path)
        return lambda text: list(tokenizer.encode(text, False))

    return Engine(load)


def _tokie(_, converted):
    from tokie import Tokenizer

    def load():
        tokenizer = Tokenizer.from_json(converted)
        return lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids)

    return Engine(load)


def _gigatoken(path, _):
    from gigatoken import Tokenizer

    def load():
        tokenizer = Tokenizer.from_sentencepiece(path)
        return lambda text: tokenizer.encode(text).tolist()

    return Engine(load)


def _tuetoken(_, converted):
    from tuetoken import Tokenizer

    def load():
        return Tokenizer(converted).encode_ordinary

    return Engine(load)


def _simple(path, _):
    from ssentencepiece import Ssentencepiece

    def load():
        tokenizer = Ssentencepiece(path, 1)
        if tokenizer.use_sentencepiece:
            raise RuntimeError("reads the model with sentencepiece itself")
        return tokenizer.encode

    return Engine(load)


MAKERS = dict(zip(ENGINES, (_ctok, _sentencepiece, _tokenizers, _kitoken, _tokie, _gigatoken, _tuetoken, _simple), strict=True))


def fingerprint(ids):
    return hashlib.sha256(repr(ids).encode()).hexdigest()


def work(name, task, path, converted, text_path):
    engine = MAKERS[name](path, converted)
    start = process_time()
    encode = engine.load()
    encode("a")
    loaded = process_time() - start
    with open(text_path, encoding="utf-8", newline="") as file:
        text = file.read()
    if task == "load":
        return {"figure": loaded * 1e3, "ids": None}
    encode(WARM_UP)
    if task in ("encode", "steady", "line"):
        start = process_time()
        ids = encode(text)
        taken = process_time() - start
        return {"figure": len(text.encode()) / 1e6 / taken, "ids": fingerprint(ids)}
    call = engine.nbest if task == "nbest" else engine.sample
    if call is None:
        raise RuntimeError("has none")
    arguments = () if task == "nbest" else (int(task.removeprefix("sample") or 0) or None,)
    lines = text.splitlines()
    call(lines[0], *arguments)
    start = process_time()
    for line in lines:
        call(line, *arguments)
    taken = process_time() - start
    return {"figure": taken / len(lines) * 1e6, "ids": fingerprint([call(line) for line in lines]) if task == "nbest" else None}


# ---- the parent ----


def beside(path, given):
    """Return the tokenizer.json that belongs to a model, or None."""
    if os.path.isfile(given):
        return given
    stem = os.path.splitext(os.path.basename(path))[0]
    bare = stem.removeprefix("spm_")
    names = [f"{stem}.json", f"{bare}.json", f"hf_{bare}.json", os.path.join(bare, "tokenizer.json"), os.path.join(stem, "tokenizer.json")]
    return next((found for found in (os.path.join(given, name) for name in names) if os.path.isfile(found)), None)


def run(name, python, *arguments):
    """Return what a worker says, or why there is nothing."""
    command = [python, "-m", "benchmarks.pieces", "--work", name, *arguments]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = os.path.join(os.path.dirname(arguments[-1]), "compiled")
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode == 0:
        return json.loads(done.stdout)
    return {"error": (done.stderr.strip().splitlines() or ["died"])[-1][:90]}


def inputs(task, kind, text, rounds, megabytes):
    """Yield the text of each round."""
    rng = random.Random(1)
    for number in range(rounds):
        if task == "line" and kind == "en":
            yield "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=int(megabytes * 1e6)))
        elif task == "line":
            yield "".join(map(chr, rng.choices(range(0x4E00, 0x9FA6), k=int(megabytes * 1e6) // 3)))
        elif task in BY_LINES:
            lines = [line for line in text.splitlines() if 20 <= len(line) <= 200]
            yield "\n".join(lines[number * LINES : (number + 1) * LINES])
        elif task == "steady":
            yield text
        else:
            yield text[number * SLICE : (number + 1) * SLICE]


def compare(task, path, converted, kind, engines, given, folder):
    """Return a line of the table for each engine."""
    found = {name: [] for name in engines}
    text_path = os.path.join(folder, "text.txt")
    if converted is None:
        found |= {name: [{"error": "no tokenizer.json of this model in --json"}] for name in READ_JSON if name in found}
    for text in inputs(task, kind, texts.from_folder(given.data, kind), given.rounds, given.megabytes):
        with open(text_path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        for name, python in engines.items():
            if not any("error" in answer for answer in found[name]):
                found[name].append(run(name, python, task, path, converted or "", text_path))
    base, unit = found["sentencepiece"], "ms" if task == "load" else "us a line" if task in BY_LINES else "MB/s"
    lines = []
    for name, answers in found.items():
        reason = next((answer["error"] for answer in answers if "error" in answer), None)
        if reason is None and any(answer["ids"] != wanted.get("ids") for answer, wanted in zip(answers, base, strict=True)):
            reason = "other ids"
        head = f"| {task} | {os.path.basename(path)} | {kind} | {name} |"
        if reason:
            lines.append(f"{head} {reason} | | |")
            continue
        pairs = [(answer["figure"], other["figure"]) for answer, other in zip(answers, base, strict=True)]
        faster = median(mine / its if unit == "MB/s" else its / mine for mine, its in pairs)
        lines.append(f"{head} {median(mine for mine, _ in pairs):.1f} | {unit} | {faster:.1f}x |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--work", nargs=5, help=argparse.SUPPRESS)
    parser.add_argument("--data", help="folder with en.txt and multi.txt")
    parser.add_argument("--peers", required="--work" not in sys.argv, help="folder of virtual environments, one a library")
    parser.add_argument("--json", default="", help="a tokenizer.json, or a folder of them")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--texts", default="en,multi")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=float, default=10, help="of a line without spaces")
    given = parser.parse_args()
    if given.work:
        return print(json.dumps(work(*given.work)))
    one_core()
    if given.json and not os.path.exists(given.json):
        parser.error(f"--json: there is no file or folder {given.json!r}")
    print("| task | model | text | engine | | unit | |\n|---|---|---|---|---:|---|---:|")
    wanted = dict.fromkeys(["sentencepiece", *given.engines.split(",")])
    engines = {name: sys.executable if name == "ctok" else f"{given.peers}/{name}/bin/python" for name in wanted}
    engines = {name: python for name, python in engines.items() if os.path.exists(python)}
    with tempfile.TemporaryDirectory() as folder:
        for path in given.files:
            converted = beside(path, given.json)
            for task in given.tasks.split(","):
                for kind in given.texts.split(",") if task != "load" else ["en"]:
                    print("\n".join(compare(task, path, converted, kind, engines, given, folder)), flush=True)


if __name__ == "__main__":
    main()
