"""Cutting with a split pattern that does not stream: by bisection, which must not trip over what it cuts through."""

import pytest

from ctok import BPE, AddedToken, EncodeError, Spec, Split, Tokenizer, TokenTable

ADDED = (AddedToken("<s>", 300), AddedToken("<tool>", 301, special=False))
TABLE = TokenTable.from_dict({bytes([byte]): byte for byte in range(256)})


@pytest.fixture(scope="module")
def tok():
    tok = Tokenizer.from_spec(Spec("look-behind", BPE(TABLE), Split(r"(?<=a)b|\w+|\W"), ADDED))
    assert not tok.streams
    return tok


@pytest.mark.parametrize("text, limit, wanted", [("<tool>abc", 2, "<tool>a"), ("x<s>abc", 2, "x<s>"), ("<tool>" * 3, 3, "<tool>" * 3)])
def test_truncate_looks_behind_an_added_token_it_cut_through(tok, text, limit, wanted):
    assert tok.truncate(text, limit, allowed_special="all") == wanted


@pytest.mark.parametrize("limit", range(10))
def test_truncate_does_not_cut_surrogate_pairs(tok, limit):
    text = "\ud83d\ude00" * 2
    assert tok.truncate(text, limit) == text[: limit // 4 * 2]
    assert tok.truncate(text, limit, errors="replace") == text[: limit // 4 * 2]


def test_truncate_refuses_lone_surrogates(tok):
    with pytest.raises(EncodeError):
        tok.truncate("ab\ud800", 2)


def test_split_pieces_join_to_the_text(tok):
    text = "<tool>ab é 世界\ud83d\ude00 <s>x" * 3
    pieces = tok.split(text, 4, allowed_special="all")
    assert "".join(pieces) == text
    assert max(tok.count(piece, allowed_special="all") for piece in pieces) <= 4
