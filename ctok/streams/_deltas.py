"""The text inside the events of a model's reply, by shape: objects with attributes or dicts, no client library needed.

Known shapes: chat and text completion chunks (``choices``), response events (``type`` ends in ``.delta``) and message events
(``type`` is ``content_block_delta`` or ``content_block_start``). Other events carry no text and are passed over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ._feed import Feed
from ._receive import FeedReceiveStream

KINDS = ("text", "reasoning", "refusal", "arguments")

_CHAT_FIELDS = (("content", "text"), ("reasoning_content", "reasoning"), ("reasoning", "reasoning"), ("refusal", "refusal"))
_BLOCK_FIELDS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "reasoning"),
    "input_json_delta": ("partial_json", "arguments"),
    "text": ("text", "text"),
    "thinking": ("thinking", "reasoning"),
}


def _get(thing: Any, name: str) -> Any:
    if isinstance(thing, Mapping):
        return thing.get(name)
    return getattr(thing, name, None)


def _chat(choices: Any, choice: int) -> Iterator[tuple[str, Any]]:
    for entry in choices:
        if (_get(entry, "index") or 0) != choice:
            continue
        yield "text", _get(entry, "text")
        delta = _get(entry, "delta")
        seen: set[str] = set()
        for field, kind in _CHAT_FIELDS:
            value = _get(delta, field)
            # Some servers give the same reasoning under both names.
            if value and kind not in seen:
                seen.add(kind)
                yield kind, value
        for call in _get(delta, "tool_calls") or ():
            yield "arguments", _get(_get(call, "function"), "arguments")


def _response(name: str, event: Any) -> Iterator[tuple[str, Any]]:
    stem = name[: -len(".delta")]
    if stem.endswith("text"):
        yield ("reasoning" if "reasoning" in stem else "text"), _get(event, "delta")
    elif stem.endswith("refusal"):
        yield "refusal", _get(event, "delta")
    elif stem.endswith(("arguments", "input")):
        yield "arguments", _get(event, "delta")


def _block(part: Any) -> Iterator[tuple[str, Any]]:
    known = _BLOCK_FIELDS.get(_get(part, "type"))
    if known is not None:
        yield known[1], _get(part, known[0])


def _parts(item: Any, choice: int) -> Iterator[tuple[str, Any]]:
    choices = _get(item, "choices")
    if choices is not None:
        yield from _chat(choices, choice)
        return
    name = _get(item, "type")
    if not isinstance(name, str):
        raise TypeError(f"no text delta is known in {type(item).__name__}: it has neither choices nor a type")
    if name == "content_block_delta":
        yield from _block(_get(item, "delta"))
    elif name == "content_block_start":
        yield from _block(_get(item, "content_block"))
    elif name.endswith(".delta"):
        yield from _response(name, item)


def delta_text(item: Any, *, kinds: Collection[str] = ("text",), choice: int = 0) -> str:
    """Return the text one event adds to the reply; ``""`` if it adds none.

    Parameters
    ----------
    item
        An event, as an object or as the dict its JSON gives. A str is text already; None is no text.
    kinds
        What counts as text: any of ``"text"``, ``"reasoning"``, ``"refusal"`` and ``"arguments"`` (of tool calls).
    choice
        Which of several replies to follow, where the events carry several.

    Raises
    ------
    TypeError
        `item` has none of the known shapes.
    """
    if item is None or isinstance(item, str):
        return item or ""
    return "".join(value for kind, value in _parts(item, choice) if kind in kinds and isinstance(value, str))


class _EventFeed(Feed):
    __slots__ = ("choice", "kinds")
    full_credit = 256

    def __init__(self, kinds: Collection[str], choice: int) -> None:
        super().__init__()
        if isinstance(kinds, str):
            raise TypeError("kinds is a collection of names, not a str")
        unknown = set(kinds).difference(KINDS)
        if unknown:
            raise ValueError(f"unknown kinds {sorted(unknown)}: there are {', '.join(KINDS)}")
        self.kinds = frozenset(kinds)
        self.choice = choice

    def take(self, item: Any) -> str | None:
        self.credit -= 1
        return delta_text(item, kinds=self.kinds, choice=self.choice) or None

    def end(self) -> None:
        return None


class TextDeltaReceiveStream(FeedReceiveStream[str]):
    """Events of a model's reply in, their text out; events without text are passed over.

    Closing it closes the source: a client library's stream, and with it the connection.
    """

    def __init__(self, source: Any, *, kinds: Collection[str] = ("text",), choice: int = 0) -> None:
        super().__init__(source, _EventFeed(kinds, choice))
