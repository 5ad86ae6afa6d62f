"""The commands, run in this process: what they print, and the exit status."""

import io
import json
import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctok.cli import COMMANDS, dispatch, main
from ctok.cli._io import IdReader
from ctok.cli._tokens import visible
from ctok.registry import load
from feeds import random_feeds

TEXT = "Hello, wörld! 你好 👩\u200d🚀  don't\n\n  stop 12345 <|endoftext|>\r\nnaïve \t x·y\\n"


@pytest.fixture(scope="module")
def tok():
    return load("o200k_base")


@pytest.fixture
def ctok(capsysbinary, monkeypatch):
    """Call `main`; returns (status, standard output as bytes, standard error as str)."""

    def call(*argv, stdin=b""):
        stdin = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = main([str(word) for word in argv])
        out, err = capsysbinary.readouterr()
        return status, out, err.decode()

    return call


def ids_line(ids):
    return " ".join(map(str, ids)).encode() + b"\n"


# ---- which command ----


@pytest.mark.parametrize(
    ("argv", "command", "rest"),
    [
        (["count", "a"], "count", ["a"]),
        (["-m", "gpt-4o", "count", "a"], "count", ["-m", "gpt-4o", "a"]),
        (["--model=gpt-4o", "count"], "count", ["--model=gpt-4o"]),
        (["how", "count"], None, ["how", "count"]),
        (["--", "count"], None, ["--", "count"]),
        (["-m", "count"], None, ["-m", "count"]),
        (["-", "count"], None, ["-", "count"]),
        ([], None, []),
    ],
)
def test_dispatch_takes_the_first_word_for_a_command(argv, command, rest):
    assert dispatch(argv) == (command, rest)


@pytest.mark.parametrize("command", [*COMMANDS])
def test_help_of_every_command_goes_to_stdout(ctok, command):
    status, out, err = ctok(command, "--help")
    assert (status, err) == (0, "")
    assert out.startswith(f"usage: ctok {command}".encode())
    assert b"examples:" in out
    assert max(map(len, out.splitlines())) <= 140


def test_help_names_every_command(ctok):
    status, out, _ = ctok("--help")
    assert status == 0
    assert not [name for name in COMMANDS if f" {name} " not in out.decode()]


@pytest.mark.parametrize("line", ["count --bogus", "truncate", "truncate -n -1", "--bogus", "cache drop", "-t x y"])
def test_wrong_usage_is_64_and_one_line(ctok, line):
    status, out, err = ctok(*line.split())
    assert (status, out) == (64, b"")
    assert err.startswith("ctok: ")
    assert err.count("\n") == 1
    assert "--help" in err


def test_wrong_usage_of_a_command_tells_how_to_count_its_name(ctok):
    assert "ctok -- count" in ctok("count", "--encode")[2]


# ---- the manner of ttok ----


def test_plain_words_are_counted(ctok):
    assert ctok("hello", "world") == (0, b"2\n", "")


def test_plain_name_of_a_command_after_dashes_is_text(ctok, tok):
    assert ctok("--", "count", "-x") == (0, b"%d\n" % tok.count("count -x"), "")


def test_plain_stdin_is_counted(ctok, tok):
    assert ctok(stdin=TEXT) == (0, b"%d\n" % tok.count(TEXT), "")


def test_plain_input_file_comes_before_the_words(ctok, tok, tmp_path):
    (tmp_path / "a").write_bytes(TEXT.encode())
    assert ctok("-i", tmp_path / "a", "and", "more", "--encode") == (0, ids_line(tok.encode(TEXT + " and more")), "")


def test_plain_words_and_options_mix(ctok):
    assert ctok("hello", "--encode", "world") == (0, b"24912 2375\n", "")


def test_plain_encode_decode_tokens(ctok):
    assert ctok("hello", "world", "--encode") == (0, b"24912 2375\n", "")
    assert ctok("24912", "2375", "--decode") == (0, b"hello world\n", "")
    assert ctok("--decode", stdin="[24912, 2375]") == (0, b"hello world\n", "")
    assert ctok("hello world", "--tokens") == (0, b"[b'hello', b' world']\n", "")
    assert ctok("24912 2375", "--decode", "--tokens") == (0, b"[b'hello', b' world']\n", "")
    assert ctok("", "--tokens") == (0, b"[]\n", "")


def test_plain_truncate_writes_the_text_alone(ctok, tok):
    for n in range(12):
        status, out, _ = ctok("-t", n, stdin=TEXT)
        assert (status, out.decode()) == (0, tok.truncate(TEXT, n))


def test_plain_truncate_of_ids_gives_the_first_ids(ctok, tok):
    assert ctok("-t", 3, "--encode", stdin=TEXT) == (0, ids_line(tok.encode(TEXT)[:3]), "")
    assert ctok("-t", 0, "--encode", stdin=TEXT) == (0, b"\n", "")


def test_plain_special_token_is_text_unless_allowed(ctok, tok):
    assert ctok("<|endoftext|>") == (0, b"%d\n" % tok.count("<|endoftext|>"), "")
    assert ctok("<|endoftext|>", "--allow-special", "--encode") == (0, b"199999\n", "")


def test_plain_model_is_looked_up(ctok):
    assert ctok("hello world", "-m", "gpt-4o") == (0, b"2\n", "")
    status, out, err = ctok("hello world", "-m", "claude-3")
    assert (status, out) == (1, b"")
    assert "count_tokens" in err


def test_plain_list_models_and_version(ctok):
    assert b"gpt-4o (o200k_base)\n" in ctok("--list-models")[1]
    assert ctok("--version")[1].startswith(b"ctok ")


def test_plain_bytes_of_an_argument_are_kept(ctok, tok):
    assert ctok("wörld", "--encode")[1] == ids_line(tok.encode("wörld"))
    assert "invalid UTF-8" in ctok(os.fsdecode(b"a\xff"))[2]


@pytest.mark.parametrize("argv", [["--encode", "--decode", "x"], ["-t", "3", "--decode", "1"], ["-T", "o200k_base", "-m", "gpt-4o", "x"]])
def test_plain_contradictions_are_64(ctok, argv):
    assert ctok(*argv)[0] == 64


# ---- which tokenizer ----


@pytest.mark.parametrize("spec", ["o200k_base", "tiktoken:o200k_base", "model:gpt-5"])
def test_tokenizer_schemes(ctok, spec):
    assert ctok("-T", spec, "hello world", "--encode")[1] == b"24912 2375\n"


def test_tokenizer_file(ctok, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ranks = "".join(f"{text} {rank}\n" for rank, text in enumerate(["YQ==", "Yg==", "YWI="]))
    (tmp_path / "o200k_base").write_text(ranks)
    assert ctok("-T", "file:o200k_base", "--pattern", r"\w+", "abab", "--encode") == (0, b"2 2\n", "")
    assert ctok("-T", "o200k_base", "hello world", "--encode")[1] == b"24912 2375\n"
    assert ctok("-T", "file:none", "x")[0] == 1
    options = ("-T", "file:o200k_base", "--pattern", r"\w+", "--special-token", "<|end|>=9", "--allow-special")
    assert ctok(*options, "ab<|end|>", "--encode") == (0, b"2 9\n", "")
    assert ctok("-m", "gpt-4o", "--pattern", "x", "y")[0] == 64


def test_advice_is_in_the_words_of_the_command_line(ctok, tmp_path):
    (tmp_path / "a.tiktoken").write_text("YQ== 0\n")
    advice = ctok("-T", tmp_path / "a.tiktoken", "x")[2], ctok("-m", "no-such-model", "x")[2], ctok("encode", "hello world")[2]
    assert "--pattern" in advice[0] and "pattern=" not in advice[0]
    assert "-T FILE" in advice[1] and "ctok.load" not in advice[1]
    assert advice[2] == "ctok: hello world: no such file; arguments are files here, text goes to standard input\n"


@pytest.mark.parametrize(("spec", "status"), [("hf:gpt2", 64), ("file:", 64), ("tiktoken:a/b", 64), ("no_such_name", 1)])
def test_tokenizer_that_is_not_to_be_had_is_an_error_with_a_cure(ctok, spec, status):
    got, out, err = ctok("-T", spec, "x")
    assert (got, out) == (status, b"")
    assert err.startswith("ctok: ")


# ---- encode, decode ----


def test_encode_files_one_line_each(ctok, tok, tmp_path):
    (tmp_path / "a").write_bytes(TEXT.encode())
    (tmp_path / "b").write_bytes(b"")
    assert ctok("encode", tmp_path / "a", "-", tmp_path / "b", stdin="hello world") == (
        0, ids_line(tok.encode(TEXT)) + b"24912 2375\n\n", "")  # fmt: skip


def test_encode_across_chunks_is_the_whole(ctok, tok, tmp_path, monkeypatch):
    monkeypatch.setattr("ctok.cli._io.CHUNK", 7)
    text = TEXT * 20
    (tmp_path / "a").write_bytes(text.encode())
    status, out, _ = ctok("encode", tmp_path / "a")
    assert (status, out) == (0, ids_line(tok.encode(text)))
    assert ctok("decode", stdin=out) == (0, text.encode(), "")
    assert ctok("decode", "--bytes", stdin=out) == (0, text.encode(), "")


@pytest.mark.parametrize("size", [1, 3, 1 << 20])
def test_encode_records(ctok, tok, monkeypatch, size):
    monkeypatch.setattr("ctok.cli._io.CHUNK", size)
    lines = ["one two", "", "你好 ", "last"]
    want = b"".join(ids_line(tok.encode(line)) for line in lines)
    assert ctok("encode", "--lines", stdin="\n".join(lines) + "\n")[1] == want
    assert ctok("encode", "--lines", stdin="\n".join(lines))[1] == want
    assert ctok("encode", "-0", stdin="\0".join(lines) + "\0")[1] == want
    assert ctok("decode", "--lines", stdin=want)[1].decode() == "\n".join(lines) + "\n"
    assert ctok("decode", "-0", stdin=want)[1].decode() == "\0".join(lines) + "\0"
    assert ctok("encode", "--lines", stdin="") == (0, b"", "")
    arrays = ctok("encode", "--lines", "--json", stdin="\n".join(lines))[1]
    assert [json.loads(line) for line in arrays.splitlines()] == [tok.encode(line) for line in lines]
    assert ctok("decode", "--lines", stdin=arrays)[1].decode() == "\n".join(lines) + "\n"


def test_encode_specials(ctok, tok):
    text = "a<|endoftext|>"
    assert ctok("encode", stdin=text)[1] == ids_line(tok.encode(text))
    assert ctok("encode", "--specials", "all", stdin=text)[1] == ids_line(tok.encode(text, allowed_special="all"))
    status, _, err = ctok("encode", "--specials", "raise", stdin=text)
    assert status == 1
    assert "'<|endoftext|>' at byte 1; use --specials all" in err


def test_encode_text_that_is_not_utf8(ctok, tok):
    status, out, err = ctok("encode", stdin=b"ab\xffcd")
    assert (status, out) == (1, b"")
    assert err == "ctok: standard input: invalid UTF-8 (byte 0xFF) at byte 2; use --errors replace to read it as U+FFFD\n"
    assert ctok("encode", "--errors", "replace", stdin=b"ab\xffcd")[1] == ids_line(tok.encode("ab\ufffdcd"))


def test_decode_reads_lists_and_lines(ctok):
    assert ctok("decode", stdin="[24912,\n 2375]\n")[1] == b"hello world"
    assert ctok("decode", stdin="") == (0, b"", "")


@pytest.mark.parametrize("size", [1, 2, 5, 1 << 20])
def test_decode_error_names_the_place(ctok, monkeypatch, size):
    monkeypatch.setattr("ctok.cli._io.CHUNK", size)
    status, out, err = ctok("decode", stdin="24912 2375 9999999 1")
    assert (status, out) == (1, b"hello world")
    assert "id 9999999, number 3 of the ids, is not in the vocabulary of o200k_base" in err
    status, out, err = ctok("decode", stdin="24912 -5")
    assert (status, "at byte 6 is no id" in err) == (1, True)
    assert "too many digits" in ctok("decode", stdin="1" * 50)[2]


def test_decode_bytes_that_are_not_utf8(ctok, tok):
    (half,) = (i for i in tok.encode("👩") if tok.id_to_bytes(i) != b"" and i == tok.encode("👩")[0])
    raw = tok.id_to_bytes(half)
    assert ctok("decode", stdin=f"{half}")[1].decode() == tok.decode([half])
    assert ctok("decode", "--bytes", stdin=f"{half}")[1] == raw
    assert ctok("decode", "--errors", "ignore", stdin=f"{half}")[1] == b""
    status, _, err = ctok("decode", "--errors", "strict", stdin=f"{half}")
    assert (status, "--bytes" in err) == (1, True)


def test_decode_skips_specials(ctok):
    assert ctok("decode", "--skip-specials", stdin="24912 199999 2375")[1] == b"hello world"
    assert ctok("decode", stdin="24912 199999 2375")[1] == b"hello<|endoftext|> world"


@given(st.lists(st.integers(0, 2**31)), st.sampled_from([" ", ",", ", ", "\n", " ,\r\n[] "]), st.data())
def test_ids_cut_anywhere_are_read_as_the_whole(ids, between, data):
    text = between.join(map(str, ids)).encode()
    reader, read = IdReader(), []
    for chunk in data.draw(random_feeds(st.just(text))):
        read += reader.feed(chunk)
    assert read + reader.feed(b"", True) == ids


# ---- tokens ----


@given(st.binary(max_size=12), st.binary(max_size=12))
def test_visible_forms_tell_bytes_apart(one, other):
    assert (visible(one) == visible(other)) == (one == other)
    assert visible(one).isprintable()


def test_tokens_show_what_cannot_be_seen(ctok):
    status, out, _ = ctok("tokens", stdin=" a\tb\n·\\\x1b\u200d")
    assert status == 0
    assert "".join(out.decode().split("\n")) == "·a→b↵\\u00b7\\\\\\x1b\\u200d"


def test_tokens_show_parts_of_characters_as_bytes(ctok, tok):
    lines = ctok("tokens", "--hex", "--ids", stdin="👩🏽")[1].decode().splitlines()
    assert [line.split("\t")[0] for line in lines] == [str(i) for i in tok.encode("👩🏽")]
    assert b"".join(bytes.fromhex(line.split("\t")[1]) for line in lines) == "👩🏽".encode()
    assert any("\\x" in line for line in lines)


@pytest.mark.parametrize("size", [1, 5, 1 << 16])
@pytest.mark.parametrize("unit", ["char", "byte", "utf16"])
def test_tokens_offsets_are_those_of_the_whole(ctok, tok, monkeypatch, size, unit):
    monkeypatch.setattr("ctok.cli._tokens.CHUNK", size)
    text = TEXT * 3
    rows = [json.loads(line) for line in ctok("tokens", "--jsonl", "--offsets", unit, stdin=text)[1].splitlines()]
    ids = tok.encode(text)
    assert [row["id"] for row in rows] == ids
    spans = [(row["start"], row["end"]) for row in rows]
    if unit != "byte":
        assert spans == tok.decode_spans(ids, unit=unit)[1]
    else:
        assert all(text.encode()[start:end] == tok.id_to_bytes(i) for i, (start, end) in zip(ids, spans))
    assert b"".join(bytes.fromhex(row["hex"]) for row in rows) == text.encode()
    assert ctok("tokens", "--offsets", unit, stdin="hi you")[1] == b"0:2\thi\n2:6\t\xc2\xb7you\n"


# ---- truncate, split ----


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_truncate_is_that_of_the_whole(ctok, tok, monkeypatch, size):
    monkeypatch.setattr("ctok.cli._parts.CHUNK", size)
    for n in (0, 1, 5, 17, 1000):
        assert ctok("truncate", "-n", n, stdin=TEXT)[1].decode() == tok.truncate(TEXT, n)


def test_truncate_stops_reading(ctok, tmp_path, monkeypatch):
    class Endless(io.RawIOBase):
        n = 0

        def readable(self):
            return True

        def readinto(self, buffer):
            Endless.n += len(buffer)
            buffer[:] = (b"word " * (len(buffer) // 5 + 1))[: len(buffer)]
            return len(buffer)

    monkeypatch.setattr("ctok.cli._io.stdin", lambda: io.BufferedReader(Endless()))
    assert ctok("truncate", "-n", 100)[1].split() == [b"word"] * 100
    assert Endless.n < 1 << 20


def test_truncate_of_text_that_is_not_utf8(ctok):
    assert ctok("truncate", "-n", 5, stdin=b"a\xff")[0] == 1
    assert ctok("truncate", "-n", 5, "--errors", "replace", stdin=b"a\xffb")[1].decode() == "a\ufffdb"


def test_split_pieces_join_and_fit(ctok, tok):
    text = TEXT * 5
    pieces = [json.loads(line) for line in ctok("split", "-n", 9, stdin=text)[1].splitlines()]
    assert pieces == tok.split(text, 9)
    assert "".join(pieces) == text
    assert ctok("split", "-n", 9, "-0", stdin=text)[1].decode() == "".join(piece + "\0" for piece in pieces)
    overlapping = [json.loads(line) for line in ctok("split", "-n", 9, "--overlap", 3, stdin=text)[1].splitlines()]
    assert overlapping == tok.split(text, 9, 3)


def test_split_of_what_cannot_be_split(ctok):
    assert ctok("split", "-n", 3, "--overlap", 3, stdin="x")[0] == 64
    status, _, err = ctok("split", "-n", 1, stdin="👩🏽")
    assert (status, "alone needs" in err) == (1, True)
    assert ctok("split", "-n", 1, stdin=b"\xff")[2].startswith("ctok: standard input: invalid UTF-8 (byte 0xFF) at byte 0; use --errors")
    assert ctok("split", "-n", 1, stdin="") == (0, b"", "")


# ---- stream ----


def test_stream_there_and_back(ctok, tok):
    status, out, err = ctok("stream", stdin=TEXT)
    assert (status, err) == (0, "")
    assert [int(word) for word in out.split()] == tok.encode(TEXT)
    assert ctok("stream", "--decode", stdin=out) == (0, TEXT.encode(), "")
    assert ctok("stream", "--decode", "--bytes", stdin=out) == (0, TEXT.encode(), "")


def test_stream_counts_when_asked(ctok, tok):
    assert ctok("stream", "--count", stdin=TEXT)[2].splitlines()[-1] == f"{tok.count(TEXT)} tokens"
    ids = ids_line(tok.encode(TEXT))
    assert ctok("stream", "--decode", "--count", stdin=ids)[2].splitlines()[-1] == f"{tok.count(TEXT)} tokens"


def test_stream_ends_at_a_stop(ctok, tok):
    ids = ids_line(tok.encode("one two three four"))
    assert ctok("stream", "--decode", "--stop", " three", "--stop", "xyz", stdin=ids)[1] == b"one two"


def test_stream_errors_keep_what_was_certain(ctok, tok):
    status, out, err = ctok("stream", "--decode", stdin="24912 2375 99999999")
    assert (status, out) == (1, b"hello world")
    assert "number 3" in err
    assert ctok("stream", stdin=b"\xff")[0] == 1
    assert ctok("stream", "--errors", "replace", stdin=b"\xff")[1].split() == [str(i).encode() for i in tok.encode("\ufffd")]
    assert ctok("stream", "--errors", "ignore", stdin="x")[0] == 64
    assert ctok("stream", "--stop", "x", stdin="x")[0] == 64


# ---- models, info, cache ----


def test_models(ctok):
    assert ctok("models", "gpt-4o")[1].startswith(b"gpt-4o  o200k_base  ")
    assert json.loads(ctok("models", "gpt-4o", "--json")[1])["gpt-4o"]["exact"] is True
    status, out, err = ctok("models", "gpt-4o", "claude-3")
    assert (status, len(out.splitlines()), "count_tokens" in err) == (1, 1, True)
    assert json.loads(ctok("models", "--json")[1])["gpt-5-*"] == "o200k_base"
    assert json.loads(ctok("models", "--encodings", "--json")[1])["o200k_base"] == "built in"


def test_info(ctok, tok):
    facts = json.loads(ctok("info", "--json")[1])
    assert (facts["name"], facts["vocab_size"], facts["special_tokens"]) == ("o200k_base", tok.vocab_size, tok.special_tokens)
    out = ctok("info", "o200k_harmony")[1].decode()
    assert "and " in out
    assert "streams         yes" in out
    assert ctok("info", "o200k_base", "-m", "gpt-5")[0] == 64


def test_cache_add_ls_verify(ctok, tmp_path, monkeypatch):
    monkeypatch.setenv("CTOK_CACHE_DIR", str(tmp_path / "cache"))
    assert ctok("cache", "ls") == (0, b"", "")
    (tmp_path / "mini.tiktoken").write_text("YQ== 0\nYg== 1\nYWI= 2\n")
    status, out, err = ctok("cache", "add", tmp_path / "mini.tiktoken", "--pattern", r"\w+", "--special-token", "<|end|>=7")
    assert (status, err) == (0, "")
    path = out.decode().strip()
    (entry,) = [json.loads(line) for line in ctok("cache", "ls", "--json")[1].splitlines()]
    assert entry == {"name": "mini", "path": path, "bytes": os.path.getsize(path)}
    assert b"mini" in ctok("cache", "ls")[1]
    assert ctok("cache", "verify") == (0, b"whole  mini\n", "")
    assert ctok("-T", "mini", "ab<|end|>", "--encode", "--allow-special") == (0, b"2 7\n", "")
    with open(path, "r+b") as file:
        file.seek(entry["bytes"] // 2)
        file.write(b"\xff\xff\xff")
    assert ctok("cache", "verify")[0] == 1
    assert ctok("cache", "add")[0] == 64
    assert ctok("cache", "add", "x", "--special-token", "nothing")[0] == 64
