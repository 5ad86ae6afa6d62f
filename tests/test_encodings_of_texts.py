"""Encodings of whole texts, and of texts that come cut into words, from aligned ids; against the live reference."""

from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctok.encoding import NO_WORD
from ctok.stages.encodings import encoding_of_text, encoding_of_words
from test_encoding import WORDS, says, tokenizers

ADDED = {len(WORDS): None, len(WORDS) + 1: str.lower}


def live():
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.add_tokens(
        [
            tokenizers.AddedToken("<M>", lstrip=True, rstrip=True, normalized=False),
            tokenizers.AddedToken("Néw", rstrip=True, normalized=True),
        ]
    )
    return tokenizer


LIVE = live()
PIECES = st.sampled_from(["a", "B", "é", " ", "  ", "<M>", "nÉw", "Néw", "日本", "\U0001f600", "-"])
TEXTS = st.lists(PIECES, max_size=8).map("".join)


def aligned(text):
    """Return what the reference finds, with places in bytes."""
    found = LIVE.encode(text)
    places = [tuple(len(text[:at].encode()) for at in span) for span in found.offsets]
    words = [NO_WORD if word is None else word for word in found.word_ids]
    columns = (found.ids, [place[0] for place in places], [place[1] for place in places], words)
    return tuple(array("I", column) for column in columns)


@settings(max_examples=100)
@given(TEXTS)
def test_encoding_of_text_equals_the_reference(text):
    got = encoding_of_text(text.encode(), aligned(text), token=LIVE.id_to_token, added=ADDED)
    assert says(got) == says(LIVE.encode(text))
    for unit, encoding in (("byte", "utf-8"), ("utf16", "utf-16-le")):
        other = encoding_of_text(text.encode(), aligned(text), token=LIVE.id_to_token, unit=unit)
        width = 2 if unit == "utf16" else 1
        assert other.spans == [tuple(len(text[:at].encode(encoding)) // width for at in span) for span in got.spans]


@settings(max_examples=100)
@given(st.lists(TEXTS, max_size=5))
def test_encoding_of_words_equals_the_reference(words):
    got = encoding_of_words([(word.encode(), aligned(word)) for word in words], token=LIVE.id_to_token, added=ADDED)
    assert says(got) == says(LIVE.encode(words, is_pretokenized=True))


def test_k4_16_words_are_counted_with_the_empty_ones():
    words = ["a", "b c", "", "a"]
    got = encoding_of_words([(word.encode(), aligned(word)) for word in words], token=LIVE.id_to_token)
    assert got.word_ids == [0, 1, 1, 3] and got.spans == [(0, 1), (0, 1), (2, 3), (0, 1)]


def test_encoding_of_text_without_ids_is_empty():
    assert encoding_of_text(b"", aligned(""), token=str).ids == [] == encoding_of_words([], token=str).ids
    with pytest.raises(ValueError, match="unit must be one of"):
        encoding_of_text(b"", aligned(""), token=str, unit="line")
