"""Lists of merges that are a rule by rank, against the live reference: tokens that merging does not give, several merges of one token."""

import random

import pytest

import ctok
from ctok._native.files import used_merges
from ctok.formats import binary
from ctok.stages.models import build_model
from ctok.stagespecs.models import bpe_from_merges
from flow_files import bpe, byte_level, document
from model_checks import real_file

tokenizers = pytest.importorskip("tokenizers")

ALPHABET = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
LETTERS = "abcde"
SOME = "aaabbcde \u00e9\u4e2d"


def random_list(rng, n=4200, again=0.0):
    """(vocab, merges): joined at random, so that many tokens are never reached; `again`: the part of them that several merges give."""
    texts = dict.fromkeys(ALPHABET)
    pool = [letter for letter in LETTERS for _ in range(40)] + ["\u0120", "\u00c3", "\u00a9", "\u00e4", "\u00b8", "\u0143"] * 10
    ways = []
    while len(ways) < n:
        left, right = rng.choice(pool), rng.choice(pool)
        if left + right not in texts and len(left + right) < 24:
            texts[left + right] = None
            ways.append([(left, right)])
            pool.append(left + right)
    for way in ways:
        text = way[0][0] + way[0][1]
        others = [(text[:cut], text[cut:]) for cut in range(1, len(text)) if text[:cut] in texts and text[cut:] in texts]
        if rng.random() < again:
            way += [pair for pair in others if pair not in way]
            rng.shuffle(way)
    ids = sorted(rng.sample(range(len(texts) + 500), len(texts)))
    return dict(zip(texts, ids, strict=True)), [pair for way in ways for pair in way]


def file_of(vocab, merges, ignore_merges):
    return document(bpe(vocab, merges, ignore_merges=ignore_merges), [], pre_tokenizer=byte_level(), decoder=byte_level())


def both(tmp_path, file, kept=False):
    """Ours, `kept` in the binary form, and the reference."""
    path = tmp_path / "tokenizer.json"
    path.write_text(file, encoding="utf-8")
    if kept:
        binary.dump(ctok.load(path).spec, tmp_path / "kept.bin")
    return ctok.load(tmp_path / "kept.bin" if kept else path), tokenizers.Tokenizer.from_file(str(path))


def texts(rng, vocab):
    """Random texts; and all tokens, each of which may or may not be its own encoding."""
    yield from ("".join(rng.choices(SOME, k=rng.choice((5, 40, 400)))) for _ in range(300))
    yield "".join(rng.choices("ab", k=5000))
    words = [token.replace("\u0120", " ") for token in vocab if set(token) <= set(LETTERS + "\u0120")]
    rng.shuffle(words)
    for at in range(0, len(words), 50):
        yield "1".join(words[at : at + 50])


@pytest.mark.parametrize("kept", [False, True], ids=["file", "binary"])
@pytest.mark.parametrize("ignore_merges", [False, True])
@pytest.mark.parametrize("again", [0.0, 0.5, 1.0])
def test_random_lists_in_the_order_of_their_ids_merge_as_the_reference_does(tmp_path, again, ignore_merges, kept):
    rng = random.Random(f"{again} {ignore_merges} {kept}")
    vocab, merges = random_list(rng, again=again)
    ours, live = both(tmp_path, file_of(vocab, merges, ignore_merges), kept)
    assert ours.flow.model.is_ranked
    assert 0 < sum(byte.bit_count() for byte in ours.spec.model.used) < len(merges) if kept else not ours.spec.model.used
    for text in texts(rng, vocab):
        wanted = live.encode(text).ids
        assert ours.encode(text) == wanted
        assert ours.count(text) == len(wanted)
        stream = ours.encoder()
        assert [number for character in text[:60] for number in stream.encode(character)] + stream.encode("", final=True) == (
            live.encode(text[:60]).ids
        )


def test_what_merging_gives_is_the_same_before_and_after_it_was_learnt(tmp_path):
    rng = random.Random(5)
    vocab, merges = random_list(rng)
    ours, live = both(tmp_path, file_of(vocab, merges, False))
    for _ in range(3):
        for token in rng.sample([token for token in vocab if set(token) <= set(LETTERS)], 100):
            assert ours.encode(token) == live.encode(token).ids


def test_merges_are_left_out_as_by_a_list_that_is_not_ranked():
    vocab, merges = random_list(random.Random(6), again=0.5)
    joined = b"".join(vocab[left + right].to_bytes(4, "little") for left, right in merges)
    ranked = build_model(bpe_from_merges(vocab, merges, joined=joined), byte_level=True)
    used = used_merges(ranked.vocab, bpe_from_merges(vocab, merges).merges, joined)
    short = build_model(bpe_from_merges(vocab, merges, joined=joined, used=used), byte_level=True)
    other = build_model(bpe_from_merges(vocab, merges), byte_level=True)
    assert ranked.is_ranked and short.is_ranked and not other.is_ranked
    words = [word for word in vocab if len(word) > 6 and set(word) <= set(LETTERS)][:60]
    for seed, word in enumerate(words):
        for alpha in (0, 0.2, 0.7, 1):
            assert ranked.sample(word, alpha, seed=seed) == short.sample(word, alpha, seed=seed) == other.sample(word, alpha, seed=seed)
        for one in (ranked, short):
            assert one.encode_with_ends(word.encode()) == other.encode_with_ends(word.encode())


@pytest.mark.parametrize("spoil", ["order", "twice", "byte", "small"])
def test_other_lists_go_the_general_way(tmp_path, spoil):
    rng = random.Random(spoil)
    vocab, merges = random_list(rng, n=500 if spoil == "small" else 4200)
    if spoil == "order":
        merges[100], merges[4000] = merges[4000], merges[100]
        firsts = {left + right for left, right in merges[:101]}
        merges = [pair for at, pair in enumerate(merges) if at > 100 or set(pair) <= firsts | set(ALPHABET)]
    elif spoil == "twice":
        merges.append(merges[7])
    elif spoil == "byte":
        gone = "\u00ff"
        del vocab[gone]
    file = file_of(vocab, merges, False)
    ours, live = both(tmp_path, file)
    assert not ours.flow.model.is_ranked
    for text in texts(rng, vocab):
        assert ours.encode(text) == live.encode(text).ids


@pytest.mark.parametrize("name", ["hf_llama3_1", "hf_qwen3", "hf_deepseek_v3", "hf_gptoss"])
def test_files_in_use_are_such_lists(shared, tmp_path, name):
    path = tmp_path / "tokenizer.json"
    path.write_text(real_file(shared, name), encoding="utf-8")
    assert ctok.load(path).flow.model.is_ranked
