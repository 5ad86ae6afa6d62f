"""The alphabet in which byte-level files spell bytes as visible characters (csrc/ctok_bytelevel.h)."""

__all__ = ["spell", "unspell"]


def _alphabet() -> list[str]:
    visible = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = [byte for byte in range(256) if byte not in visible]
    spare = {byte: chr(0x100 + i) for i, byte in enumerate(others)}
    return [spare.get(byte, chr(byte)) for byte in range(256)]


_ALPHABET = _alphabet()


def spell(token: bytes) -> str:
    """Return the spelling of a token's bytes."""
    return "".join([_ALPHABET[byte] for byte in token])


_BYTES = {letter: byte for byte, letter in enumerate(_ALPHABET)}


def unspell(text: str) -> bytes | None:
    """Return the bytes that a spelling stands for, or None where it is none."""
    try:
        return bytes([_BYTES[letter] for letter in text])
    except KeyError:
        return None
