"""Conversion between formats: equal ids in the live reference, or a refusal by name."""

import json
import random

import pytest

from ctok import Tokenizer, conversion, formats, load
from ctok._native.split import known_patterns
from ctok.conversion import _merges, convert
from ctok.errors import SpecError
from ctok.formats import merges_txt, tokenizer_json, vocab_txt
from ctok.formats._known import CL100K_PATTERN, GPT2_PATTERN, O200K_PATTERN
from ctok.spec import BPE, AddedToken, Spec, Split, TokenTable
from ctok.stagespecs import decoders, models, normalizers, postprocessors, pretokenizers
from ctok.stagespecs.limits import Padding

tokenizers = pytest.importorskip("tokenizers")

TEXTS = [
    "", "a", "hello world, it's DON'T  \n\n  x\n  ", "1234567 \u017f '\u017f a\n\n\n", "aaaaaaa abababa bababab   ",
    "\tif x:\r\n\t\treturn  1\r\n",
    "Grüße, 世界 👋🏽 naïve\u2028x \u0130", "<|end|>a<|x|> <|endoftext|>",
]  # fmt: skip


ADDED = (AddedToken("<|end|>", 900), AddedToken("<|x|>", 1200))


def merged(ranks, token):
    """The parts of a token before its last merge by rank, or where merging stops."""
    parts = [token[i : i + 1] for i in range(len(token))]
    while len(parts) > 2:
        at = min(range(len(parts) - 1), key=lambda i: ranks.get(parts[i] + parts[i + 1], 9999))
        if parts[at] + parts[at + 1] not in ranks:
            break
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts


def toy(pattern, seed=0, extra=(), added=ADDED):
    """A vocabulary by rank of all bytes and of random joins of tokens that it has."""
    rng = random.Random(seed)
    letters = [bytes([byte]) for byte in b"abc \n'st1"] + [b"\xc3", b"\xa9"]
    tokens = {bytes([byte]): byte for byte in range(256)}
    while len(tokens) < 400:
        new = rng.choice(letters) + rng.choice(letters)
        if new not in tokens and len(new) < 9 and len(merged(tokens, new)) == 2:
            tokens[new] = len(tokens)
            letters.append(new)
    for token in extra:
        tokens[token] = len(tokens)
    return Spec("toy", BPE(TokenTable.from_dict(tokens)), Split(pattern), added)


def assert_reference_gives_the_same(spec, told, texts=TEXTS):
    data = tokenizer_json.dumps(told.spec)
    ours, live = Tokenizer.from_spec(spec), tokenizers.Tokenizer.from_str(data.decode())
    again = Tokenizer.from_spec(tokenizer_json.loads(data))
    for text in texts:
        ids = ours.encode(text, allowed_special="all")
        assert live.encode(text).ids == ids
        assert again.encode(text, allowed_special="all") == ids
        assert again.encode(text) == ours.encode(text)
        assert live.decode(ids, skip_special_tokens=False) == again.decode(ids) == ours.decode(ids)


# ---- ranks and merges ----

KNOWN = [pattern for pattern, family in known_patterns() if family != "deepseek3"]


@pytest.mark.parametrize("pattern", [*KNOWN, r"[a-c ]+|[^a-c\s]", r" ?\p{L}+|\s+|1"])
@pytest.mark.parametrize("seed", range(2))
def test_ranks_become_a_tokenizer_json_with_the_ids_of_the_reference(pattern, seed):
    spec = toy(pattern, seed)
    told = convert(spec, "tokenizer_json")
    rng = random.Random(seed)
    noise = ["".join(rng.choices("ab ac\n'sé1世", k=40)) for _ in range(100)]
    assert_reference_gives_the_same(spec, told, TEXTS + noise)
    back = convert(told.spec, "tiktoken")
    assert back.spec.model == spec.model
    assert Tokenizer.from_spec(back.spec).encode_batch(TEXTS + noise) == Tokenizer.from_spec(spec).encode_batch(TEXTS + noise)


def test_ranks_that_merging_does_not_give_are_matched_whole():
    spec = toy(O200K_PATTERN, extra=[b"zqxjk"])
    told = convert(spec, "tokenizer_json")
    assert told.spec.model.ignore_merges
    assert not convert(toy(O200K_PATTERN), "tokenizer_json").spec.model.ignore_merges
    assert_reference_gives_the_same(spec, told, ["zqxjk", " zqxjk zqxjkz", "zqxjkz"])
    assert convert(told.spec, "tiktoken").spec.model == spec.model
    with pytest.raises(SpecError, match=r"b'zqxjk' is never made by merging"):
        convert(told.spec.replace(model=told.spec.model.replace(ignore_merges=False)), "tiktoken")


def test_o200k_base_becomes_a_tokenizer_json_with_the_ids_of_the_reference():
    spec = load("o200k_base").spec
    told = convert(spec, "tokenizer_json")
    assert (told.lost, told.unsaid) == ((), ())
    assert_reference_gives_the_same(spec, told, [*TEXTS, "<|endofprompt|>x<|endoftext|>"])


def test_last_merges_of_long_tokens_are_found_the_slow_way():
    spec = toy(O200K_PATTERN)
    ranks = dict(spec.model.tokens)
    lengths = _merges._long_splits(ranks)
    found = _merges.last_merges(spec.model.tokens)
    assert {token: (token[:n], token[n:]) for token, n in zip(ranks, lengths) if n} == found
    assert found == {token: tuple(merged(ranks, token)) for token in ranks if len(token) > 1}
    assert _merges.last_merges(TokenTable.from_dict({b"a": 0, b"a" * 300: 1})) == {}


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (toy(O200K_PATTERN, added=[AddedToken("<a>", 900), AddedToken("<b>", 900)]), "'<b>' has the id 900 of '<a>'"),
        (toy(O200K_PATTERN).replace(model=BPE(TokenTable.from_dict({b"a": 0}))), "255 bytes have no token"),
        (toy(r"\p{N}{1,3}+|\D+"), "says something else"),
        (toy(O200K_PATTERN, added=[AddedToken("<a>", 5)]), "'<a>' with the id 5 has the text or the id of another token"),
    ],
)
def test_ranks_that_a_tokenizer_json_cannot_say_are_refused_by_name(spec, says):
    with pytest.raises(SpecError, match=says):
        convert(spec, "tokenizer_json")


def test_drop_leaves_out_what_cannot_be_said_and_names_it():
    spec = toy(O200K_PATTERN, added=[AddedToken("<a>", 900), AddedToken("<b>", 900)])
    told = convert(spec, "tokenizer_json", drop=True)
    assert told.spec.added_tokens == (AddedToken("<a>", 900),)
    assert told.lost == ("the added token '<b>' has the id 900 of '<a>'",)


def swapped(spec):
    merges = bytes(spec.model.merges)
    return spec.replace(model=spec.model.replace(merges=merges[8:16] + merges[:8] + merges[16:]))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda s: s.replace(normalizer=normalizers.NFKC()), r"the normalizer NFKC\(\)"),
        (lambda s: s.replace(post_processor=postprocessors.BertProcessing(("b", 98), ("a", 97))), "BertProcessing, which puts ids .97, 98"),
        (lambda s: s.replace(decoder=decoders.Fuse()), r"the decoder Fuse\(\)"),
        (lambda s: s.replace(pre_tokenizer=pretokenizers.ByteLevel(True)), "add_prefix_space"),
        (lambda s: s.replace(pre_tokenizer=pretokenizers.Whitespace()), "its tokens are texts, not bytes"),
        (lambda s: s.replace(pre_tokenizer=None), "its tokens are texts, not bytes"),
        (lambda s: s.replace(pre_tokenizer=pretokenizers.Sequence([pretokenizers.Digits(), pretokenizers.ByteLevel(False)])), "no single"),
        (lambda s: s.replace(model=s.model.replace(merges=bytes(s.model.merges) * 2)), "is there twice"),
        (lambda s: s.replace(model=s.model.replace(merges=b"")), "is none of its merges"),
        (swapped, "not in the order of the ids"),
        (lambda s: s.replace(model=s.model.replace(dropout=0.5)), "dropout 0.5"),
        (lambda s: s.replace(model=s.model.replace(end_of_word_suffix="</w>")), "end_of_word_suffix"),
        (lambda s: s.replace(model=models.WordLevel(s.model.tokens)), "its model is WordLevel"),
        (lambda s: s.replace(model=s.model.replace(tokens=models.table_of_texts({"a": 0}), merges=b"")), "255 bytes have no token"),
        (lambda s: s.replace(model=s.model.replace(tokens=models.table_of_texts({"世": 0}), merges=b"")), "'世' does not spell bytes"),
    ],
)
def test_tokenizer_json_that_a_rank_file_cannot_say_is_refused_by_name(change, says):
    spec = change(convert(toy(O200K_PATTERN), "tokenizer_json").spec)
    with pytest.raises(SpecError, match=rf"a rank file cannot say .*{says}"):
        convert(spec, "tiktoken")


def test_rank_file_names_what_it_never_says():
    spec = toy(O200K_PATTERN, added=[AddedToken("<a>", 900), AddedToken("<b>", 901, lstrip=True)]).replace(padding=Padding(8))
    pattern, added, padding = convert(convert(spec, "tokenizer_json").spec, "tiktoken").unsaid
    assert pattern == f"the split pattern: {O200K_PATTERN}"
    assert added.startswith("the added tokens: <a>=900 AddedToken(content='<b>'")
    assert padding.startswith("the padding: Padding(length=8")
    assert convert(spec, "tiktoken").spec == spec


# ---- formats with the stages of their style ----

VOCAB = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\nab\n"


def test_vocab_txt_and_tokenizer_json_say_the_same():
    spec = vocab_txt.loads(VOCAB, path="vocab.txt")
    told = convert(spec, "tokenizer_json")
    live = tokenizers.Tokenizer.from_str(tokenizer_json.dumps(told.spec).decode())
    ours = Tokenizer.from_spec(spec)
    for text in ("", "Äb ab [MASK] abb", "a,b", "世"):
        assert live.encode(text).ids == ours.encode(text, allowed_special="all")
    read = tokenizer_json.loads(tokenizer_json.dumps(told.spec))
    back = convert(read.replace(post_processor=postprocessors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))), "vocab_txt")
    assert vocab_txt.dumps(back.spec) == VOCAB
    assert back.lost == back.unsaid == ()


def test_vocab_txt_names_the_stages_that_it_cannot_say():
    spec = vocab_txt.loads(VOCAB, path="vocab.txt", lowercase=False)
    with pytest.raises(SpecError, match=r"a vocab.txt cannot say .* the normalizer BertNormalizer\(.*lowercase=False\) \(read again it is"):
        convert(spec, "vocab_txt")
    told = convert(spec.replace(added_tokens=spec.added_tokens[1:]), "vocab_txt", drop=True)
    assert [what.partition(" (")[0].partition("(")[0] for what in told.lost] == ["the normalizer BertNormalizer", "nothing of AddedToken"]


def test_gpt2_ranks_become_a_vocab_json_with_merges_and_come_back(tmp_path):
    spec = toy(GPT2_PATTERN, added=[AddedToken("<|endoftext|>", 500)])
    told = convert(spec, "merges_txt")
    formats.dump(told.spec, tmp_path / "vocab.json")
    read = formats.load(tmp_path)
    assert_reference_gives_the_same(spec, convert(read, "tokenizer_json"))
    assert convert(read, "tiktoken").spec.model == spec.model
    live = tokenizers.models.BPE.from_file(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    assert live.token_to_id("<|endoftext|>") == 500


def test_merges_txt_names_what_it_cannot_say():
    with pytest.raises(SpecError, match=r"the pre-tokenizer Sequence.*the added token AddedToken\(content='<\|end\|>'"):
        convert(toy(O200K_PATTERN), "merges_txt")
    roberta = merges_txt.loads(json.dumps({"a": 0, "b": 1, "<s>": 2, "</s>": 3, "ab": 4}).encode(), b"a b\n")
    assert convert(roberta, "merges_txt").lost == ()
    with pytest.raises(SpecError, match="the model's unk_token 'a'"):
        convert(roberta.replace(model=roberta.model.replace(unk_token="a")), "merges_txt")


def test_anything_becomes_a_binary_vocabulary(tmp_path):
    for spec in (toy(GPT2_PATTERN), vocab_txt.loads(VOCAB, lowercase=False), convert(toy(CL100K_PATTERN), "tokenizer_json").spec):
        formats.dump(convert(spec, "binary").spec, tmp_path / "x.bin")
        assert formats.load(tmp_path / "x.bin") == spec


def test_format_that_is_none_is_refused():
    with pytest.raises(ValueError, match="'tekken' is no format to write"):
        convert(toy(GPT2_PATTERN), "tekken")
    with pytest.raises(ValueError, match="no format"):
        formats.dump(toy(GPT2_PATTERN), "x", format="tekken")
    assert set(conversion.FORMATS) == {"tokenizer_json", "tiktoken", "merges_txt", "vocab_txt", "sentencepiece", "binary"}


# ---- the tokenizer's own doors ----


def test_tokenizer_is_saved_and_read_by_the_names_of_hugging_face(tmp_path):
    tok = Tokenizer.from_spec(toy(O200K_PATTERN))
    for name in ("tokenizer.json", "x.bin"):
        tok.save(tmp_path / name)
        data = (tmp_path / name).read_bytes()
        for again in (Tokenizer.from_file(tmp_path / name), Tokenizer.from_buffer(data)):
            assert again.encode_batch(TEXTS) == tok.encode_batch(TEXTS)
    text = (tmp_path / "tokenizer.json").read_text(encoding="utf-8")
    assert Tokenizer.from_str(text).encode(TEXTS[2]) == tok.encode(TEXTS[2])
    tok.save(tmp_path / "plain", format="tiktoken")
    assert formats.load(tmp_path / "plain", pattern=O200K_PATTERN).model == tok.spec.model
    with pytest.raises(SpecError, match=r"a vocab.txt holds"):
        tok.save(tmp_path / "vocab.txt")
    with pytest.raises(formats.VocabularyFileError, match="half a tokenizer"):
        Tokenizer.from_buffer(b'{"a": 0}')
