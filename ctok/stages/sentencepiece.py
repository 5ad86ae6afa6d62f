"""From a SentencePiece model to what runs it."""

from __future__ import annotations

from .._native.chains import Chain, Decoding, PieceTexts
from .._native.normalize import Normalizer
from ..errors import SpecError
from ..stagespecs import sentencepiece as records
from ..stagespecs.sentencepiece import Decoder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .._native.vocab import Vocab
    from ..spec import Record

__all__ = ["Decoder", "build_piece_decoder", "build_piece_normalizer", "normalizer_step", "restricted", "special_pieces"]

SPACE = "\u2581".encode()
_IS_SPECIAL = bytes(kind in (records.CONTROL, records.UNKNOWN) for kind in range(256))


def special_pieces(model: records.Pieces) -> tuple[tuple[str, int], ...]:
    """Return the control pieces and the unknown one, with their ids: special tokens that no text gives."""
    from .._native.spmfile import PieceWriter

    table, types = model.tokens, bytes(model.types)
    try:
        pieces = PieceWriter(table.data, table.ends, table.ids, model.scores, types)
    except ValueError as error:
        raise SpecError(str(error)) from None
    special = types.translate(_IS_SPECIAL)
    found = []
    at = special.find(1)
    while at >= 0:
        found.append((pieces.text(at).decode("utf-8", "replace"), at))
        at = special.find(1, at + 1)
    return tuple(found)


def restricted(model: Record, pieces: Iterable[str | bytes]) -> records.Pieces:
    """Return a model in which pieces of several characters that are not among `pieces` are unused."""
    if not isinstance(model, records.Pieces):
        raise SpecError(f"only SentencePiece models can be restricted, not {type(model).__name__}")
    wanted = {piece.encode() if isinstance(piece, str) else bytes(piece) for piece in pieces}
    types = bytearray(model.types)
    for text, number in model.tokens:
        if types[number] in (records.NORMAL, records.UNUSED):
            is_used = text in wanted or len(text.decode("utf-8", "replace")) == 1
            types[number] = records.NORMAL if is_used else records.UNUSED
    return model.replace(types=bytes(types))


def build_piece_normalizer(record: records.Normalizer) -> Normalizer:
    """Return the normalizer of a SentencePiece model.

    Raises
    ------
    SpecError
        Its table is malformed.
    """
    try:
        return Normalizer((normalizer_step(record),))
    except ValueError as error:
        raise SpecError(f"normalizer {type(record).__name__}: {error}") from None


def normalizer_step(record: Record) -> tuple[Any, ...]:
    """Return the step of a chain that such a normalizer is.

    Raises
    ------
    SpecError
        The record is no normalizer.
    """
    if not isinstance(record, records.Normalizer):
        raise SpecError(f"not a normalizer: {record!r}")
    flags = (
        record.add_dummy_prefix,
        record.remove_extra_whitespaces,
        record.escape_whitespaces,
        record.treat_whitespace_as_suffix,
    )
    return "sentencepiece", record.charsmap, flags, record.user_defined


def build_piece_decoder(record: Decoder, pieces: records.Pieces, vocab: Vocab) -> Decoding:
    """Return what decodes the ids of a SentencePiece model.

    Parameters
    ----------
    record
        The model's decoder.
    pieces
        The model.
    vocab
        The `Vocab` of its pieces, in UTF-8; control pieces and the unknown one are its special tokens.

    Raises
    ------
    SpecError
        The denormalizer cannot be run.

    Notes
    -----
    A denormalizer works on the whole text: with one, decoders release nothing before the end.
    """
    types = bytes(pieces.types)
    ops: list[tuple[str, object, bytes, int, int, bool]] = []
    if record.add_dummy_prefix or record.remove_extra_whitespaces:
        ops.append(("strip", SPACE, b"", 1, 0, True))
    ops.append(("replace", SPACE, b" ", 0, 0, False))
    if records.BYTE in types:
        ops.append(("bytes", b"", b"", 0, 0, False))
    if record.denormalizer is not None:
        ops += [("fuse", b"", b"", 0, 0, False), ("regex", _Denormalizer(record.denormalizer), b"", 0, 0, False)]
    texts = PieceTexts(types, record.unk_surface.encode(), record.remove_extra_whitespaces)
    return Decoding(vocab, Chain(ops), pieces=texts)  # type: ignore[arg-type]  # a callable is not bytes


class _Denormalizer:
    """Rewrites a whole text in UTF-8."""

    __slots__ = ("normalize", "record")

    def __init__(self, record: records.Normalizer) -> None:
        self.record = record
        self.normalize = build_piece_normalizer(record).normalize

    def __repr__(self) -> str:  # part of the fingerprint of a saved state
        return f"_Denormalizer({self.record!r})"

    def __call__(self, raw: bytes) -> bytes:
        return self.normalize(raw.decode("utf-8", "replace")).encode()
