"""Pairs merged by how much likelier they make the corpus: count(ab) / (count(a) * count(b)), as the papers define WordPiece."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Pair = tuple[int, int]

__all__ = ["Likelihood"]


class Likelihood:
    """Merging under way.

    Parameters
    ----------
    words
        (ids, count) of the distinct words. The lists are changed.
    texts
        The texts of the first tokens, by id.
    prefix
        What tokens inside a word begin with.
    min_frequency
        A pair must stand so often.

    Notes
    -----
    Of equally good pairs that with the lowest ids is first. The queue holds for each pair at least one entry that is not below its score:
    scores that fall are noticed when the entry is met, for those that rise a new one is put in. A merge of a and b raises all pairs of a
    and of b, so it costs as many steps as these have neighbours.
    """

    def __init__(self, words: list[tuple[list[int], int]], texts: list[bytes], prefix: bytes, min_frequency: int) -> None:
        self.words, self.texts, self.min_frequency = words, texts, max(1, min_frequency)
        self._prefix = len(prefix)
        self._known = set(texts)
        self._counts = [0] * len(texts)
        self._pairs: dict[Pair, int] = {}
        self._where: dict[Pair, set[int]] = {}
        self._of: list[set[Pair]] = [set() for _ in texts]
        for at, (ids, count) in enumerate(words):
            for number in ids:
                self._counts[number] += count
            for pair in pairwise(ids):
                self._add(pair, count, at)
        self._queue = [(-self._score(pair), pair) for pair, count in self._pairs.items() if count >= self.min_frequency]
        heapify(self._queue)

    def merges(self) -> Iterator[bytes]:
        """Learn merge after merge, yielding the texts of new tokens; ends when no pair is frequent enough."""
        while self._queue:
            negative, pair = heappop(self._queue)
            if self._pairs.get(pair, 0) < self.min_frequency:
                continue
            score = self._score(pair)
            if score != -negative:
                if score < -negative:
                    heappush(self._queue, (-score, pair))
                continue
            text = self.texts[pair[0]] + self.texts[pair[1]][self._prefix :]
            if text in self._known:
                self._drop(pair)
                continue
            self._known.add(text)
            self.texts.append(text)
            self._counts.append(0)
            self._of.append(set())
            self._merge(pair, len(self.texts) - 1)
            yield text

    def _score(self, pair: Pair) -> float:
        return self._pairs[pair] / (self._counts[pair[0]] * self._counts[pair[1]])

    def _add(self, pair: Pair, count: int, at: int) -> None:
        if pair not in self._pairs:
            self._pairs[pair] = 0
            self._where[pair] = set()
            self._of[pair[0]].add(pair)
            self._of[pair[1]].add(pair)
        self._pairs[pair] += count
        self._where[pair].add(at)

    def _drop(self, pair: Pair) -> None:
        del self._pairs[pair], self._where[pair]
        self._of[pair[0]].discard(pair)
        self._of[pair[1]].discard(pair)

    def _merge(self, pair: Pair, number: int) -> None:
        places = sorted(self._where[pair])
        self._drop(pair)
        for at in places:
            ids, count = self.words[at]
            made = replaced(ids, pair, number)
            n = len(ids) - len(made)
            if not n:
                continue
            self._counts[pair[0]] -= n * count
            self._counts[pair[1]] -= n * count
            self._counts[number] += n * count
            for gone in pairwise(ids):
                if gone in self._pairs:
                    self._pairs[gone] -= count
            for new in pairwise(made):
                if new != pair:
                    self._add(new, count, at)
            self.words[at] = (made, count)
        for part in (*pair, number):
            for raised in self._of[part]:
                if self._pairs[raised] >= self.min_frequency:
                    heappush(self._queue, (-self._score(raised), raised))


def replaced(ids: list[int], pair: Pair, number: int) -> list[int]:
    """Return ids with `number` in the place of each occurrence of a pair, from the left."""
    made, i = [], 0
    while i < len(ids):
        if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
            made.append(number)
            i += 2
        else:
            made.append(ids[i])
            i += 1
    return made
