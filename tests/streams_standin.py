"""What the tests of ctok.streams stand on: a tokenizer that records every call, sources that can be steered, points to cancel at.

The tokenizer is no real one: an id is three bytes of UTF-8 (with its own mark when the text ends before they are full), so what
is held back, what a chunk releases and where a slice ends can be said by counting.
"""

import codecs
from array import array

import anyio
from anyio.lowlevel import checkpoint


def _bytes(chunk):
    return chunk.encode() if isinstance(chunk, str) else bytes(chunk)


def _id(group):
    return len(group) << 24 | int.from_bytes(group, "big")


def _content(token_id):
    size = token_id >> 24
    if not 1 <= size <= 3:
        raise LookupError(f"id {token_id} is unknown")
    return (token_id & 0xFFFFFF).to_bytes(size, "big")


class ToyCodec:
    def __init__(self, tok):
        self.tok = tok
        self.held = b""

    def getstate(self):
        return self.held

    def encode(self, chunk, final=False):
        """Return full groups; a chunk that holds ``!`` is refused and changes nothing."""
        data = _bytes(chunk)
        self.tok.calls.append(len(chunk))
        if b"!" in data:
            raise ValueError("refused")
        data = self.held + data
        end = len(data) if final else len(data) - len(data) % 3
        self.held = data[end:]
        return [_id(data[i : min(i + 3, end)]) for i in range(0, end, 3)]


class ToyCounter(ToyCodec):
    def __init__(self, tok, limit=None):
        super().__init__(tok)
        self.limit = limit
        self.stable = 0

    @property
    def count(self):
        return self.stable + bool(self.held)

    @property
    def left(self):
        return None if self.limit is None else self.limit - self.count

    def feed(self, chunk, final=False):
        self.stable += len(self.encode(chunk, final))


class ToyDelta:
    def __init__(self, text, ids):
        self.text, self.ids = text, ids


class ToyDecoder:
    def __init__(self, tok, stop=()):
        self.tok = tok
        self.stop = stop
        self.finish = None
        self.utf8 = codecs.getincrementaldecoder("utf-8")("replace")

    def getstate(self):
        return self.utf8.getstate()

    def decode(self, ids, final=False):
        """Return the text of complete characters; a stop is one character, so nothing is held back for it."""
        ids = [ids] if isinstance(ids, int) else list(ids)
        self.tok.calls.append(len(ids))
        data = b"".join(map(_content, ids))
        if self.finish:
            return ""
        text = self.utf8.decode(data, final)
        for stop in self.stop:
            if stop in text:
                self.finish = "stop"
                return text[: text.index(stop)]
        return text

    def decode_delta(self, ids, final=False):
        given = [ids] if isinstance(ids, int) else list(ids)
        return ToyDelta(self.decode(ids, final), given)


class ToyTokenizer:
    """Three bytes an id. ``calls`` has the size of every piece that a codec was given."""

    def __init__(self):
        self.calls = []

    def encoder(self):
        return ToyCodec(self)

    def counter(self, limit=None):
        return ToyCounter(self, limit)

    def decoder(self, stop=()):
        return ToyDecoder(self, stop)

    def encode(self, text):
        return ToyCodec(ToyTokenizer()).encode(text, final=True)

    def encode_ids(self, text):
        return array("I", self.encode(text))

    def count(self, text):
        return len(self.encode(text))

    def decode(self, ids):
        return b"".join(map(_content, ids)).decode(errors="replace")


class Points:
    """Counts the places where a run waits, and cancels `scope` at the one numbered `at`."""

    def __init__(self, at=None):
        self.at = at
        self.passed = 0
        self.scope = None

    async def __call__(self):
        self.passed += 1
        if self.passed == self.at:
            self.scope.cancel()
        await checkpoint()


class Script:
    """An async source that gives, or raises, what its list says; it waits at `point` before each, and never loses an item."""

    def __init__(self, items, point=checkpoint):
        self.items = list(items)
        self.point = point
        self.pulls = 0
        self.closed = 0

    def __aiter__(self):
        return self

    async def __anext__(self):
        await self.point()
        self.pulls += 1
        if not self.items:
            raise StopAsyncIteration
        item = self.items.pop(0)
        if isinstance(item, Exception):
            raise item
        return item

    async def aclose(self):
        self.closed += 1
        await checkpoint()


class Sink(anyio.abc.ObjectSendStream):
    """A transport that keeps what it gets; it waits at `point` before each item and raises the exceptions of its script."""

    def __init__(self, point=checkpoint, script=()):
        self.point = point
        self.script = list(script)
        self.items = []
        self.closed = 0

    async def send(self, item):
        await self.point()
        if self.script:
            error = self.script.pop(0)
            if error is not None:
                raise error
        self.items.append(item)

    async def aclose(self):
        self.closed += 1
        await checkpoint()


class Waiting(anyio.abc.ObjectReceiveStream, anyio.abc.ObjectSendStream):
    """A stream where nothing ever happens until somebody closes it."""

    def __init__(self):
        self.gate = anyio.Event()

    async def receive(self):
        await self.gate.wait()
        raise anyio.ClosedResourceError

    async def send(self, item):
        await self.receive()

    async def aclose(self):
        self.gate.set()


def flat(lists):
    return [value for part in lists for value in part]
