"""Decoder chains, slowly: each decoder of a tokenizer.json as a function from a list of tokens to a list of tokens.

The oracle of `_native/chains`, `_native/decode` and csrc/ctok_machine.c, and the plainest statement of what they promise. Whole input only.
"""

import re

from .decode import REPLACEMENT, cells

CLEANUP = [
    (" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m"), (" do not", " don't"), (" 's", "'s"),
    (" 've", "'ve"), (" 're", "'re"),
]  # fmt: skip
PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
OTHERS = [byte for byte in range(256) if byte not in PRINTABLE]
BYTE_OF = {chr(byte): byte for byte in PRINTABLE} | {chr(0x100 + k): byte for k, byte in enumerate(OTHERS)}
LETTER_OF = {byte: letter for letter, byte in BYTE_OF.items()}


def decode(record, tokens, policy=None, errors="replace"):
    """Return the text of a list of tokens; `record` is one of `stagespecs.decoders`, or None: blanks between the tokens."""
    if record is None:
        return " ".join(tokens)
    return "".join(decode_list(record, list(tokens), policy, errors))


def decode_list(record, tokens, policy=None, errors="replace"):
    """Return the tokens that one decoder makes of `tokens`."""
    name = type(record).__name__
    if name == "Sequence":
        for step in record.steps:
            tokens = decode_list(step, tokens, policy, errors)
        return tokens
    if name in BY_BYTES:
        return BY_BYTES[name](tokens, policy, errors)
    return BY_TEXT[name](record, tokens)


def mend(data, policy, errors):
    return "".join(cell.text for cell in cells(data, policy == "per_byte", errors))


def spell(data):
    """Return bytes in the byte-level alphabet."""
    return "".join(LETTER_OF[byte] for byte in data)


def unspell(token):
    """Return the bytes of a token in the byte-level alphabet; of one with any other character, its own."""
    return bytes(BYTE_OF[char] for char in token) if all(char in BYTE_OF for char in token) else token.encode()


def byte_level(tokens, policy, errors):
    return [mend(b"".join(map(unspell, tokens)), policy, errors)]


def byte_of(token):
    return int(token[3:5], 16) if re.fullmatch(r"<0x[0-9A-Fa-f+][0-9A-Fa-f]>", token) else None


def byte_fallback(tokens, policy, errors):
    result, run = [], b""
    for token in [*tokens, None]:
        byte = None if token is None else byte_of(token)
        if byte is not None:
            run += bytes([byte])
            continue
        if run and policy in (None, "hf_run") and any(cell.state != "good" for cell in cells(run)):
            result += [REPLACEMENT] * len(run) if errors == "replace" else []
        elif run:
            result.append(mend(run, policy, errors))
        run = b""
        if token is not None:
            result.append(token)
    return result


def fuse(_, tokens):
    return ["".join(tokens)]


def metaspace(record, tokens):
    blanks = ["" if k == 0 and record.prepend_scheme != "never" else " " for k in range(len(tokens))]
    return [token.replace(record.replacement, blank) for token, blank in zip(tokens, blanks, strict=True)]


def replace(record, tokens):
    """Only plain patterns: what a regex matches is left to the reference."""
    return [token and token.replace(record.pattern.text, record.content) for token in tokens]


def strip(record, tokens):
    result = []
    for token in tokens:
        start = min(len(token) - len(token.lstrip(record.content)), record.left)
        rest = token[start:]
        result.append(rest[: len(rest) - min(len(rest) - len(rest.rstrip(record.content)), record.right)])
    return result


def cleanup(token):
    for find, put in CLEANUP:
        token = token.replace(find, put)
    return token


def wordpiece(record, tokens):
    result = []
    for k, token in enumerate(tokens):
        if k > 0:
            token = token.removeprefix(record.prefix) if token.startswith(record.prefix) else " " + token
        result.append(cleanup(token) if record.cleanup else token)
    return result


def bpe(record, tokens):
    last = len(tokens) - 1
    return [token.replace(record.suffix, "" if k == last else " ") for k, token in enumerate(tokens)]


def ctc(record, tokens):
    result = []
    for k, token in enumerate(tokens):
        if k > 0 and token == tokens[k - 1]:
            continue
        token = token.replace(record.pad_token, "")
        if record.cleanup:
            token = cleanup(token).replace(record.word_delimiter_token, " ")
        result += [token] if token else []
    return result


BY_BYTES = {"ByteLevel": byte_level, "ByteFallback": byte_fallback}
BY_TEXT = {"Fuse": fuse, "Metaspace": metaspace, "Replace": replace, "Strip": strip, "WordPiece": wordpiece, "BPEDecoder": bpe, "CTC": ctc}
