"""Cutting added tokens out of a text, in plain Python: what the reference tokenizers do, step by step.

The rules in words: csrc/ctok_added.h. Slow: every place of the text is tried with every token.
"""

__all__ = ["SPACES", "Added", "cut", "matches"]

#: White_Space of Unicode 16.
SPACES = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)


class Added:
    """One added token: the text that is looked for, and its flags."""

    def __init__(self, content, id, single_word=False, lstrip=False, rstrip=False):
        self.content, self.id = content, id
        self.single_word, self.lstrip, self.rstrip = single_word, lstrip, rstrip


def matches(tokens, text):
    """Yield (start, token): the leftmost match, the longest there, then on behind it. Of equal texts the first declared."""
    at = 0
    while at < len(text):
        here = [token for token in tokens if text.startswith(token.content, at)]
        if here:
            longest = max(here, key=lambda token: len(token.content))
            yield at, longest
            at += len(longest.content)
        else:
            at += 1


def cut(tokens, text, is_word, skip=()):
    """Return what the text is cut into.

    Parameters
    ----------
    tokens
        `Added` objects in declaration order.
    text
        A str.
    is_word
        A function that says of a character whether it is a word character.
    skip
        Ids of tokens whose text is plain text.

    Returns
    -------
    list of (start, end, id)
        In characters; the id is None for plain text.
    """
    pieces, done = [], 0  # done: where the text goes on that no piece has
    for start, token in matches(tokens, text):
        stop = start + len(token.content)
        if token.id in skip:
            continue
        if token.single_word and (is_word(text[start - 1 : start]) or is_word(text[stop : stop + 1])):
            continue
        if token.lstrip:
            while start and text[start - 1] in SPACES:
                start -= 1
            start = max(start, done)
        if token.rstrip:
            while stop < len(text) and text[stop] in SPACES:
                stop += 1
        if start >= stop:  # the token before has all of it
            done = max(done, stop)
            continue
        if done < start:
            pieces.append((done, start, None))
        pieces.append((start, stop, token.id))
        done = stop
    if done < len(text):
        pieces.append((done, len(text), None))
    return pieces
