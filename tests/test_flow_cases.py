"""Collected cases about tokenizer.json files: ids and places of texts that went wrong elsewhere."""

import json

import pytest

from ctok.formats import tokenizer_json
from ctok.tokenizer import Tokenizer

pytest.importorskip("tokenizers")

IDS = """
K1-43 K1-44 K3-09 K3-10 K3-11 K3-12 K3-13 K3-15 K3-16 K3-17 K3-18 K3-19 K3-20 K3-27 K3-28 K3-29 K3-30 K4-01 K4-02 K4-04
K4-06 K4-07 K4-08 K4-10 K4-11 K4-25
""".split()


@pytest.mark.parametrize("name", [name.lower().replace("-", "_") for name in IDS])
def test_case_of_a_small_file_gives_ids_and_places(shared, name):
    lines = (shared / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    case = next(one for one in map(json.loads, lines) if one["id"].lower().replace("-", "_") == name)
    file = shared / "cases" / "fixtures" / case["tokenizer"].partition(":")[2]
    tok = Tokenizer.from_spec(tokenizer_json.loads(file.read_bytes()))
    text = case["input"]
    assert tok.encode(text, allowed_special="all") == case["expect_ids"]
    encoder = tok.encoder(allowed_special="all")
    assert [one for char in text for one in encoder.encode(char)] + encoder.encode("", final=True) == case["expect_ids"]
    found = tok.encoding(text, allowed_special="all")
    assert found.ids == case["expect_ids"]
    if "expect_offsets" in case:
        assert [list(span) for span in found.spans] == case["expect_offsets"]
    if "expect_tokens" in case:
        assert found.tokens == case["expect_tokens"]
