"""The general line while a text arrives: however it is cut, the ids are those of the whole, early, and none is taken back."""

import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctok.errors import DisallowedSpecialTokenError, EncodeError, StateError
from feeds import all_feeds, cut_at, one_by_one, random_feeds
from flow_files import KINDS, PARTS, both, document, pair, wordlevel

ALL = {"allowed_special": "all"}
NAMES = sorted(KINDS)
PIECES = st.lists(st.sampled_from(PARTS) | st.text(max_size=2), max_size=12).map("".join)
VECTORS = [
    "",
    " ",
    "a",
    "hello world",
    " hello  world ",
    "a <m> b<m>",
    "<x>y<x",
    "xabc abc",
    "\u00dcn\u00ef <e> x",
    "cafe\u0301 \u4e2d\u6587",
    "\U0001f600z",
    "   \n x",
    "New Yor",
    "New York",
    "<s> a</s",
    "\u1100\u1161\u11a8",
    "a\u0301\u0327b",
    "``x",
    "don't 12345",
    "the theme of the thing",
]


def fed(encoder, chunks, want):
    """The ids of chunks; after each what has left is the start of what is wanted."""
    ids = []
    for chunk in chunks:
        ids += encoder.encode(chunk)
        assert ids == want[: len(ids)], chunks
    return ids + encoder.encode("" if not chunks or isinstance(chunks[-1], str) else b"", final=True)


@pytest.mark.parametrize("kind", NAMES)
def test_every_vector_in_every_feed_gives_the_ids_of_the_whole(kind):
    tok, _ = pair(kind)
    for options in ({}, ALL):
        encoder = tok.encoder(**options)
        for text in VECTORS:
            want = tok.encode(text, **options)
            for one in (text, text.encode()):
                for chunks in all_feeds(one):
                    assert fed(encoder, chunks, want) == want, (text, chunks)
        assert encoder.encode("", final=True) == tok.encode("")


@pytest.mark.parametrize("kind", NAMES)
@settings(max_examples=20)
@given(chunks=random_feeds(PIECES), data=st.data())
def test_random_cuts_give_the_ids_of_the_reference(kind, chunks, data):
    tok, live = pair(kind)
    text = "".join(chunks)
    want = live.encode(text).ids
    assert fed(tok.encoder(**ALL), chunks, want) == want
    raw = text.encode()
    places = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    assert fed(tok.encoder(**ALL), cut_at(raw, places), want) == want
    assert fed(tok.encoder(**ALL), one_by_one(text), want) == want


def halves(text):
    """The same text as a str whose characters beyond the first 65536 are two surrogates."""
    return (
        text.encode("utf-16-le").decode("utf-16-le", "surrogatepass")
        if text.isascii()
        else "".join(
            char if char < "\U00010000" else "".join(map(chr, (0xD800 + ((ord(char) - 0x10000) >> 10), 0xDC00 + (ord(char) & 0x3FF))))
            for char in text
        )
    )


@pytest.mark.parametrize("kind", NAMES)
def test_cuts_inside_surrogate_pairs_give_the_ids_of_the_whole(kind):
    tok, live = pair(kind)
    for text in ("a\U0001f600b", "\U0001f600\U0001f600", " \U00020000 <s>\U0001f600</s>"):
        want = live.encode(text).ids
        for chunks in all_feeds(halves(text)):
            assert fed(tok.encoder(**ALL), chunks, want) == want


@pytest.mark.parametrize("kind", NAMES)
@settings(max_examples=20)
@given(chunks=random_feeds(PIECES), place=st.integers(0, 9))
def test_copies_and_saved_states_go_on_as_the_encoder_does(kind, chunks, place):
    tok, live = pair(kind)
    text = "".join(chunks)
    want, ids, encoder = live.encode(text).ids, [], tok.encoder(**ALL)
    for i, chunk in enumerate(chunks):
        ids += encoder.encode(chunk)
        if i == place % len(chunks):
            rest, state = chunks[i + 1 :], encoder.getstate()
            other = tok.encoder(**ALL)
            other.encode("something <x else")
            other.setstate(state)
            twins = [copy.copy(encoder), encoder.copy(), other, pickle.loads(pickle.dumps(encoder))]
            assert other.getstate() == state
            for twin in twins:
                got = ids + [one for more in rest for one in twin.encode(more)] + twin.encode("", final=True)
                assert got == want, (chunks, i)
            assert encoder.getstate() == state
    assert ids + encoder.encode("", final=True) == want
    encoder.encode("New Yor")
    encoder.reset()
    assert encoder.encode(text, final=True) == want and encoder.encode("", final=True) == live.encode("").ids


@pytest.mark.parametrize("kind", NAMES)
@settings(max_examples=20)
@given(chunks=random_feeds(PIECES))
def test_count_at_each_step_is_that_of_the_text_so_far(kind, chunks):
    tok, live = pair(kind)
    for options, count in ((ALL, lambda text: len(live.encode(text).ids)), ({}, tok.count)):
        counter, text, stable = tok.counter(rewind=True, **options), "", 0
        for chunk in chunks:
            counter.feed(chunk)
            text += chunk
            assert counter.count == count(text) and stable <= counter.stable <= counter.count
            stable = counter.stable
        middle = len(text) // 2
        other = counter.copy()
        other.truncate(middle)
        assert other.count == count(text[:middle])
        other.feed(text[middle:], final=True)
        counter.feed("", final=True)
        assert counter.count == other.count == counter.stable == count(text)


@pytest.mark.parametrize("kind", NAMES)
@settings(max_examples=20)
@given(text=PIECES, most=st.integers(0, 12))
def test_truncated_text_fits_and_is_the_longest_prefix(kind, text, most):
    tok, _ = pair(kind)
    if most < tok.count(""):
        with pytest.raises(ValueError, match="the special tokens around every text alone are"):
            tok.truncate(text, most)
        return
    got = tok.truncate(text, most)
    assert text.startswith(got) and tok.count(got) <= most
    longer = [end for end in range(len(got) + 1, len(text) + 1) if tok.count(text[:end]) <= most]
    assert not longer, (text, got, longer)
    assert tok.truncate(text.encode(), most).decode() == got


@pytest.mark.parametrize("kind", NAMES)
@settings(max_examples=20)
@given(text=PIECES, most=st.integers(1, 12))
def test_split_text_joins_to_it_and_each_piece_fits(kind, text, most):
    tok, _ = pair(kind)
    if any(tok.count(char) > most for char in text):
        return
    parts = tok.split(text, most)
    assert "".join(parts) == text and all(tok.count(part) <= most for part in parts)
    ends = {0}  # where the part so far may end: the text may hold the same part in several places
    for part in tok.split(text, most + 1, overlap=1):
        assert tok.count(part) <= most + 1  # each goes on where the one before ends, or earlier
        starts = [at for at in range(len(text)) if text.startswith(part, at)]
        ends = {at + len(part) for at in starts if any(at <= end < at + len(part) for end in ends)}
    assert len(text) in ends


def test_template_leaves_with_the_first_call_and_at_the_end():
    for kind in ("gpt2", "mistral", "bert", "roberta", "t5"):
        tok, live = pair(kind)
        empty, text = live.encode("").ids, "hello world " * 3
        whole, bare = live.encode(text).ids, live.encode(text, add_special_tokens=False).ids
        before = whole[: whole.index(bare[0])] if whole != bare else []
        assert whole == [*before, *bare, *empty[len(before) :]]
        encoder = tok.encoder()
        assert encoder.encode("") == before and encoder.encode("") == []
        assert encoder.encode("", final=True) == empty[len(before) :]
        assert encoder.encode("", final=True) == empty
        assert encoder.encode(b"") == before
        assert encoder.encode(text) + encoder.encode(b"", final=True) == whole[len(before) :]
        assert tok.encoder(add_special_tokens=False).encode("", final=True) == []
        counter = tok.counter()
        assert counter.count == len(empty)
        counter.feed("")
        assert counter.count == len(empty) and counter.stable == len(before)


# ---- a call that raises changes nothing ----

BAD = [("x <s>", DisallowedSpecialTokenError), (b"ab\xff", EncodeError), ("a\ud800b", EncodeError), (3, TypeError)]


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize(("chunk", "error"), BAD, ids=["special", "bytes", "surrogate", "type"])
def test_call_that_raises_leaves_the_encoder_as_before(kind, chunk, error):
    tok, _ = pair(kind)
    options = {"disallowed_special": {"<s>"}}
    want = tok.encode("the hello<x>yNew York caf\u00e9")
    for before in ("", "the ", "the hel", "the hello<x", "the hello<x>yNew Y"):
        encoder, counter = tok.encoder(**options), tok.counter(**options)
        ids = encoder.encode(before)
        counter.feed(before)
        state, numbers = encoder.getstate(), (counter.getstate(), counter.count, counter.stable)
        for final in (False, True):
            with pytest.raises(error) as caught:
                encoder.encode(chunk, final)
            assert encoder.getstate() == state
            with pytest.raises(error):
                counter.feed(chunk, final)
            assert (counter.getstate(), counter.count, counter.stable) == numbers
        if error is not TypeError:
            assert caught.value.position == len(before) + {"x <s>": 2, b"ab\xff": 2, "a\ud800b": 1}[chunk]
        rest = "the hello<x>yNew York caf\u00e9"[len(before) :]
        assert ids + encoder.encode(rest, final=True) == want


@pytest.mark.parametrize("kind", NAMES)
def test_text_after_an_end_and_a_refused_or_loaded_state_begins_anew(kind):
    tok, _ = pair(kind)
    want = tok.encode("0 hello", **ALL)
    encoder = tok.encoder(**ALL)
    start = encoder.getstate()
    for first in ("``", "hel", "e\u0301"):
        encoder.encode(first)
        encoder.encode("", final=True)
        with pytest.raises(EncodeError):
            encoder.encode(b"\xff")
        assert encoder.encode("0") + encoder.encode(" hello", final=True) == want
        encoder.encode(first)
        encoder.setstate(start)
        assert encoder.encode("0") + encoder.encode(" hello", final=True) == want


def test_disallowed_token_cut_by_chunks_is_named_where_it_starts():
    for kind in NAMES:
        tok, _ = pair(kind)
        for chunks in (["caf\u00e9 <", "s>"], [*"\u4e2d\U0001f600<s>"], ["a" * 70_000, " <", "s", "> b"]):
            whole = "".join(chunks)
            for pieces in (chunks, [piece.encode() for piece in chunks], one_by_one(whole.encode()[-12:])):
                encoder = tok.encoder(disallowed_special="all")
                with pytest.raises(DisallowedSpecialTokenError) as caught:
                    for piece in pieces:
                        encoder.encode(piece)
                    encoder.encode(pieces[-1][:0], final=True)
                joined = pieces[0][:0].join(pieces)
                assert caught.value.token == "<s>"
                assert caught.value.position == joined.index("<s>" if isinstance(joined, str) else b"<s>")


def test_word_without_unknown_token_leaves_the_encoder_as_before():
    tok, live = both(document(wordlevel("nothing"), [], pre_tokenizer={"type": "Whitespace"}))
    want = live.encode("hello world").ids
    encoder, counter = tok.encoder(), tok.counter()
    ids = encoder.encode("hello wor")
    counter.feed("hello wor")
    state = encoder.getstate(), counter.getstate()
    with pytest.raises(EncodeError) as caught:
        encoder.encode("k more")
    assert caught.value.position is None
    with pytest.raises(EncodeError):
        counter.feed("k", final=True)
    assert state == (encoder.getstate(), counter.getstate())
    assert ids + encoder.encode("ld", final=True) == want
    counter.feed("ld", final=True)
    assert counter.count == len(want)


def test_state_of_another_tokenizer_or_damaged_is_refused():
    texts = dict.fromkeys(NAMES, "the hello<x>yNew Y")
    states = {kind: pair(kind)[0].encoder(**ALL) for kind in NAMES}
    for kind, encoder in states.items():
        encoder.encode(texts[kind])
    for kind, encoder in states.items():
        state = encoder.getstate()
        for other in NAMES:
            if other != kind:
                with pytest.raises(StateError):
                    states[other].setstate(state)
        for bad in (b"", state[:-1], state + b"\0", state[: len(state) // 2], b"\xff" * len(state)):
            with pytest.raises(StateError):
                encoder.setstate(bad)
        assert encoder.getstate() == state
        with pytest.raises(StateError):
            pair(kind)[0].encoder().setstate(state)  # other options


@pytest.mark.parametrize("kind", NAMES)
def test_damaged_state_is_refused_or_harmless(kind):
    tok, _ = pair(kind)
    encoder = tok.encoder(**ALL)
    encoder.encode("the hello<x>yNew Yor")
    state = encoder.getstate()
    for i in range(len(state)):
        for change in (1, 0x80, 0xFF):
            bad = bytearray(state)
            bad[i] ^= change
            other = tok.encoder(**ALL)
            try:
                other.setstate(bytes(bad))
            except StateError:
                assert other.getstate() == tok.encoder(**ALL).getstate()
                continue
            try:
                other.encode("k and \u4e2d on")
                other.encode("", final=True)
            except EncodeError:
                pass
