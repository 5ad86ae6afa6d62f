"""SentencePiece's unigram model of one text in plain Python: what ctok/_native/spmunigram.pyx answers, said as simply as it can be.

Pieces are (text, score, type) in the order of their ids; types are the numbers of `ctok.stagespecs.sentencepiece`. The text is normalized.
"""

from itertools import pairwise
from math import copysign, exp, fsum, inf, log
from struct import pack, unpack

__all__ = ["best_path", "encode", "entropy", "paths", "probabilities", "single", "to_ids", "tokens_of"]

NORMAL, USER_DEFINED = 1, 4
PENALTY = 10.0  # what an unknown character costs beyond the least probable piece
ALONE = 3.4028234663852886e38  # its score where no piece is normal: the greatest number of single precision
RESTART = 100000  # how far a sum may be from 0 when it is its place's turn


def single(number):
    """Return a number in single precision."""
    try:
        return unpack("f", pack("f", number))[0]
    except OverflowError:
        return copysign(inf, number)


def tokens_of(pieces, text, unk_id=0, by_characters=False):
    """Return the tokens that may stand in `text`, bytes, as (start, end, id, score) in ascending start and then end.

    Notes
    -----
    A user-defined piece has a score by its length: in bytes, or, in the lattice of the other paths, `by_characters`.
    """
    known = {piece.encode(): number for number, (piece, _, type_) in enumerate(pieces) if type_ in (NORMAL, USER_DEFINED)}
    least = min((single(score) for _, score, type_ in pieces if type_ == NORMAL), default=inf)
    unknown = single(least - PENALTY) if least < inf else ALONE
    longest = max(map(len, known), default=0)
    starts = [at for at, byte in enumerate(text) if byte & 0xC0 != 0x80] + [len(text)]
    tokens = []
    for start, after in pairwise(starts):
        ends = [end for end in range(start + 1, min(start + longest, len(text)) + 1) if text[start:end] in known]
        for end in ends:
            number = known[text[start:end]]
            score = single(pieces[number][1])
            if pieces[number][2] == USER_DEFINED:
                length = len(text[start:end].decode(errors="replace")) if by_characters else end - start
                score = single(0.1 * (length - 1))
            tokens.append((start, end, number, score))
        if after not in ends:
            tokens.append((start, after, unk_id, unknown))
    return tokens


def best_path(pieces, text, unk_id=0):
    """Return the tokens of the path of highest score, as (start, end, id).

    Notes
    -----
    Scores are added from the start of the text in single precision; of equal sums the token that starts first wins. Both decide what is
    a tie, so both belong to the answer. So do the restarts: a sum too far from 0 is taken off its own place and all later ones.
    """
    best = {0: (0.0, None)}
    for start, end, number, score in tokens_of(pieces, text, unk_id):
        here = best[start][0]
        if abs(here) > RESTART:
            best = {place: (single(total - here) if place >= start else total, token) for place, (total, token) in best.items()}
        total = single(score + best[start][0])
        if end not in best or total > best[end][0]:
            best[end] = total, (start, end, number)
    path, end = [], len(text)
    while end:
        path.append(best[end][1])
        end = path[-1][0]
    return path[::-1]


def to_ids(text, path, unk_id=0, byte_ids=None):
    """Return the ids of a path and for each the end of its token.

    Notes
    -----
    Neighbouring unknown characters become one token; with `byte_ids`, by byte, each becomes its bytes.
    """
    ids = []
    last_unknown = False
    for start, end, number in path:
        if number == unk_id and byte_ids is not None:
            ids += [(byte_ids[byte], end) for byte in text[start:end]]
        elif number == unk_id and last_unknown:
            ids[-1] = unk_id, end
        else:
            ids.append((number, end))
        last_unknown = number == unk_id
    return ids


def encode(pieces, text, unk_id=0, byte_ids=None):
    """Return the ids of a text."""
    return [number for number, _ in to_ids(text, best_path(pieces, text, unk_id), unk_id, byte_ids)]


def paths(pieces, text, unk_id=0):
    """Return all paths as (tokens, score), best first; a score is summed up from the last token on, in single precision."""
    tokens, found = tokens_of(pieces, text, unk_id, by_characters=True), []

    def extend(place, path, total):
        if place == 0:
            found.append((path, total))
        for start, end, number, score in tokens:
            if end == place:
                extend(start, [(start, end, number), *path], single(score + total))

    extend(len(text), [], 0.0)
    return sorted(found, key=lambda item: -item[1])


def probabilities(pieces, text, alpha, unk_id=0):
    """Return {path: probability} of drawing: proportional to exp(alpha * score)."""
    found = paths(pieces, text, unk_id)
    weights = [exp(alpha * (score - found[0][1])) for _, score in found]
    return {tuple(path): weight / fsum(weights) for (path, _), weight in zip(found, weights, strict=True)}


def entropy(pieces, text, alpha, unk_id=0):
    """Return the entropy of what is drawn, in nats."""
    return -fsum(share * log(share) for share in probabilities(pieces, text, alpha, unk_id).values() if share)
