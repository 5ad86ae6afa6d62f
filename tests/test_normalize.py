"""Every normalizer against the reference's own object: each character, random texts, cuts, origins; and against the plain twin."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctok._native import normalize as kernel
from ctok._reference import normalize as twin
from ctok.errors import SpecError, StateError
from ctok.stages.normalizers import build_normalizer
from ctok.stagespecs import normalizers as records
from ctok.stagespecs.patterns import Regex, String

tokenizers = pytest.importorskip("tokenizers", reason="the reference library is not installed")
ref = tokenizers.normalizers

# CTOK_RANDOM_TEXTS=100000 for the long run.
TEXTS = int(os.environ.get("CTOK_RANDOM_TEXTS", "2000"))
SCALARS = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
FACTS = twin.Facts(kernel.character, kernel.compose)


def small_charsmap():
    """A table with a rule for each kind: longer, shorter, gone, a mark, two characters, white space."""
    from normalize_charsmap import charsmap

    return charsmap(
        {"a": "b", "e\u0301": "\u00e9", "e": "E", "\ufb01": "fi", "\u0001": "", "\u3000": " ", "\u0308": "", "ab": "no", "\r": "R",
         "\r\n": " ", "\u0915": "ka", "\u2026": "...", "\uff76": "\u30ab", "\U0001f600": ":)", "n\u0303": "\u00f1", "\u1100": "G",
         "\u0600": "0", "\u200d": "j"})  # fmt: skip


def replacing(pattern, content):
    regex = isinstance(pattern, Regex)
    return records.Replace(pattern, content), ref.Replace(tokenizers.Regex(pattern.text) if regex else pattern, content)


def bert(*flags):
    return records.BertNormalizer(*flags), ref.BertNormalizer(*flags)


def albert(side, regex):
    twice = [side.NFKD(), side.StripAccents(), side.Lowercase(), side.Replace(regex(" {2,}"), " ")] * 2
    return side.Sequence([side.Replace("``", '"'), side.Replace("''", '"'), *twice])


REPLACEMENTS = [
    ("space", " ", "\u2581"),
    ("two", "``", '"'),
    ("grow", "ab", "abab"),
    ("gone", "a", ""),
    ("borders", "aab", "x"),
    ("wide", "\u0301", "'"),
    ("long", "a", "abcdefghijk"),
    ("spaces", Regex(" {2,}"), " "),
    ("plus", Regex(" +"), "\u2581"),
    ("class", Regex("[ab]+c"), "<>"),
    ("digits", Regex(r"\d{2,3}"), "#"),
    ("ahead", Regex(r"a(?!b)"), "A"),
    ("behind", Regex("(?<=a)b"), "B"),
    ("empty", Regex("a*"), "-"),
    ("start", Regex("^"), "\u2581"),
    ("end", Regex("$"), "."),
    ("line", Regex("^a|b$|[$^]"), "<>"),
    ("groups", Regex("(a)(b)"), "$2$1"),
    ("wide-class", Regex("[\u0300-\u0303]+"), ""),
    ("white", Regex(r"\s+"), " "),
]
ROWS = [
    "NFD Lowercase NFC", "Lowercase NFKC", "StripAccents NFC", "NFC StripAccents", "Nmt NFKC", "NFKC NFD", "NFD NFC", "NFKC Lowercase NFKC",
    "Nmt NFD StripAccents NFC", "NFD Nmt NFKD", "NFKD ByteLevel", "",
]  # fmt: skip


def pairs():
    R, S = records, ref
    charsmap = small_charsmap()
    yield "nfc", R.NFC(), S.NFC()
    yield "nfd", R.NFD(), S.NFD()
    yield "nfkc", R.NFKC(), S.NFKC()
    yield "nfkd", R.NFKD(), S.NFKD()
    yield "lowercase", R.Lowercase(), S.Lowercase()
    yield "strip_accents", R.StripAccents(), S.StripAccents()
    yield "nmt", R.Nmt(), S.Nmt()
    yield "byte_level", R.ByteLevel(), S.ByteLevel()
    for left in (True, False):
        for right in (True, False):
            yield f"strip-{left:d}{right:d}", R.Strip(left, right), S.Strip(left, right)
    yield "prepend", R.Prepend("\u2581"), S.Prepend("\u2581")
    yield "prepend-two", R.Prepend("ab"), S.Prepend("ab")
    for i, flags in enumerate(
        [(True, True, None, True), (True, True, None, False), (True, True, False, True), (False, False, True, False),
         (True, False, True, False), (False, True, True, True)]
    ):  # fmt: skip
        yield f"bert-{i}", *bert(*flags)
    for name, pattern, content in REPLACEMENTS:
        yield f"replace-{name}", *replacing(pattern, content)
    yield "charsmap", R.Precompiled(charsmap), S.Precompiled(charsmap)
    yield "albert", albert(R, Regex), albert(S, tokenizers.Regex)
    for row in ROWS:
        yield row or "none", *(side.Sequence([getattr(side, step)() for step in row.split()]) for side in (R, S))
    yield (
        "bert-nfc",
        R.Sequence([R.BertNormalizer(), R.NFC(), R.Strip(), R.Prepend("\u2581"), R.Replace(" ", "\u2581")]),
        S.Sequence([S.BertNormalizer(), S.NFC(), S.Strip(), S.Prepend("\u2581"), S.Replace(" ", "\u2581")]),
    )


def acts(char):
    """Is it a mark, part of a composing pair, or one that a grapheme cluster may be longer for?"""
    _, _, _, combining_class, bits = kernel.character(ord(char))
    return combining_class or bits & 0x300 or bits >> 18 in (4, 5, 6, 7)


ACTIVE = [char for char in SCALARS if acts(char)]
PAIRS = {name: (record, theirs) for name, record, theirs in pairs()}
ALONE = {*"nfc nfd nfkc nfkd lowercase strip_accents nmt byte_level strip-11 bert-0 bert-2 bert-3 charsmap".split()}
every_normalizer = pytest.mark.parametrize("name", PAIRS)


def build(name):
    return build_normalizer(PAIRS[name][0]) or kernel.Normalizer(())


# ---- texts ----

ALPHABETS = [
    "abcABC  \t\n\r`'\".,-0123",
    "aeiou\u0301\u0323\u0302\u0308\u031b\u0345\u0334\u00e9\u1e69\u1ea5\u1edf",
    "\uac00\uac01\u1100\u1161\u11a8\u11a7\ud7a3 \u1175\u11c2",
    "\u0915\u094d\u093c\u0928\u0929\u0958\u09c7\u09be\u09cb \u0e33\u0e38\u0e48\u0e4d\u0f71\u0f72\u0f74\u0f73",
    "\u4e2d\u56fd\uf900\u3099\u304b\u30ab\u309a\uff76\uff9e\u3000",
    "\u0001\u0000\u200b\u200d\ufeff\ufffd\u00ad\u0085\u00a0\u2028\u2581\u0600\u00a9\U0001f600\ufe0f",
    "\u0130\u03a3\u1e9e\ufb01\u2026\ufdfa\u00bd\u2460\u1d165\U0001d15e\U0001d165\U0001d16e\U00010f46\U0001e944\u302e\u302f\u3164",
]


def random_text(rng):
    letters = rng.choice(ALPHABETS) + (rng.choice(ALPHABETS) if rng.random() < 0.5 else "")
    if rng.random() < 0.1:
        letters = "".join(rng.choices(SCALARS, k=12)) + letters
    return "".join(rng.choices(letters, k=rng.choice((1, 2, 3, 5, 8, 13, 40))))


def random_texts(name, n):
    rng = random.Random(name)
    return [random_text(rng) for _ in range(n)]


def theirs_or_skip(theirs, text):
    """Their answer, or None where their library panics (a step behind one that adds a character without origin at the start)."""
    try:
        return theirs.normalize_str(text)
    except BaseException as error:
        assert "Panic" in type(error).__name__, error
        return None


# ---- what it gives ----


@every_normalizer
def test_normalizer_on_every_character_equals_the_reference(name):
    mine, theirs = build(name), PAIRS[name][1]
    blocks = list(range(0, len(SCALARS), 4096))
    if name not in ALONE and TEXTS < 100_000:  # what is made of steps that were asked about every character
        blocks = blocks[:4] + random.Random(name).sample(blocks, 12)
    # Between two characters stands one that no step joins to anything.
    for start in blocks:
        some = "\u00b6|\u00b6".join(SCALARS[start : start + 4096])
        if mine.normalize(some) != theirs.normalize_str(some):
            wrong = [f"U+{ord(c):04X}" for c in SCALARS[start : start + 4096] if mine.normalize(c) != theirs.normalize_str(c)]
            raise AssertionError(f"{name}: {wrong[:20] or 'only in context'}")


@every_normalizer
def test_normalizer_on_marks_in_context_equals_the_reference(name):
    mine, theirs = build(name), PAIRS[name][1]
    acts = list(ACTIVE)
    rng = random.Random(name)
    for _ in range(3):
        rng.shuffle(acts)
        text = "|".join("a" * rng.randint(0, 1) + "".join(acts[i : i + 3]) for i in range(0, len(acts), 3))
        assert mine.normalize(text) == theirs.normalize_str(text)


@every_normalizer
def test_normalizer_on_random_texts_equals_the_reference(name):
    mine, theirs = build(name), PAIRS[name][1]
    for text in random_texts(name, TEXTS):
        wanted = theirs_or_skip(theirs, text)
        if wanted is not None:
            assert mine.normalize(text) == wanted, ascii(text)


@every_normalizer
def test_normalizer_stream_under_random_cuts_equals_the_whole(name):
    mine = build(name)
    rng = random.Random(name)
    for text in random_texts(name + "cuts", TEXTS // 2):
        assert cut_up(mine, text, rng).decode() == mine.normalize(text), ascii(text)


def cut_up(mine, text, rng):
    stream, out, at, whole = kernel.NormalizerStream(mine), b"", 0, mine.normalize(text.encode())
    longest = rng.choice((1, 2, 5))
    while at < len(text):
        step = rng.randint(0, longest)
        out += stream.feed(text[at : at + step].encode())
        at += step
        assert whole.startswith(out)
        choice = rng.random()
        if choice < 0.1:
            stream = stream.copy()
        elif choice < 0.2:
            state, stream = stream.save(), kernel.NormalizerStream(mine)
            stream.load(state)
    out += stream.feed(b"", True)
    assert stream.feed(b"", True) == b""
    assert stream.held == 0
    return out


@pytest.mark.parametrize("name", ["nfc", "nfkc", "bert-0", "albert", "charsmap", "replace-space", "replace-class", "strip-11"])
def test_normalizer_of_a_long_text_works_in_blocks(name):
    mine, theirs = build(name), PAIRS[name][1]
    rng = random.Random(name)
    text = "".join(random_text(rng) for _ in range(12000))
    assert mine.normalize(text) == theirs.normalize_str(text)
    marks = "e" + "\u0301\u0323" * 40000 + "a"
    assert mine.normalize(marks) == theirs.normalize_str(marks)


# ---- where it comes from ----


def their_spans(theirs, text):
    """The reference's offsets of each normalized character, in characters of the original."""
    whole = theirs.normalize_str(text)
    model = tokenizers.models.BPE(vocab={c: i for i, c in enumerate(dict.fromkeys(whole))}, merges=[])
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = theirs
    return whole, tokenizer.encode(text).offsets


def my_spans(mine, text):
    """The same from the kernel's byte ranges."""
    whole, spans = mine.normalize_spans(text, as_reference=True)
    starts = [0]
    for char in text:
        starts.append(starts[-1] + len(char.encode()))
    at, found = 0, []
    for char in whole:
        size = len(char.encode())
        assert len(set(spans[at : at + size])) == 1
        start, end = spans[at]
        found.append((starts.index(start), starts.index(end)))
        at += size
    assert at == len(spans)
    return whole, found


@every_normalizer
def test_normalizer_spans_equal_the_offsets_of_the_reference(name):
    mine, theirs = build(name), PAIRS[name][1]
    for text in random_texts(name + "spans", TEXTS // 4):
        if theirs_or_skip(theirs, text) is None:
            continue
        assert my_spans(mine, text) == their_spans(theirs, text), ascii(text)


# ---- the twin ----


@every_normalizer
@given(data=st.data())
def test_normalizer_equals_the_twin(name, data):
    text = data.draw(st.text(st.one_of(st.sampled_from("".join(ALPHABETS)), st.characters(exclude_categories=["Cs"])), max_size=30))
    mine = build(name)
    items = twin.normalize(text, mine.steps, FACTS)
    whole, spans = mine.normalize_spans(text)
    assert whole == twin.text_of(items) == mine.normalize(text)
    assert spans == [origin[0] for char, origin in items for _ in char.encode()]
    assert mine.normalize_spans(text, as_reference=True)[1] == [origin[1] for char, origin in items for _ in char.encode()]


# ---- how early ----


@pytest.mark.parametrize(
    ("name", "fed", "out", "held"),
    [
        ("nfc", "abc1", "abc1", 0),
        ("nfc", "1a", "1", 1),
        ("nfc", "a\u4e2d", "a\u4e2d", 0),
        ("nfc", "\uac00", "", 3),
        ("nfc", "\uac01", "\uac01", 0),
        ("nfd", "abc", "abc", 0),
        ("nfd", "ab\u0301", "ab", 2),
        ("bert-0", "A\u00e9\n", "ae ", 0),
        ("albert", "A  \u00e9`", "a e", 1),
        ("strip-11", "  ab  ", "ab", 2),
        ("prepend", "a", "\u2581a", 0),
        ("replace-space", "a b ", "a\u2581b\u2581", 0),
        ("replace-borders", "xaa", "x", 2),
        ("replace-spaces", "a   ", "a ", 0),
        ("replace-spaces", "a ", "a", 1),
        ("replace-class", "xcab", "xc", 2),
        ("replace-behind", "abab", "", 4),
        ("charsmap", "ab.", "bb", 1),
        ("charsmap", "xe\u0301\u0301\u0301", "xE\u0301\u0301\u0301", 0),
    ],
)
def test_normalizer_stream_lets_go_what_is_certain(name, fed, out, held):
    stream = kernel.NormalizerStream(build(name))
    assert stream.feed(fed.encode()).decode() == out
    assert stream.held == held


def test_normalizer_with_a_pattern_beyond_machines_says_that_it_does_not_stream():
    assert not build("replace-behind").streams
    assert build("replace-class").streams


@pytest.mark.skipif(TEXTS < 100_000, reason="asks the reference about every character for minutes; CTOK_RANDOM_TEXTS=100000 runs it")
def test_normalizer_tables_are_what_the_tool_writes():
    tool = Path(__file__).resolve().parent.parent / "tools" / "gen_normalize.py"
    subprocess.run([sys.executable, str(tool), "--check"], check=True)


# ---- what it refuses ----


def test_build_normalizer_of_nothing_gives_none():
    assert build_normalizer(None) is None
    assert build_normalizer(records.Sequence([])) is None


@pytest.mark.parametrize("data", [b"", b"\x01", b"\xff\xff\xff\xff", b"\x08\0\0\0\0\0\0\0", b"\0\0\0\0\xff"])
def test_build_normalizer_of_a_malformed_charsmap_raises(data):
    with pytest.raises(SpecError, match="malformed"):
        build_normalizer(records.Precompiled(data))


def test_build_normalizer_of_another_record_raises():
    with pytest.raises(SpecError, match="not a normalizer"):
        build_normalizer(String("a"))


@every_normalizer
def test_normalizer_stream_refuses_forged_states(name):
    mine = build(name)
    rng = random.Random(name)
    for text in random_texts(name, 30):
        stream = kernel.NormalizerStream(mine)
        stream.feed(text.encode())
        state = bytearray(stream.save())
        for _ in range(10):
            forged = bytearray(state)
            for _ in range(rng.randint(0, 2)):
                if forged:
                    forged[rng.randrange(len(forged))] = rng.choice((0, 1, 2, 0x80, 0xFF, rng.randrange(256)))
            if rng.random() < 0.3:
                forged = forged[: rng.randrange(len(forged) + 1)]
            try:
                stream.load(bytes(forged))
            except StateError:
                continue
            stream.feed(b"a\xcc\x81b", True)
