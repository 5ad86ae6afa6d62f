"""The pattern compiler and the fallback: patterns that ctok does not know by their text."""

import itertools
import pickle

import pytest
import regex
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from ctok._native.split import Scan, Splitter
from ctok._native.unicode import category, is_space
from ctok._reference import split as reference
from ctok.errors import PatternError
from ctok.spec import Split
from ctok.stages._pattern import NotExpressible, compile_pattern
from ctok.stages._pattern.rewrite import rewrite
from ctok.stages.pretokenizers import RegexSplitter, build_splitter

SHORT_TEXTS = ["".join(t) for n in range(1, 5) for t in itertools.product("abc ", repeat=n)]

# ---- random patterns ----

one = st.sampled_from(["a", "b", "c", "[ab]", "[^a]", "[^ab]", ".", r"\s", r"\S", "[a-c]", r"\p{L}", "(?i:B)"])
quantifier = st.sampled_from(["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{1,}"])
possessive = st.builds("{}{}".format, one, st.sampled_from(["*+", "++", "?+", "{1,2}+"]))
look = st.sampled_from(["(?!a)", "(?=[ab])", r"(?!\S)", r"(?=\s)", "$", "(?=a|$)", ""])


def larger(inner):
    return st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("({}){}".format, inner, quantifier),
        st.builds("{}{}".format, inner, look),
    )


patterns = st.recursive(st.one_of(one, possessive), larger, max_leaves=8)
alternatives = st.lists(patterns, min_size=1, max_size=3).map("|".join)


def with_regex(pattern):
    return regex.compile(pattern.replace("$", r"\Z"))


def machine_of(pattern):
    """The splitter of a pattern, or None when it is rightly refused."""
    try:
        return Splitter(pattern, compile_pattern(pattern))
    except NotExpressible:
        return None
    except PatternError:
        compiled = with_regex(pattern)
        texts = map("".join, itertools.chain(*(itertools.product("abc \n!", repeat=n) for n in range(4))))
        assert any(m.end() == 0 for text in texts if (m := compiled.match(text))), "refused for nothing"
        return None


@given(alternatives)
def test_machine_of_random_pattern_equals_regex(pattern):
    splitter = machine_of(pattern)
    if splitter is not None:
        compiled = with_regex(pattern)
        for text in SHORT_TEXTS[::3]:
            assert splitter.spans(text, block=2) == (reference.spans(compiled, text), len(text)), text


def outcomes(scan, letters):
    """Yield (continuation, length of the pretoken) from every state that the scan can still get to, each state once."""
    queue, seen = [("", scan)], set()
    for more, at in queue:  # grows while it is walked
        yield more, at.finish()
        for letter in letters:
            after = at.copy()
            if after.feed(letter.encode())[0]:
                yield more + letter, after.accept
            elif (key := (after.state, after.accept == scan.accept)) not in seen:
                seen.add(key)
                queue.append((more + letter, after))


@given(alternatives, st.sampled_from(SHORT_TEXTS[:84]))
def test_scan_of_random_pattern_says_exactly_where_it_may_stop(pattern, text):
    splitter = machine_of(pattern)
    if splitter is None:
        return
    compiled, scan = with_regex(pattern), Scan(splitter)
    closed, _ = scan.feed(text.encode())
    claimed = {scan.accept} if closed else ({scan.accept} if scan.may_stop_at_accept else set())
    possible = reference.stops(compiled, text, "abcz \n!", 2)
    assert {stop for stop in possible if closed or stop < scan.n} <= claimed
    if not closed:
        found = {length: more for more, length in outcomes(scan, "abcz \n!\u00e9\u4e2d")}
        assert claimed <= found.keys()
        assert len(found) > 1
        for length, more in found.items():
            match = compiled.match(text + more)
            assert len(match.group().encode() if match else "") == length, more


@given(alternatives, st.text("abc \n", max_size=12), st.randoms())
def test_scan_of_random_pattern_in_pieces_equals_block(pattern, text, rng):
    splitter = machine_of(pattern)
    if splitter is None:
        return
    at, found = 0, []
    while at < len(text):
        scan, fed = Scan(splitter), at
        while fed < len(text):
            step = rng.randint(1, 3)
            if scan.feed(text[fed : fed + step].encode())[0]:
                break
            fed += step
        length = scan.finish()
        found += [(at, at + length)] * bool(length)
        at += length or 1
    assert splitter.spans(text)[0] == found


# ---- constructs ----

EVERYTHING = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)


def matched(splitter, text=EVERYTHING):
    data = text.encode()
    if isinstance(splitter, RegexSplitter):
        return "".join(text[a:b] for a, b in splitter.pieces(text))
    return b"".join(data[a:b] for a, b in splitter.spans(text)[0]).decode()


def tiktoken_matched(pattern, text=EVERYTHING):
    ranks = {bytes([i]): i for i in range(256)}
    encoding = tiktoken.Encoding("bytes", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return encoding.decode_bytes(encoding.encode_ordinary(text)).decode()


@pytest.mark.parametrize(
    "pattern",
    [r"\w", r"\S", r"\d", r"\p{Han}", r"\pM", r"\P{^N}", r"\p{LC}", r"\p{Cn}", r"\p{Titlecase_Letter}", r"\p{gc=Lu}", r"\p{Script=Han}",
     r"[^\p{Lo}&&[^\p{Han}a-z]]", r"(?i:[skSK])", r"(?i)[^k-s\w]", ".", "(?s).", r"[\x41-\x{5a}\u00e9\U0001F600]",
     r"[]\-^a]", r"[\n\t\v\f\r]",
     r"\p{White_Space}", r"\p{punct}", r"[[a-z]&&[^aeiou]]"],
)  # fmt: skip
def test_class_over_all_characters_equals_tiktoken(pattern):
    assert matched(Splitter(pattern, compile_pattern(pattern))) == tiktoken_matched(pattern)


@pytest.mark.parametrize("pattern", [r"\w", r"\W", r"[^\s\p{L}\p{N}]", r"[\p{Lu}&&\P{Ll}]", r"\x{e9}|\u{1F600}", r"\h"])
def test_fallback_class_over_all_characters_equals_machine(pattern):
    text = EVERYTHING[:0x3100:2] + EVERYTHING[0xA000:0x12000:5]
    expected = "".join(sorted(set("0123456789ABCDEFabcdef") & set(text)))
    if pattern != r"\h":
        expected = matched(Splitter(pattern, compile_pattern(pattern)), text)
    assert matched(RegexSplitter(pattern), text) == expected


@pytest.mark.parametrize(
    ("pattern", "text", "pieces"),
    [
        (r"a|ab", "ab", ["a"]),  # the first alternative wins, not the longest
        (r"ab|a|b", "aab", ["a", "ab"]),
        (r"a++b|a", "aaab aa", ["aaab", "a", "a"]),
        (r"\d{1,2}?x|\d", "12x3", ["12x", "3"]),
        (r"a*?b", "aaab", ["aaab"]),
        (r"\w+(?=!)|\w", "ab! cd", ["ab", "c", "d"]),
        (r"a+$|a", "aaba", ["a", "a", "a"]),
        (r"a\z|[^a]", "aba", ["b", "a"]),
        (r"(?<name>a)(?P<other>b)", "abab", ["ab", "ab"]),
        (r"(?i:stop)|.", "\u017ftOPx", ["\u017ftOP", "x"]),
        (r"(?s-i:.)\n?", "a\nb", ["a\n", "b"]),
        (r"x{2}|x{3,}|y{2,3}", "xxxyyyyx", ["xx", "yyy"]),
        (r"[^\p{L}]+", "ab12cd", ["12"]),
    ],
)
def test_machine_of_construct_cuts_as_expected(pattern, text, pieces):
    data = text.encode()
    spans, end = Splitter(pattern, compile_pattern(pattern)).spans(text)
    assert [data[a:b].decode() for a, b in spans] == pieces
    assert end == len(data)


def test_machine_gaps_are_skipped_whatever_the_block():
    splitter = Splitter("a+", compile_pattern("a+"))
    for block in (1, 2, 100):
        assert splitter.spans("\u00e9\u00e9aa\u4e2d\U0001f600aab", block=block) == ([(4, 6), (13, 15)], 16)
        assert splitter.spans("xxaa", at_eof=False, block=block) == ([], 2)
        assert splitter.spans("xx", at_eof=False, block=block) == ([], 2)


def test_scan_of_gap_closes_with_nothing():
    splitter = Splitter("ab", compile_pattern("ab"))
    scan = Scan(splitter)
    assert scan.feed(b"x") == (True, 0)
    assert (scan.accept, scan.finish()) == (0, 0)
    scan = Scan(splitter)
    assert scan.feed(b"a") == (False, 1)
    assert scan.may_stop_at_accept  # it may match nothing
    copy = scan.copy()
    assert scan.feed(b"c") == (True, 0)
    assert copy.feed(b"b") == (True, 1)
    assert copy.feed(b"more") == (True, 0)
    assert copy.finish() == 2


# ---- refusals and the fallback ----


@pytest.mark.parametrize("pattern", ["", "a*", "a|", "(?:a?){3}", "(?!a)", "$", "a|(?=b)", "(?:a*)*", "(?:\\ba)?"])
def test_build_pattern_that_matches_nothing_raises_pattern_error(pattern):
    """Case K2-19: tiktoken panics on these."""
    with pytest.raises(PatternError, match="match nothing") as caught:
        build_splitter(Split(pattern))
    assert caught.value.pattern == pattern
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("pattern", ["(", "a)", "[a", "a**", "a{2,1}", "*", r"\p{NoSuchProperty}", "(?z)a", "(?<=a*"])
def test_build_malformed_pattern_raises_pattern_error(pattern):
    with pytest.raises(PatternError):
        build_splitter(Split(pattern))


@pytest.mark.parametrize(
    ("pattern", "text", "pieces"),
    [
        (r"(\w)\1|.", "aabb c", ["aa", "bb", " ", "c"]),
        (r"(?<=a)b|[^b]", "abcb", ["a", "b", "c"]),
        (r"\b\w+\b|\W", "a\u00e9 b", ["a\u00e9", " ", "b"]),
        (r"\w+(?=ab)|.", "xxab", ["xx", "a", "b"]),
        (r"(?>a|ab)c|.", "abc", ["a", "b", "c"]),
        (r"(?m)^.+$|\n", "ab\ncd", ["ab", "\n", "cd"]),
        (r"\p{Greek}+|a", "a\u03b1\u03b2b", ["a", "\u03b1\u03b2"]),
        (r"(?:ab)++|a|b", "ababa", ["abab", "a"]),
        (r"^a|b$|a(?!bc)", "ab\nb", ["a", "b"]),
        (r"(?<m>a)(?=bb)|b\Z", "abbab", ["a", "b"]),
        (r"\b|a", "ab", ["a"]),  # it matches nothing at 0 too; that is no pretoken
    ],
)
def test_fallback_pattern_cuts_complete_text(pattern, text, pieces):
    splitter = build_splitter(Split(pattern))
    assert not splitter.streams
    assert [text[a:b] for a, b in splitter.pieces(text)] == pieces
    assert pickle.loads(pickle.dumps(splitter)).pieces(text) == splitter.pieces(text)


@given(alternatives)
def test_fallback_of_random_pattern_equals_machine(pattern):
    splitter = machine_of(pattern)
    if splitter is not None:
        fallback = RegexSplitter(pattern)
        for text in SHORT_TEXTS[::7]:
            assert fallback.pieces(text) == splitter.spans(text)[0], text


def test_fallback_of_known_pattern_equals_splitter():
    from ctok._native.split import known_patterns

    for pattern, _ in known_patterns():
        compiled = regex.compile(rewrite(pattern)[0])
        text = "I'LL don't\r\n\n  x 1234 \u4e2d\u6587Bx! \u01c5 \u0301a\u00a0\u0085\t\n "
        assert reference.spans(compiled, text) == Splitter.known(pattern).spans(text)[0]


def test_build_known_or_simple_pattern_streams():
    for pattern in (r"\p{L}+|\s+|[^\s\p{L}]+", r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"):
        assert build_splitter(Split(pattern)).streams


@pytest.mark.parametrize(
    "pattern", ["(" * 3000 + "a" + ")" * 3000, "(?:a{1000}){1000}", "(?:" + "|".join("ab" * i + "c" for i in range(200)) + ")"]
)
def test_build_large_pattern_ends(pattern):
    try:
        build_splitter(Split(pattern))
    except PatternError:
        pass


def test_machine_left_unminimised_cuts_the_same(monkeypatch):
    from ctok._native.split import known_patterns
    from ctok.stages._pattern import automaton

    monkeypatch.setattr(automaton, "MOST_ROW_VISITS", 0)
    text = "I'LL don't\r\n\n  x 1234 \u4e2d\u6587Bx! \u01c5 \u0301a\u00a0\u0085\t\n "
    for pattern, _ in known_patterns():
        tables = compile_pattern(pattern)
        assert Splitter(pattern, tables).spans(text) == Splitter.known(pattern).spans(text)


def test_build_imports_regex_only_for_the_fallback(run_python):
    code = (
        "import sys; from ctok.spec import Split; from ctok.stages.pretokenizers import build_splitter as b; b(Split('a+|b'));"
        "assert 'regex' not in sys.modules; b(Split(r'(a)\\1')); assert 'regex' in sys.modules"
    )
    run_python(code)


def test_reference_classes_are_those_asked_for():
    compiled = reference.compile_explicit(r"[^\s\p{L}]|\P{L}x$", category, is_space)
    assert [m.group() for m in compiled.finditer("a!\u3000 x")] == ["!", " x"]
