"""Training through the face of tokenizers: signatures, results and errors beside the reference."""

import pickle
import random

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:vocab_size .* is below", "ignore:this corpus gives")
tokenizers = pytest.importorskip("tokenizers")

import ctok.compat.tokenizers as ours  # noqa: E402
from ctok import CtokError  # noqa: E402
from ctok.errors import TrainingError  # noqa: E402

NAMES = ("BpeTrainer", "WordPieceTrainer", "UnigramTrainer", "WordLevelTrainer")
ENGLISH = ["the cat sat on the mat, and the other cat sat on the hat", "low lower lowest newest widest 123 4567", "don't stop! it's here"]
CORPORA = {
    "english": ENGLISH * 3,
    "greek": ["η γάτα κάθισε στο χαλί και η άλλη γάτα στο καπέλο", "χαλί, καπέλο, χαλιά"] * 2,
    "chinese": ["今天天气很好 我们去公园 今天我们去学校", "公园很好 学校也很好"] * 2,
    "hindi": ["बिल्ली चटाई पर बैठी और दूसरी बिल्ली टोपी पर बैठी"] * 2,
    "mixed": ["naïve café 🤗🤗 déjà-vu  tabs\tand\nlines", "", " ", "x" * 40, "def f(x): return x*x"],
}
OPTIONS = [
    {"vocab_size": 60},
    {"vocab_size": 120, "special_tokens": ["<s>", "the"], "min_frequency": 2},
    {"vocab_size": 90, "initial_alphabet": ["z", "ωx", "Q"]},
    {"vocab_size": 150, "max_token_length": 4},
    {"vocab_size": 150, "max_token_length": 1},
    {"vocab_size": 2},
]
STAGES = {
    "whole": lambda lib: (None, None),
    "white": lambda lib: (lib.normalizers.NFKC(), lib.pre_tokenizers.WhitespaceSplit()),
    "bytes": lambda lib: (None, lib.pre_tokenizers.ByteLevel(add_prefix_space=False)),
    "bytes inside": lambda lib: (
        lib.normalizers.Lowercase(),
        lib.pre_tokenizers.Sequence([lib.pre_tokenizers.ByteLevel(), lib.pre_tokenizers.Punctuation()]),
    ),
    "meta": lambda lib: (None, lib.pre_tokenizers.Metaspace()),
}


def trained(lib, model, trainer, stages, texts):
    tok = lib.Tokenizer(model)
    normalizer, pre_tokenizer = STAGES[stages](lib)
    if normalizer is not None:
        tok.normalizer = normalizer
    if pre_tokenizer is not None:
        tok.pre_tokenizer = pre_tokenizer
    tok.train_from_iterator(texts, trainer)
    return tok


@pytest.mark.parametrize("stages", STAGES)
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: ",".join(options))
def test_merges_are_those_of_the_reference(options, stages):
    for texts in CORPORA.values():
        live, tok = (
            trained(
                lib,
                lib.models.BPE(unk_token="<s>", fuse_unk=True, dropout=None),
                lib.trainers.BpeTrainer(show_progress=False, **options),
                stages,
                texts,
            )
            for lib in (tokenizers, ours)
        )
        assert tok.to_str() == live.to_str()
        for text in texts:
            assert tok.encode(text).ids == live.encode(text).ids


@pytest.mark.parametrize("stages", ["white", "bytes", "meta"])
def test_a_limit_keeps_the_characters_that_the_reference_keeps(stages):
    texts = ["abcdefgh"[: 8 - i] * 3 + " " for i in range(7)] * 2
    options = {"vocab_size": 40, "limit_alphabet": 5, "show_progress": False}
    live, tok = (trained(lib, lib.models.BPE(), lib.trainers.BpeTrainer(**options), stages, texts) for lib in (tokenizers, ours))
    assert tok.to_str() == live.to_str()


@pytest.mark.parametrize("option", [{"end_of_word_suffix": "</w>"}, {"continuing_subword_prefix": "##"}])
def test_forms_of_characters_give_the_tokens_of_the_reference(option):
    texts = ["low lower lowest newest widest"] * 3 + ["low low new"]
    options = {"vocab_size": 60, "show_progress": False} | option
    live, tok = (trained(lib, lib.models.BPE(), lib.trainers.BpeTrainer(**options), "white", texts) for lib in (tokenizers, ours))
    assert {*tok.get_vocab()} == {*live.get_vocab()}


@pytest.mark.parametrize("stages", STAGES)
@pytest.mark.parametrize("special", [["[UNK]"], ["[UNK]", "<s>"], []])
def test_whole_words_are_those_of_the_reference(stages, special):
    for texts in CORPORA.values():
        live, tok = (
            trained(
                lib,
                lib.models.WordLevel(unk_token="[UNK]"),
                lib.trainers.WordLevelTrainer(vocab_size=20, special_tokens=special, min_frequency=1, show_progress=False),
                stages,
                texts,
            )
            for lib in (tokenizers, ours)
        )
        assert tok.to_str() == live.to_str()


def test_wordpieces_are_those_of_the_reference_where_chance_has_no_part():
    texts = ["ab ab ab abc abc abcd abcd abcd abcd bcd"] * 2
    options = {"vocab_size": 30, "special_tokens": ["[UNK]"], "show_progress": False}
    live, tok = (
        trained(lib, lib.models.WordPiece(unk_token="[UNK]"), lib.trainers.WordPieceTrainer(**options), "white", texts)
        for lib in (tokenizers, ours)
    )
    assert {*tok.get_vocab()} == {*live.get_vocab()}
    assert tok.model.continuing_subword_prefix == "##" and tok.token_to_id("[UNK]") == 0
    for text in texts:
        assert tok.encode(text).tokens == live.encode(text).tokens


def test_unigram_takes_no_more_tokens_than_the_reference():
    from tests.test_train_unigram import HELD_OUT, TRAINING

    options = {"vocab_size": 700, "special_tokens": ["<unk>"], "unk_token": "<unk>", "show_progress": False}
    live, tok = (
        trained(lib, lib.models.Unigram(), lib.trainers.UnigramTrainer(**options), "meta", TRAINING) for lib in (tokenizers, ours)
    )
    n_live, n_tok = (sum(len(one.encode(line).ids) for line in HELD_OUT) for one in (live, tok))
    assert n_tok <= 1.005 * n_live
    assert tok.get_vocab_size() == 700 and tok.token_to_id("<unk>") == 0
    again = tokenizers.Tokenizer.from_str(tok.to_str())
    assert [again.encode(line).ids for line in HELD_OUT[:50]] == [tok.encode(line).ids for line in HELD_OUT[:50]]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_files_are_read_line_by_line(tmp_path, ending):
    path = tmp_path / "a.txt"
    path.write_bytes(ending.join(ENGLISH).encode())
    both = []
    for lib in (tokenizers, ours):
        tok = lib.Tokenizer(lib.models.BPE())
        tok.train([str(path), str(path)], lib.trainers.BpeTrainer(vocab_size=80, show_progress=False))
        both.append(tok.to_str())
    assert both[0] == both[1]


@pytest.mark.parametrize(("model", "kind"), [*zip(("BPE", "WordPiece", "Unigram", "WordLevel"), NAMES, strict=True)])
def test_a_trainer_is_for_one_kind_of_model_whose_default_it_is(model, kind):
    texts = ["abcd"] * 4
    for lib in (tokenizers, ours):
        for name in NAMES:
            tok = lib.Tokenizer(getattr(lib.models, model)())
            trainer = getattr(lib.trainers, name)(show_progress=False, **({"vocab_size": 8} if name == "UnigramTrainer" else {}))
            if name != kind:
                with pytest.raises(Exception, match=f"^{name} can only train a {name.removesuffix('Trainer').replace('Bpe', 'BPE')}$"):
                    tok.train_from_iterator(texts, trainer)
            else:
                tok.train_from_iterator(texts, trainer)
                assert type(tok.model).__name__ == model
    if model != "Unigram":
        with pytest.warns(UserWarning) if model in ("BPE", "WordPiece") else pytest.MonkeyPatch.context():
            tok.train_from_iterator(texts)
        live = tokenizers.Tokenizer(getattr(tokenizers.models, model)())
        live.train_from_iterator(texts)
        assert {*tok.get_vocab()} == {*live.get_vocab()}


def test_training_changes_the_model_in_place_and_keeps_its_options():
    tok = ours.Tokenizer(ours.models.BPE(unk_token="u", dropout=0.5, fuse_unk=True, end_of_word_suffix="$", ignore_merges=True))
    model = tok.model
    trainer = ours.trainers.BpeTrainer(show_progress=False, vocab_size=7, special_tokens=["<s>", ours.AddedToken("b", lstrip=True)])
    tok.train_from_iterator([["ab ab"], ("abc", "d")], trainer)
    assert model.token_to_id("ab") == 6 and trainer.get_word_count() == 3
    assert (model.unk_token, model.dropout, model.fuse_unk, model.ignore_merges) == ("u", 0.5, True, True)
    assert model.end_of_word_suffix is None
    assert tok.get_added_tokens_decoder()[1].lstrip and tok.encode("a<s>").ids[-1:] == [0]


@pytest.mark.parametrize("name", NAMES)
def test_options_are_those_of_the_reference(name):
    made = [getattr(lib.trainers, name)(special_tokens=["<a>", lib.AddedToken("b", lstrip=True)]) for lib in (tokenizers, ours)]
    for option in dir(made[0]):
        if not option.startswith("_") and option not in ("special_tokens", "get_word_count"):
            assert getattr(made[0], option) == getattr(made[1], option)
    assert [token.content for token in made[1].special_tokens] == ["<a>", "b"] and made[1].special_tokens[1].special
    if name in ("BpeTrainer", "WordLevelTrainer"):
        assert repr(made[1]) == repr(made[0]).replace(", words={}", "").replace("Indicatif", '"indicatif"')
    again = pickle.loads(pickle.dumps(made[1]))
    assert repr(again) == repr(made[1])
    made[1].vocab_size = 12
    assert made[1].vocab_size == 12


@pytest.mark.parametrize(
    "options",
    [
        {"vocab_size": -1}, {"vocab_size": "a"}, {"special_tokens": "a"}, {"special_tokens": [1]}, {"initial_alphabet": "abc"},
        {"initial_alphabet": ["abc", ""]}, {"limit_alphabet": -1}, {"show_progress": 1}, {"progress_format": "x"},
    ],
)  # fmt: skip
def test_options_are_checked_as_the_reference_does(options):
    found = []
    for lib in (tokenizers, ours):
        try:
            trainer = lib.trainers.BpeTrainer(**options)
            found.append([getattr(trainer, name) for name in options])
        except (TypeError, OverflowError) as error:
            found.append((type(error), str(error)))
    assert found[0] == found[1]


def test_what_is_no_trainer_or_no_option_is_told():
    with pytest.raises(TypeError, match="cannot create"):
        ours.trainers.Trainer()
    with pytest.raises(TypeError, match="positional"):
        ours.trainers.BpeTrainer(5)
    with pytest.warns(UserWarning, match="Ignored unknown kwarg option foo"):
        ours.trainers.BpeTrainer(foo=1)
    with pytest.raises(TypeError, match="is not an instance of 'Trainer'"):
        ours.Tokenizer(ours.models.BPE()).train_from_iterator(["a"], 5)


@pytest.mark.parametrize("source", [5, None, [5], [[5]], [["a", 3]]])
def test_what_is_no_text_is_refused_as_by_the_reference(source):
    for lib in (tokenizers, ours):
        with pytest.raises(TypeError):
            lib.Tokenizer(lib.models.BPE()).train_from_iterator(source, lib.trainers.BpeTrainer(show_progress=False))


def test_errors_that_are_not_those_of_the_reference(tmp_path):
    tok, quiet = ours.Tokenizer(ours.models.BPE()), ours.trainers.BpeTrainer(show_progress=False)
    with pytest.raises(TypeError, match=r"write \[text\] for one text"):
        tok.train_from_iterator("ab", quiet)
    with pytest.raises(TrainingError, match="no text"):
        tok.train_from_iterator([], quiet)
    with pytest.raises(CtokError, match=r"no such file \(os error 2\)"):
        tok.train([str(tmp_path / "none")], quiet)
    (tmp_path / "bad.txt").write_bytes(b"ab\nx\xffy\n")
    with pytest.raises(CtokError, match=r"bad.txt: byte 0xFF at offset 4 is not UTF-8"):
        tok.train([str(tmp_path / "bad.txt")], quiet)


def test_random_corpora_give_the_merges_of_the_reference():
    rng = random.Random(7)
    for _ in range(60):
        texts = ["".join(rng.choices("aab é世'1", k=rng.randrange(1, 60))) for _ in range(rng.randrange(1, 6))]
        options = {"vocab_size": rng.randrange(4, 60), "min_frequency": rng.randrange(3)}
        options["max_token_length"] = rng.choice([None, 2, 3, 5, 9])
        stages = rng.choice([*STAGES])
        live, tok = (
            trained(lib, lib.models.BPE(), lib.trainers.BpeTrainer(show_progress=False, **options), stages, texts)
            for lib in (tokenizers, ours)
        )
        assert tok.to_str() == live.to_str(), (options, stages, texts)
