"""SentencePiece's unigram model against the live reference and against its twin: whole and open."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctok._native import model, spmunigram, unigram, unigram_open, viterbi, vocab, words
from ctok._native.spmunigram import SpmUnigram
from ctok._reference import spmunigram as twin
from ctok.errors import SpecError
from ctok.spec import TokenTable
from ctok.stages.models import build_model
from model_checks import REFUSED, check_bad_states, check_memory, check_open_form, whole
from piece_models import BYTE, BYTES, CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED, model_of, proto_of, reference_of

CHECKING = vocab.fail_after(0) != -1 or vocab.fail_after(-1) != -1
UNK = ("<unk>", 0.0, UNKNOWN)
AS_IT_IS = {"name": "identity", "add_dummy_prefix": False, "remove_extra_whitespaces": False, "escape_whitespaces": False}

# Few scores, so that sums are equal; some that differ in the last bit; some so large that sums begin anew all the time.
EVEN = st.sampled_from([-0.1, -0.2, -0.3, -0.5, -0.6])
CLOSE = st.builds(lambda a, b: -1.1 * a - b * 2.0**-22, st.integers(1, 3), st.integers(0, 2))
HUGE = st.sampled_from([-30000.125, -60000.33, -1e5, -100000.01, -33333.3, -1e8, -2.25])
ODD = st.sampled_from([0.0, 0.3, 2.5, 1e-30, -1e-38, 4e-38, -1e-7, 12345.6])
CHARS = st.sampled_from("aab\u00e9\u2581\u2581c")
NEIGHBOURS = "abc,.\u00e9\u0436\u20ac\u4e16\u754c\U0001d11e\U0001f600\u2581\u2581"
TYPES = [NORMAL, NORMAL, NORMAL, NORMAL, USER_DEFINED, UNUSED, CONTROL]


@st.composite
def models(draw):
    """Pieces of a model; those for bytes among them or not."""
    scores = draw(st.sampled_from([EVEN, CLOSE, HUGE, ODD, st.floats(-20, 3, width=32)]))
    types = st.sampled_from(draw(st.sampled_from([TYPES, [NORMAL], [USER_DEFINED, UNUSED]])))
    texts = draw(st.lists(st.text(CHARS, min_size=1, max_size=4), max_size=14, unique=True))
    pieces = [UNK, ("q", -9.0, UNUSED), *((text, draw(scores), draw(types)) for text in texts)]
    return pieces + BYTES if draw(st.booleans()) else pieces


TEXTS = st.lists(st.text(CHARS, min_size=1, max_size=9), min_size=1, max_size=6).map(lambda parts: "".join(parts) * len(parts[0]))


def kernel_of(pieces):
    return build_model(model_of(pieces))


def bytes_of(pieces):
    numbers = [number for number, piece in enumerate(pieces) if piece[2] == BYTE]
    return numbers or None


def reference(pieces):
    return reference_of(proto_of(pieces, **AS_IT_IS))


def check(pieces, texts, cuts=()):
    live, kernel, byte_ids = reference(pieces), kernel_of(pieces), bytes_of(pieces)
    for text in texts:
        raw = text.encode()
        want = live.encode(text)
        assert kernel.encode(raw) == want
        assert kernel.encode_with_ends(raw)[0] == want
        tokens = twin.to_ids(raw, twin.best_path(pieces, raw), 0, byte_ids)
        assert [number for number, _ in tokens] == want
        assert kernel.encode_with_ends(raw)[1] == [end for _, end in tokens]
        check_open_form(kernel, raw, cuts)


@given(models(), TEXTS, st.lists(st.integers(0, 60), max_size=8))
def test_random_models_give_what_the_reference_gives(pieces, text, cuts):
    check(pieces, [text], cuts)


def test_sums_are_made_in_single_precision():
    pieces = [UNK, ("a", -1.0, NORMAL), ("x", -1.0, NORMAL), ("y", -1.0, NORMAL), ("xy", -2.0 - 2.0**-10, NORMAL)]
    live, kernel = reference(pieces), kernel_of(pieces)
    for before in (0, 1000, 8000, 16000, 20000):
        text = "a" * before + "xy"
        assert kernel.encode(text.encode()) == live.encode(text)
    assert kernel.encode(b"a" * 1000 + b"xy")[-2:] == [2, 3] and kernel.encode(b"a" * 20000 + b"xy")[-1] == 4


@pytest.mark.parametrize("score", [-1.0, 1.0, -0.7, -333.3])
def test_sums_begin_anew_behind_100000(score):
    pieces = [UNK, ("a", score, NORMAL), ("x", -1.0, NORMAL), ("y", -1.0, NORMAL), ("xy", -2.0 - 2.0**-9, NORMAL)]
    pieces.append(("aaa", 3 * score, NORMAL))
    live, kernel = reference(pieces), kernel_of(pieces)
    turn = int(100000 / abs(score))
    for place in (turn - 1, turn, turn + 1, turn + 2, 2 * turn + 2):
        text = "a" * place + "xy"
        want = live.encode(text)
        assert kernel.encode(text.encode()) == want
        one, ids = kernel.open(), []
        for start in range(0, len(text), 997):
            ids += one.feed(text[start : start + 997].encode())
            other = kernel.open()
            other.load(one.save())
            one = other
        assert ids + one.end() == want


@pytest.mark.parametrize("length", [1, 2, 3, 7, 10, 100])
def test_user_defined_pieces_have_a_score_by_their_bytes(length):
    for text in ("a" * length, "\u00e9" * length):
        score = twin.single(0.1 * (len(text.encode()) - 1))
        for rival in (score, score - 1e-6, score + 1e-6):
            check([UNK, (text, -3.0, USER_DEFINED), ("c", 0.0, NORMAL), (text + "c", rival, NORMAL)], [text + "c"])


def test_unknown_characters_cost_ten_more_than_the_least_of_normal_pieces():
    for rival in (-30.0, -30.5, -29.5, -1.0):
        rest = [("x", -90.0, USER_DEFINED), ("y", -80.0, UNUSED), ("z", -70.0, CONTROL), ("ab", 2 * rival, NORMAL), ("a", -20.0, NORMAL)]
        for pieces in ([UNK, *rest], [UNK, *rest, *BYTES]):
            check(pieces, ["ab", "abz", "xyzab", "\u00e9\u00e9ab\u2581zz", "<unk>", "z<0x41>"])


def test_unused_and_other_pieces_are_never_found():
    pieces = [UNK, ("<s>", 0.0, CONTROL), ("ab", 5.0, UNUSED), ("a", -1.0, NORMAL), ("b", -1.0, UNUSED), *BYTES]
    check(pieces, ["ab", "<s>", "<unk>", "<0x41>", "a<s>b"])


@given(models(), st.integers(0, 2**32))
def test_words_met_before_come_out_the_same_at_any_sum(pieces, seed):
    rng, live, kernel = random.Random(seed), reference(pieces), kernel_of(pieces)
    words = ["".join(rng.choice("aab\u00e9c") for _ in range(rng.choice([1, 2, 3, 5, 9, 17, 30, 70]))) for _ in range(9)]
    words += ["\u2581" * rng.randrange(1, 4) + word for word in words] + ["\u2581"] + ["\u2581" + word for word in words]
    texts = ["".join(rng.choices(words, k=k)) for k in (5, 50, 2000, 50)]
    want = [live.encode(text) for text in texts]
    assert kernel.encode_many([text.encode() for text in texts]) == [number for ids in want for number in ids]
    assert kernel.encode(texts[2].encode()) == want[2]
    assert kernel.encode_with_ends(texts[2].encode())[0] == want[2]


@given(st.data(), st.booleans(), st.integers(0, 2**32))
def test_texts_cut_where_no_piece_has_such_neighbours_come_out_the_same(data, has_bytes, seed):
    rng = random.Random(seed)
    scores = data.draw(st.sampled_from([EVEN, CLOSE, HUGE, ODD, st.floats(-20, 3, width=32)]))
    texts = data.draw(st.lists(st.text(st.sampled_from(NEIGHBOURS), min_size=1, max_size=5), max_size=14, unique=True))
    pieces = [UNK, ("q", -9.0, UNUSED), *((text, data.draw(scores), rng.choice(TYPES)) for text in texts), *(BYTES if has_bytes else [])]
    live, kernel = reference(pieces), kernel_of(pieces)
    parts = [*texts, *NEIGHBOURS, *("".join(rng.choices(NEIGHBOURS, k=5)) for _ in range(5)), "\u2581"]
    for k in (3, 30, 3000, 3000):
        text = "".join(rng.choices(parts, k=k))
        assert kernel.encode(text.encode()) == live.encode(text)


@pytest.mark.parametrize("has_bytes", [False, True])
@pytest.mark.parametrize("least", [-1.5, -20.3, -900.7, -1540.1])
def test_runs_of_characters_that_no_piece_has_come_out_the_same(least, has_bytes):
    pieces = [UNK, ("\u2581", -2.3, NORMAL), ("a", least, NORMAL), ("\u2581\u4e16a", -3.1, NORMAL), *(BYTES if has_bytes else [])]
    live, kernel, rng = reference(pieces), kernel_of(pieces), random.Random(7)
    parts = ["a", "\u2581", "\u2581a", "\u2581\u4e16", "\u0436", "\u754c", "\U0001f600", "\u2581\u4e16a"]
    for _ in range(20):
        runs = ["\u754c\u0436"[: rng.randrange(3)] * rng.randrange(40) for _ in range(150)]
        text = "".join(rng.choice(parts) * rng.choice((1, 1, 2, 3)) + run for run in runs)
        assert kernel.encode(text.encode()) == live.encode(text)


def test_words_that_depend_on_the_sum_are_not_taken_from_memory():
    pieces = [UNK, ("\u2581a", -700.0, NORMAL), *((f"\u2581{left}", -1.0, NORMAL) for left in "xyzw")]
    pieces += [*((right, -1.0, NORMAL) for right in "klmn")]
    pieces += [(f"\u2581{left}{right}", -2.0 - 2.0**-k, NORMAL) for left, right, k in zip("xyzw", "klmn", (18, 12, 9, 5), strict=True)]
    live, kernel = reference(pieces), kernel_of(pieces)
    text = ("\u2581a" * 3 + "\u2581xk\u2581yl\u2581zm\u2581wn") * 200
    want = live.encode(text)
    assert kernel.encode_many([text.encode()] * 2) == want * 2
    assert len(set(map(tuple, (want[:11], want[-11:])))) == 2  # the same words, otherwise


def test_memory_that_is_full_forgets():
    rng = random.Random(1)
    pieces = [UNK, *((a + b, -rng.random() * 9, NORMAL) for a in "\u2581abcdef" for b in ("", *"abcdef"))]
    live, kernel = reference(pieces), kernel_of(pieces)
    texts = ["".join("\u2581" + "".join(rng.choices("abcdef", k=rng.randrange(1, 60))) for _ in range(4000)) for _ in range(5)]
    want = [live.encode(text) for text in texts]
    assert kernel.encode_many([text.encode() for text in texts * 2]) == [number for ids in want * 2 for number in ids]


def test_a_record_that_does_not_fit_is_refused():
    record = model_of([UNK, ("a", -1.0, NORMAL)])
    scores, types = record.scores, record.types
    for bad in ((scores[:4], types, 0), (scores, types[:1], 0), (scores, types, 2)):
        with pytest.raises(SpecError):
            SpmUnigram(record.tokens, *bad)
    with pytest.raises(SpecError):
        SpmUnigram(record.tokens, record.scores, record.types, 0, True)
    with pytest.raises(SpecError):
        SpmUnigram(TokenTable(b"ba", b"\1\0\0\0\2\0\0\0", bytes(8)), record.scores, b"\1\1")


def test_what_is_not_utf8_is_refused_or_harmless():
    rng = random.Random(2)
    for extra in ([], BYTES, [("a\u2581b", -1.0, NORMAL)]):
        kernel = kernel_of([UNK, ("a", -1.0, NORMAL), ("\u2581a", -2.0, NORMAL), ("\u00e9\u20ac", -1.0, NORMAL), *extra])
        for _ in range(300):
            some = [b"a", b"\xe2", b"\x96", b"\x81", b"\xe2\x96\x81", b"\xf0", b"\x80", b"\xc3\xa9", b"\xff"]
            raw = b"".join(rng.choices(some, k=rng.randrange(1, 12)))
            assert whole(kernel, raw) == REFUSED or kernel.encode_with_ends(raw)[1][-1] == len(raw)
        assert whole(kernel, "\u2581a".encode() + b"\xe2") == REFUSED


def test_damaged_states_are_refused_or_harmless():
    pieces = [UNK, ("\u00e9", -60000.0, NORMAL), ("aba", -3e4, NORMAL), ("bab", -70000.0, NORMAL)]
    pieces += [("babx", -4.0, NORMAL), ("xyz", -1.0, NORMAL)]
    for extra in ([], BYTES):
        kernel = kernel_of(pieces + extra)
        for text in ("abab\u00e9abab", "xx" + "ab" * 30, "axy"):
            check_bad_states(kernel, text.encode())


@pytest.mark.parametrize(("longest", "count"), [(9, 160_000), (40, 20_000)])
def test_more_words_than_are_remembered_give_what_the_reference_gives(longest, count):
    rng = random.Random(longest)
    pieces = [UNK, *((letter, -5.0 - number / 7, NORMAL) for number, letter in enumerate("\u2581abcdefgh.,)"))]
    pieces += [(text, -8.0 - rng.random(), NORMAL) for text in ("\u2581a", "ab", "cde", "\u2581bad", "g.", "efgh", "),")]
    words = []
    for _ in range(count):
        letters = rng.choices("abcdefgh", k=rng.randint(longest // 2, longest))
        words.append("\u2581" + "".join(letters) + rng.choice(["", "", ".", "),", "\u4e16", ".."]))
    text = "".join(words + words[:1000])
    assert kernel_of(pieces).encode(text.encode()) == reference(pieces).encode(text)


@pytest.mark.skipif(not CHECKING, reason="only builds with CTOK_BUILD=test can make allocations fail")
def test_models_that_find_no_memory_work_later():
    wide = [UNK, ("aba", -30000.0, NORMAL), ("bab", -70000.0, NORMAL), ("babx", -4.0, NORMAL), ("xyz", -1000.0, USER_DEFINED)]
    near = [UNK, ("aba", -3.0, NORMAL), ("\u2581ab", -7.0, NORMAL), ("b", -4.0, NORMAL), ("xyz", -1.0, USER_DEFINED)]
    texts = [b"ab" * 300, b"axyzxyxb", b"q" * 90, b"ab" * 9000 + b"qqq", b"x" * 70, "\u2581ab\u2581q".encode() * 40]
    texts.append("\u2581abab,\u2581xyzb".encode() * 40)
    for pieces in (wide, near, wide + BYTES, near + BYTES):
        check_memory([spmunigram, unigram, unigram_open, viterbi, words, model], lambda pieces=pieces: kernel_of(pieces), texts)


def test_a_long_text_without_blanks_needs_little():
    kernel = kernel_of([UNK, ("a", -1.0, NORMAL), ("ab", -1.5, NORMAL), ("b", -2.0, NORMAL)])
    one, rng, most = kernel.open(), random.Random(3), 0
    for _ in range(200):
        one.feed("".join(rng.choice("ab") for _ in range(1000)).encode())
        most = max(most, len(one.save()))
    assert most < 200
