"""Texts to measure on, cut into slices that are each seen once.

From a folder with en.txt, code.txt and multi.txt (or .xz of these); without one, made from what comes with Python: sources are the code;
the help pages, docstrings and comments the English; words of many scripts are made up. Those are poorer than a folder of real text: the
English is technical, and nobody ever wrote the words.
"""

import lzma
import os
import random
import re
import sysconfig
import textwrap

KINDS = ("en", "code", "multi")


def from_folder(folder, kind):
    """The text, or None if the folder lacks it."""
    plain = os.path.join(folder, kind + ".txt")
    for path, opener in ((plain, open), (plain + ".xz", lzma.open)):
        if os.path.exists(path):
            with opener(path, "rt", encoding="utf-8", newline="") as file:
                return file.read()
    return None


def sources(limit):
    """Python's own library, file by file, in an order that mixes its packages but is the same every time."""
    root = sysconfig.get_path("stdlib")
    paths = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - {"site-packages", "dist-packages", "__pycache__", "encodings", "pydoc_data"})
        paths += [os.path.join(folder, name) for name in sorted(names) if name.endswith(".py")]
    random.Random(0).shuffle(paths)
    length = 0
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except UnicodeDecodeError:
            continue
        yield text
        length += len(text)
        if length > limit:
            return


# A docstring, or a comment; what else stands between triple quotes is mostly prose, too.
PROSE = re.compile(r'"""(.+?)"""|^ *#+ ([^\n]+)$', re.DOTALL | re.MULTILINE)


def prose(limit):
    """The topics of Python's own help, then docstrings and comments of its library."""
    from pydoc_data.topics import topics

    out = list(topics.values())
    left = limit - sum(map(len, out))
    for source in sources(limit * 4):
        for docstring, comment in PROSE.findall(source):
            out.append(textwrap.dedent(docstring) + "\n\n" if docstring else comment + "\n")
            left -= len(out[-1])
        if left <= 0:
            break
    return "".join(out)


def scripts(limit):
    """Made-up words of many scripts: runs of neighbouring letters, some repeated as the words of a language are."""
    draw = random.Random(0)
    alphabets = (0xE0, 0x100, 0x3B1, 0x430, 0x561, 0x5D0, 0x627, 0x905, 0x995, 0xE01, 0x10D0, 0x1200, 0x3042, 0x30A2)
    blocks = [(start, 24) for start in alphabets] + [(start, 400) for start in (0x4E00, 0x5F00, 0x6C00, 0xAC00, 0xC400)]
    out = []
    while limit > 0:
        start, width = draw.choice(blocks)
        letters = [chr(code) for code in range(start, start + width) if chr(code).isalpha()]
        words = ["".join(draw.choices(letters, k=draw.randint(1, 9))) for _ in range(40)]
        line = " ".join(draw.choices(words, weights=range(40, 0, -1), k=200)) + ".\n"
        out.append(line)
        limit -= len(line)
    return "".join(out)


def made(kind, limit):
    if kind == "multi":
        return scripts(limit)
    if kind == "code":
        return "".join(sources(limit))
    return prose(limit)


class Texts:
    """Slices of each kind of text as files in a scratch folder; every slice is handed out once, until all are used up."""

    def __init__(self, folder, scratch, limit=8_000_000):
        self.folder, self.scratch, self.limit = folder, scratch, limit
        self.texts = {}         # kind -> the whole text
        self.places = {}        # kind -> where the next slice starts

    def text(self, kind):
        if kind not in self.texts:
            found = from_folder(self.folder, kind) if self.folder else None
            self.texts[kind] = found if found is not None else made(kind, self.limit)
        return self.texts[kind]

    def slices(self, kind, number, length):
        """Return `number` paths of files with `length` characters each; shorter where the text is too short for that."""
        text = self.text(kind)
        length = min(length, len(text) // max(number, 1))
        paths = []
        for _ in range(number):
            start = self.places.get(kind, 0)
            if start + length > len(text):
                start = 0
            self.places[kind] = start + length
            paths.append(self.save(f"{kind}-{start}-{length}.txt", text[start : start + length]))
        return paths

    def save(self, name, text):
        path = os.path.join(self.scratch, name)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return path
