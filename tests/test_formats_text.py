"""vocab.txt, vocab.json with merges.txt, CLIP's list, tekken, directories: read as their references do, errors with file and line."""

import base64
import gzip
import json
import os
from pathlib import Path

import pytest

from ctok import formats
from ctok.errors import SpecError, VocabularyFileError
from ctok.formats import merges_txt, tekken, vocab_txt
from ctok.registry import spec_for
from ctok.spec import AddedToken, Split
from ctok.stagespecs import models, normalizers, postprocessors, pretokenizers

tokenizers = pytest.importorskip("tokenizers")

SHARED = Path(os.environ.get("CTOK_SHARED", Path(__file__).resolve().parents[2] / "shared"))
FIXTURES = SHARED / "cases" / "fixtures"


def fixture(name):
    if not (FIXTURES / name).exists():
        pytest.skip("the shared cases are not here")
    return FIXTURES / name


def put(folder, name, data):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode() if isinstance(data, dict) else data.encode())
    return path


# ---- vocab.txt ----


def vocab_of(spec):
    return {token.decode(): number for token, number in spec.model.tokens}


LINES = [
    b"a\n",
    b"\n",
    b"a\n\nb\n",
    b"a\r\nb",
    b"a \n b\t\n",
    b"a\xc2\xa0\nb\x0b\n",
    b"a\x1f\n",
    b"a\na\nb",
    b'"\\\n\x01\n"x\n',
    b"\xe3\x80\x80\nz",
]


@pytest.mark.parametrize("data", LINES, ids=repr)
def test_vocab_txt_has_the_lines_that_the_reference_reads(tmp_path, data):
    theirs = tokenizers.models.WordPiece.read_file(str(put(tmp_path, "vocab.txt", data)))
    assert vocab_of(vocab_txt.loads(data)) == theirs


def test_vocab_txt_has_the_stages_of_bert():
    data = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n"
    spec = vocab_txt.loads(data)
    assert (spec.normalizer, spec.pre_tokenizer) == (normalizers.BertNormalizer(), pretokenizers.BertPreTokenizer())
    assert [token.content for token in spec.added_tokens] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert spec.role("cls") == "[CLS]"
    wanted = tokenizers.processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    made = json.loads(formats.tokenizer_json.dumps(spec))["post_processor"]
    assert made == json.loads(wanted.__getstate__())
    cased = vocab_txt.loads(data, lowercase=False, strip_accents=False, handle_chinese_chars=False)
    assert cased.normalizer == normalizers.BertNormalizer(True, False, False, False)
    assert vocab_txt.loads(b"a\nb\n").post_processor is None


def test_vocab_txt_is_written_back_or_refused():
    data = b"[UNK]\n b\nc\xe2\x80\xa8d\n"
    assert vocab_txt.dumps(vocab_txt.loads(data)) == data
    with pytest.raises(SpecError, match="gap or a double"):
        vocab_txt.dumps(vocab_txt.loads(b"a\nb\na\n"))
    spec = vocab_txt.loads(b"a\n")
    with pytest.raises(SpecError, match="not be read back"):
        vocab_txt.dumps(spec.replace(model=models.WordPiece(models.table_of_texts({"a\n": 0}))))
    with pytest.raises(SpecError, match="WordPiece"):
        vocab_txt.dumps(spec.replace(model=models.WordLevel(spec.model.tokens)))


@pytest.mark.parametrize(("data", "says"), [(b"", "empty"), (b"a\nb\n\xff\n", "line 3: this is not UTF-8")])
def test_vocab_txt_that_is_none_is_refused(data, says):
    with pytest.raises(VocabularyFileError, match=says):
        vocab_txt.loads(data, path="vocab.txt")


def test_k6_17_token_twice_the_later_id_counts():
    assert vocab_of(vocab_txt.load(fixture("vocab_dup.txt"))) == {"b": 2, "c": 4, "[UNK]": 0, "a": 3}


def test_k6_18_crlf_is_a_line_end():
    assert vocab_of(formats.load(fixture("vocab_crlf.txt"))) == {"a": 1, "##b": 2, "[UNK]": 0}


def test_k6_19_only_lf_ends_a_line_and_white_space_at_its_end_is_cut():
    assert vocab_of(vocab_txt.load(fixture("vocab_odd.txt"))) == {"": 4, " b": 2, "z": 5, "c\u2028d": 3, "[UNK]": 0, "a": 1}


# ---- vocab.json and merges.txt ----

VOCAB = {"a": 0, "b": 1, "ab": 2, "c": 3, '"': 4, "\\": 5, '"\\': 6, "\t": 7, "a\t": 8, "\u2028": 9, "a\u2028": 10}


def merges_of(spec):
    texts = {number: token.decode() for token, number in spec.model.tokens}
    numbers = [int.from_bytes(spec.model.merges[at : at + 4], "little") for at in range(0, len(spec.model.merges), 4)]
    return [(texts[left], texts[right]) for left, right in zip(numbers[::2], numbers[1::2])]


@pytest.mark.parametrize(
    "data",
    [b"", b"a b\r\n", b"a b\n\n", b"a b \n", b" a b\n", b"a b c\n", b"#version: 0.2\na b\n", b"a b\n#version: 0.2\n", b"a b\na b", b"ab\n",
     b"a zz\n", b"b a\n", b"a\tb\n", b'" \\\n', b"a \t\n", b"a \xe2\x80\xa8\n", b"# a\n"],
    ids=repr,
)  # fmt: skip
def test_merges_txt_has_the_merges_that_the_reference_reads(tmp_path, data):
    vocab = json.dumps(VOCAB).encode()
    paths = str(put(tmp_path, "vocab.json", vocab)), str(put(tmp_path, "merges.txt", data))
    try:
        theirs = tokenizers.models.BPE.read_file(*paths)[1]
        tokenizers.models.BPE(*tokenizers.models.BPE.read_file(*paths))
    except Exception:
        with pytest.raises(VocabularyFileError, match=r"merges.txt: line \d: "):
            merges_txt.load(*paths)
        return
    assert merges_of(merges_txt.load(*paths)) == theirs
    assert merges_of(formats.load(tmp_path)) == theirs
    assert merges_of(formats.load(tmp_path / "vocab.json")) == theirs


def test_merges_txt_error_names_the_line_of_the_file(tmp_path):
    vocab, merges = put(tmp_path, "vocab.json", VOCAB), put(tmp_path, "merges.txt", "#version: 0.2\na b\nb a\n")
    with pytest.raises(VocabularyFileError, match=r"merges.txt: line 3: 'ba', which 'b' and 'a' give, is not in the vocabulary"):
        merges_txt.load(vocab, merges)
    with pytest.raises(VocabularyFileError, match=r"vocab.json: line 1: column \d+: the id"):
        merges_txt.load(put(tmp_path, "vocab.json", '{"a": "b"}'), merges)


def test_k6_21_only_version_lines_are_headers():
    spec = merges_txt.load(fixture("merges_vocab.json"), fixture("merges_hash.txt"))
    assert merges_of(spec) == [("#", "#"), ("#", "a"), ("a", "b")]


def test_k6_22_without_a_header_the_first_line_counts():
    assert merges_of(merges_txt.load(fixture("merges_vocab.json"), fixture("merges_noheader.txt"))) == [("a", "b"), ("#", "#")]


def test_k6_24_token_with_a_line_end_cannot_be_written_as_merges_txt():
    spec = merges_txt.loads(json.dumps({"a": 0, "\n": 1, "a\n": 2, " ": 3}).encode(), b"")
    for left, right in ((0, 1), (3, 0)):
        bad = spec.replace(model=spec.model.replace(merges=left.to_bytes(4, "little") + right.to_bytes(4, "little")))
        with pytest.raises(SpecError, match=r"cannot stand in a merges.txt"):
            merges_txt.dumps(bad)
        assert json.loads(formats.tokenizer_json.dumps(bad))["model"]["merges"]


def test_k6_25_line_separator_of_unicode_does_not_end_a_line():
    spec = merges_txt.loads(json.dumps({".": 0, "\u2028</w>": 1, ".\u2028</w>": 2}).encode(), b". \xe2\x80\xa8</w>\n")
    assert merges_of(spec) == [(".", "\u2028</w>")]


def test_merges_txt_is_written_and_read_back(tmp_path):
    spec = merges_txt.loads(json.dumps(VOCAB).encode(), b'#version: 0.2\na b\n" \\\n')
    merges_txt.dump(spec, tmp_path / "vocab.json", tmp_path / "merges.txt")
    assert merges_txt.load(tmp_path / "vocab.json", tmp_path / "merges.txt").model == spec.model


def test_style_follows_from_the_vocabulary():
    gpt2 = merges_txt.loads(json.dumps(VOCAB | {"<|endoftext|>": 20}).encode(), b"a b\n")
    assert gpt2.pre_tokenizer == pretokenizers.ByteLevel(add_prefix_space=False)
    assert gpt2.added_tokens == (AddedToken("<|endoftext|>", 20),)
    assert gpt2.role("eos") == "<|endoftext|>"
    roberta = merges_txt.loads(json.dumps(VOCAB | {"<s>": 20, "</s>": 21, "<mask>": 22}).encode(), b"a b\n")
    assert roberta.post_processor == postprocessors.RobertaProcessing(("</s>", 21), ("<s>", 20), True, False)
    assert [token.lstrip for token in roberta.added_tokens] == [False, False, True]
    clip = merges_txt.loads(json.dumps(VOCAB | {"a</w>": 20}).encode(), b"a b\n")
    assert clip.model.end_of_word_suffix == "</w>"
    assert merges_txt.loads(json.dumps(VOCAB).encode(), b"", style="roberta").post_processor == postprocessors.ByteLevel(trim_offsets=False)
    with pytest.raises(ValueError, match="style"):
        merges_txt.loads(b"{}", b"", style="bart")


def test_clip_list_gives_its_vocabulary(tmp_path):
    text = b'"bpe_simple_vocab_16e6.txt#version: 0.2\ni n\nt h\nth e</w>\n'
    for path in (put(tmp_path, "clip.txt", text), put(tmp_path, "clip.txt.gz", gzip.compress(text))):
        spec = formats.load(path)
        vocab = vocab_of(spec)
        assert (vocab["!"], vocab["!</w>"], vocab["in"], vocab["the</w>"]) == (0, 256, 512, 514)
        assert (vocab["<|startoftext|>"], vocab["<|endoftext|>"]) == (515, 516)
        assert merges_of(spec) == [("i", "n"), ("t", "h"), ("th", "e</w>")]
        assert spec.role("bos") == "<|startoftext|>"
    with pytest.raises(VocabularyFileError, match="line 2: 'xyz' is given by no line before"):
        merges_txt.clip(b"#version\nxyz a\n")


# ---- tekken ----


def tekken_file(**changes):
    tokens = [bytes([byte]) for byte in range(256)] + [b"ab", b"abc", b"unused"]
    vocab = [{"rank": n, "token_bytes": base64.b64encode(t).decode(), "token_str": None} for n, t in enumerate(tokens)]
    config = {"pattern": r"\w+|\W+", "num_vocab_tokens": 259, "default_vocab_size": 264, "default_num_special_tokens": 6, "version": "v3"}
    config |= changes.pop("config", {})
    return json.dumps({"config": config, "vocab": vocab} | changes).encode()


def test_tekken_ids_stand_behind_the_special_tokens():
    spec = tekken.loads(tekken_file())
    table = dict(spec.model.tokens)
    assert (table[b"\0"], table[b"abc"], len(table)) == (6, 6 + 257, 258)
    assert [token.content for token in spec.added_tokens] == ["<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]"]
    assert spec.pre_tokenizer == Split(r"\w+|\W+")
    assert (spec.role("bos"), spec.role("pad")) == ("<s>", None)


def test_tekken_file_read_fast_and_slowly_is_the_same():
    data = tekken_file()
    assert tekken._spec(tekken._document(data, None), None) == tekken.loads(data)
    other = tekken_file(
        vocab=[{"rank": 1, "token_bytes": "YQ=="}, {"token_bytes": "Yg==", "rank": 0, "rank ": 7}], config={"default_vocab_size": 8}
    )
    assert list(tekken.loads(other).model.tokens) == [(b"a", 7), (b"b", 6)]


def test_tekken_special_tokens_of_the_file_count_and_are_filled_up():
    listed = [{"rank": 1, "token_str": "<s>", "is_control": True}, {"rank": 0, "token_str": "<unk>", "is_control": True}]
    spec = tekken.loads(tekken_file(special_tokens=listed, config={"version": "v11"}))
    assert [token.content for token in spec.added_tokens][:3] == ["<unk>", "<s>", "<SPECIAL_2>"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (tekken_file()[:-40], "truncated|not JSON"),
        (b"\xff", "not UTF-8"),
        (b"[]", "object"),
        (b"{}", "config"),
        (tekken_file(vocab=[]), "only 0"),
        (tekken_file(config={"pattern": 1}), "config.pattern"),
        (tekken_file(config={"default_vocab_size": -1}), "config.default_vocab_size"),
        (tekken_file(config={"version": "v11"}), "does not list its special tokens"),
        (tekken_file(special_tokens=[{"rank": 9, "token_str": "x"}]), r"special_tokens\[0\]"),
        (tekken_file(special_tokens=[{"rank": 0, "token_str": "x"}, {"rank": 1, "token_str": "x"}]), "twice"),
        (tekken_file().replace(b'"AQ=="', b'"!"'), r"vocab\[1\].token_bytes is not base64"),
        (tekken_file().replace(b'"AQ=="', b'"AA=="'), r"vocab\[1\]: token b'\\x00' is there twice"),
        (tekken_file().replace(b'"rank": 7,', b'"rank": 8,'), r"vocab\[8\]: rank 8 is there twice"),
        (tekken_file().replace(b'"rank": 7,', b'"rank": 9999,'), "no token of rank 7"),
    ],
)
def test_tekken_file_that_is_malformed_is_refused(data, says):
    with pytest.raises(VocabularyFileError, match=says):
        tekken.loads(data, path="tekken.json")


# ---- directories ----


def test_directory_takes_the_first_file_of_the_order_and_roles_of_the_configuration(tmp_path):
    put(tmp_path, "vocab.txt", "[UNK]\na\n")
    put(
        tmp_path, "tokenizer_config.json", {"do_lower_case": False, "unk_token": {"content": "[UNK]"}, "pad_token": None, "mask_token": "a"}
    )
    spec = formats.load(tmp_path)
    assert isinstance(spec.model, models.WordPiece)
    assert spec.normalizer.lowercase is False
    assert (spec.role("unk"), spec.role("pad"), spec.role("mask")) == ("[UNK]", None, "a")
    put(tmp_path, "vocab.json", {"a": 0})
    put(tmp_path, "merges.txt", "#version: 0.2\n")
    assert formats.load(tmp_path).model.mode == "merges"
    put(tmp_path, "tekken_1.json", tekken_file())
    assert formats.load(tmp_path).model.mode == "rank"
    put(tmp_path, "tokenizer.json", {"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}})
    put(tmp_path, "special_tokens_map.json", {"eos_token": "a"})
    spec = formats.load(tmp_path)
    assert isinstance(spec.model, models.WordLevel)
    assert (spec.role("eos"), spec.role("mask")) == ("a", "a")


def test_directory_of_a_vocabulary_takes_its_added_tokens(tmp_path):
    put(tmp_path, "vocab.json", VOCAB)
    put(tmp_path, "merges.txt", "a b\n")
    put(tmp_path, "added_tokens.json", {"<new>": 30, "<pad>": 31})
    flags = {"special": True, "lstrip": True, "rstrip": False, "single_word": False, "normalized": False}
    put(tmp_path, "tokenizer_config.json", {"pad_token": "<pad>", "added_tokens_decoder": {"32": {"content": "<x>", **flags}}})
    spec = formats.load(tmp_path)
    assert spec.added_tokens == (AddedToken("<new>", 30, False), AddedToken("<pad>", 31), AddedToken("<x>", 32, lstrip=True))
    put(tmp_path, "tokenizer_config.json", {"added_tokens_decoder": {"x": {}}})
    with pytest.raises(VocabularyFileError, match=r"tokenizer_config.json: an added token is malformed"):
        formats.load(tmp_path)


@pytest.mark.parametrize(("present", "missing"), [("vocab.json", "merges.txt"), ("merges.txt", "vocab.json")])
def test_half_of_a_pair_names_the_other_half(tmp_path, present, missing):
    path = put(tmp_path, present, '{"a": 0}' if present == "vocab.json" else "#version: 0.2\na b\n")
    with pytest.raises(VocabularyFileError, match=f"there is no {missing}"):
        formats.load(path)


def test_configuration_that_is_no_json_is_refused(tmp_path):
    put(tmp_path, "vocab.txt", "a\n")
    put(tmp_path, "tokenizer_config.json", '{"a": \n x}')
    with pytest.raises(VocabularyFileError, match=r"tokenizer_config.json: line 2: this is not JSON"):
        formats.load(tmp_path)


def test_dump_takes_the_format_from_the_name(tmp_path):
    spec = vocab_txt.loads(b"[UNK]\na\n")
    for name in ("tokenizer.json", "vocab.txt", "x.bin"):
        formats.dump(spec, tmp_path / name)
        assert formats.load(tmp_path / name).model == spec.model


def test_file_in_a_folder_that_is_not_there_is_named_as_the_caller_does(tmp_path):
    path = tmp_path / "none" / "a.bin"
    with pytest.raises(FileNotFoundError) as caught:
        formats.dump(spec_for("o200k_base"), path)
    assert caught.value.filename == str(path)
