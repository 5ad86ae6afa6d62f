"""From a SentencePiece model to what runs it."""

from __future__ import annotations

from .._native.chains import Chain, Decoding, PieceTexts
from ..stagespecs import sentencepiece as records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._native.vocab import Vocab

__all__ = ["build_piece_decoder"]

SPACE = "\u2581".encode()


def build_piece_decoder(record: records.Decoder, pieces: records.Pieces, vocab: Vocab) -> Decoding:
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
        from .normalizers import build_normalizer

        built = build_normalizer(record)
        self.record = record
        self.normalize = str if built is None else built.normalize

    def __repr__(self) -> str:  # part of the fingerprint of a saved state
        return f"_Denormalizer({self.record!r})"

    def __call__(self, raw: bytes) -> bytes:
        return self.normalize(raw.decode("utf-8", "replace")).encode()
