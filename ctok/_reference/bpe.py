"""Byte-pair encoding of one pretoken in plain Python: what ctok/_native/bpe.pyx answers, said as simply as it can be.

Rank is the id, and a pair's rank is that of its joined bytes. Nothing here assumes that a token can be reached by merging, that every byte
has a token, or that longer tokens have higher ranks. Slow: O(n^2); for tests and for reading.
"""

from itertools import pairwise

__all__ = ["encode", "last_tokens", "merge", "neighbours", "unreachable"]


def merge(ranks, pretoken):
    """Return the parts, as bytes, that are left of `pretoken` when no two neighbours join any more.

    Parameters
    ----------
    ranks
        Mapping of token bytes to id.

    Notes
    -----
    Always the pair of lowest rank joins, of equal ones the leftmost. A part of one byte need not be a token.
    """
    parts = [pretoken[i : i + 1] for i in range(len(pretoken))]
    while True:
        pairs = [(ranks[left + right], i) for i, (left, right) in enumerate(pairwise(parts)) if left + right in ranks]
        if not pairs:
            return parts
        _, i = min(pairs)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


def encode(ranks, pretoken):
    """Return the ids of a whole pretoken: itself where it is a token, else by merging; a `KeyError` names a byte that has no token."""
    return [ranks[pretoken]] if pretoken in ranks else [ranks[part] for part in merge(ranks, pretoken)]


def last_tokens(ranks, pretoken):
    """Return, for each prefix of `pretoken`, the last part that merging leaves of it: the path tree, all of it computed afresh."""
    return [merge(ranks, pretoken[: i + 1])[-1] for i in range(len(pretoken))]


def neighbours(ranks, left, right):
    """Return whether `left` and `right` are what merging leaves of their joined bytes."""
    return merge(ranks, left + right) == [part for part in (left, right) if part]


def unreachable(ranks):
    """Return the tokens that merging their own bytes does not give."""
    return {token for token in ranks if token and merge(ranks, token) != [token]}
