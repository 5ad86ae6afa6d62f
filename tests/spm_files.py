"""Small SentencePiece model files, made by hand: a protobuf needs little."""

import lzma
import struct

import pytest

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
KINDS = {"unigram": 1, "bpe": 2, "word": 3, "char": 4}
META = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL)]
LETTERS = [("\u2581", -1.0, NORMAL), ("a", -2.0, NORMAL), ("b", -3.0, NORMAL), ("ab", -1.5, NORMAL)]
BYTES = [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
SMALL = [*META, *LETTERS]


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def field(number, value):
    """One field: bytes and str as such, bool and int as numbers, float in four bytes."""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def piece(text, score=0.0, kind=NORMAL):
    """A piece as sentencepiece's trainer writes it."""
    return field(1, field(1, text) + field(2, score) + (field(3, kind) if kind != NORMAL else b""))


def file(pieces=SMALL, kind="unigram", trainer=b"", normalizer=b"", rest=b""):
    """A model file. `trainer` and `normalizer` are further fields of these messages, `rest` of the file."""
    body = b"".join(piece(*each) for each in pieces)
    return body + field(2, field(3, KINDS[kind]) + trainer) + field(3, normalizer) + rest


def table(units=None, texts=b"x\0"):
    """A normalizer's table with some units, by place; without any, one that changes nothing."""
    units = {0: 1 << 10} if units is None else units
    size = 256 * (max(units, default=0) // 256 + 1)
    return struct.pack(f"<I{size}I", 4 * size, *(units.get(place, 0) for place in range(size))) + texts


def real(shared, name):
    """The bytes of a published model; the test is skipped where it is not there."""
    packed = shared / "conformance" / "vocabs" / f"{name}.model.xz"
    if not packed.exists():
        pytest.skip(f"{packed} is not there")
    return lzma.decompress(packed.read_bytes())
