"""`encode_batch` with padding, truncation and pairs, against the live reference."""

import pickle

import pytest

import ctok
from ctok import Tokenizer
from ctok.formats import tokenizer_json
from ctok.stagespecs.limits import Padding, Truncation

tokenizers = pytest.importorskip("tokenizers")

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcde", "##x"]
TEXTS = ["a b c", "", "d", "a b c d e a b c d e", "E ax zz"]
PAIRS = ["d", "", "a b c d e", "e d c b a e d c", "a"]
TEMPLATES = {
    "none": None,
    "bert": tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2)),
    "roberta": tokenizers.processors.RobertaProcessing(("[SEP]", 3), ("[CLS]", 2)),
    "template": tokenizers.processors.TemplateProcessing(
        single="[CLS]:3 $A:1 [SEP]:2", pair="$A:0 [SEP]:0 $B:1 [CLS]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    ),
}


def live_of(template):
    live = tokenizers.Tokenizer(tokenizers.models.WordPiece({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    live.normalizer = tokenizers.normalizers.BertNormalizer()
    live.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    live.add_special_tokens(WORDS[:4])
    if TEMPLATES[template] is not None:
        live.post_processor = TEMPLATES[template]
    return live


@pytest.fixture(params=TEMPLATES)
def both(request):
    live = live_of(request.param)
    return Tokenizer.from_spec(tokenizer_json.loads(live.to_str().encode())), live


CUTS = [None, 6, Truncation(7, direction="left"), Truncation(9, "only_first"), Truncation(8, "longest_first")]
FILLS = [True, 12, Padding(None, "left", 8, 4, 5, "a"), Padding(9, pad_id=7)]


@pytest.mark.parametrize("cut", CUTS, ids=repr)
@pytest.mark.parametrize("fill", FILLS, ids=repr)
@pytest.mark.parametrize("pairs", [None, PAIRS], ids=["single", "pairs"])
@pytest.mark.parametrize("add_special_tokens", [True, False])
def test_batch_equals_the_reference(both, cut, fill, pairs, add_special_tokens):
    tok, live = both
    told = Truncation(cut) if isinstance(cut, int) else cut
    if told is not None:
        live.enable_truncation(told.max_length, stride=told.stride, strategy=told.strategy, direction=told.direction)
    else:
        live.no_truncation()
    inputs = TEXTS if pairs is None else list(zip(TEXTS, pairs))
    live.no_padding()
    try:
        plain = live.encode_batch(inputs, add_special_tokens=add_special_tokens)
    except Exception:
        with pytest.raises(ValueError, match="text to be cut"):
            tok.encode_batch(TEXTS, pairs=pairs, truncation=cut, add_special_tokens=add_special_tokens)
        return
    options = {"pairs": pairs, "truncation": cut, "add_special_tokens": add_special_tokens}
    assert tok.encode_batch(TEXTS, **options) == [one.ids for one in plain]
    record = fill if isinstance(fill, Padding) else Padding(None if fill is True else fill)
    live.enable_padding(
        direction=record.direction, pad_id=record.pad_id, pad_type_id=record.pad_type_id, pad_token=record.pad_token,
        length=record.length, pad_to_multiple_of=record.pad_to_multiple_of,
    )  # fmt: skip
    found, wanted = tok.encode_batch(TEXTS, padding=fill, **options), live.encode_batch(inputs, add_special_tokens=add_special_tokens)
    assert isinstance(found, ctok.Batch)
    width = max(len(one.ids) for one in wanted)
    if all(len(one.ids) == width for one in wanted):
        assert found.ids.tolist() == [one.ids for one in wanted]
        assert found.attention_mask.tolist() == [one.attention_mask for one in wanted]
        assert found.type_ids.tolist() == [one.type_ids for one in wanted]
    assert found.lengths.tolist() == [len(one.ids) for one in plain]


def test_batch_is_taken_by_numpy_without_a_copy(both):
    numpy = pytest.importorskip("numpy")
    tok, _ = both
    batch = tok.encode_batch(TEXTS, padding=True)
    array = numpy.asarray(batch.ids)
    assert array.dtype == numpy.int64
    assert array.shape == batch.shape == (5, max(batch.lengths))
    array[0, 0] = 77
    assert batch.ids[0][0] == 77
    assert numpy.asarray(tok.encode_batch(TEXTS, padding=8, dtype="int32").attention_mask).dtype == numpy.int32
    assert pickle.loads(pickle.dumps(batch)) == batch


def test_padding_takes_the_pad_token_of_the_file():
    live = live_of("bert")
    live.enable_padding(pad_id=5, pad_token="b")
    tok = Tokenizer.from_spec(tokenizer_json.loads(live.to_str().encode()))
    assert tok.pad_id == 5
    assert tok.encode_batch(["a", "a b"], padding=True).ids.tolist() == [[2, 4, 3, 5], [2, 4, 5, 3]]
    assert tok.encode_batch(["a", "a b"]) == [[2, 4, 3], [2, 4, 5, 3]]


def test_batch_options_that_cannot_be_kept_are_refused(both):
    tok, _ = both
    n_added = len(tok.encode(""))
    for padding in (None, True):
        with pytest.raises(ValueError, match="4 texts, but 1 in pairs"):
            tok.encode_batch(TEXTS[:4], pairs=["a"], padding=padding)
        with pytest.raises(ValueError, match="second text"):
            tok.encode_batch(TEXTS, truncation=Truncation(n_added + 1, "only_second"), padding=padding)
        with pytest.raises(ValueError, match="stride"):
            tok.encode_batch(TEXTS, truncation=Truncation(n_added + 2, stride=2), padding=padding)
        if n_added:
            with pytest.raises(ValueError, match="special tokens alone"):
                tok.encode_batch(TEXTS, truncation=n_added - 1, padding=padding)
        with pytest.raises(TypeError, match="truncation"):
            tok.encode_batch(TEXTS, truncation="5", padding=padding)
    with pytest.raises(TypeError, match="padding"):
        tok.encode_batch(TEXTS, padding="longest")
    with pytest.raises(ctok.EncodeError, match="text 1"):
        tok.encode_batch(["a", "\ud800"], padding=True)
    assert tok.encode_batch([], padding=True).shape == (0, 0)
    assert tok.encode_batch(["a"], padding=False) == tok.encode_batch(["a"])


def test_batch_of_a_tokenizer_by_rank_has_no_template():
    tok = ctok.load("o200k_base")
    batch = tok.encode_batch(["hello world", "hello"], padding=Padding(pad_id=1), truncation=1)
    assert batch.ids.tolist() == [[24912], [24912]]
    assert tok.encode_batch(["a", "b"], pairs=["c", "d"]) == [tok.encode("a") + tok.encode("c"), tok.encode("b") + tok.encode("d")]


def test_front_door_has_the_names_of_results():
    assert ctok.Encoding is type(ctok.load("o200k_base").encoding("a"))
    assert {"Batch", "Encoding", "AddedToken", "Spec"} <= set(ctok.__all__) & set(dir(ctok))
