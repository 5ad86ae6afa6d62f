"""SentencePiece models for tests: made from pieces, as the reference's processor and as our records."""

from array import array

import pytest
from hypothesis import strategies as st

from ctok import Spec, Tokenizer
from ctok.stagespecs.models import Unigram, table_of_texts
from ctok.stagespecs.sentencepiece import Decoder, pieces_from_list

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
BYTES = [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
HEAD = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL)]
TEXTS = ["\u2581", "\u2581\u2581", "a", "\u2581a", "\u2581\u2581a", "a\u2581", "b\u2581a", "\u4e2d", "\u2581\U0001f600"]
TEXTS += ["\ufffd", "<0xe4>", " ", "e\u0301"]

ALIKE = {"a": -9.0, "aa": -8.0, "aaa": -5.0, "b": -2.0}

texts = st.one_of(st.sampled_from(TEXTS), st.text("\u2581ab\u4e2d \u00e9", min_size=1, max_size=4))


def alike():
    """Two ways through a run of letters stay equally good for as long as it goes on, so that nothing is ever certain."""
    table = table_of_texts({"<unk>": 0, **{piece: i for i, piece in enumerate(ALIKE, 1)}})
    return Tokenizer.from_spec(Spec("alike", Unigram(table, array("d", [0.0, *ALIKE.values()]), unk_id=0), None))


def proto_of(pieces, kind="unigram", **fields):
    """The bytes of a model file. `fields` are the normalizer's, or ``trainer_...`` and ``denormalizer_...``."""
    pytest.importorskip("google.protobuf")
    pb2 = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    proto = pb2.ModelProto()
    for text, score, kind_of_piece in pieces:
        proto.pieces.add(piece=text, score=score, type=kind_of_piece)
    proto.trainer_spec.model_type = ("unigram", "bpe", "word", "char").index(kind) + 1
    proto.trainer_spec.byte_fallback = any(piece[2] == BYTE for piece in pieces)
    for name, value in fields.items():
        part, _, field = name.partition("_")
        where = {"trainer": proto.trainer_spec, "denormalizer": proto.denormalizer_spec}.get(part, proto.normalizer_spec)
        setattr(where, name if where is proto.normalizer_spec else field, value)
    return proto.SerializeToString()


def reference_of(proto):
    """The reference's processor of the bytes of a model file."""
    sentencepiece = pytest.importorskip("sentencepiece")
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(proto)
    return processor


@st.composite
def piece_lists(draw, *, byte_fallback=None):
    """Pieces of a model: texts all different, of any type, with or without those for bytes."""
    drawn = draw(st.lists(st.tuples(texts, st.sampled_from([NORMAL, NORMAL, USER_DEFINED, CONTROL, UNUSED])), max_size=12))
    many = [*HEAD, ("q", -1.0, NORMAL), *((text, -1.0, kind) for text, kind in drawn)]
    if byte_fallback if byte_fallback is not None else draw(st.booleans()):
        many += BYTES
    return list({text: (text, score, kind) for text, score, kind in reversed(many)}.values())[::-1]


def model_of(pieces, **options):
    """Our record of a model."""
    return pieces_from_list(pieces, byte_fallback=any(piece[2] == BYTE for piece in pieces), **options)


decoders = st.builds(Decoder, st.booleans(), st.booleans(), st.booleans(), st.sampled_from([" \u2047 ", "", "?", "\u2581x", " "]))
