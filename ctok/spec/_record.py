"""The base of the plain values, and the table that holds a vocabulary without an object for each token."""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from typing_extensions import Buffer, Self

MAX_ID = 2**31 - 1
put = object.__setattr__  # how a record's constructor sets a field; looked up once


class Record:
    """Base of the plain values: fields are the slots, set once by the constructor."""

    __slots__: tuple[str, ...] = ()
    _unequal: tuple[str, ...] = ()  # fields that say nothing about behaviour and take no part in equality

    def _set(self, **fields: object) -> None:
        for name, value in fields.items():
            put(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; use replace({name}=...)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def _compared(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__slots__ if name not in self._unequal)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record) or type(other) is not type(self):
            return NotImplemented
        return self is other or self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._compared()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__slots__)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, name) for name in self.__slots__)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed.

        Raises
        ------
        TypeError
            A name is not a field of this class.
        """
        return type(self)(**{name: getattr(self, name) for name in self.__slots__} | changes)


class TokenTable(Record):
    """The tokens of a byte-level vocabulary, in ascending byte order.

    Parameters
    ----------
    data
        The tokens' bytes one behind the other. Any contiguous buffer; it is kept, not copied.
    ends
        Cumulative end offsets into `data`, little-endian uint32.
    ids
        The ids, little-endian uint32, each below 2**31.
    splits
        For a vocabulary that is merged by rank: a byte a token, how long the left part of its last merge is, 0 where merging its bytes does
        not give it. It follows from the rest and takes no part in equality; who has it spares a tokenizer a search when it is built. Empty:
        not known. Wrong ones give wrong ids.

    Raises
    ------
    ValueError
        The buffers do not fit together. Order and uniqueness are checked when a tokenizer is built, or by `from_dict`.

    Notes
    -----
    ``len(table)`` is the number of tokens; iteration yields ``(bytes, id)`` in byte order. The first token may be empty (a public
    vocabulary has one): no text ever encodes to it, and it decodes to nothing.
    """

    __slots__ = ("data", "ends", "ids", "splits")
    _unequal = ("splits",)
    data: bytes | memoryview
    ends: bytes | memoryview
    ids: bytes | memoryview
    splits: bytes | memoryview

    def __init__(self, data: Buffer, ends: Buffer, ids: Buffer, splits: Buffer = b"") -> None:
        data, ends, ids, splits = (part if type(part) is bytes else memoryview(part).cast("B") for part in (data, ends, ids, splits))
        if len(ends) != len(ids) or len(ends) % 4:
            raise ValueError(f"a token table needs one 4-byte end and one 4-byte id a token, got {len(ends)} and {len(ids)} bytes")
        total = int.from_bytes(ends[-4:], "little")
        if total != len(data):
            raise ValueError(f"the last end offset of a token table is {total}, but it has {len(data)} bytes of tokens")
        if len(splits) not in (0, len(ids) // 4):
            raise ValueError(f"a token table needs no splits or one a token, got {len(splits)} for {len(ids) // 4} tokens")
        self._set(data=data, ends=ends, ids=ids, splits=splits)

    @classmethod
    def from_dict(cls, tokens: Mapping[bytes, int] | Iterable[tuple[bytes, int]]) -> TokenTable:
        """Return the table of a mapping from token bytes to id, or of an iterable of such pairs.

        Raises
        ------
        TypeError
            A token is not bytes or an id is not an int.
        ValueError
            A token or an id occurs twice, an id is not in ``0 <= id < 2**31``.
        """
        pairs = sorted(_checked_pairs(tokens.items() if hasattr(tokens, "items") else tokens))
        for (token, one), (again, other) in pairwise(pairs):
            if token == again:
                raise ValueError(f"token {token!r} occurs twice, with ids {one} and {other}")
        owners: dict[int, bytes] = {}
        for token, number in pairs:
            if owners.setdefault(number, token) != token:
                raise ValueError(f"tokens {owners[number]!r} and {token!r} have the same id {number}")
        ends, total = [], 0
        for token, _ in pairs:
            total += len(token)
            ends.append(total)
        if total >= 2**32:
            raise ValueError(f"the tokens have {total} bytes in all; a token table holds less than 4 GiB")
        return cls(b"".join(token for token, _ in pairs), _column(ends), _column(number for _, number in pairs))

    def __len__(self) -> int:
        return len(self.ids) // 4

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        from struct import iter_unpack

        begin = 0
        for (end,), (number,) in zip(iter_unpack("<I", self.ends), iter_unpack("<I", self.ids), strict=True):
            yield bytes(self.data[begin:end]), number
            begin = end

    def __hash__(self) -> int:
        return hash((len(self.data), bytes(self.ids[:64]), bytes(self.ids[-64:])))

    def __repr__(self) -> str:
        return f"<TokenTable: {len(self)} tokens, {len(self.data)} bytes>"

    def __reduce__(self) -> tuple[Any, ...]:
        return TokenTable, (bytes(self.data), bytes(self.ends), bytes(self.ids), bytes(self.splits))


def _column(numbers: Iterable[int]) -> bytes:
    return b"".join(number.to_bytes(4, "little") for number in numbers)


def _checked_pairs(pairs: Iterable[tuple[bytes, int]]) -> Iterator[tuple[bytes, int]]:
    for token, number in pairs:
        if not isinstance(token, bytes):
            raise TypeError(f"a token must be bytes, got {type(token).__name__}: {token!r}")
        if not isinstance(number, int):
            raise TypeError(f"the id of token {token!r} must be an int, got {type(number).__name__}")
        if not 0 <= number <= MAX_ID:
            raise ValueError(f"the id of token {token!r} is {number}; ids must be in 0 <= id < 2**31")
        yield bytes(token), int(number)
