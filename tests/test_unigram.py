"""The unigram model against the live reference and against its twin: whole, open, sampled."""

import random
import struct

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ctok._native import model, unigram, unigram_open, vocab
from ctok._native.unigram import Unigram
from ctok._reference import unigram as twin
from ctok.errors import EncodeError, SpecError
from ctok.spec import TokenTable
from ctok.stagespecs.models import unigram_from_pieces
from model_checks import REFUSED, check_bad_states, check_memory, check_open_form, pretokens_of, real_file, real_texts, whole

tokenizers = pytest.importorskip("tokenizers")
CHECKING = vocab.fail_after(0) != -1 or vocab.fail_after(-1) != -1

CHARS = st.sampled_from("aab\u00e9\u2581\0\U0001f600")
TEXTS = st.text(CHARS, max_size=12)
# Few scores, so that sums are equal; and numbers whose sums depend on the order of addition.
EVEN = st.sampled_from([-1.0, -2.0, -3.0, -4.0, -0.5])
UNEVEN = st.sampled_from([-0.1, -0.2, -0.3, -0.6, -0.7, -1.1, -2.2, -3.3, -1e-9, -1e16, 0.0, 5.0])
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


@st.composite
def vocabularies(draw):
    """(pieces, unk_id, byte_fallback)"""
    scores = draw(st.sampled_from([EVEN, UNEVEN, st.floats(-20, 3, width=64)]))
    texts = draw(st.lists(st.text(CHARS, max_size=5), max_size=20))
    fallback = draw(st.sampled_from(["no", "all", "some"]))
    if fallback != "no":
        texts += (
            BYTES if fallback == "all" else draw(st.lists(st.sampled_from([BYTES[b] for b in b"ab\xc3\xa9\xe2\x96\x81\0"]), max_size=9))
        )
    texts.insert(draw(st.integers(0, len(texts))), draw(st.sampled_from(["<unk>", "a", "ab", "\u00e9"])))
    pieces = [(text, draw(scores) if i < 30 else -9.0) for i, text in enumerate(texts)]
    unk_id = draw(st.none() | st.integers(0, len(pieces) - 1)) if draw(st.booleans()) else draw(st.integers(0, len(pieces) - 1))
    return pieces, unk_id, fallback != "no" and draw(st.booleans())


def kernel_of(pieces, unk_id=None, byte_fallback=False):
    spec = unigram_from_pieces(pieces, unk_id=unk_id, byte_fallback=byte_fallback)
    return Unigram(spec.tokens, spec.scores, unk_id, byte_fallback)


def fed(one, parts):
    return [number for part in parts for number in one.feed(part)]


def reference(live, text):
    try:
        return [(token.id, token.offsets[1]) for token in live.tokenize(text)]
    except Exception as error:
        assert "unk_id" in str(error)
        return REFUSED


def ours(kernel, text):
    try:
        ids, ends = kernel.encode_with_ends(text.encode())
    except EncodeError:
        return REFUSED
    assert ids == kernel.encode(text.encode())
    return list(zip(ids, ends, strict=True))


def by_twin(pieces, text, unk_id, byte_fallback):
    try:
        found = twin.to_ids(pieces, text, twin.best_path(pieces, text, unk_id), unk_id, byte_fallback)
    except twin.MissingUnknown:
        return REFUSED
    return [(number, len(text[:end].encode())) for number, end in found]


@given(vocabularies(), st.lists(TEXTS, min_size=1, max_size=6))
def test_unigram_equals_the_reference(vocabulary, texts):
    pieces, unk_id, byte_fallback = vocabulary
    live, kernel = tokenizers.models.Unigram(pieces, unk_id, byte_fallback), kernel_of(*vocabulary)
    for text in texts:
        want = reference(live, text)
        assert ours(kernel, text) == want
        assert by_twin(pieces, text, unk_id, byte_fallback) == want


@given(vocabularies(), TEXTS, st.lists(st.integers(0, 40), max_size=6))
def test_unigram_open_pretoken_equals_the_whole_one(vocabulary, text, cuts):
    check_open_form(kernel_of(*vocabulary), text.encode(), cuts)


@given(vocabularies(), st.text(CHARS, min_size=30, max_size=120), st.lists(st.integers(0, 300), max_size=6))
def test_unigram_open_long_pretoken_equals_the_whole_one(vocabulary, text, cuts):
    assume(whole(kernel_of(*vocabulary), text.encode()) != REFUSED)
    check_open_form(kernel_of(*vocabulary), text.encode(), cuts)


@pytest.mark.parametrize("name", ["hf_t5", "hf_albert", "hf_nepali_sentencepiece"])
def test_unigram_equals_the_reference_on_real_texts(shared, name):
    import json

    record = json.loads(real_file(shared, name))
    live = tokenizers.Tokenizer.from_str(json.dumps(record))
    kernel = kernel_of([tuple(piece) for piece in record["model"]["vocab"]], record["model"]["unk_id"])
    words = pretokens_of(live, real_texts(shared))
    wrong = [word for word in words if ours(kernel, word) != [(token.id, token.offsets[1]) for token in live.model.tokenize(word)]]
    assert len(words) > 10_000 and not wrong
    for word in random.Random(3).sample(words, 300):
        check_open_form(kernel, word.encode(), [len(word) // 3, len(word)])
    text = "\u2581".join(words[::20])  # one long pretoken, with many unknown characters
    assert ours(kernel, text) == [(token.id, token.offsets[1]) for token in live.model.tokenize(text)]
    check_open_form(kernel, text.encode()[:3000].decode(errors="ignore").encode(), [1000])


UNKNOWN = [("<unk>", 0.0), ("a", -1.0), ("b", -2.0)]


@pytest.mark.parametrize(
    ("pieces", "text", "ids"),
    [
        (UNKNOWN, "axyb", [1, 0, 2]),
        (UNKNOWN, "x<unk>y", [0]),
        ([*UNKNOWN, ("xy", -1000.0)], "axyb", [1, 3, 2]),
        ([*UNKNOWN, ("xy", -1000.0)], "axyxb", [1, 3, 0, 2]),
        ([("<unk>", 50.0), ("xy", 20.0), ("q", 90.0)], "xyxy", [1, 1]),
        ([*UNKNOWN, ("ab", -3.0)], "ab", [3]),
        ([*UNKNOWN, ("ab", -3.0000000000000004)], "ab", [1, 2]),
        ([("", -50.0), ("a", -1.0)], "aa", [1, 1]),
    ],
)
def test_unknown_characters_ties_and_odd_pieces_are_as_in_the_reference(pieces, text, ids):
    live = tokenizers.models.Unigram(pieces, 0)
    assert [token.id for token in live.tokenize(text)] == kernel_of(pieces, 0).encode(text.encode())
    if pieces[0][0] != "<unk>" or pieces[0][1] == 0.0:
        assert kernel_of(pieces, 0).encode(text.encode()) == ids


def test_incomplete_byte_pieces_give_one_unknown_token():
    pieces = [*UNKNOWN, ("<0xC3>", -5.0), ("<0xA9>", -5.0)]
    kernel = kernel_of(pieces, 0, True)
    assert kernel.encode("a\u00e9b".encode()) == [1, 3, 4, 2]
    assert kernel.encode("a\u00e9\u00eab".encode()) == [1, 0, 2]
    assert kernel.encode_with_ends("a\u00e9b".encode()) == ([1, 3, 4, 2], [1, 3, 3, 4])


def test_missing_unknown_id_counts_only_where_the_character_would_win():
    kernel = kernel_of([("ab", -1.0), ("a", -3.0)])
    assert kernel.encode(b"ab") == [0] and kernel.unk_id is None
    assert whole(kernel, b"b") == whole(kernel_of([("ab", -1.0)]), b"ab") == REFUSED


def test_of_equal_pieces_the_last_counts_and_all_of_their_scores_say_what_unknown_costs():
    pieces = [("<unk>", 0.0), ("a", -1.0), ("b", -1.0), ("ab", -3.0), ("a", -1.5), ("x", -40.0), ("x", -2.0)]
    live = tokenizers.models.Unigram(pieces, 0)
    for text in ("ab", "aab", "xab", "qab", "a"):
        assert kernel_of(pieces, 0).encode(text.encode()) == [token.id for token in live.tokenize(text)]


def test_long_pretoken_takes_linear_time_and_little_memory():
    kernel = kernel_of([("<unk>", -8.0), ("\u2581", -2.0), ("a", -1.0), ("aa", -1.5), ("aaaa", -3.1)], 0)
    want = kernel.encode_with_ends(b"a" * 160_000)[0]
    assert kernel.encode(b"a" * 160_000) == want and len(want) < 160_000
    one = kernel.open()  # whether the length is even decides about the first token, so all is held
    assert fed(one, [b"a" * 7] * 20_000) + one.end() == kernel.encode(b"a" * 140_000)


def test_long_open_pretoken_holds_little():
    kernel = kernel_of([("<unk>", -8.0), ("a", -1.0), ("ab", -1.5), ("b", -1.0), ("abba", -1.7), ("bb", -1.3)], 0)
    text = bytes(random.Random(4).choices(b"abc", k=60_000))
    one, ids, held = kernel.open(), [], 0
    for place in range(0, len(text), 5):
        ids += one.feed(text[place : place + 5])
        held = max(held, len(one.save()))
    assert held < 60 and ids + one.end() == kernel.encode_with_ends(text)[0]


def test_open_pretoken_lets_ids_go_as_soon_as_paths_agree():
    kernel = kernel_of([("<unk>", -8.0), ("a", -1.0), ("ab", -1.5), ("abc", -1.6), ("d", -3.0)], 0)
    one = kernel.open()
    assert [one.feed(bytes([byte])) for byte in b"addab"] == [[], [1, 4], [4], [], []]
    assert one.feed(b"cd") == [3, 4]
    assert one.feed(b"xyz") == [0] and one.feed(b"") == one.end() == []


def test_open_run_of_unknown_characters_is_held_only_while_it_may_be_a_piece():
    kernel = kernel_of([*UNKNOWN, ("xyz", -1000.0)], 0)
    one = kernel.open()
    assert fed(one, [b"xy", b"xy", b"x", b"xxx"] * 100) == [0] and len(one.save()) < 40
    assert one.feed(b"a") + one.end() == [1]
    everything = kernel_of([*UNKNOWN, *((piece, -9.0) for piece in BYTES)], 0, True)
    one = everything.open()
    assert len(fed(one, [b"x", b"y", b"z"] * 100)) >= 295


def test_scores_and_ids_that_do_not_belong_together_are_refused():
    spec = unigram_from_pieces([("a", -1.0), ("b", -2.0)])
    for scores, unk_id in ((spec.scores[:8], None), (spec.scores, 2), (spec.scores, -1)):
        with pytest.raises(SpecError):
            Unigram(spec.tokens, scores, unk_id)
    with pytest.raises(SpecError):
        Unigram(TokenTable(b"ba", struct.pack("<2I", 1, 2), struct.pack("<2I", 0, 1)), spec.scores)


def test_empty_model_refuses_everything():
    kernel = Unigram(TokenTable(b"", b"", b""), b"")
    assert kernel.encode(b"") == [] and whole(kernel, b"a") == REFUSED


def test_unfinished_character_is_refused():
    kernel = kernel_of(UNKNOWN, 0)
    assert whole(kernel, b"a\xe2\x96") == REFUSED
    one = kernel.open()
    one.feed(b"a\xe2\x96")
    with pytest.raises(EncodeError):
        one.end()
    assert one.feed(b"a") + one.end() == [1]


def test_damaged_states_are_refused_or_harmless():
    for unk_id in (0, None):
        kernel = kernel_of([*UNKNOWN, ("\u00e9", -2.0), ("aba", -3.0), ("bab", -3.0), ("babx", -4.0), ("xyz", -1.0)], unk_id)
        check_bad_states(kernel, "abab\u00e9abab".encode())
        if unk_id is not None:
            check_bad_states(kernel, b"xx" + b"ab" * 30)
            check_bad_states(kernel, b"axy")


@pytest.mark.skipif(not CHECKING, reason="only builds with CTOK_BUILD=test can make allocations fail")
def test_models_that_find_no_memory_work_later():
    pieces = [*UNKNOWN, ("aba", -3.0), ("bab", -3.0), ("babx", -4.0), ("xyz", -1000.0), ("<0x78>", -1.0)]
    texts = [b"ab" * 300, b"axyzxyxb", b"q" * 90, b"ab" * 9000 + b"qqq", b"x" * 70]
    for fallback in (False, True):
        check_memory([unigram, unigram_open, model], lambda fallback=fallback: kernel_of(pieces, 0, fallback), texts)
