"""Lists of ids: the int objects that they share, which are ints like all others and outlive every list, and the room for many ids."""

import base64
import copy
import gc
import json
import pickle
import sys
import textwrap

import pytest

import ctok


@pytest.fixture(scope="module")
def tok():
    return ctok.load("o200k_base")


def tokens_of(tok, step):
    """The bytes of every step-th token, and the ids they are encoded as."""
    for number in range(0, 199_000, step):
        token = tok.id_to_bytes(number)
        yield token, tok.encode_ids(token.decode("utf-8", "replace")).tolist()


def test_an_id_is_an_int_in_every_respect(tok):
    for _, ids in tokens_of(tok, 101):
        for number in ids:
            plain = int(str(number))
            assert type(number) is int
            assert number == plain and hash(number) == hash(plain) and {number: 1}[plain] == 1
            assert sys.getsizeof(number) == sys.getsizeof(plain) or plain == 0
            assert (number + 1, -number, number * number) == (plain + 1, -plain, plain * plain)
            assert (number >> 3, number**3) == (plain >> 3, plain**3)
            assert number.bit_length() == plain.bit_length() and number.to_bytes(8, "little") == plain.to_bytes(8, "little")
            assert f"{number:x} {number!r}" == f"{plain:x} {plain!r}"
    ids = tok.encode("The quick brown fox jumps over 13 lazy dogs. Ελληνικά, 中文, 🦊!")
    plain = [int(str(number)) for number in ids]
    for same in (pickle.loads(pickle.dumps(ids)), copy.deepcopy(ids), json.loads(json.dumps(ids)), sorted(ids, key=ids.index)):
        assert same == plain or sorted(same) == sorted(plain)
    assert tok.decode(ids) == tok.decode(plain)


def test_lists_of_one_process_share_their_ints(tok):
    a, b = tok.encode("shared between lists"), tok.encode("shared between lists")
    assert a is not b and a == b
    if sys.maxsize > 2**32 and not hasattr(sys, "gettotalrefcount"):
        assert all(x is y for x, y in zip(a, b, strict=True))


def test_letting_lists_go_never_frees_an_int(tok):
    text = "one two three four five six seven eight nine ten " * 40
    ids = tok.encode(text)
    before = [sys.getrefcount(number) for number in ids]
    for _ in range(300):
        kept = tok.encode(text)
        del kept[::2]
        kept.reverse()
        kept.clear()
    gc.collect()
    assert tok.encode(text) == ids == [int(str(number)) for number in ids]
    if sys.version_info >= (3, 12):
        assert [sys.getrefcount(number) for number in ids] == before  # immortal: nobody counts
    else:
        assert min(sys.getrefcount(number) for number in ids) > 2**40


def test_a_larger_vocabulary_leaves_the_ints_of_a_smaller_one(tmp_path, run_python):
    """In a process of its own: the table grows with the first large vocabulary, and what was handed out stays."""
    lines = [f"{base64.b64encode(bytes([byte])).decode()} {byte}" for byte in range(256)]
    (tmp_path / "bytes.tiktoken").write_text("\n".join(lines))
    code = """
        import os, ctok
        small = ctok.load(os.environ["VOCAB"], pattern=r"\\S+|\\s+")
        ids = small.encode("bytes, one by one \\u00e4")
        kept = [str(number) for number in ids]
        large = ctok.load("o200k_base")
        for number in range(0, 199_000, 7):
            token = large.id_to_bytes(number)
            if b"\\xef\\xbf\\xbd" not in token:
                text = token.decode("utf-8", "ignore")
                assert large.decode(large.encode(text)) == text
        assert [str(number) for number in ids] == kept == [str(number) for number in small.encode("bytes, one by one \\u00e4")]
    """
    run_python(textwrap.dedent(code), VOCAB=str(tmp_path / "bytes.tiktoken"))


@pytest.mark.parametrize("lines", [120_000, 700_000])
def test_ids_that_outgrow_the_room_of_a_text(tok, lines):
    """More ids than a quarter of the characters, and than one large page holds: what was there is kept while the room grows."""
    line = tok.encode("é1β2ж3\n")
    assert len(line) > 5
    text = "é1β2ж3\n" * lines
    assert tok.encode(text) == line * lines
    assert tok.encode_ids(text).tolist() == line * lines
    assert tok.count(text) == len(line) * lines
