"""Other ids than those of `encode`: the best few, and what is drawn at random."""

from __future__ import annotations

from functools import cache

from ._encodings import Encodings
from ._numbers import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    from typing_extensions import Self

    from .._native.pipeline import Text

    Path = tuple[list[int], float]

__all__ = ["Paths"]

_MOST = 2**31 - 1  # ways, which are more than memory holds


class Paths(Encodings):
    """The part of `Tokenizer` that knows more than one way to cut a text into tokens."""

    __slots__ = ()

    def nbest(
        self,
        text: Text,
        k: int,
        *,
        allowed_special: Collection[str] = (),
        disallowed_special: Collection[str] = (),
        add_special_tokens: bool = True,
        errors: str = "strict",
    ) -> list[Path]:
        """Return the `k` best ways to cut a text into tokens, or all there are, as (ids, score), best first.

        Parameters
        ----------
        text
            A str, or bytes holding UTF-8.
        k
            How many; at least 0.
        allowed_special, disallowed_special, add_special_tokens, errors
            As in `encode`. What is added has no score.

        Raises
        ------
        SpecError
            The model knows one way only; Unigram models know more.
        ValueError
            `k` is negative.
        EncodeError, DisallowedSpecialTokenError, UnknownSpecialTokenError
            As `encode`.

        Notes
        -----
        The first is what `encode` gives; of SentencePiece models with equal scores it may be another, as in the reference. A score is the
        sum of those of the tokens, a log-probability. Different ways may have the same ids, where unknown characters join.
        Time and memory grow with the length of a pretoken times `k`.
        """
        k = min(whole_number(k, "k", 0), _MOST)
        best, parts = _align().stretches(self, "nbest", text, allowed_special, disallowed_special, errors)
        nothing: Path = ([], 0.0)
        found = [nothing][:k]
        for i, part in enumerate(parts):
            own: list[Path] = [([part], 0.0)] if isinstance(part, int) else best(part, k)
            found = _joined(found, own, k) if i else own[:k]
        if not add_special_tokens or not self.has_template:
            return found
        before, behind = self._around()
        return [(before + ids + behind, score) for ids, score in found]

    def sample(
        self,
        text: Text,
        alpha: float = 0.1,
        nbest_size: int | None = None,
        seed: int | None = None,
        *,
        allowed_special: Collection[str] = (),
        disallowed_special: Collection[str] = (),
        add_special_tokens: bool = True,
        errors: str = "strict",
    ) -> list[int]:
        """Return the ids of one way to cut a text into tokens, drawn at random.

        Parameters
        ----------
        text
            A str, or bytes holding UTF-8.
        alpha
            Of Unigram models smoothing: near 0 all ways are alike, large values prefer the best. Of byte-pair models the probability of
            leaving out a merge.
        nbest_size
            Of Unigram models: draw from this many best ways of each pretoken; None: from all.
        seed
            An int: the same seed draws the same ids, in this version of ctok. None: unpredictable.
        allowed_special, disallowed_special, add_special_tokens, errors
            As in `encode`.

        Raises
        ------
        SpecError
            The model knows one way only.
        ValueError
            `alpha` is out of range, or `nbest_size` is negative.
        EncodeError, DisallowedSpecialTokenError, UnknownSpecialTokenError
            As `encode`.
        """
        if nbest_size is not None:
            nbest_size = min(whole_number(nbest_size, "nbest_size", 0, "; None draws from all ways"), _MOST)
        ids: list[int] = _align().sample(self, text, alpha, nbest_size, seed, allowed_special, disallowed_special, errors)
        if not add_special_tokens or not self.has_template:
            return ids
        before, behind = self._around()
        return before + ids + behind

    def sample_distinct(
        self,
        text: Text,
        k: int,
        alpha: float = 0.1,
        include_best: bool = False,
        seed: int | None = None,
        *,
        allowed_special: Collection[str] = (),
        disallowed_special: Collection[str] = (),
        add_special_tokens: bool = True,
        errors: str = "strict",
    ) -> list[Path]:
        """Return `k` different ways to cut a text into tokens, drawn without replacement, or all if there are fewer, as (ids, score).

        Parameters
        ----------
        text, alpha, seed, allowed_special, disallowed_special, add_special_tokens, errors
            As in `sample`.
        k
            How many.
        include_best
            Whether the best way is always among them, as the first.

        Raises
        ------
        SpecError
            The model cannot; Unigram models can.
        ValueError, EncodeError, DisallowedSpecialTokenError, UnknownSpecialTokenError
            As `sample`.

        Notes
        -----
        A score is the logarithm of the probability to be drawn; dividing by that makes sums over the ways unbiased. Each way is one of the
        whole text, whose pretokens are drawn together.
        """
        k = min(whole_number(k, "k", 0), _MOST)
        draw, parts = _align().stretches(self, "sample_distinct", text, allowed_special, disallowed_special, errors)
        found: list[Path] = draw(parts, k, alpha, include_best, seed)
        if not add_special_tokens or not self.has_template:
            return found
        before, behind = self._around()
        return [(before + ids + behind, score) for ids, score in found]

    def entropy(
        self,
        text: Text,
        alpha: float = 1.0,
        *,
        allowed_special: Collection[str] = (),
        disallowed_special: Collection[str] = (),
        errors: str = "strict",
    ) -> float:
        """Return the entropy, in nats, of what `sample` with this `alpha` draws from all ways to cut a text into tokens.

        Raises
        ------
        SpecError
            The model cannot tell; Unigram models can.
        """
        entropy, parts = _align().stretches(self, "entropy", text, allowed_special, disallowed_special, errors)
        return float(sum(entropy(part, alpha) for part in parts if not isinstance(part, int)))

    def restricted(self, pieces: Iterable[str | bytes]) -> Self:
        """Return a tokenizer of the same SentencePiece model that gives no other pieces than these.

        Parameters
        ----------
        pieces
            Texts of pieces, a blank as U+2581. Pieces of one character are always used, and so are those that the user defined. What is
            none of the model's has no effect.

        Raises
        ------
        SpecError
            This is not a SentencePiece model.

        Notes
        -----
        Ids are what they were: pieces that are left out count as unused ones, and those that the model calls unused can be given again. For
        models that were trained on the text of several languages together, and used with the vocabulary of one.
        """
        from ..stages.sentencepiece import restricted

        spec = self.spec.replace(model=restricted(self.spec.model, pieces))
        return type(self).from_spec(spec)  # type: ignore[attr-defined,no-any-return]  # of Tokenizer

    def _around(self) -> tuple[list[int], list[int]]:
        """The ids of the template."""
        from ..stages.postprocessors import build_post_processor

        before, behind = build_post_processor(self.spec.post_processor).around()
        return list(before), list(behind)


@cache
def _align() -> Any:
    """The module that takes texts apart; most tokenizers never need it."""
    from .._native import align

    return align


def _joined(first: list[Path], second: list[Path], k: int) -> list[Path]:
    """The k best of all ways that begin with one of `first` and go on with one of `second`; both come best first."""
    from heapq import heappop, heappush

    found: list[Path] = []
    heap = [(-(first[0][1] + second[0][1]), 0, 0)] if first and second else []
    while heap and len(found) < k:
        _, i, j = heappop(heap)
        found.append((first[i][0] + second[j][0], first[i][1] + second[j][1]))
        if j + 1 < len(second):
            heappush(heap, (-(first[i][1] + second[j + 1][1]), i, j + 1))
        if j == 0 and i + 1 < len(first):
            heappush(heap, (-(first[i + 1][1] + second[0][1]), i + 1, 0))
    return found
