"""Byte-pair encoding learned by the definition: count all pairs anew, take the best one, join it everywhere, and so on.

Slow (time grows with the product of words and merges) and obviously right. What `tie` decides is which of several pairs of equal count is
best.
"""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeVar

    Symbol = TypeVar("Symbol")  # a text, or an id
    Word = tuple[list[bytes], int]
    Pair = tuple[bytes, bytes]

__all__ = ["go_on", "join_all", "learn", "pairs_of"]


def pairs_of(words: Iterable[Word]) -> dict[Pair, int]:
    """Return how often each pair of neighbours stands in the words, in the order in which they are met. In ``aaa`` one stands twice."""
    counts: dict[Pair, int] = {}
    for symbols, count in words:
        for pair in pairwise(symbols):
            counts[pair] = counts.get(pair, 0) + count
    return counts


def join_all(symbols: Sequence[Symbol], pair: tuple[Symbol, Symbol], joined: Symbol) -> list[Symbol]:
    """Return the symbols with a pair joined wherever it stands, from the left."""
    out, at = [], 0
    while at < len(symbols):
        if symbols[at] == pair[0] and symbols[at + 1 : at + 2] == [pair[1]]:
            out.append(joined)
            at += 2
        else:
            out.append(symbols[at])
            at += 1
    return out


def learn(
    words: Iterable[Word], n_merges: int, tie: str = "first-seen", min_count: int = 1, ids: dict[bytes, int] | None = None
) -> list[Pair]:
    """Return the merges that are learned from counted words.

    Parameters
    ----------
    words
        (symbols, count) each. Their order matters to the tie "first-seen" only.
    n_merges
        How many at most.
    tie
        ``"first-seen"``, ``"huggingface"``, ``"subword-nmt"`` or ``"sentencepiece"``, as for `ctok.train.BpeTrainer`.
    min_count
        A pair must stand so often.
    ids
        The numbers of the first symbols, which "huggingface" goes by; those of joined symbols follow. Extended in place.
    """
    words = [(list(symbols), count) for symbols, count in words]
    merges: list[Pair] = []
    numbers = {} if ids is None else ids
    given_up: set[Pair] = set()
    while len(merges) < n_merges:
        counts = {pair: count for pair, count in pairs_of(words).items() if pair not in given_up}
        if not counts:
            break
        pair = _best(counts, tie, numbers)
        if counts[pair] < min_count:
            break
        joined = pair[0] + pair[1]
        if tie == "sentencepiece" and joined in numbers:
            given_up.add(pair)
            continue
        numbers.setdefault(joined, len(numbers))
        words = [(join_all(symbols, pair, joined), count) for symbols, count in words]
        merges.append(pair)
    return merges


def go_on(
    words: Iterable[tuple[list[int], int]], texts: dict[int, bytes], n_merges: int, min_count: int = 1, prefix: bytes = b""
) -> list[tuple[int, int]]:
    """Return the merges that a vocabulary of `texts` by id is extended by: new ids follow the highest, a pair whose text is a token is
    none, and of pairs of equal count that with the lowest ids comes first. `texts` is extended in place."""
    words = [(list(ids), count) for ids, count in words]
    merges: list[tuple[int, int]] = []
    while len(merges) < n_merges:
        known = set(texts.values())
        counts: dict[tuple[int, int], int] = {}
        for ids, count in words:
            for pair in pairwise(ids):
                if texts[pair[0]] + texts[pair[1]].removeprefix(prefix) not in known:
                    counts[pair] = counts.get(pair, 0) + count
        if not counts or max(counts.values()) < min_count:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        new = max(texts) + 1
        texts[new] = texts[best[0]] + texts[best[1]].removeprefix(prefix)
        merges.append(best)
        words = [(join_all(ids, best, new), count) for ids, count in words]
    return merges


def _best(counts: dict[Pair, int], tie: str, numbers: dict[bytes, int]) -> Pair:
    if tie == "first-seen":
        return max(counts, key=counts.__getitem__)
    if tie == "subword-nmt":
        return max(counts, key=lambda pair: (counts[pair], pair))
    keys: dict[str, Callable[[Pair], tuple[object, ...]]] = {
        "huggingface": lambda pair: (-counts[pair], numbers[pair[0]], numbers[pair[1]]),
        "sentencepiece": lambda pair: (-counts[pair], len((pair[0] + pair[1]).decode()), pair[0] + pair[1]),
    }
    return min(counts, key=keys[tie])
