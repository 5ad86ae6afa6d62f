"""Training WordPiece, plainly: after each merge all is counted anew."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from .train_bpe import join_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["alphabet", "merges"]


def alphabet(words: Mapping[str, int], prefix: str = "##") -> list[str]:
    """All characters in the order of code points, then their forms inside words, as they occur."""
    inside = {prefix + char for word in words for char in word[1:]}
    return sorted({char for word in words for char in word}) + sorted(inside)


def merges(
    words: Mapping[str, int], algorithm: str, min_frequency: int = 0, prefix: str = "##", rivals: list[int] | None = None
) -> Iterator[str]:
    """Yield the texts of new tokens.

    `algorithm` ``"frequency"``: the pair that stands most often; ``"likelihood"``: that with the highest count(ab) / (count(a) *
    count(b)). Of equally good pairs that with the lowest ids; how many there were each time is appended to `rivals`.
    """
    tokens = alphabet(words, prefix)
    ids = {token: number for number, token in enumerate(tokens)}
    spelt = [([ids[word[0]], *(ids[prefix + char] for char in word[1:])], count) for word, count in words.items() if word]
    spent: set[tuple[int, int]] = set()
    while True:
        counts: dict[int, int] = {}
        pairs: dict[tuple[int, int], int] = {}
        for word, count in spelt:
            for number in word:
                counts[number] = counts.get(number, 0) + count
            for pair in pairwise(word):
                pairs[pair] = pairs.get(pair, 0) + count
        scores = {
            pair: Fraction(count) if algorithm == "frequency" else Fraction(count, counts[pair[0]] * counts[pair[1]])
            for pair, count in pairs.items()
            if count >= max(1, min_frequency) and pair not in spent
        }
        if not scores:
            return
        pair = min(scores, key=lambda one: (-scores[one], one))
        if rivals is not None:
            rivals.append(sum(score == scores[pair] for score in scores.values()) - 1)
        text = tokens[pair[0]] + tokens[pair[1]].removeprefix(prefix)
        if text in ids:
            spent.add(pair)
            if algorithm == "likelihood":
                continue
            number = ids[text]
        else:
            number = ids[text] = len(tokens)
            tokens.append(text)
            yield text
        spelt = [(join_all(word, pair, number), count) for word, count in spelt]
