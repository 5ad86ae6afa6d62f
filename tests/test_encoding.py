"""Encodings and post-processors, against the live reference: what is added around texts, cutting, filling up, and the look-ups."""

import json
import pickle
from array import array
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctok.encoding import NO_WORD, Encoding, merge, pad, pad_all, pad_length, truncate
from ctok.errors import SpecError
from ctok.stages.postprocessors import build_post_processor, trim_offsets
from ctok.stagespecs import postprocessors as specs
from ctok.stagespecs.limits import Padding, Truncation

tokenizers = pytest.importorskip("tokenizers")

WORDS = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "[PAD]": 3} | {word: i for i, word in enumerate("abcdefgh", 4)}
BERT = {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]}
ROBERTA = {"type": "RobertaProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1], "trim_offsets": True, "add_prefix_space": True}
BYTES = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}


def template(single, pair):
    def piece(text):
        name, _, kind = text.partition(":")
        part = "Sequence" if name in "AB" else "SpecialToken"
        return {part: {"id": name, "type_id": int(kind or 0)}}

    tokens = {"[CLS]": [1], "[SEP]": [2], "[TWO]": [1, 2]}
    return {
        "type": "TemplateProcessing",
        "single": [piece(text) for text in single.split()],
        "pair": [piece(text) for text in pair.split()],
        "special_tokens": {name: {"id": name, "ids": ids, "tokens": [f"<{i}>" for i in ids]} for name, ids in tokens.items()},
    }


def chain(*steps):
    return {"type": "Sequence", "processors": list(steps)}


BERT_LIKE = template("[CLS] A [SEP]", "[CLS] A [SEP] B:1 [SEP]:1")
PROCESSORS = [
    None,
    BERT,
    ROBERTA,
    dict(ROBERTA, trim_offsets=False),
    BYTES,
    BERT_LIKE,
    template("[CLS] A", "[CLS] A [CLS]:1 B:1"),
    template("A [SEP] [CLS]:2", "A [SEP] B:1 [SEP]:1 [CLS]:2"),
    template("[TWO]:3 A:5 [SEP]:7", "B:2 [TWO]:4 A:6"),
    template("A A:1", "A B:1 A:2"),
    chain(BYTES, BERT_LIKE),
    chain(BERT_LIKE, BYTES),
    chain(ROBERTA, BERT),
    chain(BERT, ROBERTA, BYTES),
    chain(),
]


def record_of(processor):
    """Return the specification of a post-processor as a file writes it."""
    if processor is None:
        return None
    fields = {name: value for name, value in processor.items() if name != "type"}
    if processor["type"] == "Sequence":
        return specs.Sequence([record_of(step) for step in fields["processors"]])
    if processor["type"] == "TemplateProcessing":

        def piece(entry):
            ((kind, value),) = entry.items()
            return (specs.SequencePiece if kind == "Sequence" else specs.SpecialPiece)(value["id"], value["type_id"])

        tokens = [specs.TemplateToken(**token) for token in fields["special_tokens"].values()]
        return specs.TemplateProcessing([*map(piece, fields["single"])], [*map(piece, fields["pair"])], tokens)
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
    return getattr(specs, processor["type"])(**fields)


def word_level(processor):
    model = tokenizers.models.WordLevel(WORDS, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return with_processor(tokenizer, processor)


def with_processor(tokenizer, processor):
    return tokenizers.Tokenizer.from_str(json.dumps(json.loads(tokenizer.to_str()) | {"post_processor": processor}))


def raw(found, token, type_id=0):
    """Return the `Encoding` of what the reference found, to which nothing has been added."""
    words = [NO_WORD if word is None else word for word in found.word_ids]
    names = {i: name for i, (name, number) in enumerate(zip(found.tokens, found.ids, strict=True)) if token(number) != name}
    starts, ends = zip(*found.offsets, strict=True) if found.ids else ((), ())
    columns = (array("I", column) for column in (found.ids, starts, ends, words))
    return Encoding.from_tokens(*columns, token=token, names=names, type_id=type_id)


def says(found):
    return {
        "ids": found.ids,
        "tokens": found.tokens,
        "spans": found.spans if isinstance(found, Encoding) else found.offsets,
        "word_ids": found.word_ids,
        "sequence_ids": found.sequence_ids,
        "type_ids": found.type_ids,
        "attention_mask": found.attention_mask,
        "special_tokens_mask": found.special_tokens_mask,
        "n_sequences": found.n_sequences,
        "overflowing": [says(piece) for piece in found.overflowing],
    }


def looked_up(found, n, words, chars):
    """Return all answers of the look-ups."""
    return (
        [[found.char_to_token(i, s) for i in range(chars)] for s in range(found.n_sequences)],
        [[found.char_to_word(i, s) for i in range(chars)] for s in range(found.n_sequences)],
        [[found.word_to_tokens(i, s) for i in range(words)] for s in range(found.n_sequences)],
        [[found.word_to_chars(i, s) for i in range(words)] for s in range(found.n_sequences)],
        [found.token_to_sequence(i) for i in range(n)],
        [found.token_to_chars(i) for i in range(n)],
        [found.token_to_word(i) for i in range(n)],
    )


REFERENCES = [(word_level(processor), build_post_processor(record_of(processor))) for processor in PROCESSORS]
PLAIN = word_level(None)
SENTENCES = st.lists(st.sampled_from(["a", "b", "c", "dd", "e"]), max_size=9).map(" ".join)
TRUNCATIONS = st.none() | st.builds(
    Truncation,
    st.integers(0, 14),
    st.sampled_from(["longest_first", "only_first", "only_second"]),
    st.integers(0, 3),
    st.sampled_from(["right", "left"]),
)
PADDINGS = st.none() | st.builds(
    Padding,
    st.integers(0, 20),
    st.sampled_from(["right", "left"]),
    st.none() | st.integers(0, 5),
    st.sampled_from([0, 3]),
    st.integers(0, 2),
)


def live(tokenizer, first, second, add, truncation, padding):
    """Return what the reference makes of it, or None where it stops or leaves its own rules (too little room for what it adds)."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    try:
        if truncation:
            added = tokenizer.num_special_tokens_to_add(second is not None) if add else 0
            if truncation.max_length < added:
                return None
            tokenizer.enable_truncation(
                truncation.max_length, stride=truncation.stride, strategy=truncation.strategy, direction=truncation.direction
            )
        if padding:
            tokenizer.enable_padding(
                direction=padding.direction,
                pad_id=padding.pad_id,
                pad_type_id=padding.pad_type_id,
                pad_token=padding.pad_token,
                length=padding.length,
                pad_to_multiple_of=padding.pad_to_multiple_of,
            )
        return tokenizer.encode(first, second, add_special_tokens=add)
    except BaseException as error:
        assert "stride" in str(error) or "Truncation error" in str(error), error
        return None


@settings(max_examples=300)
@given(st.sampled_from(REFERENCES), SENTENCES, st.none() | SENTENCES, st.booleans(), TRUNCATIONS, PADDINGS)
def test_encoding_of_random_texts_equals_the_reference(reference, first, second, add, truncation, padding):
    tokenizer, processor = reference
    want = live(tokenizer, first, second, add, truncation, padding)
    a = raw(PLAIN.encode(first), PLAIN.id_to_token)
    b = None if second is None else raw(PLAIN.encode(second), PLAIN.id_to_token, 1)
    if want is None:
        try:
            processor.encode(a, b, add, truncation)
        except ValueError:
            return
        return  # a stride too large for a text that needs no cutting
    try:
        got = processor.encode(a, b, add, truncation)
    except ValueError as error:
        assert "stride" in str(error)  # refused at once, not only when something is cut
        return
    if padding:
        (got,) = pad_all([got], padding)
    assert says(got) == says(want)
    n = len(got)
    ranges = sorted(got._ranges.values())
    if all(one[1] <= other[0] for one, other in pairwise(ranges)):  # else the reference answers as its hash table happens to lie
        assert looked_up(got, n, 10, 20) == looked_up(want, n, 10, 20)
    assert pickle.loads(pickle.dumps(got)) == got
    assert processor.n_added(second is not None) == tokenizer.num_special_tokens_to_add(second is not None)


BYTE_TEXTS = st.lists(st.sampled_from(["a", "b", " ", "  ", "\n", "é", "\u3000", "<m>", "\u2b62", " a"]), max_size=8).map("".join)


def byte_level(processor):
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocab = {char: i for i, char in enumerate(alphabet)} | {"\u0120a": 256, "\u0120\u0120": 257}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab, [("\u0120", "a"), ("\u0120", "\u0120")]))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.add_special_tokens([tokenizers.AddedToken("<m>", lstrip=True, rstrip=True)])
    return with_processor(tokenizer, processor)


TRIMMING = [dict(step, add_prefix_space=space) for step in (BYTES, ROBERTA) for space in (True, False)]
BYTE_REFERENCES = [(byte_level(processor), build_post_processor(record_of(processor))) for processor in TRIMMING]
BYTE_PLAIN = byte_level(None)


@settings(max_examples=120)
@given(st.sampled_from(BYTE_REFERENCES), BYTE_TEXTS, st.none() | BYTE_TEXTS, st.booleans(), st.none() | st.integers(5, 9))
def test_trimmed_spans_equal_the_reference(reference, first, second, add, most):
    tokenizer, processor = reference
    truncation = Truncation(most) if most else None
    want = live(tokenizer, first, second, add, truncation, None)
    a = raw(BYTE_PLAIN.encode(first), BYTE_PLAIN.id_to_token)
    b = None if second is None else raw(BYTE_PLAIN.encode(second), BYTE_PLAIN.id_to_token, 1)
    assert says(processor.encode(a, b, add, truncation)) == says(want)


def test_trim_offsets_in_bytes_takes_the_bytes_of_white_space():
    columns = [array("I", column) for column in ([1], [4], [14], [0])]
    token = "\u3000<m>\u3000 "  # 3 + 3 + 3 + 1 bytes
    for unit, want in (("byte", (7, 10)), ("char", (5, 12))):
        assert trim_offsets(Encoding.from_tokens(*columns, token=lambda _: token, unit=unit), False).spans == [want]


@pytest.mark.parametrize(
    ("processor", "around"),
    [
        (None, ((), ())),
        (BYTES, ((), ())),
        (BERT, ((1,), (2,))),
        (ROBERTA, ((1,), (2,))),
        (PROCESSORS[8], ((1, 2), (2,))),
        (chain(BYTES, BERT_LIKE), ((1,), (2,))),
        (chain(ROBERTA, BERT), ((1, 1), (2, 2))),
    ],
)
def test_post_processor_around_gives_the_ids_beside_a_text(processor, around):
    assert build_post_processor(record_of(processor)).around() == around


@pytest.mark.parametrize("unit", ["char", "byte", "utf16"])
@pytest.mark.parametrize("processor", PROCESSORS + TRIMMING)
@pytest.mark.parametrize("words", [0, 1, 3])
def test_what_is_put_around_a_text_at_once_is_what_the_steps_put_there(processor, unit, words):
    built = build_post_processor(record_of(processor))
    columns = [array("I", range(start, start + words)) for start in (7, 0, 1, 0)]
    text = Encoding.from_tokens(*columns, token=str, names={2: " two "} if words == 3 else {}, unit=unit)
    for _ in range(2):
        assert built.process(text) == built._process(text, None, True)
    assert built.process(text, add_special_tokens=False) == built._process(text, None, False)


def test_post_processor_that_repeats_the_text_cannot_be_streamed():
    with pytest.raises(SpecError, match="a single text 2 times"):
        build_post_processor(record_of(template("A A", "A B"))).around()
    with pytest.raises(SpecError, match="a single text 0 times"):
        build_post_processor(record_of(template("[CLS]", "A B"))).around()


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (specs.TemplateProcessing([specs.SpecialPiece("[X]")], []), "uses '\\[X\\]'"),
        (specs.TemplateProcessing([specs.SequencePiece("B")], []), "single text uses the second"),
        (record_of(chain(BERT_LIKE, BERT_LIKE)), "not 3 parts"),
        (Padding(), "Padding is not a post-processor"),
    ],
)
def test_post_processor_that_contradicts_itself_is_refused(record, message):
    with pytest.raises(SpecError, match=message):
        build_post_processor(record)


# ---- cases known by name ----


def sentence(text, type_id=0):
    return raw(PLAIN.encode(text), PLAIN.id_to_token, type_id)


def encoded(text, second=None, **limits):
    processor = build_post_processor(record_of(BERT_LIKE))
    return processor.encode(sentence(text), None if second is None else sentence(second, 1), truncation=Truncation(**limits))


def test_k10_01_stride_that_is_not_less_than_what_remains_is_refused():
    with pytest.raises(ValueError, match="stride is 8, but must be less than max_length without the special tokens, which is 8"):
        encoded("a b", max_length=10, stride=8)


def test_k10_02_pair_with_little_room_is_refused_where_the_stride_does_not_fit():
    with pytest.raises(ValueError, match="stride is 2"):
        encoded("a b c d e", "f g h a b", max_length=6, stride=2)


def test_k10_04_windows_with_stride():
    got = encoded("a b c d e f g", max_length=6, stride=3)
    assert got.ids == [1, 4, 5, 6, 7, 2]
    assert [piece.ids for piece in got.overflowing] == [[1, 5, 6, 7, 8, 2], [1, 6, 7, 8, 9, 2], [1, 7, 8, 9, 10, 2]]


def test_k10_05_left_truncation_goes_backwards():
    got = encoded("a b c d e f g", max_length=5, stride=1, direction="left")
    assert got.ids == [1, 8, 9, 10, 2]
    assert [piece.ids for piece in got.overflowing] == [[1, 6, 7, 8, 2], [1, 4, 5, 6, 2]]


def test_k10_07_only_first():
    got = encoded("a b c d e", "f g h", max_length=7, strategy="only_first")
    assert [got.ids, *(piece.ids for piece in got.overflowing)] == [[1, i, 2, 9, 10, 11, 2] for i in range(4, 9)]


def test_k10_08_only_second_that_cannot_fit_is_refused():
    with pytest.raises(ValueError, match="has 3 ids, too few to leave out 4"):
        encoded("a b c d e", "f g h", max_length=7, strategy="only_second")
    with pytest.raises(ValueError, match="there is no second text"):
        encoded("a b c d e", max_length=4, strategy="only_second")
    with pytest.raises(ValueError, match="max_length is 1, but the special tokens alone are 2"):
        encoded("a b c d e", max_length=1)


def test_k10_09_left_padding_with_a_multiple():
    processor = build_post_processor(record_of(BERT_LIKE))
    batch = pad_all([processor.encode(sentence(text)) for text in ("a", "a b c")], Padding(None, "left", 8, 3))
    assert [row.ids for row in batch] == [[3, 3, 3, 3, 3, 1, 4, 2], [3, 3, 3, 1, 4, 5, 6, 2]]
    assert [row.attention_mask for row in batch] == [[0, 0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1, 1]]
    assert [row.special_tokens_mask for row in batch] == [[1, 1, 1, 1, 1, 1, 0, 1], [1, 1, 1, 1, 0, 0, 0, 1]]
    assert batch[0].tokens[:6] == ["[PAD]"] * 5 + ["<1>"]


def test_k10_13_padding_of_what_is_padded_extends_the_mask():
    once = pad(sentence("a b"), 3)
    assert pad(once, 5, "left").attention_mask == [0, 0, 1, 1, 0]


def test_k4_17_character_in_no_token_maps_to_none():
    got = build_post_processor(record_of(BERT_LIKE)).encode(sentence("a  b"))
    assert [got.char_to_token(i) for i in range(5)] == [1, None, None, 2, None]


def test_k4_15_merge_with_growing_spans_goes_on_behind_special_tokens():
    parts = [build_post_processor(record_of(BERT_LIKE)).encode(sentence(text)) for text in ("a b", "c d")]
    assert merge(parts, growing_spans=True).spans == [(0, 0), (0, 1), (2, 3), (0, 0), (0, 0), (3, 4), (5, 6), (0, 0)]
    assert merge(parts).spans == [(0, 0), (0, 1), (2, 3), (0, 0)] * 2
    cut = [truncate(part, 3) for part in parts]
    assert [piece.spans for piece in merge(cut, growing_spans=True).overflowing] == [
        [(0, 0), (0, 0), (0, 1), (2, 3)],
        [(0, 0), (0, 0)],
        [(0, 0), (0, 1), (2, 3), (0, 0)],
    ]


# ---- the record ----


def test_encoding_columns_are_buffers_that_nobody_can_change():
    got = sentence("a b c")
    column = got.column("ids")
    assert column.format == "I" and column.readonly and column.tolist() == got.ids
    assert got.column("attention_mask").format == "B"
    with pytest.raises(ValueError, match="'spans' is not a column"):
        got.column("spans")
    with pytest.raises(AttributeError, match="immutable"):
        got.unit = "byte"
    with pytest.raises(AttributeError, match="immutable"):
        del got.unit
    with pytest.raises(TypeError, match="made by a tokenizer"):
        Encoding()
    with pytest.raises(ValueError, match="different lengths"):
        Encoding.from_tokens(array("I", [1]), array("I"), array("I"), array("I"), token=str)
    with pytest.raises(ValueError, match="unit must be one of char, byte, utf16"):
        Encoding.from_tokens(b"", b"", b"", b"", token=str, unit="bytes")


def test_encoding_is_equal_by_value_and_shows_itself():
    assert sentence("a b") == sentence("a b") != sentence("b a")
    assert hash(sentence("a b")) == hash(sentence("a b"))
    assert sentence("a") != "a"
    assert repr(truncate(sentence("a b c"), 1)) == "<Encoding: 1 [4]>"
    assert repr(truncate(sentence("a b c"), 0)) == "<Encoding: 0 [], 1 overflowing>"
    assert merge([]).ids == [] and pad_length([], None, 4) == 0 and pad_length([3, 5], None, 4) == 8


def test_encoding_past_the_end_is_none():
    got = sentence("a")
    assert got.token_to_sequence(1) is got.token_to_word(-1) is got.token_to_chars(1) is got.word_to_tokens(1) is None


def test_truncate_and_pad_refuse_what_makes_no_sense():
    for call in (lambda: truncate(sentence("a b"), 1, 0, "up"), lambda: pad(sentence("a"), 3, "up")):
        with pytest.raises(ValueError, match="direction must be 'left' or 'right', got 'up'"):
            call()
    with pytest.raises(ValueError, match="cannot be negative"):
        truncate(sentence("a b"), -1)
    with pytest.raises(ValueError, match="stride is 1, but must be less than the 1 ids"):
        truncate(sentence("a b"), 1, 1)


def test_merge_of_encodings_of_different_tokenizers_keeps_their_tokens():
    one = Encoding.from_tokens(*(array("I", [0]) for _ in range(4)), token=lambda _: "x")
    other = Encoding.from_tokens(*(array("I", [0]) for _ in range(4)), token=lambda _: "y")
    assert merge([one, other]).tokens == ["x", "y"]
