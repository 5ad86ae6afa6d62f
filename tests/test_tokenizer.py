"""The composed tokenizer: look-ups, batches, parts of bounded size, ids as memory, pickling, forks and threads."""

import array
import copy
import multiprocessing
import os
import pickle
import random
import sys
import threading
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import ctok
from core import ALPHABET, CL100K, GPT2, O200K, SPECIALS, ctok_of, o200k_ranks, random_text, random_vocabularies, real_pair, real_ranks
from ctok import cutting
from ctok._native.ids import Ids
from ctok.errors import (
    DisallowedSpecialTokenError,
    EncodeError,
    SpecError,
    UnknownIdError,
    UnknownTokenError,
)
from ctok.spec import BPE, Spec, Split, TokenTable
from ctok.tokenizer import Tokenizer

REGEX_ONLY = r"\w+(?<=x)|\w+|\W+"
EMOJI = "\U0001f600"
BYTES = {bytes([b]): b for b in range(256)}


@pytest.fixture
def tok():
    return real_pair(O200K)[0]


# ---- what it is ----


def test_look_ups_find_ordinary_special_and_added_tokens():
    tok = ctok_of({**BYTES, b"ab": 300}, GPT2, {"<s>": 400}, {"<tool>": 405})
    assert [tok.token_to_id(one) for one in ("ab", b"ab", bytearray(b"a"), "<s>", b"<s>", "<tool>")] == [300, 300, 97, 400, 400, 405]
    assert [tok.id_to_bytes(number) for number in (300, 97, 400, 405)] == [b"ab", b"a", b"<s>", b"<tool>"]
    assert [tok.is_special(number) for number in (97, 300, 301, 400, 405, -1, 10**9)] == [False, False, False, True, False, False, False]
    assert (tok.vocab_size, tok.special_tokens, tok.name, tok.streams) == (406, {"<s>": 400}, "test", True)
    tok.special_tokens.clear()
    assert tok.special_tokens == {"<s>": 400}


def test_token_of_an_id_is_the_same_the_second_time():
    tok = ctok_of({**BYTES, b"ab": 300}, GPT2, {"<s>": 400})
    for _ in range(2):
        assert [tok.id_to_token(number) for number in (300, 97, 0xFF, 400, True)] == ["ab", "a", "\ufffd", "<s>", "\x01"]
        for wrong, error in ((97.0, TypeError), ("97", TypeError), (None, TypeError), (301, UnknownIdError), (-1, UnknownIdError)):
            with pytest.raises(error):
                tok.id_to_token(wrong)


@pytest.mark.parametrize("token", ["", b"", "abc", b"\xff\xff", "\ud800", "<s", "<S>"])
def test_token_that_does_not_exist_raises(token):
    tok = ctok_of(BYTES, GPT2, {"<s>": 400})
    with pytest.raises(UnknownTokenError) as caught:
        tok.token_to_id(token)
    assert isinstance(caught.value, LookupError) and caught.value.token == token


@pytest.mark.parametrize("token", [None, 5, 5.0, ["a"]])
def test_token_that_is_no_text_is_a_type_error(token):
    with pytest.raises(TypeError):
        ctok_of(BYTES, GPT2).token_to_id(token)


@pytest.mark.parametrize("number", [256, -1, 401, 2**40])
def test_id_that_does_not_exist_raises(number):
    tok = ctok_of(BYTES, GPT2, {"<s>": 400})
    with pytest.raises(UnknownIdError):
        tok.id_to_bytes(number)
    with pytest.raises(UnknownIdError) as caught:
        tok.decode([97, number])
    assert (caught.value.id, caught.value.index) == (number, 1)


def test_k5_12_vocabulary_of_65536_tokens_decodes_its_last_id():
    ranks = {**BYTES, **{number.to_bytes(3, "big"): number for number in range(256, 65536)}}
    tok = ctok_of(ranks, r"(?s:.)")
    assert len(tok.vocab) == 65536
    assert tok.decode_bytes([65535]) == b"\x00\xff\xff" and tok.decode_batch([[65535, 97]]) == ["\0\ufffd\ufffda"]


def test_tokenizer_does_not_change(tok):
    for name in ("spec", "vocab", "anything"):
        with pytest.raises(AttributeError):
            setattr(tok, name, 1)
    assert repr(tok) == "<Tokenizer 'test': 9004 ids, 4 special tokens>"


@pytest.mark.parametrize(
    "change",
    [{"model": BPE(TokenTable.from_dict(BYTES), mode="other")}, {"pre_tokenizer": None}, {"normalizer": Split("a")},
     {"decoder": Split("a")}, {"post_processor": Split("a")}],
)  # fmt: skip
def test_spec_that_cannot_run_is_refused(change):
    spec = Spec("x", BPE(TokenTable.from_dict(BYTES)), Split(GPT2))
    with pytest.raises(SpecError, match="'x'"):
        Tokenizer.from_spec(spec.replace(**change))


def test_what_is_no_spec_is_a_type_error():
    for other in (None, "o200k_base", {}):
        with pytest.raises(TypeError):
            Tokenizer.from_spec(other)


def test_largest_id_is_refused_or_works():
    with pytest.raises(SpecError):
        ctok_of({**BYTES, b"ab": 2**31 - 1}, GPT2)


# ---- ids as memory ----


def test_ids_are_a_read_only_buffer_of_unsigned_32_bit_numbers(tok):
    ids = tok.encode_ids("hello world, this is text")
    view = memoryview(ids)
    assert (view.format, view.itemsize, view.ndim, view.shape, view.readonly, view.contiguous) == ("I", 4, 1, (len(ids),), True, True)
    assert view.tolist() == list(ids) == ids.tolist() == list(array.array("I", bytes(view))) == tok.encode("hello world, this is text")
    with pytest.raises(TypeError):
        view[0] = 1
    with pytest.raises((TypeError, BufferError)):
        memoryview(ids).cast("B")[0] = 1


def test_ids_are_numpy_arrays_without_a_copy(tok):
    numpy = pytest.importorskip("numpy")
    ids = tok.encode_ids("hello world " * 20)
    found = numpy.asarray(ids)
    assert found.dtype == numpy.uint32 and not found.flags.writeable and found.tolist() == ids.tolist()
    del ids
    assert tok.decode(found) == "hello world " * 20
    assert tok.decode(found.astype(numpy.int64)) == tok.decode(list(found)) == "hello world " * 20


def test_ids_behave_like_a_list(tok):
    ids, expected = tok.encode_ids("hello world 1 2 3"), tok.encode("hello world 1 2 3")
    assert (len(ids), ids[0], ids[-1], ids[1:4], ids[::-1]) == (len(expected), expected[0], expected[-1], expected[1:4], expected[::-1])
    assert ids == expected and expected == ids and ids == tok.encode_ids("hello world 1 2 3")
    assert ids != expected[:-1] and ids != tuple(expected) and ids != tok.encode_ids("hello") and ids != None  # noqa: E711
    for index in (len(ids), -len(ids) - 1, 10**30):
        with pytest.raises(IndexError):
            ids[index]
    for index in ("0", None, 1.0):
        with pytest.raises(TypeError):
            ids[index]
    with pytest.raises(TypeError):
        hash(ids)
    assert repr(Ids.from_buffer(array.array("I", range(10)))) == "<Ids: 10 [0, 1, 2, 3, 4, 5, 6, 7, ...]>"
    assert pickle.loads(pickle.dumps(ids)) == ids == copy.deepcopy(ids)


def test_ids_of_nothing_are_an_empty_buffer(tok):
    for ids in (tok.encode_ids(""), Ids.from_buffer(array.array("I")), Ids()):
        assert (len(ids), ids.tolist(), bytes(memoryview(ids)), list(memoryview(ids))) == (0, [], b"", [])
        assert pickle.loads(pickle.dumps(ids)) == ids


def test_ids_of_numbers_are_those_numbers():
    assert Ids([1, 2**32 - 1]) == [1, 2**32 - 1] and Ids(iter((7, 0))).tolist() == [7, 0] and Ids([]) == []
    for wrong, error in ((-1, OverflowError), (2**32, OverflowError), ("1", TypeError), (1.5, TypeError)):
        with pytest.raises(error):
            Ids([0, wrong])


def test_ids_outlive_their_tokenizer_and_large_ones_too():
    tok = ctok_of(BYTES, r"(?s:.)")
    view = memoryview(tok.encode_ids("ab" * 50_000))
    del tok
    assert view[-1] == 98 and len(view) == 100_000


# ---- batches ----


def texts_for_batches(count=300):
    rng = random.Random(51)
    return [random_text(rng, ALPHABET, 60) for _ in range(count)] + ["", "a" * 5000, "\u4e2d" * 3000, "long text " * 30_000, EMOJI]


@pytest.mark.parametrize("num_threads", [None, 1, 2, 7, 300])
def test_batches_equal_one_by_one(tok, num_threads):
    texts = texts_for_batches()
    mixed = [text.encode() if i % 3 == 0 else text for i, text in enumerate(texts)]
    expected = [tok.encode(text, allowed_special="all") for text in texts]
    assert tok.encode_batch(mixed, num_threads, allowed_special="all") == expected
    assert tok.count_batch(mixed, num_threads, allowed_special="all") == list(map(len, expected))
    assert tok.decode_batch(expected, num_threads) == texts


def test_batches_take_any_iterable(tok):
    assert tok.encode_batch(iter(["a", "b"])) == tok.encode_batch(("a", "b")) == tok.encode_batch({"a": 1, "b": 2}) == [[64], [65]]
    assert tok.count_batch(text for text in ("a", "", "ab")) == [1, 0, 1]
    assert tok.encode_batch([]) == tok.count_batch([]) == tok.decode_batch([]) == []  # K10-23


@pytest.mark.parametrize("pattern", [GPT2, REGEX_ONLY], ids=["machine", "regex"])
def test_batch_error_names_the_first_text_that_is_refused(pattern):
    tok = ctok_of({token: number for token, number in BYTES.items() if token != b"~"}, pattern, SPECIALS)
    good = ["fine " * 20_000, "ok"]
    for bad, error, options in (("x\ud800", EncodeError, {}), (b"x\xff", EncodeError, {}), ("a ~", EncodeError, {}),
                                ("a<|x|>", DisallowedSpecialTokenError, {"disallowed_special": "all"}),
                                (None, TypeError, {}), (3, TypeError, {}), (["a"], TypeError, {})):  # fmt: skip
        for texts in ([*good, bad, bad, "z"], ["s", "t", bad]):
            for call in (tok.encode_batch, tok.count_batch):
                with pytest.raises(error, match=r"text 2: "):
                    call(texts, 2, **options)
    assert tok.encode_batch(["b"]) == [[98]]


def test_batch_of_one_text_or_with_impossible_threads_is_refused(tok):
    for one in ("abc", b"abc"):
        with pytest.raises(TypeError, match="one"):
            tok.encode_batch(one)
    for number in (0, -3):
        with pytest.raises(ValueError, match="num_threads"):
            tok.encode_batch(["a", "b"], number)


def test_batch_of_special_policies_equals_one_by_one():
    tok = ctok_of(real_ranks(), CL100K, {"<a>": 9000, "<a>b": 9001}, {"<t>": 9002})
    texts = ["<a>b<t>", "<a> <t", "", "<a>b" * 3000] * 5
    for options in ({}, {"allowed_special": {"<a>"}}, {"allowed_special": "all"}, {"errors": "replace"}):
        assert tok.encode_batch(texts, 2, **options) == [tok.encode(text, **options) for text in texts]


# ---- parts of bounded size ----


def longest_prefix(tok, text, max_tokens, **options):
    return max((end for end in range(len(text) + 1) if tok.count(text[:end], **options) <= max_tokens), default=0)


@pytest.mark.parametrize("pattern", [O200K, GPT2, r"[a-c]+|\d\d"], ids=["o200k", "gpt2", "gaps"])
def test_truncate_gives_the_longest_prefix_that_fits(pattern):
    tok = ctok_of(real_ranks(), pattern, SPECIALS)
    rng = random.Random(52)
    for _ in range(60):
        text = random_text(rng, ALPHABET, 20)
        for limit in (0, 1, 2, 5, rng.randint(0, 30)):
            for options in ({}, {"allowed_special": "all"}):
                end = longest_prefix(tok, text, limit, **options)
                assert tok.truncate(text, limit, **options) == text[:end]
                assert tok.truncate(text.encode(), limit, **options) == text[:end].encode()


def test_truncate_in_wild_vocabularies_gives_the_longest_prefix_that_fits():
    for rng, ranks in random_vocabularies(53, 40, alphabet=b" ab", n=16, longest=9):
        tok = ctok_of(ranks, GPT2)
        text = random_text(rng, [" ", "a", "b", *[token.decode() for token in ranks]], 12)
        for limit in range(6):
            assert tok.truncate(text, limit) == text[: longest_prefix(tok, text, limit)]


LONG = ["hello world, this is a text. " * 400, "a" * 9000, " " * 5000, "\u4e2d\u6587" * 3000, "x1" * 6000, EMOJI * 900]


@pytest.mark.parametrize("text", LONG)
def test_truncate_of_long_texts_fits_and_one_more_character_does_not(tok, text):
    for limit in (1, 7, 100, 699, 10**9):
        part = tok.truncate(text, limit)
        assert text.startswith(part) and tok.count(part) <= limit
        assert part == text or all(tok.count(text[: len(part) + i]) > limit for i in range(1, 40))


def test_truncate_stops_reading_early(tok):
    class Text(str):
        """Notes the last place that was looked at."""

        __slots__ = ()
        seen = 0

        def __getitem__(self, index):
            Text.seen = max(Text.seen, index.stop or 0 if isinstance(index, slice) else index)
            return str.__getitem__(self, index)

    text = Text("word " * 200_000)
    assert tok.count(tok.truncate(text, 50)) == 50
    assert Text.seen < 20_000


def test_truncate_never_ends_inside_a_surrogate_pair(tok):
    text = "a\ud83d\ude00b"
    assert [tok.truncate(text, limit) for limit in range(6)] == ["", "a", "a", "a", text[:3], text][: 6]
    with pytest.raises(EncodeError):
        tok.truncate("a\ud800b", 9)
    with pytest.raises(EncodeError):
        tok.truncate("a\ud83d", 9)
    assert tok.truncate("a\ud800b", 9, errors="replace") == "a\ud800b"


def test_truncate_bad_bytes_are_refused_or_kept(tok):
    with pytest.raises(EncodeError) as caught:
        tok.truncate(b"ab\xff", 9)
    assert caught.value.position == 2
    data = b"ab\xff\xf0\x9f cd\xe4\xb8\xad\xe4\xb8"
    parts = [tok.truncate(data, limit, errors="replace") for limit in range(20)]
    assert all(data.startswith(part) and tok.count(part, errors="replace") <= limit for limit, part in enumerate(parts))
    assert parts[-1] == data and len(set(parts)) > 4


@pytest.mark.parametrize("text", [None, 5, ["a"]])
def test_truncate_what_is_no_text_is_a_type_error(tok, text):
    with pytest.raises(TypeError):
        tok.truncate(text, 3)


def test_truncate_negative_is_refused(tok):
    with pytest.raises(ValueError, match="max_tokens"):
        tok.truncate("a", -1)


def test_truncate_with_a_regex_only_pattern_fits():
    tok, rng = ctok_of(real_ranks(), REGEX_ONLY), random.Random(54)
    for _ in range(30):
        text = random_text(rng, ALPHABET, 20)
        for limit in (0, 1, 5, 50):
            part = tok.truncate(text, limit)
            assert text.startswith(part) and tok.count(part) <= limit
            assert limit < 50 or tok.count(text) > 50 or part == text


@given(st.lists(st.sampled_from(ALPHABET), max_size=30).map("".join), st.integers(9, 20), st.integers(0, 8))
@example("<|endofprompt|><|endofprompt|><|", 9, 8)
def test_split_pieces_fit_and_join_to_the_text(text, max_tokens, overlap):
    tok = real_pair(O200K)[0]
    pieces = tok.split(text, max_tokens, overlap)
    assert all(tok.count(piece) <= max_tokens for piece in pieces)
    assert all(pieces) and bool(pieces) == bool(text)
    if overlap == 0:
        assert "".join(pieces) == text
        assert all(piece == tok.truncate(text[sum(map(len, pieces[:i])) :], max_tokens) for i, piece in enumerate(pieces))
    ends = {0}  # consecutive, each with something new; where a text repeats itself a piece may have come from several places
    for piece in pieces:
        ends = {at + len(piece) for end in ends for at in range(end + 1) if text.startswith(piece, at) and at + len(piece) > end}
    assert len(text) in ends


def test_split_repeats_at_most_the_overlap(tok):
    text = "one two three four five six seven eight nine ten " * 9
    plain, pieces = tok.split(text, 10), tok.split(text, 10, 3)
    assert len(pieces) > len(plain)
    at = 0
    for piece, after in pairwise(pieces):
        start = text.index(after, at + 1)
        repeated = text[start : at + len(piece)]
        assert 0 < tok.count(repeated) <= 3
        at = start


def test_split_character_that_does_not_fit_is_refused(tok):
    with pytest.raises(ValueError, match="character 3"):
        tok.split("ab \U000120a0 c", 3)
    assert tok.split("", 3) == []


@pytest.mark.parametrize(("max_tokens", "overlap"), [(0, 0), (-1, 0), (5, 5), (5, -1), (5, 6)])
def test_split_impossible_sizes_are_refused(tok, max_tokens, overlap):
    with pytest.raises(ValueError, match=r"max_tokens|overlap"):
        tok.split("abc", max_tokens, overlap)


def test_split_what_is_no_str_is_a_type_error(tok):
    for text in (b"abc", None, 3):
        with pytest.raises(TypeError):
            tok.split(text, 3)


def test_cutting_byte_end_is_the_place_of_a_character():
    for raw in (b"ab\xff\xe4\xb8\xadc", b"\xf0\x9f\x98a", b"\xff\xff", b"a\xed\xa0\x80", b"ok"):
        text = raw.decode("utf-8", "replace")
        places = [cutting.byte_end(raw, text, end) for end in range(len(text) + 1)]
        assert places == sorted(places) and places[-1] == len(raw)
        assert [raw[:place].decode("utf-8", "replace") for place in places] == [text[:end] for end in range(len(text) + 1)]


# ---- weird input ----


class Text(str):
    __slots__ = ()


def test_k10_18_to_20_kinds_of_str_are_str(tok):
    numpy = pytest.importorskip("numpy")
    for text in (Text("hello world"), numpy.str_("hello world")):
        assert tok.encode(text) == tok.encode("hello world")
        assert tok.encode_batch([text]) == [tok.encode("hello world")]
        assert tok.encoder().encode(text, final=True) == tok.encode("hello world")
        assert tok.truncate(text, 1) == tok.truncate("hello world", 1) != ""
    assert tok.encode_batch(numpy.array(["a", "b a"])) == [tok.encode("a"), tok.encode("b a")]


@pytest.mark.parametrize("text", [None, float("nan"), 5, ["a"], ("a", "b"), {"a": 1}, object()])
def test_k10_15_to_17_what_is_no_text_is_a_type_error_that_names_the_type(tok, text):
    name = type(text).__name__
    for call in (tok.encode, tok.encode_ids, tok.count, tok.encoder().encode, tok.counter().feed):
        with pytest.raises(TypeError, match=name):
            call(text)
    with pytest.raises(TypeError, match=f"text 1: .*{name}"):
        tok.encode_batch(["a", text])


def test_k10_21_bytes_are_text_in_utf8(tok):
    assert tok.encode(b"abc") == tok.encode("abc") and tok.encode("\u4e2d".encode()) == tok.encode("\u4e2d")


# ---- pickling and copying ----


def test_k8_03_tokenizer_pickles_by_content():
    tok = ctok_of({**BYTES, b"ab": 300}, GPT2, {"<s>": 400}, {"<tool>": 405})
    other = pickle.loads(pickle.dumps(tok))
    assert other is not tok and other.spec == tok.spec and other.special_tokens == tok.special_tokens
    assert other.encode("ab<s><tool>", allowed_special="all") == [300, 400, 405]


def test_tokenizer_of_a_name_pickles_by_name():
    tok = ctok.load("o200k_base")
    data = pickle.dumps(tok)
    assert len(data) < 200 and pickle.loads(data) is tok


def test_copies_of_a_tokenizer_are_the_tokenizer(tok):
    assert copy.copy(tok) is tok and copy.deepcopy(tok) is tok and copy.deepcopy({"a": [tok]})["a"][0] is tok


def test_k8_05_every_public_object_pickles():
    tok = ctok_of({**BYTES, b"ab": 300}, GPT2, {"<s>": 400})
    encoder, counter, decoder = tok.encoder(), tok.counter(), tok.decoder()
    encoder.encode("ab")
    counter.feed("ab")
    decoder.decode([0xE4])
    ids = tok.encode_ids("abc")
    for thing in (tok.spec, tok.spec.model, tok.spec.model.tokens, ids, encoder, counter):
        again = pickle.loads(pickle.dumps(thing))
        assert type(again) is type(thing)
    assert pickle.loads(pickle.dumps(tok.spec)) == tok.spec


# ---- threads and forks ----


def test_8_threads_share_one_tokenizer():
    tok = ctok_of(real_ranks(), O200K, SPECIALS)
    rng = random.Random(55)
    texts = [random_text(rng, ALPHABET, 200) for _ in range(30)] + ["word " * 3000]
    expected = [tok.encode(text, allowed_special="all") for text in texts]
    failures = []

    def work(number):
        try:
            mine = random.Random(number)
            for _ in range(25):
                i = mine.randrange(len(texts))
                text, ids = texts[i], expected[i]
                assert tok.encode(text, allowed_special="all") == ids
                assert tok.decode(ids) == text
                assert tok.count(text, allowed_special={"<|x|>", "<|endoftext|>", *list(SPECIALS)[: 1 + mine.randrange(4)]}) >= 0
                encoder, got, at = tok.encoder(allowed_special="all"), [], 0
                decoder, shown = tok.decoder(), ""
                while at < len(text):
                    step = mine.randint(1, 4000)
                    got += encoder.encode(text[at : at + step])
                    at += step
                got += encoder.encode("", final=True)
                assert got == ids
                shown = "".join(decoder.decode(one) for one in ids) + decoder.decode([], final=True)
                assert shown == text
                assert tok.encode_batch([text, text], 2, allowed_special="all") == [ids, ids]
        except BaseException as error:
            failures.append(error)

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switch)
    assert not failures, failures[0]


FORKS = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system")


@FORKS
def test_k8_01_k8_02_fork_after_a_batch_works_and_says_nothing(run_python):
    program = """
import os, signal, sys, ctok
tok = ctok.load("o200k_base")
texts = ["hello world " * 3000] * 40
want = tok.encode_batch(texts, 4)
child = os.fork()
if child == 0:
    signal.alarm(20)
    os._exit(0 if tok.encode_batch(texts, 4) == want and tok.decode_batch(want, 4) == texts else 1)
assert os.waitpid(child, 0)[1] == 0
assert tok.encode_batch(texts, 4) == want
print("done")
"""
    assert run_python(program, "-W", "error") == "done\n"


@FORKS
def test_fork_while_other_threads_encode_works(tok):
    import warnings

    text, stop = "hello world, " * 20_000, []

    def busy():
        while not stop:
            tok.count(text)

    expected = tok.encode("a small text")
    thread = threading.Thread(target=busy)
    thread.start()
    try:
        for _ in range(5):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # that the process has threads
                child = os.fork()
            if child == 0:
                os._exit(0 if tok.encode("a small text") == expected and tok.count(text) else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.append(True)
        thread.join()


def test_spawned_process_gets_the_tokenizer_by_pickle(run_python):
    program = """
import multiprocessing, ctok
def main():
    tok = ctok.load("o200k_base")
    with multiprocessing.get_context("forkserver").Pool(1) as pool:
        print(pool.map(tok.encode, ["hello world"])[0] == tok.encode("hello world"))
if __name__ == "__main__":
    main()
"""
    assert run_python(program) == "True\n"


def test_large_calls_release_the_interpreter(tok):
    text, ticks, done = "some words, and more of them; " * 60_000, [], []

    def tick():
        while not done:
            ticks.append(1)
            threading.Event().wait(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    for _ in range(3):
        tok.count(text)
        tok.encoder().encode(text)
    done.append(True)
    thread.join()
    assert len(ticks) > 5


def test_contexts_do_not_pile_up(run_python):
    program = """
import resource, threading, ctok
tok = ctok.load("o200k_base")
def go():
    for _ in range(30): tok.count("word " * 5000)
def round():
    threads = [threading.Thread(target=go) for _ in range(4)]
    [t.start() for t in threads]; [t.join() for t in threads]
round(); round()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(10): round()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    assert int(run_python(program)) < 8000


def test_shared_ints_survive_tokenizers_of_other_sizes():
    small, large = ctok_of(BYTES, GPT2), ctok_of({**BYTES, b"ab": 70_000}, GPT2)
    for _ in range(3):
        assert small.encode("abc") == [97, 98, 99] and large.encode("abc") == [70_000, 99]
        del large
        large = ctok_of({**BYTES, b"ab": 70_000}, GPT2)
    assert large.encode("abab") == [70_000, 70_000]


def test_real_vocabulary_gives_every_token_back():
    tok = ctok_of(o200k_ranks(), O200K)
    ids = list(range(0, 199_998, 7))
    assert tok.decode_bytes(ids) == b"".join(tok.id_to_bytes(number) for number in ids)


@pytest.mark.parametrize("given", [(), ("o200k_base",), (b"",)])
def test_a_tokenizer_that_is_called_for_says_how_it_is_made(given):
    with pytest.raises(TypeError, match=r"made by ctok.load\(name or path\)"):
        Tokenizer(*given)


def test_a_file_that_is_not_there_is_among_what_was_tried(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ctok.VocabularyNotFoundError) as caught:
        ctok.load("missing.json")
    assert f"{tmp_path / 'missing.json'}: no such file" in str(caught.value)
