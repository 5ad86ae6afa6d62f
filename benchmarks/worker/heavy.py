"""Measures that are about memory and length more than about a call's time."""

import random

from clock import clocks, resident, since
from operations import need, of_ids, read_text


def memory(engine):
    return {"resident": resident(), "peak": resident("VmHWM")}


def decoders(engine, number):
    """Bytes for `number` live decoders, each in the middle of a character where the vocabulary lets it be."""
    new = need(engine.decoder, "stream decoding")
    lead = engine.encode("\U0001f9ff")[0]
    before = resident()
    alive = [new() for _ in range(number)]
    for decoder in alive:
        engine.step(decoder)(lead)
    return {"bytes": resident() - before, "n": len(alive)}


def chunks_of(text, megabytes, size):
    """Chunks of `size` characters, about `megabytes` in all, from the text over and over; never all of it at once."""
    left = int(megabytes * 1e6 * len(text) / len(text.encode()))
    place = 0
    while left > 0:
        chunk = text[place : place + min(size, left)]
        yield chunk
        left -= len(chunk)
        place = 0 if place + size >= len(text) else place + size


def constant_memory(engine, input, megabytes, how, size=65536):
    """Resident bytes while much text goes through: after a tenth of it, and at most from there on."""
    feed, finish = need(engine.stream_encoder, "stream encoding")() if how == "stream" else (engine.encode, list)
    text = read_text(input)
    tenth = megabytes * 1e5
    ids = seen = early = most = 0
    started = clocks()
    for turn, chunk in enumerate(chunks_of(text, megabytes, size)):
        ids += len(feed(chunk))
        seen += len(chunk.encode())
        if seen > tenth and (turn % 8 == 0 or not early):
            most = max(most, resident())
            early = early or most
    ids += len(finish())
    return {**since(started), "bytes": seen, "n": ids, "early": early, "most": most}


def pretoken(kind, megabytes):
    """One pretoken of so many megabytes of UTF-8, random where it is not one character over and over."""
    draw = random.Random(1)
    length = int(megabytes * 1e6)
    if kind == "letters":
        return "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=length))
    if kind == "cjk":
        return "".join(map(chr, draw.choices(range(0x4E00, 0x9FA6), k=length // 3)))
    return {"a": "a", "spaces": " ", "^": "^"}[kind] * length


def giant(engine, kind, megabytes):
    text = pretoken(kind, megabytes)
    started = clocks()
    ids = engine.encode(text)
    report = since(started)
    report.update(of_ids(ids), bytes=len(text.encode()))
    return report


HEAVY = {"memory": memory, "decoders": decoders, "constant_memory": constant_memory, "giant": giant}
