"""The byte-pair trainer: the kernel against its plain twin, merges one by one against the tools whose ties it has, the worked examples of
the literature, the collected cases, and files in the hands of the libraries they are for."""

import json
import os
import random
from array import array
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ctok
from alloc_walk import needs_failing, walk
from core import GPT2, O200K
from ctok import formats, train
from ctok._native import cells, growing, joining, learn
from ctok._native.cells import Cells
from ctok._native.learn import Learner
from ctok._reference import train_bpe as twin
from ctok.stagespecs import pretokenizers
from ctok.stagespecs.spelling import spell
from ctok.train import BpeTrainer, Counts
from ctok.train.bpe import TIES

ROOT = Path(__file__).resolve().parent.parent
TEXTS = {
    "english": "\n".join(p.read_text(encoding="utf-8") for p in sorted(ROOT.glob("docs/*.md")))[:60_000],
    "code": "\n".join(p.read_text(encoding="utf-8") for p in sorted(ROOT.glob("ctok/stages/*.py")))[:60_000],
    "greek": "ο γρηγορος αλεπου πηδα πανω απο τον σκυλο και τρεχει στο δασος με τα δεντρα " * 9 + "ΑΒΓ αβγ, αβγδ! " * 5,
    "chinese": "我们 的语言模型的分词器是从语料库中学习的 我们的 语料 库 很 大 的 分词 器 很快 " * 9,
    "hindi": "हम भाषा के मॉडल को पाठ से सिखाते हैं और पाठ के टुकड़े गिनते हैं भाषा भाषाएँ " * 9,
    "arabic": "نحن نتعلم الكلمات من النص ونعد الأزواج في كل كلمة من الكلمات النص النصوص " * 9,
    "repeats": "aaaa aaa aa a aaaaaaaa abababab bababa abab aab baa " * 7 + "xyxyxyx\n" * 3,
}


FOLDER = Path(os.environ.get("CTOK_SHARED") or ROOT.parent / "shared") / "conformance" / "texts"
if FOLDER.is_dir():
    NAMES = ("en", "code", "lang_ru", "lang_ja", "lang_ar", "lang_th", "lang_ko", "lang_hi")
    TEXTS |= {name: (FOLDER / f"{name}.txt").read_text(encoding="utf-8") for name in NAMES}


def texts(spec):
    """The merges of a spec as pairs of texts."""
    names = {number: token.decode() for token, number in spec.model.tokens}
    ids = memoryview(bytes(spec.model.merges)).cast("I")
    return [(names[left], names[right]) for left, right in zip(ids[::2], ids[1::2])]


def vocab(spec):
    return [token.decode() for token, _ in sorted(spec.model.tokens, key=lambda item: item[1])]


def quietly(trainer, corpus, **options):
    with pytest.warns(UserWarning, match="this corpus gives"):
        return trainer.train(corpus, **options)


# ---- the kernel and its twin ----

LETTERS = "abc"
BYTES = [bytes([byte]) for byte in range(256)]
WORDS = st.dictionaries(st.text(LETTERS, min_size=1, max_size=12), st.integers(1, 5), min_size=1, max_size=8)


def learned(words, tie, n_merges, min_count=1, ids=None):
    counts = Counts.from_mapping(words)
    order = None
    if tie == "first-seen":
        firsts = memoryview(counts.firsts).cast("Q")
        order = array("I", sorted(range(len(counts)), key=firsts.__getitem__))
    laid = Cells(counts.data, counts.ends, counts.counts, list(range(256)), order)
    _, skips_known, kernel_tie = TIES[tie]
    learner = Learner(BYTES, bytes(256), b"", 1 << 30, True, laid, False, skips_known, kernel_tie)
    learner.count_pairs()
    while learner.n_merges < n_merges and not learner.is_done:
        learner.run(1 << 20, min_count, 1)
    return learner, [(learner.token(left), learner.token(right)) for left, right, _, _ in learner.merges()]


@pytest.mark.parametrize("tie", TIES)
@settings(max_examples=150, deadline=None)
@given(words=WORDS, min_count=st.integers(1, 4))
def test_learner_gives_the_merges_of_its_twin(tie, words, min_count):
    symbols = [([bytes([byte]) for byte in word.encode()], count) for word, count in words.items()]
    ids = {bytes([byte]): byte for byte in range(256)}
    want = twin.learn(symbols, 30, tie, min_count, ids)
    assert learned(words, tie, 30, min_count)[1] == want


@pytest.mark.parametrize("tie", TIES)
def test_learner_gives_the_merges_of_its_twin_on_a_long_word(tie):
    rng = random.Random(5)
    word = "".join(rng.choices(["a", "b", "ab", "aab", "ccc"], k=400)) + "a" * 300
    want = twin.learn([([bytes([byte]) for byte in word.encode()], 1)], 80, tie, 1, {bytes([byte]): byte for byte in range(256)})
    learner, merges = learned({word: 1}, tie, 80)
    assert merges == want
    assert learner.n_tokens > 256


@settings(max_examples=60, deadline=None)
@given(words=WORDS)
def test_learner_that_repeats_merges_stands_where_the_other_stood(words):
    first, _ = learned(words, "huggingface", 6)
    counts = Counts.from_mapping(words)
    laid = Cells(counts.data, counts.ends, counts.counts, list(range(256)))
    second = Learner(BYTES, bytes(256), b"", 1 << 30, True, laid, False, False, "numbers")
    second.count_pairs()
    for left, right, number, _ in first.merges():
        assert second.replay(left, right) == number
    for learner in (first, second):
        learner.run(1 << 20, 1, 50)
    assert first.merges() == second.merges()


# ---- the tools ----


def hf_bpe(lines, split, vocab_size, **options):
    tokenizers = pytest.importorskip("tokenizers")
    tok = tokenizers.Tokenizer(tokenizers.models.BPE())
    tok.pre_tokenizer = split(tokenizers)
    tok.train_from_iterator(lines, tokenizers.trainers.BpeTrainer(vocab_size=vocab_size, show_progress=False, **options))
    return tok, json.loads(tok.to_str())["model"]


# Its older spelling: what follows a possessive {1,3}+ is read otherwise by the reference's engine.
CL100K = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


@pytest.mark.parametrize("pattern", [GPT2, CL100K, O200K], ids=["gpt2", "cl100k", "o200k"])
@pytest.mark.parametrize("name", TEXTS)
def test_byte_level_merges_are_those_of_tokenizers(name, pattern, tmp_path):
    lines = [TEXTS[name][i : i + 3000] for i in range(0, len(TEXTS[name]), 3000)]

    def split(tokenizers):
        pre = tokenizers.pre_tokenizers
        cut = pre.Split(tokenizers.Regex(pattern), "isolated")
        return pre.Sequence([cut, pre.ByteLevel(add_prefix_space=False, use_regex=False)])

    options = {"special_tokens": ["<|endoftext|>", "<pad>"], "min_frequency": 2}
    alphabet = {"initial_alphabet": [spell(bytes([b])) for b in range(256)]}
    tok, want = hf_bpe(lines, split, 900, **options, **alphabet)
    trainer = BpeTrainer(900, split=pattern, **options)
    spec = trainer.train(lines) if len(want["vocab"]) == 900 else quietly(trainer, lines)
    assert texts(spec) == [tuple(pair) for pair in want["merges"]]
    assert {token.decode(): number for token, number in spec.model.tokens} == want["vocab"]
    formats.dump(spec, tmp_path / "tokenizer.json")
    theirs = type(tok).from_file(str(tmp_path / "tokenizer.json"))
    ours = ctok.Tokenizer.from_spec(spec)
    for text in (*lines[:3], "Zażółć <pad> 12345 \U0001f600 don't\n\n"):
        assert ours.encode(text) == theirs.encode(text, add_special_tokens=False).ids or "<pad>" in text
        assert ours.encode(text, allowed_special="all") == theirs.encode(text).ids == tok.encode(text).ids
        assert ours.decode(ours.encode(text)) == text


@pytest.mark.parametrize("name", TEXTS)
def test_character_merges_with_a_suffix_are_those_of_tokenizers(name):
    """The reference numbers suffixed characters in the order of a hash table, so the numbers of its run are given to the kernel."""
    lines = TEXTS[name].split("\n")
    _, want = hf_bpe(lines, lambda t: t.pre_tokenizers.WhitespaceSplit(), 700, end_of_word_suffix="</w>")
    n_first = len(want["vocab"]) - len({"".join(pair) for pair in want["merges"]})
    first = sorted(want["vocab"], key=want["vocab"].get)[:n_first]
    numbers = {text: number for number, text in enumerate(first)}
    counts = train.count_pretokens(lines, pretokenizers.WhitespaceSplit())
    plain = {ord(text): number for text, number in numbers.items() if len(text) == 1}
    last = {ord(text[0]): number for text, number in numbers.items() if text[1:] == "</w>"}
    laid = Cells(counts.data, counts.ends, counts.counts, [plain, plain, last, last])
    learner = Learner([text.encode() for text in first], bytes(n_first), b"", 1 << 30, True, laid, *TIES["huggingface"])
    learner.count_pairs()
    learner.run(len(want["vocab"]), 1, 10_000)
    merges = [(learner.token(left).decode(), learner.token(right).decode()) for left, right, _, _ in learner.merges()]
    assert merges[: len(want["merges"])] == [tuple(pair) for pair in want["merges"]]


@pytest.mark.parametrize("name", TEXTS)
def test_character_merges_are_those_of_tokenizers(name, tmp_path):
    lines = TEXTS[name].split("\n")
    for make, record in (
        (lambda t: t.pre_tokenizers.WhitespaceSplit(), pretokenizers.WhitespaceSplit()),
        (lambda t: t.pre_tokenizers.Metaspace(), pretokenizers.Metaspace()),
    ):
        tok, want = hf_bpe(lines, make, 700, special_tokens=["<unk>"])
        trainer = BpeTrainer(700, form="characters", pre_tokenizer=record, special_tokens=["<unk>"])
        spec = trainer.train(lines) if len(want["vocab"]) == 700 else quietly(trainer, lines)
        assert texts(spec) == [tuple(pair) for pair in want["merges"]]
        assert {token.decode(): number for token, number in spec.model.tokens} == want["vocab"]
        formats.dump(spec, tmp_path / "tokenizer.json")
        theirs = type(tok).from_file(str(tmp_path / "tokenizer.json"))
        for text in lines[:40]:
            assert ctok.Tokenizer.from_spec(spec).encode(text) == theirs.encode(text).ids


@pytest.mark.parametrize("name", TEXTS)
def test_ranks_are_those_of_rustbpe_and_a_rank_file_serves_tiktoken(name, tmp_path):
    rustbpe = pytest.importorskip("rustbpe")
    tiktoken = pytest.importorskip("tiktoken")
    lines = [TEXTS[name][i : i + 3000] for i in range(0, len(TEXTS[name]), 3000)]
    theirs = rustbpe.Tokenizer()
    theirs.train_from_iterator(iter(lines), 700, pattern=GPT2)
    want = [token for token, _ in sorted(((bytes(token), rank) for token, rank in theirs.get_mergeable_ranks()), key=lambda item: item[1])]
    trainer = BpeTrainer(701, form="bytes", split="gpt2", special_tokens=["<|end|>"])
    spec = trainer.train(lines) if len(want) == 700 else quietly(trainer, lines)
    ours = [token for token, _ in sorted(spec.model.tokens, key=lambda item: item[1])]
    assert ours == want
    formats.dump(spec, tmp_path / "own.tiktoken")
    from tiktoken.load import load_tiktoken_bpe

    ranks = load_tiktoken_bpe(str(tmp_path / "own.tiktoken"))
    encoding = tiktoken.Encoding("own", pat_str=GPT2, mergeable_ranks=ranks, special_tokens={"<|end|>": len(want)})
    tok = ctok.Tokenizer.from_spec(spec)
    for text in (*lines[:2], "Zażółć \U0001f600 don't\n\n"):
        assert tok.encode(text) == encoding.encode_ordinary(text)
    assert tok.encode("<|end|>", allowed_special="all") == [len(want)]
    assert ctok.load(str(tmp_path / "own.tiktoken"), pattern=GPT2).encode(lines[0]) == tok.encode(lines[0])


@pytest.mark.parametrize("name", TEXTS)
def test_first_seen_is_the_definition_of_the_teaching_texts(name):
    """As minbpe (no pattern, one text) and tiktoken's educational code (a pattern) define it, on a piece of each text."""
    text = TEXTS[name][:2500]
    spec = BpeTrainer(256 + 60, form="bytes", split=None, ties="first-seen").train([text]) if name != "repeats" else None
    if spec is not None:
        want = twin.learn([([bytes([b]) for b in text.encode()], 1)], 60)
        assert [a + b for a, b in want] == [token for token, _ in sorted(spec.model.tokens, key=lambda item: item[1])][256:]
    counts = train.count_pretokens([text], ctok.Split(GPT2), order=True)
    firsts = memoryview(counts.firsts).cast("Q")
    words = [([bytes([b]) for b in word], count) for _, (word, count) in sorted(zip(firsts, counts))]
    want = twin.learn(words, 40)
    spec = BpeTrainer(256 + len({a + b for a, b in want}), form="bytes", ties="first-seen").train([text])
    assert [token for token, _ in sorted(spec.model.tokens, key=lambda item: item[1])][256:] == list(dict.fromkeys(a + b for a, b in want))


@pytest.mark.parametrize("name", TEXTS)
def test_subword_nmt_merges_are_those_of_the_tool(name):
    learn_bpe = pytest.importorskip("subword_nmt.learn_bpe")
    import io

    text = TEXTS[name]
    out = io.StringIO()
    learn_bpe.learn_bpe(io.StringIO(text), out, 300, min_frequency=2)
    want = [tuple(line.split(" ")) for line in out.getvalue().splitlines()[1:]]
    words = Counter(word for line in text.split("\n") for word in line.strip("\r\n ").split(" ") if word)
    trainer = BpeTrainer(100_000, form="characters", ties="subword-nmt", end_of_word_suffix="</w>", min_frequency=2)
    spec = quietly(trainer, words)
    assert texts(spec)[: len(want)] == want


@pytest.mark.parametrize("name", TEXTS)
def test_sentencepiece_merges_are_those_of_the_tool(name, tmp_path):
    spm = pytest.importorskip("sentencepiece")
    import io

    lines = [" ".join(line.split()) for line in TEXTS[name].split("\n")]
    lines = [line for line in lines if line and "\u2581" not in line]
    n_chars = len(set("".join(lines)) | {"\u2581"})
    size = n_chars + 3 + (300 if name not in ("greek", "chinese", "hindi", "arabic", "repeats") else 20)
    model = io.BytesIO()
    options = {"character_coverage": 1.0, "max_sentencepiece_length": 12}
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, model_type="bpe", vocab_size=size, normalization_rule_name="identity",
        minloglevel=2, max_sentence_length=1 << 20, **options,
    )  # fmt: skip
    theirs = spm.SentencePieceProcessor(model_proto=model.getvalue())
    words = Counter(f"\u2581{word}" for line in lines for word in line.split(" "))
    spec = BpeTrainer(size, form="sentencepiece", normalization_rule_name="identity", **options).train(words)
    want = [theirs.id_to_piece(i) for i in range(len(theirs))]
    assert vocab(spec) == want
    formats.dump(spec, tmp_path / "own.model")
    again = spm.SentencePieceProcessor(model_file=str(tmp_path / "own.model"))
    for line in lines[:50]:
        assert again.encode(line) == theirs.encode(line)


@pytest.mark.filterwarnings("ignore:this corpus gives")
@pytest.mark.parametrize("name", ["english", "greek", "lang_ru", "hindi", "lang_ja"])
def test_sentencepiece_form_from_lines_encodes_as_the_tool_does(name, tmp_path):
    spm = pytest.importorskip("sentencepiece")
    lines = TEXTS[name if name in TEXTS else "greek"].split("\n")[:200]
    trainer = BpeTrainer(500, form="sentencepiece", character_coverage=1.0, exact_size=False)
    try:
        spec = trainer.train(lines)
    except ctok.SpecError as error:
        pytest.skip(f"the normalizer cannot be run: {error}")
    formats.dump(spec, tmp_path / "own.model")
    theirs = spm.SentencePieceProcessor(model_file=str(tmp_path / "own.model"))
    tok = ctok.Tokenizer.from_spec(spec)
    for line in lines:
        assert tok.encode(line) == theirs.encode(line)


# ---- the worked examples of the literature ----


def test_example_low_lower_lowest():
    text = "low lower lowest newest widest low lower low"
    spec = BpeTrainer(262, form="bytes", split=None, ties="first-seen").train([text])
    tok = ctok.Tokenizer.from_spec(spec)
    assert tok.encode("lower widest") == [257, 101, 114, 32, 119, 105, 100, 101, 260]


def test_example_happily_happiness_unhappy():
    trainer = BpeTrainer(100, form="characters", ties="first-seen", min_frequency=3)
    spec = quietly(trainer, {"happily": 1, "happiness": 1, "unhappy": 1})
    assert vocab(spec)[-3:] == ["ha", "hap", "happ"]


def test_example_of_wikipedia():
    spec = BpeTrainer(259, form="bytes", split=None, ties="first-seen").train(["aaabdaaabac"])
    assert [token for token, number in sorted(spec.model.tokens, key=lambda item: item[1]) if number > 255] == [b"aa", b"aaa", b"aaab"]
    assert ctok.Tokenizer.from_spec(spec).encode("aaabdaaabac") == [258, 100, 258, 97, 99]


# ---- collected cases ----

WORDS_OF_A_MODEL = {"\u2581ab": 2, "\u2581cd": 1}


def characters(corpus, size=100, **options):
    trainer = BpeTrainer(size, form="characters", **options)
    return trainer.train(corpus)


@pytest.mark.filterwarnings("ignore:this corpus gives", "ignore:vocab_size")
@pytest.mark.parametrize(("corpus", "options", "tokens", "merges"), [
    pytest.param(["ef cd ab ef cd ab"], {}, "a b c d e f ab cd ef", "a+b c+d e+f", id="k7_01"),
    pytest.param(["aaabdaaabac"], {"size": 7}, "a b c d aa ab aaab", "a+a a+b aa+ab", id="k7_03"),
    pytest.param(["abcdefgh"], {"size": 3}, "a b c d e f g h", "", id="k7_05"),
    pytest.param(["hello world"], {"max_token_length": 1}, "d e h l o r w", "", id="k7_06"),
    pytest.param(["aa bb"], {"special_tokens": ["a", "<s>", "a"]}, "a <s> b aa bb", "a+a b+b", id="k7_09"),
    pytest.param(["<s>aa <s>aa"], {"special_tokens": ["<s>"]}, "<s> < > a s <s >a <s>a <s>aa", "<+s >+a <s+>a <s>a+a", id="k7_10"),
    pytest.param(["ab ab cd"], {"min_frequency": 2}, "a b c d ab", "a+b", id="k7_11"),
    pytest.param(["", "", " ", "a  b", ""], {}, "a b", "", id="k7_12"),
    pytest.param(["ab ab b b"], {"end_of_word_suffix": "</w>"}, "a b b</w> ab</w>", "a+b</w>", id="k7_14"),
    pytest.param(["hel\0lo"], {"size": 6}, "\0 e h l o \0l", "\0+l", id="k7_26"),
])  # fmt: skip
def test_collected_cases(corpus, options, tokens, merges):
    spec = characters(corpus, **options)
    assert vocab(spec) == tokens.split(" ")
    assert texts(spec) == [tuple(pair.split("+")) for pair in merges.split()]


def test_k7_05_a_size_below_the_alphabet_is_told():
    with pytest.warns(UserWarning, match="vocab_size 3 is below the 8"):
        characters(["abcdefgh"], 3)
    with pytest.raises(ctok.TrainingError, match="below the 8") as caught:
        characters(["abcdefgh"], 3, exact_size=True)
    assert caught.value.smallest == 8


def test_k7_22_a_size_that_cannot_be_reached_is_told():
    with pytest.raises(ctok.TrainingError, match="this corpus gives 12 tokens") as caught:
        BpeTrainer(5000, form="sentencepiece").train(WORDS_OF_A_MODEL)
    assert caught.value.largest == 12
    with pytest.warns(UserWarning, match="this corpus gives 12 tokens"):
        BpeTrainer(5000, form="sentencepiece", exact_size=False).train(WORDS_OF_A_MODEL)


def test_k7_23_a_model_below_its_characters_is_an_error_with_the_smallest_size():
    with pytest.raises(ctok.TrainingError) as caught:
        BpeTrainer(5, form="sentencepiece").train(WORDS_OF_A_MODEL)
    assert caught.value.smallest == 8


def test_k7_24_long_lines_are_not_dropped():
    spec = BpeTrainer(3 + 3 + 2, form="sentencepiece").train({"\u2581zq" * 5000: 1})
    assert "\u2581zq" in vocab(spec)


def test_k7_36_character_coverage():
    corpus = {"\u2581aaaa": 30, "\u2581bbbb": 30, "\u2581cccc": 30, "\u2581世": 1}
    spec = BpeTrainer(30, form="sentencepiece", character_coverage=0.98, exact_size=False, ties="sentencepiece")
    with pytest.warns(UserWarning):
        assert "世" not in vocab(spec.train(corpus))
    with pytest.warns(UserWarning):
        assert "世" in vocab(BpeTrainer(60, form="sentencepiece", character_coverage=1.0, exact_size=False).train(corpus))


def test_an_empty_corpus_is_an_error():
    for corpus in ([], [""], {}):
        for form in ("byte-level", "bytes", "characters"):
            with pytest.raises(ctok.TrainingError, match="no text"):
                BpeTrainer(300, form=form).train(corpus)


def test_k7_17_the_result_does_not_depend_on_hash_seeds(run_python):
    program = (
        "import ctok; from ctok import train; import hashlib; s = train.BpeTrainer(60, form='characters', limit_alphabet=20, "
        "end_of_word_suffix='</w>').train(['the quick brown fox jumps over the lazy dog ' * 3 + 'lorem ipsum dolor']); "
        "print(hashlib.sha256(repr((list(s.model.tokens), bytes(s.model.merges))).encode()).hexdigest())"
    )
    assert len({run_python(program, PYTHONHASHSEED=seed) for seed in ("1", "2", "3")}) == 1


def test_k7_18_weighted_counts_beyond_32_bits():
    spec = characters({"the": 1 << 40, "he": (1 << 40) - 1, "xy": 5}, 7)
    assert texts(spec)[:2] == [("h", "e"), ("t", "he")]


def test_k7_33_the_split_pattern_is_the_same_before_and_after_saving(tmp_path):
    spec = BpeTrainer(260, split=r"\d{1,2}|\D+").train(["123456 123456 abc " * 10])
    formats.dump(spec, tmp_path / "tokenizer.json")
    again = ctok.load(tmp_path / "tokenizer.json")
    assert again.encode("123456") == ctok.Tokenizer.from_spec(spec).encode("123456")
    assert len(again.encode("123456")) == 3


def test_k7_34_merges_left_out_at_random_follow_the_seed():
    texts = ["low lower lowest newest widest"] * 9
    spec = train.BpeTrainer(28, form="sentencepiece", character_coverage=1.0).train(texts)
    tok = ctok.Tokenizer.from_spec(spec)
    text = "lowest newest lower"
    drawn = [tok.sample(text, alpha=0.3, seed=seed) for seed in range(40)]
    assert drawn == [tok.sample(text, alpha=0.3, seed=seed) for seed in range(40)]
    assert len({tuple(ids) for ids in drawn}) > 3
    assert all(tok.decode(ids) == text and tok.spec.model.unk_id not in ids for ids in drawn)
    assert tok.sample(text, alpha=0.0, seed=1) == tok.encode(text)
    merges = train.BpeTrainer(24, form="characters", unk_token="<unk>").train(texts)
    plain = ctok.Tokenizer.from_spec(merges)
    dropped = ctok.Tokenizer.from_spec(merges.replace(model=merges.model.replace(dropout=0.5)))
    for ids in (dropped.encode(text) for _ in range(20)):
        assert 0 not in ids and dropped.decode(ids).replace(" ", "") == text.replace(" ", "")
    assert ctok.Tokenizer.from_spec(merges.replace(model=merges.model.replace(dropout=0.0))).encode(text) == plain.encode(text)


def test_k11_18_rules_keep_scripts_and_digits_apart():
    corpus = ["abвгд12 abвгд12 12345 ab12"] * 5
    spec = quietly(BpeTrainer(100, form="characters", split_by_unicode_script=True, split_by_number=True), corpus)
    assert {"ab", "вгд", "12345"} <= set(vocab(spec))
    assert not [token for token in vocab(spec) if {"a", "в"} <= set(token) or {"b", "1"} <= set(token)]
    spec = quietly(BpeTrainer(100, form="characters", split_digits=True), corpus)
    assert not [token for token in vocab(spec) if len(token) > 1 and set(token) & set("12345")]


def test_k11_10_ranks_with_a_pattern_of_ones_own_serve_tiktoken(tmp_path):
    tiktoken = pytest.importorskip("tiktoken")
    pattern = r" ?[a-z]+|\d{1,2}|."
    corpus = ["low lower lowest newest widest low lower low 1234 1256"] * 3
    spec = quietly(BpeTrainer(400, form="bytes", split=pattern, min_frequency=4, special_tokens=["<|end|>"]), corpus)
    ids = dict(spec.model.tokens)
    assert {b" lower", b"12"} <= set(ids) and not {b" newest", b" widest"} & set(ids)  # no pair of theirs stands there four times
    formats.dump(spec, tmp_path / "own.tiktoken")
    from tiktoken.load import load_tiktoken_bpe

    ranks = load_tiktoken_bpe(str(tmp_path / "own.tiktoken"))
    special = {token.content: token.id for token in spec.added_tokens}
    encoding = tiktoken.Encoding("own", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
    text = "lower newest 12345<|end|> Zoë"
    assert ctok.Tokenizer.from_spec(spec).encode(text, allowed_special="all") == encoding.encode(text, allowed_special="all")


def test_limit_alphabet_keeps_the_most_frequent_characters():
    spec = quietly(BpeTrainer(50, form="characters", limit_alphabet=3, initial_alphabet="z"), ["aaa aab abbbc"])
    assert [token for token in vocab(spec) if len(token) == 1] == ["a", "b", "z"]


def test_vocab_json_and_merges_txt_hold_the_same(tmp_path):
    spec = BpeTrainer(400, special_tokens=["<|endoftext|>"]).train([TEXTS["english"]])
    formats.dump(spec, tmp_path / "vocab.json")
    again = ctok.load(tmp_path)
    assert again.encode(TEXTS["english"]) == ctok.Tokenizer.from_spec(spec).encode(TEXTS["english"])


@pytest.mark.parametrize(("options", "error"), [
    ({"form": "nope"}, "form must be one of"),
    ({"ties": "nope"}, "ties must be one of"),
    ({"vocab_size": 0}, "vocab_size must be at least 1"),
    ({"end_of_word_suffix": "</w>"}, 'does not belong to form="byte-level"'),
    ({"form": "bytes", "limit_alphabet": 5}, "limit_alphabet does not belong"),
    ({"form": "sentencepiece", "special_tokens": ["a"]}, "use control_symbols"),
    ({"byte_fallback": True}, "byte_fallback does not belong"),
    ({"split": 5}, "split must be a pattern"),
    ({"special_tokens": "abc"}, "not one str"),
    ({"merges": 5}, "no option 'merges'"),
])  # fmt: skip
def test_options_that_cannot_be_are_refused(options, error):
    with pytest.raises((ValueError, TypeError), match=error):
        BpeTrainer(**options)


# ---- memory that cannot be had ----


@needs_failing(learn)
@pytest.mark.parametrize("ties", TIES)
def test_training_that_finds_no_memory_works_later(ties):
    words = {"".join(random.Random(i).choices("abcd", k=9)) + "a" * (i % 90): 1 + i % 5 for i in range(300)}
    trainer = BpeTrainer(420, form="bytes", ties=ties)
    walk((cells, growing, joining, learn), lambda _: trainer.train(words), least=20)
