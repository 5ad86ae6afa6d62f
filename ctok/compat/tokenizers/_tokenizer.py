"""`Tokenizer`, as the reference has it."""

from __future__ import annotations

from ...errors import CtokError, VocabularyNotFoundError
from ...formats import _disk, tokenizer_json
from ...spec import Spec
from ._checks import flag, id_list, instance, one_id, sequence, text
from ._encoding import Encoding, whole_of
from ._engine import Options
from ._errors import explained
from ._inputs import as_pairs, as_text, as_words
from ._json import document
from ._later import Later
from ._show import show_spec
from .models import Model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ._tokens import AddedToken
    from .trainers import Trainer

__all__ = ["Tokenizer"]

_NOTHING: tuple[str, ...] = ()


class Tokenizer(Later):
    """Text to ids and back, with settings that can be changed.

    Parameters
    ----------
    model
        One of `models`. The other components are assigned.

    Notes
    -----
    Whatever changes a component, or adds tokens, makes the next call build the native tokenizer anew (milliseconds for 30 000 tokens, a
    quarter of a second for the largest vocabularies).
    Calls may be made from any thread; a change takes effect for calls that begin later.
    """

    def __init__(self, model: Model) -> None:
        self._become(Spec("tokenizer", instance(model, Model)._cell.record, None))
        self._put_cell("model", model._cell)

    @classmethod
    def from_spec(cls, spec: Spec) -> Tokenizer:
        """Return the tokenizer of a `ctok.Spec`, with the truncation and padding that it has."""
        return cls._made(spec)

    @classmethod
    def _made(cls, spec: Spec, *, number: bool = False) -> Tokenizer:
        self = object.__new__(cls)
        self._become(spec, number=number)
        _ = self._engine  # what cannot run is refused here
        return self

    # ---- files ----

    @staticmethod
    def from_str(json: str) -> Tokenizer:
        """Return the tokenizer of a JSON text; `VocabularyFileError` (a `ValueError`) if it is malformed."""
        return Tokenizer._made(tokenizer_json.loads(text(json).encode()), number=True)

    @staticmethod
    def from_buffer(buffer: bytes) -> Tokenizer:
        """Return the tokenizer of JSON in UTF-8."""
        return Tokenizer._made(tokenizer_json.loads(instance(buffer, bytes)), number=True)

    @staticmethod
    def from_file(path: str) -> Tokenizer:
        """Return the tokenizer of a tokenizer.json."""
        with explained():
            return Tokenizer._made(tokenizer_json.load(text(path)), number=True)

    @staticmethod
    def from_pretrained(identifier: str, revision: str = "main", token: str | None = None) -> Tokenizer:
        """Return the tokenizer of a folder that holds a tokenizer.json. Nothing is downloaded.

        Raises
        ------
        VocabularyNotFoundError
            There is no such folder.
        """
        import os

        path = os.path.join(text(identifier), "tokenizer.json")
        if os.path.isfile(path):
            return Tokenizer.from_file(path)
        raise VocabularyNotFoundError(
            f"{identifier!r} is no folder with a tokenizer.json, and ctok does not download models: "
            "save the model's tokenizer.json and use Tokenizer.from_file, or give the folder that it is in"
        )

    def to_str(self, pretty: bool = False) -> str:
        """Return the tokenizer's JSON, as the reference writes it."""
        from json import dumps

        layout: dict[str, Any] = {"indent": 2} if flag(pretty) else {"separators": (",", ":")}
        return dumps(document(self._spec(written=True)), ensure_ascii=False, **layout)

    def save(self, path: str, pretty: bool = True) -> None:
        """Write the tokenizer's JSON, whole or not at all."""
        with explained():
            _disk.write(text(path), self.to_str(pretty).encode())

    # ---- encode ----

    def _options(self, add_special_tokens: object, fast: bool = False) -> Options:
        allowed = _NOTHING if self._encodes_special else "all"
        return Options(flag(add_special_tokens), allowed, self._truncation, self._padding, fast)

    def encode(
        self, sequence: Any, pair: Any | None = None, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Encoding:
        """Return the encoding of a text, or of two.

        Parameters
        ----------
        sequence, pair
            A str; with `is_pretokenized` a list or tuple of str.
        add_special_tokens
            Whether the post-processor adds its tokens. Special tokens in the text are always matched, unless `encode_special_tokens`.

        Raises
        ------
        TypeError
            Something else was given, or a str with a lone surrogate.
        ValueError
            The truncation cannot be kept.
        """
        check = as_words if flag(is_pretokenized) else as_text
        first, second = check(sequence), None if pair is None else check(pair)
        return self._engine.encode(first, second, self._options(add_special_tokens))

    def encode_batch(self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True) -> list[Encoding]:
        """Return the encodings of texts and pairs, filled up together. Threads share the work.

        Parameters
        ----------
        input
            A sequence of what `encode` takes, or of pairs (tuple or list) of that.
        """
        return self._engine.encode_many(as_pairs(input, is_pretokenized), self._options(add_special_tokens))

    def encode_batch_fast(self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True) -> list[Encoding]:
        """Return encodings without places, tokens and words."""
        return self._engine.encode_many(as_pairs(input, is_pretokenized), self._options(add_special_tokens, fast=True))

    def post_process(self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True) -> Encoding:
        """Return encodings cut, with what the post-processor adds, and filled up."""
        first = whole_of(instance(encoding, Encoding))
        second = None if pair is None else whole_of(instance(pair, Encoding))
        return Encoding.of(self._engine.post_process(first, second, self._options(add_special_tokens)))

    # ---- train ----

    def train(self, files: Sequence[str], trainer: Trainer | None = None) -> None:
        """Replace the model by one learned from files, line by line; `trainer` None: that of the model's kind.

        The special tokens of the trainer are added. Names may be those that `ctok.train.files` takes.

        Raises
        ------
        CtokError
            A file cannot be read, or is not UTF-8; the trainer is for another kind of model; there is nothing to learn from.
        """
        from ...train import files as corpus_of

        names = [text(name) for name in sequence(files)]
        with explained():
            self._train(corpus_of(*names, lines=True), trainer)

    def train_from_iterator(self, iterator: Any, trainer: Trainer | None = None, length: int | None = None) -> None:
        """Replace the model by one learned from texts; as `train`.

        Parameters
        ----------
        iterator
            An iterable of str, or of lists of str. A single str is a `TypeError`.
        length
            Taken, and of no effect: progress is told in bytes.
        """
        from ._training import texts_of

        self._train(texts_of(iterator), trainer)

    def _train(self, corpus: Any, trainer: Trainer | None) -> None:
        from . import _training, trainers

        record = self._model.record
        chosen = _training.default_trainer(record) if trainer is None else instance(trainer, trainers.Trainer)
        stages = [None if cell is None else cell.record for cell in (self._cells["pre_tokenizer"], self._cells["normalizer"])]
        self._model.put(_training.learned(chosen, corpus, record, *stages))
        self._add(chosen.special_tokens)

    # ---- decode ----

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """Return the text of ids. Unknown ids are left out.

        Raises
        ------
        TypeError, OverflowError
            Not a sequence of ints of 32 bits.
        """
        engine = self._engine
        if type(ids) is list and not engine.renamed:
            try:
                return engine.native.decode(ids, skip_special_tokens=flag(skip_special_tokens))
            except (CtokError, TypeError, OverflowError):
                pass
        known = [number for number in id_list(ids) if self.id_to_token(number) is not None]
        if not engine.renamed.keys().isdisjoint(known):
            return self._decode_renamed(known, flag(skip_special_tokens))
        return engine.native.decode(known, skip_special_tokens=flag(skip_special_tokens))

    def _decode_renamed(self, ids: list[int], skip_special_tokens: bool) -> str:
        """Decode ids of which some are added tokens that the normalizer spells otherwise: the reference decodes to its spelling."""
        tokens = [self.id_to_token(number) or "" for number in ids]
        if skip_special_tokens:
            tokens = [token for token in tokens if token not in self._added.special]
        return " ".join(tokens) if self.decoder is None else self.decoder.decode(tokens)

    def decode_batch(self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True) -> list[str]:
        """Return the text of each sequence of ids. Threads share the work."""
        listed = list(_sequence(sequences))
        if all(type(ids) is list for ids in listed) and not self._engine.renamed:
            try:
                return self._engine.native.decode_batch(listed, skip_special_tokens=flag(skip_special_tokens))
            except (CtokError, TypeError, OverflowError):
                pass
        return [self.decode(ids, skip_special_tokens) for ids in listed]

    # ---- tokens and ids ----

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token, as its file spells it, or None."""
        found = self._added.ids.get(text(token))
        return self._table.find(token) if found is None else found

    def id_to_token(self, id: int) -> str | None:
        """Return the token of an id, or None."""
        number = one_id(id)
        added = self._added.tokens.get(number)
        if added is None:
            return self._table.text(number)
        if not added.normalized or self._cells["normalizer"] is None:
            return added.content
        return self._engine.renamed.get(number, added.content)

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Return token -> id, as a new dict."""
        found = self._table.as_dict()
        if flag(with_added_tokens):
            found.update(self._added.ids)
        return found

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """Return how many tokens there are."""
        find = self._table.find
        more = sum(find(token) is None for token in self._added.ids) if flag(with_added_tokens) else 0
        return len(self._table) + more

    def get_added_tokens_decoder(self) -> dict[int, AddedToken]:
        """Return id -> added token, by id, as a new dict."""
        from copy import copy

        return {number: copy(token) for number, token in sorted(self._added.tokens.items())}

    # ---- as a value ----

    def __repr__(self) -> str:
        return show_spec(self._spec(written=True))

    def __getstate__(self) -> bytes:
        return self.to_str().encode()

    def __setstate__(self, state: bytes) -> None:
        self._become(tokenizer_json.loads(state), number=True)

    def __reduce__(self) -> tuple[Any, ...]:
        return Tokenizer.from_spec, (self._spec(written=True),)

    def __copy__(self) -> Tokenizer:
        return Tokenizer.from_spec(self._spec(written=True))

    def __deepcopy__(self, memo: object) -> Tokenizer:
        return self.__copy__()


_sequence = sequence  # `encode` has an argument of this name
