"""Training a unigram model, plainly: dictionaries, all substrings, logarithms, one word after the other. For small corpora."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["best_path", "counted", "digamma", "expected", "improved", "is_valid", "pruned", "seeds", "train"]

BLANK, JOINS, INHERITS, ALONE, SCRIPT = range(1, 6)


def is_valid(
    piece: str,
    classes: Mapping[str, int],
    max_length: int,
    blanks_cut: bool = True,
    blanks_last: bool = False,
    only_blanks: bool = False,
) -> bool:
    """May this be a piece? Classes: 1 a blank, 2 goes with every script, 3 takes the script before it, 4 stands alone, else scripts."""
    if not 1 <= len(piece) <= max_length or any(char not in classes for char in piece):
        return False
    before = JOINS
    for at, char in enumerate(piece):
        if classes[char] == ALONE and len(piece) > 1:
            return False
        if classes[char] == BLANK:
            if only_blanks and all(classes[other] == BLANK for other in piece):
                continue
            edge = len(piece) - 1 if blanks_last else 0
            if blanks_cut and at != edge:
                return False
            if not blanks_cut and len(piece) > 1 and at == len(piece) - 1 - edge:
                return False
            continue
        here = before if classes[char] == INHERITS else classes[char]
        if here >= SCRIPT and before >= SCRIPT and here != before:
            return False
        before = here
    return True


def seeds(words: Mapping[str, int], valid: Callable[[str], bool], most: int, size: int = 0) -> dict[str, float]:
    """The characters, and of the substrings that stand between different things those with the highest count times length.

    Of substrings of one word only, `size` // 4 are left, the most frequent, and as many more as it takes to have three times `size`.
    """
    counts: dict[str, int] = {}
    owners: dict[str, set[str]] = {}
    followers: dict[str, set[object]] = {}
    leaders: dict[str, set[object]] = {}
    for word, count in words.items():
        for start in range(len(word)):
            for end in range(start + 1, len(word) + 1):
                piece = word[start:end]
                counts[piece] = counts.get(piece, 0) + count
                owners.setdefault(piece, set()).add(word)
                # The end of a word is different from everything, also from the ends of the others.
                followers.setdefault(piece, set()).add(word[end] if end < len(word) else (word, start))
                leaders.setdefault(piece, set()).add(word[start - 1] if start else (word, end))
    chars = {piece: float(count) for piece, count in counts.items() if len(piece) == 1}
    others = {
        piece: float(count * len(piece))
        for piece, count in counts.items()
        if len(piece) > 1
        and count > 1
        and valid(piece)
        and _differ(followers[piece])
        and (_differ(leaders[piece]) or not valid(next(iter(leaders[piece])) + piece))  # type: ignore[operator]
    }
    if size:
        alone = sorted((piece for piece in others if len(owners[piece]) == 1), key=lambda piece: (-counts[piece], piece))
        for piece in alone[max(size // 4, 3 * size - (len(others) - len(alone))) :]:
            del others[piece]
    best = sorted(others, key=lambda piece: (-others[piece], piece))[: max(0, most - len(chars))]
    chosen = chars | {piece: others[piece] for piece in best}
    total = math.log(sum(chosen.values()))
    return {piece: math.log(score) - total for piece, score in sorted(chosen.items())}


def _differ(neighbours: set[object]) -> bool:
    return len(neighbours) > 1 or any(isinstance(neighbour, tuple) for neighbour in neighbours)


def _paths(word: str, scores: Mapping[str, float]) -> list[list[str]]:
    """All ways to spell a word."""
    if not word:
        return [[]]
    return [
        [word[:end], *rest] for end in range(1, len(word) + 1) if word[:end] in scores for rest in _paths(word[end:], scores)
    ]


def expected(words: Mapping[str, int], scores: Mapping[str, float]) -> tuple[dict[str, float], float]:
    """How often each piece is expected, and the logarithm of the probability of all words."""
    sums, gain = dict.fromkeys(scores, 0.0), 0.0
    for word, count in words.items():
        ways = [(way, math.exp(sum(scores[piece] for piece in way))) for way in _paths(word, scores)]
        total = math.fsum(share for _, share in ways)
        gain += count * math.log(total)
        for way, share in ways:
            for piece in way:
                sums[piece] += count * share / total
    return sums, gain


def digamma(x: float) -> float:
    """The derivative of the logarithm of the gamma function."""
    result = 0.0
    while x < 30:
        result -= 1 / x
        x += 1
    return result + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6)


def improved(words: Mapping[str, int], scores: Mapping[str, float]) -> dict[str, float]:
    """One step of expectation and maximisation; pieces that are expected less than half a time go, characters stay."""
    sums, _ = expected(words, scores)
    total = digamma(max(0.5, sum(count for count in sums.values() if count >= 0.5)))
    return {piece: digamma(max(count, 0.5)) - total for piece, count in sums.items() if count >= 0.5 or len(piece) == 1}


def best_path(word: str, scores: Mapping[str, float], but: str = "") -> tuple[float, list[str]]:
    """The best way to spell a word without the piece `but`, and its score. Of equally good ones that with the longer last piece."""
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(word) + 1):
        ways = [
            (best[start][0] + scores[word[start:end]], -start)
            for start in range(end)
            if word[start:end] in scores and word[start:end] != but and best[start][0] > -math.inf
        ]
        best.append(max(ways, default=(-math.inf, 0)))
    path: list[str] = []
    end = len(word)
    while end and best[-1][0] > -math.inf:
        start = -best[end][1]
        path.insert(0, word[start:end])
        end = start
    return best[-1][0], path


def counted(words: Mapping[str, int], scores: Mapping[str, float]) -> dict[str, int]:
    """How often each piece stands in the best paths."""
    sums = dict.fromkeys(scores, 0)
    for word, count in words.items():
        for piece in best_path(word, scores)[1]:
            sums[piece] += count
    return sums


def pruned(words: Mapping[str, int], scores: Mapping[str, float], size: int, token_cost: float = 0) -> dict[str, float]:
    """Keep the characters, and the pieces whose loss would cost most."""
    counts = counted(words, scores)
    total = sum(counts.values())
    losses = {}
    for piece, count in counts.items():
        if len(piece) == 1:
            continue
        score, path = best_path(piece, scores, piece)
        if count == 0 or score > scores[piece]:
            continue
        without = sum(math.log(counts[part] + count) for part in reversed(path))
        without -= len(path) * math.log(total + count * (len(path) - 1))
        losses[piece] = max(0.0, count * (math.log(count) - math.log(total) - without + token_cost * (len(path) - 1)))
    n_chars = sum(len(piece) == 1 for piece in scores)
    kept = set(sorted(losses, key=lambda piece: (-losses[piece], piece))[: max(0, size - n_chars)])
    return {piece: score for piece, score in scores.items() if len(piece) == 1 or piece in kept}


def train(
    words: Mapping[str, int],
    valid: Callable[[str], bool],
    size: int,
    seed_size: int = 1000,
    shrinking_factor: float = 0.75,
    n_sub_iterations: int = 2,
) -> dict[str, float]:
    """Improve and prune by turns until there are no more than `size` pieces."""
    scores = seeds(words, valid, seed_size, size)
    while True:
        for _ in range(n_sub_iterations):
            scores = improved(words, scores)
        if len(scores) <= size:
            return scores
        scores = pruned(words, scores, max(size, int(len(scores) * shrinking_factor)))
