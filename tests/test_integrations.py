"""The part of `ctok.integrations` that needs no other library."""

import threading

import pytest

import ctok
from ctok.integrations import adopt
from ctok.integrations.transformers import CtokStreamer, unwrap, wrap
from piece_models import proto_of

np = pytest.importorskip("numpy", reason="generate puts arrays")
TEXT = " naïve  café\n\n東京 is in 日本, x=1234567 👩‍👩‍👧 e\u0301"


def put_all(streamer, ids, step=1):
    for at in range(0, len(ids), step):
        streamer.put(np.array(ids[at : at + step]))
    streamer.end()


@pytest.mark.parametrize("thing", [None, "gpt2", object()])
def test_wrap_of_what_is_no_fast_tokenizer_is_a_type_error(thing):
    for call in (wrap, unwrap, CtokStreamer):
        with pytest.raises(TypeError, match="fast tokenizer"):
            call(thing)


def test_import_of_the_room_loads_no_other_library(run_python):
    program = "import sys, ctok.integrations.transformers; print(*sys.modules)"
    loaded = set(run_python(program).split())
    assert not loaded & {"transformers", "tokenizers", "torch", "numpy", "anyio"}


def test_ctok_streamer_takes_a_ctok_tokenizer_and_ends_inside_a_character():
    tokenizer = ctok.load("o200k_base")
    ids = tokenizer.encode("a🫠")
    assert len(ids) > 2
    streamer = CtokStreamer(tokenizer)
    put_all(streamer, ids[:-1])
    assert list(streamer) == ["a", "\ufffd"]


def test_ctok_streamer_gives_texts_to_an_override():
    class Kept(CtokStreamer):
        def on_finalized_text(self, text, stream_end=False):
            kept.append((text, stream_end))

    kept = []
    put_all(Kept(ctok.load("o200k_base")), ctok.load("o200k_base").encode("hello world"))
    assert kept == [("hello", False), (" world", False), ("", True)]


def test_ctok_streamer_times_out():
    streamer = CtokStreamer(ctok.load("o200k_base"), timeout=0.01)
    with pytest.raises(TimeoutError):
        next(streamer)


def test_ctok_streamer_gives_texts_to_another_thread():
    tokenizer = ctok.load("o200k_base")
    streamer = CtokStreamer(tokenizer, timeout=30)
    worker = threading.Thread(target=put_all, args=(streamer, tokenizer.encode(TEXT)))
    worker.start()
    assert "".join(streamer) == TEXT
    worker.join()


@pytest.mark.anyio
async def test_ctok_streamer_gives_texts_to_a_task(anyio_backend):
    import anyio

    tokenizer = ctok.load("o200k_base")
    streamer = CtokStreamer(tokenizer, timeout=30)
    given = []
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.to_thread.run_sync, put_all, streamer, tokenizer.encode(TEXT * 5))
        async for text in streamer:
            given.append(text)
    assert "".join(given) == TEXT * 5
    with pytest.raises(TimeoutError):
        await anext(aiter(CtokStreamer(tokenizer, timeout=0.01)))


# ---- tokenizers that are loaded already ----


def same_ids(tok, encode, tmp_path, name):
    """What was adopted gives the ids that it gave, and does so again from a file."""
    tok.save(tmp_path / name)
    again = ctok.load(tmp_path / name)
    for text in (TEXT, "", "low lower", "  a\n\n b"):
        assert tok.encode(text) == again.encode(text) == encode(text)


def test_k11_11_a_live_encoding_of_tiktoken_is_adopted(tmp_path):
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"lo": 256, b"low": 257, b" low": 258}
    live = tiktoken.Encoding("own", pat_str=r" ?\p{L}+|\s+|[^\p{L}\s]", mergeable_ranks=ranks, special_tokens={"<|end|>": 300})
    tok = adopt(live)
    assert tok.name == "own" and tok.encode("low<|end|>", allowed_special="all") == [257, 300]
    same_ids(tok, live.encode, tmp_path, "tokenizer.json")


def test_k11_11_a_live_tokenizer_of_tokenizers_is_adopted(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    live = tokenizers.Tokenizer(tokenizers.models.BPE())
    live.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=270, initial_alphabet=alphabet, show_progress=False)
    live.train_from_iterator(["low lower lowest newest"] * 4, trainer)
    tok = adopt(live)
    same_ids(tok, lambda text: live.encode(text).ids, tmp_path, "tokenizer.json")
    live.add_tokens(["lower"])  # what was adopted before is not told
    assert len(tok.encode("lower")) > 1 == len(adopt(live).encode("lower"))


def test_k11_11_a_live_sentencepiece_processor_is_adopted(tmp_path):
    sentencepiece = pytest.importorskip("sentencepiece")
    texts = ["\u2581low", "er", "\u2581", "l", "o", "w", "e", "r"]
    model = proto_of([("<unk>", 0.0, 2), *((text, -1.0 - n, 1) for n, text in enumerate(texts))])
    live = sentencepiece.SentencePieceProcessor(model_proto=model)
    same_ids(adopt(live), live.encode, tmp_path, "own.model")


def test_what_is_no_tokenizer_is_not_adopted():
    tok = ctok.load("o200k_base")
    assert adopt(tok) is tok
    for thing in (None, "gpt2", object()):
        with pytest.raises(TypeError, match="tokenizer must be a tiktoken"):
            adopt(thing)
