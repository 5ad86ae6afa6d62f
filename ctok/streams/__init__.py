"""Text and ids as async streams, on asyncio and trio.

The functions take any async iterable, anyio receive stream or ordinary iterable and return an object to iterate over::

    async with ctok.streams.decode(engine.generate(prompt), tok, stop=["</s>"]) as pieces:
        async for text in pieces:
            ...

Each object is an anyio object receive stream: it has ``receive()`` and ``aclose()``, and leaving its ``async with`` block closes the
source. The classes behind the functions, and their twins for sending, are public, too. Nothing runs in the background:
work is done while the consumer awaits the next item, so a slow consumer slows its source.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from ._deltas import TextDeltaReceiveStream, delta_text
from ._receive import CountReceiveStream, DecodeReceiveStream, DeltaReceiveStream, EncodeReceiveStream
from ._send import CountSendStream, DecodeSendStream, EncodeSendStream
from ._whole import count_text, encode_text

if TYPE_CHECKING:
    from ..incremental import IncrementalCounter, IncrementalDecoder, IncrementalEncoder
    from ..tokenizer import Tokenizer
    from ._source import AnySource, IdSource, TextSource

__all__ = [
    "CountReceiveStream",
    "CountSendStream",
    "DecodeReceiveStream",
    "DecodeSendStream",
    "DeltaReceiveStream",
    "EncodeReceiveStream",
    "EncodeSendStream",
    "TextDeltaReceiveStream",
    "count",
    "count_text",
    "decode",
    "decode_deltas",
    "delta_text",
    "encode",
    "encode_text",
    "text_deltas",
]


def encode(source: TextSource, tok: Tokenizer | IncrementalEncoder, **options: Any) -> EncodeReceiveStream:
    """Return a stream of the ids of text that is still arriving.

    Parameters
    ----------
    source
        Gives str, or bytes holding UTF-8, cut anywhere. One str or bytes object is a source of one chunk.
    tok
        A `Tokenizer`; or an `IncrementalEncoder`, to go on from its state.
    options
        As ``tok.encoder`` takes them.

    Returns
    -------
    EncodeReceiveStream
        Gives non-empty lists of ids. Joined they are the ids of the whole text; each id comes as soon as no later text can
        change it. A long chunk gives several lists.
    """
    return EncodeReceiveStream(source, tok, **options)


def decode(source: IdSource, tok: Tokenizer | IncrementalDecoder, **options: Any) -> DecodeReceiveStream:
    """Return a stream of the text of ids that are still arriving.

    Parameters
    ----------
    source
        Gives ids, or sequences of ids.
    tok
        A `Tokenizer`; or an `IncrementalDecoder`, to go on from its state.
    options
        As ``tok.decoder`` takes them: `stop`, `include_stop`, `prefix_ids`, `skip_special_tokens`, `errors`, ...

    Returns
    -------
    DecodeReceiveStream
        Gives non-empty pieces of text, each as early as it is certain. It ends at the end of the source or after a stop
        string, and ``finish_reason`` says which. After a stop the source is not pulled again, but only closed by `aclose`.
    """
    return DecodeReceiveStream(source, tok, **options)


def decode_deltas(source: IdSource, tok: Tokenizer | IncrementalDecoder, **options: Any) -> DeltaReceiveStream:
    """Return a stream of `Delta` objects: pieces of text with the ids they come from.

    Parameters and behaviour are those of `decode`. The ids of all deltas, joined, are the ids of the source up to the end or the
    stop; a delta whose ids decode to nothing has no text.
    """
    return DeltaReceiveStream(source, tok, **options)


def count(source: TextSource, tok: Tokenizer | IncrementalCounter, **options: Any) -> CountReceiveStream:
    """Return a stream of token counts of text that is still arriving.

    Parameters
    ----------
    source
        Gives str, or bytes holding UTF-8, cut anywhere.
    tok
        A `Tokenizer`; or an `IncrementalCounter`, to go on from its state.
    options
        As ``tok.counter`` takes them: `limit`, `rewind`, and the options of encoding.

    Returns
    -------
    CountReceiveStream
        Gives one number a chunk: how many ids the text so far has, exactly, if it ended there. It can fall by later text;
        the stream's ``stable`` cannot, and ``left`` is what remains of `limit`.
    """
    return CountReceiveStream(source, tok, **options)


def text_deltas(source: AnySource[Any], *, kinds: Collection[str] = ("text",), choice: int = 0) -> TextDeltaReceiveStream:
    """Return a stream of the text inside the events of a model's reply, for `count` or `encode`.

    Parameters
    ----------
    source
        Gives the events of a streaming client, as objects or dicts: chat or text completion chunks, response events, message
        events.
    kinds
        What counts as text: any of ``"text"``, ``"reasoning"``, ``"refusal"`` and ``"arguments"`` (of tool calls).
    choice
        Which of several replies to follow, where the events carry several.
    """
    return TextDeltaReceiveStream(source, kinds=kinds, choice=choice)
