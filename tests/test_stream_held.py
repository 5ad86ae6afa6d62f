"""Streams of unigram models in which nothing is certain for long: refused chunks, copies, looks and saved states change nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctok import EncodeError, Tokenizer
from ctok.formats.sentencepiece import loads
from piece_models import ALIKE, HEAD, NORMAL, alike, proto_of


def of_a_model_file():
    """The pieces of `alike` as a model of SentencePiece."""
    return Tokenizer.from_spec(loads(proto_of([*HEAD, *((piece, score, NORMAL) for piece, score in ALIKE.items())])))


TOKENIZERS = [alike(), of_a_model_file()]
STEPS = st.sampled_from(["a", "aa", "a" * 7, "ab", "b", " ", "x", "\u00e9"]) | st.sampled_from(
    ["REFUSED", "COPY", "OTHER", "LOOK", "SAVED"]
)


@pytest.mark.parametrize("tok", TOKENIZERS, ids=["tokenizer.json", "model"])
@given(st.lists(STEPS, max_size=40))
def test_what_happens_between_chunks_changes_no_id(tok, steps):
    encoder, counter, text, ids = tok.encoder(), tok.counter(), "", []
    for step in steps:
        if step == "REFUSED":
            for codec in (encoder.encode, counter.feed):
                with pytest.raises(EncodeError):
                    codec("aab a\ud800x")
        elif step == "COPY":
            encoder, counter = encoder.copy(), counter.copy()
        elif step == "OTHER":
            encoder.copy().encode("aab", final=True)
            counter.copy().feed("bab")
        elif step == "LOOK":
            assert counter.count == tok.count(text)
        elif step == "SAVED":
            state, encoder = encoder.getstate(), tok.encoder()
            encoder.setstate(state)
        else:
            ids += encoder.encode(step)
            counter.feed(step)
            text += step
    assert ids + encoder.encode("", final=True) == tok.encode(text)
    assert counter.count == tok.count(text)


@pytest.mark.parametrize("tok", TOKENIZERS, ids=["tokenizer.json", "model"])
def test_a_long_run_of_which_nothing_is_certain_arrives_character_by_character(tok):
    n = 100_000  # copying what is held at each of them would take minutes
    encoder = tok.encoder()
    ids = [found for _ in range(n) for found in encoder.encode("a")]
    assert ids + encoder.encode("", final=True) == tok.encode("a" * n)
