"""Vocabularies of words and of characters, against the reference libraries."""

import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctok
from ctok import formats
from ctok._reference import train_words as twin
from ctok.errors import TrainingError
from ctok.stagespecs.pretokenizers import WhitespaceSplit
from ctok.train import CharTrainer, Counts, WordLevelTrainer

tokenizers = pytest.importorskip("tokenizers")
BLANK = "\u2581"
TEXTS = st.lists(st.text(st.sampled_from("ab \u00e9\n"), max_size=12), min_size=1, max_size=8)


def vocabulary(spec):
    return {text.decode(): number for text, number in spec.model.tokens}


def live_words(texts, **options):
    live = tokenizers.Tokenizer(tokenizers.models.WordLevel(unk_token="<unk>"))
    live.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    live.train_from_iterator(texts, tokenizers.trainers.WordLevelTrainer(show_progress=False, **options))
    return live


@given(TEXTS, st.integers(2, 9), st.integers(0, 3))
def test_words_equal_those_of_tokenizers(texts, vocab_size, min_frequency):
    trainer = WordLevelTrainer(vocab_size, min_frequency=min_frequency, pre_tokenizer=WhitespaceSplit())
    if not "".join(texts).split():
        with pytest.raises(TrainingError):
            trainer.train(texts)
        return
    live = live_words(texts, vocab_size=vocab_size, min_frequency=min_frequency, special_tokens=["<unk>"])
    assert vocabulary(trainer.train(texts)) == live.get_vocab()


COUNTS = st.dictionaries(st.text(st.sampled_from("aab\u00e9\u4e2d"), min_size=1, max_size=4), st.integers(1, 9), min_size=1, max_size=12)


@given(COUNTS, st.integers(2, 14), st.integers(0, 4))
def test_words_equal_the_twin(counts, vocab_size, min_frequency):
    found = vocabulary(WordLevelTrainer(vocab_size, min_frequency=min_frequency, special_tokens=["<unk>", "a"]).train(counts))
    want = twin.words(counts, vocab_size, ["<unk>", "a"], min_frequency)
    assert sorted(found, key=found.__getitem__) == want


@given(COUNTS, st.sampled_from([1.0, 0.9, 0.6]), st.sampled_from(["", "z", "bz"]))
def test_characters_equal_the_twin(counts, coverage, required):
    found = vocabulary(CharTrainer(character_coverage=coverage, initial_alphabet=required).train(counts))
    assert sorted(found, key=found.__getitem__) == ["<unk>", *twin.characters(counts, coverage, required)]


def test_repeated_special_tokens_and_words_have_one_id():
    spec = WordLevelTrainer(4, special_tokens=["[U]", "a", "[U]"], unk_token="[U]").train(["b a b c a d", "z a"])
    assert vocabulary(spec) == {"[U]": 0, "a": 1, "b": 2, "c": 3}


@pytest.mark.parametrize("trainer", [WordLevelTrainer(6), CharTrainer(), CharTrainer(5)], ids=["words", "characters", "some"])
def test_trained_tokenizer_is_the_same_in_the_reference(tmp_path, trainer):
    spec = trainer.train(["low lower low", "newest, widest; \u00e9"])
    formats.dump(spec, tmp_path / "tokenizer.json")
    live = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    tok = ctok.Tokenizer.from_spec(spec)
    for text in ("low newest low", "widest, slow", "\U0001f600 \u00e9"):
        assert tok.encode(text) == live.encode(text).ids
        assert tok.decode(tok.encode(text)) == live.decode(live.encode(text).ids, skip_special_tokens=False)


def sentencepiece_of(lines, kind, **options):
    spm = pytest.importorskip("sentencepiece")
    made = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=made, model_type=kind, normalization_rule_name="identity", minloglevel=3, **options
    )
    live = spm.SentencePieceProcessor(model_proto=made.getvalue())
    return [(live.id_to_piece(i), live.get_score(i)) for i in range(live.get_piece_size())]


def pieces_of(spec):
    texts = {number: text.decode() for text, number in spec.model.tokens}
    return [(texts[i], score) for i, score in enumerate(memoryview(bytes(spec.model.scores)).cast("f"))]


def counted(lines):
    words = " ".join(lines).split()
    return Counts.from_mapping({BLANK + word: words.count(word) for word in words})


LINES = ["low lower low lowest", "newest widest low", "the newest \u4e16 of the low"] * 3


def test_words_equal_those_of_sentencepiece():
    counts = counted(LINES)
    theirs = sentencepiece_of(LINES, "word", vocab_size=9)
    ours = pieces_of(WordLevelTrainer(9, style="sentencepiece").train_counts(counts))
    assert [text for text, _ in ours] == [text for text, _ in theirs]
    assert [score for _, score in ours] == pytest.approx([score for _, score in theirs], abs=1e-6)


def test_characters_equal_those_of_sentencepiece():
    counts = counted(LINES)
    theirs = sentencepiece_of(LINES, "char", vocab_size=14, character_coverage=1.0)
    ours = pieces_of(CharTrainer(14, style="sentencepiece", character_coverage=1.0).train_counts(counts))
    assert [text for text, _ in ours] == [text for text, _ in theirs]
    assert [score for _, score in ours] == pytest.approx([score for _, score in theirs], abs=1e-6)


def test_coverage_and_required_characters():
    spec = CharTrainer(character_coverage=0.9, required_chars="z").train(["a" * 50 + "b" * 10 + "c"])
    assert vocabulary(spec) == {"<unk>": 0, "a": 1, "b": 2, "z": 3}
    spec = CharTrainer(style="sentencepiece", required_chars="z").train_counts(Counts.from_mapping({"ab": 2}))
    assert math.isfinite(pieces_of(spec)[-1][1])


def test_options_that_are_not_there_are_refused():
    with pytest.raises(TypeError, match="no option"):
        WordLevelTrainer(5, size=3)
    with pytest.raises(ValueError, match="style"):
        CharTrainer(5, style="x")
    with pytest.raises(ValueError, match="special_tokens"):
        CharTrainer(5, style="sentencepiece", special_tokens=["a"])
    with pytest.raises(ValueError, match="control_symbols"):
        WordLevelTrainer(5, control_symbols=["a"])
