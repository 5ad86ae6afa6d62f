"""Tokenizers of SentencePiece models as wholes: each call and codec against the live reference, for files and for random models."""

import lzma
import math
import pickle
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ctok
from ctok.errors import DisallowedSpecialTokenError, SpecError, UnknownIdError, UnknownSpecialTokenError
from ctok.formats import sentencepiece as files
from ctok.tokenizer import Tokenizer
from feeds import cut_at
from piece_models import BYTES, CONTROL, HEAD, NORMAL, UNUSED, USER_DEFINED, proto_of, reference_of

S = "\u2581"
WORDS = [(S, -3.0), (S + "a", -2.5), ("a", -3.5), ("b", -3.25), ("ab", -4.0), (S + "ab", -4.5), ("c", -5.0), ("bc", -4.75), ("1", -6.0)]
PIECES = [*HEAD, ("<pad>", 0.0, CONTROL), *((text, score, NORMAL) for text, score in WORDS), ("<sep>", 0.0, USER_DEFINED)]
TEXTS = [
    "",
    " ",
    "ab",
    "  ab  a ",
    "a q\u2603q b",
    "<sep>ab<sep> c",
    "<s>ab</s><pad><unk>",
    "\u00bd\u212b e\u0301",
    "a\n\tb",
    "\U0001f600a",
    "ab " * 50,
]
KINDS = ["unigram", "bpe", "word", "char"]


def made(proto):
    return Tokenizer.from_spec(files.loads(proto, path="toy.model"))


def pair(kind="unigram", pieces=PIECES, **fields):
    proto = proto_of(pieces, kind, **fields)
    return made(proto), reference_of(proto)


def check(tok, reference, text, rng):
    """Everything that gives ids or text, against the reference."""
    ids = reference.encode(text)
    assert tok.encode(text) == list(tok.encode_ids(text)) == tok.encode(text.encode()) == ids
    assert tok.encode(text, allowed_special="all") == ids and tok.count(text) == len(ids)
    shown = reference.decode(ids)
    assert tok.decode(ids) == shown
    places = sorted(rng.randrange(len(text) + 1) for _ in range(rng.randrange(6)))
    encoder, counter, decoder, got, out = tok.encoder(), tok.counter(), tok.decoder(), [], ""
    for k, part in enumerate(cut_at(text, places)):
        got += encoder.encode(part)
        counter.feed(part)
        assert got == ids[: len(got)]
        if k % 2:
            state = encoder.getstate()
            encoder = tok.encoder()
            encoder.setstate(state)
    assert counter.count == len(ids)
    assert got + encoder.encode("", final=True) == ids
    for part in cut_at(ids, [place % (len(ids) + 1) for place in places]):
        out += decoder.decode(part)
    assert out + decoder.decode([], final=True) == shown


def check_places(tok, reference, text):
    """Pieces and places of an encoding; the reference gives the bytes of one character as pieces without width but for the last."""
    found, wanted = tok.encoding(text), reference.encode(text, return_type="offset_mapping")
    assert list(found.ids) == wanted["ids"]
    assert list(found.tokens) == wanted["pieces"]
    kinds = [reference.is_byte(number) for number in wanted["ids"]]
    assert [span for span, is_byte in zip(found.spans, kinds, strict=True) if not is_byte] == [
        span for span, is_byte in zip(wanted["offsets"], kinds, strict=True) if not is_byte
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "fields", [{}, {"add_dummy_prefix": False}, {"remove_extra_whitespaces": False}, {"trainer_treat_whitespace_as_suffix": True}]
)
@pytest.mark.parametrize("with_bytes", [False, True])
def test_every_call_of_a_small_model_equals_the_reference(kind, fields, with_bytes):
    tok, reference = pair(kind, [*PIECES, *(BYTES if with_bytes else [])], **fields)
    for text in TEXTS:
        check(tok, reference, text, random.Random(1))
        check_places(tok, reference, text)


pieces = st.tuples(
    st.text("ab" + S + "\u4e2d", min_size=1, max_size=3),
    st.floats(-9, -1, width=32),
    st.sampled_from([NORMAL] * 4 + [USER_DEFINED, UNUSED]),
)


@settings(max_examples=60)
@given(
    st.lists(pieces, min_size=1, max_size=14),
    st.text("ab\u00e9 " + S + "q\u4e2d\n", max_size=20),
    st.sampled_from(KINDS),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_random_models_equal_the_reference(many, text, kind, dummy, extra, with_bytes, seed):
    many = [("q", -5.0, NORMAL), *many]
    some = list({piece[0]: piece for piece in many}.values())
    tok, reference = pair(kind, [*HEAD, *some, *(BYTES if with_bytes else [])], add_dummy_prefix=dummy, remove_extra_whitespaces=extra)
    check(tok, reference, text, random.Random(seed))
    check_places(tok, reference, text)


# ---- what the model says of itself ----


def test_roles_are_those_of_the_model():
    tok, reference = pair()
    assert (tok.unk_id, tok.bos_id, tok.eos_id, tok.pad_id) == (0, 1, 2, 3)
    assert (reference.unk_id(), reference.bos_id(), reference.eos_id()) == (0, 1, 2)
    assert pair(pieces=[PIECES[0], *PIECES[4:]])[0].bos_id is None
    assert tok.vocab_size == reference.get_piece_size()


def test_control_pieces_never_match_text_whatever_is_allowed():
    tok, reference = pair()
    text = "<s>ab</s><pad>"
    plain = reference.encode(text)
    for allowed in ("all", {"<s>", "</s>"}, ()):
        assert tok.encode(text, allowed_special=allowed) == plain
    assert tok.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2, "<pad>": 3}
    assert [tok.is_special(number) for number in (0, 1, 4)] == [True, True, False]
    with pytest.raises(DisallowedSpecialTokenError):
        tok.encode(text, disallowed_special="all")
    with pytest.raises(UnknownSpecialTokenError):
        tok.encode(text, allowed_special={"<sep>"})


def test_skip_special_tokens_leaves_out_the_unknown_piece():
    tok, _ = pair()
    ids = tok.encode("a q b")
    assert tok.decode(ids) == "a  \u2047  b"
    assert tok.decode(ids, skip_special_tokens=True) == "a  b"


def test_ids_and_tokens_are_looked_up_as_the_file_spells_them():
    tok, reference = pair()
    for number in range(tok.vocab_size):
        piece = reference.id_to_piece(number)
        assert tok.id_to_token(number) == piece
        assert tok.token_to_id(piece) == number
    with pytest.raises(UnknownIdError):
        tok.decode([tok.vocab_size])


def test_template_options_change_nothing():
    tok, _ = pair()
    assert tok.encode("ab", add_special_tokens=True) == tok.encode("ab", add_special_tokens=False)


def test_truncate_and_split_keep_to_budgets():
    tok, reference = pair()
    text = "ab abc a  b ab" * 10
    for n in range(12):
        part = tok.truncate(text, n)
        assert text.startswith(part) and len(reference.encode(part)) <= n
        assert len(part) == len(text) or len(reference.encode(text[: len(part) + 1])) > n or tok.count(text[: len(part) + 1]) > n
    parts = tok.split(text, 7)
    assert "".join(parts) == text and all(len(reference.encode(part)) <= 7 for part in parts)


def test_batches_are_as_single_texts():
    tok, reference = pair()
    assert tok.encode_batch(TEXTS) == [reference.encode(text) for text in TEXTS]
    assert tok.encode_batch(TEXTS, num_threads=2) == [reference.encode(text) for text in TEXTS]
    ids = [reference.encode(text) for text in TEXTS]
    assert tok.decode_batch(ids) == [reference.decode(row) if row else "" for row in ids]


def test_pickled_tokenizer_is_equal():
    tok, _ = pair("bpe", [*PIECES, *BYTES])
    again = pickle.loads(pickle.dumps(tok))
    assert again.spec == tok.spec and again.encode("ab q") == tok.encode("ab q")
    encoder = tok.encoder()
    encoder.encode("ab a")
    twin = again.encoder()
    twin.setstate(encoder.getstate())
    assert twin.encode("b", final=True) == encoder.encode("b", final=True)


def test_state_of_another_model_is_refused():
    one, other = pair()[0], pair(pieces=[*PIECES[:-1], ("<sep>", 0.0, NORMAL)])[0]
    encoder = one.encoder()
    encoder.encode("ab")
    with pytest.raises(ctok.CtokError):
        other.encoder().setstate(encoder.getstate())


def test_denormalizer_rewrites_the_whole_text_at_the_end():
    rules = reference_rules()
    fields = {"denormalizer_precompiled_charsmap": rules, "denormalizer_add_dummy_prefix": False, "denormalizer_escape_whitespaces": False}
    tok, reference = pair(pieces=[*PIECES, ("\uff21", -3.0, NORMAL)], **fields)
    ids = [*reference.encode("ab a"), tok.token_to_id("\uff21"), *reference.encode("b")]
    assert tok.decode(ids) == reference.decode(ids)
    decoder = tok.decoder()
    assert "".join([*(decoder.decode(number) for number in ids), decoder.decode([], final=True)]) == reference.decode(ids)


def reference_rules():
    """The table of NFKC."""
    sentencepiece = pytest.importorskip("sentencepiece")
    pb2 = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    spec = pb2.NormalizerSpec()
    spec.ParseFromString(sentencepiece.SentencePieceNormalizer(rule_name="nfkc").serialized_normalizer_spec())
    return spec.precompiled_charsmap


# ---- other ways ----


def shares(tok, text, alpha):
    """All ways of a text and their probabilities, by trying all."""
    weights = {}
    for ids, score in tok.nbest(text, 512):
        weights[tuple(ids)] = weights.get(tuple(ids), 0) + math.exp(alpha * score)
    return {ids: weight / sum(weights.values()) for ids, weight in weights.items()}


def test_nbest_of_a_text_has_the_scores_of_the_reference():
    tok, reference = pair()
    for text in ["", "abc ab", "ab q\u2603"]:
        wanted = reference.nbest_encode(text, nbest_size=9, return_type="proto").nbests
        assert [(ids, round(score, 4)) for ids, score in tok.nbest(text, 9)] == [
            ([piece.id for piece in found.pieces], round(found.score, 4)) for found in wanted
        ]


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_sample_follows_the_scores(alpha):
    tok, _ = pair()
    expected, n = shares(tok, "abc ab", alpha), 3000
    counts = Counter(tuple(tok.sample("abc ab", alpha, seed=seed)) for seed in range(n))
    assert counts.keys() <= expected.keys()
    for ids, share in expected.items():
        assert abs(counts[ids] / n - share) < 5 * math.sqrt(share * (1 - share) / n) + 1e-9


def test_entropy_is_that_of_all_ways():
    tok, _ = pair()
    for text in ["abc ab", "a q b", ""]:
        expected = -sum(share * math.log(share) for share in shares(tok, text, 0.7).values())
        assert tok.entropy(text, 0.7) == pytest.approx(expected, abs=1e-5)


def test_distinct_samples_are_different_ways_and_all_if_there_are_fewer():
    tok, _ = pair()
    ways = set(shares(tok, "abc ab", 1.0))
    found = tok.sample_distinct("abc ab", 3, 0.5, seed=1)
    assert len({tuple(ids) for ids, _ in found}) == 3 and {tuple(ids) for ids, _ in found} <= ways
    assert {tuple(ids) for ids, _ in tok.sample_distinct("abc ab", 10**4, 0.5, seed=1)} == ways
    assert tok.sample_distinct("abc ab", 2, 0.5, include_best=True, seed=3)[0][0] == tok.encode("abc ab")
    with pytest.raises(SpecError, match="sample_distinct"):
        pair("bpe")[0].sample_distinct("ab", 2)


def test_sample_of_byte_pairs_leaves_out_merges():
    tok, _ = pair("bpe")
    assert tok.sample("abc ab", 0.0, seed=1) == tok.encode("abc ab")
    assert tok.sample("abc ab", 1.0, seed=1) == pair("char")[0].encode("abc ab")
    assert len({tuple(tok.sample("abc ab", 0.5, seed=seed)) for seed in range(50)}) > 2


# ---- restricted vocabularies ----


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_restricted_model_equals_the_reference_with_the_others_unused(kind):
    wanted = {S + "ab", "bc"}
    unused = [(text, score, UNUSED if type_ == NORMAL and len(text) > 1 and text not in wanted else type_) for text, score, type_ in PIECES]
    tok, _ = pair(kind)
    _, reference = pair(kind, unused)
    less = tok.restricted(wanted)
    for text in TEXTS:
        assert less.encode(text) == reference.encode(text)
    assert tok.encode("abc") == pair(kind)[1].encode("abc")
    assert less.restricted(text for text, _, _ in PIECES).spec == tok.spec


def test_parts_of_many_long_unused_pieces_are_given_back_as_they_were_taken():
    """More than a hundred thousand parts: what holds them is as large as that of the ids of a large text."""
    runs = [("a" * n, -float(n), NORMAL) for n in range(1, 600)]
    tok = made(proto_of([*HEAD, (S, -700.0, NORMAL), *runs], "bpe"))
    for _ in range(3):
        less = tok.restricted([S])
        assert less.encode("a" * 500) == [tok.token_to_id(S), *[tok.token_to_id("a")] * 500]
        del less
    assert tok.decode(tok.encode("a" * 500)) == "a" * 500


# ---- files ----


def real_models(shared, tmp_path):
    for packed in sorted((Path(shared) / "conformance" / "vocabs").glob("spm_*.model.xz")):
        path = tmp_path / packed.stem
        path.write_bytes(lzma.decompress(packed.read_bytes()))
        yield path


def test_real_models_equal_the_reference(shared, tmp_path):
    sentencepiece = pytest.importorskip("sentencepiece")
    rng = random.Random(5)
    texts = [path.read_text(encoding="utf-8")[:600] for path in sorted((Path(shared) / "conformance" / "texts").glob("lang_*.txt"))[::9]]
    for path in real_models(shared, tmp_path):
        tok, reference = ctok.load(path), sentencepiece.SentencePieceProcessor(str(path))
        for text in [*TEXTS, *texts]:
            check(tok, reference, text, rng)
            check_places(tok, reference, text)


@pytest.mark.parametrize("name", ["t5", "mistral_v1"])
def test_model_and_tokenizer_json_each_equal_their_own_reference(shared, tmp_path, name):
    sentencepiece, tokenizers = pytest.importorskip("sentencepiece"), pytest.importorskip("tokenizers")
    folder = Path(shared) / "conformance" / "vocabs"
    model, table = (folder / f"spm_{name}.model.xz"), folder / ("hf_t5.json.xz" if name == "t5" else "hf_mistral_v01.json.xz")
    if not model.exists() or not table.exists():
        pytest.skip("not in the kit")
    for packed in (model, table):
        (tmp_path / packed.stem).write_bytes(lzma.decompress(packed.read_bytes()))
    own, other = ctok.load(tmp_path / model.stem), ctok.load(tmp_path / table.stem)
    reference = sentencepiece.SentencePieceProcessor(str(tmp_path / model.stem))
    second = tokenizers.Tokenizer.from_file(str(tmp_path / table.stem))
    second.no_padding()
    second.no_truncation()
    for text in TEXTS:
        assert own.encode(text) == reference.encode(text)
        assert other.encode(text, allowed_special="all") == second.encode(text).ids
