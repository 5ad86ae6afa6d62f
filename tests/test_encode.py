"""Whole texts to ids: against tiktoken for every known pattern, and against a plain twin."""

import gc
import random
from functools import lru_cache
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import (
    ALPHABET,
    ANYTHING,
    CL100K,
    FAMILIES,
    GPT2,
    KNOWN,
    O200K,
    SPECIALS,
    compiled,
    ctok_of,
    o200k_ranks,
    random_text,
    random_vocabularies,
    real_pair,
    real_ranks,
    tiktoken_of,
)  # fmt: skip
from ctok import Ids
from ctok._reference import encode as twin
from ctok.errors import DisallowedSpecialTokenError, EncodeError, UnknownSpecialTokenError

REGEX_ONLY = r"\w+(?<=x)|\w+|\W+"  # a look-behind: no machine
EMOJI = "\U0001f600"
PAIR = "\ud83d\ude00"  # the same in two halves


def spelled(text):
    """A str of 1, 2 or 4 bytes a character, whatever `text` needs."""
    return [text, text + "\u0100", text + EMOJI]


# ---- random texts ----


@pytest.mark.parametrize("known", KNOWN, ids=[f"{family}-{i}" for i, (_, family) in enumerate(KNOWN)])
def test_encode_random_texts_equals_tiktoken(known):
    tok, encoding = real_pair(known[0])
    rng = random.Random(known[0])
    for _ in range(2000):
        text = random_text(rng, ALPHABET, 30)
        expected = encoding.encode_ordinary(text)
        assert tok.encode(text) == expected, text
        assert tok.encode(text.encode()) == expected, text
        assert tok.encode(text, allowed_special="all") == encoding.encode(text, allowed_special="all"), text
        assert tok.count(text) == len(expected)


@given(st.sampled_from(sorted(FAMILIES)), st.text(max_size=60))
def test_encode_any_text_equals_tiktoken(family, text):
    tok, encoding = real_pair(FAMILIES[family])
    assert tok.encode(text) == encoding.encode_ordinary(text)


@given(st.lists(st.sampled_from(ALPHABET), max_size=40).map("".join), st.sets(st.sampled_from(sorted(SPECIALS))))
def test_encode_allowed_special_tokens_equals_tiktoken(text, allowed):
    tok, encoding = real_pair(O200K)
    expected = encoding.encode(text, allowed_special=allowed, disallowed_special=())
    assert tok.encode(text, allowed_special=allowed) == expected
    assert tok.encode_ids(text, allowed_special=allowed).tolist() == expected
    assert tok.count(text, allowed_special=allowed) == len(expected)


def test_encode_random_vocabularies_equals_twin():
    for rng, ranks in random_vocabularies(21, 45, alphabet=b" ab\n", longest=5):
        pattern, literals = rng.choice([GPT2, CL100K]), {"ab": 5000, "aba": 5001, " b": 5002}
        tok = ctok_of(ranks, pattern, literals)
        for _ in range(12):
            text = "".join(rng.choices(" ab\n", k=rng.randint(1, 40)))
            assert tok.encode(text) == twin.encode(ranks, compiled(pattern), {}, text)
            assert tok.encode(text, allowed_special="all") == twin.encode(ranks, compiled(pattern), literals, text)


def test_encode_vocabularies_with_unreachable_tokens_equals_tiktoken():
    for rng, ranks in random_vocabularies(22, 60, alphabet=b" ab\n", longest=9):
        tok, encoding = ctok_of(ranks, CL100K), tiktoken_of(ranks, CL100K)
        texts = ["".join(rng.choices(" ab\n", k=rng.randint(1, 60))) for _ in range(20)]
        texts += [token.decode() for token in ranks]
        for text in texts * 2:  # the second time the cache answers
            assert tok.encode(text) == encoding.encode_ordinary(text)


def test_encode_patterns_with_gaps_drops_what_nothing_matches():
    ranks = {bytes([b]): b for b in range(256)} | {b"ab": 300}
    for pattern in ("[a-c]+", "a+b|c", "ab?"):
        tok, encoding = ctok_of(ranks, pattern), tiktoken_of(ranks, pattern)
        rng = random.Random(pattern)
        for _ in range(200):
            text = random_text(rng, [*"aabbcd", "\u4e2d", EMOJI], 12)
            assert tok.encode(text) == encoding.encode_ordinary(text), (pattern, text)


# ---- kinds of text ----


@given(st.text(st.characters(max_codepoint=0xFF, exclude_categories=["Cs"]), max_size=30))
def test_encode_str_of_any_width_equals_bytes(text):
    tok, _ = real_pair(O200K)
    for wide in spelled(text):
        expected = tok.encode(wide.encode())
        assert tok.encode(wide) == tok.encode(bytearray(wide.encode())) == tok.encode(memoryview(wide.encode())) == expected


def test_encode_slices_of_memory_are_texts():
    tok, _ = real_pair(GPT2)
    assert tok.encode(memoryview(b"xxhello worldxx")[2:-2]) == tok.encode("hello world")
    assert tok.encode(memoryview(b"h-e-l-l-o")[::2]) == tok.encode("hello")


@pytest.mark.parametrize("empty", ["", b"", bytearray(), memoryview(b"")])
def test_encode_nothing_gives_nothing(empty):
    tok, _ = real_pair(GPT2)
    assert (tok.encode(empty), tok.count(empty), len(tok.encode_ids(empty))) == ([], 0, 0)


def test_encode_nul_bytes_equals_tiktoken():
    tok, encoding = real_pair(O200K)
    for text in ("\0", "\0\0\0", "a\0b", "\0" * 100, "a" * 15 + "\0", "a" * 7 + "\0" * 8, "a" * 31 + "\0"):
        assert tok.encode(text) == tok.encode(text) == encoding.encode_ordinary(text)


# ---- borders of blocks ----


@pytest.mark.parametrize("pattern", [GPT2, O200K], ids=["gpt2", "o200k"])
def test_encode_new_words_that_come_again_at_once_equals_tiktoken(pattern):
    # Of equal pretokens that are new only the first is looked up: also long ones, which differ only behind the first 15 bytes.
    tok, encoding = real_pair(pattern)
    rng = random.Random(pattern)
    for _ in range(20):
        words = ["".join(rng.choices("qxzjkv\u0430\u0431\u4e2d", k=rng.randint(1, 12))) for _ in range(12)]
        words += ["x" * rng.choice((14, 15, 16, 30, 31, 40)) + end for end in rng.choices("abcd", k=12)]
        text = " ".join(rng.choices(words, k=150))
        expected = encoding.encode_ordinary(text)
        assert tok.encode(text) == expected
        assert tok.count(text) == len(expected)


@pytest.mark.parametrize("border", [512, 1 << 16, 1 << 20])
@pytest.mark.parametrize("tail", ["I'll say  \n\n  1234 don't", "\u4e2d\u6587" * 20, " " * 70 + "x", EMOJI * 9, "<|endoftext|> <|endo"])
def test_encode_around_a_border_of_blocks_equals_tiktoken(border, tail):
    tok, encoding = real_pair(CL100K)
    unit = "hello world, "
    head = (unit * (border // len(unit) + 1))[: border - len(tail.encode()) // 2]
    for shift in (0, 1, 2, 3):
        text = head[shift:] + tail + " end."
        expected = encoding.encode(text, allowed_special="all")
        for one in (text, text.encode()):
            assert tok.encode(one, allowed_special="all") == expected
        assert tok.count(text, allowed_special="all") == len(expected)


def test_encode_long_special_token_over_every_border_is_found():
    literal = "<" + "|=" * 40 + ">"
    tok = ctok_of(real_ranks(), O200K, {literal: 9000})
    for border in (1 << 16, 1 << 20):
        for place in range(border - 90, border + 10, 9):
            ids = tok.encode("ab " * (place // 3) + " " * (place % 3) + literal + "z", allowed_special="all")
            assert ids[-2] == 9000 and ids.count(9000) == 1
            assert tok.encode(literal[:-1], allowed_special="all") == tok.encode(literal[:-1])


def test_encode_many_pretokens_of_one_byte_equals_tiktoken():
    tok, encoding = real_pair(CL100K)
    text = "1\n" * 50000
    assert tok.encode(text) == encoding.encode_ordinary(text)


# ---- one huge pretoken ----


def huge(kind, n):
    rng = random.Random(n)
    if kind == "letters":
        return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=n))
    if kind == "cjk":
        return "".join(map(chr, rng.choices(range(0x4E00, 0x9FA5), k=n // 3)))
    return kind * n


HUGE = ["a", " ", "^", "letters", "cjk", "=-", "\n", "ab"]


@pytest.mark.parametrize("kind", HUGE)
def test_encode_one_huge_pretoken_equals_tiktoken(kind):
    tok, encoding = real_pair(O200K)
    text = huge(kind, 100_000 // len(kind) if len(kind) < 3 else 100_000)
    expected = encoding.encode_ordinary(text)
    assert tok.encode(text) == expected
    assert tok.count(text.encode()) == len(expected)


@pytest.mark.parametrize("kind", ["a", " ", "^", "letters", "cjk"])
def test_k2_07_encode_time_of_a_huge_pretoken_grows_linearly(kind):
    from time import process_time

    tok, _ = real_pair(O200K)
    times = []
    for n in (100_000, 200_000, 400_000, 800_000):
        text, best = huge(kind, n), 9.0
        for _ in range(3):
            began = process_time()
            tok.count(text)
            best = min(best, process_time() - began)
        times.append(best)
    assert times[-1] < 8 * 2.5 * max(times[0], 0.002), times


@pytest.mark.parametrize(
    ("char", "n", "n_ids", "first", "last"),
    [("a", 100000, 12500, [70540] * 3, [70540] * 3), ("\u4e2d", 100000, 100000, [16325] * 3, [16325] * 3)],
)
def test_k2_02_k2_03_long_runs_in_cl100k_are_those_of_the_reference(shared, char, n, n_ids, first, last):
    ids = shared_tokenizer(shared, "cl100k_base").encode(char * n)
    assert (len(ids), ids[:3], ids[-3:]) == (n_ids, first, last)


def test_k2_04_run_of_underscores_is_that_of_the_reference():
    ids = ctok_of(o200k_ranks(), O200K).encode("_" * 50000)
    assert (len(ids), ids[:3], ids[-3:]) == (782, [80553] * 3, [80553, 80553, 10673])


def test_k2_08_time_without_a_split_rule_grows_linearly():
    from time import process_time

    tok, text = ctok_of(real_ranks(), ANYTHING), "the quick brown fox "
    times = []
    for n in (10_000, 20_000, 40_000):
        began = process_time()
        tok.count(text * n)
        times.append(process_time() - began)
    assert times[2] < 4 * 2.5 * max(times[0], 0.005), times


def test_k2_11_memory_does_not_grow_with_every_text(run_python):
    program = """
import random, resource, ctok
tok = ctok.load("o200k_base")
rng = random.Random(1)
def one():
    return bytes(rng.choices(b"abcdefgh ", k=300_000)).decode()
for _ in range(5): tok.count(one())
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(25): tok.count(one()); tok.encode_ids(one())
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    assert int(run_python(program)) < 20_000


# ---- the real vocabularies ----

REAL = {"r50k_base": (GPT2, 50256), "p50k_base": (GPT2, 50256), "cl100k_base": (CL100K, 100257), "o200k_base": (O200K, 199999)}


def shared_ranks(shared, name):
    import base64
    import lzma

    path = shared / "conformance" / "vocabs" / f"{name}.tiktoken.xz"
    if not path.is_file():
        pytest.skip(f"no {path.name} in the conformance kit")
    rows = (row.split() for row in lzma.decompress(path.read_bytes()).splitlines() if row)
    return {base64.b64decode(token): int(rank) for token, rank in rows}


@lru_cache
def shared_tokenizer(shared, name):
    return ctok_of(shared_ranks(shared, name), *REAL[name][:1], {"<|endoftext|>": REAL[name][1]})


@pytest.mark.parametrize("name", REAL)
def test_encode_real_vocabularies_equals_tiktoken(shared, name):
    ranks, pattern = shared_ranks(shared, name), REAL[name][0]
    tok, encoding = ctok_of(ranks, pattern), tiktoken_of(ranks, pattern)
    rng = random.Random(name)
    words = [token.decode() for token in rng.sample(sorted(ranks), 4000) if token.isascii()]
    texts = chain((random_text(rng, ALPHABET, 40) for _ in range(300)), (random_text(rng, words, 60) for _ in range(100)))
    for text in texts:
        assert tok.encode(text) == encoding.encode_ordinary(text), text


CASES = {
    "test_k1_09": ("cl100k_base", "'RE", [95253]),
    "test_k1_10": ("cl100k_base", "I'M we'll THEY'RE we'd", [40, 28703, 584, 3358, 63593, 95253, 584, 4265]),
    "test_k1_16": ("r50k_base", "    a", [220, 220, 220, 257]),
    "test_k1_27": ("cl100k_base", "a\x85b", [64, 126, 227, 65]),
    "test_k1_45": ("cl100k_base", "  ", [256]),
    "test_k5_25": ("cl100k_base", "\U0001f44d", [9468, 239, 235]),
    "test_k5_25_pair": ("cl100k_base", "\ud83d\udc4d", [9468, 239, 235]),
    "test_k40": ("cl100k_base", "<|endos", [27, 91, 408, 437]),
}


@pytest.mark.parametrize("case", CASES)
def test_collected_case_gives_the_ids_of_the_reference(shared, case):
    name, text, expected = CASES[case]
    assert shared_tokenizer(shared, name).encode(text, allowed_special="all") == expected


def test_k5_24_lone_surrogate_is_replaced_only_when_asked(shared):
    tok = shared_tokenizer(shared, "cl100k_base")
    assert tok.encode("\ud83d", errors="replace") == [5809]
    with pytest.raises(EncodeError):
        tok.encode("\ud83d")


def test_k5_27_decode_gives_the_text_back():
    tok, _ = real_pair(O200K)
    text = "\u03d5 \u2200 \U0001f44d"
    assert tok.decode(tok.encode(text)) == text


# ---- special tokens ----


def test_k3_02_special_token_is_plain_text_unless_allowed():
    tok = ctok_of(o200k_ranks(), O200K, {"<|endoftext|>": 199999})
    assert tok.encode("<|endoftext|>") == [27, 91, 419, 1440, 919, 91, 29]
    assert tok.encode("<|endoftext|>", allowed_special={"<|endoftext|>"}) == [199999]  # K3-03


@pytest.mark.parametrize("allowed", [{"<|x|>"}, ["<|x|>"], ("<|x|>",), {"<|x|>": 1}, frozenset({"<|x|>"})])
def test_allowed_special_may_be_any_collection(allowed):
    tok, _ = real_pair(GPT2)
    assert tok.encode("<|x|>", allowed_special=allowed) == [9002]


def test_allowed_special_as_one_str_is_a_type_error():
    tok, _ = real_pair(GPT2)
    for argument in ("allowed_special", "disallowed_special"):
        with pytest.raises(TypeError, match=argument):
            tok.encode("a", **{argument: "<|x|>"})


def test_allowed_special_that_is_none_is_refused():
    tok, _ = real_pair(GPT2)
    with pytest.raises(UnknownSpecialTokenError) as caught:
        tok.encode("a", allowed_special={"<|x|>", "<|y|>"})
    assert caught.value.token == "<|y|>"


def test_k3_01_disallowed_special_token_raises_with_its_place():
    tok, _ = real_pair(GPT2)
    for text, place in ((" \u00e9<|x|>", 2), (" \u00e9<|x|>".encode(), 3), ("<|x|>", 0)):
        with pytest.raises(DisallowedSpecialTokenError) as caught:
            tok.encode(text, disallowed_special="all")
        assert (caught.value.token, caught.value.position) == ("<|x|>", place)
    assert tok.encode("<|x|>", allowed_special={"<|x|>"}, disallowed_special="all") == [9002]


def test_k3_06_disallowed_special_may_name_any_text():
    tok, _ = real_pair(GPT2)
    with pytest.raises(DisallowedSpecialTokenError) as caught:
        tok.count("foo bar", disallowed_special=["bar"])
    assert caught.value.position == 4
    with pytest.raises(UnknownSpecialTokenError):
        tok.encode("a", disallowed_special=[""])


def test_disallowed_wins_over_allowed():
    tok, _ = real_pair(GPT2)
    with pytest.raises(DisallowedSpecialTokenError):
        tok.encode("<|x|>", allowed_special="all", disallowed_special={"<|x|>"})


@pytest.mark.parametrize(
    ("text", "allowed", "expected"),
    [("<a>bc>", "all", ["<a>bc>"]), ("<a>bc", "all", ["<a>b", "c"]), ("<a>bc>", {"<a>b"}, ["<a>b", "c", ">"]),
     ("<a>b", {"<a>"}, ["<a>", "b"]), ("<<a>", "all", ["<", "<a>"]), ("<a<a>bc", "all", ["<", "a", "<a>b", "c"]),
     ("<a>b<a>", "all", ["<a>b", "<a>"])],
)  # fmt: skip
def test_overlapping_special_tokens_longest_allowed_wins(text, allowed, expected):
    specials = {"<a>": 300, "<a>b": 301, "<a>bc>": 302}
    tok = ctok_of({bytes([b]): b for b in range(256)}, GPT2, specials)
    assert tok.encode(text, allowed_special=allowed) == [specials.get(part) or ord(part) for part in expected]


def test_added_tokens_without_meaning_are_always_matched():
    tok = ctok_of(real_ranks(), GPT2, {"<s>": 9000}, {"<tool>": 9001, "<s>x": 9002})
    assert tok.encode("a<tool><s>x<s>") == [*tok.encode("a"), 9001, 9002, *tok.encode("<s>")]
    with pytest.raises(UnknownSpecialTokenError):
        tok.encode("a", allowed_special={"<tool>"})
    with pytest.raises(DisallowedSpecialTokenError):
        tok.encode("a<tool>", disallowed_special={"<tool>"})
    with pytest.raises(DisallowedSpecialTokenError):
        tok.encode("<s>", disallowed_special="all")
    assert tok.encode("<tool>", disallowed_special="all") == [9001]


def test_many_policies_of_special_tokens_do_not_pile_up():
    specials = {f"<{i}>": 9000 + i for i in range(12)}
    tok = ctok_of(real_ranks(), GPT2, specials)
    names = sorted(specials)
    for bits in range(0, 4096, 13):
        allowed = {name for i, name in enumerate(names) if bits >> i & 1}
        ids = tok.encode("".join(names), allowed_special=allowed)
        assert [i for i in ids if i >= 9000] == [specials[name] for name in names if name in allowed]


def test_k2_10_many_added_tokens():
    tok = ctok_of(real_ranks(), GPT2, {f"<extra {i}>": 10_000 + i for i in range(50_000)})
    assert tok.encode("a<extra 49999> <extra 1>", allowed_special="all")[1::2] == [59_999, 10_001]


# ---- bad text ----


@pytest.mark.parametrize(
    ("text", "place"),
    [("\ud800", 0), ("ab\udc00", 2), ("\u00e9\ud83d ", 1), (PAIR + "\ude00", 2), ("\ude00" + PAIR, 0), (EMOJI + "\ud83d" + PAIR, 1)],
)
@pytest.mark.parametrize("pattern", [GPT2, REGEX_ONLY], ids=["machine", "regex"])
def test_lone_surrogate_is_refused_with_its_place(pattern, text, place):
    tok = ctok_of(real_ranks(), pattern)
    for call in (tok.encode, tok.encode_ids, tok.count, lambda one: tok.encode_batch(["a", one])):
        with pytest.raises(EncodeError) as caught:
            call(text)
        assert (caught.value.position, caught.value.unit) == (place, "char")
    assert tok.encode(text, errors="replace") == tok.encode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


@pytest.mark.parametrize("n", [100, 70_000, 300_000])
def test_lone_surrogate_far_in_a_text_is_refused_with_its_place(n):
    tok, _ = real_pair(GPT2)
    for filler in ("ab", "\u00e9 ", EMOJI, PAIR):
        text = filler * (n // len(filler)) + "\ud800" + filler
        with pytest.raises(EncodeError) as caught:
            tok.encode(text)
        assert caught.value.position == text.index("\ud800" + filler[0])


@pytest.mark.parametrize("pattern", [GPT2, REGEX_ONLY], ids=["machine", "regex"])
def test_surrogate_pairs_are_characters(pattern):
    tok = ctok_of(real_ranks(), pattern, {f"<{EMOJI}>": 9000})
    assert tok.encode(f"a{PAIR} {PAIR}") == tok.encode(f"a{EMOJI} {EMOJI}")
    assert tok.encode(f"<{PAIR}>", allowed_special="all") == [9000]


@pytest.mark.parametrize(
    ("data", "place"),
    [(b"\xff", 0), (b"ab\xc3", 2), (b"\xed\xa0\x80", 0), (b"a\xf0\x9f\x98", 1), (b"\xc0\x80", 0), (b"\xf4\x90\x80\x80", 0),
     (b"\xe4\xb8a", 0)],
)
@pytest.mark.parametrize("pattern", [GPT2, REGEX_ONLY], ids=["machine", "regex"])
def test_invalid_utf8_is_refused_with_its_place(pattern, data, place):
    tok = ctok_of(real_ranks(), pattern)
    with pytest.raises(EncodeError) as caught:
        tok.encode(data)
    assert (caught.value.position, caught.value.unit) == (place, "byte")
    assert tok.encode(data, errors="replace") == tok.encode(data.decode("utf-8", "replace"))


@pytest.mark.parametrize("pattern", [GPT2, REGEX_ONLY], ids=["machine", "regex"])
@pytest.mark.parametrize("missing", [0xC3, 0xA9])
def test_byte_without_token_is_refused_with_its_place(pattern, missing):
    ranks = {bytes([b]): b for b in range(256) if b != missing} | {b"<x": 256}
    tok = ctok_of(ranks, pattern, {"<s>": 300})
    for head in ("", "ab cd", "\u4e2d" + EMOJI, "<s>", "<s>a<s> ", PAIR, f"<s>{PAIR} ab "):
        text = head + "zz\u00e9 \u4e2d" + PAIR
        with pytest.raises(EncodeError) as caught:
            tok.encode(text, allowed_special="all")
        assert (caught.value.position, caught.value.unit) == (text.index("\u00e9"), "char")
        data = text.encode("utf-16", "surrogatepass").decode("utf-16").encode()
        with pytest.raises(EncodeError) as caught:
            tok.encode(data, allowed_special="all")
        assert (caught.value.position, caught.value.unit) == (data.index(b"\xc3\xa9") + (missing == 0xA9), "byte")
    assert tok.encode("zz ab") == [122, 122, 32, 97, 98]


@pytest.mark.parametrize("pattern", [GPT2, REGEX_ONLY], ids=["machine", "regex"])
@pytest.mark.parametrize("n", [0, 10, 40_000])
def test_disallowed_text_among_surrogate_pairs_is_refused_with_its_place(pattern, n):
    tok = ctok_of(real_ranks(), pattern, {"<s>": 9000})
    for filler in (PAIR, EMOJI, "ab ", "\u00e9"):
        text = filler * (n if pattern == GPT2 else min(n, 10)) + "<s>" + filler * 3
        with pytest.raises(DisallowedSpecialTokenError) as caught:
            tok.encode(text, disallowed_special="all")
        assert caught.value.position == text.index("<s>")


def test_regex_only_pattern_equals_tiktoken():
    ranks = real_ranks()
    tok, encoding = ctok_of(ranks, REGEX_ONLY, SPECIALS), tiktoken_of(ranks, REGEX_ONLY, SPECIALS)
    assert not tok.streams
    rng = random.Random(23)
    for _ in range(60):
        text = random_text(rng, ALPHABET, 20)
        assert tok.encode(text, allowed_special="all") == encoding.encode(text, allowed_special="all"), text
        assert tok.count(text) == len(encoding.encode_ordinary(text))


@pytest.mark.parametrize("errors", ["ignore", None, "", 3])
def test_unknown_word_for_errors_is_refused(errors):
    tok, _ = real_pair(GPT2)
    for call in (tok.encode, tok.count, tok.encode_ids):
        with pytest.raises(ValueError, match="errors"):
            call("a", errors=errors)
    with pytest.raises(ValueError, match="errors"):
        tok.encoder(errors=errors)


def test_a_list_for_which_there_is_no_memory_is_given_back():
    testcapi = pytest.importorskip("_testcapi", reason="only CPython's own test module can make its allocations fail")
    ids, failed = Ids(range(3_000_000, 3_000_032)), 0       # beyond what is kept as int objects
    before = sum(type(thing) is list for thing in gc.get_objects())
    for n in range(32):
        testcapi.set_nomemory(n, n + 1)
        try:
            ids.tolist()
        except MemoryError:
            failed += 1
        finally:
            testcapi.remove_mem_hooks()
    after = sum(type(thing) is list for thing in gc.get_objects())
    assert after - before < failed / 2      # others make lists, too, but not one for each
