"""The vocabulary: look-ups both ways, its trie, and what it refuses."""

import random
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import o200k_ranks, random_vocabularies, vocab_of
from ctok import BPE, Spec, Split, Tokenizer
from ctok._native.vocab import Vocab
from ctok.errors import SpecError, UnknownIdError
from ctok.spec import TokenTable


def columns(tokens, ids):
    ends, total = array("I"), 0
    for token in tokens:
        total += len(token)
        ends.append(total)
    return b"".join(tokens), ends, array("I", ids)


@given(st.dictionaries(st.binary(min_size=1, max_size=20), st.integers(0, 5000), max_size=60), st.booleans())
def test_lookups_of_random_tokens_equal_a_dict(table, shown):
    table = {token: number for number, token in {number: token for token, number in table.items()}.items()}
    rows = sorted(table.items())
    vocab = Vocab(*columns([token for token, _ in rows], [number for _, number in rows]), shown=True) if shown else vocab_of(table)
    owners = {number: token for token, number in table.items()}
    assert (vocab.n_tokens, len(vocab)) == (len(table), max(owners, default=-1) + 1)
    assert vocab.longest == max(map(len, table), default=0)
    for token, number in table.items():
        assert (vocab.find(token), vocab.token(number)) == (number, token)
        for other in (token + b"\0", token[:-1], b"\0" + token, token[::-1], token + token):
            assert vocab.find(other) == table.get(other)
    for number in range(len(vocab)):
        if number not in owners:
            with pytest.raises(UnknownIdError):
                vocab.token(number)


def test_lookups_of_the_real_vocabulary_find_every_token():
    ranks = o200k_ranks()
    vocab = vocab_of(ranks)
    assert all(vocab.find(token) == rank and vocab.token(rank) == token for token, rank in ranks.items())


PARTS = (b"a", b" \n", b"\xc2\x80", "\u0416".encode(), b"\xdf\xbf", "\u2581".encode(), b"\xed\x9f\xbf", "\U0001f600".encode())
BROKEN = (b"\xc0\x80", b"\xc1\xbf", b"\x80", b"\xc3", b"\xe2\x96", b"\xed\xa0\x80", b"\xe0\x80\x80", b"\xf4\x90\x80\x80", b"\xf5")


@given(
    st.lists(st.lists(st.sampled_from(PARTS), max_size=9), min_size=1, max_size=20),
    st.lists(st.sampled_from(BROKEN), max_size=3),
    st.randoms(),
)
def test_tokens_are_known_for_utf8_where_they_are(pieces, wrong, rng):
    """A decoder lets a token go at once that it knows for UTF-8, and looks at the bytes of any other."""
    tokens = {bytes([b]) for b in range(256)} | {b"".join(piece) for piece in pieces if piece}
    for broken in wrong:
        parts = [*rng.choice(pieces), broken]
        rng.shuffle(parts)
        tokens.add(b"".join(parts))
    ranks = {token: number for number, token in enumerate(sorted(tokens, key=lambda token: (len(token), token)))}
    tok = Tokenizer.from_spec(Spec("t", BPE(TokenTable.from_dict(ranks)), Split(r"\S+|\s+")))
    for token, number in ranks.items():
        assert tok.decode([number]) == token.decode("utf-8", "replace")


@pytest.mark.parametrize("length", [*range(1, 20), 31, 32, 33, 63, 64, 65, 300])
def test_find_texts_that_differ_in_one_byte_tells_them_apart(length):
    rng = random.Random(length)
    token = bytes(rng.choices(range(256), k=length))
    vocab = vocab_of({token: 7})
    assert vocab.find(token) == 7
    for i in range(length):
        for change in (1, 0x80, 7):
            other = bytearray(token)
            other[i] ^= change
            assert vocab.find(other) is None


@pytest.mark.parametrize("last", range(10))
def test_find_eight_bytes_that_end_like_a_length_are_found(last):
    # A short key holds its length in the eighth byte.
    tokens = {b"abcdefg" + bytes([last]): 0, b"abcdefg"[: max(last, 1)]: 1, b"abcdefgh": 2}
    vocab = vocab_of(tokens)
    assert [vocab.find(token) for token in tokens] == [0, 1, 2]
    assert vocab.find(b"abcdefg" + bytes([last + 1])) is None


def test_find_tokens_of_zero_bytes_are_all_different():
    tokens = {b"\0" * n: n for n in range(1, 40)}
    vocab = vocab_of(tokens)
    assert [vocab.find(token) for token in tokens] == list(tokens.values())
    assert vocab.find(b"\0" * 40) is None


def test_empty_token_decodes_to_nothing_and_is_never_found():
    vocab = vocab_of({b"": 3, b"a": 0})
    assert (vocab.token(3), vocab.find(b""), vocab.find(b"a"), vocab.n_tokens) == (b"", None, 0, 2)


def test_vocabulary_without_tokens_is_empty():
    vocab = vocab_of({})
    assert (len(vocab), vocab.longest, vocab.find(b"a"), vocab.find(b"")) == (0, 0, None, None)
    assert len(vocab_of({}, (("<x>", 4),))) == 5


def test_k5_12_last_id_of_a_vocabulary_of_65536_tokens_is_its_token():
    ranks = {number.to_bytes(3, "big"): number for number in range(65536)}
    vocab = vocab_of(ranks)
    assert len(vocab) == 65536
    assert vocab.token(65535) == b"\x00\xff\xff" and vocab.find(b"\x00\xff\xff") == 65535


def test_special_tokens_are_seen_by_id_only():
    vocab = vocab_of({b"a": 0, b"<x>": 1}, (("<x>", 7), ("<é>", 5)))
    assert (vocab.token(7), vocab.token(5), vocab.find(b"<x>"), vocab.find("<é>".encode())) == (b"<x>", "<é>".encode(), 1, None)
    assert [vocab.is_special(i) for i in (-1, 0, 1, 5, 6, 7, 8)] == [False, False, False, True, False, True, False]


def test_special_tokens_of_one_id_decode_to_the_first():
    vocab = vocab_of({b"a": 0}, (("<x>", 7), ("<longer>", 7)))
    assert vocab.token(7) == b"<x>"


def test_special_token_with_the_id_of_an_ordinary_one_takes_the_id():
    vocab = vocab_of({b"a": 0, b"b": 1}, (("<x>", 1),))
    assert (vocab.token(1), vocab.find(b"b"), vocab.is_special(1)) == (b"<x>", 1, True)


@pytest.mark.parametrize(
    ("tokens", "ids"),
    [([b"b", b"a"], [0, 1]), ([b"a", b"a"], [0, 1]), ([b"ab", b"a"], [0, 1]), ([b"a", b"b"], [0, 0]), ([b"", b""], [0, 1]),
     ([b"a", b""], [0, 1]), ([b"a"], [2**31]), ([b"a", b"b"], [5, 2**32 - 1])],
)  # fmt: skip
def test_tokens_that_break_the_order_are_refused(tokens, ids):
    with pytest.raises(SpecError):
        Vocab(*columns(tokens, ids))


def test_columns_that_do_not_fit_together_are_refused():
    data, ends, ids = columns([b"a", b"b"], [0, 1])
    for bad in ((data[:1], ends, ids), (data, ends[:1], ids), (data, ends, ids[:1]), (data, array("I", [2, 1]), ids)):
        with pytest.raises(SpecError):
            Vocab(*bad)
    with pytest.raises(TypeError):
        Vocab(data, [1, 2], [0, 1])
    with pytest.raises(TypeError):
        Vocab(data, bytes(ends)[:7], ids)


@pytest.mark.parametrize("special", [("", 3), ("<x>", -1), ("<x>", 2**31)])
def test_special_tokens_without_text_or_id_are_refused(special):
    with pytest.raises(SpecError):
        vocab_of({b"a": 0}, (special,))


@pytest.mark.parametrize("number", [-1, 1, 2, 9, 2**31, 2**40, -(2**40)])
def test_token_of_an_id_that_does_not_exist_raises_with_the_id(number):
    vocab = vocab_of({b"a": 0, b"b": 3}, (("<x>", 8),))
    with pytest.raises(UnknownIdError) as caught:
        vocab.token(number)
    assert caught.value.id == number
    assert not vocab.is_special(number)


def test_fingerprint_differs_with_every_part():
    base = {b"a": 0, b"b": 1, b"ab": 2}
    others = [vocab_of({**base, b"ab": 3}), vocab_of({b"a": 0, b"b": 1, b"ac": 2}), vocab_of({b"a": 1, b"b": 0, b"ab": 2}),
              vocab_of(base, (("<x>", 3),)), vocab_of(base, (("<y>", 3),)), vocab_of(base, (("<x>", 4),))]  # fmt: skip
    prints = {vocab.fingerprint for vocab in [vocab_of(base), *others]}
    assert len(prints) == 7 and {len(one) for one in prints} == {8}
    assert vocab_of(base).fingerprint == vocab_of(dict(base)).fingerprint


def test_find_every_piece_of_random_vocabularies_equals_a_dict():
    for rng, ranks in random_vocabularies(2, 40, alphabet=bytes([0, 1, 7, 8, 255]), longest=12):
        vocab = vocab_of(ranks)
        text = bytes(rng.choices([0, 1, 7, 8, 255], k=40))
        assert all(vocab.find(text[i:j]) == ranks.get(text[i:j]) for i in range(40) for j in range(i, 41))


def test_find_token_whose_id_a_special_token_took_over():
    ranks = {b"a": 0, b"b": 1, b"ab": 2, b"<x>": 3, b"abab": 4}
    vocab = vocab_of(ranks, (("<y>", 2), ("<|z|>", 4, False)))
    assert [vocab.find(token) for token in ranks] == list(ranks.values())
    assert vocab.find(b"<y>") is None and vocab.find(b"<|z|>") is None


@pytest.mark.parametrize("splits", [b"\0\0\1\1\0", b"\0\3\0\0", b"\0\0\0\2", b"\0\1\0\1"])
def test_splits_that_do_not_cut_tokens_in_two_are_refused(splits):
    table = TokenTable.from_dict({b"a": 0, b"abc": 1, b"b": 2, b"c": 4})
    with pytest.raises(SpecError, match="splits"):
        Vocab(table.data, table.ends, table.ids, (), splits)
