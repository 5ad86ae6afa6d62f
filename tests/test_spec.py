"""The values that say what a tokenizer is, and the exception tree: equality, immutability, pickling, refusals."""

import pickle
import struct

import pytest

from ctok import errors
from ctok.spec import BPE, AddedToken, Spec, Split, TokenTable

RANKS = {b"b": 1, b"a": 0, b"ab": 7, b"\xff": 3}


def make_spec(**changes):
    fields = {
        "name": "toy",
        "model": BPE(TokenTable.from_dict(RANKS)),
        "pre_tokenizer": Split(r"\w+"),
        "added_tokens": [AddedToken("<x>", 9)],
    }
    return Spec(**fields | changes)


def test_table_from_dict_is_in_byte_order():
    table = TokenTable.from_dict(RANKS)
    assert list(table) == [(b"a", 0), (b"ab", 7), (b"b", 1), (b"\xff", 3)]
    assert len(table) == 4
    assert table.ends == struct.pack("<4I", 1, 3, 4, 5)


def test_table_empty_has_no_tokens():
    assert list(TokenTable.from_dict({})) == []


def test_table_over_memoryview_equals_table_over_bytes():
    table = TokenTable.from_dict(RANKS)
    viewed = TokenTable(memoryview(table.data), memoryview(table.ends).cast("I"), bytearray(table.ids))
    assert viewed == table
    assert hash(viewed) == hash(table)
    assert list(viewed) == list(table)
    assert pickle.loads(pickle.dumps(viewed)) == table


@pytest.mark.parametrize(
    ("tokens", "error", "says"),
    [
        ([(b"a", 0), (b"a", 1)], ValueError, "b'a' occurs twice"),
        ({b"a": 0, b"b": 0}, ValueError, "same id 0"),
        ({b"a": -1}, ValueError, "-1"),
        ({b"a": 2**31}, ValueError, str(2**31)),
        ({"a": 1}, TypeError, "bytes"),
        ({b"a": 1.0}, TypeError, "int"),
    ],
)
def test_table_from_bad_tokens_is_refused(tokens, error, says):
    with pytest.raises(error, match=says):
        TokenTable.from_dict(tokens)


@pytest.mark.parametrize(
    "parts", [(b"ab", b"\2\0\0\0", b""), (b"ab", b"\2\0", b"\2\0"), (b"ab", b"\1\0\0\0", b"\0\0\0\0"), (b"a", b"", b"")]
)
def test_table_of_buffers_that_do_not_fit_is_refused(parts):
    with pytest.raises(ValueError, match="token table"):
        TokenTable(*parts)


def test_spec_equality_is_by_value():
    assert make_spec() == make_spec()
    assert hash(make_spec()) == hash(make_spec())
    assert make_spec(source="here") == make_spec(source="there")
    assert make_spec(name="other") != make_spec()
    assert make_spec().model != make_spec().pre_tokenizer


def test_spec_pickles():
    again = pickle.loads(pickle.dumps(make_spec(source="here")))
    assert again == make_spec()
    assert again.source == "here"


def test_spec_replace_changes_only_what_is_named():
    spec = make_spec().replace(name="other", added_tokens=())
    assert (spec.name, spec.added_tokens, spec.model) == ("other", (), make_spec().model)
    with pytest.raises(TypeError):
        spec.replace(nonsense=1)


def test_spec_is_immutable():
    spec = make_spec()
    with pytest.raises(AttributeError, match="replace"):
        spec.name = "other"
    with pytest.raises(AttributeError):
        del spec.name
    with pytest.raises(AttributeError):
        spec.unheard_of = 1


def test_spec_repr_is_short():
    assert len(repr(make_spec())) < 200


@pytest.mark.parametrize(
    "build",
    [
        lambda: make_spec(name=""),
        lambda: make_spec(added_tokens=[("<x>", 9)]),
        lambda: Split(b"x"),
        lambda: AddedToken(b"x", 1),
        lambda: AddedToken("x", "1"),
    ],
)
def test_spec_of_wrong_types_is_refused(build):
    with pytest.raises(TypeError):
        build()


@pytest.mark.parametrize(
    "build", [lambda: AddedToken("", 1), lambda: AddedToken("x", -1), lambda: make_spec(added_tokens=[AddedToken("x", 1)] * 2)]
)
def test_spec_of_wrong_values_is_refused(build):
    with pytest.raises(ValueError):
        build()


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_is_a_ctok_error_and_pickles(name):
    error = getattr(errors, name)("what happened")
    assert isinstance(error, errors.CtokError)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), "what happened", vars(error))


def test_error_attributes_survive_pickling():
    error = errors.VocabularyFileError("bad base64", path="x.tiktoken", line=3, cure="Get it again.")
    assert str(error) == "x.tiktoken: line 3: bad base64. Get it again."
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.path, again.line, again.reason) == (str(error), "x.tiktoken", 3, "bad base64")


@pytest.mark.parametrize(
    ("name", "bases"),
    [
        ("EncodeError", (ValueError,)),
        ("DecodeError", (ValueError,)),
        ("UnknownIdError", (LookupError, ValueError)),
        ("UnknownTokenError", (LookupError, ValueError)),
        ("VocabularyNotFoundError", (LookupError,)),
        ("PatternError", (ValueError, errors.SpecError)),
    ],
)
def test_error_is_also_the_builtin_a_caller_expects(name, bases):
    assert all(issubclass(getattr(errors, name), base) for base in bases)
