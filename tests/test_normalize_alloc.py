"""Normalizers with every allocation made to fail once. Needs a build with CTOK_BUILD=test."""

import alloc_walk
from ctok._native import charsmap as rules_kernel
from ctok._native import normalize as kernel
from ctok.formats.charsmap import compile_rules
from ctok.stages.normalizers import build_normalizer
from ctok.stagespecs import normalizers as records
from ctok.stagespecs import sentencepiece
from ctok.stagespecs.patterns import Regex
from normalize_charsmap import charsmap

pytestmark = alloc_walk.needs_failing(kernel)

RECORD = records.Sequence(
    [
        records.Strip(),
        records.Prepend("\u2581"),
        records.Replace("``", '"'),
        records.Replace(Regex(" {2,}"), " "),
        records.Replace(Regex("[xy]+z"), "<>"),
        records.NFKC(),
        records.Lowercase(),
        records.Precompiled(charsmap({"a": "bcd", "e\u0301": "\u00e9", "\u2026": "..."})),
        records.ByteLevel(),
    ]
)
TEXT = " ``Abc  xyxz\u2026 " + "e\u0301\u0323" * 20 + "\u0301\u0323" * 40 + "a" * 300 + " "


def walk(call, module=kernel):
    alloc_walk.walk([module], lambda _: call())


def test_normalizer_that_finds_no_memory_is_not_built():
    walk(lambda: build_normalizer(RECORD).steps[0])


def test_normalize_that_finds_no_memory_works_later():
    mine = build_normalizer(RECORD)
    walk(lambda: mine.normalize(TEXT))
    walk(lambda: mine.normalize_spans(TEXT))


def test_normalize_with_a_function_that_finds_no_memory_works_later():
    mine = build_normalizer(records.Replace(Regex("(?<=a)b"), "B"))
    walk(lambda: mine.normalize("abab"))
    walk(lambda: mine.normalize_spans("abab"))


def pieces(mine, text=TEXT):
    stream = kernel.NormalizerStream(mine)
    out = [stream.feed(char.encode()) for char in text[:60]]
    stream = stream.copy()
    state = stream.save()
    stream = kernel.NormalizerStream(mine)
    stream.load(state)
    return b"".join([*out, stream.feed(text[60:].encode(), True)])


def test_normalizer_stream_that_finds_no_memory_works_later():
    mine = build_normalizer(RECORD)
    assert pieces(mine) == mine.normalize(TEXT.encode())
    walk(lambda: pieces(mine))


# ---- SentencePiece's own ----

RULES = {"a": "bcd", "e\u0301": "\u00e9", "\u2026": "...", "\u304b\u3099": "\u304c", "x" * 40: "y"}
OWN = "  ``Abc <s>  xyxz\u2026 " + "e\u0301\u304b" * 40 + "x" * 39 + "a" * 300 + "\u2581" * 90 + "b  "


def own(rules=RULES):
    wide = {chr(code): chr(code + 1) for code in range(0x4E00, 0xA000, 64)}
    return sentencepiece.Normalizer(compile_rules(rules | wide), user_defined=("<s>", "<pad>"))


def test_spm_normalizer_that_finds_no_memory_is_not_built():
    record = own()
    walk(lambda: build_normalizer(record).steps[0])


def test_spm_normalize_that_finds_no_memory_works_later():
    mine = build_normalizer(own())
    walk(lambda: mine.normalize(OWN))
    walk(lambda: mine.normalize_spans(OWN))
    walk(lambda: [bytes(part) for part in mine.normalize_offsets(OWN.encode() + b"\xff")])
    assert pieces(mine, OWN) == mine.normalize(OWN.encode())
    walk(lambda: pieces(mine, OWN))


def test_rules_that_find_no_memory_are_not_compiled():
    walk(lambda: compile_rules(RULES | {chr(code): "x" for code in range(0x3000, 0x4000)}), rules_kernel)
