"""WordPiece and WordLevel against the live reference and against their twins, whole and open."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctok._native import model, vocab, wordlevel, wordpiece
from ctok._native.wordlevel import WordLevel
from ctok._native.wordpiece import WordPiece
from ctok._reference import wordpiece as twin
from ctok.errors import EncodeError, SpecError, StateError
from ctok.spec import TokenTable
from ctok.stagespecs.models import table_of_texts
from model_checks import REFUSED, check_bad_states, check_memory, check_open_form, pretokens_of, real_file, real_texts, whole

tokenizers = pytest.importorskip("tokenizers")
CHECKING = vocab.fail_after(0) != -1 or vocab.fail_after(-1) != -1

CHARS = st.sampled_from("ab#\u00e9\u2581\0")
PIECES = st.text(CHARS, max_size=5) | st.text(st.sampled_from("ab"), min_size=1, max_size=4).map("##".__add__)
WORDS = st.text(CHARS, max_size=9)
VOCABS = st.lists(PIECES, max_size=24)
PREFIXES = st.sampled_from(["##", "", "#", "\u2581", "a"])
CUTS = st.lists(st.integers(0, 24), max_size=5)


def numbered(texts):
    return {text: number for number, text in enumerate(dict.fromkeys(texts))}


def reference(model, word):
    try:
        return [(token.id, token.offsets[1]) for token in model.tokenize(word)]
    except Exception:
        return REFUSED


def ours(model, word):
    try:
        ids, ends = model.encode_with_ends(word.encode())
    except EncodeError:
        return REFUSED
    assert ids == model.encode(word.encode())
    return list(zip(ids, ends, strict=True))


@given(VOCABS, st.lists(WORDS, min_size=1, max_size=6), PREFIXES, st.integers(0, 9), st.booleans())
def test_wordpiece_equals_the_reference(texts, words, prefix, most, has_unk):
    vocab = numbered(texts + ["[UNK]"] * has_unk)
    live = tokenizers.models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=most, continuing_subword_prefix=prefix)
    kernel = WordPiece(table_of_texts(vocab), "[UNK]", most, prefix)
    for word in words:
        want = reference(live, word)
        assert ours(kernel, word) == want
        pieces = twin.encode_wordpiece(vocab, word, "[UNK]", most, prefix)
        assert [vocab.get(piece) for piece in pieces] == ([None] if want == REFUSED else [number for number, _ in want])


@given(VOCABS, WORDS, PREFIXES, st.integers(1, 9), st.booleans(), CUTS)
def test_wordpiece_open_word_equals_the_whole_one(texts, word, prefix, most, has_unk, cuts):
    kernel = WordPiece(table_of_texts(numbered(texts + ["[UNK]"] * has_unk)), "[UNK]", most, prefix)
    check_open_form(kernel, word.encode(), cuts)


@given(VOCABS, st.lists(WORDS, min_size=1, max_size=6), st.booleans(), CUTS)
def test_wordlevel_equals_the_reference(texts, words, has_unk, cuts):
    vocab = numbered(texts + ["<unk>"] * has_unk)
    live = tokenizers.models.WordLevel(vocab, unk_token="<unk>")
    kernel = WordLevel(table_of_texts(vocab), "<unk>")
    for word in words:
        want = reference(live, word)
        assert ours(kernel, word) == [(number, len(word.encode())) for number, _ in want] if want != REFUSED else ours(kernel, word) == want
        if want != REFUSED:
            assert [vocab[token] for token in twin.encode_wordlevel(vocab, word)] == [number for number, _ in want]
        if word:
            check_open_form(kernel, word.encode(), cuts)


@pytest.mark.parametrize("name", ["hf_bert_minilm", "hf_nepali_wordpiece"])
def test_wordpiece_equals_the_reference_on_real_texts(shared, name):
    live = tokenizers.Tokenizer.from_str(real_file(shared, name))
    vocab = live.get_vocab(with_added_tokens=False)
    assert (live.model.max_input_chars_per_word, live.model.continuing_subword_prefix) == (100, "##")
    kernel = WordPiece(table_of_texts(vocab), live.model.unk_token)
    words = pretokens_of(live, real_texts(shared))
    wrong = [word for word in words if ours(kernel, word) != [(token.id, token.offsets[1]) for token in live.model.tokenize(word)]]
    assert len(words) > 10_000 and not wrong
    for word in random.Random(3).sample(words, 300):
        check_open_form(kernel, word.encode(), [len(word) // 3, len(word)])


def test_word_at_the_limit_of_characters_is_matched_and_one_more_is_unknown():
    kernel = WordPiece(table_of_texts({"[UNK]": 0, "\u00e9": 1, "##\u00e9": 2}), "[UNK]", 100, "##")
    assert kernel.encode("\u00e9".encode() * 100) == [1] + [2] * 99
    assert kernel.encode("\u00e9".encode() * 101) == [0]


def test_open_word_that_is_unknown_says_so_at_once_and_holds_nothing():
    kernel = WordPiece(table_of_texts({"[UNK]": 0, "a": 1, "##a": 2}), "[UNK]", 100, "##")
    one = kernel.open()
    assert one.feed(b"a" * 100) == []
    assert one.feed(b"a") == [0]
    size = len(one.save())
    assert one.feed(b"a" * 100_000) == [] and len(one.save()) == size < 20
    assert one.end() == [] and one.feed(b"ab") == [0] and one.end() == []
    assert WordLevel(table_of_texts({"<unk>": 0, "ab": 1})).open().feed(b"ac") == [0]


def test_overlapping_pieces_cost_linear_time():
    # Each place could start a piece that fails only at its last byte.
    n = 1 << 18
    kernel = WordPiece(table_of_texts({"[UNK]": 0, "a": 1, "##a": 2, "##" + "a" * 4000 + "b": 3}), "[UNK]", n, "##")
    assert kernel.encode(b"a" * n) == [1] + [2] * (n - 1)


def test_missing_unknown_token_is_none_and_unknown_words_are_refused():
    for kernel in (WordPiece(table_of_texts({"a": 5})), WordLevel(table_of_texts({"a": 5}))):
        assert kernel.unk_id is None and kernel.encode(b"a") == [5] and whole(kernel, b"b") == REFUSED
    assert WordPiece(table_of_texts({"a": 5, "[UNK]": 9})).unk_id == 9


def test_of_equal_tokens_the_last_counts():
    table = TokenTable(b"aab", (1).to_bytes(4, "little") + (2).to_bytes(4, "little") + (3).to_bytes(4, "little"), bytes(range(12)))
    numbers = memoryview(table.ids).cast("I")
    for kernel in (WordPiece(table), WordLevel(table)):
        assert kernel.encode(b"a") == [numbers[1]] and kernel.encode(b"b") == [numbers[2]]


@pytest.mark.parametrize("tokens", [(b"b", b"a"), (b"ab", b"a"), (b"a", b"ac", b"ab")])
def test_table_out_of_order_is_refused(tokens):
    ends = [sum(map(len, tokens[: i + 1])) for i in range(len(tokens))]
    table = TokenTable(b"".join(tokens), b"".join(end.to_bytes(4, "little") for end in ends), bytes(4 * len(tokens)))
    for kind in (WordPiece, WordLevel):
        with pytest.raises(SpecError):
            kind(table)


def test_empty_table_knows_nothing():
    assert whole(WordPiece(TokenTable(b"", b"", b"")), b"a") == whole(WordLevel(TokenTable(b"", b"", b"")), b"a") == REFUSED


def test_damaged_states_are_refused_or_harmless():
    texts = {"[UNK]": 0, "<unk>": 1, "ab": 2, "##c": 3, "##cde": 4, "abc": 5}
    for kernel, word in ((WordPiece(table_of_texts(texts)), b"ababc"), (WordLevel(table_of_texts(texts)), b"ab")):
        check_bad_states(kernel, word)
        with pytest.raises(StateError):
            kernel.open().load(b"\0")


def test_bare_model_is_refused():
    for act in (lambda: model.Model().encode(b""), lambda: model.Model().open()):
        with pytest.raises(TypeError):
            act()


@pytest.mark.skipif(not CHECKING, reason="only builds with CTOK_BUILD=test can make allocations fail")
def test_models_that_find_no_memory_work_later():
    texts = {"[UNK]": 0, "<unk>": 1} | {text: i + 2 for i, text in enumerate(["ab", "abcde", "##c", "##cde", "##d", "##dec"])}
    words = [b"abcd", b"abcdecdecdecdecdec", b"abcdx", b"ab" * 300]
    for kind in (WordPiece, WordLevel):
        check_memory([wordpiece, wordlevel, model], lambda kind=kind: kind(table_of_texts(texts)), words)


def test_model_of_many_pieces_that_end_in_others_is_given_back_as_it_was_taken():
    """What is certain at the nodes of the tree fills more than the ids of a large text do."""
    rng = random.Random(5)
    pieces = {"##" * rng.randrange(2) + "".join(rng.choices("abcde", k=rng.randrange(1, 16))) for _ in range(90_000)}
    vocab = numbered(["[UNK]", *sorted(pieces)])
    for _ in range(2):
        kernel = WordPiece(table_of_texts(vocab), "[UNK]")
        live = tokenizers.models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=100)
        for word in ("abcde" * 9, "edcba" * 7, "aabbccddee"):
            assert ours(kernel, word) == reference(live, word)
        del kernel
