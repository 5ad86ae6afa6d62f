"""SentencePiece's own normalizer against sentencepiece itself: each character, random rules and symbols, cuts, offsets, bad bytes."""

import os
import random
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctok._native.normalize import Normalizer, NormalizerStream
from ctok._reference.spm_normalize import normalize as twin
from ctok.errors import SpecError, StateError
from ctok.formats import charsmap
from ctok.stages.normalizers import build_normalizer
from ctok.stagespecs import normalizers
from ctok.stagespecs.sentencepiece import Normalizer as Record

sentencepiece = pytest.importorskip("sentencepiece", reason="the reference library is not installed")
pb = pytest.importorskip("sentencepiece.sentencepiece_model_pb2", reason="models are built with sentencepiece's own messages")

# CTOK_RANDOM_TEXTS=100000 for the long run.
TEXTS = int(os.environ.get("CTOK_RANDOM_TEXTS", "2000"))
SCALARS = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
BLANK = "\u2581"


def theirs(record):
    """A processor of sentencepiece with this normalizer."""
    model = pb.ModelProto()
    said = model.normalizer_spec
    said.precompiled_charsmap = record.charsmap
    said.add_dummy_prefix = record.add_dummy_prefix
    said.remove_extra_whitespaces = record.remove_extra_whitespaces
    said.escape_whitespaces = record.escape_whitespaces
    model.trainer_spec.treat_whitespace_as_suffix = record.treat_whitespace_as_suffix
    model.trainer_spec.model_type = 4
    model.pieces.add(piece="<unk>", type=2)
    model.pieces.add(piece="~", type=1)
    for symbol in record.user_defined:
        model.pieces.add(piece=symbol, type=4)
    return sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())


@cache
def named(name, extra=True):
    record = Record(charsmap.named(name), remove_extra_whitespaces=extra)
    return build_normalizer(record), theirs(record)


def options(rng):
    return {
        "add_dummy_prefix": rng.random() < 0.6,
        "remove_extra_whitespaces": rng.random() < 0.6,
        "escape_whitespaces": rng.random() < 0.7,
        "treat_whitespace_as_suffix": rng.random() < 0.3,
    }


# ---- texts, rules and symbols that meddle with blanks and with each other ----

LETTERS = [*"abcABX <>s\n\t", " ", " ", BLANK, "\u0301", "\u0308", "e", "\u00e9", "\u3000", "\u304b", "\u3099", "\uff76", "\uff9e",
           "\u4e2d", "\U0001f600", "\ufffd", "\u0080"]  # fmt: skip
NEW = ["", " ", "  ", "x", BLANK, "a b", " z ", "\u3000", "yy", "zzzzzzzz", "q" + BLANK]


def random_text(rng, most, letters=LETTERS):
    return "".join(rng.choices(letters, k=rng.randint(0, most)))


def random_rules(rng):
    rules = {}
    for _ in range(rng.randint(0, 8)):
        old, new = random_text(rng, 3), rng.choice([*NEW, random_text(rng, 3)])
        if old and old != new:
            rules[old] = new
    return rules


def random_symbols(rng):
    return tuple({text for text in (random_text(rng, 3) for _ in range(rng.choice((0, 0, 2, 4)))) if text})


def long_text(rng, rules):
    parts = ["word ", "of ", "the  ", "abcabc", "\u4e2d\u4e2d", "\0", *rules, *rng.choices(LETTERS, k=3)]
    return "".join(rng.choices(parts, k=rng.choice((3, 20, 60))))


def cases(seed, n):
    """(record, rules, symbols, texts)."""
    rng = random.Random(seed)
    for _ in range(n):
        rules, symbols = random_rules(rng), random_symbols(rng)
        table = charsmap.compile_rules(rules) if rules else b""
        record = Record(table, user_defined=symbols, **options(rng))
        texts = [random_text(rng, rng.choice((3, 10, 100))) for _ in range(10)] + [long_text(rng, rules) for _ in range(10)]
        yield record, rules, symbols, texts


def cut_up(mine, text, rng, whole):
    stream, out, at = NormalizerStream(mine), b"", 0
    longest = rng.choice((1, 1, 3, 20))
    while at < len(text):
        step = rng.randint(0, longest)
        out += stream.feed(text[at : at + step].encode())
        at += step
        assert whole.startswith(out)
        choice = rng.random()
        if choice < 0.1:
            stream = stream.copy()
        elif choice < 0.2:
            state, stream = stream.save(), NormalizerStream(mine)
            stream.load(state)
    out += stream.feed(b"", True)
    assert stream.feed(b"", True) == b""
    assert stream.held == 0
    return out


# ---- every character ----


@pytest.mark.parametrize(("name", "extra"), [(name, True) for name in charsmap.NAMES] + [("identity", False), ("nmt_nfkc", False)])
def test_spm_normalize_on_every_character_equals_the_reference(name, extra):
    mine, reference = named(name, extra)
    rng = random.Random(name)
    shuffled = rng.sample(SCALARS, len(SCALARS) if TEXTS >= 100_000 else 200_000)
    for between, characters in (("|", SCALARS), ("", shuffled), (" a", shuffled[:100_000])):
        text = between.join(characters)
        assert mine.normalize(text) == reference.normalize(text)
    alone = SCALARS if TEXTS >= 100_000 else SCALARS[:0x3400:3] + shuffled[:2000]
    assert [mine.normalize(char) for char in alone] == reference.normalize(alone)


@pytest.mark.parametrize("name", charsmap.NAMES[1:])
def test_spm_normalize_where_rules_meet_equals_the_reference(name):
    mine, reference = named(name)
    rng = random.Random(name)
    rules = list(known_rules(name))
    seconds = sorted({old[1] for old in rules if len(old) > 1})
    for _ in range(max(1, TEXTS // 20_000)):
        parts = rng.sample(rules, 20000) + rng.choices(seconds, k=20000) + rng.choices("abcABCeio <", k=60000) + rng.sample(SCALARS, 20000)
        rng.shuffle(parts)
        text = "".join(parts)
        assert mine.normalize(text) == reference.normalize(text)
        some = text[:40000].encode()
        normalized, offsets = mine.normalize_offsets(some)
        assert (normalized, list(offsets)) == reference.normalize(some, with_offsets=True)


@cache
def known_rules(name):
    return dict(sentencepiece.SentencePieceNormalizer(rule_name=name).Decompile())


# ---- random rules ----


def test_spm_normalize_with_random_rules_equals_the_reference():
    for record, _, _, texts in cases("rules", TEXTS // 20):
        mine, reference = build_normalizer(record), theirs(record)
        for text in texts:
            raw = text.encode()
            normalized, offsets = reference.normalize(raw, with_offsets=True)
            assert mine.normalize(raw) == normalized, (record, text)
            assert mine.normalize_offsets(raw)[0] == normalized
            assert list(mine.normalize_offsets(raw)[1]) == offsets, (record, text)


def test_spm_normalize_of_bad_bytes_equals_the_reference():
    rng = random.Random("bytes")
    for record, _, _, texts in cases("bytes", TEXTS // 40):
        mine, reference = build_normalizer(record), theirs(record)
        for text in texts:
            raw = bytearray(text.encode())
            for _ in range(rng.randint(1, 4)):
                at = rng.randint(0, len(raw))
                raw[at : at + rng.randint(0, 1)] = bytes([rng.choice(b"\x80\xff\xe2\x96\xc0\xf0\xed\xa0\xf4\x90")])
            normalized, offsets = mine.normalize_offsets(bytes(raw))
            assert (normalized, list(offsets)) == reference.normalize(bytes(raw), with_offsets=True), (record, raw)


def test_spm_normalize_stream_under_random_cuts_equals_the_whole():
    rng = random.Random("cuts")
    for record, _, _, texts in cases("cuts", TEXTS // 20):
        mine = build_normalizer(record)
        for text in texts[::3]:
            assert cut_up(mine, text, rng, mine.normalize(text.encode())).decode() == mine.normalize(text), (record, text)


@pytest.mark.parametrize("name", charsmap.NAMES)
def test_spm_normalize_stream_of_known_rules_equals_the_whole(name):
    mine = named(name)[0]
    rng = random.Random(name)
    rules = list(known_rules(name))[:: 101] if name != "identity" else ["a"]
    for _ in range(TEXTS // 40):
        text = "".join(rng.choices([*rules, *"eE \u0301\u0323", "word ", "  \u4e2d\u6587"], k=rng.randint(0, 40)))
        assert cut_up(mine, text, rng, mine.normalize(text.encode())).decode() == mine.normalize(text)


@given(data=st.data())
def test_spm_normalize_equals_the_twin(data):
    short = st.text(st.sampled_from(LETTERS), min_size=1, max_size=3)
    rules = {old: new for old, new in data.draw(st.dictionaries(short, st.sampled_from(NEW) | short, max_size=5)).items() if old != new}
    symbols = tuple(data.draw(st.sets(short, max_size=3)))
    flags = data.draw(st.tuples(*[st.booleans()] * 4))
    mine = build_normalizer(Record(charsmap.compile_rules(rules) if rules else b"", *flags, user_defined=symbols))
    text = data.draw(st.lists(st.sampled_from([*LETTERS, *rules, *symbols]) | st.characters(codec="utf-8"), max_size=20).map("".join))
    raw = data.draw(st.just(text.encode()) | st.binary(max_size=12))
    dummy, extra, escape, suffix = flags
    encoded = {old.encode(): new.encode() for old, new in rules.items()}
    want = twin(raw, encoded, [symbol.encode() for symbol in symbols], dummy=dummy, extra=extra, escape=escape, suffix=suffix)
    normalized, offsets = mine.normalize_offsets(raw)
    assert (normalized, list(offsets)) == want
    assert mine.normalize(text).encode() == mine.normalize_offsets(text.encode())[0]


# ---- single points ----


ODD = ["", " ", "   ", BLANK, f" {BLANK}", "X", "XX", "Y", "Y Y", "a X b", f"a{BLANK} ", "\0", " a\0 ", "a \0", "a\u3000 b"]


@pytest.mark.parametrize("text", ODD)
@pytest.mark.parametrize("suffix", [False, True])
@pytest.mark.parametrize("extra", [False, True])
def test_spm_normalize_of_texts_of_blanks_equals_the_reference(text, suffix, extra):
    table = charsmap.compile_rules({"X": "  ", "Y": "", "Z": " z ", "\u3000": " "})
    for escape in (False, True):
        record = Record(table, True, extra, escape, suffix)
        mine, reference = build_normalizer(record), theirs(record)
        assert mine.normalize(text) == reference.normalize(text)
        assert list(mine.normalize_offsets(text.encode())[1]) == reference.normalize(text.encode(), with_offsets=True)[1]


def test_spm_normalize_of_nested_symbols_takes_the_longest_of_the_first_64():
    record = Record(user_defined=tuple("b" + "a" * k for k in range(1, 100)))
    raw = b"b" + b"a" * 150 + b"  ~"
    normalized, offsets = build_normalizer(record).normalize_offsets(raw)
    assert (normalized, list(offsets)) == theirs(record).normalize(raw, with_offsets=True)


def test_spm_normalize_spans_last_until_what_follows():
    mine = named("nmt_nfkc")[0]
    normalized, spans = mine.normalize_spans("  ab\u3000 \ufb01 ")
    assert normalized == f"{BLANK}ab{BLANK}fi"
    assert spans == [(2, 2)] * 3 + [(2, 3), (3, 4)] + [(4, 4), (4, 4), (4, 8), (8, 8), (8, 11)]


@pytest.mark.parametrize(
    ("fed", "out", "held"),
    [
        ("abc", f"{BLANK}ab", 1),       # a mark may follow
        ("a1", f"{BLANK}a1", 0),
        ("a1  ", f"{BLANK}a1", 0),      # blanks are counted
        ("   ", "", 0),
        ("1\u304b", f"{BLANK}1", 3),
        ("1\u304b1", f"{BLANK}1\u304b1", 0),
        ("1" + BLANK * 3, f"{BLANK}1", 0),
        ("\u4e2d", f"{BLANK}\u4e2d", 0),
    ],
)  # fmt: skip
def test_spm_normalize_stream_lets_go_what_is_certain(fed, out, held):
    stream = NormalizerStream(named("nmt_nfkc")[0])
    assert stream.feed(fed.encode()).decode() == out
    assert stream.held == held


def test_spm_normalize_of_many_blanks_one_by_one_costs_the_same_for_each():
    stream = NormalizerStream(named("identity")[0])
    for _ in range(50000):
        assert stream.feed(BLANK.encode()) in (b"", BLANK.encode())
    assert stream.feed(b"x", True).decode() == BLANK * 50001 + "x"


def test_spm_normalize_stream_refuses_states_of_others():
    stream = NormalizerStream(named("nmt_nfkc")[0])
    stream.feed(b"a  ")
    state = stream.save()
    other = NormalizerStream(named("nmt_nfkc", False)[0])
    with pytest.raises(StateError):
        other.load(state)
    with pytest.raises(StateError):
        stream.load(state[:-1])


def test_spm_normalize_as_one_of_several_steps_is_refused():
    with pytest.raises(SpecError):
        build_normalizer(normalizers.Sequence([Record(), normalizers.NFC()]))


@pytest.mark.parametrize("table", [b"abc", b"\xff\xff\xff\xff", b"\4\0\0\0", b"\4\0\0\0\0\0\0\0\x80", charsmap.named("nfkc")[:1000]])
def test_spm_normalize_with_a_malformed_table_is_refused(table):
    with pytest.raises(SpecError):
        build_normalizer(Record(table))


def test_spm_normalize_with_tables_that_lead_astray_stays_inside():
    rng = random.Random("astray")
    good = charsmap.compile_rules({"ab": "c", "a\u0301": "\u00e1", "\u304b\u3099": "\u304c", "x": " "})
    text = ("ab\u0301 a\u0301 \u304b\u3099x" * 30).encode()
    for _ in range(TEXTS // 4):
        table = bytearray(good)
        for _ in range(rng.randint(1, 20)):
            table[rng.randrange(4, len(table))] = rng.randrange(256)
        try:
            mine = build_normalizer(Record(bytes(table)))
        except SpecError:
            continue
        whole = mine.normalize(text)
        assert mine.normalize_offsets(text)[0] == whole
        assert cut_up(mine, text.decode(), rng, whole) == whole


def test_spm_normalize_with_no_symbol_text_is_refused():
    with pytest.raises(ValueError, match="malformed"):
        Normalizer([("sentencepiece", b"", (True, True, True, False), ("",))])
