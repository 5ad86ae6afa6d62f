"""ctok.compat.sentencepiece against the live reference: every public name, every form, errors, random models."""

import inspect
import pickle
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctok.compat import sentencepiece as ours
from piece_models import BYTE, BYTES, HEAD, NORMAL, USER_DEFINED, proto_of

theirs = pytest.importorskip("sentencepiece")
pytest.importorskip("google.protobuf")
pytest.importorskip("numpy")

S = "\u2581"
WORDS = [(S, -3.0), (S + "a", -2.5), ("a", -3.5), ("b", -3.25), ("ab", -4.0), (S + "ab", -4.5), ("c", -5.0), ("bc", -4.75), ("1", -6.0)]
PIECES = [*HEAD, *((text, score, NORMAL) for text, score in WORDS), ("<sep>", 0.0, USER_DEFINED), ("\u00e9", -7.0, NORMAL)]
TEXTS = [
    "",
    " ",
    "ab",
    "abc ab",
    "  a  b ",
    "q",
    "a q\u2603q b",
    "\u2603",
    "<sep>ab<sep> c",
    "<s>ab</s>",
    "\u00e9 e\u0301",
    "a\n\tb",
    "\U0001f600a",
    "x" * 40,
]
CONFIGS = {
    "unigram": {},
    "unigram bytes": {"pieces": [*PIECES, *BYTES]},
    "unigram bare": {"add_dummy_prefix": False, "remove_extra_whitespaces": False},
    "bpe": {"kind": "bpe"},
    "bpe bytes": {"kind": "bpe", "pieces": [*PIECES, *BYTES], "remove_extra_whitespaces": False},
    "bpe suffix": {"kind": "bpe", "trainer_treat_whitespace_as_suffix": True},
    "word": {"kind": "word"},
    "char": {"kind": "char"},
}


def both(name, **options):
    fields = dict(CONFIGS[name])
    proto = proto_of(fields.pop("pieces", PIECES), fields.pop("kind", "unigram"), **fields)
    return ours.SentencePieceProcessor(model_proto=proto, **options), theirs.SentencePieceProcessor(model_proto=proto, **options)


def plain(value):
    """A result in values that compare: messages as their bytes, arrays as lists."""
    if hasattr(value, "SerializeToString"):
        return value.SerializeToString()
    if hasattr(value, "dtype"):
        return str(value.dtype), value.tolist()
    return [plain(one) for one in value] if isinstance(value, list) else value


def outcome(function, *args, **kwargs):
    """What a call gives, or the built-in class of what it raises."""
    try:
        return plain(function(*args, **kwargs))
    except Exception as error:
        kinds = (IndexError, UnicodeDecodeError, TypeError, ValueError, RuntimeError, AttributeError)
        return next(kind for kind in kinds if isinstance(error, kind))


def same(pair, method, *args, **kwargs):
    mine, reference = (outcome(getattr(one, method), *args, **kwargs) for one in pair)
    assert mine == reference, (method, args, kwargs)
    return mine


# ---- names ----


def test_every_public_name_of_the_module_is_there():
    public = {name for name in dir(theirs) if not name.startswith("_")} - {"csv", "importlib", "io", "os", "sys"}
    public -= {"sentencepiece_model_pb2", "sentencepiece_pb2"}  # submodules, once imported
    assert public <= set(ours.__all__)
    assert ours.__version__ == theirs.__version__


@pytest.mark.parametrize("cls", ["SentencePieceProcessor", "SentencePieceTrainer", "SentencePieceNormalizer"])
def test_every_method_has_the_name_and_the_parameters_of_the_reference(cls):
    mine, reference = getattr(ours, cls), getattr(theirs, cls)
    names = [name for name in dir(reference) if not name.startswith("_")]
    assert [name for name in names if not hasattr(mine, name)] == []
    for name in names if cls == "SentencePieceProcessor" else []:
        wanted = [p for p in inspect.signature(getattr(reference, name)).parameters if p not in ("self", "kwargs")]
        found = inspect.signature(getattr(mine, name)).parameters
        assert [p for p in found if p not in ("self", "kwargs")][: len(wanted)] == wanted, name


def test_constructor_takes_its_arguments_in_the_order_of_the_reference():
    wanted = inspect.signature(theirs.SentencePieceProcessor).parameters
    found = inspect.signature(ours.SentencePieceProcessor).parameters
    assert [(p.name, p.default) for p in found.values()] == [(p.name, p.default) for p in wanted.values()]


# ---- encoding ----

FORMS = [int, str, bytes, "proto", "serialized_proto", "numpy", "offset_mapping", None, "immutable_proto", "no such form", float]
OPTIONS = [
    {},
    {"add_bos": True},
    {"add_eos": True, "reverse": True},
    {"emit_unk_piece": True},
    {"add_bos": True, "add_eos": True, "reverse": True},
]


@pytest.mark.parametrize("config", CONFIGS)
def test_encode_in_every_form_equals_the_reference(config):
    pair = both(config)
    for form in FORMS:
        for options in OPTIONS:
            for text in [*TEXTS, [*TEXTS], [b"ab", b"a \xc3\xa9"], []]:
                same(pair, "encode", text, return_type=form, **options)
    for text in [b"a\xff b", b"\xe4\xbd a", b"\xed\xa0\x80", b"ab"]:
        for form in FORMS:
            same(pair, "encode", text, out_type=form)
            same(pair, "encode", [text], out_type=form)
        for as_bytes in (True, False):
            same(pair, "encode", text, out_type="offset_mapping", return_bytes=as_bytes)
    for text in TEXTS:
        same(pair, "parallel_encode", text, chunk_len=3)
        for name in ("encode_as_ids", "encode_as_pieces", "encode_as_proto", "EncodeAsOffsetMapping", "EncodeAsNumpy", "Tokenize"):
            same(pair, name, text)


@pytest.mark.parametrize("config", CONFIGS)
def test_nbest_encode_equals_the_reference(config):
    pair = both(config)
    for text in [t for t in TEXTS if len(t) < 20]:
        for form in (int, str, bytes, "numpy"):
            for size in (-1, 0, 1):
                same(pair, "nbest_encode", text, nbest_size=size, return_type=form)
        mine, reference = (outcome(one.nbest_encode, text, nbest_size=5, return_type="proto") for one in pair)
        if isinstance(reference, type):
            assert mine is reference
        else:
            mine, reference = (one.nbest_encode(text, nbest_size=5, return_type="proto").nbests for one in pair)
            assert [round(found.score, 4) for found in mine] == [round(found.score, 4) for found in reference]
    same(pair, "nbest_encode", "ab", nbest_size=1000)
    same(pair, "nbest_encode", ["ab", "a"], nbest_size=2)
    same(pair, "nbest_encode", "ab", nbest_size=2, out_type="offset_mapping")


@pytest.mark.parametrize("config", [name for name in CONFIGS if name.startswith("unigram")])
def test_what_is_drawn_is_a_way_of_the_reference(config):
    mine, reference = both(config)
    for text in ("abc ab", "a q b"):
        ways = {tuple(ids) for ids in reference.nbest_encode(text, nbest_size=512)}
        ours.set_random_generator_seed(1)
        drawn = [tuple(mine.sample_encode_as_ids(text, -1, 0.4)) for _ in range(100)]
        ours.set_random_generator_seed(1)
        assert drawn == [tuple(mine.sample_encode_as_ids(text, -1, 0.4)) for _ in range(100)]
        assert set(drawn) <= ways and (len(set(drawn)) > 1) == (len(ways) > 1)
        for form in (str, "proto", "numpy", "offset_mapping"):
            assert mine.encode(text, enable_sampling=True, nbest_size=-1, alpha=0.4, return_type=form) is not None
        best = {tuple(ids) for ids in reference.nbest_encode(text, nbest_size=3)}
        assert {tuple(mine.sample_encode_as_ids(text, 3, 0.1)) for _ in range(50)} <= best


@pytest.mark.parametrize("config", [name for name in CONFIGS if name.startswith("bpe")])
def test_what_is_drawn_of_byte_pairs_is_drawn_by_the_reference_too(config):
    mine, reference = both(config)
    ours.set_random_generator_seed(1)
    for text in ("abc", "a q\u2603\U0001f600"):
        for form in ("serialized_proto", str, int):
            ways = [plain(reference.encode(text, enable_sampling=True, nbest_size=-1, alpha=0.4, return_type=form)) for _ in range(1500)]
            drawn = [plain(mine.encode(text, enable_sampling=True, nbest_size=-1, alpha=0.4, return_type=form)) for _ in range(40)]
            assert all(way in ways for way in drawn)
    same((mine, reference), "encode", "abc ab", enable_sampling=True, nbest_size=-1, alpha=1.5)


@pytest.mark.parametrize("config", CONFIGS)
def test_what_cannot_be_drawn_raises_as_the_reference(config):
    pair = both(config)
    for options in [{"nbest_size": -1, "alpha": -1.0}, {"nbest_size": 600, "alpha": 0.1}, {"nbest_size": -1, "alpha": float("nan")}]:
        same(pair, "encode", "ab", enable_sampling=True, **options)
    if config in ("word", "char"):
        same(pair, "encode", "ab", enable_sampling=True, nbest_size=-1, alpha=0.1)


@pytest.mark.parametrize("config", CONFIGS)
def test_normalize_equals_the_reference(config):
    pair = both(config)
    for text in [*TEXTS, b"a\xff b", [*TEXTS]]:
        same(pair, "normalize", text)
        same(pair, "normalize", text, with_offsets=True)


# ---- decoding ----


@pytest.mark.parametrize("config", CONFIGS)
def test_decode_in_every_form_equals_the_reference(config):
    pair = both(config)
    rng = random.Random(1)
    size = pair[1].get_piece_size()
    rows = [[], [3], [rng.randrange(size) for _ in range(12)], [rng.randrange(8) for _ in range(6)], list(range(size))]
    pieces = [
        [S + "a", "zz" + S, "<s>", "<unk>", "b"],
        ["<0xE4>", "<0xBD>", "<0xA0>", S + "a", "<0xE4>"],
        [b"ab", S.encode() + b"q"],
        ["q"],
        "ab",
        b"ab",
        "",
        5,
        None,
    ]
    for form in FORMS:
        for row in [*rows, rows, rows[1:], *pieces, pieces[:1], [[], ["a"]], [["a"], []]]:
            same(pair, "decode", row, return_type=form)
        for as_bytes in (True, False):
            same(pair, "decode", rows[2], return_type="offset_mapping", return_bytes=as_bytes)
            same(pair, "decode", pieces[0], return_type="offset_mapping", return_bytes=as_bytes)
    for name in ("decode_ids", "DecodeIdsAsProto", "Detokenize"):
        same(pair, name, rows[2])
    for name in ("decode_pieces", "DecodePiecesAsProto"):
        same(pair, name, pieces[0])


def test_decode_of_what_is_no_id_raises_as_the_reference():
    import numpy

    pair = both("unigram bytes")
    wrong = [
        -1,
        10**6,
        [-1],
        [10**6],
        [2**40],
        1.5,
        [1.5],
        [1, "a"],
        ["a", 1],
        [True],
        range(4),
        (3, 4),
        {1, 2},
        iter([1]),
        bytearray(b"\x03"),
    ]
    arrays = [numpy.array([3, 4]), numpy.array([[3, 4], [5, 6]]), numpy.array([3], dtype="u1"), numpy.array([2.0]), numpy.int64(4)]
    arrays += [numpy.array([2**40]), numpy.array([], dtype=int), [numpy.array([3]), numpy.array([4, 5])], numpy.array([3, 4, 5])[::2]]
    for value in [*wrong, *arrays]:
        same(pair, "decode", value)


# ---- look-ups, loading, errors ----


@pytest.mark.parametrize("config", CONFIGS)
def test_look_ups_equal_the_reference(config):
    pair = both(config)
    size = pair[1].get_piece_size()
    for name in ("unk_id", "bos_id", "eos_id", "pad_id", "get_piece_size", "piece_size", "vocab_size", "__len__", "serialized_model_proto"):
        same(pair, name)
    for name in ("id_to_piece", "get_score", "is_unknown", "is_control", "is_unused", "is_byte", "IdToPiece"):
        for value in [0, size - 1, list(range(size)), (1, 2), [], -1, size, [0, size], 1.5, "a", None, True]:
            same(pair, name, value)
    for value in ["a", b"a", "none", ["a", b"b", "none"], ("a",), [], 5, [5], None, S]:
        same(pair, "piece_to_id", value)
        same(pair, "__getitem__", value)


def test_processor_without_a_model_answers_as_the_reference():
    pair = ours.SentencePieceProcessor(), theirs.SentencePieceProcessor()
    for name in ("encode", "nbest_encode", "normalize", "decode", "piece_to_id", "encode_as_pieces", "EncodeAsOffsetMapping"):
        for value in ("a", ["a"], [], ""):
            same(pair, name, value)
    for name in ("get_piece_size", "unk_id", "bos_id", "serialized_model_proto", "load"):
        same(pair, name)
    same(pair, "decode", [1])
    same(pair, "id_to_piece", 0)


@pytest.mark.parametrize("value", [None, 5, ("a", "b"), ["a", 1], [None], bytearray(b"a"), [[]], 1.5])
def test_input_of_a_wrong_type_raises_as_the_reference(value):
    pair = both("unigram")
    for name in ("encode", "normalize", "nbest_encode"):
        same(pair, name, value)


@pytest.mark.parametrize("size", [1.5, "2", True, None])
@pytest.mark.parametrize("alpha", ["a", 1, True])
def test_sizes_that_are_no_integers_and_alphas_that_are_no_numbers_raise_as_the_reference(size, alpha):
    pair = both("unigram")
    same(pair, "nbest_encode", "ab", nbest_size=size)
    for options in ({}, {"enable_sampling": True}):
        mine, reference = (outcome(one.encode, "ab", nbest_size=size, alpha=alpha, **options) for one in pair)
        assert (mine is TypeError) == (reference is TypeError)


@pytest.mark.parametrize(("text", "place"), [("ab\ud800", 2), ("\ud83d\ude00", 0)])
def test_a_text_with_surrogates_is_refused_in_every_form(text, place):
    mine, _ = both("unigram bytes")
    for form in (int, "numpy", str, bytes, "proto", "offset_mapping"):
        for asked in (text, ["ab", text]):
            with pytest.raises(ValueError, match=f"^lone surrogate U.{ord(text[place]):04X} at character {place}$"):
                mine.encode(asked, return_type=form)


def test_lone_surrogate_is_a_value_error_with_its_place():
    mine, _ = both("unigram")
    with pytest.raises(ValueError, match="surrogate") as caught:
        mine.encode("ab\ud800")
    assert caught.value.position == 2


def test_options_that_do_not_go_together_raise_as_the_reference():
    pair = both("unigram")
    for options in [
        {"out_type": int, "return_type": int}, {"return_bytes": True}, {"num_threads": "x"}, {"num_threads": 1.5}, {"add_bos": 1},
        {"enable_sampling": True, "nbest_size": 0}, {"enable_sampling": True, "nbest_size": 1},
        {"enable_sampling": 1, "nbest_size": 1, "alpha": 0.1}, {"thread_pool": None, "num_threads": 2},
    ]:  # fmt: skip
        same(pair, "encode", "ab", **options)
    same(pair, "decode", [3], out_type=str, return_type=str)
    same(pair, "decode", [3], return_bytes=True)
    for size in (None, 0, -4, 2.5):
        same(pair, "parallel_encode", "ab", chunk_len=size)
    no_roles = proto_of([PIECES[0], *PIECES[3:]])
    pair = ours.SentencePieceProcessor(model_proto=no_roles), theirs.SentencePieceProcessor(model_proto=no_roles)
    same(pair, "encode", "ab", add_bos=True)
    same(pair, "encode", ["ab"], add_eos=True)
    same(pair, "encode", "ab", out_type=str, add_eos=True)


def test_defaults_of_the_constructor_hold_for_every_call():
    options = {"out_type": str, "add_bos": True, "add_eos": True, "reverse": True, "emit_unk_piece": True, "num_threads": 1}
    pair = both("unigram bytes", **options)
    for text in TEXTS:
        same(pair, "encode", text)
        same(pair, "encode", text, out_type=int, add_bos=False)
        same(pair, "encode", [text, text])


def test_files_are_loaded_as_by_the_reference(tmp_path):
    proto = proto_of(PIECES)
    file = tmp_path / "toy.model"
    file.write_bytes(proto)
    broken = tmp_path / "broken.model"
    broken.write_bytes(b"abc")
    for module in (ours, theirs):
        made = module.SentencePieceProcessor.from_file(str(file), out_type=str)
        assert made.encode("ab") == [S + "ab"]
        assert module.SentencePieceProcessor.from_proto(proto).serialized_model_proto() == proto
        assert module.SentencePieceProcessor().Load(str(file)) is True
        for path in (str(tmp_path / "none.model"), str(broken)):
            with pytest.raises(RuntimeError):
                module.SentencePieceProcessor(path)
        with pytest.raises(RuntimeError, match="NOT_FOUND"):
            module.SentencePieceProcessor(str(tmp_path / "none.model"))
        for arguments in ({"model_file": str(file), "model_proto": proto}, {}):
            with pytest.raises(ValueError):
                module.SentencePieceProcessor().load(**arguments)
        with pytest.raises(ValueError):
            module.SentencePieceProcessor.from_file(str(file), model_proto=proto)
        with pytest.raises(TypeError):
            module.SentencePieceProcessor().load_from_serialized_proto("text")


def test_pickled_processor_keeps_its_model_and_its_defaults():
    mine, _ = both("unigram", add_bos=True, out_type=str)
    again = pickle.loads(pickle.dumps(mine))
    assert again.encode("ab") == mine.encode("ab") == ["<s>", S + "ab"]
    assert again.serialized_model_proto() == mine.serialized_model_proto()
    assert len(pickle.loads(pickle.dumps(ours.SentencePieceProcessor()))) == 0


def test_messages_show_what_those_of_the_reference_do():
    mine, reference = (one.encode("a q b", out_type="proto") for one in both("unigram"))
    assert mine.text == reference.text
    fields = ("piece", "id", "surface", "begin", "end")
    assert [[getattr(piece, name) for name in fields] for piece in mine.pieces] == [
        [getattr(piece, name) for name in fields] for piece in reference.pieces
    ]
    assert mine == both("unigram")[0].encode("a q b", out_type="proto")
    assert hash(mine.pieces[0]) == hash(mine.pieces[0]) and "piece=" in repr(mine)
    with pytest.raises(AttributeError):
        mine.text = "other"


def test_settings_of_the_process_are_taken():
    for name, value in [("set_min_log_level", 2), ("SetNBestTimeout", 3), ("set_data_dir", "x")]:
        assert getattr(ours, name)(value) is None
    for seed in (-1, 2**32, "x"):
        with pytest.raises(TypeError):
            ours.set_random_generator_seed(seed)
    assert ours.ThreadPool(3).num_threads() == 3
    mine, _ = both("unigram")
    assert mine.encode(["ab"] * 5, thread_pool=ours.ThreadPool(2)) == [mine.encode("ab")] * 5


def test_what_is_not_there_says_so():
    with pytest.raises(NotImplementedError):
        ours.ConvertToFlatbuffer(model_file="x")


# ---- random models ----

texts = st.text("ab\u00e9 \u2581q\u4e2d\n", max_size=20)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.text("ab\u2581\u4e2d", min_size=1, max_size=3), st.floats(-9, -1, width=32)), min_size=1, max_size=14),
    texts,
    st.sampled_from(["unigram", "bpe", "char", "word"]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_random_models_equal_the_reference(many, text, kind, dummy, extra, with_bytes):
    pieces = list({piece: (piece, score, NORMAL) for piece, score in many}.values())
    proto = proto_of([*HEAD, *pieces, *(BYTES if with_bytes else [])], kind, add_dummy_prefix=dummy, remove_extra_whitespaces=extra)
    pair = ours.SentencePieceProcessor(model_proto=proto), theirs.SentencePieceProcessor(model_proto=proto)
    for form in (int, str, "serialized_proto", "offset_mapping"):
        same(pair, "encode", text, out_type=form)
    ids = pair[1].encode(text)
    for form in (str, "serialized_proto", "offset_mapping"):
        same(pair, "decode", ids, out_type=form)


def test_bytes_are_ids_of_their_type():
    mine, reference = both("bpe bytes")
    assert [k for k in range(len(mine)) if mine.is_byte(k)] == [k for k in range(len(reference)) if reference.is_byte(k)]
    assert sum(piece[2] == BYTE for piece in BYTES) == 256
