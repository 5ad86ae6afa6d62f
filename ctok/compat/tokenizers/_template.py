"""The templates of `processors.TemplateProcessing`, as they are written."""

from __future__ import annotations

from ...stagespecs.postprocessors import SequencePiece, SpecialPiece, TemplateToken
from ._checks import one_id, sequence, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Piece = SequencePiece | SpecialPiece

__all__ = ["pieces", "shown", "special_tokens"]

_SEQUENCES = {"": "A", "a": "A", "A": "A", "b": "B", "B": "B"}


def pieces(template: object) -> tuple[Piece, ...]:
    """Return the pieces of a template: a str with blanks between them, or a sequence of str."""
    if isinstance(template, str):
        return tuple([_piece(part) for part in template.split(" ")])
    if not isinstance(template, (list, tuple)) or not all(isinstance(part, str) for part in template):
        raise TypeError("Expected Union[str, List[str]]")
    return tuple(map(_piece, template))


def _piece(written: str) -> Piece:
    name, colon, kind = written.partition(":")
    wrong = f'Cannot build Piece from string "{written}"'
    if colon and not (kind.isascii() and kind.isdecimal() and int(kind) < 2**32):
        raise ValueError(wrong)
    type_id = int(kind) if colon else 0
    if not name.startswith("$"):
        return SpecialPiece(name, type_id)
    if name[1:] in _SEQUENCES:
        return SequencePiece(_SEQUENCES[name[1:]], type_id)
    if not (name[1:].isascii() and name[1:].isdecimal() and int(name[1:]) < 2**32):
        raise ValueError(wrong)
    return SequencePiece("A", type_id if colon else int(name[1:]))  # $1: the first text with this type id


def special_tokens(tokens: object) -> tuple[TemplateToken, ...]:
    """Return what the names of a template stand for, sorted by name; the last of two with one name counts."""
    found = [_token(token) for token in sequence(tokens)]
    return tuple(sorted({token.id: token for token in found}.values(), key=lambda token: token.id))


def _token(token: Any) -> TemplateToken:
    if isinstance(token, tuple) and len(token) == 2:
        first, second = token
        if isinstance(first, str) and not isinstance(second, str):
            return TemplateToken(first, [one_id(second)], [first])
        if isinstance(second, str) and not isinstance(first, str):
            return TemplateToken(second, [one_id(first)], [second])
    if not isinstance(token, dict):
        raise TypeError("Expected Union[Tuple[str, int], Tuple[int, str], dict]")
    for key in ("id", "ids", "tokens"):
        if key not in token:
            raise ValueError(f"`{key}` must be specified")
    return TemplateToken(text(token["id"]), list(map(one_id, token["ids"])), list(map(text, token["tokens"])))


def shown(template: tuple[Piece, ...]) -> str:
    """Return what the reference shows for a template."""
    parts = []
    for piece in template:
        kind, name = ("Sequence", piece.id) if isinstance(piece, SequencePiece) else ("SpecialToken", f'"{piece.id}"')
        parts.append(f"{kind} {{ id: {name}, type_id: {piece.type_id} }}")
    return f"Template([{', '.join(parts)}])"
