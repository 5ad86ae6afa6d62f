"""What is timed: each operation prepares its input and returns a function, its argument, and how to fingerprint the result.

Nothing but the call is inside the clock. A fingerprint is equal for equal results whatever the library's own types are.
"""

import hashlib
from array import array


class MissingError(Exception):
    """The engine has no such operation."""


def read_text(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def read_ids(path):
    ids = array("I")
    with open(path, "rb") as file:
        ids.frombytes(file.read())
    return ids.tolist()


def need(function, what):
    if function is None:
        raise MissingError(what)
    return function


def of_ids(ids):
    return {"n": len(ids), "print": hashlib.sha256(array("I", ids).tobytes()).hexdigest()}


def of_text(text):
    return {"n": len(text), "print": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()}


def of_pieces(pieces):
    """Text that came in pieces; None and "" are pieces without text."""
    return of_text("".join(piece for piece in pieces if piece))


def of_count(count):
    return {"n": count, "print": None}


def nothing(_):
    return {"n": None, "print": None}


def encode(engine, path):
    return engine.encode, read_text(path), of_ids


def ids(engine, path):
    """The library's own buffer; its shape differs from one to the next, so `encode` vouches for its content."""
    return need(engine.ids, "encode to a buffer"), read_text(path), nothing


def count(engine, path):
    return need(engine.count, "count without ids"), read_text(path), of_count


def decode(engine, path):
    """The second call: the first one pays for memory that the process has not had yet, more or less of it as loading left it some."""
    decode, ids = need(engine.decode, "decode"), read_ids(path)
    decode(ids)
    return decode, ids, of_text


def stream_decode(engine, path):
    new = need(engine.decoder, "stream decoding")

    def run(numbers):
        step = engine.step(new())
        return [step(number) for number in numbers]

    return run, read_ids(path), of_pieces


def stream_encode(engine, path, size=16):
    text = read_text(path)
    chunks = [text[start : start + size] for start in range(0, len(text), size)]
    new = need(engine.stream_encoder, "stream encoding")

    def run(chunks):
        feed, finish = new()
        out = []
        for chunk in chunks:
            out += feed(chunk)
        out += finish()
        return out

    return run, chunks, of_ids


def reencode(engine, path, size=16, limit=8000):
    """What one does without a stream: encode all that has come so far, again after every chunk."""
    text = read_text(path)[:limit]
    so_far = [text[:stop] for stop in range(size, len(text) + size, size)]

    def run(so_far):
        for prefix in so_far:
            out = engine.encode(prefix)
        return out

    return run, so_far, of_ids


OPERATIONS = {
    "encode": encode,
    "ids": ids,
    "count": count,
    "decode": decode,
    "stream_decode": stream_decode,
    "stream_encode": stream_encode,
    "reencode": reencode,
}
