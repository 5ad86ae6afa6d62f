"""`decoders.DecodeStream`: the text of ids that come one by one."""

from __future__ import annotations

from operator import index

from ...errors import DecodeError
from ._checks import flag, id_list, instance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ._tokenizer import Tokenizer

__all__ = ["DecodeStream"]

_BROKEN = "\ufffd"


class DecodeStream:
    """Text of ids that come one by one or a few at a time, by the reference's rule.

    Each step decodes the ids since the last text it gave, and gives what the text is longer by, unless that ends in U+FFFD: it then waits.
    `ctok.Tokenizer.decoder` is exact, faster, and ends; this class is for programs that expect the reference's answers.

    Parameters
    ----------
    ids
        Ids that come before, whose text is not given.
    skip_special_tokens
        Whether special tokens are left out.
    """

    __slots__ = ("_ids", "_n_prefix", "_prefix", "_skip")

    def __init__(self, ids: Sequence[int] | None = None, skip_special_tokens: bool | None = False) -> None:
        self._ids = [] if ids is None else id_list(ids)
        self._skip = False if skip_special_tokens is None else flag(skip_special_tokens)
        self._prefix = ""
        self._n_prefix = 0  # how many of the ids the prefix is the text of

    def step(self, tokenizer: Tokenizer, id: int | Sequence[int]) -> str | None:
        """Return the text that an id or a sequence of ids adds, or None if there is none yet.

        Raises
        ------
        DecodeError
            "Invalid prefix encountered": with the new ids, the text no longer begins as it did.
        """
        from ._tokenizer import Tokenizer

        decode: Callable[[list[int], bool], str] = instance(tokenizer, Tokenizer).decode
        new = _new_ids(id)
        if not self._prefix and self._ids:
            text = decode(self._ids, self._skip)
            if not text.endswith(_BROKEN):
                self._prefix, self._n_prefix = text, len(self._ids)
        self._ids += new
        text = decode(self._ids, self._skip)
        if text.endswith(_BROKEN) or len(text.encode()) <= len(self._prefix.encode()):
            return None
        if not text.startswith(self._prefix):
            found = f"Token ID: {new[-1]}, Expected prefix: '{self._prefix}', Actual string: '{text}'"
            raise DecodeError(f"Invalid prefix encountered while decoding stream. {found}")
        given = text[len(self._prefix) :]
        rest = self._ids[self._n_prefix :]
        self._ids, self._n_prefix = rest, len(rest)
        self._prefix = decode(rest, self._skip)
        return given

    def __copy__(self) -> DecodeStream:
        new = DecodeStream(None, self._skip)
        new._ids, new._prefix, new._n_prefix = list(self._ids), self._prefix, self._n_prefix
        return new

    def __deepcopy__(self, _memo: dict[Any, Any]) -> DecodeStream:
        return self.__copy__()


def _new_ids(value: Any) -> list[int]:
    try:
        return [index(value)] if hasattr(type(value), "__index__") and 0 <= value < 2**32 else id_list(value)
    except (TypeError, OverflowError):
        raise TypeError("StreamInput must be either an integer or a list of integers") from None
