"""Sets of characters as the pattern writes them, and their meaning over a finite universe.

A set is a nested tuple, one of

* ``("range", first, last)``  code points, both included
* ``("props", bits)``         bit p is set for every property byte p (general category, plus 32 for White_Space) that belongs to the set
* ``("not", s)``, ``("or", s, ...)``, ``("and", s, ...)``

To reason about sets the code points are cut into *atoms*: stretches in which every set of the pattern is told apart by the property
byte alone, times the property bytes that occur there. A set is then an int with one bit for each atom.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from ..._native.split import property_set

__all__ = ["ANY", "DIGIT", "EMPTY", "NEWLINE", "SPACE", "WORD", "CharSet", "NotExpressible", "Universe", "fold", "named_property", "one_of"]

CharSet = tuple[Any, ...]

CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn".split()
LONG_NAMES = {
    "letter": "L", "casedletter": "LC", "uppercaseletter": "Lu", "lowercaseletter": "Ll", "titlecaseletter": "Lt",
    "modifierletter": "Lm", "otherletter": "Lo", "mark": "M", "combiningmark": "M", "nonspacingmark": "Mn", "spacingmark": "Mc",
    "enclosingmark": "Me", "number": "N", "decimalnumber": "Nd", "digit": "Nd", "letternumber": "Nl", "othernumber": "No",
    "punctuation": "P", "punct": "P", "connectorpunctuation": "Pc", "dashpunctuation": "Pd", "openpunctuation": "Ps",
    "closepunctuation": "Pe", "initialpunctuation": "Pi", "finalpunctuation": "Pf", "otherpunctuation": "Po", "symbol": "S",
    "mathsymbol": "Sm", "currencysymbol": "Sc", "modifiersymbol": "Sk", "othersymbol": "So", "separator": "Z", "spaceseparator": "Zs",
    "lineseparator": "Zl", "paragraphseparator": "Zp", "other": "C", "control": "Cc", "cntrl": "Cc", "format": "Cf", "surrogate": "Cs",
    "privateuse": "Co", "unassigned": "Cn",
}  # fmt: skip


class NotExpressible(Exception):
    """The pattern is beyond what an automaton of characters can say; the caller falls back to `regex`."""


def _categories(names: list[str]) -> CharSet:
    """The set of all characters whose category is one of the two-letter names."""
    bits = sum(1 << CATEGORIES.index(name) for name in names)
    return ("props", bits | bits << 32)


def one_of(text: str) -> CharSet:
    """The set of the characters of a str."""
    return ("or", *(("range", ord(c), ord(c)) for c in text))


EMPTY: CharSet = ("or",)
ANY: CharSet = ("not", EMPTY)
SPACE: CharSet = ("props", (1 << 64) - (1 << 32))
DIGIT = _categories(["Nd"])
NEWLINE = one_of("\n")
# Alphabetic characters outside L, M and Nl: letters in circles and squares. Then the two join controls.
_WORD_EXTRA = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189), (0x200C, 0x200D))
WORD: CharSet = (
    "or",
    _categories([c for c in CATEGORIES if c[0] in "LM"] + ["Nd", "Nl", "Pc"]),
    *(("range", a, b) for a, b in _WORD_EXTRA),
)
# Script=Han of Unicode 16.0.
_HAN = (
    (0x2E80, 0x2E99), (0x2E9B, 0x2EF3), (0x2F00, 0x2FD5), (0x3005, 0x3005), (0x3007, 0x3007), (0x3021, 0x3029), (0x3038, 0x303B),
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFA6D), (0xFA70, 0xFAD9), (0x16FE2, 0x16FE3), (0x16FF0, 0x16FF1), (0x20000, 0x2A6DF),
    (0x2A700, 0x2B739), (0x2B740, 0x2B81D), (0x2B820, 0x2CEA1), (0x2CEB0, 0x2EBE0), (0x2EBF0, 0x2EE5D), (0x2F800, 0x2FA1D),
    (0x30000, 0x3134A), (0x31350, 0x323AF),
)  # fmt: skip


def named_property(name: str) -> CharSet:
    """The set for what stands inside ``\\p{...}``; a leading ``^`` negates."""
    if name.startswith("^"):
        return ("not", named_property(name[1:]))
    plain = "".join(c for c in name.lower() if c not in " _-")
    for prefix in ("gc=", "generalcategory="):
        plain = plain.removeprefix(prefix)
    for prefix in ("sc=", "script="):
        if plain.startswith(prefix) and plain[len(prefix) :] not in ("han", "hani"):
            raise NotExpressible(f"\\p{{{name}}}")
        plain = plain.removeprefix(prefix)
    if plain in ("han", "hani"):
        return ("or", *(("range", a, b) for a, b in _HAN))
    if plain in ("whitespace", "wspace", "space"):
        return SPACE
    if plain == "any":
        return ANY
    plain = LONG_NAMES.get(plain, plain).capitalize()
    if plain in ("Lc", "L&"):
        return _categories(["Lu", "Ll", "Lt"])
    names = [c for c in CATEGORIES if plain and c.startswith(plain)]
    if not names:
        raise NotExpressible(f"\\p{{{name}}}")
    return _categories(names)


_CASED = sum(1 << CATEGORIES.index(c) for c in ("Lu", "Ll", "Lt", "Mn"))
_MAY_HAVE_CASE = ("Lu", "Ll", "Lt", "Nl", "So", "Mn")


def fold(s: CharSet) -> CharSet:
    """A set closed under simple case folding, for ``(?i)``. Only what needs no folding tables: ASCII letters and caseless characters."""
    if s[0] in ("or", "and", "not"):
        return (s[0], *map(fold, s[1:]))
    if s[0] == "props":
        low = s[1] & _CASED
        if low not in (0, _CASED):
            raise NotExpressible("a letter case category under (?i)")
        return s
    first, last = s[1:]
    if last >= 128 and any(property_set(max(first, 128), last + 1) & (1 << CATEGORIES.index(c)) for c in _MAY_HAVE_CASE):
        raise NotExpressible("a letter beyond ASCII under (?i)")
    letters = {chr(c) for c in range(first, min(last, 127) + 1) if chr(c).isalpha()}
    more = {c.swapcase() for c in letters} | {"\u017f" for c in letters if c in "sS"} | {"\u212a" for c in letters if c in "kK"}
    return ("or", s, one_of("".join(sorted(more)))) if more else s


def _cuts(s: CharSet) -> Iterator[int]:
    """Yield the code points at which membership by range may change."""
    if s[0] == "range":
        yield s[1]
        yield s[2] + 1
    elif s[0] != "props":
        for part in s[1:]:
            yield from _cuts(part)


class Universe:
    """All scalar values as atoms ``(first, last + 1, property byte)``; every ASCII character is an atom of its own.

    Attributes
    ----------
    segments
        The stretches between cuts beyond ASCII, ascending.
    atoms
        The atoms; ASCII character c is atom c.
    everything
        The set of all atoms.
    """

    def __init__(self, sets: list[CharSet]) -> None:
        cuts = {0x80, 0x110000, *(c for s in sets for c in _cuts(s) if 0x80 < c < 0x110000)}
        bounds = sorted(cuts)
        self.segments = list(pairwise(bounds))
        self.atoms: list[tuple[int, int, int]] = []
        for lo, hi in [(c, c + 1) for c in range(128)] + self.segments:
            found = property_set(lo, hi)
            self.atoms += [(lo, hi, p) for p in range(64) if found >> p & 1]
        self.everything = (1 << len(self.atoms)) - 1
        self._firsts = [lo for lo, _, _ in self.atoms]
        self._lasts = [hi - 1 for _, hi, _ in self.atoms]
        flags: dict[int, bytearray] = {}
        for i, (_, _, p) in enumerate(self.atoms):
            flags.setdefault(p, bytearray(len(self.atoms) // 8 + 1))[i >> 3] |= 1 << (i & 7)
        self._with_property = {p: int.from_bytes(bits, "little") for p, bits in flags.items()}

    def members(self, s: CharSet) -> int:
        """The atoms of a set, as bits."""
        kind = s[0]
        if kind == "range":
            first, last = bisect_left(self._firsts, s[1]), bisect_right(self._lasts, s[2])
            return (1 << last) - (1 << first) if first < last else 0
        if kind == "props":
            return sum(bits for p, bits in self._with_property.items() if s[1] >> p & 1)
        if kind == "not":
            return self.everything & ~self.members(s[1])
        if kind == "or":
            result = 0
            for part in s[1:]:
                result |= self.members(part)
            return result
        result = self.everything
        for part in s[1:]:
            result &= self.members(part)
        return result
