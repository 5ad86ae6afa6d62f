"""`ctok.compat.tokenizers` against the reference on tokenizers of all kinds and random texts, from many threads, and on real files."""

import json
import lzma
import random
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ctok.compat.tokenizers as ours
from tokenizers_pair import as_reference, fields, is_error, outcome, quiet, theirs

BYTES = [*range(33, 127), *range(161, 173), *range(174, 256)]
ALPHABET = [chr(byte) for byte in BYTES] + [chr(256 + n) for n in range(256 - len(BYTES))]


def bpe(tokens, merges, **options):
    vocab = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    fields = {
        "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False,
        "byte_fallback": False, "ignore_merges": False,
    }  # fmt: skip
    return {"type": "BPE", **fields, **options, "vocab": vocab, "merges": merges}


def added(*tokens):
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return [{"id": number, "content": text, **{flag: flag in on for flag in flags}} for number, text, on in tokens]


MERGES = [["h", "e"], ["l", "l"], ["he", "ll"], ["\u0120", "w"], ["\u0120w", "o"], ["\u00c3", "\u00a9"]]
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "[C]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [
        {"SpecialToken": {"id": "[C]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "[C]", "type_id": 1}}, {"Sequence": {"id": "B", "type_id": 1}},
        {"SpecialToken": {"id": "[C]", "type_id": 1}},
    ],
    "special_tokens": {"[C]": {"id": "[C]", "ids": [1], "tokens": ["[C]"]}},
}  # fmt: skip
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
METASPACE = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
PIECES = [
    ["<unk>", 0.0], ["\u2581", -3.0], ["\u2581he", -4.0], ["llo", -4.5], ["l", -5.0], ["o", -5.0], ["h", -6.0], ["e", -6.0], ["w", -6.5],
]  # fmt: skip
WORDS = {"[UNK]": 0, "[C]": 1, "he": 2, "##ll": 3, "##o": 4, "h": 5, "w": 6, "##e": 7, "e": 8, "hello": 9, ".": 10}

DOCUMENTS = {
    "bytes": {
        "model": bpe([*ALPHABET, *("".join(pair) for pair in MERGES)], MERGES),
        "pre_tokenizer": BYTE_LEVEL, "post_processor": BYTE_LEVEL, "decoder": BYTE_LEVEL,
        "added_tokens": added((262, "<s>", {"special"}), (256, "he", {"single_word", "normalized"}), (263, "<m>", {"special", "lstrip"})),
    },
    "words": {
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 9, "vocab": WORDS,
        },
        "normalizer": {
            "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": TEMPLATE,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "added_tokens": added((0, "[UNK]", {"special"}), (1, "[C]", {"special"}), (11, "<M>", {"lstrip", "rstrip", "normalized"})),
    },
    "unigram": {
        "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": False, "vocab": PIECES},
        "normalizer": {"type": "NFKC"}, "pre_tokenizer": METASPACE, "decoder": METASPACE,
        "post_processor": {
            "type": "RobertaProcessing", "sep": ["o", 5], "cls": ["l", 4], "trim_offsets": True, "add_prefix_space": False,
        },
        "added_tokens": added((0, "<unk>", {"special"}), (9, "<s>", {"special", "rstrip"})),
    },
    "fallback": {
        "model": bpe(
            ["<unk>", *(f"<0x{n:02X}>" for n in range(256)), "\u2581", "h", "e", "he", "l", "o", "ll"], [["h", "e"], ["l", "l"]],
            byte_fallback=True, fuse_unk=True, unk_token="<unk>",
        ),
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "\u2581"}, {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]},
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "added_tokens": added((0, "<unk>", {"special"}), (264, "<s>", {"special"})),
    },
    "level": {
        "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": WORDS},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "WhitespaceSplit"}, {"type": "Punctuation", "behavior": "Isolated"}, {"type": "Digits", "individual_digits": True}]},
        "post_processor": {"type": "BertProcessing", "sep": [".", 10], "cls": ["[C]", 1]},
        "truncation": {"direction": "Left", "max_length": 12, "strategy": "LongestFirst", "stride": 1},
        "padding": {
            "strategy": {"Fixed": 8}, "direction": "Left", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 2, "pad_token": "[UNK]",
        },
    },
}  # fmt: skip
EMPTY = {
    "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "pre_tokenizer": None,
    "post_processor": None, "decoder": None,
}  # fmt: skip
PAIRS = {name: as_reference(json.dumps(EMPTY | document)) for name, document in DOCUMENTS.items()}

PARTS = [
    "he", "hello", "llo", "l", "o", "w", " ", "  ", " wo", "\n", ".", "<s>", "<m>", "<M>", "[C]", "[UNK]", "\u00e9", "e\u0301",
    "\u4e2d", "7", "\U0001f44d\U0001f3fd", "\u0130", "\ufb01",
]  # fmt: skip
texts = st.lists(st.sampled_from(PARTS), max_size=10).map("".join) | st.text(max_size=8)
truncations = st.none() | st.fixed_dictionaries({
    "max_length": st.integers(0, 10), "stride": st.integers(0, 2),
    "strategy": st.sampled_from(["longest_first", "only_first", "only_second"]), "direction": st.sampled_from(["left", "right"]),
})  # fmt: skip
flags = st.sampled_from(["single_word", "lstrip", "rstrip", "special"])
paddings = st.none() | st.fixed_dictionaries({
    "length": st.none() | st.integers(0, 12), "pad_to_multiple_of": st.none() | st.integers(0, 5), "pad_id": st.integers(0, 9),
    "pad_type_id": st.integers(0, 3), "pad_token": st.just("P"), "direction": st.sampled_from(["left", "right"]),
})  # fmt: skip


def limit(pair, truncation, padding):
    """Set the limits of both, or of neither where the reference refuses or would panic."""
    for tok in pair:
        tok.no_truncation()
        tok.no_padding()
        if padding is not None:
            tok.enable_padding(**padding)
    if truncation is not None and not is_error(outcome(lambda: pair[0].enable_truncation(**truncation))):
        pair[1].enable_truncation(**truncation)


def assert_same(pair, run, *, texts=True):
    with quiet():
        mine, reference = outcome(run, pair[0]), outcome(run, pair[1])
    if is_error(reference):
        assert is_error(mine)
        if reference.kind != "PanicException":
            assert isinstance(mine.error, reference.error.__class__)
            assert mine.text == reference.text or not texts
    else:
        assert not is_error(mine), mine
        assert mine == reference


@pytest.mark.parametrize("name", PAIRS)
@given(text=texts, pair=st.none() | texts, add=st.booleans(), truncation=truncations, padding=paddings)
def test_encodings_are_those_of_the_reference(name, text, pair, add, truncation, padding):
    limit(PAIRS[name], truncation, padding)
    assert_same(PAIRS[name], lambda tok: tok.encode(text, pair, add_special_tokens=add))


@pytest.mark.parametrize("name", PAIRS)
@settings(max_examples=30)
@given(
    batch=st.lists(texts | st.tuples(texts, texts), max_size=4),
    add=st.booleans(),
    truncation=truncations,
    padding=paddings,
    fast=st.booleans(),
)
def test_batches_are_those_of_the_reference(name, batch, add, truncation, padding, fast):
    limit(PAIRS[name], truncation, padding)
    method = "encode_batch_fast" if fast else "encode_batch"
    # Of several errors in a batch it is not certain which one the reference raises.
    assert_same(PAIRS[name], lambda tok: getattr(tok, method)(batch, add_special_tokens=add), texts=False)


@pytest.mark.parametrize("name", PAIRS)
@settings(max_examples=30)
@given(words=st.lists(texts, max_size=4), pair=st.none() | st.lists(texts, max_size=3), truncation=truncations)
def test_encodings_of_words_are_those_of_the_reference(name, words, pair, truncation):
    limit(PAIRS[name], truncation, None)
    assert_same(PAIRS[name], lambda tok: tok.encode(words, pair, is_pretokenized=True))


@pytest.mark.parametrize("name", PAIRS)
@given(ids=st.lists(st.integers(0, 270), max_size=12), skip=st.booleans())
def test_texts_of_ids_are_those_of_the_reference(name, ids, skip):
    assert_same(PAIRS[name], lambda tok: [tok.decode(ids, skip), tok.decode_batch([ids, ids[:3]], skip)])


@pytest.mark.parametrize("name", PAIRS)
@settings(max_examples=30)
@given(ids=st.lists(st.integers(0, 270), max_size=12), skip=st.booleans(), n=st.integers(0, 3))
def test_streams_of_ids_are_those_of_the_reference(name, ids, skip, n):
    def run(tok):
        library = ours if isinstance(tok, ours.Tokenizer) else theirs
        stream = library.decoders.DecodeStream(ids[:n], skip)
        return [outcome(stream.step, tok, number) for number in ids[n:]]

    mine, reference = map(run, PAIRS[name])
    assert [one.text if is_error(one) else one for one in mine] == [one.text if is_error(one) else one for one in reference]


@pytest.mark.parametrize("name", PAIRS)
def test_documents_and_tables_are_those_of_the_reference(name):
    mine, reference = as_reference(json.dumps(EMPTY | DOCUMENTS[name]))
    assert mine.to_str() == reference.to_str()
    assert mine.to_str(True) == reference.to_str(True)
    assert repr(mine) == repr(reference)
    assert mine.get_vocab() == reference.get_vocab()
    assert (mine.truncation, mine.padding) == (reference.truncation, reference.padding)
    assert [mine.id_to_token(n) for n in range(300)] == [reference.id_to_token(n) for n in range(300)]


@pytest.mark.parametrize("name", PAIRS)
@settings(max_examples=20)
@given(
    # Not "<m>": of two tokens that the normalizer makes equal the reference takes either.
    tokens=st.lists(st.tuples(st.sampled_from([part for part in PARTS if part != "<m>"]), st.sets(flags)), max_size=4),
    text=texts,
)
def test_tokens_added_later_are_those_of_the_reference(name, tokens, text):
    def run(tok):
        library = ours if isinstance(tok, ours.Tokenizer) else theirs
        new = library.Tokenizer.from_str(json.dumps(EMPTY | DOCUMENTS[name]))
        n = new.add_tokens([library.AddedToken(content, **dict.fromkeys(on, True)) for content, on in tokens])
        return [n, new.get_vocab_size(), new.encode(text), repr(new.get_added_tokens_decoder())]

    assert_same(PAIRS[name], run)


def test_k6_15_added_tokens_get_the_ids_that_the_reference_gives():
    document = EMPTY | {"model": bpe(["a", "b"], []), "added_tokens": added((50, "<x>", {"special"}), (60, "<y>", set()))}
    mine, reference = as_reference(json.dumps(document))
    assert mine.encode("a<x><y>").ids == reference.encode("a<x><y>").ids == [0, 2, 3]


# ---- threads ----

def test_threads_share_a_tokenizer_that_changes():
    mine, reference = as_reference(json.dumps(EMPTY | DOCUMENTS["bytes"]))
    texts = [random.Random(n).choices(PARTS, k=12) for n in range(40)]
    expected = {"".join(text): fields(reference.encode("".join(text))) for text in texts}
    wrong = []

    def work(seed):
        for text in random.Random(seed).sample(list(expected), 20):
            encoding = mine.encode(text)
            if fields(encoding) != expected[text] or mine.decode(encoding.ids) != reference.decode(encoding.ids):
                wrong.append(text)

    def change():
        for _ in range(20):
            mine.post_processor = mine.post_processor
            mine.pre_tokenizer.add_prefix_space = True

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)] + [threading.Thread(target=change)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads_that_share_an_encoding_see_the_same():
    tok, _ = as_reference(json.dumps(EMPTY | DOCUMENTS["words"]))
    encoding = tok.encode("hello he llo " * 30)
    found = []
    threads = [threading.Thread(target=lambda: found.append(encoding.offsets)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one == found[0] for one in found)


# ---- collected cases ----

REFUSED = {"load_dup_ids.json"}  # by ctok, when they are loaded


def test_collected_cases_give_what_the_reference_gives(shared):
    """All cases on small tokenizers; where a case says that the reference is wrong, this face is wrong likewise."""
    n = 0
    for line in (shared / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        kind, _, name = str(case.get("tokenizer", "")).partition(":")
        if kind != "fixture" or not name.endswith(".json") or case["id"] == "K10-01":
            continue
        with quiet():
            path = str(shared / "cases" / "fixtures" / name)
            pair = outcome(ours.Tokenizer.from_file, path), outcome(theirs.Tokenizer.from_file, path)
        if is_error(pair[0]) or is_error(pair[1]):
            assert is_error(pair[0]), case["id"]
            assert is_error(pair[1]) or name in REFUSED, case["id"]
        else:
            pair = ours.Tokenizer.from_file(path), theirs.Tokenizer.from_file(path)
            assert_same(pair, lambda tok, case=case: run_case(tok, case))
            n += 1
    assert n > 40


def run_case(tok, case):
    options, given = case.get("options") or {}, case["input"]
    if "trunc" in options:
        tok.enable_truncation(**options["trunc"])
    if "pad" in options:
        tok.enable_padding(**options["pad"])
    if case["api"] == "decode":
        return tok.decode(given)
    if case["api"] == "encode_pretokenized":
        return tok.encode(given, is_pretokenized=True)
    if isinstance(given, list):
        return tok.encode_batch(given) if "pad" in options else tok.encode(*given)
    encoding = tok.encode(given)
    return [encoding, tok.decode(encoding.ids), tok.decode(encoding.ids, False)]


# ---- real files ----

FILES = ["albert", "arabic_sp_32k", "bert_minilm", "claude", "nepali_sentencepiece", "nepali_wordpiece", "t5", "mistral_v01"]


@pytest.mark.parametrize("name", FILES)
def test_real_files_give_what_the_reference_gives(name, shared):
    data = lzma.decompress((shared / "conformance" / "vocabs" / f"hf_{name}.json.xz").read_bytes()).decode()
    pair = as_reference(data)
    assert pair[0].to_str() == pair[1].to_str()
    assert pair[0].get_vocab() == pair[1].get_vocab()
    rng = random.Random(name)
    parts = [*PARTS, "world", "don't", "123", "\u092e\u0938\u094d\u0924\u0947", "[MASK]", "</s>", "<pad>", "<|endoftext|>", "\u2581", "\t"]
    for k in range(40):
        limits = {"max_length": rng.randrange(4, 12), "direction": rng.choice(["left", "right"])} if k % 3 == 1 else None
        filling = {"length": rng.choice([None, 9]), "direction": rng.choice(["left", "right"])} if k % 4 == 1 else None
        limit(pair, limits, filling)
        text, second = ("".join(rng.choices(parts, k=rng.randrange(12))) for _ in range(2))
        assert_same(pair, lambda tok, text=text, second=second: [tok.encode(text), tok.encode(text, second)])
        ids = rng.choices(range(pair[0].get_vocab_size() + 3), k=8)
        assert_same(pair, lambda tok, ids=ids: [tok.decode(ids), tok.decode(ids, False)])
