"""Other paths of SentencePiece's unigram model: against the live reference, against all paths, and by what is drawn how often."""

import random
from collections import Counter
from math import exp, fsum, isclose, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alloc_walk import can_fail, walk
from ctok._native import lattice, model, spmunigram, unigram, viterbi, vocab
from ctok._reference import spmunigram as twin
from ctok.errors import UnknownIdError
from piece_models import NORMAL, UNKNOWN, USER_DEFINED
from test_spmunigram import CHARS, bytes_of, kernel_of, models, reference

CHECKING = can_fail(vocab)
UNK = ("<unk>", 0.0, UNKNOWN)
ABC = [UNK, ("a", -1.0, NORMAL), ("b", -1.5, NORMAL), ("ab", -2.0, NORMAL), ("bc", -2.2, NORMAL), ("c", -1.1, NORMAL)]
ABC += [("abc", -2.6, NORMAL), ("\u00e9c", -0.5, USER_DEFINED)]
TEXTS = ["abcab", "a\u00e9cxbc", "abcabc"]


def ids_of(pieces, raw, path):
    return tuple(number for number, _ in twin.to_ids(raw, path, 0, bytes_of(pieces)))


@given(models(), st.text(CHARS, min_size=1, max_size=30), st.integers(2, 40))
def test_nbest_are_those_of_the_reference_in_its_order(pieces, text, k):
    live, kernel = reference(pieces), kernel_of(pieces)
    want = [([piece.id for piece in path.pieces], path.score) for path in live.nbest_encode_as_proto(text, nbest_size=k).nbests]
    assert kernel.nbest(text, k) == want


@given(models(), st.text(CHARS, min_size=1, max_size=7), st.integers(1, 60))
def test_nbest_are_the_best_of_all_paths(pieces, text, k):
    raw = text.encode()
    found, all_of_them = kernel_of(pieces).nbest_with_ends(text, k), twin.paths(pieces, raw)
    scores = [score for _, _, score in found]
    assert len(found) == min(k, len(all_of_them))
    want = Counter((tuple(twin.to_ids(raw, path, 0, bytes_of(pieces))), score) for path, score in all_of_them)
    assert not Counter((tuple(zip(ids, ends, strict=True)), score) for ids, ends, score in found) - want
    for score, best in zip(sorted(scores, reverse=True), all_of_them, strict=False):  # a search in single precision may miss by a rounding
        assert isclose(score, best[1], rel_tol=1e-6, abs_tol=1e-6)


def test_nbest_of_a_long_text_lets_the_best_beginnings_go_on():
    rng = random.Random(3)
    pieces = [UNK, *((char * n, -1.0 * n - 0.001 * n * n, NORMAL) for char in "ab" for n in (1, 2, 3, 4))]
    live, kernel = reference(pieces), kernel_of(pieces)
    text = "".join(rng.choice("aaab") for _ in range(1000))
    for k in (2, 16):
        want = [([piece.id for piece in path.pieces], path.score) for path in live.nbest_encode_as_proto(text, nbest_size=k).nbests]
        assert kernel.nbest(text, k) == want
    assert len(kernel.nbest(text, 200)) == 200


def test_paths_of_nothing_and_none_of_something():
    kernel = kernel_of(ABC)
    assert kernel.nbest("", 3) == [([], 0.0)] and kernel.nbest("abc", 0) == [] and kernel.nbest(b"", 0) == []
    assert kernel.sample("", 1.0) == [] and kernel.sample_distinct("", 2, 1.0) == [([], 0.0)] and kernel.entropy("") == 0
    assert kernel.sample_scored("", 2, 1.0) == [([], 0.0)] * 2 and kernel.sample_distinct("a", 0, 1.0) == []
    assert kernel.sample_distinct("a", 5, 1.0) == [([1], 0.0)]


def chi_square(counts, probabilities, draws):
    """How far counts are from what is expected, less what that should be, in standard deviations; nothing impossible was drawn."""
    assert set(counts) <= {key for key, share in probabilities.items() if share}
    expected = {key: draws * share for key, share in probabilities.items()}
    rare = [key for key in expected if expected[key] < 5]
    classes = [(counts[key], expected[key]) for key in expected if expected[key] >= 5]
    classes += [(sum(counts[key] for key in rare), fsum(expected[key] for key in rare))] if rare else []
    total = fsum((seen - want) ** 2 / want for seen, want in classes if want)
    free = max(len(classes) - 1, 1)
    return (total - free) / (2 * free) ** 0.5


def shares_of(pieces, text, alpha, k=None):
    """Probabilities by ids."""
    raw, found = text.encode(), Counter()
    if k:
        for ids, score in kernel_of(pieces).nbest(text, k):
            found[tuple(ids)] += exp(alpha * score)
        return Counter({ids: share / fsum(found.values()) for ids, share in found.items()})
    for path, share in twin.probabilities(pieces, raw, alpha).items():
        found[ids_of(pieces, raw, path)] += share
    return found


@pytest.mark.parametrize(("alpha", "k"), [(1.0, None), (0.5, None), (0.1, 0), (3.0, None), (0.0, None), (1.0, 3), (0.2, 2), (0.7, 1)])
@pytest.mark.parametrize("text", TEXTS)
def test_draws_have_the_probabilities_they_should(alpha, k, text):
    kernel, draws, want = kernel_of(ABC), 4000, shares_of(ABC, text, alpha, k)
    assert chi_square(Counter(tuple(kernel.sample(text, alpha, k, seed)) for seed in range(draws)), want, draws) < 5


@pytest.mark.parametrize(("alpha", "k"), [(1.0, -1), (0.3, -1), (0.6, 4)])
def test_the_reference_draws_the_same_way(alpha, k):
    live, draws = reference(ABC), 4000
    drawn = Counter(tuple(live.sample_encode_as_ids("abcab", k, alpha)) for _ in range(draws))
    assert chi_square(drawn, shares_of(ABC, "abcab", alpha, max(k, 0)), draws) < 6


def test_scored_draws_say_their_probability():
    kernel = kernel_of(ABC)
    shares = twin.probabilities(ABC, b"abcab", 0.7)
    known = {ids_of(ABC, b"abcab", path): log(share) for path, share in shares.items()}
    for ids, score in kernel.sample_scored("abcab", 50, 0.7, seed=4):
        assert isclose(known[tuple(ids)], score, rel_tol=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 1.0, 40.0])
def test_draws_from_a_long_text_say_their_probability(alpha):
    kernel = kernel_of([UNK, ("a", -1.0, NORMAL), ("aa", -2.0, NORMAL)])  # all ways have one score
    ways = [1, 1]
    while len(ways) <= 5000:
        ways.append(ways[-1] + ways[-2])
    for ids, score in kernel.sample_scored("a" * 5000, 3, alpha, seed=2):
        assert sum(ids) == 5000 and isclose(score, -log(ways[5000]), rel_tol=1e-9)


@pytest.mark.parametrize("best", [False, True])
@pytest.mark.parametrize("k", [1, 3, 5])
def test_distinct_draws_make_sums_unbiased(k, best):
    kernel, alpha, rounds, total, square = kernel_of(ABC), 0.6, 3000, 0.0, 0.0
    shares = {ids_of(ABC, b"abcab", path): share for path, share in twin.probabilities(ABC, b"abcab", alpha).items()}
    want = fsum(share * len(ids) for ids, share in shares.items())
    for seed in range(rounds):
        drawn = kernel.sample_distinct("abcab", k, alpha, best, seed)
        assert len(drawn) == k == len({tuple(ids) for ids, _ in drawn}) and all(score <= 0 for _, score in drawn)
        estimate = fsum(shares[tuple(ids)] / exp(score) * len(ids) for ids, score in drawn)
        total, square = total + estimate, square + estimate**2
        assert not best or drawn[0] == (kernel.encode(b"abcab"), 0.0)
    mean = total / rounds
    if not best or k > 1:
        assert abs(mean - want) <= 5 * ((square / rounds - mean**2) / rounds) ** 0.5 + 1e-9
    assert len(kernel.sample_distinct("abcab", 99, alpha, best)) == len(shares)


def test_first_of_distinct_draws_is_an_ordinary_draw():
    kernel, draws = kernel_of(ABC), 4000
    drawn = Counter(tuple(kernel.sample_distinct("abcab", 2, 0.5, seed=seed)[0][0]) for seed in range(draws))
    assert chi_square(drawn, shares_of(ABC, "abcab", 0.5), draws) < 5


@given(models(), st.text(CHARS, min_size=1, max_size=7), st.sampled_from([0.0, 0.1, 1.0, 2.5]))
def test_entropy_is_that_of_all_paths(pieces, text, alpha):
    if max(abs(piece[1]) for piece in pieces) < 100 and any(piece[2] == NORMAL for piece in pieces):
        assert isclose(kernel_of(pieces).entropy(text, alpha), twin.entropy(pieces, text.encode(), alpha), rel_tol=1e-4, abs_tol=1e-4)


def test_seed_decides_and_none_is_unpredictable():
    kernel, text = kernel_of(ABC), "abcabc" * 9
    for draw in (kernel.sample, lambda *a, seed: kernel.sample_distinct(a[0], 4, a[1], seed=seed)):
        assert all(draw(text, 0.3, seed=seed) == draw(text.encode(), 0.3, seed=seed) for seed in (0, 1, -1, 2**70))
    assert len({tuple(kernel.sample(text, 0.3)) for _ in range(30)}) > 1
    for alpha in (-1, float("nan"), float("inf")):
        with pytest.raises(ValueError):
            kernel.sample("a", alpha)


def test_score_is_the_sum_of_the_pieces_scores():
    kernel = kernel_of(ABC)
    assert kernel.score([]) == 0 and kernel.score([1, 3, 0]) == twin.single(twin.single(-3.0) - 12.6)
    for bad in ([99], [1, -1]):
        with pytest.raises(UnknownIdError):
            kernel.score(bad)


@pytest.mark.skipif(not CHECKING, reason="only builds with CTOK_BUILD=test can make allocations fail")
def test_searching_and_drawing_without_memory_works_later():
    kernel, crowd = kernel_of(ABC), kernel_of([UNK, *(("a" * n, -1.0 * n, NORMAL) for n in range(1, 5))])
    acts = [lambda: kernel.nbest("abcxabc" * 9, 20), lambda: crowd.nbest("a" * 120, 60), lambda: kernel.entropy("abcab")]
    acts += [lambda k=k: kernel.sample("abcx" * 9, 1.0, k, 7) for k in (0, 4)]
    acts += [lambda: kernel.sample_distinct("abcx" * 9, 5, 0.5, True, 7)]
    modules = [lattice, spmunigram, unigram, model, viterbi]
    assert sum([walk(modules, lambda _, act=act: act(), most=4000, least=0) for act in acts]) > 20
