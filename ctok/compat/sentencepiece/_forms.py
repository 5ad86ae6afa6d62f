"""The forms in which results can be asked for, and results in these forms."""

from __future__ import annotations

from ._errors import ArgumentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ._texts import SentencePieceText

__all__ = ["FORMS", "character_places", "form_of", "numpy_of", "offset_mapping", "unknown_form"]

SIZES = (1,) * 12 + (2, 2, 3, 4)  # of a character, by the upper half of its first byte
FORMS: tuple[Any, ...] = (int, str, bytes, "proto", "serialized_proto", "numpy", "offset_mapping")


def form_of(return_type: Any, out_type: Any, default: Any) -> Any:
    """Return the one of `FORMS` that two arguments for the same thing ask for."""
    if out_type is not None and return_type is not None:
        raise ArgumentError("Cannot specify both out_type and return_type: they are one option; use return_type")
    form = return_type if out_type is None else out_type
    form = default if form is None else form
    if isinstance(form, str) and form == "immutable_proto":
        raise ArgumentError("immutable_proto is deprecated and no longer supported; return_type='proto' is immutable here")
    if form not in FORMS:
        raise ArgumentError(f"Invalid return_type: {form}. Must be one of {FORMS}")
    return form


def unknown_form(form: Any, more: str = "") -> ArgumentError:
    """The error for a form that a method does not have."""
    return ArgumentError(f"unknown return_type={form}{more}")


def numpy_of(ids: Iterable[int]) -> Any:
    """Return ids as a read-only array of int32."""
    from array import array

    import numpy

    return numpy.frombuffer(array("i", ids).tobytes(), dtype=numpy.int32)


def offset_mapping(text: SentencePieceText, as_bytes: bool, with_text: bool) -> dict[str, Any]:
    """Return ids, pieces and places as a dict: in characters, or in bytes."""
    found: dict[str, Any] = {}
    if with_text:
        found["text"] = text.raw_text if as_bytes else text.raw_text.decode()
    found["ids"] = [piece.id for piece in text.pieces]
    if as_bytes:
        found["pieces"] = [piece.raw_piece for piece in text.pieces]
        found["offsets"] = [(piece.begin, piece.end) for piece in text.pieces]
        return found
    found["pieces"] = [piece.raw_piece.decode() for piece in text.pieces]
    places = character_places(text.raw_text)
    if any(piece.end >= len(places) or piece.begin >= len(places) for piece in text.pieces):
        raise ArgumentError("Invalid piece offsets in SentencePieceText: a denormalizer has changed the text")
    found["offsets"] = [(places[piece.begin], places[piece.end]) for piece in text.pieces]
    return found


def character_places(text: bytes) -> list[int]:
    """For each byte of a text, and for its end, the number of its character. Ill-formed bytes count as their first bits say."""
    places: list[int] = []
    number = 0
    while len(places) < len(text):
        places += [number] * min(SIZES[text[len(places)] >> 4], len(text) - len(places))
        number += 1
    places.append(number)
    return places
