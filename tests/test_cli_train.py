"""`ctok train`, `ctok count-shard` and `ctok merge-counts`."""

import gzip
import json
from types import SimpleNamespace

import pytest

from core import GPT2
from ctok import formats, load, train
from test_cli_commands import ctok  # noqa: F401 - a fixture

TEXT = "the cat sat on the mat, the cat sat on the hat. " * 30 + "日本語 12345\n"


@pytest.fixture
def run(ctok):  # noqa: F811
    def call(*words):
        status, out, err = ctok(*words)
        return SimpleNamespace(status=status, out=out.decode(), err=err)

    return call


@pytest.fixture
def text(tmp_path):
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    return tmp_path / "a.txt"


@pytest.mark.parametrize(("name", "options"), [
    ("tokenizer.json", []),
    ("own.json", ["--set", "split=o200k", "--special-token", "<|end|>", "--special-token", "<pad>"]),
    ("own.tiktoken", ["--set", "form=bytes"]),
    ("own.bin", ["--set", "form=bytes", "--set", "split=null"]),
    ("vocab.json", []),
])  # fmt: skip
def test_train_bpe_writes_what_the_name_says(run, text, tmp_path, name, options):
    done = run("train", "bpe", str(text), "--vocab-size", "290", "-o", str(tmp_path / name), *options)
    assert done.status == 0, done.err
    assert done.out.splitlines()[0] == str(tmp_path / name)
    pattern = {"pattern": GPT2} if name.endswith(".tiktoken") else {}
    tok = load(tmp_path if name == "vocab.json" else tmp_path / name, **pattern)
    assert tok.decode(tok.encode(TEXT)) == TEXT
    assert len(tok.encode(TEXT)) < len(TEXT) / 2


@pytest.mark.parametrize("kind", ["bpe", "unigram", "word", "char"])
def test_the_name_of_a_model_file_asks_for_its_manner(run, text, tmp_path, kind):
    told = ["--set", "hard_vocab_limit=false"] if kind == "unigram" else []
    done = run("train", kind, str(text), "--vocab-size", "40", "-o", str(tmp_path / "own.model"), *told)
    assert done.status == 0, done.err
    assert formats.load(tmp_path / "own.model").model.kind == kind


@pytest.mark.parametrize(
    "kind, name, options",
    [
        ("wordpiece", "own.model", []),
        ("unigram", "own.tiktoken", []),
        ("bpe", "own.tiktoken", ["--set", "form=characters"]),
        ("bpe", "own.model", ["--set", "form=bytes"]),
        ("bpe", "vocab.txt", []),
        ("word", "vocab.json", []),
    ],
)
def test_what_the_output_cannot_say_is_refused_before_training(run, text, tmp_path, kind, name, options):
    done = run("train", kind, str(text), "--vocab-size", "60", "-o", str(tmp_path / name), *options, "--set", "nope=1")
    assert done.status == 64 and "cannot say" in done.err and not (tmp_path / name).exists()


def test_what_the_output_cannot_say_after_training_is_kept(run, text, tmp_path):
    path = tmp_path / "vocab.json"
    done = run("train", "bpe", str(text), "--vocab-size", "290", "-o", str(path), "--set", "split=o200k")
    assert done.status == 1 and "vocab.json.bin" in done.err and not path.exists()
    tok = load(tmp_path / "vocab.json.bin")
    assert tok.decode(tok.encode(TEXT)) == TEXT


@pytest.mark.parametrize(
    "command",
    [
        ["train", "bpe", "no.txt", "--vocab-size", "300"],
        ["count-shard", "no.txt"],
        ["merge-counts", "no.counts"],
        ["extend", "o200k_base", "no.txt", "--tokens", "5"],
        ["convert", "o200k_base"],
    ],
    ids=lambda command: command[0],
)
def test_a_folder_that_is_not_there_is_told_before_anything_is_read(run, tmp_path, command):
    path = str(tmp_path / "none" / "a.json")
    done = run(*command, *([path] if command[0] == "convert" else ["-o", path]))
    assert done.status == 1 and done.err == f"ctok: {path}: there is no folder {str(tmp_path / 'none')!r}\n"


def test_counts_of_shards_train_the_same(run, tmp_path):
    texts = [TEXT[i : i + 300] for i in range(0, len(TEXT), 300)]
    for number in range(2):
        lines = "".join(json.dumps({"body": text}) + "\n" for text in texts[number::2])
        (tmp_path / f"{number}.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
        done = run("count-shard", str(tmp_path / f"{number}.jsonl.gz"), "--field", "body", "-o", str(tmp_path / f"{number}.counts"))
        assert done.status == 0, done.err
        assert "pretokens" in done.err
    done = run("merge-counts", str(tmp_path / "1.counts"), str(tmp_path / "0.counts"), "-o", str(tmp_path / "all.counts"))
    assert (done.status, done.out) == (0, f"{tmp_path / 'all.counts'}\n"), done.err
    for given in (["all.counts"], ["0.counts", "1.counts"]):
        paths = [str(tmp_path / name) for name in given]
        done = run("train", "bpe", "--counts", *paths, "--vocab-size", "290", "-o", str(tmp_path / f"{given[0]}.json"))
        assert done.status == 0, done.err
    done = run("train", "bpe", str(tmp_path / "*.jsonl.gz"), "--field", "body", "--vocab-size", "290", "-o", str(tmp_path / "text.json"))
    assert done.status == 0, done.err
    found = {(tmp_path / name).read_bytes() for name in ("all.counts.json", "0.counts.json", "text.json")}
    assert len(found) == 1
    pruned = run("merge-counts", str(tmp_path / "all.counts"), "-o", str(tmp_path / "few.counts"), "--min-count", "30")
    assert pruned.status == 0
    assert all(count >= 30 for _, count in train.Counts.load(tmp_path / "few.counts"))


def test_train_goes_on_from_a_checkpoint(run, text, tmp_path):
    command = ["train", "bpe", str(text), "--vocab-size", "280", "-o", str(tmp_path / "a.json"), "--checkpoint", str(tmp_path / "state")]
    assert run(*command).status == 0
    first = (tmp_path / "a.json").read_bytes()
    assert run(*command).status == 0
    assert (tmp_path / "a.json").read_bytes() == first
    assert sorted(path.name for path in (tmp_path / "state").iterdir()) == ["counts", "merges.json"]


def test_a_vocabulary_that_comes_out_smaller_is_noted(run, text, tmp_path):
    done = run("train", "bpe", str(text), "--vocab-size", "5000", "-o", str(tmp_path / "a.json"))
    assert done.status == 0
    assert "ctok: note: this corpus gives" in done.err


@pytest.mark.parametrize(("words", "status", "told"), [
    (["train", "bpe", "--vocab-size", "300", "-o", "x.json"], 64, "give files of text, or --counts"),
    (["train", "nope", "a", "--vocab-size", "300", "-o", "x.json"], 64, "invalid choice"),
    (["train", "bpe", "missing.txt", "--vocab-size", "300", "-o", "x.json"], 1, "missing.txt: no such file"),
    (["train", "bpe", "a", "--vocab-size", "300", "-o", "x.json", "--set", "nope=1"], 64, "no option 'nope'"),
    (["train", "bpe", "a", "--vocab-size", "300", "-o", "x.json", "--set", "nope"], 64, "write --set NAME=VALUE"),
    (["count-shard", "-o", "x.counts"], 64, "give files of text"),
    (["merge-counts", "missing", "-o", "x.counts"], 1, "missing"),
])  # fmt: skip
def test_wrong_usage_is_told(run, words, status, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*words)
    assert done.status == status
    assert told in done.err


def test_train_writes_over_nothing_unasked_and_wants_a_name_that_says_the_format(run, text, tmp_path):
    out = tmp_path / "a.json"
    out.write_text("mine")
    command = ["train", "bpe", str(text), "--vocab-size", "280", "-o"]
    done = run(*command, str(out))
    assert done.status == 1 and "it exists; use -f" in done.err and out.read_text() == "mine"
    assert run(*command, str(out), "-f").status == 0 and out.read_text() != "mine"
    done = run(*command, str(tmp_path / "a.xyz"))
    assert done.status == 64 and "does not say a format" in done.err
