"""Places in bytes to places in characters and code units."""

from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctok._native import places as module
from ctok._native.places import places

WIDTH = {"byte": lambda text: len(text.encode()), "char": len, "utf16": lambda text: len(text.encode("utf-16-le")) // 2}
TEXTS = st.text(st.sampled_from("ab é日\U0001f600"), max_size=300)


def by_hand(text, start, end, unit):
    raw = text.encode()
    borders = [len(text[:i].encode()) for i in range(len(text) + 1)]
    left = max(place for place in borders if place <= start)
    right = left if start >= end else min(place for place in borders if place >= end)
    return tuple(WIDTH[unit](raw[:place].decode()) for place in (left, right))


@settings(max_examples=100)
@given(TEXTS, st.sampled_from(["byte", "char", "utf16"]), st.data())
def test_places_widen_to_characters_and_count_in_the_unit(text, unit, data):
    n = len(text.encode())
    spans = data.draw(st.lists(st.tuples(st.integers(0, n), st.integers(0, n)), max_size=8))
    starts, ends = array("I", [span[0] for span in spans]), array("I", [span[1] for span in spans])
    got = places(text.encode(), starts, ends, unit)
    assert [*zip(*(column.tolist() for column in got), strict=True)] == [by_hand(text, *span, unit) for span in spans]
    assert all(column.format == "I" and column.readonly for column in got)


def test_k4_05_emoji_with_modifier_counts_code_points():
    text = "\U0001f44d\U0001f3fd"
    starts, ends = array("I", range(8)), array("I", range(1, 9))
    assert [*zip(*places(text.encode(), starts, ends), strict=True)] == [(0, 1)] * 4 + [(1, 2)] * 4
    assert [*zip(*places(text.encode(), starts, ends, "utf16"), strict=True)] == [(0, 2)] * 4 + [(2, 4)] * 4


def test_places_bad_input_is_refused():
    one = array("I", [1])
    with pytest.raises(ValueError, match=r"span 1\.\.4 is not in a text of 3 bytes"):
        places(b"abc", one, array("I", [4]))
    with pytest.raises(ValueError, match="1 starts, but 0 ends"):
        places(b"abc", one, array("I"))
    with pytest.raises(ValueError, match="unit must be one of"):
        places(b"abc", one, one, "line")
    assert [column.tolist() for column in places(b"", array("I", [0]), array("I", [0]))] == [[0], [0]]


def test_places_without_memory_is_a_memory_error():
    if module.fail_after(0) == -1 and module.fail_after(-1) == -1:
        pytest.skip("only builds with CTOK_BUILD=test can make allocations fail")
    module.fail_after(0)
    with pytest.raises(MemoryError):
        places(b"abc", array("I", [0]), array("I", [1]))
