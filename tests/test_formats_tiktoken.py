"""Rank files: what is read, what is refused and how the refusal is worded, and what a file is by its content."""

import base64
import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctok import formats
from ctok._native import files
from ctok._native.files import read_ranks
from ctok.errors import SpecError, VocabularyFileError
from ctok.formats import tiktoken
from ctok.formats._known import CL100K_PATTERN, ENCODINGS
from ctok.spec import BPE, AddedToken, Spec, Split, TokenTable

PATTERN = r"\w+|\W+"


def line(token, rank):
    return (base64.b64encode(token) or b"=") + b" %d\n" % rank


def text_of(ranks):
    return b"".join(line(token, rank) for token, rank in ranks.items())


def table_of(data):
    return dict(TokenTable(*read_ranks(data)))


def refusal(data):
    with pytest.raises(VocabularyFileError) as caught:
        read_ranks(data, "some.tiktoken")
    assert caught.value.path == "some.tiktoken"
    assert str(caught.value).startswith("some.tiktoken: ")
    return caught.value


def slow_twin(data):
    """The grammar in plain Python: {token: rank}, or None where the file is malformed."""
    ranks = {}
    for row in data.replace(b"\r\n", b"\n").removesuffix(b"\r").split(b"\n"):
        if not row:
            continue
        parts = row.split(b" ")
        if len(parts) != 2 or not parts[1].isdigit() or int(parts[1]) >= 2**31:
            return None
        try:
            token = b"" if parts[0] == b"=" else base64.b64decode(parts[0], validate=True)
        except ValueError:
            return None
        if parts[0] != (base64.b64encode(token) or b"=") or token in ranks or int(parts[1]) in ranks.values():
            return None
        ranks[token] = int(parts[1])
    return ranks or None


@pytest.mark.parametrize(
    "data",
    [b"YQ== 0\nYg== 1\n", b"YQ== 0\nYg== 1", b"Yg== 1\nYQ== 0\n", b"\n\nYQ== 0\n\n\nYg== 1\n\n", b"YQ== 00\nYg== 01\n"],
    ids=["plain", "no last line end", "any order", "blank lines", "leading zeros"],
)
def test_ranks_of_a_good_file_are_read(data):
    assert table_of(data) == {b"a": 0, b"b": 1}


def test_k6_26_crlf_changes_nothing():
    assert table_of(b"YQ== 0\r\nYg== 1\r\n") == table_of(b"YQ== 0\r\n\r\nYg== 1\r") == {b"a": 0, b"b": 1}


def test_k6_27_blank_line_and_no_final_newline_are_fine():
    assert table_of(b"YQ== 0\n\nYg== 1") == {b"a": 0, b"b": 1}


@pytest.mark.parametrize(
    "token",
    [
        b"Y!Q=",
        b"YQ",
        b"YQ=",
        b"Y===",
        b"====",
        b"==",
        b"YQ==YQ==",
        b"YR==",
        b"YWI=x",
        b"YWJ=",
        b"Y Q=",
        b"\xff\xff\xff\xff",
        b"",
        b"YQ==\r",
        b"_-__",
    ],
)
def test_k6_28_bad_base64_names_the_line(token):
    error = refusal(b"YQ== 0\n\n" + token + b" 1\nYg== 2\n")
    assert error.line == 3
    assert not error.reason.startswith("the last line")


@pytest.mark.parametrize("row", [b"Yg==", b"Yg== ", b"Yg==\r"])
def test_k6_29_missing_rank_names_the_line(row):
    error = refusal(b"YQ== 0\n" + row + b"\n")
    assert (error.line, error.reason) == (2, "the rank is missing")


@pytest.mark.parametrize("tail", [b"Yg=", b"Yg==", b"Yg== ", b"Y", b"Yg==\r"])
def test_k6_30_truncated_last_line_says_so(tail):
    error = refusal(b"YQ== 0\n" + tail)
    assert error.line == 2
    assert "cut off" in error.reason
    assert "get it again" in error.cure


def test_k6_31_html_page_is_named(tmp_path):
    path = tmp_path / "x.tiktoken"
    path.write_bytes(b"<!DOCTYPE html><html><body>403 Forbidden</body></html>\n")
    with pytest.raises(VocabularyFileError, match="HTML") as caught:
        formats.load(path, pattern=PATTERN)
    assert (caught.value.path, caught.value.line) == (str(path), 1)
    assert refusal(path.read_bytes()).line == 1


def test_k6_32_two_tokens_of_one_rank_name_both_lines():
    error = refusal(b"YQ== 0\nYg== 5\nYw== 1\nZA== 5\n")
    assert (error.line, error.reason) == (4, "the same rank as on line 2")


def test_k6_33_one_token_twice_names_both_lines():
    error = refusal(b"YQ== 0\nYg== 1\nYQ== 2\nYQ== 3\n")
    assert (error.line, error.reason) == (3, "the same token as on line 1")


def test_long_equal_prefixes_are_sorted_and_told_apart():
    tokens = (
        [b"p" * 40 + bytes([a, b]) for a in range(20) for b in range(20)]
        + [b"p" * n for n in range(1, 40)]
        + [b"\0" * n for n in range(1, 20)]
    )
    random.Random(1).shuffle(tokens)
    ranks = {token: rank for rank, token in enumerate(tokens)}
    assert list(TokenTable(*read_ranks(text_of(ranks)))) == sorted(ranks.items())
    error = refusal(text_of(ranks) + line(tokens[7], 9999))
    assert error.reason == "the same token as on line 8"


@pytest.mark.parametrize(
    ("rank", "says"),
    [(b"-1", "negative"), (b"2147483648", "2**31"), (b"99999999999999999999999999", "2**31"), (b"x", "decimal"), (b"1x", "decimal"),
     (b"1 ", "decimal"), (b"1 2", "decimal"), (b"+1", "decimal"), (b"1.0", "decimal"), (b"1\r\r", "decimal"),
     (b" 1", "exactly one blank"), (b"\t1", "exactly one blank")],
)  # fmt: skip
def test_k6_34_bad_rank_is_refused(rank, says):
    error = refusal(b"YQ== " + rank + b"\n")
    assert error.line == 1
    assert says in error.reason


@pytest.mark.parametrize("data", [b"", b"\n\r\n\n"])
def test_k6_34_empty_file_is_refused(data):
    assert "empty" in refusal(data).reason


def test_tab_for_the_blank_is_refused():
    assert "one blank" in refusal(b"YQ==\t0\n").reason


def test_largest_rank_is_read():
    assert table_of(b"YQ== 2147483647\n") == {b"a": 2**31 - 1}


def test_rank_gaps_are_legal():
    assert table_of(b"YQ== 0\nYg== 7\n") == {b"a": 0, b"b": 7}


def test_lone_equals_sign_is_the_empty_token():
    assert table_of(b"YQ== 0\n= 1\n") == {b"a": 0, b"": 1}


def test_any_buffer_is_read():
    data = text_of({b"a": 0, b"bc": 1})
    for buffer in (bytearray(data), memoryview(data), memoryview(b"xx" + data)[2:]):
        assert table_of(buffer) == {b"a": 0, b"bc": 1}


@given(st.dictionaries(st.binary(max_size=12), st.integers(0, 400), max_size=60).filter(lambda d: d and len(set(d.values())) == len(d)))
def test_ranks_of_random_files_are_in_byte_order(ranks):
    assert list(TokenTable(*read_ranks(text_of(ranks)))) == sorted(ranks.items())


@given(
    st.lists(
        st.sampled_from([b"YQ==", b"Yg==", b"YWI=", b"YWJj", b"=", b" ", b"0", b"1", b"23", b"\n", b"\r\n", b"\r", b"-", b"\xff", b"!"]),
        max_size=14,
    )
)
def test_random_pieces_are_read_as_the_slow_twin_reads_them(pieces):
    data = b"".join(pieces)
    want = slow_twin(data)
    if want is None:
        refusal(data)
    else:
        assert table_of(data) == want


# ---- specs ----


def test_unknown_file_needs_a_pattern(tmp_path):
    path = tmp_path / "mine.tiktoken"
    path.write_bytes(text_of({b"a": 0}))
    with pytest.raises(VocabularyFileError, match="pattern=") as caught:
        formats.load(path)
    assert caught.value.path == str(path)


def test_unknown_file_with_a_pattern_becomes_a_spec(tmp_path):
    path = tmp_path / "mine.tiktoken"
    path.write_bytes(text_of({b"b": 1, b"a": 0}))
    spec = formats.load(path, pattern=PATTERN, special_tokens={"<x>": 7, "<y>": 7})
    assert spec == Spec("mine", BPE(TokenTable.from_dict({b"a": 0, b"b": 1})), Split(PATTERN), (AddedToken("<x>", 7), AddedToken("<y>", 7)))
    assert pickle.loads(pickle.dumps(spec)) == spec
    again = formats.load(path, pattern=PATTERN, special_tokens=spec.added_tokens)
    assert again == spec


def test_missing_file_names_the_path(tmp_path):
    with pytest.raises(VocabularyFileError, match="no such file"):
        formats.load(tmp_path / "none.tiktoken")


def test_k6_38_file_is_what_it_holds_not_what_it_is_called(tmp_path):
    path = tmp_path / "tokenizer.model"
    path.write_bytes(text_of({b"a": 0}))
    assert dict(formats.load(path, pattern=PATTERN).model.tokens) == {b"a": 0}
    assert dict(formats.load(tmp_path, pattern=PATTERN).model.tokens) == {b"a": 0}


SPM = b"\x0a\x0e\x0a\x05<unk>\x15\x00\x00\x00\x00\x18\x02\x0a\x0a"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "empty"), (b"YQ== 0\n", "tiktoken"), (b"\r\n\nYQ== 0\r\n", "tiktoken"), (b"= 0\n", "tiktoken"),
        (b"Y!Q= 0\n", "unknown"), (b"hello\n", "unknown"),
        (b"\x89ctok\r\n\x1a", "binary"), (b"\x89ctok\n\x1a", "binary"), (SPM, "sentencepiece"), (b"\n\n\nYQ== 0\n", "tiktoken"),
        (b'{"version": "1.0", "truncation": null, "added_tokens": []}', "tokenizer_json"), (b'\xef\xbb\xbf{"model": {}}', "tokenizer_json"),
        (b'{"config": {}, "vocab": [{"rank": 0, "token_bytes": "AA=="}]}', "tekken"), (b'{"!": 0, "a": 1}', "vocab_json"),
        (b'{"a": "b"}', "json"),
        (b"#version: 0.2\nh e\n", "merges_txt"), (b"<html>", "html"), (b"\n <!DOCTYPE html>", "html"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git_lfs"), (b"PK\x03\x04", "archive"), (b"\x1f\x8b\x08", "archive"),
    ],
)  # fmt: skip
def test_sniff_tells_files_by_content(data, kind):
    assert formats.sniff(data) == kind


@pytest.mark.parametrize(
    ("data", "says"),
    [(b"version https://git-lfs", "LFS"), (b"PK\x03\x04", "archive")],
)
def test_file_of_another_kind_is_named(tmp_path, data, says):
    path = tmp_path / "x.tiktoken"
    path.write_bytes(data)
    with pytest.raises(VocabularyFileError, match=says):
        formats.load(path)


def test_directory_with_several_or_no_files_is_refused(tmp_path):
    with pytest.raises(VocabularyFileError, match="no vocabulary"):
        formats.load(tmp_path)
    (tmp_path / "a.tiktoken").write_bytes(text_of({b"a": 0}))
    assert formats.load(tmp_path, pattern=PATTERN).name == "a"
    (tmp_path / "b.tiktoken").write_bytes(text_of({b"a": 0}))
    with pytest.raises(VocabularyFileError, match=r"this directory holds a.tiktoken, b.tiktoken. Name the file"):
        formats.load(tmp_path, pattern=PATTERN)


@given(st.dictionaries(st.binary(max_size=6), st.integers(0, 400), max_size=30).filter(lambda d: d and len(set(d.values())) == len(d)))
def test_dump_is_read_back(ranks):
    spec = Spec("x", BPE(TokenTable.from_dict(ranks)), Split(PATTERN))
    data = tiktoken.dumps(spec)
    assert table_of(data) == ranks
    assert [int(row.split()[1]) for row in data.splitlines()] == sorted(ranks.values())


def test_dump_to_a_path_replaces_the_file_as_a_whole(tmp_path):
    path = tmp_path / "x.tiktoken"
    path.write_bytes(b"old")
    formats.dump(Spec("x", BPE(TokenTable.from_dict({b"b": 1, b"a": 4})), Split(PATTERN)), path)
    assert path.read_bytes() == b"Yg== 1\nYQ== 4\n"
    assert [p.name for p in tmp_path.iterdir()] == ["x.tiktoken"]


def test_dump_of_another_model_is_refused():
    with pytest.raises(SpecError, match="rank"):
        tiktoken.dumps(Spec("x", None, None))


# ---- the public encodings ----


def test_public_encodings_say_what_the_reference_says():
    public = pytest.importorskip("tiktoken_ext.openai_public")
    constructors = dict(public.ENCODING_CONSTRUCTORS)
    assert list(ENCODINGS) == list(constructors)
    no_ranks = {"load_tiktoken_bpe": lambda *a, **k: {}, "data_gym_to_mergeable_bpe_ranks": lambda **k: {}}
    kept = {name: getattr(public, name) for name in no_ranks}
    try:
        vars(public).update(no_ranks)
        for name, encoding in ENCODINGS.items():
            want = constructors[name]()
            assert encoding.pattern == want["pat_str"]
            assert [(token.content, token.id) for token in encoding.added_tokens()] == list(want["special_tokens"].items())
    finally:
        vars(public).update(kept)


def test_harmony_declares_endofprompt_before_the_reserved_token_of_its_id():
    tokens = [token.content for token in ENCODINGS["o200k_harmony"].added_tokens() if token.id == 200018]
    assert tokens == ["<|endofprompt|>", "<|reserved_200018|>"]
    assert len(ENCODINGS["o200k_harmony"].added_tokens()) == 1091


def test_known_file_brings_pattern_and_special_tokens(shared, tmp_path):
    import lzma

    data = lzma.decompress((shared / "conformance" / "vocabs" / "cl100k_base.tiktoken.xz").read_bytes())
    path = tmp_path / "downloaded"
    path.write_bytes(data.replace(b"\n", b"\r\n"))
    spec = formats.load(path)
    assert (spec.name, spec.pre_tokenizer.pattern, len(spec.added_tokens), len(spec.model.tokens)) == (
        "cl100k_base",
        CL100K_PATTERN,
        5,
        100256,
    )
    assert tiktoken.dumps(spec) == data
    assert formats.load(path, pattern=PATTERN).pre_tokenizer == Split(PATTERN)


@pytest.mark.skipif(files.fail_after(-1) == -1 and files.fail_after(0) == -1 and files.fail_after(-1) == -1, reason="not a checking build")
def test_every_failed_allocation_is_a_memory_error():
    data = text_of({bytes([a, b]): 256 * a + b for a in range(64) for b in range(64)})
    for n in range(100):
        files.fail_after(n)
        try:
            read_ranks(data)
        except MemoryError:
            continue
        finally:
            left = files.fail_after(-1)
        assert left >= 0
        break
    assert 3 <= n < 100


def test_empty_token_of_a_file_decodes_to_nothing():
    from ctok._native.detokenize import decode_bytes, decode_str
    from ctok._native.vocab import Vocab

    vocab = Vocab(*read_ranks(text_of({b"": 300} | {bytes([b]): b for b in range(256)} | {b"ab": 256})), (("<x>", 301),))
    assert (vocab.token(300), vocab.find(b""), vocab.find(b"\0"), vocab.find(b"ab"), vocab.longest) == (b"", None, 0, 256, 2)
    assert decode_bytes(vocab, [97, 300, 256, 300, 300, 301, 300], False) == b"aab<x>"
    assert decode_str(vocab, [300, 0xC3, 300, 0xA9, 300] * 50, False, "strict", None) == "é" * 50
    alone = Vocab(*read_ranks(b"= 5\n"))
    assert (alone.token(5), decode_bytes(alone, [5, 5], False)) == (b"", b"")
