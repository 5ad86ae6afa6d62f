"""Why a word becomes the tokens that it becomes: what was merged from what, or which pieces were likelier."""

from __future__ import annotations

from ..stagespecs.models import Unigram
from ..stagespecs.sentencepiece import Pieces
from ._view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..spec import Spec

__all__ = ["Node", "explain", "merge_trees"]


class Node:
    """A token, and what it was merged from.

    Attributes
    ----------
    id, text
        The token; its text as people read it.
    parts
        The two tokens that were merged into it, as nodes; empty for a token that no merge gives.
    """

    __slots__ = ("id", "parts", "text")

    def __init__(self, id: int, text: str, parts: tuple[Node, ...]) -> None:
        self.id, self.text, self.parts = id, text, parts

    def __repr__(self) -> str:
        return f"<Node: {self.text!r}, {self.id}>"

    def lines(self, indent: str = "") -> Iterator[str]:
        """Yield the tree as lines of text."""
        yield f"{self.text!r} {self.id}"
        for at, part in enumerate(self.parts):
            last = at == len(self.parts) - 1
            for n, line in enumerate(part.lines()):
                lead = ("└─ " if last else "├─ ") if n == 0 else ("   " if last else "│  ")
                yield indent + lead + line


def merge_trees(spec: Spec, word: str) -> list[Node]:
    """Return a tree for each token of a word, which is taken as a text: it may be several pretokens.

    Parameters
    ----------
    spec
        Any specification; where tokens are not merged from others, each tree is one token.
    word
        Any text.

    Raises
    ------
    EncodeError
        The vocabulary cannot say it.
    """
    return _trees(View(spec), word)


def _trees(view: View, word: str) -> list[Node]:
    return [_node(view, number) for pretoken in _pretokens(view, word) for number in view.encode(pretoken)]


def _node(view: View, number: int) -> Node:
    parts = tuple(_node(view, part) for part in view.parents.get(number, ()))
    return Node(number, view.shown(number), parts)


def _pretokens(view: View, text: str) -> list[bytes]:
    counts = view.count([text], num_threads=1, order=True)
    firsts = memoryview(counts.firsts or b"").cast("Q")
    return [word for _, (word, _) in sorted(zip(firsts, counts, strict=True))]


def explain(spec: Spec, word: str) -> str:
    """Return in lines of text why a word becomes its tokens.

    For byte-pair models: the tree of merges of each token. For unigram models: its pieces with their scores, and the next best way to spell
    it. For all others: the tokens. A pretoken that occurs several times in `word` is told of once.

    Parameters
    ----------
    spec
        Any specification.
    word
        Any text.

    Raises
    ------
    EncodeError
        The vocabulary cannot say it.
    """
    view = View(spec)
    if isinstance(view.model, Unigram) or (isinstance(view.model, Pieces) and view.model.kind == "unigram"):
        return "\n".join(line for pretoken in _pretokens(view, word) for line in _ways(view, pretoken))
    return "\n".join(line for tree in _trees(view, word) for line in tree.lines())


def _ways(view: View, pretoken: bytes) -> Iterator[str]:
    """The best way through a word, and the best of those that leave out one of its pieces."""
    scores = view.scores()
    best = view.encode(pretoken)
    yield f"{pretoken.decode()!r}: {_sum(best, scores)}"
    for number in best:
        yield f"   {view.shown(number)!r} {number}: {scores[number]:.4f}"
    text = pretoken.decode()
    others = [way for number in best if len(view.texts[number].decode()) > 1 and (way := _without(view, text, number, scores))]
    if others:
        way = max(others, key=lambda ids: (sum(scores[number] for number in ids), ids))
        yield f"   next best: {' '.join(repr(view.shown(number)) for number in way)}: {_sum(way, scores)}"


def _sum(ids: list[int], scores: list[float]) -> str:
    return f"{sum(scores[number] for number in ids):.4f}"


def _without(view: View, text: str, but: int, scores: list[float]) -> list[int]:
    """The best way to spell a text without one piece; empty if there is none."""
    best: list[tuple[float, list[int]] | None] = [(0.0, [])]
    for end in range(1, len(text) + 1):
        ways = []
        for start in range(end):
            before, number = best[start], view.ids.get(text[start:end].encode())
            if before is not None and number is not None and number != but:
                ways.append((before[0] + scores[number], [*before[1], number]))
        best.append(max(ways, default=None))
    return best[-1][1] if best[-1] is not None else []
