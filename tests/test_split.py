"""The split room: known patterns, whole and piece by piece."""

import itertools
import random

import pytest
import regex

from ctok._native.split import Scan, Splitter, known_patterns

KNOWN = known_patterns()
ALPHABET = [*"aBsSlLrevdmt1'./ \n\r\t!_", *"\u017f\u00b2\u3000\u4e2d\u0301\u01c5\u02b0\u00e9\x85\u200d\U0001f600"]


def texts(count, longest, seed=7):
    rng = random.Random(seed)
    return ["".join(rng.choices(ALPHABET, k=rng.randint(1, longest))) for _ in range(count)]


def byte_spans(compiled, text):
    places = [0, *itertools.accumulate(len(c.encode()) for c in text)]
    return [(places[m.start()], places[m.end()]) for m in compiled.finditer(text)]


@pytest.fixture(params=KNOWN, ids=[f"{family}-{i}" for i, (_, family) in enumerate(KNOWN)])
def known(request):
    return request.param[0]


def test_known_pattern_on_mixed_text_cuts_as_regex(known):
    compiled, splitter = regex.compile(known), Splitter.known(known)
    for text in texts(2000, 16):
        expected = byte_spans(compiled, text), len(text.encode())
        assert splitter.spans(text, block=1 + len(text) % 5) == expected, text
        assert splitter.machine().spans(text, block=1 + len(text) % 3) == expected, text


def test_known_unknown_pattern_gives_none():
    assert Splitter.known("a+") is None
    assert Splitter.known("\udc80") is None


def test_scan_fed_by_character_cuts_as_block(known):
    splitter = Splitter.known(known)
    for text in texts(300, 12, seed=8):
        data, at, spans = text.encode(), 0, []
        while at < len(data):
            scan = Scan(splitter)
            for char in data[at:].decode():
                if scan.feed(char.encode())[0]:
                    break
            spans.append((at, at + scan.finish()))
            at = spans[-1][1]
        assert (spans, len(data)) == splitter.spans(text)
