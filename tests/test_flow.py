"""Whole texts through all stages: tokenizers of every kind, built in memory, give what the live reference gives."""

import gc
import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctok.errors import DisallowedSpecialTokenError, EncodeError, SpecError, UnknownSpecialTokenError
from flow_files import (
    KINDS,
    PARTS,
    SPACE,
    bare_bpe,
    both,
    bpe,
    byte_level,
    chain,
    document,
    metaspace,
    pair,
    plain_pair,
    replace,
    wordlevel,
)  # fmt: skip

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


@cache
def renamed(kind):
    """Return the ids of special tokens that the normalizer spells otherwise: by that name the reference does not know them as special."""
    _, live = pair(kind)
    normal = live.normalizer
    tokens = live.get_added_tokens_decoder().items()
    return {n for n, one in tokens if one.special and one.normalized and normal and normal.normalize_str(one.content) != one.content}


def check(kind, text):
    mine, live = pair(kind)
    want = live.encode(text).ids
    assert mine.encode(text, **ALL) == want
    assert list(mine.encode_ids(text, **ALL)) == want == mine.encode(text.encode(), **ALL)
    assert mine.count(text, **ALL) == len(want)
    bare = live.encode(text, add_special_tokens=False).ids
    assert mine.encode(text, add_special_tokens=False, **ALL) == bare
    if mine.decoding.misread.isdisjoint(want):
        assert mine.decode(bare) == live.decode(bare, skip_special_tokens=False)
    if (renamed(kind) | mine.decoding.misread).isdisjoint(want):
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
def test_new_words_that_come_again_at_once_equals_the_reference(kind):
    rng = random.Random(kind)
    words = ["".join(rng.choices("abcthe\u00e9\u4e2d", k=rng.randint(1, 12))) for _ in range(20)]
    words += ["a" * rng.choice((14, 15, 16, 30, 31, 40)) + end for end in "abcdefghij"]
    check(kind, " ".join(rng.choices(words, k=120)))


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
    known = sorted(set(live.get_vocab(with_added_tokens=True).values()) - mine.decoding.misread)
    ids = data.draw(st.lists(st.sampled_from(known), max_size=12))
    assert mine.decode(ids) == live.decode(ids, skip_special_tokens=False)
    if renamed(kind).isdisjoint(ids):
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


# ---- vocabularies that say something twice ----


@pytest.mark.filterwarnings("ignore:.*share an id")
def test_k6_08_two_tokens_with_one_id_are_both_encoded_and_the_last_is_its_text(shared):
    text = (shared / "cases" / "fixtures" / "load_dup_ids.json").read_text(encoding="utf-8")
    mine, live = both(text)
    assert mine.encode("ab b a") == [2, 3, 0, 3, 0] == live.encode("ab b a").ids
    assert mine.decode([2, 3, 0]) == "ab   b"
    for words in ("ba", "aab", "bab", "abab", "bbbaaa", "aaabbb ab ba"):
        assert mine.encode(words) == live.encode(words).ids
        encoder = mine.encoder()
        assert [n for char in words for n in encoder.encode(char)] + encoder.encode("", final=True) == live.encode(words).ids


def test_k6_08_two_tokens_with_one_id_are_reported():
    vocab = {"[UNK]": 0, "a": 1, "b": 1, "\u0120a": 1}
    for model in (wordlevel() | {"vocab": vocab}, bpe(vocab, [])):
        with pytest.warns(UserWarning, match="tokens share an id, the first such id is 1"):
            both(document(model, [], pre_tokenizer=byte_level()))


@pytest.mark.filterwarnings("ignore:.*share an id")
@settings(max_examples=60)
@given(data=st.data())
def test_random_vocabularies_with_ids_twice_equal_the_reference(data):
    letters = ["a", "b", "c", "\u00e9"]
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(letters), st.sampled_from(letters)), unique=True, max_size=6))
    names = letters + list(dict.fromkeys(left + right for left, right in pairs))
    vocab = {name: data.draw(st.integers(0, len(names) - 1)) for name in names}
    spelled_names = data.draw(st.booleans())
    stages = {"pre_tokenizer": byte_level(regex=False)} if spelled_names else {}
    mine, live = both(document(bpe(vocab, [list(one) for one in pairs]), [], **stages))
    text = data.draw(st.text("abc\u00e9 ", max_size=20))
    want = live.encode(text).ids
    assert mine.encode(text) == want == mine.encoding(text).ids
    encoder = mine.encoder()
    assert [n for char in text for n in encoder.encode(char)] + encoder.encode("", final=True) == want


def test_unigram_piece_that_stands_twice_is_looked_up_as_the_later_and_decodes_as_both():
    for scores in ((-1.0, -5.0), (-5.0, -1.0)):
        vocab = [["<unk>", 0.0], ["a", scores[0]], ["b", -2.0], ["ab", -2.5], ["a", scores[1]], ["ab", -9.0]]
        mine, live = both(document({"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": False}, []))
        for text in ("a", "ab", "aab", "abz", "ba"):
            assert mine.encode(text) == live.encode(text).ids
        for number in range(6):
            assert mine.decode([number]) == live.decode([number])


# ---- the start of a text ----

DROPPING = [
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "Nmt"},
    {"type": "StripAccents"},
    replace("x", ""),
    replace("[xa]*b", "", "Regex"),
    chain("normalizers", replace("x", ""), {"type": "Prepend", "prepend": "x"}),
    chain("normalizers", {"type": "NFKC"}, replace(" +", " ", "Regex"), {"type": "Prepend", "prepend": "h l"}),
    {"type": "Lowercase"},
    None,
]
CUTTING = [metaspace("first"), metaspace("first", False), chain("pretokenizers", {"type": "WhitespaceSplit"}, metaspace("first"))]


@pytest.mark.parametrize("normalizer", range(len(DROPPING)))
@pytest.mark.parametrize("cutter", range(len(CUTTING)))
def test_metaspace_stands_first_only_where_the_text_begins(normalizer, cutter):
    mine, live = both(document(bare_bpe(), [("<s>", "s"), ("<n>", "n")], normalizer=DROPPING[normalizer], pre_tokenizer=CUTTING[cutter]))
    texts = [" a b", "xa b", "xxa<s>xb", "\x01a b", "\u0301a", "<n>a", "x<n>a", "xabab x", "x" * 5000 + "ab", "ab" * 10, ""]
    texts += ["x", " <s>a", "x x", "  h", "  <s>a", "xab\u00e9", "xa" * 9 + "c"]
    for text in texts:
        want = live.encode(text).ids
        assert mine.encode(text, **ALL) == want, text
        assert mine.encoding(text, **ALL).ids == want, text
        encoder = mine.encoder(**ALL)
        got = []
        for char in text:
            got += encoder.encode(char)
            other = mine.encoder(**ALL)
            if len(text) < 50:
                other.setstate(encoder.getstate())
                encoder = other
        assert got + encoder.encode("", final=True) == want, text
        assert encoder.encode(text, final=True) == want, text
