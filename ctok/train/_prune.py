"""A smaller vocabulary from a larger one: the tokens that matter least go, the others keep their order."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from ..errors import TrainingError
from ..spec import Record
from ..stagespecs.models import Unigram
from ..stagespecs.sentencepiece import Pieces
from ._renumber import renumbered
from ._view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..spec import Spec

__all__ = ["Pruned", "prune"]


class Pruned(Record):
    """A vocabulary with fewer tokens.

    Attributes
    ----------
    spec
        The `Spec`. Its ids are 0, 1, 2, ...
    old_ids
        The old id of each new one, ascending: ``old_embeddings[list(pruned.old_ids)]`` are the rows of the new matrix.
    """

    __slots__ = ("spec", "old_ids")  # noqa: RUF023
    spec: Spec
    old_ids: tuple[int, ...]

    def __init__(self, spec: Spec, old_ids: Iterable[int]) -> None:
        self._set(spec=spec, old_ids=tuple(old_ids))


def prune(spec: Spec, corpus: Any = None, *, vocab_size: int | None = None, keep: Iterable[str] = (), **how: Any) -> Pruned:
    """Drop tokens.

    Parameters
    ----------
    spec
        A vocabulary of any model that ctok trains.
    corpus
        What `ctok.train.count_pretokens` takes. The tokens that its texts become most often stay. None: those with the highest scores
        (unigram), or the lowest ids.
    vocab_size
        How many stay, added tokens included. None: all that the corpus uses.
    keep
        Texts of tokens that stay in any case, as the vocabulary has them.
    **how
        num_threads, max_memory, errors, field, lines, progress: as for `count_pretokens`.

    Raises
    ------
    TrainingError
        `vocab_size` is below what must stay (`smallest` says how many): bytes, characters, special and unknown tokens, and what was kept.
    ValueError
        Neither a corpus nor a size is given, or a text of `keep` is no token.

    Notes
    -----
    In byte-pair models what a token was merged from stays as long as the token does: dropped are tokens from which no other is merged, the
    least used first, and its parts are then used so much more. So no merge is left that cannot be reached.
    """
    if corpus is None and vocab_size is None:
        raise ValueError("prune to a vocab_size, to a corpus, or both")
    view = View(spec)
    worth = _worth(view) if corpus is None else _used(view, corpus, how)
    fixed = view.fixed | {_id_of(view, text) for text in keep}
    every = view.texts.keys() | view.added
    smallest = len(_with_parts(fixed & view.texts.keys(), view.parents) | view.added)
    if vocab_size is not None and vocab_size < smallest:
        raise TrainingError(f"vocab_size {vocab_size} is below the {smallest} tokens that must stay", smallest=smallest)
    kept = _kept(every, fixed | view.added, view.parents, worth, vocab_size)
    order = sorted(kept)
    return Pruned(renumbered(view, {old: new for new, old in enumerate(order)}), order)


def _id_of(view: View, text: str) -> int:
    number = view.ids.get(text.encode())
    if number is None:
        raise ValueError(f"{text!r} is no token of this vocabulary")
    return number


def _worth(view: View) -> dict[int, float]:
    """Higher is better: scores, or the order of ids."""
    if isinstance(view.model, Unigram | Pieces) and not (isinstance(view.model, Pieces) and view.model.kind == "bpe"):
        return dict(enumerate(view.scores()))
    return {number: float(-number) for number in view.texts}


def _used(view: View, corpus: Any, how: dict[str, Any]) -> dict[int, float]:
    worth = dict.fromkeys(view.texts, 0.0)
    for ids, count in view.encoded(view.count(corpus, **how)):
        for number in ids:
            worth[number] = worth.get(number, 0) + count
    return worth


def _with_parts(ids: set[int], parents: dict[int, tuple[int, int]]) -> set[int]:
    """These, and all that they were merged from."""
    found, left = set(), list(ids)
    while left:
        number = left.pop()
        if number not in found:
            found.add(number)
            left += parents.get(number, ())
    return found


def _kept(
    every: set[int], fixed: set[int], parents: dict[int, tuple[int, int]], worth: dict[int, float], size: int | None
) -> set[int]:
    """Drop the token of least worth from which nothing is merged, the last of equal ones, until `size` are left, or all are used."""
    children = dict.fromkeys(every, 0)
    for pair in parents.values():
        for part in pair:
            children[part] += 1
    kept = set(every)
    leaves = [(worth.get(number, 0), -number) for number in kept if not children[number] and number not in fixed]
    heapify(leaves)
    while leaves and (size is None or len(kept) > size):
        value, negative = heappop(leaves)
        number = -negative
        if value != worth.get(number, 0) or number not in kept:
            continue
        if size is None and value > 0:
            break
        kept.remove(number)
        for part in parents.get(number, ()):
            children[part] -= 1
            if value > 0:
                worth[part] = worth.get(part, 0) + value
            if not children[part] and part not in fixed:
                heappush(leaves, (worth.get(part, 0), -part))
    return kept
