"""The scalar scanners against the engines whose rules they follow, and what they promise while the text is still arriving."""

import itertools

import pytest

from ctok._native import scan
from scan_rules import ALPHABET, PATTERNS, dense_texts, stops_of, unicode_texts

CAP = 4096


def split(family, data, level="scalar"):
    stops, following, hit_end = scan.scan_block(family, data, True, level, 0, CAP)
    assert following == len(data) and not hit_end
    return stops


def tiktoken_stops(pattern, texts):
    """Return the stops of every text as tiktoken cuts it: all substrings are tokens, so every pretoken is one id."""
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([b]): b for b in range(256)}
    for text in texts:
        for i, j in itertools.combinations(range(len(text) + 1), 2):
            ranks.setdefault(text[i:j].encode(), len(ranks))
    encoding = tiktoken.Encoding("pieces", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    lengths = {rank: len(token) for token, rank in ranks.items()}
    return [list(itertools.accumulate(lengths[i] for i in encoding.encode_ordinary(text))) for text in texts]


@pytest.mark.parametrize(("family", "pattern"), [(f, p) for f, ps in PATTERNS.items() for p in ps if r"\Z" not in p])
def test_split_of_random_text_equals_tiktoken(family, pattern):
    texts = dense_texts(1, 1500) + unicode_texts(2, 1500)
    for text, expected in zip(texts, tiktoken_stops(pattern, texts), strict=True):
        assert split(family, text.encode()) == expected, text


@pytest.mark.parametrize("family", PATTERNS)
def test_split_of_every_short_text_equals_regex(family):
    matcher = pytest.importorskip("regex").compile(PATTERNS[family][0])
    for size in (1, 2, 3):
        for text in map("".join, itertools.product(ALPHABET, repeat=size)):
            assert split(family, text.encode()) == stops_of(matcher.findall(text)), text


def certain_stops(splits, text, continuations):
    """Return the stops that no continuation changes (all stops within the text, seen by trying)."""
    size = len(text.encode())
    certain = splits[text]
    for more in continuations:
        other = splits[text + more]
        same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(certain, other, strict=False)))
        certain = certain[:same]
    return [stop for stop in certain if stop <= size]


STREAM_ALPHABETS = {
    "gpt2": [" ", "\n", "a", "s", "l", "e", "r", "1", "'", "!"],
    "cl100k": [" ", "\n", "\t", "a", "s", "L", "1", "'", "!"],
    "cl100k_tail": [" ", "\n", "\t", "a", "l", "L", "1", "'", "!"],
    "qwen2": [" ", "\n", "\t", "a", "\u017f", "l", "1", "'", "!"],
    "qwen35": [" ", "\n", "a", "s", "l", "1", "'", "!", "\u0301"],
    "o200k": [" ", "\n", "a", "l", "B", "\u4e2d", "1", "'", "!", "/"],
    "deepseek3": [" ", "\n", "a", "\u00e9", "\u4e2d", "1", "!", "\u30fb", "\x01"],
}


@pytest.mark.parametrize("family", PATTERNS)
def test_open_text_gives_exactly_the_stops_that_no_continuation_changes(family):
    alphabet = STREAM_ALPHABETS[family]
    words = [["".join(w) for w in itertools.product(alphabet, repeat=size)] for size in range(6)]
    splits = {text: split(family, text.encode()) for text in itertools.chain(*words)}
    continuations = [*words[1], *words[2]]
    for text in itertools.chain(*words[1:4]):
        data = text.encode()
        stops, following, hit_end = scan.scan_block(family, data, False)
        assert stops == certain_stops(splits, text, continuations), text
        assert following == (stops[-1] if stops else 0), text
        assert hit_end == (following < len(data)), text


@pytest.mark.parametrize(("family", "letters", "whole"), [("gpt2", "lrv", "m"), ("o200k", "lrvLRV", "dM")])
def test_half_a_contraction_is_held_and_a_whole_one_is_not(family, letters, whole):
    for letter in letters:
        assert scan.scan_block(family, f"a'{letter}".encode(), False) == (([1], 1, True) if family == "gpt2" else ([], 0, True))
    for letter in whole:
        assert scan.scan_block(family, f"a'{letter}".encode(), False) == (([1, 3], 3, False) if family == "gpt2" else ([3], 3, False))
    assert scan.scan_block(family, b"a'x", False)[0] == ([1, 2] if family == "gpt2" else [1])


@pytest.mark.parametrize("family", PATTERNS)
def test_block_with_little_room_stops_and_continues(family):
    for text in dense_texts(3, 100):
        data, got, at = text.encode(), [], 0
        while at < len(data):
            stops, following, hit_end = scan.scan_block(family, data, True, "scalar", at, 2)
            assert 1 <= len(stops) <= 2 and following == stops[-1] and not hit_end
            got += stops
            at = following
        assert got == split(family, data)


@pytest.mark.parametrize("family", PATTERNS)
def test_block_of_nothing_is_empty(family):
    assert scan.scan_block(family, b"", True) == scan.scan_block(family, b"", False) == ([], 0, False)


@pytest.mark.parametrize("family", PATTERNS)
def test_bytes_that_are_not_utf8_stay_inside_the_buffer(family):
    for data in (b"\xf4", b"a\xe4\xb8", b" \xff\xff\xff\xff", b"'\xc5", b"\xf7\xbf\xbf\xbf\x80", b"\x80\x80"):
        assert split(family, data)[-1] == len(data)
        scan.scan_block(family, data, False)
