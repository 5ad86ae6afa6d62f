"""Vocabularies that are read off the counts: whole words, single characters."""

from __future__ import annotations

from ..spec import Spec
from . import _options, _sentencepiece
from ._alphabet import covered
from ._running import SteppingTrainer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import SimpleNamespace
    from typing import Any

    from ..spec import Record
    from ._checkpoint import Checkpoint
    from ._running import Steps
    from .counts import Counts

__all__ = ["CharTrainer", "WordLevelTrainer", "learned_by_kind"]

_SHARED: dict[str, Any] = _sentencepiece.DEFAULTS | {
    "special_tokens": (),
    "unk_token": "<unk>",
    "character_coverage": (1.0, 0.9995),
    "initial_alphabet": (),
    "normalizer": None,
    "pre_tokenizer": None,
}
_ALIASES = _sentencepiece.ALIASES | {"required_chars": "initial_alphabet"}


class _Trainer(SteppingTrainer):
    """What the two share: options, counting, and either library's form of the result."""

    options: SimpleNamespace
    _kind: str

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.options.vocab_size}, style={self.options.style!r})"

    def _stages(self) -> tuple[Record | None, Record | None]:
        o = self.options
        if o.style == "huggingface":
            return o.pre_tokenizer, o.normalizer
        # The word model of a .model cuts before each blank, whatever its options.
        return (_sentencepiece.cutter(True, False) if self._kind == "word" else _sentencepiece.blanks(o)), o.normalizer

    def _reads_lines(self) -> bool:
        return bool(self.options.style == "sentencepiece")

    def train_counts(self, counts: Counts) -> Spec:
        """Train on words that have been counted as the model is to see them; in sentencepiece's style each with its blank."""
        return self.train(counts)

    def _learn(self, counts: Counts, checkpoint: Checkpoint, max_memory: int, num_threads: int | None) -> Steps:
        o = self.options
        yield "train", 0, 1
        n_special = 0
        if o.style == "sentencepiece":
            counts, n_special = _sentencepiece.cut_out(counts, o, whole_words=self._kind == "word")
        spec = _spec_of(o, self._learned(counts, n_special), self._kind)
        yield "train", 1, 1
        return spec

    def _learned(self, counts: Counts, n_special: int = 0) -> list[tuple[str, int]]:
        """All that may become a token, with its count, the best first; n_special: special pieces that stood between the words."""
        raise NotImplementedError

    def _covered(self, counts: Counts, n_special: int) -> tuple[dict[str, int], list[str]]:
        """How often each character stands in the words, and which of them are tokens, or may stand in one."""
        from .._native.stretches import count_characters

        o = self.options
        found = count_characters(counts.data, counts.ends, counts.counts)
        return found, covered(found, o.character_coverage, (text[0] for text in o.initial_alphabet if text), n_special)


class WordLevelTrainer(_Trainer):
    """The most frequent words; `train` gives a `Spec`.

    Parameters
    ----------
    vocab_size
        Tokens in all, special ones included.
    style
        ``"huggingface"``: a WordLevel model of a tokenizer.json. ``"sentencepiece"``: a .model of type word.
    min_frequency
        Words that were seen less often are left out.
    special_tokens
        In Hugging Face's style: texts or `AddedToken` objects, which take the first ids.
    unk_token
        What stands for all other words; put first if it is no special token. None: they cannot be encoded.
    character_coverage, initial_alphabet (required_chars)
        Words with characters beyond this share of the corpus, and not among these, are left out. Default 1: none; in sentencepiece's style
        0.9995.
    normalizer, pre_tokenizer
        The stages before the model. Default: none; Whitespace.
    name
        What the `Spec` is called.
    **options
        In sentencepiece's style: user_defined_symbols and so on, as for `UnigramTrainer`.

    Raises
    ------
    TypeError, ValueError
        There is no such option, or it cannot have this value.

    Notes
    -----
    Of words that are equally frequent those with the lower bytes come first.
    """

    _kind = "word"

    def __init__(self, vocab_size: int = 30000, *, style: str = "huggingface", **options: Any) -> None:
        defaults = _sentencepiece.style_defaults(_SHARED | {"min_frequency": 0, "name": "wordlevel"}, style)
        o = _options.resolve("WordLevelTrainer", defaults | {"vocab_size": vocab_size}, _ALIASES, options)
        _options.share(o, "character_coverage", True)
        _options.at_least(o, 1, "vocab_size")
        _options.at_least(o, 0, "min_frequency")
        self.options = _complete(o)

    def _learned(self, counts: Counts, n_special: int = 0) -> list[tuple[str, int]]:
        from heapq import nsmallest

        o = self.options
        known = None if o.character_coverage == 1 else {*self._covered(counts, n_special)[1]}
        words = (
            (-count, word) for word, count in counts if count >= o.min_frequency and (known is None or known.issuperset(word.decode()))
        )
        return [(word.decode(), -count) for count, word in nsmallest(o.vocab_size + len(o.special_tokens), words)]


class CharTrainer(_Trainer):
    """The characters of a corpus; `train` gives a `Spec`.

    Parameters
    ----------
    vocab_size
        Tokens in all, special ones included; None: all characters.
    style
        ``"huggingface"``: a tokenizer.json that cuts a text into characters and looks them up (WordLevel). ``"sentencepiece"``: a .model
        of type char.
    character_coverage
        The share of the corpus whose characters become tokens. Default 1, in sentencepiece's style 0.9995.
    initial_alphabet (required_chars)
        Characters that become tokens whether they occur or not.
    special_tokens, unk_token, normalizer, name, **options
        As for `WordLevelTrainer`.

    Raises
    ------
    TypeError, ValueError
        There is no such option, or it cannot have this value.
    """

    _kind = "char"

    def __init__(self, vocab_size: int | None = None, *, style: str = "huggingface", **options: Any) -> None:
        defaults = _sentencepiece.style_defaults(_SHARED | {"name": "char"}, style) | {"vocab_size": 1 << 30}
        o = _options.resolve("CharTrainer", defaults, _ALIASES, options | ({} if vocab_size is None else {"vocab_size": vocab_size}))
        _options.at_least(o, 1, "vocab_size")
        _options.share(o, "character_coverage", True)
        if o.style == "huggingface" and o.pre_tokenizer is None:
            from ..stagespecs.pretokenizers import FixedLength

            o.pre_tokenizer = FixedLength(1)
        self.options = _complete(o)

    def _learned(self, counts: Counts, n_special: int = 0) -> list[tuple[str, int]]:
        found, chosen = self._covered(counts, n_special)
        return sorted(((char, found.get(char, 0)) for char in chosen), key=lambda item: (-item[1], item[0]))


def learned_by_kind(counts: Counts, kind: str) -> list[tuple[bytes, int]]:
    """Return all words, or all characters, with their counts, the most frequent first."""
    trainer: _Trainer = WordLevelTrainer(1 << 30) if kind == "word" else CharTrainer()
    return [(text.encode(), count) for text, count in trainer._learned(counts)]


def _complete(o: SimpleNamespace) -> SimpleNamespace:
    if o.style == "sentencepiece":
        _sentencepiece.complete(o)
        return o
    o.user_defined_symbols = tuple(o.user_defined_symbols)
    if o.user_defined_symbols or o.control_symbols:
        raise ValueError("user_defined_symbols and control_symbols belong to style='sentencepiece'; use special_tokens")
    o.special_tokens = _options.special(o.special_tokens, o.unk_token)
    if o.pre_tokenizer is None:
        from ..stagespecs.pretokenizers import Whitespace

        o.pre_tokenizer = Whitespace()
    return o


def _spec_of(o: SimpleNamespace, learned: Iterable[tuple[str, int]], kind: str) -> Spec:
    """The special tokens, and as many of the learned ones as there is room for."""
    if o.style == "sentencepiece":
        return _sentencepiece.spec_of(o, list(_scored(learned, o)), kind)
    from ..stagespecs.models import WordLevel, table_of_texts

    ids = {token.content: token.id for token in o.special_tokens}
    for text, _ in learned:
        if len(ids) >= o.vocab_size:
            break
        ids.setdefault(text, len(ids))
    decoder: Record | None = None
    if kind == "char":
        from ..stagespecs.decoders import Fuse

        decoder = Fuse()
    roles = {} if o.unk_token is None else {"unk": o.unk_token}
    model = WordLevel(table_of_texts(ids), o.unk_token or "<unk>")
    return Spec(o.name, model, o.pre_tokenizer, o.special_tokens, o.normalizer, decoder=decoder, roles=roles)


def _scored(learned: Iterable[tuple[str, int]], o: SimpleNamespace) -> Iterable[tuple[str, float]]:
    """The logarithm of each one's share in all."""
    from math import log

    taken = {text for text, _ in _sentencepiece.head(o)}
    listed = [(text, count) for text, count in learned if text not in taken]
    total = sum(count for _, count in listed)
    for text, count in listed[: max(0, o.vocab_size - len(taken))]:
        yield text, log(max(count, 0.5)) - log(max(total, 1))
