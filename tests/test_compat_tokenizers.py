"""`ctok.compat.tokenizers.Tokenizer` against the reference: the same calls on the same tokenizers."""

import copy
import json
import pickle

import pytest

import ctok
import ctok.compat.tokenizers as ours
from tokenizers_pair import both, is_error, theirs

SETUP = """if 1:
    VOCAB = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3, "b": 4, "c": 5, "[PAD]": 6}
    tok = Tokenizer(M.WordLevel(dict(VOCAB), unk_token="[UNK]"))
    tok.pre_tokenizer = P.Whitespace()
    bert = Tokenizer(M.WordLevel(dict(VOCAB), unk_token="[UNK]"))
    bert.pre_tokenizer = P.Whitespace()
    bert.post_processor = O.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    bpe = Tokenizer(M.BPE({"a": 0, "b": 1, "ab": 2, "\\u0120": 3, "\\u0120a": 4, "\\u00c3": 5, "\\u00a9": 6},
        [("a", "b"), ("\\u0120", "a")]))
    bpe.pre_tokenizer = P.ByteLevel(add_prefix_space=False)
    bpe.decoder = D.ByteLevel()
    e = bert.encode("a b c", "c a")
    one = tok.encode("a b c")
"""

# What comes of these is the same, or the same kind of error with the same text.
SAME = r'''
tok
tok.to_str()
tok.to_str(True)
bert
bert.to_str()
bpe
bpe.to_str()
tok.encode("a b")
tok.encode(b"a")
tok.encode(None)
tok.encode(float("nan"))
tok.encode(["a"])
tok.encode("a", ["b"])
tok.encode("a", 5)
tok.encode("a", is_pretokenized=True)
tok.encode("a", is_pretokenized=1)
tok.encode(["a", "b"], is_pretokenized=True)
tok.encode(("a", "b"), is_pretokenized=True)
tok.encode(["a", 3], is_pretokenized=True)
tok.encode([], is_pretokenized=True)
tok.encode(["a"], ["b"], is_pretokenized=True)
tok.encode("a\ud800")
tok.encode("")
tok.encode("", "")
bert.encode("")
bert.encode("", "")
bert.encode("a zz", "b", add_special_tokens=False)
bert.encode("[CLS] a [SEP]")
tok.encode_batch("ab")
tok.encode_batch(["a", None])
tok.encode_batch(["a", ("a", "b"), ["b", "c"]])
tok.encode_batch([("a", "b", "c")])
tok.encode_batch([("a",)])
tok.encode_batch([["a", "b", "c"]], is_pretokenized=True)
tok.encode_batch([(["a", "b"], ["c"])], is_pretokenized=True)
tok.encode_batch([("a", "b")], is_pretokenized=True)
tok.encode_batch(["a"], is_pretokenized=True)
tok.encode_batch([["a", ["b", "c"]]])
tok.encode_batch(iter(["a"]))
tok.encode_batch(None)
tok.encode_batch(3)
tok.encode_batch([3])
tok.encode_batch([])
tok.encode_batch(())
tok.encode_batch(["a", "b\udfff"])
tok.encode_batch(__import__("numpy").array(["a", "b a"]))
tok.encode(__import__("numpy").str_("a"))
tok.encode(type("S", (str,), {})("a b"))
bert.encode_batch_fast(["a b", ("a", "b")])
bert.encode_batch_fast([["a b", "c"]], is_pretokenized=True)
tok.encode_batch_fast(["a b", ("a", "b")])
[bert.enable_truncation(5), bert.encode_batch_fast([("a b", "b a")])]
tok.decode([3, 4])
tok.decode((3, 4))
tok.decode([3, 99])
tok.decode([10**6])
tok.decode([])
tok.decode([-1])
tok.decode([2**32])
tok.decode([2**70])
tok.decode(["a"])
tok.decode(3)
tok.decode("abc")
tok.decode(None)
tok.decode(iter([3]))
tok.decode([3.5])
tok.decode([True])
tok.decode([3], False)
tok.decode([3], 1)
tok.decode(range(3, 5))
tok.decode(b"\x03\x04")
tok.decode({3: 1})
tok.decode(__import__("numpy").array([3, 4]))
tok.decode(__import__("numpy").array([3, 4], dtype="uint8"))
tok.decode(__import__("numpy").int64(3))
tok.decode_batch([[3], [4, 5]])
tok.decode_batch([3])
tok.decode_batch(3)
tok.decode_batch([[3], ["a"]])
tok.decode_batch([[3], [4, 99, 5]])
tok.decode_batch(__import__("numpy").array([[3, 4]]))
tok.token_to_id("a")
tok.token_to_id("zz")
tok.token_to_id("\ud800")
tok.token_to_id(3)
tok.token_to_id(b"a")
tok.id_to_token(3)
tok.id_to_token(33)
tok.id_to_token(-1)
tok.id_to_token(2**32)
tok.id_to_token("a")
tok.id_to_token(3.0)
tok.id_to_token(__import__("numpy").int64(3))
tok.get_vocab()
tok.get_vocab(False)
tok.get_vocab_size()
tok.get_added_tokens_decoder()
bpe.encode("ab a\u00e9 ab")
bpe.decode([2, 4, 5, 6, 5])
bpe.token_to_id("\u0120a")
bpe.id_to_token(4)
[tok.add_tokens(["x", "a", "x"]), tok.get_added_tokens_decoder(), tok.get_vocab()]
[tok.add_tokens([AddedToken("y", lstrip=True), "x"]), tok.encode("a y x"), tok.get_vocab_size()]
tok.add_tokens(["", 5])
tok.add_tokens([""])
tok.add_tokens("pq")
tok.add_tokens(None)
[tok.add_special_tokens(["[CLS]", "x"]), tok.get_added_tokens_decoder(), tok.decode([1, 3, 7]), tok.decode([1, 3, 7], False)]
[tok.add_special_tokens([AddedToken("w", normalized=True), AddedToken("v"), AddedToken("u", special=False)]), tok.to_str()]
[tok.add_tokens([AddedToken("w", special=True), AddedToken("v", normalized=False)]), tok.get_added_tokens_decoder(), tok.to_str()]
[tok.add_tokens(["x"]), tok.add_tokens([AddedToken("x", lstrip=True)]), tok.add_tokens([AddedToken("x", lstrip=True)]), tok.encode("a  x")]
[tok.add_special_tokens(["b"]), tok.add_tokens([AddedToken("b", rstrip=True)]), tok.get_added_tokens_decoder(), tok.decode([3, 4, 5])]
[tok.add_special_tokens(["b"]), tok.add_special_tokens([AddedToken("b")]), tok.add_tokens(["b"]), tok.encode("a b").tokens]
[tok.add_tokens([AddedToken(str(i)) for i in range(30)]), tok.encode("12 3").ids]
[tok.add_tokens(["q"]), setattr(tok, "model", M.WordLevel({"z": 0, "q": 9}, "z")), tok.add_tokens(["r"]), tok.get_vocab()]
tok.enable_truncation(-1)
tok.enable_truncation("a")
tok.enable_truncation(5, stride=1, strategy="foo")
tok.enable_truncation(5, direction="foo")
tok.enable_truncation(5, foo=1)
[tok.enable_truncation(5, stride=1, strategy="only_first", direction="left"), tok.truncation, tok.to_str(), tok]
[tok.enable_truncation(0), tok.encode("a b"), tok.encode("a", "b")]
[tok.enable_truncation(2), tok.no_truncation(), tok.truncation, tok.encode("a b c")]
[tok.enable_padding(), tok.padding, tok, tok.to_str()]
[tok.enable_padding(length=10, pad_to_multiple_of=8, direction="left", pad_id=3, pad_token="P", pad_type_id=1), tok.padding, tok]
[tok.enable_padding(length=10, pad_to_multiple_of=8, direction="left", pad_id=3, pad_token="P"), tok.encode("a b")]
[tok.enable_padding(pad_to_multiple_of=0), tok.encode("a b")]
tok.enable_padding(direction="foo")
tok.enable_padding(pad_id=-1)
tok.enable_padding(pad_id="a")
tok.enable_padding(pad_token=None)
[tok.enable_padding(max_length=5), tok.padding]
[tok.enable_padding(), tok.no_padding(), tok.padding]
tok.num_special_tokens_to_add(False)
tok.num_special_tokens_to_add(1)
bert.num_special_tokens_to_add(True)
bert.num_special_tokens_to_add(False)
[bert.enable_truncation(4, stride=1, direction="right"), bert.encode("a b c a b c")]
[bert.enable_truncation(4, stride=1, direction="left"), bert.encode("a b c a b c")]
[bert.enable_truncation(5), bert.encode("a b c a b c", "a b"), bert.encode("a", "a b"), bert.encode("a b c a", "c b a c")]
[bert.enable_truncation(3), bert.encode("a b c", "a"), bert.encode("a b c", add_special_tokens=False)]
[bert.enable_truncation(2), bert.encode("a b c"), bert.encode("a", "b")]
[bert.enable_truncation(1), bert.encode("a b c")]
[bert.enable_truncation(7, strategy="only_first"), bert.encode("a b c a b", "a b c")]
[bert.enable_truncation(4, strategy="only_second"), bert.encode("a b c")]
[bert.enable_truncation(7, strategy="only_second"), bert.encode("a b c a b", "a b c")]
[bert.enable_truncation(7, strategy="only_second"), bert.encode("a b", "a b c a b")]
bert.enable_truncation(4, stride=3)
[bert.enable_truncation(4), bert.enable_padding(), bert.encode_batch(["a b c a b", "a", ("a", "b")])]
[bert.enable_truncation(4), bert.enable_padding(length=6, direction="left"), bert.encode_batch_fast(["a b c a b", "a", ("a", "b")])]
[tok.normalizer, tok.post_processor, tok.decoder, tok.pre_tokenizer, tok.model]
tok.post_process(tok.encode("a"))
tok.post_process(tok.encode("a"), tok.encode("b"))
tok.post_process(None)
bert.post_process(bert.encode("a b", add_special_tokens=False), bert.encode("c", add_special_tokens=False))
[bert.enable_truncation(4), bert.enable_padding(length=9), bert.post_process(tok.encode("a b c a b"))]
bert.post_processor.process(tok.encode("a b"), tok.encode("c"))
bert.post_processor.process(tok.encode("a b"), None, False)
Tokenizer(None)
Tokenizer(N.NFC())
setattr(tok, "normalizer", 3)
setattr(tok, "model", None)
setattr(tok, "pre_tokenizer", N.NFC())
[setattr(tok, "normalizer", N.Lowercase()), tok.encode("A B").ids, setattr(tok, "normalizer", None), tok.encode("A B").ids]
[setattr(tok.model, "unk_token", "b"), tok.encode("zz").ids, tok.model]
[setattr(tok, "encode_special_tokens", 1)]
[tok.add_special_tokens(["<x>"]), tok.encode("a<x>").ids, setattr(tok, "encode_special_tokens", True), tok.encode("a<x>").ids]
[tok.add_tokens(["Xx"]), setattr(tok, "normalizer", N.Lowercase()), tok.decode([3, 7]), tok.id_to_token(7), tok.encode("XX xx")]
[tok.add_tokens(["Xx"]), setattr(tok, "normalizer", N.Lowercase()), tok.decode_batch([[3, 7]]), tok.get_vocab(), tok.to_str()]
[tok.add_special_tokens([AddedToken("Q", normalized=True)]), setattr(tok, "normalizer", N.Lowercase()), tok.decode([3, 7])]
[setattr(bpe.pre_tokenizer, "add_prefix_space", True), bpe.encode("ab").tokens, bpe.pre_tokenizer]
[setattr(bert.post_processor, "single", "$A"), bert.encode("a").ids]
[setattr(bert, "post_processor", O.TemplateProcessing(single="$A a $A:1", pair="$B $A $B:2")), bert.encode("a b"), bert.encode("a b", "c")]
[setattr(bert, "post_processor", O.TemplateProcessing(single="a", special_tokens=[("a", 3)])), bert.encode("a b")]
[setattr(bert, "post_processor", O.Sequence([O.ByteLevel(), O.TemplateProcessing(single="$A $A")])), bert.encode("a b")]
Tokenizer.from_str(3)
Tokenizer.from_buffer("abc")
Tokenizer.from_buffer(bytearray(b"{}"))
Tokenizer.from_file("no such file")
Tokenizer.from_file(3)
Tokenizer.from_file("/")
tok.save("no such folder/a.json")
tok.save(3)
e
str(e)
len(e)
one
e.words
e.char_to_token(0)
e.char_to_token(0, 1)
e.char_to_token(0, 2)
e.char_to_token(1)
e.char_to_token(-1)
e.char_to_token(char_pos=2, sequence_index=1)
e.char_to_word(2)
e.token_to_chars(1)
e.token_to_chars(0)
e.token_to_chars(99)
e.token_to_word(5)
e.token_to_sequence(5)
e.token_to_sequence(0)
e.token_to_sequence(99)
e.word_to_tokens(1)
e.word_to_tokens(1, 1)
e.word_to_tokens(7)
e.word_to_chars(1)
e.word_to_chars(7)
one.__getstate__()
T.Encoding()
T.Encoding.merge([e, one, e])
T.Encoding.merge([e, one, e], False)
T.Encoding.merge([one, e], growing_offsets=True)
T.Encoding.merge([])
T.Encoding.merge([1])
T.Encoding.merge((e,))
[one.truncate(2), e.truncate(3), T.Encoding.merge([one, e]), T.Encoding.merge([one, e], False)]
[e.pad(12), e]
[e.pad(14, direction="left", pad_id=6, pad_type_id=1, pad_token="P"), e]
e.pad(14, direction="foo")
e.pad(14, foo=1)
e.pad("a")
[e.truncate(5, 2), e]
[e.truncate(5, 2), e.pad(7), e]
[e.truncate(3, direction="left"), e]
e.truncate(3, direction="foo")
[e.truncate(0), e]
[e.set_sequence_id(1), e]
[one.set_sequence_id(1), one, one.n_sequences]
e.set_sequence_id(-1)
D.DecodeStream()
D.DecodeStream([3]).step(tok, 4)
D.DecodeStream([3]).step(tok, [4, 5])
D.DecodeStream([3]).step(tok, (4, 5))
D.DecodeStream([3]).step(tok, -1)
D.DecodeStream([3]).step(tok, "a")
D.DecodeStream([3]).step(tok, 999)
D.DecodeStream([3]).step(tok, [])
D.DecodeStream([3]).step(None, 3)
D.DecodeStream([999]).step(tok, 3)
D.DecodeStream(True)
D.DecodeStream("abc")
D.DecodeStream(3)
D.DecodeStream([-1])
D.DecodeStream([3]).step(tok, 2**40)
[(lambda s: [s.step(bpe, i) for i in (2, 5, 6, 4, 5, 5, 6)])(D.DecodeStream([1]))]
[setattr(bpe, "decoder", D.Sequence([D.Fuse(), D.Replace("aab", "zzzz")])), (lambda s: [s.step(bpe, i) for i in (0, 2)])(D.DecodeStream())]
'''.strip().splitlines()

# The same class of error, or one derived from it, but another text.
SAME_KIND = r'''
tok.encode()
tok.encode("a", foo=1)
Tokenizer()
Tokenizer.from_str("{}")
Tokenizer.from_str("abc")
Tokenizer.from_buffer(b"{}")
tok.enable_truncation()
tok.num_special_tokens_to_add()
tok.enable_padding("left")
tok.enable_truncation(5, 1)
setattr(tok, "padding", None)
setattr(e, "ids", [1])
e.pad()
e.pad(14, "left")
tok.encode_batch({"a"})
Tokenizer(M.WordLevel({"a": 0}, unk_token="zz")).encode("b")
Tokenizer(M.WordPiece({"a": 0})).encode("b")
Tokenizer(M.Unigram([("a", 1.0)])).encode("b")
'''.strip().splitlines()


@pytest.mark.parametrize("program", SAME)
@pytest.mark.filterwarnings("ignore")
def test_call_gives_what_the_reference_gives(program):
    mine, reference = both(program, SETUP)
    if is_error(reference):
        assert is_error(mine), f"{mine!r} instead of {reference.kind}: {reference.text}"
        assert isinstance(mine.error, reference.error.__class__)
        assert mine.text == reference.text
    else:
        assert not is_error(mine), f"{mine.kind}: {mine.text}"
        assert mine == reference


@pytest.mark.parametrize("program", SAME_KIND)
@pytest.mark.filterwarnings("ignore")
def test_call_is_refused_as_by_the_reference(program):
    mine, reference = both(program, SETUP)
    assert is_error(reference)
    assert is_error(mine), mine
    assert isinstance(mine.error, reference.error.__class__)


# ---- where the reference stops the process's thread ----

def test_k10_01_stride_that_leaves_nothing_is_refused_when_it_is_set():
    mine, _ = both("bert.enable_truncation(10, stride=8)", SETUP)
    assert isinstance(mine.error, ValueError)


def test_k10_02_stride_too_large_for_a_pair_is_a_value_error():
    mine, reference = both('[bert.enable_truncation(6, stride=2), bert.encode("a b c a", "b c a")]', SETUP)
    assert reference.kind == "PanicException"
    assert isinstance(mine.error, ValueError)
    mine, reference = both("e.truncate(3, 3)", SETUP)
    assert reference.kind == "PanicException"
    assert isinstance(mine.error, ValueError)


def test_added_token_of_which_the_normalizer_leaves_nothing_is_refused_and_the_tokenizer_stays_usable():
    tok = ours.Tokenizer(ours.models.WordLevel({"a": 0}, unk_token="a"))
    tok.normalizer = ours.normalizers.StripAccents()
    with pytest.raises(ValueError, match="is an empty text once it is normalised"):
        tok.add_tokens(["b", "\u0301"])
    assert tok.encode("a").ids == [0] and tok.token_to_id("b") is None
    assert tok.add_special_tokens(["\u0301"]) == 1  # not normalised


def test_template_with_a_name_that_nothing_stands_for_is_a_value_error():
    mine, reference = both('[setattr(bert.post_processor, "single", "$A [ZZ]"), bert.encode("a")]', SETUP)
    assert reference.kind == "PanicException"
    assert isinstance(mine.error, ValueError)


# ---- cases ----

def test_k10_17_none_in_a_batch_is_a_type_error():
    mine, _ = both('tok.encode_batch(["a", None])', SETUP)
    assert isinstance(mine.error, TypeError)


def test_k3_07_text_that_looks_special_can_be_kept_plain():
    mine, reference = both(
        '[tok.add_special_tokens(["<|im_start|>"]), setattr(tok, "encode_special_tokens", True), tok.encode("a <|im_start|> b").ids]', SETUP
    )
    assert mine == reference
    assert 7 not in mine[2]


def test_errors_of_files_are_of_ctok(tmp_path):
    with pytest.raises(ctok.CtokError, match="os error 2"):
        ours.Tokenizer.from_file(str(tmp_path / "none.json"))
    with pytest.raises(ctok.VocabularyFileError, match="line 1"):
        ours.Tokenizer.from_str('{"model": nul}')


def test_from_pretrained_reads_folders_and_says_why_it_does_not_download(tmp_path):
    tok = ours.Tokenizer(ours.models.WordLevel({"a": 0}, "a"))
    tok.save(str(tmp_path / "tokenizer.json"))
    assert ours.Tokenizer.from_pretrained(str(tmp_path)).encode("a").ids == [0]
    with pytest.raises(ctok.VocabularyNotFoundError, match="does not download"):
        ours.Tokenizer.from_pretrained("bert-base-uncased")


def test_k8_01_child_of_a_fork_encodes_batches():
    import multiprocessing

    tok = scope()["bert"]
    expected = [e.ids for e in tok.encode_batch(["a b c"] * 100)]
    with multiprocessing.get_context("fork").Pool(1) as pool:
        found = pool.apply_async(_ids_of_batch, (tok,)).get(timeout=20)
    assert found == expected


def _ids_of_batch(tok):
    return [e.ids for e in tok.encode_batch(["a b c"] * 100)]


def test_length_of_a_fast_batch_is_that_of_its_ids():
    found = scope()["bert"].encode_batch_fast(["a b c"])[0]
    assert len(found) == len(found.ids) == 5


def test_adding_many_tokens_one_by_one_builds_once():
    tok = scope()["tok"]
    for n in range(3000):
        assert tok.add_tokens([f"<{n}>"]) == 1
    assert tok._engine_now is None
    assert tok.encode("a<17>b").ids == [3, 24, 4]
    assert tok.get_vocab_size() == 3007


def test_post_processor_can_be_changed_without_a_build():
    tok = scope()["tok"]
    native = tok._engine.native
    tok.post_processor = ours.processors.TemplateProcessing(single="$A a", special_tokens=[("a", 3)])
    assert tok.encode("b").ids == [4, 3]
    assert tok._engine.native is native
    tok.add_tokens(["z"])
    assert tok.encode("z").ids == [7, 3]


# ---- values ----

def scope():
    from tokenizers_pair import names_of

    names = names_of(ours)
    exec(SETUP, names)
    return names


def test_tokenizer_pickles_and_copies():
    for name in ("tok", "bert", "bpe"):
        tok = scope()[name]
        tok.add_special_tokens(["<x>"])
        tok.enable_padding(length=5)
        for other in (pickle.loads(pickle.dumps(tok)), copy.deepcopy(tok), copy.copy(tok)):
            assert other.to_str() == tok.to_str()
            assert other.encode("a b <x>").tokens == tok.encode("a b <x>").tokens
            other.no_padding()
            assert tok.padding is not None


def test_state_of_a_tokenizer_is_its_json_as_in_the_reference():
    tok = scope()["bert"]
    reference = theirs.Tokenizer.from_str(tok.__getstate__().decode())
    assert tok.__getstate__() == reference.__getstate__()
    other = ours.Tokenizer(ours.models.BPE())
    other.__setstate__(reference.__getstate__())
    assert other.encode("a b").ids == reference.encode("a b").ids


def test_copy_does_not_share_its_components():
    tok = scope()["bpe"]
    other = copy.deepcopy(tok)
    other.pre_tokenizer.add_prefix_space = True
    assert not tok.pre_tokenizer.add_prefix_space


def test_encoding_pickles_and_copies_without_a_change_to_the_other():
    e = scope()["e"]
    before = e.__getstate__()
    for other in (pickle.loads(pickle.dumps(e)), copy.deepcopy(e), copy.copy(e)):
        assert other.__getstate__() == before
        other.truncate(2)
        assert e.__getstate__() == before


def test_lists_of_an_encoding_are_made_afresh():
    tok = scope()["tok"]
    e = tok.encode("a b")
    e.ids.append(9)
    assert e.ids == [3, 4]


def test_encoding_keeps_what_was_so_when_it_was_made():
    tok = scope()["bert"]
    tok.enable_truncation(4)
    tok.enable_padding(length=6)
    e = tok.encode("a b c")
    tok.no_truncation()
    tok.no_padding()
    tok.post_processor = None
    tok.model = ours.models.WordLevel({"x": 0}, "x")
    tok.add_special_tokens(["a"])
    assert e.ids == [1, 3, 4, 2, 0, 0]
    assert e.tokens == ["[CLS]", "a", "b", "[SEP]", "[PAD]", "[PAD]"]
    assert [piece.ids for piece in e.overflowing] == [[1, 5, 2, 0, 0, 0]]


def test_ids_come_without_places():
    tok = scope()["bert"]
    e = tok.encode("a b c", "b")
    assert (len(e), e.ids, e.type_ids) == (7, [1, 3, 4, 5, 2, 4, 2], [0, 0, 0, 0, 0, 1, 1])
    assert (e.attention_mask, e.special_tokens_mask, e.overflowing) == ([1] * 7, [1, 0, 0, 0, 1, 0, 1], [])
    assert e._whole is None
    assert e.offsets[1] == (0, 1)
    assert e._whole is not None


def test_native_tokenizer_inside_does_the_same():
    tok = scope()["bert"]
    assert isinstance(tok.tokenizer, ctok.Tokenizer)
    assert tok.tokenizer.encode("a b") == tok.encode("a b").ids
    tok.add_special_tokens(["<x>"])
    assert tok.tokenizer.encode("a <x>", allowed_special="all") == tok.encode("a <x>").ids


def test_random_merges_give_what_one_encoding_says():
    vocab = {"a": 0, "b": 1, "ab": 2, "abab": 3}
    tok = ours.Tokenizer(ours.models.BPE(vocab, [("a", "b"), ("ab", "ab")], dropout=0.5))
    for _ in range(20):
        e = tok.encode("abababab" * 4)
        assert [vocab[token] for token in e.tokens] == e.ids
        assert e.offsets[-1][1] == 32


def test_document_of_an_older_file_is_written_as_the_reference_writes_it():
    old = json.loads(scope()["bpe"].to_str())
    old["model"]["merges"] = ["a b", "\u0120 a"]
    del old["model"]["ignore_merges"]
    mine, reference = ours.Tokenizer.from_str(json.dumps(old)), theirs.Tokenizer.from_str(json.dumps(old))
    assert mine.to_str() == reference.to_str()
