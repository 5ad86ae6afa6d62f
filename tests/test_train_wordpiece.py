"""The WordPiece trainer: both algorithms against the plain twin, the one by frequency against the reference, and the collected cases."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ctok
from alloc_walk import needs_failing, walk
from ctok import formats
from ctok._native import cells, growing, joining, likely
from ctok._reference import train_wordpiece as twin
from ctok.errors import TrainingError
from ctok.stages.models import build_model
from ctok.stagespecs.pretokenizers import WhitespaceSplit
from ctok.stagespecs.spelling import spell
from ctok.train import WordPieceTrainer

tokenizers = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.filterwarnings("ignore:this corpus gives")
RNG = random.Random(9)
WORDS = st.dictionaries(st.text(st.sampled_from("abc\u00e9"), min_size=1, max_size=7), st.integers(1, 30), min_size=1, max_size=10)
TEXTS = ["the low lower lowest of the new newer newest", "wide wider widest widely; low and new", "tokenizers tokenize t\u00f4kens"] * 3


def learned(spec):
    return [text.decode() for text, _ in sorted(spec.model.tokens, key=lambda item: item[1])]


def trainer(vocab_size, **options):
    return WordPieceTrainer(vocab_size, **({"special_tokens": ["[UNK]"], "pre_tokenizer": WhitespaceSplit()} | options))


@settings(max_examples=40)
@given(WORDS, st.sampled_from(["frequency", "likelihood"]), st.integers(0, 3))
def test_tokens_equal_the_twin(words, algorithm, min_frequency):
    spec = trainer(40, algorithm=algorithm, min_frequency=min_frequency).train(words)
    want = ["[UNK]", *twin.alphabet(words), *twin.merges(words, algorithm, min_frequency)]
    assert learned(spec) == want[:40]


@settings(max_examples=60)
@given(st.data(), st.sampled_from([1, 3, 2**20, 2**52]), st.integers(0, 2))
def test_likelihoods_that_hardly_differ_are_told_apart(data, base, min_frequency):
    words = data.draw(st.dictionaries(st.text("abcd", min_size=2, max_size=9), st.integers(base, base + 2), min_size=2, max_size=25))
    spec = trainer(70, algorithm="likelihood", min_frequency=min_frequency).train(words)
    want = ["[UNK]", *twin.alphabet(words), *twin.merges(words, "likelihood", min_frequency)]
    assert learned(spec) == want[:70]


def test_quotients_are_told_apart_that_are_equal_as_floating_point_numbers():
    """1 / (n + 1) and 1 / (n + 2), but for what a double holds."""
    n = 2**58
    words = {"ab": n, "cd": n + 1, "ef": n + 2}
    assert n / (n * n) == (n + 1) / (n + 1) ** 2
    assert learned(trainer(14, algorithm="likelihood").train(words))[-3:] == ["ab", "cd", "ef"]
    words = {"ab": n + 2, "cd": n + 1, "ef": n}
    assert learned(trainer(14, algorithm="likelihood").train(words))[-3:] == ["ef", "cd", "ab"]


@pytest.mark.parametrize("algorithm", ["frequency", "likelihood"])
def test_a_resumed_training_gives_what_an_uninterrupted_one_gives(tmp_path, algorithm):
    ready = trainer(110, algorithm=algorithm, min_frequency=1)
    whole = ready.train(TEXTS, checkpoint=tmp_path)
    kept = json.loads((tmp_path / "merges.json").read_text())
    assert len(kept["merges"]) > 30
    for n in (0, 1, 17, 30):
        (tmp_path / "merges.json").write_text(json.dumps(kept | {"merges": kept["merges"][:n]}))
        assert ready.train([], checkpoint=tmp_path) == whole


def live_vocabulary(texts, **options):
    live = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    live.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    options = {"special_tokens": ["[UNK]"]} | options
    live.train_from_iterator(texts, tokenizers.trainers.WordPieceTrainer(show_progress=False, **options))
    return live.get_vocab()


def size_without_ties(words):
    """How large a vocabulary can be until two pairs are equally frequent, which the reference decides by chance."""
    rivals = []
    learned = [token for token, others in zip(twin.merges(words, "frequency", rivals=rivals), rivals, strict=False) if not any(rivals)]
    return 1 + len(twin.alphabet(words)) + len(learned)


@pytest.mark.parametrize("letters", ["abcde", "\u0430\u0431\u0432\u0433", "\u4e00\u4e01\u4e02\u4e03", "\u0e01\u0e02\u0e34\u0e48", "ab'1"])
def test_tokens_equal_the_reference_as_long_as_chance_has_no_part(letters):
    merged = 0
    for _ in range(12):
        words = {"".join(RNG.choices(letters, k=RNG.randint(1, 5))): RNG.randint(1, 300) for _ in range(40)}
        size = size_without_ties(words)
        text = " ".join(word for word, count in words.items() for _ in range(count))
        spec = trainer(size, lowercase=False, clean_text=False, handle_chinese_chars=False).train([text])
        assert set(learned(spec)) == set(live_vocabulary([text], vocab_size=size))
        n = 1 + len(twin.alphabet(words))
        live = live_vocabulary([text], vocab_size=size)
        assert learned(spec)[n:] == sorted(live, key=live.get)[n:]
        merged += size - n
    assert merged > 60


@pytest.mark.parametrize("algorithm", ["frequency", "likelihood"])
def test_trained_tokenizer_is_the_same_in_the_reference(tmp_path, algorithm):
    spec = WordPieceTrainer(90, algorithm=algorithm, min_frequency=2).train(TEXTS)
    formats.dump(spec, tmp_path / "tokenizer.json")
    live = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    tok = ctok.Tokenizer.from_spec(spec)
    for text in [*TEXTS[:3], "The T\u00f6kens are WIDE, newest; \U0001f600", ""]:
        assert tok.encode(text) == live.encode(text).ids
        assert tok.decode(tok.encode(text)) == live.decode(live.encode(text).ids, skip_special_tokens=False)
    formats.dump(spec, tmp_path / "vocab.txt")
    assert (tmp_path / "vocab.txt").read_text(encoding="utf-8").splitlines() == learned(spec)


def test_likelihood_prefers_parts_that_belong_together():
    """The course's example: "##g" and "##s" stand nowhere apart as often as "##u" and "##g" do."""
    words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    likely = learned(trainer(13, algorithm="likelihood").train(words))
    assert likely == ["[UNK]", "b", "g", "h", "n", "p", "s", "u", "##g", "##n", "##s", "##u", "##gs"]
    assert learned(trainer(13).train(words))[-1] == "##ug"


def test_k7_15_runs_threads_and_orders_give_one_vocabulary():
    texts = ["Wel come to the \U0001f917 Tok en izers libr ary.", *TEXTS]
    specs = [WordPieceTrainer(60).train(RNG.sample(texts, len(texts)), num_threads=1 + n % 4) for n in range(6)]
    assert all(spec == specs[0] for spec in specs)


def test_k7_32_no_unknown_word_where_the_alphabet_was_asked_for():
    letters = [spell(bytes([byte])) for byte in range(256)]
    spec = trainer(700, initial_alphabet=letters).train(TEXTS)
    model = build_model(spec.model)
    unk = dict(spec.model.tokens)[b"[UNK]"]
    assert unk not in model.encode(spell("\u0739\u0741".encode()).encode())


def test_sizes_that_cannot_be_had():
    for algorithm in ("frequency", "likelihood"):
        with pytest.warns(UserWarning, match="below"):
            assert len(learned(trainer(5, algorithm=algorithm).train(TEXTS))) > 5
    with pytest.warns(UserWarning, match="gives"):
        trainer(5000).train(TEXTS)
    with pytest.raises(TrainingError):
        trainer(50).train([])


@needs_failing(likely)
def test_likelihood_that_finds_no_memory_works_later():
    words = {"".join(random.Random(i).choices("abcdefgh", k=9)): 1 + i % 5 for i in range(400)}
    ready = trainer(1500, algorithm="likelihood")
    walk((cells, growing, joining, likely), lambda _: ready.train(words), least=20)


def test_options_are_checked():
    with pytest.raises(ValueError, match="algorithm"):
        WordPieceTrainer(algorithm="x")
    with pytest.raises(TypeError, match="no option"):
        WordPieceTrainer(size=5)
    with pytest.raises(ValueError, match="unk_token"):
        WordPieceTrainer(unk_token=None)
    assert learned(WordPieceTrainer(40, wordpieces_prefix="@@").train({"abab": 9}))[-1].startswith("ab")
