"""Training through the face of sentencepiece: options, results and errors beside the reference."""

import io
import random

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:this corpus gives")
theirs = pytest.importorskip("sentencepiece")

import ctok.compat.sentencepiece as ours  # noqa: E402
from ctok import formats  # noqa: E402
from tests.test_train_unigram import HELD_OUT, TRAINING  # noqa: E402

GREEK = [
    "\u03b7 \u03b3\u03ac\u03c4\u03b1 \u03ba\u03ac\u03b8\u03b9\u03c3\u03b5 \u03c3\u03c4\u03bf \u03c7\u03b1\u03bb\u03af",
    "\u03c7\u03b1\u03bb\u03af, \u03c7\u03b1\u03bb\u03b9\u03ac 12 123",
]
JAPANESE = [
    "\u4eca\u65e5\u306f\u3044\u3044\u5929\u6c17\u3067\u3059\u306d",
    "\u5929\u6c17\u304c\u3044\u3044\u304b\u3089\u516c\u5712\u3078\u3044\u304d\u307e\u3057\u3087\u3046",
    "\u30ab\u30bf\u30ab\u30ca\u3068\u6f22\u5b57 2026\u5e74",
]
MIXED = [
    "na\u00efve caf\u00e9 \U0001f917\U0001f917 d\u00e9j\u00e0-vu  tabs\tand\u3000more", "", " ", "\uff21\uff22\uff23 \u2460 \ufb01",
    "x" * 30, "3.14 and 2,718",
]  # fmt: skip
CORPORA = {"english": TRAINING[:300], "greek": GREEK * 3, "japanese": JAPANESE * 3, "mixed": MIXED * 2}
OPTIONS = [
    {},
    {"split_by_number": False, "split_by_unicode_script": False},
    {"split_digits": True, "control_symbols": ["<c>", "<d>"], "user_defined_symbols": "ab,ti", "pad_id": 3},
    {"split_by_whitespace": False, "max_sentencepiece_length": 6},
    {"treat_whitespace_as_suffix": True},
    {"treat_whitespace_as_suffix": True, "split_by_whitespace": False},
    {"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False},
    {"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False, "treat_whitespace_as_suffix": True},
    {"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False, "split_by_whitespace": False},
    {"character_coverage": 0.985, "byte_fallback": True},
    {"required_chars": "\u03b1\u03c9Q", "character_coverage": 0.98},
    {"normalization_rule_name": "nfkc_cf", "add_dummy_prefix": False, "remove_extra_whitespaces": False},
    {"unk_id": 2, "bos_id": -1, "eos_id": 0, "pad_id": 1, "unk_piece": "[U]", "eos_piece": "[E]"},
]


def proto(lib, texts, **options):
    writer = io.BytesIO()
    quiet = {"minloglevel": 3} if lib is theirs else {}
    lib.SentencePieceTrainer.train(sentence_iterator=iter(texts), model_writer=writer, **quiet, **options)
    return writer.getvalue()


def pieces(data):
    live = theirs.SentencePieceProcessor(model_proto=data)
    return [live.id_to_piece(number) for number in range(live.get_piece_size())]


SIZES = {"english": 400, "greek": 40, "japanese": 60, "mixed": 60}


@pytest.mark.parametrize("name", CORPORA)
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: ",".join(options) or "plain")
@pytest.mark.parametrize("kind", ["bpe", "word", "char"])
def test_pieces_and_ids_are_those_of_the_reference(kind, options, name):
    texts = CORPORA[name]
    size = SIZES[name] + (256 if "byte_fallback" in options else 0)
    options = options | {"model_type": kind, "hard_vocab_limit": False, "vocab_size": size}
    if kind == "word":
        options.pop("user_defined_symbols", None)
    live, made = (proto(lib, texts, **options) for lib in (theirs, ours))
    assert pieces(made) == pieces(live)
    reference, tok = theirs.SentencePieceProcessor(model_proto=live), ours.SentencePieceProcessor(model_proto=made)
    for text in [*texts[:20], "zebra \u4e16\u754c"]:
        assert tok.encode(text) == reference.encode(text)
        assert tok.decode(tok.encode(text)) == reference.decode(reference.encode(text))


def test_random_corpora_give_the_pieces_of_the_reference():
    rng = random.Random(5)
    for _ in range(60):
        texts = ["".join(rng.choices("aab\u0431\u4e16 1\u0301", k=rng.randrange(8, 60))) for _ in range(rng.randrange(2, 6))]
        flags = ("split_by_whitespace", "treat_whitespace_as_suffix", "split_by_number", "split_by_unicode_script", "split_digits")
        options = {name: rng.random() < 0.5 for name in (*flags, "allow_whitespace_only_pieces", "remove_extra_whitespaces")}
        options |= {"model_type": "bpe", "vocab_size": 14, "normalization_rule_name": "identity", "character_coverage": 1.0}
        live, made = (pieces(proto(lib, texts, **options, hard_vocab_limit=False)) for lib in (theirs, ours))
        assert made == live, (options, texts)


def tokens(data, lines):
    return sum(map(len, ours.SentencePieceProcessor(model_proto=data).encode(lines)))


@pytest.mark.parametrize("size", [500, 700])
def test_a_unigram_model_takes_no_more_tokens_than_that_of_the_reference(size):
    live, made = (proto(lib, TRAINING, vocab_size=size) for lib in (theirs, ours))
    assert len(pieces(made)) == size
    assert tokens(made, HELD_OUT) <= 1.005 * tokens(live, HELD_OUT)


@pytest.mark.parametrize("option", [
    {"split_by_number": False}, {"split_by_unicode_script": False}, {"split_digits": True}, {"max_sentencepiece_length": 4},
    {"required_chars": "\u03c9"}, {"character_coverage": 0.98}, {"byte_fallback": True}, {"shrinking_factor": 0.5},
    {"num_sub_iterations": 1}, {"treat_whitespace_as_suffix": True}, {"split_by_whitespace": False}, {"seed_sentencepiece_size": 1500},
    {"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False}, {"hard_vocab_limit": False, "vocab_size": 20_000},
    {"normalization_rule_name": "nmt_nfkc_cf"}, {"add_dummy_prefix": False}, {"user_defined_symbols": "the"},
], ids=str)  # fmt: skip
def test_every_option_of_a_unigram_model_has_the_effect_that_it_has_in_the_reference(option):
    texts = [*TRAINING, *["no 2026 4711 in v1x2y3  and   more  blanks", "\u0430\u0431b \u0430\u0431bc \u0430\u0431bcd"] * 9]
    live, plain, made = (
        proto(lib, texts, **{"vocab_size": 900, "character_coverage": 1.0} | given)
        for lib, given in ((theirs, option), (ours, {}), (ours, option))
    )
    assert pieces(made) != pieces(plain)
    facts = [facts_of(pieces(data), option) for data in (live, made)]
    assert facts[0] == facts[1]
    held = [*HELD_OUT, "2026 4711"]
    if "vocab_size" not in option:
        assert tokens(made, held) <= 1.01 * tokens(live, held)


def facts_of(found, option):
    """What the rules decide, whichever pieces are chosen."""
    learned = [piece for piece in found if not piece.startswith("<")]
    digits = [piece for piece in learned if any(char in "0123456789" for char in piece)]
    return {
        "size": None if "hard_vocab_limit" in option else len(found),
        "longest": max(map(len, learned)) if max(map(len, learned)) < 9 else None,
        "characters": sorted(piece for piece in learned if len(piece) == 1),
        "several digits": any(len(piece.strip("\u2581")) > 1 for piece in digits),
        "digits beside letters": any(char.isalpha() for piece in digits for char in piece),
        "two scripts": any(any("a" <= c <= "z" for c in piece) and any("\u0430" <= c <= "\u044f" for c in piece) for piece in learned),
        "blank inside": any("\u2581" in piece.strip("\u2581") for piece in learned),
        "blank last": any(piece[-1] == "\u2581" and piece.strip("\u2581") for piece in learned),
        "several blanks": any(piece[:2] == "\u2581\u2581" for piece in learned),
        "capitals": any(char.isupper() for piece in learned for char in piece),
        "bytes": "<0x41>" in found,
    }


# ---- what goes in and comes out ----


def test_files_in_and_out(tmp_path):
    for name, part in (("a.txt", TRAINING[:200]), ("b,c.txt", TRAINING[200:300])):
        (tmp_path / name).write_text("\n".join(part), encoding="utf-8")
    paths = [str(tmp_path / "a.txt"), str(tmp_path / "b,c.txt")]
    found = []
    for lib in (theirs, ours):
        prefix = tmp_path / lib.__name__
        quiet = {"minloglevel": 3} if lib is theirs else {}
        assert lib.SentencePieceTrainer.Train(input=paths, model_prefix=str(prefix), model_type="bpe", vocab_size=300, **quiet) is None
        model = tmp_path / f"{lib.__name__}.model"
        found.append([(tmp_path / f"{lib.__name__}.vocab").read_text(encoding="utf-8"), pieces(model.read_bytes())])
        flags = f"--input={paths[0]} --model_prefix={prefix} --model_type=bpe --vocab_size=200 --minloglevel=3 --byte_fallback=false"
        assert lib.SentencePieceTrainer.train(flags) is True
        found[-1].append(pieces(model.read_bytes()))
    assert found[0] == found[1]
    ours.SentencePieceTrainer.train(
        input=paths[0], model_prefix=str(tmp_path / "m"), model_type="char", use_all_vocab=True, vocabulary_output_piece_score=False
    )
    assert (tmp_path / "m.vocab").read_text(encoding="utf-8").startswith("<unk>\n<s>\n</s>\n\u2581\n")


def test_counted_lines_of_a_tsv_are_weights(tmp_path):
    path = tmp_path / "words.tsv"
    path.write_text("low\t5\nlower\t2\nnewest newer\t6\nwidest\t3\n", encoding="utf-8")
    found = []
    for lib in (theirs, ours):
        quiet = {"minloglevel": 3} if lib is theirs else {}
        writer = io.BytesIO()
        lib.SentencePieceTrainer.train(input=str(path), input_format="tsv", model_writer=writer, model_type="bpe", vocab_size=24, **quiet)
        found.append(pieces(writer.getvalue()))
    assert found[0] == found[1]
    path.write_text("low five\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match="a text, a tab and a number"):
        ours.SentencePieceTrainer.train(input=str(path), input_format="tsv", model_writer=writer)


def test_symbols_and_characters_come_from_files_too(tmp_path):
    for name, text in (("c", "<c>\n<d>\n"), ("u", "ab\nti\n"), ("r", "\u03b1\u03c9\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    options = {"control_symbols_file": str(tmp_path / "c"), "user_defined_symbols_file": str(tmp_path / "u")}
    options |= {"required_chars_file": str(tmp_path / "r"), "model_type": "bpe", "vocab_size": 300}
    listed = {"control_symbols": ["<c>", "<d>"], "user_defined_symbols": ["ab", "ti"], "required_chars": "\u03b1\u03c9"}
    assert proto(ours, TRAINING, **options) == proto(ours, TRAINING, **listed, model_type="bpe", vocab_size=300)


def test_normalizers_of_all_kinds(tmp_path):
    rules, back = tmp_path / "rules.tsv", tmp_path / "back.tsv"
    rules.write_text("61\t62\n63 64\t65\n", encoding="utf-8")
    back.write_text("62\t78 78\n", encoding="utf-8")
    options = {"model_type": "bpe", "vocab_size": 200, "normalization_rule_tsv": str(rules), "denormalization_rule_tsv": str(back)}
    live, made = (theirs.SentencePieceProcessor(model_proto=proto(lib, TRAINING, **options)) for lib in (theirs, ours))
    for line in HELD_OUT[:40]:
        assert made.encode(line) == live.encode(line) and made.decode(made.encode(line)) == live.decode(live.encode(line))
    given = {"model_type": "char", "vocab_size": 60, "hard_vocab_limit": False}
    live, made = (
        pieces(proto(lib, TRAINING, normalizer=lib.SentencePieceNormalizer(rule_name="nfkc_cf"), **given)) for lib in (theirs, ours)
    )
    assert made == live


def test_fewer_sentences_are_drawn_by_the_seed():
    options = {"model_type": "char", "use_all_vocab": True}
    first, again, other = (
        proto(ours, TRAINING, input_sentence_size=5, random_seed=seed, **options) for seed in (1, 1, 2)
    )
    assert first == again != other
    begin = proto(ours, TRAINING, input_sentence_size=5, shuffle_input_sentence=False, **options)
    assert begin == proto(ours, TRAINING[:5], **options)
    short = proto(ours, TRAINING, max_sentence_length=20, **options)
    assert short == proto(ours, [line for line in TRAINING if len(line.encode()) <= 20], **options)


def test_a_model_carries_its_self_test(tmp_path):
    data = proto(ours, TRAINING, vocab_size=500, self_test_sample_size=40)
    samples = samples_of(data)
    assert len(samples) == 40
    live = theirs.SentencePieceProcessor(model_proto=data)
    for text, expected in samples:
        assert " ".join(live.encode(text, out_type=str)) == expected
    (tmp_path / "m.model").write_bytes(data)
    formats.dump(formats.load(tmp_path / "m.model"), tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == data


def samples_of(data):
    from ctok._native.spmfile import fields

    (found,) = [bytes(value) for number, _, value, _, _ in fields(data, {}) if number == 4]
    samples = [bytes(value) for number, _, value, _, _ in fields(found, {}) if number == 1]
    return [tuple(bytes(value).decode() for _, _, value, _, _ in fields(sample, {})) for sample in samples]


def test_the_log_tells_stages():
    told = io.StringIO()
    ours.SentencePieceTrainer.train(sentence_iterator=TRAINING, model_writer=io.BytesIO(), vocab_size=400, logstream=told)
    stages = [line.split(":")[0] for line in told.getvalue().splitlines()]
    assert [*dict.fromkeys(stages)] == ["counting pretokens", "sorting suffixes", "learning tokens"]


# ---- errors ----


@pytest.mark.parametrize(
    "options",
    [
        {"vocab_size": 300_000}, {"vocab_size": 3}, {"foo": 1}, {"model_type": "foo"}, {"vocab_size": 30.5}, {"character_coverage": 0.5},
        {"sentence_iterator": iter([1])}, {"sentence_iterator": iter([])}, {"input": "/there/is/none"}, {"sentence_iterator": None},
        {"unk_id": -1}, {"bos_id": 0}, {"model_writer": None}, {"model_prefix": "m"}, {"normalization_rule_name": "none"},
        {"sentence_iterator": "abc"},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_errors_are_of_the_class_of_the_reference(options, kind):
    found = []
    for lib in (theirs, ours):
        given = {"sentence_iterator": iter(TRAINING), "model_writer": io.BytesIO(), "vocab_size": 300, "model_type": kind} | options
        if "input" in options:
            del given["sentence_iterator"]
        given = {name: value for name, value in given.items() if value is not None}
        if isinstance(options.get("sentence_iterator"), type(iter([]))):
            given["sentence_iterator"] = iter([1] if "1" in str(options) else [])
        with pytest.raises(Exception) as raised:
            lib.SentencePieceTrainer.train(**given, **({"minloglevel": 3} if lib is theirs else {}))
        found.append(raised.value)
    assert isinstance(found[1], type(found[0])), found


def test_k7_22_and_23_sizes_that_cannot_be_had_name_those_that_can():
    for kind in ("unigram", "bpe"):
        with pytest.raises(RuntimeError, match=r"Vocabulary size too high \(300000\). Please set it to a value <= \d+"):
            proto(ours, TRAINING, vocab_size=300_000, model_type=kind)
        with pytest.raises(RuntimeError, match=r"smaller than required_chars. 3 vs \d+"):
            proto(ours, TRAINING, vocab_size=3, model_type=kind)


@pytest.mark.parametrize("name", ["pretokenizer", "seed_sentencepieces_file", "pretokenization_delimiter", "enable_differential_privacy"])
def test_what_is_not_trained_is_refused_by_name(name):
    with pytest.raises(NotImplementedError, match=name):
        proto(ours, TRAINING, **{name: "x"})
