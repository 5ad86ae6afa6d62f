"""`CtokStreamer`: the text of what a model of transformers generates, while it does."""

from __future__ import annotations

from collections import deque
from functools import partial
from threading import Condition

from ..errors import UnknownIdError
from ..tokenizer import Tokenizer
from ._backend import Backend, is_reference, spec_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typing_extensions import Self

__all__ = ["CtokStreamer"]


class CtokStreamer:
    """A streamer for ``model.generate(..., streamer=)``. Each text is given once it is certain, and no later.

    The texts joined are ``tokenizer.decode(ids, skip_special_tokens=..., clean_up_tokenization_spaces=False)`` for all ids that came,
    but for added tokens that this does not give back (docs/transformers.md): those always come out as they are written. Only what later
    ids may still change is held back: unfinished characters. An id costs the same however long the text is.

    Parameters
    ----------
    tokenizer
        A fast tokenizer of transformers, wrapped or not; or a `ctok.Tokenizer`.
    skip_prompt
        Whether the first ids that come, those of the prompt, are left out.
    timeout
        Seconds to wait for a text when iterated. None: no limit.
    skip_special_tokens
        Whether special tokens are left out.

    Notes
    -----
    `put` and `end` are called by ``generate``, in any thread. Texts are taken in one other place, by ``for text in streamer`` in another
    thread or ``async for text in streamer`` on asyncio or trio. Both wait, end with the text, and raise `TimeoutError` after `timeout`.
    A subclass may override `on_finalized_text` instead. After `end` the streamer can be used again. Ids that the tokenizer does not have
    are left out, as ``tokenizer.decode`` does.
    """

    def __init__(
        self, tokenizer: Any, skip_prompt: bool = False, timeout: float | None = None, *, skip_special_tokens: bool = False
    ) -> None:
        self._decoder = _native(tokenizer).decoder(skip_special_tokens=skip_special_tokens)
        self._skip_prompt = skip_prompt
        self._prompt_comes = skip_prompt
        self._timeout = timeout
        self._texts: deque[str | None] = deque()  # None: the end
        self._changed = Condition()
        self._wake: Callable[[], object] | None = None  # tells the task that waits in __anext__

    def put(self, value: Any) -> None:
        """Take ids: the prompt's first, then what is generated.

        Parameters
        ----------
        value
            A tensor or array of ids, a list, or an id. Of two dimensions the first must be 1.

        Raises
        ------
        ValueError
            More than one text at a time.
        """
        ids = _ids(value)
        if self._prompt_comes:
            self._prompt_comes = False
            return
        text = self._decoded(ids)
        if text:
            self.on_finalized_text(text)

    def end(self) -> None:
        """Give what was held back, and end the text."""
        text = self._decoder.decode((), final=True)
        self._prompt_comes = self._skip_prompt
        self.on_finalized_text(text, stream_end=True)

    def _decoded(self, ids: list[int]) -> str:
        try:
            return self._decoder.decode(ids)
        except UnknownIdError:
            return "".join(map(self._decoded_one, ids))

    def _decoded_one(self, number: int) -> str:
        try:
            return self._decoder.decode(number)
        except UnknownIdError:
            return ""

    def on_finalized_text(self, text: str, stream_end: bool = False) -> None:
        """Hand on a text, never an empty one but at the end. What this class does: keep it until it is iterated over."""
        with self._changed:
            if text:
                self._texts.append(text)
            if stream_end:
                self._texts.append(None)
            self._changed.notify()
            wake, self._wake = self._wake, None
        if wake is not None:
            wake()

    # ---- texts, where they are wanted ----

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        with self._changed:
            if not self._changed.wait_for(lambda: self._texts, self._timeout):
                raise TimeoutError(f"no text within {self._timeout} s")
            text = self._texts.popleft()
        if text is None:
            raise StopIteration
        return text

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        from anyio import Event, fail_after

        call = _caller()
        with fail_after(self._timeout):
            while not self._texts:
                arrived = Event()
                with self._changed:
                    if self._texts:
                        break
                    self._wake = partial(call, arrived.set)
                try:
                    await arrived.wait()
                finally:  # cancelled: nobody is to be woken
                    self._wake = None
        text = self._texts.popleft()
        if text is None:
            raise StopAsyncIteration
        return text


def _caller() -> Callable[[Callable[[], object]], object]:
    """Return what lets the running event loop call something, from any thread."""
    from sys import modules

    trio = modules.get("trio")
    if trio is not None:
        try:
            return trio.lowlevel.current_trio_token().run_sync_soon  # type: ignore[no-any-return]
        except RuntimeError:  # it does not run
            pass
    from asyncio import get_running_loop

    return get_running_loop().call_soon_threadsafe


def _native(tokenizer: Any) -> Tokenizer:
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    backend = getattr(tokenizer, "_tokenizer", None)
    if isinstance(backend, Backend):
        return backend._engine.native
    if is_reference(backend):
        return Tokenizer.from_spec(spec_of(backend, type(tokenizer).__name__))
    raise TypeError(f"tokenizer must be a ctok.Tokenizer or a fast tokenizer of transformers, not {type(tokenizer).__name__}")


def _ids(value: Any) -> list[int]:
    found = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(found, int):
        return [found]
    found = list(found)
    if found and isinstance(found[0], (list, tuple)):
        if len(found) > 1:
            raise ValueError(f"a streamer takes one text at a time, not a batch of {len(found)}")
        found = list(found[0])
    return found
