"""Collected cases about real tokenizers: what went wrong elsewhere, on the files of the conformance kit."""

import json
import lzma
from functools import cache

import pytest

import ctok
from ctok import formats
from ctok.formats import tokenizer_json
from ctok.tokenizer import Tokenizer

FILES = {  # as the cases call them; the file that they call llama2 is Mistral's
    "hf:bert_minilm": "hf_bert_minilm", "hf:claude": "hf_claude", "hf:deepseek_v3": "hf_deepseek_v3", "hf:llama2": "hf_mistral_v01",
    "hf:llama3": "hf_llama3_1", "hf:qwen3": "hf_qwen3",
}  # fmt: skip
ENCODED = """
K1-01 K1-03 K1-05 K1-12 K1-14 K1-15 K1-17 K1-18 K1-19 K1-21 K1-22 K1-24 K1-28 K3-25
""".split()
ROUND = "K5-13 K5-14 K5-15 K5-16 K5-17".split()


@cache
def case(path, name):
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(one for one in map(json.loads, lines) if one["id"] == name)


@cache
def tokenizer(folder, name):
    return Tokenizer.from_spec(tokenizer_json.loads(lzma.decompress((folder / f"{FILES[name]}.json.xz").read_bytes())))


@pytest.fixture
def of(shared):
    """The case of this id, and its tokenizer."""

    def find(name):
        found = case(shared / "cases" / "cases.jsonl", name)
        return found, tokenizer(shared / "conformance" / "vocabs", found["tokenizer"])

    return find


def streamed(tok, text, **options):
    encoder = tok.encoder(**options)
    return [number for char in text for number in encoder.encode(char)] + encoder.encode("", final=True)


def decoded(tok, ids):
    decoder = tok.decoder()
    return "".join([decoder.decode(number) for number in ids]) + decoder.decode((), final=True)


def ids_of(names):
    return [name.lower().replace("-", "_") for name in names]


@pytest.mark.parametrize("name", ENCODED, ids=ids_of(ENCODED))
def test_case_of_a_real_file_gives_ids(of, name):
    found, tok = of(name)
    options = {"allowed_special": "all", "add_special_tokens": False}
    assert tok.encode(found["input"], **options) == found["expect_ids"]
    assert streamed(tok, found["input"], **options) == found["expect_ids"]
    assert tok.count(found["input"], **options) == len(found["expect_ids"])


@pytest.mark.parametrize("name", ROUND, ids=ids_of(ROUND))
def test_case_of_a_real_file_comes_back_from_ids(of, name):
    found, tok = of(name)
    ids = tok.encode(found["input"], add_special_tokens=False)
    assert tok.decode(ids) == decoded(tok, ids) == found["expect"] == found["input"]


def test_k4_13_places_behind_an_added_token_and_an_accent(of):
    found, tok = of("K4-13")
    encoding = tok.encoding(found["input"], allowed_special="all", add_special_tokens=False)
    assert encoding.ids == found["expect_ids"]
    assert [list(span) for span in encoding.spans] == found["expect_offsets"]


def test_k5_04_negative_id_is_named_and_the_stand_in_overflows(of):
    from ctok.compat.tokenizers import Tokenizer as Face

    _, tok = of("K5-04")
    with pytest.raises(ctok.UnknownIdError, match="-1 at index 0"):
        tok.decode([-1])
    with pytest.raises(OverflowError):
        Face.from_spec(tok.spec).decode([-1])


def test_k5_05_id_in_the_gap_behind_the_vocabulary_is_named_and_the_stand_in_skips_it(of):
    from ctok.compat.tokenizers import Tokenizer as Face

    found, tok = of("K5-05")
    with pytest.raises(ctok.UnknownIdError, match="151927 at index 1") as caught:
        tok.decode(found["input"])
    assert (caught.value.id, caught.value.index) == (151927, 1)
    assert Face.from_spec(tok.spec).decode(found["input"]) == found["expect"]
    decoder = tok.decoder()
    assert decoder.decode(9707) == "Hello"
    with pytest.raises(ctok.UnknownIdError):
        decoder.decode(151927)
    assert decoder.decode(1879) == " world"


def test_k5_19_wordpiece_decoder_tidies_up_as_its_file_says(of):
    found, tok = of("K5-19")
    assert tok.decode(found["input"]) == decoded(tok, found["input"]) == found["expect"]


def test_k10_14_limits_of_a_file_belong_to_the_stand_in(of):
    from ctok.compat.tokenizers import Tokenizer as Face

    found, tok = of("K10-14")
    wanted = found["expect"]
    assert tok.encode(found["input"]) == wanted["ids_without_padding"]
    assert tok.count(found["input"]) == 3
    face = Face.from_spec(tok.spec)
    filled = face.encode(found["input"])
    assert len(filled.ids) == wanted["len"]
    assert [number for number, real in zip(filled.ids, filled.attention_mask, strict=True) if real] == wanted["ids_without_padding"]
    face.no_padding()
    assert face.encode(found["input"]).ids == wanted["ids_without_padding"]


@pytest.mark.parametrize("name", ["K10-16", "K10-19", "K10-20"], ids=ids_of(["K10-16", "K10-19", "K10-20"]))
def test_case_of_what_looks_like_a_text(name):
    tok = ctok.load("o200k_base")

    class Text(str):
        __slots__ = ()

    if name == "K10-16":
        with pytest.raises(TypeError, match="float"):
            tok.encode(float("nan"))
        return
    text = Text("a") if name == "K10-20" else pytest.importorskip("numpy").str_("a")
    assert tok.encode(text) == tok.encode("a")
    assert tok.encode_batch([text, "b"]) == tok.encode_batch(["a", "b"])
    assert tok.encoder().encode(text, final=True) == tok.encode("a")
    assert tok.count(text) == 1


def test_k1_41_control_character_is_cut_as_tekken_s_own_pattern_says(shared):
    spec = formats.loads(lzma.decompress((shared / "conformance" / "vocabs" / "tekken_240718.json.xz").read_bytes()))
    tok = Tokenizer.from_spec(spec)
    ids = tok.encode("ju\x16")
    assert tok.decode_bytes(ids) == b"ju\x16"
    assert [tok.decode_bytes([number]) for number in ids] == [b"ju", b"\x16"]
