"""The stages of a SentencePiece model: its normalizer, its pieces, its decoder. They come together, from one .model file.

Texts are as the file has them: a blank is U+2581 in pieces where the normalizer escapes it.
"""

from __future__ import annotations

from ..spec import Record, TokenTable
from . import _fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from typing_extensions import Buffer

__all__ = [
    "BYTE",
    "CONTROL",
    "KINDS",
    "NORMAL",
    "TYPES",
    "UNKNOWN",
    "UNUSED",
    "USER_DEFINED",
    "Decoder",
    "Normalizer",
    "Pieces",
    "pieces_from_list",
]

KINDS = ("unigram", "bpe", "word", "char")

# What a piece is: the numbers that the files have.
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
TYPES = {NORMAL: "normal", UNKNOWN: "unknown", CONTROL: "control", USER_DEFINED: "user-defined", UNUSED: "unused", BYTE: "byte"}


class Pieces(Record):
    """The model: pieces with scores.

    Parameters
    ----------
    tokens
        A `TokenTable` of the pieces' texts; the ids are 0, 1, ... in the order of the file. A text may stand in it twice, in ascending
        order of ids: once as a piece that a text can give (normal, user-defined, unused), once as one that no text gives by its spelling.
    scores
        By id, little-endian float32. Any contiguous buffer.
    types
        By id, a byte each: the numbers of `TYPES`.
    kind
        ``"unigram"``: the best sequence of pieces; ``"bpe"``: the pair that gives the piece of the highest score, again and again;
        ``"word"``: what stands between blanks is a piece or unknown; ``"char"``: each character is.
    byte_fallback
        Unknown characters become pieces ``<0x00>`` to ``<0xFF>``.
    unk_id
        The id of the unknown piece; there is exactly one.
    bos_id, eos_id, pad_id
        The ids of the control pieces that play these parts, or None.
    treat_whitespace_as_suffix
        A blank belongs to the word before it.
    """

    __slots__ = (  # noqa: RUF023 - the order of the constructor
        "tokens",
        "scores",
        "types",
        "kind",
        "byte_fallback",
        "unk_id",
        "bos_id",
        "eos_id",
        "pad_id",
        "treat_whitespace_as_suffix",
    )
    tokens: TokenTable
    scores: bytes | memoryview
    types: bytes | memoryview
    kind: str
    byte_fallback: bool
    unk_id: int
    bos_id: int | None
    eos_id: int | None
    pad_id: int | None
    treat_whitespace_as_suffix: bool

    def __init__(
        self,
        tokens: TokenTable,
        scores: Buffer,
        types: Buffer,
        kind: str = "unigram",
        byte_fallback: bool = False,
        unk_id: int = 0,
        bos_id: int | None = None,
        eos_id: int | None = None,
        pad_id: int | None = None,
        treat_whitespace_as_suffix: bool = False,
    ) -> None:
        n = len(tokens)
        columns = [part if type(part) is bytes else memoryview(part).cast("B") for part in (scores, types)]
        if [len(column) for column in columns] != [4 * n, n]:
            raise ValueError(
                f"{n} pieces need {4 * n} bytes of scores and {n} of types, got {len(columns[0])} and {len(columns[1])}"
            )
        ids = {"unk_id": unk_id, "bos_id": bos_id, "eos_id": eos_id, "pad_id": pad_id}
        for field, number in ids.items():
            if number is not None or field == "unk_id":
                _fields.number(self, field, number, 0, n - 1)
        self._set(
            tokens=tokens,
            scores=columns[0],
            types=columns[1],
            kind=_fields.one_of(self, "kind", kind, KINDS),
            byte_fallback=_fields.flag(self, "byte_fallback", byte_fallback),
            treat_whitespace_as_suffix=_fields.flag(self, "treat_whitespace_as_suffix", treat_whitespace_as_suffix),
            **ids,
        )

    def __repr__(self) -> str:
        fields = (f"{field}={getattr(self, field)!r}" for field in self.__slots__[3:])
        columns = (f"{field} {_fields.digest(getattr(self, field))}" for field in ("scores", "types"))
        return f"<Pieces: {self.tokens!r}, {', '.join((*columns, *fields))}>"

    def __hash__(self) -> int:
        return hash((self.tokens, *(getattr(self, field) for field in self.__slots__[3:])))

    def __reduce__(self) -> tuple[Any, ...]:
        return Pieces, (self.tokens, bytes(self.scores), bytes(self.types), *(getattr(self, field) for field in self.__slots__[3:]))


class Normalizer(Record):
    """What SentencePiece does to a text before the model sees it, blanks included, as one stage.

    Parameters
    ----------
    charsmap
        The table of replacements, as the file has it; empty: none.
    add_dummy_prefix
        A blank is put before the text (behind it, with `treat_whitespace_as_suffix`).
    remove_extra_whitespaces
        Blanks at the ends are dropped, and of several that stand side by side all but one.
    escape_whitespaces
        A blank becomes U+2581.
    treat_whitespace_as_suffix
        A blank belongs to the word before it.
    user_defined
        Texts that are passed through as they are, wherever they stand; of several that begin at a place the longest.
    name
        What the file calls the table ("nmt_nfkc", ...); it says nothing about behaviour.
    """

    __slots__ = (  # noqa: RUF023 - the order of the constructor
        "charsmap",
        "add_dummy_prefix",
        "remove_extra_whitespaces",
        "escape_whitespaces",
        "treat_whitespace_as_suffix",
        "user_defined",
        "name",
    )
    charsmap: bytes
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    escape_whitespaces: bool
    treat_whitespace_as_suffix: bool
    user_defined: tuple[str, ...]
    name: str

    def __init__(
        self,
        charsmap: bytes = b"",
        add_dummy_prefix: bool = True,
        remove_extra_whitespaces: bool = True,
        escape_whitespaces: bool = True,
        treat_whitespace_as_suffix: bool = False,
        user_defined: Iterable[str] = (),
        name: str = "",
    ) -> None:
        self._set(
            charsmap=_fields.data(self, "charsmap", charsmap),
            add_dummy_prefix=_fields.flag(self, "add_dummy_prefix", add_dummy_prefix),
            remove_extra_whitespaces=_fields.flag(self, "remove_extra_whitespaces", remove_extra_whitespaces),
            escape_whitespaces=_fields.flag(self, "escape_whitespaces", escape_whitespaces),
            treat_whitespace_as_suffix=_fields.flag(self, "treat_whitespace_as_suffix", treat_whitespace_as_suffix),
            user_defined=tuple(_fields.text(self, "user_defined", symbol) for symbol in user_defined),
            name=_fields.text(self, "name", name),
        )

    def __repr__(self) -> str:
        fields = (f"{field}={getattr(self, field)!r}" for field in self.__slots__ if field != "charsmap")
        return f"<Normalizer: {_fields.digest(self.charsmap)}, {', '.join(fields)}>"


class Decoder(Record):
    """How the pieces of a SentencePiece model become text again.

    Parameters
    ----------
    add_dummy_prefix, remove_extra_whitespaces, treat_whitespace_as_suffix
        As the model's normalizer has them: the blank that it put there is taken away.
    unk_surface
        What the unknown token becomes.
    denormalizer
        What the whole text goes through at last, or None.
    """

    __slots__ = ("add_dummy_prefix", "remove_extra_whitespaces", "treat_whitespace_as_suffix", "unk_surface", "denormalizer")  # noqa: RUF023
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    treat_whitespace_as_suffix: bool
    unk_surface: str
    denormalizer: Normalizer | None

    def __init__(
        self,
        add_dummy_prefix: bool = True,
        remove_extra_whitespaces: bool = True,
        treat_whitespace_as_suffix: bool = False,
        unk_surface: str = " \u2047 ",
        denormalizer: Normalizer | None = None,
    ) -> None:
        if denormalizer is not None and not isinstance(denormalizer, Normalizer):
            raise TypeError(f"denormalizer of Decoder must be a Normalizer or None, got {type(denormalizer).__name__}")
        self._set(
            add_dummy_prefix=_fields.flag(self, "add_dummy_prefix", add_dummy_prefix),
            remove_extra_whitespaces=_fields.flag(self, "remove_extra_whitespaces", remove_extra_whitespaces),
            treat_whitespace_as_suffix=_fields.flag(self, "treat_whitespace_as_suffix", treat_whitespace_as_suffix),
            unk_surface=_fields.text(self, "unk_surface", unk_surface),
            denormalizer=denormalizer,
        )


# ---- from Python's containers: for small models and for tests; files are read without an object for each piece ----


def pieces_from_list(pieces: Iterable[tuple[str, float, int]], kind: str = "unigram", **options: Any) -> Pieces:
    """Return the `Pieces` of (text, score, type) triples in the order of their ids. `options` as for `Pieces`.

    The unknown piece is found by its type, and the others by their names: control pieces ``<s>``, ``</s>`` and ``<pad>``.
    """
    from struct import pack

    from .models import table_of_numbered

    listed = list(pieces)
    table = table_of_numbered(text for text, _, _ in listed)
    controls = {text: number for number, (text, _, type_) in enumerate(listed) if type_ == CONTROL}
    found: dict[str, Any] = {f"{role}_id": controls.get(text) for role, text in (("bos", "<s>"), ("eos", "</s>"), ("pad", "<pad>"))}
    found["unk_id"] = next((number for number, (_, _, type_) in enumerate(listed) if type_ == UNKNOWN), 0)
    scores = pack(f"<{len(listed)}f", *(score for _, score, _ in listed))
    return Pieces(table, scores, bytes(type_ for _, _, type_ in listed), kind, **found | options)
