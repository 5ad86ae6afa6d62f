"""The split rules that have hand-written scanners, their slow twins, and texts that are dense in decisions."""

import random

from ctok.stages._pattern.fused import CHAINS

CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
# Family -> the patterns that it stands for, the first one in words that the regex module also understands.
PATTERNS = {
    "gpt2": [
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    ],
    "cl100k": [CONTRACTION + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"],
    "cl100k_tail": [
        CONTRACTION + r"|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++\Z|\s*[\r\n]|\s+(?!\S)|\s",
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    ],
    "qwen2": [CONTRACTION + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"],
    "qwen35": [CONTRACTION + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"],
    "o200k": [
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]*[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]+{CONTRACTION}?"
        rf"|[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]+[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]*{CONTRACTION}?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ],
    "deepseek3": [CHAINS["deepseek3"][1].replace("|$)", r"|\Z)")],
}
# One character for every way a rule can look at one (U+017F is a letter s to (?i:'s), U+01C5 is Lt, U+02B0 is Lm).
ALPHABET = [" ", "\n", "\t", "a", "s", "l", "B", "L", "1", "'", "!", "/", "\u4e2d", "\u0301", "\u017f", "\u3000", "\u01c5"]
MORE = ["\r", "\r\n", "  ", "e", "v", "r", "re", "ll", "'s", "'LL", "'\u017f", "S", "T", "AB", "ab", "123"]
MORE += ["\u0663", "\u00e9", "\u00c9", "\u02b0", "\u00a0"]
MORE += ["\U0001f600", "\u2019", "\u00b2", "\u0939\u093f", "\ufe0f", "\U0001d400", "\U00010428", "_", "://", "\x00", "\x1c", "\x85"]
MORE += ["\u2028", "-", ";\n"]


def stops_of(pieces):
    """Return the cumulative UTF-8 lengths of consecutive pieces."""
    at, stops = 0, []
    for piece in pieces:
        at += len(piece.encode())
        stops.append(at)
    return stops


def random_text(rng, items, longest):
    return "".join(rng.choice(items) for _ in range(rng.randint(1, longest)))


def dense_texts(seed, count, longest=14):
    """Return `count` random texts over the alphabets above."""
    rng = random.Random(seed)
    return [random_text(rng, ALPHABET * 2 + MORE, longest) for _ in range(count)]


def unicode_texts(seed, count, longest=10):
    """Return `count` random texts whose characters come from all of Unicode, assigned or not, among a few ASCII ones."""
    rng = random.Random(seed)

    def character():
        kind = rng.random()
        if kind < 0.4:
            return rng.choice(" \n'/aBs1!")
        code = rng.randrange(0x3000 if kind < 0.8 else 0x110000)
        return chr(code) if not 0xD800 <= code < 0xE000 else "\u00ad"

    return ["".join(character() for _ in range(rng.randint(1, longest))) for _ in range(count)]


def sparse_texts(seed, count, longest=150):
    """Return `count` random texts, each over its own few items, so that also long stretches without the rarer ones occur."""
    rng = random.Random(seed)
    items = ALPHABET + MORE
    return [random_text(rng, rng.sample(items, rng.randint(2, 6)) + ["a", " "][: rng.randint(0, 2)], longest) for _ in range(count)]
