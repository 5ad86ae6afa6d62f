"""The stages as values: defaults are the reference's, records are immutable, compare, pickle, and refuse what makes no sense."""

import inspect
import pickle
import struct

import pytest

from ctok.spec import BPE, AddedToken, Spec
from ctok.stagespecs import decoders, limits, models, normalizers, patterns, postprocessors, pretokenizers, sentencepiece

tokenizers = pytest.importorskip("tokenizers")

# Record -> the reference's class of the same name.
REFERENCE = [
    (normalizers, tokenizers.normalizers),
    (pretokenizers, tokenizers.pre_tokenizers),
    (postprocessors, tokenizers.processors),
    (decoders, tokenizers.decoders),
]


def sample():
    return models.bpe_from_merges({"a": 0, "b": 1, "ab": 7}, [("a", "b")], unk_token="a", fuse_unk=True)


EXAMPLES = [
    normalizers.NFC(),
    normalizers.Strip(right=False),
    normalizers.Replace(patterns.Regex("a+"), "b"),
    normalizers.BertNormalizer(strip_accents=False),
    normalizers.Precompiled(b"\0\1"),
    normalizers.Sequence([normalizers.NFC(), normalizers.Sequence([])]),
    pretokenizers.Metaspace(prepend_scheme="first"),
    pretokenizers.Split("x", "merged_with_next", invert=True),
    pretokenizers.FixedLength(3),
    postprocessors.BertProcessing(("[SEP]", 2), ("[CLS]", 1)),
    postprocessors.TemplateProcessing(
        [postprocessors.SpecialPiece("x"), postprocessors.SequencePiece("A")],
        [postprocessors.SequencePiece("A"), postprocessors.SequencePiece("B", 1)],
        [postprocessors.TemplateToken("x", [1, 2], ["y", "z"])],
    ),
    decoders.Strip(" ", 1, 0),
    decoders.CTC(),
    limits.Truncation(5),
    limits.Padding(length=3),
    sample(),
    models.WordPiece(models.table_of_texts({"[UNK]": 0, "##a": 1})),
    models.WordLevel(models.table_of_texts({"<unk>": 0})),
    models.unigram_from_pieces([("b", -1.5), ("a", -2.0), ("b", -3.0)], unk_id=0),
    sentencepiece.pieces_from_list([("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("a", -1.0, 1), ("<s>", -2.0, 4)], "bpe"),
    sentencepiece.Normalizer(b"\0\1", add_dummy_prefix=False, user_defined=["<x>"], name="nfkc"),
    sentencepiece.Decoder(unk_surface="?", denormalizer=sentencepiece.Normalizer(b"\0")),
]


@pytest.mark.parametrize("record", EXAMPLES, ids=lambda r: type(r).__name__)
def test_record_pickles_compares_and_is_immutable(record):
    again = pickle.loads(pickle.dumps(record))
    assert again == record
    assert hash(again) == hash(record)
    assert len(repr(record)) < 400
    with pytest.raises(AttributeError):
        record.anything = 1


@pytest.mark.parametrize(("ours", "theirs"), REFERENCE, ids=lambda m: m.__name__.rpartition(".")[2])
def test_records_have_the_reference_classes(ours, theirs):
    base = {"normalizers": "Normalizer", "pre_tokenizers": "PreTokenizer", "processors": "PostProcessor", "decoders": "Decoder"}
    names = {n for n, c in vars(theirs).items() if isinstance(c, type)} - {*base.values(), "DecodeStream"}
    assert names <= set(ours.__all__)


@pytest.mark.parametrize(("ours", "theirs"), REFERENCE, ids=lambda m: m.__name__.rpartition(".")[2])
def test_record_defaults_are_the_reference_defaults(ours, theirs):
    for name in ours.__all__:
        record, reference = getattr(ours, name), getattr(theirs, name, None)
        if reference is None or not isinstance(record, type):
            continue
        try:
            made = reference()
        except TypeError:
            continue
        for field, parameter in inspect.signature(record).parameters.items():
            if parameter.default is not parameter.empty and hasattr(made, field):
                assert getattr(made, field) == parameter.default, (name, field)


def test_bpe_with_merges_holds_ids():
    model = sample()
    assert struct.unpack("<2I", model.merges) == (0, 1)
    assert list(model.tokens) == [(b"a", 0), (b"ab", 7), (b"b", 1)]
    assert model != model.replace(fuse_unk=False)
    assert BPE(model.tokens, "merges", memoryview(model.merges), unk_token="a", fuse_unk=True) == model


def test_unigram_keeps_a_piece_that_stands_twice():
    model = models.unigram_from_pieces([("b", -1.5), ("a", -2.0), ("b", -3.0)])
    assert list(model.tokens) == [(b"a", 1), (b"b", 0), (b"b", 2)]
    assert struct.unpack("<3d", model.scores) == (-1.5, -2.0, -3.0)


def test_pieces_of_a_list_have_their_roles_and_tables_in_byte_order():
    model = sentencepiece.pieces_from_list([("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("a", -1.0, 1), ("<s>", -2.0, 4)], "bpe")
    assert list(model.tokens) == [(b"<s>", 1), (b"<s>", 3), (b"<unk>", 0), (b"a", 2)]
    assert (model.unk_id, model.bos_id, model.eos_id, model.pad_id) == (0, 1, None, None)
    assert struct.unpack("<4f", model.scores) == (0.0, 0.0, -1.0, -2.0)
    assert bytes(model.types) == bytes((2, 3, 1, 4))
    assert repr(model) != repr(model.replace(types=bytes((2, 3, 1, 5))))


@pytest.mark.parametrize(
    "build",
    [
        lambda: sentencepiece.pieces_from_list([("a", 0.0, 1)], "words"),
        lambda: sentencepiece.pieces_from_list([("a", 0.0, 1)], bos_id=1),
        lambda: sentencepiece.Pieces(models.table_of_texts({"a": 0}), bytes(4), b""),
        lambda: sentencepiece.Decoder(unk_surface="\udc80"),
        lambda: pretokenizers.Metaspace("ab"),
        lambda: pretokenizers.Metaspace(prepend_scheme="sometimes"),
        lambda: pretokenizers.Split("a", "Isolated"),
        lambda: decoders.Strip("ab"),
        lambda: normalizers.Prepend("\ud800"),
        lambda: postprocessors.SequencePiece("C"),
        lambda: postprocessors.TemplateToken("a", [1], []),
        lambda: limits.Truncation(-1),
        lambda: models.Unigram(models.table_of_texts({"a": 0}), b""),
        lambda: models.bpe_from_merges({"a": 0}, [("a", "a"), ("a", "b")]),
        lambda: BPE(models.table_of_texts({"a": 0}), "merges"),
    ],
)
def test_record_of_impossible_values_is_refused(build):
    with pytest.raises(ValueError):
        build()


@pytest.mark.parametrize(
    "build",
    [
        lambda: sentencepiece.Normalizer("x"),
        lambda: sentencepiece.Normalizer(user_defined=[b"x"]),
        lambda: normalizers.Strip(1),
        lambda: normalizers.Precompiled("x"),
        lambda: normalizers.Replace(b"x", "y"),
        lambda: normalizers.Sequence(["NFC"]),
        lambda: pretokenizers.FixedLength("5"),
    ],
)
def test_record_of_wrong_types_is_refused(build):
    with pytest.raises(TypeError):
        build()


def test_added_token_flags_have_the_reference_defaults():
    assert AddedToken("x", 1).normalized is False
    assert AddedToken("x", 1, special=False).normalized is True
    token = AddedToken("x", 1, True, True, True, True, True)
    assert pickle.loads(pickle.dumps(token)) == token != AddedToken("x", 1)


def test_spec_roles_are_kept_in_order_and_checked():
    spec = Spec("toy", sample(), None, roles={"pad": "a", "bos": "b"}, document=b"{}")
    assert spec.roles == (("bos", "b"), ("pad", "a"))
    assert (spec.role("pad"), spec.role("eos")) == ("a", None)
    assert spec == spec.replace(document=None)
    assert pickle.loads(pickle.dumps(spec)).document == b"{}"
    with pytest.raises(ValueError, match="no role"):
        spec.replace(roles={"boss": "a"})
