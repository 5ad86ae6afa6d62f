"""SentencePiece models for tests: random ones, and real files, in the live reference."""

import lzma
import random

import pytest

sentencepiece = pytest.importorskip("sentencepiece")
proto = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
WIRE_KINDS = {"unigram": 1, "bpe": 2, "word": 3, "char": 4}
BYTES = [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
SPACE = "\u2581"


def live(pieces, kind, byte_fallback=False):
    """The reference's processor for a model of (text, score, type); its normalizer changes nothing."""
    model = proto.ModelProto()
    for text, score, type_ in pieces:
        model.pieces.add(piece=text, score=score, type=type_)
    model.trainer_spec.model_type = WIRE_KINDS[kind]
    model.trainer_spec.byte_fallback = byte_fallback
    spec = model.normalizer_spec
    spec.name = "identity"
    spec.add_dummy_prefix = spec.remove_extra_whitespaces = spec.escape_whitespaces = False
    return sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())


def random_pieces(rng, most=25, rare=True):
    """(pieces, byte_fallback, alphabet): with equal scores; where `rare` also unused and user-defined pieces, and missing characters."""
    alphabet = f"ab{SPACE}\u00e9\u6f22\U0001f600"[: rng.randint(2, 6)]
    pieces = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL)]
    weights = [10, rng.choice((0, 4)), rng.choice((0, 2)), 0.3] if rare else [1, 0, 0, 0]
    texts = [] if rare else list(alphabet)
    texts += ["".join(rng.choices(alphabet, k=rng.choice((1, 1, 2, 2, 3, 3, 4, 5)))) for _ in range(rng.randint(1, most))]
    for text in dict.fromkeys(texts):
        score = rng.choice((-rng.randint(0, 5), -rng.random() * 10))
        pieces.append((text, score, rng.choices((NORMAL, UNUSED, USER_DEFINED, CONTROL), weights)[0]))
    byte_fallback = rng.random() < 0.4
    return pieces + BYTES * byte_fallback, byte_fallback, alphabet


def random_models(seed, times, kinds=("bpe", "bpe", "char", "word"), **options):
    """Yield (rng, pieces, kind, byte_fallback, alphabet)."""
    for i in range(times):
        rng = random.Random(f"{seed} {i}")
        pieces, byte_fallback, alphabet = random_pieces(rng, **options)
        yield rng, pieces, rng.choice(kinds), byte_fallback, alphabet


def real_model(shared, name):
    """The bytes of a packed .model of the conformance kit."""
    found = [*(shared / "conformance" / "vocabs").glob(f"{name}.model*")]
    if not found:
        pytest.skip(f"the conformance kit has no {name}.model")
    data = found[0].read_bytes()
    return lzma.decompress(data) if found[0].suffix == ".xz" else data


def pieces_of(data):
    """(pieces, kind, byte_fallback) of a .model file."""
    model = proto.ModelProto.FromString(data)
    pieces = [(piece.piece, piece.score, piece.type) for piece in model.pieces]
    kind = next(kind for kind, number in WIRE_KINDS.items() if number == model.trainer_spec.model_type)
    return pieces, kind, model.trainer_spec.byte_fallback
