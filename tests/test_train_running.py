"""How training runs: progress, checkpoints, interruptions, event loops, threads, shards given to executors."""

import logging
import os
import random
import subprocess
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest

import ctok
from core import GPT2, O200K
from ctok import train
from ctok.stagespecs import pretokenizers
from ctok.train import BpeTrainer, Counts, _progress, bpe, corpus, count_shards

RNG = random.Random(3)
WORDS = ["".join(RNG.choices("abcdefgh", k=RNG.randint(2, 9))) for _ in range(700)]
TEXTS = [" ".join(RNG.choices(WORDS, k=60)) + "\n" for _ in range(250)]
TRAINER = BpeTrainer(900, special_tokens=["<end>"])


@pytest.fixture(scope="module")
def want():
    return TRAINER.train(TEXTS)


@pytest.fixture
def small_steps(monkeypatch):
    """Many steps, so that a run can be stopped in the middle of each stage."""
    monkeypatch.setattr(bpe, "STEP", 1e-9)
    monkeypatch.setattr(corpus, "PIECE", 5000)


class Stop(Exception):
    pass


def stopping(stage, after):
    """A progress function that raises in a stage."""
    calls = []

    def progress(now, done, total):
        if now == stage:
            calls.append(done)
            if len(calls) == after:
                raise Stop

    return progress


# ---- progress ----


def test_k7_20_progress_is_told_in_every_stage_and_never_passes_its_total(tmp_path, small_steps):
    (tmp_path / "a.txt").write_text("".join(TEXTS), encoding="utf-8")
    told = []
    TRAINER.train(train.files(tmp_path / "a.txt"), progress=lambda *what: told.append(what))
    assert list(dict.fromkeys(stage for stage, _, _ in told)) == ["count", "pairs", "merge"]
    for stage in ("count", "merge"):
        steps = [(done, total) for name, done, total in told if name == stage]
        assert len(steps) > 5
        assert [done for done, _ in steps] == sorted(done for done, _ in steps)
        assert all(done <= total for done, total in steps)
        assert steps[-1][0] == steps[-1][1]


def test_k7_31_progress_true_writes_to_the_log_where_there_is_no_terminal(monkeypatch, caplog, small_steps):
    monkeypatch.setattr(_progress, "LOGGED", 0.0)
    monkeypatch.setattr(_progress, "_is_terminal", lambda: False)
    with caplog.at_level(logging.INFO, "ctok.train"):
        TRAINER.train(TEXTS, progress=True)
    lines = [record.getMessage() for record in caplog.records]
    assert any(line.startswith("counting pretokens: ") and " MB" in line for line in lines)
    assert any(line.startswith("learning merges: 6") and "of 643 steps" in line and "steps/s" in line for line in lines)
    assert any(line.endswith("s left") for line in lines)


def test_progress_true_shows_a_bar_on_a_terminal(monkeypatch, capsys, small_steps):
    pytest.importorskip("rich")
    monkeypatch.setattr(_progress, "_is_terminal", lambda: True)
    TRAINER.train(TEXTS, progress=True)
    assert "learning merges" in capsys.readouterr().err


@pytest.mark.parametrize("closing", ["", "import os; os.close(1); os.close(2)"], ids=["broken", "closed"])
def test_k2_22_training_finishes_where_nobody_reads_its_progress(tmp_path, closing):
    code = "from ctok import train\ntrain.BpeTrainer(300).train(['the cat sat on the mat '] * 2000, progress=True)\nopen('done', 'w')"
    ours = {**os.environ, "PYTHONPATH": str(Path(ctok.__file__).parent.parent)}
    reader, writer = os.pipe()
    os.close(reader)
    try:
        subprocess.run([sys.executable, "-c", f"{closing}\n{code}"], cwd=tmp_path, env=ours, stdout=writer, stderr=writer, timeout=60)
    finally:
        os.close(writer)
    assert (tmp_path / "done").exists()


def test_k8_08_a_corpus_made_by_python_is_counted_by_threads():
    made = (" ".join(reversed(text.split(" "))) for text in TEXTS)
    again = [" ".join(reversed(text.split(" "))) for text in TEXTS]
    assert TRAINER.train(made, num_threads=4) == TRAINER.train(again, num_threads=1)


# ---- stopping and going on ----


@pytest.mark.parametrize(("stage", "after"), [("count", 2), ("pairs", 1), ("merge", 1), ("merge", 9), ("merge", 200)])
def test_run_that_was_stopped_goes_on_to_the_same_result(tmp_path, small_steps, want, stage, after):
    with pytest.raises(Stop):
        TRAINER.train(TEXTS, progress=stopping(stage, after), checkpoint=tmp_path / "state")
    told = []
    spec = TRAINER.train(TEXTS, progress=lambda *what: told.append(what), checkpoint=tmp_path / "state")
    assert spec == want
    assert ("count" in {name for name, _, _ in told}) == (stage == "count")
    if after == 200:
        first = next(done for name, done, _ in told if name == "merge")
        assert first > 50
    assert TRAINER.train(TEXTS, checkpoint=tmp_path / "state") == want


def test_ctrl_c_leaves_a_checkpoint_from_which_a_run_goes_on(tmp_path, small_steps, want):
    def interrupt(stage, done, total):
        if stage == "merge" and done > 300:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        TRAINER.train(TEXTS, progress=interrupt, checkpoint=tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["counts", "merges.json"]
    done = []
    assert TRAINER.train(TEXTS, progress=lambda *what: done.append(what), checkpoint=tmp_path) == want
    assert min(n for stage, n, _ in done if stage == "merge") > 300


def test_checkpoint_of_other_options_or_damaged_is_refused(tmp_path):
    TRAINER.train(TEXTS, checkpoint=tmp_path)
    with pytest.raises(ctok.TrainingError, match="other options"):
        BpeTrainer(800).train(TEXTS, checkpoint=tmp_path)
    (tmp_path / "merges.json").write_text("[]", encoding="utf-8")
    with pytest.raises(ctok.CorpusError, match="not a checkpoint"):
        TRAINER.train(TEXTS, checkpoint=tmp_path)


def test_memory_limit_holds_for_learning():
    with pytest.raises(ctok.MemoryLimitError, match="max_memory"):
        TRAINER.train(train.count_pretokens(TEXTS, ctok.Split(GPT2)), max_memory=1000)


@pytest.mark.parametrize("num_threads", [1, 2, 5])
def test_result_is_the_same_for_any_number_of_threads(small_steps, want, num_threads):
    assert TRAINER.train(TEXTS, num_threads=num_threads) == want


def test_result_is_the_same_for_any_order_and_any_shards(want):
    texts = list(TEXTS)
    RNG.shuffle(texts)
    assert TRAINER.train(texts) == want
    pre = TRAINER._stages()[0]
    parts = [train.count_pretokens(texts[i::3], pre) for i in range(3)]
    assert TRAINER.train(parts) == want
    assert TRAINER.train(dict(parts[0].merge(*parts[1:]))) == want


# ---- event loops ----


@pytest.mark.anyio
async def test_train_async_gives_the_same_and_keeps_the_loop_alive(small_steps, want):
    async def source():
        for text in TEXTS:
            yield text

    beats = 0

    async def beat():
        nonlocal beats
        while True:
            await anyio.sleep(0.001)
            beats += 1

    async with anyio.create_task_group() as group:
        group.start_soon(beat)
        assert await TRAINER.train_async(source()) == want
        assert await TRAINER.train_async(TEXTS) == want
        group.cancel_scope.cancel()
    assert beats > 3


@pytest.mark.anyio
async def test_train_async_can_be_cancelled_and_goes_on(tmp_path, small_steps, want):
    with anyio.CancelScope() as scope:
        await TRAINER.train_async(
            TEXTS, checkpoint=tmp_path, progress=lambda stage, done, _: scope.cancel() if stage == "merge" and done > 100 else None
        )
    assert scope.cancelled_caught
    assert await TRAINER.train_async(TEXTS, checkpoint=tmp_path) == want


@pytest.mark.anyio
async def test_train_async_passes_on_what_a_source_raises():
    async def source():
        yield "a b c"
        raise Stop

    with pytest.raises(Stop):
        await TRAINER.train_async(source())

    async def wrong():
        yield "a b c"
        yield None

    with pytest.raises(TypeError, match="text 1 of the corpus"):
        await TRAINER.train_async(wrong())


# ---- shards ----

SHARDS = [TEXTS[i : i + 30] for i in range(0, len(TEXTS), 30)]


@pytest.mark.parametrize("order", [False, True])
def test_shards_counted_anywhere_are_the_whole_corpus(order):
    whole = train.count_pretokens(TEXTS, ctok.Split(GPT2), order=order)
    found = [count_shards(SHARDS, ctok.Split(GPT2), order=order)]
    with ThreadPoolExecutor(3) as pool:
        found.append(count_shards(SHARDS, ctok.Split(GPT2), executor=pool, order=order))
    for counts in found:
        assert counts == whole
        assert counts.total == whole.total
        if order:
            firsts = [[word for _, (word, _) in sorted(zip(memoryview(c.firsts).cast("Q"), c))] for c in (counts, whole)]
            assert firsts[0] == firsts[1]


def test_shards_counted_by_processes(tmp_path):
    paths = []
    for number, shard in enumerate(SHARDS):
        paths.append(tmp_path / f"{number}.txt")
        paths[-1].write_text("".join(shard), encoding="utf-8")
    from multiprocessing import get_context

    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        counts = count_shards(paths, ctok.Split(O200K), executor=pool)
    assert counts == train.count_pretokens(paths, ctok.Split(O200K))


class Losing(Executor):
    """An executor that loses what it is given at certain turns, some of it after the work was done; at last it breaks altogether."""

    def __init__(self, lost, breaks_at=None):
        self.turn, self.lost, self.breaks_at, self.worked = 0, lost, breaks_at, 0

    def submit(self, fn, /, *args, **kwargs):
        self.turn += 1
        if self.breaks_at is not None and self.turn > self.breaks_at:
            raise RuntimeError("broken")
        future = Future()
        result = fn(*args, **kwargs) if self.turn % 2 else None
        if self.turn in self.lost:
            future.set_exception(OSError("the worker is gone"))
        else:
            self.worked += 1
            future.set_result(result or fn(*args, **kwargs))
        return future


def test_shard_of_a_lost_worker_is_counted_again_and_never_twice():
    whole = train.count_pretokens(TEXTS, ctok.Split(GPT2))
    losing = Losing({1, 2, 5, 9, 10, 11})
    assert count_shards(SHARDS, ctok.Split(GPT2), executor=losing) == whole
    assert losing.worked == len(SHARDS)
    assert count_shards(SHARDS, ctok.Split(GPT2), executor=Losing({2}, breaks_at=4)) == whole
    with pytest.raises(OSError, match="the worker is gone"):
        count_shards(SHARDS[:1], ctok.Split(GPT2), executor=Losing({1, 2}), retries=1)


def test_shard_that_cannot_be_counted_is_not_tried_again(tmp_path):
    losing = Losing(set())
    with pytest.raises(ctok.CorpusError, match="not UTF-8"):
        count_shards([["a"], [b"\xff"]], ctok.Split(GPT2), executor=losing)
    assert losing.turn == 2
    told = []
    count_shards([["a"], ["b"]], executor=Losing(set()), progress=lambda *what: told.append(what))
    assert told[-1] == ("count", 2, 2)


def test_shards_counted_by_a_dask_cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        counts = count_shards(SHARDS, ctok.Split(GPT2), executor=client.get_executor())
    assert counts == train.count_pretokens(TEXTS, ctok.Split(GPT2))


def test_counts_cut_another_way_than_the_trainer_does_are_told():
    counts = train.count_pretokens(TEXTS, pretokenizers.WhitespaceSplit())
    with pytest.warns(UserWarning, match="cut in another way"):
        TRAINER.train(counts)
    assert Counts.from_mapping({"a": 1}).how == ""
