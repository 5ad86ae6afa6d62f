"""Ids of a SentencePiece model to text: the kernel and the twin against the reference, whole and streamed."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ctok._native.decode import IncrementalDecoder, step_many
from ctok._native.detokenize import decode_bytes, decode_str
from ctok._native.spans import decode_spans
from ctok._native.vocab import Vocab
from ctok._reference import piecetext as twin
from ctok.errors import DecodeError, SpecError, UnknownIdError
from ctok.stages.sentencepiece import build_piece_decoder
from ctok.stagespecs.sentencepiece import Decoder
from feeds import all_feeds, random_feeds
from piece_models import BYTE, BYTES, CONTROL, HEAD, NORMAL, UNKNOWN, decoders, model_of, piece_lists, proto_of, reference_of

PIECES = [*HEAD, ("\u2581", -1.0, NORMAL), ("\u2581a", -1.0, NORMAL), ("b", -1.0, NORMAL), ("\u2581\u2581", -1.0, NORMAL), *BYTES]
NUMBER = {text: number for number, (text, _, _) in enumerate(PIECES)}


def vocab_of(pieces, record):
    model = model_of(pieces)
    special = tuple((text, number) for number, (text, _, kind) in enumerate(pieces) if kind in (UNKNOWN, CONTROL))
    vocab = Vocab(model.tokens.data, model.tokens.ends, model.tokens.ids, special, joins=False)
    return build_piece_decoder(record, model, vocab).vocab


def ids_of(*texts):
    return [NUMBER[text if isinstance(text, str) else f"<0x{text:02X}>"] for text in texts]


def reference(pieces, record):
    return reference_of(proto_of(
        pieces, add_dummy_prefix=record.add_dummy_prefix, remove_extra_whitespaces=record.remove_extra_whitespaces,
        trainer_treat_whitespace_as_suffix=record.treat_whitespace_as_suffix, trainer_unk_surface=record.unk_surface,
    ))  # fmt: skip


def whole(vocab, ids, skip_special_tokens=False, errors="replace", utf8_policy=None):
    return decode_str(vocab, ids, skip_special_tokens, errors, utf8_policy)


def streamed(vocab, feed, **options):
    """The joined text and ids of a stream; it goes on in a restored or copied decoder now and then."""
    dec = IncrementalDecoder(vocab, **options)
    text, ids = "", ()
    for k, piece in enumerate([*feed, ()]):
        delta = dec.decode_delta(piece, final=k == len(feed))
        text, ids = text + delta.text, ids + delta.ids
        if k % 3 == 0:
            dec = dec.copy()
        else:
            state = dec.getstate()
            dec = IncrementalDecoder(vocab, **options)
            dec.setstate(state)
    return text, list(ids)


@st.composite
def cases(draw):
    """Pieces, a decoder, and ids, of which many are bytes if there are any."""
    pieces, record = draw(piece_lists()), draw(decoders)
    few = {f"<0x{byte}>" for byte in ("41", "E4", "BD", "A0", "F0", "9F", "20")}
    bytes_ = [k for k, piece in enumerate(pieces) if piece[2] == BYTE and piece[0] in few]
    others = [k for k, piece in enumerate(pieces) if piece[2] != BYTE]
    one = st.one_of(st.sampled_from(others), st.sampled_from(bytes_ or others))
    return pieces, record, draw(st.lists(one, max_size=12))


@settings(max_examples=150)
@given(cases())
def test_whole_decoding_of_any_model_equals_the_reference(case):
    pieces, record, ids = case
    expected = reference(pieces, record).decode(ids) if ids else ""
    assert whole(vocab_of(pieces, record), ids) == expected
    assert twin.decode(record, [(text, kind) for text, _, kind in pieces], ids) == expected


@settings(max_examples=80)
@given(cases(), st.data())
def test_stream_of_any_cut_equals_the_twin(case, data):
    pieces, record, ids = case
    vocab = vocab_of(pieces, record)
    skip = data.draw(st.booleans())
    expected = twin.decode(record, [(text, kind) for text, _, kind in pieces], ids, skip_special=skip)
    for feed in [*all_feeds(ids)[:4], data.draw(random_feeds(st.just(ids)))]:
        assert streamed(vocab, feed, skip_special_tokens=skip) == (expected, ids)
    assert whole(vocab, ids, skip_special_tokens=skip) == expected
    assert decode_spans(vocab, ids, skip, "replace", None, "char")[0] == expected


@settings(max_examples=80)
@given(cases(), st.sampled_from(["maximal_subpart", "per_byte", "hf_run"]), st.sampled_from(["replace", "ignore"]))
def test_stream_by_any_policy_equals_the_whole(case, policy, errors):
    pieces, record, ids = case
    vocab = vocab_of(pieces, record)
    expected = whole(vocab, ids, errors=errors, utf8_policy=policy)
    for feed in all_feeds(ids)[:4]:
        assert streamed(vocab, feed, errors=errors, utf8_policy=policy)[0] == expected


@settings(max_examples=120)
@given(cases(), st.integers(0, 12), st.sampled_from(["maximal_subpart", "per_byte"]), st.booleans())
@example(([*HEAD, *BYTES], Decoder(False, False, False, ""), [len(HEAD) + 0xE4, 0]), 2, "per_byte", False)  # ended by an empty text
def test_text_after_prefix_ids_is_the_rest_of_the_whole_text(case, n, policy, skip):
    pieces, record, ids = case
    vocab, options = vocab_of(pieces, record), {"utf8_policy": policy, "skip_special_tokens": skip}
    before = IncrementalDecoder(vocab, **options).decode(ids[:n])
    got, _ = streamed(vocab, [ids[n:]], prefix_ids=ids[:n], **options)
    assert before + got == whole(vocab, ids, **options)


@settings(max_examples=80)
@given(cases(), st.integers(0, 12))
def test_prefix_ids_set_what_the_start_means(case, n):
    pieces, record, ids = case
    prompt, rest = ids[:n], ids[n:]
    listed = [(text, kind) for text, _, kind in pieces]
    got, _ = streamed(vocab_of(pieces, record), [rest], prefix_ids=prompt)
    if prompt and pieces[prompt[-1]][2] != BYTE:
        assert got == twin.decode(record, listed, ids)[len(twin.decode(record, listed, prompt)):]


@settings(max_examples=60)
@given(cases())
def test_spans_of_single_pieces_are_the_places_of_their_texts(case):
    pieces, record, ids = case
    text, spans = decode_spans(vocab_of(pieces, record), ids, False, "replace", None, "char")
    place = 0
    for number, (start, stop), part in zip(ids, spans, _texts_of(pieces, record, ids), strict=True):
        if part is not None:
            assert (text[start:stop], start) == (part, place if part == "" else text.index(part, place)), pieces[number]
            place = stop


def _texts_of(pieces, record, ids):
    """The text of each id that is no byte."""
    listed = [(text, kind) for text, _, kind in pieces]
    parts = iter(twin.parts(record, listed, ids))
    return [None] * len(ids) if any(pieces[k][2] == BYTE for k in ids) else [next(parts) if pieces[k][2] != CONTROL else "" for k in ids]


def test_bytes_around_a_control_piece_do_not_join():
    vocab = vocab_of(PIECES, Decoder())
    ids = ids_of(0xE4, "<s>", 0xBD, 0xA0)
    assert whole(vocab, ids) == streamed(vocab, [ids])[0] == "\ufffd" * 3
    assert whole(vocab, ids, skip_special_tokens=True) == "\u4f60"
    assert decode_bytes(vocab, ids, False) == b"\xe4\xbd\xa0"


def test_decode_bytes_gives_the_bytes_of_byte_pieces():
    vocab = vocab_of(PIECES, Decoder())
    assert decode_bytes(vocab, ids_of("\u2581a", 0xFF, "\u2581a", 0xE4), False) == b"a\xff a\xe4"
    assert decode_bytes(vocab, ids_of("<s>", "\u2581", "\u2581a", "<unk>"), False) == "a \u2047 ".encode()
    assert decode_bytes(vocab, ids_of("\u2581a") * 5000, False) == (" a" * 5000)[1:].encode()


@pytest.mark.parametrize("record", [Decoder(), Decoder(add_dummy_prefix=True, remove_extra_whitespaces=False), Decoder(False, False)])
def test_long_lists_are_decoded_as_short_ones(record):
    vocab = vocab_of(PIECES, record)
    ids = ids_of("<s>", "\u2581", "\u2581a", 0xE4, 0xBD, 0xA0, "b", 0xFF, "\u2581\u2581") * 700
    assert whole(vocab, ids) == twin.decode(record, [(text, kind) for text, _, kind in PIECES], ids)


def test_strict_errors_name_the_byte_and_the_id():
    vocab = vocab_of(PIECES, Decoder())
    for decode in (lambda ids: whole(vocab, ids, errors="strict"), lambda ids: streamed(vocab, [ids], errors="strict")):
        with pytest.raises(DecodeError) as caught:
            decode(ids_of("<s>", "\u2581a", "b", 0xFF))
        assert (caught.value.position, caught.value.index) == (2, 3)


def test_unknown_id_is_named_with_its_place():
    vocab = vocab_of(PIECES, Decoder())
    for ids in ([3, 4, len(PIECES)], [len(PIECES)], [-1]):
        with pytest.raises(UnknownIdError) as caught:
            whole(vocab, ids)
        assert (caught.value.id, caught.value.index) == (ids[-1], len(ids) - 1)


def test_stop_string_across_pieces_ends_the_stream():
    dec = IncrementalDecoder(vocab_of(PIECES, Decoder()), stop="a b")
    assert dec.decode(ids_of("b", "\u2581a", "\u2581", "b", "b"), final=False) == "b "
    assert (dec.finish, dec.consumed) == ("stop", 4)


def test_many_decoders_step_together():
    vocab = vocab_of(PIECES, Decoder())
    live = [IncrementalDecoder(vocab) for _ in range(3)]
    assert step_many(live, ids_of("\u2581a", "<s>", 0xE4)) == ["a", "", ""]
    assert step_many(live, ids_of("\u2581a", "\u2581a", 0x41)) == [" a", "a", "\ufffdA"]


def test_state_of_a_model_with_another_unknown_surface_is_refused():
    one, other = (IncrementalDecoder(vocab_of(PIECES, Decoder(unk_surface=text))) for text in ("?", "!"))
    with pytest.raises(ValueError, match="another tokenizer"):
        other.setstate(one.getstate())


def test_types_for_fewer_ids_than_there_are_raise():
    model, short = model_of(PIECES), model_of(PIECES[:5])
    with pytest.raises(SpecError, match="types"):
        build_piece_decoder(Decoder(), short, Vocab(model.tokens.data, model.tokens.ends, model.tokens.ids, joins=False))
