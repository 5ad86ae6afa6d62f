"""From a pattern in the syntax of Oniguruma, which tokenizer.json files use, to the dialect of this package.

Most patterns are written alike in both. What is written differently is respelled: ``$`` and ``^`` mean lines, ``(?m)`` is what others call
``(?s)``, ``{n,m}+`` repeats a repetition, ``\\w`` has other members. What has no counterpart here, or whose members are not known for
Oniguruma's version of Unicode, is refused by name.
"""

from ...errors import PatternError
from .cursor import Cursor

__all__ = ["translate"]

# Its \w between brackets: letters, marks, decimal and letter numbers, connectors, letters in circles and squares. Outside of brackets it
# has the digits of Latin-1 that are no decimal digits as well.
WORD = r"\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24b6}-\x{24e9}\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189}"
W = WORD + r"\x{b2}\x{b3}\x{b9}\x{bc}-\x{be}"
HEX = "0-9a-fA-F"
POSIX = {
    "digit": r"\p{Nd}", "space": r"\s", "cntrl": r"\p{Cc}", "blank": r"\t\p{Zs}", "punct": r"\p{P}\p{S}", "xdigit": HEX, "word": WORD,
}  # fmt: skip
# Names of properties with the same members in this dialect; all others are scripts and the like, for `regex`.
UNSURE = {"alpha", "alnum", "upper", "lower", "graph", "print", "xposixpunct", "uppercase", "lowercase", "alphabetic"}
FOLDED_PAIRS = {"ss", "ff", "fi", "fl", "st"}


def translate(pattern: str) -> str:
    """Return the pattern in the dialect of `parse` and `rewrite`.

    Raises
    ------
    PatternError
        It uses what cannot be respelled; the message says what.
    """
    return _Translator(pattern).run()


class _Translator(Cursor):
    """One pass over the pattern. `out` is the result so far; `atom` is where its last item starts there, or -1."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.out: list[str] = []
        self.atom = -1
        # For each open group: where it starts in `out`, what closes it, and whether case was ignored before it.
        self.groups: list[tuple[int, str, bool]] = []
        self.closing = ""
        self.ignore_case = False
        self.letter = ""  # the last literal, for foldings of two characters

    def refuse(self, what: str) -> PatternError:
        return PatternError(f"split pattern {self.text!r}: {what} is not supported", pattern=self.text)

    def next(self) -> str:
        if self.at >= len(self.text):
            raise self.refuse("an unfinished item")
        self.at += 1
        return self.text[self.at - 1]

    def until(self, stop: str) -> str:
        end = self.text.find(stop, self.at)
        if end < 0:
            raise self.refuse(f"a missing {stop}")
        found = self.text[self.at : end]
        self.at = end + 1
        return found

    def run(self) -> str:
        while self.at < len(self.text):
            char = self.next()
            if char == "(":
                self.open()
            elif char == ")":
                self.close()
            elif char == "|":
                self.out.append("|")
                self.atom, self.letter = -1, ""
            elif char in "*+?" and self.atom >= 0:
                self.repeat(char)
            elif char == "{" and self.atom >= 0 and (bounds := self.bounds()):
                self.repeat(bounds)
            else:
                self.item(char)
        if self.groups:
            raise self.refuse("a missing )")
        return "".join(self.out) + self.closing

    def add(self, item: str) -> None:
        self.atom = len(self.out)
        self.out.append(item)

    def item(self, char: str) -> None:
        previous, self.letter = self.letter, ""
        if char == "\\":
            self.add(self.escape())
        elif char == "[":
            self.add(self.bracket())
        elif char == "^":
            self.add(r"(?:(?<=\n)(?!\z)|\A)")
        elif char == "$":
            self.add(r"(?=\n|\z)")
        elif char in "{}]":
            self.add("\\" + char)
        else:
            if self.ignore_case and (previous + char).lower() in FOLDED_PAIRS:
                raise self.refuse(f"{previous + char} under (?i)")
            self.letter = char if char != "." else ""
            self.add(char)

    # ---- repetition ----

    def bounds(self) -> str:
        """Read what follows a brace; "" when it is no quantifier, and then nothing is read."""
        end = self.text.find("}", self.at)
        least, comma, most = self.text[self.at : max(end, self.at)].partition(",")
        digits = (least + most).isascii() and (least + most).isdigit()
        if end < 0 or not digits or (not comma and most) or (least and most and int(least) > int(most)):
            return ""
        self.at = end + 1
        return "{" + (least or "0") + comma + most + "}"

    def repeat(self, sign: str) -> None:
        if self.out[self.atom] in (r"(?=\n|\z)",) or self.out[self.atom].startswith("(?:(?<=\\n)"):
            raise self.refuse("a repeated anchor")
        lazy = self.comes("?") and (sign in "*+?" or "," in sign)
        suffix = "?" if lazy else "+" if self.comes("+") and sign in "*+?" else ""
        self.at += len(suffix)
        self.out[self.atom :] = ["".join(self.out[self.atom :]) + sign + suffix]
        if self.text[self.at : self.at + 1] in ("*", "+", "?", "{") and self.at < len(self.text):
            self.out[self.atom] = f"(?:{self.out[self.atom]})"
        self.letter = ""

    # ---- groups ----

    def open(self) -> None:
        start, before = len(self.out), self.ignore_case
        self.letter = ""
        if self.skip("?#"):
            self.until(")")
            return
        if not self.comes("?"):
            self.out.append("(")
        elif any(self.skip(sign) for sign in ("?:", "?=", "?!", "?<=", "?<!", "?>")):
            begin = self.text.rfind("(", 0, self.at)
            self.out.append(self.text[begin : self.at])
        elif self.skip("?<") and self.text[self.at : self.at + 1].isalpha():
            self.out.append(f"(?P<{self.until('>')}>")
        else:
            self.at += self.comes("?")
            flags, sign = self.flags()
            if sign == ")":  # holds to the end of the group around it, its alternatives included
                self.out.append(f"(?{flags}:")
                self.closing += ")"
                self.atom = -1
                return
            self.out.append(f"(?{flags}:")
        self.groups.append((start, self.closing, before))
        self.closing = ""
        self.atom = -1

    def flags(self) -> tuple[str, str]:
        on, flags = True, ""
        while (char := self.next()) not in ":)":
            if char == "-":
                on = False
                flags += "-"
            elif char == "i":
                self.ignore_case = on
                flags += "i"
            elif char == "m":
                flags += "s"
            else:
                raise self.refuse(f"the group (?{char}")
        return flags, char

    def close(self) -> None:
        if not self.groups:
            raise self.refuse("an unbalanced )")
        self.out.append(self.closing + ")")
        start, self.closing, self.ignore_case = self.groups.pop()
        self.out[start:] = ["".join(self.out[start:])]
        self.atom, self.letter = start, ""

    # ---- characters ----

    def escape(self) -> str:
        """What follows a backslash outside of brackets."""
        char = self.next()
        whole = {
            "w": f"[{W}]", "W": f"[^{W}]", "h": f"[{HEX}]", "H": f"[^{HEX}]", "N": r"[^\n]", "O": r"(?s:.)", "e": r"\x{1b}", "z": r"\z",
            "A": r"\A", "Z": r"(?=\n?\z)", "R": r"(?>\r\n|[\n-\r\x{85}\x{2028}\x{2029}])",
            "b": f"(?:(?<=[{W}])(?![{W}])|(?<![{W}])(?=[{W}]))", "B": f"(?:(?<=[{W}])(?=[{W}])|(?<![{W}])(?![{W}]))",
        }  # fmt: skip
        return whole[char] if char in whole else self.plain_escape(char)

    def plain_escape(self, char: str, word: str = W) -> str:
        """An escape that means the same inside and outside of brackets."""
        if char in "pP":
            if not self.skip("{"):
                raise self.refuse("\\p without braces")
            name = self.until("}")
            plain = "".join(c for c in name.lower().lstrip("^") if c not in " _-")
            if plain == "word":
                return f"[^{word}]" if (char == "P") != name.startswith("^") else f"[{word}]"
            if plain in UNSURE:
                raise self.refuse(f"\\p{{{name}}}")
            return f"\\{char}{{{name}}}"
        if char in "xu":
            return self.code_point(char)
        if char in "sSdDntrfav":
            return "\\" + char
        if char in "123456789" and not self.text[self.at : self.at + 1].isdigit():
            return "\\" + char  # of a group, for `regex`
        if char.isalnum() or not char.isascii():
            raise self.refuse(f"\\{char}")
        return char if char in "<>" else "\\" + char

    def code_point(self, kind: str) -> str:
        if kind == "x" and self.skip("{"):
            digits = self.until("}")
        else:
            digits = self.text[self.at : self.at + (2 if kind == "x" else 4)]
            self.at += len(digits)
            if kind == "x" and (not digits or digits > "7f" or len(digits) < 2):
                raise self.refuse(f"\\x{digits}")
        if not digits or set(digits) - set("0123456789abcdefABCDEF"):
            raise self.refuse(f"\\{kind}{digits}")
        return f"\\x{{{digits}}}"

    def bracket(self) -> str:
        """What stands between [ and ], sets within it included."""
        out = ["[^" if self.skip("^") else "["]
        if self.skip("]"):
            out.append(r"\]")
        while (char := self.next()) != "]":
            if char == "[" and self.comes(":"):
                out.append(self.posix())
            elif char == "[":
                out.append(self.bracket())
            elif char == "\\":
                out.append(self.escape_in_bracket())
            elif char == "-" and self.comes("-"):
                raise self.refuse("-- between brackets")
            else:
                out.append("\\" + char if char in "|~" else char)
        return "".join(out) + "]"

    def posix(self) -> str:
        self.at += 1
        negative = self.skip("^")
        name = self.until(":")
        if name not in POSIX or not self.skip("]"):
            raise self.refuse(f"[:{name}:]")
        return f"[{'^' * negative}{POSIX[name]}]"

    def escape_in_bracket(self) -> str:
        char = self.next()
        inside = {"w": WORD, "W": f"[^{WORD}]", "h": HEX, "H": f"[^{HEX}]", "b": r"\x{8}", "e": r"\x{1b}"}
        return inside[char] if char in inside else self.plain_escape(char, WORD)
