"""What an encoder keeps, and how far it is behind, while a long text passes: bounded for every real file, whatever the text."""

import lzma

import pytest

import ctok
from ctok.formats import tokenizer_json
from ctok.tokenizer import Tokenizer

FILES = [
    "hf_albert", "hf_arabic_sp_32k", "hf_bert_minilm", "hf_claude", "hf_deepseek_v3", "hf_gemma3", "hf_gptoss", "hf_llama3_1",
    "hf_mistral_v01", "hf_nepali_sentencepiece", "hf_nepali_wordpiece", "hf_qwen3", "hf_t5",
]  # fmt: skip
SIZE, CHUNK = 12_000, 16
ENGLISH = "The quick brown fox jumps over the lazy dog, and nobody knows why; 42 times, they say. "
CHINESE = "\u4eca\u5929\u5929\u6c14\u5f88\u597d\u6211\u4eec\u53bb\u516c\u56ed\u6563\u6b65\u7136\u540e\u56de\u5bb6\u5403\u996d"
TEXTS = {"english": ENGLISH, "chinese": CHINESE, "aaaa": "a"}


def filled(part):
    return (part * (SIZE // len(part) + 1))[:SIZE]


def check(tok, text):
    """States of the last half are no larger than a few hundred bytes more than those of the first, and ids keep pace with the text."""
    encoder, counter, sizes, behind, given = tok.encoder(), tok.counter(), [], [], 0
    for at in range(0, SIZE, CHUNK):
        chunk = text[at : at + CHUNK]
        given += len(encoder.encode(chunk))
        counter.feed(chunk)
        if at % (25 * CHUNK) == 0:
            sizes.append(len(encoder.getstate()))
            behind.append(counter.count - given)
    half = len(sizes) // 2
    assert max(sizes[half:]) <= max(sizes[:half]) + 400, (max(sizes[:half]), max(sizes[half:]))
    assert max(sizes) < 6000
    assert max(behind) <= 64, max(behind)
    assert given + len(encoder.encode("", final=True)) == tok.count(text)


def real(shared, name):
    return Tokenizer.from_spec(tokenizer_json.loads(lzma.decompress((shared / "conformance" / "vocabs" / f"{name}.json.xz").read_bytes())))


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("name", FILES)
def test_state_and_lag_of_a_real_file_stay_bounded(shared, name, kind):
    if (name, kind) == ("hf_albert", "aaaa"):
        pytest.skip("has no bound: see the next test")
    check(real(shared, name), filled(TEXTS[kind]))


def test_run_whose_first_id_depends_on_its_length_is_held_whole_and_by_its_bytes_only(shared):
    """The best pieces of ALBERT for a run of one letter are threes, and what is left over stands at the start."""
    tok = real(shared, "hf_albert")
    starts = {tuple(tok.encode("a" * n, add_special_tokens=False)[:2]) for n in (3000, 3001, 3002)}
    assert len(starts) == 3
    encoder = tok.encoder(add_special_tokens=False)
    assert [encoder.encode("a" * 100) for _ in range(30)] == [[]] * 30
    assert len(encoder.getstate()) < 3000 + 1000
    assert encoder.encode("", final=True) == tok.encode("a" * 3000, add_special_tokens=False)


@pytest.mark.parametrize("kind", TEXTS)
def test_state_and_lag_of_the_built_in_vocabulary_stay_bounded(kind):
    check(ctok.load("o200k_base"), filled(TEXTS[kind]))
