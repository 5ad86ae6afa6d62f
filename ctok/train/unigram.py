"""Training a unigram model: many pieces at first, then those that the words can best do without are dropped."""

from __future__ import annotations

from ..errors import MemoryLimitError, TrainingError
from . import _options, _sentencepiece, _unigram_spec
from ._alphabet import character_classes, covered
from ._counting import threads_of
from ._running import SteppingTrainer
from ._self_test import with_samples

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._native.expect import PieceModel
    from .._native.stretches import Stretches
    from ..spec import Record, Spec
    from ._checkpoint import Checkpoint
    from ._running import Steps
    from .counts import Counts

__all__ = ["UnigramTrainer"]

# Option -> default. A pair: in Hugging Face's style, in sentencepiece's.
DEFAULTS: dict[str, Any] = _sentencepiece.DEFAULTS | {
    "special_tokens": (),
    "unk_token": "<unk>",
    "initial_alphabet": (),
    "character_coverage": (1.0, 0.9995),
    "shrinking_factor": 0.75,
    "n_sub_iterations": 2,
    "token_cost": 4.0,
    "max_piece_length": 16,
    "seed_size": 1_000_000,
    "split_by_unicode_script": (False, True),
    "split_by_number": (False, True),
    "split_digits": False,
    "hard_vocab_limit": (False, True),
    "normalizer": None,
    "pre_tokenizer": None,
    "self_test_size": 0,
    "name": "unigram",
}
BYTES_A_CHARACTER = 40  # of distinct words, while their suffixes are sorted, about
ALIASES = _sentencepiece.ALIASES | {
    "num_sub_iterations": "n_sub_iterations",
    "max_sentencepiece_length": "max_piece_length",
    "seed_sentencepiece_size": "seed_size",
    "required_chars": "initial_alphabet",
    "self_test_sample_size": "self_test_size",
}


class UnigramTrainer(SteppingTrainer):
    """Trains a unigram model; `train` gives a `Spec`.

    Parameters
    ----------
    vocab_size
        Tokens in all, special ones included.
    style
        In whose manner the result is, and whose defaults hold. ``"huggingface"``: a tokenizer.json with normalizer, Metaspace and
        float64 scores. ``"sentencepiece"``: a .model with float32 scores.
    special_tokens
        In Hugging Face's style: texts or `AddedToken` objects, which take the first ids.
    unk_token (sentencepiece: unk_piece)
        What stands for unknown characters; put first if it is no special token. None: such characters cannot be encoded.
    initial_alphabet (required_chars)
        Characters that become pieces whether they occur or not.
    character_coverage
        The share of the corpus whose characters become pieces; the rarest beyond it are unknown. Default 1, in sentencepiece's style
        0.9995.
    shrinking_factor
        The share of the pieces that stays at each pruning.
    n_sub_iterations (num_sub_iterations)
        Steps of expectation and maximisation between prunings.
    token_cost
        What a token more counts when pieces are pruned, in nats of the words' probability. 0: probability alone decides, as in the
        reference libraries; more: fewer tokens, by one to two per cent at the default of 4.
    max_piece_length (max_sentencepiece_length)
        In characters.
    seed_size (seed_sentencepiece_size)
        Pieces to begin with, at most.
    byte_fallback
        Characters that are no pieces become pieces ``<0x00>`` to ``<0xFF>``, which are part of the vocabulary.
    split_by_unicode_script, split_by_number, split_digits
        A piece holds characters of one script; digits are not of any other; a digit is a piece of its own. Default False, since
        pre-tokenizers do that; in sentencepiece's style True, True, False.
    split_by_whitespace, treat_whitespace_as_suffix, allow_whitespace_only_pieces
        A blank begins a piece (as suffix: ends it) and never stands inside; pieces of several blanks may be.
    hard_vocab_limit
        Too few pieces for the size are an error. Default False, in sentencepiece's style True.
    normalizer, pre_tokenizer
        The stages before the model, records of `ctok.stagespecs`. Default: Nmt, NFKC and one blank for several; Metaspace. In
        sentencepiece's style the normalizer is that of a .model, or as the next say, and there is no pre-tokenizer.
    normalization_rule_name, add_dummy_prefix, remove_extra_whitespaces
        As sentencepiece has them ("nmt_nfkc", True, True), in its style only.
    user_defined_symbols, control_symbols, unk_id, bos_id, eos_id, pad_id, bos_piece, eos_piece, pad_piece, unk_surface
        As sentencepiece has them, in its style only. An id of -1: there is no such piece.
    self_test_size (self_test_sample_size)
        So many of the most frequent words are encoded at last; that one is not spelt by its pieces is an error. In sentencepiece's style
        they are put in the .model, each with its pieces, for readers that check them.
    name
        What the `Spec` is called.

    Raises
    ------
    TypeError, ValueError
        There is no such option, or it cannot have this value.

    Notes
    -----
    The names in brackets are sentencepiece's and mean the same. Of the work all but the sorting of suffixes runs on all threads.

    The result is the same to the last bit for any number of threads, order of the corpus and partition into shards.
    """

    def __init__(self, vocab_size: int = 8000, *, style: str = "huggingface", **options: Any) -> None:
        defaults = _sentencepiece.style_defaults(DEFAULTS, style) | {"vocab_size": vocab_size}
        o = _options.resolve("UnigramTrainer", defaults, ALIASES, options)
        _options.at_least(o, 1, "vocab_size", "n_sub_iterations", "max_piece_length", "seed_size")
        _options.at_least(o, 0, "self_test_size")
        _options.share(o, "shrinking_factor", False)
        _options.share(o, "character_coverage", True)
        o.initial_alphabet = sorted({text[0] for text in o.initial_alphabet if text})
        _unigram_spec.complete(o)
        self.options = o

    def __repr__(self) -> str:
        return f"UnigramTrainer({self.options.vocab_size}, style={self.options.style!r})"

    def _stages(self) -> tuple[Record | None, Record | None]:
        o = self.options
        return (o.pre_tokenizer if o.style == "huggingface" else _sentencepiece.blanks(o)), o.normalizer

    def _reads_lines(self) -> bool:
        return bool(self.options.style == "sentencepiece")

    def train_counts(
        self, counts: Counts, *, num_threads: int | None = None, progress: Callable[[str, int, int | None], object] | bool | None = None
    ) -> Spec:
        """Train on words that have been counted as the model is to see them, each with its blank (``"\u2581the"``)."""
        return self.train(counts, num_threads=num_threads, progress=progress)

    def _learn(self, counts: Counts, checkpoint: Checkpoint, max_memory: int, num_threads: int | None) -> Steps:
        o = self.options
        n_special = 0
        if o.style == "sentencepiece":
            counts, n_special = _sentencepiece.cut_out(counts, o)
        threads = threads_of(num_threads)
        found, chars, total = self._stretches(counts, n_special)
        taken = {*_unigram_spec.taken(o)}
        chars = [char for char in chars if char not in taken]
        room = o.vocab_size - len(taken)
        if len(chars) > room:
            smallest = len(chars) + o.vocab_size - room
            raise TrainingError(
                f"vocab_size {o.vocab_size} is below the {smallest} of special tokens and characters alone; raise it, or lower "
                "character_coverage",
                smallest=smallest,
            )
        needed = found.size * BYTES_A_CHARACTER
        if needed > max_memory:
            raise MemoryLimitError(
                f"sorting the suffixes of all words takes {needed:,} bytes, more than the {max_memory:,} that it may; allow more "
                "(max_memory), or prune rare words from the counts",
                limit=max_memory,
            )
        yield "seed", 0, 1
        model = _first_model(found, o.seed_size, total, o.vocab_size)
        yield "seed", 1, 1
        yield from _shrink(model, int(o.vocab_size * 1.1), o, threads)
        pieces = _chosen({piece: score for piece, score in model if piece.decode() not in taken}, chars, room)
        if len(pieces) < room and o.hard_vocab_limit:
            largest = len(pieces) + o.vocab_size - room
            raise TrainingError(
                f"vocab_size {o.vocab_size} is too large: this corpus gives {largest} tokens; lower it, or pass hard_vocab_limit=False",
                largest=largest,
            )
        spec = _unigram_spec.spec_of(o, pieces)
        if o.style == "sentencepiece":
            return with_samples(spec, counts, o.self_test_size)
        if o.self_test_size:
            _unigram_spec.self_test(o, pieces, counts)
        return spec

    def _stretches(self, counts: Counts, n_special: int) -> tuple[Stretches, list[str], int]:
        """What the model is trained on, the characters that must be pieces, and how many characters all words have."""
        from .._native.stretches import Rules, Stretches, count_characters

        o = self.options
        of_chars = count_characters(counts.data, counts.ends, counts.counts)
        if not of_chars:
            raise TrainingError("the corpus has no words to learn from")
        classes = character_classes(
            covered(of_chars, o.character_coverage, o.initial_alphabet, n_special),
            split_by_unicode_script=o.split_by_unicode_script,
            split_by_number=o.split_by_number,
            split_digits=o.split_digits,
        )
        rules = Rules(
            classes, o.max_piece_length, o.split_by_whitespace, o.treat_whitespace_as_suffix, o.allow_whitespace_only_pieces
        )
        found = Stretches(counts.data, counts.ends, counts.counts, rules)
        return found, list(classes), sum(of_chars.values())


def _first_model(found: Stretches, seed_size: int, total: int, vocab_size: int) -> PieceModel:
    from .._native.expect import PieceModel
    from .._native.seeds import find_seeds

    return PieceModel(found, *find_seeds(found, seed_size, vocab_size), 2.0 ** (61 - total.bit_length()))


def _shrink(model: PieceModel, size: int, o: Any, threads: int) -> Steps:
    """Improve and prune by turns until there are no more pieces than `size`."""
    from math import ceil, log

    done, rounds = 0, 1 + max(0, ceil(log(size / len(model)) / log(o.shrinking_factor)))
    while True:
        for _ in range(o.n_sub_iterations):
            model.improve(threads)
        done += 1
        yield "train", min(done, rounds), rounds
        if len(model) <= size:
            break
        model.prune(max(size, int(len(model) * o.shrinking_factor)), threads, o.token_cost)
    yield "train", rounds, rounds


def _chosen(scores: dict[bytes, float], chars: list[str], size: int) -> list[tuple[str, float]]:
    """The pieces of the vocabulary by score, of equal ones in the order of their bytes: all characters, and the best others.

    Scores have 12 decimals: so many survive every reader of JSON, also one that rounds twice.
    """
    scores = {piece: round(score, 12) for piece, score in scores.items()}
    order = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    least = order[-1][1]
    chosen = {char.encode(): scores.get(char.encode()) for char in chars}
    unseen = [char for char, score in chosen.items() if score is None]
    kept = {char: score for char, score in chosen.items() if score is not None}
    kept |= {char: round(least - 1e-4 * (i + 1), 12) for i, char in enumerate(unseen)}
    for piece, score in order:
        if len(kept) >= size:
            break
        kept.setdefault(piece, score)
    return [(piece.decode(), score) for piece, score in sorted(kept.items(), key=lambda item: (-item[1], item[0]))]
