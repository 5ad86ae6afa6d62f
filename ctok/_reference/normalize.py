"""Normalizers, plainly: a text as a list of characters that know which bytes of the original they come from.

This is what the kernel must equal, written to be read. What single characters are (decompositions, classes, sets) is given from outside as
`Facts`: the reference library's own Unicode versions are frozen in the kernel's tables, and a second copy here would be no second opinion.

Steps are the tuples of `ctok._native.normalize.Normalizer`. A character has two origins: all that it was made from, and what the reference
library says, which is one of the old characters (see `settle` and `replace`).
"""

from __future__ import annotations

from functools import reduce

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Span = tuple[int, int]
    Origin = tuple[Span, Span]
    Item = tuple[str, Origin]

# Bits of a character.
MARK, MN, BERT_DROP, BERT_SPACE, NMT_DROP, NMT_SPACE, WHITE, CJK = (1 << i for i in range(8))
PICTOGRAPH, LINKER, CONSONANT, INCB_EXTEND = (1 << i for i in range(14, 18))
OTHER, CR, LF, CONTROL, EXTEND, ZWJ, PREPEND, SPACING, L, V, T, LV, LVT = range(13)
HANGUL_FOLLOWS = {L: {L, V, LV, LVT}, V: {V, T}, LV: {V, T}, T: {T}, LVT: {T}}


class Facts:
    """What is known of characters.

    Parameters
    ----------
    character
        Code point -> (NFD, NFKD, lower case, combining class, bits).
    compose
        Two characters -> the one they compose to, or None.
    """

    def __init__(self, character: Callable[[int], tuple[str, str, str, int, int]], compose: Callable[[str, str], str | None]) -> None:
        self._character = character
        self.compose = compose

    def decompose(self, char: str, compat: bool) -> str:
        index = ord(char) - 0xAC00
        if 0 <= index < 11172:
            lead, vowel, tail = index // 588, index // 28 % 21, index % 28
            return chr(0x1100 + lead) + chr(0x1161 + vowel) + (chr(0x11A7 + tail) if tail else "")
        nfd, nfkd, *_ = self._character(ord(char))
        return nfkd if compat else nfd

    def lower(self, char: str) -> str:
        return self._character(ord(char))[2]

    def combining_class(self, char: str) -> int:
        return self._character(ord(char))[3]

    def bits(self, char: str) -> int:
        return self._character(ord(char))[4]


def normalize(text: str, steps: tuple[tuple[Any, ...], ...], facts: Facts) -> list[Item]:
    """Return the new characters, each with the bytes (start, end) of the original that it comes from: truly and by the reference."""
    items: list[Item] = []
    at = 0
    for char in text:
        size = len(char.encode())
        items.append((char, ((at, at + size), (at, at + size))))
        at += size
    for kind, *given in steps:
        items = STEPS[kind](items, facts, *given)
    return items


# ---- forms ----

NOTHING = ((0, 0), (0, 0))


def join(first: Span, second: Span) -> Span:
    return min(first[0], second[0]), max(first[1], second[1])


# A character, its change (1 new, 0 for one old character, -k for k more), and what it was made from.
if TYPE_CHECKING:
    Part = tuple[str, int, Span]


def form(items: list[Item], facts: Facts, compat: bool, composed: bool) -> list[Item]:
    parts = [(char, int(i > 0), origin[0]) for old, origin in items for i, char in enumerate(facts.decompose(old, compat))]
    parts = order(parts, facts)
    return settle(compose(parts, facts) if composed else parts, items)


def order(parts: list[Part], facts: Facts) -> list[Part]:
    """Marks side by side in ascending order of their classes."""
    done: list[Part] = []
    row: list[Part] = []
    for part in parts:
        if facts.combining_class(part[0]):
            row.append(part)
        else:
            done += sorted(row, key=lambda mark: facts.combining_class(mark[0]))
            done.append(part)
            row = []
    return done + sorted(row, key=lambda mark: facts.combining_class(mark[0]))


def compose(parts: list[Part], facts: Facts) -> list[Part]:
    """Each character joins the last starter if they compose and nothing between them stands in the way."""
    done: list[Part] = []
    starter = -1
    for char, change, span in parts:
        cls = facts.combining_class(char)
        between = done[starter + 1 :]
        reachable = starter >= 0 and (not between or 0 < facts.combining_class(between[-1][0]) < cls)
        whole = facts.compose(done[starter][0], char) if reachable else None
        if whole:
            done[starter] = (whole, done[starter][1] + change - 1, join(done[starter][2], span))
            continue
        if cls == 0:
            starter = len(done)
        done.append((char, change, span))
    return done


def settle(parts: list[Part], old: list[Item]) -> list[Item]:
    """By the reference a character that stands for old ones takes the first one's origin; a new one that of the old character before it."""
    made: list[Item] = []
    at = 0
    for char, change, span in parts:
        counted = old[at - (change > 0)][1][1] if at or change <= 0 else (0, 0)
        made.append((char, (span, counted)))
        at += 0 if change > 0 else 1 - change
    return made


# ---- characters by themselves ----


def lowercase(items: list[Item], facts: Facts) -> list[Item]:
    return [(char, origin) for old, origin in items for char in facts.lower(old)]


def clean(items: list[Item], facts: Facts, drop: int, space: int = 0) -> list[Item]:
    return [(" " if facts.bits(char) & space else char, origin) for char, origin in items if not facts.bits(char) & drop]


def set_apart(items: list[Item], facts: Facts) -> list[Item]:
    return [(char, origin) for old, origin in items for char in (f" {old} " if facts.bits(old) & CJK else old)]


def visible(byte: int) -> str:
    """The character that stands for a byte: itself where it can be seen, else the next free one from U+0100 on."""
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [b for b in range(256) if b not in seen]
    return chr(byte if byte in seen else 0x100 + hidden.index(byte))


def byte_level(items: list[Item], facts: Facts) -> list[Item]:
    return [(visible(byte), origin) for char, origin in items for byte in char.encode()]


# ---- ends, and texts for texts ----


def strip(items: list[Item], facts: Facts, left: bool, right: bool) -> list[Item]:
    first, stop = 0, len(items)
    while left and first < stop and facts.bits(items[first][0]) & WHITE:
        first += 1
    while right and first < stop and facts.bits(items[stop - 1][0]) & WHITE:
        stop -= 1
    return items[first:stop]


def prepend(items: list[Item], facts: Facts, content: str) -> list[Item]:
    if not items:
        return items
    if not content:
        return [(items[0][0], (items[0][1][0], (0, 0))), *items[1:]]
    return [(char, items[0][1]) for char in content] + items


def replace(items: list[Item], matches: list[tuple[int, int]], content: str) -> list[Item]:
    """New characters come from all that is replaced, by the reference from its last character; where nothing is, from the one before."""
    made: list[Item] = []
    at = 0
    for start, stop in matches:
        made += items[at:start]
        origin = made[-1][1] if made else NOTHING
        if stop > start:
            origin = reduce(join, [old[0] for _, old in items[start:stop]]), items[stop - 1][1][1]
        made += [(char, origin) for char in content]
        at = stop
    return made + items[at:]


def text_of(items: list[Item]) -> str:
    return "".join([char for char, _ in items])


def literal(items: list[Item], facts: Facts, pattern: str, content: str) -> list[Item]:
    text, at, found = text_of(items), 0, []
    while (at := text.find(pattern, at)) >= 0:
        found.append((at, at + len(pattern)))
        at += len(pattern)
    return replace(items, found, content)


def run(items: list[Item], facts: Facts, char: str, least: int, content: str) -> list[Item]:
    text, at, found = text_of(items), 0, []
    while at < len(text):
        stop = at
        while stop < len(text) and text[stop] == char:
            stop += 1
        if stop - at >= least:
            found.append((at, stop))
        at = max(stop, at + 1)
    return replace(items, found, content)


def by_machine(items: list[Item], facts: Facts, machine: Any, content: str) -> list[Item]:
    """Any object whose `spans` gives what it matches in a text, in bytes."""
    text = text_of(items)
    spans = [(len(text.encode()[:a].decode()), len(text.encode()[:b].decode())) for a, b in machine.spans(text)[0]]
    return replace(items, spans, content)


def by_function(items: list[Item], facts: Facts, function: Callable[[str], list[tuple[int, int]]], content: str) -> list[Item]:
    return replace(items, function(text_of(items)) if items else [], content)


# ---- SentencePiece's table, cluster by cluster ----


def clusters(text: str, facts: Facts) -> Iterator[str]:
    """Cut a text into grapheme clusters by the rules of Unicode's annex 29 (flags aside: see the kernel)."""
    open_ = ""
    pictures = conjunct = 0
    for char in text:
        bits = facts.bits(char)
        if open_ and not _goes_on(facts.bits(open_[-1]), bits, pictures, conjunct):
            yield open_
            open_ = ""
            pictures = conjunct = 0
        kind = bits >> 18
        pictures = 1 if bits & PICTOGRAPH else 2 if pictures == 1 and kind == ZWJ else 1 if pictures == 1 and kind == EXTEND else 0
        conjunct = 1 if bits & CONSONANT else 2 if conjunct and bits & LINKER else conjunct if bits & INCB_EXTEND else 0
        open_ += char
    if open_:
        yield open_


def _goes_on(last_bits: int, bits: int, pictures: int, conjunct: int) -> bool:
    last, kind = last_bits >> 18, bits >> 18
    if last == CR:
        return kind == LF
    if last in (LF, CONTROL) or kind in (CR, LF, CONTROL):
        return False
    if kind in (EXTEND, ZWJ, SPACING) or last == PREPEND or kind in HANGUL_FOLLOWS.get(last, ()):
        return True
    return bool((pictures == 2 and bits & PICTOGRAPH) or (conjunct == 2 and bits & CONSONANT))


class Charsmap:
    """The table's data: length of a trie, its units, the new texts."""

    def __init__(self, data: bytes) -> None:
        size = int.from_bytes(data[:4], "little") // 4
        self.units = [int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "little") for i in range(size)]
        self.texts = data[4 + 4 * size :]

    def keys(self, data: bytes) -> Iterator[tuple[int, str]]:
        """Each key that `data` begins with, shortest first: (its bytes, its new text)."""
        at = self._children(0, self.units[0])
        for i, byte in enumerate(data):
            node = at ^ byte
            if byte == 0 or node >= len(self.units) or self.units[node] & 0x800000FF != byte:
                return
            at = self._children(node, self.units[node])
            if self.units[node] >> 8 & 1:
                place = self.units[at] & 0x7FFFFFFF
                yield i + 1, self.texts[place : self.texts.index(b"\0", place)].decode()

    @staticmethod
    def _children(node: int, unit: int) -> int:
        return int(node ^ (unit >> 10 << ((unit & 0x200) >> 6)))

    def shortest(self, text: str) -> str | None:
        return next((new for _, new in self.keys(text.encode())), None)


def charsmap(items: list[Item], facts: Facts, data: bytes) -> list[Item]:
    table = Charsmap(data)
    parts: list[Part] = []
    at, old = 0, items[:0]
    for cluster in clusters(text_of(items), facts):
        at, old = at + len(old), items[at + len(old) : at + len(old) + len(cluster)]
        new = table.shortest(cluster) if len(cluster.encode()) < 6 else None
        if new is not None:
            substitute(parts, old, new)
            continue
        for item in old:
            new = table.shortest(item[0])
            substitute(parts, [item], item[0] if new is None else new)
    return settle(parts, items)


def substitute(parts: list[Part], old: list[Item], new: str) -> None:
    """New characters too many are inserted behind the others; old ones too many go with the last new one, there with the last so far."""
    spans = [origin[0] for _, origin in old]
    parts += [(char, int(i >= len(old)), spans[min(i, len(old) - 1)]) for i, char in enumerate(new)]
    if len(new) < len(old) and parts:
        char, change, span = parts[-1]
        parts[-1] = (char, change - (len(old) - len(new)), join(span, spans[-1]) if new else span)


STEPS: dict[str, Callable[..., list[Item]]] = {
    "nfc": lambda items, facts: form(items, facts, False, True),
    "nfd": lambda items, facts: form(items, facts, False, False),
    "nfkc": lambda items, facts: form(items, facts, True, True),
    "nfkd": lambda items, facts: form(items, facts, True, False),
    "lowercase": lowercase,
    "strip_accents": lambda items, facts: clean(items, facts, MARK),
    "bert_accents": lambda items, facts: clean(items, facts, MN),
    "nmt": lambda items, facts: clean(items, facts, NMT_DROP, NMT_SPACE),
    "bert_clean": lambda items, facts: clean(items, facts, BERT_DROP, BERT_SPACE),
    "bert_cjk": set_apart,
    "byte_level": byte_level,
    "strip": strip,
    "prepend": prepend,
    "literal": literal,
    "run": run,
    "pattern": by_machine,
    "matches": by_function,
    "charsmap": charsmap,
}
