"""WordPiece and WordLevel of one pretoken in plain Python: what ctok/_native/wordpiece.pyx answers, said as simply as it can be."""

__all__ = ["encode_wordlevel", "encode_wordpiece"]


def encode_wordpiece(vocab, word, unk="[UNK]", most_chars=100, prefix="##"):
    """Return the pieces of a word: the longest one from the left, again and again, those after the first with the prefix.

    Parameters
    ----------
    vocab
        Collection of pieces.

    Notes
    -----
    A word that the pieces do not cover, or of more than `most_chars` characters, is ``[unk]`` as a whole. A piece that is only the prefix
    never stands inside a word: it would cover nothing.
    """
    pieces, start = [], 0
    if len(word) > most_chars:
        return [unk]
    while start < len(word):
        front = prefix if start else ""
        end = next((end for end in range(len(word), start, -1) if front + word[start:end] in vocab), None)
        if end is None:
            return [unk]
        pieces.append(front + word[start:end])
        start = end
    return pieces


def encode_wordlevel(vocab, word, unk="<unk>"):
    """Return the pretoken itself where it is a token, else the unknown one."""
    return [word if word in vocab else unk]
