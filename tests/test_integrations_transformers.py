"""ctok under the fast tokenizers of transformers: each call beside the same tokenizer as it was. Nothing is fetched."""

import copy
import json
import os
import pickle
import sys
from collections import Counter

import pytest

import ctok
from ctok.errors import SpecError
from model_checks import real_file
from test_integrations import put_all

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read when transformers is imported

np = pytest.importorskip("numpy", reason="transformers returns arrays of numpy")
tokenizers = pytest.importorskip("tokenizers", reason="what transformers runs on is not installed")
transformers = pytest.importorskip("transformers", minversion="5", reason="transformers 5 is not installed: the extra `transformers`")

from ctok.integrations import adopt  # noqa: E402
from ctok.integrations.transformers import CtokStreamer, unwrap, wrap  # noqa: E402

Fast = transformers.PreTrainedTokenizerFast
CORPUS = ["The quick brown fox isn't quick. It jumps over the lazy dog!", "naïve café 東京 👍🏽", "one two  three\n\n 1234"] * 4
TEXTS = [
    "The quick brown fox isn't.",
    "",
    " naïve  café\n\n東京 is in 日本, x=1234567 👩‍👩‍👧 e\u0301",
    "[CLS] a <s>dog</s> [MASK]  over [PAD]",
    "unquickly " * 30,
]
TEMPLATE = (
    "{% for m in messages %}<s>{{ m['role'] }}\n{{ m['content'] }}</s>\n{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant\n{% endif %}"
)
CHAT = [{"role": "user", "content": "What is the  quick fox?"}, {"role": "assistant", "content": "東京 👍🏽 [PAD]"}]
SPECIAL = ["[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]", "<s>", "</s>"]


def byte_level():
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        CORPUS, tokenizers.trainers.BpeTrainer(vocab_size=330, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False)
    )
    return Fast(tokenizer_object=made, bos_token="<s>", eos_token="</s>", pad_token="[PAD]", add_bos_token=True)


def word_piece():
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    made.normalizer = tokenizers.normalizers.BertNormalizer()
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.decoder = tokenizers.decoders.WordPiece()
    made.train_from_iterator(CORPUS, tokenizers.trainers.WordPieceTrainer(vocab_size=120, special_tokens=SPECIAL, show_progress=False))
    made.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return Fast(
        tokenizer_object=made, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"], clean_up_tokenization_spaces=True,
    )  # fmt: skip


def unigram():
    made = tokenizers.Tokenizer(tokenizers.models.Unigram())
    made.normalizer = tokenizers.normalizers.Sequence([tokenizers.normalizers.NFKC(), tokenizers.normalizers.Replace("  ", " ")])
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    made.decoder = tokenizers.decoders.Metaspace()
    trainer = tokenizers.trainers.UnigramTrainer(vocab_size=80, special_tokens=SPECIAL, unk_token="[UNK]", show_progress=False)
    made.train_from_iterator(CORPUS, trainer)
    return Fast(tokenizer_object=made, unk_token="[UNK]", pad_token="[PAD]", eos_token="</s>", add_eos_token=True, padding_side="left")


def llama_like():
    """Byte pairs without a pre-tokenizer, with byte fallback: the decoder is a chain of four."""
    pieces = Counter("▁" + "▁".join(CORPUS[0].split()))
    vocab = {token: k for k, token in enumerate([*SPECIAL, *(f"<0x{k:02X}>" for k in range(256)), *pieces, "▁q", "ui", "▁qui"])}
    model = tokenizers.models.BPE(vocab, [("▁", "q"), ("u", "i"), ("▁q", "ui")], byte_fallback=True, fuse_unk=True, unk_token="[UNK]")
    made = tokenizers.Tokenizer(model)
    made.normalizer = tokenizers.normalizers.Sequence([tokenizers.normalizers.Prepend("▁"), tokenizers.normalizers.Replace(" ", "▁")])
    steps = tokenizers.decoders
    made.decoder = steps.Sequence([steps.Replace("▁", " "), steps.ByteFallback(), steps.Fuse(), steps.Strip(" ", 1, 0)])
    return Fast(tokenizer_object=made, bos_token="<s>", eos_token="</s>", unk_token="[UNK]", pad_token="[PAD]", add_bos_token=True)


MAKERS = [byte_level, word_piece, unigram, llama_like]
REAL = ["hf_bert_minilm", "hf_t5", "hf_mistral_v01"]


@pytest.fixture(scope="module", params=[*MAKERS, *REAL], ids=lambda what: getattr(what, "__name__", what))
def pair(request):
    """The same tokenizer twice: as it was, and wrapped."""
    if callable(request.param):
        before = request.param()
    else:
        whole = tokenizers.Tokenizer.from_str(real_file(request.getfixturevalue("shared"), request.param))
        pad = next(token for token in ("[PAD]", "<pad>", "</s>") if whole.token_to_id(token) is not None)
        before = Fast(tokenizer_object=whole, pad_token=pad)
    return before, wrap(copy.deepcopy(before))


@pytest.fixture
def fresh():
    """A tokenizer for tests that change it, twice."""
    before = byte_level()
    return before, wrap(copy.deepcopy(before))


def plain(value):
    """A result as values that compare."""
    if hasattr(value, "tolist"):
        return str(value.dtype), value.tolist()
    return {key: plain(item) for key, item in value.items()} if hasattr(value, "items") else value


def same(pair, *args, method="__call__", **options):
    before, after = (result_of(getattr(tokenizer, method), args, options) for tokenizer in pair)
    assert plain(after) == plain(before)
    return before, after


def result_of(call, args, options):
    try:
        return call(*args, **options)
    except Exception as error:
        return f"{error}"


# ---- calls ----


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"add_special_tokens": False},
        {"return_offsets_mapping": True, "return_special_tokens_mask": True, "return_length": True, "return_token_type_ids": True},
        {"truncation": True, "max_length": 7},
        {"truncation": True, "max_length": 9, "stride": 2, "return_overflowing_tokens": True, "return_offsets_mapping": True},
        {"padding": "max_length", "max_length": 40, "return_special_tokens_mask": True},
        {"padding": True, "pad_to_multiple_of": 8, "padding_side": "left"},
        {"return_tensors": "np"},
        {"split_special_tokens": True},
    ],
    ids=lambda options: "-".join(options) or "plain",
)
def test_call_of_a_wrapped_tokenizer_equals_that_before(pair, options):
    for text in TEXTS:
        before, after = same(pair, text, **options)
        if "return_tensors" in options or isinstance(before, str) or "return_overflowing_tokens" in options:
            continue
        for name in ("tokens", "word_ids", "sequence_ids"):
            assert getattr(after, name)() == getattr(before, name)()


@pytest.mark.parametrize(
    "options",
    [
        {"padding": True, "return_tensors": "np"},
        {"padding": True, "truncation": True, "max_length": 6, "return_tensors": "np", "return_offsets_mapping": True},
        {"padding": "max_length", "truncation": True, "max_length": 12, "stride": 3, "return_overflowing_tokens": True},
        {"return_special_tokens_mask": True, "return_offsets_mapping": True, "return_token_type_ids": True},
    ],
    ids=["padded", "cut", "overflowing", "ragged"],
)
def test_batch_of_a_wrapped_tokenizer_equals_that_before(pair, options):
    same(pair, TEXTS, **options)
    same(pair, TEXTS, TEXTS[::-1], **options)


@pytest.mark.parametrize("options", [{}, {"truncation": True, "max_length": 6}], ids=["padded", "cut"])
def test_tensors_of_torch_are_those_before(pair, options):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for given in ((TEXTS,), (TEXTS, TEXTS[::-1]), ([[1, 2], [3]],)):
        _, after = same(pair, *given, padding=True, return_tensors="pt", **options)
        assert isinstance(after, str) or after["input_ids"].dtype == torch.int64
    ids = pair[1](TEXTS[0], return_tensors="pt")["input_ids"]
    assert pair[1].decode(ids[0]) == pair[0].decode(ids[0])
    assert pair[1].batch_decode(ids) == pair[0].batch_decode(ids)
    streamer = CtokStreamer(pair[1], skip_prompt=True)
    streamer.put(ids)  # as generate does: the prompt as rows, then ids one by one
    for number in ids[0]:
        streamer.put(number[None])
    streamer.end()
    assert "".join(streamer) == pair[0].decode(ids[0], clean_up_tokenization_spaces=False)


@pytest.mark.parametrize("strategy", ["longest_first", "only_first", "only_second"])
def test_pair_cut_by_each_strategy_equals_that_before(pair, strategy):
    for max_length in (8, 15):
        same(pair, TEXTS[0], TEXTS[2], truncation=strategy, max_length=max_length, stride=1, return_overflowing_tokens=True)


def test_words_of_a_wrapped_tokenizer_equal_those_before(pair):
    same(pair, ["quick", "brown fox", "東京"], is_split_into_words=True, return_offsets_mapping=True)
    same(pair, [["quick"], ["brown", "fox"]], is_split_into_words=True, padding=True, return_tensors="np")


def test_what_is_no_text_is_refused_as_before(pair):
    same(pair, 5)
    same(pair, [5])
    for tokenizer in pair:
        with pytest.raises(TypeError, match=r"must be"):
            tokenizer("\ud800")


def test_look_ups_between_characters_and_tokens_equal_those_before(pair):
    before, after = same(pair, TEXTS[2])
    for at in range(len(TEXTS[2])):
        assert after.char_to_token(at) == before.char_to_token(at)
        assert after.char_to_word(at) == before.char_to_word(at)
    for at in range(len(before["input_ids"])):
        assert after.token_to_chars(at) == before.token_to_chars(at)
        assert after.token_to_word(at) == before.token_to_word(at)


def test_conversions_equal_those_before(pair):
    before, after = pair
    ids = sorted({number for text in TEXTS for number in before(text)["input_ids"]})
    tokens = before.convert_ids_to_tokens(ids)
    assert after.convert_ids_to_tokens(ids) == tokens
    assert after.convert_tokens_to_ids(tokens) == before.convert_tokens_to_ids(tokens)
    assert after.convert_tokens_to_ids("no such token") == before.convert_tokens_to_ids("no such token")
    assert after.convert_tokens_to_string(tokens) == before.convert_tokens_to_string(tokens)
    assert after.convert_ids_to_tokens(10**6) is None
    for text in TEXTS:
        assert after.tokenize(text) == before.tokenize(text)
    assert after.get_vocab() == before.get_vocab()
    assert after.get_added_vocab() == before.get_added_vocab()
    assert after.added_tokens_decoder == before.added_tokens_decoder
    assert (len(after), after.vocab_size) == (len(before), before.vocab_size)
    for two in (False, True):
        assert after.num_special_tokens_to_add(two) == before.num_special_tokens_to_add(two)


@pytest.mark.parametrize("skip", [False, True])
def test_decode_equals_that_before(pair, skip):
    batch = pair[0](TEXTS)["input_ids"]
    same(pair, batch, method="batch_decode", skip_special_tokens=skip)
    for ids in [*batch, [*batch[0], 10**6], np.array(batch[2]), batch[0][0]]:
        same(pair, ids, method="decode", skip_special_tokens=skip)
        same(pair, ids, method="decode", skip_special_tokens=skip, clean_up_tokenization_spaces=False)
    same(pair, [-1], method="decode")


def test_ids_and_masks_are_given_without_working_places_out(pair):
    found = pair[1](TEXTS[:3], padding=True, return_tensors="np").encodings
    assert all(encoding._whole is None for encoding in found)


# ---- chats ----


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"return_tensors": "np", "add_generation_prompt": True},
        {"tokenize": False},
        {"max_length": 9, "truncation": True},
        {"sanitize_control_tokens": True},
    ],
    ids=lambda options: "-".join(options) or "plain",
)
def test_chat_template_gives_what_it_gave_before(pair, options):
    pytest.importorskip("jinja2", reason="transformers renders chats with it")
    same(pair, CHAT, method="apply_chat_template", chat_template=TEMPLATE, **options)


def test_chat_template_marks_what_the_assistant_said_as_before(pair):
    pytest.importorskip("jinja2", reason="transformers renders chats with it")
    template = (
        "{% for m in messages %}{% if m['role'] == 'assistant' %}{% generation %}{{ m['content'] }}{% endgeneration %}"
        "{% else %}{{ m['content'] }}{% endif %}{% endfor %}"
    )
    before, _ = same(pair, CHAT, method="apply_chat_template", chat_template=template, return_dict=True, return_assistant_tokens_mask=True)
    assert 1 in before["assistant_masks"]


# ---- changes ----


def test_added_tokens_are_found_as_before(fresh):
    for tokenizer in fresh:
        assert tokenizer.add_tokens(["foxes", transformers.AddedToken("<tool>", lstrip=True, normalized=False), "The"]) == 3
        assert tokenizer.add_special_tokens({"mask_token": "[MASK]", "extra_special_tokens": ["<|im_start|>"]}) > 0
    for text in ("The foxes  <tool> and <|im_start|>[MASK] quick", "foxesThe"):
        same(fresh, text, return_offsets_mapping=True)
        same(fresh, fresh[0](text)["input_ids"], method="decode", skip_special_tokens=True)
    assert fresh[1].added_tokens_decoder == fresh[0].added_tokens_decoder
    assert type(fresh[1].added_tokens_decoder[0]) is tokenizers.AddedToken
    assert len(fresh[1]) == len(fresh[0])


def test_settings_of_the_template_can_be_changed(fresh):
    for add_bos, add_eos in ((False, True), (True, True), (False, False)):
        for tokenizer in fresh:
            tokenizer.add_bos_token, tokenizer.add_eos_token = add_bos, add_eos
        same(fresh, TEXTS[0], TEXTS[2], return_token_type_ids=True)


def test_components_of_the_reference_can_be_assigned(fresh):
    steps = tokenizers.pre_tokenizers
    for tokenizer in fresh:
        backend = tokenizer.backend_tokenizer
        backend.normalizer = tokenizers.normalizers.Sequence([tokenizers.normalizers.NFD(), tokenizers.normalizers.Lowercase()])
        backend.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([steps.Digits(True), steps.ByteLevel(add_prefix_space=True)])
        backend.model = tokenizers.models.BPE(backend.get_vocab(), [("q", "u")])
        backend.post_processor = None
    for text in TEXTS:
        same(fresh, text, return_offsets_mapping=True)
    for tokenizer in fresh:
        tokenizer.backend_tokenizer.decoder = None
    same(fresh, fresh[0](TEXTS[0])["input_ids"], method="decode")


def test_saved_tokenizer_is_the_same_file(pair, tmp_path):
    for name, tokenizer in zip(("before", "after"), pair):
        tokenizer.save_pretrained(tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "before").iterdir())
    assert sorted(path.name for path in (tmp_path / "after").iterdir()) == files
    for name in files:
        assert json.loads((tmp_path / "after" / name).read_bytes()) == json.loads((tmp_path / "before" / name).read_bytes())
    again = wrap(Fast.from_pretrained(tmp_path / "after"))
    assert again(TEXTS)["input_ids"] == pair[0](TEXTS)["input_ids"]


@pytest.mark.parametrize("through", [copy.deepcopy, lambda tokenizer: pickle.loads(pickle.dumps(tokenizer))], ids=["copy", "pickle"])
def test_copy_of_a_wrapped_tokenizer_is_wrapped(pair, through):
    before, after = pair
    other = through(after)
    assert type(other._tokenizer) is type(after._tokenizer)
    assert other(TEXTS)["input_ids"] == before(TEXTS)["input_ids"]
    other.add_tokens(["zzzz"])
    assert len(after) == len(before)


def test_wrapped_tokenizer_trains_a_new_one(fresh):
    new = fresh[1].train_new_from_iterator(CORPUS, 300, show_progress=False)
    assert new("quick fox")["input_ids"] == fresh[0].train_new_from_iterator(CORPUS, 300, show_progress=False)("quick fox")["input_ids"]


def test_languages_of_a_subclass_can_be_switched():
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *((letter, -5.0) for letter in "▁helowrd,.")]
    pair = [transformers.MBartTokenizer(vocab=pieces, src_lang="en_XX") for _ in range(2)]
    wrap(pair[1])
    for language in ("de_DE", "fr_XX"):
        for tokenizer in pair:
            tokenizer.src_lang = language
        before, _ = same(pair, "hello, world", text_target="hello", return_tensors="np")
        assert before["input_ids"][0, -1] == pair[0].convert_tokens_to_ids(language)


# ---- wrap, unwrap ----


def test_wrap_returns_the_tokenizer_and_does_nothing_the_second_time(fresh):
    backend = fresh[1]._tokenizer
    assert wrap(fresh[1]) is fresh[1]
    assert fresh[1]._tokenizer is backend
    assert isinstance(backend, ctok.compat.tokenizers.Tokenizer)


def test_unwrap_gives_the_reference_back_with_what_has_changed(fresh):
    before, after = fresh
    for tokenizer in fresh:
        tokenizer.add_tokens(["foxes"])
        tokenizer.add_eos_token = True
    assert unwrap(after) is after
    assert type(after._tokenizer) is tokenizers.Tokenizer
    assert after._tokenizer.to_str() == before._tokenizer.to_str()
    assert unwrap(after)._tokenizer.to_str() == before._tokenizer.to_str()
    same(fresh, "two foxes")


def test_wrap_of_what_ctok_cannot_run_raises_and_changes_nothing():
    class Cut:
        def pre_tokenize(self, text):
            text.split(lambda _, part: [part])

    tokenizer = byte_level()
    backend = tokenizer._tokenizer
    backend.pre_tokenizer = tokenizers.pre_tokenizers.PreTokenizer.custom(Cut())
    with pytest.raises(SpecError, match="Custom PreTokenizer"):
        wrap(tokenizer)
    assert tokenizer._tokenizer is backend
    backend.pre_tokenizer = tokenizers.pre_tokenizers.Split(tokenizers.Regex(r"\X"), "isolated")
    with pytest.raises(SpecError, match=r"TokenizersBackend.*\\X is not supported"):
        wrap(tokenizer)
    assert tokenizer._tokenizer is backend


def clip():
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    tokens = ["<|startoftext|>", "<|endoftext|>", *alphabet, *(letter + "</w>" for letter in alphabet), "he", "lo</w>"]
    return transformers.CLIPTokenizer(vocab={token: k for k, token in enumerate(tokens)}, merges=[("h", "e"), ("l", "o</w>")])


def test_method_that_transformers_replaces_is_replaced_again():
    pair = clip(), wrap(clip())
    ids = pair[0]("Hello, world hello").input_ids
    for skip in (False, True):
        before, _ = same(pair, ids, method="decode", skip_special_tokens=skip)
        assert "hello , world" in before
    unwrap(pair[1])
    same(pair, ids, method="decode")


def test_method_that_somebody_else_replaced_is_refused():
    tokenizer = byte_level()
    backend = tokenizer._tokenizer
    backend.encode = lambda text: None
    with pytest.raises(SpecError, match="methods that were replaced in its backend: encode"):
        wrap(tokenizer)
    assert tokenizer._tokenizer is backend


# ---- streamers ----


def test_text_streamer_of_transformers_gives_what_it_gave_before(pair):
    for text in TEXTS:
        given = []
        for tokenizer in pair:
            streamer = transformers.TextIteratorStreamer(tokenizer, skip_prompt=True, skip_special_tokens=True)
            streamer.put(np.array([[1, 2]]))
            put_all(streamer, pair[0](text)["input_ids"])
            given.append(list(streamer))
        assert given[0] == given[1]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="transformers uses asyncio.timeout there")
def test_async_streamer_of_transformers_gives_what_it_gave_before(pair):
    import asyncio

    async def texts(tokenizer):
        streamer = transformers.AsyncTextIteratorStreamer(tokenizer)
        await asyncio.to_thread(put_all, streamer, pair[0](TEXTS[2])["input_ids"])
        return [text async for text in streamer]

    before, after = (asyncio.run(texts(tokenizer)) for tokenizer in pair)
    assert before == after


@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("skip", [False, True])
def test_ctok_streamer_gives_the_text_of_the_ids(pair, step, skip):
    before, after = pair
    for text in TEXTS:
        ids = before(text)["input_ids"]
        streamer = CtokStreamer(after, skip_special_tokens=skip)
        put_all(streamer, ids, step)
        given = list(streamer)
        assert "".join(given) == before.decode(ids, skip_special_tokens=skip, clean_up_tokenization_spaces=False)
        assert all(given)


def test_ctok_streamer_takes_what_generate_puts():
    tokenizer = byte_level()
    ids = tokenizer("quick fox 東京", add_special_tokens=False)["input_ids"]
    streamer = CtokStreamer(tokenizer, skip_prompt=True)
    for _ in range(2):  # it can be used again
        streamer.put(np.array([ids[:3]]))
        streamer.put(ids[0])
        streamer.put(np.array(ids[1]))
        streamer.put([10**6, *ids[2:], 10**7])
        streamer.end()
        assert "".join(streamer) == "quick fox 東京"
    with pytest.raises(ValueError, match="batch of 2"):
        streamer.put(np.array([[1], [2]]))


def test_k3_22_ctok_streamer_gives_added_tokens_as_they_are_written(fresh):
    before, after = fresh
    for tokenizer in fresh:
        tokenizer.add_tokens(["il\u00d6veyou"])
    ids = before("fox il\u00d6veyou \u6771", add_special_tokens=False)["input_ids"]
    assert after.decode(ids) == before.decode(ids) == "fox il\ufffdveyou \u6771"  # as the library does
    streamer = CtokStreamer(after)
    put_all(streamer, ids)
    assert "".join(streamer) == "fox il\u00d6veyou \u6771"


def test_k11_11_a_live_tokenizer_is_adopted_wrapped_or_not(pair):
    for tokenizer in pair:
        tok = adopt(tokenizer)
        for text in TEXTS:
            assert tok.encode(text, allowed_special="all") == tokenizer(text)["input_ids"]
