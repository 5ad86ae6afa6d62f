"""Models: what turns a pretoken into tokens."""

from __future__ import annotations

from ...errors import SpecError
from ...spec import BPE as BPERecord
from ...spec import TokenTable
from ...stages.models import build_model
from ...stagespecs import models as records
from . import _modelfiles as files
from ._checks import flag, instance, number, one_id, or_none, sequence, share, text, warn_ignored
from ._component import Cell, Component, field
from ._show import show_model
from ._tables import Texts
from ._tokens import Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typing_extensions import Self


__all__ = ["BPE", "Model", "Unigram", "WordLevel", "WordPiece"]

_EMPTY = TokenTable(b"", b"", b"")


class Model(Component):
    """Base of the models. Made directly it is an empty `BPE`."""

    __slots__ = ("_texts",)
    stage = "model"
    _texts: Texts | None

    def __new__(cls, *args: Any, **options: Any) -> Self:
        self = object.__new__(cls)
        self._texts = None
        return self

    def __init__(self) -> None:
        self._cell = Cell(BPERecord(_EMPTY, "merges", b""))

    @classmethod
    def of(cls, cell: Cell) -> Self:
        """Return the face of a cell."""
        self = super().of(cell)
        self._texts = None
        return self

    def __repr__(self) -> str:
        return show_model(self._cell.record)

    def __getstate__(self) -> bytes:
        """Return the JSON of the model."""
        return files.json_of(self._cell.record)

    def __setstate__(self, state: bytes) -> None:
        """Become what a JSON says."""
        self._cell = Cell(files.model_of_json(state))
        self._texts = None

    @property
    def _table(self) -> Texts:
        if self._texts is None or self._texts.table is not self._cell.record.tokens:
            self._texts = Texts(self._cell.record.tokens)
        return self._texts

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token, or None."""
        return self._table.find(text(token))

    def id_to_token(self, id: int) -> str | None:
        """Return the token of an id, or None."""
        return self._table.text(one_id(id))

    def tokenize(self, sequence: str) -> list[Token]:
        """Return the tokens of a pretoken, with their places in bytes of its UTF-8."""
        raw = text(sequence).encode()
        ids, ends = build_model(self._cell.record).encode_with_ends(raw)
        starts = [0, *ends[:-1]]
        return [Token(one, self.id_to_token(one) or "", place) for one, place in zip(ids, zip(starts, ends), strict=True)]

    def save(self, folder: str, prefix: str | None = None, name: str | None = None) -> list[str]:
        """Write the model's files to a folder, with a prefix and a hyphen before their names, and return their paths."""
        if name is not None:
            from warnings import warn

            warn("Parameter `name` of Model.save has been renamed `prefix`", DeprecationWarning, stacklevel=2)
            prefix = name if prefix is None else prefix
        return files.save(self._cell.record, text(folder), or_none(text)(prefix))


def _vocab(vocab: object) -> dict[str, int]:
    if not isinstance(vocab, dict):
        raise TypeError(f"a vocabulary must be a dict from token to id, or the path of a file, not {type(vocab).__name__}")
    try:
        return {text(token): one_id(number) for token, number in vocab.items()}
    except OverflowError as error:
        raise TypeError(str(error)) from None


def _made(kind: Any, what: str, *args: Any, **options: Any) -> Any:
    try:
        return kind(*args, **options)
    except ValueError as error:
        raise SpecError(f"Error while {what}: {error}") from None


def _dropout(value: float | None) -> float | None:
    found: float | None = or_none(share)(value)
    if found is not None and not 0 <= found <= 1:
        raise SpecError("Error while initializing BPE: Dropout should be between 0 and 1, inclusive")
    return found


class BPE(Model):
    """Byte pair encoding by a list of merges.

    Parameters
    ----------
    vocab, merges
        A dict from token to id and a list of pairs of tokens; or the paths of a vocab.json and a merges.txt; or neither.
    cache_capacity
        Taken, and of no effect.
    dropout, unk_token, continuing_subword_prefix, end_of_word_suffix, fuse_unk, byte_fallback, ignore_merges
        As in `ctok.BPE`.
    """

    __slots__ = ()

    def __init__(
        self,
        vocab: dict[str, int] | str | None = None,
        merges: Sequence[tuple[str, str]] | str | None = None,
        *,
        cache_capacity: int | None = None,
        dropout: float | None = None,
        unk_token: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        fuse_unk: Any = ...,  # a bool; None is refused
        byte_fallback: bool = False,
        ignore_merges: bool = False,
        **kwargs: Any,
    ) -> None:
        warn_ignored(kwargs)
        if (vocab is None) != (merges is None):
            raise ValueError("`vocab` and `merges` must be both specified")
        if isinstance(vocab, str) != isinstance(merges, str):
            raise ValueError("`vocab` and `merges` must be both be from memory or both filenames")
        if isinstance(vocab, str) and isinstance(merges, str):
            vocab, merges = files.read_bpe(vocab, merges, "initializing BPE")
        pairs = [] if merges is None else [_pair(pair) for pair in sequence(merges)]
        options = {
            "dropout": _dropout(dropout),
            "unk_token": or_none(text)(unk_token),
            "continuing_subword_prefix": or_none(text)(continuing_subword_prefix),
            "end_of_word_suffix": or_none(text)(end_of_word_suffix),
            "fuse_unk": False if fuse_unk is ... else flag(fuse_unk),
            "byte_fallback": flag(byte_fallback),
            "ignore_merges": flag(ignore_merges),
        }
        tokens = {} if vocab is None else _vocab(vocab)
        _check_merges(tokens, pairs, options["continuing_subword_prefix"] or "")
        record = _made(records.bpe_from_merges, "initializing BPE", tokens, pairs, **options)
        self._cell = Cell(record)

    dropout = field("dropout", or_none(share))
    unk_token = field("unk_token", or_none(text))
    continuing_subword_prefix = field("continuing_subword_prefix", or_none(text))
    end_of_word_suffix = field("end_of_word_suffix", or_none(text))
    fuse_unk = field("fuse_unk", flag)
    byte_fallback = field("byte_fallback", flag)
    ignore_merges = field("ignore_merges", flag)

    @staticmethod
    def read_file(vocab: str, merges: str) -> tuple[dict[str, int], list[tuple[str, str]]]:
        """Return what a vocab.json and a merges.txt hold."""
        return files.read_bpe(text(vocab), text(merges), "reading vocab & merges files")

    @classmethod
    def from_file(cls, vocab: str, merges: str, **kwargs: Any) -> BPE:
        """Return the model of a vocab.json and a merges.txt."""
        return cls(*files.read_bpe(text(vocab), text(merges), "reading BPE files"), **kwargs)

    def _clear_cache(self) -> None:
        """Do nothing: caches belong to threads."""

    def _resize_cache(self, capacity: int) -> None:
        """Do nothing."""


def _pair(pair: object) -> tuple[str, str]:
    left, right = instance(pair, tuple)
    return text(left), text(right)


def _check_merges(tokens: dict[str, int], pairs: list[tuple[str, str]], prefix: str) -> None:
    for left, right in pairs:
        for token in (left, right, left + right.removeprefix(prefix)):
            if token not in tokens:
                raise SpecError(f"Error while initializing BPE: Token `{token}` out of vocabulary")


class WordPiece(Model):
    """The longest token from the left, again and again.

    Parameters
    ----------
    vocab
        A dict from token to id, the path of a vocab.txt, or None.
    unk_token, max_input_chars_per_word, continuing_subword_prefix
        As in `ctok.stagespecs.models.WordPiece`.
    """

    __slots__ = ()

    def __init__(
        self,
        vocab: dict[str, int] | str | None = None,
        *,
        unk_token: str = "[UNK]",
        max_input_chars_per_word: int = 100,
        continuing_subword_prefix: str = "##",
        **kwargs: Any,
    ) -> None:
        warn_ignored(kwargs)
        if isinstance(vocab, str):
            vocab = files.read_lines(vocab, "initializing WordPiece")
        options: dict[str, Any] = {
            "unk_token": text(unk_token),
            "max_input_chars_per_word": number(max_input_chars_per_word),
            "continuing_subword_prefix": text(continuing_subword_prefix),
        }
        tokens = _made(records.table_of_texts, "initializing WordPiece", {} if vocab is None else _vocab(vocab))
        self._cell = Cell(records.WordPiece(tokens, **options))

    unk_token = field("unk_token", text)
    max_input_chars_per_word = field("max_input_chars_per_word", number)
    continuing_subword_prefix = field("continuing_subword_prefix", text)

    @staticmethod
    def read_file(vocab: str) -> dict[str, int]:
        """Return what a vocab.txt holds."""
        return files.read_lines(text(vocab), "reading WordPiece file")

    @classmethod
    def from_file(cls, vocab: str, **kwargs: Any) -> WordPiece:
        """Return the model of a vocab.txt."""
        return cls(files.read_lines(text(vocab), "reading WordPiece file"), **kwargs)


class WordLevel(Model):
    """A pretoken is a token, or unknown.

    Parameters
    ----------
    vocab
        A dict from token to id, the path of a vocab.json, or None.
    unk_token
        The token for all others; None: ``"<unk>"``.
    """

    __slots__ = ()

    def __init__(self, vocab: dict[str, int] | str | None = None, unk_token: str | None = None) -> None:
        if isinstance(vocab, str):
            vocab = files.read_vocab(vocab, "")
        tokens = _made(records.table_of_texts, "initializing WordLevel", {} if vocab is None else _vocab(vocab))
        self._cell = Cell(records.WordLevel(tokens, "<unk>" if unk_token is None else text(unk_token)))

    unk_token = field("unk_token", text)

    @staticmethod
    def read_file(vocab: str) -> dict[str, int]:
        """Return what a vocab.json holds."""
        return files.read_vocab(text(vocab), "reading WordLevel file")

    @classmethod
    def from_file(cls, vocab: str, unk_token: str | None = None) -> WordLevel:
        """Return the model of a vocab.json."""
        return cls(files.read_vocab(text(vocab), "reading WordLevel file"), unk_token)


class Unigram(Model):
    """The most probable sequence of pieces.

    Parameters
    ----------
    vocab
        A list of (piece, score), or None: ``<unk>`` alone.
    unk_id, byte_fallback, alpha, nbest_size
        As in `ctok.stagespecs.models.Unigram`; sampling is not done.
    """

    __slots__ = ()

    def __init__(
        self,
        vocab: Sequence[tuple[str, float]] | None = None,
        unk_id: int | None = None,
        byte_fallback: bool | None = None,
        alpha: float | None = None,
        nbest_size: int | None = None,
    ) -> None:
        if vocab is None and (unk_id is not None or byte_fallback is not None):
            raise ValueError("`vocab` and `unk_id` must be both specified")
        pieces = [("<unk>", 0.0)] if vocab is None else [_piece(piece) for piece in sequence(vocab)]
        unk_id = 0 if vocab is None else or_none(number)(unk_id)
        if unk_id is not None and unk_id >= len(pieces):
            raise SpecError("Error while loading Unigram: The `unk_id` is larger than vocabulary size")
        record = records.unigram_from_pieces(pieces, unk_id=unk_id, byte_fallback=bool(or_none(flag)(byte_fallback)))
        self._cell = Cell(record.replace(alpha=or_none(share)(alpha), nbest_size=or_none(number)(nbest_size)))

    alpha = field("alpha", or_none(share))
    nbest_size = field("nbest_size", or_none(number))

    def _clear_cache(self) -> None:
        """Do nothing: caches belong to threads."""

    def _resize_cache(self, capacity: int) -> None:
        """Do nothing."""


def _piece(piece: object) -> tuple[str, float]:
    token, score = instance(piece, tuple)
    return text(token), share(score)
