"""What a tokenizer is, said in plain values: every file format becomes a `Spec`, every tokenizer is built from one.

The classes here are immutable, compare by value, pickle, and know no behaviour. They import only the cheapest of the
standard library: `import ctok` pays for this module. What ctok cannot run may still be said here; it is refused when a tokenizer is built.
"""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from typing_extensions import Buffer, Self

__all__ = ["BPE", "AddedToken", "Spec", "Split", "TokenTable"]

MAX_ID = 2**31 - 1


class Record:
    """Base of the plain values below: fields are the slots, set once by the constructor."""

    __slots__: tuple[str, ...] = ()
    _unequal: tuple[str, ...] = ()  # fields that say nothing about behaviour and take no part in equality

    def _set(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

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

    Raises
    ------
    ValueError
        The three buffers do not fit together. Order and uniqueness are checked when a tokenizer is built, or by `from_dict`.

    Notes
    -----
    ``len(table)`` is the number of tokens; iteration yields ``(bytes, id)`` in byte order. The first token may be empty (a public
    vocabulary has one): no text ever encodes to it, and it decodes to nothing.
    """

    __slots__ = ("data", "ends", "ids")
    data: bytes | memoryview
    ends: bytes | memoryview
    ids: bytes | memoryview

    def __init__(self, data: Buffer, ends: Buffer, ids: Buffer) -> None:
        data, ends, ids = (part if type(part) is bytes else memoryview(part).cast("B") for part in (data, ends, ids))
        if len(ends) != len(ids) or len(ends) % 4:
            raise ValueError(f"a token table needs one 4-byte end and one 4-byte id a token, got {len(ends)} and {len(ids)} bytes")
        total = int.from_bytes(ends[-4:], "little")
        if total != len(data):
            raise ValueError(f"the last end offset of a token table is {total}, but it has {len(data)} bytes of tokens")
        self._set(data=data, ends=ends, ids=ids)

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
        return TokenTable, (bytes(self.data), bytes(self.ends), bytes(self.ids))


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


class BPE(Record):
    """The byte-pair model.

    Parameters
    ----------
    tokens
        A `TokenTable`.
    mode
        How pairs are chosen. ``"rank"``: always the leftmost pair whose concatenation has the lowest id.
    """

    __slots__ = ("tokens", "mode")  # noqa: RUF023 - the order of the constructor
    tokens: TokenTable
    mode: str

    def __init__(self, tokens: TokenTable, mode: str = "rank") -> None:
        self._set(tokens=tokens, mode=mode)


class Split(Record):
    """A pre-tokenizer that cuts the text into the successive matches of a pattern; text that nothing matches is dropped.

    Parameters
    ----------
    pattern
        The pattern, in the syntax of the `regex` package.
    """

    __slots__ = ("pattern",)
    pattern: str

    def __init__(self, pattern: str) -> None:
        if not isinstance(pattern, str):
            raise TypeError(f"a split pattern must be a str, got {type(pattern).__name__}")
        self._set(pattern=pattern)


class AddedToken(Record):
    """A token that is matched in the text before the model sees it.

    Parameters
    ----------
    content
        Its text.
    id
        Its id. It may be that of another added token; then the first declared one is what the id decodes to.
    special
        True: it has meaning, and is plain text unless the caller allows it. False: it is always matched.
    """

    __slots__ = ("content", "id", "special")
    content: str
    id: int
    special: bool

    def __init__(self, content: str, id: int, special: bool = True) -> None:
        if not isinstance(content, str):
            raise TypeError(f"an added token's content must be a str, got {type(content).__name__}")
        if not content:
            raise ValueError(f"the added token with id {id} is empty")
        if not isinstance(id, int):
            raise TypeError(f"the id of added token {content!r} must be an int, got {type(id).__name__}")
        if not 0 <= id <= MAX_ID:
            raise ValueError(f"the id of added token {content!r} is {id}; ids must be in 0 <= id < 2**31")
        self._set(content=content, id=int(id), special=bool(special))


class Spec(Record):
    """A whole tokenizer, as values.

    Parameters
    ----------
    name
        What to call it; not empty.
    model
        A model, such as `BPE`.
    pre_tokenizer
        A pre-tokenizer, such as `Split`, or None.
    added_tokens
        `AddedToken` objects in declaration order. Any iterable; kept as a tuple.
    normalizer, post_processor, decoder
        The other stages, or None where the tokenizer has none.
    source
        A str that says where this came from, for people; it takes no part in equality.
    """

    __slots__ = ("name", "model", "pre_tokenizer", "added_tokens", "normalizer", "post_processor", "decoder", "source")  # noqa: RUF023
    _unequal = ("source",)
    name: str
    model: BPE
    pre_tokenizer: Split | None
    added_tokens: tuple[AddedToken, ...]
    normalizer: Record | None
    post_processor: Record | None
    decoder: Record | None
    source: str | None

    def __init__(
        self,
        name: str,
        model: BPE,
        pre_tokenizer: Split | None,
        added_tokens: Iterable[AddedToken] = (),
        normalizer: Record | None = None,
        post_processor: Record | None = None,
        decoder: Record | None = None,
        source: str | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise TypeError(f"a spec's name must be a str that is not empty, got {name!r}")
        added_tokens = tuple(added_tokens)
        contents = set()
        for token in added_tokens:
            if not isinstance(token, AddedToken):
                raise TypeError(f"added_tokens must hold AddedToken objects, got {type(token).__name__}")
            if token.content in contents:
                raise ValueError(f"added token {token.content!r} is declared twice")
            contents.add(token.content)
        self._set(
            name=name,
            model=model,
            pre_tokenizer=pre_tokenizer,
            added_tokens=added_tokens,
            normalizer=normalizer,
            post_processor=post_processor,
            decoder=decoder,
            source=source,
        )

    def __repr__(self) -> str:
        return f"<Spec {self.name!r}: {self.model!r}, {self.pre_tokenizer!r}, {len(self.added_tokens)} added tokens>"
