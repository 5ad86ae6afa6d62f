"""`Tokenizer.train`: texts counted as the tokenizer cuts them, and the record of a model that a trainer learns from the counts."""

from __future__ import annotations

from collections.abc import Iterable

from ...errors import TrainingError
from ...stages.cutters import flat
from ...stagespecs.models import BPE, Unigram, WordLevel, WordPiece
from ...stagespecs.pretokenizers import ByteLevel
from ...stagespecs.spelling import spell, unspell
from . import trainers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ...spec import Record
    from ...train import Counts
    from ._tokens import AddedToken
    from .trainers import Trainer

__all__ = ["default_trainer", "learned", "texts_of"]


def default_trainer(model: Any) -> Trainer:
    """Return the trainer of a model's kind, with its defaults."""
    kinds: dict[type, type[Trainer]] = {
        BPE: trainers.BpeTrainer,
        WordPiece: trainers.WordPieceTrainer,
        Unigram: trainers.UnigramTrainer,
        WordLevel: trainers.WordLevelTrainer,
    }
    return kinds[type(model)]()


def texts_of(source: Any) -> Iterator[str]:
    """Yield the texts of an iterable of texts, or of lists of them.

    Raises
    ------
    TypeError
        It is a str, or holds something else.
    """
    if isinstance(source, str):
        raise TypeError("a corpus must not be a single str: write [text] for one text, and Tokenizer.train([path]) for a file")
    for item in source:
        if isinstance(item, str):
            yield item
        elif isinstance(item, Iterable):
            for text in item:
                if not isinstance(text, str):
                    raise TypeError(f"{type(text).__name__!r} object is not an instance of 'str'")
                yield text
        else:
            raise TypeError(f"{type(item).__name__!r} object is not iterable")


def learned(trainer: Trainer, corpus: Any, model: Any, pre_tokenizer: Record | None, normalizer: Record | None) -> Any:
    """Return the record of the model that a trainer makes of a corpus, in place of the one that is there.

    Raises
    ------
    TrainingError
        The trainer is for another kind of model; or there is no text, or no vocabulary of this size can be had.
    """
    from ...train import count_pretokens
    from ...train._progress import reporting

    if type(model).__name__ != trainer.model:
        raise TrainingError(f"{type(trainer).__name__} can only train a {trainer.model}")
    is_shown = trainer.show_progress and getattr(trainer, "progress_format", "") != "silent"
    with reporting(is_shown) as report:
        counts = count_pretokens(corpus, pre_tokenizer, normalizer, lines=True, progress=report)
        trainer._n_words = len(counts)
        steps = flat(pre_tokenizer) if pre_tokenizer is not None else []
        is_spelled = bool(steps) and isinstance(steps[-1], ByteLevel)
        return _LEARN[trainer.model](trainer._options, _bare(counts), is_spelled, model, report)


def _bare(counts: Counts) -> Counts:
    """Counts that say nothing of how texts were cut: the trainer is told words."""
    from ...train import Counts

    return Counts(counts.data, counts.ends, counts.counts, counts.firsts, counts.total)


def _spelled(counts: Counts) -> Counts:
    """Pretokens that were kept as bytes, as the byte-level alphabet spells them."""
    from ...train import Counts

    return Counts.from_mapping({spell(word): count for word, count in counts})


def _texts(tokens: list[AddedToken]) -> list[str]:
    return [token.content for token in tokens]


def _pairs(o: dict[str, Any], counts: Counts, is_spelled: bool, report: Any) -> Any:
    """The model that merging the most frequent pairs gives."""
    from ...train import BpeTrainer

    rest = {name: o[name] for name in ("limit_alphabet", "continuing_subword_prefix", "end_of_word_suffix") if o[name] is not None}
    longest = o.get("max_token_length")
    as_bytes = is_spelled and not rest and all(unspell(char) is not None for char in o["initial_alphabet"])
    trainer = BpeTrainer(
        max(o["vocab_size"], 1),
        form="byte-level" if as_bytes else "characters",
        special_tokens=_texts(o["special_tokens"]),
        min_frequency=o["min_frequency"],
        initial_alphabet=o["initial_alphabet"],
        max_token_length=None if longest is None else max(2, longest - 1),
        **rest,
    )
    return trainer.train(_spelled(counts) if is_spelled and not as_bytes else counts, progress=report).model


def _learn_bpe(o: dict[str, Any], counts: Counts, is_spelled: bool, model: Any, report: Any) -> Any:
    made = _pairs(o, counts, is_spelled, report)
    kept = ("dropout", "unk_token", "fuse_unk", "byte_fallback", "ignore_merges")
    return made.replace(**{name: getattr(model, name) for name in kept})


def _learn_wordpiece(o: dict[str, Any], counts: Counts, is_spelled: bool, model: Any, report: Any) -> Any:
    made = _pairs(o, _spelled(counts) if is_spelled else counts, False, report)
    prefix = "##" if o["continuing_subword_prefix"] is None else o["continuing_subword_prefix"]
    return model.replace(tokens=made.tokens, continuing_subword_prefix=prefix)


def _learn_unigram(o: dict[str, Any], counts: Counts, is_spelled: bool, model: Any, report: Any) -> Any:
    from ...train import UnigramTrainer

    options = {name: value for name, value in o.items() if name != "show_progress"}
    trainer = UnigramTrainer(**options | {"special_tokens": _texts(o["special_tokens"])})
    return trainer.train(_spelled(counts) if is_spelled else counts, progress=report).model


def _learn_words(o: dict[str, Any], counts: Counts, is_spelled: bool, model: Any, report: Any) -> Any:
    from ...train import WordLevelTrainer

    options = {"min_frequency": o["min_frequency"], "special_tokens": _texts(o["special_tokens"]), "unk_token": None}
    trainer = WordLevelTrainer(max(o["vocab_size"], 1), **options)
    return model.replace(tokens=trainer.train(_spelled(counts) if is_spelled else counts, progress=report).model.tokens)


_LEARN = {"BPE": _learn_bpe, "WordPiece": _learn_wordpiece, "Unigram": _learn_unigram, "WordLevel": _learn_words}
