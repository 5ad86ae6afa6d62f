"""Cutting where little is certain early: a split pattern that does not stream is bisected; a unigram model tells how few ids there are."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctok import BPE, AddedToken, EncodeError, Spec, Split, Tokenizer, TokenTable, cutting, load
from ctok.stagespecs.models import WordLevel, table_of_texts
from ctok.stagespecs.postprocessors import SequencePiece, SpecialPiece, TemplateProcessing, TemplateToken
from piece_models import alike

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


class Counted:
    """A tokenizer that does not stream, and how many characters it has counted."""

    streams, flow, has_template = False, None, False

    def __init__(self, tok):
        self.tok, self.seen = tok, 0

    def count(self, text):
        self.seen += len(text)
        return self.tok.count(text)


def test_pieces_of_a_pattern_that_does_not_stream_cost_what_is_in_them(tok):
    costs = []
    for n in (50, 200):
        counted, text = Counted(tok), "ab é 世界 " * n
        places = [end for _, end in cutting.pieces(counted, text, 50, 0, {})]
        assert places[-1] == len(text)
        assert all(tok.count(text[a:b]) <= 50 < tok.count(text[a : b + 1]) for a, b in pairwise(places[:9]))
        costs.append(counted.seen)
    assert costs[1] < 5 * costs[0]


@pytest.mark.parametrize("char", [" ", "=", ".", "\n", "a", "\U0001f600"])
def test_pieces_of_one_character_are_the_longest_that_fit(char):
    tok = load("o200k_base")
    for limit in (2, 3, 11):
        best = max((n for n in range(128 * limit + 200) if tok.count(char * n) <= limit), default=0)
        assert len(tok.truncate(char * 3000, limit)) == best
        assert tok.split(char * 3000, limit)[0] == char * best


def test_text_of_which_nothing_is_certain_is_not_read_to_its_end():
    tok = alike()
    counter = tok.counter()
    counter.feed("a" * 3000)
    assert counter.stable == 0 and counter.least >= 990
    text = "a" * 20_000
    pieces = tok.split(text, 10)
    assert "".join(pieces) == text and set(map(len, pieces[:-1])) == {30}


@given(st.text("ab\u00e9", max_size=40), st.text("ab\u00e9", max_size=10))
def test_least_is_never_more_than_any_count_that_follows(text, more):
    tok = alike()
    counter, most = tok.counter(), 0
    for char in text:
        counter.feed(char)
        assert most <= counter.least and counter.stable <= counter.least <= counter.count
        most = counter.least
    for char in more:
        counter.feed(char)
        assert most <= counter.count
    assert tok.truncate(text, 3) == max((text[:n] for n in range(len(text) + 1) if tok.count(text[:n]) <= 3), key=len)


TEXTS = st.lists(
    st.sampled_from(
        [
            "the",
            " cat",
            " sat",
            "\n",
            "   ",
            "=====",
            "\u00e9",
            "\u4e16\u754c",
            "\U0001f600",
            "\ud83d\ude00",
            "aaaaaaaaaaaaaaaaaaaaa",
            "'ll",
            "1234",
        ]
    )
    | st.text(max_size=4),
    max_size=30,
).map("".join)


@given(TEXTS, st.integers(0, 40))
def test_truncate_is_the_longest_prefix_that_fits(text, limit):
    tok = load("o200k_base")
    ends = [end for end in range(len(text) + 1) if not "\udc00" <= text[end : end + 1] <= "\udfff"]
    assert tok.truncate(text, limit) == text[: max(end for end in ends if tok.count(text[:end]) <= limit)]


@given(TEXTS, st.integers(5, 40), st.data())
def test_a_piece_begins_with_the_last_ids_of_the_one_before(text, limit, data):
    tok = load("o200k_base")
    overlap = data.draw(st.integers(0, limit - 1))
    places = list(cutting.pieces(tok, text, limit, overlap, {}))
    assert places[0][0] == 0 and places[-1][1] == len(text)
    assert all(tok.count(text[start:end]) <= limit for start, end in places)
    for (start, end), (again, behind) in pairwise(places):
        ids = tok.encode(text[start:end])
        wanted = tok.decode_bytes(ids[len(ids) - overlap :]).lstrip(bytes(range(0x80, 0xC0)))
        assert again == end or text[again:end].encode("utf-16", "surrogatepass").decode("utf-16").encode() == wanted
        assert end < behind


def test_truncate_below_what_stands_around_every_text_is_refused():
    text = SequencePiece("A")
    frame = TemplateProcessing((SpecialPiece("<s>"), text), (text, SequencePiece("B")), (TemplateToken("<s>", (300,), ("<s>",)),))
    tok = Tokenizer.from_spec(
        Spec("framed", WordLevel(table_of_texts({"a": 0, "abc": 1}), unk_token="a"), Split(r"\w+|\W"), ADDED, post_processor=frame)
    )
    assert tok.truncate("abc", 1) == "" and tok.count(tok.truncate("abc abc", 2)) == 2
    with pytest.raises(ValueError, match="max_tokens is 0, but the special tokens around every text alone are 1"):
        tok.truncate("abc", 0)
    assert tok.truncate("abc", 0, add_special_tokens=False) == ""
