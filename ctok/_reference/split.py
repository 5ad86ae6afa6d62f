"""The split rules in plain Python: what csrc/ctok_dfa.c answers, said as simply as it can be. Slow; for tests and for reading.

A split rule is a pattern; its pretokens are the non-overlapping matches from left to right, as the `regex` module finds them. Text that
matches nothing belongs to no pretoken. While the text is still arriving, a pretoken may stop at any place where it would stop with *some*
continuation: that sentence, taken by its word, is the whole streaming contract, and `stops` takes it by its word.
"""

import re
from functools import lru_cache
from itertools import product

__all__ = ["compile_explicit", "spans", "stops"]

_TOKEN = re.compile(r"\\[pP]\{\w+\}|\\.|\[\^?|.", re.S)


def compile_explicit(pattern, category, is_space):
    """Compile a pattern with its classes ``\\p{..} \\P{..} \\s \\S \\d \\D`` written out.

    Parameters
    ----------
    category, is_space
        Functions of a code point: its general category, and whether it is white space. They fix the version of Unicode.
    """
    import regex

    out, inside = [], False
    for token in _TOKEN.findall(pattern):
        if token.startswith("["):
            inside = True
        elif token == "]":
            inside = False
        elif token[0] == "\\" and token[1] in "pPsSdD":
            token = _ranges(token[1].lower() + token[3:-1], token[1].isupper(), category, is_space)
            token = token if inside else f"[{token}]"
        elif token == "$" and not inside:
            token = r"\Z"
        out.append(token)
    return regex.compile("".join(out))


@lru_cache(maxsize=200)
def _ranges(name, negative, category, is_space):
    """The members of a class as the inside of a bracket. `name` is "s", "d", or "p" with a category."""
    if name == "s":
        members = [bool(is_space(code)) != negative for code in range(0x110000)]
    else:
        wanted = "Nd" if name == "d" else name[1:]
        members = [category(code).startswith(wanted) != negative for code in range(0x110000)]
    text, code = [], 0
    while code < 0x110000:
        first = code
        while code < 0x110000 and members[code]:
            code += 1
        if first < code:
            text.append(f"\\U{first:08x}-\\U{code - 1:08x}")
        code += 1
    return "".join(text)


def spans(compiled, text):
    """Return the pretokens of a complete text as (start, stop) in bytes of its UTF-8."""
    places = [0]
    for char in text:
        places.append(places[-1] + len(char.encode()))
    return [(places[match.start()], places[match.end()]) for match in compiled.finditer(text)]


def stops(compiled, text, alphabet, depth):
    """Return the set of lengths, in bytes, that the pretoken at the start of `text` can have.

    Every continuation of up to `depth` characters of `alphabet` is tried, and the end of the text; 0 stands for "nothing matches here".
    """
    found = set()
    for length in range(depth + 1):
        for more in product(alphabet, repeat=length):
            whole = text + "".join(more)
            match = compiled.match(whole)
            found.add(len(whole[: match.end()].encode()) if match else 0)
    return found
