"""Models other than `BPE`: what turns a pretoken into tokens. Their tables are buffers, as in `ctok.spec.TokenTable`."""

from __future__ import annotations

from itertools import pairwise

from ..spec import BPE, Record, TokenTable
from . import _fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from typing_extensions import Buffer

__all__ = ["BPE", "Unigram", "WordLevel", "WordPiece", "bpe_from_merges", "table_of_numbered", "table_of_texts", "unigram_from_pieces"]


class WordPiece(Record):
    """The longest token from the left, again and again; tokens inside a word begin with a prefix.

    Parameters
    ----------
    tokens
        A `TokenTable` of texts in UTF-8.
    unk_token
        The token for a word that no tokens cover.
    max_input_chars_per_word
        Longer words are unknown.
    continuing_subword_prefix
        What tokens inside a word begin with.
    """

    __slots__ = ("tokens", "unk_token", "max_input_chars_per_word", "continuing_subword_prefix")  # noqa: RUF023 - the order of the constructor
    tokens: TokenTable
    unk_token: str
    max_input_chars_per_word: int
    continuing_subword_prefix: str

    def __init__(
        self,
        tokens: TokenTable,
        unk_token: str = "[UNK]",
        max_input_chars_per_word: int = 100,
        continuing_subword_prefix: str = "##",
    ) -> None:
        self._set(
            tokens=tokens,
            unk_token=_fields.text(self, "unk_token", unk_token),
            max_input_chars_per_word=_fields.number(self, "max_input_chars_per_word", max_input_chars_per_word),
            continuing_subword_prefix=_fields.text(self, "continuing_subword_prefix", continuing_subword_prefix),
        )


class WordLevel(Record):
    """A pretoken is a token, or unknown.

    Parameters
    ----------
    tokens
        A `TokenTable` of texts in UTF-8.
    unk_token
        The token for all others.
    """

    __slots__ = ("tokens", "unk_token")
    tokens: TokenTable
    unk_token: str

    def __init__(self, tokens: TokenTable, unk_token: str = "<unk>") -> None:
        self._set(tokens=tokens, unk_token=_fields.text(self, "unk_token", unk_token))


class Unigram(Record):
    """The most probable sequence of pieces.

    Parameters
    ----------
    tokens
        A `TokenTable` of texts in UTF-8; the ids are 0, 1, ... in the order of the list. A text may stand in it more than once, in
        ascending order of ids; the last one counts.
    scores
        Logarithms of probabilities by id, little-endian float64. Any contiguous buffer.
    unk_id
        The id for characters that no piece covers, or None.
    byte_fallback
        Unknown characters become pieces ``<0x00>`` to ``<0xFF>``.
    alpha, nbest_size
        For sampling; no file holds them.
    """

    __slots__ = ("tokens", "scores", "unk_id", "byte_fallback", "alpha", "nbest_size")  # noqa: RUF023
    tokens: TokenTable
    scores: bytes | memoryview
    unk_id: int | None
    byte_fallback: bool
    alpha: float | None
    nbest_size: int | None

    def __init__(
        self,
        tokens: TokenTable,
        scores: Buffer,
        unk_id: int | None = None,
        byte_fallback: bool = False,
        alpha: float | None = None,
        nbest_size: int | None = None,
    ) -> None:
        kept = scores if type(scores) is bytes else memoryview(scores).cast("B")
        if len(kept) != 8 * len(tokens):
            raise ValueError(f"a unigram model of {len(tokens)} pieces needs {8 * len(tokens)} bytes of scores, got {len(kept)}")
        self._set(
            tokens=tokens,
            scores=kept,
            unk_id=None if unk_id is None else _fields.number(self, "unk_id", unk_id),
            byte_fallback=_fields.flag(self, "byte_fallback", byte_fallback),
            alpha=alpha,
            nbest_size=nbest_size,
        )

    def __repr__(self) -> str:
        return f"<Unigram: {self.tokens!r}, unk_id={self.unk_id}>"

    def __hash__(self) -> int:
        return hash((self.tokens, self.unk_id, self.byte_fallback))

    def __reduce__(self) -> tuple[Any, ...]:
        return Unigram, (self.tokens, bytes(self.scores), self.unk_id, self.byte_fallback, self.alpha, self.nbest_size)


# ---- from Python's containers: for small models and for tests; files are read without an object for each entry ----


def table_of_texts(vocab: Mapping[str, int] | Iterable[tuple[str, int]]) -> TokenTable:
    """Return the table of a mapping from text to id, or of such pairs. Two texts may have the same id.

    Raises
    ------
    ValueError
        A text occurs twice, or an id is not in ``0 <= id < 2**31``.
    """
    pairs = sorted((text.encode(), number) for text, number in (vocab.items() if hasattr(vocab, "items") else vocab))
    for (token, _), (again, _) in pairwise(pairs):
        if token == again:
            raise ValueError(f"token {token.decode()!r} occurs twice")
    return _table(pairs)


def bpe_from_merges(vocab: Mapping[str, int], merges: Iterable[tuple[str, str]], **options: Any) -> BPE:
    """Return a `BPE` in mode ``"merges"`` of a mapping from text to id and a list of pairs of texts. `options` as for `BPE`.

    Raises
    ------
    ValueError
        A merge names a text that is not in `vocab`; or as `table_of_texts`.
    """
    numbers = bytearray()
    for pair in merges:
        for text in pair:
            if text not in vocab:
                raise ValueError(f"the merge {pair!r} names {text!r}, which is not in the vocabulary")
            numbers += vocab[text].to_bytes(4, "little")
    return BPE(table_of_texts(vocab), "merges", bytes(numbers), **options)


def unigram_from_pieces(pieces: Iterable[tuple[str, float]], **options: Any) -> Unigram:
    """Return a `Unigram` of (text, score) pairs in the order of their ids. `options` as for `Unigram`."""
    from struct import pack

    listed = list(pieces)
    table = table_of_numbered(text for text, _ in listed)
    return Unigram(table, pack(f"<{len(listed)}d", *(score for _, score in listed)), **options)


def table_of_numbered(texts: Iterable[str]) -> TokenTable:
    """Return the table of texts whose ids are 0, 1, ... A text may occur more than once."""
    return _table(sorted((text.encode(), number) for number, text in enumerate(texts)))


def _table(pairs: list[tuple[bytes, int]]) -> TokenTable:
    ends, ids, total = bytearray(), bytearray(), 0
    for token, number in pairs:
        if not 0 <= number < 2**31:
            raise ValueError(f"the id of token {token.decode()!r} is {number}; ids must be in 0 <= id < 2**31")
        total += len(token)
        ends += total.to_bytes(4, "little")
        ids += number.to_bytes(4, "little")
    return TokenTable(b"".join(token for token, _ in pairs), bytes(ends), bytes(ids))
