"""`SentencePieceTrainer`: the reference's options, ctok's trainers."""

from __future__ import annotations

import os

from ...errors import CorpusError, CtokError, TrainingError
from . import _flags
from ._errors import ArgumentError, ModelError
from ._normalizer import SentencePieceNormalizer, record_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from ...spec import Record, Spec
    from ...train import Counts

__all__ = ["SentencePieceTrainer"]

_TYPES = ("unigram", "bpe", "word", "char")
_SHARED = (
    "treat_whitespace_as_suffix", "split_by_whitespace", "allow_whitespace_only_pieces", "byte_fallback", "user_defined_symbols",
    "control_symbols", "unk_id", "bos_id", "eos_id", "pad_id", "bos_piece", "eos_piece", "pad_piece", "unk_piece", "unk_surface",
    "normalization_rule_name", "add_dummy_prefix", "remove_extra_whitespaces",
)  # fmt: skip
_OF_PIECES = (
    "character_coverage", "required_chars", "max_sentencepiece_length", "split_by_unicode_script", "split_by_number", "split_digits",
    "hard_vocab_limit",
)  # fmt: skip
_OF_TYPE = {
    "unigram": (*_OF_PIECES, "shrinking_factor", "num_sub_iterations", "seed_sentencepiece_size"),
    "bpe": _OF_PIECES,
    "char": ("character_coverage", "required_chars"),
    "word": ("character_coverage", "required_chars"),
}  # fmt: skip


class SentencePieceTrainer:
    """Trains models. A model of type bpe has the reference's pieces and ids, one by one; so do word and char. A unigram model has other
    pieces and scores, with which held-out text takes no more tokens, and the same ones for any number of threads.

    In two corners the pieces are not the reference's. When a corpus holds no more pairs, the reference fills up with pairs that stand there
    no more. And with user-defined symbols its word model also leaves out the word before one that begins a word.
    """

    @staticmethod
    def train(arg: str | None = None, logstream: Any = None, **kwargs: Any) -> bool | None:
        """Train a model, and write it to a file ``model_prefix.model`` with ``model_prefix.vocab``, or to `model_writer`.

        Parameters
        ----------
        arg
            All options as flags in one str, instead of `kwargs`.
        logstream
            What lines about the progress are written to.
        kwargs
            `input` (a path, several between commas, or a list) or `sentence_iterator` (an iterable of str or bytes); `model_prefix` or
            `model_writer` (has a method ``write``); `normalizer` (a `SentencePieceNormalizer`); and the reference's options, with its
            defaults. An option that does not belong to the type of model has no effect, as there.

        Returns
        -------
        bool or None
            True for `arg`, else None, as the reference does.

        Raises
        ------
        RuntimeError
            There is no such option or file, no text, or no vocabulary of this size; the text begins with the reference's word for it, and
            names the largest or smallest size.
        ValueError
            An option cannot have this value.
        NotImplementedError
            ctok does not train with an option (pretokenizer, seed_sentencepieces_file, differential privacy, ...).

        Notes
        -----
        Long lines are not dropped unless `max_sentence_length` is given. `self_test_sample_size` puts so many words with their pieces in
        the model, which readers before 0.2.3 check; 0.2.3 itself puts none.
        """
        named = {name: kwargs.pop(name, None) for name in ("sentence_iterator", "sentence_reader", "model_writer", "normalizer")}
        given = _flags.of_text(arg) if isinstance(arg, str) else _flags.of_mapping(kwargs)
        run = _Run(_flags.DEFAULTS | given, named["sentence_iterator"] or named["sentence_reader"], named["normalizer"])
        prefix, writer = given.get("model_prefix", ""), named["model_writer"]
        if bool(prefix) == (writer is not None):
            raise ModelError("INTERNAL: one of model_prefix and model_writer must be given, and not both")
        spec = run.trained(logstream)
        _write(spec, prefix, writer, run.o["vocabulary_output_piece_score"])
        return True if isinstance(arg, str) else None

    Train = train


def _write(spec: Spec, prefix: str, writer: Any, with_scores: bool) -> None:
    from ...formats import _disk, sentencepiece

    data = sentencepiece.dumps(spec)
    if writer is not None:
        writer.write(data)
        return
    texts = {number: text.decode() for text, number in spec.model.tokens}
    scores = memoryview(bytes(spec.model.scores)).cast("f")
    lines = [f"{texts[number]}\t{score:g}\n" if with_scores else f"{texts[number]}\n" for number, score in enumerate(scores)]
    try:
        _disk.write(f"{prefix}.model", data)
        _disk.write(f"{prefix}.vocab", "".join(lines).encode())
    except OSError as error:
        raise ModelError(f'NOT_FOUND: "{prefix}.model": {error.strerror}') from error


class _Run:
    """One training: its options, and where the text comes from."""

    def __init__(self, o: dict[str, Any], source: Any, normalizer: Any) -> None:
        self.o, self.source = o, source
        if o["model_type"].lower() not in _TYPES:
            raise ArgumentError(f'INVALID_ARGUMENT: unknown enumeration value of "{o["model_type"]}" as kModelType_Map')
        self.kind = o["model_type"].lower()
        if (source is None) == (not o["input"]):
            raise ModelError("INTERNAL: one of input and sentence_iterator must be given, and not both")
        if not 0.98 <= o["character_coverage"] <= 1:
            raise ModelError("INTERNAL: trainer_spec.character_coverage() >= 0.98 && trainer_spec.character_coverage() <= 1.0")
        if isinstance(source, str | bytes):
            raise TypeError(f"Object of type '{type(source).__name__}' is not an instance of 'iterator'")
        for name in ("control_symbols", "user_defined_symbols"):
            o[name] = [*o[name], *_lines_of(o[f"{name}_file"])]
        if self.kind == "word":  # each is one word with a blank before it, too
            o["user_defined_symbols"] = [text for symbol in o["user_defined_symbols"] for text in (symbol, "\u2581" + symbol)]
        o["required_chars"] += "".join(_lines_of(o["required_chars_file"]))
        self.trainer = self._trainer(_normalizer(o, normalizer))

    def _trainer(self, normalizer: Record | None) -> Any:
        from ... import train

        o, kind = self.o, self.kind
        options = {name: o[name] for name in (*_SHARED, *_OF_TYPE[kind])} | {"normalizer": normalizer}
        size = o["vocab_size"]
        try:
            if kind == "unigram":
                return train.UnigramTrainer(size, style="sentencepiece", **options)
            if kind == "bpe":
                return train.BpeTrainer(size, form="sentencepiece", **options)
            of_kind: Any = train.WordLevelTrainer if kind == "word" else train.CharTrainer
            return of_kind(1 << 30 if o["use_all_vocab"] else size, style="sentencepiece", **options)
        except CtokError as error:
            raise ModelError(f"NOT_FOUND: {error}") from error
        except ValueError as error:
            raise ModelError(f"INTERNAL: {error}") from error

    def trained(self, logstream: Any) -> Spec:
        """Count, learn, and put in what the options ask for behind that."""
        from ...train._self_test import with_samples

        threads = max(1, min(self.o["num_threads"], os.cpu_count() or 1))
        report = _Log(logstream)
        try:
            counts = self._counts(threads, report)
            spec: Spec = self.trainer.train(counts, num_threads=threads, progress=report)
        except TrainingError as error:
            raise ModelError(f"INTERNAL: {self._told(error)}") from error
        except (CorpusError, OSError) as error:
            name = getattr(error, "path", None) or getattr(error, "filename", None)
            raise ModelError(f'NOT_FOUND: "{name}": {getattr(error, "strerror", None) or error}') from error
        if path := self.o["denormalization_rule_tsv"]:
            decoder: Any = spec.decoder
            spec = spec.replace(decoder=decoder.replace(denormalizer=_of_rules(path, False, False, False)))
        return with_samples(spec, counts, self.o["self_test_sample_size"])

    def _told(self, error: TrainingError) -> str:
        size = self.o["vocab_size"]
        if error.largest is not None:
            return f"Vocabulary size too high ({size}). Please set it to a value <= {error.largest}."
        if error.smallest is not None:
            told = f"Vocabulary size is smaller than required_chars. {size} vs {error.smallest}."
            return f"{told} Increase vocab_size or decrease character_coverage."
        return str(error)

    # ---- texts ----

    def _counts(self, threads: int, report: Any) -> Counts:
        from ...train import count_pretokens, files

        stages, options = self.trainer._stages(), {"num_threads": threads, "errors": "replace", "progress": report}
        corpus: Any = files(*self.o["input"], errors="replace", lines=True) if self.source is None else _texts(self.source)
        if self.o["input_format"] == "tsv":
            return _weighted(_limited(_each(corpus), self.o), stages)
        if self.o["input_sentence_size"] > 0 or self.o["max_sentence_length"] > 0:
            corpus = _limited(_each(corpus), self.o)
        return count_pretokens(corpus, *stages, **options)


def _texts(source: Iterable[Any]) -> Iterator[str | bytes]:
    for text in source:
        if not isinstance(text, str | bytes):
            raise ArgumentError("INVALID_ARGUMENT: Iterator must return str or bytes.")
        yield text


def _each(corpus: Any) -> Iterator[bytes]:
    """The texts of a corpus one by one, without line ends."""
    if not hasattr(corpus, "blocks"):
        yield from (text.encode("utf-8", "replace") if isinstance(text, str) else text for text in corpus)
        return
    for block in corpus.blocks():
        begin = 0
        for end in block.ends:
            yield block.data[begin:end].rstrip(b"\r\n")
            begin = end


def _limited(texts: Iterator[bytes], o: dict[str, Any]) -> Iterable[bytes]:
    """Those that are short enough; of many so many as were asked for, drawn by the seed or the first ones."""
    from itertools import islice
    from random import Random

    longest, size = o["max_sentence_length"], o["input_sentence_size"]
    short = (text for text in texts if not longest or len(text) <= longest)
    if size <= 0:
        return short
    if not o["shuffle_input_sentence"]:
        return islice(short, size)
    drawn, draw = list(islice(short, size)), Random(o["random_seed"])
    for n, text in enumerate(short, size + 1):
        at = draw.randrange(n)
        if at < size:
            drawn[at] = text
    return drawn


def _weighted(lines: Iterable[bytes], stages: Any) -> Counts:
    """The counts of lines with a number behind a tab: how often the text stands for."""
    from ...train import Counts, count_pretokens

    groups: dict[int, list[bytes]] = {}
    for line in lines:
        text, tab, number = line.rpartition(b"\t")
        if not tab or not number.strip().isdigit():
            raise ModelError(f"INTERNAL: a line of a tsv is a text, a tab and a number, not {line[:80]!r}")
        groups.setdefault(int(number), []).append(text)
    words: dict[str | bytes, int] = {}
    for times, texts in groups.items():
        for word, count in count_pretokens(texts, *stages, errors="replace"):
            words[word] = words.get(word, 0) + count * times
    return Counts.from_mapping(words)


def _lines_of(path: str) -> list[str]:
    if not path:
        return []
    try:
        with open(path, encoding="utf-8") as file:
            return [line for line in file.read().split("\n") if line]
    except OSError as error:
        raise ModelError(f'NOT_FOUND: "{path}": {error.strerror}') from error


# ---- normalizers ----


def _normalizer(o: dict[str, Any], given: Any) -> Record | None:
    """The normalizer that is given, or that of a file of rules; None: the one that is named."""
    if given is not None:
        return record_of(given.serialized_normalizer_spec())
    if path := o["normalization_rule_tsv"]:
        return _of_rules(path, o["add_dummy_prefix"], o["remove_extra_whitespaces"], True)
    return None


def _of_rules(path: str, add_dummy_prefix: bool, remove_extra_whitespaces: bool, escape_whitespaces: bool) -> Record:
    made = SentencePieceNormalizer(
        rule_tsv=path,
        add_dummy_prefix=add_dummy_prefix,
        remove_extra_whitespaces=remove_extra_whitespaces,
        escape_whitespaces=escape_whitespaces,
    )
    return record_of(made.serialized_normalizer_spec())


class _Log:
    """Lines about the progress, one when a stage begins and one when it is done."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._last = stream, ("", False)

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        from ...train._progress import line

        now = (stage, done == total)
        if self._stream is not None and now != self._last:
            self._stream.write(line(stage, done, total, 0, 0) + "\n")
        self._last = now
