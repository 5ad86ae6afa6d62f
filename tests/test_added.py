"""Added tokens, against the reference tokenizers and the plain twin; whole and in pieces."""

import random
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctok._native import added
from ctok._native.added import LSTRIP, RSTRIP, SINGLE_WORD, SPECIAL, AddedStream, AddedTokens
from ctok._reference.added import SPACES, Added, cut
from ctok.errors import SpecError, StateError
from ctok.spec import AddedToken
from ctok.stages.added import sought
from feeds import all_feeds, cut_at

tokenizers = pytest.importorskip("tokenizers")


def is_word(char):
    return bool(char) and added.is_word(ord(char))


def reference(tokens, normalizer=None):
    """Return a live tokenizer of these (content, flags): ids 1, 2, ... in this order; text between them is id 0."""
    model = tokenizers.models.WordLevel({"[unk]": 0}, unk_token="[unk]")
    tokenizer = tokenizers.Tokenizer(model)
    if normalizer:
        tokenizer.normalizer = normalizer
    for special, some in groupby(tokens, lambda token: bool(token[1] & SPECIAL)):
        listed = [
            tokenizers.AddedToken(
                content,
                single_word=bool(flags & SINGLE_WORD),
                lstrip=bool(flags & LSTRIP),
                rstrip=bool(flags & RSTRIP),
                normalized=bool(normalized and normalized[0]),
                special=special,
            )
            for content, flags, *normalized in some
        ]
        (tokenizer.add_special_tokens if special else tokenizer.add_tokens)(listed)
    return tokenizer


def live(tokenizer, text):
    found = tokenizer.encode(text, add_special_tokens=False)
    return [(start, end, number or None) for (start, end), number in zip(found.offsets, found.ids, strict=True)]


def build(tokens):
    return AddedTokens([(content, number, flags) for number, (content, flags, *_) in enumerate(tokens, 1)])


def twin(tokens, text, skip=()):
    listed = [
        Added(content, number, bool(flags & SINGLE_WORD), bool(flags & LSTRIP), bool(flags & RSTRIP))
        for number, (content, flags, *_) in enumerate(tokens, 1)
    ]
    return cut(listed, text, is_word, skip)


def in_chars(found, text):
    raw = text.encode()
    return [(len(raw[:start].decode()), len(raw[:end].decode()), number) for start, end, number in found]


def events(spans, text):
    """Return what a stream gives: text and ids, neighbouring texts joined only where no id stands between."""
    return [text[start:end].encode() if number is None else number for start, end, number in spans]


def joined(found):
    """Return the events with pieces of one stretch of text put together."""
    out = []
    for item in found:
        if isinstance(item, bytes) and out and isinstance(out[-1], bytes):
            out[-1] += item
        else:
            out.append(item)
    return out


def feed_all(stream, pieces):
    found = []
    for i, piece in enumerate(pieces):
        found += stream.feed(piece, i == len(pieces) - 1)
    return joined(found)


ALPHABET = "aab<>_-  \n\u3000é日\U0001f600"
TOKENS = st.lists(
    st.tuples(st.text(ALPHABET, min_size=1, max_size=4), st.integers(0, 7)), min_size=1, max_size=6, unique_by=lambda token: token[0]
)
TEXTS = st.lists(st.text(ALPHABET, max_size=4) | st.sampled_from(["<a>", " ", "   ", "ab", "a"]), max_size=10).map("".join)


@settings(max_examples=150)
@given(TOKENS, TEXTS, st.data())
def test_added_random_tokens_and_text_equal_the_reference(tokens, text, data):
    made = build(tokens)
    want = twin(tokens, text)
    assert in_chars(made.find_all(text), text) == want
    try:
        assert live(reference(tokens), text) == want
    except BaseException as error:  # the reference panics where a token would end before it starts
        assert "bad split" in str(error)
    pieces = cut_at(text, sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6))))
    assert feed_all(AddedStream(made), pieces) == joined(events(want, text))
    assert feed_all(AddedStream(made), list(text) or [""]) == joined(events(want, text))


@settings(max_examples=100)
@given(TOKENS, TEXTS, st.data())
def test_added_stream_copied_and_saved_in_the_middle_goes_on(tokens, text, data):
    made = build(tokens)
    want = joined(events(twin(tokens, text), text))
    stream, found = AddedStream(made), []
    for char in text:
        found += stream.feed(char)
        other = AddedStream(made)
        other.setstate(stream.getstate())
        stream = data.draw(st.sampled_from([stream, stream.copy(), other]))
    assert joined(found + stream.feed("", True)) == want
    assert feed_all(stream, [text]) == want  # as new


@settings(max_examples=60)
@given(TOKENS, TEXTS, st.sets(st.integers(1, 6)))
def test_added_skipped_tokens_are_text_that_hides_others(tokens, text, skip):
    made = build(tokens)
    mask = bytes(number in skip for number in range(1, len(tokens) + 1))
    assert in_chars(made.find_all(text, mask), text) == twin(tokens, text, skip)
    assert feed_all(AddedStream(made, mask), list(text) or [""]) == joined(events(twin(tokens, text, skip), text))


@pytest.mark.parametrize("text", ["<s>b", "<s", "<s>", "x<s>b<s>by"])
def test_added_special_as_text_hides_what_starts_inside(text):
    tokens = [("<s>", SPECIAL), ("<s", 0), (">b", 0)]
    tokenizer = reference(tokens)
    made = build(tokens)
    assert in_chars(made.find_all(text), text) == live(tokenizer, text)
    tokenizer.encode_special_tokens = True
    assert in_chars(made.find_all(text, made.skip_special()), text) == live(tokenizer, text)
    assert made.skip_special(["<s>"]) is None and made.skip_special("all") is None and made.skip_special() == b"\1\0\0"


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ([("<a>", 0), ("<a>b", 0), ("<a>bc>", 0)], "<a>bc <a>bc> <a"),
        ([("abcd", 0), ("bc", 0), ("c", 0)], "abce abcd bcd"),
        ([("<m>", RSTRIP), (" ", 0), ("\n ", 0)], "a<m>  \n b <m> "),
        ([("<m>", RSTRIP), (" x", LSTRIP)], "a<m>   xb"),
        ([("<m>", RSTRIP), ("  ", 0)], "a<m>   xb"),
        ([("<m>", RSTRIP), (" ", LSTRIP)], "a<m> xb"),
        ([("<m>", LSTRIP | RSTRIP)], "a\t\n<m>\u00a0 <m> b"),
        ([("ab", SINGLE_WORD), ("b", 0)], "xab b ab abb _ab ab\u200d (ab)"),
        ([(" ", RSTRIP)], "a     b "),
    ],
)
def test_added_known_corners_equal_the_reference_in_every_feed(tokens, text):
    want = live(reference(tokens), text)
    assert in_chars(build(tokens).find_all(text), text) == want == twin(tokens, text)
    for pieces in all_feeds(text):
        assert feed_all(AddedStream(build(tokens)), pieces) == joined(events(want, text))


def few(codes):
    """Return the code points that matter: all of the first planes' lower part, some of the rest (most of which is alike)."""
    return [c for c in codes if c < 0x3400 or 0x1F000 <= c < 0x1F200 or c % 97 == 0 or 0xE00F0 <= c < 0xE01F8]


def test_added_word_characters_equal_the_reference():
    tokenizer = reference([("\1", SINGLE_WORD)])
    scalars = [c for c in range(2, 0x110000) if not 0xD800 <= c < 0xE000]
    words = [c for c in scalars if added.is_word(c)]
    assert len(words) == 144_667
    assert tokenizer.encode("-" + "".join(chr(c) + "\1-" for c in words) + "".join("\1" + chr(c) for c in words)).ids == [0]
    others = few(c for c in scalars if not added.is_word(c))
    assert tokenizer.encode("-" + "".join(chr(c) + "\1-" for c in others)).ids.count(1) == len(others)
    assert tokenizer.encode("-" + "".join("\1" + chr(c) for c in others)).ids.count(1) == len(others)
    with pytest.raises(ValueError, match="not a code point"):
        added.is_word(0x110000)


def test_added_white_space_equals_the_reference():
    tokenizer = reference([("\1", LSTRIP)])
    scalars = few(c for c in range(2, 0x110000) if not 0xD800 <= c < 0xE000)
    found = tokenizer.encode("".join(chr(c) + "\1" for c in scalars))
    spaces = {scalars[start // 2] for (start, end), number in zip(found.offsets, found.ids, strict=True) if number and end - start == 2}
    assert spaces == {ord(space) for space in SPACES}
    made = build([("\1", LSTRIP)])
    for space in SPACES:
        assert made.find_all(f"a{space}\1") == [(0, 1, None), (1, 2 + len(space.encode()), 1)]


@pytest.mark.parametrize(
    ("tokens", "fed", "out", "held"),
    [
        ([("<s>", 0)], "ab<s", [b"ab"], 2),
        ([("<s>", 0)], "ab<s>", [b"ab", 1], 0),
        ([("<s>", 0), ("<s>x", 0)], "ab<s>", [b"ab"], 3),
        ([("<s>", 0)], "ab<<", [b"ab<"], 1),
        ([("<s>", 0)], "ab  ", [b"ab  "], 0),
        ([("<s>", LSTRIP)], "ab  ", [b"ab"], 2),
        ([("<s>", LSTRIP)], "ab  <", [b"ab"], 3),
        ([("<s>", RSTRIP)], "a<s>", [b"a", 1], 0),
        ([("<s>", RSTRIP)], "a<s>  ", [b"a", 1], 0),
        ([("<s>", RSTRIP | LSTRIP)], "a<s>  ", [b"a", 1], 0),
        ([("<s>", RSTRIP), ("  x", 0)], "a<s>  ", [b"a", 1], 2),
        ([("<s>", SINGLE_WORD)], "a <s>", [b"a "], 3),
        ([("<s>", SINGLE_WORD)], "a <s> ", [b"a ", 1, b" "], 0),
        ([("<s>", SINGLE_WORD)], "a<s> ", [b"a<s> "], 0),
    ],
)
def test_added_stream_holds_what_it_must_and_no_more(tokens, fed, out, held):
    stream = AddedStream(build(tokens))
    assert joined(stream.feed(fed)) == out
    assert stream.held == held


def test_added_stream_of_much_white_space():
    tokens = [("<s>", LSTRIP | RSTRIP), ("</s>", SINGLE_WORD)]
    stream = AddedStream(build(tokens))
    n = 60_000
    for _ in range(n):
        stream.feed(" ")
    assert stream.held == n
    assert joined(stream.feed("<s>")) == [1] and stream.held == 0
    for _ in range(n):
        assert stream.feed("\n") == []
    assert stream.held == 0 and stream.feed("x") == [b"x"]
    assert len(build([(" ", RSTRIP)]).find_all(" " * 200_000)) == 200_000
    assert len(build([(" ", LSTRIP)]).find_all(" " * 200_000)) == 200_000


def test_added_long_token_in_text_of_one_character_is_linear():
    made = build([("a" * 20_000 + "b", 0), ("ab", 0)])
    text = "a" * 1_000_000 + "b"
    assert made.find_all(text) == [(0, 980_000, None), (980_000, 1_000_001, 1)]  # a square of time would never end


def test_added_thousands_of_tokens_are_built_and_found():
    rng = random.Random(3)
    tokens = [(f"<unused{i}>", 0) for i in range(6000)] + [("\n" * i, 0) for i in range(1, 32)] + [("\u2581" * i, 0) for i in range(2, 32)]
    made = build(tokens)
    text = "".join(rng.choice([f"<unused{rng.randrange(7000)}>", "\n" * rng.randrange(70), "x", "\u2581" * 3, "<unus"]) for _ in range(300))
    want = live(reference(tokens), text)
    assert in_chars(made.find_all(text), text) == want
    assert len(made) == len(tokens) and made.n_states < 13_000


def build_added(declared, normalize=None):
    """Two automata: for the text as it comes, and for the normalised text between the tokens that the first one finds."""
    tokens = [sought(token, normalize) for token in declared]
    raw, normalized = [token[:3] for token in tokens if token[3] is None], [token for token in tokens if token[3] is not None]
    return AddedTokens(raw) if raw else None, AddedTokens(normalized) if normalized else None


@pytest.mark.parametrize("name", ["Lowercase", "NFD", "NFKC", "StripAccents", None])
def test_build_added_searches_normalised_content_in_normalised_text(name):
    normalizer = getattr(tokenizers.normalizers, name)() if name else None
    normalize = normalizer.normalize_str if normalizer else (lambda text: text)
    declared = [("Ab", 0, True), ("é", RSTRIP, True), ("<É>", LSTRIP, False), ("ﬁ", SINGLE_WORD, True), ("b", 0, False), ("Foo", 0, True)]
    tokenizer = reference(declared, normalizer)
    raw, normalized = build_added(
        [
            AddedToken(content, number, False, bool(f & SINGLE_WORD), bool(f & LSTRIP), bool(f & RSTRIP), n)
            for number, (content, f, n) in enumerate(declared, 1)
        ],
        normalize if normalizer else None,
    )
    rng = random.Random(11)
    for _ in range(60):
        text = "".join(
            rng.choice(["Ab", "ab", "A", "b", "É", "é", "e\u0301", " ", "<É>", "<é>", "ﬁ", "fi", " FOO ", "foo", "x"]) for _ in range(9)
        )
        got = []
        for start, end, number in raw.find_all(text):
            if number is not None:
                got.append(number)
                continue
            segment = normalize(text.encode()[start:end].decode())
            got += [part or 0 for _, _, part in normalized.find_all(segment)]
        assert got == tokenizer.encode(text).ids


def test_build_added_without_tokens_of_a_kind_gives_none():
    assert build_added([]) == (None, None)
    raw, normalized = build_added([AddedToken("<s>", 3)])
    assert normalized is None and raw.contents == ("<s>",)


def test_added_of_equal_texts_the_first_counts():
    made = AddedTokens([("Foo", 5, 0, "foo"), ("foo", 4, 0, "foo"), ("FOO", 3, 0, "foo")])
    assert made.find_all("xfoo") == [(0, 1, None), (1, 4, 5)]


def test_added_bad_input_is_refused():
    with pytest.raises(SpecError, match="no added tokens"):
        AddedTokens([])
    with pytest.raises(SpecError, match="' ' is an empty text once it is normalised"):
        AddedTokens([("a", 1, 0), (" ", 2, 0, "")])
    made = build([("ab", 0)])
    with pytest.raises(ValueError, match="skip has 2 bytes"):
        made.find_all("x", b"\0\0")
    stream = AddedStream(made)
    stream.feed("xa")
    for state in (b"", b"abc", b"\xff" * 17, b"\2" + bytes(17)):
        with pytest.raises(StateError):
            stream.setstate(state)
        assert stream.held == 0


def test_added_build_that_finds_no_memory_is_a_memory_error():
    if added.fail_after(0) == -1 and added.fail_after(-1) == -1:
        pytest.skip("only builds with CTOK_BUILD=test can make allocations fail")
    for n in range(8):
        added.fail_after(n)
        with pytest.raises(MemoryError):
            build([("ab", 0), ("b", 0)])
        assert added.fail_after(-1) == -1
    assert build([("ab", 0), ("b", 0)]).find_all("b") == [(0, 1, 2)]
