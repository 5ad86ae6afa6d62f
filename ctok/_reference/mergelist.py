"""Byte pair encoding by a list of merges in plain Python: what ctok/_native/mergelist.pyx answers, said as simply as it can be.

Characters become symbols, and always the pair that stands earliest in the list joins, leftmost first. Slow: O(n^2); for tests and for
reading.
"""

from itertools import pairwise

__all__ = ["MergeList", "spell", "spelling"]


def spelling():
    """Return the character for each byte in the alphabet that byte-level files use: visible ones stand for themselves."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in visible]
    return [chr(byte) if byte in visible else chr(256 + others.index(byte)) for byte in range(256)]


def spell(data):
    """Return bytes as such characters."""
    table = spelling()
    return "".join(table[byte] for byte in data)


class MergeList:
    """The model.

    Parameters
    ----------
    vocab
        Mapping of text to id.
    merges
        Pairs of texts, earliest first.
    unk_token, fuse_unk, byte_fallback, ignore_merges
        As in `spec.BPE`.
    prefix, suffix
        What a character that is not the first one begins with, and what the last one ends with.
    """

    def __init__(self, vocab, merges, *, unk_token=None, prefix="", suffix="", fuse_unk=False, byte_fallback=False, ignore_merges=False):
        self.vocab, self.unk_token, self.prefix, self.suffix = vocab, unk_token, prefix, suffix
        self.fuse_unk, self.byte_fallback, self.ignore_merges = fuse_unk, byte_fallback, ignore_merges
        size = len(prefix.encode())
        self.merges = {}
        for rank, (left, right) in enumerate(merges):
            joined = (left.encode() + right.encode()[size:]).decode()
            self.merges[vocab[left], vocab[right]] = rank, vocab[joined]  # of one pair the later merge counts

    def symbols(self, pretoken):
        """Return ``[id, bytes]`` of each symbol that a pretoken begins as; a `KeyError` says that the unknown token has no id."""
        out, unknown = [], None
        for i, character in enumerate(pretoken):
            size = len(character.encode())
            text = self.prefix * (i > 0) + character + self.suffix * (i + 1 == len(pretoken))
            if text in self.vocab:
                if unknown is not None:
                    out.append(unknown)
                    unknown = None
                out.append([self.vocab[text], size])
                continue
            names = [f"<0x{byte:02X}>" for byte in text.encode()]
            if self.byte_fallback and all(name in self.vocab for name in names):
                out += [[self.vocab[name], 1] for name in names]  # behind them comes an unknown token that waits
            elif self.unk_token is not None and unknown is not None and self.fuse_unk:
                unknown[1] += size
            elif self.unk_token is not None:
                if unknown is not None:
                    out.append(unknown)
                unknown = [self.vocab[self.unk_token], size]
        return out if unknown is None else [*out, unknown]

    def merge(self, symbols):
        """Join symbols until no two neighbours are in the list."""
        symbols = [list(symbol) for symbol in symbols]
        while True:
            pairs = [
                (*self.merges[left, right], i)
                for i, ((left, _), (right, _)) in enumerate(pairwise(symbols))
                if (left, right) in self.merges
            ]
            if not pairs:
                return symbols
            _, joined, i = min(pairs, key=lambda pair: (pair[0], pair[2]))
            symbols[i : i + 2] = [[joined, symbols[i][1] + symbols[i + 1][1]]]

    def encode(self, pretoken):
        """Return ``(ids, ends)``; an end is the sum of the bytes of the characters that became tokens."""
        if self.ignore_merges and pretoken in self.vocab:
            return [self.vocab[pretoken]], [len(pretoken.encode())]
        ids, ends, at = [], [], 0
        for number, size in self.merge(self.symbols(pretoken)):
            at += size
            ids.append(number)
            ends.append(at)
        return ids, ends

    def neighbours(self, left, right):
        """Return whether two tokens stand side by side in the encoding of their joined texts; left "": is right its own encoding?"""
        want = [self.vocab[text] for text in (left, right) if text]
        return [number for number, _ in self.merge(self.symbols(left + right))] == want

    def crossings(self):
        """Return the pairs of characters that stand side by side inside what merging gives."""
        texts = {number: text for text, number in self.vocab.items()}
        return {(texts[left][-1], texts[right][len(self.prefix)]) for left, right in self.merges}
