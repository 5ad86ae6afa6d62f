"""From text to ids in plain Python: special tokens are cut out, the rest is split and merged. Slow; for tests and for reading."""

from . import bpe, split

__all__ = ["cut", "encode", "longest_at"]


def longest_at(literals, text, place):
    """Return the longest of `literals` that stands at `place` in `text`, or None."""
    return max((literal for literal in literals if text.startswith(literal, place)), key=len, default=None)


def cut(literals, text):
    """Return ``text`` as a list of (plain text, literal) pairs; the last literal is None. Leftmost first, then longest."""
    parts, start, place = [], 0, 0
    while place < len(text):
        found = longest_at(literals, text, place)
        if found is None:
            place += 1
        else:
            parts.append((text[start:place], found))
            start = place = place + len(found)
    return [*parts, (text[start:], None)]


def encode(ranks, compiled, literals, text):
    """Return the ids of a str.

    Parameters
    ----------
    ranks
        Mapping of token bytes to id.
    compiled
        A split pattern, compiled (`split.compile_explicit`).
    literals
        Mapping of the texts that stand for themselves to their ids.
    """
    ids = []
    for plain, literal in cut(literals, text):
        data = plain.encode()
        for start, stop in split.spans(compiled, plain):
            ids += bpe.encode(ranks, data[start:stop])
        if literal is not None:
            ids.append(literals[literal])
    return ids
