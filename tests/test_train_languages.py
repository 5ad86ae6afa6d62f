"""Corpora of several languages: shares as asked, reports, parity."""

import random

import pytest

from ctok.errors import TrainingError
from ctok.train import Counts, UnigramTrainer, WordLevelTrainer, report_languages, train_languages, weigh_languages

RNG = random.Random(2)


def language(letters, n_words, n_texts):
    """Texts of a made-up language."""
    words = ["".join(RNG.choices(letters, k=RNG.randint(2, 9))) for _ in range(n_words)]
    weights = [1 / (i + 1) for i in range(n_words)]
    return [" ".join(RNG.choices(words, weights, k=8)) for _ in range(n_texts)]


LARGE, SMALL = language("abcdefgh", 300, 400), language("стуфхцчшщ", 300, 25)
CORPORA = {"large": LARGE, "small": SMALL}


def counted(texts):
    words = " ".join(texts).split()
    return Counts.from_mapping({word: words.count(word) for word in set(words)})


COUNTS = {name: counted(texts) for name, texts in CORPORA.items()}


@pytest.mark.parametrize("weights", [{"large": 1, "small": 1}, {"large": 1, "small": 3}, {"large": 9, "small": 1}])
def test_share_is_what_was_asked(weights):
    together, shares = weigh_languages(COUNTS, weights=weights)
    small = sum(len(word.decode()) * count for word, count in together if word[0] > 127)
    every = sum(len(word.decode()) * count for word, count in together)
    assert shares["small"] == pytest.approx(small / every)
    assert small / every == pytest.approx(weights["small"] / sum(weights.values()), rel=0.02)
    assert all(count >= dict(COUNTS["small"])[word] for word, count in together if word[0] > 127)


def test_temperature_moves_shares_towards_each_other():
    shares = [weigh_languages(COUNTS, temperature=t)[1]["small"] for t in (1, 2, 5, 1e9)]
    assert shares == sorted(shares)
    assert shares[0] < 0.1
    assert shares[-1] == pytest.approx(0.5, rel=0.01)
    assert weigh_languages(COUNTS)[0] == COUNTS["large"].merge(COUNTS["small"])


def test_what_cannot_be_weighed_is_refused():
    with pytest.raises(ValueError, match="'small'"):
        weigh_languages(COUNTS, weights={"large": 1})
    with pytest.raises(ValueError, match="temperature"):
        weigh_languages(COUNTS, temperature=0)
    with pytest.raises(TrainingError, match="'none'"):
        weigh_languages(COUNTS | {"none": Counts.from_mapping({})})


def test_a_larger_share_gives_fewer_tokens_and_the_report_says_so():
    trained = train_languages(UnigramTrainer(150), CORPORA, weights={"large": 1, "small": 1})
    large, small = trained.report.rows
    assert (large.language, small.language) == ("large", "small")
    assert small.tokens < small.tokens_before
    assert small.share == pytest.approx(0.5, rel=0.01)
    assert small.rate == small.tokens / small.characters
    table = str(trained.report).splitlines()
    assert table[0].split() == ["language", "share", "tokens/char", "before", "change"]
    assert table[2].startswith("small") and table[2].rstrip().endswith("%")
    assert report_languages(trained.spec, CORPORA).rows[1].tokens == small.tokens


def test_parity_makes_languages_pay_alike():
    plain = train_languages(UnigramTrainer(150), CORPORA, compare=False)
    even = train_languages(UnigramTrainer(150), CORPORA, parity=3, compare=False)
    assert even.report.disparity < plain.report.disparity
    again = train_languages(UnigramTrainer(150), CORPORA, parity=3, compare=False, num_threads=2)
    assert again.spec == even.spec
    parallel = train_languages(UnigramTrainer(150), CORPORA, parity=2, compare=False, held_out={"large": LARGE[:20], "small": SMALL[:20]})
    assert len(parallel.report.rows) == 2


def test_other_trainers_take_languages_too():
    trained = train_languages(WordLevelTrainer(60), CORPORA, temperature=4)
    assert trained.report.rows[1].tokens_before is not None
