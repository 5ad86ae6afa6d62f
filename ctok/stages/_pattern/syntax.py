"""From the text of a split pattern to a tree.

The dialect is what the Rust regex crates and the `regex` module agree on. Everything else raises `NotExpressible`, also what is malformed:
the fallback then decides whether it is a pattern at all.

A node is a tuple, one of

* ``("set", s)``                             one character of a set (charset.py)
* ``("cat", [node, ...])``, ``("alt", [node, ...])``
* ``("repeat", node, least, most, kind)``    most None: no bound; kind "greedy", "lazy" or "possessive"
* ``("ahead", s, end)``                      consumes nothing: the next character is in s, or the text ends and `end` is true
"""

from typing import Any

from .charset import ANY, DIGIT, EMPTY, NEWLINE, SPACE, WORD, CharSet, NotExpressible, fold, named_property, one_of
from .cursor import Cursor

__all__ = ["Node", "parse"]

Node = tuple[Any, ...]

CONTROL = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "a": "\a"}
SHORTHAND = {"s": SPACE, "d": DIGIT, "w": WORD}
MOST_REPEATS = 1000


def parse(pattern: str) -> Node:
    """Return the tree of a pattern."""
    parser = _Parser(pattern)
    tree = parser.alternation()
    if parser.at < len(pattern):
        raise NotExpressible("unbalanced )")
    return tree


class _Parser(Cursor):
    """Recursive descent."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.ignore_case = False
        self.dot_all = False

    def next(self) -> str:
        if self.at >= len(self.text):
            raise NotExpressible("the pattern ends too early")
        self.at += 1
        return self.text[self.at - 1]

    def until(self, stop: str) -> str:
        end = self.text.find(stop, self.at)
        if end < 0:
            raise NotExpressible(f"missing {stop}")
        found = self.text[self.at : end]
        self.at = end + 1
        return found

    def alternation(self) -> Node:
        branches = [self.concatenation()]
        while self.skip("|"):
            branches.append(self.concatenation())
        return branches[0] if len(branches) == 1 else ("alt", branches)

    def concatenation(self) -> Node:
        parts = []
        while self.text[self.at : self.at + 1] not in ("", "|", ")"):
            node = self.atom()
            if node is not None:
                parts.append(self.repetition(node))
        return parts[0] if len(parts) == 1 else ("cat", parts)

    def repetition(self, node: Node) -> Node:
        bounds = self.bounds()
        if bounds is None:
            return node
        kind = "lazy" if self.skip("?") else "possessive" if self.skip("+") else "greedy"
        least, most = bounds
        if node[0] == "ahead" or self.bounds() is not None:
            raise NotExpressible("a repeated repetition or look-ahead")
        if (most is not None and least > most) or max(least, most or 0) > MOST_REPEATS:
            raise NotExpressible("repeat bounds")
        return ("repeat", node, least, most, kind)

    def bounds(self) -> tuple[int, int | None] | None:
        """(least, most) when a quantifier comes next, else None."""
        for sign, found in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.skip(sign):
                return found
        if not self.skip("{"):
            return None
        least, comma, most = self.until("}").partition(",")
        if not (least.isascii() and least.isdigit() and (most == "" or (most.isascii() and most.isdigit()))):
            raise NotExpressible("a brace that is no quantifier")
        return int(least), int(most) if most else None if comma else int(least)

    def atom(self) -> Node | None:
        """One item; None for an inline flag, which is no item."""
        char = self.next()
        if char == "(":
            return self.group()
        if char == "[":
            return ("set", self.bracket())
        if char == ".":
            return ("set", ANY if self.dot_all else ("not", NEWLINE))
        if char == "$":
            return ("ahead", EMPTY, True)
        if char == "\\":
            if self.skip("z"):
                return ("ahead", EMPTY, True)
            return ("set", self.escape())
        if char in "^*+?{":
            raise NotExpressible(f"{char} here")
        return ("set", self.literal(char))

    def literal(self, char: str) -> CharSet:
        return fold(one_of(char)) if self.ignore_case else one_of(char)

    def group(self) -> Node | None:
        saved = self.ignore_case, self.dot_all
        node: Node
        if not self.skip("?"):
            node = self.body()
        elif self.comes("=") or self.comes("!"):
            node = self.look_ahead(self.next() == "!")
        elif self.skip("P<") or (self.comes("<") and not self.comes("<=") and not self.comes("<!") and self.skip("<")):
            self.until(">")
            node = self.body()
        else:
            flags = self.flags()
            if flags == ")":  # (?i) holds to the end of the group around it
                return None
            node = self.body()
        self.ignore_case, self.dot_all = saved
        return node

    def body(self) -> Node:
        node = self.alternation()
        if not self.skip(")"):
            raise NotExpressible("missing )")
        return node

    def flags(self) -> str:
        """Read ``i-s:`` and the like; returns the sign that ended it."""
        on = True
        while (char := self.next()) not in ":)":
            if char == "-":
                on = False
            elif char == "i":
                self.ignore_case = on
            elif char == "s":
                self.dot_all = on
            elif char != "u" or not on:
                raise NotExpressible(f"(?{char}")
        return char

    def look_ahead(self, negative: bool) -> Node:
        s, end = _one_character(self.body())
        return ("ahead", ("not", s), not end) if negative else ("ahead", s, end)

    def escape(self) -> CharSet:
        """The set for what follows a backslash."""
        char = self.next()
        if char in CONTROL:
            return one_of(CONTROL[char])
        if char in "xuU":
            return self.literal(self.code_point(char))
        if char.lower() in SHORTHAND:
            return self.shorthand(SHORTHAND[char.lower()], char.isupper())
        if char in "pP":
            name = self.until("}") if self.skip("{") else self.next()
            return self.shorthand(named_property(name), char == "P")
        if char.isalnum() or char in "<>" or not char.isascii():
            raise NotExpressible(f"\\{char}")
        return one_of(char)

    def shorthand(self, s: CharSet, negative: bool) -> CharSet:
        if self.ignore_case and s is not WORD:
            s = fold(s)
        return ("not", s) if negative else s

    def code_point(self, kind: str) -> str:
        digits = self.until("}") if self.skip("{") else "".join(self.next() for _ in range({"x": 2, "u": 4, "U": 8}[kind]))
        try:
            code = int(digits, 16)
        except ValueError:
            raise NotExpressible("a code point") from None
        if code > 0x10FFFF or 0xD800 <= code < 0xE000:
            raise NotExpressible("a code point")
        return chr(code)

    def bracket(self) -> CharSet:
        """What stands between [ and ]: a union, and unions joined by &&."""
        negative = self.skip("^")
        operands: list[CharSet] = []
        items: list[CharSet] = []
        if self.skip("]"):
            items.append(one_of("]"))
        while not self.skip("]"):
            if self.skip("&&"):
                operands.append(("or", *items))
                items = []
            else:
                items.append(self.bracket_item())
        operands.append(("or", *items))
        if len(operands) > 1 and not all(len(s) > 1 for s in operands):
            raise NotExpressible("an empty side of &&")
        s = operands[0] if len(operands) == 1 else ("and", *operands)
        return ("not", s) if negative else s

    def bracket_item(self) -> CharSet:
        for sign in ("[:", "--", "~~", "||"):
            if self.comes(sign):
                raise NotExpressible(f"{sign} in a class")
        first = self.bracket_char()
        if not isinstance(first, str):
            return first
        if not self.comes("-") or self.text.startswith("]", self.at + 1):
            return self.literal(first)
        self.at += 1
        last = self.bracket_char()
        if not isinstance(last, str) or last < first:
            raise NotExpressible("a range in a class")
        s = ("range", ord(first), ord(last))
        return fold(s) if self.ignore_case else s

    def bracket_char(self) -> str | CharSet:
        """A character (str), or a set."""
        char = self.next()
        if char == "[":
            return self.bracket()
        if char != "\\":
            return char
        start = self.at
        char = self.next()
        if char in CONTROL:
            return CONTROL[char]
        if char in "xuU":
            return self.code_point(char)
        if char.isascii() and not char.isalnum() and char not in "<>":
            return char
        self.at = start
        return self.escape()


def _one_character(node: Node) -> tuple[CharSet, bool]:
    """(set, end) of a look-ahead body that decides by the next character or the end of the text."""
    if node[0] == "set":
        return node[1], False
    if node[0] == "ahead":
        return node[1], node[2]
    if node[0] == "alt":
        parts = [_one_character(branch) for branch in node[1]]
        return ("or", *(s for s, _ in parts)), any(end for _, end in parts)
    raise NotExpressible("a look-ahead of more than one character")
