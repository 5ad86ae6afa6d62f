"""The merge, against a plain twin and against tiktoken."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import MAKERS, ctok_of, o200k_ranks, random_vocabularies, real_ranks, tiktoken_of, vocab_of, wild_ranks
from ctok._native import bpe
from ctok._native.files import splits
from ctok._native.vocab import Vocab
from ctok._reference import bpe as twin
from ctok.spec import TokenTable

WINDOW = 256  # bytes; beyond it a pretoken is merged window by window


def wanted(ranks, pretoken):
    return [ranks[part] for part in twin.merge(ranks, pretoken)], None


# ---- small pretokens ----


@pytest.mark.parametrize("longest", [2, 3, 8, 20])
def test_merge_small_pretokens_of_random_vocabularies_equals_twin(longest):
    for rng, ranks in random_vocabularies(longest, 150, n=14 if longest == 2 else 30, alphabet=b"abcde", longest=longest):
        vocab = vocab_of(ranks)
        for length in (1, 2, 3, 5, 8, 15, 16, 17, 33, rng.randint(18, 70)):
            pretoken = bytes(rng.choices(b"abcde", k=length))
            assert bpe.merge(vocab, pretoken) == wanted(ranks, pretoken)


def test_merge_runs_of_one_byte_equals_twin():
    for rng, ranks in random_vocabularies(4, 120, alphabet=b"a", n=6, longest=9):
        vocab = vocab_of(ranks)
        for length in [*range(1, 20), rng.randint(20, 80)]:
            assert bpe.merge(vocab, b"a" * length) == wanted(ranks, b"a" * length)


@given(st.binary(min_size=1, max_size=60))
def test_merge_any_bytes_equals_tiktoken(pretoken):
    encoding = RANKS_AND_ENCODING[1]
    merged, bad = bpe.merge(VOCAB, pretoken)
    assert bad is None
    assert merged == encoding._encode_single_piece(pretoken) or pretoken in real_ranks()


RANKS_AND_ENCODING = real_ranks(), tiktoken_of(real_ranks())
VOCAB = vocab_of(real_ranks())


def test_merge_every_token_of_the_real_vocabulary_gives_the_token():
    ranks = o200k_ranks()
    vocab = vocab_of(ranks)
    assert all(bpe.merge(vocab, token) == ([rank], None) for token, rank in ranks.items())


def test_merge_nothing_gives_nothing():
    assert bpe.merge(VOCAB, b"") == ([], None)


def test_k1_46_rank_is_that_of_the_joined_bytes():
    vocab = vocab_of({b"a": 0, b"aa": 1, b"aaa": 2})
    assert [bpe.merge(vocab, b"a" * n)[0] for n in (3, 4, 5)] == [[2], [1, 1], [1, 2]]


def test_merge_tokens_of_the_largest_ids_keeps_the_order():
    ranks = {b"a": 5, b"b": 1, b"ab": 9_999_999, b"ba": 9_999_998, b"aba": 0}
    assert bpe.merge(vocab_of(ranks), b"abab") == wanted(ranks, b"abab")


# ---- many small ones at once, by the table of pairs ----


def merged_in_lanes(ranks, pretokens):
    """What the engine makes of texts with a pretoken a line, each without its newline."""
    encode = ctok_of({**ranks, b"\n": 10**6}, r"[^\n]+|\n").encode
    ids, out = encode(b"\n".join(pretokens)), [[]]
    for number in ids:
        if number == 10**6:
            out.append([])
        else:
            out[-1].append(number)
    return out


def test_pretokens_side_by_side_in_random_vocabularies_equals_twin():
    for rng, ranks in random_vocabularies(9, 60, alphabet=b"abcd", n=40, longest=10):
        pretokens = [bytes(rng.choices(b"abcd", k=rng.choice((1, 2, 3, 8, 15, 16, 17, 40, 61, 62, 63)))) for _ in range(60)]
        expected = [[ranks[p]] if p in ranks else wanted(ranks, p)[0] for p in pretokens]
        assert merged_in_lanes(ranks, pretokens) == expected


@pytest.mark.parametrize("maker", MAKERS)
def test_pretokens_side_by_side_in_a_large_random_vocabulary_equals_twin(maker):
    # From 4096 tokens on, pairs of bytes are joined first where nothing can come in the way.
    rng = random.Random(11)
    ranks = maker(rng, alphabet=b"abcdefghijklmnop", n=9000, longest=9)
    assert len(ranks) > 4096
    pretokens = [bytes(rng.choices(b"abcdefghijklmnop", k=rng.randint(1, 30))) for _ in range(1500)]
    expected = [[ranks[p]] if p in ranks else wanted(ranks, p)[0] for p in pretokens]
    assert merged_in_lanes(ranks, pretokens) == expected


def test_splits_are_the_last_merge_of_each_token():
    for _, ranks in random_vocabularies(10, 60, alphabet=b"abc", n=30, longest=7):
        found = splits(vocab_of(ranks))
        for split, (token, rank) in zip(found, sorted(ranks.items()), strict=True):
            reachable = len(token) > 1 and twin.merge(ranks, token) == [token]
            assert (split > 0) == reachable
            if split:
                without = {t: r for t, r in ranks.items() if r != rank}
                assert twin.merge(without, token)[:1] == [token[:split]]


def test_merge_with_known_splits_equals_the_same_without():
    for rng, ranks in random_vocabularies(12, 40, alphabet=b"abc", n=40, longest=8):
        table = TokenTable.from_dict(ranks)
        plain = Vocab(table.data, table.ends, table.ids)
        known = Vocab(table.data, table.ends, table.ids, (), splits(plain))
        for length in (2, 5, 9, 20, 70, 300):
            pretoken = bytes(rng.choices(b"abc", k=length))
            assert bpe.merge(known, pretoken) == bpe.merge(plain, pretoken)


# ---- bytes without a token ----


def test_merge_byte_without_token_tells_the_first_place():
    for rng, ranks in random_vocabularies(5, 150, alphabet=b"abcd"):
        for byte in rng.sample(b"abcd", 2):
            ranks.pop(bytes([byte]), None)
        vocab = vocab_of(ranks)
        for length in (1, 4, 12, 40):
            pretoken = bytes(rng.choices(b"abcd", k=length))
            at, expected = 0, None
            for part in twin.merge(ranks, pretoken):
                if part not in ranks:
                    expected = at
                    break
                at += len(part)
            assert bpe.merge(vocab, pretoken) == ((None, expected) if expected is not None else wanted(ranks, pretoken))


@pytest.mark.parametrize("place", [0, 1, 200, 255, 256, 257, 300, 700, 5999])
def test_merge_byte_without_token_in_a_long_pretoken_tells_its_place(place):
    rng = random.Random(place)
    ranks = wild_ranks(rng, alphabet=b"abc")
    pretoken = bytearray(rng.choices(b"abc", k=6000))
    pretoken[place] = ord("z")
    assert bpe.merge(vocab_of(ranks), pretoken) == (None, place)


# ---- long pretokens: windows that are stitched ----


def long_pretokens(rng, alphabet):
    """Random ones, runs, periods, and both together."""
    period = bytes(rng.choices(alphabet, k=rng.randint(1, 7)))
    for length in (WINDOW - 1, WINDOW, WINDOW + 1, 2 * WINDOW, rng.randint(WINDOW, 900)):
        yield bytes(rng.choices(alphabet, k=length))
        yield (period * length)[:length]
        yield bytes(rng.choices(alphabet, k=length // 2)) + (period * length)[: length - length // 2]


def test_merge_long_pretokens_of_random_vocabularies_equals_tiktoken():
    for rng, ranks in random_vocabularies(6, 60, alphabet=b"ab", n=20, longest=6):
        vocab, encoding = vocab_of(ranks), tiktoken_of(ranks)
        for pretoken in long_pretokens(rng, b"ab"):
            assert bpe.merge(vocab, pretoken) == (encoding._encode_single_piece(pretoken), None)


def test_merge_long_pretokens_of_random_vocabularies_equals_twin():
    for rng, ranks in random_vocabularies(7, 12, alphabet=b"ab", n=14, longest=5):
        vocab = vocab_of(ranks)
        for pretoken in list(long_pretokens(rng, b"ab"))[:9:2]:
            assert bpe.merge(vocab, pretoken) == wanted(ranks, pretoken)


def test_merge_tokens_longer_than_the_window_are_found():
    # Each token doubles the one before; at last they are much longer than any window.
    ranks = {b"a": 0, b"b": 20} | {b"a" * 2**i: i for i in range(1, 14)}
    vocab, encoding = vocab_of(ranks), tiktoken_of(ranks)
    for length in (255, 256, 257, 300, 511, 513, 4095, 4096, 5000, 8191, 8192, 20000):
        for pretoken in (b"a" * length, b"b" + b"a" * length, b"a" * length + b"b", b"a" * 300 + b"b" + b"a" * length):
            expected = encoding._encode_single_piece(pretoken)
            assert bpe.merge(vocab, pretoken)[0] == expected


def far_reaching(length):
    """Pairs that join from the right: one more byte at the end changes every pair before it. Two bytes name a place."""
    places = [bytes([1 + i // 250, i % 250]) for i in range(length)]
    data = b"".join(places)
    ranks = {bytes([b]): 100_000 + b for b in range(256)}
    for i in range(len(data) - 1):
        ranks.setdefault(data[i : i + 2], 50_000 - i)
    return ranks, data


@pytest.mark.parametrize("n", [300, 301, 385, 700, 701, 2000, 2001])
def test_merge_windows_that_never_meet_equals_tiktoken(n):
    ranks, data = far_reaching(1100)
    assert bpe.merge(vocab_of(ranks), data[:n]) == (tiktoken_of(ranks)._encode_single_piece(data[:n]), None)


def test_merge_long_pretokens_of_the_real_vocabulary_equals_tiktoken():
    rng = random.Random(8)
    encoding = RANKS_AND_ENCODING[1]
    for alphabet in (b"abcdefghijklmnopqrstuvwxyz", b"ab", b"^", b" ", b"\n ", bytes(range(256)), "一丁七万丈三上下".encode()):
        for length in (257, 1000, 5000):
            pretoken = bytes(rng.choices(alphabet, k=length))
            assert bpe.merge(VOCAB, pretoken) == (encoding._encode_single_piece(pretoken), None)


# ---- neighbours ----


@pytest.mark.parametrize(("alphabet", "longest"), [(b"a", 9), (b"ab", 6), (b"abc", 8), (b"abcdef", 16)])
def test_neighbours_in_random_vocabularies_equals_the_definition(alphabet, longest):
    for rng, ranks in random_vocabularies(len(alphabet), 150, alphabet=alphabet, longest=longest, n=6 if longest == 9 else 25):
        vocab, tokens = vocab_of(ranks), list(ranks)
        for left, right in [(rng.choice(tokens), rng.choice(tokens)) for _ in range(25)]:
            assert bpe.neighbours(vocab, ranks[left], ranks[right]) == twin.neighbours(ranks, left, right), (ranks, left, right)
        for token in tokens:
            assert bpe.neighbours(vocab, None, ranks[token]) == twin.neighbours(ranks, b"", token), (ranks, token)


def test_neighbours_with_bytes_missing_equals_the_definition():
    for rng, ranks in random_vocabularies(9, 90, alphabet=b"abc", longest=6):
        for byte in rng.sample(b"abc", 1):
            ranks.pop(bytes([byte]), None)
        vocab, tokens = vocab_of(ranks), list(ranks)
        for left, right in [(rng.choice(tokens), rng.choice(tokens)) for _ in range(25)]:
            assert bpe.neighbours(vocab, ranks[left], ranks[right]) == twin.neighbours(ranks, left, right), (ranks, left, right)


def test_neighbours_of_the_real_vocabulary_equals_tiktoken():
    ranks, encoding = RANKS_AND_ENCODING
    rng, tokens = random.Random(10), list(ranks)
    # Half of the pairs are cut out of tokens: those are the ones that nearly join.
    pairs = [(rng.choice(tokens), rng.choice(tokens)) for _ in range(1500)]
    for token in rng.sample(tokens, 1500):
        cut = rng.randint(0, len(token))
        if token[:cut] in ranks and token[cut:] in ranks:
            pairs.append((token[:cut], token[cut:]))
            pairs.append((rng.choice(tokens), token[:cut]))
            pairs.append((token[cut:], rng.choice(tokens)))
    for left, right in pairs:
        joined = left + right
        expected = joined not in ranks and encoding._encode_single_piece(joined) == [ranks[left], ranks[right]]
        assert bpe.neighbours(VOCAB, ranks[left], ranks[right]) == expected, (left, right)


def test_neighbours_of_tokens_longer_than_the_window_equals_twin():
    ranks = {b"a": 0, b"b": 20} | {b"a" * 2**i: i for i in range(1, 10)} | {b"b" + b"a" * 600: 30, b"a" * 700: 31}
    vocab = vocab_of(ranks)
    long = [b"a" * 512, b"b" + b"a" * 600, b"a" * 700]
    for left in ranks:
        for right in ranks:
            if 400 < len(left + right) < 750 and (left in long or right in long):
                assert bpe.neighbours(vocab, ranks[left], ranks[right]) == twin.neighbours(ranks, left, right), (left, right)


def test_one_vocabulary_asked_in_any_order_answers_the_same():
    # What is learnt about one token is remembered for the next question.
    for rng, ranks in random_vocabularies(11, 30):
        tokens, first = list(ranks), {}
        for _ in range(3):
            vocab = vocab_of(ranks)
            pairs = [(left, right) for left in tokens[:12] for right in tokens[:12]]
            rng.shuffle(pairs)
            answers = {pair: bpe.neighbours(vocab, ranks[pair[0]], ranks[pair[1]]) for pair in pairs}
            first = first or answers
            assert answers == first
