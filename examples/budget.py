"""Count a model's reply while it arrives, and stop reading when it has used up its budget.

    python examples/budget.py [LIMIT]

A streaming client gives deltas, cut anywhere: counting each delta for itself gives too much. Here the count is always that of the
text so far. The reply comes from a stand-in; any stream of chat chunks, response events or message events does.
"""

import sys

import anyio

import ctok

REPLY = "Token counts of pieces do not add up: the pieces were cut where it suited the network, not where tokens end."


class ReplyStream:
    """What a client library returns: chunks to iterate over, and a connection to close."""

    def __init__(self, text, size=3):
        self.parts = [text[i : i + size] for i in range(0, len(text), size)]
        self.taken = 0
        self.is_closed = False

    async def __aiter__(self):
        yield {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}
        for part in self.parts:
            await anyio.sleep(0)
            self.taken += 1
            yield {"choices": [{"index": 0, "delta": {"content": part}}]}
        yield {"choices": [], "usage": {"total_tokens": 0}}

    async def close(self):
        self.is_closed = True


async def read_within(reply, tok, limit):
    """Return the text of `reply`, at most `limit` ids of it, and how many ids that is."""
    counter = tok.counter(limit=limit)
    parts = []
    async with ctok.streams.text_deltas(reply) as deltas:       # leaving the block closes the connection
        async for text in deltas:
            parts.append(text)
            counter.feed(text)
            # `count` can fall again when the next letters join the last token; `stable` cannot.
            if counter.stable > limit:
                break
    text = tok.truncate("".join(parts), limit)
    return text, tok.count(text)


async def main(limit=12):
    tok = ctok.load("o200k_base")
    async with ctok.streams.count(ctok.streams.text_deltas(ReplyStream(REPLY)), tok, limit=limit) as counts:
        async for count in counts:
            print(f"{count} so far, {counts.stable} of them certain, {counts.left} left")
    reply = ReplyStream(REPLY)
    text, used = await read_within(reply, tok, limit)
    print(f"{used} tokens after {reply.taken} of {len(reply.parts)} deltas: {text!r}")


if __name__ == "__main__":
    anyio.run(main, *map(int, sys.argv[1:]))
