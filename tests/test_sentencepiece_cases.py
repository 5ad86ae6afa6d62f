"""Collected cases about SentencePiece models, with what sentencepiece says of them: ids, places, decoding, errors, samples, length."""

import io
import lzma
import os
import random
import time
from pathlib import Path

import pytest

import ctok
from ctok.compat import sentencepiece as compat
from ctok.errors import EncodeError, UnknownIdError
from ctok.formats.sentencepiece import loads
from ctok.spec import Spec
from ctok.stagespecs.models import bpe_from_merges
from ctok.stagespecs.pretokenizers import WhitespaceSplit
from ctok.tokenizer import Tokenizer
from ctok.train import BpeTrainer
from piece_models import HEAD, NORMAL, proto_of


@pytest.fixture(scope="module")
def mistral(tmp_path_factory):
    """The first Mistral's model, of the kit beside the repository."""
    folder = Path(os.environ.get("CTOK_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    packed = folder / "conformance" / "vocabs" / "spm_mistral_v1.model.xz"
    if not packed.exists():
        pytest.skip("no model beside the repository; CTOK_SHARED names another place")
    path = tmp_path_factory.mktemp("models") / "mistral.model"
    path.write_bytes(lzma.decompress(packed.read_bytes()))
    return path


def fixture(shared, name):
    path = shared / "cases" / "fixtures" / name
    if not path.exists():
        pytest.skip(f"no {name} beside the repository")
    return path


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        pytest.param("This is \U0001f999.cpp", [851, 349, 28705, 243, 162, 169, 156, 28723, 5222], id="k1_07"),
        pytest.param("domesticated", [2853, 374, 6899], id="k1_40"),
        pytest.param("<s>", [523, 28713, 28767], id="k3_24"),
    ],
)
def test_k1_07_k1_40_k3_24_ids_of_the_first_mistral(mistral, text, ids):
    tok = ctok.load(mistral)
    assert tok.encode(text) == tok.encode(text, allowed_special="all") == ids
    enc = tok.encoder()
    assert [number for char in text for number in enc.encode(char)] + enc.encode("", final=True) == ids


@pytest.mark.parametrize(
    ("name", "text", "ids", "pieces"),
    [
        pytest.param(
            "spm_uds.model", "hello<sep>world @ x@y <sep>", [24, 3, 47, 32, 38, 34, 41, 30, 4, 30, 57, 4, 58, 30, 3],
            ["\u2581hello", "<sep>", "w", "o", "r", "l", "d", "\u2581", "@", "\u2581", "x", "@", "y", "\u2581", "<sep>"], id="k1_36",
        ),
        pytest.param("spm_uds.model", "xabcabx", [30, 57, 6, 5, 57], ["\u2581", "x", "abc", "ab", "x"], id="k1_37"),
        pytest.param("spm_word.model", "hello test1 test2", [4, 0], ["\u2581hello", "\u2581test1\u2581test2"], id="k1_38"),
        pytest.param(
            "spm_bpe_small.model", "\u4e16 \u754chello\u4e16\u754c", [30, 0, 30, 0, 3, 14, 0],
            ["\u2581", "\u4e16", "\u2581", "\u754c", "he", "llo", "\u4e16\u754c"], id="k1_39",
        ),
    ],
)  # fmt: skip
def test_k1_36_to_k1_39_ids_and_pieces(shared, name, text, ids, pieces):
    path = fixture(shared, name)
    tok, face = ctok.load(path), compat.SentencePieceProcessor(str(path))
    assert tok.encode(text) == face.encode(text) == ids
    assert list(tok.encoding(text).tokens) == face.encode(text, out_type=str) == pieces


@pytest.mark.parametrize(
    ("text", "ids", "spans"),
    [
        pytest.param(
            "h\u00e9llo \U0001f44d hello", [295, 28797, 584, 28709, 28705, 30195, 6312, 28709],
            [(0, 1), (1, 2), (2, 4), (4, 5), (5, 6), (6, 7), (7, 12), (12, 13)], id="k4_20",
        ),
        pytest.param(
            "  hello   world  ", [259, 6312, 28709, 259, 1526, 259], [(0, 1), (1, 6), (6, 7), (7, 9), (9, 15), (15, 17)], id="k4_21"
        ),
    ],
)  # fmt: skip
def test_k4_20_k4_21_places_in_characters(mistral, text, ids, spans):
    found = ctok.load(mistral).encoding(text)
    assert (list(found.ids), list(found.spans)) == (ids, spans)
    face = compat.SentencePieceProcessor(str(mistral)).encode(text, out_type="offset_mapping")
    assert (face["ids"], face["offsets"]) == (ids, spans)


@pytest.mark.parametrize("wrong", [pytest.param(10_000_000, id="k5_10"), pytest.param(-1, id="k5_11")])
def test_k5_10_k5_11_ids_out_of_range(mistral, wrong):
    with pytest.raises(UnknownIdError):
        ctok.load(mistral).decode([wrong])
    with pytest.raises(IndexError):
        compat.SentencePieceProcessor(str(mistral)).decode([wrong])


@pytest.mark.parametrize(
    ("ids", "text"), [pytest.param([243, 162, 169, 156], "\U0001f999", id="k5_21"), pytest.param([162, 243], "\ufffd\ufffd", id="k5_23")]
)
def test_k5_21_k5_23_rows_of_bytes(mistral, ids, text):
    tok = ctok.load(mistral)
    dec = tok.decoder()
    assert tok.decode(ids) == "".join([*map(dec.decode, ids), dec.decode([], final=True)]) == text


def test_k5_26_lone_surrogate_is_named(mistral):
    tok = ctok.load(mistral)
    for encode in (tok.encode, compat.SentencePieceProcessor(str(mistral)).encode):
        with pytest.raises(EncodeError) as caught:
            encode("a\ud83d")
        assert caught.value.position == 1
    assert tok.encode("a\ud83d", errors="replace") == tok.encode("a\ufffd")


def test_k2_08_long_text_takes_linear_time(mistral):
    tok = ctok.load(mistral)
    took = []
    for times in (20_000, 80_000):
        text = "the quick brown fox " * times
        began = time.perf_counter()
        n = tok.count(text)
        took.append(time.perf_counter() - began)
        assert n == len(tok.encode("the quick brown fox " * 10)) + (times - 10) * 5
    assert took[1] < 20 * took[0] + 1


def test_k2_17_one_character_can_be_drawn():
    face = compat.SentencePieceProcessor(model_proto=proto_of([*HEAD, ("\u2581", -1.0, NORMAL), ("'", -2.0, NORMAL)]))
    assert face.sample_encode_as_ids("'", -1, 0.1) == [3, 4]


def test_k2_21_one_line_of_70000_characters_is_counted_to_its_end():
    reference = pytest.importorskip("sentencepiece")
    line = "".join(random.Random(1).choices("abcdefgh", k=70_000))
    model = io.BytesIO()
    reference.SentencePieceTrainer.train(
        sentence_iterator=iter([line]), model_writer=model, vocab_size=100, model_type="bpe", max_sentence_length=100_000, minloglevel=2
    )
    live = reference.SentencePieceProcessor(model_proto=model.getvalue())
    spec = BpeTrainer(100, form="sentencepiece", ties="sentencepiece").train([line])
    pieces = {number: text.decode() for text, number in spec.model.tokens}
    assert [pieces[number] for number in range(len(pieces))] == [live.id_to_piece(number) for number in range(live.get_piece_size())]
    assert Tokenizer.from_spec(spec).encode(line) == live.encode(line)


@pytest.mark.parametrize("kind", ["bpe", "tokenizer.json"])
def test_k7_34_merges_left_out_depend_on_the_seed_alone(kind):
    pieces = [*HEAD, ("ab", -1.0, NORMAL), ("abab", -2.0, NORMAL), ("a", -3.0, NORMAL), ("b", -4.0, NORMAL), ("\u2581", -5.0, NORMAL)]
    if kind == "bpe":
        tok = Tokenizer.from_spec(loads(proto_of(pieces, kind)))
    else:
        ids = {text: number for number, (text, _, _) in enumerate(pieces)}
        tok = Tokenizer.from_spec(Spec("toy", bpe_from_merges(ids, [("a", "b"), ("ab", "ab")], unk_token="<unk>"), WhitespaceSplit()))
    text = "abab" * 20
    drawn = [tok.sample(text, 0.5, seed=seed) for seed in range(20)]
    assert drawn == [tok.sample(text, 0.5, seed=seed) for seed in range(20)]
    assert len(set(map(tuple, drawn))) == 20 and all(tok.decode(ids).replace(" ", "") == text for ids in drawn)
    assert tok.sample(text, 0.0, seed=1) == tok.encode(text) and not any(tok.unk_id in ids for ids in drawn)


def test_k11_17_the_dummy_prefix_can_be_left_out(mistral):
    tok = ctok.load(mistral)
    rest = Tokenizer.from_spec(tok.spec.replace(normalizer=tok.spec.normalizer.replace(add_dummy_prefix=False)))
    for first, second in (("Hello wor", "ld and more"), ("a", " b"), ("\u00e9t\u00e9 ", "\u65e5\u672c"), ("x", "")):
        assert tok.decode(tok.encode(first) + rest.encode(second)) == first + second
