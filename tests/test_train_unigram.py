"""The unigram trainer: kernels against their plain twins, the whole against the reference libraries, and the collected cases."""

import json
import random
from array import array
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ctok
from ctok import formats, train
from ctok._native import expect, seeds, stretches, vocab
from ctok._native.expect import PieceModel
from ctok._native.seeds import find_seeds
from ctok._native.stretches import Rules, Stretches, count_characters
from ctok._reference import train_unigram as twin
from ctok.errors import TrainingError
from ctok.train import Counts, UnigramTrainer
from ctok.train._alphabet import character_classes, covered

CHECKING = vocab.fail_after(0) != -1 or vocab.fail_after(-1) != -1
ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(ROOT.glob("docs/*.md"))
LINES = [line for page in PAGES for line in page.read_text(encoding="utf-8").splitlines() if line]
TRAINING = [line for i, line in enumerate(LINES) if i % 5]
HELD_OUT = LINES[::5]

BLANK = "\u2581"
CHARS = "aab\u00e9\u4e2d" + BLANK
CLASSES = {"a": 5, "b": 5, "\u00e9": 2, "\u4e2d": 6, "\u0301": 3, "1": 4, BLANK: 1}
WORDS = st.dictionaries(st.text(st.sampled_from(CHARS), min_size=1, max_size=8), st.integers(1, 50), min_size=1, max_size=12)
SHARE = 2.0**40


def tables(words):
    """Words as `Counts` have them."""
    order = sorted((word.encode(), count) for word, count in words.items())
    ends = array("I", accumulate(len(word) for word, _ in order))
    return b"".join(word for word, _ in order), ends, array("Q", [count for _, count in order])


def all_join(words):
    """Rules under which every substring of the words is a piece."""
    return Rules(dict.fromkeys("".join(words), 2), 99)


def model_of(words, scores):
    order = sorted((piece.encode(), score) for piece, score in scores.items())
    ends = array("I", accumulate(len(piece) for piece, _ in order))
    found = Stretches(*tables(words), all_join(words))
    return PieceModel(found, b"".join(piece for piece, _ in order), ends, array("d", [score for _, score in order]), SHARE)


def as_texts(model):
    return {piece.decode(): score for piece, score in model}


@st.composite
def words_and_scores(draw):
    words = draw(WORDS)
    substrings = sorted({word[i:j] for word in words for i in range(len(word)) for j in range(i + 1, len(word) + 1)})
    chosen = {char for word in words for char in word} | set(draw(st.lists(st.sampled_from(substrings), max_size=12)))
    scores = st.sampled_from([-1.0, -2.0, -3.0, -4.5]) if draw(st.booleans()) else st.floats(-30, 0)
    return words, {piece: draw(scores) for piece in sorted(chosen)}


# ---- what is a piece ----


@given(st.text(st.sampled_from(sorted(CLASSES)), min_size=1, max_size=5), st.booleans(), st.booleans(), st.booleans())
@example("a\u00e9\u4e2d", False, False, False)  # scripts are compared with the character before, which may go with each of them
def test_rules_equal_the_twin(piece, blanks_cut, blanks_last, only_blanks):
    rules = Rules(CLASSES, 4, blanks_cut, blanks_last, only_blanks)
    assert rules.is_valid(piece.encode()) == twin.is_valid(piece, CLASSES, 4, blanks_cut, blanks_last, only_blanks)


@given(st.text(st.sampled_from([*CLASSES, "x"]), max_size=8), st.booleans(), st.booleans(), st.booleans())
def test_stretches_are_cut_only_where_no_piece_reaches_across(word, blanks_cut, blanks_last, only_blanks):
    rules = Rules(CLASSES, 9, blanks_cut, blanks_last, only_blanks)
    found = [text.decode() for text, _ in Stretches(*tables({word: 3}), rules)]
    pieces = {word[i:j] for i in range(len(word)) for j in range(i + 1, len(word) + 1) if rules.is_valid(word[i:j].encode())}
    assert pieces == {s[i:j] for s in found for i in range(len(s)) for j in range(i + 1, len(s) + 1) if rules.is_valid(s[i:j].encode())}


def test_characters_are_counted_and_the_rarest_left_out():
    counts = count_characters(*tables({"aab": 10, "\u4e16": 1, "": 5}))
    assert counts == {"a": 20, "b": 10, "\u4e16": 1}
    assert covered(counts, 1.0) == ["a", "b", "\u4e16"]
    assert covered(counts, 0.9) == ["a", "b"]
    assert covered(counts, 0.9, ["\u4e16", "z"]) == ["a", "b", "z", "\u4e16"]


def test_words_that_are_not_utf8_are_refused():
    with pytest.raises(ValueError, match="not UTF-8"):
        count_characters(b"ab\xff", array("I", [3]), array("Q", [1]))
    with pytest.raises(ValueError, match="fit together"):
        count_characters(b"ab", array("I", [3]), array("Q", [1]))


def test_scripts_and_digits_have_their_classes():
    options = {"split_by_unicode_script": True, "split_by_number": True, "split_digits": False}
    classes = character_classes("a\u3042\u6f22\u044f1,\u0301" + BLANK + " \0", **options)
    assert classes["\u3042"] == classes["\u6f22"] != classes["a"]
    assert classes["1"] == classes[","] not in (1, 2)
    assert (classes[BLANK], classes["\u0301"]) == (1, 3)
    assert " " not in classes and "\0" not in classes
    assert character_classes("1", **(options | {"split_digits": True})) == {"1": 4}
    assert character_classes("1", **(options | {"split_by_number": False})) == {"1": 2}


# ---- kernels against their twins ----


@given(WORDS, st.integers(1, 60), st.integers(1, 6), st.integers(0, 12))
def test_seeds_equal_the_twin(words, most, longest, size):
    rules = Rules(dict.fromkeys(CHARS, 2), longest)
    data, ends, scores = find_seeds(Stretches(*tables(words), rules), most, size)
    stops = memoryview(ends).cast("I").tolist()
    pieces = [data[begin:end].decode() for begin, end in zip([0, *stops], stops, strict=False)]
    want = twin.seeds(words, lambda piece: len(piece) <= longest, most, size)
    assert pieces == sorted(want, key=str.encode)
    assert memoryview(scores).cast("d").tolist() == pytest.approx([want[piece] for piece in pieces], abs=1e-12)


@given(words_and_scores())
def test_expected_counts_equal_the_twin(case):
    words, scores = case
    model = model_of(words, scores)
    want, gain = twin.expected(words, scores)
    assert model.expected() == pytest.approx([want[piece] for piece in sorted(scores, key=str.encode)], abs=1e-9)
    assert model.gain == pytest.approx(gain, rel=1e-9, abs=1e-9)


@given(words_and_scores())
def test_improved_scores_equal_the_twin(case):
    words, scores = case
    sums, _ = twin.expected(words, scores)
    if any(abs(count - 0.5) < 1e-6 for count in sums.values()):
        return
    model = model_of(words, scores)
    model.improve()
    assert as_texts(model) == pytest.approx(twin.improved(words, scores), abs=1e-8)


@given(words_and_scores(), st.integers(1, 20), st.sampled_from([0, 4.0]))
def test_pruned_pieces_equal_the_twin(case, size, token_cost):
    words, scores = case
    model = model_of(words, scores)
    assert model.counted() == [twin.counted(words, scores)[piece] for piece in sorted(scores, key=str.encode)]
    model.prune(size, 1, token_cost)
    assert as_texts(model) == twin.pruned(words, scores, size, token_cost)


@settings(max_examples=20)
@given(WORDS, st.integers(6, 20))
def test_training_equals_the_twin(words, size):
    rules = all_join(words)
    found = Stretches(*tables(words), rules)
    model = PieceModel(found, *find_seeds(found, 1000), SHARE)
    want = twin.seeds(words, lambda piece: True, 1000)
    for _ in range(3):
        sums, _ = twin.expected(words, want)
        if any(abs(count - 0.5) < 1e-5 for count in sums.values()):
            return  # rounding decides
        model.improve()
        want = twin.improved(words, want)
        assert as_texts(model) == pytest.approx(want, abs=1e-6)
        want = dict(as_texts(model))
        model.prune(size)
        want = twin.pruned(words, want, size)
        assert as_texts(model) == want


@pytest.mark.parametrize("score", [-0.001, -40.0])
def test_sums_of_long_words_stay_in_the_range_of_numbers(score):
    words = {"a" * 20_000: 3, "ab": 1}
    model = model_of(words, {"a": score, "aa": 2 * score, "b": -1.0})
    share = sum(n * count for n, count in zip((1, 2), model.expected()[:2], strict=True))
    assert share == pytest.approx(60_001, rel=1e-9)


@pytest.mark.parametrize("num_threads", [2, 5])
def test_any_number_of_threads_gives_the_same_bits(num_threads):
    words = {BLANK + word: 1 + i % 7 for i, word in enumerate({word for line in LINES for word in line.split()})}
    found = [Stretches(*tables(words), all_join(words)) for _ in range(2)]
    one, other = (PieceModel(part, *find_seeds(part, 5000), SHARE / 2**10) for part in found)
    for threads, model in ((1, one), (num_threads, other)):
        model.improve(threads)
        model.prune(2000, threads)
        model.improve(threads)
    assert one.tables() == other.tables()
    assert one.gain == other.gain


@pytest.mark.skipif(not CHECKING, reason="only builds with CTOK_BUILD=test can make allocations fail")
def test_training_that_finds_no_memory_raises_and_works_later():
    words = {"ab": 3, "abc": 2, "cab": 9}

    def whole():
        found = Stretches(*tables(words), all_join(words))
        model = PieceModel(found, *find_seeds(found, 100), SHARE)
        model.improve(2)
        model.prune(4, 2)
        return model.tables(), count_characters(*tables(words))

    want, failed = whole(), 0
    for module in (expect, seeds, stretches):
        for n in range(200):
            module.fail_after(n)
            try:
                assert whole() == want
            except MemoryError:
                failed += 1
            finally:
                left = module.fail_after(-1)
            if left >= 0:
                break
    assert failed > 20


# ---- the trainer ----


def words_of(lines):
    words = {}
    for line in lines:
        for word in line.split():
            words[BLANK + word] = words.get(BLANK + word, 0) + 1
    return words


def test_trained_tokenizer_is_the_same_in_the_reference(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    special = ["<s>", ctok.AddedToken("</s>", 0), "<unk>"]
    for fallback in (False, True):
        spec = UnigramTrainer(1500, special_tokens=special, byte_fallback=fallback, self_test_size=500).train(TRAINING)
        formats.dump(spec, tmp_path / "tokenizer.json")
        live = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
        tok = ctok.Tokenizer.from_spec(spec)
        assert [live.id_to_token(i) for i in range(4)] == ["<s>", "</s>", "<unk>", "<0x00>" if fallback else live.id_to_token(3)]
        assert live.get_vocab_size() == 1500
        for text in [*HELD_OUT[:200], "weird \U0001f917 \x00 <s> x"]:
            ids = live.encode(text).ids
            assert tok.encode(text, allowed_special="all") == ids
            assert tok.decode(ids) == live.decode(ids, skip_special_tokens=False)


def tokens_of(spec, lines):
    tok = ctok.Tokenizer.from_spec(spec)
    return sum(tok.count(line) for line in lines)


def test_quality_is_that_of_tokenizers_or_better():
    tokenizers = pytest.importorskip("tokenizers")
    live = tokenizers.Tokenizer(tokenizers.models.Unigram())
    live.normalizer = tokenizers.normalizers.NFKC()
    live.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    trainer = tokenizers.trainers.UnigramTrainer(vocab_size=1000, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False)
    live.train_from_iterator(TRAINING, trainer)
    theirs = sum(len(live.encode(line).ids) for line in HELD_OUT)
    assert tokens_of(UnigramTrainer(1000).train(TRAINING), HELD_OUT) <= 1.005 * theirs


def test_quality_is_that_of_sentencepiece_or_better(tmp_path):
    spm = pytest.importorskip("sentencepiece")
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(TRAINING), model_prefix=str(tmp_path / "m"), vocab_size=1000, num_threads=1, minloglevel=3
    )
    live = spm.SentencePieceProcessor(str(tmp_path / "m.model"))
    theirs = sum(map(len, live.encode(HELD_OUT)))
    spec = UnigramTrainer(1000, style="sentencepiece").train_counts(Counts.from_mapping(words_of(TRAINING)))
    kernel = piece_kernel(spec)
    ours = sum(len(kernel.encode((BLANK + word).encode())) for line in HELD_OUT for word in line.split())
    assert ours <= 1.005 * theirs


@pytest.mark.parametrize("times", [2, 5])
def test_a_text_that_stands_there_several_times_gives_a_model_of_the_same_quality(times):
    for size in (400, 900):
        once, often = (tokens_of(UnigramTrainer(size).train(TRAINING * n), HELD_OUT) for n in (1, times))
        assert often <= 1.02 * once


def piece_kernel(spec):
    """The pieces of a .model as the kernel for tokenizer.json's model, which cuts words in the same way."""
    from ctok._native.unigram import Unigram
    from ctok.stagespecs.models import unigram_from_pieces

    texts = {number: text.decode() for text, number in spec.model.tokens}
    scores = memoryview(bytes(spec.model.scores)).cast("f")
    record = unigram_from_pieces([(texts[i], scores[i]) for i in range(len(texts))], unk_id=0)
    return Unigram(record.tokens, record.scores, 0)


def test_pieces_of_a_model_keep_the_rules_of_sentencepiece():
    spec = UnigramTrainer(
        600, style="sentencepiece", split_digits=True, control_symbols=["<c>"], user_defined_symbols=["ctok"], pad_id=3
    ).train_counts(Counts.from_mapping(words_of(TRAINING)))
    texts = {number: text.decode() for text, number in spec.model.tokens}
    assert [texts[i] for i in range(6)] == ["<unk>", "<s>", "</s>", "<pad>", "<c>", "ctok"]
    assert bytes(spec.model.types[:7]) == bytes([2, 3, 3, 3, 3, 4, 1])
    assert (spec.model.unk_id, spec.model.bos_id, spec.model.eos_id, spec.model.pad_id) == (0, 1, 2, 3)
    assert len(texts) == 600
    learned = [texts[i] for i in range(6, 600)]
    assert not [piece for piece in learned if BLANK in piece[1:] or len(piece) > 16 or "ctok" in piece]
    assert not [piece for piece in learned if len(piece) > 1 and any(char in "0123456789" for char in piece)]
    assert not [piece for piece in learned if any(c.isalpha() for c in piece) and any(c in ".,()`" for c in piece)]


@pytest.mark.parametrize("options", [{}, {"byte_fallback": True, "vocab_size": 800, "pad_id": 3}, {"user_defined_symbols": ["ctok"]}])
def test_a_model_file_is_the_same_in_sentencepiece(tmp_path, options):
    spm = pytest.importorskip("sentencepiece")
    spec = UnigramTrainer(style="sentencepiece", **({"vocab_size": 500} | options)).train_counts(Counts.from_mapping(words_of(TRAINING)))
    formats.dump(spec, tmp_path / "m.model")
    live = spm.SentencePieceProcessor(str(tmp_path / "m.model"))
    texts = {number: text.decode() for text, number in spec.model.tokens}
    assert [live.id_to_piece(i) for i in range(live.get_piece_size())] == [texts[i] for i in range(len(texts))]
    assert live.unk_id() == 0 and live.pad_id() == options.get("pad_id", -1)
    try:
        tok = ctok.Tokenizer.from_spec(spec)
    except ctok.SpecError:
        pytest.skip("models of this kind do not run yet")
    for text in [*HELD_OUT[:100], "a  b \U0001f917\u4e16 ctok", ""]:
        assert tok.encode(text) == live.encode(text)
        assert tok.decode(tok.encode(text)) == live.decode(live.encode(text))


def test_names_of_both_libraries_are_understood():
    one = UnigramTrainer(300, n_sub_iterations=1, max_piece_length=5, initial_alphabet="\u4e16", unk_token="[U]", seed_size=900)
    two = UnigramTrainer(
        300, num_sub_iterations=1, max_sentencepiece_length=5, required_chars="\u4e16", unk_piece="[U]", seed_sentencepiece_size=900
    )
    spec = one.train(TRAINING[:300])
    assert spec == two.train(TRAINING[:300])
    assert "\u4e16" in {text.decode() for text, _ in spec.model.tokens}
    with pytest.raises(TypeError, match="twice"):
        UnigramTrainer(required_chars="a", initial_alphabet="b")
    with pytest.raises(TypeError, match="no option 'vocabsize'"):
        UnigramTrainer(vocabsize=5)
    for wrong in ({"shrinking_factor": 1.0}, {"character_coverage": 0}, {"vocab_size": 0}, {"style": "x"}, {"user_defined_symbols": ["a"]}):
        with pytest.raises(ValueError):
            UnigramTrainer(**wrong)
    with pytest.raises(ValueError, match="gap"):
        UnigramTrainer(style="sentencepiece", pad_id=9)


def test_input_order_threads_and_shards_give_the_same_spec():
    trainer = UnigramTrainer(800)
    want = trainer.train(TRAINING, num_threads=1)
    shuffled = random.Random(5).sample(TRAINING, len(TRAINING))
    assert trainer.train(shuffled, num_threads=3) == want
    o = trainer.options
    shards = [train.count_pretokens(part, o.pre_tokenizer, o.normalizer) for part in (TRAINING[::2], TRAINING[1::2])]
    assert trainer.train(shards) == want


def test_counts_are_weights_also_of_the_first_pieces():
    words = {BLANK + "xyz": 1000, BLANK + "abc": 1, BLANK + "abd": 1, BLANK + "abe": 1}
    spec = UnigramTrainer(11, seed_size=10).train(words)
    assert BLANK + "xyz" in {text.decode() for text, _ in spec.model.tokens}


def test_progress_names_stages_and_never_passes_the_total():
    seen = []
    UnigramTrainer(300).train(TRAINING[:200], progress=lambda *report: seen.append(report))
    assert {stage for stage, _, _ in seen} == {"count", "seed", "train"}
    assert all(total is None or done <= total for _, done, total in seen)
    with pytest.raises(ZeroDivisionError):
        UnigramTrainer(300).train(TRAINING[:200], progress=lambda *report: 1 / 0)


def test_a_corpus_of_files_is_that_of_its_lines_in_sentencepieces_style(tmp_path):
    spm = pytest.importorskip("sentencepiece")
    (tmp_path / "corpus.txt").write_text("\n".join(TRAINING), encoding="utf-8")
    plain = UnigramTrainer(700, style="sentencepiece", normalization_rule_name="identity")
    assert plain.train(tmp_path / "corpus.txt") == plain.train_counts(Counts.from_mapping(words_of(TRAINING)))
    spec = UnigramTrainer(700, style="sentencepiece").train(tmp_path / "corpus.txt")
    assert spec.normalizer.name == "nmt_nfkc"
    formats.dump(spec, tmp_path / "m.model")
    assert ctok.Tokenizer.from_spec(spec).encode(HELD_OUT[3]) == spm.SentencePieceProcessor(str(tmp_path / "m.model")).encode(HELD_OUT[3])


def test_an_interrupted_training_goes_on_to_the_same_result(tmp_path):
    def stop(stage, done, total):
        if stage == "train":
            raise KeyboardInterrupt

    trainer = UnigramTrainer(400)
    with pytest.raises(KeyboardInterrupt):
        trainer.train(TRAINING, checkpoint=tmp_path / "kept", progress=stop)
    assert trainer.train([], checkpoint=tmp_path / "kept") == trainer.train(TRAINING)


@pytest.mark.anyio
async def test_training_in_an_event_loop_gives_the_same(anyio_backend):
    trainer = UnigramTrainer(400)
    assert await trainer.train_async(TRAINING[:500]) == trainer.train(TRAINING[:500])


# ---- collected cases ----


def test_k7_16_ten_runs_give_one_model():
    specs = [UnigramTrainer(200).train(TRAINING[:100] * 20, num_threads=1 + i % 4) for i in range(4)]
    assert all(spec == specs[0] for spec in specs)


def test_k7_21_unknown_text_can_be_encoded_after_training():
    tok = ctok.Tokenizer.from_spec(UnigramTrainer(100, special_tokens=["<unk>"]).train(["some plain text"] * 3))
    assert 0 in tok.encode("weird \U0001f917")


def test_k7_22_too_large_a_vocabulary_names_the_largest():
    counts = Counts.from_mapping(words_of(TRAINING[:50]))
    with pytest.raises(TrainingError, match="hard_vocab_limit=False") as caught:
        UnigramTrainer(5000, style="sentencepiece").train_counts(counts)
    largest = caught.value.largest
    assert len(UnigramTrainer(largest, style="sentencepiece").train_counts(counts).model.tokens) == largest
    assert len(UnigramTrainer(5000, style="sentencepiece", hard_vocab_limit=False).train_counts(counts).model.tokens) == largest


def test_k7_23_too_small_a_vocabulary_names_the_smallest():
    counts = Counts.from_mapping(words_of(TRAINING[:50]))
    with pytest.raises(TrainingError, match="character_coverage") as caught:
        UnigramTrainer(10, style="sentencepiece").train_counts(counts)
    smallest = caught.value.smallest
    assert len(UnigramTrainer(smallest, style="sentencepiece").train_counts(counts).model.tokens) == smallest


def test_k7_26_and_27_nul_trains_and_a_lone_surrogate_is_refused():
    assert UnigramTrainer(20).train(["hel\0lo"] * 3)
    assert UnigramTrainer(20).train({BLANK + "hel\0lo": 3})
    with pytest.raises(ctok.CorpusError):
        UnigramTrainer(20).train(["ab \ud800"])


def test_k7_28_29_and_30_what_is_no_corpus_is_refused():
    with pytest.raises(TypeError):
        UnigramTrainer(20).train("abab")
    with pytest.raises(TypeError, match="1"):
        UnigramTrainer(20).train(["ab", None])

    def texts():
        yield "ab"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        UnigramTrainer(20).train(texts())
    with pytest.raises(TrainingError):
        UnigramTrainer(20).train([])


def test_k7_19_what_takes_more_memory_than_it_may_is_refused():
    with pytest.raises(ctok.MemoryLimitError, match="prune rare words") as caught:
        UnigramTrainer(300).train(Counts.from_mapping(words_of(TRAINING)), max_memory=1000)
    assert caught.value.limit == 1000


def test_k7_24_long_lines_are_not_dropped(tmp_path):
    (tmp_path / "long.txt").write_text("zq " * 5000, encoding="utf-8")
    spec = UnigramTrainer(20, style="sentencepiece", hard_vocab_limit=False).train(tmp_path / "long.txt")
    assert BLANK + "zq" in {text.decode() for text, _ in spec.model.tokens}


def test_k7_31_and_35_progress_stays_within_its_total_and_the_page_says_what_is_parallel():
    seen = []
    UnigramTrainer(300).train(TRAINING[:200], progress=lambda *report: seen.append(report))
    assert all(total is None or done <= total for _, done, total in seen)
    assert "sorted on one core; everything else runs on all" in (ROOT / "docs" / "training.md").read_text(encoding="utf-8")


def test_k7_36_coverage_decides_about_the_rare_character():
    words = {BLANK + "aaaa": 40, BLANK + "bbbb": 40, BLANK + "cccc": 40, BLANK + "\u4e16": 1}
    for coverage, known in ((1.0, True), (0.98, False)):
        spec = UnigramTrainer(20, style="sentencepiece", character_coverage=coverage, hard_vocab_limit=False).train(words)
        assert (0 not in piece_kernel(spec).encode((BLANK + "\u4e16").encode())) == known


def test_saved_scores_are_read_back_as_they_are(tmp_path):
    spec = UnigramTrainer(800).train(TRAINING)
    formats.dump(spec, tmp_path / "tokenizer.json")
    assert formats.load(tmp_path / "tokenizer.json").model == spec.model
    written = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    assert [score for _, score in written] == memoryview(bytes(spec.model.scores)).cast("d").tolist()
