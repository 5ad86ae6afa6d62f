"""The known split patterns: whole texts, blocks, and one pretoken scanned while it arrives."""

import itertools
import random

import pytest
import tiktoken

from ctok._native.split import Scan, Splitter, fail_allocation, known_patterns
from ctok._native.unicode import category, is_space
from ctok._reference import split as reference
from ctok.stages._pattern import compile_pattern

KNOWN = known_patterns()
FAMILIES = {family: pattern for pattern, family in KNOWN}
ALPHABET = [*"aBsSlLrevdmtT1'./ \n\r\t!_", *"\u017f\u00b2\u3000\u4e2d\u0301\u01c5\u02b0\u00e9\x85\u200d\U0001f600\u0378"]
# One character for each class that some pattern tells apart, contractions but for a few.
CLASSES = [*"aBsrel1'/ \n!", *"\u4e2d\u0301"]


def random_texts(count, longest, seed=7):
    rng = random.Random(seed)
    for _ in range(count):
        yield "".join(rng.choices(ALPHABET, k=rng.randint(1, longest)))


def any_texts(count, longest, seed=9):
    """Texts of characters from everywhere."""
    rng = random.Random(seed)
    planes = [(0, 0x80), (0x80, 0x800), (0x800, 0xD800), (0xE000, 0x10000), (0x10000, 0x20000), (0x20000, 0x110000)]
    for _ in range(count):
        yield "".join(chr(rng.randrange(*rng.choice(planes))) for _ in range(rng.randint(1, longest)))


def exact(pattern):
    return reference.compile_explicit(pattern, category, is_space)


@pytest.fixture(params=KNOWN, ids=[f"{family}-{i}" for i, (_, family) in enumerate(KNOWN)])
def known(request):
    return request.param[0]


@pytest.fixture(params=sorted(FAMILIES))
def family(request):
    return FAMILIES[request.param]


def test_split_mixed_text_equals_reference(known):
    compiled, splitter = exact(known), Splitter.known(known)
    for text in itertools.chain(random_texts(800, 16), any_texts(200, 16)):
        expected = reference.spans(compiled, text), len(text.encode())
        assert splitter.spans(text, block=1 + len(text) % 5) == expected, text
        assert splitter.machine().spans(text, block=1 + len(text) % 3) == expected, text


def test_split_every_short_text_equals_reference(family):
    compiled, splitter = exact(family), Splitter.known(family)
    for text in map("".join, itertools.chain(*(itertools.product(CLASSES, repeat=n) for n in range(4)))):
        expected = reference.spans(compiled, text), len(text.encode())
        assert splitter.spans(text) == expected, text
        assert splitter.machine().spans(text) == expected, text


def test_split_mixed_text_equals_tiktoken(known):
    splitter = Splitter.known(known)
    for text in itertools.chain(random_texts(50, 40, seed=3), any_texts(20, 40)):
        # With a token for each pretoken, and single bytes, tiktoken's tokens are its pretokens.
        data = text.encode()
        pieces = [data[a:b] for a, b in splitter.spans(text)[0]]
        extra = {piece: 256 + i for i, piece in enumerate(dict.fromkeys(p for p in pieces if len(p) > 1))}
        ranks = {bytes([i]): i for i in range(256)} | extra
        encoding = tiktoken.Encoding("pieces", pat_str=known, mergeable_ranks=ranks, special_tokens={})
        assert [encoding.decode_single_token_bytes(i) for i in encoding.encode_ordinary(text)] == pieces, text


@pytest.mark.parametrize("name", ["o200k", "qwen35"])
def test_split_every_assigned_character_equals_reference(name):
    text = "".join(chr(code) for code in range(0x110000) if category(code) not in ("Cs", "Cn", "Co"))
    expected = reference.spans(exact(FAMILIES[name]), text), len(text.encode())
    assert Splitter.known(FAMILIES[name]).machine().spans(text) == expected


def test_split_every_character_is_the_same_for_machine_and_scanner(family):
    text = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    splitter = Splitter.known(family)
    assert splitter.machine().spans(text) == splitter.spans(text)


def test_known_spelling_of_one_family_leads_to_one_machine():
    by_family = {}
    for pattern, name in KNOWN:
        by_family.setdefault(name, set()).add(compile_pattern(pattern))
    assert {name: len(tables) for name, tables in by_family.items()} == dict.fromkeys(by_family, 1)


def test_known_unknown_text_gives_none():
    for text in ("a+", "", "\udc80", KNOWN[0][0] + "|", KNOWN[0][0] + "\0"):
        assert Splitter.known(text) is None


def test_block_while_text_arrives_holds_what_scan_holds(known):
    splitter = Splitter.known(known)
    for text in random_texts(300, 12, seed=4):
        data, at, expected = text.encode(), 0, []
        while at < len(data):
            scan = Scan(splitter)
            closed, _ = scan.feed(data[at:])
            if not closed:
                break
            expected.append((at, at + scan.accept))
            at = expected[-1][1]
        assert splitter.spans(text, at_eof=False) == (expected, at), text
        assert splitter.machine().spans(text, at_eof=False, block=2) == (expected, at), text


def test_scan_fed_in_pieces_equals_block(known):
    rng, splitter = random.Random(5), Splitter.known(known)
    for text in random_texts(300, 12, seed=8):
        at, found = 0, []  # in characters
        while at < len(text):
            scan, fed = Scan(splitter), at
            while fed < len(text):
                step = rng.choice((1, 1, 2, 5))
                if scan.feed(text[fed : fed + step].encode())[0]:
                    break
                fed += step
            found.append(scan.finish())
            at += len(text[at:].encode()[: found[-1]].decode())
        assert found == [b - a for a, b in splitter.spans(text)[0]], text


def check_open(scan, closed, text, possible):
    """A scan that was fed `text`, against the set of stops that are really possible."""
    if closed:
        assert possible == {scan.accept}, text
        return
    before = {stop for stop in possible if stop < scan.n}
    assert scan.n == len(text.encode())
    assert before == ({scan.accept} if scan.may_stop_at_accept else set()), text
    assert len(possible) > 1, text


def test_scan_of_open_pretoken_says_exactly_where_it_may_stop(family):
    compiled, splitter = exact(family), Splitter.known(family)
    alphabet = [*"aBsrel1' \n!/\u017f\u4e2d\u0301"]
    for text in map("".join, itertools.chain(*(itertools.product(alphabet, repeat=n) for n in range(1, 3)))):
        scan = Scan(splitter)
        closed, _ = scan.feed(text.encode())
        check_open(scan, closed, text, reference.stops(compiled, text, alphabet, 2))


@pytest.mark.parametrize(
    ("name", "text", "held", "ends"),
    [
        ("gpt2", "x's", 3, None),  # a full contraction is closed
        ("gpt2", "x'l", 1, 2),  # "'" and "l", or "'ll"
        ("gpt2", "x  ", 1, 2),  # the last space may go to the next word
        ("gpt2", "x ", 1, None),
        ("gpt2", "12", 0, None),
        ("cl100k", "x\n  ", 1, 2),  # "\n" and "  ", or one stretch up to a later newline
        ("cl100k", "123", 3, None),
        ("cl100k", "12", 0, None),
        ("cl100k", "x'\u017f", 4, None),
        ("o200k", "don'", 0, 3),  # "don" and "'", or "don't"
        ("o200k", "don'l", 0, 3),
        ("o200k", "don'\u017f", 6, None),
        ("o200k", "\u4e2dB", 0, 3),  # a lower-case letter joins the two
        ("o200k", "BB", 0, None),
        ("qwen2", "12", 2, None),
        ("qwen35", "e\u0301", 0, None),
    ],
)
def test_block_of_open_text_holds_known_answers(name, text, held, ends):
    splitter = Splitter.known(FAMILIES[name])
    assert splitter.spans(text, at_eof=False)[1] == held
    scan = Scan(splitter)
    scan.feed(text.encode()[held:])
    assert (scan.accept + held if scan.n and scan.may_stop_at_accept else None) == ends


def test_splitter_empty_text_has_no_pretokens(family):
    assert Splitter.known(family).spans("") == ([], 0)
    assert Splitter.known(family).machine().spans("", at_eof=False) == ([], 0)


def test_splitter_tables_that_lead_outside_are_refused():
    n_classes, ascii_classes, bounds, rows, entries = compile_pattern("a+|b")
    for broken in (
        (0, ascii_classes, bounds, rows, entries),
        (n_classes, ascii_classes[:-1], bounds, rows, entries),
        (n_classes, bytes([n_classes]) + ascii_classes[1:], bounds, rows, entries),
        (n_classes, ascii_classes, b"", b"", entries),
        (n_classes, ascii_classes, bytes(4), rows, entries),
        (n_classes, ascii_classes, bounds * 2, rows * 2, entries),
        (n_classes, ascii_classes, bounds, b"\xff" * 64, entries),
        (n_classes, ascii_classes, bounds, rows, b"\xff" * len(entries)),
        (n_classes, ascii_classes, bounds, rows, b"\x01" + entries[1:]),
        (n_classes, ascii_classes, bounds, rows, entries[:-8]),
        (n_classes, ascii_classes, bounds, rows, b""),
    ):
        with pytest.raises(ValueError, match="split tables"):
            Splitter("a+|b", broken)


def test_splitter_without_memory_raises_memory_error():
    tables = compile_pattern("a+|b")
    fail_allocation(0)
    if fail_allocation(0) != 0:
        pytest.skip("allocations fail on demand only in test builds")
    with pytest.raises(MemoryError):
        Splitter("a+|b", tables)
    fail_allocation(-1)
    assert Splitter("a+|b", tables).spans("aab") == ([(0, 2), (2, 3)], 3)
