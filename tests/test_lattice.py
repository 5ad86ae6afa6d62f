"""Paths of the unigram model other than the best: against the twin, and the twin's probabilities against draws of the live reference."""

from collections import Counter
from math import exp, fsum, isclose, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alloc_walk import can_fail, walk
from ctok._native import lattice, model, unigram, viterbi, vocab
from ctok._reference import unigram as twin
from ctok.errors import EncodeError
from test_unigram import BYTES, UNKNOWN, kernel_of

CHECKING = can_fail(vocab)
ABC = [("<unk>", 0.0), ("a", -1.0), ("b", -1.5), ("ab", -2.0), ("bc", -2.2), ("c", -1.1), ("abc", -2.6)]


@st.composite
def vocabularies(draw):
    texts = draw(st.lists(st.text(st.sampled_from("abc\u00e9"), min_size=1, max_size=3), max_size=9, unique=True))
    pieces = [("<unk>", 0.0), *((text, draw(st.sampled_from([-0.25, -0.5, -1.0, -2.0, -4.0]))) for text in texts)]
    return pieces, draw(st.sampled_from([0, 0, None]))


@given(vocabularies(), st.text(st.sampled_from("abc\u00e9"), min_size=1, max_size=6), st.integers(1, 40))
def test_nbest_are_the_best_of_all_paths(vocabulary, text, k):
    pieces, unk_id = vocabulary
    kernel = kernel_of(*vocabulary)
    paths = [(score, path) for score, path in twin.paths(pieces, text, unk_id) if all(number is not None for _, _, number in path)]
    if not paths:
        with pytest.raises(EncodeError):
            kernel.nbest(text, k)
        return
    found = kernel.nbest(text, k)
    assert [score for _, score in found] == [score for score, _ in paths[:k]]
    for score in {score for _, score in found[:-1] if score != found[-1][1]}:  # the last score may go on beyond k
        want = Counter(tuple(number for number, _ in twin.to_ids(pieces, text, path, unk_id)) for total, path in paths if total == score)
        assert Counter(tuple(ids) for ids, total in found if total == score) == want
    try:
        assert found[0][0] == kernel.encode(text.encode())
    except EncodeError:
        pass


def test_nbest_of_nothing_and_none_of_something():
    kernel = kernel_of(ABC, 0)
    assert kernel.nbest("", 3) == [([], 0.0)] and kernel.nbest("abc", 0) == [] and kernel.nbest("", 0) == []
    assert kernel.nbest("abc", 99)[0] == ([6], -2.6) and len(kernel.nbest("abc", 99)) == 4


def compare(counts, probabilities, draws):
    """Each count is within five standard deviations of what its probability says, and nothing improbable was drawn."""
    assert set(counts) <= {key for key, probability in probabilities.items() if probability}
    for key, probability in probabilities.items():
        assert abs(counts[key] - draws * probability) <= 5 * (draws * probability * (1 - probability)) ** 0.5 + 1, (key, counts)


def as_ids(pieces, text, weights, unk_id=0):
    total = Counter()
    for path, weight in weights.items():
        total[tuple(number for number, _ in twin.to_ids(pieces, text, path, unk_id))] += weight
    return total


def weights_of_best(pieces, text, alpha, k):
    best = twin.paths(pieces, text, 0)[:k]
    weights = [exp(alpha * score) for score, _ in best]
    return {tuple(path): weight / fsum(weights) for weight, (_, path) in zip(weights, best, strict=True)}


@pytest.mark.parametrize(("alpha", "k"), [(1.0, None), (0.5, None), (0.1, None), (3.0, 0), (1.0, 3), (0.2, 2), (0.7, 1)])
@pytest.mark.parametrize("text", ["abcab", "axbc"])
def test_draws_have_the_probabilities_of_the_reference(alpha, k, text):
    tokenizers = pytest.importorskip("tokenizers")
    weights = twin.sampling_weights(ABC, text, 0, alpha) if not k else weights_of_best(ABC, text, alpha, k)
    want, draws, kernel = as_ids(ABC, text, weights), 4000, kernel_of(ABC, 0)
    compare(Counter(tuple(kernel.sample(text, alpha, k, seed)) for seed in range(draws)), want, draws)
    live = tokenizers.models.Unigram(ABC, 0, False, alpha=alpha, **({"nbest_size": k} if k else {}))
    compare(Counter(tuple(token.id for token in live.tokenize(text)) for _ in range(draws)), want, draws)


def test_seed_decides_the_draw_and_none_is_unpredictable():
    kernel = kernel_of(ABC, 0)
    assert all(kernel.sample("abcabc" * 9, 0.3, seed=seed) == kernel.sample(b"abcabc" * 9, 0.3, None, seed) for seed in (0, 1, -1, 2**70))
    assert len({tuple(kernel.sample("abcabc" * 9, 0.3)) for _ in range(30)}) > 1


def test_alpha_zero_gives_the_best_path_and_a_large_one_nearly_always():
    kernel = kernel_of(ABC, 0)
    assert kernel.sample("abcab", 0) == kernel.sample("abcab", 500.0, seed=1) == kernel.encode(b"abcab")
    for alpha in (-1, float("nan"), float("inf")):
        with pytest.raises(ValueError):
            kernel.sample("a", alpha)


def test_one_character_and_unknown_runs_can_be_drawn():
    kernel = kernel_of([*UNKNOWN, *((piece, -9.0) for piece in BYTES)], 0, True)
    assert kernel.sample("'", 0.5) == [3 + ord("'")] and kernel.sample("", 0.5) == []
    assert kernel.sample("a\u00e9b", 1.0) == [1, 3 + 0xC3, 3 + 0xA9, 2]
    with pytest.raises(EncodeError):
        kernel_of([("ab", -1.0)]).sample("abx", 1.0)
    assert kernel_of([("ab", -1.0), ("bx", -1.0), ("x", -1.0)]).sample("abx", 1.0) == [0, 2]


@pytest.mark.parametrize("best", [False, True])
@pytest.mark.parametrize("k", [1, 3])
def test_distinct_draws_make_sums_unbiased(k, best):
    kernel, alpha, rounds, total, square = kernel_of(ABC, 0), 0.6, 3000, 0.0, 0.0
    shares = as_ids(ABC, "abcab", twin.sampling_weights(ABC, "abcab", 0, alpha))
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
    assert {tuple(ids) for ids, _ in kernel.sample_distinct("abcab", 10**12, alpha, best)} == set(shares)


def test_first_of_distinct_draws_is_an_ordinary_draw():
    kernel, draws = kernel_of(ABC, 0), 4000
    drawn = Counter(tuple(kernel.sample_distinct("abcab", 2, 0.5, seed=seed)[0][0]) for seed in range(draws))
    compare(drawn, as_ids(ABC, "abcab", twin.sampling_weights(ABC, "abcab", 0, 0.5)), draws)


@given(vocabularies(), st.text(st.sampled_from("abc\u00e9"), min_size=1, max_size=6), st.sampled_from([0.1, 0.5, 1.0, 2.5]))
def test_entropy_is_that_of_all_paths(vocabulary, text, alpha):
    pieces, _ = vocabulary
    weights = twin.sampling_weights(pieces, text, 0, alpha).values()
    want = -fsum(weight * log(weight) for weight in weights if weight)
    assert isclose(kernel_of(pieces, 0).entropy(text, alpha), want, rel_tol=1e-9, abs_tol=1e-9)


def test_paths_of_several_pretokens_do_not_reach_across():
    kernel = kernel_of(ABC, 0)
    drawn = kernel.sample_distinct([7, "ab", b"c", 8, 9, "", "x", "x"], 99, 0.5)
    assert {tuple(ids) for ids, _ in drawn} == {(7, 1, 2, 5, 8, 9, 0, 0), (7, 3, 5, 8, 9, 0, 0)}
    best = kernel.sample_distinct([7, "ab", b"c", 8, 9, "", "x", "x"], 1, 0.5, include_best=True)
    assert best == [([7, 3, 5, 8, 9, 0, 0], 0.0)]
    assert kernel.sample_distinct([], 3, 0.5) == [([], 0.0)] and kernel.sample_distinct([5], 3, 0.5) == [([5], 0.0)]
    assert kernel.sample_distinct(["ab", 5, "c"], 3, 0) == [([3, 5, 5], 0.0)] and kernel.sample_distinct("ab", 0, 1.0) == []
    assert kernel.entropy("ab", 0) == 0 and kernel.entropy("", 1.0) == 0


@pytest.mark.skipif(not CHECKING, reason="only builds with CTOK_BUILD=test can make allocations fail")
def test_drawing_that_finds_no_memory_works_later():
    kernel = kernel_of(ABC, 0)
    acts = [lambda: kernel.nbest("abcxabc" * 9, 20)]
    acts += [lambda: kernel.sample_distinct(['abcx' * 9, 7, 'ab'], 5, 0.5, True, 7), lambda: kernel.entropy('abcab', 0.5)]
    acts += [lambda k=k: kernel.sample("abcx" * 9, 1.0, k, 7) for k in (0, 4)]
    modules = [lattice, unigram, model, viterbi]
    assert sum([walk(modules, lambda _, act=act: act(), most=4000, least=0) for act in acts]) > 10
