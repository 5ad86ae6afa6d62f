"""A text and its pieces: what the reference gives as protocol buffers, as plain immutable objects that write the same bytes."""

from __future__ import annotations

from struct import pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = ["NBestSentencePieceText", "SentencePiece", "SentencePieceText"]


def _number(value: int) -> bytes:
    """A varint."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _block(tag: int, data: bytes) -> bytes:
    return bytes((tag,)) + _number(len(data)) + data


class _Message:
    """Compares by its bytes. Attributes cannot be set."""

    __slots__ = ("_data",)

    _data: bytes

    def _keep(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} is immutable; cannot set {name!r}")

    def SerializeToString(self) -> bytes:
        """Return the message as a protocol buffer."""
        return self._data

    def SerializeAsString(self) -> bytes:
        """Return the message as a protocol buffer."""
        return self._data

    def __eq__(self, other: object) -> bool:
        return self._data == other._data if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._data)


class SentencePiece(_Message):
    """A piece in a text.

    Attributes
    ----------
    piece
        Its text, a blank as U+2581.
    id
        Its id.
    surface
        What it stands for in the text.
    begin, end
        Where that is, in bytes.
    """

    __slots__ = ("begin", "end", "id", "raw_piece", "raw_surface")

    raw_piece: bytes
    raw_surface: bytes | None
    id: int
    begin: int
    end: int

    def __init__(self, piece: bytes, id: int, surface: bytes | None, begin: int, end: int) -> None:
        places = b"\x20" + _number(begin) + b"\x28" + _number(end)
        data = _block(0x0A, piece) + b"\x10" + _number(id) + (b"" if surface is None else _block(0x1A, surface)) + places
        self._keep(raw_piece=piece, id=id, raw_surface=surface, begin=begin, end=end, _data=data)

    @property
    def piece(self) -> str:
        """Text of the piece."""
        return self.raw_piece.decode("utf-8", "replace")

    @property
    def surface(self) -> str:
        """What it stands for in the text."""
        return (self.raw_surface or b"").decode("utf-8", "replace")

    def __repr__(self) -> str:
        return f"SentencePiece(piece={self.piece!r}, id={self.id}, surface={self.surface!r}, begin={self.begin}, end={self.end})"


class SentencePieceText(_Message):
    """A text and its pieces.

    Attributes
    ----------
    text
        The text.
    pieces
        Tuple of `SentencePiece`.
    score
        Of n-best results; else 0.0.
    """

    __slots__ = ("pieces", "raw_text", "score")

    raw_text: bytes
    pieces: tuple[SentencePiece, ...]
    score: float

    def __init__(self, text: bytes, pieces: Iterable[SentencePiece], score: float | None = None) -> None:
        kept = tuple(pieces)
        data = _block(0x0A, text) + b"".join([_block(0x12, piece._data) for piece in kept])
        if score is not None:
            data += b"\x1d" + pack("<f", score)
        self._keep(raw_text=text, pieces=kept, score=score or 0.0, _data=data)

    @property
    def text(self) -> str:
        """The text."""
        return self.raw_text.decode("utf-8", "replace")

    def __repr__(self) -> str:
        return f"SentencePieceText(text={self.text!r}, pieces={list(self.pieces)!r}, score={self.score!r})"


class NBestSentencePieceText(_Message):
    """Several ways to cut a text into pieces, best first.

    Attributes
    ----------
    nbests
        Tuple of `SentencePieceText`.
    """

    __slots__ = ("nbests",)

    nbests: tuple[SentencePieceText, ...]

    def __init__(self, nbests: Iterable[SentencePieceText]) -> None:
        kept = tuple(nbests)
        self._keep(nbests=kept, _data=b"".join([_block(0x0A, text._data) for text in kept]))

    def __repr__(self) -> str:
        return f"NBestSentencePieceText(nbests={list(self.nbests)!r})"
