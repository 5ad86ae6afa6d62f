"""The `async_*` methods: the work is done in a worker thread, under asyncio and trio, and stops soon after it is cancelled."""

from __future__ import annotations

from ._engine import pad_batch
from ._inputs import as_pairs, as_text, as_words
from ._parts import Parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ._encoding import Encoding
    from ._inputs import Pair

__all__ = ["Later"]

SLICE = 16384  # characters after which a worker looks whether it is still wanted


class _Flag:
    """Tells the worker to stop. Written by one thread and read by another; a late read only costs a slice."""

    __slots__ = ("stop",)

    def __init__(self) -> None:
        self.stop = False


async def _in_worker(work: Callable[..., Any], *args: Any) -> Any:
    from anyio import to_thread

    flag = _Flag()
    try:
        return await to_thread.run_sync(work, flag, *args, abandon_on_cancel=True)
    finally:
        flag.stop = True


class Later(Parts):
    """The part of `Tokenizer` for event loops."""

    async def async_encode(
        self, sequence: Any, pair: Any | None = None, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Encoding:
        """Return what `encode` returns, without holding up the event loop."""
        check = as_words if is_pretokenized else as_text
        work = _Work(self, [(check(sequence), None if pair is None else check(pair))], add_special_tokens, False)
        found: list[Encoding] = await _in_worker(work.encode)
        return found[0]

    async def async_encode_batch(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Return what `encode_batch` returns, without holding up the event loop."""
        work = _Work(self, as_pairs(input, is_pretokenized), add_special_tokens, False)
        found: list[Encoding] = await _in_worker(work.encode)
        return found

    async def async_encode_batch_fast(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Return what `encode_batch_fast` returns, without holding up the event loop."""
        work = _Work(self, as_pairs(input, is_pretokenized), add_special_tokens, True)
        found: list[Encoding] = await _in_worker(work.encode)
        return found

    async def async_decode_batch(self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True) -> list[str]:
        """Return what `decode_batch` returns, without holding up the event loop."""
        listed = list(sequences)
        found: list[str] = await _in_worker(_decode, self, listed, skip_special_tokens)
        return found


def _decode(flag: _Flag, tokenizer: Any, sequences: list[Any], skip: bool) -> list[str]:
    found: list[str] = []
    for ids in sequences:
        if flag.stop:
            break
        found.append(tokenizer.decode(ids, skip))
    return found


class _Work:
    """A batch on its way. The settings are those of the moment when it is made."""

    def __init__(self, tokenizer: Any, pairs: list[Pair], add_special_tokens: bool, fast: bool) -> None:
        self.pairs = pairs
        self.options = tokenizer._options(add_special_tokens, fast)
        self.engine = tokenizer._engine

    def encode(self, flag: _Flag) -> list[Encoding]:
        """Return the encodings; nothing of use when the flag is up."""
        found: list[Encoding] = []
        padding, self.options.padding = self.options.padding, None
        for first, second in self.pairs:
            if flag.stop:
                return found
            found.append(self._one(first, second, flag))
        return pad_batch(found, padding)

    def _one(self, first: Any, second: Any, flag: _Flag) -> Encoding:
        texts = [text for text in (first, second) if text is not None]
        if self.engine.is_random or all(isinstance(text, list) or len(text) <= SLICE for text in texts):
            return self.engine.encode(first, second, self.options)  # type: ignore[no-any-return]
        ids = tuple([self._ids(text, flag) for text in texts])
        return self.engine.arranged((first, second), ids, self.options)  # type: ignore[no-any-return]

    def _ids(self, text: str, flag: _Flag) -> list[int]:
        encoder = self.engine.native.encoder(allowed_special=self.options.allowed, add_special_tokens=False)
        ids: list[int] = []
        for start in range(0, len(text), SLICE):
            if flag.stop:
                return ids
            ids += encoder.encode(text[start : start + SLICE])
        ids += encoder.encode("", final=True)
        return ids
