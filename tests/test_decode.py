"""Whole decoding: `_native.detokenize` against its slow twin and against tiktoken."""

import array
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctok._native import detokenize, readids, tokenbytes
from ctok._native.detokenize import decode_bytes, decode_str
from ctok._native.spans import decode_spans
from ctok._reference import decode as twin
from ctok.errors import DecodeError, UnknownIdError
from toy import SPECIAL, token_table, toy_ids, toy_tokens, toy_vocab

VOCAB = toy_vocab()
TOKENS, SPECIAL_IDS = toy_tokens()
decode_str(VOCAB, toy_ids("a") * 256, False, "replace", None)    # from now on by the table of short tokens ...
PLAIN_VOCAB = toy_vocab()                                        # ... and here without
POLICIES = [None, "maximal_subpart", "per_byte", "hf_run"]
ids_lists = st.lists(st.sampled_from(sorted(TOKENS)), max_size=40)


def text_of(ids, skip=False, errors="replace", policy=None):
    return decode_str(VOCAB, ids, skip, errors, policy)


@settings(max_examples=100)
@given(ids_lists, st.booleans(), st.sampled_from(["replace", "ignore"]), st.sampled_from(POLICIES))
def test_decode_any_ids_equals_the_twin(ids, skip, errors, policy):
    want = twin.decode(TOKENS, SPECIAL_IDS, ids, skip_special=skip, errors=errors, policy=policy)
    for vocab in (VOCAB, PLAIN_VOCAB):
        assert decode_str(vocab, ids, skip, errors, policy) == want
        assert decode_bytes(vocab, ids, skip) == b"".join(twin.token_list(TOKENS, SPECIAL_IDS, ids, skip))


@settings(max_examples=80)
@given(ids_lists, st.booleans(), st.sampled_from(POLICIES))
def test_decode_strict_names_the_first_bad_byte_and_its_id(ids, skip, policy):
    parts = twin.token_list(TOKENS, SPECIAL_IDS, ids, skip)
    try:
        want = b"".join(parts).decode()
    except UnicodeDecodeError as error:
        with pytest.raises(DecodeError) as caught:
            text_of(ids, skip, "strict", policy)
        assert caught.value.position == error.start
        ends = [len(b"".join(parts[: i + 1])) for i in range(len(parts))]
        assert caught.value.index == next(i for i, end in enumerate(ends) if end > error.start)
    else:
        assert text_of(ids, skip, "strict", policy) == want


@settings(max_examples=100)
@given(
    ids_lists, st.sampled_from(["char", "byte", "utf16"]), st.booleans(), st.sampled_from(["replace", "ignore"]), st.sampled_from(POLICIES)
)
def test_spans_any_ids_equal_the_twin(ids, unit, skip, errors, policy):
    options = {"skip_special": skip, "errors": errors, "policy": policy}
    text, spans = decode_spans(VOCAB, ids, skip, errors, policy, unit)
    assert text == twin.decode(TOKENS, SPECIAL_IDS, ids, **options)
    assert spans == twin.spans(TOKENS, SPECIAL_IDS, ids, unit, **options)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(sorted(TOKENS)), max_size=1500))
def test_decode_long_lists_equal_tiktoken(ids):
    assert text_of(ids) == tiktoken_toy().decode(ids)
    assert decode_bytes(VOCAB, ids, False) == tiktoken_toy().decode_bytes(ids)


def tiktoken_toy(cache=[]):  # noqa: B006 - built once
    if not cache:
        tiktoken = pytest.importorskip("tiktoken")
        cache.append(tiktoken.Encoding("toy", pat_str=r".", mergeable_ranks=token_table(), special_tokens=dict(SPECIAL)))
    return cache[0]


@pytest.mark.parametrize("text", ["plain", "héllo", "жы你", "😀a", "a" * 5000, "é" * 5000, "жé" * 3000, "你a" * 5000, "😀é" * 3000])
def test_decode_every_width_and_length_gives_the_text(text):
    raw = text.encode()
    by_byte = token_table()
    for n in [*range(min(len(text), 70)), len(text)]:
        ids = [by_byte[bytes([b])] for b in text[:n].encode()]
        assert text_of(ids) == text[:n]
        assert decode_bytes(VOCAB, array.array("I", ids), False) == text[:n].encode()
    assert sys.getsizeof(text_of([by_byte[bytes([b])] for b in raw])) == sys.getsizeof(raw.decode())


def test_decode_skipped_special_joins_the_bytes_around_it():
    ids = toy_ids(b"\xe4\xbd", "<|end|>", b"\xa0")
    assert text_of(ids, skip=True) == "你"
    assert text_of(ids) == "�<|end|>�"


@pytest.mark.parametrize("code", "HhIiLlQq")
def test_decode_buffers_of_every_integer_type_equal_the_list(code):
    ids = toy_ids("hello", " world", b"\xe4\xbd", b"\xa0", "<|end|>")
    assert text_of(array.array(code, ids)) == text_of(ids)
    assert text_of(memoryview(array.array(code, ids))[::2]) == text_of(ids[::2])
    assert text_of(array.array(code)) == ""


@pytest.mark.parametrize("code", "hilq")
def test_decode_negative_in_a_buffer_is_named(code):
    with pytest.raises(UnknownIdError) as caught:
        text_of(array.array(code, [0, -100]))
    assert (caught.value.id, caught.value.index) == (-100, 1)


class Index:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


def test_k5_07_ids_with_index_in_list_tuple_or_iterator_decode():
    ids = toy_ids("hello", " world", "é")
    assert text_of([ids[0], Index(ids[1]), ids[2]]) == "hello worldé"
    assert text_of(tuple(Index(i) for i in ids)) == "hello worldé"
    assert text_of(iter(ids)) == text_of(range(ids[0], ids[0] + 1)) + " worldé" == "hello worldé"


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", ">u4", "<u4"])
def test_k5_06_k5_08_numpy_ids_of_any_type_decode(dtype):
    numpy = pytest.importorskip("numpy")
    ids = toy_ids(b"h", b"i", b"\xc3", b"\xa9")
    assert text_of(numpy.array(ids, dtype=dtype)) == "hié"
    assert text_of(list(numpy.array(ids, dtype=dtype))) == "hié"
    assert text_of(numpy.array(ids, dtype=dtype)[::-1]) == text_of(ids[::-1])


@pytest.mark.parametrize("bad", ["text", b"bytes", bytearray(b"x"), 5, None, [1.0], ["1"], [None], [[1]]])
def test_decode_what_is_no_sequence_of_integers_is_a_type_error(bad):
    with pytest.raises(TypeError):
        text_of(bad)


@pytest.mark.parametrize("bad", [-1, -100, 256, 261, 412, 2**31, 2**32 - 1, 2**32, 2**63, 2**64, -(2**70), 2**70])
@pytest.mark.parametrize("before", [0, 3, 300, 3000])
def test_k5_01_k5_02_unknown_id_is_named_with_its_index(bad, before):
    ids = toy_ids("hello") * before + [bad] + toy_ids("hello") * 2
    for call in (text_of, lambda ids: decode_bytes(VOCAB, ids, True), lambda ids: decode_spans(VOCAB, ids, False, "strict", None, "char")):
        with pytest.raises(UnknownIdError) as caught:
            call(ids)
        assert (caught.value.id, caught.value.index) == (bad, before)
        assert str(bad) in str(caught.value)


def test_k4_18_token_inside_a_character_starts_at_that_character():
    ids = toy_ids("hello", b" \xf0\x9f", b"\x98", b"\x80", b"\xc3\xa9\xc3", b"\xa9")
    assert decode_spans(VOCAB, ids, False, "replace", None, "char") == ("hello 😀éé", [(0, 5), (5, 7), (6, 7), (6, 7), (7, 9), (8, 9)])
    assert decode_spans(VOCAB, ids, False, "replace", None, "utf16")[1] == [(0, 5), (5, 8), (6, 8), (6, 8), (8, 10), (9, 10)]
    assert decode_spans(VOCAB, ids, False, "replace", None, "byte")[1] == [(0, 5), (5, 8), (8, 9), (9, 10), (10, 13), (13, 14)]


def test_k4_19_half_a_character_has_a_span_when_replaced():
    ids = toy_ids(b"\xf0\x9f\x8c")
    assert decode_spans(VOCAB, ids, False, "replace", None, "char") == ("�", [(0, 1)])
    with pytest.raises(DecodeError):
        decode_spans(VOCAB, ids, False, "strict", None, "char")


def test_decode_bad_options_are_refused():
    with pytest.raises(ValueError, match="errors"):
        text_of([], errors="surrogateescape")
    with pytest.raises(ValueError, match="utf8_policy"):
        text_of([], policy="none")
    with pytest.raises(ValueError, match="unit"):
        decode_spans(VOCAB, [], False, "replace", None, "bytes")


@pytest.mark.parametrize("module, least", [(detokenize, 1), (tokenbytes, 1), (readids, 1)])
def test_decode_any_failed_allocation_raises_memory_error(module, least):
    ids = toy_ids(b"\xff", "a" * 40) * 1000
    if module.fail_after(0) == -1 and module.fail_after(-1) == -1:
        pytest.skip("only builds with CTOK_BUILD=test can make allocations fail")
    want = text_of(ids)
    for n in range(100):
        module.fail_after(n)
        try:
            got = text_of(ids)
        except MemoryError:
            continue
        finally:
            left = module.fail_after(-1)
        assert got == want and left >= 0
        break
    assert n >= least
