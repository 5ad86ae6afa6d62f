"""The unigram model of one pretoken in plain Python: what ctok/_native/unigram.pyx and lattice.pyx answer, said as simply as it can be."""

from math import exp, fsum, inf, log

__all__ = ["MissingUnknown", "best_path", "encode", "lattice", "paths", "sampling_weights", "to_ids"]

PENALTY = 10.0  # what an unknown character costs beyond the least probable piece


class MissingUnknown(ValueError):
    """A character has no piece, and there is no unknown one."""


def lattice(pieces, text, unk_id):
    """Return the tokens that may stand in `text`, as (start, end, id, score) in ascending start and then end.

    Parameters
    ----------
    pieces
        (text, score) in the order of ids. Of equal texts the last counts.
    unk_id
        The id of characters that are no pieces themselves, or None: such a token has the id None.
    """
    known = {piece: number for number, (piece, _) in enumerate(pieces)}
    unknown = min((score for _, score in pieces), default=inf) - PENALTY
    tokens = []
    for start in range(len(text)):
        ends = [end for end in range(start + 1, len(text) + 1) if text[start:end] in known]
        tokens += [(start, end, known[text[start:end]], pieces[known[text[start:end]]][1]) for end in ends]
        if start + 1 not in ends:
            tokens.append((start, start + 1, unk_id, unknown))
    return tokens


def best_path(pieces, text, unk_id=None):
    """Return the tokens of the path of highest score, as (start, end, id).

    Notes
    -----
    Scores are added from the start of the text in double precision; of equal sums the token that starts first wins. Both decide what is
    a tie, so both belong to the answer.
    """
    best = {0: (0.0, None)}
    for start, end, number, score in lattice(pieces, text, unk_id):
        total = score + best[start][0]
        if end not in best or total > best[end][0]:
            if number is None:
                raise MissingUnknown(text[start:end])
            best[end] = total, (start, end, number)
    path, end = [], len(text)
    while end:
        path.append(best[end][1])
        end = path[-1][0]
    return path[::-1]


def to_ids(pieces, text, path, unk_id=None, byte_fallback=False):
    """Return the ids of a path and for each the end of its token.

    Notes
    -----
    Neighbouring unknown tokens become one. If what they cover together happens to be a piece, it is that piece; else, with
    `byte_fallback`, its bytes, if all of them have pieces.
    """
    known = {piece: number for number, (piece, _) in enumerate(pieces)}
    joined = []
    for start, end, number in path:
        if number == unk_id and joined and joined[-1][2] == unk_id and unk_id is not None:
            joined[-1] = joined[-1][0], end, number
        else:
            joined.append((start, end, number))
    ids = []
    for start, end, _ in joined:
        part = text[start:end]
        numbers = [known.get(part)]
        if numbers == [None] and byte_fallback:
            numbers = [known.get(f"<0x{byte:02X}>") for byte in part.encode()]
        ids += [(unk_id, end)] if None in numbers else [(number, end) for number in numbers]
    return ids


def encode(pieces, text, unk_id=None, byte_fallback=False):
    """Return the ids of a pretoken."""
    return [number for number, _ in to_ids(pieces, text, best_path(pieces, text, unk_id), unk_id, byte_fallback)]


def paths(pieces, text, unk_id=None):
    """Return all paths with their scores, best first."""
    tokens, found = lattice(pieces, text, unk_id), []

    def extend(place, path, scores):
        if place == len(text):
            found.append((fsum(scores), path))
        for start, end, number, score in tokens:
            if start == place:
                extend(end, [*path, (start, end, number)], [*scores, score])

    extend(0, [], [])
    return sorted(found, key=lambda item: -item[0])


def sampling_weights(pieces, text, unk_id, alpha):
    """Return {path: probability} of drawing from the whole lattice.

    Notes
    -----
    Going backward from the end, a token is drawn with a weight of exp(a + alpha * score), where `a` sums up the ways to its start:
    a(start) = log(sum of exp(alpha * (score + a))) over the tokens that end there. `alpha` multiplies the inner sum again at each token, so
    for alpha != 1 a path's probability is not proportional to exp(alpha * score of the path). That is how the reference draws.
    """
    tokens = lattice(pieces, text, unk_id)
    ways = {0: 0.0}
    for place in range(1, len(text) + 1):
        terms = [alpha * (score + ways[start]) for start, end, _, score in tokens if end == place]
        if terms:
            high = max(terms)
            ways[place] = high + log(fsum(exp(term - high) for term in terms))
    drawn = {}

    def extend(place, path, probability):
        if place == 0:
            drawn[tuple(path[::-1])] = probability
            return
        into = [token for token in tokens if token[1] == place]
        high = max((ways[start] + alpha * score for start, _, _, score in into), default=0.0)
        weights = [exp(ways[start] + alpha * score - high) for start, _, _, score in into]
        for (start, end, number, _), weight in zip(into, weights, strict=True):
            extend(start, [*path, (start, end, number)], probability * weight / fsum(weights))

    extend(len(text), [], 1.0)
    return drawn
