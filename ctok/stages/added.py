"""Added tokens of a specification to what the pipeline searches with."""

from __future__ import annotations

from .._native.added import LSTRIP, RSTRIP, SINGLE_WORD, SPECIAL, AddedTokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..spec import AddedToken

__all__ = ["build_added"]


def build_added(
    tokens: Iterable[AddedToken], normalize: Callable[[str], str] | None = None
) -> tuple[AddedTokens | None, AddedTokens | None]:
    """Return two automata: for the text as it comes, and for the normalised text between the tokens that the first one finds.

    Parameters
    ----------
    tokens
        The added tokens in declaration order.
    normalize
        What the tokenizer's normalizer makes of a whole text. None: there is no normalizer.

    Returns
    -------
    tuple
        ``(raw, normalized)``; None where there is no token to look for. Of two tokens that normalise to the same text the first declared
        counts.

    Raises
    ------
    SpecError
        Nothing is left of a token once it is normalised.
    """
    raw: list[tuple[str, int, int]] = []
    normalized: list[tuple[str, int, int, str]] = []
    for token in tokens:
        flags = token.single_word * SINGLE_WORD + token.lstrip * LSTRIP + token.rstrip * RSTRIP + token.special * SPECIAL
        if token.normalized:
            pattern = token.content if normalize is None else normalize(token.content)
            normalized.append((token.content, token.id, flags, pattern))
        else:
            raw.append((token.content, token.id, flags))
    return AddedTokens(raw) if raw else None, AddedTokens(normalized) if normalized else None
