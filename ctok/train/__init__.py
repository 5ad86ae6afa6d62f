"""Train a tokenizer's vocabulary on a corpus: trainers give a `Spec`, which builds a tokenizer and is written to any file format.

    >>> from ctok import train
    >>> spec = train.BpeTrainer(32000, special_tokens=["<|endoftext|>"]).train(train.files("corpus/*.txt"))
    >>> ctok.Tokenizer.from_spec(spec).save("tokenizer.json")

Only what is used is imported.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._explain import explain, merge_trees
    from ._extend import extend
    from ._prune import Pruned, prune
    from .bpe import BpeTrainer
    from .corpus import Block, Corpus, as_corpus, files, texts
    from .counts import Counts, count_pretokens
    from .languages import LanguageReport, LanguageRow, TrainedOnLanguages, report_languages, train_languages, weigh_languages
    from .shards import count_shards
    from .unigram import UnigramTrainer
    from .wordpiece import WordPieceTrainer
    from .words import CharTrainer, WordLevelTrainer

__all__ = [
    "Block",
    "BpeTrainer",
    "CharTrainer",
    "Corpus",
    "Counts",
    "LanguageReport",
    "LanguageRow",
    "Pruned",
    "TrainedOnLanguages",
    "UnigramTrainer",
    "WordLevelTrainer",
    "WordPieceTrainer",
    "as_corpus",
    "count_pretokens",
    "count_shards",
    "explain",
    "extend",
    "files",
    "merge_trees",
    "prune",
    "report_languages",
    "texts",
    "train_languages",
    "weigh_languages",
]

# Name -> the module that it is in.
_ON_FIRST_USE = {
    "Block": ".corpus",
    "BpeTrainer": ".bpe",
    "CharTrainer": ".words",
    "Corpus": ".corpus",
    "Counts": ".counts",
    "LanguageReport": ".languages",
    "LanguageRow": ".languages",
    "Pruned": "._prune",
    "TrainedOnLanguages": ".languages",
    "UnigramTrainer": ".unigram",
    "WordLevelTrainer": ".words",
    "WordPieceTrainer": ".wordpiece",
    "as_corpus": ".corpus",
    "count_pretokens": ".counts",
    "count_shards": ".shards",
    "explain": "._explain",
    "extend": "._extend",
    "files": ".corpus",
    "merge_trees": "._explain",
    "prune": "._prune",
    "report_languages": ".languages",
    "texts": ".corpus",
    "train_languages": ".languages",
    "weigh_languages": ".languages",
}


def __getattr__(name: str) -> object:
    if name in _ON_FIRST_USE:
        from importlib import import_module

        return getattr(import_module(_ON_FIRST_USE[name], __name__), name)
    raise AttributeError(f"module 'ctok.train' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_ON_FIRST_USE})
