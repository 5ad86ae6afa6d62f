"""Pre-tokenizers, whole: every scalar and random texts, against the reference's own objects and against the plain twin."""

import itertools
import os
import random
import re

import pytest

from ctok._native import cut
from ctok._native.cut import Cutter
from ctok._native.split import known_patterns
from ctok._reference import cut as twin
from ctok.errors import PatternError, SpecError
from ctok.spec import BPE, Split, TokenTable
from ctok.stages._pattern.oniguruma import translate
from ctok.stages.cutters import build_cutter
from ctok.stagespecs import pretokenizers as records
from test_cut_stream import PARTS

theirs = pytest.importorskip("tokenizers.pre_tokenizers", reason="compares with the package tokenizers")
Pattern = pytest.importorskip("tokenizers").Regex

TEXTS = int(os.environ.get("CTOK_CUT_TEXTS", "60"))  # 100000 for the full run
EVERY = 1 if float(os.environ.get("CTOK_EXAMPLES", "1")) >= 1 else 8  # of the blocks of characters: the reference is slow beside sanitizers
LETTERS = [*"ab AB12-_.'s\n\t  \u2581\u00e9\u6f22\u3042\u30b0\u03b1\u0301\u00bd\u00b2x\u200c\u3000"]
PATTERNS = [
    r"\s+", r"\d{1,3}", "a|ab|b+", r"\p{L}+", r"x*", r"(?=[A-Z])", r"a+b", r"\w+|[^\w\s]+", r"^|$", r"[^\r\n\p{L}\p{N}]?\p{L}+", r"\bab",
    r"\d{1,3}+", r"(?i)ab|'s", r"\s+(?!\S)|\s+", r"a(?i)b|C", r".+", r"\d{2}?", r"\d{,2}", "[[:digit:]a-]+", r"(?m)a.b", r"[\w&&[^a]]+",
    r"(?<x>a)b", "a{", r"[]a]", r"(?>ab)", r"\Ha", r"\x{41}|\u0042", "(a|b)(?#c)*", r"\p{^L}", r"a?+b", "b$", r"\R", r"(?:ab)*?1",
]  # fmt: skip
CASES = {
    "whitespace": (theirs.Whitespace(), records.Whitespace()),
    "whitespace_split": (theirs.WhitespaceSplit(), records.WhitespaceSplit()),
    "bert": (theirs.BertPreTokenizer(), records.BertPreTokenizer()),
    "scripts": (theirs.UnicodeScripts(), records.UnicodeScripts()),
    "fixed": (theirs.FixedLength(3), records.FixedLength(3)),
    "fixed1": (theirs.FixedLength(1), records.FixedLength(1)),
}
for flag in (False, True):
    CASES[f"digits-{flag}"] = (theirs.Digits(flag), records.Digits(flag))
for char in "-\u00e9 ":
    CASES[f"delimiter-{char}"] = (theirs.CharDelimiterSplit(char), records.CharDelimiterSplit(char))
for how in records.BEHAVIORS:
    CASES[f"punctuation-{how}"] = (theirs.Punctuation(how), records.Punctuation(how))
for mark in "\u2581_\u00e9\U0001f600":
    for scheme in records.PREPEND_SCHEMES:
        for flag in (False, True):
            CASES[f"metaspace-{mark}-{scheme}-{flag}"] = (theirs.Metaspace(mark, scheme, flag), records.Metaspace(mark, scheme, flag))
SPLITS = {}
for how in records.BEHAVIORS:
    for flag in (False, True):
        for text in ("-", " ", "ab", "a.b", "\u6f22", ""):
            SPLITS[f"{text}-{how}-{flag}"] = (theirs.Split(text, how, flag), records.Split(text, how, flag))
        for text in PATTERNS:
            SPLITS[f"{text}-{how}-{flag}"] = (theirs.Split(Pattern(text), how, flag), records.Split(records.Regex(text), how, flag))


def random_texts(count, seed, longest=14):
    rng = random.Random(seed)
    for _ in range(count):
        yield "".join(rng.choices(LETTERS, k=rng.randint(0, longest)))


def scalars(step=1):
    return (chr(code) for code in range(0, 0x110000, step) if not 0xD800 <= code < 0xE000)


@pytest.mark.parametrize("name", CASES)
def test_cut_random_text_equals_reference(name):
    reference, record = CASES[name]
    cutter = build_cutter(record)
    for text in random_texts(TEXTS, name):
        assert cutter.pieces(text) == reference.pre_tokenize_str(text), text
    for text in random_texts(TEXTS // 4, name, 300):
        assert cutter.pieces(text) == reference.pre_tokenize_str(text), text
        assert [piece for piece, _ in cutter.stream().feed(text, True)] == [piece for piece, _ in reference.pre_tokenize_str(text)]


@pytest.mark.parametrize("name", SPLITS)
def test_cut_around_pattern_equals_reference(name):
    reference, record = SPLITS[name]
    cutter = build_cutter(record)
    for text in random_texts(TEXTS // 4, name):
        assert cutter.pieces(text) == reference.pre_tokenize_str(text), text


def visible():
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = (b for b in range(256) if b not in shown)
    return {**{b: chr(b) for b in shown}, **{b: chr(256 + i) for i, b in enumerate(hidden)}}


@pytest.mark.parametrize("prefix", [False, True])
@pytest.mark.parametrize("use_regex", [False, True])
def test_cut_byte_level_equals_reference(prefix, use_regex):
    reference = theirs.ByteLevel(prefix, True, use_regex)
    cutter, shown = build_cutter(records.ByteLevel(prefix, True, use_regex)), visible()
    for text in random_texts(2 * TEXTS, 3):
        pieces = [("".join(shown[b] for b in piece.encode()), span) for piece, span in cutter.pieces(text)]
        assert pieces == reference.pre_tokenize_str(text), text


BEHIND = {
    "digits": (theirs.Digits(True), records.Digits(True)),
    "words": (theirs.Whitespace(), records.Whitespace()),
    "regex": (theirs.Split(Pattern(r"[0-9][0-9][0-9]"), "isolated"), records.Split(records.Regex("[0-9][0-9][0-9]"), "isolated")),
    "fixed": CASES["fixed"],
    "metaspace": (theirs.Metaspace("\u0120", "always"), records.Metaspace("\u0120", "always")),
    "again": (theirs.ByteLevel(False, True, False), records.ByteLevel(False, True, False)),
}


@pytest.mark.parametrize("name", BEHIND)
def test_cut_behind_byte_level_sees_bytes_spelled(name):
    reference, record = BEHIND[name]
    whole = theirs.Sequence([theirs.Punctuation("contiguous"), theirs.ByteLevel(True), reference, reference])
    inner = records.Sequence([records.ByteLevel(True), record])
    cutter = build_cutter(records.Sequence([records.Punctuation("contiguous"), inner, record]))
    for text in random_texts(4 * TEXTS, name, 30):
        pieces, shown = cutter.pieces(text), visible()
        if name == "again":  # the last one is the model's
            pieces = [("".join(shown[b] for b in piece.encode()), span) for piece, span in pieces]
        assert pieces == whole.pre_tokenize_str(text), text


def test_k1_29_a_sequence_is_run_in_its_order():
    three = records.Split(records.Regex("[0-9][0-9][0-9]"), "isolated")
    cutter = build_cutter(records.Sequence([records.Punctuation("contiguous"), records.ByteLevel(False), records.Digits(False), three]))
    pieces = ["ab", "123", "456", "7", ",", "\u0120c", "!!", "d", "\u0120", "\u0120", "42"]
    stops = [2, 5, 8, 9, 10, 12, 14, 15, 16, 17, 19]
    assert cutter.pieces("ab1234567, c!!d  42") == list(zip(pieces, zip([0, *stops], stops, strict=False), strict=True))


ONCE = ["whitespace", "whitespace_split", "bert", "scripts", "digits-True", "punctuation-isolated", "metaspace-\u2581-always-True"]


@pytest.mark.parametrize("name", ONCE)
def test_cut_every_scalar_alone_and_between_letters_equals_reference(name):
    reference, record = CASES[name]
    cutter = build_cutter(record)
    # All between letters in a few texts; alone, those whose neighbours differ and a sample of the rest.
    whole = [*scalars()]
    for i in range(0, len(whole), 4000 * EVERY):
        text = "a" + "b".join(whole[i : i + 4000]) + "b"
        assert cutter.pieces(text) == reference.pre_tokenize_str(text), hex(i)
    for char in scalars(1 if TEXTS >= 100_000 else 97 * EVERY):
        for text in (char, f"a{char}b"):
            assert cutter.pieces(text) == reference.pre_tokenize_str(text), ascii(text)


def test_chain_of_patterns_that_is_one_machine_equals_reference():
    ours = [records.Split(records.Regex(part), "isolated") for part in PARTS]
    reference = theirs.Sequence([theirs.Split(Pattern(part), "isolated") for part in PARTS])
    cutter = build_cutter(records.Sequence([*ours, records.ByteLevel(False, True, False)]))
    assert cutter.is_plain_split
    letters = "a1. \n\u4e2d\u30fb\u0301\x01\u3040\u3099'"
    longest = 4 if TEXTS >= 100_000 else 3 if EVERY == 1 else 2
    short = ("".join(chars) for n in range(longest + 1) for chars in itertools.product(letters, repeat=n))
    long = ("".join(rng.choices([*LETTERS, *letters], k=60)) for rng in [random.Random(5)] for _ in range(5 * TEXTS))
    for text in (*short, *long):
        assert cutter.pieces(text) == reference.pre_tokenize_str(text), text
    rng = random.Random(6)
    for i in range(0, 0x110000, 2000 * EVERY):
        text = "".join(chr(code) + rng.choice(" a1\u4e2d") for code in range(i, min(i + 2000, 0x110000)) if not 0xD800 <= code < 0xE000)
        assert cutter.pieces(text) == reference.pre_tokenize_str(text), hex(i)


def random_record(rng):
    """One step: the reference's object and ours."""
    kind = rng.randrange(10)
    if kind < 2:
        pattern, how, invert = rng.choice(PATTERNS), rng.choice(records.BEHAVIORS), rng.random() < 0.3
        return theirs.Split(Pattern(pattern), how, invert), records.Split(records.Regex(pattern), how, invert)
    if kind < 4:
        args = rng.choice("\u2581_\u00e9"), rng.choice(["first", *records.PREPEND_SCHEMES]), rng.random() < 0.6
        return theirs.Metaspace(*args), records.Metaspace(*args)
    return CASES[rng.choice([*CASES])]


def test_cut_sequences_of_random_steps_equal_reference():
    rng = random.Random(11)
    for _ in range(2 * TEXTS):
        steps = [random_record(rng) for _ in range(rng.randint(2, 4))]
        reference, cutter = theirs.Sequence([a for a, _ in steps]), build_cutter(records.Sequence([b for _, b in steps]))
        for text in (*random_texts(10, rng.random()), *random_texts(1, rng.random(), 300)):
            pieces = reference.pre_tokenize_str(text)
            assert cutter.pieces(text) == pieces, ([b for _, b in steps], text)
            assert cutter.stream().feed(text, True) == [(piece, True) for piece, _ in pieces]


def test_cut_without_a_pre_tokenizer_keeps_the_text_whole():
    assert build_cutter(None).pieces(" a b") == [(" a b", (0, 4))]
    assert build_cutter(None).pieces("") == []


def test_cut_segment_behind_the_start_gets_no_first_blank():
    for split in (True, False):
        cutter = build_cutter(records.Metaspace(prepend_scheme="first", split=split))
        assert cutter.pieces("ab")[0][0] == "\u2581ab"
        assert cutter.pieces("ab", first=False)[0][0] == "ab"
    cutter = build_cutter(records.Sequence([records.WhitespaceSplit(), records.Metaspace(prepend_scheme="first")]))
    assert [piece for piece, _ in cutter.pieces("ab c")] == ["\u2581ab", "c"]
    assert [piece for piece, _ in cutter.pieces("ab c", first=False)] == ["ab", "c"]


def test_twin_equals_kernel_on_random_text():
    def white(c):
        return cut.properties(c) & 1

    def bert(c):
        return None if white(c) else (c,) if cut.properties(c) & 2 else "other"

    def words(c):
        return None if white(c) else "word" if cut.properties(c) & 8 else "other"

    pairs = [
        (records.WhitespaceSplit(), twin.around(twin.every(white), "removed")),
        (records.BertPreTokenizer(), twin.by_classes(bert, None)),
        (records.Whitespace(), twin.by_classes(words, None)),
        (records.UnicodeScripts(), twin.by_script(cut.script)),
        (records.FixedLength(3), twin.fixed(3)),
        (records.Digits(False), twin.around(twin.every(lambda c: cut.properties(c) & 4), "contiguous")),
        (records.Metaspace("_", "first"), twin.metaspace("_", "first", True)),
        (records.ByteLevel(True, True, False), twin.prefix()),
    ]
    for how in records.BEHAVIORS:
        for invert in (False, True):
            find = re.compile("a+|b|-").finditer
            step = twin.around(lambda text, find=find: [m.span() for m in find(text)], how, invert)
            pairs.append((records.Split(records.Regex("a+|b|-"), how, invert), step))
    spelled = twin.spell(visible())
    rng = random.Random(4)
    for _ in range(TEXTS):
        chosen = [rng.choice(pairs) for _ in range(rng.randint(1, 3))]
        cutter = build_cutter(records.Sequence([record for record, _ in chosen]))
        plain = [part for record, step in chosen for part in ([step, spelled] if isinstance(record, records.ByteLevel) else [step])]
        if plain[-1] is spelled:  # left to the model
            plain.pop()
        for text in random_texts(5, rng.random()):
            assert cutter.pieces(text) == twin.spans(twin.chain(plain, text)), (chosen, text)


LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


@pytest.mark.parametrize(
    ("record", "plain"),
    [
        (records.Split(records.Regex(LLAMA3), "isolated"), True),
        (records.Sequence([records.Split(records.Regex(LLAMA3), "isolated"), records.ByteLevel(False, True, False)]), True),
        (records.ByteLevel(False), True),
        (records.ByteLevel(True), False),
        (records.Split(records.Regex(LLAMA3), "removed", invert=True), True),
        (records.Split(records.Regex(r"\p{L}+"), "removed", invert=True), True),
        (records.Split(records.Regex(r"\p{L}+"), "isolated"), False),
        (records.Split(records.Regex(LLAMA3), "removed"), False),
        (records.Split(records.Regex(LLAMA3), "merged_with_next"), True),
        (records.Split(records.Regex(LLAMA3), "contiguous"), False),
        (Split(r"\p{L}+"), True),
        (Split(r"\w(?<=x)"), False),
        (records.Sequence([records.Digits(), records.ByteLevel(False)]), False),
        (None, False),
    ],
)
def test_cutter_says_when_a_splitter_alone_would_do(record, plain):
    assert build_cutter(record).is_plain_split == plain


@pytest.mark.parametrize(
    "pattern", ["(?x)a b", r"\pL", r"\K", r"[[:alpha:]]", r"\p{Upper}", r"\xff", "(?i)ss", r"\cA", "(a", "a)", "[a--b]"]
)
def test_pattern_that_is_not_supported_is_refused(pattern):
    with pytest.raises(PatternError, match="split pattern"):
        build_cutter(records.Split(records.Regex(pattern), "isolated"))


def test_record_that_cannot_run_is_refused():
    with pytest.raises(SpecError, match="FixedLength"):
        build_cutter(records.FixedLength(0))
    with pytest.raises(SpecError, match="BPE"):
        build_cutter(BPE(TokenTable.from_dict({b"a": 0})))


@pytest.mark.parametrize(
    "step", [("other",), ("fixed", 0), ("classes", 9, 0, 0, False), ("split", None, 1, False), ("metaspace", 1, 3, True)]
)
def test_cutter_malformed_step_is_refused(step):
    with pytest.raises((ValueError, TypeError)):
        Cutter([step])


def test_known_patterns_without_an_end_of_line_are_written_alike_in_both_dialects():
    assert [pattern for pattern, _ in known_patterns() if "$" not in pattern and translate(pattern) != pattern] == []
