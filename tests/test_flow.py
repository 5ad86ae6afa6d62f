"""Whole texts through all stages: tokenizers of every kind, built in memory, give what the live reference gives."""

import gc
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctok.errors import DisallowedSpecialTokenError, EncodeError, SpecError, UnknownSpecialTokenError
from flow_files import KINDS, PARTS, SPACE, both, bpe, document, metaspace, moved, pair, plain_pair, replace, wordlevel

ALL = {"allowed_special": "all"}
NAMES = sorted(KINDS)
TEXTS = st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=10).map("".join)
VECTORS = [
    "",
    " ",
    "  ",
    "a",
    "hello world",
    " hello  world ",
    "the theme of the thing",
    "New York new york",
    "<s>hello</s>",
    "a <m> b<m>",
    "<x>y<x><x>yy",
    "xabc abc abc,abc",
    "\u00dcn\u00ef \u00fcn\u00ef <e> <e>",
    "caf\u00e9 cafe\u0301 \u4e2d\u6587\u65e5\u672c",
    "\U0001f600\U0001f600 zz",
    "a" * 300,
    " " * 70,
    "\u4e2d\u6587" * 60,
    "don't 1234567 !!",
    "\r\n\t x",
    f"{SPACE}a {SPACE}",
    "<s> hello <s>",
    "\ufb01\u212b\u3000\u200b\u0130",
    "\0a\x7f",
    "``x`` [MASK][CLS]",
    "hello\u0301 \u0301",
    "the " * 40,
]


def check(kind, text):
    mine, live = pair(kind)
    want = live.encode(text).ids
    assert mine.encode(text, **ALL) == want
    assert list(mine.encode_ids(text, **ALL)) == want == mine.encode(text.encode(), **ALL)
    assert mine.count(text, **ALL) == len(want)
    bare = live.encode(text, add_special_tokens=False).ids
    assert mine.encode(text, add_special_tokens=False, **ALL) == bare
    if moved(kind).isdisjoint(bare):
        assert mine.decode(bare) == live.decode(bare, skip_special_tokens=False)
        assert mine.decode(want, skip_special_tokens=True) == live.decode(want)


@pytest.mark.parametrize("kind", NAMES)
def test_every_vector_equals_the_reference(kind):
    for text in VECTORS:
        check(kind, text)


@pytest.mark.parametrize("kind", NAMES)
@settings(max_examples=40)
@given(text=TEXTS)
def test_random_text_equals_the_reference(kind, text):
    check(kind, text)


@pytest.mark.parametrize("kind", NAMES)
@settings(max_examples=30)
@given(text=TEXTS)
def test_special_tokens_that_are_not_allowed_are_plain_text(kind, text):
    mine, live = plain_pair(kind)
    want = live.encode(text).ids
    assert mine.encode(text) == want and mine.count(text) == len(want)


@pytest.mark.parametrize("kind", NAMES)
@settings(max_examples=30)
@given(data=st.data())
def test_any_ids_decode_as_the_reference_decodes_them(kind, data):
    mine, live = pair(kind)
    known = sorted(set(live.get_vocab(with_added_tokens=True).values()) - moved(kind))
    ids = data.draw(st.lists(st.sampled_from(known), max_size=12))
    assert mine.decode(ids) == live.decode(ids, skip_special_tokens=False)
    assert mine.decode(ids, skip_special_tokens=True) == live.decode(ids)
    decoder = mine.decoder()
    assert "".join(decoder.decode(one) for one in ids) + decoder.decode([], final=True) == mine.decode(ids)


@pytest.mark.parametrize("kind", NAMES)
def test_batch_on_threads_equals_one_by_one(kind):
    mine, live = pair(kind)
    texts = [*VECTORS, "".join(PARTS) * 40] * 3
    want = [one.ids for one in live.encode_batch(texts)]
    for threads in (None, 1, 3):
        assert mine.encode_batch(texts, threads, **ALL) == want
        assert mine.count_batch(texts, threads, **ALL) == [*map(len, want)]
        assert mine.decode_batch(want, threads) == [mine.decode(ids) for ids in want]


@pytest.mark.parametrize("kind", NAMES)
def test_one_tokenizer_on_many_threads_gives_the_same(kind):
    mine, _ = pair(kind)
    want = [mine.encode(text, **ALL) for text in VECTORS]
    with ThreadPoolExecutor(4) as pool:
        for got in pool.map(lambda _: [mine.encode(text, **ALL) for text in VECTORS], range(8)):
            assert got == want


@pytest.mark.parametrize("kind", NAMES)
def test_long_text_equals_the_reference(kind):
    mine, live = pair(kind)
    for text in ("".join(PARTS) * 400, "the theme " * 9000, "\u4e2d\u6587\u65e5" * 9000, "x" * 70_000, " " * 70_000):
        want = live.encode(text).ids
        assert mine.encode(text, **ALL) == want and mine.count(text, **ALL) == len(want)


@pytest.mark.parametrize("kind", NAMES)
def test_pickled_tokenizer_gives_the_same(kind):
    mine, _ = pair(kind)
    other = pickle.loads(pickle.dumps(mine))
    for text in VECTORS:
        assert other.encode(text, **ALL) == mine.encode(text, **ALL)
    ids = mine.encode("".join(VECTORS), **ALL)
    assert other.decode(ids) == mine.decode(ids)


# ---- which special tokens are looked for ----


def test_allowed_names_are_matched_and_others_are_text():
    mine, live = pair("gpt2")
    number, plain = live.token_to_id("<s>"), mine.encode("<s>", add_special_tokens=False)
    assert len(plain) > 1
    assert mine.encode("</s><s>", allowed_special={"<s>"}, add_special_tokens=False)[-1] == number
    assert mine.encode("<s>", allowed_special={"</s>"}, add_special_tokens=False) == plain
    with pytest.raises(UnknownSpecialTokenError):
        mine.encode("a", allowed_special={"<x>"})
    with pytest.raises(TypeError):
        mine.encode("a", allowed_special="<s>")


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("text", ["ab\u00e9\u4e2d\U0001f600 {}x", "{}", " {}", "a" * 70_000 + "\u00e9{} b", "New York <x>y {}"])
def test_disallowed_token_is_refused_at_its_place(kind, text):
    mine, _ = pair(kind)
    for token in ("<s>", "</s>"):
        whole = text.format(token)
        for options in ({"disallowed_special": "all"}, {"disallowed_special": {token}, "allowed_special": {"<m>"}}):
            calls = [mine.encode, mine.encode_ids, mine.count, mine.encoding, lambda one, **more: mine.encode_batch(["a", one], **more)]
            for call in calls:
                for one in (whole, whole.encode()):
                    with pytest.raises(DisallowedSpecialTokenError) as caught:
                        call(one, **options)
                    assert caught.value.token == token
                    if call in calls[:4]:
                        place = one.index(token if isinstance(one, str) else token.encode())
                        assert caught.value.position == place, (call, type(one))
    assert mine.count("ab", disallowed_special="all") == mine.count("ab")


# ---- texts that cannot be encoded ----


def test_lone_surrogate_and_bad_bytes_are_refused_at_their_place():
    for kind in NAMES:
        mine, _ = pair(kind)
        with pytest.raises(EncodeError) as caught:
            mine.encode("a" * 70_000 + "\ud800b")
        assert (caught.value.position, caught.value.unit) == (70_000, "char")
        with pytest.raises(EncodeError) as caught:
            mine.encode(b"ab\xff")
        assert (caught.value.position, caught.value.unit) == (2, "byte")
        assert mine.encode("a\ud800", errors="replace") == mine.encode("a\ufffd") == mine.encode(b"a\xff", errors="replace")
        assert mine.encode("a\ud83d\ude00b", errors="replace") == mine.encode("a\U0001f600b")


def test_word_without_unknown_token_is_refused_and_the_tokenizer_goes_on():
    mine, live = both(document(wordlevel("nothing"), [], pre_tokenizer={"type": "Whitespace"}))
    want = live.encode("hello world").ids
    with pytest.raises(Exception, match=r"(?i)unk"):
        live.encode("hello nowhere")
    for text in ("hello nowhere", b"hello nowhere", "hello " * 20_000 + "nowhere"):
        for call in (mine.encode, mine.count, mine.encoding):
            with pytest.raises(EncodeError, match="no token for a part of the text") as caught:
                call(text)
            assert caught.value.position is None
            assert mine.encode("hello world") == want and mine.count("hello world") == len(want)


def test_piece_without_token_is_dropped_as_the_reference_drops_it():
    mine, live = both(document(bpe({"a": 0, "b": 1, "ab": 2}, [["a", "b"]]), []))
    for text in ("a\u00e9b", "\u00e9", "ab\u00e9ab", "abx", "xab"):
        assert mine.encode(text) == live.encode(text).ids


def test_added_token_that_the_normalizer_makes_empty_is_refused():
    text = document(wordlevel(), [("x", "n")], normalizer=replace("x", ""), pre_tokenizer=metaspace("never"))
    with pytest.raises(SpecError, match="'x' is an empty text once it is normalised"):  # the reference loads it and tears words apart
        both(text)


@pytest.mark.parametrize("kind", NAMES)
def test_tokenizer_and_codecs_in_a_cycle_are_given_back(kind):
    """The collector may take away what an object refers to before the object itself; giving back memory must not read it then."""
    tok = both(KINDS[kind]())[0]
    tok.encode("the theme of the thing", **ALL)
    tok.encoding("the theme")
    encoder, counter, decoder = tok.encoder(**ALL), tok.counter(**ALL), tok.decoder()
    encoder.encode("the the")
    counter.feed("the the")
    decoder.decode(tok.encode("the the", **ALL))
    ring = [tok, encoder, counter, decoder]
    ring.append(ring)
    del tok, encoder, counter, decoder, ring
    gc.collect()


@pytest.mark.parametrize("text", ["a \ud83d\ude00 b", "a \ud800 b", b"a \xff b"])
def test_encoding_takes_what_encode_takes(text):
    mine = pair("t5")[0]
    try:
        want = mine.encode(text)
    except EncodeError as error:
        with pytest.raises(EncodeError) as raised:
            mine.encoding(text)
        assert (raised.value.position, raised.value.unit, str(raised.value)) == (error.position, error.unit, str(error))
    else:
        assert mine.encoding(text).ids == want
    assert mine.encoding(text, errors="replace").ids == mine.encode(text, errors="replace")
