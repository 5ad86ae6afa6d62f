"""Training byte-pair encoding: wall time, processor time and peak memory, each run in a process of its own, engines by turns.

    python -m benchmarks.train corpus.txt --peers FOLDER --engines ctok,gigabpe,rustbpe,tokenizers --splits gpt2,cl100k
    python -m benchmarks.train corpus.txt --engines ctok --repeat-to 1000      # time and memory of a corpus that is made larger

Each engine reads the file itself, line by line (each line is a text), and learns a vocabulary of the same size; those whose tokens differ
from the first engine's are named. (rustbpe begins with all bytes, the others with those that occur.) Peak memory is that of the whole
process, with what importing the engine takes. The engine "count" is ctok's counting of pretokens alone. A corpus is made larger by
repeating it with the letters of words changed, so that each repetition brings new words.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from statistics import median

ENGINES = ("ctok", "count", "gigabpe", "rustbpe", "tokenizers", "bpeasy", "gigatoken")
SPLITS = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "cl100k": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}


# ---- the worker: one engine, one run; tokens as bytes ----


def by_ctok(path, split, size, threads):
    from ctok import train

    spec = train.BpeTrainer(size, split=SPLITS[split], initial_alphabet=()).train(train.files(path, lines=True), num_threads=threads)
    return [token.decode() for token, _ in sorted(spec.model.tokens, key=lambda item: item[1])]


def counted_by_ctok(path, split, size, threads):
    import ctok
    from ctok import train

    counts = train.count_pretokens(train.files(path, lines=True), ctok.Split(SPLITS[split]), num_threads=threads)
    return [f"{counts.total} pretokens, {len(counts)} different ones"]


def by_gigabpe(path, split, size, threads):
    import gigabpe

    if split != "gpt2":
        raise LookupError("has only GPT-2's split")
    vocab, _ = gigabpe.train_bpe([path], vocab_size=size, pretokenizer="bytelevel")
    return sorted(vocab, key=vocab.get)


def by_rustbpe(path, split, size, threads):
    import rustbpe

    tokenizer = rustbpe.Tokenizer()
    with open(path, encoding="utf-8", newline="\n") as file:
        tokenizer.train_from_iterator(file, size, pattern=SPLITS[split])
    return [bytes(token).hex() for token, _ in tokenizer.get_mergeable_ranks()]


def by_tokenizers(path, split, size, threads):
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    spelled = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(SPLITS[split]), "isolated"), spelled])
    tokenizer.train([path], trainers.BpeTrainer(vocab_size=size, show_progress=False))
    vocab = tokenizer.get_vocab()
    return sorted(vocab, key=vocab.get)


def by_bpeasy(path, split, size, threads):
    import bpeasy

    with open(path, encoding="utf-8", newline="\n") as file:
        return [token.hex() for token in bpeasy.train_bpe(file, SPLITS[split], 1 << 20, size)]


def by_gigatoken(path, split, size, threads):
    import gigatoken

    if split != "gpt2":
        raise LookupError("has only GPT-2's split")
    vocab, _ = gigatoken.train_bpe(gigatoken.TextFileSource([path]), size, [])
    return [token.hex() for token in vocab.values()]


WORKERS = dict(zip(ENGINES, (by_ctok, counted_by_ctok, by_gigabpe, by_rustbpe, by_tokenizers, by_bpeasy, by_gigatoken)))


def work(engine, path, split, size, threads):
    import resource

    begun, before = time.perf_counter(), time.process_time()
    try:
        tokens = WORKERS[engine](path, split, size, threads)
    except (ImportError, LookupError) as error:
        print(json.dumps({"missing": str(error)}))
        return
    said = {"wall": time.perf_counter() - begun, "cpu": time.process_time() - before}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    said["peak"] = peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    said["tokens"] = hashlib.sha256("\n".join(sorted(tokens)).encode()).hexdigest()
    said["n"] = tokens[0] if len(tokens) == 1 else f"{len(tokens)} tokens"
    print(json.dumps(said))


# ---- the runs ----


def run(engine, path, split, size, threads, peers):
    is_own = engine in ("ctok", "count") or peers is None
    python = sys.executable if is_own else os.path.join(peers, engine, "bin", "python")
    if not os.path.exists(python):
        return {"missing": f"no {python}"}
    command = [python, os.path.abspath(__file__), "--work", engine, split, str(size), str(threads or 0), path]
    # Our own worker imports what this process does, also from a tree that is built in place.
    environment = os.environ | ({"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} if is_own else {})
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"missing": done.stderr.strip().splitlines()[-1]}


def compare(path, args):
    megabytes = os.path.getsize(path) / 1e6
    for split in args.splits.split(","):
        rounds = {engine: [] for engine in args.engines.split(",") if engine}
        for _ in range(args.repeats):
            for engine, results in rounds.items():
                results.append(run(engine, path, split, args.vocab_size, args.threads, args.peers))
        first = next((results[0].get("tokens") for engine, results in rounds.items() if engine != "count"), None)
        for engine, results in rounds.items():
            if "missing" in results[0]:
                print(f"{split:8} {engine:12} {results[0]['missing']}")
                continue
            wall, cpu, peak = (median(result[key] for result in results) for key in ("wall", "cpu", "peak"))
            others = "" if results[0]["tokens"] == first or engine == "count" else "  other tokens"
            figures = f"{wall:8.3f} s  {cpu:8.3f} s of processors  {megabytes / wall:7.1f} MB/s  {peak:7.0f} MB"
            print(f"{split:8} {engine:12} {figures}  {results[0]['n']}{others}", flush=True)


def enlarged(path, megabytes, folder):
    """The corpus again and again, lower-case letters shifted by one place more each time."""
    letters = b"abcdefghijklmnopqrstuvwxyz"
    with open(path, "rb") as file:
        data = file.read()
    out = os.path.join(folder, "large.txt")
    with open(out, "wb") as file:
        turn = 0
        while file.tell() < megabytes * 1e6:
            shift = turn % 26
            mark = b" " + str(turn).encode()  # and beyond the 26th time words with a mark
            text = data.translate(bytes.maketrans(letters, letters[shift:] + letters[:shift]))
            file.write(text if turn < 26 else text.replace(b" ", mark))
            turn += 1
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", help="a text file")
    parser.add_argument("--peers", help="a folder of virtual environments, one a library; none: this Python's own libraries")
    parser.add_argument("--engines", default=",".join(ENGINES[:1]), help=f"of {', '.join(ENGINES)}")
    parser.add_argument("--splits", default="gpt2,cl100k")
    parser.add_argument("--vocab-size", type=int, default=32000)
    parser.add_argument("--threads", type=int, help="of ctok; the others take what they take")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--repeat-to", type=float, metavar="MB", help="make the corpus so large, and half as large")
    args = parser.parse_args()
    if args.repeat_to is None:
        compare(args.corpus, args)
        return
    with tempfile.TemporaryDirectory() as folder:
        for megabytes in (args.repeat_to / 2, args.repeat_to):
            path = enlarged(args.corpus, megabytes, folder)
            print(f"{os.path.getsize(path) / 1e6:.0f} MB", flush=True)
            compare(path, args)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        engine, split, size, threads, path = sys.argv[2:]
        work(engine, path, split, int(size), int(threads) or None)
    else:
        main()
