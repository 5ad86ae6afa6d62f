"""Counting that was interrupted: it goes on at the block of a file where it stood, to the same result."""

import gzip
import json
import os
import random
import signal

import pytest

import ctok
from ctok import train
from ctok.stagespecs import pretokenizers
from ctok.train import BpeTrainer, WordPieceTrainer, _keeping, corpus
from ctok.train._counting import Counting

RNG = random.Random(4)
WORDS = ["".join(RNG.choices("abcdef\u00e9\u4e00", k=RNG.randint(1, 9))) for _ in range(300)]
TEXT = "".join(" ".join(RNG.choices(WORDS, k=12)) + "\n" for _ in range(900))
TRAINERS = {
    "rule": BpeTrainer(500),
    "in order": BpeTrainer(400, form="bytes", ties="first-seen"),
    "no rule": BpeTrainer(400, form="bytes", split=None),
    "stages": WordPieceTrainer(200, pre_tokenizer=pretokenizers.WhitespaceSplit(), min_frequency=2),
}


class Stop(Exception):
    pass


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(corpus, "PIECE", 3001)


@pytest.fixture
def paths(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT, encoding="utf-8")
    (folder / "b.txt.gz").write_bytes(gzip.compress(TEXT[:20000].encode()))
    (folder / "c.jsonl").write_text("".join(json.dumps({"text": line}) + "\n" for line in TEXT.splitlines()), encoding="utf-8")
    (folder / "d.txt").write_text("", encoding="utf-8")
    (folder / "e.txt").write_text(TEXT[5000:], encoding="utf-8")
    return sorted(folder.iterdir())


def interrupted(trainer, source, folder, after, **how):
    """Train until so many blocks are counted; where the next run begins."""
    told = []

    def stop(stage, done, total):
        told.append(done)
        if stage == "count" and len(told) == after:
            raise Stop

    with pytest.raises(Stop):
        trainer.train(source, checkpoint=folder, progress=stop, **how)
    return told[-1]


@pytest.mark.parametrize("after", [1, 2, 30, 47, 60, 80])
@pytest.mark.parametrize("name", TRAINERS)
@pytest.mark.parametrize(("lines", "num_threads"), [(False, 1), (True, 1), (True, 3)])
def test_interrupted_counting_goes_on_to_the_same_result(tmp_path, paths, name, after, lines, num_threads):
    trainer = TRAINERS[name]
    want = trainer.train(paths, lines=lines)
    stood = interrupted(trainer, paths, tmp_path / "kept", after, lines=lines, num_threads=num_threads)
    told = []
    again = trainer.train(paths, lines=lines, checkpoint=tmp_path / "kept", progress=lambda *what: told.append(what))
    assert again == want
    first = next((done for stage, done, _ in told if stage == "count"), stood + 1)
    assert first >= stood or (name == "stages" and not lines)  # a file of one text cannot be left where a normalizer is in it
    assert sorted(os.listdir(tmp_path / "kept")) == ["counts", "merges.json"]


def test_counting_may_be_interrupted_again_and_again(tmp_path, paths):
    trainer = TRAINERS["in order"]
    stood = [interrupted(trainer, paths, tmp_path / "kept", 7) for _ in range(9)]
    assert stood == sorted(stood)
    assert len(set(stood)) > 5
    assert len(os.listdir(tmp_path / "kept")) == 2
    assert trainer.train(paths, checkpoint=tmp_path / "kept") == trainer.train(paths)


@pytest.mark.skipif(signal.getsignal(signal.SIGINT) is signal.SIG_IGN, reason="Ctrl-C is ignored where these tests run")
def test_ctrl_c_in_the_middle_of_a_block_is_raised_behind_it(tmp_path, paths, monkeypatch):
    folder, fed = tmp_path / "kept", []
    trainer, feed = TRAINERS["rule"], Counting.feed

    def interrupted_feed(self, block):
        if len(fed) == 5:
            os.kill(os.getpid(), signal.SIGINT)
        feed(self, block)
        fed.append(block)

    monkeypatch.setattr(Counting, "feed", interrupted_feed)
    with pytest.raises(KeyboardInterrupt):
        trainer.train(paths, checkpoint=folder)
    assert len(fed) == 6 and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    n_blocks = len(fed)
    fed.append(None)
    spec = trainer.train(paths, checkpoint=folder)
    n_left = len(fed) - n_blocks - 1
    fed[:] = [None] * 6
    assert spec == trainer.train(paths)
    assert len(fed) - 6 == n_left + n_blocks


def test_counting_is_kept_now_and_then(tmp_path, paths, monkeypatch):
    monkeypatch.setattr(_keeping, "EVERY", 0.0)
    source = train.files(*paths)
    real, fail = source.placed, 40

    def broken(first):
        for n, item in enumerate(real(first)):
            if n == fail:
                raise OSError("the disk is gone")
            yield item

    monkeypatch.setattr(source, "placed", broken)
    with pytest.raises(OSError, match="gone"):
        TRAINERS["rule"].train(source, checkpoint=tmp_path / "kept")
    told = []
    again = TRAINERS["rule"].train(train.files(*paths), checkpoint=tmp_path / "kept", progress=lambda *what: told.append(what[1]))
    assert again == TRAINERS["rule"].train(paths)
    assert told[0] > 3001 * 38


def test_files_that_changed_are_counted_anew(tmp_path, paths):
    interrupted(TRAINERS["rule"], paths, tmp_path / "kept", 50)
    paths[0].write_text(TEXT[:-40] + "other words here\n", encoding="utf-8")
    told = []
    again = TRAINERS["rule"].train(paths, checkpoint=tmp_path / "kept", progress=lambda *what: told.append(what[1]))
    assert told[0] < 7000
    assert again == TRAINERS["rule"].train(paths)


def test_texts_that_are_no_files_are_counted_from_the_beginning(tmp_path):
    texts = TEXT.splitlines(keepends=True)
    interrupted(TRAINERS["rule"], texts, tmp_path / "kept", 3)
    assert os.listdir(tmp_path / "kept") == []
    assert TRAINERS["rule"].train(texts, checkpoint=tmp_path / "kept") == TRAINERS["rule"].train(texts)


def test_checkpoint_of_counting_with_other_options_or_damaged_is_refused(tmp_path, paths):
    interrupted(TRAINERS["rule"], paths, tmp_path / "kept", 9)
    with pytest.raises(ctok.TrainingError, match="other options"):
        BpeTrainer(501).train(paths, checkpoint=tmp_path / "kept")
    (tmp_path / "kept" / "counting.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ctok.CorpusError, match="not a checkpoint"):
        TRAINERS["rule"].train(paths, checkpoint=tmp_path / "kept")
