"""Vocabularies for the tests of encoding: small real ones, random ones, and the same in tiktoken."""

import random
from functools import lru_cache

import tiktoken

from ctok import registry
from ctok._native.split import known_patterns
from ctok._native.unicode import category, is_space
from ctok._native.vocab import Vocab
from ctok._reference import split as split_twin
from ctok.spec import BPE, AddedToken, Spec, Split, TokenTable
from ctok.tokenizer import Tokenizer

KNOWN = known_patterns()
FAMILIES = {family: pattern for pattern, family in KNOWN}
GPT2, CL100K, O200K = (FAMILIES[name] for name in ("gpt2", "cl100k", "o200k"))
ANYTHING = r"(?s:.+)"  # one pretoken
SPECIALS = {"<|endoftext|>": 9000, "<|endofprompt|>": 9001, "<|x|>": 9002, "<|é|>": 9003}
# Characters that the rules tell apart, pieces of special tokens, and words.
ALPHABET = [*" \n\ta's1!/_B", *"\u4e2d\u0301\u017f\u3000\u01c5\u02b0\u00e9\u0663\u200d\x00", "\r\n", "ll", "'re", "'S", "BC", "23", "  "]
ALPHABET += ["\u6587", "\ufb01", "\U0001f600", "hello", "World", "<|", "|>", "<|endo", "<|x|", "ftext|>", *SPECIALS]


@lru_cache
def o200k_ranks():
    """The ranks of o200k_base as a dict."""
    return dict(registry.spec_for("o200k_base").model.tokens)


@lru_cache
def real_ranks(n=8000):
    """The first `n` ranks of o200k_base: a small vocabulary such as training gives."""
    return {token: rank for token, rank in o200k_ranks().items() if rank < n}


def ctok_of(ranks, pattern=ANYTHING, specials=(), always=()):
    """Build a tokenizer from dicts."""
    added = [AddedToken(text, number) for text, number in dict(specials).items()]
    added += [AddedToken(text, number, False) for text, number in dict(always).items()]
    return Tokenizer.from_spec(Spec("test", BPE(TokenTable.from_dict(ranks)), Split(pattern), added))


def tiktoken_of(ranks, pattern=ANYTHING, specials=()):
    return tiktoken.Encoding("test", pat_str=pattern, mergeable_ranks=ranks, special_tokens=dict(specials))


@lru_cache
def real_pair(pattern):
    """(ctok, tiktoken) with the small real vocabulary and a known pattern."""
    return ctok_of(real_ranks(), pattern, SPECIALS), tiktoken_of(real_ranks(), pattern, SPECIALS)


@lru_cache
def compiled(pattern):
    return split_twin.compile_explicit(pattern, category, is_space)


def vocab_of(ranks, specials=()):
    table = TokenTable.from_dict(ranks)
    return Vocab(table.data, table.ends, table.ids, specials)


def random_text(rng, items, longest):
    return "".join(rng.choices(items, k=rng.randint(1, longest)))


def trained_ranks(rng, alphabet=b"abc", n=30, longest=8):
    """Bytes and tokens that join two earlier ones: every token can be reached by merging, most in ascending rank."""
    tokens = [bytes([b]) for b in alphabet]
    for _ in range(20 * n):
        joined = rng.choice(tokens) + rng.choice(tokens)
        if len(joined) <= longest and joined not in tokens:
            tokens.append(joined)
        if len(tokens) >= n:
            break
    return {token: rank for rank, token in enumerate(tokens)}


def wild_ranks(rng, alphabet=b"abc", n=30, longest=8, missing=0):
    """Any byte strings with any ranks: unreachable tokens, ranks in any order, gaps, bytes without a token."""
    tokens = {bytes([b]) for b in alphabet}
    while len(tokens) < n:
        tokens.add(bytes(rng.choices(alphabet, k=rng.randint(2, longest))))
    ranks = rng.sample(range(3 * n), len(tokens))
    table = dict(zip(sorted(tokens), ranks))
    for byte in rng.sample(alphabet, missing):
        del table[bytes([byte])]
    return table


def shuffled_ranks(rng, **options):
    """Reachable merges, but ranks in random order: so some tokens are reached by other ways or not at all."""
    tokens = list(trained_ranks(rng, **options))
    return dict(zip(tokens, rng.sample(range(2 * len(tokens)), len(tokens))))


MAKERS = (trained_ranks, wild_ranks, shuffled_ranks)


def random_vocabularies(seed, count, **options):
    """Yield (rng, ranks) of all kinds."""
    for i in range(count):
        rng = random.Random(seed * 1000 + i)
        yield rng, MAKERS[i % len(MAKERS)](rng, **options)
