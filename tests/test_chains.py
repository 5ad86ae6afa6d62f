"""Decoder chains: the kernel and the twin against the reference's own decoder objects, whole and streamed."""

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import chain_parts as parts
from chain_parts import chains, vocab_of
from ctok._native.decode import IncrementalDecoder, step_many
from ctok._native.detokenize import decode_bytes, decode_str
from ctok._native.spans import decode_spans
from ctok._native.vocab import Vocab
from ctok._reference import chain as twin
from ctok.errors import DecodeError, PatternError, SpecError, StateError, UnknownIdError
from ctok.spec import TokenTable
from ctok.stages.decoders import build_decoder
from ctok.stagespecs import decoders as records
from feeds import all_feeds, random_feeds

SPACE = "\u2581"
LLAMA = records.Sequence([
    records.Replace(records.String(SPACE), " "), records.ByteFallback(), records.Fuse(), records.Strip(" ", 1, 0),
])  # fmt: skip
GEMMA = records.Sequence([records.Replace(records.String(SPACE), " "), records.ByteFallback(), records.Fuse()])
POLICIES = ["maximal_subpart", "per_byte"]


def decoded(record, tokens, **options):
    vocab, ids = vocab_of(tokens)
    return whole(build_decoder(record, vocab).vocab, ids, **options)


def whole(vocab, ids, *, skip_special_tokens=False, errors="replace", utf8_policy=None):
    return decode_str(vocab, ids, skip_special_tokens, errors, utf8_policy)


def streamed(vocab, feed, **options):
    """The joined text and ids of a stream fed in these pieces; each piece is decoded by a restored or copied decoder now and then."""
    dec = IncrementalDecoder(vocab, **options)
    text, ids = "", ()
    for k, piece in enumerate([*feed, ()]):
        delta = dec.decode_delta(piece, final=k == len(feed))
        text, ids = text + delta.text, ids + delta.ids
        dec = dec.copy() if k % 3 == 0 else restored(dec, vocab, options)
    return text, list(ids)


def restored(dec, vocab, options):
    new = IncrementalDecoder(vocab, **options)
    new.setstate(dec.getstate())
    assert new.getstate() == dec.getstate()
    return new


# ---- against the reference ----


@settings(max_examples=100)
@given(chains(st.one_of(parts.simple_steps, parts.regex_steps)), parts.token_lists)
@example(records.Sequence([records.Fuse(), records.CTC("x", "y", False), records.CTC("", "", True)]), ["x"])  # an empty token is none
def test_whole_decoding_of_any_chain_equals_the_reference(record, tokens):
    pytest.importorskip("tokenizers")
    assume(not parts.panics(record, tokens))
    assert decoded(record, tokens) == parts.reference_of(record).decode(tokens)


@pytest.mark.parametrize("kind", [*parts.SIMPLE, "regex"])
@settings(max_examples=50)
@given(st.data())
def test_each_decoder_alone_equals_the_reference(kind, data):
    pytest.importorskip("tokenizers")
    record, tokens = data.draw(parts.SIMPLE.get(kind, parts.regex_steps)), data.draw(parts.token_lists)
    assume(not parts.panics(record, tokens))
    assert decoded(record, tokens) == parts.reference_of(record).decode(tokens)


@settings(max_examples=50)
@given(chains(parts.simple_steps), parts.token_lists)
def test_twin_of_any_chain_equals_the_reference(record, tokens):
    pytest.importorskip("tokenizers")
    assume(not parts.panics(record, tokens))
    assert twin.decode(record, tokens) == parts.reference_of(record).decode(tokens)


@settings(max_examples=100)
@given(chains(parts.simple_steps), parts.token_lists, st.sampled_from([None, *POLICIES]), st.sampled_from(["replace", "ignore"]))
def test_whole_decoding_with_any_policy_equals_the_twin(record, tokens, policy, errors):
    assert decoded(record, tokens, utf8_policy=policy, errors=errors) == twin.decode(record, tokens, policy, errors)


# ---- streams ----


@settings(max_examples=100)
@given(chains(st.one_of(parts.simple_steps, parts.regex_steps)), random_feeds(parts.token_lists), st.sampled_from([None, *POLICIES]))
def test_stream_cut_anyhow_equals_the_whole(record, feed, policy):
    vocab, ids = vocab_of([token for piece in feed for token in piece])
    table, number = build_decoder(record, vocab).vocab, iter(ids)
    pieces = [[next(number) for _ in piece] for piece in feed]
    assert streamed(table, pieces, utf8_policy=policy) == (whole(table, ids, utf8_policy=policy), ids)


@settings(max_examples=100)
@given(chains(parts.simple_steps), parts.token_lists, st.data())
def test_stop_string_ends_the_stream_where_it_stands_in_the_whole_text(record, tokens, data):
    vocab, ids = vocab_of(tokens)
    table = build_decoder(record, vocab).vocab
    text = whole(table, ids)
    assume(text)
    at = data.draw(st.integers(0, len(text) - 1))
    stop = text[at : at + data.draw(st.integers(1, 4))]
    dec = IncrementalDecoder(table, stop=stop)
    got = "".join([*(dec.decode(number) for number in ids), dec.decode([], final=False)])
    rest = dec.decode([], final=True) if dec.finish is None else ""
    assert got + rest == text[: text.find(stop)]


@settings(max_examples=100)
@given(chains(parts.simple_steps), parts.token_lists, st.integers(0, 6))
@example(records.Sequence([records.WordPiece("##", False), records.ByteFallback()]), ["<0xE4>", "<0xBD>"], 1)  # a byte only as the first
@example(records.ByteFallback(), ["<0xE4>", ""], 2)
def test_text_after_a_prefix_is_the_rest_of_the_whole_text(record, tokens, n):
    vocab, ids = vocab_of(tokens)
    table = build_decoder(record, vocab).vocab
    first = IncrementalDecoder(table, utf8_policy="maximal_subpart")
    before = first.decode(ids[:n])
    dec = IncrementalDecoder(table, prefix_ids=ids[:n], utf8_policy="maximal_subpart")
    for _ in range(2):
        got = dec.decode(ids[n:]) + dec.decode([], final=True)
        assert before + got == whole(table, ids, utf8_policy="maximal_subpart")
    dec.decode(ids[n:])
    dec.reset()
    assert dec.copy().decode(ids[n:], final=True) == got


@settings(max_examples=100)
@given(chains(parts.simple_steps), parts.token_lists, st.binary(max_size=12), st.data())
def test_forged_state_is_refused_or_harmless(record, tokens, noise, data):
    vocab, ids = vocab_of(tokens)
    table = build_decoder(record, vocab).vocab
    dec = IncrementalDecoder(table)
    dec.decode(ids)
    state = bytearray(dec.getstate())
    at = data.draw(st.integers(31, len(state)))
    state[at : at + len(noise)] = noise
    try:
        dec.setstate(bytes(state))
    except StateError:
        pass
    dec.decode(ids)
    dec.decode([], final=True)


# ---- spans ----


@settings(max_examples=100)
@given(chains(parts.simple_steps), parts.token_lists, st.sampled_from([None, *POLICIES]))
@example(records.Sequence([records.Fuse(), records.Replace(records.String(""), "a")]), ["x"], None)
@example(records.Sequence([records.WordPiece("##", False), records.ByteFallback()]), ["<0x41>"], None)  # a byte only as the first
def test_spans_cover_the_text_in_order(record, tokens, policy):
    vocab, ids = vocab_of(tokens)
    table = build_decoder(record, vocab).vocab
    text, spans = decode_spans(table, ids, False, "replace", policy, "char")
    assert text == whole(table, ids, utf8_policy=policy)
    assert len(spans) == len(ids)
    covered = 0
    for start, stop in spans:
        assert 0 <= start <= stop <= len(text)
        assert start <= covered
        covered = max(covered, stop)
    assert covered == len(text) or not ids


def test_spans_of_a_chain_are_those_of_its_text():
    vocab, ids = vocab_of([SPACE + "Hé", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>", SPACE + "x"])
    table = build_decoder(LLAMA, vocab).vocab
    assert decode_spans(table, ids, False, "replace", None, "char") == ("Hé\U0001f600 x", [(0, 2), *[(2, 3)] * 4, (3, 5)])
    assert decode_spans(table, ids, False, "replace", None, "byte")[1][0:2] == [(0, 3), (3, 4)]
    assert decode_spans(table, ids, False, "replace", None, "utf16")[1][-1] == (4, 6)


# ---- case by case ----


def stream_texts(record, tokens, **options):
    vocab, ids = vocab_of(tokens)
    dec = IncrementalDecoder(build_decoder(record, vocab).vocab, **options)
    return [*(dec.decode(number) for number in ids), dec.decode([], final=True)]


def test_first_blank_is_dropped_once_and_only_at_the_start():
    assert stream_texts(LLAMA, [SPACE, SPACE + "leading", SPACE + "x"]) == ["", " leading", " x", ""]
    assert stream_texts(LLAMA, [SPACE + "Deep", SPACE + "learning"]) == ["Deep", " learning", ""]
    assert stream_texts(records.Metaspace(), [SPACE + "a", SPACE + SPACE, SPACE + "b"]) == ["a", "  ", " b", ""]


def test_blank_after_a_prefix_stays():
    vocab, ids = vocab_of([SPACE + "Hello", SPACE + "and", "##s", "no"])
    apart = " " + SPACE + "and"
    for record, want in [(LLAMA, " and"), (records.Metaspace(), " and"), (None, apart), (records.WordPiece(), apart)]:
        dec = IncrementalDecoder(build_decoder(record, vocab).vocab, prefix_ids=ids[:1])
        assert [dec.decode(ids[1]), dec.decode([], final=True), dec.decode(ids[1])] == [want, "", want]


def test_case_1_bad_byte_run_is_shown_when_it_ends():
    tokens = ["<0xE4>", "<0xBD>", "<0xA0>", "<0xE5>", "a"]
    assert stream_texts(GEMMA, tokens) == ["", "", "", "", "\ufffd" * 4 + "a", ""]
    assert stream_texts(GEMMA, tokens, utf8_policy="maximal_subpart") == ["", "", "你", "", "\ufffda", ""]


def test_case_2_good_text_before_a_bad_run_is_not_taken_back():
    tokens = [SPACE + "Hello", "<0x20>", "<0xC2>", "»"]
    assert stream_texts(LLAMA, tokens) == ["Hello", "", "", "\ufffd\ufffd»", ""]
    assert stream_texts(LLAMA, tokens, utf8_policy="maximal_subpart") == ["Hello", " ", "", "\ufffd»", ""]


def test_case_3_character_begun_in_the_prefix_belongs_to_the_id_that_ends_it():
    vocab, ids = vocab_of([SPACE + "Hello", SPACE + "world", "<0xF0>", "<0x9F>", "<0x8C>", "<0xB6>", "!"])
    table = build_decoder(LLAMA, vocab).vocab
    dec = IncrementalDecoder(table, prefix_ids=ids[:5])
    assert dec.decode(ids[5]) + dec.decode(ids[6]) == "\U0001f336!"
    dec = IncrementalDecoder(table, prefix_ids=ids[:5], utf8_policy="maximal_subpart")
    assert dec.decode_delta(ids[5]).ids == (ids[5],)


def test_case_4_token_that_is_the_replacement_character_is_shown_at_once():
    assert stream_texts(LLAMA, [SPACE + "a", "\ufffd", "b"]) == ["a", "\ufffd", "b", ""]


def test_case_5_endless_bad_bytes_cost_no_more_each():
    vocab, ids = vocab_of(["<0xFF>"])
    dec = IncrementalDecoder(build_decoder(GEMMA, vocab).vocab, utf8_policy="maximal_subpart")
    assert {dec.decode(ids[0]) for _ in range(4000)} == {"\ufffd"}


def test_case_6_skipped_special_tokens_leave_nothing_behind():
    vocab, ids = vocab_of([SPACE + "a"], [("</s>", 7)])
    dec = IncrementalDecoder(build_decoder(LLAMA, vocab).vocab, skip_special_tokens=True)
    assert [dec.decode(7), dec.decode(ids[0]), *(dec.decode(7) for _ in range(3))] == ["", "a", "", "", ""]
    assert len(dec.getstate()) < 100


@pytest.mark.parametrize("record", [LLAMA, GEMMA, records.Metaspace(), None, records.CTC(), records.ByteLevel()])
def test_skipped_special_token_does_not_count_as_the_first(record):
    vocab, ids = vocab_of([SPACE + "a", "<0xE4>", "<0xBD>", "<0xA0>", "Ã", "©"], [("<s>", 50), ("<e>", 51, False)])
    table = build_decoder(record, vocab).vocab
    shown = [ids[1], 50, ids[2], 51, *ids]
    for mixed in ([50, *ids], [50, ids[0], 50, *ids], [50], [50, 51], shown):
        want = [number for number in mixed if number != 50]
        assert whole(table, mixed, skip_special_tokens=True) == whole(table, want)
        assert streamed(table, [[number] for number in mixed], skip_special_tokens=True) == (whole(table, want), mixed)


def test_case_7_unfinished_character_at_the_end_is_as_errors_say():
    tokens = [SPACE + "a", "<0xF0>", "<0x9F>"]
    assert stream_texts(GEMMA, tokens)[-1] == "\ufffd\ufffd"
    assert stream_texts(GEMMA, tokens, utf8_policy="maximal_subpart")[-1] == "\ufffd"
    assert stream_texts(GEMMA, tokens, errors="ignore")[-1] == ""


def test_case_20_text_outside_the_alphabet_is_literal():
    vocab, ids = vocab_of(["a", "ĠðŁ", "<｜end▁of▁sentence｜>"])
    assert whole(build_decoder(records.ByteLevel(), vocab).vocab, ids) == "a \ufffd<｜end▁of▁sentence｜>"


@pytest.mark.parametrize("record", [LLAMA, records.Metaspace(), records.BPEDecoder(), records.CTC()])
def test_unknown_id_is_refused_or_skipped(record):
    vocab, ids = vocab_of([SPACE + "a", "b</w>"])
    table = build_decoder(record, vocab).vocab
    with pytest.raises(UnknownIdError) as caught:
        whole(table, [*ids, 9])
    assert (caught.value.id, caught.value.index) == (9, 2)
    dec = IncrementalDecoder(table)
    text = dec.decode(ids[0])
    with pytest.raises(UnknownIdError):
        dec.decode([ids[1], 9])
    assert text + dec.decode(ids[1]) + dec.decode([], final=True) == whole(table, ids)
    assert decode_str(table, [9, *ids, 10], False, "replace", None, True) == whole(table, ids)
    dec = IncrementalDecoder(table, skip_unknown_ids=True, prefix_ids=[99])
    deltas = [dec.decode_delta(number) for number in [9, *ids, 10]] + [dec.decode_delta([], final=True)]
    assert "".join(delta.text for delta in deltas) == whole(table, ids)
    assert [number for delta in deltas for number in delta.ids] == [9, *ids, 10]


def test_strict_refuses_a_bad_run_and_leaves_the_decoder_as_it_was():
    vocab, ids = vocab_of([SPACE + "a", "<0xE4>", "b"])
    for record in (LLAMA, records.Sequence([records.ByteFallback(), records.Metaspace()])):
        table = build_decoder(record, vocab).vocab
        with pytest.raises(DecodeError):
            whole(table, ids, errors="strict")
        dec = IncrementalDecoder(table, errors="strict")
        dec.decode(ids[:2])
        state = dec.getstate()
        with pytest.raises(DecodeError):
            dec.decode(ids[2])
        assert dec.getstate() == state


def test_step_many_takes_decoders_of_any_chain():
    vocab, ids = vocab_of([SPACE + "a", "##b", "c</w>"])
    tables = [build_decoder(record, vocab).vocab for record in (LLAMA, records.WordPiece(), records.BPEDecoder(), None)]
    decoders = [IncrementalDecoder(table) for table in tables]
    rows = [step_many(decoders, [number] * 4) for number in ids]
    ends = [dec.decode([], final=True) for dec in decoders]
    assert ["".join(column) for column in zip(*rows, ends, strict=True)] == [whole(table, ids) for table in tables]


def test_bytes_of_a_chain_are_those_before_anything_is_replaced():
    vocab, ids = vocab_of([SPACE + "a", "<0xE4>", "b"])
    assert decode_bytes(build_decoder(LLAMA, vocab).vocab, ids, False) == b"a\xe4b"
    assert decode_bytes(build_decoder(records.Metaspace(), vocab).vocab, ids, False) == b"a<0xE4>b"


# ---- byte-level vocabularies ----


@settings(max_examples=100)
@given(chains(parts.simple_steps), st.lists(st.binary(min_size=1, max_size=3), min_size=1, max_size=8), st.data())
def test_vocabulary_of_bytes_decodes_as_its_spelling_does(record, raw, data):
    raw = list(dict.fromkeys(raw))
    ids = data.draw(st.lists(st.integers(0, len(raw)), max_size=10))
    spelled, _ = vocab_of([twin.spell(token) for token in raw], [("Ġé", len(raw))])
    table = TokenTable.from_dict({token: k for k, token in enumerate(raw)})
    bare = Vocab(table.data, table.ends, table.ids, [("Ġé", len(raw))])
    want = whole(build_decoder(record, spelled).vocab, ids)
    assert whole(build_decoder(record, bare, byte_level=True).vocab, ids) == want


def test_byte_level_vocabulary_needs_no_table():
    vocab, _ = vocab_of(["a"], [("<s>", 5), ("<｜x｜>", 6)])
    assert build_decoder(records.ByteLevel(), vocab, byte_level=True).vocab is vocab
    assert build_decoder(records.Sequence([records.ByteLevel()]), vocab, byte_level=True).vocab is vocab


def test_k3_22_added_token_in_letters_that_stand_for_bytes_is_its_text():
    for byte_level in (False, True):
        vocab, _ = vocab_of(["a"], [("é", 5), ("Ġ", 6, False), ("中", 7)])
        decoding = build_decoder(records.ByteLevel(), vocab, byte_level=byte_level)
        assert whole(decoding.vocab, [5, 6, 7]) == "éĠ中"
        assert decoding.misread == {5, 6}
    assert build_decoder(records.Fuse(), vocab).misread == set()


# ---- making one ----


def test_what_cannot_run_is_refused():
    vocab, _ = vocab_of(["a"])
    with pytest.raises(SpecError, match="too long"):
        build_decoder(records.Sequence([records.ByteFallback()] * 300), vocab)
    with pytest.raises(PatternError):
        build_decoder(records.Replace(records.Regex("(a"), "b"), vocab)
    with pytest.raises(SpecError, match="cannot run"):
        build_decoder(records.String("a"), vocab)


def test_state_goes_over_to_a_tokenizer_built_again():
    vocab, ids = vocab_of(["a" + SPACE, "ba"])
    record = records.Sequence([records.Replace(records.Regex("a+"), "x"), records.BPEDecoder("b")])
    one, two = (IncrementalDecoder(build_decoder(record, vocab).vocab) for _ in range(2))
    other = IncrementalDecoder(build_decoder(records.BPEDecoder("b"), vocab).vocab)
    text = one.decode(ids)
    two.setstate(one.getstate())
    assert two.decode([], final=True) == one.decode([], final=True)
    with pytest.raises(StateError, match="another tokenizer"):
        other.setstate(two.getstate())
    assert text.startswith("x" + SPACE)


def test_streams_says_whether_all_is_released():
    vocab, _ = vocab_of(["a"])
    assert build_decoder(LLAMA, vocab).streams
    rewriting = records.Replace(records.Regex("a+"), "b")
    assert build_decoder(rewriting, vocab).streams
    assert not build_decoder(records.Sequence([records.Fuse(), rewriting]), vocab).streams


FUSED = records.Sequence([records.Fuse(), records.Replace("aba", "-")])


@pytest.mark.parametrize("record", [LLAMA, records.BPEDecoder(), records.CTC(), FUSED])
def test_every_cut_of_a_telling_text(record):
    vocab, ids = vocab_of(["ab", "a" + SPACE, "<0xE4>", "<0xBD>", "a</w>", "a</w>", "<pad>", "b"])
    table = build_decoder(record, vocab).vocab
    want = whole(table, ids)
    for feed in all_feeds(ids):
        assert streamed(table, feed) == (want, ids)
