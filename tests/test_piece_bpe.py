"""The BPE, char and word models of SentencePiece, against the live reference and against their twin, whole and open."""

import math
import random
from collections import Counter

import pytest

from alloc_walk import can_fail, walk
from ctok._native import mergelist, mergemodel, mergeopen, model, piecebpe, piecedrop, piecetree, piecewords, resegment, safecut, vocab
from ctok._native.mergemodel import MergeModel, encode_side_by_side
from ctok._reference.spm_bpe import PieceModel
from ctok.errors import SpecError
from ctok.stages.models import build_model
from ctok.stagespecs.sentencepiece import Pieces, pieces_from_list
from model_checks import check_bad_states, check_memory, check_open_form, real_texts
from piece_random import BYTE, BYTES, CONTROL, NORMAL, SPACE, UNKNOWN, UNUSED, USER_DEFINED, live, pieces_of, random_models, real_model

CHECKING = can_fail(vocab)
MODULES = [mergelist, mergemodel, mergeopen, model, piecebpe, piecewords, resegment, safecut, vocab]
BASE = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL)]
KINDS = ["bpe", "char", "word"]


def build(pieces, kind="bpe", byte_fallback=False):
    return build_model(pieces_from_list(pieces, kind, byte_fallback=byte_fallback))


def text_of(rng, alphabet, longest=24):
    return "".join(rng.choices(alphabet + "q", k=rng.randint(0, longest)))


def places(triples, text):
    """(ids, ends) in bytes of what the twin gives."""
    return [number for number, _, _ in triples], [len(text[:stop].encode()) for _, _, stop in triples]


# ---- whole texts ----


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_pieces_of_random_models_equal_the_reference_and_the_twin(seed):
    for rng, pieces, kind, byte_fallback, alphabet in random_models(seed, 250):
        ours, reference = build(pieces, kind, byte_fallback), live(pieces, kind, byte_fallback)
        twin = PieceModel(pieces, kind, byte_fallback)
        for _ in range(6):
            text = text_of(rng, alphabet)
            ids, ends = ours.encode_with_ends(text.encode())
            assert ids == ours.encode(text.encode()) == reference.encode(text)
            assert (ids, ends) == places(twin.encode(text), text)


@pytest.mark.parametrize("seed", [1, 2])
def test_pieces_of_long_texts_equal_the_reference(seed):
    for rng, pieces, kind, byte_fallback, alphabet in random_models(seed, 60, most=60):
        ours, reference = build(pieces, kind, byte_fallback), live(pieces, kind, byte_fallback)
        for k in (1, 2, len(alphabet)):
            text = "".join(rng.choices(alphabet[:k], k=rng.randint(200, 3000)))
            assert ours.encode(text.encode()) == reference.encode(text)


def test_pieces_side_by_side_equal_the_reference():
    for rng, pieces, _, byte_fallback, alphabet in random_models(4, 150, kinds=("bpe",), rare=False):
        ours, reference = build(pieces, "bpe", byte_fallback), live(pieces, "bpe", byte_fallback)
        assert isinstance(ours, MergeModel)
        texts = [text_of(rng, alphabet, 60) for _ in range(30)]
        assert encode_side_by_side(ours, [text.encode() for text in texts])[0] == [reference.encode(text) for text in texts]


@pytest.mark.parametrize("name", ["spm_mistral_v1", "spm_mistral_v3", "spm_botchan_bpe"])
def test_pieces_of_real_models_equal_the_reference(shared, name):
    pieces, kind, byte_fallback = pieces_of(real_model(shared, name))
    ours, reference = build(pieces, kind, byte_fallback), live(pieces, kind, byte_fallback)
    cut = ours.safe_cut()
    for text in real_texts(shared, 1500):
        text = text.replace(" ", SPACE)
        want = reference.encode(text)
        assert ours.encode(text.encode()) == want
        assert [number for piece in cut.pieces(text.encode()) for number in ours.encode(piece)] == want


@pytest.mark.parametrize("kind", ["char", "word"])
def test_pieces_of_a_real_model_as_another_kind_equal_the_reference(shared, kind):
    pieces, _, byte_fallback = pieces_of(real_model(shared, "spm_mistral_v1"))
    ours, reference = build(pieces, kind, byte_fallback), live(pieces, kind, byte_fallback)
    for text in real_texts(shared, 600):
        text = text.replace(" ", SPACE)
        assert ours.encode(text.encode()) == reference.encode(text)


def test_pieces_of_a_restricted_vocabulary_equal_the_reference(shared):
    pieces, kind, byte_fallback = pieces_of(real_model(shared, "spm_mistral_v1"))
    rng = random.Random(1)
    pieces = [(text, score, UNUSED if type_ == NORMAL and rng.random() < 0.6 else type_) for text, score, type_ in pieces]
    ours, reference = build(pieces, kind, byte_fallback), live(pieces, kind, byte_fallback)
    cut = ours.safe_cut()
    for text in real_texts(shared, 1000):
        text = text.replace(" ", SPACE)
        want = reference.encode(text)
        assert ours.encode(text.encode()) == want
        assert [number for piece in cut.pieces(text.encode()) for number in ours.encode(piece)] == want


@pytest.mark.parametrize(
    ("more", "text", "want"),
    [
        ([("a", -1, NORMAL), ("b", -1, NORMAL), ("ab", -2, NORMAL), ("ba", -2, NORMAL)], "aba", ["ab", "a"]),
        ([("ab", -2, NORMAL), ("abz", -1, NORMAL)], "abzab", ["abz", "ab"]),
        ([("ab", -2, NORMAL), ("b", -2, NORMAL)], "zaab", ["<unk>", "ab"]),
        ([("a", -1, NORMAL), ("bc", 0, USER_DEFINED), ("abc", -1, NORMAL), ("bca", 0, USER_DEFINED)], "abcabca", ["a", "bca", "bca"]),
        ([("a", -1, UNUSED), ("b", -1, NORMAL), ("ab", -1, UNUSED)], "zab", ["<unk>", "b"]),
        ([("S", 0, CONTROL), ("a", -1, NORMAL)], "aS", ["a", "<unk>"]),
        ([("a", -3, NORMAL), ("aa", -2, NORMAL), ("aaa", -1, NORMAL)], "aaaaaaa", ["aaa", "aaa", "a"]),
    ],
    ids=["leftmost of equals", "characters without piece", "unknown ones", "user-defined", "unused", "control", "runs"],
)
def test_pieces_examples(more, text, want):
    pieces = BASE + more
    assert live(pieces, "bpe").encode(text) == build(pieces).encode(text.encode())
    assert [pieces[number][0] for number in build(pieces).encode(text.encode())] == want


def test_pieces_cut_where_no_piece_crosses_keep_their_ids():
    for rng, pieces, kind, byte_fallback, alphabet in random_models(6, 200, kinds=("bpe", "char")):
        ours = build(pieces, kind, byte_fallback)
        cut = ours.safe_cut()
        for _ in range(5):
            text = text_of(rng, alphabet, 40).encode()
            assert [number for piece in cut.pieces(text) for number in ours.encode(piece)] == ours.encode(text)


# ---- merges left out at random ----

WORDS = [(SPACE, -9, NORMAL), ("a", -9, NORMAL), ("b", -9, NORMAL), ("ab", -1, NORMAL), (f"{SPACE}ab", -2, NORMAL)]


def shares(drawn):
    return {ids: count / drawn.total() for ids, count in drawn.items()}


def distance(one, other):
    """How much of the probability lies elsewhere."""
    one, other = shares(one), shares(other)
    return sum(abs(one.get(ids, 0) - other.get(ids, 0)) for ids in one | other) / 2


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ([("a", -1, NORMAL), ("ab", -2, NORMAL), ("bc", -3, NORMAL), ("abc", -4, NORMAL), ("b", -5, NORMAL)], "abcab"),
        ([("a", -1, NORMAL), ("b", -2, NORMAL), ("ab", -2, NORMAL), ("abc", -3, UNUSED), ("bc", -4, NORMAL), ("c", -5, NORMAL)], "abcxabc"),
        ([("ab", -2, NORMAL), ("ba", -2, NORMAL), ("abab", -1, NORMAL), ("q", 0, USER_DEFINED)], "zababqaba"),
        ([*WORDS, (f"{SPACE}a", -3, NORMAL)], f"{SPACE}ab{SPACE}aq{SPACE}{SPACE}ab"),
        ([*WORDS, (f"b{SPACE}", -3, NORMAL), (f"b{SPACE}a", -3, NORMAL)], f"{SPACE}ab{SPACE}ab"),
    ],
    ids=["plain", "unused", "user-defined", "words", "across words"],
)
def test_pieces_drawn_are_distributed_as_the_reference_draws(more, text):
    ours, reference, times = build(BASE + more), live(BASE + more, "bpe"), 4000
    mine = Counter(tuple(ours.sample(text, 0.3, seed=seed)) for seed in range(times))
    its = Counter(tuple(reference.encode(text, enable_sampling=True, alpha=0.3, nbest_size=-1)) for _ in range(times))
    assert len(mine) > 3
    assert distance(mine, its) < 0.06


def courses(twin, text, alpha):
    """All that may become of a text, and how probable each is, by trying all ways in which merges are left out."""
    found, todo = Counter(), [()]
    while todo:
        script, asked = todo.pop(), []

        def drop(script=script, asked=asked):
            asked.append(len(asked) < len(script) and script[len(asked)])
            return asked[-1]

        symbols, _ = twin.merge(text, drop)
        found[tuple(text[start:stop] for start, stop, _ in symbols)] += alpha ** sum(asked) * (1 - alpha) ** (len(asked) - sum(asked))
        todo += [(*asked[:i], True) for i in range(len(script), len(asked))]
    return found


@pytest.mark.parametrize("seed", [1, 2])
def test_pieces_drawn_are_as_probable_as_all_courses_say(seed):
    n, alpha = 1500, 0.25
    for rng, pieces, _, byte_fallback, alphabet in random_models(f"drawn {seed}", 40, rare=False):
        ours, twin = build(pieces, "bpe", byte_fallback), PieceModel(pieces, "bpe", byte_fallback)
        text = "".join(rng.choices(alphabet + "q", k=rng.randint(2, 7)))
        shares = Counter()
        for texts, share in courses(twin, text, alpha).items():
            ids = [number for part in texts for number, _, _ in twin.encode(part)]
            shares[tuple(number for i, number in enumerate(ids) if number or i == 0 or ids[i - 1])] += share  # one for all that is unknown
        assert shares.total() == pytest.approx(1)
        drawn = Counter(tuple(ours.sample(text, alpha, seed=draw)) for draw in range(n))
        assert drawn.keys() <= shares.keys()
        for ids, share in shares.items():
            assert abs(drawn[ids] / n - share) < 5 * math.sqrt(share * (1 - share) / n) + 2 / n


def test_pieces_drawn_by_words_do_not_depend_on_what_was_learnt():
    text = f"{SPACE}abab{SPACE}ab{SPACE}{SPACE}b{'ab' * 50}q"
    ours = build([*BASE, *WORDS, ("ba", -3, NORMAL), ("abab", -4, NORMAL)])
    drawn = [ours.sample(text, 0.2, seed=seed) for seed in range(50)]
    assert ours.encode(f"{SPACE}ab".encode()) == ours.sample(f"{SPACE}ab", 0) == [6]
    assert drawn == [ours.sample(text, 0.2, seed=seed) for seed in range(50)]


def test_pieces_drawn_without_chance_are_those_of_encode_or_single_symbols():
    for rng, pieces, kind, byte_fallback, alphabet in random_models(8, 100, kinds=("bpe", "char")):
        ours, twin = build(pieces, kind, byte_fallback), PieceModel(pieces, "char", byte_fallback)
        text = text_of(rng, alphabet, 60)
        assert ours.sample(text, 0) == ours.sample(text.encode(), 0.0, None, 3) == ours.encode(text.encode())
        assert ours.sample(text, 1) == [number for number, _, _ in twin.encode(text)]
        assert ours.sample(text, 0.5, seed=7) == ours.sample(text, 0.5, seed=7)
    for alpha in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="between 0 and 1"):
            ours.sample("a", alpha)


# ---- what cannot be built ----


def test_pieces_that_cannot_be_run_are_refused():
    with pytest.raises(SpecError, match="not a number"):
        build([*BASE, ("aa", float("nan"), NORMAL)])
    for kind in KINDS:
        with pytest.raises(SpecError, match="no piece for byte 0x00"):
            build(BASE, kind, byte_fallback=True)
        with pytest.raises(SpecError, match="no name of a byte"):
            build([*BASE, ("<0x1f>", 0, BYTE)], kind)
        good = pieces_from_list(BASE, kind)
        high = type(good.tokens)(good.tokens.data, good.tokens.ends, b"\x07\0\0\0\0\0\0\0")
        with pytest.raises(SpecError, match="not 0 to 1"):
            build_model(Pieces(high, good.scores, good.types, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_without_text_give_nothing(kind):
    ours = build(BASE, kind)
    assert ours.encode(b"") == []
    assert ours.open().end() == []
    assert ours.encode(b"abc") == [0]


# ---- texts that arrive ----


@pytest.mark.parametrize("seed", [1, 2])
def test_pieces_open_equal_the_whole(seed):
    for rng, pieces, kind, byte_fallback, alphabet in random_models(seed, 120):
        ours = build(pieces, kind, byte_fallback)
        for _ in range(3):
            text = text_of(rng, alphabet).encode()
            check_open_form(ours, text, [rng.randrange(len(text) + 1) for _ in range(3)])


@pytest.mark.parametrize("name", ["spm_mistral_v1", "spm_botchan_bpe"])
def test_pieces_of_real_models_open_equal_the_whole(shared, name):
    pieces, kind, byte_fallback = pieces_of(real_model(shared, name))
    ours, rng = build(pieces, kind, byte_fallback), random.Random(3)
    for text in real_texts(shared, 120):
        data = text.replace(" ", SPACE).encode()
        check_open_form(ours, data, [rng.randrange(len(data) + 1) for _ in range(5)])


def test_pieces_leave_while_the_text_arrives(shared):
    pieces, kind, byte_fallback = pieces_of(real_model(shared, "spm_mistral_v1"))
    ours = build(pieces, kind, byte_fallback)
    one, given, most, held = ours.open(), 0, 0, 0
    text = real_texts(shared, 4000)[0].replace(" ", SPACE)
    for i, character in enumerate(text):
        given += len(one.feed(character.encode()))
        done = len("".join(pieces[number][0] for number in ours.encode(text[: i + 1].encode())[:given]))
        most, held = max(most, i + 1 - done), max(held, len(one.save()))
    assert most < 60
    assert held < 100


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_damaged_states_are_refused_or_harmless(kind):
    pieces = [*BASE, ("a", -1, NORMAL), ("b", -1, NORMAL), ("ab", -2, UNUSED), (f"{SPACE}a", -1, NORMAL), ("bab", 0, USER_DEFINED)]
    for byte_fallback in (False, True):
        ours = build(pieces + BYTES * byte_fallback, kind, byte_fallback)
        for text in ("aba", "ab\u00e9", f"{SPACE}abab", "ba"):
            check_bad_states(ours, text.encode())
            check_bad_states(ours, text.encode()[:-1])


@pytest.mark.skipif(not CHECKING, reason="only test builds can make an allocation fail")
@pytest.mark.parametrize("kind", KINDS)
def test_pieces_without_memory_raise_and_recover(kind):
    pieces = [*BASE, ("a", -1, NORMAL), ("ab", -2, UNUSED), ("bca", -1, NORMAL), ("ca", -1, NORMAL), ("xy", 0, USER_DEFINED)]
    texts = [f"abcabxxyz{SPACE}a".encode(), b"", "\u00e9abcaxy".encode() * 40]
    check_memory(MODULES, lambda: build(pieces, kind), texts)


@pytest.mark.skipif(not CHECKING, reason="only test builds can make an allocation fail")
def test_pieces_drawn_without_memory_raise():
    pieces = [*BASE, ("a", -1, NORMAL), ("ab", -2, UNUSED), ("abc", -1, NORMAL), ("xy", 0, USER_DEFINED)]
    ours = build(pieces)
    walk([piecedrop], lambda _: ours.sample("abcabxyzab", 0.3, seed=1))
    plain = [*BASE, ("a", -1, NORMAL), ("b", -1, NORMAL), ("ab", -1, NORMAL)]
    walk([piecedrop, piecetree], lambda model: model.sample("ababq" * 30, 0.3, seed=1), lambda: build(plain))
