"""The record itself: columns that are buffers, so a slice copies nothing and putting two together is one copy."""

from __future__ import annotations

from sys import byteorder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, NoReturn

    from typing_extensions import Buffer

    Overflowing = tuple["Encoding", ...]

__all__ = ["NO_WORD", "Encoding"]

#: In the column of word ids: this id belongs to no word.
NO_WORD = 0xFFFFFFFF
UNITS = ("char", "byte", "utf16")
NUMBERS = ("ids", "type_ids", "starts", "ends", "word_ids")
FLAGS = ("attention_mask", "special_tokens_mask")
_PLACES = (*NUMBERS, *FLAGS)
_OTHERS = {"names", "ranges", "overflowing"}


class Encoding:
    """The ids of one text or of two, and what belongs to each id.

    Made by `Encoding.from_tokens` and the functions of this package. Equal when all that it says is equal. Lists are made afresh at each
    access; `column` gives the memory itself.

    Attributes
    ----------
    unit
        What `spans` and the look-ups count: ``"char"`` (code points), ``"byte"`` (of the text in UTF-8) or ``"utf16"`` (code units).
    """

    __slots__ = ("_columns", "_names", "_overflowing", "_ranges", "_token", "unit")
    unit: str
    _columns: tuple[memoryview, ...]  # NUMBERS, then FLAGS
    _token: Callable[[int], str]
    _names: Mapping[int, str]  # index -> its token, where that is not what _token says
    _ranges: Mapping[int, tuple[int, int]]  # sequence -> first index and the one behind its last; empty: one sequence, all of it
    _overflowing: Overflowing | Callable[[], Overflowing]

    def __init__(self) -> None:
        raise TypeError("an Encoding is made by a tokenizer, or by Encoding.from_tokens")

    @classmethod
    def from_tokens(
        cls,
        ids: Buffer,
        starts: Buffer,
        ends: Buffer,
        word_ids: Buffer,
        *,
        token: Callable[[int], str],
        names: Mapping[int, str] | None = None,
        unit: str = "char",
        type_id: int = 0,
    ) -> Encoding:
        """Return the encoding of one text to which nothing has been added.

        Parameters
        ----------
        ids, starts, ends, word_ids
            Buffers of native unsigned 32-bit numbers, all of one length. They are kept, not copied: they may not change any more.
            `word_ids` holds `NO_WORD` for what is in no word.
        token
            The token of an id, as a str.
        names
            Index -> token, for those that are called otherwise (an added token with the white space that it took).
        unit
            What `starts` and `ends` count.
        """
        if unit not in UNITS:
            raise ValueError(f"unit must be one of {', '.join(UNITS)}; got {unit!r}")
        numbers = [numbers_of(ids), None, numbers_of(starts), numbers_of(ends), numbers_of(word_ids)]
        n = len(numbers[0])  # type: ignore[arg-type]
        numbers[1] = repeated(type_id, n)
        if any(len(column) != n for column in numbers):  # type: ignore[arg-type]
            raise ValueError(f"the columns have different lengths: {[len(column) for column in numbers]}")  # type: ignore[arg-type]
        columns = (*numbers, memoryview(b"\1" * n), memoryview(bytes(n)))
        return make(columns, token, names or {}, {}, (), unit)  # type: ignore[arg-type]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"an Encoding is immutable; cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"an Encoding is immutable; cannot delete {name!r}")

    # ---- columns ----

    def __len__(self) -> int:
        return len(self._columns[0])

    def column(self, name: str) -> memoryview:
        """Return a column as a read-only buffer, without a copy.

        `name` is ``"ids"``, ``"type_ids"``, ``"starts"``, ``"ends"`` or ``"word_ids"`` (unsigned 32-bit numbers; no word is `NO_WORD`), or
        ``"attention_mask"`` or ``"special_tokens_mask"`` (bytes).
        """
        try:
            return self._columns[_PLACES.index(name)]
        except ValueError:
            raise ValueError(f"{name!r} is not a column; they are {', '.join(_PLACES)}") from None

    @property
    def ids(self) -> list[int]:
        """The ids."""
        return self._columns[0].tolist()

    @property
    def tokens(self) -> list[str]:
        """The token of each id."""
        token, names = self._token, self._names
        return [names[i] if i in names else token(number) for i, number in enumerate(self._columns[0])]

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Which part of its text each id stands for: half open, in `unit`. What was added has ``(0, 0)``."""
        return list(zip(self._columns[2], self._columns[3], strict=True))

    @property
    def word_ids(self) -> list[int | None]:
        """The word of its text in which each id lies, counted from 0; None for what was added."""
        return [None if word == NO_WORD else word for word in self._columns[4]]

    @property
    def sequence_ids(self) -> list[int | None]:
        """The text each id comes from: 0, 1 for the second of a pair, None for what was added."""
        found: list[int | None] = [None] * len(self)
        for sequence in range(self.n_sequences):
            start, stop = self._range(sequence)
            found[start:stop] = [sequence] * (stop - start)
        return found

    @property
    def type_ids(self) -> list[int]:
        """The type id of each id, as the post-processor gives them."""
        return self._columns[1].tolist()

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding, 1 for all else."""
        return self._columns[5].tolist()

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for what the post-processor or padding added, 0 for all else."""
        return self._columns[6].tolist()

    @property
    def overflowing(self) -> tuple[Encoding, ...]:
        """What was cut off, in pieces of the same length; computed when first asked for."""
        if not isinstance(self._overflowing, tuple):
            object.__setattr__(self, "_overflowing", self._overflowing())
        return self._overflowing  # type: ignore[return-value]

    @property
    def n_sequences(self) -> int:
        """How many texts are in it."""
        return len(self._ranges) or 1

    # ---- look-ups ----

    def _range(self, sequence: int) -> tuple[int, int]:
        return self._ranges.get(sequence, (0, len(self)))

    def token_to_sequence(self, token: int) -> int | None:
        """Return the number of the text that the id at index `token` comes from, or None."""
        if not 0 <= token < len(self):
            return None
        if not self._ranges:
            return 0
        return next((sequence for sequence, (start, stop) in sorted(self._ranges.items(), reverse=True) if start <= token < stop), None)

    def token_to_chars(self, token: int) -> tuple[int, int] | None:
        """Return the span of the id at index `token`; None for what was added and past the end."""
        if self.token_to_sequence(token) is None:
            return None
        return self._columns[2][token], self._columns[3][token]

    def token_to_word(self, token: int) -> int | None:
        """Return the word in which the id at index `token` lies, or None."""
        if self.token_to_sequence(token) is None:
            return None
        word = self._columns[4][token]
        return None if word == NO_WORD else word

    def char_to_token(self, position: int, sequence: int = 0) -> int | None:
        """Return the index of the first id whose span holds `position` of a text, or None."""
        start, stop = self._range(sequence)
        starts, ends = self._columns[2], self._columns[3]
        return next((i for i in range(start, stop) if starts[i] <= position < ends[i]), None)

    def char_to_word(self, position: int, sequence: int = 0) -> int | None:
        """Return the word that holds `position` of a text, or None."""
        token = self.char_to_token(position, sequence)
        return None if token is None else self.token_to_word(token)

    def word_to_tokens(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """Return the index of the word's first id and the one behind its last; None if no id lies in it."""
        first, last = None, 0
        words = self._columns[4]
        for i in range(*self._range(sequence)):
            if words[i] == word:
                first = i if first is None else first
                last = i + 1
            elif words[i] != NO_WORD and words[i] > word:
                break
        return None if first is None else (first, last)

    def word_to_chars(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """Return the span of a word, or None."""
        found = self.word_to_tokens(word, sequence)
        return None if found is None else (self._columns[2][found[0]], self._columns[3][found[1] - 1])

    # ---- as a value ----

    def _key(self) -> tuple[Any, ...]:
        return self.unit, self._columns, self.tokens, dict(self._ranges), self.overflowing

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Encoding):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.unit, len(self), bytes(self._columns[0][:64])))

    def __reduce__(self) -> tuple[Any, ...]:
        columns = [bytes(column) for column in self._columns]
        return restore, (columns, dict(enumerate(self.tokens)), dict(self._ranges), self.overflowing, self.unit)

    def __repr__(self) -> str:
        more = f", {len(self._overflowing)} overflowing" if isinstance(self._overflowing, tuple) and self._overflowing else ""
        shown = ", ".join(map(str, self._columns[0][:8]))
        return f"<Encoding: {len(self)} [{shown}{', ...' if len(self) > 8 else ''}]{more}>"


# ---- for the other files of this package, and for post-processors ----

# Past the __setattr__ that makes it immutable; one by one, because several encodings are made for each text.
_put_columns, _put_names, _put_overflowing, _put_ranges, _put_token, _put_unit = (
    getattr(Encoding, name).__set__ for name in Encoding.__slots__
)


def numbers_of(column: Buffer) -> memoryview:
    """Return a buffer of unsigned 32-bit numbers as a read-only view of them."""
    return memoryview(column).toreadonly().cast("B").cast("I")


def repeated(number: int, n: int) -> memoryview:
    """Return a column of n equal numbers."""
    return memoryview(number.to_bytes(4, byteorder) * n).cast("I")


def make(
    columns: tuple[memoryview, ...],
    token: Callable[[int], str],
    names: Mapping[int, str],
    ranges: Mapping[int, tuple[int, int]],
    overflowing: Overflowing | Callable[[], Overflowing],
    unit: str,
) -> Encoding:
    """Return an encoding of these parts, which are not looked at."""
    new = object.__new__(Encoding)
    _put_columns(new, columns)
    _put_names(new, names)
    _put_overflowing(new, overflowing)
    _put_ranges(new, ranges)
    _put_token(new, token)
    _put_unit(new, unit)
    return new


def changed(encoding: Encoding, **parts: Any) -> Encoding:
    """Return the encoding with some parts replaced: columns by their names, `ranges`, `names`, `overflowing`."""
    columns = encoding._columns
    if not parts.keys() <= _OTHERS:
        columns = tuple([parts.get(name, column) for name, column in zip(_PLACES, columns, strict=True)])
    return make(
        columns,
        encoding._token,
        parts.get("names", encoding._names),
        parts.get("ranges", encoding._ranges),
        parts.get("overflowing", encoding._overflowing),
        encoding.unit,
    )


def added(pairs: Iterable[tuple[int, str]], type_id: int, unit: str) -> Encoding:
    """Return the encoding of (id, token) that stand for no part of a text."""
    listed = list(pairs)
    ids = memoryview(b"".join([number.to_bytes(4, byteorder) for number, _ in listed])).cast("I") if listed else repeated(0, 0)
    return _of_no_text(ids, dict(enumerate([token for _, token in listed])), type_id, unit, 1)


def filled(token_id: int, token: str, n: int, type_id: int, unit: str) -> Encoding:
    """Return the encoding of n times one token that pads."""
    return _of_no_text(repeated(token_id, n), dict.fromkeys(range(n), token), type_id, unit, 0)


def _of_no_text(ids: memoryview, names: dict[int, str], type_id: int, unit: str, attention: int) -> Encoding:
    n = len(ids)
    nothing = repeated(0, n)
    masks = memoryview(bytes([attention]) * n), memoryview(b"\1" * n)
    return make((ids, repeated(type_id, n), nothing, nothing, repeated(NO_WORD, n), *masks), str, names, {}, (), unit)


def restore(
    columns: list[bytes], names: dict[int, str], ranges: dict[int, tuple[int, int]], overflowing: Overflowing, unit: str
) -> Encoding:
    """Return the encoding that was pickled."""
    views = [memoryview(column) for column in columns]
    return make((*(view.cast("I") for view in views[:5]), *views[5:]), str, names, ranges, overflowing, unit)
