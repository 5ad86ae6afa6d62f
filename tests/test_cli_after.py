"""`ctok extend`, `ctok prune`, `ctok explain`."""

import pytest

from ctok import formats, load
from ctok.conversion import convert
from ctok.train import UnigramTrainer
from test_cli_commands import ctok  # noqa: F401 - a fixture
from test_train_after import NEW, OLD, by_rank, wordpiece


@pytest.fixture
def folder(tmp_path):
    formats.dump(by_rank(), tmp_path / "small.bin")
    formats.dump(wordpiece(), tmp_path / "wordpiece.json")
    (tmp_path / "new.txt").write_text("\n".join(NEW), encoding="utf-8")
    (tmp_path / "old.txt").write_text("\n".join(OLD), encoding="utf-8")
    return tmp_path


def test_extend_writes_a_longer_vocabulary_and_says_how_much(ctok, folder):  # noqa: F811
    made = folder / "longer.bin"
    status, out, err = ctok("extend", folder / "small.bin", folder / "new.txt", "-n", 9, "-o", made)
    assert (status, out.decode().split()) == (0, [str(made)])
    assert "9 tokens more" in err
    assert max(load(made).encode(NEW[0])) > 2007
    assert ctok("extend", folder / "small.bin", folder / "new.txt", "-n", 9, "-o", made)[0] == 1
    assert ctok("extend", folder / "small.bin", folder / "new.txt", "-n", 9, "-o", made, "-f")[0] == 0


def test_prune_writes_the_old_ids(ctok, folder):  # noqa: F811
    made, rows = folder / "less.json", folder / "rows.txt"
    status, _, err = ctok("prune", folder / "wordpiece.json", folder / "old.txt", "-n", 57, "-o", made, "--map", rows)
    assert status == 0, err
    old = {number: text for text, number in wordpiece().model.tokens}
    ids = [int(line) for line in rows.read_text().split()]
    assert len(ids) == 57
    assert dict(formats.load(made).model.tokens) == {old[number]: new for new, number in enumerate(ids)}
    status, _, err = ctok("prune", folder / "wordpiece.json", "-n", 5, "-o", made, "-f")
    assert (status, "must stay" in err) == (1, True)
    assert ctok("prune", folder / "wordpiece.json", "-o", made, "-f")[0] == 1


def test_model_files_are_extended_and_pruned(ctok, folder):  # noqa: F811
    words = {"\u2581" + word: 1 + OLD[0].count(word) for line in OLD for word in line.split()}
    spec = UnigramTrainer(60, style="sentencepiece", hard_vocab_limit=False, character_coverage=1.0).train(words)
    formats.dump(spec, folder / "old.model")
    status, _, err = ctok("prune", folder / "old.model", "-n", len(spec.model.tokens) - 2, "-o", folder / "less.model")
    assert status == 0, err
    assert len(formats.load(folder / "less.model").model.tokens) == len(spec.model.tokens) - 2


def test_explain_draws_the_tree(ctok, folder):  # noqa: F811
    status, out, _ = ctok("explain", " the", "-T", folder / "small.bin")
    assert status == 0
    assert out.decode().startswith("' the' ")
    assert "\u251c\u2500 " in out.decode()


def test_specifications_of_ranks_are_written_as_json(ctok, folder):  # noqa: F811
    pytest.importorskip("tokenizers")
    made = folder / "made.json"
    assert ctok("prune", folder / "small.bin", folder / "old.txt", "-o", made)[0] == 0
    tok = load(made)
    assert tok.decode(tok.encode(OLD[0])) == OLD[0]
    assert convert(by_rank(), "tokenizer_json")


@pytest.mark.parametrize(("kind", "name", "options"), [
    ("unigram", "tokenizer.json", []),
    ("unigram", "own.model", ["--set", "style=sentencepiece", "--set", "hard_vocab_limit=false"]),
    ("wordpiece", "tokenizer.json", ["--set", "algorithm=likelihood", "--set", "min_frequency=2"]),
    ("wordpiece", "vocab.txt", []),
    ("word", "words.json", ["--special-token", "<s>"]),
    ("char", "chars.json", []),
    ("char", "chars.model", ["--set", "style=sentencepiece"]),
])  # fmt: skip
def test_train_writes_every_kind(ctok, folder, kind, name, options):  # noqa: F811
    status, out, err = ctok("train", kind, folder / "old.txt", "--vocab-size", 60, "-o", folder / name, "--threads", 1, "-q", *options)
    assert status == 0, err
    assert out.decode().split() == [str(folder / name)]
    tok = load(folder / name)
    assert tok.count(OLD[0]) > 5
