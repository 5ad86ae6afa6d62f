"""Byte pair encoding of one piece, or of a run of one character, in plain Python: what a proof needs to look at."""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

__all__ = ["last_merge", "merges_of_runs", "runs_by_list", "runs_by_score"]


def last_merge(text: str, ranks: Mapping[str, float]) -> tuple[str, str] | None:
    """Return the parts of a piece before its last merge, or None: it is not made. Neighbours join by the lowest rank of what they give."""
    parts = list(text)
    while len(parts) > 2:
        best = min(((ranks[pair], i) for i, pair in enumerate(map("".join, pairwise(parts))) if pair in ranks), default=None)
        if best is None:
            return None
        at = best[1]
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return (parts[0], parts[1]) if len(parts) == 2 else None


def runs_by_score(n: int, known: Collection[int]) -> list[int]:
    """Return the lengths into which a run of n equal characters is cut; always the leftmost two join that are a known run together."""
    parts = [1] * n
    while True:
        at = next((i for i in range(len(parts) - 1) if parts[i] + parts[i + 1] in known), None)
        if at is None:
            return parts
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


def runs_by_list(n: int, merges: Mapping[tuple[int, int], int]) -> list[int]:
    """Return the same where always the leftmost pair joins that stands earliest in a list, given as pair -> place."""
    parts = [1] * n
    while True:
        pairs = [(merges[pair], i) for i, pair in enumerate(pairwise(parts)) if pair in merges]
        if not pairs:
            return parts
        at = min(pairs)[1]
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


def merges_of_runs(known: Collection[int]) -> list[tuple[int, int]] | None:
    """Return a list of merges that cuts runs of one character as leftmost joining does, or None.

    Notes
    -----
    Joining the leftmost two, again and again, lets the first part grow as far as it can; so does a list in which longer left parts stand
    first. Compared are all lengths up to four times the longest run: of a longer one the first part becomes as long as it does there, by
    the same steps, and what is behind it is a shorter run.
    """
    lengths = sorted({1, *known})
    merges = [(left, right) for left in reversed(lengths) for right in reversed(lengths) if left + right in known]
    places = {pair: place for place, pair in enumerate(merges)}
    same = all(runs_by_list(n, places) == runs_by_score(n, known) for n in range(4 * lengths[-1] + 1))
    return merges if same else None
