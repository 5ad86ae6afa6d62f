"""`IncrementalCounter`: the exact count at every moment, what of it is final, and text taken back."""

import copy
import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import (
    ALPHABET,
    CL100K,
    FAMILIES,
    GPT2,
    O200K,
    SPECIALS,
    ctok_of,
    o200k_ranks,
    random_text,
    random_vocabularies,
    real_pair,
    real_ranks,
)  # fmt: skip
from ctok.errors import DisallowedSpecialTokenError, EncodeError, StateError
from feeds import cut_at, random_feeds

REGEX_ONLY = r"\w+(?<=x)|\w+|\W+"
EMOJI = "\U0001f600"
UNITS = {"char": len, "byte": lambda text: len(text.encode()), "utf16": lambda text: len(text.encode("utf-16-le")) // 2}


def check(counter, tok, text, **options):
    """The counter says what counting all of `text` afresh says."""
    assert counter.count == tok.count(text, **options)
    assert 0 <= counter.stable <= counter.count


# ---- the exact count ----


@given(st.sampled_from(sorted(FAMILIES)), random_feeds(st.lists(st.sampled_from(ALPHABET), max_size=25).map("".join)))
def test_count_at_every_chunk_equals_the_whole_count(family, chunks):
    tok, _ = real_pair(FAMILIES[family])
    counter, text, stable = tok.counter(allowed_special="all"), "", 0
    for chunk in chunks:
        counter.feed(chunk)
        text += chunk
        check(counter, tok, text, allowed_special="all")
        assert counter.stable >= stable
        stable = counter.stable
    counter.feed("", final=True)
    assert counter.count == counter.stable == tok.count(text, allowed_special="all")


@given(random_feeds(st.text(max_size=20).map(str.encode)))
def test_count_inside_a_character_takes_it_as_replaced(chunks):
    tok, _ = real_pair(O200K)
    counter, data = tok.counter(), b""
    for chunk in chunks:
        counter.feed(chunk)
        data += chunk
        assert counter.count == tok.count(data, errors="replace")


def test_count_after_half_a_surrogate_pair_takes_it_as_replaced():
    tok, _ = real_pair(O200K)
    counter = tok.counter()
    counter.feed("ab\ud83d")
    assert counter.count == tok.count("ab\ufffd")
    counter.feed("\ude00")
    assert counter.count == tok.count("ab" + EMOJI)


def test_count_in_wild_vocabularies_equals_the_whole_count():
    for rng, ranks in random_vocabularies(41, 60, alphabet=b" ab", n=16, longest=9):
        tok = ctok_of(ranks, GPT2)
        counter, text, stable = tok.counter(), "", 0
        for char in random_text(rng, [" ", "a", "b", *[token.decode() for token in ranks]], 10):
            counter.feed(char)
            text += char
            check(counter, tok, text)
            assert counter.stable >= stable
            stable = counter.stable


@pytest.mark.parametrize("pattern", [r"[a-c]+|\d\d", REGEX_ONLY], ids=["gaps", "regex"])
def test_count_with_any_pattern_equals_the_whole_count(pattern):
    tok = ctok_of(real_ranks(), pattern, SPECIALS)
    rng = random.Random(42)
    for _ in range(40):
        text = random_text(rng, [*ALPHABET, "ab", "1"], 12)
        counter, so_far = tok.counter(allowed_special="all"), ""
        for chunk in cut_at(text, [rng.randint(0, len(text)) for _ in range(4)]):
            counter.feed(chunk)
            so_far += chunk
            check(counter, tok, so_far, allowed_special="all")
        counter.feed("", final=True)
        assert counter.count == counter.stable == tok.count(text, allowed_special="all")


def test_stable_is_what_an_encoder_has_let_go():
    tok, _ = real_pair(O200K)
    rng = random.Random(43)
    for _ in range(60):
        counter, encoder, ids = tok.counter(), tok.encoder(), []
        for chunk in cut_at(random_text(rng, ALPHABET, 30), [rng.randint(0, 60) for _ in range(8)]):
            counter.feed(chunk)
            ids += encoder.encode(chunk)
            assert (counter.stable, counter.pending) == (len(ids), encoder.pending)


def test_count_of_large_chunks_and_long_pretokens_equals_the_whole_count():
    tok, _ = real_pair(CL100K)
    for unit in ("a", " ", "hello world \n", "\u4e2d", EMOJI, "ab12'"):
        text = unit * (150_000 // len(unit.encode()))
        counter = tok.counter()
        counter.feed(text[: len(text) // 2])
        check(counter, tok, text[: len(text) // 2])
        counter.feed(text[len(text) // 2 :].encode())
        check(counter, tok, text)


def test_b37_count_goes_down_when_more_text_joins_tokens():
    tok = ctok_of(o200k_ranks(), GPT2)
    counter, seen = tok.counter(), []
    for chunk in ("Hel", "lo", " world"):
        counter.feed(chunk)
        seen.append(counter.count)
    assert seen == [tok.count("Hel"), 1, 2]


# ---- limit ----


def test_left_is_the_limit_less_the_count_and_past_it_nothing_raises():
    tok, _ = real_pair(O200K)
    counter, text = tok.counter(limit=5), ""
    assert (counter.left, counter.limit) == (5, 5)
    for _ in range(9):
        counter.feed(" hello")
        text += " hello"
        assert counter.left == 5 - tok.count(text)
    assert counter.left < 0
    assert tok.counter().left is None and tok.counter(0).left == 0


# ---- after the end ----


def test_numbers_stay_after_the_end_until_the_next_text():
    tok, _ = real_pair(O200K)
    counter = tok.counter(limit=10, rewind=True)
    counter.feed("hello", final=True)
    assert counter.count == counter.stable == tok.count("hello")
    for bad in (None, "\ud800x", b"\xff"):
        with pytest.raises((TypeError, EncodeError)):
            counter.feed(bad)
        assert counter.count == counter.stable == tok.count("hello") and counter.left == 10 - counter.count
    assert counter.copy().count == counter.count
    counter.truncate(3)
    assert counter.count == tok.count("hel")
    counter.feed("lo", final=True)
    assert counter.count == tok.count("hello")
    counter.feed("x")
    assert counter.count == tok.count("x")
    counter.reset()
    assert (counter.count, counter.stable, counter.pending) == (0, 0, b"")


def test_a_refused_chunk_leaves_the_counter_as_it_was():
    tok, _ = real_pair(O200K)
    for rewind in (False, True):
        counter = tok.counter(rewind=rewind, disallowed_special={"<|x|>"})
        counter.feed("hello wor")
        state, numbers = counter.getstate(), (counter.count, counter.stable, counter.pending)
        for bad in (None, 5, "a\ud800b", b"\xff", "ab " * 40_000 + "<|x|>", "z" * 70_000 + "\ud800x"):
            for final in (False, True):
                with pytest.raises((TypeError, EncodeError, DisallowedSpecialTokenError)):
                    counter.feed(bad, final)
                assert (counter.getstate(), (counter.count, counter.stable, counter.pending)) == (state, numbers)
        counter.feed("ld")
        assert counter.count == tok.count("hello world")
        if rewind:
            counter.truncate(4)
            assert counter.count == tok.count("hell")
            with pytest.raises(ValueError, match="beyond"):
                counter.truncate(5)


# ---- going back ----


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("pattern", [O200K, GPT2, REGEX_ONLY], ids=["o200k", "gpt2", "regex"])
def test_truncate_anywhere_equals_counting_what_is_left(pattern, unit):
    tok = ctok_of(real_ranks(), pattern, SPECIALS)
    rng, length = random.Random(unit), UNITS[unit]
    for _ in range(20 if pattern == REGEX_ONLY else 60):
        counter, text = tok.counter(rewind=True, allowed_special="all"), ""
        for _ in range(rng.randint(1, 6)):
            more = random_text(rng, [*ALPHABET, "word " * 90, "\u4e2d" * 400, EMOJI * 200], 15)
            for chunk in cut_at(more, [rng.randint(0, len(more)) for _ in range(3)]):
                counter.feed(chunk if rng.random() < 0.5 else chunk.encode())
            text += more
            check(counter, tok, text, allowed_special="all")
            end = rng.choice([0, len(text), rng.randint(0, len(text)), rng.randint(max(0, len(text) - 20), len(text))])
            counter.truncate(length(text[:end]), unit)
            text = text[:end]
            check(counter, tok, text, allowed_special="all")
        counter.feed("z", final=True)
        assert counter.count == tok.count(text + "z", allowed_special="all")


def test_truncate_drops_what_is_held_of_a_character():
    tok, _ = real_pair(O200K)
    for chunk in (b"ab\xf0\x9f", "ab\ud83d"):
        counter = tok.counter(rewind=True)
        counter.feed(chunk)
        counter.truncate(2)
        assert (counter.count, counter.pending) == (tok.count("ab"), b"ab")
        counter.feed("\u00e9")
        assert counter.count == tok.count("ab\u00e9")


def test_truncate_at_an_impossible_place_is_refused_and_changes_nothing():
    tok, _ = real_pair(O200K)
    counter = tok.counter(rewind=True)
    counter.feed("ab\u00e9" + EMOJI)
    state = counter.getstate()
    for at, unit in ((5, "char"), (-1, "char"), (3, "byte"), (5, "byte"), (9, "byte"), (4, "utf16"), (6, "utf16"), (10**12, "byte")):
        with pytest.raises(ValueError, match=r"position|negative"):
            counter.truncate(at, unit)
        assert counter.getstate() == state
    for at, unit in ((1, "word"), (1, None)):
        with pytest.raises(ValueError, match="unit"):
            counter.truncate(at, unit)
    with pytest.raises(TypeError):
        counter.truncate("2")
    with pytest.raises(ValueError, match="rewind"):
        tok.counter().truncate(0)
    counter.truncate(4)
    assert counter.count == tok.count("ab\u00e9" + EMOJI)


def test_truncate_far_back_again_and_again():
    tok, _ = real_pair(O200K)
    counter = tok.counter(rewind=True)
    for _ in range(20_000):
        counter.feed("hello world, this is text; ")
    for at in range(500_000, 100, -25_000):
        counter.truncate(at)
    assert counter.count == tok.count(("hello world, this is text; " * 20_000)[: at])


# ---- copies and states ----


def test_copies_and_states_go_on_alike():
    tok, _ = real_pair(O200K)
    rng = random.Random(44)
    for i in range(80):
        text = random_text(rng, ALPHABET, 20)
        counter = tok.counter(limit=30, rewind=i % 2, allowed_special="all")
        counter.feed(text)
        fresh = tok.counter(limit=30, rewind=i % 2, allowed_special="all")
        fresh.feed("something else")
        fresh.setstate(counter.getstate())
        for other in (counter.copy(), copy.copy(counter), copy.deepcopy(counter), fresh):
            assert (other.count, other.stable, other.left, other.pending) == (counter.count, counter.stable, counter.left, counter.pending)
            other.feed("'ll go on")
            assert other.count == tok.count(text + "'ll go on", allowed_special="all")
            if i % 2 and other is not fresh:
                other.truncate(len(text) // 2)
                assert other.count == tok.count(text[: len(text) // 2], allowed_special="all")
        assert counter.count == tok.count(text, allowed_special="all")


def test_counter_survives_pickling_with_its_limit_and_its_text():
    tok = ctok_of({token: rank for token, rank in real_ranks().items() if rank < 400}, GPT2, SPECIALS)
    for chunk in ("hello <|x|> wor" * 200, b"ab\xf0\x9f", "ab\ud83d", "", "hello <|en"):
        for final in (False, True):
            counter = tok.counter(limit=9, rewind=True, allowed_special={"<|x|>"}, errors="replace")
            counter.feed(chunk, final)
            other = pickle.loads(pickle.dumps(counter))
            assert (other.count, other.stable, other.left, other.pending) == (counter.count, counter.stable, counter.left, counter.pending)
            for one in (counter, other):
                if len(chunk) > 1:
                    one.truncate(1)
                one.feed("x\ud800", final=True)
            assert (other.count, other.stable) == (counter.count, counter.stable)
    bare = pickle.loads(pickle.dumps(tok.counter(limit=3)))
    assert (bare.limit, bare.left) == (3, 3)
    with pytest.raises(ValueError, match="rewind"):
        bare.truncate(0)


def test_damaged_state_is_refused_or_harmless():
    tok, _ = real_pair(O200K)
    rng = random.Random(45)
    for text in ("", "hello wor", "a" * 90, "   ", "<|endo", "ab\ud83d"):
        counter = tok.counter()
        counter.feed(text)
        state, numbers = counter.getstate(), (counter.count, counter.stable)
        for _ in range(100):
            damaged = bytearray(state)
            for _ in range(rng.randint(1, 3)):
                damaged[rng.randrange(22, len(damaged))] = rng.choice([0, 1, 5, 0x80, 0xFF])
            other = tok.counter()
            try:
                other.setstate(bytes(damaged))
                other.feed("z" * 30)
                other.feed(" 99", final=True)
            except (StateError, EncodeError, TypeError):
                continue
        for garbage in (b"", state[:8], state[:9], state[:20], bytes(300), tok.encoder().getstate()):
            with pytest.raises(StateError):
                counter.setstate(garbage)
        assert (counter.count, counter.stable) == numbers
