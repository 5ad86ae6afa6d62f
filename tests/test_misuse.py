"""Calls that are wrong must end in an exception, never in a crash: forged states, one codec on two threads, methods of another object."""

import struct
import threading

import pytest

import ctok


@pytest.fixture(scope="module")
def tok():
    return ctok.load("o200k_base")


@pytest.mark.parametrize("held", [(b"\xf0\0\0\0", 1, 0xD800), (b"a\0\0\0", 1, 0), (b"\xf0\x9f\x98\x80", 4, 0), (b"\0\0\0\0", 0, 0x41)])
def test_setstate_with_impossible_held_text_is_refused(tok, held):
    encoder = tok.encoder()
    state = bytearray(encoder.getstate())
    struct.pack_into("<4sII", state, 13, *held)
    with pytest.raises(ctok.StateError):
        encoder.setstate(bytes(state))
    assert encoder.encode("hello world", final=True) == tok.encode("hello world")


def test_codec_used_by_two_threads_refuses_or_waits_and_stays_whole(tok):
    text = "Übung, don't " * 2000
    counter, refused = tok.counter(), []

    def feed():
        for _ in range(30):
            try:
                counter.feed(text)
                counter.copy()
            except RuntimeError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=feed) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("another thread" in message for message in refused)
    counter.reset()
    counter.feed(text, final=True)
    assert counter.count == tok.count(text)


@pytest.mark.parametrize("method", ["encode", "encode_ids", "count", "decode", "decode_bytes", "decode_spans"])
@pytest.mark.parametrize("wrong", [None, 5, "abc"])
def test_method_called_on_another_object_raises_type_error(method, wrong):
    with pytest.raises(TypeError):
        getattr(ctok.Tokenizer, method)(wrong, "a")


@pytest.mark.parametrize(
    ("method", "argument"),
    [(ctok.IncrementalEncoder.encode, "a"), (ctok.IncrementalCounter.feed, "a"), (ctok.IncrementalDecoder.decode, [1])],
)
def test_codec_method_called_on_another_object_raises_type_error(tok, method, argument):
    for wrong in (None, "x", tok):
        with pytest.raises(TypeError):
            method(wrong, argument)


@pytest.mark.parametrize("name", [None, b"abc", 1])
def test_special_token_policy_with_an_item_that_is_no_str_raises_type_error(tok, name):
    for option in ("allowed_special", "disallowed_special"):
        with pytest.raises(TypeError, match=option):
            tok.encode("a", **{option: [name]})
