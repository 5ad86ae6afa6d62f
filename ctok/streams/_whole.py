"""Whole texts, without holding up the event loop: small ones at once, large ones in a worker thread.

The worker goes slice by slice and looks at a flag before each, so it stops within one slice of being abandoned.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import checkpoint

from .._native.ids import Ids
from ._feed import bytes_per_unit

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer

# Up to here a text is encoded in the event loop: under a millisecond also where it has no borders (10 MB/s).
SMALL_BYTES = 8192
# A worker may take longer over a slice than the event loop may: the GIL is released, and it must only stop within 10 ms.
WORKER_SLICE_BYTES = 16384

T = TypeVar("T")


class _Flag:
    """Tells the worker to stop. Written by one thread and read by another; a late read only costs a slice."""

    __slots__ = ("stop",)

    def __init__(self) -> None:
        self.stop = False


def _slices(text: str | bytes, flag: _Flag) -> Iterator[str | bytes]:
    """Cut `text` for a codec, until the flag is up."""
    width = WORKER_SLICE_BYTES // bytes_per_unit(text)
    for start in range(0, len(text), width):
        if flag.stop:
            return
        yield text[start : start + width]


def _encode(text: str | bytes, tok: Tokenizer, options: dict[str, Any], flag: _Flag) -> Ids:
    encoder = tok.encoder(**options)
    ids = array("I")
    for piece in _slices(text, flag):
        ids.extend(encoder.encode(piece))
    if not flag.stop:
        ids.extend(encoder.encode("", final=True))
    return Ids.from_buffer(ids)


def _count(text: str | bytes, tok: Tokenizer, options: dict[str, Any], flag: _Flag) -> int:
    counter = tok.counter(**options)
    for piece in _slices(text, flag):
        counter.feed(piece)
    if not flag.stop:
        counter.feed("", final=True)
    return counter.count


async def _off_loop(work: Callable[..., T], text: str | bytes, tok: Tokenizer, options: dict[str, Any], limiter: Any) -> T:
    flag = _Flag()
    try:
        return await to_thread.run_sync(work, text, tok, options, flag, abandon_on_cancel=True, limiter=limiter)
    finally:
        flag.stop = True


def _is_small(text: str | bytes) -> bool:
    return len(text) * bytes_per_unit(text) <= SMALL_BYTES


def _check(text: str | bytes) -> str | bytes:
    if isinstance(text, (bytearray, memoryview)):
        return bytes(text)
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"text must be str, or bytes holding UTF-8, not {type(text).__name__}")
    return text


async def encode_text(text: str | bytes, tok: Tokenizer, *, limiter: CapacityLimiter | None = None, **options: Any) -> Ids:
    """Return ``tok.encode_ids(text, **options)`` without holding up the event loop.

    Parameters
    ----------
    text
        A str, or bytes holding UTF-8. It must not change meanwhile.
    tok
        A `Tokenizer`.
    limiter
        Which `anyio.CapacityLimiter` bounds the worker threads; None: anyio's default.
    options
        As ``tok.encode_ids`` takes them.

    Returns
    -------
    Ids
        All ids of the text.

    Notes
    -----
    Up to 8 KiB are encoded at once, after one turn of the event loop. A longer text goes to a worker thread. When the call is
    cancelled it returns at once, and the thread stops after the slice it is at (well under 10 ms).
    """
    text = _check(text)
    await checkpoint()
    if _is_small(text):
        return tok.encode_ids(text, **options)
    return await _off_loop(_encode, text, tok, options, limiter)


async def count_text(text: str | bytes, tok: Tokenizer, *, limiter: CapacityLimiter | None = None, **options: Any) -> int:
    """Return ``tok.count(text, **options)`` without holding up the event loop; see `encode_text`."""
    text = _check(text)
    await checkpoint()
    if _is_small(text):
        return tok.count(text, **options)
    return await _off_loop(_count, text, tok, options, limiter)
