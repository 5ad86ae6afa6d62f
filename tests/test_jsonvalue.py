"""JSON values: read as Python's own reader does, refused where it is not strict JSON, and written so that they come back."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctok._native.jsonvalue import parse, written

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=20)


@settings(max_examples=200, deadline=None)
@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_parse_any_document_as_python_reads_it(value, ascii_only, indent):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    found = parse(text.encode())
    assert found == value and repr(found) == repr(json.loads(text))


@settings(max_examples=200, deadline=None)
@given(VALUES)
def test_written_value_comes_back(value):
    assert repr(json.loads(written(value))) == repr(parse(written(value))) == repr(value)


@pytest.mark.parametrize("text", ["0", "-0", "-0.0", "1e5", "1E-400", "1" * 18, "1" * 19, "-" + "1" * 17, "-" + "1" * 18, "9" * 40])
def test_parse_numbers_as_python_reads_them(text):
    assert repr(parse(text.encode())) == repr(json.loads(text))


def test_parse_key_that_stands_twice_takes_the_last():
    assert parse(b'{"a": 1, "a": 2}') == {"a": 2}


@pytest.mark.parametrize(
    "raw",
    [
        b"", b" ", b"{", b"[1,]", b'{"a"}', b'{"a":1,}', b"tru", b"nulll", b"1 2", b"01", b"NaN", b"-", b'"\\ud800"', b'"\xff"', b'"\n"',
        b"1e999", b"-1e999", b"9" * 5000, b"[" * 200 + b"]" * 200, b'{"a":' * 200 + b"1" + b"}" * 200,
    ],
)  # fmt: skip
def test_parse_what_is_no_document_is_refused(raw):
    with pytest.raises(ValueError):
        parse(raw)


def test_parse_every_prefix_of_a_document_is_refused():
    raw = b'{"a": [1.5, -2, "x\\u00e9\\n", null, true, {"b": false}]}'
    parse(raw)
    for n in range(len(raw)):
        with pytest.raises(ValueError):
            parse(raw[:n])


def test_written_of_another_type_is_refused():
    with pytest.raises(TypeError, match="bytes"):
        written({"a": [b"x"]})
    assert parse(written(("a", (1, 2)))) == ["a", [1, 2]]
