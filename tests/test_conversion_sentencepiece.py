"""SentencePiece models as tokenizer.json files and back: equal ids in sentencepiece and in tokenizers, or a refusal by name."""

import random

import pytest

from ctok import Tokenizer, conversion, formats
from ctok.conversion import _runs, _same_ids, convert
from ctok.errors import SpecError
from ctok.formats import sentencepiece, tokenizer_json
from ctok.spec import AddedToken, Spec
from ctok.stagespecs import decoders, models, normalizers, postprocessors, pretokenizers
from ctok.stagespecs.limits import Padding
from ctok.stagespecs.patterns import Regex
from ctok.stagespecs.sentencepiece import Normalizer
from spm_files import BYTES, CONTROL, META, NORMAL, SMALL, UNUSED, USER_DEFINED, field, file, real

reference = pytest.importorskip("sentencepiece")
tokenizers = pytest.importorskip("tokenizers")

BLANK = "\u2581"
ALPHABET = [*"abc  ", BLANK, "\n", "\t", "é", "世", "\u3000", "ab", "  ", "\0", "<s>"[:2]]


def random_texts(seed, n=150, alphabet=ALPHABET):
    rng = random.Random(seed)
    return ["", " ", BLANK, *("".join(rng.choices(alphabet, k=rng.randint(1, 14))) for _ in range(n))]


def assert_same_ids(spec, told, texts):
    """The ids of sentencepiece, of tokenizers, and of ctok in both forms are the same."""
    model, other = (spec, told) if isinstance(spec.normalizer, Normalizer) else (told, spec)
    processor = reference.SentencePieceProcessor(model_proto=sentencepiece.dumps(model))
    live = tokenizers.Tokenizer.from_str(tokenizer_json.dumps(other).decode())
    live.no_padding()
    ours, theirs = Tokenizer.from_spec(model), Tokenizer.from_spec(other)
    for text in texts:
        ids = processor.encode(text)
        assert live.encode(text, add_special_tokens=False).ids == ids, text
        assert ours.encode(text) == ids
        assert theirs.encode(text, add_special_tokens=False) == ids


def random_bpe(seed, alphabet="abc" + BLANK, size=25):
    """Pieces of a random BPE model as a trainer makes them: each is made of two that are there before."""
    rng = random.Random(seed)
    made = list(alphabet)
    while len(made) < size:
        new = rng.choice(made) + rng.choice(made)
        if new not in made and len(new) < 9:
            made.append(new)
    merged = made[len(alphabet) :]
    if seed % 2:
        rng.shuffle(merged)  # no longer the order in which they are made
    return [*META, *((text, -float(place), NORMAL) for place, text in enumerate(merged)), *((char, -99.0, NORMAL) for char in alphabet)]


# ---- from a model ----


@pytest.mark.parametrize("seed", range(12))
def test_bpe_model_becomes_a_tokenizer_json_with_the_same_ids_for_every_text(seed):
    rng = random.Random(seed)
    flags = b"".join(field(number, rng.random() < 0.5) for number in (3, 4, 5))
    fallback = seed % 3 == 0
    spec = sentencepiece.loads(file(random_bpe(seed) + (BYTES if fallback else []), "bpe", field(35, fallback), flags))
    told = convert(spec, "tokenizer_json")
    assert_same_ids(spec, told.spec, random_texts(seed))
    assert told.lost == ()
    assert "'<s>'" in told.unsaid[0]


@pytest.mark.parametrize("extra", [False, True])
@pytest.mark.parametrize("fallback", [False, True])
def test_char_and_unigram_models_become_a_tokenizer_json(extra, fallback):
    letters = [(char, -2.5 - place, NORMAL) for place, char in enumerate(f"abc{BLANK}é")]
    words = [("ab", -3.1, NORMAL), (f"{BLANK}ab", -4.2, NORMAL), (f"{BLANK}c", -1.7, NORMAL), ("bca", -5.9, NORMAL)]
    rest = BYTES if fallback else []
    for kind in ("char", "unigram"):
        data = file([*META, *letters, *words, *rest], kind, field(35, fallback), field(4, extra))
        spec = sentencepiece.loads(data)
        assert_same_ids(spec, convert(spec, "tokenizer_json").spec, random_texts(7))


@pytest.mark.parametrize("name", ["spm_botchan_bpe", "spm_botchan_unigram", "spm_kyoto_unigram", "spm_t5", "spm_mistral_v1"])
def test_real_model_becomes_a_tokenizer_json_and_a_model_again(shared, name):
    spec = sentencepiece.loads(real(shared, name))
    told = convert(spec, "tokenizer_json")
    assert_same_ids(spec, told.spec, list(_same_ids.texts(spec))[::3])
    again = convert(told.spec, "sentencepiece").spec
    assert sentencepiece.loads(sentencepiece.dumps(again)).normalizer == spec.normalizer.replace(name="")
    assert_same_ids(told.spec, again, list(_same_ids.texts(spec))[1::10])


def test_piece_over_a_blank_is_not_cut_apart():
    pieces = [*META, *((char, -3.0, NORMAL) for char in f"ab{BLANK}"), (f"a{BLANK}b", -1.0, NORMAL)]
    spec = sentencepiece.loads(file(pieces))
    told = convert(spec, "tokenizer_json")
    assert told.spec.pre_tokenizer is None
    assert_same_ids(spec, told.spec, random_texts(3))


def test_runs_of_one_score_become_merges_that_cut_runs_alike():
    pieces = [*META, *((char, -5.0, NORMAL) for char in f"ab{BLANK}"), ("ab", 0.0, NORMAL), (f"{BLANK}a", -1.0, NORMAL)]
    pieces += [(BLANK * n, -1e9, NORMAL) for n in (2, 4, 8, 3, 6, 5, 7)]
    spec = sentencepiece.loads(file(pieces, "bpe", normalizer=field(4, False)))
    told = convert(spec, "tokenizer_json")
    texts = [" " * n + "ab" * (n % 3) + " " * (n // 2) + "b" for n in range(70)]
    assert_same_ids(spec, told.spec, texts)
    back = convert(told.spec, "sentencepiece")
    assert_same_ids(told.spec, back.spec, texts)


def test_user_defined_pieces_become_added_tokens_where_nothing_is_normalised():
    pieces = [*META, *((char, -5.0, NORMAL) for char in f"abc{BLANK}"), ("ab", 0.0, NORMAL), ("<x>", 0.0, USER_DEFINED)]
    plain = field(3, False) + field(4, False)
    spec = sentencepiece.loads(file(pieces, "bpe", normalizer=plain))
    assert_same_ids(spec, convert(spec, "tokenizer_json").spec, random_texts(2, alphabet=["a", "b", "<x>", "<", " "]))
    spec = sentencepiece.loads(file(pieces, "bpe"))
    with pytest.raises(SpecError, match=r"user-defined piece '<x>'"):
        convert(spec, "tokenizer_json")
    assert convert(spec, "tokenizer_json", drop=True).spec.added_tokens[-1] == AddedToken("<x>", 8, False, normalized=False)


LETTERS = [(char, -5.0, NORMAL) for char in f"ab{BLANK}"]


@pytest.mark.parametrize(
    ("pieces", "kind", "trainer", "says"),
    [
        (SMALL, "word", b"", "words that are not known"),
        (SMALL, "bpe", field(24, True), "treat_whitespace_as_suffix"),
        ([*SMALL, ("zz", 0.0, UNUSED)], "bpe", b"", "piece 7 is unused"),
        ([*META, *LETTERS, ("ab", -1.0, NORMAL), ("ba", -1.0, NORMAL)], "bpe", b"", "pieces 6 and 7 have the same score"),
        ([*META, *LETTERS, ("ax", -1.0, NORMAL)], "bpe", b"", "'x' is no piece"),
        ([*META, ("x", 0.0, CONTROL), *LETTERS], "bpe", b"", "'x', is one character"),
        ([*SMALL, (b"\xff", -1.0, NORMAL)], "unigram", b"", "not UTF-8"),
        ([*SMALL, ("<s>", -1.0, NORMAL)], "unigram", b"", "the same text"),
    ],
)
def test_model_that_no_tokenizer_json_can_say_is_refused_by_name(pieces, kind, trainer, says):
    spec = sentencepiece.loads(file(pieces, kind, trainer))
    with pytest.raises(SpecError, match=says):
        convert(spec, "tokenizer_json", drop=True)


def test_text_with_other_ids_is_named_and_needs_drop(monkeypatch):
    spec = sentencepiece.loads(file())
    monkeypatch.setattr(_same_ids, "texts", lambda spec: ["a", "b", "</s>"])
    with pytest.raises(SpecError, match=r"the ids \[.*\] of '</s>', which would be"):
        convert(spec, "tokenizer_json")
    told = convert(spec, "tokenizer_json", drop=True)
    assert len(told.lost) == 1
    assert tokenizer_json.dumps(told.spec)


# ---- to a model ----


def test_conversion_there_and_back_is_a_model_of_the_same_ids():
    spec = sentencepiece.loads(file([*random_bpe(3), *BYTES], "bpe", field(35, True), field(4, False)))
    back = convert(convert(spec, "tokenizer_json").spec, "sentencepiece")
    again = sentencepiece.loads(sentencepiece.dumps(back.spec))
    assert again.normalizer == spec.normalizer
    assert (again.model.types, again.model.kind, again.model.unk_id) == (spec.model.types, "bpe", 0)
    assert_same_ids(convert(spec, "tokenizer_json").spec, again, random_texts(5))


def llama(**parts):
    """A file as Llama 2's: byte fallback, several merges a token."""
    texts = ["<unk>", "<s>", "</s>", *(text for text, _, _ in BYTES), BLANK, "a", "b", "c", "ab", f"{BLANK}a", "abc", f"{BLANK}ab"]
    merges = [("a", "b"), (BLANK, "a"), ("ab", "c"), (f"{BLANK}a", "b"), (BLANK, "ab")]
    model = models.bpe_from_merges({text: n for n, text in enumerate(texts)}, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    fields = {
        "model": model,
        "pre_tokenizer": None,
        "added_tokens": [AddedToken(text, n) for n, text in enumerate(texts[:3])],
        "normalizer": normalizers.Sequence([normalizers.Prepend(BLANK), normalizers.Replace(" ", BLANK)]),
        "decoder": decoders.Sequence([decoders.Replace(BLANK, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]),
    }
    return Spec("llama", **fields | parts)


def test_file_as_llamas_becomes_a_model_and_its_template_is_named():
    spec = llama()
    told = convert(spec, "sentencepiece")
    assert_same_ids(spec, told.spec, random_texts(1))
    assert told.spec.normalizer == Normalizer(b"", True, False, True)
    assert (told.spec.model.bos_id, told.spec.model.eos_id, told.spec.model.pad_id) == (1, 2, None)
    first = postprocessors.SpecialPiece("<s>"), postprocessors.SequencePiece("A")
    template = postprocessors.TemplateProcessing(first, first, [postprocessors.TemplateToken("<s>", [1], ["<s>"])])
    with pytest.raises(SpecError, match=r"puts ids \[1\] around"):
        convert(spec.replace(post_processor=template), "sentencepiece")
    told = convert(spec.replace(post_processor=template, padding=Padding()), "sentencepiece", drop=True)
    assert_same_ids(spec, told.spec, ["a b", "abc"])
    assert "padding" in told.unsaid[0]


@pytest.mark.parametrize("scheme", ["always", "first", "never"])
def test_unigram_file_becomes_a_model_or_the_text_is_named(scheme):
    pieces = [("<unk>", 0.0), ("</s>", 0.0), (BLANK, -2.0), ("a", -3.0), ("b", -3.5), (f"{BLANK}ab", -4.0), ("ab", -4.5)]
    clean = [normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")]
    spec = Spec(
        "t5",
        models.unigram_from_pieces(pieces, unk_id=0),
        pretokenizers.Metaspace(prepend_scheme=scheme),
        [AddedToken("</s>", 1)],
        normalizer=normalizers.Sequence(clean),
        decoder=decoders.Metaspace(prepend_scheme=scheme),
    )
    with pytest.raises(SpecError, match="of '  a  b  ', which would be"):  # SentencePiece does both or neither
        convert(spec.replace(normalizer=normalizers.Strip()), "sentencepiece")
    told = convert(spec, "sentencepiece", drop=True)
    texts = [text.strip() for text in random_texts(4, alphabet=["a", "b", " ", "c", "ab"])]
    assert_same_ids(spec, told.spec, [text for text in texts if text not in ("", BLANK)])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"normalizer": normalizers.NFKC()}, "no normalizer NFKC"),
        ({"pre_tokenizer": pretokenizers.ByteLevel()}, "no pre-tokenizer ByteLevel"),
        ({"model": models.WordLevel(models.table_of_texts({"<unk>": 0}))}, "not Unigram or byte-pair"),
        ({"added_tokens": [AddedToken("<x>", 999)]}, "no token with the id 267"),
        ({"added_tokens": [AddedToken("a", 1)]}, "have the same id 1"),
        ({"added_tokens": [AddedToken("a", 267)]}, "has two ids"),
        ({"added_tokens": [AddedToken("c", 262)]}, r"is one character|takes or gives"),
        ({"added_tokens": [AddedToken("ab", 263)]}, "takes or gives a token that is special"),
        ({"added_tokens": [AddedToken("<x>", 267, special=False)]}, "found before a text is normalised"),
    ],
)
def test_file_that_no_model_can_say_is_refused_by_name(changes, says):
    with pytest.raises(SpecError, match=says):
        convert(llama(**changes), "sentencepiece")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"ignore_merges": True}, "ignore_merges"),
        ({"dropout": 0.1}, "dropout"),
        ({"end_of_word_suffix": "</w>"}, "end_of_word_suffix"),
        ({"unk_token": None, "byte_fallback": False}, "no unknown token"),
    ],
)
def test_option_that_a_model_cannot_say_is_named(change, says):
    spec = llama()
    with pytest.raises(SpecError, match=says):
        convert(spec.replace(model=spec.model.replace(**change)), "sentencepiece")


def from_merges(letters, merges):
    texts = ["<unk>", *letters, *dict.fromkeys("".join(pair) for pair in merges)]
    model = models.bpe_from_merges({text: n for n, text in enumerate(texts)}, merges, unk_token="<unk>", fuse_unk=True)
    return Spec("toy", model, None, [AddedToken("<unk>", 0)], decoder=decoders.Fuse())


def test_merges_that_scores_cannot_say_are_refused_by_name():
    with pytest.raises(SpecError, match="stand mixed"):
        convert(from_merges("abcd", [("a", "b"), ("ab", "c"), ("c", "d"), ("b", "c"), ("a", "bc")]), "sentencepiece")
    with pytest.raises(SpecError, match="which is none of its merges"):
        convert(from_merges("abc", [("a", "b"), ("b", "c"), ("a", "bc")]), "sentencepiece")
    with pytest.raises(SpecError, match="a run of 4 'a' is cut otherwise"):
        convert(from_merges("a", [("a", "aa"), ("a", "a"), ("aa", "a")]), "sentencepiece")


def test_list_of_merges_with_the_same_ids_as_scores_is_taken():
    spec = from_merges("abc", [("a", "b"), ("ab", "c"), ("c", "c"), ("b", "c")])
    told = convert(spec, "sentencepiece")
    assert_same_ids(spec, told.spec, random_texts(9, alphabet="abc"))


@pytest.mark.parametrize("seed", range(20))
def test_random_lists_of_merges_have_the_same_ids_or_are_refused(seed):
    rng = random.Random(seed)
    made = ["a", "b"]
    merges = []
    for _ in range(rng.randint(2, 7)):
        pair = (rng.choice(made), rng.choice(made))
        if pair not in merges:
            merges.append(pair)
            made.append("".join(pair))
    spec = from_merges("ab", merges)
    try:
        told = convert(spec, "sentencepiece")
    except SpecError:
        return
    assert_same_ids(spec, told.spec, random_texts(seed, alphabet="ab"))


# ---- runs ----


def test_runs_by_score_are_those_of_the_reference():
    known = (2, 3, 5, 8)
    pieces = [*META, ("a", -1.0, NORMAL), *(("a" * n, -9.0, NORMAL) for n in known)]
    processor = reference.SentencePieceProcessor(model_proto=file(pieces, "bpe", normalizer=field(3, False)))
    for n in range(40):
        assert [len(piece) for piece in processor.encode("a" * n, out_type=str)] == _runs.runs_by_score(n, known)


def test_no_list_of_merges_for_runs_that_join_otherwise():
    assert _runs.merges_of_runs({2, 3, 4}) == [(3, 1), (2, 2), (2, 1), (1, 3), (1, 2), (1, 1)]
    for known in ({2}, {2, 4, 8}, {2, 3, 5, 7}):
        assert _runs.merges_of_runs(known) is not None


def test_formats_name_a_model():
    assert conversion.FORMATS["sentencepiece"] == "a SentencePiece model"
    spec = sentencepiece.loads(file())
    assert convert(spec, "sentencepiece").spec is spec
    assert convert(spec, "binary").spec is spec
    with pytest.raises(SpecError, match=r"no ByteLevel|not byte-pair"):
        convert(spec, "tiktoken")
    assert formats.format_of("x.model") == "sentencepiece"
