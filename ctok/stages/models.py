"""From a model's record to what encodes pretokens."""

from __future__ import annotations

from ..errors import SpecError
from ..spec import BPE, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._native.model import Model
    from ..stagespecs.models import Unigram, WordLevel, WordPiece
    from ..stagespecs.sentencepiece import Pieces

    Declared = tuple[str, int] | tuple[str, int, bool]
    Builder = Callable[[Any, bool, tuple[Declared, ...]], Model]

__all__ = ["build_model"]


def build_model(record: Record, byte_level: bool = False, added: tuple[Declared, ...] = ()) -> Model:
    """Return the model of a record other than `BPE` by rank, which the engine runs itself.

    Parameters
    ----------
    record
        A record of `ctok.stagespecs.models`.
    byte_level
        The file spells bytes in the alphabet of visible characters: `BPE` takes pretokens as the bytes themselves.
    added
        The tokenizer's added tokens, as `Vocab` takes special tokens: the vocabulary of a `MergeList` holds them, too, and so can be that
        of the tokenizer.

    Raises
    ------
    SpecError
        The record says what cannot be run.
    """
    builder = _BUILDERS.get(type(record).__name__)
    if builder is None:
        raise SpecError(f"a model of type {type(record).__name__} cannot be run")
    return builder(record, byte_level, added)


def _bpe(record: BPE, byte_level: bool, added: tuple[Declared, ...]) -> Model:
    from .._native.mergemodel import MergeList

    if record.mode != "merges" or record.merges is None:
        raise SpecError(f"a BPE model of mode {record.mode!r} cannot be run here")
    return MergeList(
        record.tokens,
        record.merges,
        unk_token=record.unk_token,
        continuing_subword_prefix=record.continuing_subword_prefix,
        end_of_word_suffix=record.end_of_word_suffix,
        fuse_unk=record.fuse_unk,
        byte_fallback=record.byte_fallback,
        ignore_merges=record.ignore_merges,
        dropout=record.dropout,
        byte_level=byte_level,
        added=added,
        joined=record.joined,
        by_bytes=record.by_bytes,
        used=record.used,
    )


def _wordpiece(record: WordPiece) -> Model:
    from .._native.wordpiece import WordPiece

    return WordPiece(record.tokens, record.unk_token, record.max_input_chars_per_word, record.continuing_subword_prefix)


def _wordlevel(record: WordLevel) -> Model:
    from .._native.wordlevel import WordLevel

    return WordLevel(record.tokens, record.unk_token)


def _unigram(record: Unigram) -> Model:
    from .._native.unigram import Unigram

    return Unigram(record.tokens, record.scores, record.unk_id, record.byte_fallback)


def _of_texts(build: Callable[[Any], Model]) -> Builder:
    """These models read the text they are given; of a file that spells bytes they are given the spelling."""

    def builder(record: Any, byte_level: bool, added: tuple[Declared, ...]) -> Model:
        if not byte_level:
            return build(record)
        from .._native.visible import Visible

        return Visible(build(record))

    return builder


def _pieces(record: Pieces, byte_level: bool, added: tuple[Declared, ...]) -> Model:
    if record.kind == "unigram":
        from .._native.spmunigram import SpmUnigram

        return SpmUnigram(record.tokens, record.scores, record.types, record.unk_id, record.byte_fallback)
    if record.kind == "word":
        from .._native.piecewords import PieceWords

        return PieceWords(record.tokens, record.types, record.unk_id, record.byte_fallback)
    from .._native.piecebpe import PieceBPE

    model = PieceBPE(record.tokens, record.scores, record.types, record.unk_id, record.byte_fallback, record.kind == "bpe")
    if model.plain:
        return model
    from .._native.resegment import Resegment

    return Resegment(model)


_BUILDERS: dict[str, Builder] = {
    "BPE": _bpe,
    "Pieces": _pieces,
    "Unigram": _of_texts(_unigram),
    "WordLevel": _of_texts(_wordlevel),
    "WordPiece": _of_texts(_wordpiece),
}
