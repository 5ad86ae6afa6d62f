"""Vocabularies of whole words and of single characters, plainly: count, sort, take the first."""

from __future__ import annotations

from collections import Counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["characters", "words"]


def words(counts: Mapping[str, int], size: int, special: Iterable[str] = (), min_frequency: int = 0) -> list[str]:
    """The special tokens, and then the most frequent words, of equally frequent ones the first in the order of their bytes."""
    found = list(dict.fromkeys(special))
    for word in sorted(counts, key=lambda word: (-counts[word], word.encode())):
        if len(found) < size and counts[word] >= min_frequency and word not in found:
            found.append(word)
    return found


def characters(counts: Mapping[str, int], coverage: float = 1, required: Iterable[str] = ()) -> list[str]:
    """The most frequent characters that make up this share of all, and the required ones, the most frequent first."""
    found: Counter[str] = Counter()
    for word, count in counts.items():
        for char in word:
            found[char] += count
    total, so_far, chosen = sum(found.values()), 0, set(required)
    for char, count in sorted(found.items(), key=lambda item: (-item[1], item[0])):
        if coverage < 1 and so_far >= coverage * total:
            break
        so_far += count
        chosen.add(char)
    return sorted(chosen, key=lambda char: (-found[char], char))
