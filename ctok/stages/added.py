"""From an added token of a specification to what the general line searches for."""

from __future__ import annotations

from .._native.added import LSTRIP, RSTRIP, SINGLE_WORD, SPECIAL
from ..errors import SpecError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..spec import AddedToken

__all__ = ["normal_form", "sought"]


def sought(token: AddedToken, normalize: Callable[[str], str] | None = None) -> tuple[str, int, int, str | None]:
    """Return ``(content, id, flags, text)`` of an added token, as `Flow` takes them.

    Parameters
    ----------
    token
        The added token.
    normalize
        What the tokenizer's normalizer makes of a whole text. None: there is no normalizer.

    Returns
    -------
    tuple
        `text` is what is searched for in the normalised text; None for a token that is searched for in the text as it comes.

    Raises
    ------
    SpecError
        Nothing is left of the token once it is normalised.
    """
    flags = token.single_word * SINGLE_WORD + token.lstrip * LSTRIP + token.rstrip * RSTRIP + token.special * SPECIAL
    if not token.normalized:
        return token.content, token.id, flags, None
    return token.content, token.id, flags, normal_form(token.content, normalize)


def normal_form(content: str, normalize: Callable[[str], str] | None) -> str:
    """Return what the normalizer, if there is one, makes of an added token; raises `SpecError` if that is nothing."""
    text = content if normalize is None else normalize(content)
    if not text:
        raise SpecError(f"added token {content!r} is an empty text once it is normalised; it would match everywhere")
    return text
