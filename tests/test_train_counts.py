"""Corpora and counts of pretokens: every kind of source, every way of sharing the work, and what goes wrong."""

import gzip
import json
import lzma
import pickle
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ctok
from core import GPT2, O200K
from ctok import train
from ctok._native import counting
from ctok._native.counting import Borders, CountTable
from ctok.stages.pretokenizers import build_splitter
from ctok.stagespecs import normalizers, pretokenizers
from ctok.train import _counting, corpus

RNG = random.Random(7)
WORDS = ["the", " cat", "don't", "\n", "\n\n", "  ", "x=1;", "é", "日本語", "\U0001f600", "1234567", "\t", " ", "Ünï", "a" * 40, "."]
TEXT = "".join(RNG.choices(WORDS, k=4000))
PATTERNS = [GPT2, O200K, r"[a-z]+|\d+", r".{1,5}", r"\s*\w+(?<=t)|\w+|\W+"]


def expected(texts, pattern):
    splitter = build_splitter(ctok.Split(pattern))
    found = Counter()
    for text in texts:
        data = text.encode()
        if hasattr(splitter, "spans"):
            found.update(data[a:b] for a, b in splitter.spans(data)[0])
        else:
            found.update(text[a:b].encode() for a, b in splitter.pieces(text))
    return found


def in_order(counts):
    return [word for _, (word, _) in sorted(zip(memoryview(counts.firsts).cast("Q"), counts))]


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(corpus, "PIECE", 997)
    monkeypatch.setattr(_counting, "LONG", 3000)


# ---- counting ----


@pytest.mark.parametrize("num_threads", [1, 3])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_count_of_a_file_in_pieces_is_that_of_the_whole_text(tmp_path, small_pieces, pattern, num_threads):
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    counts = train.count_pretokens(tmp_path / "a.txt", ctok.Split(pattern), num_threads=num_threads, order=True)
    want = expected([TEXT], pattern)
    assert dict(counts) == want
    assert counts.total == sum(want.values())
    assert in_order(counts) == list(want)
    assert [word for word, _ in counts] == sorted(want)


@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_count_of_many_texts_cuts_each_alone(small_pieces, pattern, num_threads):
    texts = [TEXT[i : i + RNG.randint(0, 40)] for i in range(0, 9000, 5)]
    assert dict(train.count_pretokens(texts, ctok.Split(pattern), num_threads=num_threads)) == expected(texts, pattern)
    texts = [TEXT[i : i + n] for i, n in ((0, 900), (100, 0), (700, 1), (5, 3000), (9, 10))] * 5
    counts = train.count_pretokens(iter(texts), ctok.Split(pattern), num_threads=num_threads, order=True)
    want = expected(texts, pattern)
    assert dict(counts) == want
    assert in_order(counts) == list(want)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(PATTERNS[:4]), st.text(alphabet="ab '\n\r\t .1é日S\U0001f600", max_size=60))
def test_borders_are_borders_of_every_text_around(pattern, text):
    splitter = build_splitter(ctok.Split(pattern))
    place = Borders(splitter).last(text.encode())
    if place:
        spans, _ = splitter.spans(text.encode())
        assert all(not a < place < b for a, b in spans)


@pytest.mark.parametrize("record", [
    None,
    pretokenizers.WhitespaceSplit(),
    pretokenizers.ByteLevel(add_prefix_space=True),
    pretokenizers.Sequence([pretokenizers.Digits(True), pretokenizers.Metaspace()]),
])  # fmt: skip
@pytest.mark.parametrize("normalizer", [None, normalizers.Sequence([normalizers.NFKD(), normalizers.Lowercase()])])
def test_count_with_stages_is_the_same_in_pieces(tmp_path, small_pieces, record, normalizer):
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    texts = [TEXT, "", "One", TEXT[:500]]
    whole = Counter()
    for text in texts:
        if normalizer is not None:
            text = _counting.build_normalizer(normalizer).normalize(text)
        whole.update(piece.encode() for piece, _ in _counting.build_cutter(record).pieces(text) if piece)
    counts = train.count_pretokens([tmp_path / "a.txt", *texts[1:]], record, normalizer, num_threads=2, order=True)
    assert dict(counts) == whole
    assert in_order(counts) == list(whole)


def test_tables_merged_are_the_table_of_all():
    words = [bytes(RNG.choices(b"abcdef", k=RNG.choice([1, 3, 9, 15, 16, 40]))) for _ in range(30_000)]
    one, parts = CountTable(), [CountTable() for _ in range(3)]
    for i, word in enumerate(words):
        one.add(word, 1 + i % 3, i)
        parts[i % 3].add(word, 1 + i % 3, i)
    all_of_them = CountTable()
    for part in parts:
        all_of_them.merge(part)
    assert all_of_them.listed(True) == one.listed(True)
    assert (all_of_them.total, len(all_of_them)) == (one.total, len(set(words)))


def test_k7_18_counts_beyond_32_bits():
    counts = train.Counts.from_mapping({"the": 3 << 40, "a": 1})
    both = counts.merge(counts)
    assert dict(both) == {b"the": 6 << 40, b"a": 2}
    assert both.total == (6 << 40) + 2


def test_k7_19_and_k11_16_more_pretokens_than_memory_allows_is_an_error_that_says_so():
    texts = (f"{i:08x}{i * 7919:016x} " * 2 for i in range(200_000))
    with pytest.raises(ctok.MemoryLimitError, match="max_memory") as caught:
        train.count_pretokens(texts, ctok.Split(GPT2), max_memory=4 << 20, num_threads=2)
    assert isinstance(caught.value, MemoryError)
    assert "min-count" in str(caught.value) and "num_threads" in str(caught.value)
    assert caught.value.limit == 4 << 20
    assert pickle.loads(pickle.dumps(caught.value)).limit == 4 << 20


def test_k7_19_threads_share_one_table_when_theirs_are_full(small_pieces):
    words = [f"{i:06d}" for i in range(60_000)]
    texts = [" ".join(words[i : i + 500]) for _ in range(4) for i in range(0, len(words), 500)]
    rule = ctok.Split(r"\d+")
    whole = train.count_pretokens(texts, rule, num_threads=1, order=True)
    with pytest.raises(ctok.MemoryLimitError):
        train.count_pretokens(texts, rule, num_threads=1, max_memory=4 << 20)
    shared = train.count_pretokens(texts, rule, num_threads=4, max_memory=14 << 20, order=True)
    assert shared == whole and len(shared) == 60_000 and shared.firsts == whole.firsts


@pytest.mark.parametrize("threads", [0, 257, "2"])
def test_count_with_an_impossible_number_of_threads_is_refused(threads):
    with pytest.raises((ValueError, TypeError), match="num_threads"):
        train.count_pretokens(["a"], num_threads=threads)


def test_progress_never_passes_the_size(tmp_path, small_pieces):
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    told = []
    train.count_pretokens(train.files(tmp_path / "a.txt"), ctok.Split(GPT2), progress=lambda *all: told.append(all))
    size = (tmp_path / "a.txt").stat().st_size
    assert told[-1] == ("count", size, size)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


# ---- sources ----


def counted(source, **options):
    return dict(train.count_pretokens(source, None, num_threads=1, **options))


def test_files_of_all_kinds_and_patterns(tmp_path):
    (tmp_path / "b.txt").write_text("bb", encoding="utf-8")
    (tmp_path / "a.txt").write_text("aa", encoding="utf-8")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(b"cc"))
    (tmp_path / "d.txt.xz").write_bytes(lzma.compress(b"dd"))
    records = "".join(json.dumps({"body": text}) + "\n" for text in ("e\n", "f", "日本"))
    (tmp_path / "e.jsonl").write_text(records + "\n", encoding="utf-8")
    (tmp_path / "f.jsonl.gz").write_bytes(gzip.compress(records.encode()[:-1]))
    assert counted(train.files(str(tmp_path / "*.txt"))) == {b"aa": 1, b"bb": 1}
    assert counted([tmp_path / "c.txt.gz", "text", tmp_path / "d.txt.xz"]) == {b"cc": 1, b"text": 1, b"dd": 1}
    assert counted(tmp_path / "*.jsonl*", field="body") == {b"e\n": 2, b"f": 2, "日本".encode(): 2}


def test_parquet_files_are_read_through_pyarrow(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"text": ["a", None, "b", "a"], "n": [1, 2, 3, 4]}), tmp_path / "t.parquet")
    assert counted(tmp_path / "t.parquet") == {b"a": 2, b"b": 1}
    with pytest.raises(ctok.CorpusError, match="there is no column 'body'; the columns are text, n"):
        counted(tmp_path / "t.parquet", field="body")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    with pytest.raises(ctok.CorpusError, match="not a Parquet file"):
        counted(tmp_path / "broken.parquet")


@pytest.mark.parametrize("ending", ["", "\n", "\n\n"])
def test_lines_of_a_file_keep_their_ends(tmp_path, small_pieces, ending):
    text = "one\ntwo\r\n\n" + "long " * 700 + "\nlast" + ending
    (tmp_path / "a.txt").write_bytes(text.encode())
    want = Counter(line.encode() for line in text.split("\n")[:-1])
    want = Counter({line + b"\n": count for line, count in want.items()})
    want.update([text.split("\n")[-1].encode()] if text.split("\n")[-1] else [])
    assert counted(tmp_path / "a.txt", lines=True) == want


def test_k7_25_bytes_that_are_not_utf8(tmp_path, small_pieces):
    (tmp_path / "bad.txt").write_bytes(b"x" * 2000 + b"hi\xff\n\xe6\x97\xa5")
    with pytest.raises(ctok.CorpusError, match=r"bad\.txt: byte 0xFF at offset 2002 is not UTF-8") as caught:
        counted(tmp_path / "bad.txt")
    assert (caught.value.position, caught.value.path) == (2002, str(tmp_path / "bad.txt"))
    assert counted(tmp_path / "bad.txt", errors="replace") == {b"x" * 2000 + "hi\ufffd\n日".encode(): 1}
    assert counted(tmp_path / "bad.txt", errors="skip") == {b"x" * 2000 + "hi\n日".encode(): 1}
    with pytest.raises(ctok.CorpusError, match="text 1 of the corpus: byte 0xFF at offset 1"):
        counted([b"ok", b"a\xff"])


def test_last_line_stays_where_the_last_piece_is_left_out(tmp_path, small_pieces):
    (tmp_path / "end.txt").write_bytes(b"ab\n" + b"c" * 2400 + b"\xff" * 591)
    assert counted(tmp_path / "end.txt", errors="skip", lines=True) == {b"ab\n": 1, b"c" * 2400: 1}


def test_a_character_cut_by_the_end_of_a_file_is_not_utf8(tmp_path):
    (tmp_path / "cut.txt").write_bytes(b"ab\xe6\x97")
    with pytest.raises(ctok.CorpusError, match="offset 2"):
        counted(tmp_path / "cut.txt")
    assert counted(tmp_path / "cut.txt", errors="skip") == {b"ab": 1}


def test_k7_27_lone_surrogates():
    with pytest.raises(ctok.CorpusError, match="text 1 of the corpus: a lone surrogate at character 3") as caught:
        counted(["a", "ab \ud800"])
    assert (caught.value.index, caught.value.position) == (1, 3)
    assert counted(["ab \ud800", "\ud83d\ude00"], errors="replace") == {"ab \ufffd".encode(): 1, "\U0001f600".encode(): 1}
    assert counted(["ab \ud800"], errors="skip") == {b"ab ": 1}


def test_k7_28_a_bare_str_is_no_corpus():
    for wrong in ("abab", b"abab"):
        with pytest.raises(TypeError, match=r"write \[text\] for one text"):
            train.count_pretokens(wrong)


def test_k7_29_none_among_the_texts_is_named():
    with pytest.raises(TypeError, match="text 1 of the corpus: expected a str, got None"):
        counted(["ab", None])
    with pytest.raises(TypeError, match="not int"):
        counted(5)


def test_k7_30_what_an_iterator_raises_comes_through():
    def source():
        yield "ab"
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        counted(source())


def test_k7_12_empty_texts_and_an_empty_corpus_count_nothing():
    assert counted([]) == {}
    assert counted(["", "", " ", "a  b", ""]) == {b" ": 1, b"a  b": 1}


def test_k7_26_nul_counts_like_any_character():
    assert counted(["hel\0lo"]) == {b"hel\0lo": 1}


def test_an_asynchronous_corpus_needs_the_asynchronous_call():
    async def source():
        yield "a"

    with pytest.raises(TypeError, match="train_async"):
        counted(source())


def test_files_that_are_not_there_or_damaged(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        train.files(tmp_path / "nothing.txt")
    with pytest.raises(FileNotFoundError, match="no file has such a name"):
        train.files(tmp_path / "*.txt")
    with pytest.raises(IsADirectoryError, match="pattern"):
        train.files(tmp_path)
    (tmp_path / "a.gz").write_bytes(b"no gzip at all")
    (tmp_path / "b.xz").write_bytes(lzma.compress(b"dd" * 1000)[:-20])
    (tmp_path / "c.gz").write_bytes(gzip.compress(b"dd" * 1000)[:-12])
    for name in ("a.gz", "b.xz", "c.gz"):
        with pytest.raises(ctok.CorpusError, match="damaged"):
            counted(tmp_path / name)
    (tmp_path / "d.jsonl").write_text('{"text": "a"}\n{"text": 5}\n', encoding="utf-8")
    with pytest.raises(ctok.CorpusError, match="line 2: no text in field 'text'; the fields are text") as caught:
        counted(tmp_path / "d.jsonl")
    assert caught.value.line == 2
    (tmp_path / "d.jsonl").write_text('{"text": "a"}\nnope\n', encoding="utf-8")
    with pytest.raises(ctok.CorpusError, match="line 2: not JSON"):
        counted(tmp_path / "d.jsonl")


# ---- counts ----


def test_counts_saved_and_loaded_are_equal(tmp_path):
    counts = train.count_pretokens([TEXT], ctok.Split(GPT2), order=True)
    counts.save(tmp_path / "a.counts")
    again = train.Counts.load(tmp_path / "a.counts")
    assert again == counts
    assert (again.total, again.firsts, again.how) == (counts.total, counts.firsts, counts.how)
    assert train.count_pretokens(tmp_path / "a.counts") == counts
    assert pickle.loads(pickle.dumps(counts)) == counts
    plain = train.Counts.from_mapping({})
    plain.save(tmp_path / "b.counts")
    assert len(train.Counts.load(tmp_path / "b.counts")) == 0
    assert dict(train.count_pretokens([tmp_path / "a.counts", tmp_path / "b.counts"])) == dict(counts)


def test_counts_damaged_on_the_disk_are_refused(tmp_path):
    path = tmp_path / "a.counts"
    train.Counts.from_mapping({"ab": 3, "c": 4}).save(path)
    data = bytearray(path.read_bytes())
    for place in (len(data) // 2, len(data) - 1):
        data[place] ^= 1
        path.write_bytes(data)
        with pytest.raises(ctok.CorpusError, match="damaged"):
            train.Counts.load(path)
        data[place] ^= 1
    path.write_bytes(data[:-40])
    with pytest.raises(ctok.CorpusError, match="damaged"):
        train.Counts.load(path)
    path.write_bytes(b"text")
    with pytest.raises(ctok.CorpusError, match="not a file of counts"):
        train.Counts.load(path)


def test_a_file_of_counts_is_no_text(tmp_path):
    train.Counts.from_mapping({"ab": 3}).save(tmp_path / "a.txt")
    with pytest.raises(ctok.CorpusError, match="holds counts"):
        counted(["text", tmp_path / "a.txt"])


def test_counts_of_shards_merge_to_those_of_all():
    texts = [TEXT[i : i + 500] for i in range(0, len(TEXT), 500)]
    whole = train.count_pretokens(texts, ctok.Split(O200K), order=True)
    parts = [train.count_pretokens(texts[i : i + 5], ctok.Split(O200K), order=True) for i in range(0, len(texts), 5)]
    merged = parts[0].merge(*parts[1:])
    assert merged == whole
    assert in_order(merged) == in_order(whole)
    assert parts[1].merge(parts[0], *parts[2:]) == whole
    assert train.count_pretokens(parts) == whole


def test_counts_cut_in_different_ways_are_not_merged():
    a, b = (train.count_pretokens(["a b"], ctok.Split(pattern)) for pattern in (GPT2, O200K))
    with pytest.raises(ValueError, match="different ways"):
        a.merge(b)
    assert dict(a.merge(train.Counts.from_mapping({"x": 1})))[b"x"] == 1


def test_counts_of_a_mapping_are_checked():
    assert dict(train.Counts.from_mapping({"a": 2, b"a": 1, "b": 0, "": 5})) == {b"a": 3}
    for wrong, kind in (({"a": -1}, ValueError), ({"a": 1.5}, TypeError), ({5: 1}, TypeError), ({"\ud800": 1}, ctok.CorpusError)):
        with pytest.raises(kind):
            train.Counts.from_mapping(wrong)


def test_counts_pruned_leave_out_the_rare():
    counts = train.Counts.from_mapping({"c": 1, "b": 3, "a": 2})
    assert dict(counts.prune(2)) == {b"a": 2, b"b": 3}
    assert in_order(counts.prune(2)) == [b"b", b"a"]
    with pytest.raises(AttributeError):
        counts.total = 5
    assert repr(counts) == "<Counts: 6 pretokens, 3 different ones>"


@pytest.mark.skipif(counting.fail_after(0) == -1 and counting.fail_after(-1) == -1, reason="needs a build with CTOK_BUILD=test")
def test_counting_that_finds_no_memory_works_later():
    want, failed = dict(train.count_pretokens([TEXT], ctok.Split(GPT2), num_threads=1)), 0
    for n in range(100):
        counting.fail_after(n)
        try:
            assert dict(train.count_pretokens([TEXT], ctok.Split(GPT2), num_threads=1)) == want
            if counting.fail_after(-1) >= 0:
                break
        except MemoryError:
            failed += 1
        finally:
            counting.fail_after(-1)
    assert failed


def test_paths_of_patterns_are_path_objects(tmp_path):
    (tmp_path / "x1.txt").write_text("1", encoding="utf-8")
    assert counted([Path(tmp_path, "x*.txt")]) == {b"1": 1}
