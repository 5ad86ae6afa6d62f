"""Training byte-pair encoding: the most frequent pair of neighbours becomes a token, again and again."""

from __future__ import annotations

from time import monotonic
from warnings import warn

from .._native.cells import Cells
from .._native.learn import Learner
from ..errors import MemoryLimitError, TrainingError
from . import _bpe_spec, _options, _sentencepiece
from ._bpe_start import start_of
from ._checkpoint import EVERY, Checkpoint
from ._running import SteppingTrainer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._native.joining import Joining
    from ..spec import Record
    from ._bpe_start import Start
    from ._running import Steps
    from .counts import Counts

__all__ = ["BpeTrainer"]

FORMS = ("byte-level", "bytes", "characters", "sentencepiece")
# How pairs of equal count are told apart -> whether a merged pair's count goes on; whether a known text is given up; the kernel's tie.
TIES = {
    "huggingface": (True, False, "numbers"),
    "first-seen": (False, False, "place"),
    "subword-nmt": (False, False, "largest"),
    "sentencepiece": (False, True, "shortest"),
}
# Option -> default. A pair: in form "sentencepiece" the second.
DEFAULTS: dict[str, Any] = {
    "split": "gpt2",
    "ties": ("huggingface", "sentencepiece"),
    "min_frequency": 0,
    "special_tokens": (),
    "unk_token": (None, "<unk>"),
    "initial_alphabet": None,
    "limit_alphabet": None,
    "character_coverage": (1.0, 0.9995),
    "max_token_length": (None, 16),
    "continuing_subword_prefix": None,
    "end_of_word_suffix": None,
    "split_by_unicode_script": (False, True),
    "split_by_number": (False, True),
    "split_digits": False,
    "exact_size": (False, True),
    "normalizer": None,
    "pre_tokenizer": None,
    "name": "bpe",
} | _sentencepiece.DEFAULTS
ALIASES = {
    "max_sentencepiece_length": "max_token_length",
    "required_chars": "initial_alphabet",
    "hard_vocab_limit": "exact_size",
} | _sentencepiece.ALIASES
STEP = 0.02  # seconds of learning between two looks around


class BpeTrainer(SteppingTrainer):
    """Trains byte-pair encoding; `train` gives a `Spec`.

    Parameters
    ----------
    vocab_size
        Tokens in all, special ones included.
    form
        What the symbols are, and what the result is like.

        ``"byte-level"``: bytes, spelled in visible letters, with a list of merges: a tokenizer.json, or vocab.json and merges.txt.
        ``"bytes"``: bytes, merged by rank: a .tiktoken file; bytes have the ids 0 to 255.
        ``"characters"``: characters, with a list of merges: a tokenizer.json; `end_of_word_suffix="</w>"` as in the first paper.
        ``"sentencepiece"``: characters, merged by score: a .model.
    split
        For bytes: the split pattern, or ``"gpt2"``, ``"cl100k"``, ``"o200k"``; None: each text is one pretoken.
    pre_tokenizer, normalizer
        The stages before the model, records of `ctok.stagespecs`; a pre-tokenizer overrules `split`. Default for characters: cut at
        white space. In the form sentencepiece the normalizer is that of a .model (without one: as normalization_rule_name, add_dummy_prefix
        and remove_extra_whitespaces say).
    ties
        Which of several pairs of equal count is merged first.

        ``"huggingface"``: the pair with the smaller ids. ``"first-seen"``: the one that comes first in the corpus. ``"subword-nmt"``: the
        one with the largest texts. ``"sentencepiece"``: the shorter, then the one with the smaller text; a pair whose text is a token
        already is given up. Each gives the merges of the tool of that name on the same pretokens.
    min_frequency
        A pair must stand so often.
    special_tokens
        Texts or `AddedToken` objects. They take the first ids, in the form "bytes" the last. They are not kept out of the corpus.
    unk_token
        The token for characters that are none; it must be a special token, or becomes the first.
    initial_alphabet
        Characters that become tokens whether they occur or not. For byte-level None means all 256 bytes; an empty one, those that occur.
    limit_alphabet, character_coverage
        Keep so many of the characters, or the most frequent that make up this share of the corpus (sentencepiece: 0.9995). The others
        are left out of words; with sentencepiece's ties they part their neighbours.
    max_token_length
        In symbols.
    continuing_subword_prefix, end_of_word_suffix
        What tokens inside a word begin with, and at its end end with. For characters.
    split_by_unicode_script, split_by_number, split_digits
        No token holds characters of two scripts; digits and others; two digits. For characters.
    split_by_whitespace, treat_whitespace_as_suffix, allow_whitespace_only_pieces, byte_fallback, user_defined_symbols, control_symbols, \
unk_id, bos_id, eos_id, pad_id, bos_piece, eos_piece, pad_piece, unk_surface
        As sentencepiece has them, in its form only.
    exact_size
        A vocabulary that comes out smaller or larger than `vocab_size` is an error; if not, a warning.
    name
        What the `Spec` is called.

    Raises
    ------
    TypeError, ValueError
        There is no such option, or it cannot have this value.

    Notes
    -----
    The result does not depend on the number of threads, on how the corpus is shared out, or (but for "first-seen") on its order. Time:
    that of counting, and then about in proportion to the symbols of all different pretokens.
    """

    def __init__(self, vocab_size: int = 32000, *, form: str = "byte-level", **options: Any) -> None:
        if form not in FORMS:
            raise ValueError(f"form must be one of {', '.join(FORMS)}, not {form!r}")
        second = form == "sentencepiece"
        defaults = {name: value[second] if type(value) is tuple and value else value for name, value in DEFAULTS.items()}
        o = _options.resolve("BpeTrainer", defaults | {"vocab_size": vocab_size, "form": form}, ALIASES, options)
        if o.ties not in TIES:
            raise ValueError(f"ties must be one of {', '.join(TIES)}, not {o.ties!r}")
        _options.at_least(o, 1, "vocab_size")
        _options.at_least(o, 0, "min_frequency")
        _options.share(o, "character_coverage", True)
        for name in ("limit_alphabet", "max_token_length"):
            if getattr(o, name) is not None:
                _options.at_least(o, 1, name)
        self.options = _bpe_spec.completed(o)

    def __repr__(self) -> str:
        o = self.options
        return f"BpeTrainer({o.vocab_size}, form={o.form!r}, ties={o.ties!r})"

    def _stages(self) -> tuple[Record | None, Record | None]:
        return _bpe_spec.counted_by(self.options)

    def _needs_order(self) -> bool:
        return bool(self.options.ties == "first-seen")

    def _reads_lines(self) -> bool:
        return bool(self.options.form == "sentencepiece")

    def _learn(self, counts: Counts, checkpoint: Checkpoint, max_memory: int, num_threads: int | None) -> Steps:
        o = self.options
        n_special = 0
        if o.form == "sentencepiece":
            counts, n_special = _sentencepiece.cut_out(counts, o)
        start = start_of(o, counts, n_special)
        others = _bpe_spec.n_others(o)  # tokens that are in the vocabulary, but not in the learner's
        wanted = o.vocab_size - others
        if wanted < len(start.tokens):
            self._below(len(start.tokens) + others)
        learner = self._learner(counts, start)
        if o.allow_whitespace_only_pieces:
            learner.allow_only_blanks()
        del counts
        yield "pairs", 0, 1
        learner.count_pairs()
        total, n = max(wanted - len(start.tokens), 0), 0
        try:
            for n, pair in enumerate(checkpoint.merges):
                learner.replay(*pair)
                if n % 512 == 0:
                    yield "resume", n, len(checkpoint.merges)
            yield from self._merge(learner, wanted, total, max_memory, checkpoint)
        except BaseException:
            if learner.n_merges >= len(checkpoint.merges):
                checkpoint.keep(learner)
            raise
        checkpoint.keep(learner)
        if learner.n_tokens < wanted:
            self._unreachable(learner.n_tokens + others)
        learner.forget()
        return _bpe_spec.spec_of(o, start, learner)

    def _merge(self, learner: Joining, wanted: int, total: int, max_memory: int, checkpoint: Checkpoint) -> Steps:
        """Learn merges until there are enough, or no more."""
        o, most, saved, first = self.options, 8, monotonic(), wanted - total
        while learner.n_tokens < wanted and not learner.is_done:
            begun = monotonic()
            learner.run(wanted, o.min_frequency, most)
            now = monotonic()
            most = max(1, min(4096, int(most * min(2.0, STEP / max(now - begun, 1e-6)))))
            if learner.memory > max_memory:
                raise MemoryLimitError(
                    f"learning takes {learner.memory:,} bytes, more than the {max_memory:,} that it may; allow more (max_memory), or "
                    "prune rare pretokens from the counts",
                    limit=max_memory,
                )
            if now - saved > EVERY:
                checkpoint.keep(learner)
                saved = now
            yield "merge", learner.n_tokens - first, total

    def _learner(self, counts: Counts, start: Start) -> Joining:
        o, order = self.options, None
        if o.ties == "first-seen":
            order = _first_order(counts)
        cells = Cells(counts.data, counts.ends, counts.counts, start.ids, order, o.ties == "sentencepiece")
        longest = 2**31 - 1 if o.max_token_length is None else min(o.max_token_length, 2**31 - 1)
        return self._kernel(start, cells, longest)

    def _kernel(self, start: Start, cells: Cells, longest: int) -> Joining:
        o = self.options
        prefix = (o.continuing_subword_prefix or "").encode()
        return Learner(start.tokens, start.classes, prefix, longest, True, cells, *TIES[o.ties])

    def _below(self, smallest: int) -> None:
        size = self.options.vocab_size
        message = f"vocab_size {size} is below the {smallest} of special tokens and symbols alone"
        if self.options.exact_size:
            raise TrainingError(f"{message}; raise it, or keep fewer characters (limit_alphabet, character_coverage)", smallest=smallest)
        warn(f"{message}: the vocabulary has these and no merges", UserWarning, stacklevel=5)

    def _unreachable(self, largest: int) -> None:
        size = self.options.vocab_size
        message = f"this corpus gives {largest} tokens, not {size}: no other pair stands {max(1, self.options.min_frequency)} times"
        if self.options.exact_size:
            raise TrainingError(f"vocab_size {size} is too large: {message}; lower it, or pass exact_size=False", largest=largest)
        warn(message, UserWarning, stacklevel=5)


def _first_order(counts: Counts) -> Any:
    from array import array

    if counts.firsts is None:
        raise TrainingError('ties="first-seen" needs counts that know where each pretoken was first seen; count with order=True')
    firsts = memoryview(counts.firsts).cast("Q")
    return array("I", sorted(range(len(counts)), key=firsts.__getitem__))
