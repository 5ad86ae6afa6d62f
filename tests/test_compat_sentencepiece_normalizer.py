"""The normalizer of ctok.compat.sentencepiece beside the reference's own: sources, settings, texts, errors."""

import copy
import pickle
import random

import pytest

from ctok.compat.sentencepiece import SentencePieceNormalizer as Mine
from ctok.errors import CtokError

sentencepiece = pytest.importorskip("sentencepiece", reason="the reference library is not installed")
pb = pytest.importorskip("sentencepiece.sentencepiece_model_pb2", reason="models are built with sentencepiece's own messages")
Theirs = sentencepiece.SentencePieceNormalizer

TEXTS = ["", " ", "  a  b ", "\ufb01\u3000x", "e\u0301\u304b\u3099", "\0", "\U0001f600 a\u2581 ", "\t\n", "\u0001", "ABC"]
RAW = [b"", b"  ", b"\xffa\xe2\x96", b"\xc0\x80 ", "\u304b\u3099 ".encode()]
RULES = [("a", "b"), ("e\u0301", "\u00e9"), ("x", ""), ("y", "  ")]


def model():
    made = pb.ModelProto()
    made.pieces.add(piece="<unk>", type=2)
    made.pieces.add(piece="a  b", type=4)
    made.trainer_spec.treat_whitespace_as_suffix = True
    made.normalizer_spec.precompiled_charsmap = pb.NormalizerSpec.FromString(
        Theirs(norm_map=RULES).serialized_normalizer_spec()
    ).precompiled_charsmap
    made.normalizer_spec.add_dummy_prefix = False
    return made


def sources():
    yield from ({"rule_name": name} for name in ("identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"))
    yield {"norm_map": RULES}
    yield {"norm_map": [(b"a", b"b")]}
    yield {"model_proto": model()}
    yield {"model_proto": model().SerializeToString()}
    yield {"normalizer_spec": model().normalizer_spec}
    yield {"normalizer_spec": model().normalizer_spec.SerializeToString(), "add_dummy_prefix": True}
    for flags in ({"add_dummy_prefix": False}, {"escape_whitespaces": False}, {"remove_extra_whitespaces": False}):
        yield {"rule_name": "nfkc"} | flags


@pytest.mark.parametrize("source", list(sources()), ids=lambda source: "-".join(source))
def test_normalizer_gives_what_the_reference_gives(source):
    mine, theirs = Mine(**source), Theirs(**source)
    for normalizer in (mine, pickle.loads(pickle.dumps(mine)), copy.copy(mine)):
        assert normalizer.normalize(TEXTS) == theirs.normalize(TEXTS)
        assert normalizer.Normalize(TEXTS + RAW, with_offsets=True) == theirs.Normalize(TEXTS + RAW, with_offsets=True)
        assert normalizer.normalize("  a b") == theirs.normalize("  a b")
    if "norm_map" not in source:
        assert mine.serialized_normalizer_spec() == theirs.serialized_normalizer_spec()
        assert mine.serialized_model_proto() == theirs.serialized_model_proto()


def test_normalizer_of_files_gives_what_the_reference_gives(tmp_path):
    rules, file = tmp_path / "rules.tsv", tmp_path / "m.model"
    rules.write_text("61\t62\nFF76 FF9E\t30AC\t# x\n", encoding="utf-8")
    file.write_bytes(model().SerializeToString())
    for source in ({"rule_tsv": str(rules)}, {"model_file": str(file)}):
        mine, theirs = Mine(**source), Theirs(**source)
        assert mine.normalize([*TEXTS, "a\uff76\uff9e"]) == theirs.normalize([*TEXTS, "a\uff76\uff9e"])
        assert mine.decompile() == mine.Decompile() == theirs.decompile()
        said = [pb.NormalizerSpec.FromString(each.serialized_normalizer_spec()) for each in (mine, theirs)]
        for spec in said:
            spec.precompiled_charsmap = b""
        assert said[0] == said[1]
    assert Theirs(model_proto=Mine(rule_tsv=rules).serialized_model_proto()).normalize("a") == "\u2581b"


def test_normalizer_offsets_of_random_texts_equal_the_reference():
    rng = random.Random(3)
    mine, theirs = Mine(rule_name="nmt_nfkc"), Theirs(rule_name="nmt_nfkc")
    for _ in range(300):
        text = "".join(rng.choices(["a", " ", "\u3000", "\u304b", "\u3099", "\ufdfa", "\u200b", "\U0001f600", "\u2581", "e\u0301"], k=12))
        assert mine.normalize(text, with_offsets=True) == theirs.normalize(text, with_offsets=True)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({}, "no model is specified"),
        ({"norm_map": []}, "no model is specified"),
        ({"norm_map": [("a", "a")]}, "INVALID_ARGUMENT: Identity conversion is not allowed."),
        ({"norm_map": [("", "a")]}, "INVALID_ARGUMENT: Source string cannot be empty."),
        ({"norm_map": [("a", "b"), ("a", "c")]}, "INVALID_ARGUMENT: Duplicate source string in map: a"),
        ({"norm_map": {"a": "b"}}, ""),
        ({"norm_map": [(1, 2)]}, ""),
        ({"norm_map": [("a" * k, "b") for k in range(1, 33)]}, "INTERNAL: "),
        ({"rule_name": "nfd"}, "NOT_FOUND: No precompiled charsmap is found: nfd"),
        ({"rule_tsv": "there/is/none"}, "NOT_FOUND: "),
        ({"model_file": "there/is/none"}, "NOT_FOUND: "),
        ({"model_proto": b"abc"}, "INTERNAL: "),
        ({"normalizer_spec": b"abc"}, "INTERNAL: "),
        ({"normalizer_spec": pb.NormalizerSpec(precompiled_charsmap=b"abc").SerializeToString()}, ""),
    ],
)
def test_normalizer_that_cannot_be_made_raises_as_the_reference(source, message):
    with pytest.raises((ValueError, TypeError, RuntimeError)) as theirs:
        Theirs(**source)
    with pytest.raises(type(theirs.value)) as mine:
        Mine(**source)
    assert str(mine.value).startswith(message)
    assert str(theirs.value).startswith(message)


@pytest.mark.parametrize("text", [None, 1, ("a", "b"), bytearray(b"a")])
def test_normalizer_refuses_what_is_no_text(text):
    for each in (Mine, Theirs):
        with pytest.raises(TypeError, match="Input must be str or bytes"):
            each(rule_name="nfkc").normalize(text)


def test_normalizer_names_the_place_of_a_lone_surrogate():
    with pytest.raises(ValueError, match="character 1"):
        Mine(rule_name="nfkc").normalize("a\ud800")


def test_decompile_without_rules_raises_as_the_reference():
    for each in (Mine, Theirs):
        with pytest.raises(RuntimeError, match="No precompiled charsmap"):
            each(rule_name="identity").decompile()


def test_decompile_of_a_named_table_gives_the_rules_of_the_reference():
    assert Mine(rule_name="nfkc").decompile() == Theirs(rule_name="nfkc").decompile()


def test_errors_are_those_of_ctok_too():
    with pytest.raises(CtokError):
        Mine(rule_name="nfd")
