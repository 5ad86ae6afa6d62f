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
    """Compares by its bytes, which are written when they are asked for. Attributes cannot be set."""

    __slots__ = ()

    def _written(self) -> bytes:
        raise NotImplementedError

    def _keep(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} is immutable; cannot set {name!r}")

    def SerializeToString(self) -> bytes:
        """Return the message as a protocol buffer."""
        return self._written()

    def SerializeAsString(self) -> bytes:
        """Return the message as a protocol buffer."""
        return self._written()

    def __eq__(self, other: object) -> bool:
        return self._written() == other._written() if isinstance(other, _Message) and type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._written())


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
        self._keep(raw_piece=piece, id=id, raw_surface=surface, begin=begin, end=end)

    def _written(self) -> bytes:
        places = b"\x20" + _number(self.begin) + b"\x28" + _number(self.end)
        surface = b"" if self.raw_surface is None else _block(0x1A, self.raw_surface)
        return _block(0x0A, self.raw_piece) + b"\x10" + _number(self.id) + surface + places

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
    """

    __slots__ = ("_score", "pieces", "raw_text")

    raw_text: bytes
    pieces: tuple[SentencePiece, ...]
    _score: float | None  # None: not said

    def __init__(self, text: bytes, pieces: Iterable[SentencePiece], score: float | None = None) -> None:
        self._keep(raw_text=text, pieces=tuple(pieces), _score=score)

    def _written(self) -> bytes:
        score = b"" if self._score is None else b"\x1d" + pack("<f", self._score)
        return _block(0x0A, self.raw_text) + b"".join([_block(0x12, piece._written()) for piece in self.pieces]) + score

    @property
    def score(self) -> float:
        """Of n-best results; else 0.0."""
        return self._score or 0.0

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
        self._keep(nbests=tuple(nbests))

    def _written(self) -> bytes:
        return b"".join([_block(0x0A, text._written()) for text in self.nbests])

    def __repr__(self) -> str:
        return f"NBestSentencePieceText(nbests={list(self.nbests)!r})"
