"""Byte pair encoding by a list of merges, against the live reference and against its twin, whole and open."""

import random
from collections import Counter
from itertools import chain, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alloc_walk import can_fail, walk
from ctok._native import files, mergelanes, mergelist, mergemodel, mergeopen, mergequeue, model, safecut, vocab
from ctok._native.mergemodel import encode_side_by_side
from ctok._reference import mergelist as twin
from ctok.errors import EncodeError, SpecError
from ctok.stages.models import build_model
from ctok.stagespecs.models import bpe_from_merges
from model_checks import REFUSED, check_bad_states, check_memory, check_open_form, pretokens_of, real_texts

tokenizers = pytest.importorskip("tokenizers")
from merge_cases import SPELLING, kernel, live, random_models, real_model  # noqa: E402 - needs the reference

CHECKING = can_fail(vocab)
MODULES = [files, mergelanes, mergelist, mergemodel, mergeopen, mergequeue, model, safecut, vocab]
WINDOW = 256  # symbols; beyond it a pretoken is merged window by window


def reference(bpe, pretoken):
    try:
        return [(token.id, token.offsets[1]) for token in bpe.tokenize(pretoken)]
    except Exception:
        return REFUSED


def ours(merges, pretoken):
    try:
        return list(zip(*merges.encode_with_ends(pretoken), strict=True))
    except EncodeError:
        return REFUSED


def by_twin(merges, pretoken):
    try:
        return list(zip(*merges.encode(pretoken), strict=True))
    except KeyError:
        return REFUSED


def together(merges, pretokens):
    """All pretokens merged side by side; REFUSED for all if one is."""
    try:
        return encode_side_by_side(merges, pretokens)[0]
    except EncodeError:
        return REFUSED


def ids_of(wanted):
    return REFUSED if wanted == REFUSED else [number for number, _ in wanted]


def joined(lists):
    return [*chain.from_iterable(lists)]


def is_hollow(options, merges):
    size = len(options["prefix"].encode())
    return any(len(right.encode()) == size for _, right in merges)


# ---- one pretoken ----


def words(rng, alphabet, longest=14):
    return ["".join(rng.choices(alphabet + "z\U0001f600", k=rng.randint(1, longest))) for _ in range(8)]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_merges_of_random_models_equal_the_reference_and_the_twin(seed):
    for rng, texts, merges, options in random_models(seed, 250):
        bpe, one, slow = live(texts, merges, **options), kernel(texts, merges, **options), twin.MergeList(texts, merges, **options)
        pretokens = words(rng, "ab\u00e9\u2581")
        wanted = [reference(bpe, pretoken) for pretoken in pretokens]
        for pretoken, want in zip(pretokens, wanted, strict=True):
            assert ours(one, pretoken.encode()) == want, (texts, merges, options, pretoken)
            assert is_hollow(options, merges) or by_twin(slow, pretoken) == want
        encoded = [pretoken.encode() for pretoken in pretokens]
        for _ in range(2):  # the second time with what the first one learnt
            assert together(one, encoded) == (REFUSED if REFUSED in wanted else [ids_of(want) for want in wanted])


@pytest.mark.parametrize("seed", [4, 5])
def test_merges_of_random_byte_level_models_equal_the_reference_and_the_twin(seed):
    bytes_used = b"ab \n\xc3\xa9\xad"
    alphabet = twin.spell(bytes_used)
    for rng, texts, merges, options in random_models(seed, 250, alphabet):
        bpe, one = live(texts, merges, **options), kernel(texts, merges, byte_level=True, **options)
        pretokens = [bytes(rng.choices(bytes_used + b"\x00\xff", k=rng.randint(1, 14))) for _ in range(8)]
        wanted = [ids_of(reference(bpe, twin.spell(pretoken))) for pretoken in pretokens]
        for pretoken, want in zip(pretokens, wanted, strict=True):
            assert ids_of(ours(one, pretoken)) == want, (texts, merges, options, pretoken)
        assert together(one, pretokens) == (REFUSED if REFUSED in wanted else wanted)


@given(st.integers(0, 2**32), st.text(st.sampled_from("ab\u00e9\u2581z#<"), max_size=20))
def test_merges_of_any_model_equal_the_reference(seed, pretoken):
    for _, texts, merges, options in random_models(seed, 1):
        assert ours(kernel(texts, merges, **options), pretoken.encode()) == reference(live(texts, merges, **options), pretoken)


def test_merges_of_nothing_give_nothing():
    assert kernel({"a": 0}, []).encode(b"") == []


def test_merges_later_of_two_equal_merges_counts():
    texts, merges = {"a": 0, "b": 1, "ab": 2, "ba": 3}, [("a", "b"), ("b", "a"), ("a", "b")]
    assert kernel(texts, merges).encode(b"aba") == [0, 3] == ids_of(reference(live(texts, merges), "aba"))


def test_merges_unknown_before_byte_tokens_comes_behind_them():
    texts = {"a": 0, "<unk>": 1, "<0x62>": 2}
    options = {"unk_token": "<unk>", "byte_fallback": True, "fuse_unk": True}
    assert ours(kernel(texts, [], **options), b"acbca") == reference(live(texts, [], **options), "acbca")
    assert kernel(texts, [], **options).encode(b"acbca") == [0, 2, 1, 0]


def test_merges_that_add_nothing_equal_the_reference():
    # The right part is the prefix alone or empty: an outdated entry of the queue can count.
    for rng, texts, merges, options in random_models(6, 400, "ab#", affixes=False, unk_token="", byte_fallback=False):
        texts.setdefault("", max(texts.values()) + 1)
        merges += [(left, "") for left in rng.sample([text for text in texts if text], 3)]
        rng.shuffle(merges)
        bpe, one = live(texts, merges, **options), kernel(texts, merges, **options)
        for pretoken in words(rng, "ab#z"):
            assert ours(one, pretoken.encode()) == reference(bpe, pretoken), (texts, merges, options, pretoken)


# ---- long pretokens ----


@pytest.mark.parametrize("affixes", [False, True])
def test_merges_of_long_pretokens_equal_the_reference(affixes):
    for rng, texts, merges, options in random_models(7, 40, "ab", 25, affixes):
        bpe, one = live(texts, merges, **options), kernel(texts, merges, **options)
        for length in (WINDOW - 1, WINDOW, WINDOW + 1, 700):
            period = "".join(rng.choices("ab", k=rng.randint(1, 7)))
            for pretoken in ("".join(rng.choices("ab" * 20 + "z", k=length)), (period * length)[:length]):
                assert ours(one, pretoken.encode()) == reference(bpe, pretoken)


def test_merges_longer_than_the_window_equal_the_reference():
    texts = {"a" * 2**i: i for i in range(12)} | {"b": 20}
    merges = [("a" * 2**i, "a" * 2**i) for i in range(11)]
    bpe, one = live(texts, merges), kernel(texts, merges)
    for length in (255, 257, 513, 4095, 4096, 9000):
        for pretoken in ("a" * length, "b" + "a" * length, "a" * length + "b", "a" * 300 + "b" + "a" * length):
            assert ours(one, pretoken.encode()) == reference(bpe, pretoken)


@pytest.mark.parametrize("n", [300, 301, 700, 701, 2001])
def test_merges_whose_windows_never_meet_equal_the_reference(n):
    # Pairs join from the right: one more character at the end changes every pair before it.
    characters = [chr(0x4E00 + i) for i in range(2100)]
    texts = {text: i for i, text in enumerate(characters + ["".join(pair) for pair in pairwise(characters)])}
    merges = list(pairwise(characters))[::-1]
    pretoken = "".join(characters[:n])
    assert ours(kernel(texts, merges), pretoken.encode()) == reference(live(texts, merges), pretoken)


# ---- dropout ----


def test_dropout_of_one_merges_nothing_and_of_zero_all():
    texts, merges = {"a": 0, "b": 1, "ab": 2, "abab": 3}, [("a", "b"), ("ab", "ab")]
    for chance, want in ((0.0, [3]), (1.0, [0, 1, 0, 1])):
        assert kernel(texts, merges, dropout=chance).encode(b"abab") == want
        assert ids_of(reference(live(texts, merges, dropout=chance), "abab")) == want
    assert kernel(texts, merges, dropout=1.0, ignore_merges=True).encode(b"abab") == [0, 1, 0, 1]


@pytest.mark.parametrize("text", ["abab", "bababa", "abxab"])
@pytest.mark.parametrize("chance", [0.1, 0.4, 0.8])
def test_dropout_is_as_often_what_the_reference_draws(chance, text):
    texts, merges = {"a": 0, "b": 1, "ab": 2, "ba": 3, "aba": 4, "abab": 5}, [("a", "b"), ("b", "a"), ("ab", "a"), ("ab", "ab")]
    one, bpe, count = kernel(texts, merges), live(texts, merges, dropout=chance), 4000
    mine = Counter(tuple(one.sample(text, chance, seed=seed * 977)) for seed in range(count))
    theirs = Counter(tuple(ids_of(reference(bpe, text))) for _ in range(count))
    for key in mine | theirs:
        assert abs(mine[key] - theirs[key]) < 6 * max(mine[key], theirs[key]) ** 0.5 + 10, key


@pytest.mark.parametrize("chance", [0.3, 0.7])
def test_dropout_of_a_byte_level_file_is_as_often_what_the_reference_draws(shared, chance):
    reader, one, byte_level = real_model(shared, "hf_llama3_1")
    reader.model.dropout = chance
    raw, text = b" there", "\u0120there"
    assert byte_level
    mine = Counter(tuple(one.sample(raw, chance, seed=seed)) for seed in range(2000))
    theirs = Counter(tuple(ids_of(reference(reader.model, text))) for _ in range(2000))
    for key in mine | theirs:
        assert abs(mine[key] - theirs[key]) < 6 * max(mine[key], theirs[key]) ** 0.5 + 10, key


def test_dropout_of_one_seed_is_the_same_and_without_chance_it_is_none():
    texts, merges = {"a": 0, "b": 1, "ab": 2, "abab": 3}, [("a", "b"), ("ab", "ab")]
    for one in (kernel(texts, merges), kernel(texts, merges, ignore_merges=True), kernel(texts, merges, dropout=0.9)):
        assert one.sample("abab", 0) == one.sample(b"abab", 0.0, None, 3) == [3] and one.sample("abab", 1) == [0, 1, 0, 1]
        assert one.sample("abab" * 99, 0.5, seed=7) == one.sample("abab" * 99, 0.5, seed=7) != one.sample("abab" * 99, 0.5, seed=8)
        assert len({tuple(one.sample("abab" * 9, 0.5)) for _ in range(30)}) > 1 and one.sample("", 0.5) == []
        for alpha in (-0.1, 1.1, float("nan")):
            with pytest.raises(ValueError, match="between 0 and 1"):
                one.sample("a", alpha)
    with pytest.raises(EncodeError):
        kernel({"a": 0}, [], unk_token="<unk>").sample("ab", 0.5)


# ---- what is refused ----


def test_merge_whose_result_is_missing_is_refused_and_named():
    with pytest.raises(SpecError, match="merge 1: 'ba' is not in the vocabulary"):
        kernel({"a": 0, "b": 1, "ab": 2}, [("a", "b"), ("b", "a")])


def test_merge_of_an_id_without_a_token_is_refused():
    bpe = bpe_from_merges({"a": 0, "b": 3, "ab": 2}, [("a", "b")])
    with pytest.raises(SpecError, match="merge 0: id 1 is not"):
        build_model(bpe.replace(merges=b"\0\0\0\0\1\0\0\0"))
    with pytest.raises(SpecError, match="merge 0: id 4 is not"):
        build_model(bpe.replace(merges=b"\4\0\0\0\0\0\0\0"))


def test_merge_shorter_than_the_prefix_is_refused():
    with pytest.raises(SpecError, match="shorter than the prefix"):
        kernel({"a": 0, "b": 1, "ab": 2}, [("a", "b")], prefix="##")


@pytest.mark.parametrize("chance", [-0.1, 1.5])
def test_dropout_out_of_range_is_refused(chance):
    with pytest.raises(SpecError, match="dropout"):
        kernel({"a": 0}, [], dropout=chance)


def test_unknown_token_that_is_not_there_is_an_error_where_it_is_needed():
    one = kernel({"a": 0}, [], unk_token="<unk>")
    assert one.encode(b"aa") == [0, 0]
    with pytest.raises(EncodeError):
        one.encode(b"ab")
    with pytest.raises(EncodeError) as caught:
        encode_side_by_side(one, [b"a", b"a" * 100, b"a" * 100 + b"b", b"b"])
    assert caught.value.position == 2


# ---- real files ----


@pytest.mark.parametrize("name", ["hf_llama3_1", "hf_qwen3", "hf_gptoss", "hf_deepseek_v3", "hf_claude", "hf_arabic_sp_32k"])
def test_merges_of_real_files_equal_the_reference_pretoken_by_pretoken(shared, name):
    tokenizer, one, byte_level = real_model(shared, name)
    pretokens = pretokens_of(tokenizer, real_texts(shared, 600))
    wanted = [ids_of(reference(tokenizer.model, pretoken)) for pretoken in pretokens]
    encoded = [bytes(map(SPELLING.index, pretoken)) if byte_level else pretoken.encode() for pretoken in pretokens]
    assert encode_side_by_side(one, encoded)[0] == wanted
    assert [one.encode(pretoken) for pretoken in encoded] == wanted


@pytest.mark.parametrize("name", ["hf_gemma3", "hf_mistral_v01"])
def test_merges_of_real_files_without_pretokens_equal_the_reference(shared, name):
    tokenizer, one, _ = real_model(shared, name)
    for text in real_texts(shared, 1000):
        pretoken = tokenizer.normalizer.normalize_str(text)
        if pretoken:
            assert ours(one, pretoken.encode()) == reference(tokenizer.model, pretoken)


# ---- where a text may be cut ----


def test_cut_pieces_of_random_models_encode_to_the_whole():
    cuts = 0
    for rng, texts, merges, options in random_models(14, 300, n_merges=6, affixes=False, ignore_merges=False):
        one = kernel(texts, merges, **options)
        safe = one.safe_cut()
        if safe is None:
            assert not one.streams
            continue
        crossings = twin.MergeList(texts, merges, **options).crossings()
        for word in words(rng, "ab\u00e9\u2581", 40):
            pretoken = word.encode()
            pieces = safe.pieces(pretoken)
            assert b"".join(pieces) == pretoken
            if REFUSED not in (whole := ids_of(ours(one, pretoken)), *(parts := [ids_of(ours(one, piece)) for piece in pieces])):
                assert joined(parts) == whole
            texts_of = [piece.decode() for piece in pieces]
            assert all(left[-1] in texts and right[0] in texts for left, right in pairwise(texts_of))
            assert not crossings & {(left[-1], right[0]) for left, right in pairwise(texts_of)}
            cuts += len(pieces) - 1
    assert cuts > 1000


def test_cut_pieces_of_random_byte_level_models_encode_to_the_whole():
    for rng, texts, merges, options in random_models(15, 100, twin.spell(b"ab \xc3\xa9"), affixes=False, ignore_merges=False):
        one = kernel(texts, merges, byte_level=True, **options)
        if (safe := one.safe_cut()) is not None:
            for _ in range(5):
                pretoken = bytes(rng.choices(b"ab \xc3\xa9z", k=40))
                pieces = [ids_of(ours(one, piece)) for piece in safe.pieces(pretoken)]
                assert REFUSED in pieces or joined(pieces) == ids_of(ours(one, pretoken))


def test_cut_place_does_not_depend_on_what_follows():
    one = kernel({"a": 0, "b": 1, "\u2581": 2, "\u2581a": 3, "ab": 4}, [("\u2581", "a"), ("a", "b")])
    text = "ab\u2581ab\u2581zb\u2581\u2581b".encode()
    safe = one.safe_cut()
    assert [piece.decode() for piece in safe.pieces(text)] == ["ab", "\u2581ab", "\u2581zb", "\u2581", "\u2581", "b"]
    for end in range(len(text)):
        found = safe.next(text[:end])
        assert found == (2 if end >= 5 else end)


@pytest.mark.parametrize("options", [{"ignore_merges": True}, {"dropout": 0.1}, {"prefix": "a"}, {"suffix": "b"}])
def test_cut_places_are_not_told_where_the_whole_matters(options):
    assert kernel({"a": 0, "b": 1, "ab": 2}, [("a", "b")] if options != {"prefix": "a"} else [], **options).safe_cut() is None


@pytest.mark.parametrize("name", ["hf_gemma3", "hf_mistral_v01"])
def test_cut_pieces_of_real_files_encode_to_the_whole(shared, name):
    tokenizer, one, _ = real_model(shared, name)
    safe = one.safe_cut()
    assert safe.pieces("\u2581a\u2581b,\u2581\u2581c".encode())[0] == "\u2581a".encode()
    for text in real_texts(shared, 20_000):
        pretoken = tokenizer.normalizer.normalize_str(text).encode()
        pieces = safe.pieces(pretoken)
        assert joined(encode_side_by_side(one, pieces)[0]) == one.encode(pretoken)


# ---- the open form ----


@pytest.mark.parametrize("byte_level", [False, True])
@pytest.mark.parametrize("affixes", [False, True])
def test_open_form_of_random_models_equals_the_whole_one(byte_level, affixes):
    alphabet = "ab\u00e9\u2581" if not byte_level else twin.spell("ab\u00e9".encode())
    streaming = 0
    for rng, texts, merges, options in random_models(8 + byte_level, 150, alphabet, 20, affixes):
        one = kernel(texts, merges, byte_level=byte_level, **options)
        streaming += one.streams
        for pretoken in words(rng, "ab\u00e9\u2581" if not byte_level else "ab\u00e9", 30)[:3]:
            check_open_form(one, pretoken.encode(), sorted(rng.choices(range(60), k=3)))
    assert streaming > 60 or affixes


def test_open_form_of_long_pretokens_equals_the_whole_one():
    for rng, texts, merges, options in random_models(16, 25, "ab", 30, affixes=False):
        one = kernel(texts, merges, **options)
        period = "".join(rng.choices("ab", k=rng.randint(1, 7)))
        for pretoken in ("".join(rng.choices("ab" * 50 + "z", k=9000)), (period * 9000)[:9000]):
            want = ids_of(ours(one, pretoken.encode()))
            if want != REFUSED:
                opened, got, at = one.open(), [], 0
                while at < len(pretoken):
                    step = rng.choice((1, 50, 3000))
                    got += opened.feed(pretoken[at : at + step].encode())
                    at += step
                assert got + opened.end() == want


def test_open_form_releases_while_it_arrives():
    one = kernel({"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4}, [("a", "b"), ("ab", "c")])
    opened = one.open()
    assert [opened.feed(bytes([byte])) for byte in b"abcabb"] == [[], [], [4], [], [], [3, 1]]
    assert opened.end() == []


@pytest.mark.parametrize("name", ["hf_qwen3", "hf_llama3_1", "hf_mistral_v01"])
def test_open_form_of_real_files_equals_the_whole_one_and_lags_little(shared, name):
    tokenizer, one, _ = real_model(shared, name)
    rng, most = random.Random(17), 0
    assert one.streams
    for text in real_texts(shared, 800):
        pretoken = text if tokenizer.normalizer is None else tokenizer.normalizer.normalize_str(text)
        data = pretoken.encode()
        want, opened, got, at = one.encode(data), one.open(), [], 0
        while at < len(data):
            step = rng.choice((1, 2, 3, 40))
            got += opened.feed(data[at : at + step])
            at += step
            most = max(most, len(opened.save()))
            if rng.random() < 0.05:
                opened = opened.copy()
        assert got + opened.end() == want
    assert most < 600


def test_open_form_refuses_or_survives_damaged_states():
    for _, texts, merges, options in random_models(11, 8):
        check_bad_states(kernel(texts, merges, **options), "ab\u00e9ab\u2581aab".encode())


# ---- tokens that spell bytes ----

# Texts of few bytes from all parts of the alphabet, many with one beginning, and some longer than what is looked at in one step.
EDGES = st.lists(st.sampled_from([0, 32, 33, 97, 126, 127, 160, 161, 173, 174, 255]), max_size=20).map(bytes)
OCTETS = st.one_of(st.binary(max_size=4), EDGES)


@given(st.sets(OCTETS, min_size=1, max_size=80), st.sets(st.sampled_from(["\u4e00", "a b", "\u0144a", "\u00c4\u7f8e"])))
def test_spelled_tokens_are_found_by_their_bytes_and_others_keep_their_texts(octets, others):
    texts = {"".join(map(SPELLING.__getitem__, token)): number for number, token in enumerate(sorted(octets))}
    table = texts | {text: len(texts) + i for i, text in enumerate(sorted(others))}
    found = kernel(table, [], byte_level=True).vocab
    assert [found.token(number) for number in range(len(octets))] == sorted(octets)
    assert all(found.find(token) == number for number, token in enumerate(sorted(octets)) if token)
    assert [found.token(table[text]) for text in sorted(others)] == [text.encode() for text in sorted(others)]
    assert found.n_tokens == len(octets)


# ---- memory ----


@pytest.mark.skipif(not CHECKING, reason="only builds with CTOK_BUILD=test can make allocations fail")
def test_model_that_finds_no_memory_raises_and_works_later():
    pretokens = [b"ab" * 4, b"abzab", "".join(random.Random(12).choices("ab", k=900)).encode(), b"z" * 9]
    for fixed in ({"byte_fallback": False}, {"byte_fallback": True}, {"dropout": 1.0}):
        for _, texts, merges, options in random_models(13, 2, "ab", 30, affixes=False, unk_token="<unk>", **fixed):
            check_memory(MODULES, lambda: kernel(texts, merges, **options), pretokens)  # noqa: B023


@pytest.mark.skipif(not CHECKING, reason="only builds with CTOK_BUILD=test can make allocations fail")
@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_pretokens_side_by_side_and_cuts_that_find_no_memory_raise_and_work_later(module):
    texts, merges = {"a": 0, "b": 1, "ab": 2, "abab": 3}, [("a", "b"), ("ab", "ab")]

    def act():
        one = kernel(texts, merges)
        return encode_side_by_side(one, [b"abab" * n for n in range(1, 40)])[0], one.safe_cut().pieces(b"abbab")

    walk([module], lambda _: act(), most=60, least=0)


@pytest.mark.skipif(not CHECKING, reason="only builds with CTOK_BUILD=test can make allocations fail")
@pytest.mark.parametrize("module", [files, mergemodel, vocab], ids=lambda module: module.__name__.rpartition(".")[2])
def test_spelled_tokens_that_find_no_memory_raise_and_are_read_later(module):
    texts = {SPELLING[b] + SPELLING[c]: 256 * b + c for b in (32, 97, 200, 10) for c in (99, 3, 180, 173)}
    walk([module], lambda _: len(kernel(texts, [], byte_level=True).vocab), most=60, least=1)
