"""`Encoding`, as tiktoken has it. What is called for every text is compiled (`TiktokenCalls`); the rest is here."""

from __future__ import annotations

import os
import sys
from array import array
from functools import cached_property
from itertools import accumulate, chain
from operator import index

from ..._native.batch import decode_batch, encode_batch
from ..._native.tiktoken_calls import TiktokenCalls, disallowed_error, literal_pattern, resolve_special
from ...errors import CtokError, DisallowedSpecialTokenError, SpecError
from ...spec import BPE, AddedToken, Spec, Split, TokenTable
from ...tokenizer import Tokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence, Set
    from typing import Any, Literal, NoReturn, TypeAlias

    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Self

    Allowed: TypeAlias = Literal["all"] | Set[str]
    Disallowed: TypeAlias = Literal["all"] | Collection[str]

__all__ = ["Encoding"]

_NOTHING: frozenset[str] = frozenset()

# What `get_encoding` has given out, name -> encoding.
ENCODINGS: dict[str, Encoding] = {}


class Encoding(TiktokenCalls):
    """Text to ids and back, by rank.

    Parameters
    ----------
    name
        What to call it.
    pat_str
        The split pattern, in the syntax of the `regex` package. Text that it does not match is left out.
    mergeable_ranks
        Token bytes -> rank, which is also the id.
    special_tokens
        Text -> id.
    explicit_n_vocab
        If given: how many tokens there are in all, which must be one more than the largest id.

    Raises
    ------
    ValueError
        The pattern is malformed or can match the empty text; there are no ranks, or one occurs twice; a special token is empty.
    OverflowError
        A negative rank or id, or one of 2**32 or more.
    AssertionError
        `explicit_n_vocab` is not so.

    Attributes
    ----------
    name
        As given.
    max_token_value
        The largest id.
    tokenizer
        The `ctok.Tokenizer` inside.

    Notes
    -----
    An encoding does not change: any number of threads may use it. It pickles as its name if `get_encoding` gave it, else as its four
    fields.
    """

    name: str
    max_token_value: int
    _pat_str: str
    _special_tokens: dict[str, int]

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        largest = max(max(mergeable_ranks.values()), max(special_tokens.values(), default=0))
        if explicit_n_vocab and len(mergeable_ranks) + len(special_tokens) != explicit_n_vocab:
            counts = f"{len(mergeable_ranks)} ranks and {len(special_tokens)} special tokens"
            raise AssertionError(f"explicit_n_vocab is {explicit_n_vocab}, but there are {counts}")
        if explicit_n_vocab and largest != explicit_n_vocab - 1:
            raise AssertionError(f"explicit_n_vocab is {explicit_n_vocab}, but the largest id is {largest}")
        added = (AddedToken(text, index(number)) for text, number in special_tokens.items())
        table = _token_table(mergeable_ranks)
        spec = Spec(str(name) or "tiktoken", BPE(table), Split(pat_str), added, source="ctok.compat.tiktoken.Encoding")
        self._set(Tokenizer.from_spec(spec), name, special_tokens)
        self.__dict__["_mergeable_ranks"] = mergeable_ranks

    @classmethod
    def from_tokenizer(cls, tokenizer: Tokenizer) -> Self:
        """Return the encoding with this `ctok.Tokenizer` inside. Tables are shared.

        Raises
        ------
        TypeError
            The tokenizer is no byte-pair model by rank with a split pattern: tiktoken has no word for what it does.
        """
        if not isinstance(tokenizer.spec.pre_tokenizer, Split) or not isinstance(tokenizer.spec.model, BPE):
            raise TypeError(f"{tokenizer!r} has no ranks or no split pattern")
        self = cls.__new__(cls)
        self._set(tokenizer, tokenizer.name, tokenizer.special_tokens)
        return self

    def _set(self, tokenizer: Tokenizer, name: str, special_tokens: dict[str, int]) -> None:
        self._bind(tokenizer)
        self.tokenizer = tokenizer
        self.name = name
        self.max_token_value = tokenizer.vocab_size - 1
        self._pat_str = tokenizer.spec.pre_tokenizer.pattern
        self._special_tokens = special_tokens
        self._special_token_values = set(special_tokens.values())

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    # ---- encode: one text in TiktokenCalls ----

    def encode_to_numpy(
        self, text: str, *, allowed_special: Allowed = _NOTHING, disallowed_special: Disallowed = "all"
    ) -> npt.NDArray[np.uint32]:
        """Return what `encode` returns as a numpy array of uint32, read-only. Needs numpy."""
        import numpy as np

        ids = self._encode_ids(text, allowed_special, disallowed_special)
        return np.frombuffer(memoryview(ids), dtype=np.uint32)

    def encode_ordinary_batch(self, text: Iterable[str], *, num_threads: int = 8) -> list[list[int]]:
        """Return what `encode_ordinary` returns for each text, in order. At most `num_threads` threads encode, without the GIL."""
        return encode_batch(self.tokenizer, _strs(text), _threads(num_threads), _NOTHING, _NOTHING, False, "replace", False)

    def encode_batch(
        self,
        text: Iterable[str],
        *,
        num_threads: int = 8,
        allowed_special: Allowed = _NOTHING,
        disallowed_special: Disallowed = "all",
    ) -> list[list[int]]:
        """Return what `encode` returns for each text, in order. At most `num_threads` threads encode, without the GIL.

        Raises
        ------
        ValueError, TypeError
            As `encode`, for the first text that is refused.
        """
        texts, threads = _strs(text), _threads(num_threads)
        if disallowed_special is None:
            raise TypeError("disallowed_special must be a collection of str, not None")
        allow, forbid, own_search = resolve_special(self._special_tokens, allowed_special, disallowed_special)
        if own_search:
            for found in filter(None, map(literal_pattern(forbid).search, texts)):
                raise disallowed_error(found.group(), found.start())
            forbid = _NOTHING
        try:
            return encode_batch(self.tokenizer, texts, threads, allow, forbid, False, "replace", False)
        except DisallowedSpecialTokenError as error:
            raise disallowed_error(error.token or "", error.position) from None

    def encode_with_unstable(
        self, text: str, *, allowed_special: Allowed = _NOTHING, disallowed_special: Disallowed = "all"
    ) -> tuple[list[int], list[list[int]]]:
        """Return the ids that no later text is likely to change, and in what ways the rest of the text may go on.

        Returns
        -------
        stable, completions
            The text starts with what `stable` decodes to. Each completion is a list of ids; the text is a prefix of what
            ``stable + completion`` decodes to. Sorted.

        Notes
        -----
        The rule is tiktoken's, which is a heuristic: `ctok.Tokenizer.encoder` says exactly what is final. Cost: an encoding of every token
        that begins with an end of the last pretoken, so up to a second.
        """
        from ._unstable import encode_with_unstable

        ids = self.encode(text, allowed_special=allowed_special, disallowed_special=disallowed_special)
        allow, _, _ = resolve_special(self._special_tokens, allowed_special, ())
        return encode_with_unstable(self, text, ids, allow)

    # ---- decode: one sequence in TiktokenCalls ----

    def decode_tokens_bytes(self, tokens: Iterable[int]) -> list[bytes]:
        """Return the bytes of each id. Errors as in `decode_single_token_bytes`."""
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Iterable[int]) -> tuple[str, list[int]]:
        """Return the text of ids, and for each id the character in it at which it starts.

        A token that starts inside a character gets that character's place.

        Raises
        ------
        UnicodeDecodeError
            The ids do not decode to valid UTF-8.
        KeyError, OverflowError, TypeError
            As in `decode_single_token_bytes`.
        """
        tokens = list(tokens)
        try:
            text, spans = self.tokenizer.decode_spans(tokens, errors="strict")
        except (CtokError, TypeError):
            b"".join(self.decode_tokens_bytes(tokens)).decode()  # the same fault in tiktoken's words
            raise
        return text, [start for start, _ in spans]

    def decode_batch(self, batch: Iterable[Sequence[int]], *, errors: str = "replace", num_threads: int = 8) -> list[str]:
        """Return what `decode` returns for each sequence of ids, in order. At most `num_threads` threads decode, without the GIL."""
        threads, sequences = _threads(num_threads), list(batch)
        if errors == "replace" and all(isinstance(tokens, (list, tuple)) for tokens in sequences):
            try:
                return decode_batch(self.tokenizer, sequences, threads, False, errors, None)
            except (CtokError, TypeError):
                pass  # one by one gives the first error as `decode` words it
        return [self.decode(tokens, errors) for tokens in sequences]

    def decode_bytes_batch(self, batch: Iterable[Sequence[int]], *, num_threads: int = 8) -> list[bytes]:
        """Return what `decode_bytes` returns for each sequence of ids, in order."""
        _threads(num_threads)
        return [self.decode_bytes(tokens) for tokens in batch]

    # ---- what it is ----

    def token_byte_values(self) -> list[bytes]:
        """Return the ordinary tokens in byte order, as a new list."""
        return _tokens_and_ranks(self.tokenizer.spec.model.tokens)[0]

    @property
    def eot_token(self) -> int:
        """Id of ``<|endoftext|>``; `KeyError` if there is no such special token."""
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """Texts of the special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Return whether an id is that of a special token. `AssertionError` if it is not an int."""
        if not isinstance(token, int):
            raise AssertionError(f"a token must be an int, not {type(token).__name__}")
        return token in self._special_token_values

    @property
    def n_vocab(self) -> int:
        """One more than the largest id; there may be gaps below."""
        return self.max_token_value + 1

    # ---- what programs reach for all the same ----

    @cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        """Token bytes -> rank, by rank; made when first asked for (0.1 s and 20 MB for 200 000 tokens)."""
        tokens, ranks = _tokens_and_ranks(self.tokenizer.spec.model.tokens)
        by_rank: list[bytes | None] = [None] * self.n_vocab
        for token, rank in zip(tokens, ranks):
            by_rank[rank] = token
        return {token: rank for rank, token in enumerate(by_rank) if token is not None}

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        return self.encode_ordinary(text)

    def _encode_bytes(self, text: bytes) -> list[int]:
        """Return the ids of bytes: as text up to the last pretoken before the first bad byte, the rest as one piece."""
        from ._unstable import encode_bytes

        return encode_bytes(self, text)

    # ---- copies ----

    def _fields(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "pat_str": self._pat_str,
            "mergeable_ranks": self._mergeable_ranks,
            "special_tokens": self._special_tokens,
        }

    def __getstate__(self) -> str | dict[str, Any]:
        registered = ENCODINGS.get(self.name)
        return self.name if registered is not None and registered.tokenizer is self.tokenizer else self._fields()

    def __setstate__(self, value: str | dict[str, Any]) -> None:
        if isinstance(value, str):
            from .registry import get_encoding

            same = get_encoding(value)
            self._set(same.tokenizer, same.name, same._special_tokens)
        else:
            Encoding.__init__(self, **value)


def raise_disallowed_special_token(token: str) -> NoReturn:
    """Raise what `Encoding.encode` raises for a disallowed text."""
    raise disallowed_error(token)


def _token_table(ranks: Mapping[bytes, int]) -> TokenTable:
    """The table of a mapping, in a fraction of the time of `TokenTable.from_dict`; ranks may be numpy's integers."""
    tokens = sorted(ranks)
    ids = array("I", [ranks[token] for token in tokens])
    if len(set(ids)) != len(ids):
        owners: dict[int, bytes] = {}
        for token, rank in zip(tokens, ids):
            if owners.setdefault(rank, token) is not token:
                raise SpecError(f"tokens {owners[rank]!r} and {token!r} have the same rank {rank}")
    ends = array("I", accumulate(map(len, tokens)))
    return TokenTable(b"".join(tokens), _little(ends).tobytes(), _little(ids).tobytes())


def _tokens_and_ranks(table: TokenTable) -> tuple[list[bytes], array[int]]:
    """The tokens of a table in byte order, and their ranks."""
    ends, ranks, data = array("I"), array("I"), bytes(table.data)
    ends.frombytes(table.ends)
    ranks.frombytes(table.ids)
    return [data[begin:end] for begin, end in zip(chain((0,), _little(ends)), ends)], _little(ranks)


def _little(numbers: array[int]) -> array[int]:
    """Turn native numbers into little-endian ones, or back."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _strs(texts: Iterable[str]) -> list[str]:
    found = list(texts)
    for text in found:
        if not isinstance(text, str):
            raise TypeError(f"a text must be str, not {type(text).__name__}")
    return found


def _threads(wanted: int | None) -> int | None:
    """How many threads a batch may use."""
    if wanted is None:
        return None
    if wanted <= 0:
        raise ValueError(f"num_threads must be greater than 0, not {wanted}")
    return max(1, min(int(wanted), os.cpu_count() or 1))
