"""Collected cases about real tokenizers: what went wrong elsewhere, on the files of the conformance kit."""

import json
import lzma
from functools import cache

import pytest

import ctok
from ctok import formats
from ctok.formats import tokenizer_json
from ctok.tokenizer import Tokenizer

FILES = {  # as the cases call them; the file that they call llama2 is Mistral's
    "hf:bert_minilm": "hf_bert_minilm", "hf:claude": "hf_claude", "hf:deepseek_v3": "hf_deepseek_v3", "hf:llama2": "hf_mistral_v01",
    "hf:llama3": "hf_llama3_1", "hf:qwen3": "hf_qwen3",
}  # fmt: skip
ENCODED = """
K1-01 K1-03 K1-05 K1-12 K1-14 K1-15 K1-17 K1-18 K1-19 K1-21 K1-22 K1-24 K1-28 K3-25
""".split()
ROUND = "K5-13 K5-14 K5-15 K5-16 K5-17".split()


@cache
def case(path, name):
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(one for one in map(json.loads, lines) if one["id"] == name)


@cache
def tokenizer(folder, name):
    return Tokenizer.from_spec(tokenizer_json.loads(lzma.decompress((folder / f"{FILES[name]}.json.xz").read_bytes())))


@pytest.fixture
def of(shared):
    """The case of this id, and its tokenizer."""

    def find(name):
        found = case(shared / "cases" / "cases.jsonl", name)
        return found, tokenizer(shared / "conformance" / "vocabs", found["tokenizer"])

    return find


def streamed(tok, text, **options):
    encoder = tok.encoder(**options)
    return [number for char in text for number in encoder.encode(char)] + encoder.encode("", final=True)


def decoded(tok, ids):
    decoder = tok.decoder()
    return "".join([decoder.decode(number) for number in ids]) + decoder.decode((), final=True)


def ids_of(names):
    return [name.lower().replace("-", "_") for name in names]


@pytest.mark.parametrize("name", ENCODED, ids=ids_of(ENCODED))
def test_case_of_a_real_file_gives_ids(of, name):
    found, tok = of(name)
    options = {"allowed_special": "all", "add_special_tokens": False}
    assert tok.encode(found["input"], **options) == found["expect_ids"]
    assert streamed(tok, found["input"], **options) == found["expect_ids"]
    assert tok.count(found["input"], **options) == len(found["expect_ids"])


@pytest.mark.parametrize("name", ROUND, ids=ids_of(ROUND))
def test_case_of_a_real_file_comes_back_from_ids(of, name):
    found, tok = of(name)
    ids = tok.encode(found["input"], add_special_tokens=False)
    assert tok.decode(ids) == decoded(tok, ids) == found["expect"] == found["input"]


def test_k4_13_places_behind_an_added_token_and_an_accent(of):
    found, tok = of("K4-13")
    encoding = tok.encoding(found["input"], allowed_special="all", add_special_tokens=False)
    assert encoding.ids == found["expect_ids"]
    assert [list(span) for span in encoding.spans] == found["expect_offsets"]


def test_k5_04_negative_id_is_named_and_the_stand_in_overflows(of):
    from ctok.compat.tokenizers import Tokenizer as Face

    _, tok = of("K5-04")
    with pytest.raises(ctok.UnknownIdError, match="-1 at index 0"):
        tok.decode([-1])
    with pytest.raises(OverflowError):
        Face.from_spec(tok.spec).decode([-1])


def test_k5_05_id_in_the_gap_behind_the_vocabulary_is_named_and_the_stand_in_skips_it(of):
    from ctok.compat.tokenizers import Tokenizer as Face

    found, tok = of("K5-05")
    with pytest.raises(ctok.UnknownIdError, match="151927 at index 1") as caught:
        tok.decode(found["input"])
    assert (caught.value.id, caught.value.index) == (151927, 1)
    assert Face.from_spec(tok.spec).decode(found["input"]) == found["expect"]
    decoder = tok.decoder()
    assert decoder.decode(9707) == "Hello"
    with pytest.raises(ctok.UnknownIdError):
        decoder.decode(151927)
    assert decoder.decode(1879) == " world"


def test_k5_19_wordpiece_decoder_tidies_up_as_its_file_says(of):
    found, tok = of("K5-19")
    assert tok.decode(found["input"]) == decoded(tok, found["input"]) == found["expect"]


def test_k10_14_limits_of_a_file_belong_to_the_stand_in(of):
    from ctok.compat.tokenizers import Tokenizer as Face

    found, tok = of("K10-14")
    wanted = found["expect"]
    assert tok.encode(found["input"]) == wanted["ids_without_padding"]
    assert tok.count(found["input"]) == 3
    face = Face.from_spec(tok.spec)
    filled = face.encode(found["input"])
    assert len(filled.ids) == wanted["len"]
    assert [number for number, real in zip(filled.ids, filled.attention_mask, strict=True) if real] == wanted["ids_without_padding"]
    face.no_padding()
    assert face.encode(found["input"]).ids == wanted["ids_without_padding"]


@pytest.mark.parametrize("name", ["K10-16", "K10-19", "K10-20"], ids=ids_of(["K10-16", "K10-19", "K10-20"]))
def test_case_of_what_looks_like_a_text(name):
    tok = ctok.load("o200k_base")

    class Text(str):
        __slots__ = ()

    if name == "K10-16":
        with pytest.raises(TypeError, match="float"):
            tok.encode(float("nan"))
        return
    text = Text("a") if name == "K10-20" else pytest.importorskip("numpy").str_("a")
    assert tok.encode(text) == tok.encode("a")
    assert tok.encode_batch([text, "b"]) == tok.encode_batch(["a", "b"])
    assert tok.encoder().encode(text, final=True) == tok.encode("a")
    assert tok.count(text) == 1


def test_k1_41_control_character_is_cut_as_tekken_s_own_pattern_says(shared):
    spec = formats.loads(lzma.decompress((shared / "conformance" / "vocabs" / "tekken_240718.json.xz").read_bytes()))
    tok = Tokenizer.from_spec(spec)
    ids = tok.encode("ju\x16")
    assert tok.decode_bytes(ids) == b"ju\x16"
    assert [tok.decode_bytes([number]) for number in ids] == [b"ju", b"\x16"]


# ---- small files ----

LOADED = "K6-01 K6-03 K6-42 K6-44 K6-46".split()


@pytest.mark.parametrize("name", LOADED, ids=ids_of(LOADED))
def test_case_of_a_small_file_loads_and_gives_ids(shared, name):
    found = case(shared / "cases" / "cases.jsonl", name)
    tok = ctok.load(shared / "cases" / "fixtures" / found["tokenizer"].partition(":")[2])
    assert tok.encode(found["input"]) == found["expect_ids"] == streamed(tok, found["input"])


@pytest.mark.parametrize("name", ["K6-10", "K6-11"], ids=ids_of(["K6-10", "K6-11"]))
def test_case_of_an_id_that_is_none_names_the_item(shared, name):
    found = case(shared / "cases" / "cases.jsonl", name)
    with pytest.raises(ctok.VocabularyFileError, match=r"the id of a token must be.*entry \d"):
        ctok.load(shared / "cases" / "fixtures" / found["tokenizer"].partition(":")[2])


def test_k3_22_added_tokens_in_letters_that_stand_for_bytes_come_back(shared):
    from ctok.compat.tokenizers import Tokenizer as Face

    found = case(shared / "cases" / "cases.jsonl", "K3-22")
    path = shared / "cases" / "fixtures" / "bytelevel_added_latin.json"
    tok, face = ctok.load(path), Face.from_file(str(path))
    assert tok.encode(found["input"]) == found["expect"]["ids"] == face.encode(found["input"]).ids
    for text in (found["input"], "caf\u010d and il\u00d6veyou \u00e9"):
        ids = tok.encode(text)
        assert tok.decode(ids) == decoded(tok, ids) == text
        assert tok.decode_spans(ids)[0] == text
    assert face.decode(found["expect"]["ids"]) == found["reference_result"]
    assert face.decode_batch([[256], [257]]) == [found["reference_result"], "caf\r"]


def test_k6_16_stand_in_numbers_added_tokens_as_the_library_does():
    from ctok.compat.tokenizers import Tokenizer as Face
    from ctok.compat.tokenizers import models

    face = Face(models.BPE(vocab={"a": 0, "b": 3}, merges=[]))
    face.add_tokens(["<x>", "<y>", "<z>"])
    live = pytest.importorskip("tokenizers")
    other = live.Tokenizer(live.models.BPE(vocab={"a": 0, "b": 3}, merges=[]))
    other.add_tokens(["<x>", "<y>", "<z>"])
    for token in ("<x>", "<y>", "<z>", "a", "b"):
        assert face.token_to_id(token) == other.token_to_id(token)


@pytest.mark.parametrize("name", ["<0x-1>", "<0xZZ>", "<0x>", "<0x100>"])
def test_k2_20_piece_that_only_looks_like_a_byte_is_an_ordinary_one(name):
    pieces = ["a", name, *[f"<0x{b:02X}>" for b in range(256)]]
    model = {"type": "BPE", "vocab": {piece: k for k, piece in enumerate(pieces)}, "merges": [], "byte_fallback": True}
    document = {"version": "1.0", "added_tokens": [], "model": model, "decoder": {"type": "ByteFallback"}}
    tok = Tokenizer.from_spec(tokenizer_json.loads(json.dumps(document).encode()))
    assert tok.encode("a\u00e9") == [0, 2 + 0xC3, 2 + 0xA9]
    assert tok.decode([1]) == name


def test_k2_09_unigram_on_one_long_run_is_linear():
    vocab = [["<unk>", 0.0], ["a", -2.0], ["b", -3.0]]
    document = {"version": "1.0", "added_tokens": [], "model": {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": False}}
    tok = Tokenizer.from_spec(tokenizer_json.loads(json.dumps(document).encode()))
    assert tok.count("a" * 160_000) == 160_000


NORMALIZED = "K1-31 K1-32 K1-34 K2-12".split()


@pytest.mark.parametrize("name", NORMALIZED, ids=ids_of(NORMALIZED))
def test_case_of_a_table_of_replacements_in_both_libraries_ways(shared, name):
    pytest.importorskip("sentencepiece")
    from ctok.compat.sentencepiece import SentencePieceNormalizer
    from ctok.formats import charsmap
    from ctok.stages.normalizers import build_normalizer
    from ctok.stagespecs.normalizers import Precompiled

    found = case(shared / "cases" / "cases.jsonl", name)
    mine = SentencePieceNormalizer(rule_name="nmt_nfkc", escape_whitespaces=True, add_dummy_prefix=True, remove_extra_whitespaces=True)
    assert mine.normalize(found["input"]) == found["expect"]["sentencepiece"]
    record = Precompiled(charsmap.named("nmt_nfkc"))
    assert build_normalizer(record).normalize(found["input"]) == found["expect"]["hf_precompiled"]


def test_k1_33_zero_width_joiner_is_what_the_table_of_the_file_says():
    from ctok.formats import charsmap
    from ctok.stages.normalizers import build_normalizer
    from ctok.stagespecs.normalizers import Precompiled

    assert build_normalizer(Precompiled(charsmap.named("nmt_nfkc"))).normalize("a\u200db") == "a\u200db"
    assert build_normalizer(Precompiled(charsmap.compile_rules({"\u200d": " "}))).normalize("a\u200db") == "a b"


def test_k4_24_places_stay_exact_where_a_form_makes_another_word():
    vocab = {"[UNK]": 0, "\u2581": 1}
    document = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {"type": "NFKC"},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "never", "split": True},
        "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"},
    }
    tok = Tokenizer.from_spec(tokenizer_json.loads(json.dumps(document).encode()))
    text = "\u1f10\u03bd\u03b8\u03ac\u03b4\u1fbd \u1f35\u03be\u03bf\u03bc\u03b1\u03b9"
    found = tok.encoding(text)
    assert found.word_ids == [0, 1, 2]  # the koronis is a blank and an accent, and begins a word of its own
    assert [text[start:stop] for start, stop in found.spans] == [text[:5], text[5], text[6:]]


# ---- what a program expects of the library ----


def test_k11_02_text_is_cut_at_either_end_and_never_inside_a_character():
    tok = ctok.load("o200k_base")
    text = "The \u4e2d\u6587 text \U0001f600\U0001f600 " * 20
    for most in (0, 1, 5, 17):
        head = tok.truncate(text, most)
        assert text.startswith(head) and tok.count(head) <= most
    pieces = tok.split(text, 9)
    assert "".join(pieces) == text and max(map(tok.count, pieces)) <= 9


def test_k11_05_and_k8_12_many_short_texts_are_one_call(of):
    tok = ctok.load("o200k_base")
    texts = [f"text {n}" for n in range(2000)]
    assert tok.encode_batch(texts, num_threads=4) == [tok.encode(text) for text in texts]
    assert tok.count_batch(texts) == [tok.count(text) for text in texts]


def test_k11_06_ids_come_without_lists():
    tok = ctok.load("o200k_base")
    ids = tok.encode_ids("hello world")
    view = memoryview(ids)
    assert (view.format, view.itemsize, view.tolist()) == ("I", 4, tok.encode("hello world"))
    numpy = pytest.importorskip("numpy")
    assert numpy.frombuffer(ids, numpy.uint32).tolist() == numpy.asarray(ids).tolist() == tok.encode("hello world")


def test_k11_07_bytes_errors_and_places_of_decoded_ids():
    tok = ctok.load("o200k_base")
    ids = tok.encode("a\U00012000")[:-1]
    raw = tok.decode_bytes(ids)
    assert "a\U00012000".encode().startswith(raw) and tok.decode(ids, errors="ignore") == "a"
    with pytest.raises(ctok.DecodeError):
        tok.decode(ids, errors="strict")
    text, spans = tok.decode_spans(ids)
    assert text == tok.decode(ids) and len(spans) == len(ids)


def test_k11_08_places_in_three_units(of):
    _, tok = of("K1-01")
    text = "\U0001f600\u00e9 a"
    for unit, size in (("char", len(text)), ("byte", len(text.encode())), ("utf16", len(text.encode("utf-16-le")) // 2)):
        spans = tok.encoding(text, unit=unit).spans
        assert spans[0][0] == 0 and spans[-1][1] == size


def test_k11_12_special_tokens_are_allowed_and_refused_for_every_format(of):
    for name in ("K1-01", "K1-18", "K1-05"):
        _, tok = of(name)
        special = next(iter(tok.special_tokens))
        number = tok.special_tokens[special]
        assert number not in tok.encode(special, add_special_tokens=False)
        assert tok.encode(special, allowed_special={special}, add_special_tokens=False) == [number]
        with pytest.raises(ctok.DisallowedSpecialTokenError):
            tok.encode(special, disallowed_special="all")


def test_k11_13_large_text_is_encoded_while_the_loop_turns():
    import asyncio

    tok, ticks = ctok.load("o200k_base"), []

    async def tick():
        while True:
            ticks.append(1)
            await asyncio.sleep(0)

    async def run():
        beat = asyncio.create_task(tick())
        ids = await ctok.streams.encode_text("hello world " * 40_000, tok)
        beat.cancel()
        return ids

    pytest.importorskip("anyio")
    assert len(asyncio.run(run())) == tok.count("hello world " * 40_000)
    assert len(ticks) > 1


def test_k11_14_errors_are_ones_own_and_of_the_kinds_that_programs_catch(tmp_path):
    assert issubclass(ctok.UnknownIdError, (LookupError, ValueError)) and issubclass(ctok.VocabularyFileError, ValueError)
    path = tmp_path / "bad.tiktoken"
    path.write_bytes(b"YQ== 0\nYg== x\n")
    with pytest.raises(ctok.VocabularyFileError, match=r"bad\.tiktoken") as caught:
        ctok.load(path, pattern=r"\w+|\W+")
    assert caught.value.line == 2


def test_k9_05_and_07_package_holds_what_it_reads_and_is_no_namespace():
    from importlib.resources import files

    assert ctok.__file__ and files("ctok").joinpath("data", "o200k_base.bin").is_file()
    assert files("ctok").joinpath("py.typed").is_file()


def test_k9_08_every_compiled_room_has_types():
    from pathlib import Path

    rooms = Path(ctok.__file__).parent / "_native"
    built = {path.stem for path in rooms.glob("*.pyx")}  # in a wheel there are only compiled ones
    built = built or {path.name.partition(".")[0] for path in rooms.iterdir() if path.suffix in (".so", ".pyd")}
    assert built and built - {"_cyutility"} <= {path.stem for path in rooms.glob("*.pyi")}  # that one is Cython's own


def test_k8_09_threads_share_a_tokenizer(of):
    from concurrent.futures import ThreadPoolExecutor

    _, tok = of("K1-18")
    texts = [f"word {n} and more" * 3 for n in range(64)]
    want = [tok.encode(text) for text in texts]

    def work(k):
        text = texts[k % 64]
        encoder = tok.encoder()
        got = encoder.encode(text[:5]) + encoder.encode(text[5:], final=True)
        return got == want[k % 64] == tok.encode(text) and tok.decode(got) == tok.decode(want[k % 64])

    with ThreadPoolExecutor(32) as pool:
        assert all(pool.map(work, range(512)))


# ---- streams of ids that went wrong elsewhere (bNN: the list of stream cases) ----


def test_b14_one_blank_is_dropped_once_at_the_start(of):
    _, tok = of("K5-15")
    ids = tok.encode("leading x", add_special_tokens=False)
    decoder = tok.decoder()
    parts = [decoder.decode(number) for number in ids]
    assert "".join(parts) + decoder.decode([], final=True) == "leading x"
    assert parts[-1] == " x"


def test_b16_blanks_that_are_tokens_of_their_own_come_back(of):
    for name in ("K5-15", "K5-13", "K1-01"):
        _, tok = of(name)
        for text in ("a    b", "a\n\n\n  b", "  a  "):
            ids = tok.encode(text, add_special_tokens=False)
            assert decoded(tok, ids) == tok.decode(ids) == text


def test_b21_no_blanks_are_put_around_added_tokens(of):
    _, tok = of("K1-17")
    text = "<|im_start|>ok<|im_end|>1"
    ids = tok.encode(text, allowed_special="all")
    assert decoded(tok, ids) == tok.decode(ids) == text


def test_b09_end_of_a_broken_character_keeps_what_was_shown(of):
    _, tok = of("K5-13")
    ids = tok.encode("a\U00012000", add_special_tokens=False)
    decoder = tok.decoder()
    shown = "".join([decoder.decode(number) for number in ids[:-1]])
    assert shown == "a"
    assert decoder.copy().decode([], final=True) == "\ufffd"
    assert shown + decoder.decode(ids[-1], final=True) == "a\U00012000"


def test_b39_truncation_of_a_giant_pretoken_reads_no_more_than_it_must():
    tok = ctok.load("o200k_base")
    text = "^" * 1_000_000
    short = tok.truncate(text, 1000)
    assert tok.count(short) <= 1000 < tok.count(text[: len(short) + 64])
