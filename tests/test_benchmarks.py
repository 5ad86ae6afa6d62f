"""The benchmarks run: on tiny texts, ctok alone, in processes of their own as always."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MEASURES = "encode,short,count,decode,stream_decode,stream_encode,reencode,pretoken,constant,start,event_loop"

pytestmark = pytest.mark.skipif(not (ROOT / "benchmarks" / "run.py").exists(), reason="the benchmarks are not beside the tests")


def run(code, *arguments, cwd):
    """The clone comes last on the path, so that an unbuilt tree does not hide the installed package."""
    start = f"import sys; sys.path.append({str(ROOT)!r}); {code}"
    return subprocess.run([sys.executable, "-c", start, *arguments], cwd=cwd, capture_output=True, text=True, encoding="utf-8")


@pytest.fixture
def data(tmp_path):
    texts = {"en": "some words, again and again; ", "code": "if x[1] != 'a':\n    y += 2\n", "multi": "größer, 你好世界, привет 😀 "}
    for kind, text in texts.items():
        (tmp_path / f"{kind}.txt").write_text(text * 200, encoding="utf-8", newline="")
    return tmp_path


@pytest.mark.slow
def test_benchmarks_on_tiny_texts_every_measure_gives_figures(data):
    sizes = "--length 800 --repeats 1 --rounds 2 --giant 0.01 --megabytes 0.02 --stream-megabytes 0.02".split()
    command = ["--data", str(data), "--encodings", "o200k_base", "--only", MEASURES, "--json", str(data / "out.json"), *sizes]
    done = run("from benchmarks.run import main; main()", *command, cwd=data)
    assert done.returncode == 0, done.stderr
    report = json.loads((data / "out.json").read_text(encoding="utf-8"))
    assert report["versions"]["o200k_base"]["ctok"]
    assert len({row["measure"] for row in report["rows"]}) == MEASURES.count(",") + 1
    for row in report["rows"]:
        assert row["wall"] is not None or row["cpu"] is not None, row


def test_race_with_another_result_refuses_it(data):
    code = """
from benchmarks.race import Contestant, Race
from benchmarks.client import Setup
class Other(Race):
    def _one(self, result, turn, path, options):
        super()._one(result, turn, path, options)
        if result.label == "wrong":
            result.answers[turn]["print"] = "another"
race = Other(Setup({"ctok": sys.executable}, ".", -1), "o200k_base", [Contestant("ctok", "encode"), Contestant("ctok", "encode", "wrong")])
print([result.refused for result in race.run([sys.argv[1]])])
"""
    done = run("exec(sys.argv.pop(1))", code, str(data / "en.txt"), cwd=data)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[None, 'result differs")


def test_tokenizer_json_of_small_ranks_lists_every_way_to_merge(data):
    code = "from benchmarks.tokenizer_json import merges_of; print(list(merges_of({b'a': 0, b'b': 1, b'ab': 2, b'ba': 3, b'aba': 4})))"
    done = run(code, cwd=data)
    assert done.stdout.strip() == "[(b'a', b'b'), (b'b', b'a'), (b'a', b'ba'), (b'ab', b'a')]", done.stderr


@pytest.mark.slow
def test_benchmark_of_trained_models_gives_a_table(data):
    text = str(data / "code.txt")
    done = run("from benchmarks.train_models import main; main()", text, "--size", "40", "--engines", "ctok", cwd=data)
    assert done.returncode == 0, done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:]] == [["unigram", "ctok"], ["wordpiece", "ctok"]]


@pytest.mark.parametrize("name", ["spm_own.json", "own.json", "hf_own.json", "own/tokenizer.json"])
def test_tokenizer_json_of_a_model_is_found_by_the_names_that_are_usual(tmp_path, name):
    code = "from benchmarks.pieces import beside; print(*(beside('x/spm_own.model', given) for given in sys.argv[1:]))"
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("{}")
    done = run(code, str(tmp_path), str(path), str(tmp_path / "none"), cwd=tmp_path)
    assert done.stdout.split() == [str(path), str(path), "None"], done.stderr
