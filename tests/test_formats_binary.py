"""The binary vocabulary: round trips, what its header refuses, and that no damaged or forged file does worse than raise."""

import json
import os
import pickle
import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ctok import formats
from ctok._native.files import mapped, read_pack, write_pack
from ctok.errors import SpecError, VocabularyFileError
from ctok.formats import binary
from ctok.formats._known import ENCODINGS
from ctok.spec import BPE, AddedToken, Spec, Split, TokenTable
from ctok.stagespecs import decoders, limits, models, normalizers, postprocessors, pretokenizers
from ctok.stagespecs.spelling import spell
from ctok.tokenizer import Tokenizer

ROOT = Path(__file__).resolve().parent.parent
M64 = 2**64 - 1

pieces = st.sampled_from(
    [b"", b"a", b"ab", b"abc", b"a" * 14, b"a" * 15, b"a" * 16, b"a" * 31, b"a" * 200, b"\0", b"\0\0", b"\xff", b" the"]
)
tokens = st.builds(lambda parts, end: b"".join(parts) + end, st.lists(pieces, max_size=4), st.binary(max_size=20))
vocabularies = st.dictionaries(tokens, st.integers(0, 2**31 - 1), max_size=40).filter(lambda d: len(set(d.values())) == len(d))


def parts(ranks):
    table = TokenTable.from_dict(ranks)
    return table.data, table.ends, table.ids


def spec_of(ranks, **changes):
    fields = {
        "name": "toy",
        "model": BPE(TokenTable.from_dict(ranks)),
        "pre_tokenizer": Split(r"\p{L}+é"),
        "added_tokens": [AddedToken("<é>", 99, False)],
    }
    return Spec(**fields | changes)


RANKS = {bytes([b]): b for b in range(256)} | {b"ab": 300, b"abc": 301, b"a" * 40: 302, b"a" * 80: 303}


def checksum(data):
    """The slow twin of the checksum that csrc/ctok_pack.c computes."""

    def mix(h, w):
        h = (h ^ w) * 0x9FB21C651E98DF25 & M64
        return h ^ h >> 32

    lanes = [len(data), 1, 2, 3]
    whole = len(data) // 32 * 32
    for at in range(0, whole, 32):
        lanes = [mix(h, w) for h, w in zip(lanes, struct.unpack_from("<4Q", data, at), strict=True)]
    for byte in data[whole:]:
        lanes[0] = mix(lanes[0], byte)
    return mix(mix(mix(lanes[0], lanes[1]), lanes[2]), lanes[3])


def forged(data):
    """The same bytes with the checksum (and the size) put right."""
    data = bytearray(data)
    struct.pack_into("<Q", data, 24, len(data))
    struct.pack_into("<Q", data, 16, checksum(bytes(data[24:])))
    return bytes(data)


def slow_read(data):
    """A packed file's tokens in plain Python."""
    n, n_bytes, n_meta, n_wide, n_suffix, id_bits = struct.unpack_from("<6I", data, 32)
    at = (64 + n_meta + 63) // 64 * 64
    heads, wide = data[at : at + n], iter(data[at + n : at + n + n_wide])
    suffix = data[at + n + n_wide : at + n + n_wide + n_suffix]
    numbers = int.from_bytes(data[at + n + n_wide + n_suffix :], "little")

    def number(nibble):
        if nibble < 15:
            return nibble
        rest, shift = 0, 0
        for byte in wide:
            rest |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return 15 + rest

    result, token, used = [], b"", 0
    for k, head in enumerate(heads):
        shared = number(head >> 4)
        own = number(head & 15)
        token = token[:shared] + suffix[used : used + own]
        used += own
        result.append((token, numbers >> k * id_bits & (1 << id_bits) - 1))
    assert n_bytes == sum(len(token) for token, _ in result)
    return result


@given(vocabularies, st.binary(max_size=70))
def test_packed_and_plain_tables_are_read_back(ranks, meta):
    columns = parts(ranks)
    for packed in (True, False):
        data = write_pack(*columns, meta, packed)
        got = read_pack(data)
        assert (got[0], *map(bytes, got[1:])) == (meta, *columns)
        assert struct.unpack_from("<Q", data, 16) == (checksum(data[24:]),)
        assert struct.unpack_from("<Q", data, 24) == (len(data),)
    assert slow_read(write_pack(*columns, meta)) == sorted(ranks.items())


def test_plain_table_is_used_where_it_lies():
    data = write_pack(*parts(RANKS), b"meta", False)
    for view, column in zip(read_pack(data)[1:], parts(RANKS), strict=True):
        assert isinstance(view, memoryview)
        assert view.obj is data
        assert view == column
        assert data.index(column, 64) % 64 == 0


@pytest.mark.parametrize(
    "columns",
    [
        (b"ba", struct.pack("<2I", 1, 2), struct.pack("<2I", 0, 1)),
        (b"aa", struct.pack("<2I", 1, 2), struct.pack("<2I", 0, 1)),
        (b"ab", struct.pack("<2I", 2, 2), struct.pack("<2I", 0, 1)),
        (b"ab", struct.pack("<2I", 2, 1), struct.pack("<2I", 0, 1)),
        (b"ab", struct.pack("<2I", 1, 3), struct.pack("<2I", 0, 1)),
        (b"ab", struct.pack("<I", 1), struct.pack("<I", 0)),
        (b"a", struct.pack("<I", 1), struct.pack("<I", 2**31)),
        (b"a", struct.pack("<I", 1), b""),
        (b"aba", struct.pack("<2I", 2, 3), struct.pack("<2I", 0, 1)),
    ],
)
def test_write_of_no_table_is_refused(columns):
    with pytest.raises(ValueError, match="table"):
        write_pack(*columns, b"")


@pytest.mark.parametrize("packed", [True, False])
def test_every_changed_byte_is_noticed(packed):
    data = write_pack(*parts({b"a": 1, b"ab": 2, b"b" * 20: 3}), b"meta", packed)
    for at in range(len(data)):
        with pytest.raises(VocabularyFileError):
            read_pack(data[:at] + bytes([data[at] ^ 0x20]) + data[at + 1 :])


def test_every_truncation_and_extension_is_noticed():
    data = write_pack(*parts({b"a": 1, b"ab": 2}), b"meta")
    for other in (*(data[:n] for n in range(len(data))), data + b"\0"):
        with pytest.raises(VocabularyFileError):
            read_pack(other)


@given(st.data(), st.booleans())
def test_forged_files_raise_or_give_a_table(data, packed):
    good = write_pack(*parts(RANKS), b"meta", packed)
    bad = bytearray(good)
    for at, byte in data.draw(st.lists(st.tuples(st.integers(12, len(good) - 1), st.integers(0, 255)), max_size=6)):
        bad[at] = byte
    if data.draw(st.booleans()):
        del bad[data.draw(st.integers(64, len(bad))) :]
    # n_bytes is what is reserved before anything is read; keep the test's memory small
    assume(struct.unpack_from("<I", bad, 36)[0] < 2**24)
    try:
        _, *columns = read_pack(forged(bad))
    except VocabularyFileError as error:
        assert error.cure
        return
    assert len(columns[1]) == len(columns[2])
    if packed:
        read = [token for token, _ in TokenTable(*columns)]
        assert read == sorted(set(read))


@given(st.binary(max_size=300))
def test_random_bytes_are_refused(noise):
    for data in (noise, b"\x89ctok\r\n\x1a" + noise, forged(b"\x89ctok\r\n\x1a\1\0\0\0" + noise.ljust(60, b"\0"))):
        assume(len(data) < 64 or struct.unpack_from("<I", data, 36)[0] < 2**24)
        try:
            _, *columns = read_pack(data)
        except VocabularyFileError:
            continue
        TokenTable(*columns)


def test_wide_numbers_that_never_end_are_refused():
    good = write_pack(*parts({b"a" * 40: 1}), b"")
    at = good.index(b"\x0f\x19" + b"a" * 40)
    for rest in (b"\xff", b"\x80", b"\x1a", b"\x18"):
        with pytest.raises(VocabularyFileError, match="impossible"):
            read_pack(forged(good[: at + 1] + rest + good[at + 2 :]))


# ---- specs and files ----


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("changes", [{}, {"added_tokens": ()}, {"source": "here"}, {"model": BPE(TokenTable.from_dict({}))}])
def test_spec_is_read_back(tmp_path, packed, changes):
    spec = spec_of(RANKS, **changes)
    path = tmp_path / "x.bin"
    binary.dump(spec, path, packed=packed, sha256="ab" * 32)
    again, digest = binary.read(path.read_bytes())
    assert again == binary.load(path) == formats.load(path) == formats.load(tmp_path) == spec
    assert (again.source, digest) == (spec.source, "ab" * 32)
    assert pickle.loads(pickle.dumps(binary.load(path))) == spec
    assert [p.name for p in tmp_path.iterdir()] == ["x.bin"]


def test_pattern_and_special_tokens_of_the_caller_overrule(tmp_path):
    formats.dump(spec_of(RANKS), tmp_path / "x.bin")
    spec = formats.load(tmp_path / "x.bin", pattern="x", special_tokens={"<z>": 1000})
    assert spec == spec_of(RANKS, pre_tokenizer=Split("x"), added_tokens=[AddedToken("<z>", 1000)])


@pytest.mark.parametrize(
    "changes",
    [{"normalizer": object()}, {"pre_tokenizer": 1}, {"model": None}, {"name": "\ud800"}, {"decoder": 1}, {"post_processor": 1}],
)
def test_spec_without_a_place_in_the_format_is_refused(changes):
    with pytest.raises(SpecError):
        binary.dumps(spec_of(RANKS, **changes))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda d: d[:-1], "shorter or longer"),
        (lambda d: d[:40], "shorter or longer"),
        (lambda d: d[:8] + b"\1" + d[9:], "version 1, this ctok reads versions 2 to 4"),
        (lambda d: d[:-1] + b"\x7f", "checksum"),
        (lambda d: d.replace(b"\r\n", b"\n", 1), "not a binary vocabulary"),
    ],
)
def test_damaged_file_is_refused_with_a_cure_and_kept(tmp_path, damage, says):
    path = tmp_path / "x.bin"
    path.write_bytes(damage(binary.dumps(spec_of(RANKS))))
    for load in (binary.load, formats.load):
        with pytest.raises(VocabularyFileError, match=says) as caught:
            load(path)
        assert caught.value.path == str(path)
        assert "again from the original" in caught.value.cure
    assert path.exists()


def test_empty_file_is_refused(tmp_path):
    (tmp_path / "x.bin").touch()
    with pytest.raises(VocabularyFileError):
        binary.load(tmp_path / "x.bin")


@given(st.binary(max_size=80))
def test_meta_of_random_bytes_is_refused(meta):
    with pytest.raises(VocabularyFileError, match="impossible"):
        binary.loads(write_pack(*parts({b"a": 0}), meta))


@pytest.mark.skipif(sys.platform == "win32", reason="a mapped file cannot be replaced there")
def test_mapping_outlives_the_open_file_and_is_only_read(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"abc" * 5000)
    with open(path, "rb") as file:
        view = mapped(file.fileno(), 15000)
    assert (len(view.obj), view.readonly, bytes(view)) == (15000, True, b"abc" * 5000)


@pytest.mark.parametrize("size", [0, 5])
def test_mapping_of_nothing_or_of_no_file_is_refused(size):
    with pytest.raises(ValueError, match="mapped"):
        mapped(-1, size)


def test_file_that_cannot_be_mapped_that_way_is_mapped_by_python(tmp_path, monkeypatch):
    def refuse(file, size):
        raise ValueError

    path = tmp_path / "t.bin"
    path.write_bytes(write_pack(*parts({b"a": 0, b"b": 1}), b"", False))
    wanted = bytes(binary._mapped(path))
    monkeypatch.setattr(binary, "mapped", refuse)
    assert bytes(binary._mapped(path)) == wanted == path.read_bytes()


def test_mapped_file_may_be_replaced_while_it_is_used(tmp_path):
    path = tmp_path / "x.bin"
    binary.dump(spec_of(RANKS), path)
    spec = binary.load(path)
    binary.dump(spec_of({b"x": 1}), path)
    assert spec == spec_of(RANKS)
    os.unlink(path)
    assert spec == spec_of(RANKS)


# ---- the table that is built in ----


def test_built_in_table_is_o200k_base_as_the_registry_knows_it():
    path = ROOT / "ctok" / "data" / "o200k_base.bin"
    spec, digest = binary.read(path.read_bytes())
    known = ENCODINGS["o200k_base"]
    assert (spec.name, digest, spec.pre_tokenizer.pattern, spec.added_tokens) == (
        known.name,
        known.file.sha256,
        known.pattern,
        known.added_tokens(),
    )
    assert len(spec.model.tokens) == 199998
    assert path.stat().st_size < 1_700_000


def test_pack_vocab_check_reproduces_the_committed_table(shared, tmp_path):
    import lzma

    rank_file = tmp_path / "o200k_base.tiktoken"
    rank_file.write_bytes(lzma.decompress((shared / "conformance" / "vocabs" / "o200k_base.tiktoken.xz").read_bytes()))
    tool = [sys.executable, str(ROOT / "tools" / "pack_vocab.py")]
    home = {**os.environ, "PYTHONPATH": str(Path(formats.__file__).resolve().parent.parent.parent)}
    done = subprocess.run([*tool, "--check", str(rank_file)], env=home, capture_output=True, text=True, check=False)
    assert (done.returncode, "reproduced" in done.stdout) == (0, True), done.stdout + done.stderr
    other = tmp_path / "other.bin"
    other.write_bytes(b"x")
    assert subprocess.run([*tool, "--check", str(rank_file), str(other)], env=home, capture_output=True, check=False).returncode == 1


# ---- version 3: any spec ----


def rich_spec():
    model = models.bpe_from_merges({"a": 0, "b": 1, "ab": 7}, [("a", "b")], unk_token="a", dropout=0.25)
    return Spec(
        "rich",
        model,
        pretokenizers.Sequence([pretokenizers.Metaspace(), pretokenizers.Split(pretokenizers.Regex("a|é"), "isolated")]),
        [AddedToken("<é>", 99, False, lstrip=True), AddedToken("<x>", 100)],
        normalizers.Sequence([normalizers.Precompiled(bytes(range(200))), normalizers.NFC()]),
        postprocessors.BertProcessing(("b", 1), ("a", 0)),
        decoders.Fuse(),
        "here",
        {"unk": "a"},
        limits.Truncation(5),
        limits.Padding(),
        b'{"x":1}',
    )


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(
    "spec",
    [
        rich_spec(),
        spec_of(RANKS, pre_tokenizer=None),
        spec_of(RANKS, added_tokens=[AddedToken("<x>", 900, lstrip=True)]),
        spec_of(RANKS, model=models.WordPiece(models.table_of_texts({"[UNK]": 0, "##a": 1}))),
        spec_of(RANKS, model=models.WordLevel(models.table_of_texts({"<unk>": 0}))),
        spec_of(RANKS, model=models.unigram_from_pieces([("a", -1.5), ("b", -2.0)], unk_id=0)),
    ],
    ids=["rich", "no pre-tokenizer", "flags", "WordPiece", "WordLevel", "Unigram"],
)
def test_any_spec_comes_back_mapped_and_in_memory(tmp_path, spec, packed):
    binary.dump(spec, tmp_path / "x.bin", packed=packed, sha256="ab")
    for got in (binary.load(tmp_path / "x.bin"), binary.loads((tmp_path / "x.bin").read_bytes()), formats.load(tmp_path / "x.bin")):
        assert got == spec
        assert (got.source, got.document) == (spec.source, spec.document)
    assert pickle.loads(pickle.dumps(got)) == spec
    assert binary.load_with_sha256(tmp_path / "x.bin")[1] == "ab"


def test_piece_that_stands_twice_is_held_plain_only():
    spec = spec_of(RANKS, model=models.unigram_from_pieces([("a", -1.5), ("b", -2.0), ("a", -1.0)]))
    assert binary.loads(binary.dumps(spec, packed=False)) == spec
    with pytest.raises(SpecError, match="twice"):
        binary.dumps(spec)


def test_buffers_of_a_mapped_file_are_views():
    merges = binary.loads(binary.dumps(rich_spec(), packed=False)).model.merges
    assert isinstance(merges, memoryview)


@pytest.mark.parametrize("packed", [True, False])
def test_forged_json_of_version_3_is_refused(packed):
    good = binary.dumps(rich_spec(), packed=packed)
    size = int.from_bytes(good[64:68], "little")
    for at in range(68, 68 + size):
        for byte in b'"0}x-':
            try:
                binary.loads(forged(good[:at] + bytes([byte]) + good[at + 1 :]))
            except VocabularyFileError:
                pass
    for module in (
        "os.system",
        "stagespecs.normalizers.Record",
        "stagespecs._fields.Record",
        "spec.TYPE_CHECKING",
        "stagespecs.missing.NFC",
    ):
        meta = b'{"spec":{"is":"%s"},"sha256":"","columns":[]}' % module.encode()
        with pytest.raises(VocabularyFileError, match="impossible"):
            binary.loads(write_pack(*parts({b"a": 0}), len(meta).to_bytes(4, "little") + meta, False, 3))


# ---- byte-level models: the tokens by their bytes are kept, too ----


def spelled_spec():
    """A byte-level model in which one token spells no bytes, and one is an added token."""
    letters = spell(bytes(range(256)))
    vocab = {letter: number for number, letter in enumerate(letters)} | {"ab": 300, "\u0120a": 301, "\u4e2d": 302, "<x>": 303}
    model = models.bpe_from_merges(vocab, [("a", "b"), ("\u0120", "a")])
    steps = pretokenizers.Sequence([pretokenizers.Digits(), pretokenizers.ByteLevel(add_prefix_space=False)])
    return Spec("spelled", model, steps, [AddedToken("<x>", 303)], decoder=decoders.ByteLevel())


def test_tokens_by_their_bytes_are_kept_in_a_plain_file_and_change_nothing():
    spec = spelled_spec()
    got = binary.loads(binary.dumps(spec, packed=False))
    assert got == spec and got.model.by_bytes and not spec.model.by_bytes
    assert not binary.loads(binary.dumps(spec)).model.by_bytes
    assert not got.model.replace(tokens=spec.model.tokens).by_bytes and got.model.replace(dropout=0.5).by_bytes
    ours, theirs = Tokenizer.from_spec(got), Tokenizer.from_spec(spec)
    for text in ("", "ab a b 12", "\u4e2d\u00ff<x>", " a ab"):
        ids = ours.encode(text, allowed_special="all")
        assert ids == theirs.encode(text, allowed_special="all")
        assert ours.decode(ids) == theirs.decode(ids)
    assert ours.decode([302]) == theirs.decode([302])


def long_list():
    """A byte-level model with several merges a token, in the order of what they give."""
    rng = random.Random(3)
    texts = dict.fromkeys(spell(bytes(range(256))))
    while len(texts) < 5000:
        texts["".join(rng.choices(list(texts)[97:], k=2))] = None
    merges = [(text[:at], text[at:]) for text in texts for at in range(1, len(text)) if text[:at] in texts and text[at:] in texts]
    vocab = {text: number for number, text in enumerate(texts)}
    joined = b"".join(vocab[left + right].to_bytes(4, "little") for left, right in merges)
    return Spec("long", models.bpe_from_merges(vocab, merges, joined=joined), pretokenizers.ByteLevel(add_prefix_space=False))


def test_merges_that_are_used_are_kept_in_a_plain_file_and_forgotten_with_the_list():
    spec = long_list()
    model = binary.loads(binary.dumps(spec, packed=False)).model
    assert model == spec.model and len(model.used) == (len(model.joined) // 4 + 7) // 8 and not spec.model.used
    assert model.replace(ignore_merges=True).used and pickle.loads(pickle.dumps(model)) == model
    for change in ("tokens", "merges", "joined"):
        assert not model.replace(**{change: getattr(model, change)}).used
    with pytest.raises(ValueError, match="one bit"):
        model.replace(used=bytes(model.used) + b"x")


def test_file_of_version_3_whose_records_have_fewer_fields_is_read():
    spec = long_list()
    good = binary.dumps(spec)
    size = int.from_bytes(good[64:68], "little")
    said = json.loads(good[68 : 68 + size])
    del said["spec"]["model"]["used"]
    short = json.dumps(said, separators=(",", ":")).encode()
    meta = size.to_bytes(4, "little") + short.ljust(size) + good[68 + size : 64 + int.from_bytes(good[40:44], "little")]
    table = spec.model.tokens
    for packed in (True, False):
        assert binary.loads(write_pack(table.data, table.ends, table.ids, meta, packed, 3)) == spec


def test_forged_tables_by_bytes_are_refused():
    spec = spelled_spec()
    good = bytes(binary.loads(binary.dumps(spec, packed=False)).model.by_bytes)
    n = len(spec.model.tokens)
    for bad in (
        good[: 8 * n - 1],  # cut off
        good[: 8 * n + 3],
        good[: 8 * n - 4] + (n).to_bytes(4, "little") + good[8 * n :],  # the place of a token that is not there
        b"\xfe" * 4 + good[4:],  # an end behind the bytes
        good[: 4 * n] + b"\xff" * 4 + good[4 * n + 4 :],  # an id too large
    ):
        with pytest.raises(SpecError):
            Tokenizer.from_spec(spec.replace(model=spec.model.replace(by_bytes=bad)))
