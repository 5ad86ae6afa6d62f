"""A small byte-level vocabulary for tests: every byte, some whole tokens, some that cut characters, special tokens, gaps in the ids."""

from array import array

from ctok._native.vocab import Vocab

WHOLE = ["he", "hello", " world", "you", "stop", "</", "think", ">", "\n\n", "é", "ж", " да", "你", "世界", "😀", "�", "a" * 40]
CUT = [b" \xf0\x9f", b"\x98\x80", b"\xe4\xbd", b"\xbd\xa0", b" \xe4", b"\xa0 b", b"\xf0\x9f\x8c", b"\xc3\xa9\xc3", b"\x8c\xb6!"]
SPECIAL = (("<|end|>", 400), ("<|é|>", 405), ("<|x|>", 411))


def token_table():
    """Return {bytes: id} of the ordinary tokens."""
    table = {bytes([b]): b ^ 0x55 for b in range(256)}
    for i, token in enumerate([*(text.encode() for text in WHOLE), *CUT]):
        table[token] = 260 + 2 * i
    return table


def toy_vocab(table=None, special=SPECIAL):
    """Return a `Vocab` of {bytes: id} and pairs (text, id)."""
    table = token_table() if table is None else table
    tokens = sorted(table)
    ends, end = array("I"), 0
    for token in tokens:
        end += len(token)
        ends.append(end)
    return Vocab(b"".join(tokens), ends, array("I", [table[token] for token in tokens]), special)


def toy_tokens(table=None, special=SPECIAL):
    """Return {id: bytes} of all tokens, special ones included, and the set of special ids: what the slow twins take."""
    table = token_table() if table is None else table
    tokens = {number: token for token, number in table.items()} | {number: text.encode() for text, number in special}
    return tokens, {number for _, number in special}


def toy_id(token):
    """Return the id of a token given as str or bytes, special ones included."""
    raw = token.encode() if isinstance(token, str) else bytes(token)
    return (token_table() | {text.encode(): number for text, number in SPECIAL})[raw]


def toy_ids(*tokens):
    """Return the ids of tokens given as str or bytes."""
    return [toy_id(token) for token in tokens]
