"""`IncrementalEncoder`: however a text is cut, the ids are those of the whole, none is taken back, and none leaves later than it can."""

import copy
import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import (
    ALPHABET,
    CL100K,
    FAMILIES,
    GPT2,
    O200K,
    SPECIALS,
    compiled,
    ctok_of,
    o200k_ranks,
    random_text,
    random_vocabularies,
    real_pair,
    real_ranks,
)  # fmt: skip
from ctok._native import buildinfo
from ctok._reference import encode as whole_twin
from ctok._reference import split as split_twin
from ctok._reference import stream as twin
from ctok.errors import CtokError, DisallowedSpecialTokenError, EncodeError, StateError
from feeds import all_feeds, cut_at, one_by_one, random_feeds

REGEX_ONLY = r"\w+(?<=x)|\w+|\W+"
GAPS = r"[a-c]+|\d\d"  # text that nothing matches, and a pretoken that may turn out to be none
EMOJI = "\U0001f600"
BYTES = {bytes([b]): b for b in range(256)}


def fed(encoder, chunks):
    """The ids of chunks, and how many there were after each."""
    ids, counts = [], []
    for chunk in chunks:
        ids += encoder.encode(chunk)
        counts.append(len(ids))
    return ids + encoder.encode("" if not chunks or isinstance(chunks[-1], str) else b"", final=True), counts


# ---- the same ids, however the text is cut ----

VECTORS = [
    "", "a", "I'll don't we've", "x'", "x'l", "x'll", "  \n\n  x", "\n \n", "\n\t\n", "\r\n\r\n", "   ", " " * 70, "1234567", "\u4e2dBx",
    "AB\u0301c", "\u4e2d\u6587" * 9, "a" * 200, "^" * 130, "<|endos", "<|endoftext|>", "foo  <|endoftext|>", "foo  <|endow", "<|<|x|>|>",
    "<|x|><|x|>", "<|end<|endoftext|>oftext|>", f"a{EMOJI}b\u00e9\u0301", "don'\u017f", "\u00e9" * 40, "\0\0a\0", "!!!\n\n/ x",
    "hello World 23",
    "_" * 99, "\u3000 \u3000a", f"<|{EMOJI}", "<|\u00e9|> <|\u00e9|",
]  # fmt: skip


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_vector_in_every_feed_gives_the_ids_of_the_whole(family):
    tok, _ = real_pair(FAMILIES[family])
    for text in VECTORS:
        for options in ({}, {"allowed_special": "all"}):
            expected, encoder = tok.encode(text, **options), tok.encoder(**options)
            for one in (text, text.encode()):  # bytes are cut inside characters, too
                for chunks in all_feeds(one):
                    assert fed(encoder, chunks)[0] == expected, (text, chunks)


@given(st.sampled_from(sorted(FAMILIES)), random_feeds(st.lists(st.sampled_from(ALPHABET), max_size=25).map("".join)))
def test_random_cuts_of_a_str_equals_tiktoken(family, chunks):
    tok, encoding = real_pair(FAMILIES[family])
    expected = encoding.encode("".join(chunks), allowed_special="all")
    assert fed(tok.encoder(allowed_special="all"), chunks)[0] == expected


@given(st.sampled_from(sorted(FAMILIES)), random_feeds(st.text(max_size=30).map(str.encode)))
def test_random_cuts_of_bytes_equals_tiktoken(family, chunks):
    tok, encoding = real_pair(FAMILIES[family])
    assert fed(tok.encoder(), chunks)[0] == encoding.encode_ordinary(b"".join(chunks).decode())


@pytest.mark.parametrize("pattern", [GAPS, "ab?c|b", r"(?s:.)", r"(?s:.+)", REGEX_ONLY, r"\w+|\s+(?!\S)|\s|[^\w\s]{1,3}", "a+b|c"])
def test_any_pattern_cut_at_random_gives_the_ids_of_the_whole(pattern):
    for rng, ranks in random_vocabularies(31, 25, alphabet=b"abc1 !", longest=5):
        ranks = {**{b: r + 1000 for b, r in BYTES.items()}, **ranks}
        ranks = {token: rank for rank, token in {rank: token for token, rank in ranks.items()}.items()}
        ranks = {**{bytes([b]): 5000 + b for b in range(256) if bytes([b]) not in ranks}, **ranks}
        tok = ctok_of(ranks, pattern, {"<b": 9000, "b c": 9001})
        for _ in range(8):
            text = random_text(rng, [*"aabbcc1! <", "<b", "b c", "\u4e2d"], 15)
            chunks = cut_at(text, [rng.randint(0, len(text)) for _ in range(4)])
            assert fed(tok.encoder(), chunks)[0] == tok.encode(text), (text, chunks)
            assert fed(tok.encoder(allowed_special="all"), chunks)[0] == tok.encode(text, allowed_special="all"), (text, chunks)


def test_wild_vocabularies_cut_at_random_give_the_ids_of_the_whole():
    for rng, ranks in random_vocabularies(32, 240, alphabet=b"ab", n=16, longest=9):
        tok = ctok_of(ranks, "[ab]+")
        for _ in range(6):
            text = random_text(rng, ["a", "b", "ab", "aaaa", *[token.decode() for token in ranks]], 12)
            encoder, expected, got = tok.encoder(), tok.encode(text), []
            for char in text:
                got += encoder.encode(char)
                assert got == expected[: len(got)], (ranks, text)
            assert got + encoder.encode("", final=True) == expected


def test_encoder_after_the_end_is_as_new():
    tok, _ = real_pair(O200K)
    encoder = tok.encoder(allowed_special="all")
    for text in VECTORS:
        assert encoder.encode(text, final=True) == tok.encode(text, allowed_special="all")
        assert encoder.encode("", final=True) == [] and encoder.pending == b""
    encoder.encode("some text")
    encoder.reset()
    assert encoder.encode("b", final=True) == tok.encode("b")


# ---- as early as the definition says ----

CONTINUATIONS = [*"aBs \n1'!/", "\u4e2d", "\u0301", "ll", "re"]
PARTS = [*"aBsl '\n1!/\r", "\u4e2d", "\u0301", "  ", "ll", "<|x|>", "<|", "<", "|x"]


@pytest.fixture
def quick_stops(monkeypatch):
    """`split.stops`, remembered: the twin asks the same again and again."""
    known, stops = {}, split_twin.stops

    def remembered(pattern, text, alphabet, depth):
        key = pattern.pattern, text, depth
        if key not in known:
            known[key] = stops(pattern, text, alphabet, depth)
        return known[key]

    monkeypatch.setattr(split_twin, "stops", remembered)


def ranks_from(rng, data):
    """Every byte of the texts, and pieces of one text with ranks in any order."""
    ranks = {bytes([b]): b for b in "".join(PARTS).encode()}
    for rank in rng.sample(range(300, 2000), rng.randint(0, 40)):
        at = rng.randrange(len(data))
        ranks.setdefault(data[at : at + rng.randint(2, 8)], rank)
    return ranks


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_each_id_leaves_when_the_twin_lets_it_go(family, quick_stops):
    pattern = FAMILIES[family]
    for seed in range(60):
        rng = random.Random(f"{family} {seed}")
        text = random_text(rng, PARTS, 14)
        ranks = ranks_from(rng, text.encode())
        literals = rng.choice([{}, {"<|x|>": 3000}, {"<|x|>": 3000, "<|x": 3001, "<|": 3002}])
        slow = twin.StreamingEncoder(ranks, compiled(pattern), literals, CONTINUATIONS)
        fast = ctok_of(ranks, pattern, literals).encoder(allowed_special="all")
        expected, ours, theirs = whole_twin.encode(ranks, compiled(pattern), literals, text), [], []
        for chunk in cut_at(text, [rng.randint(0, len(text)) for _ in range(len(text))]):
            ours += fast.encode(chunk)
            theirs += slow.encode(chunk)
            assert ours == expected[: len(ours)], (seed, text, chunk)
            assert theirs == expected[: len(theirs)], (seed, text, chunk)
            assert len(ours) == len(theirs), (seed, text, chunk)
        assert ours + fast.encode("", final=True) == theirs + slow.encode("", final=True) == expected


def test_what_left_is_a_prefix_for_every_text_that_may_follow():
    for rng, ranks in random_vocabularies(33, 120, alphabet=b" ab", n=14, longest=6):
        tok = ctok_of(ranks, GPT2)
        text = random_text(rng, [" ", "a", "b", "ab"], 9)
        sent = tok.encoder().encode(text)
        for more in [random_text(rng, [*" ab", *[token.decode() for token in ranks]], 5) for _ in range(25)]:
            assert tok.encode(text + more)[: len(sent)] == sent, (ranks, text, more)


@pytest.mark.parametrize(
    ("text", "bound"),
    [("It was the best of times, it was the worst of times. " * 8, 12), ("a" * 1500, 15), (" " * 600, 275), ("^" * 600, 70),
     ("\u4e2d\u6587\u5b57\u7b26" * 100, 45), ("for (int i = 0; i < n; i++) {\n    x[i] = y;\n}\n" * 8, 30)],
)  # fmt: skip
def test_what_is_held_stays_small(text, bound):
    encoder = ctok_of(o200k_ranks(), O200K).encoder()
    most = 0
    for char in text:
        encoder.encode(char)
        most = max(most, len(encoder.pending))
    assert most <= bound


@pytest.mark.parametrize("unit", ["a", " ", "^", "\u4e2d", "ab"])
@pytest.mark.parametrize("size", [16, 5000, 70_000])
def test_one_long_pretoken_in_chunks_is_held_bounded_and_equals_the_whole(unit, size):
    tok, _ = real_pair(O200K)
    text = unit * (300_000 // len(unit) // (4 if size == 16 else 1))
    encoder, ids = tok.encoder(), []
    for start in range(0, len(text), size):
        ids += encoder.encode(text[start : start + size])
        assert len(encoder.pending) < 300
    assert ids + encoder.encode("", final=True) == tok.encode(text)


def test_random_long_pretokens_in_chunks_equal_the_whole():
    rng, tok = random.Random(34), real_pair(O200K)[0]
    for alphabet in ("abcdefghijklmnopqrstuvwxyz", "ab", "\u4e00\u4e01\u4e03\u4e07", "^-"):
        text = "".join(rng.choices(alphabet, k=9000))
        for size in (7, 900, 2049, 4096):
            assert fed(tok.encoder(), [text[i : i + size] for i in range(0, len(text), size)])[0] == tok.encode(text)


def test_long_pretokens_of_wild_vocabularies_in_large_chunks_equal_the_whole():
    for rng, ranks in random_vocabularies(35, 30, alphabet=b"ab", n=18, longest=7):
        tok = ctok_of(ranks, "[ab]+")
        text = "".join(rng.choices("ab", k=3000)) + "ab" * 1500
        for size in (2500, 3500):
            assert fed(tok.encoder(), [text[i : i + size] for i in range(0, len(text), size)])[0] == tok.encode(text)


def test_long_token_that_merging_does_not_give_waits_for_its_end():
    rng = random.Random(3)
    token = "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=2500))
    tok = ctok_of({**BYTES, token.encode(): 1000}, r"[^\n]+|\n")
    for chunks in ([token], [token[:2400], token[2400:]], [token[:1200], token[1200:], "\n"], ["x" + token], [token, "x"]):
        assert fed(tok.encoder(), chunks)[0] == tok.encode("".join(chunks))


def test_tokens_longer_than_the_tree_leave_in_time():
    ranks = {b"a": 0, b"b": 20} | {b"a" * 2**i: i for i in range(1, 13)}
    tok = ctok_of(ranks, "[ab]+")
    for text, sizes in (("a" * 9000, [4000]), ("b" + "a" * 5000 + "b" + "a" * 1000, [1000])):
        for size in sizes:
            assert fed(tok.encoder(), [text[i : i + size] for i in range(0, len(text), size)])[0] == tok.encode(text)


def test_pretoken_that_may_turn_out_to_be_none_costs_no_square_of_time():
    from time import process_time

    tok, times = ctok_of(BYTES, "a+b|."), []
    for n in (1000, 4000):
        encoder, began = tok.encoder(), process_time()
        early = sum(len(encoder.encode("a" * 16)) for _ in range(n))
        times.append(process_time() - began)
        other = tok.encoder()
        other.setstate(encoder.getstate())
        assert early + len(encoder.encode("b", final=True)) == early + len(other.encode("b", final=True)) == 16 * n + 1
    assert times[1] < 4 * 4 * max(times[0], 0.01) or buildinfo.mode == "sanitize", times


# ---- special tokens across chunks ----


def test_b40_beginning_of_a_special_token_that_is_none_gives_its_own_ids(shared):
    from test_encode import shared_tokenizer

    encoder = shared_tokenizer(shared, "cl100k_base").encoder(allowed_special="all")
    assert encoder.encode("<|endo") + encoder.encode("s") + encoder.encode("", final=True) == [27, 91, 408, 437]


def test_b41_end_of_a_long_run_gives_all_ids(shared):
    from test_encode import shared_tokenizer

    encoder = shared_tokenizer(shared, "cl100k_base").encoder()
    ids = encoder.encode("a" * 2056)
    assert len(ids + encoder.encode("", final=True)) == 257


def test_b37_ids_of_chunks_are_those_of_the_text_not_of_the_chunks():
    tok = ctok_of(o200k_ranks(), GPT2)
    assert fed(tok.encoder(), ["Hel", "lo", " world"])[0] == tok.encode("Hello world")
    assert len(tok.encode("Hello world")) == 2


def test_special_token_is_certain_with_its_last_character_unless_a_longer_one_may_come():
    tok = ctok_of(BYTES, GPT2, {"<a>": 300, "<a>bc>": 301})
    encoder = tok.encoder(allowed_special="all")
    assert [encoder.encode(char) for char in "x<a>bcx"] == [[120], [], [], [], [], [], [300, 98, 99, 120]]
    encoder = tok.encoder(allowed_special={"<a>"})
    assert [encoder.encode(char) for char in "x<a>b"] == [[120], [], [], [300], [98]]


def test_text_before_a_special_token_is_whole():
    tok, encoding = real_pair(CL100K)
    for text in ("foo  <|endoftext|>", "foo  <|endow", "x\n \n<|x|>\n", "don'<|x|>t"):
        for chunks in (one_by_one(text), one_by_one(text.encode())):
            assert fed(tok.encoder(allowed_special="all"), chunks)[0] == encoding.encode(text, allowed_special="all")


def test_forbidden_special_token_raises_when_it_is_complete():
    tok, _ = real_pair(GPT2)
    encoder = tok.encoder(disallowed_special="all")
    got = encoder.encode("ab <|endo")
    for _ in range(2):
        with pytest.raises(DisallowedSpecialTokenError) as caught:
            encoder.encode("ftext|>")
        assert (caught.value.token, caught.value.position) == ("<|endoftext|>", 3)
    assert got + encoder.encode("w", final=True) == tok.encode("ab <|endow")


# ---- characters across chunks ----


def test_surrogate_pair_cut_by_chunks_is_joined():
    tok, _ = real_pair(O200K)
    text = f"a{EMOJI}b{EMOJI}"
    halves = "a\ud83d\ude00b\ud83d\ude00"
    for chunks in all_feeds(halves):
        assert fed(tok.encoder(), chunks)[0] == tok.encode(text), chunks
    encoder = tok.encoder()
    encoder.encode("a\ud83d")
    assert encoder.pending.endswith(b"\xed\xa0\xbd")


@pytest.mark.parametrize("errors", ["strict", "replace"])
def test_lone_surrogates_cut_by_chunks_are_treated_as_in_the_whole(errors):
    tok, _ = real_pair(O200K)
    rng = random.Random(36)
    for _ in range(300):
        text = random_text(rng, ["a", "\ud83d", "\ude00", EMOJI, " ", "\u00e9"], 8)
        chunks = cut_at(text, [rng.randint(0, len(text)) for _ in range(3)])
        try:
            expected = tok.encode(text, errors=errors)
        except EncodeError:
            expected = None
        if expected is None:
            with pytest.raises(EncodeError):
                fed(tok.encoder(errors=errors), chunks)
        else:
            assert fed(tok.encoder(errors=errors), chunks)[0] == expected


BYTE_PARTS = [b"a", b"\xf0", b"\x9f", b"\x98\x80", b"\xe4\xb8", b"\xad", b"\xff", b" ", b"\xc3\xa9"]


@given(random_feeds(st.lists(st.sampled_from(BYTE_PARTS)).map(b"".join)))
def test_invalid_bytes_cut_by_chunks_are_replaced_as_in_the_whole(chunks):
    tok, _ = real_pair(O200K)
    assert fed(tok.encoder(errors="replace"), chunks)[0] == tok.encode(b"".join(chunks), errors="replace")


def test_unfinished_character_at_the_end_is_an_error_or_replaced():
    tok, _ = real_pair(O200K)
    for chunk in (b"ab\xf0\x9f", "ab\ud83d"):
        encoder = tok.encoder()
        got = encoder.encode(chunk)
        with pytest.raises(EncodeError) as caught:
            encoder.encode("", final=True)
        assert caught.value.position == 2
        assert encoder.pending.endswith(b"\xf0\x9f" if isinstance(chunk, bytes) else b"\xed\xa0\xbd")
        rest = b"\x98\x80" if isinstance(chunk, bytes) else "\ude00"
        assert got + encoder.encode(rest, final=True) == tok.encode("ab" + EMOJI)
        encoder = tok.encoder(errors="replace")
        assert encoder.encode(chunk) + encoder.encode("", final=True) == tok.encode("ab\ufffd")


def test_str_after_half_a_character_of_bytes_is_a_type_error():
    tok, _ = real_pair(O200K)
    for one, other, rest in ((b"a\xf0\x9f", "x", b"\x98\x80"), ("a\ud83d", b"x", "\ude00")):
        encoder = tok.encoder()
        got = encoder.encode(one)
        with pytest.raises(TypeError):
            encoder.encode(other)
        assert got + encoder.encode(other[:0]) + encoder.encode(rest, final=True) == tok.encode("a" + EMOJI)
    encoder = tok.encoder()
    assert encoder.encode("ab ") + encoder.encode(b"cd ") + encoder.encode("\u00e9", final=True) == tok.encode("ab cd \u00e9")


# ---- pending ----


def test_pending_is_the_text_whose_ids_have_not_left():
    rng = random.Random(37)
    for pattern in (O200K, GPT2, GAPS, REGEX_ONLY):
        tok = ctok_of(real_ranks(), pattern, SPECIALS)
        for _ in range(60):
            text = random_text(rng, ALPHABET, 20)
            encoder, ids = tok.encoder(allowed_special="all"), []
            for chunk in cut_at(text.encode(), [rng.randint(0, 40) for _ in range(5)]):
                ids += encoder.encode(chunk)
                if pattern not in (GAPS, REGEX_ONLY):
                    assert tok.decode_bytes(ids) + encoder.pending == text.encode()[: len(tok.decode_bytes(ids) + encoder.pending)]
            pending = encoder.pending
            if pattern not in (GAPS, REGEX_ONLY):
                assert tok.decode_bytes(ids) + pending == text.encode()
            assert text.encode().endswith(pending)
            assert encoder.pending == pending


# ---- errors leave the encoder as it was ----

BAD = [(None, TypeError), (3, TypeError), (["a"], TypeError), ("x\ud800x", EncodeError), (b"x\xff", EncodeError),
       ("y" * 70_000 + "\udc00", EncodeError), ("<|x|>", DisallowedSpecialTokenError),
       ("ab " * 30_000 + "<|x|>", DisallowedSpecialTokenError),
       ("~", EncodeError), (b"ab ~", EncodeError), ("ab " * 30_000 + "~", EncodeError)]  # fmt: skip


@pytest.mark.parametrize("pattern", [O200K, GAPS, REGEX_ONLY], ids=["o200k", "gaps", "regex"])
def test_a_refused_chunk_leaves_the_encoder_as_it_was(pattern):
    ranks = {token: rank for token, rank in real_ranks().items() if token != b"~"}
    tok = ctok_of(ranks, pattern, SPECIALS)
    rng = random.Random(38)
    for bad, error in BAD:
        if pattern != O200K and error in (EncodeError, DisallowedSpecialTokenError) and len(str(bad)) < 100 and bad != "x\ud800x":
            continue
        for final in (False, True):
            text = random_text(rng, [*"ab c1'\n", "don't", "\u4e2d", "<|"], 15)
            encoder = tok.encoder(allowed_special={"<|endoftext|>"}, disallowed_special={"<|x|>"})
            ids = encoder.encode(text)
            state, pending = encoder.getstate(), encoder.pending
            try:
                encoder.copy().encode(bad, final)
            except (CtokError, TypeError):
                with pytest.raises((error, CtokError)):
                    encoder.encode(bad, final)
                assert (encoder.getstate(), encoder.pending) == (state, pending)
                assert ids + encoder.encode("z", final=True) == tok.encode(text + "z", allowed_special={"<|endoftext|>"})


def test_positions_count_from_the_start_of_the_stream():
    tok, _ = real_pair(GPT2)
    for head in ("", "ab", "\u00e9" * 5, EMOJI * 3, "x " * 50_000, "\u00e9 " * 40_000):
        for kind in (str, bytes):
            encoder = tok.encoder(disallowed_special="all")
            encoder.encode(head if kind is str else head.encode())
            encoder.encode("cd " if kind is str else b"cd ")
            length = len(head) + 3 if kind is str else len(head.encode()) + 3
            for tail in ("z" * 9, "z" * 70_000):
                with pytest.raises(EncodeError) as caught:
                    encoder.encode(tail + "\ud800x" if kind is str else tail.encode() + b"\xff")
                assert caught.value.position == length + len(tail)
                with pytest.raises(DisallowedSpecialTokenError) as caught:
                    encoder.encode(tail + "<|x|>" if kind is str else tail.encode() + b"<|x|>")
                assert caught.value.position == length + len(tail)


def test_position_of_a_byte_without_token_counts_from_the_start_of_the_stream():
    tok = ctok_of({token: number for token, number in BYTES.items() if number != 0xA9}, GPT2)
    for head in ("", "ab", "\u4e2d" * 5, "x " * 50_000):
        encoder = tok.encoder()
        encoder.encode(head)
        encoder.encode("cd z\u00e9")
        with pytest.raises(EncodeError) as caught:
            encoder.encode(" ")
        assert (caught.value.position, caught.value.unit) == (len(head) + 4, "char")
        encoder = tok.encoder()
        encoder.encode(head.encode())
        with pytest.raises(EncodeError) as caught:
            encoder.encode("cd z\u00e9 ".encode())
        assert (caught.value.position, caught.value.unit) == (len(head.encode()) + 5, "byte")


# ---- copies and states ----


def ways():
    """Ways to go on with another encoder in the same state."""

    def by_state(encoder, fresh):
        fresh.encode("something else <|")
        fresh.setstate(encoder.getstate())
        return fresh

    return [lambda encoder, _: encoder.copy(), lambda encoder, _: copy.copy(encoder), lambda encoder, _: copy.deepcopy(encoder), by_state]


@pytest.mark.parametrize("pattern", [O200K, GPT2, GAPS, REGEX_ONLY], ids=["o200k", "gpt2", "gaps", "regex"])
def test_copies_and_states_at_random_places_go_on_alike(pattern):
    tok = ctok_of(real_ranks(), pattern, SPECIALS)
    rng = random.Random(39)
    for i in range(160):
        text = random_text(rng, [*ALPHABET, "a" * 40, " " * 40], 12)
        data = text.encode() if i % 2 else text
        first, second = tok.encoder(allowed_special="all"), tok.encoder(allowed_special="all")
        cut, ids = rng.randint(0, len(data)), []
        for chunk in cut_at(data[:cut], [rng.randint(0, len(data)) for _ in range(3)]):
            ids += first.encode(chunk)
        other = ways()[i % 4](first, second)
        assert other.pending == first.pending
        rest = first.encode(data[cut:]) + first.encode(data[:0], final=True)
        assert ids + rest == tok.encode(text, allowed_special="all")
        assert other.encode(data[cut:]) + other.encode(data[:0], final=True) == rest


def test_copy_is_independent_and_shares_the_tokenizer():
    tok, _ = real_pair(O200K)
    encoder = tok.encoder()
    encoder.encode("hel")
    for other in (encoder.copy(), copy.deepcopy(encoder)):
        assert other.tokenizer is tok
        other.encode("something else entirely")
        assert encoder.pending == b"hel"
        encoder.copy().reset()
        assert encoder.pending == b"hel"


def test_encoder_survives_pickling():
    tok = ctok_of({token: rank for token, rank in real_ranks().items() if rank < 400}, GPT2, SPECIALS)
    encoder = tok.encoder(allowed_special={"<|x|>"}, disallowed_special={"<|\u00e9|>"}, errors="replace")
    ids = encoder.encode("hello <|") + encoder.encode("x|> wor<|end")
    other = pickle.loads(pickle.dumps(encoder))
    assert other.pending == encoder.pending
    assert other.encode("z\ud800", final=True) == encoder.encode("z\ud800", final=True)
    assert ids and pickle.loads(pickle.dumps(encoder)).encode("a", final=True) == tok.encode("a")


def test_state_of_another_tokenizer_or_other_options_is_refused():
    tok, _ = real_pair(O200K)
    encoder = tok.encoder()
    encoder.encode("hel")
    state = encoder.getstate()
    others = [real_pair(GPT2)[0].encoder(), ctok_of(real_ranks(), O200K).encoder(), tok.encoder(allowed_special="all"),
              tok.encoder(disallowed_special="all"), tok.encoder(errors="replace"), tok.encoder(allowed_special={"<|x|>"})]  # fmt: skip
    for other in others:
        other.encode("wor")
        with pytest.raises(StateError):
            other.setstate(state)
        assert other.pending == b"wor"
    with pytest.raises(StateError):
        encoder.setstate(tok.counter().getstate())
    with pytest.raises(TypeError):
        encoder.setstate(None)
    assert encoder.pending == b"hel"


@pytest.mark.parametrize("pattern", [O200K, GPT2, GAPS, REGEX_ONLY], ids=["o200k", "gpt2", "gaps", "regex"])
def test_damaged_state_is_refused_or_harmless(pattern):
    tok = ctok_of(real_ranks(), pattern, SPECIALS)
    rng = random.Random(40)
    for text in ("", "hello wor", "a" * 90, "   ", "don'", "\u4e2d" * 30, "<|endo", "ab\u00e9 \ud83d", b"a\xf0\x9f", "12"):
        encoder = tok.encoder(errors="replace")
        encoder.encode(text)
        state, pending = encoder.getstate(), encoder.pending
        for _ in range(250):
            damaged = bytearray(state)
            for _ in range(rng.randint(1, 3)):
                at = rng.randrange(13, len(damaged))
                damaged[at] = rng.choice([0, 1, 2, 5, 0x7F, 0x80, 0xFF, damaged[at] ^ 1 << rng.randrange(8)])
            if rng.random() < 0.2:
                del damaged[rng.randrange(len(damaged)) :]
            other = tok.encoder(errors="replace")
            other.encode("ab")
            try:
                other.setstate(bytes(damaged))
            except StateError:
                assert other.pending == b"ab"
                continue
            try:
                other.encode("z" * 50 if pending.isascii() else "\u4e2dz 1'")
                other.encode(" 99 a\u00e9", final=True)
            except (CtokError, TypeError):
                assert other.copy().pending == other.pending
    for garbage in (b"", b"ctok\x01", state[:12], state[:13], state[:30], b"x" + state, bytes(200), b"ctok\x02" + state[5:]):
        with pytest.raises(StateError):
            encoder.setstate(garbage)
    assert encoder.pending == pending


def test_regex_only_pattern_holds_everything_until_the_end():
    tok = ctok_of(real_ranks(), REGEX_ONLY, SPECIALS)
    assert not tok.streams
    encoder = tok.encoder(allowed_special="all")
    assert [encoder.encode(chunk) for chunk in ("ab c", "<|x|>", b" d")] == [[], [], []]
    assert encoder.pending == b"ab c<|x|> d"
    assert encoder.encode("", final=True) == tok.encode("ab c<|x|> d", allowed_special="all")
    assert encoder.encode("", final=True) == []


# ---- no memory for what a call returns ----


@pytest.mark.parametrize("chunk", ["lo world, and", "w\u00f6rld \u4e16\u754c and", b"lo world, and", "lo world " * 20])
@pytest.mark.parametrize("final", [False, True])
def test_encoder_without_memory_for_its_list_is_as_before_the_call(chunk, final):
    testcapi = pytest.importorskip("_testcapi", reason="only CPython's own test module can make its allocations fail")
    tok, failed = ctok_of(BYTES, O200K), 0
    for n in range(40):
        encoder, other = tok.encoder(), tok.encoder()
        assert encoder.encode("Hel") == other.encode("Hel")
        before, want = encoder.getstate(), other.encode(chunk, final)
        testcapi.set_nomemory(n, n + 1)
        try:
            got = encoder.encode(chunk, final)
        except MemoryError:
            got = None
        finally:
            testcapi.remove_mem_hooks()
        if got is None:
            failed += 1
            assert encoder.getstate() == before
            got = encoder.encode(chunk, final)
        assert got == want and encoder.getstate() == other.getstate()
    assert failed
