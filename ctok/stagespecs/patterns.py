"""What a stage looks for in a text: a plain string, or a regular expression."""

from __future__ import annotations

from ..spec import Record
from . import _fields

__all__ = ["Regex", "String"]


class String(Record):
    """A text that is looked for as it is."""

    __slots__ = ("text",)
    text: str

    def __init__(self, text: str) -> None:
        self._set(text=_fields.text(self, "text", text))


class Regex(Record):
    """A regular expression, in the syntax of Oniguruma."""

    __slots__ = ("text",)
    text: str

    def __init__(self, text: str) -> None:
        self._set(text=_fields.text(self, "text", text))
