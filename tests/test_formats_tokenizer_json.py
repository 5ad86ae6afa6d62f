"""tokenizer.json: what is accepted and what it means is compared with the live reference; what is written equals what was read."""

import copy
import json
import os
import random
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctok._native import files, jsonfile
from ctok.errors import SpecError, VocabularyFileError
from ctok.formats import _disk, _json_stages, load, sniff, tokenizer_json
from ctok.spec import BPE, AddedToken, Spec, Split
from ctok.stagespecs import models

tokenizers = pytest.importorskip("tokenizers")

CHECKING = jsonfile.fail_after(0) != -1 or jsonfile.fail_after(-1) != -1
SHARED = Path(os.environ.get("CTOK_SHARED", Path(__file__).resolve().parents[2] / "shared"))
FIXTURES = SHARED / "cases" / "fixtures"
BASE = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": None,
    "post_processor": None,
    "decoder": None,
    "model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1, "ab": 2}, "unk_token": "a"},
}
BPE_MODEL = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}


def document(**parts):
    return json.dumps(copy.deepcopy(BASE) | parts, ensure_ascii=False).encode()


def reference(data):
    """What the reference makes of a file, as JSON; None when it refuses."""
    try:
        return json.loads(tokenizers.Tokenizer.from_str(data.decode()).to_str())
    except BaseException as error:  # a panic of the reference is no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        return None


def lines(text):
    return [json.loads(line) for line in text.strip().splitlines()]


NORMALIZERS = lines(r"""
{"type": "NFC"}
{"type": "NFD", "unknown": 1}
{"type": "NFKC"}
{"type": "NFKD"}
{"type": "Lowercase"}
{"type": "StripAccents"}
{"type": "Nmt"}
{"type": "ByteLevel"}
{"type": "BertNormalizer"}
{"type": "Strip"}
{"type": "Prepend"}
{"type": "Replace"}
{"type": "Sequence"}
{"type": "nfc"}
{"type": null}
{"type": "Strip", "strip_left": true}
{"type": "Strip", "strip_left": 1, "strip_right": true}
{"type": "Strip", "strip_left": true, "strip_right": false}
{"type": "Prepend", "prepend": ""}
{"type": "Prepend", "prepend": "x"}
{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "lowercase": true}
{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": false, "strip_accents": true, "lowercase": true}
{"type": "BertNormalizer", "clean_text": true, "strip_accents": null, "lowercase": true}
{"type": "Replace", "pattern": {"String": "a"}, "content": "b"}
{"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
{"type": "Replace", "pattern": "a", "content": "b"}
{"type": "Replace", "pattern": {"String": "a", "Regex": "b"}, "content": "b"}
{"type": "Replace", "pattern": {"String": "a"}}
{"type": "Replace", "pattern": {"String": ""}, "content": "b"}
{"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Foo"}]}
{"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Sequence", "normalizers": []}]}
{"type": "Sequence", "normalizers": [null]}
{"type": "Sequence", "normalizers": {}}
"NFC"
[]
{}
{"normalizers": [{"type": "NFC"}]}
{"strip_left": true, "strip_right": true}
{"prepend": "a"}
{"clean_text": true, "handle_chinese_chars": true, "lowercase": true}
""")
PRE_TOKENIZERS = lines(r"""
{"type": "BertPreTokenizer"}
{"type": "ByteLevel"}
{"type": "CharDelimiterSplit"}
{"type": "Metaspace"}
{"type": "Whitespace"}
{"type": "Sequence"}
{"type": "Split"}
{"type": "Punctuation"}
{"type": "WhitespaceSplit"}
{"type": "Digits"}
{"type": "UnicodeScripts"}
{"type": "FixedLength"}
{"type": "Delimiter"}
{"type": "ByteLevel", "add_prefix_space": false}
{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true}
{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}
{"type": "ByteLevel", "add_prefix_space": null, "trim_offsets": true}
{"type": "Metaspace", "replacement": "\u2581"}
{"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": true}
{"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": false}
{"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": true, "prepend_scheme": "never"}
{"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": false, "prepend_scheme": "always"}
{"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": false, "prepend_scheme": "never"}
{"type": "Metaspace", "replacement": "\u2581", "str_rep": "\u2581", "add_prefix_space": true}
{"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "First"}
{"type": "Metaspace", "replacement": "ab", "prepend_scheme": "first"}
{"type": "Metaspace", "replacement": "", "prepend_scheme": "first"}
{"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": false}
{"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": null}
{"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": null}
{"type": "Metaspace", "replacement": "\u2581", "split": null}
{"type": "CharDelimiterSplit", "delimiter": "ab"}
{"type": "CharDelimiterSplit", "delimiter": "a"}
{"type": "Punctuation", "behavior": "Removed"}
{"type": "Punctuation", "behavior": "removed"}
{"type": "Punctuation", "behavior": null}
{"type": "Digits", "individual_digits": true}
{"type": "Digits", "individual_digits": null}
{"type": "Split", "pattern": {"String": "a"}, "behavior": "Removed"}
{"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Removed", "invert": true}
{"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Foo", "invert": true}
{"type": "Split", "pattern": {"Regex": "a"}, "behavior": "MergedWithPrevious", "invert": null}
{"type": "Split", "pattern": "a", "behavior": "Removed", "invert": false}
{"type": "Split", "pattern": {"Regex": "a"}, "invert": false}
{"type": "FixedLength", "length": 3}
{"type": "FixedLength", "length": -3}
{"type": "FixedLength", "length": 3.0}
{"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}, {"type": "Digits", "individual_digits": false}]}
{"pretokenizers": [{"type": "Whitespace"}]}
{"add_prefix_space": true, "trim_offsets": true}
""")
DECODERS = lines(r"""
{"type": "BPEDecoder"}
{"type": "ByteLevel"}
{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true}
{"type": "WordPiece"}
{"type": "CTC"}
{"type": "Fuse"}
{"type": "ByteFallback"}
{"type": "Strip", "content": " ", "start": 1, "stop": 0}
{"type": "Strip", "content": "ab", "start": 1, "stop": 0}
{"type": "Strip", "content": " ", "start": -1, "stop": 0}
{"type": "Strip", "content": " ", "start": 1}
{"type": "BPEDecoder", "suffix": "x"}
{"type": "WordPiece", "prefix": "#", "cleanup": false}
{"type": "CTC", "pad_token": "a", "word_delimiter_token": "b", "cleanup": true}
{"type": "CTC", "pad_token": "a"}
{"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
{"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": true}
{"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "ByteFallback"}]}
{"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "Whitespace"}]}
{"type": "NFC"}
{"prefix": "#", "cleanup": true}
{"suffix": "a"}
{"pad_token": "a", "word_delimiter_token": "b", "cleanup": true}
""")
A, B = {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}
TEMPLATE = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "x", "type_id": 0}}, A], "pair": [A, B],
            "special_tokens": {"x": {"id": "x", "ids": [1, 2], "tokens": ["y", "z"]}}}  # fmt: skip
BERT = {"type": "BertProcessing", "sep": ["x", 1], "cls": ["y", 2]}
POST_PROCESSORS = [
    BERT,
    BERT | {"sep": ["x", -1]},
    BERT | {"sep": ["x"]},
    BERT | {"sep": "x"},
    BERT | {"type": "RobertaProcessing"},
    BERT | {"type": "RobertaProcessing", "trim_offsets": True, "add_prefix_space": False},
    {"sep": ["x", 1], "cls": ["y", 2]},
    {"sep": ["x", 1], "cls": ["y", 2], "trim_offsets": True, "add_prefix_space": False},
    {"type": "ByteLevel"},
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False},
    TEMPLATE,
    TEMPLATE | {"single": []},
    TEMPLATE | {"single": [{"Sequence": {"id": "C", "type_id": 0}}]},
    TEMPLATE | {"single": [{"Sequence": {"id": "A"}}]},
    TEMPLATE | {"single": [{"Foo": {"id": "A", "type_id": 0}}]},
    TEMPLATE | {"single": [{"Sequence": {"id": "A", "type_id": -1}}]},
    TEMPLATE | {"single": "x $A"},
    TEMPLATE | {"special_tokens": []},
    {"type": "TemplateProcessing", "single": [A], "special_tokens": {}},
    {"type": "Sequence", "processors": [{"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False}, TEMPLATE]},
]
TRUNCATIONS = lines(r"""
{}
{"max_length": 3}
{"max_length": 3, "strategy": "LongestFirst", "stride": 0}
{"max_length": 3, "strategy": "only_first", "stride": 0}
{"max_length": 3, "strategy": "OnlyFirst", "stride": 5, "direction": "Left"}
{"max_length": -3, "strategy": "OnlySecond", "stride": 5, "direction": "Left"}
""")
PADDINGS = lines(r"""
{}
{"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0, "pad_type_id": 0, "pad_token": "x"}
{"strategy": {"Fixed": 5}, "direction": "Left", "pad_to_multiple_of": 8, "pad_id": 0, "pad_type_id": 0, "pad_token": "x"}
{"strategy": {"Fixed": 5}, "direction": "Left", "pad_id": 0, "pad_type_id": 0, "pad_token": "x"}
{"strategy": "Foo", "direction": "Left", "pad_id": 0, "pad_type_id": 0, "pad_token": "x"}
{"strategy": "BatchLongest", "pad_id": 0, "pad_type_id": 0, "pad_token": "x"}
{"strategy": "BatchLongest", "direction": "right", "pad_id": 0, "pad_type_id": 0, "pad_token": "x"}
""")
WORDPIECE = {
    "type": "WordPiece",
    "unk_token": "[UNK]",
    "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100,
    "vocab": {"[UNK]": 0},
}
UNIGRAM = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.5]], "byte_fallback": False}
WORDLEVEL = {"type": "WordLevel", "vocab": {"<unk>": 0}, "unk_token": "<unk>"}


def without(model):
    return [{k: v for k, v in model.items() if k != key} for key in model]


MODELS = [
    WORDPIECE, *without(WORDPIECE), WORDPIECE | {"unk_token": "no"}, WORDPIECE | {"vocab": ["a"]}, WORDPIECE | {"unk_token": None},
    WORDLEVEL, *without(WORDLEVEL), WORDLEVEL | {"unk_token": "no"}, WORDLEVEL | {"unk_token": None},
    UNIGRAM, *without(UNIGRAM), UNIGRAM | {"unk_id": None}, UNIGRAM | {"unk_id": 7}, UNIGRAM | {"unk_id": -1}, UNIGRAM | {"vocab": []},
    UNIGRAM | {"vocab": [], "unk_id": None}, UNIGRAM | {"vocab": [["a", 0]]}, UNIGRAM | {"vocab": [["a", -1.0], ["a", -2.5]]},
    UNIGRAM | {"vocab": {"a": 0}}, UNIGRAM | {"vocab": [["a"]]}, UNIGRAM | {"vocab": [["a", 1, 2]]}, UNIGRAM | {"vocab": [["", -1.0]]},
    UNIGRAM | {"byte_fallback": None}, UNIGRAM | {"byte_fallback": True}, UNIGRAM | {"vocab": [["a", "1"]]}, UNIGRAM | {"vocab": [[1, 1]]},
    BPE_MODEL, *without(BPE_MODEL),
    *(BPE_MODEL | change for change in (
        {"merges": [["a", "b"]]}, {"merges": []}, {"merges": ["a b", ["a", "b"]]}, {"merges": ["a b c"]}, {"merges": ["a  b"]},
        {"merges": ["ab"]}, {"merges": ["a b", "a b"]}, {"merges": [""]}, {"merges": [["a", "b", "c"]]}, {"merges": ["a c"]},
        {"merges": ["b a"]}, {"merges": ["a b "]}, {"merges": [1]}, {"merges": None}, {"merges": {}}, {"merges": [["a", 1]]},
        {"vocab": {"": 0, "a": 1, "b": 2}, "merges": [["", "a"]]}, {"vocab": {"": 0, "a": 1}, "merges": [" a"]},
        {"ignore_merges": True}, {"ignore_merges": None}, {"fuse_unk": None}, {"fuse_unk": 1}, {"byte_fallback": None},
        {"dropout": 0.5}, {"dropout": 2}, {"dropout": 1}, {"dropout": -0.1}, {"dropout": "0.1"}, {"unk_token": "zz"}, {"unk_token": 1},
        {"type": None}, {"type": "foo"}, {"end_of_word_suffix": "</w>"}, {"unknown": [1]},
        {"continuing_subword_prefix": "##", "vocab": {"a": 0, "##b": 1, "ab": 2}, "merges": ["a ##b"]}, {"vocab": ["a"]}, {"vocab": None},
    )),
    *(BPE_MODEL | {"merges": [], "vocab": vocab} for vocab in (
        {}, {"a": 0, "b": 0}, {"a": 0, "b": 10}, {"a": "1"}, {"a": 1.0}, {"a": -1}, {"a": None}, {"a": 2**32}, {"a": True},
    )),
]  # fmt: skip
PARTS = [
    *(("normalizer", value) for value in NORMALIZERS),
    *(("pre_tokenizer", value) for value in PRE_TOKENIZERS),
    *(("decoder", value) for value in DECODERS),
    *(("post_processor", value) for value in POST_PROCESSORS),
    *(("truncation", value) for value in TRUNCATIONS),
    *(("padding", value) for value in PADDINGS),
    *(("model", value) for value in MODELS),
]


@pytest.mark.parametrize(("key", "value"), PARTS, ids=lambda v: v if isinstance(v, str) else json.dumps(v)[:70])
def test_part_is_accepted_and_means_what_the_reference_says(key, value):
    data = document(**{key: value})
    theirs = reference(data)
    if theirs is None:
        with pytest.raises(VocabularyFileError, match="." if key == "model" else key):
            tokenizer_json.loads(data)
        return
    spec = tokenizer_json.loads(data)
    assert json.loads(tokenizer_json.dumps(spec)) == json.loads(data)
    if key == "model" and value.get("merges") in (["a b", "a b"], []):
        return  # of two merges, or two tokens with one id, the reference forgets one
    # As the reference itself would write it: what it says is what the record says.
    assert json.loads(tokenizer_json.dumps(spec.replace(document=None)))[key] == theirs[key]


TOKEN = {"id": 3, "content": "<x>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}


@pytest.mark.parametrize(
    "tokens",
    [
        [TOKEN],
        *([{k: v for k, v in TOKEN.items() if k != key}] for key in TOKEN),
        [TOKEN | {"unknown": 1}],
        [TOKEN, TOKEN | {"special": False, "lstrip": True}],
        [TOKEN | {"content": ""}],
        [TOKEN | {"content": "a", "id": 0}],
        [TOKEN | {"id": -1}],
        [TOKEN | {"id": "3"}],
        [TOKEN | {"special": 1}],
        [TOKEN | {"content": 1}],
        ["<x>"],
        {},
        None,
    ],
    ids=str,
)
def test_added_tokens_are_accepted_as_the_reference_does(tokens):
    data = document(added_tokens=tokens)
    theirs = reference(data)
    if theirs is None:
        with pytest.raises(VocabularyFileError, match="added_tokens"):
            tokenizer_json.loads(data)
        return
    spec = tokenizer_json.loads(data)
    assert json.loads(tokenizer_json.dumps(spec)) == json.loads(data)
    assert json.loads(tokenizer_json.dumps(spec.replace(document=None)))["added_tokens"] == theirs["added_tokens"]


@pytest.mark.parametrize("missing", BASE)
def test_missing_part_is_none_and_stays_missing(missing):
    data = json.dumps({k: v for k, v in BASE.items() if k != missing}).encode()
    if missing == "model":
        with pytest.raises(VocabularyFileError, match="no model"):
            tokenizer_json.loads(data)
    else:
        assert json.loads(tokenizer_json.dumps(tokenizer_json.loads(data))) == json.loads(data)


def test_unknown_parts_are_kept():
    data = document(something={"deep": [1.5, "x", None]}, another=3)
    assert json.loads(tokenizer_json.dumps(tokenizer_json.loads(data))) == json.loads(data)


def test_changed_spec_writes_the_change_and_keeps_the_rest():
    data = document(something=1, normalizer={"type": "NFC", "unknown": 2}, decoder={"type": "Fuse", "unknown": 3})
    spec = tokenizer_json.loads(data)
    made = json.loads(tokenizer_json.dumps(spec.replace(normalizer=None, added_tokens=[AddedToken("<x>", 9)])))
    assert made["normalizer"] is None
    assert made["decoder"] == {"type": "Fuse", "unknown": 3}
    assert made["something"] == 1
    assert made["added_tokens"][0]["content"] == "<x>"


def test_spec_with_another_model_writes_that_model_only():
    spec = tokenizer_json.loads(document(model=BPE_MODEL | {"unknown": 1}))
    other = spec.replace(model=models.WordPiece(models.table_of_texts({"[UNK]": 0})))
    assert json.loads(tokenizer_json.dumps(other))["model"] == WORDPIECE


def test_spec_that_the_format_cannot_hold_is_refused():
    spec = tokenizer_json.loads(document())
    with pytest.raises(SpecError, match="no pre-tokenizer Split"):
        tokenizer_json.dumps(spec.replace(pre_tokenizer=Split("a+")))
    with pytest.raises(SpecError, match="no model BPE"):
        tokenizer_json.dumps(spec.replace(model=BPE(spec.model.tokens)))


def test_ids_far_apart_are_read_and_written():
    data = document(
        model=BPE_MODEL | {"vocab": {"a": 0, "b": 2**31 - 1, "ab": 2**30}}, added_tokens=[TOKEN | {"content": "b", "id": 2**31 - 1}]
    )
    assert json.loads(tokenizer_json.dumps(tokenizer_json.loads(data))) == json.loads(data)
    with pytest.raises(VocabularyFileError, match="that of another token"):
        tokenizer_json.loads(data.replace(b'"content": "b"', b'"content": "c"'))


def test_records_hold_ids_and_flags():
    spec = tokenizer_json.loads(document(model=BPE_MODEL, added_tokens=[TOKEN | {"lstrip": True}]))
    assert isinstance(spec.model, BPE)
    assert list(spec.model.tokens) == [(b"a", 0), (b"ab", 2), (b"b", 1)]
    assert struct.unpack("<2I", spec.model.merges) == (0, 1)
    assert spec.added_tokens == (AddedToken("<x>", 3, lstrip=True),)


def test_merges_before_the_vocabulary_are_read():
    model = {"merges": [["a", "b"], ["ab", "a"]], "type": "BPE", "vocab": {"b": 7, "a": 3, "ab": 5, "aba": 6}}
    spec = tokenizer_json.loads(document(model=model))
    assert struct.unpack("<4I", spec.model.merges) == (3, 7, 5, 3)


def test_key_twice_in_the_vocabulary_the_later_counts_as_in_python():
    spec = tokenizer_json.loads(b'{"model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 1, "b": 2, "a": 3}}}')
    assert list(spec.model.tokens) == [(b"a", 3), (b"b", 2)]


@pytest.mark.parametrize("model", [BPE_MODEL | {"merges": ["#version: 0.2", "a b"]}, BPE_MODEL | {"vocab": {"a": 0, "b": 0, "ab": 2}}])
def test_merges_that_ids_do_not_give_back_are_kept(model):
    data = document(model=model)
    spec = tokenizer_json.loads(data)
    assert len(spec.model.merges) == 8
    assert json.loads(tokenizer_json.dumps(spec)) == json.loads(data)
    changed = spec.replace(model=spec.model.replace(merges=b""))
    assert json.loads(tokenizer_json.dumps(changed))["model"]["merges"] == []


def test_roles_are_those_that_the_file_names():
    padding = {"strategy": "BatchLongest", "direction": "Right", "pad_id": 1, "pad_type_id": 0, "pad_token": "b"}
    assert tokenizer_json.loads(document(padding=padding)).roles == (("pad", "b"), ("unk", "a"))
    assert tokenizer_json.loads(document(model=UNIGRAM)).role("unk") == "<unk>"
    assert tokenizer_json.loads(document(padding=padding | {"pad_token": "zz"})).role("pad") is None


# ---- malformed documents ----


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "column 1.*breaks off"),
        (b"{", "breaks off"),
        (b'{"model"', "breaks off"),
        (b'{"model": {"vocab": {"a": 1, "b', "breaks off"),
        (b'{"model": {"vocab": {"a": 1}, "merges": ["a', "breaks off"),
        (b'{"model": nul', "breaks off"),
        (b'{"model": nil}', "line 1: column 11: there should be a JSON value"),
        (b'{"model": {"vocab": {\n"a": 01}}}', "line 2: column 6: this is no number"),
        (b'{"model": {"vocab": {"a": 1,}}}', "key in double quotes"),
        (b'{"model": {"vocab": {"a" 1}}}', "colon"),
        (b'{"model": {"vocab": {"a": 1 "b": 2}}}', "comma"),
        (b'{"model": {"vocab": {"\xff": 1}}}', "not UTF-8"),
        (b'{"model": {"vocab": {"\xed\xa0\x80": 1}}}', "not UTF-8"),
        (b'{"model": {"vocab": {"a\nb": 1}}}', "control character"),
        (b'{"model": {"vocab": {"\\x": 1}}}', "escape"),
        (b'{"model": {"vocab": {"\\ud800": 1}}}', "surrogate"),
        (b'{"model": {"vocab": {"\\ud800\\u0041": 1}}}', "surrogate"),
        (b'{"model": {"vocab": {"\\udc00": 1}}}', "surrogate"),
        (b'{"x": "\\ud800", "model": {}}', "surrogate"),
        (b'{"x": NaN}', "JSON value"),
        (b'{"x": 1.}', "no number"),
        (b'{"x": 1e999, "model": {}}', "out of range"),
        (b'{"x": 1} x', "follows the end"),
        (b'{"x": ' + b"[" * 200 + b"]" * 200 + b"}", "too deeply"),
        (b'{"model": {"vocab": {}}, "model": {}}', "stands twice"),
        (b'{"model": {"vocab": {}, "vocab": {}}}', "stands twice"),
        (b'{"model": {"type": "Unigram", "vocab": [["a", 1e999]]}}', "out of the range"),
        (b'{"version": "9.0", "model": {"type": "BPE", "vocab": {}, "merges": []}}', "version"),
        (b'{"model": 3}', "no model"),
        (b"[1]", "JSON value"),
        (b'{"x": ' + b"1" * 5000 + b"}", "cannot be read"),
    ],
    ids=lambda v: repr(v)[:50],
)
def test_malformed_document_is_refused_with_the_place(data, says):
    with pytest.raises(VocabularyFileError, match=says) as caught:
        tokenizer_json.loads(data, path="some.json")
    assert str(caught.value).startswith("some.json: ")


def test_every_prefix_of_a_document_is_refused_and_every_changed_byte_is_no_crash():
    data = document(model=BPE_MODEL | {"merges": [["a", "b"]]}, added_tokens=[TOKEN], normalizer={"type": "NFC"})
    for n in range(len(data)):
        with pytest.raises(VocabularyFileError):
            tokenizer_json.loads(data[:n])
    rng = random.Random(5)
    for n in range(len(data)):
        changed = bytearray(data)
        changed[n] = rng.choice(b'"\\{}[],:0 a\xff\n-e')
        try:
            tokenizer_json.loads(bytes(changed))
        except VocabularyFileError:
            pass


# ---- the tables, against Python's own reader ----

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(TEXTS, st.integers(0, 2**31 - 1), max_size=40), st.booleans(), st.sampled_from([None, 2]))
def test_vocabulary_is_what_python_reads(vocab, escaped, indent):
    data = json.dumps(
        BASE | {"model": {"type": "WordLevel", "unk_token": "", "vocab": vocab}}, ensure_ascii=escaped, indent=indent
    ).encode()
    spec = tokenizer_json.loads(data)
    assert list(spec.model.tokens) == sorted((text.encode(), number) for text, number in vocab.items())
    assert json.loads(tokenizer_json.dumps(spec)) == json.loads(data)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text('ab\u00e9\\" \n', min_size=1, max_size=3), min_size=1, max_size=120), st.booleans(), st.randoms(use_true_random=False)
)
def test_merges_are_what_python_reads(texts, escaped, rng):
    merges = [(rng.choice(texts), rng.choice(texts)) for _ in range(100)]
    texts = list(dict.fromkeys([*texts, *(left + right for left, right in merges)]))
    vocab = dict(zip(texts, rng.sample(range(1000), len(texts))))
    model = {"type": "BPE", "vocab": vocab, "merges": merges}
    data = json.dumps(BASE | {"model": model}, ensure_ascii=escaped).encode()
    spec = tokenizer_json.loads(data)
    assert list(struct.iter_unpack("<2I", spec.model.merges)) == [(vocab[left], vocab[right]) for left, right in merges]
    assert json.loads(tokenizer_json.dumps(spec)) == json.loads(data)


SPELLINGS = [{"indent": None}, {"separators": (",", ":")}, {"indent": 1}, {"indent": 2}, {"indent": 6}, {"indent": "\t \n" * 12}]


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.text('ab\u0120\u00e9\u4f60"', min_size=1, max_size=3), min_size=1, max_size=20),
    st.booleans(),
    st.sampled_from(SPELLINGS),
    st.randoms(use_true_random=False),
)
def test_entries_written_alike_with_odd_ones_among_them_are_what_python_reads(texts, pairs, spelling, rng):
    for _ in range(60):
        texts.append(rng.choice(texts) + rng.choice(texts))
    texts = list(dict.fromkeys(text[:20] for text in texts))
    vocab = dict(zip(texts, range(len(texts)) if rng.random() < 0.7 else rng.sample(range(2**31), len(texts))))
    merges = [(text[:at], text[at:]) for text in texts for at in range(1, len(text)) if text[:at] in vocab and text[at:] in vocab]
    model = {"type": "BPE", "vocab": vocab, "merges": [list(pair) if pairs else " ".join(pair) for pair in merges]}
    whole = json.dumps(BASE | {"model": model}, ensure_ascii=False, **spelling)
    for odd in (whole, whole.replace('"', ' "', 1), whole.replace("b", "\\u0062", 3), whole.replace(": ", ":\r ", 9)):
        model = tokenizer_json.loads(odd.encode()).model
        assert list(model.tokens) == sorted((text.encode(), number) for text, number in vocab.items())
        assert list(struct.iter_unpack("<2I", model.merges)) == [(vocab[left], vocab[right]) for left, right in merges]
        assert list(struct.iter_unpack("<I", model.joined)) == [(vocab[left + right],) for left, right in merges]


NUMBERS = [
    "0", "-0", "0.0", "-0.0", "1e0", "1E+5", "5e-324", "1e-400", "1.7976931348623157e308", "123456789012345678901234567890", "0.1e1",
    "18446744073709551615", "18446744073709551616", "184467440737095516150.5", "1844674407370955161500e-3", "0." + "0" * 400 + "1",
    "-9223372036854775809", "9007199254740993", "1e22", "1e23", "123456789.123456789123456789e-300", "0e999999999999", "-1e-99999999999",
]  # fmt: skip


def test_scores_are_what_the_reference_reads_and_come_back_as_they_were():
    rng = random.Random(7)
    texts = [*NUMBERS]
    for _ in range(3000):
        value = -rng.random() * 10 ** rng.randint(-3, 3)
        texts.append(rng.choice([repr(value), f"{value:.20e}", f"{value:.25f}", f"{value:.6f}"]))
    vocab = ", ".join(f'["t{i}", {text}]' for i, text in enumerate(texts))
    data = document(model="MODEL").replace(b'"MODEL"', b'{"type": "Unigram", "unk_id": 0, "vocab": [' + vocab.encode() + b"]}")
    theirs = [score for _, score in reference(data)["model"]["vocab"]]
    spec = tokenizer_json.loads(data)
    ours = struct.unpack(f"<{len(texts)}d", spec.model.scores)
    assert list(ours) == theirs
    assert sum(score != float(text) for score, text in zip(ours, texts)) > 100  # the reference's arithmetic is its own
    as_doubles = {"parse_int": float}
    assert json.loads(tokenizer_json.dumps(spec), **as_doubles) == json.loads(data, **as_doubles)
    other = spec.replace(model=models.unigram_from_pieces([("a", -1.5)]))
    assert json.loads(tokenizer_json.dumps(other))["model"]["vocab"] == [["a", -1.5]]


@pytest.mark.skipif(not CHECKING, reason="only builds with CTOK_BUILD=test can make allocations fail")
@pytest.mark.parametrize("module", [files, jsonfile], ids=["files", "jsonfile"])
@pytest.mark.parametrize("model", [BPE_MODEL, BPE_MODEL | {"merges": [["a", "b"]]}, UNIGRAM])
def test_file_that_finds_no_memory_is_a_memory_error(model, module):
    data, failed = json.dumps(BASE | {"model": model}).encode(), 0
    want = tokenizer_json.loads(data)
    for n in range(100):
        module.fail_after(n)
        try:
            assert tokenizer_json.loads(data) == want
        except MemoryError:
            failed += 1
            continue
        finally:
            left = module.fail_after(-1)
        if left >= 0:
            break
    assert failed >= (3 if module is jsonfile else 1)


# ---- from the disk ----


def test_large_file_is_read_as_a_small_one_is(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(document() + b" " * (1 << 20))
    assert load(path) == tokenizer_json.load(path) == tokenizer_json.loads(document(), path=path)


@pytest.mark.parametrize("told", [1, 1000, 1500, 2000, 3000])
def test_file_that_grows_or_shrinks_while_it_is_read_is_read_to_its_end(tmp_path, monkeypatch, told):
    path, content = tmp_path / "a", random.Random(told).randbytes(2000)
    path.write_bytes(content)
    monkeypatch.setattr(_disk, "_LARGE", 1000)
    with open(path, "rb", buffering=0) as file:
        monkeypatch.setattr(os, "fstat", lambda _: os.stat_result((0,) * 6 + (told,) + (0,) * 3))
        assert _disk.contents(file) == content


# ---- whole files ----


def shared_files():
    return sorted(FIXTURES.glob("*.json")) if FIXTURES.is_dir() else []


def fixture(name):
    if not (FIXTURES / name).exists():
        pytest.skip("the shared cases are not here")
    return FIXTURES / name


@pytest.mark.parametrize("path", shared_files(), ids=lambda p: p.name)
def test_shared_fixture_is_read_and_written_back_if_the_reference_reads_it(path):
    data = path.read_bytes()
    if sniff(data) != "tokenizer_json":
        pytest.skip("no tokenizer.json")
    if reference(data.removeprefix(b"\xef\xbb\xbf")) is None:
        with pytest.raises(VocabularyFileError):
            load(path)
    else:
        assert json.loads(tokenizer_json.dumps(load(path))) == json.loads(data.decode("utf-8-sig"))


def test_k6_04_merge_of_tokens_with_blanks_as_one_text_is_refused_by_name():
    with pytest.raises(VocabularyFileError, match=r"exactly one blank.*must be a pair.*entry 0"):
        load(fixture("load_merges_space_str.json"))


def test_k6_06_merge_that_makes_an_unknown_token_is_named():
    with pytest.raises(VocabularyFileError, match=r"merge 0 of model.merges, 'b' and 'a': .*'ba'.* not in the vocabulary"):
        load(fixture("load_merge_result_missing.json"))


def test_k6_08_two_tokens_with_one_id_are_accepted():
    assert [number for _, number in load(fixture("load_dup_ids.json")).model.tokens].count(0) == 2


@pytest.mark.parametrize("name", ["load_id_negative.json", "load_id_2pow32.json", "load_id_float.json"])
def test_k6_09_to_11_id_that_is_no_uint31_is_refused(name):
    with pytest.raises(VocabularyFileError, match=r"the id of a token must be.*entry 0"):
        load(fixture(name))


def test_k6_12_unknown_stage_is_named():
    with pytest.raises(VocabularyFileError, match="pre_tokenizer: unknown pre-tokenizer 'Foo'"):
        load(fixture("load_unknown_pretok.json"))


def test_k6_13_truncated_file_says_so_with_line_and_column():
    with pytest.raises(VocabularyFileError, match=r"line 1: column \d+: the file breaks off.*truncated"):
        load(fixture("load_truncated.json"))


def test_k6_15_added_token_keeps_the_id_of_the_file_and_a_clash_is_refused():
    assert load(fixture("load_added_gap.json")).added_tokens[0].id == 50
    with pytest.raises(VocabularyFileError, match=r"added_tokens\[0\]: .*'<x>'.* id 1, which is that of another token"):
        tokenizer_json.loads(document(added_tokens=[TOKEN | {"id": 1}]))
    with pytest.raises(VocabularyFileError, match=r"added_tokens\[0\]: .*'a'.* id 7, but 0 in the vocabulary"):
        tokenizer_json.loads(document(added_tokens=[TOKEN | {"id": 7, "content": "a"}]))


def test_known_stages_are_those_of_the_reference():
    text = json.dumps(_json_stages.TABLE, default=str)
    for module in (tokenizers.normalizers, tokenizers.pre_tokenizers, tokenizers.decoders, tokenizers.processors):
        for name, kind in vars(module).items():
            if isinstance(kind, type) and name not in ("Normalizer", "PreTokenizer", "Decoder", "PostProcessor", "DecodeStream"):
                assert f'"{name}"' in text, name


@pytest.mark.parametrize(("content", "number"), [("<x>", 3), ("b", 9)])
def test_added_tokens_that_could_not_be_read_again_are_not_written(tmp_path, content, number):
    model = models.WordLevel(models.table_of_texts({"a": 1, "b": 2, "c": 3}), unk_token="a")
    spec = Spec("clash", model, None, (AddedToken(content, number),))
    path = tmp_path / "tokenizer.json"
    with pytest.raises(SpecError, match=f"added token '{content}' has the id {number}"):
        tokenizer_json.dump(spec, path)
    assert not path.exists()
