"""Pre-tokenizers in plain Python: what csrc/ctok_cut.h promises, said as simply as it can be. Slow; for tests and for reading.

A piece is a pair of lists: its characters, and for each character the span ``(start, stop)`` of the original text that it stems from.
A step turns a piece into pieces; the steps of a chain are applied one after the other, each to every piece of the one before. No piece is
empty.
"""

__all__ = ["around", "by_classes", "by_script", "chain", "every", "fixed", "metaspace", "prefix", "spans", "spell"]


def every(test):
    """Return a finder of single characters: ``find(text)`` gives the matches as (start, stop)."""
    return lambda text: [(i, i + 1) for i, char in enumerate(text) if test(char)]


def _items(text, matches, invert):
    """The text as stretches (start, stop, is it a match)."""
    at, items = 0, []
    for start, stop in matches:
        if at < start:
            items.append((at, start, invert))
        items.append((start, stop, not invert))
        at = stop
    if at < len(text):
        items.append((at, len(text), invert))
    return items


def around(find, behavior, invert=False):
    """Cut around what a finder finds; `behavior` as in `stagespecs.pretokenizers.Split`."""

    def step(piece):
        chars, origins = piece
        text = "".join(chars)
        items = _items(text, find(text), invert)
        if behavior == "removed":
            items = [item for item in items if not item[2]]
        joined = {
            "contiguous": lambda before, this: before == this,
            "merged_with_previous": lambda before, this: this and not before,
            "merged_with_next": lambda before, this: before and not this,
        }.get(behavior, lambda before, this: False)
        cuts = []
        for i, (start, stop, match) in enumerate(items):
            if i and joined(items[i - 1][2], match):
                cuts[-1] = (cuts[-1][0], stop)
            else:
                cuts.append((start, stop))
        return [(chars[a:b], origins[a:b]) for a, b in cuts]

    return step


def by_classes(classify, dropped):
    """Cut wherever the class of the characters changes, and drop one class. Each character of a class that is a tuple stands alone."""

    def step(piece):
        chars, origins = piece
        found, last = [], None
        for char, origin in zip(chars, origins, strict=True):
            this = classify(char)
            if this != dropped:
                if this != last or isinstance(this, tuple):
                    found.append(([], []))
                found[-1][0].append(char)
                found[-1][1].append(origin)
            last = this
        return found

    return step


def by_script(script):
    """Cut where the script changes; a character of script 0 belongs to what stands before it, and is dropped if nothing does."""

    def step(piece):
        found, last = [], 0
        for char, origin in zip(*piece, strict=True):
            this = script(char) or last
            if this != last:
                found.append(([], []))
            if this:
                found[-1][0].append(char)
                found[-1][1].append(origin)
            last = this
        return found

    return step


def fixed(length):
    """Cut after every so many characters."""
    return lambda piece: [(piece[0][i : i + length], piece[1][i : i + length]) for i in range(0, len(piece[0]), length)]


def prefix(char=" "):
    """Put a character before a piece that does not start with it; it stems from where the first character does."""
    return lambda piece: [piece if piece[0][0] == char else ([char, *piece[0]], [piece[1][0], *piece[1]])]


def spell(alphabet):
    """Each byte becomes the character that `alphabet` has for it."""
    return lambda piece: [
        (
            [alphabet[byte] for char in piece[0] for byte in char.encode()],
            [origin for char, origin in zip(*piece, strict=True) for _ in char.encode()],
        )
    ]


def metaspace(char, scheme, split, first=True):
    """Blanks become `char`; one is put in front (always, never, or before the piece at place 0 of the text); then it is cut before each.

    `first` says of a text that was not cut yet whether it starts at place 0.
    """

    def step(piece):
        chars, origins = [char if c == " " else c for c in piece[0]], piece[1]
        if scheme == "always" or (scheme == "first" and first and origins[0][0] == 0):
            chars, origins = prefix(char)((chars, origins))[0]
        if not split:
            return [(chars, origins)]
        return around(every(lambda c: c == char), "merged_with_next")((chars, origins))

    return step


def chain(steps, text):
    """Apply steps to a text; returns the pieces."""
    pieces = [(list(text), [(i, i + 1) for i in range(len(text))])]
    for step in steps:
        pieces = [new for piece in pieces if piece[0] for new in step(piece) if new[0]]
    return [piece for piece in pieces if piece[0]]


def spans(pieces):
    """Return the pieces as a list of (str, (start, stop))."""
    return [("".join(chars), (origins[0][0], origins[-1][1])) for chars, origins in pieces]
