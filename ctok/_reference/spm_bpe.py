"""The BPE, char and word models of SentencePiece in plain Python, said as simply as it can be. Slow: O(n^2); for tests and for reading.

A text is already normalised. What comes out are triples (id, start, stop), in characters of that text; the byte pieces of a character
stand at the same place.
"""

from itertools import pairwise

__all__ = ["PieceModel"]

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
SPACE = "\u2581"


class PieceModel:
    """The model.

    Parameters
    ----------
    pieces
        Triples (text, score, type) in the order of their ids.
    kind
        "bpe", "char" or "word".
    byte_fallback
        Unknown characters become the pieces of their bytes.
    """

    def __init__(self, pieces, kind="bpe", byte_fallback=False):
        self.kind, self.byte_fallback = kind, byte_fallback
        self.found = {text: i for i, (text, _, type_) in enumerate(pieces) if type_ in (NORMAL, USER_DEFINED, UNUSED)}
        self.score = [score for _, score, _ in pieces]
        self.types = [type_ for _, _, type_ in pieces]
        self.frozen = {text for text, _, type_ in pieces if type_ == USER_DEFINED}
        self.bytes_ = {text: i for i, (text, _, type_) in enumerate(pieces) if type_ == BYTE}
        self.unk = self.types.index(UNKNOWN)

    def symbols(self, text):
        """Return (start, stop, frozen) of what a text begins as: of user-defined pieces the longest, else a character."""
        out, at = [], 0
        while at < len(text):
            fits = [len(piece) for piece in self.frozen if text.startswith(piece, at)]
            out.append((at, at + max(fits, default=1), bool(fits)))
            at = out[-1][1]
        return out

    def merge(self, text, drop=lambda: False):
        """Return ``(symbols, splits)``: what is left when nothing joins any more, and how each piece came about that was in sight.

        The neighbours that spell the piece of the highest score join, the leftmost of several. `drop` is asked before each merge; where
        it says True those two join only after one of them has become another.
        """
        symbols, splits, dropped = self.symbols(text), {}, set()
        while True:
            best = None
            for i, ((start, middle, one), (_, stop, two)) in enumerate(pairwise(symbols)):
                number = None if one or two else self.found.get(text[start:stop])
                if number is None:
                    continue
                splits[text[start:stop]] = text[start:middle], text[middle:stop]
                if (start, middle, stop) not in dropped and (best is None or self.score[number] > best[0]):
                    best = self.score[number], i, (start, middle, stop)
            if best is None:
                return symbols, splits
            _, i, (start, middle, stop) = best
            if drop():
                dropped.add((start, middle, stop))
            else:
                symbols[i : i + 2] = [(start, stop, False)]

    def resegment(self, piece, splits):
        """Return the texts that a piece stands for: an unused one is taken apart again."""
        if self.types[self.found.get(piece, self.unk)] == UNUSED and piece in splits:
            return [part for half in splits[piece] for part in self.resegment(half, splits)]
        return [piece]

    def words(self, text):
        """Return the words of a text: a blank begins one."""
        out = []
        for i, character in enumerate(text):
            if i == 0 or character == SPACE:
                out.append("")
            out[-1] += character
        return out

    def texts(self, text):
        if self.kind == "word":
            return self.words(text)
        if self.kind == "char":
            return [text[start:stop] for start, stop, _ in self.symbols(text)]
        symbols, splits = self.merge(text)
        return [part for start, stop, _ in symbols for part in self.resegment(text[start:stop], splits)]

    def encode(self, text):
        """Return the triples."""
        out, at = [], 0
        for piece in self.texts(text):
            number, stop = self.found.get(piece, self.unk), at + len(piece)
            if self.types[number] not in (NORMAL, USER_DEFINED):
                number = self.unk
            if number != self.unk:
                out.append((number, at, stop))
            elif self.byte_fallback:
                out += [(self.bytes_[f"<0x{byte:02X}>"], at, stop) for byte in piece.encode()]
            elif out and out[-1][0] == self.unk:
                out[-1] = self.unk, out[-1][1], stop
            else:
                out.append((self.unk, at, stop))
            at = stop
        return out
