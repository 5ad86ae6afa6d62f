"""`ctok count`: files, trees, limits, and every shape of the table. Counts are compared with encoding the whole text."""

import csv
import io
import json
import os
import sys

import pytest

from ctok.cli import main
from ctok.cli._walk import matches
from ctok.registry import load

FILES = {
    "a.py": "print('hello world')\n" * 30,
    "b.txt": "naïve 你好 👩\u200d🚀 " * 40,
    "empty.md": "",
    "src/c.py": "x = 1\n",
    "src/deep/d.PY": "y = 'don\\'t'\n" * 3,
    "docs/e.md": "# Title\n\ntext " * 7,
    ".hidden/f.py": "hidden",
    ".g.py": "hidden, too",
}


@pytest.fixture(scope="module")
def tok():
    return load("o200k_base")


@pytest.fixture
def tree(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return tmp_path / "tree"


@pytest.fixture
def count(capsysbinary, monkeypatch):
    def call(*argv, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = main(["count", *map(str, argv)])
        out, err = capsysbinary.readouterr()
        return status, out.decode("utf-8", "surrogateescape"), err.decode()

    return call


def visible(tok, *suffixes):
    """{name: tokens} of the files that a walk takes."""
    names = [name for name in FILES if not name.startswith(".") and (not suffixes or name.endswith(suffixes))]
    return {name: tok.count(FILES[name]) for name in names}


# ---- one text, several files ----


@pytest.mark.parametrize("size", [1, 7, 64, 1 << 20])
def test_count_in_chunks_is_that_of_the_whole(count, tok, tree, monkeypatch, size):
    monkeypatch.setattr("ctok.cli._io.CHUNK", size)
    for name in ("a.py", "b.txt", "empty.md"):
        assert count(tree / name) == (0, f"{tok.count(FILES[name])}\n", "")
        assert count("-", stdin=FILES[name].encode()) == (0, f"{tok.count(FILES[name])}\n", "")


def test_count_stdin_is_the_default(count):
    assert count(stdin=b"hello world") == (0, "2\n", "")
    assert count("-", "-")[0] == 64


def test_count_of_several_files_is_a_table_with_a_total(count, tok, tree):
    status, out, _ = count(tree / "a.py", "-", tree / "b.txt", stdin=b"hello world")
    rows = [line.split(None, 1) for line in out.splitlines()]
    want = [(tok.count(FILES["a.py"]), str(tree / "a.py")), (2, "-"), (tok.count(FILES["b.txt"]), str(tree / "b.txt"))]
    assert status == 0
    assert [(int(number), name) for number, name in rows] == [*want, (sum(n for n, _ in want), "total")]


def test_count_specials(count, tok):
    text = b"a<|endoftext|>"
    assert count(stdin=text)[1] == f"{tok.count(text)}\n"
    assert count("--allow-special", stdin=text)[1] == "2\n"
    status, out, err = count("--specials", "raise", stdin=text)
    assert (status, out, "--specials all" in err) == (1, "", True)


@pytest.mark.parametrize("size", [3, 1 << 20])
def test_count_of_text_that_is_not_utf8(count, tok, tree, monkeypatch, size):
    monkeypatch.setattr("ctok.cli._io.CHUNK", size)
    (tree / "latin").write_bytes(b"caf\xe9 au lait")
    status, out, err = count(tree / "latin", tree / "a.py")
    assert status == 1
    assert "invalid UTF-8 (byte 0xE9) at byte 3; use --errors replace" in err
    assert out.splitlines()[-1].split() == [str(tok.count(FILES["a.py"])), "total"]
    replaced = tok.count("caf\ufffd au lait")
    assert count(tree / "latin", "--errors", "replace") == (0, f"{replaced}\n", "")


def test_count_goes_on_after_a_file_that_is_missing(count, tok, tree):
    status, out, err = count(tree / "none", tree / "a.py")
    assert (status, len(out.splitlines())) == (1, 2)
    assert err == f"ctok: {tree / 'none'}: no such file; arguments are files here, text goes to standard input\n"


def test_count_of_a_directory_needs_r(count, tree):
    status, out, err = count(tree)
    assert (status, out) == (1, "")
    assert "is a directory; -r counts what is in it" in err


# ---- limits ----


def test_count_limit_exits_2_when_it_is_exceeded(count):
    assert count("--limit", 2, stdin=b"hello world") == (0, "2\n", "")
    assert count("--limit", 1, stdin=b"hello world") == (2, "2\n", "ctok: 2 tokens: 1 over the limit of 1\n")
    assert count("--limit", 0, stdin=b"") == (0, "0\n", "")
    assert count("--limit", -1, stdin=b"")[0] == 64


def test_count_limit_is_for_the_total(count, tok, tree):
    both = tok.count(FILES["a.py"]) + tok.count(FILES["b.txt"])
    assert count(tree / "a.py", tree / "b.txt", "--limit", both)[0] == 0
    assert count(tree / "a.py", tree / "b.txt", "--limit", both - 1, "-q") == (2, f"{both}\n", "")


# ---- trees ----


def table(out):
    return {line.split(None, 1)[1]: int(line.split(None, 1)[0]) for line in out.splitlines()}


def test_count_tree_takes_files_in_order_and_leaves_hidden_ones(count, tok, tree):
    status, out, err = count("-r", tree)
    want = {str(tree / name): tokens for name, tokens in visible(tok).items()}
    assert (status, err) == (0, "")
    rows = table(out)
    assert rows.pop("total") == sum(want.values())
    assert rows == want
    assert list(rows) == [str(tree / name) for name in ("a.py", "b.txt", "empty.md", "docs/e.md", "src/c.py", "src/deep/d.PY")]
    assert len(table(count("-r", "--hidden", tree)[1])) == len(FILES) + 1


def test_count_tree_without_a_path_is_here(count, tok, tree, monkeypatch):
    monkeypatch.chdir(tree)
    assert table(count("-r")[1])["src/c.py"] == tok.count(FILES["src/c.py"])


def test_count_tree_of_a_single_file_is_a_bare_number(count, tok, tree):
    assert count("-r", tree / "a.py")[1] == f"{tok.count(FILES['a.py'])}\n"


def test_count_tree_include_and_exclude(count, tree):
    def names(*options):
        return [os.path.relpath(name, tree) for name in table(count("-r", tree, *options)[1]) if name != "total"]

    assert names("--include", "*.py") == ["a.py", "src/c.py"]
    assert names("--include", "*.py", "--include", "*.md") == ["a.py", "empty.md", "docs/e.md", "src/c.py"]
    assert names("--include", "src/*") == ["src/c.py", "src/deep/d.PY"]
    assert names("--exclude", "src") == ["a.py", "b.txt", "empty.md", "docs/e.md"]
    assert names("--exclude", "src/deep/", "--exclude", "*.md") == ["a.py", "b.txt", "src/c.py"]


def test_walk_patterns():
    assert matches("a/b.py", ["*.py"])
    assert matches("a/b.py", ["a/*"])
    assert not matches("a/b.py", ["a"])
    assert not matches("a/B.PY", ["*.py"])


def test_count_tree_skips_binary_files_and_says_so(count, tree):
    (tree / "image").write_bytes(b"\x89PNG\0\0")
    (tree / "latin").write_bytes(b"caf\xe9")
    status, out, err = count("-r", tree)
    assert status == 0
    assert "image" not in out and "latin" not in out
    binary, ill_formed = err.splitlines()
    assert binary == "ctok: 1 binary file skipped"
    assert ill_formed == "ctok: 1 file skipped for not being UTF-8; --errors replace counts such files"
    status, out, err = count("-r", tree, "--errors", "replace")
    assert (status, "latin" in out, "image" in out) == (0, True, False)
    assert err == "ctok: 1 binary file skipped\n"
    assert count("-r", "-q", tree)[2] == ""


def test_count_tree_does_not_follow_links(count, tree):
    (tree / "loop").symlink_to(tree)
    (tree / "twin.py").symlink_to(tree / "a.py")
    assert not {str(tree / "loop"), str(tree / "twin.py")} & set(table(count("-r", tree)[1]))


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may read everything")
def test_count_tree_with_a_folder_that_cannot_be_read(count, tree):
    (tree / "src").chmod(0)
    try:
        status, out, err = count("-r", tree)
    finally:
        (tree / "src").chmod(0o755)
    assert (status, "Permission denied" in err, "total" in out) == (1, True, True)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_count_tree_with_a_name_that_is_not_utf8(count, tree):
    with open(os.path.join(os.fsencode(tree), b"\xff.py"), "wb") as file:
        file.write(b"hello world")
    assert f"{tree}/\udcff.py" in count("-r", tree)[1]
    assert any(row["name"] == f"{tree}/\udcff.py" for row in json.loads(count("-r", tree, "--json")[1])["rows"])


# ---- shapes ----


def test_count_by_extension(count, tok, tree):
    (tree / "Makefile").write_text("all:")
    lines = [line.split() for line in count("-r", tree, "--by", "ext")[1].splitlines()]
    python = sum(visible(tok, ".py", ".PY").values())
    assert [str(python), "3", "files", ".py"] in lines
    assert [str(tok.count("all:")), "1", "file", "(none)"] in lines
    assert lines[-1][1:] == ["7", "files", "total"]
    assert [int(line[0]) for line in lines[:-1]] == sorted((int(line[0]) for line in lines[:-1]), reverse=True)


def test_count_by_directory(count, tok, tree):
    rows = json.loads(count("-r", tree, "--by", "dir", "--json")[1])["rows"]
    found = {os.path.relpath(row["name"], tree): (row["tokens"], row["files"]) for row in rows}
    assert found["src"] == (tok.count(FILES["src/c.py"]), 1)
    assert found["."][1] == 3


def test_count_json_says_all(count, tok, tree):
    (tree / "image").write_bytes(b"\0")
    status, out, _ = count("-r", tree, "--json", "--limit", 100000)
    told = json.loads(out)
    want = visible(tok)
    assert status == 0
    assert {row["name"]: row["tokens"] for row in told["rows"]} == {str(tree / name): tokens for name, tokens in want.items()}
    assert (told["tokenizer"], told["by"], told["tokens"], told["files"]) == ("o200k_base", "file", sum(want.values()), len(want))
    assert told["bytes"] == sum(len(FILES[name].encode()) for name in want)
    assert told["skipped"] == {"binary": 1, "not_utf8": 0}
    assert (told["limit"], told["left"]) == (100000, 100000 - sum(want.values()))
    assert json.loads(count("--json", stdin=b"hello world")[1])["rows"] == [{"name": "-", "tokens": 2, "bytes": 11, "files": 1}]


def test_count_jsonl_and_csv_hold_rows_only(count, tok, tree):
    (tree / 'odd, "name".txt').write_text("x")
    rows = [json.loads(line) for line in count("-r", tree, "--jsonl")[1].splitlines()]
    assert sum(row["tokens"] for row in rows) == sum(visible(tok).values()) + 1
    read = list(csv.DictReader(io.StringIO(count("-r", tree, "--csv")[1])))
    assert [{key: str(value) for key, value in row.items()} for row in rows] == read
    grouped = list(csv.DictReader(io.StringIO(count("-r", tree, "--csv", "--by", "ext")[1])))
    assert sum(int(row["tokens"]) for row in grouped) == sum(row["tokens"] for row in rows)
    assert count("-r", tree, "--csv", "--json")[0] == 64


def test_count_quiet_is_the_total_alone(count, tok, tree):
    assert count("-r", "-q", tree, "--json") == (0, f"{sum(visible(tok).values())}\n", "")
