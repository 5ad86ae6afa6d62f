"""More tokens for a vocabulary, learned from a new corpus; every old id stays what it was."""

from __future__ import annotations

from array import array
from itertools import accumulate
from math import log

from .._native.cells import Cells
from .._native.learn import Learner
from ..errors import SpecError, TrainingError
from ..spec import BPE, TokenTable
from ..stagespecs.models import Unigram, WordLevel, WordPiece, table_of_texts
from ..stagespecs.sentencepiece import NORMAL, Pieces
from ._renumber import listed, little
from ._view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..spec import Record, Spec
    from .counts import Counts

__all__ = ["extend"]

STEP = 4096  # merges between two looks at signals
LONGEST = 2**31 - 1  # symbols


def extend(
    spec: Spec, corpus: Any, n_tokens: int, *, min_frequency: int = 2, max_token_length: int | None = None, **how: Any
) -> Spec:
    """Return a vocabulary with up to `n_tokens` more tokens, whose ids follow the highest old one.

    Parameters
    ----------
    spec
        A vocabulary of any model that ctok trains.
    corpus
        What `ctok.train.count_pretokens` takes.
    n_tokens
        How many to add, at most.
    min_frequency
        What is seen less often in the corpus does not become a token.
    max_token_length
        In characters (in bytes, where the tokens are bytes), without what marks a place in the word; None: any, for unigram models 16.
    **how
        num_threads, max_memory, errors, field, lines, progress: as for `count_pretokens`.

    Returns
    -------
    Spec
        Byte-pair models and WordPiece go on merging what the old tokens make of the new corpus. Unigram models get the best pieces of a
        model trained on it, with the scores that they have there. WordLevel gets the most frequent words. Characters that the vocabulary
        lacks come first.

    Raises
    ------
    SpecError
        The ids of the model cannot go on (a list of pieces, and added tokens behind a gap).
    TrainingError
        The corpus is empty.
    """
    if n_tokens < 1:
        raise ValueError(f"n_tokens must be at least 1, not {n_tokens}")
    view = View(spec)
    counts = view.count(corpus, **how)
    if not len(counts):
        raise TrainingError("the corpus has no words to learn from")
    model = view.model
    if isinstance(model, WordLevel):
        words = sorted(((word, count) for word, count in counts if word not in view.ids), key=lambda item: (-item[1], item[0]))
        new = [word for word, count in words if count >= min_frequency][:n_tokens]
        return _with_tokens(view, new)
    if isinstance(model, Unigram | Pieces):
        return _with_pieces(view, counts, n_tokens, min_frequency, max_token_length or 16)
    return _with_merges(view, counts, n_tokens, min_frequency, min(max_token_length or LONGEST, LONGEST))


# ---- models that merge ----


def _with_merges(view: View, counts: Counts, n_tokens: int, min_frequency: int, longest: int) -> Spec:
    new = _new_characters(view, counts, min_frequency)[:n_tokens]
    if new:
        view = View(_with_tokens(view, new))
    words = [(ids, count) for ids, count in view.encoded(counts) if len(ids) > 1 and _unknown(view) not in ids]
    learned = _learn(view, words, n_tokens - len(new), min_frequency, longest)
    merges = array("I", (number for pair, _ in learned for number in pair))
    return _with_tokens(view, [text for _, text in learned], little(merges))


def _unknown(view: View) -> int | None:
    return view.ids.get((getattr(view.model, "unk_token", None) or "").encode())


def _new_characters(view: View, counts: Counts, min_frequency: int) -> list[bytes]:
    """Characters that no token covers, the most frequent first, in all forms that the model has for them."""
    model = view.model
    if view.byte_level or model.unk_token is None or (isinstance(model, BPE) and (model.mode == "rank" or model.byte_fallback)):
        return []
    prefix = (model.continuing_subword_prefix or "").encode()
    suffix = (getattr(model, "end_of_word_suffix", None) or "").encode()
    found: dict[bytes, int] = {}
    for word, count in counts:
        chars = word.decode()
        for at, char in enumerate(chars):
            form = (prefix if at else b"") + char.encode() + (suffix if at == len(chars) - 1 else b"")
            if form not in view.ids:
                found[form] = found.get(form, 0) + count
    order = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return [form for form, count in order if count >= min_frequency]


def _learn(
    view: View, words: list[tuple[list[int], int]], n_tokens: int, min_frequency: int, longest: int
) -> list[tuple[tuple[int, int], bytes]]:
    """Merge the most frequent pair, of equally frequent ones that with the lowest ids, until there are enough tokens."""
    if not words:
        return []
    ids = sorted(view.texts)
    dense = {number: at for at, number in enumerate(ids)}  # the kernel's numbers have no gaps
    n, ends = len(ids), array("I", accumulate(len(word) for word, _ in words))
    spelt, counts = array("I", (dense[number] for word, _ in words for number in word)), array("Q", (count for _, count in words))
    cells = Cells(spelt.tobytes(), ends, counts, None)
    prefix = (getattr(view.model, "continuing_subword_prefix", None) or "").encode()
    learner = Learner([view.texts[number] for number in ids], bytes(n), prefix, longest, True, cells, False, True, "numbers")
    learner.measure(view.length(number) for number in ids)
    learner.count_pairs()
    while learner.n_tokens < n + n_tokens and not learner.is_done:
        learner.run(n + n_tokens, max(1, min_frequency), STEP)
    ids += range(view.first_free, view.first_free + learner.n_merges)
    return [((ids[left], ids[right]), learner.token(made)) for left, right, made, _ in learner.merges()]


def _with_tokens(view: View, new: list[bytes], merges: bytes = b"") -> Spec:
    model = view.model
    tokens = [*model.tokens, *((text, view.first_free + at) for at, text in enumerate(new))]
    if isinstance(model, BPE) and model.mode == "rank":
        return view.spec.replace(model=BPE(TokenTable.from_dict(tokens)), document=None)
    table = table_of_texts((text.decode(), number) for text, number in tokens)
    changes: dict[str, Any] = {"tokens": table}
    if isinstance(model, BPE):
        changes["merges"] = bytes(model.merges or b"") + merges
    elif not isinstance(model, WordLevel | WordPiece):
        raise SpecError(f"a model of type {type(model).__name__} cannot be extended")
    return view.spec.replace(model=model.replace(**changes), document=None)


# ---- models of pieces with scores ----


def _with_pieces(view: View, counts: Counts, n_tokens: int, min_frequency: int, longest: int) -> Spec:
    model = view.model
    n = len(model.tokens)
    gap = sorted((token.id, token.content) for token in view.spec.added_tokens if token.id >= n)
    if [number for number, _ in gap] != list(range(n, n + len(gap))):
        raise SpecError(f"the ids of pieces end at {n - 1}, and added tokens stand behind a gap: no piece can follow")
    scores = view.scores()
    pieces = _new_pieces(view, counts, n_tokens, min_frequency, longest)
    fillers = [(content.encode(), min(scores) - 100.0) for _, content in gap if content.encode() not in view.ids]
    if len(fillers) < len(gap):
        raise SpecError("an added token behind the pieces has the text of a piece: no piece can follow")
    return view.spec.replace(model=_longer(model, scores, fillers + pieces), document=None)


def _new_pieces(view: View, counts: Counts, n_tokens: int, min_frequency: int, longest: int) -> list[tuple[bytes, float]]:
    if isinstance(view.model, Pieces) and view.model.kind == "bpe":
        return _merged_pieces(view, counts, n_tokens, min_frequency, longest)
    if isinstance(view.model, Pieces) and view.model.kind != "unigram":
        from .words import learned_by_kind

        found = learned_by_kind(counts, view.model.kind)
        total = sum(count for _, count in found)
        new = [(text, log(count / total)) for text, count in found if count >= min_frequency and text not in view.ids]
        return new[:n_tokens]
    from .unigram import UnigramTrainer

    prefix_rules = {} if isinstance(view.model, Unigram) else {"treat_whitespace_as_suffix": view.model.treat_whitespace_as_suffix}
    style = "huggingface" if isinstance(view.model, Unigram) else "sentencepiece"
    size = len(view.model.tokens) + n_tokens
    trainer = UnigramTrainer(size, style=style, max_piece_length=longest, hard_vocab_limit=False, **prefix_rules)
    trained = View(trainer.train_counts(counts))
    scores = trained.scores()
    counted = _seen(trained, counts)
    order = sorted(
        (-scores[number], text)
        for number, text in trained.texts.items()
        if number not in trained.added and text not in view.ids and counted.get(number, 0) >= min_frequency
    )
    chosen = sorted(order, key=lambda item: (len(item[1].decode()) > 1, item))[:n_tokens]
    return [(text, -negative) for negative, text in sorted(chosen)]


def _merged_pieces(view: View, counts: Counts, n_tokens: int, min_frequency: int, longest: int) -> list[tuple[bytes, float]]:
    """The next merges of a byte-pair .model, whose scores fall from the lowest on."""
    words = [(ids, count) for ids, count in view.encoded(counts) if len(ids) > 1 and view.model.unk_id not in ids]
    least = min(view.scores())
    learned = _learn(view, words, n_tokens, min_frequency, longest)
    return [(text, least - 1.0 - at) for at, (_, text) in enumerate(learned)]


def _seen(view: View, counts: Counts) -> dict[int, int]:
    """How often the corpus uses each token, or, of characters, has them."""
    from .._native.stretches import count_characters

    chars = count_characters(counts.data, counts.ends, counts.counts)
    seen = {view.ids[char.encode()]: count for char, count in chars.items() if char.encode() in view.ids}
    for ids, count in view.encoded(counts):
        for number in ids:
            if len(view.texts[number]) > 4 or len(view.texts[number].decode()) > 1:
                seen[number] = seen.get(number, 0) + count
    return seen


def _longer(model: Any, scores: list[float], more: list[tuple[bytes, float]]) -> Record:
    """The model with pieces behind its own."""
    n = len(scores)
    tokens = sorted([*model.tokens, *((text, n + at) for at, (text, _) in enumerate(more))])
    every = array("d" if isinstance(model, Unigram) else "f", [*scores, *(score for _, score in more)])
    changes: dict[str, Any] = {"tokens": listed(tokens), "scores": little(every)}
    if isinstance(model, Pieces):
        changes["types"] = bytes(model.types) + bytes([NORMAL]) * len(more)
    return model.replace(**changes)  # type: ignore[no-any-return]
