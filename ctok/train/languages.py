"""Corpora of several languages: what share each has in training, and what each pays in tokens.

    >>> from ctok import train
    >>> corpora = {"en": [path_of_english], "sw": [path_of_swahili]}
    >>> trained = train.train_languages(train.UnigramTrainer(32000), corpora, temperature=3)
    >>> print(trained.report)
"""

from __future__ import annotations

from ..errors import TrainingError
from ..spec import Record, Spec
from ._view import View
from .counts import Counts, count_pretokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

__all__ = ["LanguageReport", "LanguageRow", "TrainedOnLanguages", "report_languages", "train_languages", "weigh_languages"]


class LanguageRow(Record):
    """What a language pays.

    Attributes
    ----------
    language
        Its name.
    characters, tokens
        How many its texts have.
    share
        Its part in the training, in characters; None where nothing was trained.
    tokens_before
        How many tokens they had with the vocabulary that is compared, or None.
    """

    __slots__ = ("language", "characters", "tokens", "share", "tokens_before")  # noqa: RUF023 - the order of the constructor
    language: str
    characters: int
    tokens: int
    share: float | None
    tokens_before: int | None

    def __init__(
        self, language: str, characters: int, tokens: int, share: float | None = None, tokens_before: int | None = None
    ) -> None:
        self._set(language=language, characters=characters, tokens=tokens, share=share, tokens_before=tokens_before)

    @property
    def rate(self) -> float:
        """Tokens per character."""
        return self.tokens / max(1, self.characters)

    @property
    def rate_before(self) -> float | None:
        """The same with the vocabulary that is compared."""
        return None if self.tokens_before is None else self.tokens_before / max(1, self.characters)


class LanguageReport(Record):
    """Tokens per character of each language; `str` makes a table of it.

    Attributes
    ----------
    rows
        `LanguageRow` objects, in the order in which the languages were given.
    """

    __slots__ = ("rows",)
    rows: tuple[LanguageRow, ...]

    def __init__(self, rows: Iterable[LanguageRow]) -> None:
        self._set(rows=tuple(rows))

    @property
    def disparity(self) -> float:
        """The highest number of tokens per character of a language, divided by the lowest."""
        rates = [row.rate for row in self.rows]
        return max(rates) / max(min(rates), 1e-300)

    def __str__(self) -> str:
        width = max(8, *(len(row.language) for row in self.rows))
        lines = [f"{'language':{width}}  {'share':>7}  {'tokens/char':>11}  {'before':>7}  {'change':>7}"]
        for row in self.rows:
            share = "" if row.share is None else f"{row.share:.2%}"
            before = "" if row.rate_before is None else f"{row.rate_before:.4f}"
            change = "" if not row.tokens_before else f"{row.tokens / row.tokens_before - 1:+.1%}"
            lines.append(f"{row.language:{width}}  {share:>7}  {row.rate:>11.4f}  {before:>7}  {change:>7}")
        return "\n".join(lines)


class TrainedOnLanguages(Record):
    """What `train_languages` returns: the `spec`, and the `report` on what each language pays."""

    __slots__ = ("spec", "report")  # noqa: RUF023
    spec: Spec
    report: LanguageReport

    def __init__(self, spec: Spec, report: LanguageReport) -> None:
        self._set(spec=spec, report=report)


def weigh_languages(
    counts: Mapping[str, Counts], *, weights: Mapping[str, float] | None = None, temperature: float = 1.0
) -> tuple[Counts, dict[str, float]]:
    """Return the counts of all languages together, and the share of each in them, in characters.

    Parameters
    ----------
    counts
        Language -> counts of its pretokens, all cut in the same way.
    weights
        Language -> its share, in any unit. None: in proportion to its characters.
    temperature
        Shares are raised to the power of 1 / temperature: above 1 small languages gain, below they lose.

    Raises
    ------
    ValueError
        A language has no weight or one that is not positive, or the temperature is not.
    TrainingError
        A language has no text.

    Notes
    -----
    No count is lowered: the language that loses most keeps its counts and the others are raised, as if their texts were repeated.
    """
    if not temperature > 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    sizes = {language: _characters(part) for language, part in counts.items()}
    for language, size in sizes.items():
        if size == 0:
            raise TrainingError(f"the corpus of {language!r} holds no text")
        if weights is not None and not weights.get(language, 0) > 0:
            raise ValueError(f"the weight of {language!r} must be above 0, not {weights.get(language)}")
    asked = {language: (sizes if weights is None else weights)[language] ** (1 / temperature) for language in sizes}
    factors = {language: asked[language] / sizes[language] for language in sizes}
    least = min(factors.values())
    first, *others = (_scaled(part, factors[language] / least) for language, part in counts.items())
    reached = {language: _characters(part) for language, part in zip(counts, (first, *others), strict=True)}
    total = sum(reached.values())
    return first.merge(*others), {language: size / total for language, size in reached.items()}


def _characters(counts: Counts) -> int:
    from .._native.stretches import count_characters

    return sum(count_characters(counts.data, counts.ends, counts.counts).values())


def _scaled(counts: Counts, factor: float) -> Counts:
    """Each count times a factor that is at least 1, up or down to a whole number so that the sum is right."""
    from array import array
    from fractions import Fraction
    from itertools import accumulate, pairwise

    if factor == 1:
        return counts
    exact = Fraction(factor).limit_denominator(1 << 20)
    sums = [total * exact.numerator // exact.denominator for total in accumulate(memoryview(counts.counts).cast("Q"), initial=0)]
    scaled = array("Q", (min(end - begin, 2**63 - 1) for begin, end in pairwise(sums)))
    return Counts(counts.data, counts.ends, scaled.tobytes(), counts.firsts, sum(scaled), counts.how)


def report_languages(
    spec: Spec,
    corpora: Mapping[str, Any],
    *,
    before: Spec | None = None,
    shares: Mapping[str, float] | None = None,
    **how: Any,
) -> LanguageReport:
    """Return how many tokens the texts of each language become.

    Parameters
    ----------
    spec
        The vocabulary. Texts are cut as it cuts them.
    corpora
        Language -> texts, whatever `ctok.train.count_pretokens` takes.
    before
        Another vocabulary to compare with.
    shares
        Language -> its part in the training, for the report alone.
    **how
        num_threads, max_memory, errors, field, lines: as for `count_pretokens`.
    """
    rows = []
    for language, corpus in corpora.items():
        texts = list(corpus) if not isinstance(corpus, Counts | str | bytes) and before is not None and iter(corpus) is corpus else corpus
        characters, tokens = _measured(View(spec), texts, how)
        earlier = None if before is None else _measured(View(before), texts, how)[1]
        rows.append(LanguageRow(language, characters, tokens, None if shares is None else shares.get(language), earlier))
    return LanguageReport(rows)


def _measured(view: View, corpus: Any, how: dict[str, Any]) -> tuple[int, int]:
    counts = view.count(corpus, **how)
    return _characters(counts), sum(len(ids) * count for ids, count in view.encoded(counts))


def train_languages(
    trainer: Any,
    corpora: Mapping[str, Any],
    *,
    weights: Mapping[str, float] | None = None,
    temperature: float = 1.0,
    parity: int = 0,
    held_out: Mapping[str, Any] | None = None,
    compare: bool = True,
    num_threads: int | None = None,
    **how: Any,
) -> TrainedOnLanguages:
    """Train on several languages.

    Parameters
    ----------
    trainer
        Any trainer of this package.
    corpora
        Language -> texts, whatever `ctok.train.count_pretokens` takes.
    weights, temperature
        As for `weigh_languages`.
    parity
        So many times the weights are changed and all is trained anew: languages that pay more tokens per character get a larger share. The
        vocabulary whose most expensive language pays least, in proportion to the cheapest, is the result. 0: the shares are as asked.
    held_out
        Language -> the same texts in each language: tokens for equal meaning are compared. None: tokens per character of the corpora.
    compare
        Train without weights as well, and report the difference.
    num_threads, **how
        As for `count_pretokens`.

    Raises
    ------
    TrainingError, ValueError
        As `weigh_languages` and the trainer.
    """
    cutter, normalizer = trainer._stages()
    counts = {
        language: count_pretokens(corpus, cutter, normalizer, num_threads=num_threads, **how) for language, corpus in corpora.items()
    }
    measured = counts if held_out is None else {
        language: count_pretokens(corpus, cutter, normalizer, num_threads=num_threads, **how) for language, corpus in held_out.items()
    }  # fmt: skip
    plain = trainer.train(weigh_languages(counts)[0], num_threads=num_threads) if compare else None
    together, shares = weigh_languages(counts, weights=weights, temperature=temperature)
    spec = trainer.train(together, num_threads=num_threads)
    best = (_unevenness(spec, measured, held_out is not None), spec, shares)
    for _ in range(parity):
        costs = _costs(spec, measured, held_out is not None)
        mean = sum(costs.values()) / len(costs)
        together, shares = weigh_languages(counts, weights={name: share * (costs[name] / mean) ** 2 for name, share in shares.items()})
        spec = trainer.train(together, num_threads=num_threads)
        best = min(best, (_unevenness(spec, measured, held_out is not None), spec, shares), key=lambda found: found[0])
    _, spec, shares = best
    return TrainedOnLanguages(spec, report_languages(spec, measured, before=plain, shares=shares))


def _costs(spec: Spec, measured: Mapping[str, Counts], is_parallel: bool) -> dict[str, float]:
    rows = report_languages(spec, measured).rows
    return {row.language: row.tokens if is_parallel else row.rate for row in rows}


def _unevenness(spec: Spec, measured: Mapping[str, Counts], is_parallel: bool) -> float:
    costs = _costs(spec, measured, is_parallel).values()
    return max(costs) / max(min(costs), 1e-300)
