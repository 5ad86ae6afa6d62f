"""Encode a file of any size in constant memory.

    python examples/encode_file.py TEXT IDS

IDS gets the ids of the UTF-8 text as little-endian 32-bit numbers, exactly those of the whole text. Neither the text nor the ids are ever
in memory as a whole, and the event loop stays free.
"""

import sys
from array import array

import anyio

import ctok

CHUNK = 1 << 16


class Chunks:
    """The bytes of an open file, piece by piece. A piece may end inside a character."""

    def __init__(self, file):
        self.file = file

    def __aiter__(self):
        return self

    async def __anext__(self):
        chunk = await self.file.read(CHUNK)
        if not chunk:
            raise StopAsyncIteration
        return chunk


async def encode_file(source, target, tok):
    """Write the ids of the file `source` to the file `target`; return how many."""
    total = 0
    async with await anyio.open_file(source, "rb") as text, await anyio.open_file(target, "wb") as out:
        async for ids in ctok.streams.encode(Chunks(text), tok):
            total += len(ids)
            packed = array("I", ids)
            if sys.byteorder == "big":
                packed.byteswap()
            await out.write(packed.tobytes())
    return total


async def main(source, target):
    print(await encode_file(source, target, ctok.load("o200k_base")), "ids")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    anyio.run(main, *sys.argv[1:])
