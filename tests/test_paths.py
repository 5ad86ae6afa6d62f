"""Tokenizer.nbest, sample and entropy: several pretokens together, added tokens between them, the template around."""

import itertools
import math
from collections import Counter

import pytest

import ctok
from ctok.errors import DisallowedSpecialTokenError, SpecError
from ctok.spec import AddedToken, Spec, TokenTable
from ctok.stagespecs import postprocessors, pretokenizers
from ctok.stagespecs.models import Unigram, bpe_from_merges
from ctok.tokenizer import Tokenizer

PIECES = [("<unk>", -9.0), ("a", -1.0), ("b", -1.25), ("ab", -2.0), ("aa", -2.5), ("c", -3.0), ("</s>", 0.0)]


def made(**changes):
    from struct import pack

    table = TokenTable.from_dict({text.encode(): number for number, (text, _) in enumerate(PIECES)})
    model = Unigram(table, pack(f"<{len(PIECES)}d", *(score for _, score in PIECES)), 0, False)
    template = postprocessors.RobertaProcessing(("</s>", 6), ("<s>", 7))
    fields = {"post_processor": template, "added_tokens": [AddedToken("</s>", 6), AddedToken("<s>", 7)], **changes}
    return Tokenizer.from_spec(Spec("toy", model, pretokenizers.WhitespaceSplit(), **fields))


def all_ways(tokenizer, words):
    """All ways of several pretokens, best first, by trying all."""
    each = [tokenizer.flow.model.nbest(word, 1000) for word in words]
    ways = [([number for ids, _ in way for number in ids], sum(score for _, score in way)) for way in itertools.product(*each)]
    return sorted(ways, key=lambda way: -way[1])


@pytest.mark.parametrize("text", ["", "aab", "aab abab", "ab  aaab ab", "q", "aqb qq"])
@pytest.mark.parametrize("k", [0, 1, 3, 1000])
def test_nbest_of_several_pretokens_are_the_best_of_all_combinations(text, k):
    tok = made()
    expected = all_ways(tok, text.split())[:k]
    found = tok.nbest(text, k, add_special_tokens=False)
    assert [round(score, 9) for _, score in found] == [round(score, 9) for _, score in expected]
    assert Counter(map(tuple, (ids for ids, _ in found))) == Counter(map(tuple, (ids for ids, _ in expected))) or k == 3
    assert k == 0 or found[0][0] == tok.encode(text, add_special_tokens=False)


def test_nbest_has_the_template_around_each_way():
    tok = made()
    assert [(ids[0], ids[-1]) for ids, _ in tok.nbest("aab ab", 4)] == [(7, 6)] * 4
    assert tok.nbest("aab ab", 1)[0][0] == tok.encode("aab ab")


def test_nbest_keeps_an_allowed_special_token_whole():
    tok = made()
    found = tok.nbest("ab</s>ab", 4, allowed_special="all", add_special_tokens=False)
    assert all(ids.count(6) == 1 for ids, _ in found)
    with pytest.raises(DisallowedSpecialTokenError):
        tok.nbest("ab</s>ab", 4, disallowed_special="all")


def test_sample_of_one_seed_is_the_same_and_of_many_covers_all_ways():
    tok = made()
    drawn = [tuple(tok.sample("aab ab", 0.5, seed=seed, add_special_tokens=False)) for seed in range(300)]
    assert drawn == [tuple(tok.sample("aab ab", 0.5, seed=seed, add_special_tokens=False)) for seed in range(300)]
    assert set(drawn) == {tuple(ids) for ids, _ in all_ways(tok, ["aab", "ab"])}
    assert tok.sample("aab ab", 0.5)[-1] == 6


def test_sample_follows_the_scores_of_the_whole_text():
    tok, alpha, n = made(), 1.0, 4000
    ways = all_ways(tok, ["ab", "ab"])
    weights = [math.exp(alpha * score) for _, score in ways]
    counts = Counter(tuple(tok.sample("ab ab", alpha, seed=seed, add_special_tokens=False)) for seed in range(n))
    for (ids, _), weight in zip(ways, weights, strict=True):
        share = weight / sum(weights)
        assert abs(counts[tuple(ids)] / n - share) < 5 * math.sqrt(share * (1 - share) / n)


def test_sample_from_the_best_only_gives_these():
    tok = made()
    best = {tuple(ids) for ids, _ in tok.flow.model.nbest("aabab", 2)}
    assert {tuple(tok.sample("aabab", 0.1, 2, seed, add_special_tokens=False)) for seed in range(100)} == best


def test_sample_of_byte_pairs_leaves_merges_out():
    record = bpe_from_merges({"a": 0, "b": 1, "ab": 2, "abab": 3, "</s>": 4, "c": 5}, [("a", "b"), ("ab", "ab")])
    tok = Tokenizer.from_spec(Spec("toy", record, pretokenizers.WhitespaceSplit(), added_tokens=[AddedToken("</s>", 4)]))
    text = "abab c</s>ab"
    assert tok.sample(text, 0.0, allowed_special="all") == tok.encode(text, allowed_special="all") == [3, 5, 4, 2]
    assert tok.sample(text, 1.0, allowed_special="all") == [0, 1, 0, 1, 5, 4, 0, 1]
    drawn = {tuple(tok.sample(text, 0.5, seed=seed, allowed_special="all")) for seed in range(200)}
    firsts = [(0, 1, 0, 1), (2, 0, 1), (0, 1, 2), (2, 2), (3,)]
    assert drawn == {(*first, 5, 4, *last) for first in firsts for last in [(0, 1), (2,)]}
    assert tok.sample(text, 0.5, seed=3) == tok.sample(text, 0.5, seed=3)
    with pytest.raises(SpecError, match="sample_distinct"):
        tok.sample_distinct(text, 2)


def test_entropy_is_that_of_the_ways_of_the_whole_text():
    tok, alpha = made(), 1.0
    weights = [math.exp(score) for _, score in all_ways(tok, ["aab", "abab"])]
    expected = -sum(weight / sum(weights) * math.log(weight / sum(weights)) for weight in weights)
    assert tok.entropy("aab abab", alpha) == pytest.approx(expected)


def test_distinct_draws_are_ways_of_the_whole_text():
    tok = made()
    ways = {tuple(ids) for ids, _ in all_ways(tok, ["aab", "ab"])}
    drawn = tok.sample_distinct("aab ab", 10**6, 0.5, seed=1, add_special_tokens=False)
    assert len(drawn) == len(ways) and {tuple(ids) for ids, _ in drawn} == ways
    assert tok.sample_distinct("aab ab", 3, 0.5, seed=1) == tok.sample_distinct("aab ab", 3, 0.5, seed=1)
    best = tok.sample_distinct("aab ab</s>ab", 3, 0.5, include_best=True, seed=1, allowed_special="all")
    assert best[0] == (tok.encode("aab ab</s>ab", allowed_special="all"), 0.0) and all((ids[0], ids[-1]) == (7, 6) for ids, _ in best)
    with pytest.raises(DisallowedSpecialTokenError):
        tok.sample_distinct("ab</s>ab", 3, disallowed_special="all")


@pytest.mark.parametrize("method", ["nbest", "sample", "sample_distinct", "entropy"])
def test_tokenizer_with_one_way_only_says_so(method):
    tok = ctok.load("o200k_base")
    with pytest.raises(SpecError, match=method):
        getattr(tok, method)("text", 2)


def test_restricted_is_for_sentencepiece_models():
    with pytest.raises(SpecError, match="SentencePiece"):
        made().restricted(["a"])


@pytest.mark.parametrize(("bad", "error"), [(-1, ValueError), (1.5, TypeError), ("2", TypeError)])
def test_a_number_of_ways_that_is_none_is_named(bad, error):
    tok = made()
    for name, call in [
        ("k", lambda: tok.nbest("ab", bad)),
        ("k", lambda: tok.sample_distinct("ab", bad)),
        ("nbest_size", lambda: tok.sample("ab", nbest_size=bad)),
    ]:
        with pytest.raises(error, match=rf"^{name} must be"):
            call()
    assert tok.nbest("ab", 2**70) == tok.nbest("ab", 1000)
