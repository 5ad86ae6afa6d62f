"""Where a stream's items come from: anything that can be iterated, with one way to pull and one way to close.

Knows nothing of text or ids. Keeps no item: what was pulled belongs to the caller at once, so a cancelled pull loses
exactly what the source itself loses (nothing, for anyio streams).
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol, SupportsIndex, TypeAlias, TypeVar

from anyio import EndOfStream

T_co = TypeVar("T_co", covariant=True)

# How a source says that it has ended: as an iterator, or as an anyio stream.
ENDS = (StopAsyncIteration, EndOfStream)


class Receiver(Protocol[T_co]):
    """An object that gives its items by `receive`, and ends by `anyio.EndOfStream`."""

    async def receive(self) -> T_co: ...


# What the streams take. trio's channels and anyio's receive streams, of objects and of bytes, are async iterables.
AnySource: TypeAlias = AsyncIterable[T_co] | Iterable[T_co] | Receiver[T_co]
TextSource: TypeAlias = AnySource[str | bytes] | str | bytes
IdSource: TypeAlias = AnySource[SupportsIndex | Iterable[SupportsIndex]]


class _Plain:
    """The async face of an ordinary iterator; it never waits, the stream's meter yields to the event loop instead."""

    __slots__ = ("_iterator",)

    def __init__(self, iterator: Iterator[Any]) -> None:
        self._iterator = iterator

    async def __anext__(self) -> Any:
        for item in self._iterator:
            return item
        raise StopAsyncIteration

    async def aclose(self) -> None:
        if inspect.isgenerator(self._iterator):
            self._iterator.close()


def _open(source: Any) -> tuple[Any, Callable[[], Any]]:
    """Return what gives the items of `source`, and the call that gives the next one."""
    if isinstance(source, (str, bytes, bytearray, memoryview)):
        source = (source,)
    if hasattr(source, "__aiter__"):
        iterator = source.__aiter__()
        return iterator, iterator.__anext__
    if hasattr(source, "receive"):
        return source, source.receive
    if hasattr(source, "__iter__"):
        plain = _Plain(iter(source))
        return plain, plain.__anext__
    if inspect.iscoroutine(source):
        source.close()
        raise TypeError("the source is a coroutine: await it first, then give what it returns")
    raise TypeError(f"the source must be an async iterable, an anyio receive stream or an iterable, not {type(source).__name__}")


async def _close(thing: Any) -> None:
    close = getattr(thing, "aclose", None)
    if close is None:
        close = getattr(thing, "close", None)
        if not inspect.iscoroutinefunction(close):
            return
    await close()


class Source:
    """One way to pull items from, and to close, whatever the caller gave.

    ``await pull()`` gives the next item, or raises one of `ENDS`.
    """

    __slots__ = ("_given", "_iterator", "pull")

    def __init__(self, source: Any) -> None:
        self._given = source
        self._iterator, self.pull = _open(source)

    @property
    def extra_attributes(self) -> Mapping[Any, Callable[[], Any]]:
        return getattr(self._given, "extra_attributes", {})

    async def aclose(self) -> None:
        """Close the source, and the iterator it gave if that is another object.

        An async generator that another task is waiting in cannot be closed from here. It is left alone, and the pull
        that runs closes it when it comes back (`aclose` once more).
        """
        iterator = self._iterator
        try:
            if not (inspect.isasyncgen(iterator) and iterator.ag_running):
                await _close(iterator)
        finally:
            if iterator is not self._given and not isinstance(iterator, _Plain):
                await _close(self._given)
