"""Training unigram and WordPiece models: time, memory, and the tokens of texts that were not trained on.

    python -m benchmarks.train_models corpus.txt --size 16000 --engines ctok,sentencepiece,tokenizers --models unigram,wordpiece

Of the corpus every 20th line is held out. Each engine learns from a file of the others, in a process of its own; then it encodes what was
held out, line by line. "ctok-spm" is ctok in the manner of sentencepiece, to be compared with that; "ctok" with tokenizers.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

ENGINES = {"unigram": ("ctok", "ctok-spm", "sentencepiece", "tokenizers"), "wordpiece": ("ctok", "tokenizers")}


# ---- the worker: one engine; returns what counts the tokens of lines ----


def by_ctok(model, path, size, threads):
    import ctok
    from ctok import train

    trainer = train.UnigramTrainer(size) if model == "unigram" else train.WordPieceTrainer(size)
    tok = ctok.Tokenizer.from_spec(trainer.train(train.files(path), num_threads=threads))
    return lambda lines: sum(tok.count_batch(lines, add_special_tokens=False))


def by_ctok_like_sentencepiece(model, path, size, threads):
    import ctok
    from ctok import train

    spec = train.UnigramTrainer(size, style="sentencepiece").train(train.files(path), num_threads=threads)
    tok = ctok.Tokenizer.from_spec(spec)
    return lambda lines: sum(tok.count_batch(lines))


def by_sentencepiece(model, path, size, threads):
    import sentencepiece

    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "m")
        sentencepiece.SentencePieceTrainer.train(
            input=path, model_prefix=name, vocab_size=size, num_threads=threads, max_sentence_length=1 << 20, minloglevel=2
        )
        live = sentencepiece.SentencePieceProcessor(name + ".model")
    return lambda lines: sum(map(len, live.encode(lines)))


def by_tokenizers(model, path, size, threads):
    os.environ["RAYON_NUM_THREADS"] = str(threads)
    import tokenizers

    if model == "unigram":
        live = tokenizers.SentencePieceUnigramTokenizer()
        live.train([path], vocab_size=size, show_progress=False, special_tokens=["<unk>"], unk_token="<unk>")
    else:
        live = tokenizers.BertWordPieceTokenizer()
        live.train([path], vocab_size=size, min_frequency=0, limit_alphabet=1 << 20, show_progress=False)
    return lambda lines: sum(len(found.ids) for found in live.encode_batch(lines, add_special_tokens=False))


BY = {"ctok": by_ctok, "ctok-spm": by_ctok_like_sentencepiece, "sentencepiece": by_sentencepiece, "tokenizers": by_tokenizers}


def work(engine, model, path, held_out, size, threads):
    import resource

    wall, used = time.perf_counter(), time.process_time()
    count = BY[engine](model, path, size, threads)
    wall, used = time.perf_counter() - wall, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    with open(held_out, encoding="utf-8") as file:
        lines = file.read().split("\n")
    print(json.dumps({"wall": wall, "cpu": used, "peak": peak, "tokens": count(lines)}))


# ---- the table ----


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--size", type=int, default=16000)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--engines", default="ctok,ctok-spm,sentencepiece,tokenizers")
    parser.add_argument("--models", default="unigram,wordpiece")
    parser.add_argument("--worker", nargs=4, metavar=("ENGINE", "MODEL", "CORPUS", "HELD_OUT"), help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.worker:
        work(*args.worker, args.size, args.threads)
        return
    # Workers import what this process does: an unbuilt tree in the current folder must not hide the installed package.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with tempfile.TemporaryDirectory() as folder:
        with open(args.corpus, encoding="utf-8", errors="ignore") as file:
            lines = file.read().split("\n")
        parts = {"corpus": [line for i, line in enumerate(lines) if i % 20], "held_out": lines[::20]}
        paths = {name: os.path.join(folder, name) for name in parts}
        for name, part in parts.items():
            with open(paths[name], "w", encoding="utf-8") as file:
                file.write("\n".join(part))
        n_bytes = os.path.getsize(paths["held_out"])
        print(f"{'model':10} {'engine':14} {'wall s':>8} {'cpu s':>8} {'peak MB':>8} {'tokens/byte':>12}")
        for model in args.models.split(","):
            for engine in [name for name in args.engines.split(",") if name in ENGINES[model]]:
                own = ["--worker", engine, model, paths["corpus"], paths["held_out"]]
                own += ["--size", str(args.size), "--threads", str(args.threads)]
                command = [sys.executable, __file__, args.corpus, *own]
                done = subprocess.run(command, capture_output=True, text=True, env=environment)
                if done.returncode:
                    sys.exit(f"{engine}, {model}: {done.stderr}")
                told = json.loads(done.stdout.splitlines()[-1])
                rate = told["tokens"] / n_bytes
                print(f"{model:10} {engine:14} {told['wall']:8.2f} {told['cpu']:8.2f} {told['peak']:8} {rate:12.5f}", flush=True)


if __name__ == "__main__":
    main()
