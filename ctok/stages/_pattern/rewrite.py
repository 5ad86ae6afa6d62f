"""From a split pattern to the text with which the `regex` module means the same, on Unicode 16.0.

Classes by property are written out as ranges, since the module's own tables follow its version; what the two dialects spell
differently (``$``, ``\\z``, ``\\h``, ``\\x{..}``) is respelled. Properties for which there is no table here, such as scripts other than
Han, are left to `regex`.
"""

import re

from ..._native.split import property_ranges
from .charset import DIGIT, SPACE, WORD, CharSet, NotExpressible, named_property

__all__ = ["rewrite"]

SHORTHAND: dict[str, CharSet] = {
    "s": SPACE,
    "d": DIGIT,
    "w": WORD,
    "h": ("or", ("range", 0x30, 0x39), ("range", 0x41, 0x46), ("range", 0x61, 0x66)),
}
_ENDS = {"z": r"\Z", "Z": r"(?=\n?\Z)"}


def rewrite(pattern: str) -> tuple[str, bool]:
    """Return ``(text, nested)``: the pattern for `regex`, and whether it needs sets within sets (flag V1)."""
    return _Rewriter(pattern).run()


class _Rewriter:
    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.at = 0
        self.depth = 0  # of brackets
        self.nested = False
        self.multiline = bool(re.search(r"\(\?[a-z]*m[a-z-]*[:)]", pattern))

    def run(self) -> tuple[str, bool]:
        out = []
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == "\\":
                out.append(self.escape())
            elif char == "[":
                out.append(self.opened())
            elif char == "]" and self.depth:
                self.depth -= 1
                out.append("]")
            elif char == "$" and not self.depth and not self.multiline:
                out.append(r"\Z")
            else:
                self.nested |= self.depth > 0 and char == "&" and self.text.startswith("&", self.at)
                out.append(char)
        return "".join(out), self.nested

    def opened(self) -> str:
        if self.text.startswith(":", self.at) and self.depth:  # [:alpha:]
            return "["
        self.nested |= self.depth > 0
        self.depth += 1
        start = self.at
        for sign in "^]":  # a ] at the start is an ordinary character
            if self.text.startswith(sign, self.at):
                self.at += 1
        return "[" + self.text[start : self.at].replace("]", r"\]")

    def escape(self) -> str:
        char = self.text[self.at : self.at + 1]
        self.at += 1
        if char in "pP" and char:
            return self.by_property(char == "P")
        if char.lower() in SHORTHAND:
            return self.inline(SHORTHAND[char.lower()], char.isupper())
        if char in ("x", "u") and self.text.startswith("{", self.at):
            return self.code_point(char)
        if not self.depth and char in ("b", "B"):
            word = "[" + _ranges_text(WORD) + "]"
            pairs = (("=", "!"), ("!", "=")) if char == "b" else (("=", "="), ("!", "!"))
            return "(?:" + "|".join(f"(?<{a}{word})(?{b}{word})" for a, b in pairs) + ")"
        if not self.depth and char in _ENDS:
            return _ENDS[char]
        return "\\" + char

    def by_property(self, negative: bool) -> str:
        start = self.at
        end = self.text.find("}", start) if self.text.startswith("{", start) else start
        name = self.text[start : end + 1].strip("{}")
        self.at = max(end, start) + 1
        try:
            return self.inline(named_property(name), negative)
        except NotExpressible:
            return ("\\P" if negative else "\\p") + self.text[start : self.at]

    def code_point(self, kind: str) -> str:
        end = self.text.find("}", self.at)
        digits = self.text[self.at + 1 : end]
        if end < 0 or not 0 < len(digits) <= 8 or set(digits) - set("0123456789abcdefABCDEF"):
            return "\\" + kind
        self.at = end + 1
        return f"\\U{int(digits, 16):08x}"

    def inline(self, s: CharSet, negative: bool) -> str:
        text = _ranges_text(("not", s) if negative else s)
        return text if self.depth else f"[{text}]"


def _ranges_text(s: CharSet) -> str:
    return "".join(f"\\U{a:08x}" if a == b else f"\\U{a:08x}-\\U{b:08x}" for a, b in _intervals(s))


def _intervals(s: CharSet) -> list[tuple[int, int]]:
    """The code points of a set as ascending (first, last) pairs that do not touch."""
    if s[0] == "range":
        return [(s[1], s[2])]
    if s[0] == "props":
        return property_ranges(s[1])
    if s[0] == "not":
        edges = [-1, *(edge for pair in _intervals(s[1]) for edge in pair), 0x110000]
        return [(a + 1, b - 1) for a, b in zip(edges[::2], edges[1::2]) if a + 1 < b]
    merged: list[tuple[int, int]] = []
    for a, b in sorted(pair for part in s[1:] for pair in _intervals(part)):
        if merged and a <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(b, merged[-1][1]))
        else:
            merged.append((a, b))
    return merged
