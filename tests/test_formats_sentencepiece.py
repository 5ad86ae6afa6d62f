"""SentencePiece models: what is accepted and what it says is compared with sentencepiece itself; what is written is what was read."""

import itertools
import pickle
import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctok
from ctok import formats
from ctok._native import spmfile
from ctok.errors import SpecError, VocabularyFileError
from ctok.formats import binary, sentencepiece
from ctok.spec import AddedToken, Spec, TokenTable
from ctok.stagespecs.sentencepiece import Decoder, Normalizer, Pieces, pieces_from_list
from spm_files import (
    BYTE,
    BYTES,
    CONTROL,
    KINDS,
    LETTERS,
    META,
    NORMAL,
    SMALL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    field,
    file,
    piece,
    real,
    table,
    varint,
)

reference = pytest.importorskip("sentencepiece")

CHECKING = spmfile.fail_after(0) != -1 or spmfile.fail_after(-1) != -1
BYTE_FALLBACK = field(35, 1)
MODELS = ["spm_botchan_bpe", "spm_botchan_unigram", "spm_kyoto_unigram", "spm_mistral_v1", "spm_mistral_v3", "spm_seqio_toy", "spm_t5"]


def accepted(data):
    """Whether sentencepiece loads a file's bytes."""
    try:
        reference.SentencePieceProcessor(model_proto=data)
    except RuntimeError:
        return False
    return True


def agreed(data):
    """Read a file; both sides must refuse it, or read the same. Returns the spec, or the error."""
    try:
        spec = sentencepiece.loads(data)
    except VocabularyFileError as error:
        assert not accepted(data), error
        return error
    processor = reference.SentencePieceProcessor(model_proto=data)
    model = spec.model
    n = processor.get_piece_size()
    assert n == len(model.tokens)
    texts = {number: text for text, number in model.tokens}
    for number, text in texts.items():
        if text.decode("utf-8", "ignore").encode() == text:  # the reference cannot show others
            assert processor.id_to_piece(number) == text.decode()
    scores = struct.unpack(f"<{n}f", model.scores)
    assert [repr(score) for score in scores] == [repr(processor.get_score(i)) for i in range(n)]
    tests = {UNKNOWN: processor.is_unknown, CONTROL: processor.is_control, UNUSED: processor.is_unused, BYTE: processor.is_byte}
    for number, type_ in enumerate(model.types):
        assert [kind for kind, test in tests.items() if test(number)] == ([type_] if type_ in tests else [])
    parts = (model.unk_id, model.bos_id, model.eos_id, model.pad_id)
    assert [-1 if part is None else part for part in parts] == [getattr(processor, f"{part}_id")() for part in ("unk", "bos", "eos", "pad")]
    return spec


# ---- real models ----


@pytest.mark.parametrize("name", MODELS)
def test_real_model_is_read_as_the_reference_does_and_written_as_it_was(shared, name):
    data = real(shared, name)
    spec = agreed(data)
    assert sentencepiece.dumps(spec) == data
    assert formats.sniff(data) == "sentencepiece"
    assert len(spec.document) < len(data) // 20
    again = sentencepiece.loads(sentencepiece.dumps(spec.replace(document=None)))
    assert again == spec.replace(name="tokenizer")
    for packed in (True, False):
        held = binary.loads(binary.dumps(spec, packed=packed))
        assert held == spec
        assert sentencepiece.dumps(held) == data
    assert sentencepiece.dumps(pickle.loads(pickle.dumps(spec))) == data


def test_k6_38_what_a_file_is_is_decided_by_its_content(tmp_path):
    (tmp_path / "tokenizer.model").write_bytes(b"IQ== 0\nIg== 1\n")
    assert ctok.formats.load(tmp_path / "tokenizer.model", pattern=r"\w+|\W+").model.mode == "rank"
    (tmp_path / "tokenizer.model").write_bytes(file())
    assert isinstance(ctok.formats.load(tmp_path / "tokenizer.model").model, Pieces)


def test_k6_37_html_page_is_named(shared):
    with pytest.raises(VocabularyFileError, match="HTML"):
        formats.load(shared / "cases" / "fixtures" / "spm_html.model")


def test_k6_39_empty_file_is_refused(shared):
    with pytest.raises(VocabularyFileError, match="empty"):
        formats.load(shared / "cases" / "fixtures" / "spm_empty.model")
    with pytest.raises(VocabularyFileError, match="empty"):
        sentencepiece.loads(b"")


def test_k6_40_file_cut_in_half_names_the_piece(shared):
    with pytest.raises(VocabularyFileError, match="truncated") as caught:
        formats.load(shared / "cases" / "fixtures" / "spm_truncated.model")
    assert (caught.value.field, caught.value.offset) == ("pieces[27]", 345)


def test_k6_41_zero_byte_is_fine_in_an_unused_piece_only():
    assert not isinstance(agreed(file([*SMALL, ("\0", 0.0, UNUSED)])), Exception)
    for kind in (NORMAL, CONTROL, USER_DEFINED):
        assert "zero byte" in str(agreed(file([*SMALL, ("\0", 0.0, kind)])))


def test_k2_14_piece_of_a_megabyte_is_refused():
    error = agreed(file([*SMALL, ("a" * 1_000_000, 0.0, NORMAL)]))
    assert error.field == "pieces[7]"
    assert "8000" in str(error)


@pytest.mark.parametrize("units", [b"\xff" * 1024, b"\0\0\xff\0" * 256])
def test_k2_15_table_that_leads_out_of_itself_is_refused_when_it_is_loaded(tmp_path, units):
    (tmp_path / "x.model").write_bytes(file(normalizer=field(2, struct.pack("<I", len(units)) + units + b"x\0")))
    assert not accepted((tmp_path / "x.model").read_bytes())
    with pytest.raises(ValueError, match="normalizer"):
        ctok.load(tmp_path / "x.model")


@pytest.mark.parametrize("message", [3, 5])
@pytest.mark.parametrize(
    ("head", "units", "texts"),
    [(1024, 1024, b""), (1024, 1023, b""), (0, 0, b"x\0"), (0, 0, b""), (1000, 1024, b"x\0"), (2048, 1024, b"x\0"), (1024, 1024, b"x")],
)
def test_table_that_is_cut_off_is_refused_by_its_field(message, head, units, texts):
    data = file(rest=field(message, field(2, struct.pack("<I", head) + bytes(units) + texts)))
    assert agreed(data).field == {3: "normalizer_spec", 5: "denormalizer_spec"}[message] + ".precompiled_charsmap"


def random_units(rng):
    """Units of a table's trie, many of them near the border of what is allowed."""
    units = {0: rng.choice([1, 1, 1, 2, 97, 200, 255, 256, 300, 0]) << 10}
    for _ in range(rng.randrange(4)):
        place = rng.choice([0, 1, 2, 97, rng.randrange(1024)]) if rng.random() < 0.3 else rng.randrange(1, 700)
        near, ends = rng.choice([1, 2, 5, 250, 256, 500, 1000]), rng.choice([0, 0, 0x100])
        value, child = 1 << 31 | rng.choice([0, 1, 2, 3, 7, 8, 9]), rng.choice([0, 97, place & 255]) | near << 10 | ends
        far = rng.choice([97, 1, 0]) | rng.choice([0, 0x200]) | rng.randrange(4) << 10
        units[place] = rng.choice([value, child, far, rng.getrandbits(18), rng.getrandbits(32)])
        if ends and rng.random() < 0.8:
            units[place ^ near] = 1 << 31 | rng.choice([0, 0, 2])
    return units


@pytest.mark.parametrize("message", [3, 5])
def test_table_is_taken_where_the_reference_takes_it(message):
    rng = random.Random(message)
    taken = 0
    for _ in range(200):
        data = file(rest=field(message, field(2, table(random_units(rng), rng.choice([b"\0", b"ab\0", b"abcdefg\0"])))))
        taken += not isinstance(agreed(data), VocabularyFileError)
    assert 20 < taken < 180


def test_table_of_zeros_is_refused():
    assert "nowhere" in str(agreed(file(normalizer=field(2, table({})))))


@pytest.mark.parametrize("name", ["spm_bpe_small", "spm_bytefb", "spm_uds", "spm_word"])
def test_model_of_the_cases_is_read_and_written(shared, name):
    data = (shared / "cases" / "fixtures" / f"{name}.model").read_bytes()
    assert sentencepiece.dumps(agreed(data)) == data


# ---- what is refused, and how it is said ----

LONG = "a" * 7999
# A piece as a field may hold it, other than as the trainer writes it.
SPELLED = [
    field(1, "zz") + field(2, 0.5),
    field(2, 0.5) + field(1, "zz"),
    field(1, "zz"),
    field(1, "x") + field(1, "zz"),
    field(1, "zz") + field(2, -1.5) + field(3, 1),
    field(1, "zz") + field(3, 7),
    field(1, "zz") + field(2, 0.5) + field(3, 7),
    field(1, "zz") + field(3, 4) + field(3, 0),
    field(1, "zz") + field(9, "unknown"),
    field(1, "z" * 130) + field(2, -2.0),
    field(1, "zz") + field(2, -0.0) + field(3, 4),
]


def whole(pieces, kind, fallback):
    return file(pieces, kind, field(35, 1) if fallback else b"")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("pieces", "fallback"),
    [
        (SMALL, False),
        (SMALL[1:], False),
        ([*SMALL, ("<u>", 0.0, UNKNOWN)], False),
        ([*SMALL[1:], SMALL[0]], False),
        ([*SMALL, ("", 0.0, NORMAL)], False),
        ([*SMALL, ("", 0.0, CONTROL)], False),
        (META, False),
        (META[:1], False),
        ([*META, ("a", 0.0, UNUSED)], False),
        ([*META, ("a", 0.0, USER_DEFINED)], False),
        (SMALL, True),
        ([*SMALL, *BYTES], True),
        ([*SMALL, *BYTES], False),
        ([*SMALL, *BYTES[1:]], True),
        ([*SMALL, *BYTES[1:], ("<0x0>", 0.0, BYTE)], True),
        ([*SMALL, *BYTES, ("<0xaa>", 0.0, BYTE)], True),
        ([*SMALL, *BYTES[1:], ("<0X00>", 0.0, BYTE)], True),
        ([*SMALL, *BYTES, ("<0x41>", 0.0, NORMAL)], True),
        ([*SMALL, ("zz", float("nan"), NORMAL)], False),
        ([*SMALL, ("zz", float("inf"), CONTROL)], False),
        ([*SMALL, ("zz", float("-inf"), UNUSED)], False),
        ([*SMALL, (LONG, 0.0, NORMAL)], False),
        ([*SMALL, (LONG + "a", 0.0, CONTROL)], False),
        ([*SMALL, (b"\xff\xfe", 0.0, NORMAL)], False),
        ([*SMALL, ("a b", 0.0, NORMAL)], False),
    ],
)
def test_file_is_accepted_exactly_where_the_reference_accepts_it(kind, pieces, fallback):
    agreed(whole(pieces, kind, fallback))


@pytest.mark.parametrize("kind", KINDS)
def test_text_may_stand_twice_exactly_where_the_reference_allows_it(kind):
    for first, second in itertools.product(range(1, 7), repeat=2):
        name = "<0x41>" if BYTE in (first, second) else "zz"
        others = [*(SMALL[1:] if UNKNOWN in (first, second) else SMALL), *(BYTES if name != "zz" else [])]
        pieces = [each for each in others if each[0] != name] + [(name, 0.0, first), (name, -1.0, second)]
        agreed(whole(pieces, kind, name != "zz"))


@pytest.mark.parametrize("spelled", SPELLED)
def test_piece_in_any_spelling_is_read_as_the_reference_does_and_written_as_it_was(spelled):
    for data in (file() + field(1, spelled), field(1, spelled) + file(), file() + field(1, spelled) + piece("x") + field(100, "?")):
        spec = agreed(data)
        assert sentencepiece.dumps(spec) == data


@pytest.mark.parametrize(
    "data",
    [
        file(rest=field(4, field(1, field(1, "a") + field(2, "b")))),  # self_test_data
        file(rest=field(200, 5) + field(201, 1.5) + varint(202 << 3 | 1) + bytes(8)),
        file(trainer=field(41, -1) + field(46, "a") + field(45, "zz") + field(2, "name")),
        file(trainer=field(46, "</s>") + field(48, "<s>")),
        file(trainer=field(3, 9)),
        file(rest=field(2, field(3, 4))),
        file(rest=field(2, field(24, 1)) + field(2, b"") + field(3, field(1, "late"))),
        field(3, field(3, 0)) + file(),
        file(normalizer=field(3, False) + field(4, False) + field(5, False) + field(1, "identity") + field(6, "a\tb")),
        file(normalizer=field(2, b"") + field(2, b"")),
        file(normalizer=b"\x12\x80\x00"),
        b"\x8a\x00\x04\x0a\x02zz" + file(),
        file() + b"\x92\x80\x80\x80\x00\x00",
        file([*SMALL, ("<x>", 0.0, USER_DEFINED), ("\u00e9", 0.0, USER_DEFINED)]),
        file(rest=field(5, field(3, 0) + field(4, 0))),
    ],
)
def test_file_in_any_spelling_is_read_as_the_reference_does_and_written_as_it_was(data):
    spec = agreed(data)
    assert sentencepiece.dumps(spec) == data
    assert sentencepiece.loads(sentencepiece.dumps(spec.replace(document=None))) == spec


@pytest.mark.parametrize(
    ("data", "where", "offset", "says"),
    [
        (b"\x0a\x05\x0a\x02ab\x1d", "pieces[0].type", 6, "middle"),
        (b"\x0a\x04\x0a\x05ab", "pieces[0].piece", 2, "length"),
        (piece("a") + b"\x0a\x05\x0a\x02a", "pieces[1]", 10, "length"),
        (piece("a") + b"\x08\x01", "pieces[1]", 10, "wire type"),
        (b"\x0a\x02\x08\x01", "pieces[0].piece", 2, "wire type"),
        (b"\x0a\x02\x10\x01", "pieces[0].score", 2, "wire type"),
        (b"\x10\x01", "trainer_spec", 0, "wire type"),
        (file() + b"\x13\x14", "trainer_spec", len(file()), "group"),
        (file() + b"\xa3\x06\xa4\x06", "field 100", len(file()), "group"),
        (file() + b"\xa6\x06", "field 100", len(file()), "no such wire type"),
        (file() + b"\x00\x01", None, len(file()), "2\\*\\*29"),
        (file() + b"\xa0\x06" + b"\xff" * 10 + b"\x01", "field 100", len(file()), "64 bits"),
        (file() + b"\xa0\x80\x80\x80\x10\x00", None, len(file()), "2\\*\\*29"),
        (file() + b"\xa2\x06\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "field 100", len(file()), "length"),
        (file() + b"\xa1\x06\x00", "field 100", len(file()), "middle"),
        (file(trainer=b"\x1a\x01\x02"), "trainer_spec.model_type", len(file()) - 2, "wire type"),
        (file(trainer=b"\xa2\x06\x09"), "trainer_spec.field 100", len(file()) - 2, "length"),
        (file(normalizer=b"\x10\x01"), "normalizer_spec.precompiled_charsmap", len(file()), "wire type"),
        (file(rest=field(5, b"\x1b")), "denormalizer_spec.add_dummy_prefix", len(file()) + 2, "group"),
        (file([*SMALL, ("a", 0.0, NORMAL)]), "pieces[7]", None, r"pieces\[4\]"),
        (file([*SMALL, ("u", 0.0, UNKNOWN)]), "pieces[7]", None, r"pieces\[0\]"),
        (file([*SMALL, ("u", float("inf"), NORMAL)]), "pieces[7].score", None, "finite"),
        (file(LETTERS), "pieces", None, "no unknown"),
        (file([*SMALL, (b"\xff", 0.0, USER_DEFINED)]), "pieces", None, "UTF-8"),
    ],
)
def test_malformed_file_names_field_and_byte(data, where, offset, says, tmp_path):
    path = tmp_path / "x.model"
    path.write_bytes(data)
    with pytest.raises(VocabularyFileError, match=says) as caught:
        sentencepiece.load(path)
    error = pickle.loads(pickle.dumps(caught.value))
    assert error.field == where
    assert offset is None or error.offset == offset
    assert str(path) in str(error)


def test_message_of_too_many_fields_is_refused():
    with pytest.raises(VocabularyFileError, match=r"2\*\*20"):
        sentencepiece.loads(file(trainer=b"\x80\x06\x00" * (2**20 + 1)))


@given(st.integers(0, 2**32))
def test_mangled_file_is_refused_or_written_as_it_was(seed):
    rng = random.Random(seed)
    data = bytearray(file([*SMALL, ("<x>", -0.5, USER_DEFINED), ("un", -9.0, UNUSED)], normalizer=field(1, "n") + field(2, table())))
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data))
        data[at : at + rng.choice((0, 1, 1, 1, 3))] = rng.randbytes(rng.choice((0, 1, 1, 2)))
    try:
        spec = sentencepiece.loads(bytes(data))
    except VocabularyFileError:
        return
    assert sentencepiece.dumps(spec) == data


@given(st.data())
def test_random_model_of_the_references_own_messages_is_written_as_it_was(data):
    messages = pytest.importorskip("sentencepiece.sentencepiece_model_pb2", reason="protobuf is not installed")
    draw = data.draw
    model = messages.ModelProto()
    texts = draw(st.lists(st.text("ab\u2581\u00e9\U0001f600", min_size=1, max_size=40), min_size=1, max_size=30, unique=True))
    for text, _, kind in META:
        model.pieces.add(piece=text, score=0, type=kind)
    for text in texts:
        added = model.pieces.add(piece=text)
        if draw(st.booleans()):
            added.score = draw(st.floats(-20, 5, width=32))
        if draw(st.booleans()):
            added.type = draw(st.sampled_from([NORMAL, CONTROL, USER_DEFINED, UNUSED]))
    trainer, normalizer = model.trainer_spec, model.normalizer_spec
    trainer.model_type = draw(st.sampled_from([1, 2, 3, 4]))
    if draw(st.booleans()):
        trainer.user_defined_symbols.extend(draw(st.lists(st.text(max_size=5))))
        trainer.treat_whitespace_as_suffix = draw(st.booleans())
        trainer.unk_surface = draw(st.text(max_size=4))
        trainer.eos_piece = draw(st.sampled_from(["</s>", "<s>", "none"]))
        trainer.pad_id = draw(st.integers(-(2**31), 2**31 - 1))
    if draw(st.booleans()):
        normalizer.add_dummy_prefix, normalizer.remove_extra_whitespaces = draw(st.booleans()), draw(st.booleans())
        normalizer.escape_whitespaces, normalizer.name = draw(st.booleans()), draw(st.text(max_size=3))
    raw = model.SerializeToString()
    spec = agreed(raw)
    if isinstance(spec, Spec):
        assert spec.decoder.unk_surface == trainer.unk_surface
        assert spec.normalizer.user_defined == tuple(each.piece for each in model.pieces if each.type == USER_DEFINED)
        assert sentencepiece.dumps(spec) == raw
        fresh = sentencepiece.dumps(spec.replace(document=None))
        assert sentencepiece.loads(fresh) == spec
        model.ParseFromString(fresh)


# ---- writing what was changed ----


def spec_of(pieces=SMALL, kind="unigram", **parts):
    flags = {"treat_whitespace_as_suffix": parts.pop("suffix", False)}
    model = pieces_from_list(pieces, kind, **flags, **parts)
    symbols = [text for text, _, kind in pieces if kind == USER_DEFINED]
    return Spec("toy", model, None, normalizer=Normalizer(b"", user_defined=symbols, name="identity", **flags), decoder=Decoder(**flags))


def test_spec_without_a_file_is_written_so_that_the_reference_reads_it():
    spec = spec_of([*SMALL, ("<x>", -1.0, USER_DEFINED), *BYTES], "bpe", byte_fallback=True, suffix=True, eos_id=None)
    again = agreed(sentencepiece.dumps(spec))
    assert again == spec.replace(name="tokenizer", roles=again.roles)
    assert again.role("unk") == "<unk>"


def test_change_to_a_spec_is_in_the_file_and_nothing_else_is_changed():
    data = file(trainer=field(2, "prefix") + field(48, "<s>"), normalizer=field(6, "rule") + field(3, True), rest=field(100, "kept"))
    spec = sentencepiece.loads(data)
    normalizer = spec.normalizer.replace(add_dummy_prefix=False, charsmap=table())
    decoder = spec.decoder.replace(add_dummy_prefix=False, unk_surface="?", denormalizer=Normalizer(table({0: 2 << 10}), name="d"))
    changed = spec.replace(normalizer=normalizer, decoder=decoder, model=spec.model.replace(kind="char", eos_id=1, pad_id=None))
    written = sentencepiece.dumps(changed)
    again = sentencepiece.loads(written)
    assert again == changed.replace(roles=again.roles)
    for kept in (field(2, "prefix"), field(6, "rule"), field(100, "kept"), b"".join(piece(*each) for each in SMALL)):
        assert kept in written
    assert sentencepiece.dumps(again.replace(normalizer=spec.normalizer, decoder=spec.decoder, model=spec.model)).count(b"prefix") == 1


def test_change_to_the_pieces_is_in_the_file_with_as_many_spelled_as_before():
    spec = sentencepiece.loads(file() + field(1, field(1, "zz") + field(3, 1)) + field(100, "kept"))
    for listed in ([*SMALL, ("zz", 0.0, NORMAL), ("new", -1.0, NORMAL)], [*SMALL, ("z", 0.0, NORMAL)], SMALL[:5]):
        model = pieces_from_list(listed)
        written = sentencepiece.dumps(spec.replace(model=model))
        assert sentencepiece.loads(written).model == model
        assert written.endswith(field(100, "kept")) or len(listed) > len(SMALL) + 1
    again = spec.replace(model=pieces_from_list([*SMALL, ("zz", 0.0, NORMAL)]))
    assert sentencepiece.dumps(again) == sentencepiece.dumps(spec)


@pytest.mark.parametrize(
    "changes",
    [
        {"decoder": None},
        {"decoder": Decoder(add_dummy_prefix=False)},
        {"normalizer": Normalizer(user_defined=["x"])},
        {"normalizer": None},
        {"added_tokens": [AddedToken("<x>", 9)]},
        {"model": pieces_from_list(SMALL, treat_whitespace_as_suffix=True)},
        {"model": pieces_from_list([*SMALL, ("a", 0.0, NORMAL)])},
        {"model": pieces_from_list(LETTERS)},
        {"model": Pieces(TokenTable.from_dict({b"a": 0, b"b": 2}), bytes(8), b"\2\1")},
    ],
)
def test_spec_that_no_model_file_can_say_is_refused(changes):
    with pytest.raises(SpecError, match=r"SentencePiece model|user-defined"):
        sentencepiece.dumps(spec_of().replace(**changes))


def test_dump_and_load_go_by_the_name(tmp_path):
    spec = spec_of()
    formats.dump(spec, tmp_path / "tokenizer.model")
    assert formats.load(tmp_path).model == spec.model
    assert formats.load(tmp_path).name == tmp_path.name
    formats.dump(spec, tmp_path / "any", format="sentencepiece")
    assert formats.load(tmp_path / "any") == formats.loads((tmp_path / "any").read_bytes()).replace(name="any")


def test_folder_takes_a_model_before_a_vocabulary_and_roles_from_its_configuration(tmp_path):
    (tmp_path / "spiece.model").write_bytes(file())
    (tmp_path / "vocab.json").write_text('{"a": 0}')
    (tmp_path / "tokenizer_config.json").write_text('{"pad_token": "a"}')
    spec = formats.load(tmp_path)
    assert (spec.name, spec.role("pad"), spec.role("bos")) == ("spiece", "a", "<s>")
    (tmp_path / "other.model").write_bytes(file())
    with pytest.raises(VocabularyFileError, match="merges"):
        formats.load(tmp_path)


@pytest.mark.parametrize(
    ("data", "is_model"),
    [
        (piece("a" * 300) + file(), True),
        (field(1, field(1, "<unk>") + field(3, UNKNOWN)), True),
        (field(1, field(1, "a")), True),
        (field(3, b"") + file(), True),
        (field(2, field(3, 2)) + file(), True),
        (file()[:40], True),
        (b"\n", False),
        (b"\n\n\n\n", False),
        (b"\n\x30\n\x2c" + b"a" * 100, False),
        (b"\x12", False),
        (b"\x12\x20\x03", False),
    ],
)
def test_model_is_told_by_how_it_begins(data, is_model):
    assert (formats.sniff(data) == "sentencepiece") is is_model


# ---- the kernel by itself ----


def test_pieces_that_are_not_checked_have_no_tables():
    found = spmfile.ModelFile(file())
    assert found.unk_id is None
    with pytest.raises(ValueError, match="checked"):
        found.table()
    with pytest.raises(ValueError, match="checked"):
        found.find(NORMAL, b"a")
    found.check("unigram", False)
    assert (found.find(NORMAL, b"a"), found.find(CONTROL, b"a"), found.find(CONTROL, b"</s>"), found.text(4)) == (4, None, 2, b"a")
    with pytest.raises(IndexError):
        found.text(7)


def test_writer_refuses_tables_that_are_none():
    data, ends, ids, scores, types = b"ab", struct.pack("<2I", 1, 2), struct.pack("<2I", 1, 0), bytes(8), b"\1\2"
    writer = spmfile.PieceWriter(data, ends, ids, scores, types)
    assert (len(writer), writer.text(0), writer.texts(1)) == (2, b"b", [b"b"])
    assert writer.write(0, 2) == piece("b") + piece("a", 0.0, UNKNOWN)
    assert writer.write(0, 1, True) == field(1, field(1, "b") + field(2, 0.0) + field(3, 1))
    for first, last in ((1, 0), (0, 3)):
        with pytest.raises(ValueError, match="there are no pieces"):
            writer.write(first, last)
    with pytest.raises(IndexError):
        writer.text(2)
    for bad in ((data, ends, ids[:4], scores, types), (data, ends, bytes(8), scores, types), (data, ends[::-1], ids, scores, types)):
        with pytest.raises(ValueError, match="pieces"):
            spmfile.PieceWriter(*bad)


@pytest.mark.skipif(not CHECKING, reason="only builds with CTOK_BUILD=test can make allocations fail")
def test_file_that_finds_no_memory_is_not_read():
    data = file([*SMALL, *BYTES], trainer=BYTE_FALLBACK, rest=field(100, "x" * 500))
    failed = 0
    for n in range(100):
        spmfile.fail_after(n)
        try:
            spec = sentencepiece.loads(data)
            assert sentencepiece.dumps(spec) == data
        except MemoryError:
            failed += 1
        if spmfile.fail_after(-1) >= 0:
            break
    assert failed > 5
