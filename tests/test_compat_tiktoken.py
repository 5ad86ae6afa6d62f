"""`ctok.compat.tiktoken` against tiktoken: each check runs over both, and what it expects is what tiktoken does."""

import copy
import inspect
import json
import lzma
import multiprocessing
import pickle
import random
import re
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctok
import ctok.compat.tiktoken
from ctok.errors import CtokError, DisallowedSpecialTokenError, SpecError
from ctok.formats import tiktoken as rank_files
from ctok.tokenizer import Tokenizer
from tiktoken_pair import LIBRARIES, PATTERN, RANKS, SPECIAL, o200k, outcome, supply_o200k, toy

PARTS = st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("helo wabé你😀\n  <|>x0'"), st.sampled_from(list(SPECIAL)))
TEXTS = st.lists(PARTS, max_size=40).map("".join)
CTOK = LIBRARIES["ctok"]


@pytest.fixture(scope="session", autouse=True)
def offline(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CTOK_OFFLINE", "1")
        patch.setenv("TIKTOKEN_CACHE_DIR", "")
        supply_o200k(tmp_path_factory.mktemp("tiktoken"))
        yield


@pytest.fixture(params=list(LIBRARIES))
def name(request):
    return request.param


@pytest.fixture
def lib(name):
    return LIBRARIES[name]


@pytest.fixture
def enc(name):
    return toy(name)


@pytest.fixture
def big(name):
    return o200k(name)


@pytest.fixture(params=[toy, o200k], ids=["toy", "o200k"])
def any_enc(request, name):
    return request.param(name)


class Index:
    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


class Text(str):
    pass


# ---- encode ----


def test_encode_known_text_gives_published_ids(big):
    assert big.encode("hello world") == [24912, 2375]
    assert big.encode_ordinary("hello world") == [24912, 2375]
    assert big.encode("") == []
    assert big.encode(Text("hello world")) == [24912, 2375]


def test_encode_growing_run_follows_the_ranks(any_enc):
    for n in range(1, 18):
        for unit in "0a\n ":
            assert any_enc.decode(any_enc.encode(unit * n)) == unit * n


@pytest.mark.parametrize("unit", ["^", "0", "a", "'s", " ", "\n", "你", "😀"])
def test_encode_catastrophic_repetition_is_quick_and_exact(unit):
    text = unit * 10_000
    for wanted in (text, " " + text, text + "\n"):
        assert o200k("ctok").encode(wanted) == o200k("tiktoken").encode(wanted)


@given(text=TEXTS)
def test_encode_ordinary_gives_tiktokens_ids(text):
    for make in (toy, o200k):
        wanted = make("tiktoken").encode_ordinary(text)
        assert make("ctok").encode_ordinary(text) == wanted
        assert make("ctok").encode(text, disallowed_special=()) == wanted


@given(text=st.text(st.characters(exclude_categories=[]), max_size=30))
def test_encode_surrogates_joins_pairs_and_replaces_lone_ones(text):
    wanted = toy("tiktoken").encode(text, disallowed_special=())
    assert toy("ctok").encode(text, disallowed_special=()) == wanted
    assert toy("ctok").encode_to_numpy(text, disallowed_special=()).tolist() == wanted


@pytest.mark.parametrize("text", [b"a", None, 1, ["a"], bytearray(b"a")])
def test_encode_of_what_is_no_str_is_a_type_error(enc, text):
    for call in (enc.encode, enc.encode_ordinary, enc.encode_to_numpy, enc.encode_with_unstable):
        with pytest.raises(TypeError):
            call(text)
    for call in (enc.encode_batch, enc.encode_ordinary_batch):
        with pytest.raises(TypeError):
            call(["a", text])


def test_encode_takes_options_by_keyword_only(enc):
    for call in (enc.encode, enc.encode_to_numpy, enc.encode_batch):
        with pytest.raises(TypeError):
            call("a", set())
    assert enc.encode_ordinary(text="a") == enc.encode(text="a") == [97]


def test_encode_text_without_match_is_left_out(lib):
    enc = lib.Encoding("letters", pat_str="[a-z]+", mergeable_ranks=RANKS, special_tokens={})
    assert enc.decode(enc.encode("ab1 2cd")) == "abcd"


def test_encode_to_numpy_is_uint32_and_read_only(enc):
    ids = enc.encode_to_numpy("hello <|x|>", allowed_special="all")
    assert ids.dtype == np.uint32
    assert ids.tolist() == enc.encode("hello <|x|>", allowed_special="all")
    assert not ids.flags.writeable
    assert not ids.flags.owndata
    empty = enc.encode_to_numpy("")
    assert empty.dtype == np.uint32
    assert empty.shape == (0,)


# ---- special tokens ----

ALLOWED = [
    "all",
    set(),
    frozenset(),
    {"<|x|>"},
    {"<|x|>", "no"},
    {"no"},
    frozenset(SPECIAL),
    [],
    ["<|x|>"],
    (),
    {"<|x|>": 1},
    None,
    "<|x|>",
    {3},
]
DISALLOWED = [
    "all",
    (),
    [],
    None,
    0,
    "xyz",
    ["bar"],
    {"<|x|>"},
    frozenset(["<|end|>", "foo"]),
    [""],
    ["\ud800"],
    ["x"],
    ["|>"],
    5,
    [5],
    ["<|x|>!"],
]


@pytest.mark.parametrize("text", ["", "foo bar", "a<|x|>b", "<|end|><|x|>", "<|endoftext|>", "<|x|>!", "\ud800"])
def test_special_options_mean_what_they_mean_in_tiktoken(text):
    for allowed in ALLOWED:
        for disallowed in DISALLOWED:
            results = []
            for name in LIBRARIES:
                options = {"allowed_special": allowed, "disallowed_special": disallowed}
                results.append(outcome(toy(name).encode, text, **options))
            if allowed in ("<|x|>", {3}) or not isinstance(allowed, str | set | frozenset):
                # Two faults at once: either may be named.
                results = [isinstance(result, type) for result in results]
            assert results[0] == results[1], (allowed, disallowed)


@given(
    text=TEXTS,
    allowed=st.sets(st.sampled_from([*SPECIAL, "no"])),
    disallowed=st.one_of(st.none(), st.sets(st.sampled_from([*SPECIAL, "x|", "a"]))),
)
def test_special_options_give_tiktokens_ids_or_error(text, allowed, disallowed):
    options = {"allowed_special": allowed, "disallowed_special": "all" if disallowed is None else disallowed}
    wanted = outcome(toy("tiktoken").encode, text, **options)
    assert outcome(toy("ctok").encode, text, **options) == wanted
    assert outcome(lambda: toy("ctok").encode_to_numpy(text, **options).tolist()) == wanted
    assert outcome(lambda: toy("ctok").encode_batch([text], **options)[0]) == wanted


def test_special_disallowed_error_begins_with_the_line_that_programs_parse(enc):
    for call in (enc.encode, enc.encode_to_numpy, enc.encode_with_unstable, lambda text: enc.encode_batch(["a", text])):
        with pytest.raises(ValueError, match="disallowed") as caught:
            call("a <|x|> <|endoftext|>")
        assert str(caught.value).split("\n")[0] == "Encountered text corresponding to disallowed special token '<|x|>'."
        assert "disallowed_special=()" in str(caught.value)


def test_special_disallowed_error_has_token_and_position():
    with pytest.raises(DisallowedSpecialTokenError) as caught:
        toy("ctok").encode("é <|x|>")
    assert (caught.value.token, caught.value.position) == ("<|x|>", 2)


def test_special_disallowed_text_inside_an_allowed_one_is_found(enc):
    for disallowed in ({"x"}, {"|>a"}, {"<|x"}, {"<|x|>"}):
        with pytest.raises(ValueError, match="Encountered text"):
            enc.encode("<|x|>a", allowed_special={"<|x|>"}, disallowed_special=disallowed)
    assert enc.encode("<|x|>a", allowed_special={"<|x|>"}, disallowed_special={"<|x|>b"}) == [301, 97]


def test_special_token_of_a_registered_encoding(big):
    assert big.encode("<|endoftext|>", allowed_special="all") == [199999]
    assert big.encode("<|endoftext|>", disallowed_special=()) == [27, 91, 419, 1440, 919, 91, 29]
    assert big.eot_token == 199999


# ---- batches ----


@pytest.mark.parametrize("texts", [[], ["a"], ["hello", "", "world é"], ("a", "b"), "abc", {"a": 1}, ["hello world"] * 500])
def test_batch_is_the_single_calls_in_order(any_enc, texts):
    wanted = [any_enc.encode(text) for text in texts]
    assert any_enc.encode_batch(texts) == any_enc.encode_ordinary_batch(texts) == wanted
    assert any_enc.encode_batch(iter(texts), num_threads=2) == wanted
    assert any_enc.decode_batch(wanted) == list(texts)
    assert any_enc.decode_batch(iter(wanted), num_threads=1) == list(texts)
    assert any_enc.decode_bytes_batch(wanted) == [text.encode() for text in texts]


def test_batch_odd_arguments_are_refused_as_in_tiktoken(enc):
    for n in (0, -1):
        for call in (enc.encode_batch, enc.encode_ordinary_batch):
            with pytest.raises(ValueError):
                call(["a"], num_threads=n)
        for call in (enc.decode_batch, enc.decode_bytes_batch):
            with pytest.raises(ValueError):
                call([[97]], num_threads=n)
    with pytest.raises(TypeError):
        enc.encode_batch(["a"], disallowed_special=None)
    with pytest.raises(TypeError):
        enc.decode_batch([97])
    with pytest.raises(TypeError):
        enc.decode_batch([[97]], "replace")
    with pytest.raises(KeyError, match="Invalid token for decoding: 281"):
        enc.decode_batch([[97], [281]])
    with pytest.raises(KeyError, match="Invalid token for decoding: 281"):
        enc.decode_bytes_batch([[97], [281]])
    with pytest.raises(UnicodeDecodeError):
        enc.decode_batch([[200]], errors="strict")
    assert enc.encode_batch(["a"], num_threads=None) == [[97]]


# ---- decode ----

IDS = [
    [], [97], (97, 98), range(97, 100), np.array([97, 98]), np.array([97], np.uint8), np.array([97], np.uint32), np.array([], np.uint32),
    [np.int64(97)], [Index(97)], [True], b"abc", bytearray(b"abc"), memoryview(b"ab"), [300, 301], [0x80], [0xC8, 97], [282, 97], [281],
    [302], [306], [2**32 - 1], [-1], [2**32], [2**70], [281, -1], np.array([-5]), np.array([2**40]), np.array([97.0]), np.array([[97]]),
    np.array(97), [97.0], ["a"], [None], "abc", None, 5, {97}, {97: 1}, iter([97]), Index(97),
]  # fmt: skip


@pytest.mark.parametrize("ids", IDS, ids=repr)
def test_decode_takes_and_refuses_what_tiktoken_does(ids):
    calls = [
        lambda enc, ids: enc.decode(ids),
        lambda enc, ids: enc.decode_bytes(ids),
        lambda enc, ids: enc.decode(ids, "strict"),
        lambda enc, ids: enc.decode(ids, errors="ignore"),
        lambda enc, ids: enc.decode(ids, "surrogateescape"),
        lambda enc, ids: enc.decode(ids, "backslashreplace"),
        lambda enc, ids: enc.decode(ids, "no such handler"),
        lambda enc, ids: enc.decode_tokens_bytes(ids),
        lambda enc, ids: enc.decode_with_offsets(ids),
        lambda enc, ids: enc.decode_batch([[98], ids]),
        lambda enc, ids: enc.decode_bytes_batch([[98], ids]),
    ]
    for call in calls:
        given = (lambda: iter([97])) if hasattr(ids, "__next__") else (lambda: ids)
        assert outcome(call, toy("ctok"), given()) == outcome(call, toy("tiktoken"), given())


@pytest.mark.parametrize("call", ["decode", "decode_bytes"])
def test_decode_unknown_id_is_a_key_error_that_names_it(enc, call):
    with pytest.raises(KeyError) as caught:
        getattr(enc, call)([97, 281, 302])
    assert caught.value.args == ("Invalid token for decoding: 281",)
    with pytest.raises(KeyError) as caught:
        enc.decode_single_token_bytes(281)
    assert caught.value.args == ("281",)


@given(
    ids=st.lists(st.sampled_from([*RANKS.values(), *SPECIAL.values()]), max_size=20),
    errors=st.sampled_from(["replace", "ignore", "strict"]),
)
def test_decode_any_ids_gives_tiktokens_text(ids, errors):
    one, other = toy("tiktoken"), toy("ctok")
    assert other.decode_bytes(ids) == one.decode_bytes(ids)
    assert other.decode_tokens_bytes(ids) == one.decode_tokens_bytes(ids)
    assert outcome(other.decode, ids, errors) == outcome(one.decode, ids, errors)
    assert outcome(other.decode_with_offsets, ids) == outcome(one.decode_with_offsets, ids)


@given(text=TEXTS)
def test_decode_of_encode_is_the_text(text):
    for make in (toy, o200k):
        enc = make("ctok")
        ids = enc.encode(text, allowed_special="all")
        assert enc.decode(ids) == text
        assert enc.decode_with_offsets(ids) == make("tiktoken").decode_with_offsets(ids)


def test_single_tokens_both_ways(any_enc):
    generator = random.Random(5)
    for number in (*generator.sample(range(256), 40), *any_enc._special_tokens.values()):
        assert any_enc.encode_single_token(any_enc.decode_single_token_bytes(number)) == number


@pytest.mark.parametrize(
    "token", ["hello", b"hello", "<|x|>", b"<|x|>", "zzz", b"\xff\xff", "", b"", "\ud800", 5, None, bytearray(b"a"), "é", b"\xc3"]
)
def test_single_token_lookup_gives_tiktokens_answer(token):
    results = [outcome(toy(name).encode_single_token, token) for name in LIBRARIES]
    assert results[0] == results[1]


@pytest.mark.parametrize("token", [97, 300, np.int64(97), Index(97), True, 281, 302, -1, 2**32, 2**70, "a", 97.0, None])
def test_single_token_bytes_gives_tiktokens_answer(token):
    results = [outcome(toy(name).decode_single_token_bytes, token) for name in LIBRARIES]
    assert results[0] == results[1]


def test_single_token_that_is_none_is_a_key_error_with_its_bytes(enc):
    with pytest.raises(KeyError) as caught:
        enc.encode_single_token("zzz")
    assert caught.value.args == (b"zzz",)


# ---- what it is ----


def test_facts_of_an_encoding(enc):
    assert repr(enc) == "<Encoding 'toy'>"
    assert enc.name == "toy"
    assert enc.n_vocab == 306
    assert enc.max_token_value == 305
    assert enc.special_tokens_set == set(SPECIAL)
    assert isinstance(enc.special_tokens_set, set)
    assert enc.is_special_token(300)
    assert not enc.is_special_token(97)
    assert not enc.is_special_token(True)
    assert enc.token_byte_values() == sorted(RANKS)
    assert enc._pat_str == PATTERN
    assert enc._mergeable_ranks == RANKS
    assert enc._special_tokens == SPECIAL
    for token in ("a", None, np.int64(300)):
        with pytest.raises(AssertionError):
            enc.is_special_token(token)


def test_facts_of_a_registered_encoding_are_equal():
    one, other = o200k("tiktoken"), o200k("ctok")
    for fact in (
        "name",
        "n_vocab",
        "max_token_value",
        "eot_token",
        "special_tokens_set",
        "_pat_str",
        "_special_tokens",
        "_mergeable_ranks",
    ):
        assert getattr(one, fact) == getattr(other, fact), fact
    assert one.token_byte_values() == other.token_byte_values()
    assert list(one._mergeable_ranks)[:5000] == list(other._mergeable_ranks)[:5000]


def test_encoding_without_end_of_text_token_has_none(lib):
    with pytest.raises(KeyError):
        lib.Encoding("bare", pat_str=PATTERN, mergeable_ranks=RANKS, special_tokens={}).eot_token  # noqa: B018


# ---- the constructor ----

FIELDS = {"pat_str": PATTERN, "mergeable_ranks": RANKS, "special_tokens": SPECIAL}
BAD = [
    ("pat_str", "("), ("pat_str", 5), ("mergeable_ranks", {}), ("mergeable_ranks", {"a": 0}), ("mergeable_ranks", {b"a": -1}),
    ("mergeable_ranks", {b"a": 2**32}), ("mergeable_ranks", [(b"a", 0)]), ("special_tokens", None), ("special_tokens", {"\ud800": 300}),
    ("explicit_n_vocab", 5), ("explicit_n_vocab", len(RANKS) + len(SPECIAL)), ("no_such_field", 1),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value"), BAD, ids=repr)
def test_constructor_refuses_with_tiktokens_class_of_error(field, value):
    results = [outcome(lib.Encoding, "bad", **(FIELDS | {field: value})) for lib in LIBRARIES.values()]
    assert isinstance(results[1], type)
    assert results[0] == results[1]


def test_constructor_takes_only_the_name_by_place(lib):
    with pytest.raises(TypeError):
        lib.Encoding("toy", PATTERN, RANKS, SPECIAL)
    with pytest.raises(TypeError):
        lib.Encoding("toy", pat_str=PATTERN, mergeable_ranks=RANKS)


def test_constructor_counts_the_tokens(lib):
    ranks = {bytes([b]): b for b in range(256)}
    enc = lib.Encoding("n", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={"<|x|>": 256}, explicit_n_vocab=257)
    assert enc.n_vocab == 257
    assert lib.Encoding("n", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={"<|x|>": 300}, explicit_n_vocab=0).n_vocab == 301


def test_constructor_takes_numpys_integers(lib):
    ranks = {token: np.int64(rank) for token, rank in RANKS.items()}
    enc = lib.Encoding("n", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={"<|x|>": np.int64(400)})
    assert enc.encode("hello<|x|>", allowed_special="all") == [259, 400]


def test_constructor_extends_a_registered_encoding(lib, big):
    special = {**big._special_tokens, "<|im_start|>": 200019, "<|im_end|>": 200020}
    enc = lib.Encoding(name="o200k_im", pat_str=big._pat_str, mergeable_ranks=big._mergeable_ranks, special_tokens=special)
    assert enc.encode("<|im_start|>hello world<|im_end|>", allowed_special="all") == [200019, 24912, 2375, 200020]
    assert enc.n_vocab == 200021


def test_subclass_overrides_and_pickles(lib):
    enc = Loud("toy", **FIELDS) if lib is CTOK else None
    if enc is None:
        pytest.skip("of ctok's class only")
    assert enc.encode_ordinary("a") == [97, 97]
    assert type(pickle.loads(pickle.dumps(enc))) is Loud


class Loud(ctok.compat.tiktoken.Encoding):
    def encode_ordinary(self, text):
        return super().encode_ordinary(text) * 2


def test_encoding_that_was_never_initialised_raises_instead_of_crashing():
    enc = CTOK.Encoding.__new__(CTOK.Encoding)
    for call in (
        enc.encode,
        enc.encode_ordinary,
        enc._encode_single_piece,
        lambda text: enc.decode([97]),
        lambda text: enc.decode_single_token_bytes(97),
    ):
        with pytest.raises(ValueError, match="never initialised"):
            call("a")
    with pytest.raises(ValueError, match="never initialised"):
        enc.encode("a", allowed_special="all")


def test_encoding_around_a_tokenizer_shares_it():
    tokenizer = toy("ctok").tokenizer
    enc = CTOK.Encoding.from_tokenizer(tokenizer)
    assert enc.tokenizer is tokenizer
    assert (enc.name, enc.n_vocab, enc.eot_token) == ("toy", 306, 300)
    assert enc._mergeable_ranks == RANKS
    assert enc.encode("hello<|x|>", allowed_special="all") == toy("ctok").encode("hello<|x|>", allowed_special="all")
    odd = SimpleNamespace(spec=SimpleNamespace(pre_tokenizer=None, model=None))
    with pytest.raises(TypeError, match="no split pattern"):
        CTOK.Encoding.from_tokenizer(odd)


# ---- names ----


def test_public_names_are_there(lib):
    for public in ("Encoding", "encoding_for_model", "encoding_name_for_model", "get_encoding", "list_encoding_names", "__version__"):
        assert hasattr(lib, public)
    assert lib.core.Encoding is lib.Encoding
    assert lib.registry.get_encoding is lib.get_encoding
    assert lib.model.encoding_for_model is lib.encoding_for_model
    assert lib.__version__ == CTOK.__version__ == LIBRARIES["tiktoken"].__version__


IMPORTED_THERE = {"AbstractSet", "Any", "Callable", "Collection", "Encoding", "Literal", "NoReturn", "Sequence"}
IMPORTED_THERE |= {"TYPE_CHECKING", "ThreadPoolExecutor", "annotations"}


def test_every_public_name_of_tiktoken_is_there():
    for module in ("", "core", "load", "model", "registry"):
        one, other = (getattr(lib, module) if module else lib for lib in LIBRARIES.values())
        own = [n for n, value in vars(one).items() if not n.startswith("_") and not inspect.ismodule(value)]
        assert {n for n in own if not hasattr(other, n)} <= IMPORTED_THERE, module
    public = [n for n in dir(toy("tiktoken")) if not n.startswith("__") and n != "_core_bpe"]
    assert not [n for n in public if not hasattr(toy("ctok"), n)]


def test_get_encoding_gives_one_object(lib):
    assert lib.get_encoding("o200k_base") is lib.get_encoding("o200k_base")
    assert lib.registry.ENCODINGS["o200k_base"] is lib.get_encoding("o200k_base")
    assert lib.list_encoding_names() == ["gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"]


def test_get_encoding_shares_the_tables_of_ctok_load():
    assert CTOK.get_encoding("o200k_base").tokenizer is ctok.registry.load("o200k_base")


def test_get_encoding_of_what_is_none(lib):
    for bad in (5, None, b"gpt2"):
        with pytest.raises(ValueError, match="Expected a string in get_encoding, got <class"):
            lib.get_encoding(bad)
    with pytest.raises(ValueError) as caught:
        lib.get_encoding("o200k_bose")
    lines = str(caught.value).split("\n")
    assert lines[0] == "Unknown encoding o200k_bose."
    assert lines[1].startswith("Plugins found: [")
    assert lines[2].startswith("tiktoken version: 0.14.0")


def test_get_encoding_does_not_take_a_path(tmp_path, monkeypatch):
    (tmp_path / "mine").write_bytes(b"YQ== 0\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="Unknown encoding mine"):
        CTOK.get_encoding("mine")


def test_o200k_harmony_is_there_and_its_shared_id_decodes_to_the_first_declared():
    enc = CTOK.get_encoding("o200k_harmony")
    assert enc.n_vocab == 201088
    assert enc.decode([200018]) == "<|endofprompt|>"
    assert enc.encode("<|start|>user", allowed_special="all") == [200006, 1428]


def test_models_are_tiktokens():
    one, other = LIBRARIES["tiktoken"].model, CTOK.model
    assert one.MODEL_TO_ENCODING == other.MODEL_TO_ENCODING
    assert one.MODEL_PREFIX_TO_ENCODING == other.MODEL_PREFIX_TO_ENCODING
    for model in (
        "gpt-4.1-x",
        "ft:gpt-4.1:acme",
        "gpt-5.1",
        "gpt-oss-20b",
        "ft:gpt-4o:x",
        "openai/gpt-4o",
        "GPT-4o",
        "",
        "claude-3",
        5,
        None,
        [],
    ):
        assert outcome(one.encoding_name_for_model, model) == outcome(other.encoding_name_for_model, model)


def test_models_unknown_is_a_key_error(lib):
    for call in (lib.encoding_name_for_model, lib.encoding_for_model):
        with pytest.raises(KeyError, match="Could not automatically map nope to a tokeniser"):
            call("nope")
    assert lib.encoding_for_model("gpt-4o") is lib.get_encoding("o200k_base")


def test_models_table_may_be_changed(lib, monkeypatch):
    monkeypatch.setitem(lib.model.MODEL_TO_ENCODING, "mine", "o200k_base")
    assert lib.encoding_for_model("mine").name == "o200k_base"


# ---- copies, processes, threads ----


def test_k8_03_custom_encoding_is_copied_and_pickled_with_its_fields(enc):
    for other in (copy.copy(enc), copy.deepcopy(enc), pickle.loads(pickle.dumps(enc))):
        assert other.encode("hello <|x|>", allowed_special="all") == enc.encode("hello <|x|>", allowed_special="all")
        assert other._special_tokens == SPECIAL
        assert other.n_vocab == enc.n_vocab


def test_k8_03_registered_encoding_is_pickled_as_its_name(big):
    data = pickle.dumps(big)
    assert len(data) < 120
    for other in (pickle.loads(data), copy.copy(big), copy.deepcopy(big)):
        assert other.encode("hello world") == [24912, 2375]
        assert other.name == "o200k_base"
        assert other.eot_token == 199999


def test_k8_03_copy_of_a_registered_encoding_still_pickles_as_its_name():
    assert len(pickle.dumps(pickle.loads(pickle.dumps(o200k("ctok"))))) < 120


def test_k8_03_another_process_gets_equal_ids():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(toy("ctok").encode_ordinary, ["hello world"]) == [toy("ctok").encode("hello world")]
        assert pool.map(o200k("ctok").encode, ["hello world"]) == [[24912, 2375]]


def test_threads_share_an_encoding():
    enc, texts = o200k("ctok"), [f"line {n}: é你😀 <|endoftext|> {'x' * n}" for n in range(200)]
    wanted = [o200k("tiktoken").encode(text, allowed_special="all") for text in texts]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: enc.encode(text, allowed_special="all"), texts * 5))
        assert found == wanted * 5
        assert list(pool.map(enc.decode, found)) == texts * 5
        assert list(pool.map(lambda text: enc.encode_batch([text, text], allowed_special="all"), texts)) == [[ids, ids] for ids in wanted]


def test_k8_12_batch_of_tiny_texts_is_encoded_by_the_caller():
    texts = ["hi"] * 10_000
    assert toy("ctok").encode_batch(texts) == [toy("ctok").encode("hi")] * 10_000


# ---- the end of a text ----

ENDS = [
    "",
    "hello",
    "hel",
    "hello fanta",
    "  ",
    " \n",
    "\n\n",
    "\n\n ",
    "  !",
    "a  ",
    "hi!\n ",
    "你",
    "😀 h",
    "hello <|x|>",
    "<|x|>he",
    " <|x|> \n",
    "a\t \n",
]


@pytest.mark.parametrize("text", ENDS)
def test_unstable_gives_tiktokens_ids_and_completions(text):
    answers = [toy(name).encode_with_unstable(text, allowed_special="all") for name in LIBRARIES]
    (stable, completions), (own_stable, own_completions) = answers
    assert own_stable == stable
    assert sorted(own_completions) == sorted(completions)
    assert own_completions == sorted(own_completions)


@given(text=TEXTS)
def test_unstable_random_text_gives_tiktokens_answer(text):
    answers = [toy(name).encode_with_unstable(text, allowed_special="all") for name in LIBRARIES]
    (stable, completions), (own_stable, own_completions) = answers
    assert own_stable == stable
    assert sorted(own_completions) == sorted(completions)


@pytest.mark.parametrize("text", ["hello fanta", "The qu", "你好", "x:\n"])
def test_unstable_of_a_large_vocabulary(text):
    (stable, completions), (own_stable, own_completions) = (o200k(name).encode_with_unstable(text) for name in LIBRARIES)
    assert own_stable == stable
    assert sorted(own_completions) == sorted(completions)
    for completion in own_completions:
        assert o200k("ctok").decode_bytes(own_stable + completion).startswith(text.encode())


def test_unstable_mends_surrogates():
    enc = toy("ctok")
    assert enc.encode_with_unstable("\ud83d\ude00 h") == enc.encode_with_unstable("😀 h")


@given(data=st.one_of(st.binary(max_size=20), st.builds(lambda text, rest: text.encode() + rest, TEXTS, st.binary(max_size=6))))
def test_bytes_and_pieces_give_tiktokens_ids(data):
    assert toy("ctok")._encode_bytes(data) == toy("tiktoken")._encode_bytes(data)
    if data:
        assert toy("ctok")._encode_single_piece(data) == toy("tiktoken")._encode_single_piece(data)


def test_pieces_take_str_and_refuse_the_rest(enc):
    assert enc._encode_single_piece("hello hello") == [259, 32, 259]
    assert enc._encode_only_native_bpe("hello<|x|>") == enc.encode_ordinary("hello<|x|>")
    for call, bad in ((enc._encode_single_piece, 5), (enc._encode_bytes, "a")):
        with pytest.raises(TypeError):
            call(bad)


def test_pieces_large_and_empty():
    enc = toy("ctok")
    assert enc._encode_single_piece("") == enc._encode_single_piece(b"") == []
    assert enc.decode(enc._encode_single_piece("ab" * 50_000)) == "ab" * 50_000


# ---- where ctok differs ----


def test_k3_21_longest_special_token_wins():
    ranks = {bytes([b]): b for b in range(256)}
    enc = CTOK.Encoding("k", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={"<a>": 256, "<a>b": 257})
    assert enc.encode("<a>b", allowed_special="all") == [257]
    assert enc.encode("<a>b", allowed_special={"<a>"}, disallowed_special=()) == [256, 98]
    with pytest.raises(ValueError, match="'<a>b'"):
        enc.encode("<a>b")
    with pytest.raises(ValueError, match="'<a>'"):
        enc.encode("<a>b", allowed_special={"<a>b"})


NAMES = st.text("ab<", min_size=1, max_size=4)


@given(
    text=st.text("ab<", max_size=14),
    special=st.lists(NAMES, min_size=1, max_size=5, unique=True),
    allowed=st.lists(st.booleans(), min_size=5, max_size=5),
    disallowed=st.one_of(st.just("all"), st.sets(NAMES, max_size=4)),
)
def test_k3_21_overlapping_special_tokens_follow_the_stated_rule(text, special, allowed, disallowed):
    ids = {name: 300 + n for n, name in enumerate(special)}
    allow = {name for name, yes in zip(special, allowed) if yes}
    forbid = set(special) - allow if disallowed == "all" else disallowed
    enc = CTOK.Encoding("k", pat_str=".", mergeable_ranks={bytes([b]): b for b in range(256)}, special_tokens=ids)
    options = {"allowed_special": allow, "disallowed_special": disallowed}

    def longest_first(names):
        return re.compile("|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) or "(?!)")

    hit = longest_first(forbid).search(text)
    if hit:
        with pytest.raises(DisallowedSpecialTokenError) as caught:
            enc.encode(text, **options)
        assert (caught.value.token, caught.value.position) == (hit.group(), hit.start())
    else:
        wanted = [ids[piece] if piece in allow else ord(piece) for piece in re.findall(f"{longest_first(allow).pattern}|.", text)]
        assert enc.encode(text, **options) == enc.encode_batch([text], **options)[0] == wanted


@pytest.mark.parametrize("pattern", [r"(?<=a)b|.", r"(?<!x)\w+|\s+|.", r"(\w)\1|.", r"(?=b)b\w|\s+(?!\S)|.|\n"])
def test_pattern_that_only_a_regex_engine_can_run_gives_tiktokens_ids(pattern):
    answers = []
    for lib in LIBRARIES.values():
        enc = lib.Encoding("p", **(FIELDS | {"pat_str": pattern}))
        answers.append(
            [
                enc.encode("abab xé<|x|>ab \n\n b00", allowed_special="all"),
                enc.encode_batch(["ab", "é\ud83d"]),
                [sorted(part) for part in enc.encode_with_unstable("ab a")],
                enc._encode_bytes(b"ab\xff"),
                enc.encode_to_numpy("abab").tolist(),
            ]
        )
    assert answers[0] == answers[1]


def test_k2_18_empty_special_token_is_refused():
    with pytest.raises(ValueError):
        CTOK.Encoding("k", **(FIELDS | {"special_tokens": {"": 256}}))


@pytest.mark.parametrize("pattern", ["a*", ""])
def test_k2_19_pattern_that_matches_nothing_is_refused(pattern):
    with pytest.raises(ValueError):
        CTOK.Encoding("k", **(FIELDS | {"pat_str": pattern}))


def test_k2_23_byte_without_rank_is_refused_when_it_occurs():
    enc = CTOK.Encoding("k", pat_str=PATTERN, mergeable_ranks={b"a": 0, b"b": 1}, special_tokens={})
    assert enc.encode("ab") == [0, 1]
    for call in (enc.encode, enc._encode_single_piece, lambda text: enc.encode_batch([text])):
        with pytest.raises(ValueError, match="no token"):
            call("abc")


def test_rank_of_two_tokens_is_refused_with_both():
    with pytest.raises(SpecError, match=r"b'a' and b'b' have the same rank 7"):
        CTOK.Encoding("k", pat_str=PATTERN, mergeable_ranks={b"b": 7, b"a": 7}, special_tokens={})


def test_disallowed_error_is_ctoks_and_a_value_error():
    assert issubclass(DisallowedSpecialTokenError, ValueError)
    with pytest.raises(CtokError):
        toy("ctok").encode("<|x|>")
    with pytest.raises(ValueError, match=r"'<\|x\|>'"):
        CTOK.core.raise_disallowed_special_token("<|x|>")


# ---- the collected cases ----

NAMED = {
    "K1-09",
    "K1-10",
    "K1-16",
    "K1-27",
    "K1-45",
    "K2-02",
    "K2-03",
    "K2-04",
    "K3-01",
    "K3-02",
    "K3-03",
    "K3-06",
    "K4-18",
    "K4-19",
    "K5-01",
    "K5-02",
}
NAMED |= {"K5-06", "K5-07", "K5-08", "K5-24", "K5-25", "K5-27"}


@pytest.fixture(scope="session")
def case_encoding(shared):
    """The encoding of a name, out of the kit's vocabulary files."""

    @lru_cache
    def load(name):
        file = shared / "conformance" / "vocabs" / f"{name}.tiktoken.xz"
        spec = rank_files.loads(lzma.decompress(file.read_bytes()))
        return CTOK.Encoding.from_tokenizer(Tokenizer.from_spec(spec))

    return load


@pytest.fixture(scope="session")
def cases(shared):
    lines = (shared / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}


def text_of(value):
    return value["repeat"][0] * value["repeat"][1] if isinstance(value, dict) and "repeat" in value else value


def ids_of(value):
    if not isinstance(value, dict):
        return value
    return [np.int64(n) for n in value["ids"]] if value["as"].startswith("list") else np.array(value["ids"], value["as"][3:].split()[0])


@pytest.mark.parametrize("number", sorted(NAMED))
def test_case_as_collected(cases, case_encoding, number):
    case = SimpleNamespace(**{"options": {}, "expect": None, "expect_ids": None, **cases[number]})
    enc = case_encoding(case.tokenizer.split(":")[1])
    options = {key: set(value) if key == "allowed_special" else value for key, value in case.options.items() if key.endswith("special")}
    if case.expect_ids is not None:
        assert enc.encode(text_of(case.input), **options) == case.expect_ids
    elif case.api == "encode" and isinstance(case.expect, dict):
        ids = enc.encode(text_of(case.input))
        assert (len(ids), ids[:3], ids[-3:]) == (case.expect["n_ids"], case.expect["first"], case.expect["last"])
    elif case.api == "encode":
        with pytest.raises(ValueError):
            enc.encode(case.input, **options)
    elif number == "K4-18":
        assert enc.decode_with_offsets(enc.encode(case.input)) == (case.input, case.expect)
    elif number == "K4-19":
        with pytest.raises(UnicodeDecodeError):
            enc.decode_with_offsets(case.input)
    elif number == "K5-27":
        assert enc.decode(enc.encode(case.input)) == case.input
    elif number in ("K5-01", "K5-02"):
        with pytest.raises(KeyError if number == "K5-01" else OverflowError):
            enc.decode(case.input)
    else:
        assert enc.decode(ids_of(case.input)) == case.expect
