"""Pre-tokenizers while the text arrives: the same pretokens under every cut, and as early as they are certain."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctok._native import cut
from ctok.errors import StateError
from ctok.stages.cutters import build_cutter
from ctok.stagespecs import pretokenizers as records

LETTERS = [*"ab AB12-_.'s\n\t  \u2581\u00e9\u6f22\u3042\u30b0\u03b1\u0301\u00bd\u00b2x"]
PATTERNS = [r"\s+", r"\d{1,3}", "a|ab|b+", r"\p{L}+", "x*", "(?=[A-Z])", "a+b", r"\w+|[^\w\s]+", r"\s*[\n]+|\s+(?!\S)|\s+", r"\bab"]
PARTS = (
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
)
# One machine, and the chain as it is written.
DEEPSEEK, CHAIN = (
    records.Sequence([records.Split(records.Regex(part + end), "isolated") for part in PARTS] + [records.ByteLevel(False, True, False)])
    for end in ("", "|\x00\x00")
)
steps = st.one_of(
    st.just(DEEPSEEK),
    st.sampled_from([
        records.Whitespace(), records.WhitespaceSplit(), records.BertPreTokenizer(), records.UnicodeScripts(), records.Digits(True),
        records.Digits(False), records.CharDelimiterSplit("-"), records.FixedLength(2), records.ByteLevel(True), records.ByteLevel(False),
        records.Sequence([records.ByteLevel(False), records.Digits(True)]),
    ]),
    st.builds(records.Punctuation, st.sampled_from(records.BEHAVIORS)),
    st.builds(records.Metaspace, st.sampled_from("\u2581_"), st.sampled_from(records.PREPEND_SCHEMES), st.booleans()),
    st.builds(records.Split, st.sampled_from(PATTERNS).map(records.Regex), st.sampled_from(records.BEHAVIORS), st.booleans()),
)  # fmt: skip
texts = st.lists(st.text(st.sampled_from(LETTERS), max_size=6), max_size=6)


def joined(stream, chunks):
    """Feed chunks; returns the pretokens."""
    found, rest = [], ""
    for i, chunk in enumerate(chunks):
        for part, closed in stream.feed(chunk, i == len(chunks) - 1):
            rest += part
            if closed:
                found.append(rest)
                rest = ""
    assert rest == "" and stream.held == 0
    return found


@settings(max_examples=400)
@given(st.lists(steps, min_size=1, max_size=4), texts, st.booleans())
def test_stream_any_chunks_equal_whole(chain, chunks, first):
    cutter = build_cutter(records.Sequence(chain))
    whole = [piece for piece, _ in cutter.pieces("".join(chunks), first)]
    assert joined(cutter.stream(first), [*chunks, ""]) == whole
    assert joined(cutter.stream(first), [*"".join(chunks), ""]) == whole


@settings(max_examples=200)
@given(st.lists(steps, min_size=1, max_size=3), texts, texts)
def test_stream_copied_and_saved_in_the_middle_goes_on_alike(chain, before, after):
    cutter = build_cutter(records.Sequence(chain))
    stream = cutter.stream()
    for chunk in before:
        stream.feed(chunk)
    saved, other = cutter.stream(False), stream.copy()
    saved.load(stream.save())
    assert saved.save() == stream.save() == other.save()
    expected = [stream.feed(chunk) for chunk in after], stream.feed("", True)
    assert ([saved.feed(chunk) for chunk in after], saved.feed("", True)) == expected
    assert ([other.feed(chunk) for chunk in after], other.feed("", True)) == expected


def test_stream_ends_as_new_but_not_at_the_start():
    stream = build_cutter(records.Metaspace("_", "first")).stream()
    assert stream.feed("a b", True) == [("_a", True), ("_b", True)]
    assert stream.feed("a b", True) == [("a", True), ("_b", True)]
    stream.begin()
    assert stream.feed("a", True) == [("_a", True)]


def test_stream_bytes_from_place_0_may_be_more_than_a_character():
    cutter = build_cutter(records.Sequence([records.FixedLength(1), records.Metaspace("_", "first")]))
    stream = cutter.stream()
    stream.begin(True, 2)
    assert joined(stream, ["a", "bc", ""]) == ["_a", "_b", "c"]


@pytest.mark.parametrize(
    ("record", "text", "expected"),
    [
        (records.WhitespaceSplit(), "ab c", [("ab", True), ("c", False)]),
        (records.WhitespaceSplit(), "ab ", [("ab", True)]),
        (records.BertPreTokenizer(), "a.", [("a", True), (".", True)]),
        (records.Digits(True), "a1", [("a", True), ("1", True)]),
        (records.Digits(False), "a1", [("a", True), ("1", False)]),
        (records.FixedLength(2), "abc", [("ab", True), ("c", False)]),
        (records.Metaspace(), "a b", [("\u2581a", True), ("\u2581b", False)]),
        (records.Split(" ", "merged_with_previous"), "a b ", [("a ", True), ("b ", True)]),
        (records.Split(" ", "merged_with_next"), "a b ", [("a", True), (" b", True), (" ", False)]),
        (records.Split(records.Regex("-+>"), "isolated"), "ab--", [("ab", False)]),
        (records.Split(records.Regex("-+>"), "isolated"), "ab-- ", [("ab-- ", False)]),
        (records.ByteLevel(False), "ab cd", [("ab", True), (" cd", False)]),
        (records.ByteLevel(False), "ab  ", [("ab", True), (" ", False)]),
        (DEEPSEEK, "abc", [("abc", False)]),
        (DEEPSEEK, "abc1", [("abc", True), ("1", False)]),
        (CHAIN, "abc", [("abc", False)]),
        (CHAIN, "abc1", [("abc", True)]),
        (CHAIN, "\u4e2d\u6587", [("\u4e2d\u6587", False)]),
        (DEEPSEEK, "\u4e2d\u6587", [("\u4e2d\u6587", False)]),
    ],
)
def test_stream_emits_what_is_certain(record, text, expected):
    assert build_cutter(record).stream().feed(text) == expected


@pytest.mark.parametrize("letter", ["a", "\u4e2d", "-", "1", "\x01"])
@pytest.mark.parametrize("record", [DEEPSEEK, CHAIN], ids=["machine", "chain"])
def test_stream_of_a_long_stretch_holds_little(record, letter):
    stream = build_cutter(record).stream()
    size = 0
    for _ in range(40):
        size += sum(len(part) for part, _ in stream.feed(letter * 5000))
        assert stream.held <= 16
    assert size >= 40 * 5000 - 16


def test_stream_big_text_in_one_call_equals_parts():
    rng = random.Random(2)
    text = "".join(rng.choices(LETTERS, k=60_000))
    for record in (DEEPSEEK, CHAIN, records.BertPreTokenizer(), records.Sequence([records.WhitespaceSplit(), records.Metaspace()])):
        cutter = build_cutter(record)
        whole = [piece for piece, _ in cutter.pieces(text)]
        assert joined(cutter.stream(), [text]) == whole
        assert joined(cutter.stream(), [text[i : i + 977] for i in range(0, len(text), 977)]) == whole
        assert cutter.count(text.encode()) == len(whole)


def test_state_of_another_cutter_or_damaged_is_refused_or_harmless():
    rng = random.Random(8)
    chain = [records.FixedLength(3), records.UnicodeScripts(), records.Split(records.Regex("a+b|1"), "isolated"), records.Whitespace()]
    cutter = build_cutter(records.Sequence(chain))
    stream = cutter.stream()
    stream.feed("xaa")
    stream.feed("aa")
    good = stream.save()
    for data in (b"", good[:-1], good + b"x", build_cutter(records.Whitespace()).stream().save()):
        with pytest.raises(StateError):
            cutter.stream().load(data)
    for _ in range(2000):
        data = bytearray(good)
        for _ in range(rng.randint(1, 3)):
            data[rng.randrange(len(data))] = rng.choice((0, 1, 2, 255, rng.randrange(256)))
        other = cutter.stream()
        try:
            other.load(bytes(data))
        except StateError:
            continue
        try:
            other.feed("aab x1", True)
        except UnicodeDecodeError:  # a piece cut in two by a state that nobody saved
            pass


def test_every_failed_allocation_raises_and_leaves_the_rest_usable():
    if cut.fail_after(0) == -1 and cut.fail_after(-1) == -1:
        pytest.skip("only builds with CTOK_BUILD=test can make allocations fail")
    chain = records.Sequence(
        [records.Split(records.Regex("a+b|1"), "isolated"), records.Metaspace(), records.Split(records.Regex("x*"), "isolated")]
    )
    chunks = ["aa", "aab", "1x x" * 20, "aaa" * 2000, ""]
    expected = joined(build_cutter(chain).stream(), chunks)
    for n in range(300):
        cut.fail_after(n)
        try:
            cutter = build_cutter(chain)
            stream = cutter.stream()
            stream.feed("aa")
            copy = stream.copy()
            copy.load(copy.save())
            cutter.pieces("aab x")
            stream.begin()
            assert joined(stream, chunks) == expected
        except MemoryError:
            assert cut.fail_after(-1) < 0
            continue
        if cut.fail_after(-1) >= 0:
            break
    assert n > 20
