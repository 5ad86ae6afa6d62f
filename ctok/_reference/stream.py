"""Encoding a text that is still arriving, in plain Python, by its definition. Slow: all is computed afresh at each step.

An id may leave as soon as no later text can change it. What later text can change is said by three plain questions:

* may a special token begin in what is there and not be complete? Then nothing from there on is touched;
* at which places may the pretoken stop that starts here (`split.stops`, which tries every continuation)? One answer: it is certain.
  More than one: it is *open*, and what may still stop somewhere else is not looked at;
* through which prefixes of the open pretoken can the encoding of the longer text pass? Through its end, through each place where it may
  stop, and through each place from which the rest is a proper prefix of some token: those are *alive*. Every prefix has one last token
  (`bpe.last_tokens`), so the encodings of all prefixes form a tree, and what lies before the common ancestor of the alive ones is certain.

A whole pretoken that is itself a token is that token, even where merging does not give it. So while the open pretoken may turn out to
be one that merging does not give, its start is alive, too.
"""

from . import bpe, encode, split

__all__ = ["StreamingEncoder"]


class StreamingEncoder:
    """Encode a text in chunks of whole characters.

    Parameters
    ----------
    ranks, compiled, literals
        As `encode.encode` takes them.
    alphabet, depth
        The continuations that `split.stops` tries.
    """

    def __init__(self, ranks, compiled, literals, alphabet, depth=2):
        self.ranks, self.compiled, self.literals = ranks, compiled, literals
        self.alphabet, self.depth = alphabet, depth
        self.starts = {token[:i] for token in ranks for i in range(1, len(token))}
        self.unreachable = bpe.unreachable(ranks)
        self.text = ""  # from the start of the first pretoken that is not certain
        self.sent = 0  # bytes of it whose ids have left

    def encode(self, chunk, final=False):
        """Take a chunk and return the ids that are certain now."""
        self.text += chunk
        ids = []
        while True:
            place, literal = self._first_literal(final)
            if literal is None:
                break
            ids += self._advance(place, True)
            ids.append(self.literals[literal])
            self.text = self.text[len(literal) :]
        return ids + self._advance(place, final)

    def _first_literal(self, final):
        """The first literal that is certain and its place, or None and the place up to which there is none."""
        for place in range(len(self.text)):
            rest = self.text[place:]
            if not final and any(len(literal) > len(rest) and literal.startswith(rest) for literal in self.literals):
                return place, None
            found = encode.longest_at(self.literals, self.text, place)
            if found is not None:
                return place, found
        return len(self.text), None

    def _advance(self, end, final):
        """The certain ids of text[:end]; with `final` the text ends there."""
        ids, text = [], self.text[:end]
        while text:
            data = text.encode()
            stops = split.stops(self.compiled, text, () if final else self.alphabet, 0 if final else self.depth)
            if len(stops) > 1 or max(stops) > len(data):
                ids += self._survivors(data, {stop for stop in stops if stop < len(data)})
                break
            (stop,) = stops
            ids += self._unsent(data[:stop])
            text = data[stop:].decode() if stop else text[1:]
            self.sent = 0
        self.text = text + self.text[end:]
        return ids

    def _unsent(self, pretoken):
        """The ids of a complete pretoken that have not left yet."""
        ids, at = bpe.encode(self.ranks, pretoken), 0
        tokens = {number: token for token, number in self.ranks.items()}
        while at < self.sent:
            at += len(tokens[ids.pop(0)])
        return ids

    def _survivors(self, data, ends):
        n, last = len(data), bpe.last_tokens(self.ranks, data)
        alive = {n} | ends | {place for place in range(n) if data[place:] in self.starts}
        if any(data[:end] in self.unreachable for end in {n} | ends):
            alive.add(0)
        while len(alive) > 1:  # walk back to the common ancestor
            place = max(alive)
            alive = alive - {place} | {place - len(last[place - 1])}
        place = final = alive.pop()
        ids = []
        while place > self.sent:
            ids.append(self.ranks[last[place - 1]])
            place -= len(last[place - 1])
        self.sent = max(self.sent, final)
        return ids[::-1]
