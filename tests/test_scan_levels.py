"""The fast scanners against the scalar ones: the same stops whatever the place of a text in the windows of 64 bytes."""

import os
from pathlib import Path

import pytest

from ctok._native import scan
from scan_rules import PATTERNS, dense_texts, sparse_texts, unicode_texts

FAST = [level for level in scan.LEVELS if level != "scalar" and scan.has_level(level)]
SHARED = Path(os.environ.get("CTOK_SHARED") or Path(__file__).resolve().parents[2] / "shared")
PLACED = ["don't", "x'LL\n", "\n  \n y", "!\n/x", "1234567", "\u4e2dB", "\u4e2dBx", "\u3000a", "''s", "!\u0301a", "a's\u4e2dBx"]
PLACED += ["x'lL y", "x'Ve", "\n      \n y", "!\n      x", "\u4e2dBBBBBBx", "\u4e2dBBBBBB!", "a12345678901\u0663", "x      \u3000y"]
CASES = [(family, level) for family in PATTERNS for level in FAST]


def all_stops(family, data, level, cap=1024, at=0):
    got = []
    while at < len(data):
        stops, following, hit_end = scan.scan_block(family, data, True, level, at, cap)
        assert stops and following == stops[-1] and len(stops) <= cap and not hit_end
        got += stops
        at = following
    return got


def test_families_and_levels_are_those_of_the_tests():
    assert tuple(PATTERNS) == scan.FAMILIES
    assert scan.has_level("scalar")


@pytest.mark.parametrize(("family", "level"), CASES)
def test_fast_scanner_on_random_text_equals_scalar(family, level):
    for text in dense_texts(21, 200, 150) + sparse_texts(22, 600) + unicode_texts(23, 100, 150):
        data = text.encode()
        assert all_stops(family, data, level) == all_stops(family, data, "scalar"), text


@pytest.mark.parametrize(("family", "level"), CASES)
def test_fast_scanner_at_every_place_in_a_window_equals_scalar(family, level):
    for text in PLACED + dense_texts(24, 12, 8):
        for before in range(66):
            data = ("b" * before + text + "c" * 70).encode()
            assert all_stops(family, data, level) == all_stops(family, data, "scalar"), (before, text)


@pytest.mark.parametrize(("family", "level"), CASES)
def test_fast_scanner_of_open_text_equals_scalar(family, level):
    for text in sparse_texts(25, 60, 60) + dense_texts(26, 30, 60):
        data = text.encode()
        assert scan.scan_block(family, data, False, level) == scan.scan_block(family, data, False, "scalar"), text


@pytest.mark.parametrize("cap", [1, 2, 63, 64, 65, 130])
@pytest.mark.parametrize("family", PATTERNS)
def test_fast_scanner_with_little_room_gives_the_same_stops(family, cap):
    data = "".join(sparse_texts(27, 12)).encode()
    for level in FAST:
        assert all_stops(family, data, level, cap) == all_stops(family, data, "scalar")


@pytest.mark.parametrize("family", PATTERNS)
def test_fast_scanner_from_a_later_border_gives_the_rest(family):
    data = "".join(sparse_texts(28, 6)).encode()
    expected = all_stops(family, data, "scalar")
    for level in FAST:
        for k in range(0, len(expected) - 1, 7):
            assert all_stops(family, data, level, at=expected[k]) == expected[k + 1 :]


@pytest.mark.parametrize("level", FAST)
def test_fast_scanner_of_bytes_that_are_not_utf8_stays_inside_the_buffer(level):
    for unit in (b"\xff", b"\x80", b"a\xf4", b"\xe4\xb8 ", b"\xf7\xbf\xbf\xbf", b"'\xc5"):
        for family in PATTERNS:
            for size in (63, 64, 65, 130):
                assert all_stops(family, (unit * size)[:size], level)[-1] == size


@pytest.mark.parametrize("family", PATTERNS)
def test_fast_scanner_on_real_texts_equals_scalar(family):
    files = sorted((SHARED / "conformance" / "texts").glob("**/*.txt")) if SHARED.is_dir() else []
    if not files:
        pytest.skip("no shared texts beside the repository")
    for file in files:
        data = file.read_bytes()[:200_000].decode("utf-8", "ignore").encode()
        for level in FAST:
            assert all_stops(family, data, level) == all_stops(family, data, "scalar"), file.name
