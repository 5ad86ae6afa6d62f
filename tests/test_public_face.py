"""What all calls have in common: the same options with the same defaults, one count, one way to end, no network."""

import inspect
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctok
from core import ALPHABET, GPT2, O200K, SPECIALS, ctok_of, real_ranks
from ctok import CtokError

ENCODING = {"allowed_special": (), "disallowed_special": (), "add_special_tokens": True, "errors": "strict"}
DECODING = {"skip_special_tokens": False, "errors": "replace", "utf8_policy": None}
REGEX_ONLY = r"\w+(?<=x)|\w+|\W+"
TEXTS = st.lists(st.sampled_from([*ALPHABET, "\ud83d", "\ude00"]), max_size=12).map("".join)
POLICIES = st.sampled_from([(), "all", ("<|x|>",), ("<|endoftext|>", "<|endofprompt|>")])


def tokenizers():
    return [ctok_of(real_ranks(), pattern, SPECIALS, {"<tool>": 9010}) for pattern in (O200K, GPT2, REGEX_ONLY)]


TOKENIZERS = tokenizers()


# ---- options ----


def defaults(call):
    return {p.name: p.default for p in inspect.signature(call).parameters.values() if p.kind is p.KEYWORD_ONLY}


@pytest.mark.parametrize("name", ["encode", "encode_ids", "count", "encode_batch", "count_batch", "encoder", "counter"])
def test_calls_that_encode_have_the_same_options_with_the_same_defaults(name):
    assert dict(defaults(getattr(ctok.Tokenizer, name)).items() & ENCODING.items()) == ENCODING


@pytest.mark.parametrize("call", [lambda tok, **o: tok.truncate("a b", 1, **o), lambda tok, **o: tok.split("a b", 1, **o)])
def test_truncate_and_split_take_the_options_of_encode(call):
    for tok in TOKENIZERS:
        assert call(tok, **ENCODING) == call(tok)
        with pytest.raises(TypeError):
            call(tok, allow=())
        with pytest.raises(ValueError, match="errors"):
            call(tok, errors="ignore")


@pytest.mark.parametrize("name", ["decode", "decode_batch", "decoder", "decode_spans"])
def test_calls_that_decode_have_the_same_options_with_the_same_defaults(name):
    assert defaults(getattr(ctok.Tokenizer, name)).items() >= DECODING.items()


def test_options_that_are_no_collection_of_names_are_refused_everywhere():
    tok = TOKENIZERS[0]
    for call in (tok.encode, tok.encode_ids, tok.count, tok.encoder, tok.counter):
        text = () if call in (tok.encoder, tok.counter) else ("a",)
        for option in ("allowed_special", "disallowed_special"):
            with pytest.raises(TypeError, match=option):
                call(*text, **{option: "<|x|>"})


# ---- one count ----


def outcome(call):
    """What a call gives, or what it raises and where; and two errors in one text may be found in either order."""
    try:
        return call()
    except CtokError as error:
        return type(error)


@given(TEXTS, POLICIES, POLICIES, st.sampled_from(["strict", "replace"]), st.booleans())
def test_k11_01_count_is_the_length_of_encode_for_all_options(text, allowed, disallowed, errors, as_bytes):
    options = {"allowed_special": allowed, "disallowed_special": disallowed, "errors": errors}
    text = text.encode("utf-8", "surrogatepass") if as_bytes else text
    for tok in TOKENIZERS:
        ids = outcome(lambda tok=tok: tok.encode(text, **options))
        size = len(ids) if isinstance(ids, list) else ids
        assert outcome(lambda tok=tok: tok.count(text, **options)) == size
        assert outcome(lambda tok=tok: list(tok.encode_ids(text, **options))) == ids
        assert outcome(lambda tok=tok: tok.encode_batch([text], **options)[0]) == ids
        assert outcome(lambda tok=tok: tok.count_batch([text], **options)[0]) == size


# ---- codecs ----


def test_final_is_the_only_way_to_end_a_codec():
    tok = TOKENIZERS[0]
    for codec, method in ((tok.encoder(), "encode"), (tok.decoder(), "decode"), (tok.counter(), "feed")):
        for name in {"encode", "decode", "feed", "flush", "finish", "close", "end", "finalize"} - {method}:
            assert not callable(getattr(codec, name, None)), name
        for name in (method, "reset", "copy", "getstate", "setstate"):
            assert callable(getattr(codec, name))
        assert codec.pending == b""


def test_k8_07_tokenizer_with_a_pattern_for_the_regex_package_pickles():
    tok = TOKENIZERS[2]
    other = pickle.loads(pickle.dumps(tok))
    assert not other.streams and other.encode("ax bx <tool>") == tok.encode("ax bx <tool>")


def test_b30_id_that_is_a_part_of_a_character_has_its_bytes():
    tok = ctok.load("o200k_base")
    ids = tok.encode("\U0001fae8")
    assert len(ids) > 1 and b"".join(map(tok.id_to_bytes, ids)) == "\U0001fae8".encode()
    assert tok.decode(ids[:1]) == "\ufffd"


def test_skip_special_tokens_leaves_out_special_tokens_only():
    tok = TOKENIZERS[0]
    ids = tok.encode("a<tool><|x|><|é|>b", allowed_special="all")
    assert tok.decode(ids) == "a<tool><|x|><|é|>b" and tok.decode(ids, skip_special_tokens=True) == "a<tool>b"
    decoder = tok.decoder(skip_special_tokens=True)
    assert "".join(map(decoder.decode, ids)) + decoder.decode((), final=True) == "a<tool>b"
    assert tok.decode_bytes(ids, skip_special_tokens=True) == b"a<tool>b"
    assert tok.decode_batch([ids], skip_special_tokens=True) == ["a<tool>b"]


# ---- no network ----


def test_k9_06_k11_04_nothing_asks_the_network(run_python):
    program = """
import sys
def refuse(event, arguments):
    if event.startswith("socket."):
        raise SystemExit(event)
sys.addaudithook(refuse)
import ctok
tok = ctok.load("o200k_base")
assert ctok.for_model("gpt-4o") is tok
from ctok.compat import tiktoken
assert tiktoken.get_encoding("o200k_base").encode("hello world") == tok.encode("hello world")
print("socket" in sys.modules)
"""
    assert run_python(program, CTOK_CACHE_DIR="", TIKTOKEN_CACHE_DIR="") == "False\n"
