"""Every allocation made to fail once: a `MemoryError`, and everything as before. Needs a build with CTOK_BUILD=test."""

import random

import pytest

import alloc_walk
from core import ANYTHING, GPT2, O200K, ctok_of, vocab_of
from ctok._native import batch, bpe, bpelanes, engine, ids, pipeline, stream, survivors, vocab
from ctok._native.bpe import merge, neighbours
from ctok.errors import UnknownIdError

MODULES = [batch, bpe, bpelanes, engine, ids, pipeline, stream, survivors, vocab]
pytestmark = alloc_walk.needs_failing(vocab)

RNG = random.Random(61)
RANKS = {bytes([b]): b for b in range(256)}
RANKS |= {b"ab": 300, b"abab": 301, b"  ": 302, b"a" * 16: 303, b"he": 304, b"hell": 305, b"hello": 306}
SPECIALS = {"<s>": 400, "<s>x": 401, "<end>": 402}
TEXT = "hello world <s> abab\u00e9 \U0001f600 " + "ab" * 400 + " " * 300 + "<s>x <en" + "".join(RNG.choices("abcdefg ", k=900))


def fresh(pattern=GPT2):
    return ctok_of(RANKS, pattern, SPECIALS)


WANT = {pattern: fresh(pattern).encode(TEXT, allowed_special="all") for pattern in (GPT2, ANYTHING, r"\w+(?<=x)|\w+|\W+")}


def walk(prepare, call, check=lambda thing: None):
    alloc_walk.walk(MODULES, call, prepare, check)


def test_vocabulary_that_finds_no_memory_is_not_built():
    walk(lambda: None, lambda _: [*map(vocab_of(RANKS, tuple(SPECIALS.items())).find, RANKS)])


@pytest.mark.parametrize("pattern", [GPT2, r"[a-z]+|[^a-z]{1,2}", r"\w+(?<=x)|\w+|\W+"], ids=["known", "compiled", "regex"])
def test_tokenizer_that_finds_no_memory_is_not_built(pattern):
    walk(lambda: None, lambda _: fresh(pattern).encode(TEXT, allowed_special="all"))


@pytest.mark.parametrize("text", [TEXT, TEXT.encode(), TEXT.replace("\U0001f600", ""), "a" * 3000, "hello " * 20_000, "\u00e9" * 70_000])
def test_encode_that_finds_no_memory_works_later(text):
    walk(fresh, lambda tok: tok.encode(text, allowed_special="all"))
    walk(fresh, lambda tok: tok.encode_ids(text, allowed_special="all"))
    walk(fresh, lambda tok: tok.count(text, allowed_special="all"))


def test_encode_one_pretoken_that_finds_no_memory_works_later():
    walk(lambda: fresh(ANYTHING), lambda tok: tok.encode(TEXT, allowed_special="all") == WANT[ANYTHING])


def test_encode_with_a_policy_that_finds_no_memory_works_later():
    options = {"allowed_special": {"<s>"}, "disallowed_special": {"<end>", "other"}}
    walk(fresh, lambda tok: (tok.encode(TEXT, **options), tok.count("<s>x", **options)))


@pytest.mark.parametrize("num_threads", [1, 3])
def test_batch_that_finds_no_memory_works_later(num_threads):
    texts = [TEXT, "", "hello " * 4000, "\u00e9" * 40_000, TEXT.encode()] * 3

    def call(tok):
        lists = tok.encode_batch(texts, num_threads, allowed_special="all")
        return lists, tok.count_batch(texts, num_threads), tok.decode_batch(lists, num_threads)

    walk(fresh, call)


def test_merge_that_finds_no_memory_works_later():
    shared = vocab_of(RANKS)
    pretokens = [b"ab" * 10, b"ab" * 600, b"q" * 40_000]
    walk(lambda: None, lambda _: [merge(shared, pretoken) for pretoken in pretokens])
    long = vocab_of({b"a" * 2**i: i for i in range(11)} | {b"b": 20, b"b" * 1500: 21})
    walk(lambda: None, lambda _: [neighbours(long, left, right) for left in (10, 21, None) for right in (10, 20)])
    walk(lambda: vocab_of(RANKS), lambda one: [neighbours(one, left, right) for left in (300, 305) for right in (301, 306, 304)])


CHUNKS = ["hel", "lo <s", ">x<en", "ab" * 300, b"c\xc3", b"\xa9 ", " " * 200, "a" * 3000, "\u00e9" * 40_000, "x\ud83d", "\ude00y"]
CHUNKS += ["a" * 2500]


@pytest.mark.parametrize("pattern", [O200K, ANYTHING, r"[a-c]+|\d\d", r"\w+(?<=x)|\w+|\W+"], ids=["o200k", "anything", "gaps", "regex"])
def test_encoder_that_finds_no_memory_is_as_before_the_call(pattern):
    calls = [lambda one, chunk=chunk: one.encode(chunk, final=chunk == "") for chunk in [*CHUNKS, ""]]
    alloc_walk.walk_calls(
        MODULES, lambda: fresh(pattern).encoder(allowed_special="all"), calls, lambda one: (one.getstate(), one.pending)
    )


def numbers(one):
    return one.count, one.stable, one.left, one.pending, one.getstate()


@pytest.mark.parametrize("pattern", [O200K, r"\w+(?<=x)|\w+|\W+"], ids=["o200k", "regex"])
def test_counter_that_finds_no_memory_is_as_before_the_call(pattern):
    acts = [lambda one: one.feed("hello <s"), lambda one: one.feed("ab" * 900), lambda one: one.feed(b"\xc3"),
            lambda one: one.feed(b"\xa9"), lambda one: one.truncate(1500),
            lambda one: one.feed("\u00e9 " * 1500, final=True), lambda one: one.truncate(3),
            lambda one: one.feed("x", final=True), lambda one: one.feed("new <s>"), lambda one: one.reset(),
            lambda one: one.feed("a" * 3000), lambda one: one.setstate(one.copy().getstate()), lambda one: one.feed("b")]  # fmt: skip
    alloc_walk.walk_calls(MODULES, lambda: fresh(pattern).counter(limit=100, rewind=True, allowed_special="all"), acts, numbers)


def test_reading_and_copying_a_codec_that_finds_no_memory_works_later():
    def prepare():
        tok = fresh(O200K)
        encoder, one = tok.encoder(allowed_special="all"), tok.counter(rewind=True)
        encoder.encode("ab" * 300 + "<s")
        one.feed("ab" * 700 + "c")
        return encoder, one

    def call(pair):
        encoder, one = pair
        other, twin = encoder.copy(), one.copy()
        twin.truncate(900)
        return encoder.pending, other.getstate(), other.encode("", final=True), one.count, twin.count, one.bare().count

    walk(prepare, call)


def test_decoding_after_a_failure_still_names_the_id():
    tok = fresh()
    for module in MODULES:
        module.fail_after(0)
        try:
            tok.decode([97, 299])
        except (UnknownIdError, MemoryError):
            pass
        finally:
            module.fail_after(-1)
    with pytest.raises(UnknownIdError):
        tok.decode([97, 299])
